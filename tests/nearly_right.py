"""Programs for a notebook that no spec contains, registered by decorators; and how they are judged."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from grader.checking.verdict import Diagnosis
from tests.conftest import SEEDS, exercise


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
            programs.append((exercise_id, function, *expected))
            return function

        return register


def fails(
    exercise_id: str,
    function: Any,
    allowed: str | set[str | None] | None,
    earns: float | Collection[str] | None = None,
    seeds: Collection[int] = SEEDS,
) -> None:
    """It fails with each seed, and the likely cause is `allowed` or, of a set, one of them: its id, with or without
    "counterfactual: ", followed by " For scores" if the report says that it is about this result only.
    It earns these points, or those of these facets.
    """
    for seed in seeds:
        verdict = exercise(exercise_id).verdict(function, seed)
        assert not verdict, f"passes with seed {seed}"
        assert verdict.earned < verdict.points
        name = told(verdict.diagnosis, exercise(exercise_id).messages.mistakes)
        names = {name, name and name.removeprefix("counterfactual: ")}
        assert names & (allowed if isinstance(allowed, set) else {allowed}), f"is named {name!r} with seed {seed}"
        if isinstance(earns, float | int):
            assert verdict.earned == earns, f"earns {verdict.earned} with seed {seed}"
        elif earns is not None:
            kept = {facet.name for facet in verdict.facets if facet.earned}
            assert kept == set(earns), f"keeps {kept} with seed {seed}"


def fails_keeping(
    exercise_id: str,
    function: Any,
    allowed: str | None,
    keeps: Collection[str] = (),
    seeds: Collection[int] = SEEDS,
) -> None:
    """It fails like this, and earns the points of no other facets."""
    fails(exercise_id, function, allowed, keeps, seeds)


def told(diagnosis: Diagnosis | None, messages: Mapping[str, str]) -> str | None:
    """The id of a diagnosis, and what it is about if the report says so before its message, which may begin so too."""
    if diagnosis is None:
        return None
    text = diagnosis.text.removesuffix(messages.get(diagnosis.id, ""))
    about = text.partition(": ")[0] if text.startswith("For ") else ""
    return f"{diagnosis.id} {about}".rstrip()


def passes(exercise_id: str, function: Any, seeds: Collection[int] = SEEDS) -> None:
    """It passes with each seed, and earns everything."""
    for seed in seeds:
        verdict = exercise(exercise_id).verdict(function, seed)
        assert (verdict.status, verdict.earned) == ("passed", verdict.points), f"{verdict} with seed {seed}"
