"""Work on the notebook `lstm` that no spec names.

What is nearly right must fail and get no wrong name: beside each stands the diagnosis that is true of it, or None.
What is right in another way must pass.
"""

from functools import partial
from itertools import permutations

import numpy as np
import pytest

from tests.conftest import exercise
from tests.loops import for_each
from tests.nearly_right import fails_keeping, passes

ALL = "W_x, W_h and b"
ORDERS = [order for order in map("".join, permutations("ifgo")) if order not in ("ifgo", "figo")]
H, C = "h_t", "c_t"


def logistic(a):
    return 0.5 + 0.5 * np.tanh(0.5 * a)


def lstm(x_t, h_prev, c_prev, W_x, W_h, b, order="ifgo", cell=None, sigma=logistic, split=None):
    """One step, with the blocks in another order, another way from gates to states, another logistic function, or
    another way to cut the blocks apart.
    """
    a = x_t @ W_x + h_prev @ W_h + b
    a = dict(zip(order, (split or (lambda a: np.split(a, 4, axis=1)))(a), strict=True))
    gates = sigma(a["i"]), sigma(a["f"]), np.tanh(a["g"]), sigma(a["o"])
    if cell is not None:
        return cell(h_prev, c_prev, *gates)
    return shown(gates[3], gates[1] * c_prev + gates[0] * gates[2])


def shown(o, c):
    return o * np.tanh(c), c


def given(**changes):
    return lambda **inputs: lstm(**{name: changes.get(name, lambda v: v)(v) for name, v in inputs.items()})


def of(cell):
    return partial(lstm, cell=cell)


# lstm_step -----------------------------------------------------------------------------------------------------------


@for_each("order", ORDERS)
def test_every_order_of_the_blocks_is_named(order):
    fails_keeping(
        "lstm_step", partial(lstm, order=order), f"counterfactual: read {', '.join(order)}, {ALL}, i, f, g, o"
    )
    verdict = exercise("lstm_step").verdict(partial(lstm, order=order))
    assert f"are read in the order {', '.join(order)} instead of i, f, g, o." in verdict.diagnosis.text


WRONG_STEPS = {
    "f, i, g, o": (partial(lstm, order="figo"), "i_and_f_exchanged", ()),
    "the hidden state kept": (
        of(lambda h, c, i, f, g, o: shown(o, f * h + i * g)),
        "counterfactual: in_place_of h_prev, c_prev",
        (),
    ),
    "nothing kept": (of(lambda h, c, i, f, g, o: shown(o, i * g)), "counterfactual: zeros c_prev", ()),
    "nothing written": (of(lambda h, c, i, f, g, o: shown(o, f * c)), None, ()),
    "c_t, h_t": (of(lambda h, c, i, f, g, o: shown(o, f * c + i * g)[::-1]), "order", ()),
    "stacked": (of(lambda h, c, i, f, g, o: np.stack(shown(o, f * c + i * g))), None, ()),
    "only h_t": (of(lambda h, c, i, f, g, o: shown(o, f * c + i * g)[0]), None, ()),
    "no bias": (given(b=lambda b: 0 * b), "counterfactual: zeros b", ()),
    "PyTorch's two biases": (given(b=lambda b: 2 * b), "counterfactual: doubled b", ()),
    "no recurrence": (given(W_h=lambda W: 0 * W), "counterfactual: zeros h_prev | zeros W_h", ()),
    "gates read the cell state": (
        lambda c_prev, h_prev, **more: lstm(c_prev=c_prev, h_prev=c_prev, **more),
        "counterfactual: in_place_of c_prev, h_prev",
        (),
    ),
    "states exchanged": (
        lambda c_prev, h_prev, **more: lstm(c_prev=h_prev, h_prev=c_prev, **more),
        "counterfactual: exchanged h_prev, c_prev",
        (),
    ),
    "subtracted": (of(lambda h, c, i, f, g, o: shown(o, f * c - i * g)), f"counterfactual: opposite g, {ALL}", ()),
    "kept is 1 - f": (
        of(lambda h, c, i, f, g, o: shown(o, (1 - f) * c + i * g)),
        f"counterfactual: opposite f, {ALL}",
        (),
    ),
    "o writes": (of(lambda h, c, i, f, g, o: shown(o, f * c + o * g)), f"counterfactual: same_block i, o, {ALL}", ()),
    "i shows": (of(lambda h, c, i, f, g, o: shown(i, f * c + i * g)), f"counterfactual: same_block o, i, {ALL}", (C,)),
    "every fourth column": (
        partial(lstm, split=lambda a: [a[:, k::4] for k in range(4)]),
        f"counterfactual: alternating {ALL}",
        (),
    ),
    "an axis for the gates at the end": (
        partial(lstm, split=lambda a: np.moveaxis(a.reshape(len(a), -1, 4), 2, 0)),
        f"counterfactual: alternating {ALL}",
        (),
    ),
    "cut along the batch": (partial(lstm, split=lambda a: np.split(a, 4)), None, ()),
    "the candidate gated twice": (of(lambda h, c, i, f, g, o: shown(o, f * c + i * i * g)), None, ()),
    "clipped": (of(lambda h, c, i, f, g, o: shown(o, np.clip(f * c + i * g, -1, 1))), "cut_off For c_t", ()),
    "o of c_prev shown": (of(lambda h, c, i, f, g, o: (o * np.tanh(c), f * c + i * g)), "h_t_from_c_prev", (C,)),
    "logistic of the cell": (
        of(lambda h, c, i, f, g, o: (o * logistic(f * c + i * g), f * c + i * g)),
        "sigmoid_of_c_t",
        (C,),
    ),
    "the hidden state added": (
        of(lambda h, c, i, f, g, o: (h + o * np.tanh(f * c + i * g), f * c + i * g)),
        None,
        (C,),
    ),
    "logistic twice": (of(lambda h, c, i, f, g, o: shown(logistic(o), logistic(f) * c + logistic(i) * g)), None, ()),
    "in place": (of(lambda h, c, i, f, g, o: shown(o, np.add(np.multiply(c, f, out=c), i * g, out=c))), None, ()),
    "float32": (of(lambda h, c, i, f, g, o: [v.astype("f4") for v in shown(o, f * c + i * g)]), "float32", ()),
    "a minus lost": (partial(lstm, sigma=lambda a: 1 / (1 + np.exp(a))), "sigmoid_of_minus_a", ()),
    "inf / inf": (partial(lstm, sigma=lambda a: np.exp(a) / (np.exp(a) + 1)), "sigmoid_overflows", (H, C)),
    "piecewise linear": (partial(lstm, sigma=lambda a: np.clip(0.5 + a / 4, 0, 1)), None, ()),
}


