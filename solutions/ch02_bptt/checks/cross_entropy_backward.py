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
    """`highest`: of the ids that are targets; it is one of them."""
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
    far_apart = rng.permutation(np.repeat([-1000, 1000], 3)).reshape(2, 3, 1)  # in each batch places of both kinds
    yield case(rng, rng.normal(size=(2, 3, 4)) + far_apart, highest=3, kind=large)
    logits = rng.uniform(-1000, 1000, size=(2, 2, 5))
    logits[rng.integers(2), rng.integers(2), -1] = -1200  # so that the largest id is a target
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

NEVER_ZERO = [f"(softmax(logits) + {tiny})" for tiny in ("1e-8", "1e-9", "1e-10", "1e-12")] + [
    f"np.maximum(softmax(logits), {least})" for least in ("1e-12", "1e-15")
]
SPEC.mistake(
    "not_divided",
    "Every number is B · T times too large: this is the gradient of the sum of all losses. The loss is their mean, so "
    "the division by B · T is missing.",
    change(" / (B * T)", ""),
    tempts="'Probabilities minus one-hot' is the formula in every book; it is that of one place.",
)
SPEC.mistake(
    "divided_by_the_batch_only",
    "The division is by B alone. The mean is over all B · T places: T is missing.",
    change("(B * T)", "B"),
    tempts="A mean loss is mostly met without time, where it is a mean over the batch.",
)
SPEC.mistake(
    "divided_by_time_only",
    "The division is by T alone. The mean is over all B · T places: B is missing.",
    change("(B * T)", "T"),
    tempts="'Nats a token' suggests the number of tokens of one sequence.",
)
SPEC.mistake(
    "divided_by_every_entry",
    "The division is by B · T · V, the number of logits. The mean is over places, and there are B · T of them.",
    change("(B * T)", "logits.size"),
    tempts="`logits.size` is at hand and a mean divides by the number of entries; the loss has B * T.",
)
SPEC.mistake(
    "divided_and_multiplied",
    "Every number is T · T times too large: this is divided by B, and then multiplied by T. Python takes `/ B * T` "
    "from left to right; the number of places, B · T, needs brackets of its own.",
    change("(B * T)", "B * T"),
    tempts="`/ B * T` reads like 'over B times T'; Python goes from left to right, and multiplies by T.",
)
SPEC.mistake(
    "one_part_divided",
    "Only one of the two parts is divided by B · T: the probabilities, or the 1 at the target. The whole difference "
    "belongs to the mean, so take it first, then divide.",
    change("(softmax(logits) - came) / (B * T)", "softmax(logits) / (B * T) - came"),
    change("(softmax(logits) - came)", "softmax(logits) - came"),
    tempts="The probabilities are divided in the line that makes them; the 1 is taken away afterwards.",
)
SPEC.mistake(
    "sign",
    "The sign is turned round: this is one-hot minus probabilities, the way to go downhill. The gradient points "
    "uphill; at the target it is negative.",
    change("softmax(logits) - came", "came - softmax(logits)"),
    tempts="'Right minus guessed' is how one thinks of an error; it is the way to go, not the gradient.",
)
SPEC.mistake(
    "one_hot_forgotten",
    "The probabilities alone are here; the term −1 at the target is missing. It comes from the part −z of the loss, "
    "which sees the target's logit alone. At each place the gradient's entries add up to 0.",
    change(" - came", ""),
    tempts="The derivative of ln sum exp, the long part, looks like all there is; -z_y is short.",
)
SPEC.mistake(
    "only_at_the_target",
    "The target's logit is right, all others have gradient 0. The loss picks one entry, but each of the V logits is "
    "in that entry's denominator: the term p at all other ids is missing.",
    change("- came)", "- 1) * came"),
    tempts="The loss picks the target's entry alone; but every logit is in that entry's denominator.",
)
SPEC.mistake(
    "one_taken_away_everywhere",
    "1 is taken away at every id. It is taken away at the id that came, and at no other: there the gradient is p "
    "alone.",
    change("- came", "- 1"),
    tempts="At the target the gradient is p - 1, and the whole array takes a number as readily as one.",
)
SPEC.mistake(
    "with_respect_to_the_probabilities",
    "This is the gradient with respect to the probabilities, −1/p at the target. The way through the softmax is "
    "missing: the gradient with respect to the *logits* is due.",
    change("(softmax(logits) - came)", "-came / softmax(logits)"),
    *(change("(softmax(logits) - came)", f"-came / {p}") for p in NEVER_ZERO),
    tempts="The derivative of -ln p is -1/p; that is the gradient of p, one step short of the logits.",
)
SPEC.mistake(
    "logits_for_probabilities",
    "The logits stand where the probabilities belong: the softmax is missing.",
    change("softmax(logits)", "logits"),
    tempts="'Prediction minus target' is the gradient of a squared error, with no softmax in it.",
)
SPEC.mistake(
    "softmax_over_time",
    "The probabilities are normalised along the wrong axis. At each place in each sequence the V probabilities of the "
    "*ids* add up to 1; ids are on the last axis.",
    *(change("softmax(logits)", f"softmax(logits, axis={axis})") for axis in (1, 0, None)),
    tempts="axis=1 is right for logits of shape (B, V), which one has met before.",
)
SPEC.mistake(
    "every_target_at_every_place",
    "At each place 1 is taken away at the targets of other places too. A colon in the index, as in `a[:, :, "
    "targets]`, pairs every entry of its axis with every one of these targets. Each place has its own; as one-hot "
    "rows, or with an array of indices for each of the three axes, they stay apart.",
    *(
        change("np.eye(V)[targets]", f"np.zeros(logits.shape)\ncame[{places}, targets] = 1")
        for places in (":, :", ":, np.arange(T)", "np.arange(B)[:, None], :")
    ),
    tempts="p[:, :, targets] -= 1 reads well; it takes the ids of all places at each of them.",
)
SPEC.mistake(
    "in_place",
    "On the way `logits` itself is changed: `-=`, `/=` and `out=` write into the array that they are given, and a "
    "second name such as `dlogits = logits` makes no copy of it. Let the first step make a new array, as `a = a - b` "
    "does.",
    change("return (softmax(", "dlogits = logits\ndlogits[:] = (softmax(", ("(B * T)", "(B * T)\nreturn dlogits")),
    tempts="`dlogits = logits` looks like a copy; it is a second name, and `dlogits -= …` writes into it.",
)
SPEC.mistake(
    "overflows",
    "Large logits come out as nan: `np.exp(1000)` overflows. The `softmax` given above takes the largest logit away "
    "first.",
    change("softmax(logits)", "np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)"),
    tempts="It is the formula of the softmax, letter by letter.",
    keeps=["ordinary logits"],
)
SPEC.mistake(
    "indices_side_by_side",
    "`np.arange(B)` and `np.arange(T)` are taken side by side, as by `zip`, and not each with each: NumPy refuses "
    "where B is not T, and picks wrong places where it is. Make the first a column, `np.arange(B)[:, None]`; then "
    "the three indices broadcast to (B, T).",
    change("came = np.eye(V)[targets]", "came = np.zeros(logits.shape)\ncame[np.arange(B), np.arange(T), targets] = 1"),
    tempts=("p[np.arange(N), targets] is right for one axis of places; here there are two."),
)
SPEC.mistake(
    "targets_index_the_batch",
    "An index alone, as in `p[targets]`, goes along the first axis, and that is the batch. The ids belong to the "
    "last axis: one entry at each place, not whole sequences.",
    change("came = np.eye(V)[targets]", "came = np.zeros(logits.shape)\ncame[targets] = 1"),
    tempts=("A[ids] picks rows of a table, as in an embedding; here ids are on the last axis."),
)
SPEC.mistake(
    "ids_for_one_hot",
    "The ids themselves are subtracted. A target says *where* 1 is taken away: turn it into a one-hot row, with "
    "one entry for each of the V ids.",
    change("- came", "- targets[..., None]"),
    tempts=("'Probabilities minus targets' is the formula, if targets are one-hot rows."),
)
SPEC.mistake(
    "divided_by_the_ids",
    "The division is by V, the number of ids. The mean is over places, and there are B · T of them.",
    change("(B * T)", "V"),
    tempts=("V is the length of the axis that one works on; the mean of the loss is over the other two."),
)
SPEC.mistake(
    "one_added",
    "At the target 1 is added. It is taken away: the part −z of the loss has the derivative −1 there.",
    change("- came", "+ came"),
    tempts=("+= is what gradients are mostly written with."),
)
SPEC.mistake(
    "one_in_place_of_the_difference",
    "At the target stands −1 alone: the probability is overwritten. Both parts of the loss see the target's "
    "logit, so it gets p − 1: `-=`, not `=`.",
    change("softmax(logits) - came", "np.where(came > 0, -1, softmax(logits))"),
    tempts=("One letter makes the difference between -= 1 and = -1."),
)
SPEC.mistake(
    "probabilities_left_out",
    "Only the part −1 at the target is here. The second part of the loss sees every logit, through the sum below "
    "the line: it adds p at every id.",
    change("softmax(logits) - came", "-came"),
    tempts=("The loss picks the target's entry alone; but every logit is in that entry's denominator."),
)
SPEC.mistake(
    "log_probabilities",
    "Logarithms of the probabilities stand where the probabilities belong. The loss has a logarithm in it, its "
    "gradient has none: p minus one-hot.",
    change("softmax(logits)", "np.log(softmax(logits))"),
    change(
        "softmax(logits)",
        "(lambda z: z - np.log(np.sum(np.exp(z), -1, keepdims=True)))(logits - np.max(logits, -1, keepdims=True))",
    ),
    tempts=("log_softmax is what the loss is made with, and at hand."),
)
SPEC.mistake(
    "logistic_for_softmax",
    "Each logit goes through the logistic function by itself. The V ids share one probability: at each place the "
    "softmax makes them add up to 1.",
    change("softmax(logits)", "(1 / (1 + np.exp(-logits)))"),
    tempts=("1 / (1 + exp(-z)) is right for a yes or no, and the gradient looks the same there."),
)
ONE_SHIFT = "np.exp(logits - logits.max())"
CLIPPED = [f"np.clip(logits, -{most}, {most})" for most in (20, 30, 50, 100, 500, 700)] + [
    f"np.minimum(logits, {most})" for most in (50, 100, 500, 700)
]
SPEC.mistake(
    "one_shift_for_all",
    "Ordinary logits come out right, large ones as nan: you take one number, the largest logit of the whole batch, "
    "away everywhere. At a place whose logits lie far below it the exponentials are all 0, and 0 / 0 is nan. Each "
    "place needs its own largest logit; the `softmax` given above does this.",
    change("softmax(logits)", f"{ONE_SHIFT} / {ONE_SHIFT}.sum(axis=2, keepdims=True)"),
    tempts="`logits.max()` stops the overflow; it takes two distant places to see what is wrong.",
    keeps=["ordinary logits"],
)
SPEC.mistake(
    "logits_clipped",
    "Ordinary logits come out right. Large ones are clipped, so different logits become equal and get the same "
    "probability. Leave them as they are: the `softmax` given above can take logits of any size.",
    *(change("softmax(logits)", f"softmax({clipped})") for clipped in CLIPPED),
    tempts="Clipping stops the overflow.",
    keeps=["ordinary logits"],
)
SPEC.mistake(
    "as_many_ids_as_the_largest_target",
    "The one-hot rows are as long as the largest target asks for. They have V entries, one for each id, also where the "
    "largest id is not among the targets: take V from the shape of `logits`.",
    change("np.eye(V)", "np.eye(targets.max() + 1)"),
    tempts="The largest target seems to tell how many ids there are; in a small batch it may be missing.",
    keeps=["large logits"],
)


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
