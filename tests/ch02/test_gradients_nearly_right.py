"""Work on the gradients of chapter 02 that no spec names.

What is nearly right must fail and get no wrong name: beside each stands the diagnosis that is true of it, where one is.
What is right in another way must pass.
"""

import functools

import numpy as np
import torch

from tests.loops import for_each
from tests.nearly_right import fails, passes

# cross_entropy_backward ----------------------------------------------------------------------------------------------


def p(z, axis=-1):
    return np.exp(z - np.logaddexp.reduce(z, axis=axis, keepdims=True))


def came(logits, targets):
    return np.eye(logits.shape[2])[targets]


def right_logits(logits, targets):
    return (p(logits) - came(logits, targets)) / targets.size


def by_finite_differences(logits, targets, eps=1e-6):
    def loss(z):
        return -np.take_along_axis(z - np.logaddexp.reduce(z, axis=2, keepdims=True), targets[..., None], 2).mean()

    result = np.zeros(logits.shape)
    for i in np.ndindex(logits.shape):
        step = np.zeros(logits.shape)
        step[i] = eps
        result[i] = (loss(logits + step) - loss(logits - step)) / (2 * eps)
    return result


def softmax_by_hand_that_subtracts_the_mean(logits, targets):
    e = np.exp(logits - logits.mean(axis=2, keepdims=True))
    return (e / e.sum(axis=2, keepdims=True) - came(logits, targets)) / targets.size


def softmax_of_the_largest_of_all(logits, targets):
    """Right but for large logits, where it is nan at some places only."""
    powers = np.exp(logits - logits.max())
    return (powers / powers.sum(axis=2, keepdims=True) - came(logits, targets)) / targets.size


def softmax_given(z, axis=-1):
    powers = np.exp(z - np.max(z, axis, keepdims=True))
    return powers / np.sum(powers, axis, keepdims=True)


def largest_taken_away_in_place(logits, targets):
    logits -= logits.max(axis=-1, keepdims=True)
    e = np.exp(logits)
    return (e / e.sum(axis=-1, keepdims=True) - came(logits, targets)) / targets.size


WRONG_LOGITS = {
    "/ T * B": (lambda z, y: (p(z) - came(z, y)) / z.shape[1] * z.shape[0], None),
    "one part divided by the batch": (lambda z, y: p(z) / len(z) - came(z, y), None),
    "1 taken away everywhere, not divided": (lambda z, y: p(z) - 1, None),
    "1 taken away at other ids": (lambda z, y: (p(z) - 1 + came(z, y)) / y.size, None),
    "one-hot squared error": (lambda z, y: (p(z) - came(z, y)) * p(z) * (1 - p(z)) / y.size, None),
    "the softmax's own slope": (lambda z, y: p(z) * (1 - p(z)) / y.size, None),
    "targets one late": (lambda z, y: right_logits(z, np.roll(y, 1, axis=1)), "counterfactual: late targets"),
    "targets of the next row": (lambda z, y: right_logits(z, np.roll(y, 1, axis=0)), None),
    "two at the target": (lambda z, y: (p(z) - 2 * came(z, y)) / y.size, None),
    "only the last step": (
        lambda z, y: right_logits(z, y) * (np.arange(z.shape[1]) == z.shape[1] - 1)[:, None],
        {None, "never_filled"},  # None where a gradient of 0 is expected elsewhere
    ),
    "divided by B + T": (lambda z, y: right_logits(z, y) * y.size / sum(y.shape), None),
    "divided by (B T) squared": (lambda z, y: right_logits(z, y) / y.size, None),
    "halved": (lambda z, y: right_logits(z, y) / 2, "constant_factor"),
    "in bits": (lambda z, y: right_logits(z, y) / np.log(2), "constant_factor"),
    "float32": (lambda z, y: right_logits(z, y).astype("f4"), "float32"),
    "rounded": (lambda z, y: right_logits(z, y).round(4), "rounded"),
    "finite differences": (by_finite_differences, None),
    "clipped": (lambda z, y: right_logits(z, y).clip(-0.01, 0.01), "cut_off"),
    "axes (B, V, T)": (lambda z, y: right_logits(z, y).swapaxes(1, 2), "after: axes T and V exchanged"),
    "flat": (lambda z, y: right_logits(z, y).reshape(-1, z.shape[2]), None),
    "summed over time": (lambda z, y: right_logits(z, y).sum(axis=1), "after: sum over T"),
    "the loss with it": (lambda z, y: (0.5, right_logits(z, y)), "after: [-1] missing"),
    "subtracts the mean, not the largest": (softmax_by_hand_that_subtracts_the_mean, None),
    "the largest of all, not of each place": (softmax_of_the_largest_of_all, "one_shift_for_all"),
    "sign, not divided": (lambda z, y: -right_logits(z, y) * y.size, None),
    "no one-hot, not divided": (lambda z, y: p(z), None),
}


