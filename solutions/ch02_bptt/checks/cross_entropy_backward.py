"""How `cross_entropy_backward` is checked: against PyTorch's cross-entropy and its autograd."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec


def oracle(logits, targets):
    """PyTorch's mean cross-entropy, differentiated by autograd in float64."""
    z = torch.from_numpy(logits).requires_grad_()
    torch.nn.functional.cross_entropy(z.reshape(-1, z.shape[2]), torch.from_numpy(targets).reshape(-1)).backward()
    return z.grad.numpy()


EXAMPLE = Case(
    sizes={"B": 1, "T": 2, "V": 3},
    inputs={
        "logits": np.array([[[0.50, -1.00, 2.00], [1.20, 0.00, -0.30]]]),
        "targets": np.array([[2, 1]]),
    },
)


def case(sizes, logits, rng, kind="ordinary"):
    B, T, V = logits.shape
    return Case(sizes=sizes, inputs={"logits": logits, "targets": rng.integers(V, size=(B, T))}, kind=kind)


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
    outputs=[Output("dlogits", ("B", "T", "V"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("ordinary logits", share=3, kinds=("ordinary",)),
        Facet("large logits", share=1, kinds=("large logits",)),
    ],
    why=r"""
At one place the loss is $-z_y + \ln \sum_j e^{z_j}$. Differentiate the two parts: the first gives −1 at the target, the
second $e^{z_i} / \sum_j e^{z_j} = p_i$ at every id. So the gradient is the probabilities minus a one-hot row, and no
division by a probability is left, however small it is: that is why the softmax and the logarithm are differentiated
together. `np.eye(V)[targets]` has such a row at each of the B × T places, and since the loss is the mean over all of
them, each one's gradient is divided by B · T. At every place the V numbers add up to 0: raising all logits alike
changes no probability.
""",
)


@SPEC.misconception()
def not_divided(logits, targets):
    """Tempting because 'probabilities minus one-hot' is the formula in every book; it is that of one place."""
    p = np.exp(logits - np.logaddexp.reduce(logits, axis=2, keepdims=True))
    return p - np.eye(logits.shape[2])[targets]


@SPEC.misconception()
def divided_by_the_batch_only(logits, targets):
    """Tempting because a mean loss is mostly met without time, where it is a mean over the batch."""
    p = np.exp(logits - np.logaddexp.reduce(logits, axis=2, keepdims=True))
    return (p - np.eye(logits.shape[2])[targets]) / len(logits)


@SPEC.misconception()
def divided_by_time_only(logits, targets):
    """Tempting because 'nats a token' suggests the number of tokens of one sequence."""
    p = np.exp(logits - np.logaddexp.reduce(logits, axis=2, keepdims=True))
    return (p - np.eye(logits.shape[2])[targets]) / logits.shape[1]


@SPEC.misconception()
def divided_by_every_entry(logits, targets):
    """Tempting because `logits.size` is at hand and a mean divides by the number of entries; the loss has B * T."""
    p = np.exp(logits - np.logaddexp.reduce(logits, axis=2, keepdims=True))
    return (p - np.eye(logits.shape[2])[targets]) / logits.size


@SPEC.misconception()
def divided_and_multiplied(logits, targets):
    """Tempting because `/ B * T` reads like 'over B times T'; Python goes from left to right, and multiplies by T."""
    B, T, V = logits.shape
    p = np.exp(logits - np.logaddexp.reduce(logits, axis=2, keepdims=True))
    return (p - np.eye(V)[targets]) / B * T


@SPEC.misconception()
def one_part_divided(logits, targets):
    """Tempting because the probabilities are divided in the line that makes them; the 1 is taken away afterwards."""
    B, T, V = logits.shape
    p = np.exp(logits - np.logaddexp.reduce(logits, axis=2, keepdims=True))
    return p / (B * T) - np.eye(V)[targets]


@SPEC.misconception("one_part_divided")
def only_the_one_divided(logits, targets):
    """The other way round; also what `p - came / (B * T)` gives, with no brackets around the difference."""
    B, T, V = logits.shape
    p = np.exp(logits - np.logaddexp.reduce(logits, axis=2, keepdims=True))
    return p - np.eye(V)[targets] / (B * T)


@SPEC.misconception()
def sign(logits, targets):
    """Tempting because 'right minus guessed' is how one thinks of an error; it is the way to go, not the gradient."""
    B, T, V = logits.shape
    p = np.exp(logits - np.logaddexp.reduce(logits, axis=2, keepdims=True))
    return (np.eye(V)[targets] - p) / (B * T)


@SPEC.misconception()
def one_hot_forgotten(logits, targets):
    """Tempting because the derivative of ln sum exp, the long part, looks like all there is; -z_y is short."""
    B, T, _ = logits.shape
    return np.exp(logits - np.logaddexp.reduce(logits, axis=2, keepdims=True)) / (B * T)


@SPEC.misconception()
def only_at_the_target(logits, targets):
    """Tempting because the loss picks the target's entry alone; but every logit is in that entry's denominator."""
    B, T, V = logits.shape
    p = np.exp(logits - np.logaddexp.reduce(logits, axis=2, keepdims=True))
    return (p - 1) * np.eye(V)[targets] / (B * T)


@SPEC.misconception()
def one_taken_away_everywhere(logits, targets):
    """Tempting because at the target the gradient is p - 1, and the whole array takes a number as readily as one."""
    B, T, _ = logits.shape
    p = np.exp(logits - np.logaddexp.reduce(logits, axis=2, keepdims=True))
    return (p - 1) / (B * T)


@SPEC.misconception()
def with_respect_to_the_probabilities(logits, targets):
    """Tempting because the derivative of -ln p is -1/p; that is the gradient of p, one step short of the logits."""
    B, T, V = logits.shape
    p = np.exp(logits - np.logaddexp.reduce(logits, axis=2, keepdims=True))
    return -np.eye(V)[targets] / p / (B * T)


@SPEC.misconception()
def logits_for_probabilities(logits, targets):
    """Tempting because 'prediction minus target' is the gradient of a squared error, with no softmax in it."""
    B, T, V = logits.shape
    return (logits - np.eye(V)[targets]) / (B * T)


@SPEC.misconception()
def softmax_over_time(logits, targets):
    """Tempting because axis=1 is right for logits of shape (B, V), which one has met before."""
    B, T, V = logits.shape
    p = np.exp(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))
    return (p - np.eye(V)[targets]) / (B * T)


