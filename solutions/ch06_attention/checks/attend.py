"""How `attend` is checked: against PyTorch's batched matrix product."""

import numpy as np
import torch

from grader.author.spec import Case, Output, Spec, change


def oracle(weights, values):
    """The weights (1, S) of a row times its values (S, K), row by row."""
    return torch.bmm(torch.from_numpy(weights)[:, None], torch.from_numpy(values))[:, 0].numpy()


EXAMPLE = Case(
    sizes={"B": 2, "S": 3, "K": 2},
    inputs={
        "weights": np.array([[0.50, 0.30, 0.20], [0.00, 0.75, 0.25]]),
        "values": np.array(
            [[[1.00, -2.00], [3.00, 0.50], [-1.00, 4.00]], [[5.00, -3.00], [2.00, 0.80], [-0.40, 1.60]]],
        ),
    },
)

NOTHING = "nothing to attend to"


def case(rng, B, S, K, padding=(), empty=()):
    """Weights that sum to 1 in each row: at least twice as large at one position as at any other, and 0 at the last
    `padding[b]` positions of row b; all of them 0 in the rows `empty`.
    """
    parts = rng.integers(1, 20, size=(B, S))
    for row, hidden in enumerate(padding):
        parts[row, S - hidden :] = 0
    for row in parts:
        row[rng.integers((row > 0).sum())] = 40
    weights = parts / parts.sum(axis=1, keepdims=True)
    weights[list(empty)] = 0.0
    inputs = {"weights": weights, "values": rng.normal(size=(B, S, K))}
    return Case({"B": B, "S": S, "K": K}, inputs, kind=NOTHING if empty else "ordinary")


def cases(rng):
    yield case(rng, B=2, S=4, K=3, padding=[0, 2])
    yield case(rng, B=3, S=3, K=2, padding=[1, 0, 2])
    yield case(rng, B=2, S=4, K=4)
    yield case(rng, B=3, S=5, K=3, padding=[2, 0, 1])
    yield case(rng, B=1, S=4, K=3)
    yield case(rng, B=2, S=3, K=1, padding=[1, 0])
    yield case(rng, B=4, S=4, K=4, padding=[0, 1, 2, 0])
    yield case(rng, B=3, S=4, K=2, padding=[0, 0, 1], empty=[1])
    yield case(rng, B=3, S=1, K=4, empty=[1])
    yield case(rng, B=2, S=3, K=2, empty=[0])


