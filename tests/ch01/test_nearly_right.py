"""Submissions for the exercises of chapter 01 that no spec names.

Those that are nearly right must fail and must not be given a wrong diagnosis; each is listed with the diagnosis that is
true of it, if there is one. Those that are right in another way must pass.
"""

import math
import random

import numpy as np
import pytest

from tests.conftest import SEEDS, exercise
from tests.loops import for_each
from tests.nearly_right import fails, passes


def log_softmax(z, axis=-1):
    return z - np.logaddexp.reduce(z, axis=axis, keepdims=True)


def p(z, axis=-1):
    return np.exp(log_softmax(z, axis))


# concatenated_weights


def block(W_xh, W_hh):
    return np.block([[W_xh], [W_hh], [np.zeros((1, len(W_hh)))]])


def by_shape(W_xh, W_hh):
    both = [W_xh, W_hh] if W_xh.shape != W_hh.shape else [W_hh, W_xh]
    return np.concatenate(both)


def interleaved(W_xh, W_hh):
    order = np.argsort([*range(0, 2 * len(W_xh), 2), *range(1, 2 * len(W_hh), 2)])
    return np.concatenate([W_xh, W_hh])[order]


WRONG_WEIGHTS = {
    "right only where D is not H": (by_shape, set()),
    "a row for a bias": (block, {"after: all but the last entry along axis=-2 missing"}),
    "rows taken in turn": (interleaved, {"rows_in_another_order"}),
    "W_xh twice": (lambda W_xh, W_hh: np.concatenate([W_xh, W_xh]), {"one_matrix_twice"}),
    "rows reversed": (lambda W_xh, W_hh: np.concatenate([W_xh, W_hh])[::-1], {"after: reversed along D + H"}),
    "W_hh subtracted": (lambda W_xh, W_hh: np.concatenate([W_xh, -W_hh]), {"counterfactual: negated W_hh"}),
    "half of each": (lambda W_xh, W_hh: np.concatenate([W_xh, W_hh]) / 2, {"constant_factor"}),
    "float32": (lambda W_xh, W_hh: np.concatenate([W_xh, W_hh]).astype("f4"), {"float32"}),
    "a vector, though a tidy one": (lambda W_xh, W_hh: np.concatenate([W_xh, W_hh]).T.ravel(), set()),
}
RIGHT_WEIGHTS = {
    "np.r_": lambda W_xh, W_hh: np.r_[W_xh, W_hh],
    "np.append": lambda W_xh, W_hh: np.append(W_xh, W_hh, axis=0),
    "np.block": lambda W_xh, W_hh: np.block([[W_xh], [W_hh]]),
    "lists": lambda W_xh, W_hh: np.array([*W_xh, *W_hh]),
    "Fortran order": lambda W_xh, W_hh: np.asfortranarray(np.vstack([W_xh, W_hh])),
    "flat and back": lambda W_xh, W_hh: np.append(W_xh, W_hh).reshape(-1, W_hh.shape[1]),
    "by padding": lambda W_xh, W_hh: np.pad(W_xh, ((0, len(W_hh)), (0, 0))) + np.pad(W_hh, ((len(W_xh), 0), (0, 0))),
}

# softmax


def changes_z(z, axis=-1):
    z -= z.max(axis=axis, keepdims=True)
    e = np.exp(z)
    return e / e.sum(axis=axis, keepdims=True)


def second_axis(z, axis=-1):
    return p(z, 1 if z.ndim > 1 else 0)


def keyword_named_otherwise(z, dim=-1):
    return p(z, dim)


