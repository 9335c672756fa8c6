"""What an export consists of, and how a column of another system's file is found."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from grader.manifest import Chapter
from grader.sheets import Cell, ExchangeError, Sheet, folded, sheet_bytes


@dataclass
class Exported:
    """The rows of an exported file, header included, and notes for the instructor. `problems` are the notes on students
    who are not in the file although they have points.
    """

    rows: list[list[Cell]]
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    delimiter: str = ","
    mark: bool = False

    @property
    def content(self) -> bytes:
        return sheet_bytes(self.rows, self.delimiter, self.mark)


# How the systems complete an assignment's title in a header: "Title (12345)" in Canvas; "Assignment: Title (Real)",
# "Assignment: Title (Feedback)" or, in older versions, "Feedback: Title" in Moodle
_SUFFIX = re.compile(r"\s*\((?:\d+|real|feedback)\)$", re.IGNORECASE)
_PREFIX = re.compile(r"^[^:]+:\s*")
_FEEDBACK = re.compile(r"^feedback\s*:|\(feedback\)$")


def find_column(sheet: Sheet, chapter: Chapter, given: str | None, first: int, feedback: bool = False) -> int | None:
    """The index of the chapter's column among those from `first` on: that with the title or the id of the chapter, or
    the `given` name; None if there is none. Raises ExchangeError if there are several, or if the given one is missing.
    """
    columns = {index: folded(name) for index, name in enumerate(sheet.header[first:], first)}
    columns = {index: name for index, name in columns.items() if bool(_FEEDBACK.search(name)) == feedback}
    if given and list(columns.values()).count(folded(given)) == 1:
        return next(index for index, name in columns.items() if name == folded(given))
    wanted = {folded(name) for name in ((given, _SUFFIX.sub("", given)) if given else (chapter.title, chapter.id))}
    found = []
    for index, name in columns.items():
        bare = _SUFFIX.sub("", name)
        if wanted & {name, bare, _PREFIX.sub("", bare)}:
            found.append(index)
    if len(found) > 1:
        names = ", ".join(repr(sheet.header[index]) for index in found)
        raise ExchangeError(f"{sheet.path} has several columns for {chapter.id}: {names}. Choose one with --column.")
    if not found and given and not feedback:
        raise ExchangeError(
            f"{sheet.path} has no column {given!r}. It has: {', '.join(sheet.header[first:]) or 'none'}."
        )
    return found[0] if found else None


def holds(cell: str, points: float, tolerance: float) -> bool:
    """Whether a cell has these points, with a decimal point or comma."""
    try:
        return abs(float(cell.replace(",", ".")) - points) < tolerance
    except ValueError:
        return False


def only_column(chapters: Sequence[Chapter], given: str | None) -> None:
    """Refuse a column's name for several chapters. Raises ExchangeError."""
    if given and len(chapters) > 1:
        raise ExchangeError("--column names the column of one chapter. Export the chapters one by one.")
