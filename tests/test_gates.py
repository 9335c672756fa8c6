"""Gates: blocks that a student takes in another order, in what is read, in what is written or inside the solution."""

from dataclasses import replace
from functools import cache, partial
from itertools import permutations

import numpy as np
import pytest

import grader.spec.compute
from grader.checking.case import Case, Output
from grader.spec.compute import make_checks
from grader.spec.gates import Gates
from grader.spec.load import SpecError
from grader.spec.spec import change
from tests.conftest import ROOT, exercise
from tests.loops import for_each
from tests.test_altered_input import checks, named, said

RNG = np.random.default_rng(11)
SIZES = ({"B": 2, "D": 3, "H": 4}, {"B": 3, "D": 1, "H": 2}, {"B": 1, "D": 2, "H": 1})
LSTM = [
    Case(
        s,
        {
            "x": RNG.normal(size=(s["B"], s["D"])),
            "h": RNG.normal(size=(s["B"], s["H"])),
            "c": RNG.normal(size=(s["B"], s["H"])),
            "W_x": RNG.normal(size=(s["D"], 4 * s["H"])),
            "W_h": RNG.normal(size=(s["H"], 4 * s["H"])),
            "b": RNG.normal(size=4 * s["H"]),
        },
    )
    for s in SIZES
]
BACKWARD = [Case(c.sizes, {"dh": c.inputs["h"][::-1] + 1, **c.inputs}) for c in LSTM]
READ = ("W_x", "W_h", "b")
RNN = {"x_t": np.ones((1, 1)), "h_prev": np.ones((1, 2)), "W_xh": np.ones((1, 2)), "W_hh": np.eye(2), "b_h": np.ones(2)}
ORDERS = list(permutations("ifgo"))[1:]


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


def lstm(x, h, c, W_x, W_h, b, order="ifgo", i="i"):
    """One step: h, c. A student may take the blocks in another `order`, or another block as the gate `i`."""
    a = dict(zip(order, np.split(x @ W_x + h @ W_h + b, 4, axis=1), strict=True))
    c = sigmoid(a["f"]) * c + sigmoid(a[i]) * np.tanh(a["g"])
    return sigmoid(a["o"]) * np.tanh(c), c


def backward(dh, x, h, c, W_x, W_h, b, read="ifgo", put="ifgo"):
    """Its gradients dx, dW_x, db: a student may read the blocks in one order and put `da` together in another one."""
    a = dict(zip(read, np.split(x @ W_x + h @ W_h + b, 4, axis=1), strict=True))
    i, f, o, g = *(sigmoid(a[name]) for name in "ifo"), np.tanh(a["g"])
    tanh_c = np.tanh(f * c + i * g)
    dc = dh * o * (1 - tanh_c**2)
    da = {
        "i": dc * g * i * (1 - i),
        "f": dc * c * f * (1 - f),
        "g": dc * i * (1 - g**2),
        "o": dh * tanh_c * o * (1 - o),
    }
    da = np.concatenate([da[name] for name in put], axis=1)
    return da @ W_x.T, x.T @ da, da.sum(axis=0)


def over_time(dh, x, h, c, W_x, W_h, b, put="ifgo"):
    """Two steps back: `da` in another order spoils everything but the first db."""
    dx, _, _ = backward(dh, x, h, c, W_x, W_h, b, put=put)
    return backward(dh + dx[:, :1], x, h, c, W_x, W_h, b, put=put)


OUTPUTS = (Output("h"), Output("c"))
GRADIENTS = (Output("dx"), Output("dW_x"), Output("db"))


@cache
def of_the_step():
    return checks(lstm, LSTM, OUTPUTS, gates=[Gates("ifgo", READ)])


@cache
def of_gradients():
    return checks(backward, BACKWARD, GRADIENTS, gates=[Gates("ifgo", READ, ("dW_x", "db"))])


@cache
def of_the_inside():
    inside = {"da": lambda order: partial(over_time, put=order)}
    return checks(over_time, BACKWARD, GRADIENTS, gates=[Gates("ifgo", READ, ("dW_x", "db"), inside)])


@for_each("order", ORDERS)
def test_blocks_read_in_another_order(order):
    found = said(of_the_step(), partial(lstm, order=order))
    assert found == (
        f"altered input: read {', '.join(order)}, W_x, W_h and b, i, f, g, o",
        f"This is the result you get if the blocks of `W_x`, `W_h` and `b` are read in the order {', '.join(order)} "
        "instead of i, f, g, o. Is each block used as the right gate?",
    )


@for_each("order", ORDERS)
def test_blocks_of_gradients_in_another_order(order):
    def in_order(a):
        return np.concatenate([np.split(a, 4, axis=-1)["ifgo".index(name)] for name in order], axis=-1)

    def writes(**given):
        dx, dW_x, db = backward(**given)
        return dx, in_order(dW_x), in_order(db)

    spoken = f"{', '.join(order)}, %s, i, f, g, o"
    assert named(of_gradients(), partial(backward, read=order)) == f"read {spoken % 'W_x, W_h and b'}"
    assert named(of_gradients(), partial(backward, read=order, put=order)) == (
        f"read_and_written {spoken % 'W_x, W_h, b, dW_x and db'}"
    )
    assert said(of_gradients(), writes) == (
        f"altered input: written {spoken % 'dW_x and db'}",
        f"This is the result you get if the blocks of `dW_x` and `db` are written in the order {', '.join(order)} "
        "instead of i, f, g, o. Is each block used as the right gate?",
    )
    id_, text = said(of_gradients(), partial(backward, put=order))  # W_x is multiplied with gradients of other gates
    assert id_ == f"altered input: written {spoken % 'dW_x and db'}"
    assert text.startswith("For dW_x and db: ")
    assert named(of_the_inside(), partial(over_time, put=order)) == f"written {spoken % 'da'}"


