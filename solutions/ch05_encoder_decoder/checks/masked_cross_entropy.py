"""How `masked_cross_entropy` is checked: against PyTorch's cross-entropy of the real tokens alone."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec, change


def oracle(logits, targets, mask):
    """PyTorch's cross-entropy, which never sees the padded positions."""
    if not mask.any():
        return 0.0
    return torch.nn.functional.cross_entropy(torch.from_numpy(logits[mask]), torch.from_numpy(targets[mask])).item()


ORDINARY, HUGE, PADDING, NONE = "ordinary", "huge logits", "huge logits at padding", "no real token"

EXAMPLE = Case(
    sizes={"B": 2, "T": 3, "V": 3},
    inputs={
        "logits": np.array(
            [
                [[2.00, 0.50, -1.00], [0.30, -1.20, 1.00], [-0.50, 1.50, 0.20]],
                [[0.00, 0.80, 1.40], [-1.00, 3.00, 0.60], [0.90, 0.10, -2.00]],
            ]
        ),
        "targets": np.array([[0, 0, 2], [1, 0, 0]]),
        "mask": np.array([[True, True, True], [True, False, False]]),
    },
)


def padded_to(T, lengths):
    """The mask (B, T) of rows with so many real tokens, the padding at the end."""
    return np.arange(T) < np.asarray(lengths)[:, None]


def ids(rng, V, mask):
    """Targets (B, T): among the real ones are 0 and another id; padding has any ids, not all of them 0."""
    targets = rng.integers(V, size=mask.shape)
    for positions in (np.argwhere(mask), np.argwhere(~mask)):
        places = rng.permutation(positions)[:2]
        wanted = rng.permutation([0, V - 1]) if len(places) > 1 else [V - 1]
        for place, target in zip(places, wanted, strict=False):
            targets[tuple(place)] = target
    return targets


def at_targets(targets, V):
    """An array (B, T, V) of bools, True at the target of each position."""
    return np.arange(V) == targets[:, :, None]


def case(logits, targets, mask, kind=ORDINARY):
    B, T, V = logits.shape
    return Case({"B": B, "T": T, "V": V}, {"logits": logits, "targets": targets, "mask": mask}, kind)


def ordinary(rng, V, T, lengths, kind=ORDINARY):
    mask = padded_to(T, rng.permutation(lengths))
    return case(rng.uniform(-2.5, 2.5, size=(*mask.shape, V)), ids(rng, V, mask), mask, kind)


def huge(rng, V, T, lengths, at_padding=False, unlikely=True):
    """At real positions, or at padded ones, one id has the logit 1000, and the target −1200, or 999 if it is likely."""
    mask = padded_to(T, rng.permutation(lengths))
    targets, logits = ids(rng, V, mask), 2 * rng.normal(size=(*mask.shape, V))
    here = (mask != at_padding)[:, :, None]
    target = at_targets(targets, V)
    logits[here & np.roll(target, 1, axis=2)] = 1000.0
    logits[here & target] = -1200.0 if unlikely else 999.0
    return case(logits, targets, mask, PADDING if at_padding else HUGE)


def certain(rng, V, T, lengths):
    """The first real token of each row has a probability that rounds to 1, so its loss is exactly 0."""
    some = ordinary(rng, V, T, lengths, HUGE)
    logits, targets = some.inputs["logits"], some.inputs["targets"]
    logits[np.arange(len(lengths)), 0, targets[:, 0]] = 1000.0
    return some


def cases(rng):
    yield ordinary(rng, V=4, T=5, lengths=[5, 2])
    yield ordinary(rng, V=3, T=3, lengths=[3, 0, 2])  # a row with nothing but padding
    yield ordinary(rng, V=3, T=4, lengths=[3])
    yield ordinary(rng, V=5, T=1, lengths=[1, 1, 0, 1])
    yield ordinary(rng, V=1, T=2, lengths=[2, 1, 1])
    yield ordinary(rng, V=4, T=3, lengths=[3, 3])  # no padding
    yield ordinary(rng, V=6, T=5, lengths=[1, 4, 0, 3])  # padding in the last column of every row
    yield huge(rng, V=4, T=3, lengths=[3, 1], unlikely=False)
    yield huge(rng, V=5, T=4, lengths=[2, 3, 1])
    yield huge(rng, V=4, T=4, lengths=[4, 2, 1], at_padding=True)
    yield certain(rng, V=4, T=4, lengths=[4, 3])
    yield ordinary(rng, V=4, T=3, lengths=[0, 0], kind=NONE)
    yield ordinary(rng, V=3, T=2, lengths=[0], kind=NONE)


