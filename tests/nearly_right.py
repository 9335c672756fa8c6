"""Programs for a notebook that no spec contains, registered by decorators; and how they are judged."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from grader.checking.verdict import Diagnosis
from tests.conftest import exercise

SEEDS = (0, 1, 2)


class Programs:
    """Nearly right programs, each with the id of the diagnosis that is true of it or None, and right ones in another
    style.
    """

    def __init__(self) -> None:
        self.nearly_right: list[Any] = []
        self.in_another_style: list[Any] = []

    def wrong(self, exercise_id: str, diagnosis: str | None) -> Callable[[Any], Any]:
        """A decorator: this program fails with this diagnosis."""
        return self._register(self.nearly_right, exercise_id, diagnosis)

    def right(self, exercise_id: str) -> Callable[[Any], Any]:
        """A decorator: this program passes."""
        return self._register(self.in_another_style, exercise_id)

    @staticmethod
    def _register(programs: list[Any], exercise_id: str, *expected: str | None) -> Callable[[Any], Any]:
        def register(function: Any) -> Any:
            named = f"{exercise_id}: {function.__name__}"
            programs.append(pytest.param(exercise_id, function, *expected, id=named))
            return function

        return register


def fails(exercise_id: str, function: Any, diagnosis: str | None) -> None:
    """It fails with each seed, and the likely cause is this one: its id, followed by " For scores" if the report says
    that it is about this result only.
    """
    for seed in SEEDS:
        verdict = exercise(exercise_id).verdict(function, seed)
        assert not verdict
        assert _named(verdict.diagnosis) == diagnosis, (seed, verdict)


def _named(diagnosis: Diagnosis | None) -> str | None:
    if diagnosis is None:
        return None
    about = re.match(r"For \w+((, | and )\w+)*(?=: )", diagnosis.text)
    return f"{diagnosis.id} {about[0]}" if about else diagnosis.id


def passes(exercise_id: str, function: Any) -> None:
    """It passes with each seed."""
    for seed in SEEDS:
        verdict = exercise(exercise_id).verdict(function, seed)
        assert verdict.status == "passed", verdict
