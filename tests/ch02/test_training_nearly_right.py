"""Work on relative_error, numerical_gradient, truncated_bptt, adagrad_step and train_char_rnn that no spec names.

What is nearly right must fail and get no wrong name: beside each stands the diagnosis that is true of it, where one is.
What is right in another way must pass.
"""

import re
from dataclasses import replace

import numpy as np

from grader.checking.case import Observation
from grader.checking.evaluate import evaluate, observe
from grader.render.text import verdict_text
from tests.conftest import SEEDS, exercise
from tests.loops import for_each
from tests.nearly_right import fails, passes

TRAIN = "train_char_rnn"


# relative_error -------------------------------------------------------------------------------------------------------


def errors(a, b):
    size = np.abs(a) + np.abs(b)
    return np.abs(a - b) / np.where(size > 0, size, 1)


WRONG_ERROR = {
    "the smallest": (lambda a, b: errors(a, b).min(), set()),
    "the median": (lambda a, b: np.median(errors(a, b)), set()),
    "all of them": (errors, {"no_maximum"}),
    "twice": (lambda a, b: 2 * errors(a, b).max(), {"constant_factor"}),
    "of squares": (lambda a, b: ((a - b) ** 2 / np.where(a**2 + b**2 > 0, a**2 + b**2, 1)).max(), set()),
    "absolute where one is zero": (lambda a, b: np.where(a * b, errors(a, b), np.abs(a - b)).max(), set()),
    "nothing where b is zero": (lambda a, b: np.where(b, errors(a, b), 0).max(), set()),
    "nothing where all are close": (lambda a, b: 0.0 if np.allclose(a, b) else errors(a, b).max(), {"zero_if_close"}),
    "one where both are zero": (lambda a, b: 1.0 if (a == b).any() else errors(a, b).max(), set()),
    "as text": (lambda a, b: str(errors(a, b).max()), set()),
    "an array of one": (lambda a, b: errors(a, b).max(keepdims=True), {"after: squeeze missing"}),
    "at the largest difference": (
        lambda a, b: errors(a, b).flat[np.abs(a - b).argmax()],
        {"entry_of_the_largest_difference"},
    ),
    "against their mean": (lambda a, b: 2 * errors(a, b).max(), {"constant_factor"}),
    "the first entry": (lambda a, b: errors(a, b).flat[0], {"one_entry_only"}),
    "of the first row": (lambda a, b: errors(a, b)[0].max(), set()),
    "nan to one": (lambda a, b: np.nan_to_num(np.abs(a - b) / (np.abs(a) + np.abs(b)), nan=1.0).max(), set()),
    "changes a": (lambda a, b: (a.__isub__(b), errors(a + b, b).max())[1], set()),
    "float32": (lambda a, b: errors(a, b).max().astype("f4"), {"float32", "lost_precision"}),
}
RIGHT_ERROR = {
    "a Python float": lambda a, b: float(errors(a, b).max()),
    "a NumPy scalar": lambda a, b: errors(a, b).max(),
    "an array without axes": lambda a, b: np.array(errors(a, b).max()),
    "nan to zero": lambda a, b: np.nan_to_num(np.abs(a - b) / (np.abs(a) + np.abs(b))).max(),
    "nothing to speak of below": lambda a, b: np.max(np.abs(a - b) / np.maximum(np.abs(a) + np.abs(b), 1e-300)),
    "a loop, and perhaps the integer 0": lambda a, b: max(
        abs(x - y) / (abs(x) + abs(y)) if x != y else 0 for x, y in zip(a.flat, b.flat, strict=True)
    ),
    "divide where": lambda a, b: np.divide(
        np.abs(a - b), np.abs(a) + np.abs(b), out=np.zeros_like(a), where=np.abs(a) + np.abs(b) > 0
    ).max(),
    "sorted": lambda a, b: sorted(errors(a, b).ravel())[-1],
    "masked": lambda a, b: (
        float(np.ma.masked_invalid(np.abs(a - b) / (np.abs(a) + np.abs(b))).max(fill_value=0) or 0)
        if (a != b).any()
        else 0
    ),
    "the largest of rows": lambda a, b: max(
        errors(x, y).max() for x, y in zip(np.atleast_1d(a), np.atleast_1d(b), strict=True)
    ),
}


# numerical_gradient ---------------------------------------------------------------------------------------------------


def central(f, theta, eps=1e-5, scale=1.0, entries=None):
    gradient = np.zeros(theta.shape)
    for i in entries or list(np.ndindex(theta.shape)):
        plus, minus = theta.copy(), theta.copy()
        plus[i] += eps * scale
        minus[i] -= eps * scale
        gradient[i] = (f(plus) - f(minus)) / (2 * eps * scale)
    return gradient


