"""How `temperature_probs` is checked: against `torch.softmax` of shifted logits, and a one-hot row at temperature 0."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec, change


def oracle(logits, temperature):
    """PyTorch's softmax of the distances to the largest logit, divided by the temperature."""
    below = torch.from_numpy(logits) - torch.from_numpy(logits).amax(dim=-1, keepdim=True)
    if temperature == 0:
        return (below == 0).double().numpy()
    return torch.softmax(below / temperature, dim=-1).numpy()


ORDINARY, LARGE, ZERO = "ordinary", "large quotients", "temperature 0"

EXAMPLE = Case(
    sizes={"B": 2, "V": 3},
    inputs={"logits": np.array([[2.00, 0.00, -1.00], [0.30, 1.20, -0.50]]), "temperature": 0.5},
)


def case(shape, logits, temperature, kind=ORDINARY):
    names = ("V",) if len(shape) == 1 else ("B", "V") if len(shape) == 2 else ("B", "T", "V")
    sizes = dict(zip(names, shape, strict=True))
    return Case(sizes, {"logits": logits.round(2), "temperature": temperature}, kind)


def distinct(rng, shape, scale=1.0):
    """Normal logits, in each row all at least 0.05 apart, with the largest neither first nor last in the first row."""
    V = shape[-1]
    while True:
        logits = (scale * rng.normal(size=shape)).round(2)
        if V == 1 or (np.diff(np.sort(logits, axis=-1), axis=-1).min() > 0.05 and in_place(logits)):
            return logits


def in_place(logits):
    """Whether the whole array has one largest entry, and the rows' largest entries are at different places."""
    rows = logits.reshape(-1, logits.shape[-1])
    largest = rows.argmax(axis=1)
    return (rows == rows.max()).sum() == 1 and (len(rows) == 1 or len(set(largest)) > 1)


def cases(rng):
    for shape, temperature in (
        ((2, 5), 2.0),
        ((4, 4), 0.7),
        ((6,), 1.5),
        ((2, 3, 4), 0.4),
        ((1, 5), 25.0),
        ((3, 1), 0.8),
    ):
        yield case(shape, distinct(rng, shape), temperature)

    yield case((2, 5), distinct(rng, (2, 5)) - 3, 1e-300, LARGE)
    yield case((3, 4), distinct(rng, (3, 4)), 0.001, LARGE)
    yield case((2, 4), distinct(rng, (2, 4)) + np.array([[900.0], [-900.0]]), 1.0, LARGE)
    yield case((3, 3), distinct(rng, (3, 3), 20.0) - 500, 0.5, LARGE)
    yield case((2, 2, 3), distinct(rng, (2, 2, 3)) + 500, 1e-3, LARGE)

    near = np.stack([rng.permutation(6)[:4] for _ in range(3)])  # different whole numbers in each row
    yield case((3, 4), 5 + near / 100, 0.005, LARGE)  # small, but far from greedy

    yield case((5,), distinct(rng, (5,)), 0.0, ZERO)
    yield case((3, 4), distinct(rng, (3, 4)) - 4, 0.0, ZERO)
    yield case((2, 3, 5), distinct(rng, (2, 3, 5)), 0.0, ZERO)
    yield case((4, 1), distinct(rng, (4, 1)), 0.0, ZERO)


SPEC = Spec(
    outputs=[Output("probs")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("ordinary temperatures", share=2, kinds=(ORDINARY,)),
        Facet("large quotients", share=1, kinds=(LARGE,)),
        Facet("temperature 0", share=1, kinds=(ZERO,)),
    ],
    why=r"""
Dividing all logits by $\tau$ multiplies their differences by $1 / \tau$, and only differences matter to a softmax: with
a small temperature the largest logit wins by more. The quotients may be as large as $10^{303}$, which float64 can hold,
and the softmax subtracts the largest of them before it exponentiates, so the result is finite. At 0 there is nothing to
divide by, and the limit is taken directly: 1 at the largest logit, 0 elsewhere.
""",
)

