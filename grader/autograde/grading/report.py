"""What `grader autograde` tells of a class: a table for people, a tree for programs, and what needs a human."""

from __future__ import annotations

import msgspec
from rich import box
from rich.table import Table

from grader.autograde.grading.grade import Graded
from grader.manifest import Chapter
from grader.render.rows import number


def class_table(chapter: Chapter, results: list[Graded]) -> Table:
    """A row a student: the points of each exercise, and of what is not right the likely cause, or how it ended.

    The exercises are numbered, so that a chapter of many fits a narrow terminal; `legend` tells the numbers.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True)
    table.add_column("student", overflow="fold", min_width=8)
    for index, exercise in enumerate(chapter.exercises, 1):
        table.add_column(f"{index}\n/ {number(exercise.points)}", justify="right")
    table.add_column(f"points\n/ {number(sum(e.points for e in chapter.exercises))}", justify="right")
    table.add_column("time", justify="right")
    table.add_column("what is not right", overflow="fold")
    for graded in results:
        if graded.fault:
            table.add_row(graded.student, *["–"] * len(chapter.exercises), "–", "", "not graded")
            continue
        verdicts = graded.by_exercise
        wrong = [verdict for verdict in verdicts.values() if not verdict]
        numbers = {exercise.id: index for index, exercise in enumerate(chapter.exercises, 1)}
        causes = [f"{numbers[v.id]} {v.diagnosis.id if v.diagnosis else v.status}" for v in wrong]
        points = [number(verdicts[exercise.id].earned) for exercise in chapter.exercises]
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
        f"  {graded.student}: {remark}"
        for graded in results
        for remark in (*graded.remarks, *([graded.fault] if graded.fault else []))
    ]
    return ["For a human to look at:", *lines] if lines else []


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
            "remarks": graded.remarks,
            "fault": graded.fault or None,
            "seconds": graded.seconds,
        }
        for graded in results
    ]
    tree = {"format": 1, "chapter": chapter.id, "sandboxed": sandboxed, "students": students}
    return msgspec.json.format(msgspec.json.encode(tree).decode(), indent=1)
