"""How `cross_entropy_backward` is checked: against PyTorch's cross-entropy and its autograd."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec, change


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


def case(rng, logits, highest, kind="ordinary"):
    """Draw targets from 0 to `highest`; `highest` itself is among them."""
    B, T, V = logits.shape
    targets = rng.integers(highest + 1, size=(B, T))
    targets[rng.integers(B), rng.integers(T)] = highest
    return Case(sizes={"B": B, "T": T, "V": V}, inputs={"logits": logits, "targets": targets}, kind=kind)


def cases(rng):
    for B, T, V in [(2, 5, 4), (3, 3, 3), (1, 4, 3), (4, 1, 5), (3, 2, 1)]:
        yield case(rng, 2 * rng.normal(size=(B, T, V)), highest=V - 1)
    yield case(rng, 2 * rng.normal(size=(3, 2, 5)), highest=3)  # the largest id of all is never a target
    yield case(rng, 2 * rng.normal(size=(2, 2, 4)), highest=0)
    large = "large logits"
    far_apart = rng.permutation(np.repeat([-1000, 1000], 3)).reshape(2, 3, 1)  # each batch has positions of both kinds
    yield case(rng, rng.normal(size=(2, 3, 4)) + far_apart, highest=3, kind=large)
    logits = rng.uniform(-1000, 1000, size=(2, 2, 5))
    logits[rng.integers(2), rng.integers(2), -1] = -1200  # so that the largest id is a target
    targets = logits.argmin(axis=2)  # the network is confident in another id
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
At one position the loss is $-z_y + \ln \sum_j e^{z_j}$. Differentiate the two terms: the first gives −1 at the target,
the second $e^{z_i} / \sum_j e^{z_j} = p_i$ at every id. So the gradient is the probabilities minus a one-hot row. It
contains no division by a probability, which could be tiny; this is why the softmax and the logarithm are differentiated
together. `np.eye(V)[targets]` has such a row for each of the B · T positions, and because the loss is the mean over all
of them, the gradient of each is divided by B · T. At every position the V entries add up to 0, because raising all
logits by the same amount changes no probability.
""",
)

