"""Programs for the notebook `window` that no spec contains.

A nearly right program must fail and must not be given a false name: beside each is the diagnosis that is true of it,
or None. A program that is right in another style must pass.
"""

import math

import numpy as np
import pytest
import torch

from solutions.ch00_sequences.window import fixed_window_logits
from tests.loops import for_each
from tests.nearly_right import Programs, fails, passes

PROGRAMS = Programs()
wrong, right = PROGRAMS.wrong, PROGRAMS.right


def softmax(z, axis=-1):
    e = np.exp(z - z.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


# Nearly right --------------------------------------------------------------------------------------------------------


@wrong("cross_entropy", "exp_overflows")
def the_formula(logits, targets):
    p = np.exp(logits) / np.exp(logits).sum(axis=1)[:, None]
    return -np.mean(np.log(p[np.arange(len(p)), targets]))


@wrong("cross_entropy", "log_of_zero")
def stable_softmax(logits, targets):
    p = softmax(logits)
    return -np.mean([math.log(row[y]) if row[y] else -math.inf for row, y in zip(p, targets, strict=True)])


@wrong("cross_entropy", "log_kept_finite")
def with_a_tiny_number(logits, targets):
    return -np.log(softmax(logits)[range(len(targets)), targets] + 1e-12).mean()


@wrong("cross_entropy", None)
def with_a_larger_number(logits, targets):
    return -np.log(softmax(logits)[range(len(targets)), targets] + 1e-6).mean()


@wrong("cross_entropy", "every_target_in_every_row")
def all_targets(logits, targets):
    return np.mean(np.logaddexp.reduce(logits, axis=1, keepdims=True) - logits[:, targets])


@wrong("cross_entropy", "divided_by_all_entries")
def mean_of_a_product(logits, targets):
    log_p = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    return -np.sum(log_p * np.eye(logits.shape[1])[targets]) / logits.size


@wrong("cross_entropy", "sum_for_mean")
def summed(logits, targets):
    log_p = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    return -sum(log_p[i, y] for i, y in enumerate(targets))


@wrong("cross_entropy", "in_bits")
def base_two(logits, targets):
    log_p = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    return -np.take_along_axis(log_p, targets[:, None], 1).mean() / math.log(2)


@wrong("cross_entropy", "softmax_left_out")
def logits_taken_for_log_probabilities(logits, targets):
    return -logits[np.arange(len(targets)), targets].mean()


@wrong("cross_entropy", "mean_of_the_probabilities")
def log_of_the_mean(logits, targets):
    return -np.log(softmax(logits)[np.arange(len(targets)), targets].mean())


@wrong("fixed_window_logits", "embeddings_added")
def embeddings_averaged(ids, E, W_1, b_1, W_2, b_2):
    x = np.tile(E[ids].mean(axis=1), ids.shape[1])
    return np.tanh(x @ W_1 + b_1) @ W_2 + b_2


@wrong("fixed_window_logits", "window_reversed")
def newest_first(ids, E, W_1, b_1, W_2, b_2):
    x = np.hstack([E[ids[:, k]] for k in reversed(range(ids.shape[1]))])
    return np.tanh(x @ W_1 + b_1) @ W_2 + b_2


@wrong("fixed_window_logits", "entries_interleaved")
def stacked_along_the_last_axis(ids, E, W_1, b_1, W_2, b_2):
    x = np.stack([E[column] for column in ids.T], axis=-1).reshape(len(ids), -1)
    return np.tanh(x @ W_1 + b_1) @ W_2 + b_2


@wrong("fixed_window_logits", "rows_of_the_batch_mixed")
def stacked_along_the_first_axis(ids, E, W_1, b_1, W_2, b_2):
    x = np.stack([E[column] for column in ids.T]).reshape(len(ids), -1)
    return np.tanh(x @ W_1 + b_1) @ W_2 + b_2


@wrong("fixed_window_logits", "after: softmax along V")
def probabilities(ids, E, W_1, b_1, W_2, b_2):
    return softmax(fixed_window_logits(ids, E, W_1, b_1, W_2, b_2))


@wrong("fixed_window_logits", "bias_outside_the_tanh")
def parenthesis(ids, E, W_1, b_1, W_2, b_2):
    return (np.tanh(E[ids].reshape(-1, W_1.shape[0]) @ W_1) + b_1) @ W_2 + b_2


@wrong("fixed_window_logits", "another_nonlinearity")
def rectified(ids, E, W_1, b_1, W_2, b_2):
    a = E[ids].reshape(-1, W_1.shape[0]) @ W_1 + b_1
    return (a * (a > 0)) @ W_2 + b_2


@wrong("fixed_window_logits", "tanh_missing")
def linear(ids, E, W_1, b_1, W_2, b_2):
    return (E[ids].reshape(-1, W_1.shape[0]) @ W_1 + b_1) @ W_2 + b_2


@wrong("fixed_window_logits", None)
def the_last_id_everywhere(ids, E, W_1, b_1, W_2, b_2):
    x = np.tile(E[ids[:, -1]], ids.shape[1])
    return np.tanh(x @ W_1 + b_1) @ W_2 + b_2


# Right in another style ----------------------------------------------------------------------------------------------


@right("cross_entropy")
def with_torch(logits, targets):
    log_p = torch.log_softmax(torch.from_numpy(logits), dim=1).numpy()
    return -np.mean([row[y] for row, y in zip(log_p, targets, strict=True)])


@right("cross_entropy")
def differences(logits, targets):
    """The logits minus that of the target: the loss is the logarithm of the sum of their exponentials."""
    z = logits - logits[np.arange(len(targets)), targets][:, None]
    return np.logaddexp.reduce(z, axis=1).mean()


@right("cross_entropy")
def diagonal(logits, targets):
    m = logits.max(axis=1)
    return np.mean(m + np.log(np.exp(logits.T - m).sum(axis=0)) - np.diagonal(logits[:, targets]))


@right("fixed_window_logits")
def with_einsum(ids, E, W_1, b_1, W_2, b_2):
    W = W_1.reshape(ids.shape[1], E.shape[1], -1)
    return np.tanh(np.einsum("bnd,ndh->bh", E[ids], W) + b_1) @ W_2 + b_2


@right("fixed_window_logits")
def with_one_hot_vectors(ids, E, W_1, b_1, W_2, b_2):
    x = (np.eye(len(E))[ids] @ E).reshape(ids.shape[0], ids.shape[1] * E.shape[1])
    return np.matmul(np.tanh(np.matmul(x, W_1) + b_1[None]), W_2) + b_2[None]


@for_each(("exercise_id", "function", "diagnosis"), PROGRAMS.nearly_right)
def test_a_nearly_right_program_fails_and_is_not_given_a_false_name(exercise_id, function, diagnosis):
    fails(exercise_id, function, diagnosis)


@pytest.mark.parametrize(("exercise_id", "function"), PROGRAMS.in_another_style)
def test_a_right_program_passes(exercise_id, function):
    passes(exercise_id, function)
