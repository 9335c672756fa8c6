"""Programs that the spec of `cell_gradient` does not contain; beside each wrong one is what it is told."""

import itertools

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


WRONG = {
    "logarithm": (lambda f, k, t: np.log(f[:, k + 1 : t + 1]).sum(axis=1), None),
    "a difference": (lambda f, k, t: np.cumprod(f, axis=1)[:, t] - np.cumprod(f, axis=1)[:, k], None),
    "geometric mean": (lambda f, k, t: np.prod(f[:, k + 1 : t + 1], axis=1) ** (1 / max(t - k, 1)), None),
    "mean over the batch": (lambda f, k, t: np.prod(f[:, k + 1 : t + 1], axis=1).mean(axis=0), "after: mean over B"),
    "an axis too many": (
        lambda f, k, t: np.prod(f[:, k + 1 : t + 1], axis=1, keepdims=True),
        "after: squeeze of axis=-2 missing",
    ),
    "the first sequence": (lambda f, k, t: np.prod(f[0, k + 1 : t + 1], axis=0), "after: first entry along B"),
    "from the first factor": (
        lambda f, k, t: f[:, k + 1] * np.prod(f[:, k + 2 : t + 1], axis=1),
        "not_one_for_k_equal_t",
    ),
    "negated": (lambda f, k, t: -np.prod(f[:, k + 1 : t + 1], axis=1), "sign"),
    "float32": (lambda f, k, t: np.prod(f[:, k + 1 : t + 1], axis=1).astype("f4"), "float32"),
}


RIGHT = {
    "einsum of logarithms": lambda f, k, t: np.exp(np.einsum("bth->bh", np.log(f[:, k + 1 : t + 1]))),
    "powers of two": lambda f, k, t: 2 ** np.log2(f)[:, k + 1 : t + 1].sum(axis=-2),
}

TRIALS.all_wrong(WRONG)
TRIALS.all_right(RIGHT)
