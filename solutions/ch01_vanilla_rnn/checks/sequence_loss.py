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
    far_apart = rng.permutation(np.repeat([-1000, 1000], 3)).reshape(2, 3, 1)  # in each batch some places of both kinds
    every_id = rng.permutation([0, 0, 1, 1, 2, 3]).reshape(2, 3)
    yield Case({"B": 2, "T": 3, "V": 4}, {"logits": rng.normal(size=(2, 3, 4)) + far_apart, "targets": every_id}, large)
    logits = rng.uniform(-1000, 1000, size=(2, 2, 5))
    targets = logits.argmin(axis=2)  # the network is sure of something else
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
The loss of a token is $-\ln p$ of the id that came. With $p = e^{z_y} / \sum_j e^{z_j}$ its logarithm is
$z_y - \ln \sum_j e^{z_j}$, so no probability ever has to be written down: that is why the result stays right where a
probability would be 0 to the machine. The largest logit $m$ is taken out of the sum, $\ln \sum_j e^{z_j} = m + \ln
\sum_j e^{z_j - m}$, so that the sum cannot overflow. `np.take_along_axis` picks the logit of the right id at each of
the B × T places, and one mean over all of them makes losses comparable between batches of any size.
""",
)


TAKEN, LOSS = "take_along_axis(logits", "(log_sum - picked)"
PICKED = "np.take_along_axis(logits, targets[:, :, None], axis=2)[:, :, 0]"
SOFTMAX = "take_along_axis(softmax(logits)"
TINY = "picked + 1e-12", "np.clip(picked, 1e-12, 1.0)", "np.maximum(picked, 1e-15)"
SPEC.mistake(
    "sum_for_mean",
    "This is the sum over all tokens. Their mean is due, so that a long text can be compared with a short one.",
    change("mean()", "sum()"),
    tempts="The log-probability of a text is a sum over its tokens.",
)
SPEC.mistake(
    "mean_over_the_batch_only",
    "The sum over time is divided by the number of sequences alone. There are B · T tokens, and the mean is over all "
    "of them.",
    change("mean()", "sum() / len(logits)"),
    tempts="'The loss of a batch' suggests the mean over its B sequences, each summed over time.",
)
SPEC.mistake(
    "mean_over_time_only",
    "The sum over all sequences is divided by the number of time steps alone. There are B · T tokens, and the mean is "
    "over all of them.",
    change("mean()", "sum() / logits.shape[1]"),
    tempts="'A token' suggests division by the number of tokens of one sequence, T.",
)
SPEC.mistake(
    "in_bits",
    "This is the loss in bits. In nats the logarithm is the natural one, `np.log`.",
    change("mean()", "mean() / np.log(2)"),
    tempts="Language models are compared in bits a character.",
)
SPEC.mistake(
    "sign",
    "The sign is turned round. A log-probability is never above 0, and the loss is minus its mean.",
    change(LOSS, "(picked - log_sum)"),
    tempts="The mean of the log-probabilities looks finished; the minus is in front of the sum.",
)
SPEC.mistake(
    "softmax_over_time",
    "The probabilities are normalised along the wrong axis. At each place in each sequence the V probabilities of the "
    "*ids* add up to 1; ids are on the last axis.",
    *(
        change(TAKEN, f"{TAKEN} - np.logaddexp.reduce(logits, axis={axis}, keepdims=True)", (LOSS, "-picked"))
        for axis in (1, 0)
    ),
    tempts="axis=1 is right for logits of shape (B, V), which one has met before.",
)
SPEC.mistake(
    "no_softmax",
    "Logits are taken for log-probabilities: the part that normalises them is missing. From each logit the logarithm "
    "of the sum of all exponentials has to be taken away.",
    change(LOSS, "-picked"),
    tempts="'Minus the picked number' is half of the formula; the other half is what normalises it.",
)
SPEC.mistake(
    "every_target_at_every_place",
    "At every place all B · T targets are picked, not the one that belongs there: `a[:, :, targets]` does that. Each "
    "place has its own target.",
    change(
        PICKED,
        "logits[:, :, targets]",
        ("(log_sum -", "(log_sum[:, :, None, None] -"),
    ),
    tempts="log_p[:, :, targets] reads well; it takes all B x T targets at each of the B x T places.",
)
SPEC.mistake(
    "overflows",
    "Ordinary logits come out right, large ones as nan or infinity: `np.exp(1000)` overflows. Take the largest logit "
    "away before you exponentiate.",
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
    "The result is infinite where the network is sure of something else. The probability of what came is then so small "
    "that it is 0 to the machine. Take the logarithm apart on paper first: it is a difference of two numbers, both of "
    "which are easy to compute.",
    change(TAKEN, SOFTMAX, (LOSS, "-np.log(picked)")),
    tempts="The softmax is at hand and safe; but a probability of e**-1500 is 0 to the machine.",
    keeps=["ordinary logits"],
)
SPEC.mistake(
    "log_of_a_little_more_than_zero",
    "A tiny number inside the logarithm keeps it finite, but where the probability is smaller than that number, the "
    "loss is far too small. Take the logarithm apart on paper instead: it is a difference of two numbers, both of "
    "which are easy to compute.",
    *(change(TAKEN, SOFTMAX, (LOSS, f"-np.log({p})")) for p in TINY),
    tempts="A tiny number inside the logarithm makes the infinity go away; what is left is not the loss.",
    keeps=["ordinary logits"],
)
SPEC.mistake(
    "tiny_number_in_the_logarithm",
    "A tiny number is added inside the logarithm. It changes every loss a little, and where the probability is smaller "
    "than that number, the loss is far too small. Take the logarithm apart on paper instead: it is a difference of two "
    "numbers, both of which are easy to compute.",
    *(change(TAKEN, SOFTMAX, (LOSS, f"-np.log(picked + {tiny})")) for tiny in ("1e-7", "1e-8", "1e-9")),
    tempts="A tiny number inside the logarithm makes the infinity go away; this one is so large that it shows.",
)
SPEC.mistake(
    "log_of_the_mean",
    "You average the probabilities of the targets first, over all tokens or over time, and take the logarithm "
    "afterwards. The logarithm of a mean is not the mean of the logarithms: each token has a loss of its own, and the "
    "mean is over these losses.",
    change(TAKEN, SOFTMAX, (f"{LOSS}.mean()", "-np.log(picked.mean())")),
    change(TAKEN, SOFTMAX, (f"{LOSS}.mean()", "-np.log(picked.mean(axis=1)).mean()")),
    tempts="'The negative logarithm of the mean probability' sounds like 'the mean negative logarithm'.",
)
SPEC.mistake(
    "softmax_over_everything",
    "All B · T · V numbers together are normalised, so that all the probabilities of the batch add up to 1. At each "
    "place the V probabilities of the ids must do so: give the sum its axis.",
    change(TAKEN, f"{TAKEN} - np.logaddexp.reduce(logits, axis=None)", (LOSS, "-picked")),
    tempts="A sum without an axis is right for a single row.",
)
SPEC.mistake(
    "one_shift_for_all",
    "One number, the largest logit of the whole batch, is taken away everywhere. Where all logits lie far below it the "
    "exponentials are all 0, and so is their sum. Each place needs its own largest logit.",
    change("logits.max(axis=2, keepdims=True)", "logits.max(keepdims=True)"),
    tempts="logits.max() stops the overflow; it takes two distant places to see what is wrong.",
    keeps=["ordinary logits"],
)
SPEC.mistake(
    "logarithm_of_logits",
    "The logarithm is taken of the logits themselves. A logit may be any number; it is the probability, after the "
    "softmax, that has a logarithm.",
    change(LOSS, "-np.log(picked)"),
    tempts="'Minus the logarithm of what was given to the target' leaves out the softmax.",
)
SPEC.mistake(
    "target_left_out",
    "Only the logarithm of the sum is there, and the targets have no say. The logit of the id that came has to be "
    "taken away from it.",
    change(LOSS, "log_sum"),
    tempts="The logarithm of the sum is the hard part.",
)
SPEC.mistake(
    "largest_not_put_back",
    "The largest logit is taken away inside the sum and still stands in the logit of the target. Take it away from "
    "both, or add it again to the logarithm of the sum.",
    change("largest[:, :, 0] + ", ""),
    tempts="In a softmax the largest number may be taken away and forgotten.",
)
SPEC.mistake(
    "targets_for_rows",
    "The targets are used as an index of the first axis, the batch: `a[targets]` takes whole sequences. At each place "
    "the target is an index of the last axis.",
    change(PICKED, "(logits - log_sum[:, :, None])[targets]", (LOSS, "-picked")),
    tempts="`log_p[targets]` reads well.",
)
SPEC.mistake(
    "rows_paired_with_steps",
    "The rows and the steps are paired with each other, the first with the first: `np.arange(B)` and `np.arange(T)` "
    "side by side do that. Every row goes with every step; with `np.arange(B)[:, None]` the two make a table.",
    change(PICKED, "logits[np.arange(len(logits)), np.arange(logits.shape[1]), targets]"),
    change(
        PICKED,
        "(logits - log_sum[:, :, None])[np.arange(len(logits)), np.arange(logits.shape[1]), targets]",
        (LOSS, "-picked"),
    ),
    tempts="For logits of shape (N, V) one index array is right; with two axes there are two of them.",
)
SPEC.mistake(
    "entropy_of_the_guess",
    "The losses of all V ids are averaged with the network's own probabilities, and the targets have no say. That is "
    "how unsure the network is. Due is the loss of the id that came.",
    change(
        PICKED,
        "(logits * np.exp(logits - log_sum[:, :, None])).sum(axis=2)",
    ),
    tempts="The sum of p ln p is the entropy, which has half of the name.",
)
SPEC.mistake(
    "last_step_only",
    "Only the last step of each sequence counts. The mean is over all B · T tokens.",
    change(LOSS, f"{LOSS}[:, -1]"),
    tempts="A network that classifies has a loss at its last step alone.",
)
SPEC.mistake(
    "large_losses_replaced",
    "Ordinary logits come out right. Very large losses are replaced by one fixed number, or cut off at it. Such a loss "
    "is an ordinary number, a different one for each token: take the logarithm apart on paper first, and nothing is "
    "infinite.",
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
    "Tokens whose target is id 0 are left out, as if they were padding. There is no padding here: id 0 is an id like "
    "the others, and all B · T tokens count.",
    change(f"{LOSS}.mean()", f"({LOSS} * (targets != 0)).sum() / max((targets != 0).sum(), 1)"),
    change(LOSS, f"{LOSS}[targets != 0]"),
    change(LOSS, f"({LOSS} * (targets != 0))"),
    tempts="Many libraries keep id 0 for padding and mask it in the loss.",
)


@SPEC.mistake(
    "targets_shifted_again",
    "The logits of each step are compared with the target one step later. Here `targets[:, t]` is already the id that "
    "came after `logits[:, t]`: nothing has to be shifted.",
    tempts="Many language models get ids alone and have to shift them by themselves.",
)
def next_of_the_next(logits, targets):
    log_p = logits - np.logaddexp.reduce(logits, axis=2, keepdims=True)
    return -np.take_along_axis(log_p[:, :-1], targets[:, 1:, None], axis=2).mean()


@SPEC.alternative
def token_by_token(logits, targets):
    """Plain loops; a Python float comes back."""
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
    """The target's log-probability as a product with a one-hot array."""
    log_p = logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
    one_hot = np.eye(logits.shape[2])[targets]
    return -(one_hot * log_p).sum(axis=2).mean()


@SPEC.alternative
def flat(logits, targets):
    """All tokens in one axis, picked by two index arrays."""
    z, y = logits.reshape(-1, logits.shape[2]), targets.reshape(-1)
    z = z - z.max(axis=1, keepdims=True)
    return np.mean(np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(y)), y])
