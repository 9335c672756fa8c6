"""Programs that the spec of `dot_score` does not contain; beside each wrong one is what it is told."""

import math

import numpy as np
import torch

from grader.spec.trials import Trials
from solutions.ch06_attention.scores import dot_score

TRIALS = Trials()


@TRIALS.wrong("after: squeeze of axis=-1 missing")
def an_axis_left(query, keys, scale=False):
    return keys @ query[:, :, None] / (query.shape[1] ** 0.5 if scale else 1)


@TRIALS.wrong("query_of_another_row")
def multiplied_as_they_are(query, keys, scale=False):
    scores = np.sum(query * keys, axis=-1)
    return scores / np.sqrt(keys.shape[-1]) if scale else scores


@TRIALS.wrong("after: softmax along S")
def weights_returned(query, keys, scale=False):
    e = np.exp(dot_score(query, keys, scale))
    return e / e.sum(axis=1, keepdims=True)


@TRIALS.wrong()
def one_over_the_root_of_all_entries(query, keys, scale=False):
    scores = np.einsum("bh,bsh->bs", query, keys)
    return scores / np.sqrt(query.size) if scale else scores


@TRIALS.wrong()
def negative_squared_distance(query, keys, scale=False):
    scores = -((keys - query[:, None]) ** 2).sum(axis=2)
    return scores / np.sqrt(query.shape[1]) if scale else scores


@TRIALS.wrong("all_axes_reversed")
def transposed_without_axes(query, keys, scale=False):
    scores = np.matmul(query, np.transpose(keys))
    return scores / np.sqrt(query.shape[1]) if scale else scores


@TRIALS.right
def with_torch(query, keys, scale=False):
    q, k = torch.from_numpy(query), torch.from_numpy(keys)
    return (k @ q[..., None])[..., 0].mul(q.shape[-1] ** -0.5 if scale else 1).numpy()


@TRIALS.right
def diagonal_of_all_pairs(query, keys, scale=False):
    B = len(query)
    scores = (keys @ query.T)[np.arange(B), :, np.arange(B)]
    return scores / np.linalg.norm(np.ones(query.shape[1])) if scale else scores
