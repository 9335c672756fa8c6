"""What happens to a gradebook over a term: gradings, and what humans do in between."""

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import nbgrader_api

from grader.gradebook import open_gradebook, open_writer

STUDENTS = ["ada", "bo", "Łukasz O'Neill"]
CHECKS = [("first", "double", 2.0), ("first", "halve", 1.5), ("second", "square", 1.0)]
GRADED = [("first", "double-check"), ("first", "halve-check"), ("second", "square-check"), ("second", "why")]
COMMENTED = [("first", "double"), ("first", "halve"), ("second", "square"), ("second", "why")]
NOON = datetime(2026, 3, 1, 12, 0, 0, 123456)
TIMES = [None, NOON, NOON.replace(tzinfo=UTC), NOON.replace(tzinfo=timezone(timedelta(hours=5)))]


@dataclass(frozen=True)
class Record:
    """The grader writes a submission."""

    student: str
    scores: dict[str, dict[str, float]]
    more: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Human:
    """A human changes something in formgrader or by nbgrader's commands."""

    what: str
    student: str
    change: Callable[[Any], None]


def history(seed: int, length: int) -> list[Record | Human]:
    """Random, the same for the same seed."""
    rng = random.Random(seed)
    return [_record(rng) if rng.random() < 0.5 else _human(rng) for _ in range(length)]


def _record(rng: random.Random) -> Record:
    scores: dict[str, dict[str, float]] = {}
    for notebook, exercise, points in CHECKS:
        if rng.random() < 0.7:
            scores.setdefault(notebook, {})[exercise] = rng.choice([0.0, points, points / 3])
    comments: dict[str, dict[str, str]] = {}
    for notebook, cell in COMMENTED:
        if rng.random() < 0.3:
            comments.setdefault(notebook, {})[cell] = rng.choice(["", "Nearly.", "größer\nals 0"])
    answers = {"second": {"why": rng.choice(["", "one", "another"])}}
    more = {"timestamp": rng.choice(TIMES), "comments": comments, "answers": answers}
    return Record(rng.choice(STUDENTS), scores, more)


def _human(rng: random.Random) -> Human:
    student, (notebook, cell) = rng.choice(STUDENTS), rng.choice(GRADED)
    kind = rng.choice(["grade"] * 8 + ["comment", "comment", "late", "enrol", "remove"])
    score, extra, needs = rng.choice([None, 0.0, 0.75, 3.0]), rng.choice([None, 0.5]), rng.random() < 0.5
    text, name = rng.choice([None, "By hand."]), rng.choice("xyz")

    def change(gradebook: Any) -> None:
        if kind == "grade":
            grade = gradebook.find_grade(cell, notebook, "ch01", student)
            grade.manual_score, grade.extra_credit, grade.needs_manual_grade = score, extra, needs
        elif kind == "comment":
            exercise = cell.removesuffix("-check")
            gradebook.find_comment(exercise, notebook, "ch01", student).manual_comment = text
        elif kind == "late":
            submitted = gradebook.find_submission_notebook(notebook, "ch01", student)
            submitted.late_submission_penalty, submitted.flagged = score, True
        elif kind == "enrol":
            gradebook.update_or_create_student(student, first_name=name)
        else:
            gradebook.remove_student(student)

    return Human(kind, student, change)


def differing(ours: str, theirs: str, steps: list[Record | Human]) -> list[str]:
    """Go through a history with our writer and with nbgrader's API, comparing all rows after each step."""
    with (
        open_gradebook(ours) as gradebook,
        open_gradebook(theirs) as oracle,
        open_writer(ours, "ch01") as writer,
    ):
        recorded: dict[str, str] = {}
        for number, step in enumerate(steps):
            if isinstance(step, Record):
                writer.record(step.student, step.scores, **step.more)
                nbgrader_api.record(oracle, "ch01", step.student, step.scores, recorded=recorded, **step.more)
            else:
                _by_a_human(gradebook, step)
                _by_a_human(oracle, step)
            found, due = nbgrader_api.rows(ours), nbgrader_api.rows(theirs)
            if found != due:
                return [
                    f"step {number}, {step}",
                    *sorted(_only(found, due)),
                    "but nbgrader",
                    *sorted(_only(due, found)),
                ]
    return []


def _only(some: dict[str, list[str]], others: dict[str, list[str]]) -> list[str]:
    return sorted(f"{table}: {row}" for table in some for row in set(some[table]) - set(others[table]))


def _by_a_human(gradebook: Any, step: Human) -> None:
    """What the gradebook does not hold cannot be changed."""
    with suppress(nbgrader_api.api.MissingEntry):
        step.change(gradebook)
    gradebook.db.commit()
    gradebook.db.remove()