SPEC = Spec(
    outputs=[Output("loss")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("ordinary logits", share=2, kinds=(ORDINARY,)),
        Facet("huge logits", share=1, kinds=(HUGE, PADDING)),
        Facet("no real token", share=1, kinds=(NONE,)),
    ],
    why=r"""
Multiplied by the mask, the losses of padded positions are 0, so they add nothing to the sum. They must not be in the
divisor either, so the sum is divided by the number of real tokens. If there are none, the sum is 0, and dividing by 1
in place of 0 makes the result 0. `log_softmax` never returns an infinite number for finite logits, so $0 \cdot \infty$
cannot occur at padded positions; selecting with `losses[mask]` before the sum avoids it too. Every real token has the
same weight. In a mean of row means, a token of a short sentence would count for more than a token of a long one.
""",
)

LOSSES = "-np.take_along_axis(log_softmax(logits), targets[:, :, None], axis=2)[:, :, 0]"
P = "np.take_along_axis(np.exp(log_softmax(logits)), targets[:, :, None], axis=2)[:, :, 0]"
NAIVE = (
    "np.take_along_axis(np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True), targets[:, :, None], axis=2)"
    "[:, :, 0]"
)
TOTAL, COUNT = "(losses * mask).sum()", "max(mask.sum(), 1)"
MEAN = f"{TOTAL} / {COUNT}"
SELECTED = (TOTAL, "losses[mask].sum()")

