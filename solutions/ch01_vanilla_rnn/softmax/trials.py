"""Programs that the spec of `softmax` does not contain; beside each wrong one is what it is told."""

import math

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


def log_softmax(z, axis=-1):
    return z - np.logaddexp.reduce(z, axis=axis, keepdims=True)


def p(z, axis=-1):
    return np.exp(log_softmax(z, axis))


def changes_z(z, axis=-1):
    z -= z.max(axis=axis, keepdims=True)
    e = np.exp(z)
    return e / e.sum(axis=axis, keepdims=True)


def second_axis(z, axis=-1):
    return p(z, 1 if z.ndim > 1 else 0)


def keyword_named_otherwise(z, dim=-1):
    return p(z, dim)


def zero_is_false(z, axis=None):
    return p(z, axis if axis else -1)


WRONG = {
    "axis 0 is false": (zero_is_false, {"axis_0_taken_for_none"}),
    "changes z": (changes_z, set()),
    "always the second axis": (second_axis, set()),
    "dim for axis": (keyword_named_otherwise, set()),
    "no default for the axis": (lambda z, axis: p(z, axis), set()),
    "the first axis unless told otherwise": (lambda z, axis=0: p(z, axis), {"left_out"}),
    "a little added to the sum": (lambda z, axis=-1: p(z, axis) / (1 + 1e-8), set()),
    "the sign reversed": (lambda z, axis=-1: p(-z, axis), {"altered input: negated z"}),
    "powers of two": (lambda z, axis=-1: p(z * math.log(2), axis), {"base_2"}),
    "logarithms": (log_softmax, {"after: exponential missing"}),
    "absolute values": (lambda z, axis=-1: np.abs(z) / np.abs(z).sum(axis=axis, keepdims=True), set()),
    "the sum along the axis after": (lambda z, axis=-1: p(z, (axis + 1) % z.ndim), set()),
    "rounded": (lambda z, axis=-1: p(z, axis).round(4), {"rounded"}),
    "float32": (lambda z, axis=-1: p(z, axis).astype("f4"), {"float32"}),
    "float32 inside": (lambda z, axis=-1: p(z.astype("f4"), axis).astype(float), set()),
    "a list": (lambda z, axis=-1: p(z, axis).tolist(), set()),
    "uniform": (lambda z, axis=-1: np.ones(z.shape) / z.shape[axis], {"altered input: zeros z"}),
}


RIGHT = {
    "a shift by a little more": lambda z, axis=-1: p(z - z.max(axis=axis, keepdims=True) - 3.0, axis),
    "long double inside": lambda z, axis=-1: p(z.astype(np.longdouble), axis).astype(float),
}

TRIALS.all_wrong(WRONG)
TRIALS.all_right(RIGHT)
