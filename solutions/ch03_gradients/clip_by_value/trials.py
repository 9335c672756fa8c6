"""Programs that the spec of `clip_by_value` does not contain; beside each wrong one is what it is told."""

import math

import numpy as np

from grader.spec.trials import Trials
from solutions.ch03_gradients.clip_by_norm.trials import norm_of, right

TRIALS = Trials()


def each(rule):
    return lambda grads, limit: [rule(g, limit) for g in grads]


def one_mask_overwrites(g, limit):
    clipped = g.copy()
    clipped[g > limit] = limit
    clipped[g < limit] = -limit
    return clipped


WRONG = {
    "signs flipped": (each(lambda g, c: -g.clip(-c, c)), "after: sign"),
    "one mask overwrites": (each(one_mask_overwrites), None),
    "left out": (each(lambda g, c: g[abs(g) <= c]), None),
    "inside set to the limit": (each(lambda g, c: np.where(abs(g) < c, c, g)), None),
    "divided by the limit": (each(lambda g, c: g.clip(-c, c) / c), None),
    "rescaled to the limit": (each(lambda g, c: g / c), None),
    "half the limit": (each(lambda g, c: g.clip(-c / 2, c / 2)), None),
    "by norm, with the norm": (lambda grads, limit: right(grads, limit), None),
    "with the norm": (
        lambda grads, limit: ([g.clip(-limit, limit) for g in grads], norm_of(grads)),
        "norm_returned_too",
    ),
    "tanh alone": (each(lambda g, c: np.tanh(g)), None),
    "nothing": (each(lambda g, c: g), "after: is grads"),
    "only the first": (lambda grads, limit: [grads[0].clip(-limit, limit), *grads[1:]], None),
    "only the first returned": (lambda grads, limit: [grads[0].clip(-limit, limit)], "altered input: first grads"),
    "one vector": (lambda grads, limit: np.concatenate([g.ravel() for g in grads]).clip(-limit, limit), None),
    "rounded": (each(lambda g, c: g.clip(-c, c).round(2)), None),
    "float32": (each(lambda g, c: g.clip(-c, c).astype("f4")), None),
    "lists": (each(lambda g, c: g.clip(-c, c).tolist()), None),
    "whole array compared": (each(lambda g, c: np.sign(g) * c if np.abs(g).max() > c else g), None),
}


RIGHT = {
    "divided by its excess": each(lambda g, c: g / np.maximum(1, abs(g) / c)),
    "difference of absolute values": each(lambda g, c: (abs(g + c) - abs(g - c)) / 2),
}

TRIALS.all_wrong(WRONG, earns=())
TRIALS.all_right(RIGHT)


@TRIALS.wrong("clipped_as_one_array")
def minimum_of_the_list(grads, limit):
    return np.maximum(np.minimum(grads, limit), -limit)
