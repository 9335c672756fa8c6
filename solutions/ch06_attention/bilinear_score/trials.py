"""Programs that the spec of `bilinear_score` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials
from solutions.ch06_attention.scores import dot_score

TRIALS = Trials()


@TRIALS.wrong("W_transposed")
def keys_times_W(query, keys, W):
    return ((keys @ W) @ query[:, :, None])[:, :, 0]


@TRIALS.wrong("after: tanh")
def tanh_of_the_score(query, keys, W):
    return np.tanh(dot_score(query @ W, keys))


@TRIALS.wrong()
def W_entry_by_entry(query, keys, W):
    return np.array([[np.outer(q, k).sum() + W.sum() for k in row] for q, row in zip(query, keys, strict=True)])


@TRIALS.wrong("all_axes_reversed")
def transposed_without_axes(query, keys, W):
    return np.matmul(query @ W, keys.transpose())


@TRIALS.right
def matrix_products(query, keys, W):
    return (query[:, None] @ W @ keys.transpose(0, 2, 1))[:, 0]


@TRIALS.right
def sum_over_all_pairs(query, keys, W):
    return (query[:, None, :, None] * W * keys[:, :, None, :]).sum(axis=(2, 3))
