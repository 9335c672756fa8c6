"""How `sequence_loss` is checked: against PyTorch's cross-entropy."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec, change


def oracle(logits, targets):
    """PyTorch's cross-entropy, which averages over all tokens by default."""
    flat = torch.from_numpy(logits).reshape(-1, logits.shape[2])
    return torch.nn.functional.cross_entropy(flat, torch.from_numpy(targets).reshape(-1)).item()


EXAMPLE = Case(
    sizes={"B": 1, "T": 2, "V": 3},
    inputs={
        "logits": np.array([[[0.50, -1.00, 2.00], [1.20, 0.00, -0.30]]]),
        "targets": np.array([[2, 1]]),
    },
)


def cases(rng):
    for B, T, V in [(2, 5, 4), (3, 3, 3), (1, 4, 3), (4, 1, 5), (3, 2, 1)]:
        logits, targets = 2 * rng.normal(size=(B, T, V)), rng.integers(V, size=(B, T))
        yield Case(sizes={"B": B, "T": T, "V": V}, inputs={"logits": logits, "targets": targets})
    large = "large logits"
    far_apart = rng.permutation(np.repeat([-1000, 1000], 3)).reshape(2, 3, 1)  # both kinds in each batch
    every_id = rng.permutation([0, 0, 1, 1, 2, 3]).reshape(2, 3)
    yield Case({"B": 2, "T": 3, "V": 4}, {"logits": rng.normal(size=(2, 3, 4)) + far_apart, "targets": every_id}, large)
    logits = rng.uniform(-1000, 1000, size=(2, 2, 5))
    targets = logits.argmin(axis=2)  # the network is confident and wrong
    yield Case({"B": 2, "T": 2, "V": 5}, {"logits": logits, "targets": targets}, large)


SPEC = Spec(
    outputs=[Output("loss")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("ordinary logits", share=3, kinds=("ordinary",)),
        Facet("large logits", share=1, kinds=("large logits",)),
    ],
    why=r"""
The loss of a token is $-\ln p$ of the target. With $p = e^{z_y} / \sum_j e^{z_j}$ we have
$\ln p = z_y - \ln \sum_j e^{z_j}$, so no probability ever has to be computed. That is why the result stays right where
a probability would underflow to 0. The largest logit $m$ is taken out of the sum, $\ln \sum_j e^{z_j} = m + \ln \sum_j
e^{z_j - m}$, so that the sum cannot overflow. `np.take_along_axis` picks the logit of the target at each of the B × T
positions, and the mean over all of them makes the losses of batches of different sizes comparable.
""",
)


