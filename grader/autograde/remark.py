"""What grading noticed of a submission and a human should know, as values that are stored with its result.

An instructor reads them as lines (`report.py`), a student as sentences (`grader.feedback.remarks`).
"""

from __future__ import annotations

from typing import Literal

import msgspec

from grader.autograde.fault import Fault


class OddCell(msgspec.Struct, frozen=True, tag=True):
    """A cell of an exercise or a question that was not where it was released, or not as, and what was done about it."""

    kind: Literal[
        "check edited",
        "check missing",
        "check above",
        "undefined",
        "defined again",
        "stub left",
        "cell twice",
        "answer twice",
        "answer missing",
        "answer beside",
        "picture missing",
    ]
    name: str


class Foreign(msgspec.Struct, frozen=True, tag=True):
    """Nothing of this notebook's exercises was found in it."""


class Unreadable(msgspec.Struct, frozen=True, tag=True):
    """The notebook could not be read; `reason` says why, in a student's words."""

    reason: str


class Ended(msgspec.Struct, frozen=True, tag=True):
    """A process of the notebook was ended; where that was at a check, the check of this `exercise`."""

    fault: Fault
    exercise: str | None = None


class LeftOut(msgspec.Struct, frozen=True, tag=True):
    """A file of so many bytes that did not lie beside the notebooks: too large, or one too many."""

    file: str
    size: int


class OtherName(msgspec.Struct, frozen=True, tag=True):
    """The notebook's file `due` was not there (`is_folder`: a folder of that name was), and `taken` was graded in its
    place.
    """

    due: str
    is_folder: bool
    taken: str


class OtherFiles(msgspec.Struct, frozen=True, tag=True):
    """Of several files for this notebook `taken` was graded, in which most is written, and `left` were not."""

    taken: str
    left: tuple[str, ...]


class NotImported(msgspec.Struct, frozen=True, tag=True):
    """A module that a cell could not import, and why; what needs it was left out."""

    cell: int
    module: str
    reason: str


class NoTime(msgspec.Struct, frozen=True, tag=True):
    """When it was handed in is not known: this stands in its `timestamp.txt`, and is no time."""

    found: str


What = OddCell | Foreign | Unreadable | Ended | LeftOut | OtherName | OtherFiles | NotImported | NoTime


class Remark(msgspec.Struct, frozen=True):
    """One thing to know, of this notebook; of the files that were handed in where `notebook` is empty."""

    what: What
    notebook: str = ""


def absence(name: str, is_folder: bool) -> str:
    """Why there is no such file."""
    return f"{name} is a folder, not a file" if is_folder else f"there is no file {name}"