SPEC.mistake(
    "mask_ignored",
    "You average over all positions, padding included. Use the mask: only real tokens belong in the sum and in its "
    "divisor, because what the decoder predicts after the end of a sentence is of no interest.",
    change(MEAN, "losses.mean()"),
    tempts="It is the loss of chapter 1, which had no padding.",
)
SPEC.mistake(
    "mask_used_only_to_look_for_tokens",
    "You use the mask only to find out whether there is a real token. If there is one, you average over all positions, "
    "padding included. Only real tokens belong in the sum and in its divisor.",
    change(MEAN, "losses.mean() if mask.any() else 0.0"),
    tempts="The batch without real tokens is written down first, and then the mask seems to have done its work.",
    keeps=["no real token"],
)
SPEC.mistake(
    "padding_in_the_divisor",
    "You divide by B · T, the number of all positions, so the loss becomes smaller the more padding there is. Divide "
    "by the number of real tokens, `mask.sum()`.",
    change(MEAN, "(losses * mask).mean()"),
    change(COUNT, "mask.size"),
    tempts="`(losses * mask).mean()` looks like a masked mean, but its zeros are counted.",
    keeps=["no real token"],
)
SPEC.mistake(
    "padding_in_the_sum",
    "You divide by the number of real tokens, but the sum also contains the losses of the padded positions. Leave "
    "them out with `losses * mask` or `losses[mask]`.",
    change(TOTAL, "losses.sum()"),
    tempts="The divisor is what the text insists on.",
)
SPEC.mistake(
    "mean_of_row_means",
    "You average each row first and then the rows, so a token of a short row counts for more than one of a long row. "
    "Take one sum over the whole batch and divide it once, by the number of all real tokens.",
    change(MEAN, "((losses * mask).sum(axis=1) / np.maximum(mask.sum(axis=1), 1)).mean()"),
    change(MEAN, "np.mean([row[real].mean() for row, real in zip(losses, mask) if real.any()] or [0.0])"),
    tempts="A loop over the rows makes this the natural order, and without padding the result is the same.",
    keeps=["no real token"],
)
SPEC.mistake(
    "row_means_undefined",
    "You average each row first and then the rows, so a token of a short row counts for more than one of a long row. "
    "Where there is no real token, such a mean is 0 / 0, which is nan. Take one sum over the whole batch, divide it "
    "once, by the number of all real tokens, and return 0.0 if there are none.",
    change(MEAN, "((losses * mask).sum(axis=1) / mask.sum(axis=1)).mean()"),
    change(MEAN, "np.mean([row[real].mean() for row, real in zip(losses, mask) if real.any()])"),
    change(MEAN, "np.nanmean((losses * mask).sum(axis=1) / mask.sum(axis=1))"),
    tempts="A loop over the rows makes this the natural order, and an empty row is easily forgotten.",
)
SPEC.mistake(
    "mean_of_step_means",
    "You average over the rows at each step first, and then over the steps. Late steps have few real tokens, and each "
    "of them counts for more. Take one sum over the whole batch and divide it once, by the number of all real tokens.",
    change(MEAN, "((losses * mask).sum(axis=0) / np.maximum(mask.sum(axis=0), 1)).mean()"),
    change(MEAN, "np.mean([l[real].mean() for l, real in zip(losses.T, mask.T) if real.any()] or [0.0])"),
    tempts="A decoder computes one step at a time, and so its loss.",
    keeps=["no real token"],
)
SPEC.mistake(
    "sum_for_mean",
    "You return the sum over the real tokens. Divide it by their number, so that batches with more tokens do not have "
    "larger losses.",
    change(f" / {COUNT}", ""),
    tempts="The log-likelihood of a sentence is a sum over its tokens.",
    keeps=["no real token"],
)
SPEC.mistake(
    "divided_by_the_batch",
    "You divide the sum by B, the number of rows. Divide by the number of real tokens, `mask.sum()`, because the mean "
    "is over tokens.",
    change(COUNT, "len(mask)"),
    tempts="The loss of a batch is often the mean over its sentences.",
    keeps=["no real token"],
)
SPEC.mistake(
    "divided_by_time",
    "You divide the sum by T, the number of steps. Divide by the number of real tokens, `mask.sum()`, in all rows "
    "together.",
    change(COUNT, "mask.shape[1]"),
    tempts="'Per token' suggests the number of tokens in one row.",
    keeps=["no real token"],
)
SPEC.mistake(
    "small_number_in_the_divisor",
    "You add a small number to the divisor to avoid 0 / 0, which makes every loss slightly too small. Treat the batch "
    "without real tokens as a case of its own instead, so that all other losses are exact.",
    *(change(COUNT, f"(mask.sum() + {small})") for small in ("1e-8", "1e-7", "1e-6", "1e-5")),
    tempts="It is a usual way to avoid a division by zero, and hardly matters in training.",
    keeps=["no real token"],
)
SPEC.mistake(
    "one_added_to_the_count",
    "You divide by the number of real tokens plus 1. Divide by the number itself, and treat only a batch without real "
    "tokens as a case of its own.",
    change(COUNT, "(mask.sum() + 1)"),
    tempts="It avoids the division by zero, but changes every loss.",
    keeps=["no real token"],
)
SPEC.mistake(
    "last_real_token_left_out",
    "You leave out the last real token of each row. Count it too: in our data it is ⟨eos⟩, and the decoder has to "
    "learn where a sentence ends.",
    change("losses = ", "mask = np.arange(mask.shape[1]) < mask.sum(axis=1, keepdims=True) - 1\nlosses = "),
    change("losses = ", "mask = np.column_stack([mask[:, 1:], np.zeros(len(mask), dtype=bool)])\nlosses = "),
    tempts="⟨eos⟩ is not a word of the sentence, so it seems to be padding.",
    keeps=["no real token"],
)
SPEC.mistake(
    "in_bits",
    "You return the loss in bits. Use the natural logarithm, `np.log`, because the result should be in nats.",
    change(COUNT, f"{COUNT} / np.log(2)"),
    tempts="Language models are often compared in bits per character.",
    keeps=["no real token"],
)
SPEC.mistake(
    "mask_inverted",
    "You add up the losses where the mask is False, which is the padding. The mask is True at *real* tokens.",
    change(MEAN, "(losses * ~mask).sum() / max((~mask).sum(), 1)"),
    change(TOTAL, "(losses * ~mask).sum()"),
    tempts="In PyTorch's attention, for example, True marks what is left out.",
)
SPEC.mistake(
    "no_tokens_not_handled",
    "Your result is right as long as there is a real token. Where there is none, your code divides 0 by 0. Return 0.0 "
    "then, because one nan in a training loss makes every weight nan.",
    change(COUNT, "mask.sum()"),
    change(TOTAL, "float((losses * mask).sum())", (COUNT, "int(mask.sum())")),
    tempts="A batch without a single real token seems impossible, until the data is split into chunks.",
    keeps=["ordinary logits", "huge logits"],
)
SPEC.mistake(
    "exp_overflows",
    "You exponentiate the logits as they are. For large ones, `np.exp(1000)` is infinite, and the result is nan. Use "
    "the `log_softmax` given above, which subtracts the largest logit first.",
    change(LOSSES, f"-np.log({NAIVE})"),
    change(LOSSES, f"-np.log({NAIVE})", SELECTED),
    tempts="It is the formula of the softmax, letter by letter.",
    keeps=["ordinary logits", "no real token"],
)
SPEC.mistake(
    "log_of_zero",
    "You take the logarithm of a probability. Where the decoder is confident and wrong, that probability has "
    "underflowed to 0, and the loss is infinite. Use the `log_softmax` given above instead, which never computes the "
    "probability.",
    change(LOSSES, f"-np.log({P})", SELECTED),
    tempts="'The negative logarithm of the probability' is what the loss is called.",
    keeps=["ordinary logits", "no real token"],
)
SPEC.mistake(
    "infinity_times_zero",
    "You take the logarithm of a probability that can underflow to 0, which makes the loss infinite. At a padded "
    "position, this loss times the mask is ∞ · 0, which is nan, not 0. Use the `log_softmax` given above, which is "
    "finite everywhere.",
    change(LOSSES, f"-np.log({P})"),
    tempts="Multiplying by 0 seems to remove anything, but it does not remove an infinity.",
    keeps=["ordinary logits", "no real token"],
)
SPEC.mistake(
    "log_kept_finite",
    "You keep the logarithm finite with a tiny number, so where the probability is smaller than that number, the loss "
    "is far too small. Use the `log_softmax` given above instead: it is a difference of two numbers that are both "
    "easy to compute.",
    *(
        change(LOSSES, f"-np.log({finite})")
        for finite in (
            f"{P} + 1e-12",
            f"np.clip({P}, 1e-12, 1.0)",
            f"np.maximum({P}, 1e-10)",
            f"np.maximum({P}, 1e-15)",
            f"np.maximum({P}, 1e-300)",
        )
    ),
    tempts="A tiny number inside the logarithm removes the infinity, but the result is no longer the loss.",
    keeps=["ordinary logits", "no real token"],
)
SPEC.mistake(
    "tiny_number_in_the_logarithm",
    "You add a tiny number inside the logarithm. It changes every loss slightly, and where the probability is smaller "
    "than that number, the loss is far too small. Use the `log_softmax` given above instead.",
    *(change(LOSSES, f"-np.log({P} + {tiny})") for tiny in ("1e-7", "1e-8", "1e-9")),
    tempts="A tiny number inside the logarithm removes the infinity; this one is large enough to show in every loss.",
    keeps=["no real token"],
)
SPEC.mistake(
    "large_losses_replaced",
    "You cap large losses, or replace infinite ones by a fixed number. Use the `log_softmax` given above: no loss is "
    "infinite then, and a large loss is an ordinary number.",
    *(change(LOSSES, f"np.nan_to_num(-np.log({P}), posinf={number})") for number in ("0.0", "100.0", "1000.0")),
    *(change(LOSSES, f"np.minimum({LOSSES}, {most})") for most in (50, 100)),
    tempts="A number in place of infinity looks right, and removes the nan at padded positions too.",
    keeps=["ordinary logits", "no real token"],
)
SPEC.mistake(
    "probability_without_logarithm",
    "You average probabilities. Take the logarithm of each first: the gradient of −p with respect to the logits "
    "vanishes where p is near 0, which is where the decoder has most to learn.",
    change(LOSSES, f"-{P}"),
    change(LOSSES, f"1 - {P}"),
    tempts="'Maximise the probability of the target' does not mention a logarithm.",
    keeps=["no real token"],
)
SPEC.mistake(
    "log_of_the_mean",
    "You average the probabilities of the targets before you take the logarithm. Take the logarithm first, because "
    "each token has its own loss and the result is the mean of these losses.",
    change(LOSSES, P, (MEAN, f"-np.log({MEAN})")),
    tempts="'The negative logarithm of the mean probability' sounds like 'the mean negative logarithm'.",
)
SPEC.mistake(
    "log_taken_last",
    "You average the probabilities of the real targets, and then take the logarithm of this mean. Take the logarithm "
    "first: each token has its own loss, and the result is the mean of these losses.",
    change(LOSSES, P, (MEAN, f"-np.log({MEAN}) if mask.any() else 0.0")),
    tempts="'The negative logarithm of the mean probability' sounds like 'the mean negative logarithm'.",
    keeps=["no real token"],
)
SPEC.mistake(
    "logits_of_padding_overwritten",
    "You replace all logits of a padded position by the same number. After the softmax, each id has the probability "
    "1/V there, so every padded position still adds ln V to the sum. Apply the mask to the *losses* instead.",
    change("log_softmax(logits)", "log_softmax(logits * mask[:, :, None])", (MEAN, "losses.mean()")),
    change("log_softmax(logits)", "log_softmax(logits * mask[:, :, None])", (TOTAL, "losses.sum()")),
    tempts="Zero logits look like no prediction, but they are a uniform one.",
)
SPEC.mistake(
    "mask_applied_to_the_logits",
    "You set the logits of a padded position to 0. After the softmax, each id has the probability 1/V there, so every "
    "padded position still adds ln V to the sum. Apply the mask to the *losses* instead.",
    change(
        "log_softmax(logits)",
        "log_softmax(logits * mask[:, :, None])",
        (MEAN, "losses.mean() if mask.any() else 0.0"),
    ),
    change(
        "log_softmax(logits)",
        "log_softmax(logits * mask[:, :, None])",
        (MEAN, "losses.sum() / mask.sum() if mask.any() else 0.0"),
    ),
    tempts="Zero logits look like no prediction, but they are a uniform one.",
    keeps=["no real token"],
)
SPEC.mistake(
    "id_0_taken_for_padding",
    "You take id 0 for padding and do not use the mask. Here the mask alone says what is real: padded positions may "
    "have any id, and id 0 may be a real token.",
    change("losses = ", "mask = targets != 0\nlosses = "),
    tempts="`targets != pad_id` is a usual way to make a mask, and the padding id is mostly 0.",
)
SPEC.mistake(
    "real_tokens_with_id_0_left_out",
    "You leave out real tokens whose id is 0, as if they were padding. The mask has left out the padding already, so "
    "count every token where it is True.",
    change("losses = ", "mask = mask & (targets != 0)\nlosses = "),
    tempts="`targets != pad_id` is a usual way to make a mask, and the padding id is mostly 0.",
    keeps=["no real token"],
)
SPEC.mistake(
    "normalised_over_the_wrong_axis",
    "Your softmax does not run along the last axis alone. Apply it there, because at each position the probabilities "
    "of the V *ids* have to sum to 1.",
    *(
        change("log_softmax(logits)", f"(logits - np.logaddexp.reduce(logits, axis={axis}, keepdims=True))")
        for axis in (1, 0, (1, 2), None)
    ),
    tempts="axis=1 is right for logits of shape (B, V), which are more familiar.",
    keeps=["no real token"],
)
SPEC.mistake(
    "no_softmax",
    "You treat the logits as log-probabilities. Use `log_softmax(logits)`, because a logit says nothing on its own: "
    "only its difference from the other logits of the same position counts.",
    change("log_softmax(logits)", "logits"),
    tempts="'Minus the number at the target' is only half of the formula.",
    keeps=["no real token"],
)
SPEC.mistake(
    "losses_of_0_left_out",
    "You average the losses that are not 0. A real token whose probability is 1 has a loss of 0, and it counts too. "
    "Divide by the number of real tokens, `mask.sum()`.",
    change(COUNT, "max(np.count_nonzero(losses * mask), 1)"),
    tempts="After the multiplication with the mask, what is not 0 seems to be what is real.",
    keeps=["ordinary logits", "no real token"],
)
SPEC.mistake(
    "perplexity_returned",
    "You return the perplexity, the exponential of the loss. Return the loss itself, the mean of −ln p.",
    change(MEAN, f"np.exp({MEAN}) if mask.any() else 0.0"),
    tempts="Language models are often compared by their perplexity.",
    keeps=["no real token"],
)
SPEC.mistake(
    "targets_not_used",
    "Your loss does not depend on the targets: you use the log-probabilities of all ids, or the largest one. Take only "
    "the log-probability of the position's own target.",
    change(LOSSES, "-log_softmax(logits).sum(axis=2)"),
    change(LOSSES, "-log_softmax(logits).mean(axis=2)"),
    change(LOSSES, "-log_softmax(logits).max(axis=2)"),
    change(LOSSES, "-(np.exp(log_softmax(logits)) * log_softmax(logits)).sum(axis=2)"),
    tempts="The formula of the entropy sums over all ids.",
    keeps=["no real token"],
)
SPEC.mistake(
    "every_target_at_every_position",
    "You pick all B · T targets at every position, as `a[:, :, targets]` does. Pick only the target that belongs to "
    "the position.",
    change(LOSSES, "-log_softmax(logits)[:, :, targets]"),
    tempts="log_p[:, :, targets] reads well, but it picks all B x T targets at each of the B x T positions.",
    keeps=["no real token"],
)
SPEC.mistake(
    "rows_paired_with_steps",
    "You index with `np.arange(B)` and `np.arange(T)`, which NumPy pairs entry by entry: the first row with the first "
    "step, and so on. Combine every row with every step: with `np.arange(B)[:, None]` the two broadcast to (B, T).",
    change(LOSSES, "-log_softmax(logits)[np.arange(len(logits)), np.arange(logits.shape[1]), targets]"),
    tempts="For logits of shape (N, V) a single index array is right; with two axes there are two of them.",
)


