"""How `embed` is checked: against PyTorch's embedding."""

import numpy as np
import torch

from grader.spec.spec import Case, Output, Spec, change, instead


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
)
PRODUCT = "one_hot(ids, E.shape[0]) @ E"

SPEC.mistakes(
    {
        "columns_for_rows": [change(PRODUCT, "np.moveaxis(E[:, ids], 0, -1)"), change(PRODUCT, "E[:, ids]")],
        "summed_over_positions": [
            change(PRODUCT, f"({PRODUCT}).reshape(-1, E.shape[1]).sum(axis=0)"),
            change(PRODUCT, f"({PRODUCT}).sum(axis=-2) if ids.ndim else {PRODUCT}"),
            change(PRODUCT, f"({PRODUCT}).sum(axis=0)"),
            change(PRODUCT, f"({PRODUCT}).sum(axis=-2)"),
            change(PRODUCT, f"({PRODUCT}).mean(axis=0)"),
            change(PRODUCT, f"({PRODUCT}).mean(axis=-2)"),
        ],
        "entries_along_the_first_axis": [
            change(PRODUCT, f"np.moveaxis({PRODUCT}, -1, 0)"),
            change(PRODUCT, f"({PRODUCT}).T"),
        ],
        **instead(
            PRODUCT,
            {
                "row_times_id": f"ids[..., None] * ({PRODUCT})",
                "ids_counted_from_1": "E[ids - 1]",
                "ids_flattened": f"({PRODUCT}).reshape(-1, E.shape[1])",
            },
        ),
    }
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
