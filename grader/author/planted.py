"""What a demo class is expected to get: `planted.json`, and what differs from it once the class is graded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grader.cells import check_id
from grader.errors import ExpectedError
from grader.manifest import load_manifest

PLANTED = "planted.json"


class DemoError(ExpectedError):
    """The demo class cannot be written or compared; the message says why and what to do."""


def is_demo(term: Path) -> bool:
    """Whether a term is that of a demo class, all whose code is the course's own."""
    return (term / PLANTED).is_file()


def read_planted(out: Path) -> dict[str, Any]:
    """The expected results of each student of a demo class. Raises DemoError if there is none."""
    try:
        planted = json.loads((out / PLANTED).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise DemoError(f"{out} contains no demo class: {out / PLANTED} cannot be read. Write one first.") from error
    if not isinstance(planted, dict):
        raise DemoError(f"{out / PLANTED} is not the file of a demo class. Delete {out} and write the class again.")
    return planted


def differences(root: Path, out: Path) -> list[str]:
    """A line for each score in the gradebook and each verdict that differs from the expected one."""
    from grader.gradebook import gradebook_url, open_gradebook

    planted = read_planted(out)
    manifest = load_manifest(root / "course.toml")
    chapters = {name: manifest.place(name).chapter.id for exercises in planted.values() for name in exercises}
    if not (out / "gradebook.db").is_file():
        first = next(iter(chapters.values()))
        raise DemoError(f"{out} has no gradebook. Run  grader autograde {first} --term {out}  first.")
    found: list[str] = []
    with open_gradebook(gradebook_url(out)) as gradebook:
        for student, exercises in planted.items():
            for chapter in dict.fromkeys(chapters[name] for name in exercises):
                due = {name: entry for name, entry in exercises.items() if chapters[name] == chapter}
                found += _differences(gradebook, out, chapter, student, due)
    return found


def _differences(gradebook: Any, out: Path, chapter: str, student: str, exercises: dict[str, Any]) -> Iterator[str]:
    from grader.grading import store
    from grader.imports import nbgrader_tables

    stored = store.read(out, chapter, student)
    try:
        submission = gradebook.find_submission(chapter, student)
    except nbgrader_tables().MissingEntry:
        submission = None
    if stored is None or submission is None:
        yield f"{student}: {chapter} is not {'in the gradebook' if stored else 'graded'}"
        return
    scores = {grade.name: grade.score for notebook in submission.notebooks for grade in notebook.grades}
    for name, due in exercises.items():
        verdict = stored.graded.by_exercise[name]
        cause = verdict.diagnosis.id if verdict.diagnosis else None
        score = scores.get(check_id(name))
        expected = f"{student} {name} ({due['what']}): expected"
        if score is None or abs(score - due["points"]) > 1e-9:
            yield f"{expected} {due['points']:g} points, but the gradebook has {score}"
        if due["status"] and verdict.status != due["status"]:
            yield f"{expected} the status {due['status']!r}, but it is {verdict.status!r}"
        if due["diagnosis"] and cause != due["diagnosis"]:
            yield f"{expected} the likely cause {due['diagnosis']!r}, but it is {cause!r}"
