"""Generated, nearly correct programs: changes to the reference solution, one or two at a time (`mutants.py`).

Of those that run on the example, each gives right results on every seed's cases; or it fails on every seed's, and a
name from the spec that it is given on one seed is true of it on the other.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

from grader.checking.case import WHOLE, Checks, Facet, Observation
from grader.checking.compare import agree
from grader.checking.diagnose import failed_cases
from grader.checking.drivers import drive
from grader.checking.evaluate import evaluate, observe
from grader.checking.verdict import Verdict
from grader.manifest import load_manifest
from grader.released import read_fixtures
from grader.spec.changes import define
from grader.spec.folders import fixtures_path
from grader.spec.load import reference_code, reference_module
from tests.conftest import ROOT, SEEDS, Exercise, exercise
from tests.mutants import bounded, mutants

COSTLY = {"train_char_rnn": 5}  # where one run takes long, this many times fewer

PLACES = load_manifest(ROOT / "course.toml").places
FIRST, MORE = SEEDS[:2], SEEDS[2:]  # more are asked where one passes


def of_chapter(number: int) -> Any:
    """A test of a chapter's own file, so that workers share the chapters: its exercises, each with some mutants, in
    `make system` with more, and in `make slow` with many.
    """
    numbers = [
        pytest.param(10, id="some"),
        pytest.param(30, id="more", marks=pytest.mark.system),
        pytest.param(600, id="many", marks=pytest.mark.slow),
    ]
    names = [name for name, place in PLACES.items() if place.chapter.id.startswith(f"ch{number:02}_")]

    @pytest.mark.parametrize("number", numbers)
    @pytest.mark.parametrize("name", names)
    def test(name: str, number: int) -> None:
        problems = wrong_about_mutants(name, number)
        assert not problems, "\n".join(problems)

    return test


def wrong_about_mutants(name: str, number: int) -> list[str]:
    place, spec = PLACES[name], exercise(name).spec
    code, module = reference_code(ROOT, place), reference_module(ROOT, place)
    fixtures = read_fixtures(fixtures_path(ROOT, place.chapter))
    made = ((what, define(name, bounded(changed), module, f"mutant of {name}")) for what, changed in mutants(code))
    running = (each for each in made if drive(spec.driver, each[1], spec.example, fixtures).raised is None)
    chosen = islice(running, number // COSTLY.get(name, 1))
    return [f"{what}: {problem}" for what, function in chosen for problem in wrong_about(exercise(name), function)]


def wrong_about(subject: Exercise, function: object) -> Iterator[str]:
    seen = {seed: look(subject, function, seed) for seed in FIRST}
    passing = [seed for seed, (_, verdict) in seen.items() if verdict]
    if passing:
        seen |= {seed: look(subject, function, seed) for seed in MORE}
        failing = [seed for seed, (_, verdict) in seen.items() if not verdict]
        if failing:
            yield f"passes with seed {passing[0]} and fails with seed {failing[0]}: the cases have a hole"
        return
    for seed, (_, verdict) in seen.items():
        if verdict.diagnosis is None or verdict.diagnosis.id not in subject.spec.named_mistakes:
            continue
        for other in FIRST:
            if other != seed and not was_made(subject, verdict, subject.checks(other), *seen[other]):
                yield f"is named {verdict.diagnosis.id} with seed {seed}, which is not true with seed {other}"


def look(subject: Exercise, function: object, seed: int) -> tuple[tuple[Observation, ...], Verdict]:
    """Without altered inputs, because a mistake that a spec names comes before them, and without words."""
    checks = replace(subject.checks(seed), altered_inputs=())
    observations = observe(checks, function)
    return observations, evaluate(subject.place, checks, subject.messages.mistakes, observations, words=False)


def was_made(
    subject: Exercise, named: Verdict, checks: Checks, observations: tuple[Observation, ...], verdict: Verdict
) -> bool:
    """Whether the mistake that is named was made on these cases: all results are those of one of its ways, of the
    outputs that it is named for, or on the cases of one facet.
    """
    assert named.diagnosis is not None
    name = named.diagnosis.id
    if checks.own is not None:
        return any(
            all(checks.own.matches[name](checks.cases[i], observations[i]) for i in failed)
            for facet in checks.facets
            if (failed := failed_cases(checks, verdict.cases, facet))
        )
    about = named.diagnosis.text.removesuffix(subject.messages.mistakes[name])
    facets = [facet for facet in checks.facets if facet.name in about] if about else [*WHOLE, *checks.facets]
    found = [
        any(
            all(
                agree(ours, theirs, facet.outputs or tuple(output.name for output in checks.outputs), checks)
                for i, (ours, theirs) in enumerate(zip(observations, way, strict=True))
                if covers(facet, checks, i)
            )
            for way in checks.mistakes[name]
        )
        for facet in facets
    ]
    return all(found) if about else any(found)


def covers(facet: Facet, checks: Checks, index: int) -> bool:
    return facet.covers(checks.cases[index], None)
