"""Programs that the spec of `rnn_step` does not contain; beside each wrong one is what it is told."""

import functools

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


def relu(a):
    return np.maximum(a, 0)


def swapped_where_it_runs(x_t, h_prev, W_xh, W_hh, b_h):
    if x_t.shape == h_prev.shape:
        x_t, h_prev = h_prev, x_t
    return np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)


def W_xh_transposed_where_square(x_t, h_prev, W_xh, W_hh, b_h):
    W = W_xh.T if W_xh.shape[0] == W_xh.shape[1] else W_xh
    return np.tanh(x_t @ W + h_prev @ W_hh + b_h)


def bias_for_each_row(x_t, h_prev, W_xh, W_hh, b_h):
    return np.tanh(x_t @ W_xh + h_prev @ W_hh + np.resize(b_h, len(x_t))[:, None])


def half_precision_inside(x_t, h_prev, W_xh, W_hh, b_h):
    a = x_t.astype("f2") @ W_xh.astype("f2") + h_prev.astype("f2") @ W_hh.astype("f2") + b_h.astype("f2")
    return np.tanh(a).astype(float)


def single_precision_inside(x_t, h_prev, W_xh, W_hh, b_h):
    x_t, h_prev, W_xh, W_hh, b_h = (a.astype("f4") for a in (x_t, h_prev, W_xh, W_hh, b_h))
    return np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h).astype(float)


def a(x_t, h_prev, W_xh, W_hh, b_h):
    return x_t @ W_xh + h_prev @ W_hh + b_h


def h(*arguments):
    return np.tanh(a(*arguments))


def by_name(function):
    """An expression of the five arguments as a student's function, which takes them by name."""

    def student(x_t, h_prev, W_xh, W_hh, b_h):
        return function(x_t, h_prev, W_xh, W_hh, b_h)

    return student


