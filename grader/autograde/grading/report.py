"""What `grader autograde` tells of a class: a table for people, a tree for programs, and what needs a human."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from rich import box
from rich.table import Table

from grader.autograde.grading.grade import Graded
from grader.autograde.grading.store import Change
from grader.autograde.remark import Ended, Foreign, LeftOut, NoTime, OddCell, OtherName, Remark, Unreadable, absence
from grader.manifest import Chapter
from grader.render.rows import number

_CHANGES = 20  # students whose changes are printed
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
    """What could not be graded, or was odd, a line each; none where there is nothing."""
    lines = [
        f"  {graded.student}: {line}"
        for graded in results
        for line in (*map(remark_line, graded.remarks), *([graded.fault] if graded.fault else []))
    ]
    return ["For a human to look at:", *lines] if lines else []


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
        case NoTime(found):
            text = f"its timestamp.txt holds no time but {found}, so it counts as in time"
        case OtherName(due, is_folder, taken):
            text = f"{absence(due, is_folder)}; {taken} was graded in its place"
    return f"{where}: {text}" if where else text


_ODD_CELLS = {
    "check edited": "the check cell of `{}` was edited; the released one was used",
    "check missing": "the check cell of `{}` was missing; it was put back",
    "check above": "the check cell of `{}` stood above the cell that defines it; it was moved below",
    "undefined": "no cell defines `{}`; the empty one of the release was put in its place",
    "defined again": "`{}` is defined again below its check cell; what stands above it was graded",
    "cell twice": "the cell `{}` stands twice; both were run, in their order",
    "answer twice": "the cell `{}` stands twice; the first is the answer",
    "answer missing": "no cell answers the question `{}`; the empty one of the release was put back",
}


def _place(cell: int | None, exercise: str | None) -> str:
    """Where in the notebook, in a human's count of cells."""
    if exercise is not None:
        return f"the check of {exercise}"
    return "between cells" if cell is None else f"cell {cell + 1}"


def changed(changes: Sequence[Change], log: Path) -> list[str]:
    """What changed since the last run, a line a student up to some; nothing where nothing did."""
    first = [change for change in changes if change.reasons == ("first",)]
    others = sorted((change for change in changes if change not in first), key=lambda change: change.student)
    lines = [f"  {change.student}: {_change_words(change)}" for change in others[:_CHANGES]]
    lines += [f"  and {len(others) - _CHANGES} more"] if len(others) > _CHANGES else []
    lines += [f"  graded for the first time: {len(first)}"] if first else []
    return [f"Changed since the last run (all of it is in {log}):", *lines] if lines else []


def _change_words(change: Change) -> str:
    why = ", ".join(_REASONS[reason] for reason in change.reasons)
    if change.old is None:
        return f"{number(sum(change.new.values()))} points: {why}"
    old, new = change.old, change.new
    parts = [
        f"{name} {_points(old.get(name))} → {_points(new.get(name))}"
        for name in dict.fromkeys([*old, *new])
        if old.get(name) != new.get(name)
    ]
    return f"{number(sum(old.values()))} → {number(sum(new.values()))} points ({', '.join(parts)}): {why}"


def _points(value: float | None) -> str:
    return "–" if value is None else number(value)


_REASONS = {
    "first": "graded for the first time",
    "illegible": "the earlier result could not be read",
    "submission": "the submission changed",
    "checks": "the checks or the grader changed",
    "points": "the exercises' points changed",
    "limits": "the limits changed",
    "sandbox": "the sandbox was on in one run and off in the other",
    "again": "graded again, with another result",
}


def as_json(
    chapter: Chapter,
    results: list[Graded],
    sandboxed: bool,
    preflight: Mapping[str, Any] | None = None,
    changes: Sequence[Change] = (),
) -> str:
    """All results for another program: points, status, likely cause, and what needs a human; what was found before
    grading, and what changed since the last run.
    """
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
    tree |= {"preflight": preflight, "changes": [msgspec.to_builtins(change) for change in changes]}
    return msgspec.json.format(msgspec.json.encode(tree).decode(), indent=1)
