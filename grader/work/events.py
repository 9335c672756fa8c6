"""What the process that runs a notebook for `grader check` is asked, and what it reports: one JSON object per line."""

from __future__ import annotations

import msgspec

from grader.checking.verdict import Status


class CodeCell(msgspec.Struct, frozen=True):
    """A cell to run, as Python: its index among all cells of the notebook, from 0, and its source. In an exercise's
    check cell, the last check counts.
    """

    index: int
    source: str
    exercise: str | None = None


class Request(msgspec.Struct, frozen=True):
    """The cells in order, the exercises of the notebook with their time limits, and the time limit of each cell, in
    seconds. `output` is how many characters all cells together may print, `width` how many columns the sentences of a
    report may take; None for any number.
    """

    cells: tuple[CodeCell, ...]
    exercises: dict[str, float]
    cell_seconds: float
    output: int
    width: int | None = None


class Begin(msgspec.Struct, frozen=True, tag=True):
    """A cell begins, or in it the check of an exercise; it is expected to end within `seconds`."""

    cell: int
    seconds: float
    exercise: str | None = None


class End(msgspec.Struct, frozen=True, tag=True):
    """What began last has ended."""


class Printed(msgspec.Struct, frozen=True, tag=True):
    """Text that a cell printed, or the value of its last expression."""

    text: str


class Failed(msgspec.Struct, frozen=True, tag=True):
    """An exception ended a cell: its type and text, and the student's own lines of the traceback as (place, code)."""

    cell: int
    kind: str
    text: str
    lines: tuple[tuple[str, str], ...] = ()


class TooLong(msgspec.Struct, frozen=True, tag=True):
    """A cell ran longer than its time limit and was stopped."""

    cell: int
    seconds: float


class Checked(msgspec.Struct, frozen=True, tag=True):
    """The result of a check: in a line, and as the whole report. `at_end`: its check cell did not run, so the exercise
    was checked after the last cell. Only what `counts` is the exercise's result, as it is in grading.
    """

    exercise: str
    status: Status
    earned: float
    points: float
    headline: str
    report: str
    at_end: bool = False
    counts: bool = True


class Undefined(msgspec.Struct, frozen=True, tag=True):
    """No cell has defined this exercise, so it could not be checked."""

    exercise: str


class Finished(msgspec.Struct, frozen=True, tag=True):
    """All cells have run."""


Event = Begin | End | Printed | Failed | TooLong | Checked | Undefined | Finished
