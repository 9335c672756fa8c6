"""How `dot_score` is checked: against PyTorch's batched matrix product."""

import math

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec, change


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
    why=r"""
The query needs an axis for the source positions: `query[:, None]` has the shape (B, 1, H), so that it meets every key
of its own row and no other. The products are summed over the entries, the last axis. If the entries of query and key
are independent and have variance 1, a sum of $H$ products has variance $H$; divided by $\sqrt{H}$ it has variance 1.
""",
)

PRODUCTS = "(keys * query[:, None])"
SUM = f"{PRODUCTS}.sum(axis=2)"
SQRT = "np.sqrt(query.shape[1])"
SPEC.mistake(
    "divided_by_H",
    "You divide by H. Divide by its square root, `np.sqrt(H)`: the standard deviation of a sum of H independent "
    "products grows with √H.",
    change(SQRT, "query.shape[1]"),
    tempts="The mean of H products looks like the natural scale.",
    keeps=["plain scores"],
)
SPEC.mistake(
    "divided_by_sqrt_S",
    "You divide by the square root of S, the number of keys. Divide by the square root of H, the size of a key: the "
    "sum in the dot product runs over the H entries.",
    change(SQRT, "np.sqrt(keys.shape[1])"),
    tempts="`keys.shape[1]` looks like `query.shape[1]`, but keys have one more axis.",
    keeps=["plain scores"],
)
SPEC.mistake(
    "divided_by_sqrt_B",
    "You divide by the square root of B, the number of rows. Divide by the square root of H, the size of a key: no row "
    "may depend on how many others there are.",
    change(SQRT, "np.sqrt(len(query))"),
    tempts="`len(query)` reads like the length of a query.",
    keeps=["plain scores"],
)
SPEC.mistake(
    "multiplied_by_sqrt_H",
    "You multiply by √H. Divide by it, because the scores of long vectors are too large, not too small.",
    change("scores / np.sqrt", "scores * np.sqrt"),
    tempts="'Scale by the square root of H' does not say in which direction.",
    keeps=["plain scores"],
)
SPEC.mistake(
    "scale_ignored",
    "You do not use `scale`. If it is True, divide the scores by the square root of H.",
    change("if scale:", "if False:"),
    tempts="The formula without scaling comes first, and it passes most cases.",
    keeps=["plain scores"],
)
SPEC.mistake(
    "always_scaled",
    "You divide by √H in any case. Do so only if `scale` is True; if it is False or left out, the score is the plain "
    "dot product.",
    change("if scale:", "if True:"),
    tempts="In a transformer the scores are always scaled.",
    keeps=["scaled scores"],
)


@SPEC.mistake(
    "scaled_by_default",
    "You scale the scores when `scale` is left out. Leave the first line of the function as it is: the default is "
    "`scale=False`.",
    tempts="In a transformer the scores are always scaled.",
    keeps=["scaled scores"],
)
def scaled_unless_told(query, keys, scale=True):
    scores = (keys * query[:, None]).sum(axis=2)
    return scores / query.shape[1] ** 0.5 if scale else scores


SPEC.mistake(
    "scale_inverted",
    "You scale the scores if `scale` is False and leave them as they are if it is True. Do the opposite.",
    change("if scale:", "if not scale:"),
    tempts="A condition written in a hurry.",
)
SPEC.mistake(
    "mean_in_place_of_sum",
    "You take the mean of the products. A dot product is their sum, so use `sum`.",
    change(SUM, f"{PRODUCTS}.mean(axis=2)"),
    tempts="A mean does not grow with the size of the vectors.",
)
SPEC.mistake(
    "not_summed",
    "You multiply query and keys entry by entry, but the sum over the H products of each pair is missing. A score is "
    "one number for each key.",
    change(SUM, PRODUCTS),
    tempts="`*` is taken for the dot product.",
)
SPEC.mistake(
    "summed_over_the_positions",
    "You sum over the source positions. Sum over the last axis instead, the H entries of a key, so that every position "
    "keeps a score of its own.",
    change("axis=2", "axis=1"),
    tempts="axis=1 is the last axis of most arrays up to here.",
)
SPEC.mistake(
    "summed_over_the_rows",
    "You sum over the rows of the batch. Sum over the last axis instead, the H entries of a key: rows never mix.",
    change("axis=2", "axis=0"),
    tempts="axis=0 is right for a single row of keys (S, H) after a transpose.",
)
SPEC.mistake(
    "query_of_another_row",
    "You multiply `keys` (B, S, H) by `query` (B, H) as they are. NumPy aligns the last axes, so the query of row j "
    "meets the key at position j of *every* row, and sizes other than B = S or B = 1 raise an exception. Give the "
    "query an axis for the positions: `query[:, None]`, (B, 1, H).",
    change("query[:, None]", "query"),
    tempts="It works for a batch of one row.",
)
SPEC.mistake(
    "query_along_the_positions",
    "You put the new axis of `query` last, which makes it (B, H, 1): its entries then meet source positions instead of "
    "the entries of a key. Put the new axis in the middle: `query[:, None]`, (B, 1, H).",
    change("query[:, None]", "query[:, :, None]"),
    change("query[:, None]", "query[:, :, None]", ("axis=2", "axis=1")),
    tempts="`[..., None]` is the usual way to give an array one more axis.",
)
SPEC.mistake(
    "every_query_with_every_row",
    "You compare each query with the keys of *all* rows, so your result has an axis B too many. Compare it with the "
    "keys of its own row only. With `@`, the query has to be a batch of columns, (B, H, 1), or of rows, (B, 1, H).",
    change(SUM, "keys @ query.T"),
    change(SUM, "query @ keys.swapaxes(1, 2)"),
    change(SUM, "np.dot(query, keys.swapaxes(1, 2))"),
    change(SUM, "np.einsum('bh,csh->cbs', query, keys)"),
    tempts="`query @ keys.T` is the formula of the page for a single row.",
)
SPEC.mistake(
    "cosine_similarity",
    "You divide by the lengths of the vectors, which gives the cosine of their angle. The score is the plain dot "
    "product, in which long keys count for more.",
    change(
        "return scores",
        "return scores / np.linalg.norm(query, axis=1)[:, None] / np.linalg.norm(keys, axis=2)",
    ),
    change(SUM, f"{SUM} / np.linalg.norm(query, axis=1)[:, None] / np.linalg.norm(keys, axis=2)", ("if scale", "if 0")),
    tempts="Similarity of vectors is often measured by the cosine.",
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
