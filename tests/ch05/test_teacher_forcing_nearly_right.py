"""Work on the exercises of `training` as students write it: what is nearly right must fail and get no wrong name, what
is right in another way must pass.
"""

import numpy as np
import pytest

from solutions.ch05_encoder_decoder.training import log_softmax
from tests.loops import for_each
from tests.nearly_right import fails, passes

COINS = np.random.default_rng(0)  # seeded, so that no two calls agree by chance


def losses_of(logits, targets):
    return -np.take_along_axis(log_softmax(logits), targets[..., None], axis=-1)[..., 0]


# masked_cross_entropy -------------------------------------------------------------------------------------------------


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


def minus_a_billion(logits, targets, mask):
    logits = np.where(mask[:, :, None], logits, -1e9)
    return losses_of(logits, targets).mean()


def last_token_only(logits, targets, mask):
    n = mask.sum(axis=1)
    rows = np.flatnonzero(n)
    if len(rows) == 0:
        return 0.0
    return losses_of(logits, targets)[rows, n[rows] - 1].mean()


def eos_left_out(logits, targets, mask):
    n = mask.sum(axis=1, keepdims=True)
    mask = np.arange(mask.shape[1]) < n - 1
    return (losses_of(logits, targets) * mask).sum() / max(mask.sum(), 1)


def accuracy(logits, targets, mask):
    return ((logits.argmax(axis=2) == targets) * mask).sum() / max(mask.sum(), 1)


def squared(logits, targets, mask):
    p = np.exp(log_softmax(logits))
    error = ((p - np.eye(logits.shape[2])[targets]) ** 2).sum(axis=2)
    return (error * mask).sum() / max(mask.sum(), 1)


KEEPS_NONE = 0.5  # of 2: 1 for ordinary logits, 0.5 for huge ones, 0.5 where there is no real token
WRONG_MASKED = {
    "chapter 1": (on_losses(lambda losses, mask: losses.mean()), "mask_ignored", 0),
    "np.mean of the product": (
        on_losses(lambda losses, mask: np.mean(np.where(mask, losses, 0))),
        "padding_in_the_divisor",
        KEEPS_NONE,
    ),
    "empty rows dropped, padding kept": (
        only_rows_with_padding_dropped,
        "counterfactual: first_step mask",
        KEEPS_NONE,
    ),
    "cut to the longest row": (cut_to_the_longest_row, None, KEEPS_NONE),
    "row by row": (row_by_row, "mean_of_row_means", KEEPS_NONE),
    "row by row, empty ones counted": (row_by_row_among_all, "mean_of_row_means", KEEPS_NONE),
    "naive loops": (loops_with_naive_exp, "exp_overflows", 1.5),
    "log of the softmax, times the mask": (softmax_then_log, "infinity_times_zero", 1.5),
    "log of the softmax, selected": (softmax_then_log_selected, "log_of_zero", 1.5),
    "nan_to_num": (
        lambda logits, targets, mask: np.nan_to_num(softmax_then_log(logits, targets, mask)),
        None,
        1.5,
    ),
    "minus a billion": (minus_a_billion, "logits_of_padding_overwritten", 0),
    "selected mean": (on_losses(lambda losses, mask: losses[mask].mean()), "no_tokens_not_handled", 1.5),
    "np.average": (on_losses(lambda losses, mask: np.average(losses, weights=mask)), "no_tokens_not_handled", 1.5),
    "nan for None": (
        on_losses(lambda losses, mask: losses[mask].mean() if mask.any() else None),
        None,
        1.5,
    ),
    "inverted": (on_losses(lambda losses, mask: losses[~mask].sum() / max((~mask).sum(), 1)), "mask_inverted", 0),
    "last token of each row": (last_token_only, None, KEEPS_NONE),
    "without eos": (eos_left_out, "last_real_token_left_out", KEEPS_NONE),
    "in bits": (on_losses(lambda losses, mask: (losses * mask).sum() / np.log(2) / max(mask.sum(), 1)), "in_bits", 0.5),
    "perplexity": (
        on_losses(lambda losses, mask: np.exp((losses * mask).sum() / max(mask.sum(), 1))),
        "perplexity_returned",
        0,
    ),
    "accuracy": (accuracy, None, KEEPS_NONE),
    "squared error": (squared, None, KEEPS_NONE),
    "a small number in the divisor": (
        on_losses(lambda losses, mask: (losses * mask).sum() / (mask.sum() + 1e-8)),
        "small_number_in_the_divisor",
        KEEPS_NONE,
    ),
    "one too many": (
        on_losses(lambda losses, mask: (losses * mask).sum() / (mask.sum() + 1)),
        "one_added_to_the_count",
        KEEPS_NONE,
    ),
    "losses of each token": (on_losses(lambda losses, mask: losses * mask), None, 0),
    "a list of row losses": (on_losses(lambda losses, mask: (losses * mask).sum(axis=1)), None, 0),
    "sign": (on_losses(lambda losses, mask: -(losses * mask).sum() / max(mask.sum(), 1)), "sign", KEEPS_NONE),
}


