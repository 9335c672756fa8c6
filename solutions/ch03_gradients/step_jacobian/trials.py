"""Programs that the spec of `step_jacobian` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials, in_order

TRIALS = Trials()


def J(h, W):
    return np.diag(1 - h**2) @ W.T


WRONG = {
    "an outer product": (lambda h, W: np.outer(1 - h**2, W.sum(axis=0)), None),
    "a diagonal of the product": (lambda h, W: np.diag(J(h, W)), None),
    "negated": (lambda h, W: -J(h, W), "sign"),
    "doubled": (lambda h, W: 2 * J(h, W), "constant_factor"),
    "float32": (lambda h, W: J(h, W).astype("f4"), "float32"),
    "the pre-activation squared": (lambda h, W: np.diag(1 - np.arctanh(h) ** 2) @ W.T, None),
    "both diagonals": (lambda h, W: J(h, W) @ np.diag(1 - h**2), None),
    "a residual": (lambda h, W: np.eye(len(h)) + J(h, W), None),
    "relu": (lambda h, W: np.diag(h > 0) @ W.T, None),
    "inverse": (lambda h, W: np.linalg.inv(J(h, W)), None),
    "a vector": (lambda h, W: 1 - h**2, None),
    "changes W_hh": (lambda h, W: W.__imul__(1 - h**2).T, None),
}


RIGHT = {
    "hyperbolic": lambda h, W: (W / np.cosh(np.arctanh(h)) ** 2).T,
}

TRIALS.all_wrong(WRONG, make=in_order("h_t", "W_hh"), earns=())
TRIALS.all_right(RIGHT, make=in_order("h_t", "W_hh"))
