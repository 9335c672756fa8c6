"""Fixtures: what the builders build, and that the driver records how it is called."""

import numpy as np
import pytest

from grader.checking.case import Case
from grader.checking.drivers import call
from grader.checking.fixtures import BUILDERS
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


def test_a_next_token_network_agrees_with_autograd():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    shapes = {"W_xh": (5, 3), "W_hh": (3, 3), "b_h": (3,), "W_hy": (3, 5), "b_y": (5,)}
    params = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    inputs, targets, h_0 = rng.integers(5, size=6), rng.integers(5, size=6), rng.normal(size=(1, 3))
    loss, grads, h_T = BUILDERS["next_token_network"](eps=1e-5)(params, inputs, targets, h_0)

    theta = {name: torch.tensor(value, requires_grad=True) for name, value in params.items()}
    h, logits = torch.tensor(h_0), []
    for x_t in inputs:
        h = torch.tanh(theta["W_xh"][x_t] + h @ theta["W_hh"] + theta["b_h"])
        logits.append(h @ theta["W_hy"] + theta["b_y"])
    due = torch.nn.functional.cross_entropy(torch.cat(logits), torch.tensor(targets))
    due.backward()
    assert loss == pytest.approx(due.item(), abs=1e-12)
    np.testing.assert_allclose(h_T, h.detach().numpy())
    for name in params:
        np.testing.assert_allclose(grads[name], theta[name].grad.numpy(), atol=1e-9)


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
