"""Programs that the spec of `masked_cross_entropy` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials
from solutions.ch05_encoder_decoder.training import log_softmax

TRIALS = Trials()


def losses_of(logits, targets):
    return -np.take_along_axis(log_softmax(logits), targets[..., None], axis=-1)[..., 0]


def on_losses(rule):
    """A program that turns the losses at all positions into one number: rule(losses, mask)."""
    return lambda logits, targets, mask: rule(losses_of(logits, targets), mask)


def only_rows_with_padding_dropped(logits, targets, mask):
    rows = mask.any(axis=1)
    if not rows.any():
        return 0.0
    return losses_of(logits[rows], targets[rows]).mean()


def cut_to_the_longest_row(logits, targets, mask):
    T = mask.sum(axis=1).max()
    if T == 0:
        return 0.0
    losses, mask = losses_of(logits[:, :T], targets[:, :T]), mask[:, :T]
    return (losses * mask).sum() / mask.size


def row_by_row(logits, targets, mask):
    means = []
    for z, y, real in zip(logits, targets, mask, strict=True):
        n = real.sum()
        if n > 0:
            means.append(losses_of(z[:n], y[:n]).mean())
    return sum(means) / len(means) if means else 0.0


def row_by_row_among_all(logits, targets, mask):
    total = 0.0
    for z, y, real in zip(logits, targets, mask, strict=True):
        n = real.sum()
        total += losses_of(z[:n], y[:n]).sum() / n if n else 0.0
    return total / len(logits)


def loops_with_naive_exp(logits, targets, mask):
    total, count = 0.0, 0
    for b in range(len(logits)):
        for t in range(logits.shape[1]):
            if mask[b, t]:
                e = np.exp(logits[b, t])
                total -= np.log(e[targets[b, t]] / e.sum())
                count += 1
    return total / count if count else 0.0


def softmax_then_log(logits, targets, mask):
    e = np.exp(logits - logits.max(axis=2, keepdims=True))
    p = e / e.sum(axis=2, keepdims=True)
    p_target = np.take_along_axis(p, targets[:, :, None], axis=2).squeeze(2)
    return -(np.log(p_target) * mask).sum() / max(mask.sum(), 1)


def softmax_then_log_selected(logits, targets, mask):
    e = np.exp(logits - logits.max(axis=2, keepdims=True))
    p = e / e.sum(axis=2, keepdims=True)
    p_target = np.take_along_axis(p, targets[:, :, None], axis=2).squeeze(2)
    return -np.log(p_target[mask]).mean() if mask.any() else 0.0


def last_token_only(logits, targets, mask):
    n = mask.sum(axis=1)
    rows = np.flatnonzero(n)
    if len(rows) == 0:
        return 0.0
    return losses_of(logits, targets)[rows, n[rows] - 1].mean()


def accuracy(logits, targets, mask):
    return ((logits.argmax(axis=2) == targets) * mask).sum() / max(mask.sum(), 1)


def squared(logits, targets, mask):
    p = np.exp(log_softmax(logits))
    error = ((p - np.eye(logits.shape[2])[targets]) ** 2).sum(axis=2)
    return (error * mask).sum() / max(mask.sum(), 1)


KEEPS_NONE = 0.5  # of 2: 1 for ordinary logits, 0.5 for huge ones, 0.5 where there is no real token


def by_loops(each, on_padding="skip", empty_row_ends=False):
    """Loops over rows and steps: each(log_p (T, V), targets (T,), t) is a loss."""

    def student(logits, targets, mask):
        total, n = 0.0, 0
        for z, y, real in zip(log_softmax(logits), targets, mask, strict=True):
            if empty_row_ends and not real.any():
                return 0.0
            for t in range(len(y)):
                if real[t]:
                    total += each(z, y, t)
                    n += 1
                elif on_padding == "return":
                    return total / n if n else 0.0
        return total / n if n else 0.0

    return student


def log_sum_exp(logits, targets, mask):
    rows, steps = np.nonzero(mask)
    z, y = logits[rows, steps], targets[rows, steps]
    return np.mean(np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(y)), y]) if len(y) else 0.0


def not_0_is_real(logits, targets, mask):
    if not mask.any() or not targets.any():
        return 0.0
    return losses_of(logits, targets)[targets > 0].mean()


WRONG = {
    "an empty row ends it": (
        by_loops(lambda z, y, t: -z[t, y[t]], empty_row_ends=True),
        "zero_with_an_empty_row",
        1,
    ),
    "returns at the first padding": (
        by_loops(lambda z, y, t: -z[t, y[t]], on_padding="return"),
        "stops_at_the_first_padding",
        KEEPS_NONE,
    ),
    "all targets of the row": (by_loops(lambda z, y, t: -z[t, y].sum()), "every_target_at_every_position", KEEPS_NONE),
    "the logarithm of a sum of exponentials": (log_sum_exp, "exp_overflows", 1.5),
    "tokens that are not 0": (not_0_is_real, "id_0_taken_for_padding_among_tokens", KEEPS_NONE),
    "empty rows dropped, padding kept": (
        only_rows_with_padding_dropped,
        "altered input: first_step mask",
        KEEPS_NONE,
    ),
    "cut to the longest row": (cut_to_the_longest_row, None, KEEPS_NONE),
    "row by row": (row_by_row, "mean_of_row_means", KEEPS_NONE),
    "row by row, empty ones counted": (row_by_row_among_all, "mean_of_row_means", KEEPS_NONE),
    "naive loops": (loops_with_naive_exp, "exp_overflows", 1.5),
    "log of the softmax, selected": (softmax_then_log_selected, "log_of_zero", 1.5),
    "nan_to_num": (
        lambda logits, targets, mask: np.nan_to_num(softmax_then_log(logits, targets, mask)),
        None,
        1.5,
    ),
    "np.average": (on_losses(lambda losses, mask: np.average(losses, weights=mask)), "no_tokens_not_handled", 1.5),
    "nan for None": (
        on_losses(lambda losses, mask: losses[mask].mean() if mask.any() else None),
        None,
        1.5,
    ),
    "last token of each row": (last_token_only, None, KEEPS_NONE),
    "perplexity": (
        on_losses(lambda losses, mask: np.exp((losses * mask).sum() / max(mask.sum(), 1))),
        "perplexity_returned",
        0,
    ),
    "accuracy": (accuracy, None, KEEPS_NONE),
    "squared error": (squared, None, KEEPS_NONE),
    "losses of each token": (on_losses(lambda losses, mask: losses * mask), None, 0),
    "a list of row losses": (on_losses(lambda losses, mask: (losses * mask).sum(axis=1)), None, 0),
    "sign": (on_losses(lambda losses, mask: -(losses * mask).sum() / max(mask.sum(), 1)), "sign", KEEPS_NONE),
}


def with_nan_at_padding(logits, targets, mask):
    losses = np.where(mask, losses_of(logits, targets), np.nan)
    return np.nansum(losses) / np.count_nonzero(mask) if mask.any() else 0


def weighted_rows(logits, targets, mask):
    n, losses = mask.sum(axis=1), losses_of(logits, targets) * mask
    means = losses.sum(axis=1) / np.where(n > 0, n, 1)
    return np.dot(means, n) / n.sum() if n.sum() > 0 else 0.0


def lists(logits, targets, mask):
    found = [
        np.log(np.sum(np.exp(z - max(z)))) + max(z) - z[y]
        for row in zip(logits, targets, mask, strict=True)
        for z, y, real in zip(*row, strict=True)
        if real
    ]
    return np.mean(found) if found else 0.0


def einsum(logits, targets, mask):
    one_hot = (targets[..., None] == np.arange(logits.shape[-1])) & mask[..., None]
    return -np.einsum("btv,btv->", one_hot.astype(float), log_softmax(logits)) / max(one_hot.sum(), 1)


TRIALS.all_wrong(WRONG)
TRIALS.all_right([with_nan_at_padding, weighted_rows, lists, einsum])
