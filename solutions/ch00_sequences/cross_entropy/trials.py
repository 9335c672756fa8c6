"""Programs that the spec of `cross_entropy` does not contain; beside each wrong one is what it is told."""

import math

import numpy as np
import torch

from grader.author.trials import Trials

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
