"""How `bilinear_score` is checked: against PyTorch's bilinear form."""

import numpy as np
import torch

from grader.author.spec import Case, Output, Spec, change


def oracle(query, keys, W):
    """`torch.nn.functional.bilinear` of each pair of a query and a key of the same row."""
    B, S, K = keys.shape
    pairs = torch.from_numpy(np.repeat(query, S, axis=0)), torch.from_numpy(keys.reshape(B * S, K))
    return torch.nn.functional.bilinear(*pairs, torch.from_numpy(W)[None]).reshape(B, S).numpy()


EXAMPLE = Case(
    sizes={"B": 2, "S": 2, "H": 2, "K": 3},
    inputs={
        "query": np.array([[1.00, -0.50], [0.30, 2.00]]),
        "keys": np.array([[[2.00, 0.50, -1.00], [-1.00, 0.30, 1.50]], [[0.40, -0.70, 0.20], [-0.60, 1.30, -0.40]]]),
        "W": np.array([[0.50, -1.00, 0.30], [0.80, 0.40, -0.60]]),
    },
)

SQUARE = "keys as large as the query"


def case(rng, B, S, H, K):
    return Case(
        {"B": B, "S": S, "H": H, "K": K},
        {"query": rng.normal(size=(B, H)), "keys": rng.normal(size=(B, S, K)), "W": rng.normal(size=(H, K))},
        kind=SQUARE if H == K else "ordinary",
    )


def cases(rng):
    yield case(rng, B=2, S=3, H=4, K=5)
    yield case(rng, B=3, S=4, H=2, K=2)
    yield case(rng, B=3, S=3, H=3, K=2)
    yield case(rng, B=2, S=5, H=3, K=3)
    yield case(rng, B=1, S=3, H=2, K=4)
    yield case(rng, B=4, S=1, H=3, K=2)
    yield case(rng, B=2, S=3, H=1, K=3)
    yield case(rng, B=3, S=2, H=4, K=1)
    yield case(rng, B=4, S=4, H=4, K=4)
    yield case(rng, B=2, S=3, H=1, K=1)


