"""Programs that the spec of `truncated_bptt` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.author.trials import Trials

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
    "nothing comes back at all": (bptt(decay=0.0), {"counterfactual: zeros W_hh | one tau"}),
    "mean over the batch": (right_bptt(lambda g, h: tuple(v / len(h) for v in g)), {"averaged"}),
    "mean over time": (right_bptt(lambda g, h: tuple(v / h.shape[1] for v in g)), {"averaged"}),
    "db_h as a column": (
        right_bptt(lambda g, h: (*g[:2], g[2][:, None])),
        {"after: squeeze of axis=-1 missing For db_h"},
    ),
    "two results": (right_bptt(lambda g, h: g[:2]), set()),
    "in another order": (right_bptt(lambda g, h: (g[1], g[0], g[2])), {"order"}),
    "dW_hh transposed": (right_bptt(lambda g, h: (g[0], g[1].T, g[2])), {"transposed"}),
    "sign": (right_bptt(lambda g, h: tuple(-v for v in g)), {"sign"}),
    "a dict": (right_bptt(lambda g, h: dict(zip(("dW_xh", "dW_hh", "db_h"), g, strict=True))), set()),
}


RIGHT = {
    "a list": right_bptt(lambda g, h: list(g)),
}

TRIALS.all_wrong({title: (program, {None, *true}) for title, (program, true) in WRONG.items()})
TRIALS.all_right(RIGHT)


TRIALS.all_wrong(
    {
        "in place": ([("da_t = (dh[:, t] + dh_next)", "dh[:, t] += dh_next\nda_t = dh[:, t]")], None, 0.0),
    }
)
