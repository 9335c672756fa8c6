"""Fixtures: what the builders return, and the calls that the driver records."""

import numpy as np
import pytest

from grader.checking.case import Case
from grader.checking.drivers import call, drive
from grader.checking.fixtures import BUILDERS, builders
from grader.codec import Fixture

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
    assert [line.source for line in raised.lines] == ["return f(np.ones((2, 3)))"]


def test_the_parameters_of_a_fixture_are_each_calls_own():
    def spoils(f):
        f(X)[:] = 99
        return f(X)

    assert np.array_equal(observe(spoils).result, [[1.5, 1.0]])
    assert np.array_equal(WEIGHT, [[1.0, 2.0], [0.0, -1.0]])


def test_quadratic_and_tanh_sum_are_numbers_of_an_array_of_one_shape():
    matrix, theta = np.arange(4.0).reshape(2, 2), np.array([[1.0, 2.0]])
    f = BUILDERS["quadratic"](shape=[1, 2], matrix=matrix, linear=np.array([1.0, -1.0]))
    assert f(theta) == 0 + 2 + 4 + 12 + 1 - 2
    assert type(f(theta)) is float
    g = BUILDERS["tanh_sum"](shape=[1, 2], matrix=matrix, bias=np.zeros(2), weight=np.array([1.0, 3.0]))
    assert g(theta) == pytest.approx(np.tanh(2.0) + 3 * np.tanh(8.0))
    assert abs(g(theta + 1e-30j).imag / 1e-30) > 0  # analytic, so that a complex step may differentiate it
    for function in (f, g):
        with pytest.raises(ValueError, match=r"an array of shape \(1, 2\), and got one of shape \(2,\)"):
            function(theta[0])


SCRIPT = Fixture("scripted", {"names": ["x", "y"], "results": [(1.0, {"g": np.ones(2)}), (2.0, {}), (3.0, {})]})


def test_a_scripted_function_answers_in_order_and_the_same_question_alike():
    f = BUILDERS["scripted"](**SCRIPT.params)
    x = np.zeros(2)
    assert f(x, 1)[0] == f(y=1, x=x)[0] == 1  # asked again, by position or by name
    x += 1
    assert f(x, 1)[0] == 2  # the same array, with other numbers in it
    assert [f(x, y)[0] for y in (2, 3, 4)] == [3, 3, 3]  # and no end
    with pytest.raises(TypeError):
        f(x)


def test_what_a_scripted_function_gave_is_the_callers():
    f = BUILDERS["scripted"](**SCRIPT.params)
    f(0, 0)[1]["g"][:] = 9
    assert f(0, 0)[1]["g"].tolist() == [1, 1]
    observation = call(lambda f: f(1, y=2)[0], Case({}, {"f": SCRIPT}))
    assert observation.result == 1
    assert observation.calls == {"f": [{"x": 1, "y": 2}]}


@pytest.mark.parametrize(
    ("function", "record"),
    [
        (lambda rng: rng.random(), ["drawn"]),
        (lambda rng: rng.integers(2, size=3), ["drawn"]),
        (lambda rng: rng.spawn(1)[0].random(), ["drawn"]),
        (lambda rng: np.random.default_rng(0).random(), []),
        (lambda rng: 0, []),
    ],
)
def test_it_is_observed_whether_a_generator_was_drawn_from(function, record):
    assert call(function, Case({}, {"rng": Fixture("rng", {"seed": 3})})).calls == {"rng": record}


# Fixtures inside lists and dicts --------------------------------------------------------------------------------------

DEEP = Case(
    {},
    {
        "layers": [AFFINE, (AFFINE, {"rng": Fixture("rng", {"seed": 3}), "w": np.ones(2)})],
        "state": {"h": np.zeros(2), "ids": [1, 2]},
    },
)


def test_fixtures_are_built_and_recorded_wherever_they_lie():
    def function(layers, state):
        return layers[0](layers[1][0](x=X)), layers[1][1]["rng"].random()

    observation = call(function, DEEP)
    twice, number = observation.result
    assert np.array_equal(twice, (X @ WEIGHT + BIAS) @ WEIGHT + BIAS)
    assert number == np.random.default_rng(3).random()
    assert observation.changed == ()
    assert [len(observation.calls[place]) for place in ("layers[0]", "layers[1][0]")] == [1, 1]
    assert np.array_equal(observation.calls["layers[1][0]"][0]["x"], X)
    assert observation.calls["layers[1][1]['rng']"] == ["drawn"]


def exchanges(layers):
    layers[0] = layers[1][0]


def replaces(layers):
    layers[0] = lambda x: x


class OfItsOwn(list):
    pass


@pytest.mark.parametrize(
    ("change", "changed"),
    [
        (lambda layers, state: layers[0](X), ()),
        (lambda layers, state: exchanges(layers), ("layers",)),
        (lambda layers, state: replaces(layers), ("layers",)),
        (lambda layers, state: layers.pop(), ("layers",)),
        (lambda layers, state: layers.append(layers[0]), ("layers",)),
        (lambda layers, state: layers[1][1]["w"].fill(2), ("layers",)),
        (lambda layers, state: layers[1][1].pop("w"), ("layers",)),
        (lambda layers, state: layers.__setitem__(1, OfItsOwn()), ("layers",)),
        (lambda layers, state: layers[1][1].__setitem__("w", OfItsOwn()), ("layers",)),
        (lambda layers, state: layers[1][1].__setitem__(3, layers[1][1].pop("w")), ("layers",)),
        (lambda layers, state: state["ids"].sort(reverse=True), ("state",)),
    ],
)
def test_what_holds_fixtures_and_is_changed_is_named(change, changed):
    assert call(change, DEEP).changed == changed


def test_a_fixture_that_holds_none_is_still_each_calls_own():
    for _ in range(2):
        observation = call(lambda layers, state: layers[1][1]["w"].__iadd__(1), DEEP)
        assert observation.result.tolist() == [2, 2]


# A chapter's own ------------------------------------------------------------------------------------------------------

OWN = """
import numpy as np

def halver(*, by):
    def halve(x, why=None):
        if x is None:
            raise ValueError("nothing to halve")
        return x / by, {"by": by}
    return halve

BUILDERS = {"halver": halver}
"""
HALVE = Case({}, {"f": Fixture("halver", {"by": 2.0}), "g": AFFINE, "x": X})


def test_a_chapters_own_builders_stand_beside_those_for_all():
    observation = drive("call", lambda f, g, x: f(g(x), why="so")[0], HALVE, OWN)
    assert np.array_equal(observation.result, [[0.75, 0.5]])
    assert [list(asked) for asked in observation.calls["f"]] == [["x", "why"]]
    with pytest.raises(KeyError, match="halver"):
        drive("call", lambda f, g, x: x, HALVE)
    assert "halver" not in BUILDERS


def test_an_exception_of_a_chapters_own_shows_the_students_line_alone():
    raised = drive("call", lambda f, g, x: f(None), HALVE, OWN).raised
    assert (raised.type, raised.text) == ("ValueError", "nothing to halve")
    assert len(raised.lines) == 1


def test_a_chapters_own_may_not_take_the_name_of_another():
    with pytest.raises(ValueError, match=r"has the name 'affine' of one for all chapters"):
        builders("def affine(): pass\nBUILDERS = {'affine': affine}")