TAKEN, LOSS = "take_along_axis(logits", "(log_sum - picked)"
PICKED = "np.take_along_axis(logits, targets[:, :, None], axis=2)[:, :, 0]"
SOFTMAX = "take_along_axis(softmax(logits)"
TINY = "picked + 1e-12", "np.clip(picked, 1e-12, 1.0)", "np.maximum(picked, 1e-15)"
SPEC.mistake(
    "sum_for_mean",
    "You return the sum over all tokens. Return their mean, so that texts of different lengths can be compared.",
    change("mean()", "sum()"),
    tempts="The log-likelihood of a text is a sum over its tokens.",
)
SPEC.mistake(
    "mean_over_the_batch_only",
    "You divide the sum of all losses by the number of sequences, B. Divide by the number of tokens, B · T, because "
    "the mean is over all of them.",
    change("mean()", "sum() / len(logits)"),
    tempts="'The loss of a batch' suggests the mean over its B sequences, each summed over time.",
)
SPEC.mistake(
    "mean_over_time_only",
    "You divide the sum of all losses by the number of time steps, T. Divide by the number of tokens, B · T, because "
    "the mean is over all of them.",
    change("mean()", "sum() / logits.shape[1]"),
    tempts="'Per token' suggests division by the number of tokens in one sequence, T.",
)
SPEC.mistake(
    "in_bits",
    "You return the loss in bits. Use the natural logarithm, `np.log`, because the result should be in nats.",
    change("mean()", "mean() / np.log(2)"),
    tempts="Language models are often compared in bits per character.",
)
SPEC.mistake(
    "sign_reversed",
    "You return the mean log-probability of the targets. Reverse its sign, because a log-probability is never "
    "positive and the loss is never negative.",
    change(LOSS, "(picked - log_sum)"),
    tempts="The mean log-probability looks finished, and the minus in front of the sum is easily missed.",
)
SPEC.mistake(
    "softmax_over_the_wrong_axis",
    "You normalise along the wrong axis. Normalise along the last axis, because at each position the probabilities of "
    "the V *ids* have to sum to 1.",
    *(
        change(TAKEN, f"{TAKEN} - np.logaddexp.reduce(logits, axis={axis}, keepdims=True)", (LOSS, "-picked"))
        for axis in (1, 0)
    ),
    tempts="axis=1 is right for logits of shape (B, V), which are more familiar.",
)
SPEC.mistake(
    "no_softmax",
    "You treat the logits as log-probabilities. Subtract the logarithm of the sum of all exponentials from them, "
    "because that is what normalises a softmax.",
    change(LOSS, "-picked"),
    tempts="'Minus the picked number' is half of the formula; the other half is what normalises it.",
)
SPEC.mistake(
    "every_target_at_every_position",
    "You pick all B · T targets at every position, as `a[:, :, targets]` does. Pick only the target that belongs to "
    "the position.",
    change(
        PICKED,
        "logits[:, :, targets]",
        ("(log_sum -", "(log_sum[:, :, None, None] -"),
    ),
    tempts="log_p[:, :, targets] reads well, but it picks all B x T targets at each of the B x T positions.",
)
SPEC.mistake(
    "exp_overflows",
    "You exponentiate the logits as they are, so large ones give nan or infinity: `np.exp(1000)` overflows. Subtract "
    "the largest logit first.",
    change(
        TAKEN,
        "take_along_axis(np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)",
        (LOSS, "-np.log(picked)"),
    ),
    change("largest[:, :, 0] + ", "", (" - largest", "")),
    tempts="It is the formula, letter by letter.",
    keeps=["ordinary logits"],
)
SPEC.mistake(
    "log_of_zero",
    "You take the logarithm of a probability that has underflowed to 0, wherever the network is confident and wrong. "
    "Simplify the logarithm of the softmax on paper first: it is a difference of two numbers, and both are easy to "
    "compute.",
    change(TAKEN, SOFTMAX, (LOSS, "-np.log(picked)")),
    tempts="The softmax is already written and does not overflow, but a probability of e**-1500 underflows to 0.",
    keeps=["ordinary logits"],
)
SPEC.mistake(
    "log_kept_finite",
    "You keep the logarithm finite with a tiny number, so where the probability is smaller than that number, the loss "
    "is far too small. Simplify the logarithm of the softmax on paper first: it is a difference of two numbers, and "
    "both are easy to compute.",
    *(change(TAKEN, SOFTMAX, (LOSS, f"-np.log({p})")) for p in TINY),
    tempts="A tiny number inside the logarithm removes the infinity, but the result is no longer the loss.",
    keeps=["ordinary logits"],
)
SPEC.mistake(
    "tiny_number_in_the_logarithm",
    "You add a tiny number inside the logarithm. It changes every loss slightly, and where the probability is smaller "
    "than that number, the loss is far too small. Simplify the logarithm of the softmax on paper first: it is a "
    "difference of two numbers, and both are easy to compute.",
    *(change(TAKEN, SOFTMAX, (LOSS, f"-np.log(picked + {tiny})")) for tiny in ("1e-7", "1e-8", "1e-9")),
    tempts="A tiny number inside the logarithm removes the infinity; this one is large enough to show in every loss.",
)
SPEC.mistake(
    "log_of_the_mean",
    "You average the probabilities of the targets, over all tokens or over time, before you take the logarithm. Take "
    "the logarithm first, because each token has its own loss and the result is the mean of these losses.",
    change(TAKEN, SOFTMAX, (f"{LOSS}.mean()", "-np.log(picked.mean())")),
    change(TAKEN, SOFTMAX, (f"{LOSS}.mean()", "-np.log(picked.mean(axis=1)).mean()")),
    tempts="'The negative logarithm of the mean probability' sounds like 'the mean negative logarithm'.",
)
SPEC.mistake(
    "softmax_over_everything",
    "You normalise all B · T · V numbers together. Sum along the last axis alone, because at each position the "
    "probabilities of the V ids have to sum to 1.",
    change(TAKEN, f"{TAKEN} - np.logaddexp.reduce(logits, axis=None)", (LOSS, "-picked")),
    tempts="A sum without an axis is right for a single row.",
)
SPEC.mistake(
    "one_maximum_for_all",
    "You subtract the largest logit of the whole batch everywhere. Subtract the largest logit of each position "
    "instead: at a position whose logits are all far below the rest, the exponentials underflow to 0, and so does "
    "their sum.",
    change("logits.max(axis=2, keepdims=True)", "logits.max(keepdims=True)"),
    tempts="logits.max() stops the overflow; only two positions that are far apart show what is wrong.",
    keeps=["ordinary logits"],
)
SPEC.mistake(
    "logarithm_of_logits",
    "You take the logarithm of the logits. Take the logarithm of the probabilities instead, after the softmax, "
    "because a logit may be negative.",
    change(LOSS, "-np.log(picked)"),
    tempts="'Minus the logarithm of what the target was given' leaves out the softmax.",
)
SPEC.mistake(
    "targets_left_out",
    "You return the mean logarithm of the sum, which does not depend on the targets. Subtract the logit of the target "
    "at each position.",
    change(LOSS, "log_sum"),
    tempts="The logarithm of the sum is the hard part.",
)
SPEC.mistake(
    "maximum_not_added_back",
    "You subtract the largest logit inside the sum, but not from the logit of the target. Subtract it from both, or "
    "add it back to the logarithm of the sum.",
    change("largest[:, :, 0] + ", ""),
    tempts="In a softmax, the maximum can be subtracted and forgotten.",
)
SPEC.mistake(
    "targets_index_the_batch",
    "You use the targets as indices of the first axis, the batch: `a[targets]` picks whole sequences. Use them as "
    "indices of the last axis, because each target is an id.",
    change(PICKED, "(logits - log_sum[:, :, None])[targets]", (LOSS, "-picked")),
    tempts="`log_p[targets]` reads well.",
)
SPEC.mistake(
    "rows_paired_with_steps",
    "You index with `np.arange(B)` and `np.arange(T)`, which NumPy pairs entry by entry: the first row with the first "
    "step, and so on. Combine every row with every step: with `np.arange(B)[:, None]` the two broadcast to (B, T).",
    change(PICKED, "logits[np.arange(len(logits)), np.arange(logits.shape[1]), targets]"),
    change(
        PICKED,
        "(logits - log_sum[:, :, None])[np.arange(len(logits)), np.arange(logits.shape[1]), targets]",
        (LOSS, "-picked"),
    ),
    tempts="For logits of shape (N, V) a single index array is right; with two axes there are two of them.",
)
SPEC.mistake(
    "entropy_of_the_prediction",
    "You average the losses of all V ids, weighted by the network's own probabilities: that is the entropy of its "
    "prediction. Use the loss of the target alone.",
    change(
        PICKED,
        "(logits * np.exp(logits - log_sum[:, :, None])).sum(axis=2)",
    ),
    tempts="The sum of p ln p is the entropy, which is half of the name.",
)
SPEC.mistake(
    "last_step_only",
    "You use the last step of each sequence alone. Take the mean over all B · T tokens, because every step has a "
    "target.",
    change(LOSS, f"{LOSS}[:, -1]"),
    tempts="A classifier has a loss at its last step alone.",
)
SPEC.mistake(
    "large_losses_replaced",
    "You replace very large losses by a fixed number, or cap them. Simplify the logarithm of the softmax on paper "
    "first, so that no loss is infinite: a large loss is an ordinary number, and differs from token to token.",
    *(
        change(TAKEN, SOFTMAX, (LOSS, f"np.nan_to_num(-np.log(picked), posinf={number})"))
        for number in ("0.0", "100.0", "1000.0")
    ),
    *(change(LOSS, f"np.minimum({LOSS}, {most})") for most in (50, 100)),
    tempts="A large number in place of infinity looks right; the example in the task even has a loss of 1000.",
    keeps=["ordinary logits"],
)
SPEC.mistake(
    "id_0_taken_for_padding",
    "You leave out the tokens whose target is id 0, as if they were padding. Count all B · T tokens: there is no "
    "padding here, and id 0 is an id like any other.",
    change(f"{LOSS}.mean()", f"({LOSS} * (targets != 0)).sum() / max((targets != 0).sum(), 1)"),
    change(LOSS, f"{LOSS}[targets != 0]"),
    change(LOSS, f"({LOSS} * (targets != 0))"),
    tempts="Many libraries reserve id 0 for padding and mask it in the loss.",
)