def test_a_right_answer_and_other_mistakes_are_not_misnamed():
    assert named(of_the_step(), lstm) is None
    assert named(of_gradients(), backward) is None

    def without_tanh(x, h, c, W_x, W_h, b):
        a = np.split(x @ W_x + h @ W_h + b, 4, axis=1)
        c = sigmoid(a[1]) * c + sigmoid(a[0]) * a[2]
        return sigmoid(a[3]) * np.tanh(c), c

    assert named(of_the_step(), without_tanh) is None
    assert named(of_the_step(), lambda b, **more: lstm(b=0 * b, **more)) == "zeros b"


def test_a_gate_from_the_block_of_another():
    assert said(of_the_step(), partial(lstm, i="o")) == (
        "altered input: same_block i, o, W_x, W_h and b",
        "This is the result you get if i is computed from the block of o in `W_x`, `W_h` and `b`. "
        "Is each block used as the right gate?",
    )


def test_a_block_with_the_opposite_sign():
    def forgets(x, h, c, W_x, W_h, b):
        a = np.split(x @ W_x + h @ W_h + b, 4, axis=1)
        c = (1 - sigmoid(a[1])) * c + sigmoid(a[0]) * np.tanh(a[2])
        return sigmoid(a[3]) * np.tanh(c), c

    assert said(of_the_step(), forgets) == (
        "altered input: opposite f, W_x, W_h and b",
        "This is the result you get if the block of f in `W_x`, `W_h` and `b` has the opposite sign. "
        "Is f replaced by 1 − f, or by −f?",
    )


def test_columns_that_take_turns():
    def interleaved(x, h, c, W_x, W_h, b):
        a = x @ W_x + h @ W_h + b
        c = sigmoid(a[:, 1::4]) * c + sigmoid(a[:, ::4]) * np.tanh(a[:, 2::4])
        return sigmoid(a[:, 3::4]) * np.tanh(c), c

    assert said(of_the_step(), interleaved)[1] == (
        "This is the result you get if the columns of `W_x`, `W_h` and `b` are read as if the gates took turns column "
        "by column. Where does the block of each gate start and end?"
    )


def test_any_number_of_blocks_in_some_of_the_inputs_or_in_a_dict():
    def gru(h, layers, order="rzn"):
        (layer,) = layers
        r, z, n = (np.split(h @ layer["W"] + layer["b"], 3, axis=1)[order.index(name)] for name in "rzn")
        return sigmoid(z) * h + (1 - sigmoid(z)) * np.tanh(n * sigmoid(r))

    cases = [
        Case({}, {"h": c.inputs["h"], "layers": [{"W": c.inputs["W_h"][:, : 3 * n], "b": c.inputs["b"][: 3 * n]}]})
        for c, n in ((c, c.sizes["H"]) for c in LSTM)
    ]
    made = checks(gru, cases, gates=[Gates(["r", "z", "n"], ("W", "b"))])
    for order in list(permutations("rzn"))[1:]:
        assert named(made, partial(gru, order=order)) == f"read {', '.join(order)}, W and b, r, z, n"


def test_what_is_recorded_is_small():
    assert len(of_gradients().altered_inputs) < 160
    assert sum(len(repr(c.alterations)) + c.fingerprints.nbytes for c in of_gradients().altered_inputs) < 20_000


@pytest.mark.parametrize(
    ("gates", "problem"),
    [
        (Gates("ifgf", READ), "at least two names, all of them different"),
        (Gates("i", READ), "at least two names, all of them different"),
        (Gates("ifgo", ("W_y",)), "no case has an input or a key 'W_y'"),
        (Gates("ifg", READ), "the last axis of 'W_x' is not made of 3 blocks of equal width"),
        (Gates("ifgo", READ, ("dW_y",)), "there is no output 'dW_y'"),
    ],
)
def test_a_declaration_that_does_not_fit(gates, problem):
    assert problem in gates.problem(LSTM, OUTPUTS)


def test_a_spec_with_gates_that_do_not_fit(monkeypatch):
    subject = exercise("rnn_step")
    spec = replace(subject.spec, gates=[Gates("ab", ("W_xy",))])
    monkeypatch.setattr(grader.spec.compute, "load_spec", lambda root, place: spec)
    with pytest.raises(SpecError, match=r"rnn_step/spec\.py: `gates`: no case has an input or a key 'W_xy'"):
        make_checks(ROOT, subject.place, 0, example=True)


def test_a_change_inside_the_solution_that_does_not_fit(monkeypatch):
    subject = exercise("rnn_step")
    case = Case({"B": 1, "D": 1, "H": 2}, RNN)
    gates = Gates("ab", ("W_hh",), (), {"da": lambda order: change("nowhere", "anywhere")})
    spec = replace(subject.spec, gates=[gates], example=case, cases=lambda rng: [])
    monkeypatch.setattr(grader.spec.compute, "load_spec", lambda root, place: spec)
    with pytest.raises(
        SpecError, match=r"rnn_step/spec\.py: `gates`: `da` in the order b, a: this text must occur once"
    ):
        make_checks(ROOT, subject.place, 0, example=True)
