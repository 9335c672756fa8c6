"""Fixtures: what the builders build, and that the driver records how it is called."""

import numpy as np
import pytest

from grader.cases import Case
from grader.codec import Fixture
from grader.drivers import call
from grader.fixtures import BUILDERS

WEIGHT, BIAS = np.array([[1.0, 2.0], [0.0, -1.0]]), np.array([0.5, 0.0])
AFFINE = Fixture("affine", {"weight": WEIGHT, "bias": BIAS})
X = np.array([[1.0, 1.0]])


def observe(function, **inputs):
    return call(function, Case({}, {"f": AFFINE, **inputs}))


def test_affine_is_a_product_and_a_bias():
    f = BUILDERS["affine"](weight=WEIGHT, bias=BIAS)
    assert np.array_equal(f(X), [[1.5, 1.0]])
    assert np.array_equal(f(np.ones((3, 4, 2))), np.tile([1.5, 1.0], (3, 4, 1)))


def test_a_generator_starts_anew_for_every_call():
    case = Case({}, {"rng": Fixture("rng", {"seed": 3})})
    first, second = (call(lambda rng: rng.random(4), case).result for _ in range(2))
    assert np.array_equal(first, second)
    assert np.array_equal(first, np.random.default_rng(3).random(4))


def test_every_call_is_recorded_in_order_by_position_or_by_keyword():
    observation = observe(lambda f: f(x=f(X)))
    assert [list(call) for call in observation.calls["f"]] == [["x"], ["x"]]
    assert np.array_equal(observation.calls["f"][0]["x"], X)
    assert np.array_equal(observation.calls["f"][1]["x"], [[1.5, 1.0]])
    assert observation.changed == ()


def test_a_record_is_not_changed_by_what_happens_later():
    def function(f):
        x = X.copy()
        f(x)
        x[:] = 0
        return f(x)

    first, second = observe(function).calls["f"]
    assert np.array_equal(first["x"], X)
    assert np.array_equal(second["x"], np.zeros((1, 2)))


def test_a_callable_that_is_never_called_has_an_empty_record():
    assert observe(lambda f: 0).calls == {"f": []}


def test_calls_before_an_exception_are_kept():
    def function(f):
        f(X)
        raise ValueError

    assert len(observe(function).calls["f"]) == 1


@pytest.mark.parametrize(
    "wrongly", [lambda f: f(), lambda f: f(X, X), lambda f: f(y=X), lambda f: f(X, x=X), lambda f: f(X, y=X)]
)
def test_a_wrong_call_is_refused_as_any_function_would(wrongly):
    observation = observe(wrongly)
    assert observation.raised is not None
    assert observation.raised.type == "TypeError"
    assert "argument" in observation.raised.text
    assert observation.calls == {"f": []}


def test_a_wrong_argument_shows_the_students_line_alone():
    def function(f):
        return f(np.ones((2, 3)))

    raised = observe(function).raised
    assert raised.type == "ValueError"
    assert [line.partition(": ")[2] for line in raised.lines] == ["return f(np.ones((2, 3)))"]


def test_the_parameters_of_a_fixture_are_each_calls_own():
    def spoils(f):
        f(X)[:] = 99
        return f(X)

    assert np.array_equal(observe(spoils).result, [[1.5, 1.0]])
    assert np.array_equal(WEIGHT, [[1.0, 2.0], [0.0, -1.0]])
