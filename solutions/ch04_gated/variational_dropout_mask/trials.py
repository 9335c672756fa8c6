"""Programs that the spec of `variational_dropout_mask` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


def kept(rng, batch_size, size, p):
    return rng.random((batch_size, 1, size)) >= p


def some_dropped(rng, batch_size, size, p):
    mask = np.ones((batch_size, 1, size)) / (1 - p)
    for row in mask:
        row[0, rng.choice(size, int(p * size), replace=False)] = 0
    return mask


WRONG = {
    "normal numbers": (lambda rng, batch_size, size, p: rng.normal(1, p, size=(batch_size, 1, size)), None, 0),
    "uniform numbers": (lambda rng, batch_size, size, p: rng.random((batch_size, 1, size)), None, 0),
    "float32": (lambda p, **sizes: (kept(p=p, **sizes) / (1 - p)).astype(np.float32), None, 0),
    "integers": (lambda **inputs: kept(**inputs).astype(int), "not_scaled", 0),
    "a list": (lambda p, **sizes: (kept(p=p, **sizes) / (1 - p)).tolist(), None, 0),
    "square root": (lambda p, **sizes: kept(p=p, **sizes) / np.sqrt(1 - p), None, 1),
    "divided twice": (lambda p, **sizes: kept(p=p, **sizes) / (1 - p) ** 2, None, 1),
    "a number added": (lambda p, **sizes: kept(p=p, **sizes) / (1 - p + 1e-8), None, 1),
    "1 + p": (lambda p, **sizes: kept(p=p, **sizes) * (1 + p), None, 1),
    "one half": (
        lambda rng, batch_size, size, p: rng.integers(0, 2, size=(batch_size, 1, size)) / (1 - p),
        None,
        1,
    ),
    "normal threshold": (
        lambda rng, batch_size, size, p: (rng.normal(size=(batch_size, 1, size)) >= p) / (1 - p),
        "numbers_not_uniform",
        1,
    ),
    "tenths": (
        lambda rng, batch_size, size, p: (rng.integers(0, 10, size=(batch_size, 1, size)) >= int(10 * p)) / (1 - p),
        None,
        1,
    ),
    "a fixed number dropped": (some_dropped, "number_of_zeros_fixed", 1),
    "two masks multiplied": (
        lambda rng, batch_size, size, p: kept(rng, batch_size, 1, p) * kept(rng, 1, size, p) / (1 - p),
        None,
        1,
    ),
    "a seed inside": (
        lambda rng, batch_size, size, p: kept(np.random.default_rng(42), batch_size, size, p) / (1 - p),
        "same_mask_every_time",
        0,
    ),
    "one draw for all calls": (
        lambda rng, batch_size, size, p: (
            kept(np.random.default_rng(int(rng.random() < 0)), batch_size, size, p) / (1 - p)
        ),
        "same_mask_every_time",
        1,
    ),
    "global numbers": (
        lambda rng, batch_size, size, p: (np.random.rand(batch_size, 1, size) >= p) / (1 - p),
        "numbers_not_from_rng",
        0,
    ),
    "both sources": (
        lambda rng, batch_size, size, p: (rng.random((batch_size, 1, size)) + np.random.rand() * 1e-1 >= p) / (1 - p),
        "numbers_not_from_rng",
        0,
    ),
    "nothing dropped": (lambda rng, batch_size, size, p: np.ones((batch_size, 1, size)), None, 0),
    "a mask for each step": (
        lambda rng, batch_size, size, p: (rng.random((batch_size, 7, size)) >= p) / (1 - p),
        None,
        0,
    ),
}


RIGHT = {
    "the other side": lambda rng, batch_size, size, p: (rng.random((batch_size, 1, size)) < 1 - p) / (1 - p),
    "normal numbers at a quantile": lambda rng, batch_size, size, p: np.where(
        rng.exponential(size=(batch_size, 1, size)) < -np.log(1 - p), 0.0, 1 / (1 - p)
    ),
    "transposed and copied": lambda rng, batch_size, size, p: np.ascontiguousarray(
        (rng.random((size, batch_size)) >= p).T[:, None] / (1 - p)
    ),
}

TRIALS.all_wrong(WRONG)
TRIALS.all_right(RIGHT)
