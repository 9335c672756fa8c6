"""How `sequence_loss` is checked: against PyTorch's cross-entropy."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec


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


def case(sizes, logits, rng, kind="ordinary"):
    B, T, V = logits.shape
    targets = rng.integers(V, size=(B, T))
    return Case(sizes=sizes, inputs={"logits": logits, "targets": targets}, kind=kind)


def cases(rng):
    for B, T, V in [(2, 5, 4), (3, 3, 3), (1, 4, 3), (4, 1, 5), (3, 2, 1)]:
        yield case({"B": B, "T": T, "V": V}, 2 * rng.normal(size=(B, T, V)), rng)
    large = "large logits"
    yield case(
        {"B": 2, "T": 3, "V": 4}, rng.normal(size=(2, 3, 4)) + rng.choice([-1000, 1000], size=(2, 3, 1)), rng, large
    )
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


@SPEC.misconception()
def sum_for_mean(logits, targets):
    """Tempting because the log-probability of a text is a sum over its tokens."""
    log_p = logits - np.logaddexp.reduce(logits, axis=2, keepdims=True)
    return -np.take_along_axis(log_p, targets[:, :, None], axis=2).sum()


@SPEC.misconception()
def mean_over_the_batch_only(logits, targets):
    """Tempting because 'the loss of a batch' suggests the mean over its B sequences, each summed over time."""
    log_p = logits - np.logaddexp.reduce(logits, axis=2, keepdims=True)
    return -np.take_along_axis(log_p, targets[:, :, None], axis=2).sum() / len(logits)


@SPEC.misconception()
def mean_over_time_only(logits, targets):
    """Tempting because 'a token' suggests division by the number of tokens of one sequence, T."""
    log_p = logits - np.logaddexp.reduce(logits, axis=2, keepdims=True)
    return -np.take_along_axis(log_p, targets[:, :, None], axis=2).sum() / logits.shape[1]


@SPEC.misconception()
def in_bits(logits, targets):
    """Tempting because language models are compared in bits a character."""
    log_p = logits - np.logaddexp.reduce(logits, axis=2, keepdims=True)
    return -np.take_along_axis(log_p, targets[:, :, None], axis=2).mean() / np.log(2)


@SPEC.misconception()
def sign(logits, targets):
    """Tempting because the mean of the log-probabilities looks finished; the minus is in front of the sum."""
    log_p = logits - np.logaddexp.reduce(logits, axis=2, keepdims=True)
    return np.take_along_axis(log_p, targets[:, :, None], axis=2).mean()


@SPEC.misconception()
def softmax_over_time(logits, targets):
    """Tempting because axis=1 is right for logits of shape (B, V), which one has met before."""
    log_p = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    return -np.take_along_axis(log_p, targets[:, :, None], axis=2).mean()


@SPEC.misconception("softmax_over_time")
def softmax_over_the_batch(logits, targets):
    """The same along the first axis."""
    log_p = logits - np.logaddexp.reduce(logits, axis=0, keepdims=True)
    return -np.take_along_axis(log_p, targets[:, :, None], axis=2).mean()


@SPEC.misconception()
def no_softmax(logits, targets):
    """Tempting because 'minus the picked number' is half of the formula; the other half is what normalises it."""
    return -np.take_along_axis(logits, targets[:, :, None], axis=2).mean()


@SPEC.misconception()
def every_target_at_every_place(logits, targets):
    """Tempting because log_p[:, :, targets] reads well; it takes all B x T targets at each of the B x T places."""
    log_p = logits - np.logaddexp.reduce(logits, axis=2, keepdims=True)
    return -log_p[:, :, targets].mean()


@SPEC.misconception(keeps=["ordinary logits"])
def overflows(logits, targets):
    """Tempting because it is the formula, letter by letter."""
    p = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    return -np.log(np.take_along_axis(p, targets[:, :, None], axis=2)).mean()


@SPEC.misconception("overflows")
def overflows_in_the_log_of_the_sum(logits, targets):
    """The same, where the logarithm is taken apart but nothing is taken away first."""
    picked = np.take_along_axis(logits, targets[:, :, None], axis=2)[:, :, 0]
    return -(picked - np.log(np.exp(logits).sum(axis=2))).mean()


@SPEC.misconception(keeps=["ordinary logits"])
def log_of_zero(logits, targets):
    """Tempting because the softmax is at hand and safe; but a probability of e**-1500 is 0 to the machine."""
    e = np.exp(logits - logits.max(axis=2, keepdims=True))
    p = e / e.sum(axis=2, keepdims=True)
    return -np.log(np.take_along_axis(p, targets[:, :, None], axis=2)).mean()


@SPEC.misconception(keeps=["ordinary logits"])
def log_of_a_little_more_than_zero(logits, targets):
    """Tempting because a tiny number inside the logarithm makes the infinity go away; what is left is not the loss."""
    e = np.exp(logits - logits.max(axis=2, keepdims=True))
    p = e / e.sum(axis=2, keepdims=True)
    return -np.log(np.take_along_axis(p, targets[:, :, None], axis=2) + 1e-12).mean()


@SPEC.misconception("log_of_a_little_more_than_zero")
def log_of_at_least_1e_12(logits, targets):
    """The same by clipping."""
    e = np.exp(logits - logits.max(axis=2, keepdims=True))
    p = np.clip(e / e.sum(axis=2, keepdims=True), 1e-12, 1.0)
    return -np.log(np.take_along_axis(p, targets[:, :, None], axis=2)).mean()


@SPEC.misconception("log_of_a_little_more_than_zero")
def log_with_1e_15(logits, targets):
    """The same with another tiny number."""
    e = np.exp(logits - logits.max(axis=2, keepdims=True))
    p = e / e.sum(axis=2, keepdims=True)
    return -np.log(np.maximum(np.take_along_axis(p, targets[:, :, None], axis=2), 1e-15)).mean()


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
