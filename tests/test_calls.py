"""How calls are written in a report."""

import numpy as np
import pytest

from grader.checking.calls import call_text
from grader.checking.case import Case
from grader.checking.fixtures import BUILDERS
from grader.codec import Fixture


def test_a_tiny_call_can_be_pasted():
    case = Case({}, {"x": np.array([[1.0, -0.5]]), "ids": np.array([1, 2]), "mask": np.array([True]), "n": 3, "s": "a"})
    call = call_text("f", case)
    got = eval(call, {"np": np, "f": lambda **inputs: inputs})
    assert got.keys() == case.inputs.keys()
    assert all(np.array_equal(got[name], case.inputs[name]) for name in got)
    assert got["ids"].dtype == np.int64


def test_a_larger_call_shows_shapes():
    case = Case({}, {"x": np.zeros((4, 6)), "n": 3, "f": Fixture("affine", {}), "u": None})
    assert call_text("g", case) == "g(x (4, 6), n=3, f (a function), u=None)"


def test_a_tiny_call_shows_how_its_generator_and_its_quadratic_are_made():
    matrix, linear, theta = np.array([[1.5, 0.5], [0.0, -1.0]]), np.array([0.3, 2.0]), np.array([[0.7, -0.2]])
    f = Fixture("quadratic", {"shape": [1, 2], "matrix": matrix, "linear": linear})
    text = call_text("dict", Case({}, {"f": f, "theta": theta, "rng": Fixture("rng", {"seed": 5})}))
    pasted = eval(text)
    assert pasted["f"](theta) == BUILDERS["quadratic"](**f.params)(theta)
    assert pasted["rng"].random() == np.random.default_rng(5).random()
    assert call_text("g", Case({}, {"f": Fixture("scripted", {})})) == "g(\n  f=(a function))"


def test_in_a_larger_call_functions_and_generators_go_by_their_names():
    inputs = {"x": np.ones(99), "rng": Fixture("rng", {"seed": 0}), "f": Fixture("scripted", {})}
    assert call_text("g", Case({}, inputs)) == "g(x (99,), rng (a random generator), f (a function))"


def test_a_call_with_a_long_text_is_not_written_out():
    assert len(call_text("f", Case({}, {"text": "x" * 10_000}))) < 200


AFFINE = Fixture("affine", {"weight": np.eye(2), "bias": np.zeros(2)})
LAYERS = [{"W_x": np.ones((2, 3)), "b": np.zeros(3)}] * 2


def test_what_lies_in_lists_and_dicts_counts_as_numbers_and_can_be_pasted():
    case = Case({}, {"params": {"W": np.array([[1.0, 2.0]]), "steps": (np.array([3]),)}, "words": ["a", ("b", 1)]})
    got = eval(call_text("dict", case), {"np": np, "dict": dict})
    assert np.array_equal(got["params"]["W"], [[1.0, 2.0]])
    assert np.array_equal(got["params"]["steps"][0], [3])
    assert got["words"] == ["a", ("b", 1)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (LAYERS, "=[{'W_x': (2, 3), 'b': (3,)}, {'W_x': (2, 3), 'b': (3,)}]"),
        ([AFFINE, AFFINE], "=[(a function), (a function)]"),
        ((np.ones(9), 1), "=((9,), 1)"),
        ({"rng": Fixture("rng", {"seed": 1})}, "={'rng': (a random generator)}"),
        ([["a", "b"], []], "=[['a', 'b'], []]"),
    ],
)
def test_a_larger_call_shows_the_shapes_of_what_lies_deeper(value, text):
    assert call_text("f", Case({}, {"x": np.ones(99), "value": value})) == f"f(x (99,), value{text})"


def test_a_call_with_many_layers_is_cut():
    text = call_text("f", Case({}, {"x": np.ones(99), "layers": LAYERS * 50}))
    assert len(text) < 200
    assert text.endswith("…)")


def test_a_call_shows_its_numbers_in_six_digits():
    inputs = {"x": np.array([[1 / 3, 2.0]]), "u": 0.999999999, "eps": 2.0**-15}
    text = "  x=np.array([[0.333333, 2.0]]),\n  u=0.999999999,\n  eps=3.05176e-05"
    assert call_text("f", Case({}, inputs)) == f"f(\n{text})"
    assert call_text("f", Case({}, {**inputs, "x": np.ones(99)})) == "f(x (99,), u=0.999999999, eps=3.05176e-05)"