WRONG_SOFTMAX = {
    "changes z": (changes_z, set()),
    "always the second axis": (second_axis, set()),
    "dim for axis": (keyword_named_otherwise, set()),
    "no default for the axis": (lambda z, axis: p(z, axis), set()),
    "the first axis unless told otherwise": (lambda z, axis=0: p(z, axis), {"left_out"}),
    "a little added to the sum": (lambda z, axis=-1: p(z, axis) / (1 + 1e-8), set()),
    "the sign reversed": (lambda z, axis=-1: p(-z, axis), {"counterfactual: negated z"}),
    "powers of two": (lambda z, axis=-1: p(z * math.log(2), axis), set()),
    "logarithms": (log_softmax, {"after: exponential missing"}),
    "absolute values": (lambda z, axis=-1: np.abs(z) / np.abs(z).sum(axis=axis, keepdims=True), set()),
    "the sum along the axis after": (lambda z, axis=-1: p(z, (axis + 1) % z.ndim), set()),
    "rounded": (lambda z, axis=-1: p(z, axis).round(4), {"rounded"}),
    "float32": (lambda z, axis=-1: p(z, axis).astype("f4"), {"float32"}),
    "float32 inside": (lambda z, axis=-1: p(z.astype("f4"), axis).astype(float), set()),
    "a list": (lambda z, axis=-1: p(z, axis).tolist(), set()),
    "uniform": (lambda z, axis=-1: np.ones(z.shape) / z.shape[axis], {"counterfactual: zeros z"}),
}
RIGHT_SOFTMAX = {
    "of the transpose": lambda z, axis=-1: p(z.T, z.ndim - 1 - axis % z.ndim).T,
    "np.apply_along_axis": lambda z, axis=-1: np.apply_along_axis(p, axis, z),
    "np.expand_dims": lambda z, axis=-1: (
        np.exp(z - np.expand_dims(z.max(axis), axis))
        / np.expand_dims(np.exp(z - np.expand_dims(z.max(axis), axis)).sum(axis), axis)
    ),
    "named arguments": lambda z, *, axis=-1: p(z, axis),
    "a shift by a little more": lambda z, axis=-1: p(z - z.max(axis=axis, keepdims=True) - 3.0, axis),
    "long double inside": lambda z, axis=-1: p(z.astype(np.longdouble), axis).astype(float),
}

# classify_last


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