@SPEC.mistake(
    "targets_shifted_again",
    "You compare the logits of each step with the target of the next step. Do not shift anything, because `targets[:, "
    "t]` is already the id that comes after step t.",
    tempts="Many language models are given the ids alone and shift them themselves.",
)
def next_of_the_next(logits, targets):
    log_p = logits - np.logaddexp.reduce(logits, axis=2, keepdims=True)
    return -np.take_along_axis(log_p[:, :-1], targets[:, 1:, None], axis=2).mean()


@SPEC.alternative
def token_by_token(logits, targets):
    """Plain loops, which return a Python float."""
    total = 0.0
    B, T, _ = logits.shape
    for row in range(B):
        for t in range(T):
            z = logits[row, t].tolist()
            largest = max(z)
            log_sum = largest + float(np.log(sum(np.exp(value - largest) for value in z)))
            total += log_sum - z[targets[row, t]]
    return total / (B * T)


@SPEC.alternative
def with_one_hot(logits, targets):
    """The log-probability of the target, as a product with a one-hot array."""
    log_p = logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
    one_hot = np.eye(logits.shape[2])[targets]
    return -(one_hot * log_p).sum(axis=2).mean()


@SPEC.alternative
def flat(logits, targets):
    """All tokens in one axis, and two index arrays."""
    z, y = logits.reshape(-1, logits.shape[2]), targets.reshape(-1)
    z = z - z.max(axis=1, keepdims=True)
    return np.mean(np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(y)), y])
