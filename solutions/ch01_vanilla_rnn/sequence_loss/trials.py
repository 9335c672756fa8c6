"""Programs that the spec of `sequence_loss` does not contain; beside each wrong one is what it is told."""

import math

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


def log_softmax(z, axis=-1):
    return z - np.logaddexp.reduce(z, axis=axis, keepdims=True)


def p(z, axis=-1):
    return np.exp(log_softmax(z, axis))


def loss(change):
    """change(log-probabilities of the targets (B, T)) → the result."""

    def student(logits, targets):
        return change(np.take_along_axis(log_softmax(logits), targets[:, :, None], axis=2)[:, :, 0])

    return student


def square(logits, targets):
    return ((p(logits) - np.eye(logits.shape[2])[targets]) ** 2).mean()


def wrong_answers_too(logits, targets):
    q, y = p(logits), np.eye(logits.shape[2])[targets]
    return -(y * np.log(q) + (1 - y) * np.log1p(-q)).sum(axis=2).mean()


def shifted_targets(logits, targets):
    return loss(lambda log_p: -log_p.mean())(logits, np.roll(targets, -1, axis=1))


def changes_the_logits(logits, targets):
    logits -= logits.max(axis=2, keepdims=True)
    return loss(lambda log_p: -log_p.mean())(logits, targets)


def largest_for_the_sum(logits, targets):
    return np.mean([logits[i].max() - logits[i][targets[i]] for i in np.ndindex(targets.shape)])


def likeliest(logits, targets):
    return -log_softmax(logits).max(axis=-1).mean()


def half_in_bits(logits, targets):
    largest = logits.max(axis=-1)
    of_targets = np.take_along_axis(logits, targets[..., None], axis=-1)[..., 0]
    return (np.log2(np.exp(logits - largest[..., None]).sum(axis=-1)) + largest - of_targets).mean()


WRONG = {
    "each token's": (loss(lambda log_p: -log_p), {"after: mean missing"}),
    "each sequence's": (loss(lambda log_p: -log_p.mean(axis=1)), {"after: mean over axis=-1 missing"}),
    "in brackets": (loss(lambda log_p: np.array([-log_p.mean()])), {"after: squeeze of axis=-1 missing"}),
    "a list": (loss(lambda log_p: [-log_p.mean()]), {"after: [0] missing"}),
    "perplexity": (loss(lambda log_p: np.exp(-log_p.mean())), {"after: exponential"}),
    "the probability of it all": (loss(lambda log_p: np.exp(log_p.sum())), set()),
    "decimal logarithms": (loss(lambda log_p: -log_p.mean() / math.log(10)), {"constant_factor"}),
    "over the vocabulary too": (
        lambda logits, targets: -(np.eye(logits.shape[2])[targets] * log_softmax(logits)).mean(),
        {"averaged"},
    ),
    "one token too few": (loss(lambda log_p: -log_p.sum() / max(1, log_p.size - 1)), set()),
    "the first step left out": (loss(lambda log_p: -log_p[:, 1:].mean()), set()),
    "the median": (loss(lambda log_p: -np.median(log_p)), set()),
    "squares": (square, {"squared_error"}),
    "the wrong answers too": (wrong_answers_too, {"binary_cross_entropy"}),
    "the largest logit for the sum": (largest_for_the_sum, {"log_of_the_sum_left_out"}),
    "the likeliest id": (likeliest, {"most_probable_for_the_target"}),
    "half in bits": (half_in_bits, {"in_bits"}),
    "the next target": (shifted_targets, {"altered input: late logits | early targets"}),
    "changes the logits": (changes_the_logits, set()),
    "without a logarithm": (loss(lambda log_p: -np.exp(log_p).mean()), set()),
    "one minus the probability": (loss(lambda log_p: 1 - np.exp(log_p).mean()), {"log_of_p_left_out"}),
    "float32": (loss(lambda log_p: np.float32(-log_p.mean())), {"float32"}),
    "rounded": (loss(lambda log_p: round(float(-log_p.mean()), 4)), {"rounded"}),
    "infinity made a number": (
        lambda logits, targets: float(np.nan_to_num(loss(lambda q: -np.log(np.exp(q)).mean())(logits, targets))),
        set(),
    ),
}


RIGHT = {
    "a Python float": loss(lambda log_p: float(-log_p.mean())),
    "mean of means": loss(lambda log_p: -log_p.mean(axis=1).mean()),
    "exact sum": loss(lambda log_p: -math.fsum(log_p.ravel()) / log_p.size),
    "einsum": lambda logits, targets: (
        -np.einsum("btv,btv->", np.eye(logits.shape[2])[targets], log_softmax(logits)) / targets.size
    ),
}

TRIALS.all_wrong(WRONG)
TRIALS.all_right(RIGHT)
