"""How `embed` is checked: against PyTorch's embedding."""

import numpy as np
import torch

from grader.author.spec import Case, Output, Spec, change


def oracle(ids, E):
    """PyTorch's embedding with the weight E."""
    return torch.nn.functional.embedding(torch.from_numpy(ids), torch.from_numpy(E)).numpy()


EXAMPLE = Case(
    sizes={"T": 3, "V": 3, "D": 2},
    inputs={"ids": np.array([2, 0, 2]), "E": np.array([[0.20, -1.50], [0.70, 0.40], [-0.90, 1.10]])},
)


def case(rng, V, D, *shape, kind="ordinary"):
    """Random ids of this shape, among them 0."""
    ids = rng.integers(V, size=shape)
    if ids.size > 1:
        ids.flat[rng.integers(ids.size)] = 0
    sizes = dict(zip("BTS" if len(shape) > 1 else "T", shape, strict=False))
    return Case(sizes | {"V": V, "D": D}, {"ids": ids, "E": rng.normal(size=(V, D))}, kind)


def cases(rng):
    yield case(rng, 5, 3, 4)
    yield case(rng, 4, 4, 6)
    yield case(rng, 6, 3, 2, 5)
    yield case(rng, 3, 3, 3, 3)
    yield case(rng, 5, 2, 1, 4)
    yield case(rng, 4, 1, 3, 1)
    yield case(rng, 4, 5, 3, 4, 2)
    yield case(rng, 1, 4, 2, 3)
    yield case(rng, 4, 3, kind="one id, no axes")
    yield case(rng, 4, 3, 0, kind="no ids")


SPEC = Spec(
    outputs=[Output("vectors")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    why=r"""
The product of a one-hot vector and $E$ is a sum over the rows of $E$, in which all rows but one are multiplied by 0.
Indexing, `E` with the ids in brackets, reads that row directly: the same result in D steps rather than V times D. So
libraries implement an embedding as a table, and everything that is known about linear layers, such as their gradient,
holds for it.
""",
)

PRODUCT = "one_hot(ids, E.shape[0]) @ E"
SPEC.mistake(
    "columns_for_rows",
    "You take columns of `E`, as `E[:, ids]` does. The vector of an id is a *row*, `E[index]`: `E` has the shape (V, "
    "D), one row for each of the V ids.",
    change(PRODUCT, "np.moveaxis(E[:, ids], 0, -1)"),
    change(PRODUCT, "E[:, ids]"),
    change(PRODUCT, "E.T[ids]"),
    change(PRODUCT, "one_hot(ids, E.shape[1]) @ E.T"),
    tempts="In many texts the vectors of the words are columns.",
)
SPEC.mistake(
    "summed_over_positions",
    "You add up the vectors of all positions. Return one vector for each id, (…, D): a sum forgets the order of the "
    "ids.",
    change(PRODUCT, f"({PRODUCT}).reshape(-1, E.shape[1]).sum(axis=0)"),
    change(PRODUCT, f"({PRODUCT}).sum(axis=-2) if ids.ndim else {PRODUCT}"),
    change(PRODUCT, f"({PRODUCT}).sum(axis=0)"),
    tempts="A bag of words adds up one-hot vectors.",
)
SPEC.mistake(
    "row_times_id",
    "You multiply each vector by its id. An id is a name, not a quantity: it only says *which* row of `E` is meant.",
    change(PRODUCT, f"ids[..., None] * ({PRODUCT})"),
    tempts="The formula has a product, of a vector and the matrix.",
)
SPEC.mistake(
    "ids_counted_from_1",
    "You take the row before the one that is meant, as if ids were counted from 1, and the last row for id 0. The "
    "vector of an id is the row with that very index.",
    change(PRODUCT, "E[ids - 1]"),
    tempts="Where id 0 is padding, words are counted from 1.",
)


@SPEC.alternative
def by_index(ids, E):
    """The rows themselves, without a product."""
    return E[ids]


@SPEC.alternative
def by_take(ids, E):
    """`np.take` along the first axis."""
    return np.take(E, ids, axis=0)


@SPEC.alternative
def with_einsum(ids, E):
    """The product by the names of its axes."""
    return np.einsum("...v,vd->...d", (ids[..., None] == np.arange(len(E))).astype(float), E)
