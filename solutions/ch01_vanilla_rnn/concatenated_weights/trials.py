"""Programs that the spec of `concatenated_weights` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


def block(W_xh, W_hh):
    return np.block([[W_xh], [W_hh], [np.zeros((1, len(W_hh)))]])


def by_shape(W_xh, W_hh):
    both = [W_xh, W_hh] if W_xh.shape != W_hh.shape else [W_hh, W_xh]
    return np.concatenate(both)


def interleaved(W_xh, W_hh):
    order = np.argsort([*range(0, 2 * len(W_xh), 2), *range(1, 2 * len(W_hh), 2)])
    return np.concatenate([W_xh, W_hh])[order]


WRONG = {
    "right only where D is not H": (by_shape, set()),
    "a row for a bias": (block, {"after: all but the last entry along axis=-2 missing"}),
    "rows taken in turn": (interleaved, {"rows_in_another_order"}),
    "rows reversed": (lambda W_xh, W_hh: np.concatenate([W_xh, W_hh])[::-1], {"after: reversed along D + H"}),
    "W_hh subtracted": (lambda W_xh, W_hh: np.concatenate([W_xh, -W_hh]), {"altered input: negated W_hh"}),
    "half of each": (lambda W_xh, W_hh: np.concatenate([W_xh, W_hh]) / 2, {"constant_factor"}),
    "float32": (lambda W_xh, W_hh: np.concatenate([W_xh, W_hh]).astype("f4"), {"float32"}),
    "a vector, though a tidy one": (lambda W_xh, W_hh: np.concatenate([W_xh, W_hh]).T.ravel(), set()),
}

TRIALS.all_wrong(WRONG)
