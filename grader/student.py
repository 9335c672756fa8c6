"""`check`, `hint`, `progress` and `diary`: everything that a student imports."""

from __future__ import annotations

import os
from typing import Any

from grader import journal
from grader.checking.evaluate import evaluate, observe
from grader.checking.verdict import CheckFailed, Verdict
from grader.messages import LEVELS
from grader.mistakes import met
from grader.released import COURSE
from grader.render.diary import Diary, diary_of
from grader.render.notes import Hint, Progress, Report

# The latest verdict of this session on each exercise: for `progress`, and for exercises that build on others.
_latest: dict[str, Verdict] = {}


def check(exercise_id: str, function: Any) -> Report:
    """Run the public checks of an exercise on your function and report the result.

    Returns a report, which is true if everything is right; a wrong answer raises nothing. When nbgrader's own Validate
    runs the notebook, a wrong answer raises CheckFailed instead, so that only correct notebooks validate. Raises
    UnknownIdError for an id that the course does not have.
    """
    place = COURSE.manifest.place(exercise_id)
    checks = COURSE.checks(exercise_id)
    wrong_needs = [name for name in place.exercise.needs if name in _latest and not _latest[name]]
    verdict = evaluate(place, checks, COURSE.messages(exercise_id).mistakes, observe(checks, function), wrong_needs)
    _latest[exercise_id] = verdict
    journal.note(verdict)
    report = Report(verdict)
    if not report and os.environ.get("NBGRADER_EXECUTION"):
        raise CheckFailed(repr(report))
    return report


def hint(exercise_id: str, level: int = 1) -> Hint:
    """Show a hint: level 1 asks a question, level 2 explains the idea, level 3 outlines the code.

    Raises UnknownIdError for an id that the course does not have, ValueError for any other level.
    """
    hints = COURSE.messages(exercise_id).hints
    if type(level) is not int or level not in LEVELS:
        raise ValueError(f"hint({exercise_id!r}, {level!r}): hints have the levels 1, 2 and 3")
    return Hint(exercise_id, level, hints[level - 1])


def progress() -> Progress:
    """Show the results of this session's checks so far, exercise by exercise."""
    return Progress(COURSE.manifest, dict(_latest))


def diary(chapter_id: str | None = None) -> Diary:
    """Show which mistakes your checks have met and which of them you have overcome, of one chapter or of all.

    It is read from the file on this machine in which `check` notes its results. Raises UnknownIdError for a chapter
    that the course does not have.
    """
    return diary_of(COURSE, met(journal.read()), chapter_id)
