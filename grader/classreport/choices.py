"""The tables of a class report that can be printed. The command line needs their names before it knows the command."""

from enum import StrEnum


class Table(StrEnum):
    """A table of the report."""

    exercises = "exercises"
    mistakes = "mistakes"
    points = "points"
    reviews = "reviews"
    changes = "changes"
