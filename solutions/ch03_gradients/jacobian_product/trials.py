"""Programs that the spec of `jacobian_product` does not contain; beside each wrong one is what it is told."""

from functools import reduce

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


def J(h, W):
    return np.diag(1 - h**2) @ W.T


def loop(factor=J, rows=lambda k, t: range(k + 1, t + 1), left=True, row=lambda s: s):
    def student(h, W_hh, k, t):
        product = np.eye(h.shape[1])
        for s in rows(k, t):
            J_s = factor(h[row(s)], W_hh)
            product = J_s @ product if left else product @ J_s
        return product

    return student


def from_the_first_factor(h, W_hh, k, t):
    product = J(h[k + 1], W_hh)
    for s in range(k + 2, t + 1):
        product = J(h[s], W_hh) @ product
    return product


right_product = loop()


KT, REST = ("k = t",), ("k < t",)


WRONG = {
    "all rows up to t": (loop(rows=lambda k, t: range(t + 1)), None, ()),
    "reversed, one too many": (loop(rows=lambda k, t: range(k, t + 1), left=False), "no_identity", ()),
    "from the first factor": (from_the_first_factor, "no_identity", REST),
    "reduce without a start": (
        lambda h, W_hh, k, t: reduce(np.matmul, [J(h[s], W_hh) for s in range(t, k, -1)]),
        "no_identity",
        REST,
    ),
    "multi_dot": (lambda h, W_hh, k, t: np.linalg.multi_dot([J(h[s], W_hh) for s in range(t, k, -1)]), None, ()),
    "a power entry by entry": (lambda h, W_hh, k, t: J(h[t], W_hh) ** (t - k), None, ()),
    "the logistic's derivative": (loop(lambda h, W: np.diag(h * (1 - h)) @ W.T), None, KT),
    "the gradient of the sum": (lambda h, W_hh, k, t: right_product(h, W_hh, k, t).sum(0), "after: sum over H", ()),
    "a norm": (lambda h, W_hh, k, t: np.linalg.norm(right_product(h, W_hh, k, t), 2), None, ()),
    "negated": (lambda h, W_hh, k, t: -right_product(h, W_hh, k, t), "sign", ()),
    "a list of factors": (lambda h, W_hh, k, t: [J(h[s], W_hh) for s in range(k + 1, t + 1)], None, ()),
}

TRIALS.all_wrong(WRONG, earns=())
