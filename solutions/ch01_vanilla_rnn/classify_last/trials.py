"""Programs that the spec of `classify_last` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


def states(x, h_0, W_xh, W_hh, b_h):
    found = [h_0]
    for t in range(x.shape[1]):
        found.append(np.tanh(x[:, t] @ W_xh + found[-1] @ W_hh + b_h))
    return np.stack(found[1:], axis=1)


def picked(h, lengths):
    return h[np.arange(len(lengths)), lengths - 1]


def classifier(change):
    """change(h, x, lengths, h_0, W_hy, b_y) → logits, from the states of all steps."""

    def student(x, lengths, h_0, W_xh, W_hh, b_h, W_hy, b_y):
        return change(states(x, h_0, W_xh, W_hh, b_h), x, lengths, h_0, W_hy, b_y)

    return student


def zero_start(x, lengths, h_0, W_xh, W_hh, b_h, W_hy, b_y):
    return picked(states(x, 0 * h_0, W_xh, W_hh, b_h), lengths) @ W_hy + b_y


def changes_x(x, lengths, h_0, W_xh, W_hh, b_h, W_hy, b_y):
    logits = picked(states(x, h_0, W_xh, W_hh, b_h), lengths) @ W_hy + b_y
    x[:] = x * (np.arange(x.shape[1]) < lengths[:, None])[:, :, None]
    return logits


def changes_lengths(x, lengths, h_0, W_xh, W_hh, b_h, W_hy, b_y):
    lengths -= 1
    return states(x, h_0, W_xh, W_hh, b_h)[np.arange(len(x)), lengths] @ W_hy + b_y


def sorted_and_not_put_back(x, lengths, h_0, W_xh, W_hh, b_h, W_hy, b_y):
    order = np.argsort(-lengths, kind="stable")
    return picked(states(x[order], h_0[order], W_xh, W_hh, b_h), lengths[order]) @ W_hy + b_y


WRONG = {
    "a zero start": (zero_start, {"altered input: zeros h_0"}),
    "no bias": (classifier(lambda h, x, n, h_0, W, b: picked(h, n) @ W), {"altered input: zeros b_y"}),
    "bias twice": (classifier(lambda h, x, n, h_0, W, b: picked(h, n) @ W + 2 * b), {"altered input: doubled b_y"}),
    "tanh of the logits": (classifier(lambda h, x, n, h_0, W, b: np.tanh(picked(h, n) @ W + b)), {"after: tanh"}),
    "the class": (
        classifier(lambda h, x, n, h_0, W, b: (picked(h, n) @ W + b).argmax(axis=1)),
        {"after: argmax along C"},
    ),
    "the first state": (
        classifier(lambda h, x, n, h_0, W, b: h[:, 0] @ W + b),
        {"altered input: only_first time step"},
    ),
    "the largest over time": (classifier(lambda h, x, n, h_0, W, b: h.max(axis=1) @ W + b), {"largest_over_time"}),
    "the largest over the real steps": (
        classifier(
            lambda h, x, n, h_0, W, b: np.where((np.arange(h.shape[1]) < n[:, None])[..., None], h, -1).max(1) @ W + b
        ),
        {"largest_over_time"},
    ),
    "the sum over the real steps": (
        classifier(lambda h, x, n, h_0, W, b: np.array([r[:k].sum(0) for r, k in zip(h, n, strict=True)]) @ W + b),
        {"sum_over_time"},
    ),
    "the sum of the logits": (classifier(lambda h, x, n, h_0, W, b: (h @ W + b).sum(axis=1)), set()),
    "rows reversed": (classifier(lambda h, x, n, h_0, W, b: (picked(h, n) @ W + b)[::-1]), {"after: reversed along B"}),
    "lengths of the rows reversed": (classifier(lambda h, x, n, h_0, W, b: picked(h, n[::-1]) @ W + b), set()),
    "two steps early": (
        classifier(lambda h, x, n, h_0, W, b: h[np.arange(len(n)), np.maximum(n - 2, 0)] @ W + b),
        {"altered input: less lengths"},
    ),
    "float32": (classifier(lambda h, x, n, h_0, W, b: (picked(h, n) @ W + b).astype("f4")), {"float32"}),
    "a list of rows": (classifier(lambda h, x, n, h_0, W, b: list(picked(h, n) @ W + b)), set()),
    "as PyTorch": (classifier(lambda h, x, n, h_0, W, b: (picked(h, n) @ W + b, h)), {"after: [0] missing"}),
    "transposed": (classifier(lambda h, x, n, h_0, W, b: (picked(h, n) @ W + b).T), {"transposed"}),
    "changes x": (changes_x, set()),
    "changes lengths": (changes_lengths, set()),
    "sorted by length": (sorted_and_not_put_back, {"rows_in_another_order"}),
}


def frozen_by_arithmetic(x, lengths, h_0, W_xh, W_hh, b_h, W_hy, b_y):
    h_t = h_0.copy()
    for t in range(x.shape[1]):
        on = lengths > t
        h_t[on] = np.tanh(x[on, t] @ W_xh + h_t[on] @ W_hh + b_h)
    return h_t @ W_hy + b_y


def grouped_by_length(x, lengths, h_0, W_xh, W_hh, b_h, W_hy, b_y):
    logits = np.empty((len(x), len(b_y)))
    for n in set(lengths.tolist()):
        rows = lengths == n
        logits[rows] = states(x[rows, :n], h_0[rows], W_xh, W_hh, b_h)[:, -1] @ W_hy + b_y
    return logits


RIGHT = {
    "only the rows that go on": frozen_by_arithmetic,
    "grouped by length": grouped_by_length,
    "einsum": classifier(lambda h, x, n, h_0, W, b: np.einsum("bh,hc->bc", picked(h, n), W) + b[None]),
}

TRIALS.all_wrong(WRONG)
TRIALS.all_right(RIGHT)


TRIALS.all_wrong(
    {
        "an unknown name": ([("np.stack(h, axis=1)", "run_rnn(x, h_0, W_xh, W_hh, b_h)")], None, 0.0),
    }
)