SPEC = Spec(
    outputs=[Output("scores", ("B", "S"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    why=r"""
The product $q_b W$ is a vector of the size of a key, so after it a bilinear score is a dot product. It is computed once
for each row and not once for each key. `keys @ W.T`, which maps every key to the size of the query, gives the same
scores with $S$ times as many products; it pays if the same keys are compared with many queries.
""",
)

QW = "query @ W"
SUM = "(keys * in_key_space[:, None]).sum(axis=2)"
SPEC.mistake(
    "W_transposed",
    "You use `W` the wrong way round, so sizes with H ≠ K raise an exception and the others give wrong scores. `W` has "
    "the shape (H, K): the query comes from the left, `query @ W`, or a key from the right, `keys @ W.T`.",
    change(QW, "query @ W.T"),
    change(QW, "query", (SUM, "((keys @ W) * query[:, None]).sum(axis=2)")),
    change(QW, "query", (SUM, "np.einsum('bh,bsk,kh->bs', query, keys, W)")),
    tempts="Papers write column vectors, and with H = K both ways run.",
)
SPEC.mistake(
    "W_not_used",
    "You do not use `W`: your score is the plain dot product of query and key, which needs H = K. Multiply the query "
    "by `W` first.",
    change(QW, "query"),
    tempts="The code of `dot_score`, copied.",
)
SPEC.mistake(
    "W_applied_twice",
    "You multiply both the query and the keys by `W`. It stands *between* the two, so it is used once: `query @ W`, "
    "and then the dot product with the keys as they are.",
    change(SUM, "((keys @ W.T) * in_key_space[:, None]).sum(axis=2)"),
    change(SUM, "((keys @ W) * in_key_space[:, None]).sum(axis=2)"),
    tempts="In the additive score query and keys are both projected.",
)
SPEC.mistake(
    "tanh_of_the_query",
    "You apply a tanh to `query @ W`. A bilinear score has no tanh, which belongs to the additive score.",
    change(QW, "np.tanh(query @ W)"),
    tempts="A product with a weight matrix has been followed by a tanh in every chapter.",
)
SPEC.mistake(
    "scaled_by_sqrt_K",
    "You divide by the square root of K. Do not scale bilinear scores: `W` can learn any scale.",
    change(SUM, f"{SUM} / np.sqrt(keys.shape[2])"),
    tempts="The dot product could be scaled.",
)
SPEC.mistake(
    "scaled_by_sqrt_H",
    "You divide by the square root of H. Do not scale bilinear scores: `W` can learn any scale.",
    change(SUM, f"{SUM} / np.sqrt(query.shape[1])"),
    tempts="The dot product could be scaled.",
)
SPEC.mistake(
    "mean_in_place_of_sum",
    "You take the mean of the products of `query @ W` and the keys. Use their `sum`: it is a matrix product.",
    change(".sum(axis=2)", ".mean(axis=2)"),
    tempts="A mean does not grow with the size of the vectors.",
)
SPEC.mistake(
    "not_summed",
    "You multiply `query @ W` and the keys entry by entry, but the sum over the K products is missing. A score is one "
    "number for each key.",
    change(".sum(axis=2)", ""),
    tempts="`*` is taken for the dot product.",
)
SPEC.mistake(
    "summed_over_the_positions",
    "You sum over the source positions. Sum over the last axis instead, the K entries of a key, so that every position "
    "keeps a score of its own.",
    change("axis=2", "axis=1"),
    tempts="axis=1 is the last axis of most arrays up to here.",
)
SPEC.mistake(
    "keys_reshaped",
    "You bring the keys into shape with `reshape`, which keeps the numbers in the order in which they are stored, so "
    "the entries of different keys are mixed. Exchange the last two axes instead, with `swapaxes`.",
    change(SUM, "(in_key_space[:, None] @ keys.reshape(len(keys), keys.shape[2], -1))[:, 0]"),
    tempts="The shape is the wanted one, and nothing complains.",
)
SPEC.mistake(
    "query_of_another_row",
    "You multiply `keys` (B, S, K) by `query @ W` (B, K) as it is. NumPy aligns the last axes, so the query of row j "
    "meets the key at position j of *every* row, and sizes other than B = S or B = 1 raise an exception. Give it an "
    "axis for the positions: `[:, None]` makes it (B, 1, K).",
    change("in_key_space[:, None]", "in_key_space"),
    tempts="It works for a batch of one row.",
)
SPEC.mistake(
    "query_along_the_positions",
    "You put the new axis of `query @ W` last, which makes it (B, K, 1): its entries then meet source positions "
    "instead of the entries of a key. Put the new axis in the middle, `[:, None]`, which makes it (B, 1, K).",
    change("in_key_space[:, None]", "in_key_space[:, :, None]"),
    change("in_key_space[:, None]", "in_key_space[:, :, None]", ("axis=2", "axis=1")),
    tempts="`[..., None]` is the usual way to give an array one more axis.",
)
SPEC.mistake(
    "every_query_with_every_row",
    "You compare each query with the keys of *all* rows, so your result has an axis B too many. Compare it with the "
    "keys of its own row only. With `@`, `query @ W` has to be a batch of columns, (B, K, 1), or of rows, (B, 1, K).",
    change(SUM, "keys @ in_key_space.T"),
    change(SUM, "in_key_space @ keys.swapaxes(1, 2)"),
    change(SUM, "np.dot(in_key_space, keys.swapaxes(1, 2))"),
    change(SUM, "np.einsum('bk,csk->cbs', in_key_space, keys)"),
    tempts="q W kᵀ, letter by letter, is right for a single row.",
)


@SPEC.alternative
def keys_projected(query, keys, W):
    """Map the keys to the size of the query, and compare there."""
    return ((keys @ W.T) @ query[:, :, None])[..., 0]


@SPEC.alternative
def all_at_once(query, keys, W):
    """A single sum over both indices."""
    return np.einsum("bh,hk,bsk->bs", query, W, keys)


@SPEC.alternative
def row_by_row(query, keys, W):
    """Matrix products of one row at a time."""
    return np.array([k @ W.T @ q for q, k in zip(query, keys, strict=True)])
