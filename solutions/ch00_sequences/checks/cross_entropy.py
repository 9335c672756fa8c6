"""How `cross_entropy` is checked: against PyTorch's cross-entropy."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec, change

LARGE = "large logits"


def oracle(logits, targets):
    """PyTorch's cross-entropy, which averages over the N predictions."""
    return torch.nn.functional.cross_entropy(torch.from_numpy(logits), torch.from_numpy(targets)).item()


EXAMPLE = Case(
    sizes={"N": 2, "V": 3},
    inputs={"logits": np.array([[2.00, 0.50, -1.00], [0.30, -0.40, 1.10]]), "targets": np.array([0, 1])},
)


def cases(rng):
    for N, V in [(5, 4), (4, 4), (3, 6), (1, 5), (4, 1), (12, 7)]:
        logits, targets = rng.uniform(-2, 2, size=(N, V)), rng.integers(V, size=N)
        yield Case({"N": N, "V": V}, {"logits": logits, "targets": targets})
    far_apart = rng.permutation([-1000, -1000, 1000, 1000])[:, None]  # the rows differ, the entries of a row do not
    logits, targets = rng.normal(size=(4, 5)) + far_apart, rng.permutation(5)[:4]
    yield Case({"N": 4, "V": 5}, {"logits": logits, "targets": targets}, LARGE)
    logits = rng.uniform(-1000, 1000, size=(3, 4))
    yield Case({"N": 3, "V": 4}, {"logits": logits, "targets": logits.argmin(axis=1)}, LARGE)  # certain, and wrong
    logits = np.where(rng.permuted(np.tile([True, False, False], (6, 1)), axis=1), 1000.0, -1000.0)
    yield Case({"N": 6, "V": 3}, {"logits": logits, "targets": rng.permutation([0, 0, 1, 1, 2, 2])}, LARGE)


SPEC = Spec(
    outputs=[Output("loss")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("ordinary logits", share=3, kinds=("ordinary",)),
        Facet(LARGE, share=1, kinds=(LARGE,)),
    ],
    why=r"""
With $p_y = e^{z_y} / \sum_k e^{z_k}$ we have $-\ln p_y = \ln \sum_k e^{z_k} - z_y$, so no probability has to be
computed that could underflow. Subtracting the largest logit $m$ of the row changes neither side, because
$\ln \sum_k e^{z_k} = m + \ln \sum_k e^{z_k - m}$; after that the largest exponential is 1, so the sum is between 1 and
V and its logarithm is harmless. Two index arrays, the rows and the targets, pick one entry of each row.
""",
)

