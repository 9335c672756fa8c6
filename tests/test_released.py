"""What was recorded, read again: a course of its own, from spec to verdict, with a callable and with chance."""

from pathlib import Path

import numpy as np
import pytest

from grader.checking.evaluate import evaluate, observe
from grader.codec import Fixture, encode
from grader.manifest import ManifestError, UnknownIdError, load_manifest
from grader.released import COURSE, Released, cases_tree, checks_from_trees, outputs_tree
from grader.render.text import verdict_text
from grader.spec.compute import make_checks, public_checks
from grader.spec.load import load_messages, load_spec, reference
from grader.spec.record import record

DEMO = Path(__file__).parent / "course"
PLACES = load_manifest(DEMO / "course.toml").places


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    data = tmp_path_factory.mktemp("data")
    record(DEMO, data)
    return Released(data)


def verdict(released, name, function):
    checks = released.checks(name)
    return evaluate(released.manifest.place(name), checks, released.messages(name).mistakes, observe(checks, function))


@pytest.mark.parametrize("name", PLACES)
def test_what_was_recorded_is_what_is_read(released, name):
    made, read = public_checks(DEMO, PLACES[name]), released.checks(name)
    assert encode(cases_tree(read)) == encode(cases_tree(made))
    assert encode(outputs_tree(read)) == encode(outputs_tree(made))
    assert (read.driver, read.outputs, read.tolerance, read.facets) == (
        made.driver,
        made.outputs,
        made.tolerance,
        made.facets,
    )
    assert released.messages(name) == load_messages(DEMO, PLACES[name])


def test_facets_with_kinds_and_outputs_come_back():
    made = COURSE.checks("rnn_forward")
    assert [facet.kinds for facet in made.facets] == [("ordinary",), ("T = 1",)]
    again = checks_from_trees("rnn_forward", cases_tree(made), outputs_tree(made), None, "")
    assert again.facets == made.facets


def test_it_is_read_once(released):
    assert released.checks("apply_twice") is released.checks("apply_twice")


def test_an_unknown_id(released):
    for ask in (released.checks, released.messages):
        with pytest.raises(UnknownIdError, match="Near it: apply_twice"):
            ask("aply_twice")


def test_a_folder_without_a_course(tmp_path):
    with pytest.raises(ManifestError, match="cannot be read"):
        _ = Released(tmp_path).manifest


@pytest.mark.parametrize("name", PLACES)
def test_the_reference_and_every_alternative_pass(released, name):
    spec = load_spec(DEMO, PLACES[name])
    for function in (reference(DEMO, PLACES[name]), *spec.alternatives.values()):
        found = verdict(released, name, function)
        assert found, verdict_text(found)
        assert found.earned == PLACES[name].exercise.points


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_every_mistake_is_named_on_public_and_on_hidden_cases(released, name, seed):
    checks = released.checks(name) if seed is None else make_checks(DEMO, PLACES[name], seed, example=False)
    for mistake, entry in load_spec(DEMO, PLACES[name]).named_mistakes.items():
        for function in entry.functions:
            found = evaluate(PLACES[name], checks, released.messages(name).mistakes, observe(checks, function))
            assert found.status == "failed"
            assert found.diagnosis is not None
            assert (found.diagnosis.id, found.earned) == (mistake, 0)


# An exercise that receives a callable --------------------------------------------------------------------------------


def test_the_case_names_a_fixture_and_the_report_a_function(released):
    case = released.checks("apply_twice").cases[1]
    assert isinstance(case.inputs["f"], Fixture)
    report = verdict_text(verdict(released, "apply_twice", lambda f, x: f(x)))
    assert "f=(a function)," in report


def test_the_calls_of_the_callable_are_in_the_observation(released):
    checks = released.checks("apply_twice")
    for observation, case in zip(observe(checks, lambda f, x: f(f(x))), checks.cases, strict=True):
        first, second = observation.calls["f"]
        params = case.inputs["f"].params
        assert np.array_equal(first["x"], case.inputs["x"])
        assert np.allclose(second["x"], case.inputs["x"] @ params["weight"] + params["bias"])


def test_a_wrong_use_of_the_callable_is_the_students_error(released):
    found = verdict(released, "apply_twice", lambda f, x: f(x, 2))
    assert found.status == "error"
    _, problem = found.first_problem
    assert problem.text.startswith("TypeError: too many positional arguments")
    assert len(problem.lines) == 1


# An exercise whose result is random ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda rng, n, p: rng.random(n), "only zeros and ones are due"),
        (lambda rng, n, p: (rng.random(n + 1) < p).astype(float), "a float64 array of shape (2000,) is due"),
        (lambda rng, n, p: rng.random(n) < p, "a float64 array"),
        (lambda rng, n, p: (rng.random(n) < 0.5).astype(float), "the share of ones is 0."),
        (lambda rng, n, p: None, "your function returned None"),
        (lambda rng, n, p: [1.0] * n, "a float64 array"),
    ],
)
def test_its_own_judge_says_what_is_due_and_names_no_wrong_cause(released, function, says):
    found = verdict(released, "keep_mask", function)
    assert found.status == "failed"
    assert found.diagnosis is None
    assert says in verdict_text(found)


def test_no_value_is_recorded_where_none_is_fixed(released):
    checks = released.checks("keep_mask")
    assert (checks.expected, checks.mistakes) == ((), {})
    assert set(checks.own.matches) == {"drops_with_p", "one_draw_for_all"}


def test_the_generator_is_started_anew_for_each_check(released):
    checks = released.checks("keep_mask")
    first, second = (observe(checks, lambda rng, n, p: rng.random(n)) for _ in range(2))
    assert all(np.array_equal(a.result, b.result) for a, b in zip(first, second, strict=True))
