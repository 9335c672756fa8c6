"""Programs that the spec of `rnn_step_backward` does not contain; beside each wrong one is what it is told."""

import functools

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


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


WRONG = {
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
        "dW_hh_transposed",
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
    "the sum once more, not squared": (sum_anew(lambda a: a), None, ()),
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
    # the formulas of papers, whose states are columns
    "W_hh in columns, one sequence after another": (
        but(
            dh_prev=lambda da, dh, x, h_, h, W, U: np.array([U.T @ row for row in da]),
            dW_hh=lambda da, dh, x, h_, *_: sum(np.outer(d, s) for d, s in zip(da, h_, strict=True)),
        ),
        "W_hh_as_in_papers",
        {"dx_t", "dW_xh", "db_h"},
    ),
    "dh_prev in columns, one sequence after another": (
        but(dh_prev=lambda da, dh, x, h_, h, W, U: np.stack([np.dot(U.T, row) for row in da])),
        "W_hh_not_transposed",
        ALL_BUT["dh_prev"],
    ),
    "dh_prev is that of the pre-activation before": (
        but(dh_prev=lambda da, dh, x, h_, h, W, U: np.einsum("bj,kj,bk->bk", da, U, 1 - h_ * h_)),
        "slope_of_h_prev_too",
        ALL_BUT["dh_prev"],
    ),
    # what nothing here knows
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
        "altered input: only_first row of the batch For dW_hh",
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


RIGHT = {
    "a list": lambda **k: list(step(**k)),
    "product of two factors": slope(lambda dh, h_, h: (1 - h) * (1 + h) * dh),
    "cosh": slope(lambda dh, h_, h: dh / np.cosh(np.arctanh(h)) ** 2),
    "dh minus its square part": slope(lambda dh, h_, h: dh - dh * h * h),
    "outer products": but(dW_xh=lambda da, dh, x, *_: sum(np.outer(a, b) for a, b in zip(x, da, strict=True))),
    "bias by a product": but(db_h=lambda da, *_: np.ones(len(da)) @ da),
}

TRIALS.all_wrong(WRONG)
TRIALS.all_right(RIGHT)


TRIALS.all_wrong(
    {
        "elementwise": ([("da_t @ W_hh.T", "da_t * W_hh")], None, 0.0),
    }
)