SPEC = Spec(
    outputs=[Output("context", ("B", "K"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    why=r"""
The weights need an axis for the entries of a value: `weights[:, :, None]` has the shape (B, S, 1), so every entry of a
value is multiplied by the weight of its position. The sum runs over the positions, axis 1. The same is a matrix product
for each row, of one row of weights (1, S) with the values (S, K).
""",
)

PRODUCTS = "(weights[:, :, None] * values)"
SUM = f"{PRODUCTS}.sum(axis=1)"
SPEC.mistake(
    "values_averaged",
    "You average the values, so every position counts the same. Multiply each value by its weight and *sum*: the "
    "weights already sum to 1.",
    change(SUM, "values.mean(axis=1)"),
    tempts="A context that is the mean of the states is in chapter 5.",
)
SPEC.mistake(
    "mean_in_place_of_sum",
    "You divide the weighted sum by S, as `mean` does. Use `sum`: the weights of a row already sum to 1.",
    change("sum", "mean"),
    tempts="A weighted mean is meant, but its weights are normalised already.",
)
SPEC.mistake(
    "values_summed",
    "You sum the values without their weights. Multiply each value by the weight of its position first.",
    change(SUM, "values.sum(axis=1)"),
    tempts="The weights are computed and then forgotten.",
)
SPEC.mistake(
    "not_summed",
    "You multiply the values by their weights, but the sum over the source positions is missing. The context of a row "
    "is one vector of size K.",
    change(".sum(axis=1)", ""),
    tempts="The product of weights and values looks like the result.",
)
SPEC.mistake(
    "summed_over_the_entries",
    "You sum over the entries of each value. Sum over the source positions instead, axis 1, so that a vector of size K "
    "is left for each row.",
    change("axis=1", "axis=2"),
    tempts="The last axis is the one to sum over in the score.",
)
SPEC.mistake(
    "summed_over_the_rows",
    "You sum over the rows of the batch. Sum over the source positions instead, axis 1: rows never mix.",
    change("axis=1", "axis=0"),
    tempts="axis=0 is right for a single row of values (S, K).",
)
SPEC.mistake(
    "weights_along_the_entries",
    "You put the new axis of `weights` in the middle, which makes it (B, 1, S): the weights then meet the entries of a "
    "value instead of the positions. Put it last: `weights[:, :, None]`, (B, S, 1).",
    change("weights[:, :, None]", "weights[:, None]"),
    change("weights[:, :, None]", "weights[:, None]", ("axis=1", "axis=2")),
    change(SUM, "(values @ weights[:, :, None])[:, :, 0]"),
    tempts="`query[:, None]` is right in the scores, and with S = K it runs here too.",
)
SPEC.mistake(
    "weights_of_another_row",
    "You multiply `values` (B, S, K) by `weights` (B, S) as they are. NumPy aligns the last axes, so the weights of "
    "row j meet the entries of the value at position j, and most sizes raise an exception. Give the weights an axis "
    "for the entries: `weights[:, :, None]`, (B, S, 1).",
    change("weights[:, :, None]", "weights"),
    tempts="With equal sizes it runs.",
)
SPEC.mistake(
    "weights_of_every_row",
    "You combine the weights of each row with the values of *all* rows, so your result has an axis B too many. Combine "
    "them with the values of their own row only. With `@`, the weights have to be a batch of rows, (B, 1, S).",
    change(SUM, "weights @ values"),
    change(SUM, "np.dot(weights, values)"),
    tempts="`weights @ values` is the formula of the page for a single row.",
)
SPEC.mistake(
    "largest_weight_alone",
    "You return the value with the largest weight. Return the sum of all values, each times its weight: a choice of "
    "one position has no gradient with respect to the scores.",
    change(SUM, "values[np.arange(len(values)), weights.argmax(axis=1)]"),
    tempts="Looking something up means finding the best entry.",
)
SPEC.mistake(
    "largest_weight_alone_times_its_weight",
    "You use only the position with the largest weight. Sum over all positions, each value times its weight.",
    change(SUM, "(values[np.arange(len(values)), weights.argmax(axis=1)] * weights.max(axis=1)[:, None])"),
    change(PRODUCTS, "(np.where(weights == weights.max(axis=1, keepdims=True), weights, 0)[:, :, None] * values)"),
    tempts="Looking something up means finding the best entry.",
)
SPEC.mistake(
    "divided_by_the_sum_of_the_weights",
    "You divide by the sum of the weights. They sum to 1 already, except in a row with nothing to attend to: there all "
    "weights are 0, and 0 / 0 is NaN. Use the weights as they are, so that the context of such a row is 0.",
    change(SUM, f"{SUM} / weights.sum(axis=1, keepdims=True)"),
    change("weights[:, :, None]", "(weights / weights.sum(axis=1, keepdims=True))[:, :, None]"),
    tempts="A weighted mean is divided by the sum of its weights.",
)


@SPEC.mistake(
    "mean_where_there_is_nothing",
    "You return the mean of the values in a row whose weights are all 0. There is nothing to attend to in it, so its "
    "context is 0, which is what the weighted sum gives by itself.",
    tempts="Some context seems better than none.",
)
def mean_of_the_rest(weights, values):
    context = np.einsum("bs,bsk->bk", weights, values)
    return np.where(weights.any(axis=1)[:, None], context, values.mean(axis=1))


SPEC.mistake(
    "softmax_of_the_weights",
    "You apply a softmax to the weights. They are the result of a softmax already: a second one makes them nearly "
    "equal, and gives weight to masked positions. Use them as they are.",
    change("weights[:, :, None]", "(np.exp(weights) / np.exp(weights).sum(axis=1, keepdims=True))[:, :, None]"),
    tempts="Scores and weights are easily taken for each other.",
)


@SPEC.alternative
def batched_rows(weights, values):
    """One matrix product for each row of the batch."""
    return np.matmul(weights[:, None, :], values)[:, 0]


@SPEC.alternative
def with_einsum(weights, values):
    """Axes by name."""
    return np.einsum("bs,bsk->bk", weights, values)


@SPEC.alternative
def position_by_position(weights, values):
    """A running sum over the source positions."""
    context = np.zeros((values.shape[0], values.shape[2]))
    for j in range(values.shape[1]):
        context += weights[:, j : j + 1] * values[:, j]
    return context
