"""Programs that the spec of `gradient_norms_by_lag` does not contain; beside each wrong one is what it is told."""

from textwrap import dedent

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


def back(d, h, W, t, dh_T):
    return (d * (1 - h[:, t] ** 2)) @ W.T


def norms(norm=np.linalg.norm, back=back):
    def student(dh_T, h, W_hh):
        found, dh = [], dh_T
        for t in reversed(range(h.shape[1])):
            found.append(norm(dh))
            dh = back(dh, h, W_hh, t, dh_T)
        return np.array(found)

    return student


def after(change):
    return lambda **inputs: change(norms()(**inputs))


def last_lag_left_out(dh_T, h, W_hh):
    found, dh = np.zeros(h.shape[1]), dh_T
    found[0] = np.linalg.norm(dh)
    for lag in range(1, h.shape[1] - 1):
        dh = back(dh, h, W_hh, h.shape[1] - lag, dh_T)
        found[lag] = np.linalg.norm(dh)
    return found


def changes_dh_T(dh_T, h, W_hh):
    found = []
    for t in reversed(range(h.shape[1])):
        found.append(np.linalg.norm(dh_T))
        dh_T *= 1 - h[:, t] ** 2
        dh_T[:] = dh_T @ W_hh.T
    return np.array(found)


WRONG = {
    "squared": (norms(lambda d: (d**2).sum()), "after: square"),
    "divided by the batch": (norms(lambda d: np.linalg.norm(d) / len(d)), "averaged"),
    "nuclear": (norms(lambda d: np.linalg.norm(d, "nuc")), None),
    "logarithm": (after(np.log), "after: exponential missing"),
    "negated": (after(np.negative), "sign"),
    "rounded": (after(lambda n: n.round(2)), "rounded"),
    "a column": (after(lambda n: n[:, None]), "after: squeeze of axis=-1 missing"),
    "one lag too many": (after(lambda n: np.append(n, 0)), "after: all but the last entry along axis=-1 missing"),
    "without the last lag": (after(lambda n: n[:-1]), "after: all but the last entry along lag"),
    "a list": (after(list), None),
    "the last lag left out": (last_lag_left_out, "never_filled"),
    "always the last state": (
        norms(back=lambda d, h, W, t, dh_T: back(d, h, W, -1, dh_T)),
        "altered input: last_step h",
    ),
    "time before batch": (
        lambda dh_T, h, W_hh: norms()(dh_T, h.swapaxes(0, 1).reshape(h.shape), W_hh),
        "altered input: mixed h",
    ),
    "no step at all": (norms(back=lambda d, h, W, t, dh_T: d), None),
    "the bound by the spectral norm": (
        lambda dh_T, h, W_hh: np.linalg.norm(dh_T) * np.linalg.norm(W_hh, 2) ** np.arange(h.shape[1]),
        None,
    ),
    "the norm kept": (
        norms(
            back=lambda d, h, W, t, dh_T: (
                back(d, h, W, t, dh_T) * np.linalg.norm(d) / np.linalg.norm(back(d, h, W, t, dh_T))
            )
        ),
        None,
    ),
    "changes dh_T": (changes_dh_T, None),
}


def in_columns(dh_T, h, W_hh):
    """Gradients as columns, one for each sequence."""
    columns, found = dh_T.T, []
    for state in np.moveaxis(h, 1, 0)[::-1]:
        found.append(np.hypot.reduce(columns, axis=None))
        columns = W_hh @ ((1 - state**2).T * columns)
    return np.array(found)


def through_chapter_02(dh_T, h, W_hh):
    """Gradients of all states, each state's contribution of its own zero but for the last."""
    dh, found = np.zeros(h.shape), {}
    dh[:, -1], dh_next = dh_T, np.zeros(dh_T.shape)
    T = h.shape[1]
    for t in reversed(range(T)):
        total = dh[:, t] + dh_next
        found[T - 1 - t] = np.linalg.norm(total, "fro")
        dh_next = (total * (1 - h[:, t] ** 2)) @ W_hh.T
    return np.array([found[lag] for lag in range(T)])


RIGHT = {
    "in columns": in_columns,
    "through chapter 02": through_chapter_02,
    "norms of norms": norms(lambda d: np.linalg.norm(np.linalg.norm(d, axis=1))),
    "the trace": norms(lambda d: np.sqrt(np.trace(d.T @ d))),
}

TRIALS.all_wrong(WRONG, earns=())
TRIALS.all_right(RIGHT)


TRIALS.all_wrong(
    {
        "transpose on the left": (
            """
            def gradient_norms_by_lag(dh_T, h, W_hh):
                columns, norms = dh_T.T, []
                for t in reversed(range(h.shape[1])):
                    norms.append(np.linalg.norm(columns))
                    columns = W_hh.T @ (columns * (1 - h[:, t].T ** 2))
                return np.array(norms)
            """,
            "W_hh_not_transposed",
        ),
        "gradients of pre-activations": (
            """
            def gradient_norms_by_lag(dh_T, h, W_hh):
                norms, dh = [np.linalg.norm(dh_T)], dh_T
                for t in range(h.shape[1] - 2, -1, -1):
                    dh = (1 - h[:, t] ** 2) * (dh @ W_hh.T)
                    norms.append(np.linalg.norm(dh))
                return np.array(norms)
            """,
            "derivative_of_the_earlier_state",
        ),
    },
    dedent,
)
