"""Programs that the spec of `lstm_step` does not contain; beside each wrong one is what it is told."""

from functools import partial
from itertools import permutations

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


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


WRONG = {
    "the hidden state kept": (
        of(lambda h, c, i, f, g, o: shown(o, f * h + i * g)),
        "altered input: in_place_of h_prev, c_prev",
        (),
    ),
    "nothing kept": (of(lambda h, c, i, f, g, o: shown(o, i * g)), "altered input: zeros c_prev", ()),
    "nothing written": (of(lambda h, c, i, f, g, o: shown(o, f * c)), None, ()),
    "c_t, h_t": (of(lambda h, c, i, f, g, o: shown(o, f * c + i * g)[::-1]), "order", ()),
    "stacked": (of(lambda h, c, i, f, g, o: np.stack(shown(o, f * c + i * g))), None, ()),
    "only h_t": (of(lambda h, c, i, f, g, o: shown(o, f * c + i * g)[0]), None, ()),
    "no bias": (given(b=lambda b: 0 * b), "altered input: zeros b", ()),
    "PyTorch's two biases": (given(b=lambda b: 2 * b), "altered input: doubled b", ()),
    "no recurrence": (given(W_h=lambda W: 0 * W), "altered input: zeros h_prev | zeros W_h", ()),
    "gates read the cell state": (
        lambda c_prev, h_prev, **more: lstm(c_prev=c_prev, h_prev=c_prev, **more),
        "altered input: in_place_of c_prev, h_prev",
        (),
    ),
    "states exchanged": (
        lambda c_prev, h_prev, **more: lstm(c_prev=h_prev, h_prev=c_prev, **more),
        "altered input: exchanged h_prev, c_prev",
        (),
    ),
    "subtracted": (of(lambda h, c, i, f, g, o: shown(o, f * c - i * g)), f"altered input: opposite g, {ALL}", ()),
    "kept is 1 - f": (
        of(lambda h, c, i, f, g, o: shown(o, (1 - f) * c + i * g)),
        f"altered input: opposite f, {ALL}",
        (),
    ),
    "o writes": (of(lambda h, c, i, f, g, o: shown(o, f * c + o * g)), f"altered input: same_block i, o, {ALL}", ()),
    "i shows": (of(lambda h, c, i, f, g, o: shown(i, f * c + i * g)), f"altered input: same_block o, i, {ALL}", (C,)),
    "every fourth column": (
        partial(lstm, split=lambda a: [a[:, k::4] for k in range(4)]),
        f"altered input: alternating {ALL}",
        (),
    ),
    "cut along the batch": (partial(lstm, split=lambda a: np.split(a, 4)), None, ()),
    "the candidate gated twice": (of(lambda h, c, i, f, g, o: shown(o, f * c + i * i * g)), None, ()),
    "clipped": (of(lambda h, c, i, f, g, o: shown(o, np.clip(f * c + i * g, -1, 1))), "cut_off For c_t", ()),
    "the hidden state added": (
        of(lambda h, c, i, f, g, o: (h + o * np.tanh(f * c + i * g), f * c + i * g)),
        None,
        (C,),
    ),
    "logistic twice": (of(lambda h, c, i, f, g, o: shown(logistic(o), logistic(f) * c + logistic(i) * g)), None, ()),
    "in place": (of(lambda h, c, i, f, g, o: shown(o, np.add(np.multiply(c, f, out=c), i * g, out=c))), None, ()),
    "float32": (of(lambda h, c, i, f, g, o: [v.astype("f4") for v in shown(o, f * c + i * g)]), "float32", ()),
    "piecewise linear": (partial(lstm, sigma=lambda a: np.clip(0.5 + a / 4, 0, 1)), None, ()),
}


RIGHT = {
    "the definition, which overflows": partial(lstm, sigma=lambda a: 1 / (1 + np.exp(-a))),
    "clipped at 500": partial(lstm, sigma=lambda a: 1 / (1 + np.exp(-np.clip(a, -500, 500)))),
    "two branches": partial(lstm, sigma=lambda a: np.where(a < 0, np.exp(a) / (1 + np.exp(a)), 1 / (1 + np.exp(-a)))),
    "a list": of(lambda h, c, i, f, g, o: list(shown(o, f * c + i * g))),
}

TRIALS.all_wrong(
    {
        f"in the order {order}": (
            partial(lstm, order=order),
            f"altered input: read {', '.join(order)}, {ALL}, i, f, g, o",
        )
        for order in ORDERS
    },
    earns=(),
)
TRIALS.all_wrong(WRONG, earns=())
TRIALS.all_right(RIGHT)