@SPEC.mistake(
    "targets_shifted_again",
    "You compare the logits of each step with the target of the next step. Do not shift anything, because `targets[:, "
    "t]` is already the token that the decoder has to predict at step t.",
    tempts="Many language models are given the ids alone and shift them themselves.",
    keeps=["no real token"],
)
def next_of_the_next(logits, targets, mask):
    log_p = logits - np.logaddexp.reduce(logits, axis=2, keepdims=True)
    losses = -np.take_along_axis(log_p[:, :-1], targets[:, 1:, None], axis=2)[:, :, 0]
    return (losses * mask[:, 1:]).sum() / max(mask[:, 1:].sum(), 1)


@SPEC.alternative
def token_by_token(logits, targets, mask):
    """Plain loops, which return a Python float."""
    total, count = 0.0, 0
    for row in range(len(logits)):
        for t in range(logits.shape[1]):
            if mask[row, t]:
                z = logits[row, t]
                total += float(np.logaddexp.reduce(z) - z[targets[row, t]])
                count += 1
    return total / count if count else 0.0


@SPEC.alternative
def real_tokens_alone(logits, targets, mask):
    """Select the real tokens first; everything after that is a loss without padding."""
    z, y = logits[mask], targets[mask]  # (N, V), (N,)
    if len(y) == 0:
        return 0.0
    z = z - z.max(axis=1, keepdims=True)
    return np.mean(np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(y)), y])


@SPEC.alternative
def with_one_hot(logits, targets, mask):
    """A product with one-hot rows, which are zero at padding."""
    one_hot = np.eye(logits.shape[2])[targets] * mask[:, :, None]
    log_p = logits - np.logaddexp.reduce(logits, axis=2, keepdims=True)
    return -np.sum(one_hot * log_p) / np.maximum(np.count_nonzero(mask), 1)
