"""Remarks: what grading noticed about a submission that people should know, as values that are stored with its result.

Instructors read them as lines (`report.py`), students as sentences (`grader.feedback.remarks`).
"""

from __future__ import annotations

from typing import Literal

import msgspec

from grader.submission.fault import Fault


class OddCell(msgspec.Struct, frozen=True, tag=True):
    """A cell of an exercise or a question that differs from the release in place or content, and how it was handled."""

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
        "check of another",
        "turned to text",
        "magic",
        "check of a value",
        "saw a pass",
    ]
    name: str


class Foreign(msgspec.Struct, frozen=True, tag=True):
    """The file contains none of this notebook's exercises."""


class Unreadable(msgspec.Struct, frozen=True, tag=True):
    """The notebook could not be read; `reason` says why, in words for the student."""

    reason: str


class NotSubmitted(msgspec.Struct, frozen=True, tag=True):
    """There is no file that could be the notebook; `reason` says what was found instead."""

    reason: str


class Asks(msgspec.Struct, frozen=True, tag=True):
    """A cell calls `input`, which returns an empty text while a notebook is graded."""

    cell: int


class OtherPython(msgspec.Struct, frozen=True, tag=True):
    """A cell is not Python for the version that grades, and may be for the newer one that the notebook names."""

    cell: int
    theirs: str
    ours: str


class Ended(msgspec.Struct, frozen=True, tag=True):
    """A process of the notebook was ended. If this happened at a check cell, `exercise` names its exercise."""

    fault: Fault
    exercise: str | None = None


class LeftOut(msgspec.Struct, frozen=True, tag=True):
    """A file of `size` bytes that was not available to the notebooks: too large, or too many files."""

    file: str
    size: int


class OtherName(msgspec.Struct, frozen=True, tag=True):
    """The expected file `due` does not exist (`is_folder`: it is a folder), and `taken` was graded instead."""

    due: str
    is_folder: bool
    taken: str


class OtherFiles(msgspec.Struct, frozen=True, tag=True):
    """Of several files for this notebook, `taken` was graded because it is the most complete; `left` were not."""

    taken: str
    left: tuple[str, ...]


class NotImported(msgspec.Struct, frozen=True, tag=True):
    """A module that a cell could not import, and why; the lines that need it were skipped."""

    cell: int
    module: str
    reason: str


class TooLarge(msgspec.Struct, frozen=True, tag=True):
    """The results of this exercise were too large to be judged."""

    exercise: str


class NoTime(msgspec.Struct, frozen=True, tag=True):
    """The time of submission is unknown, because `timestamp.txt` contains `found`, which is not a time."""

    found: str


What = (
    OddCell
    | Foreign
    | Unreadable
    | NotSubmitted
    | Asks
    | OtherPython
    | Ended
    | LeftOut
    | OtherName
    | OtherFiles
    | NotImported
    | TooLarge
    | NoTime
)


# What a student reads of exercises that nothing defines, whose names follow.
NOWHERE = "No cell defines {}. If you wrote that code, check that it is in the file that you submitted."


class Remark(msgspec.Struct, frozen=True):
    """One remark about this notebook; about all submitted files if `notebook` is empty. `place` is what its cell is
    called (see `submission/cell_names.py`), if it is about one.
    """

    what: What
    notebook: str = ""
    place: str = ""


def absence(name: str, is_folder: bool) -> str:
    """Why the file was not found."""
    return f"{name} is a folder, not a file" if is_folder else f"there is no file {name}"
