"""Programs that the spec of `masked_softmax` does not contain; beside each wrong one is what it is told."""

import math

import numpy as np
import torch

from grader.spec.trials import Trials

TRIALS = Trials()


def softmax(scores, axis=-1):
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@TRIALS.wrong("maximum_over_masked_entries")
def masked_and_renormalised(scores, mask):
    weights = softmax(scores) * mask
    return weights / weights.sum(axis=-1, keepdims=True)


@TRIALS.wrong("finite_number_for_minus_infinity")
def minus_a_billion(scores, mask):
    return softmax(np.where(mask, scores, -1e9))


@TRIALS.wrong("finite_number_for_minus_infinity")
def minus_a_billion_added(scores, mask):
    return softmax(scores + (1 - mask) * -1e9)


@TRIALS.wrong("maximum_not_subtracted")
def the_formula(scores, mask):
    e = np.exp(scores) * mask
    return e / e.sum(axis=-1, keepdims=True)


@TRIALS.wrong("over_the_wrong_axis")
def over_axis_1(scores, mask):
    return np.nan_to_num(softmax(np.where(mask, scores, -np.inf), axis=1))


@TRIALS.wrong()
def in_place(scores, mask):
    scores[~mask] = -np.inf
    return np.nan_to_num(softmax(scores))


@TRIALS.wrong("masked_scores_not_low_enough")
def minus_ten_assigned(scores, mask):
    low = scores.copy()
    low[~mask] = -10
    return softmax(low)


@TRIALS.wrong("finite_number_for_minus_infinity")
def minus_a_thousand(scores, mask):
    return softmax(scores - 1000 * ~mask) * mask


@TRIALS.wrong()
def two_axes_only(scores, mask):
    weights = np.zeros(scores.shape)
    B, _ = scores.shape
    for b in range(B):
        if mask[b].any():
            weights[b, mask[b]] = softmax(scores[b, mask[b]])
    return weights


@TRIALS.right
def torch_and_nan_to_num(scores, mask):
    low = torch.from_numpy(scores).masked_fill(~torch.from_numpy(mask), -torch.inf)
    return torch.nan_to_num(torch.softmax(low, dim=-1)).numpy()


@TRIALS.right
def differences(scores, mask):
    below = scores[..., None, :] - scores[..., :, None]  # (…, S, S), of j and i
    ratios = np.where(mask[..., None, :], np.exp(np.minimum(below, 700.0)), 0.0)
    return np.where(mask, 1 / np.maximum(ratios.sum(axis=-1), 1e-300), 0.0)


@TRIALS.right
def recursive(scores, mask):
    if scores.ndim > 1:
        return np.array([recursive(s, m) for s, m in zip(scores, mask, strict=True)])
    largest = max((s for s, m in zip(scores, mask, strict=True) if m), default=0.0)
    e = [math.exp(s - largest) if m else 0.0 for s, m in zip(scores, mask, strict=True)]
    return np.array([each / (sum(e) or 1.0) for each in e])


@TRIALS.right
def with_logarithms(scores, mask):
    low = np.where(mask, scores, -np.inf)
    total = np.logaddexp.reduce(low, axis=-1, keepdims=True)
    return np.where(mask, np.exp(low - np.where(np.isfinite(total), total, 0)), 0)