@SPEC.misconception("softmax_over_time")
def softmax_over_the_batch(logits, targets):
    """The same along the first axis."""
    B, T, V = logits.shape
    p = np.exp(logits - np.logaddexp.reduce(logits, axis=0, keepdims=True))
    return (p - np.eye(V)[targets]) / (B * T)


@SPEC.misconception("softmax_over_time")
def softmax_over_everything(logits, targets):
    """The same with one sum over all three axes."""
    B, T, V = logits.shape
    p = np.exp(logits - np.logaddexp.reduce(logits, axis=None))
    return (p - np.eye(V)[targets]) / (B * T)


@SPEC.misconception()
def every_target_at_every_place(logits, targets):
    """Tempting because p[:, :, targets] -= 1 reads well; it takes the ids of all places at each of them."""
    B, T, _ = logits.shape
    p = np.exp(logits - np.logaddexp.reduce(logits, axis=2, keepdims=True))
    p[:, :, targets] -= 1
    return p / (B * T)


@SPEC.misconception("every_target_at_every_place")
def every_row_s_target_at_every_place(logits, targets):
    """The same with an index for time, and a colon for the batch alone."""
    B, T, _ = logits.shape
    p = np.exp(logits - np.logaddexp.reduce(logits, axis=2, keepdims=True))
    p[:, np.arange(T), targets] -= 1
    return p / (B * T)


@SPEC.misconception("every_target_at_every_place")
def every_step_s_target_at_every_place(logits, targets):
    """The same with an index for the batch, and a colon for time alone."""
    B, T, _ = logits.shape
    p = np.exp(logits - np.logaddexp.reduce(logits, axis=2, keepdims=True))
    p[np.arange(B)[:, None], :, targets] -= 1
    return p / (B * T)


@SPEC.misconception()
def in_place(logits, targets):
    """Tempting because `dlogits = logits` looks like a copy; it is a second name, and `dlogits -= …` writes into it."""
    B, T, V = logits.shape
    dlogits = logits
    dlogits -= dlogits.max(axis=2, keepdims=True)
    np.exp(dlogits, out=dlogits)
    dlogits /= dlogits.sum(axis=2, keepdims=True)
    dlogits -= np.eye(V)[targets]
    dlogits /= B * T
    return dlogits


@SPEC.misconception(keeps=["ordinary logits"])
def overflows(logits, targets):
    """Tempting because it is the formula of the softmax, letter by letter."""
    B, T, V = logits.shape
    p = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    return (p - np.eye(V)[targets]) / (B * T)


@SPEC.alternative
def one_taken_away_by_index(logits, targets):
    """The usual code: a copy of the probabilities, and 1 taken away at each target by three index arrays."""
    B, T, _ = logits.shape
    e = np.exp(logits - logits.max(axis=2, keepdims=True))
    dlogits = e / e.sum(axis=2, keepdims=True)
    dlogits[np.arange(B)[:, None], np.arange(T), targets] -= 1
    return dlogits / (B * T)


@SPEC.alternative
def place_by_place(logits, targets):
    """Two loops, and one row of V numbers at a time."""
    B, T, V = logits.shape
    dlogits = np.zeros((B, T, V))
    for b in range(B):
        for t in range(T):
            e = np.exp(logits[b, t] - max(logits[b, t]))
            dlogits[b, t] = e / sum(e) / (B * T)
            dlogits[b, t, targets[b, t]] -= 1 / (B * T)
    return dlogits


@SPEC.alternative
def flat(logits, targets):
    """All places in one axis."""
    z, y = logits.reshape(-1, logits.shape[2]), targets.ravel()
    p = np.exp(z - np.logaddexp.reduce(z, axis=1, keepdims=True))
    p[np.arange(len(y)), y] -= 1
    return (p / len(y)).reshape(logits.shape)


@SPEC.alternative
def along_the_last_axis(logits, targets):
    """np.put_along_axis writes the one-hot rows."""
    came = np.zeros(logits.shape)
    np.put_along_axis(came, targets[:, :, None], 1.0, axis=2)
    p = np.exp(logits - np.logaddexp.reduce(logits, axis=2, keepdims=True))
    return (p - came) / targets.size


@SPEC.alternative
def backward_step_by_step(logits, targets):
    """Through the logarithm of the sum and the picked logit, each by its own derivative."""
    ids = np.arange(logits.shape[2])
    share = 1 / targets.size
    log_sum = np.logaddexp.reduce(logits, axis=2, keepdims=True)
    from_the_sum = share * np.exp(logits - log_sum)
    from_the_target = np.where(ids == targets[..., None], -share, 0.0)
    return from_the_sum + from_the_target