NEVER_ZERO = [f"(softmax(logits) + {tiny})" for tiny in ("1e-8", "1e-9", "1e-10", "1e-12")] + [
    f"np.maximum(softmax(logits), {least})" for least in ("1e-12", "1e-15")
]
SPEC.mistake(
    "not_divided",
    "You compute the gradient of the sum of all losses, so every entry is B · T times too large. Divide by B · T, "
    "because the loss is the mean over all positions.",
    change(" / (B * T)", ""),
    tempts="'Probabilities minus one-hot' is the formula in every book, but it is the gradient at a single position.",
)
SPEC.mistake(
    "divided_by_the_batch_only",
    "You divide by B alone. Divide by B · T, because the loss is a mean over time as well as over the batch.",
    change("(B * T)", "B"),
    tempts="A mean loss mostly appears without a time axis, where it is a mean over the batch.",
)
SPEC.mistake(
    "divided_by_time_only",
    "You divide by T alone. Divide by B · T, because the loss is a mean over the batch as well as over time.",
    change("(B * T)", "T"),
    tempts="'Nats per token' suggests the number of tokens in one sequence.",
)
SPEC.mistake(
    "divided_by_every_entry",
    "You divide by B · T · V, the number of logits. Divide by B · T, because the mean is over positions, and each "
    "position has one loss.",
    change("(B * T)", "logits.size"),
    tempts="`logits.size` is easy to write, and a mean often divides by the number of entries; the loss has only B * "
    "T.",
)
SPEC.mistake(
    "divided_and_multiplied",
    "You divide by B and then multiply by T, because Python evaluates `/ B * T` from left to right; every entry comes "
    "out T · T times too large. Put the number of positions in parentheses: `/ (B * T)`.",
    change("(B * T)", "B * T"),
    tempts="`/ B * T` reads like 'over B times T', but Python evaluates it from left to right.",
)
SPEC.mistake(
    "one_part_divided",
    "You divide only one of the two parts by B · T: the probabilities, or the 1 at the target. Take the difference "
    "first and divide all of it, because both parts belong to the mean.",
    change("(softmax(logits) - one_hot) / (B * T)", "softmax(logits) / (B * T) - one_hot"),
    change("(softmax(logits) - one_hot)", "softmax(logits) - one_hot"),
    tempts="The probabilities are divided where they are computed, and the 1 is subtracted afterwards.",
)
SPEC.mistake(
    "sign",
    "Your signs are reversed: you compute one-hot minus probabilities, the direction in which the loss *falls*. "
    "Subtract the other way round, because a gradient points to where the loss rises. At the target it is negative.",
    change("softmax(logits) - one_hot", "one_hot - softmax(logits)"),
    tempts="'Right minus predicted' is how an error is usually written; it is the direction of the update, not the "
    "gradient.",
)
SPEC.mistake(
    "one_hot_forgotten",
    "You return the probabilities alone and leave out the −1 at the target. Subtract it, because the loss contains −z "
    "of the target's logit. As a check, the entries at each position must add up to 0.",
    change(" - one_hot", ""),
    tempts="The derivative of ln sum exp, the long term, looks like the whole gradient; the term -z_y is easily "
    "overlooked.",
)
SPEC.mistake(
    "only_at_the_target",
    "You compute the gradient of the target's logit alone and leave all others at 0. Give the other ids the term p, "
    "because every logit is in the denominator of the target's probability.",
    change("- one_hot)", "- 1) * one_hot"),
    tempts="The loss picks the target's entry alone, but every logit is in the denominator of that entry.",
)
SPEC.mistake(
    "one_subtracted_everywhere",
    "You subtract 1 at every id. Subtract it only at the target, because only the target's logit is in the term −z of "
    "the loss. At all other ids the gradient is p.",
    change("- one_hot", "- 1"),
    tempts="At the target the gradient is p - 1, and subtracting 1 from a whole array raises no error.",
)
SPEC.mistake(
    "with_respect_to_the_probabilities",
    "You compute the gradient with respect to the probabilities, −1/p at the target. Pass it back through the softmax "
    "as well, because you are asked for the gradient with respect to the *logits*.",
    change("(softmax(logits) - one_hot)", "-one_hot / softmax(logits)"),
    *(change("(softmax(logits) - one_hot)", f"-one_hot / {p}") for p in NEVER_ZERO),
    tempts="The derivative of -ln p is -1/p, but that is the gradient with respect to p, one step before the logits.",
)
SPEC.mistake(
    "logits_for_probabilities",
    "You use the logits where the probabilities belong. Apply the softmax first, because the derivative of the log of "
    "the sum is a probability.",
    change("softmax(logits)", "logits"),
    tempts="'Prediction minus target' is the gradient of a squared error, which has no softmax in it.",
)
SPEC.mistake(
    "softmax_over_time",
    "Your softmax does not run along the last axis alone. Apply it along that axis, because at each position of each "
    "sequence the probabilities of the V *ids* must add up to 1.",
    *(change("softmax(logits)", f"softmax(logits, axis={axis})") for axis in (1, 0, None)),
    tempts="axis=1 is right for logits of shape (B, V), which are more common.",
)
SPEC.mistake(
    "every_target_at_every_place",
    "At each position you also subtract 1 at the targets of other positions. A colon in an index such as `a[:, :, "
    "targets]` combines every entry of its axis with every one of these targets. Use one-hot rows, or an index array "
    "for each of the three axes, because each position has only its own target.",
    *(
        change("np.eye(V)[targets]", f"np.zeros(logits.shape)\none_hot[{places}, targets] = 1")
        for places in (":, :", ":, np.arange(T)", "np.arange(B)[:, None], :")
    ),
    tempts="p[:, :, targets] -= 1 reads well, but it uses the targets of all positions at each of them.",
)
SPEC.mistake(
    "in_place",
    "You change `logits` itself: `-=`, `/=`, `a[:] = …` and `out=` write into an existing array, and `dlogits = "
    "logits` is a second name for it, not a copy. Make a new array instead, as `a = a - b` does, because the caller "
    "still needs the logits.",
    change("return (softmax(", "dlogits = logits\ndlogits[:] = (softmax(", ("(B * T)", "(B * T)\nreturn dlogits")),
    tempts="`dlogits = logits` looks like a copy, but it is a second name, and `dlogits -= …` writes into `logits`.",
)
SPEC.mistake(
    "overflows",
    "Your result is nan for large logits, because `np.exp(1000)` overflows. Use the `softmax` given above: it "
    "subtracts the largest logit first.",
    change("softmax(logits)", "np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)"),
    tempts="It is the formula of the softmax, written down literally.",
    keeps=["ordinary logits"],
)
SPEC.mistake(
    "indices_side_by_side",
    "You index with `np.arange(B)` and `np.arange(T)`, which NumPy pairs like `zip` instead of combining each with "
    "each. Depending on B and T, that raises an error or picks the wrong positions. Make the first a column, "
    "`np.arange(B)[:, None]`, so that the three indices broadcast to (B, T).",
    change(
        "one_hot = np.eye(V)[targets]",
        "one_hot = np.zeros(logits.shape)\none_hot[np.arange(B), np.arange(T), targets] = 1",
    ),
    tempts="p[np.arange(N), targets] is right for one axis of positions, but here there are two.",
)
SPEC.mistake(
    "targets_index_the_batch",
    "You index with the targets alone, as in `p[targets]`, which selects whole sequences along the first axis. Index "
    "the last axis instead, one entry at each position, because that is the axis of the ids.",
    change("one_hot = np.eye(V)[targets]", "one_hot = np.zeros(logits.shape)\none_hot[targets] = 1"),
    tempts="A[ids] picks rows of a table, as in an embedding, but here the ids are on the last axis.",
)
SPEC.mistake(
    "ids_for_one_hot",
    "You subtract the ids themselves. Turn each target into a one-hot row of V entries first, because a target only "
    "says *where* to subtract 1.",
    change("- one_hot", "- targets[..., None]"),
    tempts="'Probabilities minus targets' is the formula if the targets are one-hot rows.",
)
SPEC.mistake(
    "divided_by_the_ids",
    "You divide by V, the number of ids. Divide by B · T, because the mean is over positions.",
    change("(B * T)", "V"),
    tempts="V is the length of the axis on which the work happens, but the mean is over the other two.",
)
SPEC.mistake(
    "one_added",
    "You add 1 at the target. Subtract it, because the term −z of the loss has the derivative −1 there.",
    change("- one_hot", "+ one_hot"),
    tempts="Gradients are mostly written with +=.",
)
SPEC.mistake(
    "one_in_place_of_the_difference",
    "You overwrite the probability at the target with −1. Subtract 1 from it instead (`-=`, not `=`): both terms of "
    "the loss depend on the target's logit, so its gradient is p − 1.",
    change("softmax(logits) - one_hot", "np.where(one_hot > 0, -1, softmax(logits))"),
    tempts="A single character separates -= 1 from = -1.",
)
SPEC.mistake(
    "probabilities_left_out",
    "You return only the −1 at the target. Add p at every id, because the second term of the loss, the log of the "
    "sum, depends on every logit.",
    change("softmax(logits) - one_hot", "-one_hot"),
    tempts="The loss picks the target's entry alone, but every logit is in the denominator of that entry.",
)
SPEC.mistake(
    "log_probabilities",
    "You use the logarithms of the probabilities where the probabilities belong. Use p itself: the loss contains a "
    "logarithm, but its gradient does not.",
    change("softmax(logits)", "np.log(softmax(logits))"),
    change(
        "softmax(logits)",
        "(lambda z: z - np.log(np.sum(np.exp(z), -1, keepdims=True)))(logits - np.max(logits, -1, keepdims=True))",
    ),
    tempts="log_softmax is what the loss is computed from, and it is there already.",
)
SPEC.mistake(
    "logistic_for_softmax",
    "You apply the logistic function to each logit separately. Use the softmax, because the probabilities of the V "
    "ids at a position must add up to 1.",
    change("softmax(logits)", "(1 / (1 + np.exp(-logits)))"),
    tempts="1 / (1 + exp(-z)) is right for a yes-or-no question, and the gradient there looks the same.",
)
ONE_SHIFT = "np.exp(logits - logits.max())"
CLIPPED = [f"np.clip(logits, -{most}, {most})" for most in (20, 30, 50, 100, 500, 700)] + [
    f"np.minimum(logits, {most})" for most in (50, 100, 500, 700)
]
SPEC.mistake(
    "one_shift_for_all",
    "You subtract the same number everywhere, the largest logit of the whole batch. Where a position's logits lie far "
    "below it, all exponentials are 0, and 0 / 0 is nan. Subtract each position's own largest logit, as the `softmax` "
    "given above does. Your result is right for ordinary logits.",
    change("softmax(logits)", f"{ONE_SHIFT} / {ONE_SHIFT}.sum(axis=2, keepdims=True)"),
    tempts="`logits.max()` stops the overflow, and the fault shows only where two positions have very different "
    "logits.",
    keeps=["ordinary logits"],
)
SPEC.mistake(
    "logits_clipped",
    "You clip large logits, which makes different logits equal and gives them the same probability. Leave them as "
    "they are, because the `softmax` given above handles logits of any size. Your result is right for ordinary "
    "logits.",
    *(change("softmax(logits)", f"softmax({clipped})") for clipped in CLIPPED),
    tempts="Clipping stops the overflow.",
    keeps=["ordinary logits"],
)
SPEC.mistake(
    "as_many_ids_as_the_largest_target",
    "Your one-hot rows are only as long as the largest target requires. Take V from the shape of `logits`, because "
    "the largest id need not be among the targets.",
    change("np.eye(V)", "np.eye(targets.max() + 1)"),
    tempts="The largest target seems to tell how many ids there are, but a small batch may not contain the largest id.",
    keeps=["large logits"],
)