WRONG_CLASSIFIERS = {
    "a zero start": (zero_start, {"counterfactual: zeros h_0"}),
    "no bias": (classifier(lambda h, x, n, h_0, W, b: picked(h, n) @ W), {"counterfactual: zeros b_y"}),
    "bias twice": (classifier(lambda h, x, n, h_0, W, b: picked(h, n) @ W + 2 * b), {"counterfactual: doubled b_y"}),
    "tanh of the logits": (classifier(lambda h, x, n, h_0, W, b: np.tanh(picked(h, n) @ W + b)), {"after: tanh"}),
    "the class": (
        classifier(lambda h, x, n, h_0, W, b: (picked(h, n) @ W + b).argmax(axis=1)),
        {"after: argmax along C"},
    ),
    "the first state": (
        classifier(lambda h, x, n, h_0, W, b: h[:, 0] @ W + b),
        {"counterfactual: only_first time step"},
    ),
    "the largest over time": (classifier(lambda h, x, n, h_0, W, b: h.max(axis=1) @ W + b), set()),
    "the sum of the logits": (classifier(lambda h, x, n, h_0, W, b: (h @ W + b).sum(axis=1)), set()),
    "rows reversed": (classifier(lambda h, x, n, h_0, W, b: (picked(h, n) @ W + b)[::-1]), {"after: reversed along B"}),
    "lengths of the rows reversed": (classifier(lambda h, x, n, h_0, W, b: picked(h, n[::-1]) @ W + b), set()),
    "two steps early": (
        classifier(lambda h, x, n, h_0, W, b: h[np.arange(len(n)), np.maximum(n - 2, 0)] @ W + b),
        {"counterfactual: less lengths"},
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


RIGHT_CLASSIFIERS = {
    "only the rows that go on": frozen_by_arithmetic,
    "grouped by length": grouped_by_length,
    "one-hot over time": classifier(
        lambda h, x, n, h_0, W, b: (h * (np.arange(x.shape[1]) == n[:, None] - 1)[:, :, None]).sum(axis=1) @ W + b
    ),
    "einsum": classifier(lambda h, x, n, h_0, W, b: np.einsum("bh,hc->bc", picked(h, n), W) + b[None]),
}

# sequence_loss


def loss(change):
    """change(log-probabilities of the targets (B, T)) → the result."""

    def student(logits, targets):
        return change(np.take_along_axis(log_softmax(logits), targets[:, :, None], axis=2)[:, :, 0])

    return student


def square(logits, targets):
    return ((p(logits) - np.eye(logits.shape[2])[targets]) ** 2).mean()


def wrong_answers_too(logits, targets):
    q, y = p(logits), np.eye(logits.shape[2])[targets]
    return -(y * np.log(q) + (1 - y) * np.log1p(-q)).sum(axis=2).mean()


def shifted_targets(logits, targets):
    return loss(lambda log_p: -log_p.mean())(logits, np.roll(targets, -1, axis=1))


def changes_the_logits(logits, targets):
    logits -= logits.max(axis=2, keepdims=True)
    return loss(lambda log_p: -log_p.mean())(logits, targets)


WRONG_LOSSES = {
    "each token's": (loss(lambda log_p: -log_p), {"after: mean missing"}),
    "each sequence's": (loss(lambda log_p: -log_p.mean(axis=1)), {"after: mean over axis=-1 missing"}),
    "in brackets": (loss(lambda log_p: np.array([-log_p.mean()])), {"after: squeeze of axis=-1 missing"}),
    "a list": (loss(lambda log_p: [-log_p.mean()]), {"after: [0] missing"}),
    "perplexity": (loss(lambda log_p: np.exp(-log_p.mean())), {"after: exponential"}),
    "the probability of it all": (loss(lambda log_p: np.exp(log_p.sum())), set()),
    "the log of the mean": (loss(lambda log_p: -np.log(np.exp(log_p).mean())), {"log_of_the_mean"}),
    "decimal logarithms": (loss(lambda log_p: -log_p.mean() / math.log(10)), {"constant_factor"}),
    "over the vocabulary too": (
        lambda logits, targets: -(np.eye(logits.shape[2])[targets] * log_softmax(logits)).mean(),
        {"averaged"},
    ),
    "one token too few": (loss(lambda log_p: -log_p.sum() / max(1, log_p.size - 1)), set()),
    "the first step left out": (loss(lambda log_p: -log_p[:, 1:].mean()), set()),
    "the median": (loss(lambda log_p: -np.median(log_p)), set()),
    "squares": (square, set()),
    "the wrong answers too": (wrong_answers_too, set()),
    "the next target": (shifted_targets, {"counterfactual: late logits | early targets"}),
    "changes the logits": (changes_the_logits, set()),
    "without a logarithm": (loss(lambda log_p: -np.exp(log_p).mean()), set()),
    "one minus the probability": (loss(lambda log_p: 1 - np.exp(log_p).mean()), set()),
    "float32": (loss(lambda log_p: np.float32(-log_p.mean())), {"float32"}),
    "rounded": (loss(lambda log_p: round(float(-log_p.mean()), 4)), {"rounded"}),
    "cut off at 100": (loss(lambda log_p: -np.maximum(log_p, -100.0).mean()), {"large_losses_replaced"}),
    "infinity made a number": (
        lambda logits, targets: float(np.nan_to_num(loss(lambda q: -np.log(np.exp(q)).mean())(logits, targets))),
        set(),
    ),
}
RIGHT_LOSSES = {
    "a Python float": loss(lambda log_p: float(-log_p.mean())),
    "an array of no axes": loss(lambda log_p: np.array(-log_p.mean())),
    "mean of means": loss(lambda log_p: -log_p.mean(axis=1).mean()),
    "fancy indices": lambda logits, targets: (
        -log_softmax(logits)[np.arange(len(logits))[:, None], np.arange(logits.shape[1]), targets].mean()
    ),
    "exact sum": loss(lambda log_p: -math.fsum(log_p.ravel()) / log_p.size),
    "einsum": lambda logits, targets: (
        -np.einsum("btv,btv->", np.eye(logits.shape[2])[targets], log_softmax(logits)) / targets.size
    ),
}

# sample_id


def last_possible(probs):
    return int(np.flatnonzero(probs)[-1])


def cumulative_below(probs, u):
    """The last id whose sum is at most u."""
    return max(0, int((np.cumsum(probs) <= u).sum()) - 1)


def sorted_first(probs, u):
    order = np.argsort(-probs, kind="stable")
    return int(order[min(int((np.cumsum(probs[order]) <= u).sum()), len(probs) - 1)])


def from_the_end(probs, u):
    total = np.cumsum(probs[::-1])
    return len(probs) - 1 - min(int((total <= u).sum()), len(probs) - 1)


def changes_probs(probs, u):
    probs /= probs.sum()
    return min(int((np.cumsum(probs) <= u).sum()), last_possible(probs))


def right_id(probs, u):
    return min(int((np.cumsum(probs) <= u).sum()), last_possible(probs))


WRONG_SAMPLES = {
    "the id before": (cumulative_below, {"one_too_small"}),
    "the id after": (lambda probs, u: right_id(probs, u) + 1, {None}),
    "likeliest first": (sorted_first, {None, "sorted_first"}),
    "from the end": (from_the_end, {None, "counterfactual: one_minus u"}),
    "one minus u": (lambda probs, u: right_id(probs, 1 - u), {"counterfactual: one_minus u"}),
    "at random": (lambda probs, u: random.Random(3).randrange(len(probs) + 3), set()),
    "always 0": (lambda probs, u: 0, set()),
    "an array of one": (lambda probs, u: np.array([right_id(probs, u)]), {"after: squeeze of axis=-1 missing"}),
    "a list of one": (lambda probs, u: [right_id(probs, u)], {"after: [0] missing"}),
    "one-hot": (lambda probs, u: np.eye(len(probs))[right_id(probs, u)], {"after: argmax along axis=-1 missing"}),
    "a sentence": (lambda probs, u: str(right_id(probs, u)), set()),
    "changes probs": (changes_probs, set()),
}


def half_by_half(probs, u):
    """Binary search, written out."""
    total, low, high = np.cumsum(probs), 0, last_possible(probs)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if total[middle] > u else (middle + 1, high)
    return low


RIGHT_SAMPLES = {
    "a Python integer": right_id,
    "np.int64": lambda probs, u: np.int64(right_id(probs, u)),
    "np.int32": lambda probs, u: np.int32(right_id(probs, u)),
    "an array of no axes": lambda probs, u: np.array(right_id(probs, u)),
    "binary search": half_by_half,
    "divided by the sum first": lambda probs, u: right_id(probs / probs.sum(), u),
    "a loop with else": lambda probs, u: next(
        (i for i in range(len(probs)) if probs[: i + 1].sum() > u), last_possible(probs)
    ),
}

# generate


def writer(
    choose=None,
    step=None,
    start=lambda id_, h_0: (id_, h_0),
    result=lambda ids: np.array(ids, dtype=np.int64),
    fed=None,
):
    """The right loop with one part of it exchanged."""

    def student(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
        ids, (x, h) = [], start(start_id, h_0)
        for t in range(num_steps):
            h = np.tanh(W_xh[[x]] + h @ W_hh + b_h) if step is None else step(x, h, W_xh, W_hh, b_h)
            logits = (h @ W_hy + b_y)[0]
            if choose is not None:
                new = choose(logits, u, t)
            elif u is None:
                new = int(logits.argmax())
            else:
                new = right_id(p(logits), u[t])
            ids.append(new)
            x = new if fed is None else fed(new, logits, t)
        return result(ids)

    return student


def draw(change):
    """Greedy as it should be; drawing by change(logits, u, t)."""
    return writer(choose=lambda logits, u, t: int(logits.argmax()) if u is None else change(logits, u, t))


def fed_with_probabilities(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    x, ids = np.eye(len(W_xh))[[start_id]], []
    for t in range(num_steps):
        h_0 = np.tanh(x @ W_xh + h_0 @ W_hh + b_h)
        x = p(h_0 @ W_hy + b_y)
        ids.append(int(x.argmax()) if u is None else right_id(x[0], u[t]))
    return np.array(ids, dtype=np.int64)


def no_default(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u):
    return writer()(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u)


def truth_of_u(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    return writer()(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u if u else None)


def changes_the_state(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    def step(x, h, *weights):
        h_0[:] = np.tanh(weights[0][[x]] + h @ weights[1] + weights[2])
        return h_0

    return writer(step=step)(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u)


WRONG_WRITERS = {
    "text": (writer(result=lambda ids: "".join(map(str, ids))), set()),
    "a column": (
        writer(result=lambda ids: np.array(ids, dtype=np.int64)[:, None]),
        {None},
    ),
    "booleans": (writer(result=lambda ids: np.array(ids, dtype=bool)), set()),
    "reversed": (writer(result=lambda ids: np.array(ids[::-1], dtype=np.int64)), {"after: reversed along T"}),
    "one step fewer": (
        writer(result=lambda ids: np.array(ids[:-1], dtype=np.int64)),
        {"counterfactual: less num_steps"},
    ),
    "only the last id": (writer(result=lambda ids: ids[-1] if ids else 0), {None, "last_id_only"}),
    "from a zero state": (writer(start=lambda id_, h_0: (id_, 0 * h_0)), {None, "counterfactual: zeros h_0"}),
    "from id 0": (writer(start=lambda id_, h_0: (0, h_0)), {"counterfactual: zero start_id"}),
    "no bias": (writer(step=lambda x, h, W, U, b: np.tanh(W[[x]] + h @ U)), {"counterfactual: zeros b_h"}),
    "no input": (writer(step=lambda x, h, W, U, b: np.tanh(h @ U + b)), {"counterfactual: zeros W_xh"}),
    "no state": (writer(step=lambda x, h, W, U, b: np.tanh(W[[x]] + b)), {"counterfactual: zeros W_hh"}),
    "the number of the id as input": (writer(step=lambda x, h, W, U, b: np.tanh(x * W[:1] + h @ U + b)), set()),
    "the least likely": (draw(lambda z, u, t: int(z.argmin())), set()),
    "the least likely, greedily": (writer(choose=lambda z, u, t: int(z.argmin())), set()),
    "u from the end": (draw(lambda z, u, t: right_id(p(z), u[-1 - t])), {"counterfactual: backward u"}),
    "the next u": (draw(lambda z, u, t: right_id(p(z), u[(t + 1) % len(u)])), {"counterfactual: early u"}),
    "one minus u": (draw(lambda z, u, t: right_id(p(z), 1 - u[t])), set()),
    "numbers of its own": (draw(lambda z, u, t: right_id(p(z), random.Random(t).random())), set()),
    "softmax twice": (draw(lambda z, u, t: right_id(p(p(z)), u[t])), set()),
    "always draws": (writer(choose=lambda z, u, t: right_id(p(z), 0.5 if u is None else u[t])), set()),
    "the greedy id fed back": (writer(fed=lambda new, z, t: int(z.argmax())), {"most_probable_id_fed_back"}),
    "fed with probabilities": (fed_with_probabilities, set()),
    "no default for u": (no_default, set()),
    "asks whether u is true": (truth_of_u, set()),
    "changes h_0": (changes_the_state, set()),
}


def grows(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    ids = np.array([start_id])
    while len(ids) <= num_steps:
        h_0 = np.tanh(np.eye(len(W_xh))[ids[-1:]] @ W_xh + h_0 @ W_hh + b_h)
        q = p(h_0 @ W_hy + b_y)[0]
        new = q.argmax() if u is None else np.argmax(np.cumsum(q) > u[len(ids) - 1])
        ids = np.append(ids, new)
    return ids[1:]


RIGHT_WRITERS = {
    "a growing array": grows,
    "int32": writer(result=lambda ids: np.array(ids, dtype=np.int32)),
    "from a generator": writer(result=lambda ids: np.fromiter(ids, np.int64)),
    "greedy by probabilities": writer(choose=lambda z, u, t: int(p(z).argmax()) if u is None else right_id(p(z), u[t])),
    "np.int64 fed back": writer(fed=lambda new, z, t: np.int64(new)),
    "u as a list": lambda u=None, **inputs: writer()(**inputs, u=None if u is None else list(u)),
}

WRONG = {
    "concatenated_weights": WRONG_WEIGHTS,
    "softmax": WRONG_SOFTMAX,
    "classify_last": WRONG_CLASSIFIERS,
    "sequence_loss": WRONG_LOSSES,
    "sample_id": WRONG_SAMPLES,
    "generate": WRONG_WRITERS,
}
RIGHT = {
    "concatenated_weights": RIGHT_WEIGHTS,
    "softmax": RIGHT_SOFTMAX,
    "classify_last": RIGHT_CLASSIFIERS,
    "sequence_loss": RIGHT_LOSSES,
    "sample_id": RIGHT_SAMPLES,
    "generate": RIGHT_WRITERS,
}


@for_each(("exercise_id", "name"), [(e, name) for e, works in WRONG.items() for name in works])
def test_nearly_right_fails_and_is_not_given_a_wrong_name(exercise_id, name):
    function, allowed = WRONG[exercise_id][name]
    fails(exercise_id, function, allowed or None)


@for_each(("exercise_id", "name"), [(e, name) for e, works in RIGHT.items() for name in works])
def test_right_in_another_way_passes(exercise_id, name):
    passes(exercise_id, RIGHT[exercise_id][name])


@pytest.mark.parametrize("tie", [lambda i: i, lambda i: -i, lambda i: (i + 1) % 3, lambda i: -i % 3])
def test_sorting_by_probability_is_named_however_it_orders_equal_ones(tie):
    """In NumPy's default sort that order depends on the processor."""

    def likeliest_first(probs, u):
        order = np.lexsort((tie(np.arange(len(probs))), -probs))
        return next(
            (i for i, total in zip(order, np.cumsum(probs[order]), strict=True) if total > u), last_possible(probs)
        )

    for seed in SEEDS:
        verdict = exercise("sample_id").verdict(likeliest_first, seed)
        assert verdict.diagnosis, (seed, verdict)
        assert verdict.diagnosis.id == "sorted_first"