@for_each("name", WRONG_MASKED)
def test_a_nearly_right_masked_loss(name):
    fails("masked_cross_entropy", *WRONG_MASKED[name])


def with_nan_at_padding(logits, targets, mask):
    losses = np.where(mask, losses_of(logits, targets), np.nan)
    return np.nansum(losses) / np.count_nonzero(mask) if mask.any() else 0


def weighted_rows(logits, targets, mask):
    n, losses = mask.sum(axis=1), losses_of(logits, targets) * mask
    means = losses.sum(axis=1) / np.where(n > 0, n, 1)
    return np.dot(means, n) / n.sum() if n.sum() > 0 else 0.0


def dummy_target(logits, targets, mask):
    B, T, V = logits.shape
    log_p = np.concatenate([log_softmax(logits), np.zeros((B, T, 1))], axis=2)
    ids = np.where(mask, targets, V)
    return -log_p[np.arange(B)[:, None], np.arange(T), ids].sum() / max(int(mask.sum()), 1)


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


@pytest.mark.parametrize("function", [with_nan_at_padding, weighted_rows, dummy_target, lists, einsum])
def test_the_masked_loss_in_other_ways(function):
    passes("masked_cross_entropy", function)


# teacher_forced_loss --------------------------------------------------------------------------------------------------


def over_time(y_of, state_of=lambda new, old: new, loss_of=None):
    """A program that feeds y_of(t, targets, sos_id, previous logits) and keeps state_of(new, old)."""

    def student(step, state, targets, mask, sos_id):
        losses, z = np.zeros(targets.shape), None
        for t in range(targets.shape[1]):
            z, new = step(y_of(t, targets, sos_id, z), state)
            losses[:, t] = losses_of(z, targets[:, t])
            state = state_of(new, state)
        return (loss_of or mean)(losses, mask)

    return student


def mean(losses, mask):
    return (losses * mask).sum() / max(mask.sum(), 1)


def forced(t, targets, sos_id, z):
    return np.full(len(targets), sos_id) if t == 0 else targets[:, t - 1]


def with_losses(rule):
    return over_time(forced, loss_of=rule)


def free(t, targets, sos_id, z):
    return np.full(len(targets), sos_id) if t == 0 else z.argmax(axis=1)


def sampled(t, targets, sos_id, z):
    gumbel = np.random.default_rng(t).gumbel(size=np.shape(z)) if t else 0
    return np.full(len(targets), sos_id) if t == 0 else (z + gumbel).argmax(axis=1)


def rolled(t, targets, sos_id, z):
    return np.roll(targets, 1, axis=1)[:, t]


def rolled_flat(t, targets, sos_id, z):
    return np.full(len(targets), sos_id) if t == 0 else np.roll(targets, 1)[:, t]


def first_row_for_all(t, targets, sos_id, z):
    return np.full(len(targets), sos_id) if t == 0 else np.repeat(targets[0, t - 1], len(targets))


def breaks(step, state, targets, mask, sos_id):
    y_prev, total, count = np.full(len(targets), sos_id), 0.0, 0
    for t in range(targets.shape[1]):
        if not mask[:, t].all():
            break
        z, state = step(y_prev, state)
        total += losses_of(z, targets[:, t]).sum()
        count += len(targets)
        y_prev = targets[:, t]
    return total / max(count, 1)


def one_step_short(step, state, targets, mask, sos_id):
    y_prev, total = np.full(len(targets), sos_id), 0.0
    for t in range(targets.shape[1] - 1):
        z, state = step(y_prev, state)
        total += (losses_of(z, targets[:, t]) * mask[:, t]).sum()
        y_prev = targets[:, t]
    return total / max(mask.sum(), 1)


def mean_inside_the_loop(step, state, targets, mask, sos_id):
    y_prev, loss = np.full(len(targets), sos_id), 0.0
    for t in range(targets.shape[1]):
        z, state = step(y_prev, state)
        loss += mean(losses_of(z, targets[:, t]), mask[:, t])
        y_prev = targets[:, t]
    return loss


def masked_inputs(t, targets, sos_id, z):
    return np.where(targets[:, t] == 0, 0, forced(t, targets, sos_id, z))


