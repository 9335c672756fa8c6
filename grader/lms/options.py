"""The options of `grader roster` and `grader export`, in a module that is quick to import."""

from __future__ import annotations

from enum import StrEnum


class System(StrEnum):
    """Where a roster comes from."""

    canvas = "canvas"
    moodle = "moodle"
    gradescope = "gradescope"
    csv = "csv"


class Format(StrEnum):
    """What points are exported to."""

    csv = "csv"
    canvas = "canvas"
    moodle = "moodle"
    gradescope = "gradescope"


class Empty(StrEnum):
    """What to write for a student whose points are not final: 0 for what is missing, or nothing."""

    zero = "zero"
    leave = "leave"
