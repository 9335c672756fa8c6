"""Programs that the spec of `cross_entropy` does not contain; beside each wrong one is what it is told."""

import math

import numpy as np
import torch

from grader.spec.trials import Trials

TRIALS = Trials()


def softmax(z, axis=-1):
    e = np.exp(z - z.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@TRIALS.wrong()
def with_a_larger_number(logits, targets):
    return -np.log(softmax(logits)[range(len(targets)), targets] + 1e-6).mean()


@TRIALS.right
def with_torch(logits, targets):
    log_p = torch.log_softmax(torch.from_numpy(logits), dim=1).numpy()
    return -np.mean([row[y] for row, y in zip(log_p, targets, strict=True)])


@TRIALS.right
def differences(logits, targets):
    """The logits minus that of the target: the loss is the logarithm of the sum of their exponentials."""
    z = logits - logits[np.arange(len(targets)), targets][:, None]
    return np.logaddexp.reduce(z, axis=1).mean()


@TRIALS.right
def diagonal(logits, targets):
    m = logits.max(axis=1)
    return np.mean(m + np.log(np.exp(logits.T - m).sum(axis=0)) - np.diagonal(logits[:, targets]))


def losses(logits, targets):
    """The loss of each prediction."""
    return np.logaddexp.reduce(logits, axis=1) - logits[range(len(targets)), targets]


@TRIALS.wrong("logarithm_missing")
def one_minus_the_probability(logits, targets):
    return np.mean(1 - np.exp(-losses(logits, targets)))


@TRIALS.wrong("most_probable_id_for_the_target")
def certainty(logits, targets):
    return -np.log(softmax(logits).max(axis=1)).mean()


@TRIALS.wrong("one_maximum_for_each_column")
def shifted_by_column(logits, targets):
    exponentials = np.exp(logits - np.amax(logits, axis=0, keepdims=True))
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithms = logits - logits.max(axis=0) - np.log(exponentials.sum(axis=1))[:, None]
    return np.mean([-row[y] for row, y in zip(logarithms, targets, strict=True)])


@TRIALS.wrong("logits_clipped")
def bounded(logits, targets):
    return losses(np.minimum(np.maximum(logits, -500), 500), targets).mean()


@TRIALS.wrong()
def each_id_by_itself(logits, targets):
    hot, p = np.eye(logits.shape[1])[targets], softmax(logits)
    with np.errstate(divide="ignore", invalid="ignore"):
        return -(hot * np.log(p) + (1 - hot) * np.log(1 - p)).sum(axis=1).mean()
