"""The systems for which feedback can be packed. The command line needs their names before it knows the command."""

from enum import StrEnum


class For(StrEnum):
    """A system that takes the feedback of a class as one archive."""

    canvas = "canvas"
    moodle = "moodle"
