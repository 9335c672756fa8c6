"""Programs that the spec of `additive_score` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


@TRIALS.wrong("query_of_another_row")
def no_axis(query, keys, W_q, W_k, v):
    return np.tanh(keys @ W_k + query @ W_q).dot(v)


@TRIALS.wrong("altered input: zeros query | zeros W_q")
def keys_alone(query, keys, W_q, W_k, v):
    return np.tanh(keys @ W_k) @ v


@TRIALS.right
def loops(query, keys, W_q, W_k, v):
    scores = np.empty(keys.shape[:-1])
    for b, j in np.ndindex(*scores.shape):
        scores[b, j] = v @ np.tanh(W_q.T @ query[b] + W_k.T @ keys[b, j])
    return scores


@TRIALS.right
def tanh_by_exponentials(query, keys, W_q, W_k, v):
    a = np.expand_dims(query @ W_q, 1) + np.matmul(keys, W_k)
    return ((2 / (1 + np.exp(-2 * a)) - 1) * v).sum(-1)