SHIFTED = "logits - logits.max(axis=1, keepdims=True)"
LOG_PROBS = "shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))"
PROBS = "np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True)"
PICKED = "-log_probs[np.arange(len(targets)), targets]"
SPEC.mistake(
    "sum_for_mean",
    "You return the sum of the losses. Return their mean over the N predictions, so that texts of different lengths "
    "can be compared.",
    change("mean()", "sum()"),
    tempts="The log-likelihood of a text is a sum over its tokens.",
)
SPEC.mistake(
    "divided_by_all_entries",
    "You divide the sum of the losses by N · V, the number of logits. Divide by N: there is one loss for each "
    "prediction, that of its target.",
    change(f"{PICKED}.mean()", "-(log_probs * np.eye(logits.shape[1])[targets]).mean()"),
    tempts="The mean of a one-hot array times the log-probabilities is taken over all entries, most of which are 0.",
)
SPEC.mistake(
    "in_bits",
    "You return the loss in bits. Use the natural logarithm, `np.log`, because the result should be in nats.",
    change("mean()", "mean() / np.log(2)"),
    tempts="Language models are often compared in bits per character.",
)
SPEC.mistake(
    "every_target_in_every_row",
    "You pick the targets of *all* predictions in every row, as `log_probs[:, targets]` does. Pick from each row the "
    "entry of its own target: pair the row numbers, `np.arange(N)`, with the targets.",
    change("np.arange(len(targets))", ":"),
    tempts="A colon seems to say 'in each row'.",
)
SPEC.mistake(
    "normalised_over_the_rows",
    "You normalise along the wrong axis. Sum the exponentials of each *row*, axis 1: the probabilities of the V ids "
    "sum to 1 for each prediction.",
    change(SHIFTED, "logits - logits.max(axis=0)", ("sum(axis=1, keepdims=True)", "sum(axis=0)")),
    tempts="axis=0 is taken for 'over the entries of row 0'.",
)
SPEC.mistake(
    "exp_overflows",
    "You exponentiate the logits as they are, so large ones give nan or infinity: `np.exp(1000)` overflows. Subtract "
    "the largest logit of each row first.",
    change(SHIFTED, "logits"),
    change(SHIFTED, "logits", (LOG_PROBS, f"np.log({PROBS})")),
    tempts="It is the formula, letter by letter.",
    keeps=["ordinary logits"],
)
SPEC.mistake(
    "log_of_zero",
    "You take the logarithm of a probability that has underflowed to 0, wherever the network is certain and wrong. "
    "Simplify the logarithm of the softmax on paper first: it is a difference of two numbers, and both are easy to "
    "compute.",
    change(LOG_PROBS, f"np.log({PROBS})"),
    tempts="With the maximum subtracted the softmax does not overflow, but a probability of e**-1500 underflows to 0.",
    keeps=["ordinary logits"],
)
SPEC.mistake(
    "log_kept_finite",
    "You keep the logarithm finite with a tiny number, so where the probability is smaller than that number, the loss "
    "is far too small. Simplify the logarithm of the softmax on paper first: it is a difference of two numbers, and "
    "both are easy to compute.",
    *(
        change(LOG_PROBS, f"np.log({kept})")
        for kept in (
            f"{PROBS} + 1e-12",
            f"{PROBS} + 1e-15",
            f"{PROBS} + 1e-300",
            f"np.clip({PROBS}, 1e-12, 1)",
            f"np.maximum({PROBS}, 1e-15)",
        )
    ),
    tempts="A tiny number inside the logarithm removes the infinity, but the result is no longer the loss.",
    keeps=["ordinary logits"],
)
SPEC.mistake(
    "one_maximum_for_all_rows",
    "You subtract the largest logit of the whole array everywhere. Subtract the largest logit of each *row*: in a row "
    "whose logits are all far below the rest, the exponentials underflow to 0, and so does their sum.",
    change("logits.max(axis=1, keepdims=True)", "logits.max()"),
    tempts="`logits.max()` stops the overflow; only two rows that are far apart show what is wrong.",
    keeps=["ordinary logits"],
)
SPEC.mistake(
    "maximum_not_added_back",
    "You subtract the largest logit inside the logarithm of the sum, but not from the target's logit. Use the shifted "
    "logits in both places, or add the largest logit to the logarithm again.",
    change(LOG_PROBS, LOG_PROBS.replace("shifted - ", "logits - ")),
    tempts="The shift is thought to change nothing, as in the softmax.",
)
SPEC.mistake(
    "one_sum_for_all_rows",
    "You sum the exponentials of all rows together. Sum each *row*, with `axis=1, keepdims=True`: the probabilities of "
    "one prediction sum to 1.",
    change("sum(axis=1, keepdims=True)", "sum()"),
    tempts="A sum without an axis is right for a single prediction.",
)
SPEC.mistake(
    "softmax_left_out",
    "You average the target's logits as if they were log-probabilities. Subtract from each the logarithm of the sum of "
    "the exponentials of its row first.",
    change(LOG_PROBS, "logits"),
    change(LOG_PROBS, "shifted"),
    tempts="In many libraries the softmax is a part of the network.",
)
SPEC.mistake(
    "mean_of_the_probabilities",
    "You take the logarithm of the mean probability. Take the logarithm of each target's probability first, and the "
    "mean of the N losses afterwards.",
    change(f"{PICKED}.mean()", "-np.log(np.exp(log_probs[np.arange(len(targets)), targets]).mean())"),
    tempts="`log` and `mean` look as if they could be exchanged.",
)


@SPEC.alternative
def log_sum_minus_logit(logits, targets):
    """The logarithm of the sum minus the target's logit, with NumPy's own log-sum-exp."""
    picked = np.take_along_axis(logits, targets[:, None], axis=1)[:, 0]
    return float(np.mean(np.logaddexp.reduce(logits, axis=1) - picked))


@SPEC.alternative
def row_by_row(logits, targets):
    """Plain loops, which return a Python float."""
    total = 0.0
    for z, y in zip(logits.tolist(), targets.tolist(), strict=True):
        largest = max(z)
        total += largest + float(np.log(sum(np.exp(value - largest) for value in z))) - z[y]
    return total / len(targets)


@SPEC.alternative
def with_one_hot(logits, targets):
    """A one-hot array selects the targets, and the sum is divided by N."""
    largest = logits.max(axis=-1)
    log_sum = largest + np.log(np.exp(logits - largest[:, None]).sum(axis=-1))
    hot = np.eye(logits.shape[1])[targets]
    return (log_sum.sum() - (hot * logits).sum()) / len(logits)