WRONG_STEPS = {
    "W_hh twice": (by_name(lambda x, h_, W, U, b: np.tanh(x @ W + h_ @ U @ U + b)), set()),
    "in columns": (
        by_name(lambda x, h_, W, U, b: np.tanh(W.T @ x.T + U @ h_.T + b[:, None]).T),
        {"W_hh_transposed"},
    ),
    "W_hh times each state": (
        by_name(lambda x, h_, W, U, b: np.tanh(x @ W + np.array([U.dot(row) for row in h_]) + b)),
        {"W_hh_transposed"},
    ),
    "state first in the row": (
        by_name(lambda x, h_, W, U, b: np.tanh([np.r_[s, r] @ np.r_[W, U] + b for r, s in zip(x, h_, strict=True)])),
        {"joined_in_different_orders"},
    ),
    "state first in the matrix": (
        by_name(lambda x, h_, W, U, b: np.tanh(np.einsum("bi,ij->bj", np.c_[x, h_], np.r_[U, W]) + b)),
        {"joined_in_different_orders"},
    ),
    "tanh of the state first": (
        by_name(lambda x, h_, W, U, b: h(x, np.tanh(h_), W, U, b)),
        {"tanh_of_h_prev"},
    ),
    "W_hh with one row twice": (by_name(lambda x, h_, W, U, b: h(x, h_, W, np.vstack([U[:1], U[:-1]]), b)), set()),
    "symmetrised W_hh": (by_name(lambda x, h_, W, U, b: h(x, h_, W, (U + U.T) / 2, b)), set()),
    "tanh twice": (by_name(lambda *args: np.tanh(h(*args))), {"after: tanh"}),
    "bias twice": (by_name(lambda x, h_, W, U, b: h(x, h_, W, U, 2 * b)), {"altered input: doubled b_h"}),
    "bias subtracted": (by_name(lambda x, h_, W, U, b: h(x, h_, W, U, -b)), {"altered input: negated b_h"}),
    "bias of each row": (bias_for_each_row, set()),
    "only the first bias": (by_name(lambda x, h_, W, U, b: h(x, h_, W, U, b[0])), set()),
    "mean of the biases": (by_name(lambda x, h_, W, U, b: h(x, h_, W, U, b.mean())), set()),
    "state subtracted": (
        by_name(lambda x, h_, W, U, b: h(x, -h_, W, U, b)),
        {"altered input: negated h_prev | negated W_hh"},
    ),
    "relu of tanh": (by_name(lambda *args: relu(h(*args))), {"cut_off"}),
    "abs": (by_name(lambda *args: abs(h(*args))), {"after: absolute value"}),
    "sinh": (by_name(lambda *args: np.sinh(a(*args))), set()),
    "logistic of half, no bias": (by_name(lambda x, h_, W, U, b: 1 / (1 + np.exp(-a(x, h_, W, U, 0 * b)))), set()),
    "mean over the batch": (by_name(lambda x, h_, *r: h(x, h_.mean(axis=0, keepdims=True), *r)), set()),
    "state of the first row": (by_name(lambda x, h_, *r: h(x, h_[:1], *r)), {"altered input: first_row h_prev"}),
    "swapped where it runs": (swapped_where_it_runs, set()),
    "W_xh transposed where square": (W_xh_transposed_where_square, set()),
    "float16 inside": (half_precision_inside, set()),
    "float32 inside": (single_precision_inside, {"lost_precision"}),
    "float32 weights": (by_name(lambda x, h_, W, U, b: h(x, h_, W.astype("f4"), U, b)), set()),
    "float32": (by_name(lambda *args: h(*args).astype(np.float32)), {"float32"}),
    "rounded": (by_name(lambda *args: h(*args).round(3)), {"rounded"}),
    "clipped": (by_name(lambda *args: h(*args).clip(-0.9, 0.9)), {"cut_off"}),
    "normalised": (by_name(lambda *args: h(*args) / np.linalg.norm(h(*args), axis=1, keepdims=True)), set()),
    "a product for a sum": (by_name(lambda x, h_, W, U, b: np.tanh((x @ W) * (h_ @ U) + b)), set()),
    "half old, half new": (by_name(lambda x, h_, *r: (h_ + h(x, h_, *r)) / 2), set()),
    "no bias and no state": (by_name(lambda x, h_, W, U, b: np.tanh(x @ W)), set()),
    "no tanh and no bias": (by_name(lambda x, h_, W, U, b: x @ W + h_ @ U), set()),
    "no input": (by_name(lambda x, h_, W, U, b: np.tanh(h_ @ U + b)), {"altered input: zeros x_t | zeros W_xh"}),
    "old state": (by_name(lambda x, h_, W, U, b: h_), {"after: is h_prev"}),
    "zeros": (by_name(lambda x, h_, *r: np.zeros(h_.shape)), set()),
    "halved": (by_name(lambda *args: h(*args) / 2), {"constant_factor"}),
    "negated": (by_name(lambda *args: -h(*args)), {"sign"}),
    "transposed": (by_name(lambda *args: h(*args).T), {"transposed"}),
    "rows reversed": (by_name(lambda *args: h(*args)[::-1]), {"after: reversed along B"}),
    "units reversed": (by_name(lambda *args: h(*args)[:, ::-1]), {"after: reversed along H"}),
    "rolled by a row": (by_name(lambda *args: np.roll(h(*args), 1, axis=0)), {"after: shifted along B"}),
    "one row": (by_name(lambda *args: h(*args)[-1]), {"after: last entry along B"}),
    "flat": (by_name(lambda *args: h(*args).ravel()), {"after: flat"}),
    "a tuple": (by_name(lambda *args: (h(*args),)), {"after: [0] missing"}),
    "a mean": (by_name(lambda *args: h(*args).mean()), {"after: mean"}),
}


def into_a_list(x_t, h_prev, W_xh, W_hh, b_h):
    rows = []
    for x, state in zip(x_t, h_prev, strict=True):
        rows.append([float(np.tanh(x @ W_xh[:, j] + state @ W_hh[:, j] + b_h[j])) for j in range(len(b_h))])
    return np.array(rows)


RIGHT_STEPS = {
    "np.hstack": by_name(lambda x, h_, W, U, b: np.tanh(np.hstack([h_, x]) @ np.vstack([U, W]) + b)),
    "bias as a row of the weights": by_name(
        lambda x, h_, W, U, b: np.tanh(np.c_[x, h_, np.ones(len(x))] @ np.r_[W, U, b[None]])
    ),
    "sinh and cosh": by_name(lambda *args: np.sinh(a(*args)) / np.cosh(a(*args))),
    "exponentials": by_name(lambda *args: np.expm1(2 * a(*args)) / (np.expm1(2 * a(*args)) + 2)),
    "logistic, stretched": by_name(lambda *args: 2 / (1 + np.exp(-2 * a(*args))) - 1),
    "longdouble inside": by_name(lambda *args: h(*(v.astype(np.longdouble) for v in args)).astype(float)),
    "into a list": into_a_list,
}

TRIALS.all_wrong(WRONG_STEPS)
TRIALS.all_right(RIGHT_STEPS)
