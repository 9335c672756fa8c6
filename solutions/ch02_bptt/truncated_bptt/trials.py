"""Programs that the spec of `truncated_bptt` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


def whole(dh, x, h_0, h, W_hh, tau, *, slope=None, prev=None, decay=1.0, cut=None):
    cut = cut or (lambda t: (t + 1) % tau == 0)
    before = np.concatenate([h_0[:, None], h[:, :-1]], axis=1)
    da, back = np.zeros(h.shape), 0.0
    for t in reversed(range(h.shape[1])):
        slopes = slope(h[:, t]) if slope else 1 - h[:, t] ** 2
        da[:, t] = (dh[:, t] + (0 if cut(t) else decay * back)) * slopes
        back = da[:, t] @ (W_hh.T if prev is None else prev(W_hh))
    return np.einsum("btd,bth->dh", x, da), np.einsum("btg,bth->gh", before, da), da.sum((0, 1))


def bptt(**changed):
    return lambda dh, x, h_0, h, W_xh, W_hh, tau: whole(dh, x, h_0, h, W_hh, tau, **changed)


def right_bptt(then):
    return lambda dh, x, h_0, h, W_xh, W_hh, tau: then(whole(dh, x, h_0, h, W_hh, tau), h)


WRONG = {
    "half of what comes back": (bptt(decay=0.5), set()),
    "nothing comes back at all": (bptt(decay=0.0), {"altered input: zeros W_hh | one tau"}),
    "mean over the batch": (right_bptt(lambda g, h: tuple(v / len(h) for v in g)), {"averaged"}),
    "mean over time": (right_bptt(lambda g, h: tuple(v / h.shape[1] for v in g)), {"averaged"}),
    "db_h as a column": (
        right_bptt(lambda g, h: (*g[:2], g[2][:, None])),
        {"after: squeeze of axis=-1 missing For db_h"},
    ),
    "two results": (right_bptt(lambda g, h: g[:2]), set()),
    "in another order": (right_bptt(lambda g, h: (g[1], g[0], g[2])), {"order"}),
    "dW_hh transposed": (right_bptt(lambda g, h: (g[0], g[1].T, g[2])), {"dW_hh_transposed"}),
    "sign": (right_bptt(lambda g, h: tuple(-v for v in g)), {"sign"}),
    "a dict": (right_bptt(lambda g, h: dict(zip(("dW_xh", "dW_hh", "db_h"), g, strict=True))), set()),
}


RIGHT = {
    "a list": right_bptt(lambda g, h: list(g)),
}

TRIALS.all_wrong({title: (program, {None, *true}) for title, (program, true) in WRONG.items()})
TRIALS.all_right(RIGHT)


def in_columns(dh, x, h_0, h, W_xh, W_hh, tau):
    """One sequence after another, with the formulas of papers for columns."""
    dW_xh, dW_hh, db_h = np.zeros(W_xh.shape), np.zeros(W_hh.shape), np.zeros(len(W_hh))
    for b in range(len(x)):
        back = np.zeros(len(W_hh))
        for t in range(x.shape[1] - 1, -1, -1):
            da = (dh[b, t] + back * ((t + 1) % tau > 0)) * (1 - h[b, t] ** 2)
            dW_xh += np.outer(x[b, t], da)
            dW_hh += np.outer(da, h_0[b] if t == 0 else h[b, t - 1])
            db_h += da
            back = W_hh.T @ da
    return dW_xh, dW_hh, db_h


def chunks(dh, x, h_0, h, W_xh, W_hh, starts, steps=reversed, previous=None):
    """Chunk by chunk, from one start to the next; `previous` tells of which state dW_hh is computed."""
    dW_xh, dW_hh, db_h = np.zeros(W_xh.shape), np.zeros(W_hh.shape), np.zeros(len(W_hh))
    states = np.concatenate([h_0[:, None], h], axis=1)  # one later than h
    for start, end in zip(starts, [*starts[1:], x.shape[1]], strict=True):
        back = 0.0
        for t in steps(range(start, end)):
            da = (dh[:, t] + back) * (1 - h[:, t] ** 2)
            dW_xh += x[:, t].T @ da
            dW_hh += states[:, previous(start, t) if previous else t].T @ da
            db_h += da.sum(axis=0)
            back = da @ W_hh.T
    return dW_xh, dW_hh, db_h


def by_chunks(starts, **how):
    return lambda dh, x, h_0, h, W_xh, W_hh, tau: chunks(dh, x, h_0, h, W_xh, W_hh, starts(x.shape[1], tau), **how)


def every_tau(T, tau):
    return list(range(0, T, tau))


TRIALS.all_wrong(
    {
        "in columns": (in_columns, "W_hh_as_in_papers", 0.0),
        "forward in each chunk": (by_chunks(every_tau, steps=iter), "loops_forward"),
        "the state before the chunk throughout": (
            by_chunks(every_tau, previous=lambda start, t: start),
            "one_state_for_each_chunk",
        ),
        "the first state at every start": (
            by_chunks(every_tau, previous=lambda start, t: 1 if t == start > 0 else t),
            "state_reset_at_cuts",
        ),
        "as many chunks as tau": (
            by_chunks(lambda T, tau: list(range(0, T, max(1, T // tau)))),
            "tau_as_the_number_of_chunks",
        ),
        "two halves": (by_chunks(lambda T, tau: sorted({0, T // 2})), None),
    }
)
TRIALS.all_right({"chunk by chunk": by_chunks(every_tau)})


TRIALS.all_wrong(
    {
        "in place": ([("da_t = (dh[:, t] + dh_next)", "dh[:, t] += dh_next\nda_t = dh[:, t]")], None, 0.0),
    }
)