def averaged_over_one_side(f, theta, eps=1e-5):
    ahead = central(lambda t: (f(t) + f(theta)) / 2, theta, eps)
    return 2 * ahead + eps


def diagonal_only(f, theta, eps=1e-5):
    return central(f, theta, eps, entries=[i for i in np.ndindex(theta.shape) if len(set(i)) == 1])


def with_nditer(f, theta, eps=1e-5):
    gradient, entries = np.zeros_like(theta), np.nditer(theta, flags=["multi_index"], op_flags=["readwrite"])
    while not entries.finished:
        i = entries.multi_index
        old = theta[i]
        theta[i] = old + eps
        above = f(theta)
        theta[i] = old - eps
        below = f(theta)
        theta[i] = old
        gradient[i] = (above - below) / (2 * eps)
        entries.iternext()
    return gradient


def with_a_backup(f, theta, eps=1e-5):
    gradient, backup = np.zeros_like(theta), theta.copy()
    for i in np.ndindex(*theta.shape):
        theta[i] += eps
        above = f(theta)
        theta[i] -= 2 * eps
        gradient[i] = (above - f(theta)) / (2 * eps)
        theta[...] = backup
    return gradient


def through_a_flat_view(f, theta, eps=1e-5):
    gradient, entries = np.zeros(theta.shape), theta.reshape(-1)
    for i, old in enumerate(entries.tolist()):
        entries[i] = old + eps
        above = f(theta)
        entries[i] = old - eps
        gradient.flat[i] = (above - f(theta)) / eps / 2
        entries[i] = old
    return gradient


def with_one_copy_for_each_side(f, theta, eps=1e-5):
    plus, minus, gradient = theta.copy(), theta.copy(), np.zeros(theta.shape)
    for i in np.ndindex(theta.shape):
        plus[i], minus[i] = theta[i] + eps, theta[i] - eps
        gradient[i] = (f(plus) - f(minus)) / (2 * eps)
        plus[i] = minus[i] = theta[i]
    return gradient


def units(theta, eps):
    return eps * np.eye(theta.size).reshape(-1, *theta.shape)


def relative_steps(f, theta, eps=1e-5):
    def gradient(i):
        up, down = theta.copy(), theta.copy()
        up[i] *= 1 + eps
        down[i] *= 1 - eps
        return (f(up) - f(down)) / (2 * eps)

    return np.array([gradient(i) for i in np.ndindex(theta.shape)]).reshape(theta.shape)


WRONG_GRADIENT = {
    "relative steps": (relative_steps, set()),
    "transposed": (lambda f, theta, eps=1e-5: central(f, theta, eps).T, {"transposed"}),
    "sign": (lambda f, theta, eps=1e-5: -central(f, theta, eps), {"sign"}),
    "half": (lambda f, theta, eps=1e-5: central(f, theta, eps) / 2, {"constant_factor"}),
    "rounded": (lambda f, theta, eps=1e-5: central(f, theta, eps).round(4), {"rounded"}),
    "a tiny eps": (lambda f, theta, eps=1e-5: central(f, theta, 1e-13), set()),
    "a list": (lambda f, theta, eps=1e-5: central(f, theta, eps).tolist(), set()),
    "float32": (lambda f, theta, eps=1e-5: central(f, theta, eps).astype("f4"), {"float32"}),
    "an extra axis": (lambda f, theta, eps=1e-5: central(f, theta, eps)[None], set()),
    "diagonal only": (diagonal_only, set()),
    "plus eps": (averaged_over_one_side, set()),
    "a function of flat arrays": (lambda f, theta, eps=1e-5: central(lambda t: f(t.ravel()), theta, eps), set()),
    "no default": (lambda f, theta, eps: central(f, theta, eps), set()),
}
RIGHT_GRADIENT = {
    "nditer": with_nditer,
    "a backup": with_a_backup,
    "a flat view": through_a_flat_view,
    "two divisions": lambda f, theta, eps=1e-5: central(lambda t: f(t) / eps, theta, eps) * eps,
    "one copy for each side": with_one_copy_for_each_side,
    "f asked by name": lambda f, theta, eps=1e-5: central(lambda t: f(theta=t), theta, eps),
    "from the value itself": lambda f, theta, eps=1e-5: central(lambda t: f(t) - f(theta), theta, eps),
    "a mean of both sides": lambda f, theta, eps=1e-5: np.array(
        [((f(theta + e) - f(theta)) / eps + (f(theta) - f(theta - e)) / eps) / 2 for e in units(theta, eps)]
    ).reshape(theta.shape),
    "Fortran order": lambda f, theta, eps=1e-5: np.asfortranarray(central(f, theta, eps)),
    "into a list": lambda f, theta, eps=1e-5: np.array(
        [(f(theta + e) - f(theta - e)) / (2 * eps) for e in eps * np.eye(theta.size).reshape(-1, *theta.shape)]
    ).reshape(theta.shape),
}


