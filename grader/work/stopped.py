"""The verdict on an exercise whose check was stopped."""

from __future__ import annotations

from grader.checking.verdict import Verdict
from grader.released import COURSE


def stopped(exercise_id: str) -> Verdict:
    """The verdict on an exercise whose check was stopped at its time limit."""
    place = COURSE.manifest.place(exercise_id)
    exercise = place.exercise
    return Verdict(exercise.id, exercise.title, "timeout", 0.0, exercise.points, place.page_title)