@for_each("name", WRONG_STEPS)
def test_a_nearly_right_lstm_step(name):
    fails_keeping("lstm_step", *WRONG_STEPS[name])


RIGHT_STEPS = {
    "the definition, which overflows": partial(lstm, sigma=lambda a: 1 / (1 + np.exp(-a))),
    "clipped at 500": partial(lstm, sigma=lambda a: 1 / (1 + np.exp(-np.clip(a, -500, 500)))),
    "two branches": partial(lstm, sigma=lambda a: np.where(a < 0, np.exp(a) / (1 + np.exp(a)), 1 / (1 + np.exp(-a)))),
    "a list": of(lambda h, c, i, f, g, o: list(shown(o, f * c + i * g))),
    "Fortran order": of(lambda h, c, i, f, g, o: [np.asfortranarray(v) for v in shown(o, f * c + i * g)]),
    "reshaped": partial(lstm, split=lambda a: a.reshape(len(a), 4, -1).swapaxes(0, 1)),
    "hsplit": partial(lstm, split=lambda a: np.hsplit(a, 4)),
}


@pytest.mark.parametrize("name", RIGHT_STEPS)
def test_a_right_lstm_step_passes_however_it_is_written(name):
    passes("lstm_step", RIGHT_STEPS[name])


# lstm_forward --------------------------------------------------------------------------------------------------------


def stacked(h, c):
    return np.stack(h, axis=1), np.stack(c, axis=1)


def loop(
    step=lstm, start=lambda h, c: (h, c), carry=lambda h, c: (h, c), read=lambda t, T: t, finish=stacked, steps=range
):
    def student(x, h_0, c_0, W_x, W_h, b):
        T, (h_t, c_t), h, c = x.shape[1], start(h_0, c_0), [], []
        for t in steps(T):
            h_t, c_t = step(x[:, read(t, T)], h_t, c_t, W_x, W_h, b)
            h.append(h_t)
            c.append(c_t)
            h_t, c_t = carry(h_t, c_t)
        return finish(h, c)

    return student


ONE = ("one time step",)
WRONG_LOOPS = {
    "h_0 is zero": (loop(start=lambda h, c: (0 * h, c)), "counterfactual: zeros h_0", ()),
    "c_0 is zero": (loop(start=lambda h, c: (h, 0 * c)), "counterfactual: zeros c_0", ()),
    "initial states exchanged": (loop(start=lambda h, c: (c, h)), "counterfactual: exchanged h_0, c_0", ()),
    "states exchanged on the way": (loop(carry=lambda h, c: (c, h)), "h_and_c_exchanged_on_the_way", ONE),
    "one state for both": (loop(carry=lambda h, c: (h, h)), "h_t_used_as_the_cell_state", ONE),
    "the cell state for both": (loop(carry=lambda h, c: (c, c)), "first_step_only", ONE),
    "from the end": (loop(read=lambda t, T: T - 1 - t), "loops_backward", ONE),
    "always the first input": (loop(read=lambda t, T: 0), "counterfactual: first_step x", ONE),
    "in reverse order": (loop(finish=lambda h, c: stacked(h[::-1], c[::-1])), "after: reversed along T", ONE),
    "PyTorch's results": (loop(finish=lambda h, c: (np.stack(h, axis=1), c[-1])), "last_states_only", ()),
    "only the first step": (loop(steps=lambda T: range(1)), "first_states_only", ONE),
    "only h": (loop(finish=lambda h, c: np.stack(h, axis=1)), None, ()),
    "h twice": (loop(finish=lambda h, c: stacked(h, h)), "same_states_twice", ()),
    "c, h": (loop(finish=lambda h, c: stacked(c, h)), "order", ()),
    "axes T and H exchanged": (
        loop(finish=lambda h, c: (np.stack(h, 2), np.stack(c, 2))),
        "after: axes T and H exchanged",
        (),
    ),
    "o, g, i, f": (loop(step=partial(lstm, order="ogif")), f"counterfactual: read o, g, i, f, {ALL}, i, f, g, o", ()),
}


@for_each("name", WRONG_LOOPS)
def test_a_nearly_right_lstm_forward(name):
    fails_keeping("lstm_forward", *WRONG_LOOPS[name])


RIGHT_LOOPS = {
    "a list": loop(finish=lambda h, c: list(stacked(h, c))),
    "transposed": loop(finish=lambda h, c: (np.array(h).transpose(1, 0, 2), np.array(c).swapaxes(0, 1))),
    "an axis in between": loop(finish=lambda h, c: [np.concatenate([v[:, None] for v in some], 1) for some in (h, c)]),
}


@pytest.mark.parametrize("name", RIGHT_LOOPS)
def test_a_right_lstm_forward_passes_however_it_is_written(name):
    passes("lstm_forward", RIGHT_LOOPS[name])
