"""Generated, nearly correct programs: changes to the reference solution, one or two at a time (`mutants.py`).

Of those that run on the example, each gives right results on every seed's cases; or it fails on every seed's, and a
name from the spec that it is given on one seed is true of it on the other.
"""

import ast
import textwrap
from collections.abc import Iterator
from itertools import islice

import pytest

from grader.author.changes import define
from grader.author.record import fixtures_path, reference, reference_code, reference_module
from grader.checking.case import WHOLE, Checks, Facet, Observation
from grader.checking.compare import agree
from grader.checking.diagnose import failed_cases
from grader.checking.drivers import drive
from grader.checking.evaluate import evaluate, observe
from grader.checking.verdict import Verdict
from grader.manifest import load_manifest
from grader.released import read_fixtures
from tests.conftest import ROOT, Exercise, exercise
from tests.mutants import bounded, mutants

COSTLY = {"train_char_rnn": 5}  # where one run takes long, this many times fewer

PLACES = load_manifest(ROOT / "course.toml").places
SEEDS = (0, 1)
MORE_SEEDS = (2, 3)  # asked where one passes

sweep = pytest.mark.parametrize(
    "number", [pytest.param(30, id="some"), pytest.param(600, id="more", marks=pytest.mark.slow)]
)


@sweep
@pytest.mark.parametrize("name", PLACES)
def test_nearly_right_work_fails_without_a_false_name(name, number):
    place = PLACES[name]
    code, module = reference_code(ROOT, place), reference_module(ROOT, place)
    spec, problems = exercise(name).spec, []
    fixtures = read_fixtures(fixtures_path(ROOT, place.chapter))
    made = ((what, define(name, bounded(changed), module, f"mutant of {name}")) for what, changed in mutants(code))
    running = (each for each in made if drive(spec.driver, each[1], spec.example, fixtures).raised is None)
    for what, function in islice(running, number // COSTLY.get(name, 1)):
        problems += [f"{what}: {problem}" for problem in wrong_about(exercise(name), function)]
    assert not problems, "\n".join(problems)


def wrong_about(subject: Exercise, function: object) -> Iterator[str]:
    seen = {seed: look(subject, function, seed) for seed in SEEDS}
    passing = [seed for seed, (_, verdict) in seen.items() if verdict]
    if passing:
        seen |= {seed: look(subject, function, seed) for seed in MORE_SEEDS}
        failing = [seed for seed, (_, verdict) in seen.items() if not verdict]
        if failing:
            yield f"passes with seed {passing[0]} and fails with seed {failing[0]}: the cases have a hole"
        return
    for seed, (_, verdict) in seen.items():
        if verdict.diagnosis is None or verdict.diagnosis.id not in subject.spec.misconceptions:
            continue
        for other in SEEDS:
            if other != seed and not was_made(subject, verdict, subject.checks(other), *seen[other]):
                yield f"is named {verdict.diagnosis.id} with seed {seed}, which is not true with seed {other}"


def look(subject: Exercise, function: object, seed: int) -> tuple[tuple[Observation, ...], Verdict]:
    checks = subject.checks(seed)
    observations = observe(checks, function)
    return observations, evaluate(subject.place, checks, subject.messages.mistakes, observations)


def was_made(
    subject: Exercise, named: Verdict, checks: Checks, observations: tuple[Observation, ...], verdict: Verdict
) -> bool:
    """Whether the mistake that is named was made on these cases: all results are those of one of its variants, of the
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
                for i, (ours, theirs) in enumerate(zip(observations, variant, strict=True))
                if covers(facet, checks, i)
            )
            for variant in checks.misconceptions[name]
        )
        for facet in facets
    ]
    return all(found) if about else any(found)


def covers(facet: Facet, checks: Checks, index: int) -> bool:
    return facet.covers(checks.cases[index], None)


def by_public_case(on_public, on_others):
    """Work that does one thing on the public cases and another on all others."""
    known = {case.inputs["W_xh"].tobytes() for case in exercise("rnn_step").checks(0).cases}
    return lambda **inputs: (on_public if inputs["W_xh"].tobytes() in known else on_others)(**inputs)


def test_a_hole_in_the_cases_and_a_false_name_are_told():
    right, spec = reference(ROOT, PLACES["rnn_step"]), exercise("rnn_step").spec
    (no_bias,) = spec.misconceptions["no_bias"].variants
    (no_tanh,) = spec.misconceptions["no_tanh"].variants
    assert list(wrong_about(exercise("rnn_step"), right)) == []
    assert list(wrong_about(exercise("rnn_step"), no_bias)) == []
    (told,) = wrong_about(exercise("rnn_step"), by_public_case(right, no_bias))
    assert told == "passes with seed 0 and fails with seed 1: the cases have a hole"
    assert list(wrong_about(exercise("rnn_step"), by_public_case(no_bias, no_tanh))) == [
        "is named no_bias with seed 0, which is not true with seed 1",
        "is named no_tanh with seed 1, which is not true with seed 0",
    ]


def test_mutants_are_the_same_each_time_and_none_is_the_original():
    code = reference_code(ROOT, PLACES["rnn_backward"])
    first, second = (list(islice(mutants(code), 100)) for _ in range(2))
    assert first == second
    assert len({changed for _, changed in first}) == 100
    assert ast.unparse(ast.parse(code)) not in {changed for _, changed in first}


WITH_LOOPS = textwrap.dedent("""\
    def pieces(ids, size):
        found, i = [], 0
        while i < len(ids):
            found.append([])
            for each in ids[i : i + size]:
                found[-1].append(each)
            i += size
        return found
    """)


def ending(code: str) -> object:
    """What `pieces` returns, or how it ends: of every mutant there is one."""
    namespace: dict = {}
    exec(bounded(code), namespace)
    try:
        return namespace["pieces"](list(range(7)), 3)
    except BaseException as error:
        return f"{type(error).__name__}: {error}"


def test_every_mutant_of_a_loop_ends():
    endings = {what: ending(code) for what, code in mutants(WITH_LOOPS)}
    assert ending(WITH_LOOPS) == [[0, 1, 2], [3, 4, 5], [6]]
    for change in ("pass", "i = size"):
        assert endings[f"line 7: i += size → {change}"] == "BaseException: a loop has no end"


def test_a_bounded_loop_may_be_begun_often_and_keeps_its_else():
    code = """
        total = 0
        for _ in range(300):
            for _ in range(100):
                total += 1
            else:
                total += 1
        """
    namespace: dict = {}
    exec(bounded(textwrap.dedent(code)), namespace)
    assert namespace["total"] == 300 * 101