# truncated_bptt -------------------------------------------------------------------------------------------------------


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


WRONG_BPTT = {
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
RIGHT_BPTT = {
    "a list": right_bptt(lambda g, h: list(g)),
    "Fortran order": right_bptt(lambda g, h: tuple(map(np.asfortranarray, g))),
}


# adagrad_step ---------------------------------------------------------------------------------------------------------


def step(rule):
    return lambda theta, grad, cache, lr, eps=1e-8: rule(theta, grad, cache, lr, eps)


def in_place(theta, grad, cache, lr, eps=1e-8):
    cache += grad**2
    theta -= lr * grad / (np.sqrt(cache) + eps)
    return theta, cache


WRONG_STEP = {
    "only the cache in place": (
        step(lambda t, g, c, lr, eps: (t - lr * g / (np.sqrt(c.__iadd__(g**2)) + eps), c)),
        set(),
    ),
    "no lr": (step(lambda t, g, c, lr, eps: (t - g / (np.sqrt(c + g**2) + eps), c + g**2)), {"counterfactual: one lr"}),
    "in place": (in_place, set()),
    "theta alone": (step(lambda t, g, c, lr, eps: t - lr * g / (np.sqrt(c + g**2) + eps)), set()),
    "the other order": (step(lambda t, g, c, lr, eps: (c + g**2, t - lr * g / (np.sqrt(c + g**2) + eps))), {"order"}),
    "root of the cache comes back": (
        step(lambda t, g, c, lr, eps: (t - lr * g / (np.sqrt(c + g**2) + eps), np.sqrt(c + g**2))),
        {"after: square missing For cache"},
    ),
    "sign of the gradient": (step(lambda t, g, c, lr, eps: (t - lr * np.sign(g), c + g**2)), set()),
    "twice the square": (
        step(lambda t, g, c, lr, eps: (t - lr * g / (np.sqrt(c + 2 * g**2) + eps), c + 2 * g**2)),
        set(),
    ),
    "another eps": (step(lambda t, g, c, lr, eps: (t - lr * g / (np.sqrt(c + g**2) + 1e-3), c + g**2)), set()),
    "eps twice": (step(lambda t, g, c, lr, eps: (t - lr * g / (np.sqrt(c + g**2) + 2 * eps), c + g**2)), set()),
    "clipped at ten": (
        step(
            lambda t, g, c, lr, eps: (
                t - lr * g.clip(-10, 10) / (np.sqrt(c + g.clip(-10, 10) ** 2) + eps),
                c + g.clip(-10, 10) ** 2,
            )
        ),
        set(),
    ),
    "the step alone": (
        step(lambda t, g, c, lr, eps: (-lr * g / (np.sqrt(c + g**2) + eps), c + g**2)),
        {"counterfactual: zeros theta"},
    ),
    "lr inside": (step(lambda t, g, c, lr, eps: (t - g / (np.sqrt(c + g**2) / lr + eps), c + g**2)), set()),
}
RIGHT_STEP = {
    "hypot": step(lambda t, g, c, lr, eps: (t - lr * g / (np.hypot(np.sqrt(c), g) + eps), c + g * g)),
    "float_power": step(lambda t, g, c, lr, eps: (t - lr * g / ((c + g**2) ** 0.5 + eps), c + np.float_power(g, 2))),
    "lr below": step(lambda t, g, c, lr, eps: (t - g / ((np.sqrt(c + g**2) + eps) / lr), c + g**2)),
}

# Slips that have a name, as students write them -----------------------------------------------------------------------


def masked(a, b):
    both = (a != 0) * (b != 0)
    a, b = a[both], b[both]
    return (np.abs(a - b) / (np.abs(a) + np.abs(b))).max(initial=0)


def masked_and_empty(a, b):
    both = a * b != 0
    return max(np.abs(a - b)[both] / (np.abs(a) + np.abs(b))[both])


def in_a_loop_unless_one_is_zero(a, b):
    worst = 0.0
    for x, y in zip(a.flat, b.flat, strict=True):
        if x == 0 or y == 0:
            continue
        worst = max(worst, abs(x - y) / (abs(x) + abs(y)))
    return worst


def in_a_loop_above(floor):
    def error(a, b):
        worst = 0.0
        for x, y in zip(a.flat, b.flat, strict=True):
            if abs(x) + abs(y) > floor:
                worst = max(worst, abs(x - y) / (abs(x) + abs(y)))
        return worst

    return error


def a_row_at_a_time(f, theta, eps=1e-5):
    grad = np.zeros_like(theta)
    for i in range(len(theta)):
        old = theta[i]
        theta[i] = old + eps
        f_plus = f(theta)
        theta[i] = old - eps
        f_minus = f(theta)
        grad[i] = (f_plus - f_minus) / (2 * eps)
        theta[i] = old
    return grad


def a_row_of_a_copy(f, theta, eps=1e-5):
    grad = np.zeros_like(theta)
    for i in range(theta.shape[0]):
        up, down = theta.copy(), theta.copy()
        up[i] += eps
        down[i] -= eps
        grad[i] = (f(up) - f(down)) / (2 * eps)
    return grad


def a_fixed_step(h):
    def gradient(f, theta, eps=1e-5):
        grad, theta = np.zeros_like(theta), theta.copy()
        for index in np.ndindex(theta.shape):
            old = theta[index]
            theta[index] = old + h
            above = f(theta)
            theta[index] = old - h
            grad[index] = (above - f(theta)) / (2 * h)
            theta[index] = old
        return grad

    return gradient


def by_chunks(dh, x, h_0, h, W_xh, W_hh, tau, *, before=1, add=True, own=False, counted_from=0):
    dW_xh, dW_hh, db_h = np.zeros_like(W_xh), np.zeros_like(W_hh), np.zeros(W_hh.shape[0])
    dh_next = np.zeros_like(h_0)
    for t in range(x.shape[1] - 1, -1, -1):
        if (t + 1 - counted_from) % tau == 0:
            dh_next = np.zeros_like(h_0)
        at_start = t % tau == 0
        h_prev = (h[:, t - before] if at_start else h[:, t - 1]) if t > 0 else h_0
        h_prev = h[:, t] if own else h_prev
        da = (dh[:, t] + dh_next) * (1 - h[:, t] ** 2)
        if add:
            dW_xh += x[:, t].T @ da
            dW_hh += h_prev.T @ da
            db_h += da.sum(axis=0)
        else:
            dW_xh, dW_hh, db_h = x[:, t].T @ da, h_prev.T @ da, da.sum(axis=0)
        dh_next = da @ W_hh.T
    return dW_xh, dW_hh, db_h


def chunked(**slip):
    return lambda dh, x, h_0, h, W_xh, W_hh, tau: by_chunks(dh, x, h_0, h, W_xh, W_hh, tau, **slip)


def all_zero_at_a_cut(dh, x, h_0, h, W_xh, W_hh, tau):
    da, back = np.zeros_like(h), np.zeros_like(h_0)
    for t in reversed(range(h.shape[1])):
        upstream = np.zeros_like(h_0) if (t + 1) % tau == 0 else dh[:, t] + back
        da[:, t] = upstream * (1 - h[:, t] ** 2)
        back = da[:, t] @ W_hh.T
    before = np.concatenate([h_0[:, None], h[:, :-1]], axis=1)
    return np.einsum("btd,bth->dh", x, da), np.einsum("btg,bth->gh", before, da), da.sum((0, 1))


def clipped_step(c):
    def update(theta, grad, cache, lr, eps=1e-8):
        grad = np.maximum(np.minimum(grad, c), -c)
        new = cache + grad * grad
        return theta - lr * grad / (np.sqrt(new) + eps), new

    return update


NAMED = {
    "relative_error": {
        "b minus a": (lambda a, b: np.nan_to_num((b - a) / (np.abs(a) + np.abs(b))).max(), "sign_kept_in_numerator"),
        "a mask": (masked, "left_out_where_one_is_zero"),
        "a mask that may be empty": (masked_and_empty, "left_out_where_one_is_zero"),
        "a loop with continue": (in_a_loop_unless_one_is_zero, "left_out_where_one_is_zero"),
        "nothing below 1e-10": (in_a_loop_above(1e-10), "floor_in_denominator"),
        "nothing below 1e-12": (in_a_loop_above(1e-12), "floor_in_denominator"),
        "nothing below 1e-30": (in_a_loop_above(1e-30), "floor_in_denominator"),
        "a floor of 1e-12": (
            lambda a, b: (np.abs(a - b) / (np.abs(a) + np.abs(b)).clip(1e-12)).max(),
            "floor_in_denominator",
        ),
        "a floor of 1e-20": (
            lambda a, b: (np.abs(a - b) / (np.abs(a) + np.abs(b)).clip(1e-20)).max(),
            "floor_in_denominator",
        ),
        "the machine's eps": (
            lambda a, b: (np.abs(a - b) / (np.finfo(a.dtype).eps + np.abs(a) + np.abs(b))).max(),
            "floor_in_denominator",
        ),
    },
    "numerical_gradient": {
        "a row and its view": (a_row_at_a_time, "first_axis_only"),
        "a row of a copy": (a_row_of_a_copy, "first_axis_only"),
        "1e-5": (a_fixed_step(1e-5), "eps_not_used"),
        "1e-6": (a_fixed_step(1e-6), "eps_not_used"),
        "half a step": (lambda f, theta, eps=1e-5: central(f, theta, eps, 0.5), "eps_not_used"),
        "a short step, however long": (lambda f, theta, eps=1e-5: central(f, theta, min(eps, 1e-5)), "eps_not_used"),
        "five points": (
            lambda f, theta, eps=1e-5: 4 / 3 * central(f, theta, eps) - 1 / 3 * central(f, theta, 2 * eps),
            "eps_not_used",
        ),
    },
    "truncated_bptt": {
        "as the page counts": (chunked(counted_from=1), "cuts_one_step_off"),
        "the chunk's own first state": (chunked(before=0), "state_reset_at_cuts"),
        "the state that was made": (chunked(own=True), "dW_hh_from_h_t"),
        "= for +=": (chunked(add=False), "overwritten"),
        "all zero at a cut": (all_zero_at_a_cut, "dh_dropped_at_cuts"),
    },
    "adagrad_step": {
        "eps by heart": (
            step(lambda t, g, c, lr, eps: (t - lr * g / (np.sqrt(c + g * g) + 1e-8), c + g * g)),
            "eps_not_used",
        ),
        "clipped at five": (clipped_step(5), "gradients_clipped"),
        "clipped at one": (clipped_step(1), "gradients_clipped"),
    },
}

WRONG = {
    "relative_error": WRONG_ERROR,
    "numerical_gradient": WRONG_GRADIENT,
    "truncated_bptt": WRONG_BPTT,
    "adagrad_step": WRONG_STEP,
}
RIGHT = {
    "relative_error": RIGHT_ERROR,
    "numerical_gradient": RIGHT_GRADIENT,
    "truncated_bptt": RIGHT_BPTT,
    "adagrad_step": RIGHT_STEP,
}


@for_each(("exercise_id", "name"), [(e, name) for e, wrong in WRONG.items() for name in wrong])
def test_what_is_nearly_right_fails_and_gets_no_wrong_name(exercise_id, name):
    function, true = WRONG[exercise_id][name]
    fails(exercise_id, function, {None, *true})


@for_each(("exercise_id", "name"), [(e, name) for e, named in NAMED.items() for name in named])
def test_a_slip_is_named_however_it_is_written(exercise_id, name):
    function, mistake = NAMED[exercise_id][name]
    fails(exercise_id, function, mistake)


@for_each(("exercise_id", "name"), [(e, name) for e, right in RIGHT.items() for name in right])
def test_what_is_right_in_another_way_passes(exercise_id, name):
    passes(exercise_id, RIGHT[exercise_id][name])


# train_char_rnn -------------------------------------------------------------------------------------------------------


def scripted(seed):
    """The checks without the network, which takes its time."""
    checks = exercise(TRAIN).checks(seed)
    return replace(checks, cases=tuple(case for case in checks.cases if case.kind != "hello"))


def trained(function, seed=0):
    checks, e = scripted(seed), exercise(TRAIN)
    return evaluate(e.place, checks, e.messages.mistakes, observe(checks, function))


def loop(
    ids, vocab_size, hidden_size, seq_length, num_updates, lr, rng, loss_and_grads, *,
    start=None, h_start=None, rule=None, order=None, following=None, result=None, calls=1, more=0, fresh=False,
):  # fmt: skip
    """A loop of a student's own, with one thing as the student will have it."""
    V, H, T = vocab_size, hidden_size, seq_length
    shapes = {"W_xh": (V, H), "W_hh": (H, H), "b_h": (H,), "W_hy": (H, V), "b_y": (V,)}
    start = start or (lambda name, shape: 0.2 * rng.normal(size=shape))
    params = {name: start(name, shape) for name, shape in shapes.items()}
    cache = {name: np.zeros(shape) for name, shape in shapes.items()}
    rule = rule or (lambda t, g, c: (t - lr * g / (np.sqrt(c + g**2) + 1e-8), c + g**2))
    zeros = np.zeros((1, H)) if h_start is None else h_start(H)
    places = order(ids, T) if order else list(range(0, len(ids) - T, T))
    following = following or (lambda ids: ids[1:])
    losses, h = [], zeros
    for k in range(num_updates + more):
        p = places[k % len(places)]
        h = zeros if p == places[0] else h
        if fresh and p == places[0]:
            cache = {name: np.zeros(shape) for name, shape in shapes.items()}
        for _ in range(calls):
            loss, grads, h_next = loss_and_grads(params, ids[p : p + T], following(ids)[p : p + T], h)
        h = h_next
        losses.append(loss)
        for name in params:
            params[name], cache[name] = rule(params[name], grads[name], cache[name])
    return result(np.array(losses), params) if result else (np.array(losses), params)


def training(**changed):
    return lambda **inputs: loop(**inputs, **changed)


def one_number_in_turn(**inputs):
    total = 0.0

    def rule(theta, grad, _):
        nonlocal total
        total += np.sum(grad**2)
        return theta - inputs["lr"] * grad / (np.sqrt(total) + 1e-8), 0

    return loop(**inputs, rule=rule)


def starting(matrix, bias=lambda rng, shape: np.zeros(shape)):
    """A right loop whose weights start in another way: `matrix(rng, shape)` and `bias(rng, shape)`."""

    def train(**inputs):
        def start(name, shape):
            return (matrix if len(shape) > 1 else bias)(inputs["rng"], shape)

        return loop(**inputs, start=start)

    return train


def orthogonal(rng, shape):
    """Orthonormal rows or columns, whichever there are fewer of."""
    q, _ = np.linalg.qr(rng.normal(size=(max(shape), min(shape))))
    return q if shape[0] >= shape[1] else q.T


def quits(**inputs):
    raise RuntimeError


WRONG_LOOPS = {
    "backwards through the text": (training(order=lambda ids, T: list(range(0, len(ids) - T, T))[::-1]), set()),
    "always the first chunk": (training(order=lambda ids, T: [0]), {"always_the_first_chunk"}),
    "slower and slower": (lambda **inputs: loop(**inputs, rule=lambda t, g, c: (t - g / (1 + c), c + 1)), set()),
    "steps of one length": (
        lambda **inputs: loop(**inputs, rule=lambda t, g, c: (t - inputs["lr"] * g / np.linalg.norm(g), c)),
        set(),
    ),
    "a chunk anywhere": (training(order=lambda ids, T: np.random.default_rng(3).permutation(len(ids) - T)), set()),
    "chunks shuffled": (training(order=lambda ids, T: [*range(T, len(ids) - T, T), 0]), set()),
    "h_0 as a vector": (training(h_start=np.zeros), set()),
    "h_0 of ones": (training(h_start=lambda H: np.ones((1, H))), set()),
    "RMSprop": (
        training(rule=lambda t, g, c: (t - 0.1 * g / (np.sqrt(0.9 * c + 0.1 * g**2) + 1e-8), 0.9 * c + 0.1 * g**2)),
        set(),
    ),
    "another learning rate": (training(rule=lambda t, g, c: (t - g / (np.sqrt(c + g**2) + 1e-8), c + g**2)), set()),
    "another eps": (training(rule=lambda t, g, c: (t - 0.1 * g / (np.sqrt(c + g**2) + 1e-3), c + g**2)), set()),
    "losses as a list": (training(result=lambda losses, params: (losses.tolist(), params)), set()),
    "losses in bits": (training(result=lambda losses, params: (losses / np.log(2), params)), set()),
    "the last loss": (training(result=lambda losses, params: (losses[-1], params)), set()),
    "params alone": (training(result=lambda losses, params: params), set()),
    "params as a list": (training(result=lambda losses, params: (losses, list(params.values()))), set()),
    "another key": (training(result=lambda losses, params: (losses, {**params, "h": np.zeros(1)})), set()),
    "nothing": (training(result=lambda losses, params: None), set()),
    "float32 weights": (training(start=lambda name, shape: np.ones(shape, "f4")), set()),
    "biases as rows": (training(start=lambda name, shape: np.ones(shape if len(shape) > 1 else (1, *shape))), set()),
    "nan at the start": (training(start=lambda name, shape: np.full(shape, np.nan)), set()),
    "one update too many": (training(more=1), set()),
    "one update too few": (training(more=-1), set()),
    "no update": (training(more=-100), set()),
    "raises": (quits, set()),
}
NAMED_LOOPS = {
    "as long as all inputs are there": (
        training(order=lambda ids, T: list(range(0, len(ids) - T + 1, T))),
        "last_chunk_kept",
    ),
    "N // T chunks": (training(order=lambda ids, T: [k * T for k in range(len(ids) // T)]), "last_chunk_kept"),
    "N // T chunks, rolled": (
        training(order=lambda ids, T: [k * T for k in range(len(ids) // T)], following=lambda ids: np.roll(ids, -1)),
        "last_chunk_kept",
    ),
    "N // T chunks, and 0 at the end": (
        training(order=lambda ids, T: [k * T for k in range(len(ids) // T)], following=lambda ids: [*ids[1:], 0]),
        "last_chunk_kept",
    ),
    "as long as an id is left": (training(order=lambda ids, T: list(range(0, len(ids), T))), "last_chunk_kept"),
    "as long as an id is left, rolled": (
        training(order=lambda ids, T: list(range(0, len(ids), T)), following=lambda ids: np.roll(ids, -1)),
        "last_chunk_kept",
    ),
    "as long as a target is left": (training(order=lambda ids, T: list(range(0, len(ids) - 1, T))), "last_chunk_kept"),
    "one too few": (
        training(order=lambda ids, T: list(range(0, len(ids) - T - 1, T)) or [0]),
        "full_last_chunk_dropped",
    ),
    "one number, renewed by each array": (one_number_in_turn, "one_cache_for_all"),
    "new caches for each reading": (training(fresh=True), "cache_reset_with_the_text"),
    "eps in the root": (
        lambda **inputs: loop(
            **inputs, rule=lambda t, g, c: (t - inputs["lr"] * g / np.sqrt(c + g**2 + 1e-8), c + g**2)
        ),
        "eps_inside_the_root",
    ),
    "matrices of zeros, random biases": (
        starting(lambda rng, shape: np.zeros(shape), lambda rng, shape: rng.normal(size=shape)),
        "only_biases_random",
    ),
    "matrices of zeros, tiny random biases": (
        starting(lambda rng, shape: np.zeros(shape), lambda rng, shape: 0.01 * rng.normal(size=shape)),
        "only_biases_random",
    ),
    "matrices of zeros, biases by np.random": (
        starting(lambda rng, shape: np.zeros(shape), lambda rng, shape: np.random.normal(size=shape)),
        "only_biases_random",
    ),
    "matrices of one number, random biases": (
        starting(lambda rng, shape: np.full(shape, 0.1), lambda rng, shape: rng.normal(size=shape)),
        "only_biases_random",
    ),
    "W_hh the identity, no other matrix, random biases": (
        lambda **inputs: loop(
            **inputs,
            start=lambda name, shape: (
                inputs["rng"].normal(size=shape) if len(shape) == 1 else np.eye(*shape) * (name == "W_hh")
            ),
        ),
        "only_biases_random",
    ),
    "all zeros": (starting(lambda rng, shape: np.zeros(shape)), "matrices_and_b_h_zero"),
    "all zeros but a random b_y": (
        lambda **inputs: loop(
            **inputs,
            start=lambda name, shape: inputs["rng"].normal(size=shape) if name == "b_y" else np.zeros(shape),
        ),
        "matrices_and_b_h_zero",
    ),
    "matrices of zeros, biases of ones": (
        starting(lambda rng, shape: np.zeros(shape), lambda rng, shape: np.ones(shape)),
        "units_start_alike",
    ),
    "one number everywhere": (
        starting(lambda rng, shape: np.full(shape, 0.1), lambda rng, shape: np.full(shape, 0.1)),
        "units_start_alike",
    ),
    "random numbers of one's own": (
        starting(lambda rng, shape: np.random.default_rng(5).normal(size=shape)),
        "rng_not_used",
    ),
}
RIGHT_LOOPS = {
    "rolled, and no target missing": training(following=lambda ids: np.roll(ids, -1)),
    "as it stands": training(),
    "asked three times": training(calls=3),
    "larger weights": lambda **inputs: loop(**inputs, start=lambda name, shape: inputs["rng"].standard_normal(shape)),
    "biases of zero": lambda **inputs: loop(
        **inputs,
        start=lambda name, shape: inputs["rng"].uniform(-0.1, 0.1, shape) if len(shape) > 1 else np.zeros(shape),
    ),
    "a hundredth": starting(lambda rng, shape: 0.01 * rng.normal(size=shape)),
    "next to nothing": starting(lambda rng, shape: 1e-8 * rng.normal(size=shape)),
    "orthogonal": starting(orthogonal),
    "uniform on one side": starting(lambda rng, shape: rng.uniform(0, 0.1, size=shape)),
    "Xavier, uniform": starting(lambda rng, shape: rng.uniform(-1, 1, size=shape) * np.sqrt(6 / sum(shape))),
    "Xavier, normal": starting(lambda rng, shape: rng.normal(0, np.sqrt(2 / sum(shape)), size=shape)),
    "by the fan in, and the biases too": starting(
        lambda rng, shape: rng.uniform(-1, 1, size=shape) / np.sqrt(shape[0]),
        lambda rng, shape: rng.uniform(-1, 1, size=shape) / np.sqrt(shape[0]),
    ),
    "W_hh the unit matrix": lambda **inputs: loop(
        **inputs,
        start=lambda name, shape: np.eye(*shape) if name == "W_hh" else inputs["rng"].normal(size=shape),
    ),
    "biases of ones": starting(lambda rng, shape: 0.1 * rng.normal(size=shape), lambda rng, shape: np.ones(shape)),
    "W_hy of zeros": lambda **inputs: loop(
        **inputs, start=lambda name, shape: inputs["rng"].normal(size=shape) * (name != "W_hy")
    ),
    "a child of the generator": lambda **inputs: loop(
        **inputs, start=lambda name, shape: inputs["rng"].spawn(1)[0].normal(size=shape)
    ),
    "a list of results": training(result=lambda losses, params: [losses, params]),
}


@for_each("name", WRONG_LOOPS)
def test_a_loop_that_is_nearly_right_fails_and_gets_no_wrong_name(name):
    function, true = WRONG_LOOPS[name]
    for seed in SEEDS:
        verdict = trained(function, seed)
        assert not verdict
        assert verdict.diagnosis is None or verdict.diagnosis.id in true


@for_each("name", NAMED_LOOPS)
def test_a_slip_in_a_loop_is_named_however_it_is_written(name):
    function, mistake = NAMED_LOOPS[name]
    for seed in SEEDS:
        verdict = trained(function, seed)
        assert not verdict
        assert (seed, verdict.diagnosis and verdict.diagnosis.id) == (seed, mistake)


def test_a_chunk_that_lacks_its_last_target_is_shown_with_what_is_missing():
    verdict = trained(NAMED_LOOPS["N // T chunks"][0])
    (problem,) = next(case.problems for case in verdict.cases if case.problems)
    assert re.fullmatch(
        r"chunks: update 3, where the text starts again: inputs = ids\[0:3\], \[\d, \d, \d\], "
        r"targets = ids\[1:4\], \[\d, \d, \d\]; got inputs \[\d, \d, \d\], targets \[\d, \d\]",
        problem.text,
    )


def test_of_two_calls_for_each_update_only_that_is_said():
    def calls_again_after_the_step(loss_and_grads, **inputs):
        def twice(params, *chunk):
            answer = loss_and_grads(params, *chunk)
            loss_and_grads({name: theta + 1 for name, theta in params.items()}, *chunk)
            return answer

        return loop(loss_and_grads=twice, **inputs)

    verdict = trained(calls_again_after_the_step)
    assert not verdict
    assert verdict.diagnosis is None
    (problem,) = verdict.cases[0].problems
    assert problem.text == "4 updates, with one call of `loss_and_grads` each; there were 8 calls"


def test_after_an_update_too_many_the_losses_are_as_many_as_were_asked_for():
    text = verdict_text(trained(training(more=1)))
    assert "4 updates, with one call of `loss_and_grads` each; there were 5 calls" in text
    assert "losses: got (5,), expected (4,), that is (U)" in text


@for_each("name", RIGHT_LOOPS)
def test_a_loop_that_is_right_in_another_way_passes(name):
    for seed in SEEDS:
        verdict = trained(RIGHT_LOOPS[name], seed)
        assert verdict, verdict


def test_hello_is_learnt_from_any_sensible_start():
    for name in ("larger weights", "W_hy of zeros", "a hundredth", "orthogonal", "Xavier, uniform", "biases of ones"):
        assert exercise(TRAIN).verdict(RIGHT_LOOPS[name]).status == "passed"


def test_matrices_of_zeros_cost_the_points_for_the_weights_even_where_hello_is_learnt():
    """With random biases the network learns its word all the same; the matrices were to be random nevertheless."""
    verdict = exercise(TRAIN).verdict(NAMED_LOOPS["matrices of zeros, random biases"][0])
    assert [facet.name for facet in verdict.facets if not facet.earned] == ["weights and losses", "hello"]
    assert {problem.text for case in verdict.cases for problem in case.problems} == {
        "params: matrices that start from small random numbers; W_xh, W_hh and W_hy all start at zero"
    }
    assert verdict.diagnosis.id == "only_biases_random"


def test_a_network_that_does_not_learn_hello_is_told_its_loss():
    def lazy(num_updates, **inputs):
        losses, params = loop(num_updates=min(num_updates, 3) if num_updates == 300 else num_updates, **inputs)
        return np.resize(losses, num_updates), params

    verdict = exercise(TRAIN).verdict(lazy)
    assert [facet.name for facet in verdict.facets if not facet.earned] == ["hello"]
    assert "the loss at the last update: got" in verdict_text(verdict)


JUNK = (None, 3, "text", [], {}, np.zeros((2, 2)), np.array(["a"], dtype=object).tolist(), [[1], [1, 2]], float("nan"))


@for_each("junk", JUNK)
@for_each("name", ["params", "inputs", "targets", "h_0"])
def test_the_judge_bears_whatever_a_call_held(name, junk):
    """What was recorded comes from a student's process: it may be anything."""
    own = exercise(TRAIN).checks(0).own
    for case in exercise(TRAIN).checks(0).cases:
        call = {"params": None, "inputs": np.array([0]), "targets": np.array([0]), "h_0": np.zeros((1, 1)), name: junk}
        for calls in ([call], [call] * case.inputs["num_updates"], [junk, {}, call]):
            for result in (junk, (junk, junk), (np.zeros(case.inputs["num_updates"]), junk)):
                observation = Observation(result=result, calls={"loss_and_grads": calls, "rng": []})
                assert own.judge(case, observation)
                assert not any(
                    match(case, observation)
                    for mistake, match in own.matches.items()
                    if mistake not in ("targets_not_shifted", "state_reset_at_each_chunk", "chunks_one_short")
                )
