"""An answer that does not depend on its inputs earns nothing, whatever it is: an edge case whose right result is 0 or
an empty array is worth points only to a function that computes something.
"""

import numpy as np
import pytest

from grader.checking.case import DEFAULT_TOLERANCE, Case, Checks, Facet, Observation, Output
from grader.checking.constant import constant_outputs
from grader.checking.evaluate import evaluate, observe
from grader.codec import Raised, freeze
from grader.manifest import load_manifest
from grader.spec.load import reference
from tests.conftest import ROOT, exercise
from tests.loops import for_each

FEW = ("generate", "clip_by_norm", "lstm_step", "cell_gradient", "masked_cross_entropy", "teacher_forced_loss")
MODULES = {"CharLM", "Seq2Seq", "MapAttention", "AttentionDecoder"}  # see tests/attacks/test_torch_attacks.py
REST = [name for name in load_manifest(ROOT / "course.toml").places if name not in MODULES.union(FEW)]


def filled(value, number):
    """The same structure and shapes, with this number everywhere."""
    if isinstance(value, np.ndarray):
        return np.full_like(value, number)
    if isinstance(value, list | tuple):
        return type(value)(filled(entry, number) for entry in value)
    if isinstance(value, dict):
        return {key: filled(entry, number) for key, entry in value.items()}
    return "" if isinstance(value, str) else number if value is None else type(value)(number)


def earned(name):
    """The constant answers that earn points in this exercise, with the facets that they earn."""
    found = exercise(name)
    checks = found.checks(1)
    due = checks.expected or observe(checks, reference(ROOT, found.place))
    results = [each.result for each in due]
    answers = {f"{number} everywhere": [filled(result, number) for result in results] for number in (0, 1, -1)}
    answers |= {"nothing": [None] * len(results), "an empty list": [[]] * len(results)}
    answers |= {f"the result of case {index}": [result] * len(results) for index, result in enumerate(results)}
    observed = {label: [Observation(freeze(value)) for value in values] for label, values in answers.items()}
    observed |= {each.raised.type: [Observation(raised=each.raised)] * len(due) for each in due if each.raised}
    for label, observations in observed.items():
        verdict = evaluate(found.place, checks, found.messages.mistakes, tuple(observations), words=False)
        if verdict.earned:
            yield label, [facet.name for facet in verdict.facets if facet.earned]


@for_each("name", FEW)
def test_no_facet_is_earned_by_a_constant(name):
    assert list(earned(name)) == []


@pytest.mark.system
@pytest.mark.parametrize("name", REST)
def test_no_facet_of_any_exercise_is_earned_by_a_constant(name):
    assert list(earned(name)) == []


def test_why_a_right_facet_earns_nothing_is_told():
    found = exercise("masked_cross_entropy")
    checks = found.checks(0)
    verdict = evaluate(found.place, checks, {}, (Observation(0.0),) * len(checks.cases))
    assert verdict.earned == 0
    assert verdict.note == (
        "For 'no real token' you get no points yet, because `loss` would be the same for any inputs."
    )
    careful = tuple(
        due if case.kind == "no real token" else Observation(due.result + 1)
        for case, due in zip(checks.cases, checks.expected, strict=True)
    )
    verdict = evaluate(found.place, checks, {}, careful)
    assert (verdict.earned, verdict.note) == (0.5, "")


def constant(due, got, outputs=("a",)):
    cases = tuple(Case({"T": size}, {}) for size in range(len(due)))
    named = tuple(Output(name) for name in outputs)
    expected = tuple(map(Observation, due))
    checks = Checks("f", "call", named, DEFAULT_TOLERANCE, (Facet("result"),), cases, expected)
    return constant_outputs(checks, [each if isinstance(each, Observation) else Observation(each) for each in got])


@for_each(
    ("due", "got", "found"),
    [
        ([0.0, 1.5], [0.0, 0.0], ["a"]),
        ([0.0, 1.5], [0.0, 1e-13], ["a"]),
        ([0.0, 1.5], [0.0, 0.1], []),
        ([np.zeros(0), np.arange(2.0)], [np.zeros(0), np.zeros(2)], ["a"]),
        ([np.zeros(0), np.arange(2.0)], [np.zeros(0), np.array([1.0, 2.0])], []),
        ([[], ["x"]], [[], []], ["a"]),
        ([[], ["x"]], [[], ["y"]], []),
        ([3, 10**40], [3, 10**40 + 1], []),
        ([0.0, 1.0], [np.nan, np.nan], ["a"]),
        ([2.0, 2.0], [2.0, 2.0], []),  # it should be constant
    ],
)
def test_what_is_constant(due, got, found):
    assert constant(due, got) == found


def test_each_output_is_looked_at_alone():
    due = [(np.zeros(2), 0.0), (np.arange(2.0), 1.0)]
    assert constant(due, [(np.zeros(2), 0.0), (np.zeros(2), 1.0)], ("a", "b")) == ["a"]
    assert constant(due, [np.zeros(2), np.zeros(2)], ("a", "b")) == []


def test_a_function_that_raises_is_not_constant():
    assert constant([0.0, 1.5], [0.0, Observation(raised=Raised("ValueError", "", ()))]) == []
