"""How `one_hot` is checked: against PyTorch's `one_hot`."""

import numpy as np
import torch

from grader.spec.spec import Case, Output, Spec, change, instead

OUTSIDE = "raises IndexError"


def oracle(ids, vocab_size):
    """PyTorch's version, in float64; every id is compared with the bounds first."""
    for index in ids.ravel().tolist():
        if index not in range(vocab_size):
            raise IndexError
    return torch.nn.functional.one_hot(torch.from_numpy(ids), vocab_size).double().numpy()


EXAMPLE = Case(sizes={"T": 2, "V": 3}, inputs={"ids": np.array([2, 0]), "vocab_size": 3})


def case(ids, V, kind="ordinary"):
    sizes = dict(zip("BTS" if ids.ndim > 1 else "T", ids.shape, strict=False))
    return Case(sizes | {"V": V}, {"ids": ids, "vocab_size": V}, kind)


def outside(rng, V, wrong, *shape):
    """Ids of this shape, all of them right but one."""
    ids = rng.integers(V, size=shape)
    ids.flat[rng.integers(ids.size)] = wrong
    return case(ids, V, OUTSIDE)


def below_the_last(rng, V, *shape):
    """Ids from 0 to V − 2, as different as they can be."""
    return case(rng.permutation(np.resize(np.arange(V - 1), np.prod(shape))).reshape(shape), V)


def cases(rng):
    yield below_the_last(rng, 5, 3)
    yield case(np.append(rng.integers(4, size=4), 3), 4)
    yield below_the_last(rng, 4, 2, 3)
    yield case(rng.integers(3, size=(3, 3)), 3)
    yield below_the_last(rng, 6, 1, 4)
    yield case(np.array([[1, 3], [2, 1]]), 4)  # without id 0
    yield case(rng.integers(4, size=(3, 1)), 4)
    yield below_the_last(rng, 5, 2, 3, 4)
    yield case(np.array(rng.integers(1, 5)), 5, "one id, no axes")
    yield case(np.zeros((2, 3), dtype=np.int64), 1)
    yield case(np.zeros(0, dtype=np.int64), 4, "no ids")
    yield case(np.zeros((2, 0), dtype=np.int64), 3, "no ids")
    yield outside(rng, 4, 4, 3)
    yield outside(rng, 5, 5 + rng.integers(1, 9), 2, 3)
    yield outside(rng, 4, -1, 3)
    yield outside(rng, 6, -rng.integers(2, 6), 2, 4)
    yield outside(rng, 3, -4, 5)


SPEC = Spec(
    outputs=[Output("vectors")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
)
TEST = "ids.size and (ids.min() < 0 or ids.max() >= vocab_size)"
RAISE = 'raise IndexError(f"ids must be between 0 and {vocab_size - 1}")'
BODY = f"if {TEST}:\n    {RAISE}\nreturn np.eye(vocab_size)[ids]"

SPEC.mistakes(
    {
        "negative_ids_wrap": change("ids.min() < 0 or ", ""),
        "zeros_for_an_id_outside": change(BODY, "return (ids[..., None] == np.arange(vocab_size)).astype(float)"),
        "id_outside_replaced": [
            change(BODY, "return np.eye(vocab_size)[np.clip(ids, 0, vocab_size - 1)]"),
            change(BODY, "return np.eye(vocab_size)[ids % vocab_size]"),
        ],
        **instead(
            "np.eye(vocab_size)[ids]",
            {
                "ids_flattened": "np.eye(vocab_size)[ids.ravel()]",
                "id_in_place_of_1": "np.eye(vocab_size)[ids] * ids[..., None]",
            },
        ),
        "entries_along_the_first_axis": change(
            "np.eye(vocab_size)[ids]", "np.moveaxis(np.eye(vocab_size)[ids], -1, 0)"
        ),
        "ids_counted_from_1": [
            change("np.eye(vocab_size)[ids]", "np.eye(vocab_size)[ids - 1]"),
            change(
                "ids.min() < 0 or ids.max() >= vocab_size",
                "ids.min() < 1 or ids.max() > vocab_size",
                ("np.eye(vocab_size)[ids]", "np.eye(vocab_size)[ids - 1]"),
            ),
        ],
        "every_id_in_every_vector": change(
            "return np.eye(vocab_size)[ids]",
            "vectors = np.zeros((*ids.shape, vocab_size))\nvectors[..., ids] = 1\nreturn vectors",
        ),
        "bounds_of_no_ids": change(
            "ids.size and (ids.min() < 0 or ids.max() >= vocab_size)", "ids.min() < 0 or ids.max() >= vocab_size"
        ),
        "vocab_size_not_used": change("np.eye(vocab_size)[ids]", "np.eye(ids.max(initial=0) + 1)[ids]"),
    }
)


@SPEC.alternative
def by_comparison(ids, vocab_size):
    """Each id is compared with all of 0 to V − 1; a vector without a 1 shows an id that is not among them."""
    hot = ids[..., None] == np.arange(vocab_size)
    if not hot.any(axis=-1).all():
        raise IndexError("an id is outside the vocabulary")
    return hot.astype(np.float64)


@SPEC.alternative
def one_by_one(ids, vocab_size):
    """A loop over the ids in one row, and the shape at the end."""
    flat = np.zeros((ids.size, vocab_size))
    for i, index in enumerate(ids.ravel().tolist()):
        if index < 0:
            raise IndexError(index)
        flat[i, index] = 1.0
    return flat.reshape(*ids.shape, vocab_size)


@SPEC.alternative
def along_the_last_axis(ids, vocab_size):
    """`np.put_along_axis` places the ones, and raises the error for ids that are too large."""
    if (ids < 0).any():
        raise IndexError("negative id")
    vectors = np.zeros((*ids.shape, vocab_size))
    np.put_along_axis(vectors, ids[..., None], 1.0, axis=-1)
    return vectors