RETURN = "return softmax(logits / temperature)"
GREEDY = "return np.eye(logits.shape[-1])[logits.argmax(axis=-1)]"
BRANCH = f"if temperature == 0:\n    {GREEDY}\n"
SPEC.mistake(
    "multiplied_by_the_temperature",
    "Your probabilities become sharper with a higher temperature. Divide the logits by the temperature before the "
    "softmax; do not multiply them, or raise probabilities to this power, which is the same.",
    change(RETURN, "return softmax(logits * temperature)"),
    change(RETURN, "p = softmax(logits) ** temperature\nreturn p / p.sum(axis=-1, keepdims=True)"),
    tempts="A higher temperature sounds like more of everything.",
    keeps=["temperature 0"],
)
SPEC.mistake(
    "probabilities_divided",
    "You divide the probabilities by the temperature, so they no longer sum to 1. Divide the logits, before the "
    "softmax.",
    change(RETURN, "return softmax(logits) / temperature"),
    tempts="The division is done at the end, on the result.",
    keeps=["temperature 0"],
)
SPEC.mistake(
    "temperature_has_no_effect",
    "The temperature has no effect on your probabilities: a number by which all of them are divided cancels when they "
    "are normalised. Divide the logits by it, before the softmax.",
    change(RETURN, "return softmax(logits)"),
    change(RETURN, "p = softmax(logits) / temperature\nreturn p / p.sum(axis=-1, keepdims=True)"),
    tempts="Dividing the exponentials or probabilities looks much like dividing the logits.",
    keeps=["temperature 0"],
)
SPEC.mistake(
    "maximum_not_subtracted",
    "You exponentiate the quotients as they are, and large ones overflow or all become 0, so the result is nan. Use "
    "the given `softmax`, or subtract the largest entry of each row first.",
    change(RETURN, "e = np.exp(logits / temperature)\nreturn e / e.sum(axis=-1, keepdims=True)"),
    tempts="It is the formula, letter by letter.",
    keeps=["ordinary temperatures", "temperature 0"],
)
SPEC.mistake(
    "nan_replaced",
    "You let large quotients overflow, and then replace the nan by a number. Use the given `softmax`, or subtract the "
    "largest entry of each row first, so that nothing overflows.",
    change(RETURN, "e = np.exp(logits / temperature)\nreturn np.nan_to_num(e / e.sum(axis=-1, keepdims=True))"),
    tempts="`np.nan_to_num` makes the nan go away.",
    keeps=["ordinary temperatures", "temperature 0"],
)
SPEC.mistake(
    "powers_of_probabilities",
    "You raise probabilities to the power 1 / temperature. On paper that is right, but for a small temperature all "
    "powers become 0, and 0 / 0 is nan. Divide the logits instead, before the softmax.",
    change(RETURN, "p = softmax(logits) ** (1 / temperature)\nreturn p / p.sum(axis=-1, keepdims=True)"),
    tempts="The probabilities of the model are at hand, and the power has the same effect as long as it is moderate.",
    keeps=["ordinary temperatures", "temperature 0"],
)
SPEC.mistake(
    "over_the_first_axis",
    "You normalise along the first axis, so the columns sum to 1. Work along the last axis, which contains the "
    "V tokens, whatever axes are in front of it.",
    change(
        RETURN,
        "z = logits / temperature\ne = np.exp(z - z.max(axis=0))\nreturn e / e.sum(axis=0)",
    ),
    tempts="axis=0 comes to mind first, and is right for a single row.",
    keeps=["temperature 0"],
)
SPEC.mistake(
    "normalised_over_everything",
    "You normalise over the whole array, so all its numbers together sum to 1. Each row along the last axis has to "
    "sum to 1 by itself.",
    change(RETURN, "z = logits / temperature\ne = np.exp(z - z.max())\nreturn e / e.sum()"),
    tempts="A maximum and a sum without an axis are right for a single row, which is what one tries first.",
    keeps=["temperature 0"],
)
SPEC.mistake(
    "zero_not_treated",
    "With temperature 0 you divide by 0, which gives nan. Treat this case by itself: 1 at the largest logit of each "
    "row, 0 elsewhere.",
    change(BRANCH, ""),
    tempts="The formula does not mention it.",
    keeps=["ordinary temperatures", "large quotients"],
)
SPEC.mistake(
    "zero_leaves_the_logits_as_they_are",
    "With temperature 0 you return the softmax of the logits as they are, as if it were 1. The limit for small "
    "temperatures is greedy: 1 at the largest logit of each row, 0 elsewhere.",
    change(GREEDY, "return softmax(logits)"),
    tempts="`if temperature > 0: logits = logits / temperature` avoids the division by 0.",
    keeps=["ordinary temperatures", "large quotients"],
)
SPEC.mistake(
    "zero_gives_equal_probabilities",
    "With temperature 0 you make all tokens equally likely. This is what a very *high* temperature does: at 0, the "
    "largest logit of each row gets 1, the others 0.",
    change(GREEDY, "return softmax(0 * logits)"),
    tempts="Nothing times anything is nothing, and the softmax of zeros is uniform.",
    keeps=["ordinary temperatures", "large quotients"],
)
SPEC.mistake(
    "zero_returns_ids",
    "With temperature 0 you return the id of the largest logit. Return probabilities of the shape of `logits`: 1 at "
    "this id, 0 elsewhere.",
    change(GREEDY, "return logits.argmax(axis=-1)"),
    tempts="Greedy decoding needs nothing but the id.",
    keeps=["ordinary temperatures", "large quotients"],
)
SPEC.mistake(
    "zero_gives_integers_or_truth_values",
    "With temperature 0 you return integers or truth values. Probabilities are float64 at every temperature: convert "
    "them with `.astype(float)`.",
    change(GREEDY, "return logits == logits.max(axis=-1, keepdims=True)"),
    change(GREEDY, "return (logits == logits.max(axis=-1, keepdims=True)).astype(int)"),
    tempts="A comparison gives the right positions at once, and True looks like 1.",
    keeps=["ordinary temperatures", "large quotients"],
)
SPEC.mistake(
    "one_largest_for_the_whole_array",
    "With temperature 0 you look for the largest logit of the whole array. Every row along the last axis has its own "
    "largest logit, and its own 1.",
    change(GREEDY, "return (logits == logits.max()).astype(float)"),
    tempts="`logits.max()` and `logits.argmax()` are right for a single row.",
    keeps=["ordinary temperatures", "large quotients"],
)
SPEC.mistake(
    "number_added_to_the_temperature",
    "You add a small number to the temperature, which changes all results a little. Leave it out, and treat "
    "temperature 0 by itself.",
    change(RETURN, "return softmax(logits / (temperature + 1e-6))"),
    change(RETURN, "return softmax(logits / (temperature + 1e-8))"),
    tempts="It avoids the division by 0 without another line.",
    keeps=["temperature 0"],
)


@SPEC.alternative
def shifted_first(logits, temperature):
    """Subtract the largest logit before the division; a temperature of 0 is replaced by a tiny one."""
    z = (logits - logits.max(axis=-1, keepdims=True)) / max(temperature, 1e-300)
    e = np.exp(z)
    return e / e.sum(axis=-1, keepdims=True)


@SPEC.alternative
def row_by_row(logits, temperature):
    """Each row by itself, through logarithms."""
    rows = logits.reshape(-1, logits.shape[-1])
    probs = np.zeros(rows.shape)
    for row, result in zip(rows, probs, strict=True):
        if temperature > 0:
            z = row / temperature - max(row / temperature)
            result[:] = np.exp(z - np.log(np.exp(z).sum()))
        else:
            result[np.argmax(row)] = 1.0
    return probs.reshape(logits.shape)
