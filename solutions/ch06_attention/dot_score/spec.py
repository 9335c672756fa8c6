"""How `dot_score` is checked: against PyTorch's batched matrix product."""

import math

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Output, Spec, change, instead


def oracle(query, keys, scale=False):
    """The keys (B, S, H) of a row times its query (H, 1), row by row."""
    scores = torch.bmm(torch.from_numpy(keys), torch.from_numpy(query)[:, :, None])[:, :, 0].numpy()
    return scores / math.sqrt(query.shape[1]) if scale else scores


PLAIN, SCALED = "not scaled", "scaled"
EXAMPLE = Case(
    sizes={"B": 2, "S": 3, "H": 2},
    inputs={
        "query": np.array([[1.00, -0.50], [0.30, 2.00]]),
        "keys": np.array(
            [[[0.80, 0.40], [-0.60, 1.20], [1.50, -0.90]], [[-1.00, 0.70], [0.50, 0.10], [0.90, -0.40]]],
        ),
    },
    kind=PLAIN,
)


def case(rng, B, S, H, **scale):
    inputs = {"query": rng.normal(size=(B, H)), "keys": rng.normal(size=(B, S, H))}
    return Case({"B": B, "S": S, "H": H}, inputs | scale, SCALED if scale.get("scale") else PLAIN)


def cases(rng):
    yield case(rng, B=2, S=4, H=3)
    yield case(rng, B=3, S=3, H=2)
    yield case(rng, B=4, S=2, H=4, scale=False)
    yield case(rng, B=2, S=5, H=5)
    yield case(rng, B=1, S=4, H=3)
    yield case(rng, B=3, S=1, H=4)
    yield case(rng, B=2, S=3, H=1)
    yield case(rng, B=3, S=3, H=3)
    yield case(rng, B=2, S=3, H=4, scale=True)
    yield case(rng, B=4, S=6, H=5, scale=True)
    yield case(rng, B=3, S=3, H=9, scale=True)
    yield case(rng, B=1, S=2, H=3, scale=True)
    yield case(rng, B=2, S=4, H=1, scale=True)


SPEC = Spec(
    outputs=[Output("scores", ("B", "S"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[Facet("plain scores", share=2, kinds=(PLAIN,)), Facet("scaled scores", share=1, kinds=(SCALED,))],
)
PRODUCTS = "(keys * query[:, None])"
SUM = f"{PRODUCTS}.sum(axis=2)"
SQRT = "np.sqrt(query.shape[1])"


def scaled_unless_told(query, keys, scale=True):
    scores = (keys * query[:, None]).sum(axis=2)
    return scores / query.shape[1] ** 0.5 if scale else scores


SPEC.mistakes(
    {
        **instead(
            SQRT,
            {
                "divided_by_H": "query.shape[1]",
                "divided_by_sqrt_S": "np.sqrt(keys.shape[1])",
                "divided_by_sqrt_B": "np.sqrt(len(query))",
                "divided_by_the_lengths": "(np.linalg.norm(query, axis=1)[:, None] * np.linalg.norm(keys, axis=2))",
            },
        ),
        "multiplied_by_sqrt_H": change("scores / np.sqrt", "scores * np.sqrt"),
        "scale_ignored": change("if scale:", "if False:"),
    },
    keeps=["plain scores"],
)
SPEC.mistakes(
    {
        "always_scaled": change("if scale:", "if True:"),
        "scaled_by_default": scaled_unless_told,
    },
    keeps=["scaled scores"],
)
SPEC.mistakes(
    {
        "scale_inverted": change("if scale:", "if not scale:"),
        **instead(
            SUM,
            {
                "mean_in_place_of_sum": f"{PRODUCTS}.mean(axis=2)",
                "not_summed": PRODUCTS,
            },
        ),
        **instead(
            "axis=2",
            {
                "summed_over_the_positions": "axis=1",
                "summed_over_the_rows": "axis=0",
            },
        ),
        "query_of_another_row": change("query[:, None]", "query"),
        "query_along_the_positions": [
            change("query[:, None]", "query[:, :, None]"),
            change("query[:, None]", "query[:, :, None]", ("axis=2", "axis=1")),
        ],
        "every_query_with_every_row": [
            change(SUM, "keys @ query.T"),
            change(SUM, "query @ keys.swapaxes(1, 2)"),
            change(SUM, "np.dot(query, keys.swapaxes(1, 2))"),
        ],
        "all_axes_reversed": change(SUM, "query @ keys.T"),
        "cosine_similarity": [
            change(
                "return scores",
                "return scores / np.linalg.norm(query, axis=1)[:, None] / np.linalg.norm(keys, axis=2)",
            ),
            change(
                SUM,
                f"{SUM} / np.linalg.norm(query, axis=1)[:, None] / np.linalg.norm(keys, axis=2)",
                ("if scale", "if 0"),
            ),
        ],
    }
)


@SPEC.alternative
def batched_columns(query, keys, scale=False):
    """One matrix product for each row of the batch."""
    return np.matmul(keys, query[:, :, None]).squeeze(axis=2) / (query.shape[-1] ** 0.5 if scale else 1.0)


@SPEC.alternative
def scaled_query(query, keys, scale=False):
    """Scale the query once instead of all scores."""
    if scale:
        query = query / np.sqrt(keys.shape[-1])
    return np.einsum("bh,bsh->bs", query, keys)


@SPEC.alternative
def row_by_row(query, keys, scale=False):
    """Plain loops over rows and positions."""
    scores = np.zeros(keys.shape[:2])
    for b in range(keys.shape[0]):
        for j in range(keys.shape[1]):
            scores[b, j] = np.dot(query[b], keys[b, j])
            if scale:
                scores[b, j] /= math.sqrt(len(query[b]))
    return scores
