"""What `grader autograde` tells of a class: a table for people, a tree for programs, and what needs a human."""

from __future__ import annotations

from collections import Counter

import msgspec
from rich import box
from rich.table import Table

from grader.autograde.grading.grade import Graded
from grader.autograde.remark import (
    Ended,
    Foreign,
    LeftOut,
    NotImported,
    OddCell,
    OtherFiles,
    OtherName,
    Remark,
    Unreadable,
    What,
    absence,
)
from grader.manifest import Chapter
from grader.render.rows import number

MOST_NAMED = 5  # students, of whom something harmless is said
_WIDTH_OF_POINTS, _WIDTH_OF_THE_REST = 5, 35  # of the table's columns, at the least


def class_table(chapter: Chapter, results: list[Graded], width: int) -> Table:
    """A row a student: the points of each exercise, and of what is not right the likely cause, or how it ended.

    The exercises are numbered, so that a chapter of many fits a narrow terminal; `legend` tells the numbers. Where they
    do not fit, a column holds the points of one notebook's exercises, from the first to the last.
    """
    by_exercise = width >= _WIDTH_OF_THE_REST + _WIDTH_OF_POINTS * len(chapter.exercises)
    groups = [[e] for e in chapter.exercises] if by_exercise else [[*n.exercises] for n in chapter.notebooks]
    groups = [group for group in groups if group]
    numbers = {exercise.id: index for index, exercise in enumerate(chapter.exercises, 1)}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True)
    table.add_column("student", overflow="fold", min_width=8)
    for group in groups:
        ends = dict.fromkeys((numbers[group[0].id], numbers[group[-1].id]))
        table.add_column(f"{'–'.join(map(str, ends))}\n/ {number(sum(e.points for e in group))}", justify="right")
    table.add_column(f"points\n/ {number(sum(e.points for e in chapter.exercises))}", justify="right")
    table.add_column("time", justify="right")
    table.add_column("what is not right", overflow="fold")
    for graded in results:
        if graded.fault:
            table.add_row(graded.student, *["–"] * len(groups), "–", "", "not graded")
            continue
        verdicts = graded.by_exercise
        wrong = [verdict for verdict in verdicts.values() if not verdict]
        causes = [f"{numbers[v.id]} {v.diagnosis.id if v.diagnosis else v.status}" for v in wrong]
        points = [number(sum(verdicts[exercise.id].earned for exercise in group)) for group in groups]
        table.add_row(
            graded.student, *points, number(graded.earned), f"{sum(graded.seconds.values()):.1f} s", ", ".join(causes)
        )
    return table


def legend(chapter: Chapter) -> str:
    """The numbers of `class_table`'s columns."""
    return "   ".join(f"{index} {exercise.id}" for index, exercise in enumerate(chapter.exercises, 1))


def for_a_human(results: list[Graded]) -> list[str]:
    """What could not be graded, or was odd: a line for each such thing, with the students that it is said of. What is
    not graded comes first, then what may have changed points, then the rest.
    """
    said: dict[tuple[int, str], Counter[str]] = {}
    for graded in results:
        lines = [(_rank(remark.what), remark_line(remark)) for remark in graded.remarks]
        for line in [*lines, *([(_NOT_GRADED, graded.fault)] if graded.fault else [])]:
            said.setdefault(line, Counter())[graded.student] += 1
    told = [
        f"  {_names(counts, MOST_NAMED if rank == _HARMLESS else len(counts))}: {line}"
        for (rank, line), counts in sorted(said.items(), key=lambda item: item[0][0])
    ]
    return ["For a human to look at:", *told] if told else []


_NOT_GRADED, _MAY_CHANGE_POINTS, _HARMLESS = range(3)


def _rank(what: What) -> int:
    if isinstance(what, Unreadable | Foreign):
        return _NOT_GRADED
    return _MAY_CHANGE_POINTS if may_change_points(what) else _HARMLESS


def may_change_points(what: What) -> bool:
    """Whether other points might have come of what a remark tells."""
    return not (
        isinstance(what, OddCell) and what.kind in ("check edited", "check missing", "check above", "stub left")
    )


def _names(counts: Counter[str], most: int) -> str:
    names = [name if count == 1 else f"{name} ({count} times)" for name, count in counts.items()]
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def remark_line(remark: Remark) -> str:
    """A remark as an instructor reads it: which notebook, where in it, what is odd."""
    where = remark.notebook
    match remark.what:
        case OddCell(kind, name):
            text = _ODD_CELLS[kind].format(name)
        case Foreign():
            text = "nothing of this notebook's exercises was found in it; is it from another assignment?"
        case Unreadable(reason):
            text = reason
        case Ended(fault, exercise):
            text = fault.text
            where += f", {_place(fault.cell, exercise)}"
        case LeftOut(file, size):
            text = f"{file} ({size / 1e6:.1f} MB) was not laid beside the notebooks: too large or too many"
        case OtherName(due, is_folder, taken):
            text = f"{absence(due, is_folder)}; {taken} was graded in its place"
        case NotImported(cell, module, reason):
            text = f"`{module}` could not be imported ({reason}); the lines that need it were left out"
            where += f", {_place(cell, None)}"
        case OtherFiles(taken, left):
            text = f"{taken} was graded, in which most is written; not graded: {', '.join(left)}"
    return f"{where}: {text}" if where else text


_ODD_CELLS = {
    "check edited": "the check cell of `{}` was edited; the released one was used",
    "check missing": "the check cell of `{}` was missing; it was put back",
    "check above": "the check cell of `{}` stood above the cell that defines it; it was moved below",
    "undefined": "no cell defines `{}`; the empty one of the release was put in its place",
    "defined again": "`{}` is defined again below its check cell; what stands above it was graded",
    "stub left": "the released cell of `{}` was left beside the cell that defines it; it was not run",
    "cell twice": "the cell `{}` stands twice; both were run, in their order",
    "answer twice": "the cell `{}` stands twice; the first is the answer",
    "answer missing": "no cell answers the question `{}`; the empty one of the release was put back",
}


def _place(cell: int | None, exercise: str | None) -> str:
    """Where in the notebook, in a human's count of cells."""
    if exercise is not None:
        return f"the check of {exercise}"
    return "between cells" if cell is None else f"cell {cell + 1}"


def as_json(chapter: Chapter, results: list[Graded], sandboxed: bool) -> str:
    """All results for another program: points, status, likely cause, and what needs a human."""
    students = [
        {
            "student": graded.student,
            "earned": None if graded.fault else graded.earned,
            "exercises": {
                name: {
                    "earned": verdict.earned,
                    "points": verdict.points,
                    "status": verdict.status,
                    "cause": verdict.diagnosis.id if verdict.diagnosis else None,
                }
                for name, verdict in graded.by_exercise.items()
            },
            "remarks": [remark_line(remark) for remark in graded.remarks],
            "fault": graded.fault or None,
            "seconds": graded.seconds,
        }
        for graded in results
    ]
    tree = {"format": 1, "chapter": chapter.id, "sandboxed": sandboxed, "students": students}
    return msgspec.json.format(msgspec.json.encode(tree).decode(), indent=1)
