"""Programs that the spec of `lstm_forward` does not contain; beside each wrong one is what it is told."""

from functools import partial

import numpy as np

from grader.spec.trials import Trials
from solutions.ch04_gated.lstm_step.trials import ALL, logistic, lstm, shown

TRIALS = Trials()


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


WRONG = {
    "h_0 is zero": (loop(start=lambda h, c: (0 * h, c)), "altered input: zeros h_0", ()),
    "c_0 is zero": (loop(start=lambda h, c: (h, 0 * c)), "altered input: zeros c_0", ()),
    "initial states exchanged": (loop(start=lambda h, c: (c, h)), "altered input: exchanged h_0, c_0", ()),
    "the cell state for both": (loop(carry=lambda h, c: (c, c)), "first_step_only", ONE),
    "always the first input": (loop(read=lambda t, T: 0), "altered input: first_step x", ONE),
    "in reverse order": (loop(finish=lambda h, c: stacked(h[::-1], c[::-1])), "after: reversed along T", ONE),
    "only h": (loop(finish=lambda h, c: np.stack(h, axis=1)), None, ()),
    "c, h": (loop(finish=lambda h, c: stacked(c, h)), "order", ()),
    "axes T and H exchanged": (
        loop(finish=lambda h, c: (np.stack(h, 2), np.stack(c, 2))),
        "after: axes T and H exchanged",
        (),
    ),
    "o, g, i, f": (loop(step=partial(lstm, order="ogif")), f"altered input: read o, g, i, f, {ALL}, i, f, g, o", ()),
}


RIGHT = {
    "a list": loop(finish=lambda h, c: list(stacked(h, c))),
}

TRIALS.all_wrong(WRONG, earns=())
TRIALS.all_right(RIGHT)