@SPEC.alternative
def one_subtracted_by_index(logits, targets):
    """The usual code: subtract 1 at each target of a copy of the probabilities, with three index arrays."""
    B, T, _ = logits.shape
    e = np.exp(logits - logits.max(axis=2, keepdims=True))
    dlogits = e / e.sum(axis=2, keepdims=True)
    dlogits[np.arange(B)[:, None], np.arange(T), targets] -= 1
    return dlogits / (B * T)


@SPEC.alternative
def position_by_position(logits, targets):
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
    """All positions in one axis."""
    z, y = logits.reshape(-1, logits.shape[2]), targets.ravel()
    p = np.exp(z - np.logaddexp.reduce(z, axis=1, keepdims=True))
    p[np.arange(len(y)), y] -= 1
    return (p / len(y)).reshape(logits.shape)


@SPEC.alternative
def along_the_last_axis(logits, targets):
    """The one-hot rows are written by np.put_along_axis."""
    one_hot = np.zeros(logits.shape)
    np.put_along_axis(one_hot, targets[:, :, None], 1.0, axis=2)
    p = np.exp(logits - np.logaddexp.reduce(logits, axis=2, keepdims=True))
    return (p - one_hot) / targets.size


@SPEC.alternative
def backward_step_by_step(logits, targets):
    """The two terms of the loss, the log of the sum and the target's logit, differentiated separately."""
    ids = np.arange(logits.shape[2])
    weight = 1 / targets.size
    log_sum = np.logaddexp.reduce(logits, axis=2, keepdims=True)
    from_the_sum = weight * np.exp(logits - log_sum)
    from_the_target = np.where(ids == targets[..., None], -weight, 0.0)
    return from_the_sum + from_the_target
