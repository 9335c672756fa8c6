"""How `attend` is checked: against PyTorch's batched matrix product."""

import numpy as np
import torch

from grader.spec.spec import Case, Output, Spec, change, instead


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
)
PRODUCTS = "(weights[:, :, None] * values)"
SUM = f"{PRODUCTS}.sum(axis=1)"


def mean_of_the_rest(weights, values):
    context = np.einsum("bs,bsk->bk", weights, values)
    return np.where(weights.any(axis=1)[:, None], context, values.mean(axis=1))


SPEC.mistakes(
    {
        **instead(
            SUM,
            {
                "values_averaged": "values.mean(axis=1)",
                "values_summed": "values.sum(axis=1)",
                "largest_weight_alone": "values[np.arange(len(values)), weights.argmax(axis=1)]",
            },
        ),
        "mean_in_place_of_sum": change("sum", "mean"),
        "not_summed": change(".sum(axis=1)", ""),
        **instead(
            "axis=1",
            {
                "summed_over_the_entries": "axis=2",
                "summed_over_the_rows": "axis=0",
            },
        ),
        "weights_along_the_entries": [
            change("weights[:, :, None]", "weights[:, None]"),
            change("weights[:, :, None]", "weights[:, None]", ("axis=1", "axis=2")),
            change(SUM, "(values @ weights[:, :, None])[:, :, 0]"),
        ],
        **instead(
            "weights[:, :, None]",
            {
                "weights_of_another_row": "weights",
                "softmax_of_the_weights": "(np.exp(weights) / np.exp(weights).sum(axis=1, keepdims=True))[:, :, None]",
            },
        ),
        "weights_of_every_row": [change(SUM, "weights @ values"), change(SUM, "np.dot(weights, values)")],
        "largest_weight_alone_times_its_weight": change(
            SUM, "(values[np.arange(len(values)), weights.argmax(axis=1)] * weights.max(axis=1)[:, None])"
        ),
        "divided_by_the_sum_of_the_weights": change(SUM, f"{SUM} / weights.sum(axis=1, keepdims=True)"),
        "mean_where_there_is_nothing": mean_of_the_rest,
    }
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
