"""Find the students of the rows in a file that another system exported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from grader.gradebook.roster import Student
from grader.lms.rosters import named_columns
from grader.sheets import Line, Sheet, original
from grader.shown import one_line, some

Cells = Mapping[str, str]
Key = tuple[
    Callable[[Cells], str], Callable[[Student], str]
]  # the same text of a row and of a student; empty if unknown

T = TypeVar("T")


@dataclass(frozen=True)
class Match:
    """The rows of a file with their students, in the file's order, and notes on rows and students without the other."""

    rows: list[tuple[Line, Student]]
    problems: list[str]


def match(
    students: Sequence[Student],
    into: Sheet,
    keys: Sequence[Key],
    name: Callable[[Cells], str],
    skip: Callable[[Line, Cells], bool] = lambda line, cells: False,
) -> Match:
    """Match rows with students by the first key, then the others by the next. A text that several of them have matches
    none. `name` is how to name a row in a note; rows that `skip` tells are no students,
    whatever the gradebook has for them.
    """
    columns = named_columns(into)
    lines = [
        (line, {key: original(line.cells[index], into.delimiter) for key, index in columns.items()})
        for line in into.lines
    ]
    skipped = [cells for line, cells in lines if skip(line, cells)]
    lines = [(line, cells) for line, cells in lines if not skip(line, cells)]
    found: dict[int, Student] = {}
    left = list(students)
    for of_cells, of_student in keys:
        rest = [(line.number, cells) for line, cells in lines if line.number not in found]
        rows = _single([(of_cells(cells), number) for number, cells in rest])
        people = _single([(of_student(student), student) for student in left])
        found |= {rows[key]: student for key, student in people.items() if key in rows}
        left = [student for student in left if student not in found.values()]
    unreal = {(key, text) for key, (of_cells, _) in enumerate(keys) for cells in skipped if (text := of_cells(cells))}
    left = [each for each in left if not {(key, of(each)) for key, (_, of) in enumerate(keys)} & unreal]
    problems = []
    if left:
        problems.append(f"Not in {into.path}, so not in the export: {some([one_line(each.id) for each in left])}.")
    if unknown := [
        f"{one_line(name(cells))} (line {line.number})" for line, cells in lines if line.number not in found
    ]:
        problems.append(
            f"In {into.path} but not in the gradebook, so left out: {some(unknown)}. Import the roster with  "
            f"grader roster {into.path}"
        )
    return Match([(line, found[line.number]) for line, _ in lines if line.number in found], problems)


def _single(pairs: Sequence[tuple[str, T]]) -> dict[str, T]:
    """The value of each key that occurs once, without differences in case."""
    folded = [(key.casefold(), value) for key, value in pairs if key]
    counts = Counter(key for key, _ in folded)
    return {key: value for key, value in folded if counts[key] == 1}