def stepped_twice(step, state, targets, mask, sos_id):
    y_prev, total = np.full(len(targets), sos_id), 0.0
    for t in range(targets.shape[1]):
        z = step(y_prev, state)[0]
        state = step(targets[:, t], state)[1]
        total += (losses_of(z, targets[:, t]) * mask[:, t]).sum()
        y_prev = targets[:, t]
    return total / max(mask.sum(), 1)


def a_column(t, targets, sos_id, z):
    return forced(t, targets, sos_id, z)[:, None]


def an_integer(t, targets, sos_id, z):
    return sos_id if t == 0 else targets[:, t - 1]


def floats(t, targets, sos_id, z):
    return np.zeros(len(targets)) + sos_id if t == 0 else targets[:, t - 1]


NO_TOKEN = 0.5  # of 2
WRONG_FORCED = {
    "target of the step": (over_time(lambda t, y, s, z: y[:, t]), "inputs_not_shifted", NO_TOKEN),
    "free running": (over_time(free), "own_predictions_fed", NO_TOKEN),
    "sampled": (over_time(sampled), None, NO_TOKEN),
    "always sos": (over_time(lambda t, y, s, z: np.full(len(y), s)), "sos_at_every_step", NO_TOKEN),
    "initial state": (over_time(forced, lambda new, old: old), "state_not_carried", NO_TOKEN),
    "np.roll": (over_time(rolled), "last_target_fed_first", NO_TOKEN),
    "the first row for all": (over_time(first_row_for_all), None, NO_TOKEN),
    "first target, then shifted": (over_time(lambda t, y, s, z: y[:, max(t - 1, 0)]), "first_target_fed_first", 0.5),
    "two steps late": (
        over_time(lambda t, y, s, z: np.full(len(y), s) if t < 2 else y[:, t - 2]),
        "inputs_shifted_twice",
        NO_TOKEN,
    ),
    "ones for sos": (
        over_time(lambda t, y, s, z: np.ones(len(y), dtype=int) if t == 0 else y[:, t - 1]),
        "sos_id_not_used",
        NO_TOKEN,
    ),
    "breaks": (breaks, "stops_when_the_first_row_ends", NO_TOKEN),
    "one step short": (one_step_short, "last_step_left_out", NO_TOKEN),
    "mean inside the loop": (mean_inside_the_loop, "sum_of_step_means", NO_TOKEN),
    "read before it is predicted": (stepped_twice, None, NO_TOKEN),
    "no mask": (with_losses(lambda losses, mask: losses.mean()), "padding_counted", 0),
    "divided by all": (with_losses(lambda losses, mask: (losses * mask).mean()), "padding_in_the_divisor", 0.5),
    "padding in the sum": (with_losses(lambda losses, mask: losses.sum() / max(mask.sum(), 1)), None, 0),
    "inverted": (with_losses(lambda losses, mask: mean(losses, ~mask)), "mask_inverted", 0),
    "sum": (with_losses(lambda losses, mask: (losses * mask).sum()), "sum_for_mean", NO_TOKEN),
    "over the batch": (
        with_losses(lambda losses, mask: (losses * mask).sum(axis=1).mean()),
        "divided_by_the_batch",
        NO_TOKEN,
    ),
    "means of rows": (
        with_losses(lambda losses, mask: np.mean([mean(*row) for row in zip(losses, mask, strict=True)])),
        "mean_of_row_means",
        NO_TOKEN,
    ),
    "means of steps": (
        with_losses(lambda losses, mask: np.mean([mean(*c) for c in zip(losses.T, mask.T, strict=True)])),
        "mean_of_step_means",
        NO_TOKEN,
    ),
    "nan": (with_losses(lambda losses, mask: losses[mask].mean()), "no_tokens_not_handled", 1.5),
    "last step": (with_losses(lambda losses, mask: losses[:, -1].mean()), None, 0),
    "a column": (over_time(a_column), None, 0),
    "an integer": (over_time(an_integer), None, 0),
    "floats": (over_time(floats), None, 0),
}


@for_each("name", WRONG_FORCED)
def test_a_nearly_right_decoder_loop(name):
    fails("teacher_forced_loss", *WRONG_FORCED[name])


def zipped(step, state, targets, mask, sos_id):
    columns, total = [np.full_like(targets[:, 0], sos_id), *targets.T], 0.0
    for y_prev, target, real in zip(columns, targets.T, mask.T, strict=False):
        z, state = step(y_prev, state)
        total += losses_of(z, target)[real].sum()
    return total / mask.sum() if mask.sum() else 0.0


