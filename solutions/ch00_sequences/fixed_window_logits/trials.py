"""Programs that the spec of `fixed_window_logits` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials
from solutions.ch00_sequences.window import fixed_window_logits

TRIALS = Trials()


def softmax(z, axis=-1):
    e = np.exp(z - z.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@TRIALS.wrong("after: softmax along V")
def probabilities(ids, E, W_1, b_1, W_2, b_2):
    return softmax(fixed_window_logits(ids, E, W_1, b_1, W_2, b_2))


@TRIALS.wrong()
def the_last_id_everywhere(ids, E, W_1, b_1, W_2, b_2):
    x = np.tile(E[ids[:, -1]], ids.shape[1])
    return np.tanh(x @ W_1 + b_1) @ W_2 + b_2


@TRIALS.right
def with_einsum(ids, E, W_1, b_1, W_2, b_2):
    W = W_1.reshape(ids.shape[1], E.shape[1], -1)
    return np.tanh(np.einsum("bnd,ndh->bh", E[ids], W) + b_1) @ W_2 + b_2


def contributions(ids, E, W_1):
    """What each position of the window contributes to the pre-activation, (n, B, H)."""
    return np.einsum("bnd,ndh->nbh", E[ids], W_1.reshape(ids.shape[1], E.shape[1], -1))


@TRIALS.wrong("bias_at_every_position")
def a_bias_for_each(ids, E, W_1, b_1, W_2, b_2):
    return np.tanh((contributions(ids, E, W_1) + b_1).sum(axis=0)) @ W_2 + b_2


@TRIALS.wrong("tanh_at_every_position")
def a_layer_for_each(ids, E, W_1, b_1, W_2, b_2):
    return np.tanh(contributions(ids, E, W_1) + b_1).sum(axis=0) @ W_2 + b_2


@TRIALS.wrong("transposed")
def columns_for_windows(ids, E, W_1, b_1, W_2, b_2):
    return W_2.T @ np.tanh(contributions(ids, E, W_1).sum(axis=0) + b_1).T + b_2[:, None]
