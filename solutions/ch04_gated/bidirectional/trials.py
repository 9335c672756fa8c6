"""Programs that the spec of `bidirectional` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


def each_row(rule):
    """A program that goes through the rows: rule(x_row (1, n, D), run_forward, run_backward) -> (n, 2H)."""

    def student(x, lengths, run_forward, run_backward):
        h = np.full((*x.shape[:2], 2 * run_forward(x).shape[2]), np.nan)
        for b, n in enumerate(lengths):
            h[b, :n] = rule(x[b : b + 1, :n], run_forward, run_backward)
        return h

    return student


def side_by_side(forward, backward):
    return np.concatenate([forward, backward], axis=-1)[0]


def reversed_in_place(x, lengths, run_forward, run_backward):
    forward = run_forward(x)
    for row, n in zip(x, lengths, strict=True):
        row[:n] = row[:n][::-1].copy()
    backward = run_backward(x)
    for row, n in zip(backward, lengths, strict=True):
        row[:n] = row[:n][::-1].copy()
    return np.concatenate([forward, backward], axis=2)


def without_the_current_input(x, f, g):
    backward = g(x[:, ::-1])[:, ::-1]
    return side_by_side(f(x), np.concatenate([backward[:, 1:], 0 * backward[:, :1]], axis=1))


WRONG = {
    "forward layer twice": (
        each_row(lambda x, f, g: side_by_side(f(x), f(x[:, ::-1])[:, ::-1])),
        "altered input: in_place_of run_forward, run_backward",
        0,
    ),
    "exchanged": (
        each_row(lambda x, f, g: side_by_side(g(x), f(x[:, ::-1])[:, ::-1])),
        "altered input: exchanged run_forward, run_backward",
        0,
    ),
    "row by row, not reversed back": (
        each_row(lambda x, f, g: side_by_side(f(x), g(x[:, ::-1]))),
        "not_reversed_back",
        0,
    ),
    "row by row, never reversed": (each_row(lambda x, f, g: side_by_side(f(x), g(x))), "never_reversed", 0),
    "row by row, backward first": (
        each_row(lambda x, f, g: side_by_side(g(x[:, ::-1])[:, ::-1], f(x))),
        "backward_states_first",
        0,
    ),
    "inputs reversed in place": (reversed_in_place, None, 0),
    "without the current input": (each_row(without_the_current_input), "backward_states_one_step_off", 0),
    "features reversed": (
        lambda x, lengths, run_forward, run_backward: np.concatenate(
            [run_forward(x), run_backward(x[..., ::-1])[..., ::-1]], axis=2
        ),
        "entries_of_each_step_reversed",
        0,
    ),
}


def whatever_is_in_memory(x, lengths, run_forward, run_backward):
    h = each_row(lambda x, f, g: side_by_side(f(x), g(x[:, ::-1])[:, ::-1]))(x, lengths, run_forward, run_backward)
    h[np.arange(x.shape[1]) >= lengths[:, None]] = 1e300
    return h


def gathered(x, lengths, run_forward, run_backward):
    t = np.arange(x.shape[1])
    index = np.where(t < lengths[:, None], lengths[:, None] - 1 - t, 0)[:, :, None]
    backward = np.take_along_axis(run_backward(np.take_along_axis(x, index, axis=1)), index, axis=1)
    return np.append(run_forward(x), backward, axis=2)


TRIALS.all_wrong(WRONG)
TRIALS.all_right([whatever_is_in_memory, gathered])