def named(function, *names):
    """A function of positional arguments as a student's, which takes them by name."""
    return lambda **inputs: function(*(inputs[name] for name in names))


@for_each("name", WRONG_LOGITS)
def test_a_nearly_right_gradient_of_the_logits(name):
    function, allowed = WRONG_LOGITS[name]
    fails("cross_entropy_backward", named(function, "logits", "targets"), allowed)


# rnn_step_backward ---------------------------------------------------------------------------------------------------


def step(dh_t, x_t, h_prev, h_t, W_xh, W_hh, da_t=None):
    da_t = dh_t * (1 - h_t**2) if da_t is None else da_t
    return da_t @ W_xh.T, da_t @ W_hh.T, x_t.T @ da_t, h_prev.T @ da_t, da_t.sum(axis=0)


def but(**changes):
    """The right step with some of its five results replaced by functions of (da_t, dh_t, x_t, h_prev, h_t, W, U)."""
    order = ("dx_t", "dh_prev", "dW_xh", "dW_hh", "db_h")

    def student(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
        results = dict(zip(order, step(dh_t, x_t, h_prev, h_t, W_xh, W_hh), strict=True))
        da_t = dh_t * (1 - h_t**2)
        for name, change in changes.items():
            results[name] = change(da_t, dh_t, x_t, h_prev, h_t, W_xh, W_hh)
        return tuple(results.values())

    return student


def slope(of):
    """The step with another factor for the slope, of (dh_t, h_prev, h_t)."""

    def student(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
        return step(dh_t, x_t, h_prev, h_t, W_xh, W_hh, of(dh_t, h_prev, h_t))

    return student


def sum_anew(square):
    """The step with a slope from the sum as the arguments allow it; `square` says of what sum the square is taken."""

    def student(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
        a_t = x_t @ W_xh + h_prev @ W_hh
        return step(dh_t, x_t, h_prev, h_t, W_xh, W_hh, dh_t * (1 - square(a_t)))

    return student


ALL_BUT = {
    n: {"dx_t", "dh_prev", "dW_xh", "dW_hh", "db_h"} - {n} for n in ("dx_t", "dh_prev", "dW_xh", "dW_hh", "db_h")
}

WRONG_STEPS = {
    # one result of five, each with a mistake that the spec knows of all
    "no slope in dx_t": (
        but(dx_t=lambda da, dh, x, h_, h, W, U: dh @ W.T),
        "slope_left_out For dx_t",
        ALL_BUT["dx_t"],
    ),
    "no slope in dW_hh": (
        but(dW_hh=lambda da, dh, x, h_, h, W, U: h_.T @ dh),
        "slope_left_out For dW_hh",
        ALL_BUT["dW_hh"],
    ),
    "no slope in db_h and dW_xh": (
        but(db_h=lambda da, dh, *_: dh.sum(0), dW_xh=lambda da, dh, x, *_: x.T @ dh),
        "slope_left_out For dW_xh and db_h",
        {"dx_t", "dh_prev", "dW_hh"},
    ),
    "dW_hh transposed": (
        but(dW_hh=lambda da, dh, x, h_, *_: da.T @ h_),
        "weight_gradients_transposed For dW_hh",
        ALL_BUT["dW_hh"],
    ),
    "dW_xh averaged": (
        but(dW_xh=lambda da, dh, x, *_: x.T @ da / len(x)),
        None,  # two mistakes begin so
        ALL_BUT["dW_xh"],
    ),
    # two mistakes at once
    "W_hh not transposed, bias averaged": (
        but(dh_prev=lambda da, dh, x, h_, h, W, U: da @ U, db_h=lambda da, *_: da.mean(0)),
        "W_hh_not_transposed For dh_prev",
        {"dx_t", "dW_xh", "dW_hh"},
    ),
    "something in dh_prev, bias averaged": (
        but(dh_prev=lambda da, dh, x, h_, h, W, U: da @ (U + U.T), db_h=lambda da, *_: da.mean(0)),
        "bias_averaged_over_the_batch For db_h",
        {"dx_t", "dW_xh", "dW_hh"},
    ),
    "something in dh_prev, sign of dx_t": (
        but(dh_prev=lambda da, dh, x, h_, h, W, U: da @ (U + U.T), dx_t=lambda da, dh, x, h_, h, W, U: -da @ W.T),
        "sign For dx_t",
        {"dW_xh", "dW_hh", "db_h"},
    ),
    "something in dh_prev, twice dW_xh and dW_hh": (
        but(
            dh_prev=lambda da, dh, x, h_, h, W, U: da @ (U + U.T),
            dW_xh=lambda da, dh, x, *_: 2 * x.T @ da,
            dW_hh=lambda da, dh, x, h_, *_: 2 * h_.T @ da,
        ),
        "constant_factor For dW_xh and dW_hh",
        {"dx_t", "db_h"},
    ),
    # the slope of something else
    "the sum anew, not squared": (sum_anew(lambda a: a), None, ()),
    "the sum of the input alone": (
        lambda dh_t, x_t, h_prev, h_t, W_xh, W_hh: step(
            dh_t, x_t, h_prev, h_t, W_xh, W_hh, dh_t * (1 - np.tanh(x_t @ W_xh) ** 2)
        ),
        None,
        (),
    ),
    "no brackets, in dx_t alone": (
        but(dx_t=lambda da, dh, x, h_, h, W, U: (dh * 1 - h**2) @ W.T),
        "slope_without_parentheses For dx_t",
        ALL_BUT["dx_t"],
    ),
    "no brackets, the other way": (slope(lambda dh, h_, h: 1 - h**2 * dh), None, ()),
    # what nothing here knows
    "slope 1 + h²": (slope(lambda dh, h_, h: dh * (1 + h**2)), "square_added", ()),
    "slope of relu": (slope(lambda dh, h_, h: dh * (h > 0)), None, ()),
    "slope squared": (slope(lambda dh, h_, h: dh * (1 - h**2) ** 2), None, ()),
    "slope's root": (slope(lambda dh, h_, h: dh * np.sqrt(1 - h**2)), None, ()),
    "slope at the mean of both": (slope(lambda dh, h_, h: dh * (1 - ((h + h_) / 2) ** 2)), None, ()),
    "slope added": (slope(lambda dh, h_, h: dh + 1 - h**2), None, ()),
    "slope clipped": (slope(lambda dh, h_, h: dh * np.clip(1 - h**2, 0.9, None)), None, ()),
    "residual": (but(dh_prev=lambda da, dh, x, h_, h, W, U: dh + da @ U.T), None, ALL_BUT["dh_prev"]),
    "dh_prev through W_hh twice": (
        but(dh_prev=lambda da, dh, x, h_, h, W, U: da @ U.T @ U.T),
        None,
        ALL_BUT["dh_prev"],
    ),
    "dh_prev by the inverse": (
        but(dh_prev=lambda da, dh, x, h_, h, W, U: da @ np.linalg.inv(U)),
        None,
        ALL_BUT["dh_prev"],
    ),
    "dW_hh symmetrised": (
        but(dW_hh=lambda da, dh, x, h_, *_: (h_.T @ da + da.T @ h_) / 2),
        None,
        ALL_BUT["dW_hh"],
    ),
    "dW_hh from da twice": (but(dW_hh=lambda da, *_: da.T @ da), None, ALL_BUT["dW_hh"]),
    "dW_hh of the first row": (
        but(dW_hh=lambda da, dh, x, h_, *_: np.outer(h_[0], da[0])),
        "counterfactual: only_first sequence of the batch For dW_hh",
        ALL_BUT["dW_hh"],
    ),
    "dW_hh for each row": (
        but(dW_hh=lambda da, dh, x, h_, *_: h_[:, :, None] * da[:, None]),
        "after: sum over axis=-3 missing For dW_hh",
        ALL_BUT["dW_hh"],
    ),
    "db_h as a row": (
        but(db_h=lambda da, *_: da.sum(0, keepdims=True)),
        "after: squeeze of axis=-2 missing For db_h",
        ALL_BUT["db_h"],
    ),
    "db_h summed to one": (but(db_h=lambda da, *_: da.sum()), "after: sum over H For db_h", ALL_BUT["db_h"]),
    "db_h of ones": (but(db_h=lambda da, *_: np.ones(da.shape[1])), None, ALL_BUT["db_h"]),
    "db_h negative": (but(db_h=lambda da, *_: -da.sum(0)), "sign For db_h", ALL_BUT["db_h"]),
    "dx_t float32": (
        but(dx_t=lambda da, dh, x, h_, h, W, U: (da @ W.T).astype("f4")),
        "float32 For dx_t",
        ALL_BUT["dx_t"],
    ),
    "all negative": (lambda **k: tuple(-g for g in step(**k)), "sign", ()),
    "all doubled": (lambda **k: tuple(2 * g for g in step(**k)), "constant_factor", ()),
    "all float32": (lambda **k: tuple(g.astype("f4") for g in step(**k)), "float32", ()),
    "another order": (lambda **k: tuple(step(**k)[i] for i in (2, 3, 4, 0, 1)), "order", ()),
    "dW before dx, square": (lambda **k: tuple(step(**k)[i] for i in (1, 0, 3, 2, 4)), "order", {"db_h"}),
    "four results": (lambda **k: step(**k)[:4], None, ()),
    "a dict": (lambda **k: dict(zip("abcde", step(**k), strict=True)), None, ()),
    "the forward step": (lambda dh_t, x_t, h_prev, h_t, W_xh, W_hh: np.tanh(x_t @ W_xh + h_prev @ W_hh), None, ()),
}


@for_each("name", WRONG_STEPS)
def test_a_nearly_right_step(name):
    fails("rnn_step_backward", *WRONG_STEPS[name])


# rnn_backward --------------------------------------------------------------------------------------------------------


def walk(dh, x, h_0, h, W_xh, W_hh, *, da=None, back=None, prev=None, gather=None):
    """The right walk, with hooks for da, for what is handed back, for the state before and for each step's weight."""
    dx, dh_next = np.zeros(x.shape), np.zeros(h_0.shape)
    dW_xh, dW_hh, db_h = np.zeros(W_xh.shape), np.zeros(W_hh.shape), np.zeros(len(W_hh))
    for t in reversed(range(x.shape[1])):
        h_prev = prev(t, h, h_0) if prev else (h[:, t - 1] if t else h_0)
        total = dh[:, t] + dh_next
        da_t = da(t, dh, dh_next, h, h_0) if da else total * (1 - h[:, t] ** 2)
        dx[:, t] = da_t @ W_xh.T
        weight = gather(t, x.shape[1]) if gather else 1
        dW_xh, dW_hh, db_h = (
            dW_xh + weight * x[:, t].T @ da_t,
            dW_hh + weight * h_prev.T @ da_t,
            db_h + weight * da_t.sum(axis=0),
        )
        dh_next = back(t, da_t, total, W_hh, x.shape[1]) if back else da_t @ W_hh.T
    return dx, dh_next, dW_xh, dW_hh, db_h


def hooked(**hooks):
    return lambda **inputs: walk(**inputs, **hooks)


def replaced(**changes):
    """The right results with some replaced by functions of (that result, the inputs)."""
    order = ("dx", "dh_0", "dW_xh", "dW_hh", "db_h")

    def student(dh, x, h_0, h, W_xh, W_hh):
        results = dict(zip(order, walk(dh, x, h_0, h, W_xh, W_hh), strict=True))
        inputs = {"dh": dh, "x": x, "h_0": h_0, "h": h, "W_xh": W_xh, "W_hh": W_hh}
        for name, change in changes.items():
            results[name] = change(results[name], inputs)
        return tuple(results.values())

    return student


def mixed(student, *names):
    """The right results, but these from a wrong function."""
    order = ("dx", "dh_0", "dW_xh", "dW_hh", "db_h")

    def both(**inputs):
        right, wrong = walk(**inputs), student(**inputs)
        return tuple(w if name in names else r for name, r, w in zip(order, right, wrong, strict=True))

    return both


def truncated(steps):
    """The gradient crosses a cut after every so many steps no more."""
    return hooked(back=lambda t, da, total, U, T: da @ U.T * (t % steps != 0))


def last_step_alone(dh, x, h_0, h, W_xh, W_hh):
    """All five of the last step alone; dh_0 as if the last step were the first."""
    da = dh[:, -1] * (1 - h[:, -1] ** 2)
    dx = np.zeros(x.shape)
    dx[:, -1] = da @ W_xh.T
    h_prev = h[:, -2] if x.shape[1] > 1 else h_0
    return dx, da @ W_hh.T, x[:, -1].T @ da, h_prev.T @ da, da.sum(axis=0)


def dh_zeroed(dh, x, h_0, h, W_xh, W_hh):
    results = walk(dh, x, h_0, h, W_xh, W_hh)
    dh[:, :-1] = 0
    return results


REST = {n: {"dx", "dh_0", "dW_xh", "dW_hh", "db_h"} - {n} for n in ("dx", "dh_0", "dW_xh", "dW_hh", "db_h")}


def hooked_sum(**inputs):
    """What comes back is added to what came back before, as the gradients of the weights are."""
    so_far = np.zeros(inputs["h_0"].shape)

    def back(t, da, total, U, T):
        nonlocal so_far
        so_far = so_far + da @ U.T
        return so_far

    return hooked(back=back)(**inputs)


WRONG_WALKS = {
    # some results, each with a mistake that the spec knows of all
    # two mistakes at once
    "something in dx, dh_0 negative": (
        replaced(dx=lambda g, i: g + 1, dh_0=lambda g, i: -g),
        "sign For dh_0",
        {"dW_xh", "dW_hh", "db_h"},
    ),
    "something in dx, dW_xh and dW_hh transposed": (
        replaced(dx=lambda g, i: g + 1, dW_xh=lambda g, i: g.T, dW_hh=lambda g, i: g.T),
        "weight_gradients_transposed For dW_xh and dW_hh",
        {"dh_0", "db_h"},
    ),
    # slips in the walk
    "the future adds up, in dx alone": (mixed(hooked_sum, "dx"), "dh_next_accumulated For dx", REST["dx"]),
    "dW_hh from da turned": (
        replaced(dW_hh=lambda g, i: g.T.copy()),
        "weight_gradients_transposed For dW_hh",
        REST["dW_hh"],
    ),
    "the last dh for dh_0": (replaced(dh_0=lambda g, i: i["dh"][:, -1].copy()), None, REST["dh_0"]),
    "dW_xh from the input after": (
        replaced(dW_xh=lambda g, i: walk(**{**i, "x": np.roll(i["x"], -1, axis=1)})[2]),
        "counterfactual: early x",
        REST["dW_xh"],
    ),
    # what nothing here knows
    "truncated at two": (truncated(2), None, ()),
    "truncated at three": (truncated(3), None, ()),
    "the last step alone": (last_step_alone, "last_step_only For dW_xh, dW_hh and db_h", ()),
    "the future twice": (hooked(back=lambda t, da, total, U, T: 2 * da @ U.T), "counterfactual: doubled W_hh", ()),
    "the future halved": (hooked(back=lambda t, da, total, U, T: da @ U.T / 2), None, ()),
    "the future subtracted": (hooked(back=lambda t, da, total, U, T: -da @ U.T), "counterfactual: negated W_hh", ()),
    "the future clipped": (hooked(back=lambda t, da, total, U, T: (da @ U.T).clip(-0.05, 0.05)), None, ()),
    "slope squared": (hooked(da=lambda t, dh, n, h, h_0: (dh[:, t] + n) * (1 - h[:, t] ** 2) ** 2), None, ()),
    "slope of the first state": (
        hooked(da=lambda t, dh, n, h, h_0: (dh[:, t] + n) * (1 - h[:, 0] ** 2)),
        "counterfactual: first_step h For dx, dh_0, dW_xh and db_h",
        (),
    ),
    "W_hh squared": (hooked(back=lambda t, da, total, U, T: da @ U.T @ U.T), None, ()),
    "W_hh transposed at odd steps": (hooked(back=lambda t, da, total, U, T: da @ (U if t % 2 else U.T)), None, None),
    "h_0 at every step": (hooked(prev=lambda t, h, h_0: h_0), None, REST["dW_hh"]),
    "two states before": (hooked(prev=lambda t, h, h_0: h[:, t - 2] if t > 1 else h_0), None, REST["dW_hh"]),
    "the state after": (
        hooked(prev=lambda t, h, h_0: h[:, (t + 1) % h.shape[1]]),
        None,
        REST["dW_hh"],
    ),
    "weights of all but the last step": (hooked(gather=lambda t, T: t < T - 1), None, {"dx", "dh_0"}),
    "weights with a discount": (hooked(gather=lambda t, T: 0.9 ** (T - 1 - t)), None, {"dx", "dh_0"}),
    "dh_0 summed over the batch": (
        replaced(dh_0=lambda g, i: g.sum(axis=0)),
        "after: sum over B For dh_0",
        REST["dh_0"],
    ),
    "dx one step late": (replaced(dx=lambda g, i: np.roll(g, 1, axis=1)), "one_step_late For dx", REST["dx"]),
    "dx with zeros in front": (
        replaced(dx=lambda g, i: np.concatenate([0 * g[:, :1], g[:, :-1]], axis=1)),
        "one_step_late For dx",
        REST["dx"],
    ),
    "dx accumulated": (replaced(dx=lambda g, i: g[:, ::-1].cumsum(axis=1)[:, ::-1]), None, REST["dx"]),
    "dx time first": (replaced(dx=lambda g, i: g.swapaxes(0, 1)), "after: axes B and T exchanged For dx", REST["dx"]),
    "db_h negative": (replaced(db_h=lambda g, i: -g), "sign For db_h", REST["db_h"]),
    "dW_hh divided by T": (replaced(dW_hh=lambda g, i: g / i["x"].shape[1]), "averaged For dW_hh", REST["dW_hh"]),
    "dW_hh divided by H": (replaced(dW_hh=lambda g, i: g / len(g)), "averaged For dW_hh", REST["dW_hh"]),
    "all clipped": (lambda **k: tuple(g.clip(-0.1, 0.1) for g in walk(**k)), "cut_off", ()),
    "all float32": (lambda **k: tuple(g.astype("f4") for g in walk(**k)), "float32", ()),
    "four results": (lambda **k: walk(**k)[1:], None, ()),
    "dh changed behind its back": (dh_zeroed, None, ()),
}


@for_each("name", WRONG_WALKS)
def test_a_nearly_right_walk(name):
    fails("rnn_backward", *WRONG_WALKS[name])


# embedding_backward --------------------------------------------------------------------------------------------------

EMBEDDING = ("de", "ids", "vocab_size")


def scattered(de, ids, V):
    dE = np.zeros((V, de.shape[2]))
    np.add.at(dE, ids, de)
    return dE


def largest_kept(de, ids, V):
    dE = np.full((V, de.shape[2]), -np.inf)
    np.maximum.at(dE, ids, de)
    return np.where(np.isinf(dE), 0, dE)


def in_every_other_row(de, ids, V):
    dE = scattered(de, ids, V)
    dE[1::2] = 0
    return dE


def ids_wrap(de, ids, V):
    return scattered(de, (ids + 1) % V, V)


def batch_mixed_up(de, ids, V):
    return scattered(de.swapaxes(0, 1).reshape(de.shape), ids, V)


def written_once(de, ids, V):
    dE = np.zeros((V, de.shape[-1]))
    dE[ids] = de
    return dE


ONCE = {"distinct ids"}

WRONG_TABLES = {
    "largest kept": (largest_kept, None, ONCE),
    "multiplied by the count": (
        lambda de, ids, V: scattered(de, ids, V) * np.bincount(ids.ravel(), minlength=V)[:, None],
        None,
        ONCE,
    ),
    "root of the count": (
        lambda de, ids, V: scattered(de, ids, V) / np.sqrt(np.bincount(ids.ravel(), minlength=V)[:, None].clip(1)),
        None,
        ONCE,
    ),
    "counts": (lambda de, ids, V: scattered(np.ones(de.shape), ids, V), "counterfactual: ones de", ()),
    "every id by one": (ids_wrap, "after: shifted along V", ()),
    "batch and time mixed up": (batch_mixed_up, "counterfactual: mixed de | mixed ids", ()),
    "rows reversed": (lambda de, ids, V: scattered(de, ids, V)[::-1], "after: reversed along V", ()),
    "some rows zero": (in_every_other_row, "never_filled", ()),
    "the last sequence only": (
        lambda de, ids, V: scattered(de[-1:], ids[-1:], V),
        "counterfactual: only_last sequence of the batch",
        (),
    ),
    "the first sequence only, repeated ids lost": (lambda de, ids, V: written_once(de[0], ids[0], V), None, ()),
    "the last step only": (
        lambda de, ids, V: scattered(de[:, -1:], ids[:, -1:], V),
        "counterfactual: only_last time step",
        (),
    ),
    "sum over all places": (lambda de, ids, V: np.broadcast_to(de.sum(axis=(0, 1)), (V, de.shape[2])), None, ()),
    "one row more": (lambda de, ids, V: scattered(de, ids, V + 1), "counterfactual: more vocab_size", ()),
    "transposed": (lambda de, ids, V: scattered(de, ids, V).T, "transposed", ()),
    "negative": (lambda de, ids, V: -scattered(de, ids, V), "sign", ()),
    "doubled": (lambda de, ids, V: 2 * scattered(de, ids, V), "constant_factor", ()),
    "divided by V": (lambda de, ids, V: scattered(de, ids, V) / V, "averaged", ()),
    "float32": (lambda de, ids, V: scattered(de, ids, V).astype("f4"), "float32", ()),
    "a dict": (lambda de, ids, V: dict(enumerate(scattered(de, ids, V).tolist())), None, ()),
    "the copies themselves": (lambda de, ids, V: de, "after: is de", ()),
}


@for_each("name", WRONG_TABLES)
def test_a_nearly_right_table(name):
    function, allowed, keeps = WRONG_TABLES[name]
    fails("embedding_backward", named(function, *EMBEDDING), allowed, keeps)


# Right, in other ways ------------------------------------------------------------------------------------------------


def autograd_logits(logits, targets):
    z = torch.from_numpy(logits).requires_grad_()
    (-torch.log_softmax(z, 2).gather(2, torch.from_numpy(targets)[..., None]).mean()).backward()
    return z.grad.numpy()


def through_the_softmax_jacobian(logits, targets):
    d = np.empty(logits.shape)
    for place in np.ndindex(targets.shape):
        q = p(logits[place])
        with np.errstate(all="ignore"):
            jacobian = np.diag(q) - np.outer(q, q)
            d_q = np.zeros(q.shape)
            d_q[targets[place]] = -1 / q[targets[place]] if q[targets[place]] > 1e-300 else 0
        by_hand = q.copy()
        by_hand[targets[place]] -= 1
        d[place] = jacobian @ d_q if q[targets[place]] > 1e-3 else by_hand
    return d / targets.size


def along_the_last_axis(logits, targets):
    dlogits, at = p(logits), targets[..., None]
    np.put_along_axis(dlogits, at, np.take_along_axis(dlogits, at, axis=-1) - 1, axis=-1)
    return dlogits / targets.size


def number_by_number(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    before, weights = np.hstack([x_t, h_prev]), np.vstack([W_xh, W_hh])
    back, dW, db_h = np.zeros(before.shape), np.zeros(weights.shape), np.zeros(len(W_hh))
    for b, j in np.ndindex(h_t.shape):
        da = dh_t[b, j] * (1 - h_t[b, j] ** 2)
        db_h[j] += da
        for i in range(len(weights)):
            back[b, i] += da * weights[i, j]
            dW[i, j] += da * before[b, i]
    D = len(W_xh)
    return back[:, :D], back[:, D:], dW[:D], dW[D:], db_h


def numbers_to_begin_with(dh, x, h_0, h, W_xh, W_hh):
    """Sums that start as the number 0, a list that is filled from the front."""
    states, dW_xh, dW_hh, db_h, back, dx = [h_0, *np.moveaxis(h, 1, 0)], 0, 0, 0, 0, []
    for t in range(h.shape[1])[::-1]:
        da = (dh[:, t] + back) * (1 - states[t + 1] ** 2)
        dx.insert(0, da.dot(W_xh.T))
        dW_xh, dW_hh, db_h = dW_xh + x[:, t].T.dot(da), dW_hh + states[t].T.dot(da), db_h + da.sum(0)
        back = da.dot(W_hh.T)
    return np.stack(dx, axis=1), back, dW_xh, dW_hh, db_h


def row_by_row(dh, x, h_0, h, W_xh, W_hh):
    """One sequence after the other, with vectors, outer products and `@` from the left."""
    dx, dh_0 = np.empty_like(x), np.empty_like(h_0)
    dW_xh, dW_hh, db_h = np.zeros_like(W_xh), np.zeros_like(W_hh), np.zeros(len(W_hh))
    for b in range(len(x)):
        back = np.zeros(len(W_hh))
        for t in range(x.shape[1] - 1, -1, -1):
            da = (dh[b, t] + back) * (1 - h[b, t] ** 2)
            dx[b, t], back = W_xh @ da, W_hh @ da
            dW_xh += np.outer(x[b, t], da)
            dW_hh += np.outer(h[b, t - 1] if t else h_0[b], da)
            db_h += da
        dh_0[b] = back
    return dx, dh_0, dW_xh, dW_hh, db_h


def gradient_of_every_state(dh, x, h_0, h, W_xh, W_hh):
    """'Add, never set', with an accumulator for each state: there it is right."""
    g, states = np.concatenate([0 * h_0[:, None], dh], axis=1), np.concatenate([h_0[:, None], h], axis=1)
    da = np.zeros(h.shape)
    for t in reversed(range(x.shape[1])):
        da[:, t] += g[:, t + 1] * (1 - states[:, t + 1] ** 2)
        g[:, t] += da[:, t] @ W_hh.T
    dW_xh, dW_hh = (np.einsum("bti,btj->ij", a, da) for a in (x, states[:, :-1]))
    return da @ W_xh.T, g[:, 0], dW_xh, dW_hh, da.sum(axis=(0, 1))


def by_recursion(dh, x, h_0, h, W_xh, W_hh):
    def walk(t, back):
        if t < 0:
            return [], back, 0 * W_xh, 0 * W_hh, 0 * W_hh[0]
        da = (dh[:, t] + back) * (1 - h[:, t] ** 2)
        dx, dh_0, dW_xh, dW_hh, db_h = walk(t - 1, da @ W_hh.T)
        prev = h[:, t - 1] if t else h_0
        return [*dx, da @ W_xh.T], dh_0, dW_xh + x[:, t].T @ da, dW_hh + prev.T @ da, db_h + da.sum(axis=0)

    dx, *others = walk(h.shape[1] - 1, np.zeros_like(h_0))
    return np.array(dx).transpose(1, 0, 2), *others


RIGHT_LOGITS = {
    "both parts divided": lambda z, y: softmax_given(z) / (y.shape[0] * y.shape[1]) - came(z, y) / y.size,
    "/ B / T": lambda z, y: (softmax_given(z) - came(z, y)) / y.shape[0] / y.shape[1],
    "a copy in place": lambda z, y: largest_taken_away_in_place(z.copy(), y),
    "along the last axis": along_the_last_axis,
    "autograd": autograd_logits,
    "the softmax's Jacobian, where it can be": through_the_softmax_jacobian,
    "two divisions": lambda z, y: p(z) / y.size - came(z, y) / y.size,
    "mean of means": lambda z, y: (p(z) - came(z, y)) / len(z) / z.shape[1],
    "sigmoid of differences": lambda z, y: (
        (1 / np.exp(z[..., None, :] - z[..., None]).clip(None, 1e300).sum(axis=3) - came(z, y)) / y.size
    ),
    "where": lambda z, y: np.where(np.arange(z.shape[2]) == y[..., None], p(z) - 1, p(z)) / y.size,
    "longdouble": lambda z, y: right_logits(z.astype(np.longdouble), y).astype(float),
    "Fortran order": lambda z, y: np.asfortranarray(right_logits(z, y)),
    "a view": lambda z, y: np.stack([right_logits(z, y)] * 2)[1],
}
RIGHT_STEPS = {
    "number by number": number_by_number,
    "np.dot": lambda **k: tuple(np.ascontiguousarray(g) for g in step(**k)),
    "a list": lambda **k: list(step(**k)),
    "product of two factors": slope(lambda dh, h_, h: (1 - h) * (1 + h) * dh),
    "cosh": slope(lambda dh, h_, h: dh / np.cosh(np.arctanh(h)) ** 2),
    "dh minus its square part": slope(lambda dh, h_, h: dh - dh * h * h),
    "outer products": but(dW_xh=lambda da, dh, x, *_: sum(np.outer(a, b) for a, b in zip(x, da, strict=True))),
    "bias by a product": but(db_h=lambda da, *_: np.ones(len(da)) @ da),
    "bias by einsum": but(db_h=lambda da, *_: np.einsum("bh->h", da)),
    "columns": but(dh_prev=lambda da, dh, x, h_, h, W, U: (U @ da.T).T),
    "read-only": lambda **k: tuple(np.broadcast_to(g, g.shape) for g in step(**k)),
    "partial": functools.partial(step, da_t=None),
}
RIGHT_WALKS = {
    "numbers to begin with": numbers_to_begin_with,
    "row by row": row_by_row,
    "by recursion": by_recursion,
    "as it is": hooked(),
    "a list": lambda **k: list(walk(**k)),
    "two factors": hooked(da=lambda t, dh, n, h, h_0: (dh[:, t] + n) * (1 - h[:, t]) * (1 + h[:, t])),
    "both sources through the slope": hooked(
        da=lambda t, dh, n, h, h_0: dh[:, t] * (1 - h[:, t] ** 2) + n * (1 - h[:, t] ** 2)
    ),
    "h_0 in front": hooked(prev=lambda t, h, h_0: np.concatenate([h_0[:, None], h], axis=1)[:, t]),
    "a copy of dh changed": lambda dh, **k: walk(dh=np.array(dh), **k),
    "one gradient for each state, added to": gradient_of_every_state,
    "time turned twice": replaced(dx=lambda g, i: np.ascontiguousarray(g[:, ::-1])[:, ::-1]),
}
RIGHT_TABLES = {
    "np.bincount": lambda de, ids, V: np.stack(
        [np.bincount(ids.ravel(), weights=de[..., d].ravel(), minlength=V) for d in range(de.shape[2])], axis=1
    ),
    "einsum": lambda de, ids, V: np.einsum("btv,btd->vd", np.eye(V)[ids], de),
    "masks": lambda de, ids, V: np.array([de[ids == v].sum(axis=0) for v in range(V)]),
    "bool products": lambda de, ids, V: np.stack([(ids == v).ravel() @ de.reshape(-1, de.shape[2]) for v in range(V)]),
    "sorted": lambda de, ids, V: scattered(
        de.reshape(-1, 1, de.shape[2])[np.argsort(ids.ravel())], np.sort(ids.ravel())[:, None], V
    ),
    "a dict on the way": lambda de, ids, V: np.array(
        [
            sum((de[i] for i in np.argwhere(ids == v).tolist() for i in [tuple(i)]), np.zeros(de.shape[2]))
            for v in range(V)
        ]
    ),
    "one-hot, three axes": lambda de, ids, V: np.tensordot(np.eye(V)[ids], de, axes=([0, 1], [0, 1])),
    "torch": lambda de, ids, V: (
        torch.zeros(V, de.shape[2], dtype=torch.float64)
        .index_add(0, torch.from_numpy(ids).ravel(), torch.from_numpy(de).reshape(-1, de.shape[2]))
        .numpy()
    ),
}
RIGHT = [
    *(("cross_entropy_backward", name, named(f, "logits", "targets")) for name, f in RIGHT_LOGITS.items()),
    *(("rnn_step_backward", name, f) for name, f in RIGHT_STEPS.items()),
    *(("rnn_backward", name, f) for name, f in RIGHT_WALKS.items()),
    *(("embedding_backward", name, named(f, *EMBEDDING)) for name, f in RIGHT_TABLES.items()),
]


@for_each(("exercise_id", "name", "function"), RIGHT)
def test_a_right_one_passes_however_it_is_written(exercise_id, name, function):
    passes(exercise_id, function)
