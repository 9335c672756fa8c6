"""How `masked_cross_entropy` is checked: against PyTorch's cross-entropy of the real tokens alone."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Output, Spec, change, instead


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
)
LOSSES = "-np.take_along_axis(log_softmax(logits), targets[:, :, None], axis=2)[:, :, 0]"
P = "np.take_along_axis(np.exp(log_softmax(logits)), targets[:, :, None], axis=2)[:, :, 0]"
NAIVE = (
    "np.take_along_axis(np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True), targets[:, :, None], axis=2)"
    "[:, :, 0]"
)
LOG_OF_SUM = "np.log(np.exp(logits).sum(axis=2))"
PICKED = "np.take_along_axis(logits, targets[:, :, None], axis=2)[:, :, 0]"
TOTAL, COUNT = "(losses * mask).sum()", "max(mask.sum(), 1)"
MEAN = f"{TOTAL} / {COUNT}"
SELECTED = (TOTAL, "losses[mask].sum()")


def next_of_the_next(logits, targets, mask):
    log_p = logits - np.logaddexp.reduce(logits, axis=2, keepdims=True)
    losses = -np.take_along_axis(log_p[:, :-1], targets[:, 1:, None], axis=2)[:, :, 0]
    return (losses * mask[:, 1:]).sum() / max(mask[:, 1:].sum(), 1)


SPEC.mistakes(
    {
        "mask_ignored": change(MEAN, "losses.mean()"),
        "padding_in_the_sum": change(TOTAL, "losses.sum()"),
        "row_means_undefined": [
            change(MEAN, "((losses * mask).sum(axis=1) / mask.sum(axis=1)).mean()"),
            change(MEAN, "np.mean([row[real].mean() for row, real in zip(losses, mask) if real.any()])"),
        ],
        "mask_inverted": [
            change(MEAN, "(losses * ~mask).sum() / max((~mask).sum(), 1)"),
            change(TOTAL, "(losses * ~mask).sum()"),
        ],
        "log_of_the_mean": change(LOSSES, P, (MEAN, f"-np.log({MEAN})")),
        "logits_of_padding_overwritten": [
            change("log_softmax(logits)", "log_softmax(logits * mask[:, :, None])", (MEAN, "losses.mean()")),
            change("log_softmax(logits)", "log_softmax(logits * mask[:, :, None])", (TOTAL, "losses.sum()")),
        ],
        "id_0_taken_for_padding": change("losses = ", "mask = targets != 0\nlosses = "),
        "rows_paired_with_steps": change(
            LOSSES, "-log_softmax(logits)[np.arange(len(logits)), np.arange(logits.shape[1]), targets]"
        ),
    }
)
SPEC.mistakes(
    {
        **instead(
            MEAN,
            {
                "mask_used_only_to_look_for_tokens": "losses.mean() if mask.any() else 0.0",
                "perplexity_returned": f"np.exp({MEAN}) if mask.any() else 0.0",
            },
        ),
        "ids_read_from_the_first_axis": change(
            "log_softmax(logits)", "log_softmax(np.moveaxis(logits.reshape(-1, *targets.shape), 0, 2))"
        ),
        "id_0_taken_for_padding_among_tokens": change(
            MEAN,
            "losses[targets != 0].mean() if mask.any() and (targets != 0).any() else 0.0",
        ),
        "stops_at_the_first_padding": change(
            MEAN, "np.mean(losses[mask.ravel().cumprod().astype(bool).reshape(mask.shape)]) if mask[0, 0] else 0.0"
        ),
        "padding_in_the_divisor": change(MEAN, "(losses * mask).mean()"),
        "mean_of_row_means": [
            change(MEAN, "((losses * mask).sum(axis=1) / np.maximum(mask.sum(axis=1), 1)).mean()"),
            change(MEAN, "np.mean([row[real].mean() for row, real in zip(losses, mask) if real.any()] or [0.0])"),
        ],
        "mean_of_step_means": [
            change(MEAN, "((losses * mask).sum(axis=0) / np.maximum(mask.sum(axis=0), 1)).mean()"),
            change(MEAN, "np.mean([l[real].mean() for l, real in zip(losses.T, mask.T) if real.any()] or [0.0])"),
        ],
        "sum_for_mean": change(f" / {COUNT}", ""),
        **instead(
            COUNT,
            {
                "divided_by_the_batch": "len(mask)",
                "divided_by_time": "mask.shape[1]",
                "one_added_to_the_count": "(mask.sum() + 1)",
                "in_bits": f"{COUNT} / np.log(2)",
            },
        ),
        "small_number_in_the_divisor": [
            *(change(COUNT, f"(mask.sum() + {small})") for small in ("1e-8", "1e-7", "1e-6", "1e-5"))
        ],
        "last_real_token_left_out": change(
            "losses = ", "mask = np.arange(mask.shape[1]) < mask.sum(axis=1, keepdims=True) - 1\nlosses = "
        ),
        "tiny_number_in_the_logarithm": [
            *(change(LOSSES, f"-np.log({P} + {tiny})") for tiny in ("1e-7", "1e-8", "1e-9"))
        ],
        "probability_without_logarithm": [change(LOSSES, f"-{P}"), change(LOSSES, f"1 - {P}")],
        "log_taken_last": change(LOSSES, P, (MEAN, f"-np.log({MEAN}) if mask.any() else 0.0")),
        "mask_applied_to_the_logits": [
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
        ],
        "real_tokens_with_id_0_left_out": change("losses = ", "mask = mask & (targets != 0)\nlosses = "),
        "normalised_over_the_wrong_axis": [
            *(
                change("log_softmax(logits)", f"(logits - np.logaddexp.reduce(logits, axis={axis}, keepdims=True))")
                for axis in (1, 0, (1, 2), None)
            )
        ],
        "no_softmax": change("log_softmax(logits)", "logits"),
        "targets_not_used": [
            change(LOSSES, "-log_softmax(logits).sum(axis=2)"),
            change(LOSSES, "-log_softmax(logits).mean(axis=2)"),
            change(LOSSES, "-log_softmax(logits).max(axis=2)"),
            change(LOSSES, "-(np.exp(log_softmax(logits)) * log_softmax(logits)).sum(axis=2)"),
        ],
        "every_target_at_every_position": [
            change(LOSSES, "-log_softmax(logits)[:, :, targets]"),
            *(
                change(
                    LOSSES,
                    f"-np.array([z[:, y].{reduce}(axis=1) for z, y in zip(log_softmax(logits), targets, strict=True)])",
                )
                for reduce in ("sum", "mean")
            ),
        ],
        "targets_shifted_again": next_of_the_next,
    },
    keeps=["no real token"],
)
SPEC.mistakes(
    {"zero_with_an_empty_row": change(MEAN, f"{MEAN} if mask.any(axis=1).all() else 0.0")},
    keeps=["huge logits", "no real token"],
)
SPEC.mistakes(
    {
        "no_tokens_not_handled": [
            change(COUNT, "mask.sum()"),
            change(TOTAL, "float((losses * mask).sum())", (COUNT, "int(mask.sum())")),
        ],
    },
    keeps=["ordinary logits", "huge logits"],
)
SPEC.mistakes(
    {
        "exp_overflows": [
            change(LOSSES, f"-np.log({NAIVE})"),
            change(LOSSES, f"-np.log({NAIVE})", SELECTED),
            change(LOSSES, f"{LOG_OF_SUM} - {PICKED}"),
            change(LOSSES, f"{LOG_OF_SUM} - {PICKED}", SELECTED),
        ],
        "log_of_zero": change(LOSSES, f"-np.log({P})", SELECTED),
        "infinity_times_zero": change(LOSSES, f"-np.log({P})"),
        "log_kept_finite": [
            *(
                change(LOSSES, f"-np.log({finite})")
                for finite in (
                    f"{P} + 1e-12",
                    f"np.clip({P}, 1e-12, 1.0)",
                    f"np.maximum({P}, 1e-10)",
                    f"np.maximum({P}, 1e-15)",
                    f"np.maximum({P}, 1e-300)",
                )
            )
        ],
        "large_losses_replaced": [
            *(change(LOSSES, f"np.nan_to_num(-np.log({P}), posinf={number})") for number in ("0.0", "100.0", "1000.0")),
            *(change(LOSSES, f"np.minimum({LOSSES}, {most})") for most in (50, 100)),
        ],
        "losses_of_0_left_out": change(COUNT, "max(np.count_nonzero(losses * mask), 1)"),
    },
    keeps=["ordinary logits", "no real token"],
)


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
