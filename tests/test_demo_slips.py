"""Slips on top of right work: for any inputs, and each gets the status that is planted."""

import numpy as np
import pytest

from grader.author.known_work import ENDLESS, SLIPS, slips
from grader.checking.case import Case, Checks, Observation, Output
from grader.checking.evaluate import evaluate, observe
from grader.checking.fixtures import BUILDERS
from grader.manifest import Chapter, Exercise, Notebook, Place
from grader.spec.spec import Fixture, Spec

NEITHER_HERE = {ENDLESS, "ends the process", "prints a megabyte"}
MASK = "def f(T):\n    return np.tri(T, dtype=bool)"
DRAWN = "def f(rng, n):\n    return rng.normal(size=(n, n))"
REAL = "def f(lengths, keep):\n    return np.where(keep, lengths, 0.5)"
IDS = "def f(words, vocab=None):\n    return np.array([len(word) for word in words])"
TEXT = "def f(x):\n    return [str(n) for n in x]"


def made(source, inputs, axes):
    cell = {"np": np}
    exec(source, cell)
    case = Case({}, inputs)
    spec = Spec(outputs=[Output("y", axes)], example=case, cases=lambda rng: [], oracle=cell["f"])
    spec.alternative(cell["f"])
    exercise = Exercise("f", "F", 2.0, "page")
    return spec, exercise, list(slips(source, exercise, spec))


def status(spec, exercise, work):
    notebook = Notebook("first", "First", (exercise,))
    place = Place(Chapter("ch01", "One", (notebook,), {"page": "Page"}), notebook, exercise)
    inputs = {n: BUILDERS[v.kind](**v.params) if isinstance(v, Fixture) else v for n, v in spec.example.inputs.items()}
    due = Observation(spec.oracle(**inputs))
    checks = Checks("f", "call", tuple(spec.outputs), spec.tolerance, tuple(spec.facets), (spec.example,), (due,))
    cell = {"np": np, "DemoError": RuntimeError}
    exec(work.source, cell)
    return evaluate(place, checks, {}, observe(checks, cell["f"]))


@pytest.mark.parametrize(
    ("source", "inputs", "axes", "changed"),
    [
        (MASK, {"T": 3}, ("T", "T"), None),
        (DRAWN, {"rng": Fixture("rng", {"seed": 3}), "n": 2}, ("H", "H"), None),
        (REAL, {"keep": np.array([True, False]), "lengths": np.array([1.5, 2.5])}, ("B",), "lengths"),
        (IDS, {"words": ["a", "bc"]}, ("T",), None),
    ],
)
def test_slips_need_no_array_among_the_inputs(source, inputs, axes, changed):
    spec, exercise, works = made(source, inputs, axes)
    left_out = set() if changed else {"changes its input"}
    assert {work.what for work in works} == set(SLIPS) - left_out | {"wrong arity"}
    for work in works:
        if work.what in NEITHER_HERE:
            continue
        verdict = status(spec, exercise, work)
        assert (work.what, verdict.status) == (work.what, work.status)
        assert verdict.earned == work.points
        if work.diagnosis:
            assert verdict.diagnosis.id == work.diagnosis
        if work.what == "changes its input":
            assert f"your function changes `{changed}`" in repr(verdict)


def test_a_result_that_is_no_array_has_no_slips():
    assert made(TEXT, {"x": np.array([1, 2])}, ("T",))[2] == []


def test_without_an_alternative_there_are_none():
    spec, exercise, _ = made(MASK, {"T": 3}, ("T", "T"))
    spec.alternatives.clear()
    assert list(slips(MASK, exercise, spec)) == []