def sos_at_padding(step, state, targets, mask, sos_id):
    inputs = np.where(mask, np.insert(targets, 0, sos_id, axis=1)[:, :-1], sos_id)
    total = 0.0
    for t, y_prev in enumerate(inputs.T):
        z, state = step(y_prev, state)
        total += (losses_of(z, targets[:, t]) * mask[:, t]).sum()
    return total / max(mask.sum(), 1)


def a_list_for_ids(step, state, targets, mask, sos_id):
    y_prev, found = [sos_id] * len(targets), []
    for t in range(mask.sum(axis=1).max()):
        z, state = step(np.array(y_prev), state)
        y_prev = targets[:, t].tolist()
        found += [losses_of(z[b], targets[b, t]) for b in range(len(y_prev)) if mask[b, t]]
    return float(np.mean(found)) if found else 0.0


def small_integers(step, state, targets, mask, sos_id):
    return with_losses(mean)(step, state, targets.astype(np.int32), mask, sos_id)


def as_a_generator(step, state, targets, mask, sos_id):
    def steps(state):
        for t in range(targets.shape[1]):
            z, state = step(y_prev=forced(t, targets, sos_id, None), state=state)
            yield z

    logits = np.array(list(steps(state))).swapaxes(0, 1)
    return mean(losses_of(logits, targets), mask)


@pytest.mark.parametrize(
    "function", [zipped, sos_at_padding, a_list_for_ids, small_integers, as_a_generator, over_time(rolled_flat)]
)
def test_the_decoder_loop_in_other_ways(function):
    passes("teacher_forced_loss", function)


# scheduled_inputs -----------------------------------------------------------------------------------------------------


def in_place(gold, predicted, use_gold):
    predicted[use_gold] = gold[use_gold]
    return predicted


def nested(gold, predicted, use_gold):
    return gold if use_gold.all() else predicted if not use_gold.any() else np.where(use_gold[0], gold, predicted)


WRONG_SCHEDULED = {
    "exchanged": (
        lambda gold, predicted, use_gold: np.where(use_gold, predicted, gold),
        "gold_and_predicted_exchanged",
    ),
    "inverted": (
        lambda gold, predicted, use_gold: np.where(~use_gold, gold, predicted),
        "gold_and_predicted_exchanged",
    ),
    "in place": (in_place, None),
    "all": (lambda gold, predicted, use_gold: gold if np.all(use_gold) else predicted, "one_coin_for_the_batch"),
    "first coin": (nested, "one_coin_for_the_batch"),
    "if": (lambda gold, predicted, use_gold: gold if use_gold else predicted, None),
    "own coins": (
        lambda gold, predicted, use_gold: np.where(COINS.random(len(gold)) < 0.5, gold, predicted),
        "two results of one call",
    ),
    "floats": (lambda gold, predicted, use_gold: np.where(use_gold, gold, predicted).astype(float), "floats_returned"),
    "a mean": (lambda gold, predicted, use_gold: (gold + predicted) / 2, None),
    "selected": (lambda gold, predicted, use_gold: gold[use_gold], "rows_left_out"),
    "a list": (lambda gold, predicted, use_gold: [*gold[use_gold], *predicted[~use_gold]], None),
    "positions": (lambda gold, predicted, use_gold: np.where(use_gold)[0], None),
    "truth values": (lambda gold, predicted, use_gold: gold == predicted, None),
    "masked": (lambda gold, predicted, use_gold: use_gold * gold, "zero_where_not_gold"),
    "the larger": (lambda gold, predicted, use_gold: np.maximum(gold, predicted), None),
    "both": (lambda gold, predicted, use_gold: np.stack([gold, predicted]), None),
}


@for_each("name", WRONG_SCHEDULED)
def test_nearly_right_inputs(name):
    fails("scheduled_inputs", *WRONG_SCHEDULED[name], 0)


RIGHT_SCHEDULED = {
    "select": lambda gold, predicted, use_gold: np.select([use_gold, ~use_gold], [gold, predicted]),
    "a stack": lambda gold, predicted, use_gold: np.stack([predicted, gold])[
        use_gold.astype(int), np.arange(len(gold))
    ],
    "a comprehension": lambda gold, predicted, use_gold: np.array(
        [g if u else p for g, p, u in zip(gold, predicted, use_gold, strict=True)]
    ),
    "a sum": lambda gold, predicted, use_gold: gold * use_gold + predicted * ~use_gold,
    "copyto": lambda gold, predicted, use_gold: (np.copyto(result := predicted.copy(), gold, where=use_gold), result)[
        1
    ],
}


@pytest.mark.parametrize("name", RIGHT_SCHEDULED)
def test_inputs_in_other_ways(name):
    passes("scheduled_inputs", RIGHT_SCHEDULED[name])
