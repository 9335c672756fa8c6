"""How `masked_softmax` is checked: against PyTorch's softmax of the entries that are not masked, row by row."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec, change


def oracle(scores, mask):
    """PyTorch's softmax, which never sees the masked entries. A row without any other entry stays 0."""
    weights = np.zeros(scores.shape)
    for row in np.ndindex(scores.shape[:-1]):
        if mask[row].any():
            weights[row][mask[row]] = torch.softmax(torch.from_numpy(scores[row][mask[row]]), dim=0).numpy()
    return weights


ORDINARY, HUGE, NONE = "ordinary", "huge scores", "a row all masked"

EXAMPLE = Case(
    sizes={"B": 2, "S": 3},
    inputs={
        "scores": np.array([[0.60, -1.20, 1.95], [1.10, 0.35, -0.53]]),
        "mask": np.array([[True, True, False], [False, True, True]]),
    },
)

AXES = {1: "S", 2: "BS", 3: "BTS", 4: "BNTS"}


def case(scores, mask, kind=ORDINARY):
    return Case(
        dict(zip(AXES[scores.ndim], scores.shape, strict=True)),
        {"scores": scores, "mask": mask},
        kind,
    )


def some(rng, shape):
    """A mask with at least one True in each row; among rows of two or more, the first has a False, the last two True."""
    S, mask = shape[-1], rng.random(shape) < 0.6
    rows = mask.reshape(-1, S)
    for row in rows:
        row[rng.integers(S)] = True
    if S > 1:
        rows[0, rng.integers(S)] = False
        rows[0, (np.argmin(rows[0]) + 1) % S] = True
        rows[-1, rng.permutation(S)[:2]] = True
    return mask


def without(rng, shape, rows):
    """The same with nothing but False in these rows, numbered in reading order."""
    mask = some(rng, shape)
    mask.reshape(-1, shape[-1])[rows] = False
    return mask


def scores(rng, shape):
    return rng.uniform(-3, 3, size=shape)


def apart(rng, shape, centre, masked, mask):
    """Scores near `centre` where the mask is True, and near `masked` elsewhere."""
    return np.where(mask, centre, masked) + scores(rng, shape)


def cases(rng):
    for shape in ((3, 5), (4, 4), (6,), (2, 3, 4), (3, 3, 3), (2, 2, 3, 5), (1, 4), (1,), (3, 1)):
        yield case(scores(rng, shape), some(rng, shape))
    yield case(scores(rng, (2, 4)), np.ones((2, 4), dtype=bool))  # nothing masked
    yield case(scores(rng, (4, 4)), np.tri(4, dtype=bool))  # a different number of entries in each row

    for shape, centre, masked in (
        ((3, 4), 900.0, 0.0),  # exp overflows
        ((2, 5), -900.0, 0.0),  # exp underflows
        ((3, 4), 0.0, 900.0),  # the largest score of all is masked
        ((2, 3, 4), -5e4, -5e4),  # below every number that is taken for minus infinity
        ((5,), -4e9, -4e9),
        ((3, 3), -4e12, 4e12),
    ):
        mask = some(rng, shape)
        mask.reshape(-1, shape[-1])[:, 0] = rng.permutation([True, False])[0]
        mask.reshape(-1, shape[-1])[:, 1] = ~mask.reshape(-1, shape[-1])[:, 0]
        yield case(apart(rng, shape, centre, masked, mask), mask, HUGE)

    yield case(scores(rng, (3, 4)), without(rng, (3, 4), [1]), NONE)
    yield case(scores(rng, (2, 3, 4)), without(rng, (2, 3, 4), [0, 4]), NONE)
    yield case(scores(rng, (5,)), np.zeros(5, dtype=bool), NONE)
    yield case(scores(rng, (2, 1)), np.array([[True], [False]]), NONE)
    yield case(scores(rng, (2, 3)), np.zeros((2, 3), dtype=bool), NONE)


SPEC = Spec(
    outputs=[Output("weights")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("ordinary scores", share=2, kinds=(ORDINARY,)),
        Facet("huge scores", share=1, kinds=(HUGE,)),
        Facet("rows all masked", share=1, kinds=(NONE,)),
    ],
    why=r"""
The exponential of $-\infty$ is exactly 0, so a masked position is neither in the numerator nor in the sum. The largest
score is subtracted after the mask has been applied: a masked score that is much larger than the others would otherwise
make all of their exponentials 0. A row without any True has the largest score $-\infty$, and $-\infty - (-\infty)$ is
NaN; with 0 in its place all exponentials are 0, and divided by 1 they stay 0.
""",
)

REAL = "np.where(mask, scores, -np.inf)"
LARGEST = "np.where(some, real.max(axis=-1, keepdims=True), 0.0)"
EXP = "np.exp(real - largest)"
SUM = "np.where(some, e.sum(axis=-1, keepdims=True), 1.0)"
RETURN = f"return e / {SUM}"
UNTREATED = (LARGEST, "real.max(axis=-1, keepdims=True)"), (SUM, "e.sum(axis=-1, keepdims=True)")


@SPEC.alternative
def row_by_row(scores, mask):
    """The softmax of the entries that are not masked, one row at a time."""
    weights = np.zeros_like(scores)
    for row in np.ndindex(*scores.shape[:-1]):
        chosen = scores[row][mask[row]]
        if chosen.size:
            e = np.exp(chosen - chosen.max())
            weights[row][mask[row]] = e / e.sum()
    return weights


@SPEC.alternative
def with_where_arguments(scores, mask):
    """NumPy's reductions can leave out entries themselves."""
    largest = np.max(scores, axis=-1, keepdims=True, where=mask, initial=-1e300)
    e = np.exp(scores - largest, where=mask, out=np.zeros(scores.shape))
    total = e.sum(axis=-1, keepdims=True)
    return np.divide(e, total, out=np.zeros(scores.shape), where=total > 0)


@SPEC.alternative
def nan_replaced_at_the_end(scores, mask):
    """Minus infinity before the softmax, and NaN, which only a row all masked gives, replaced by 0 after it."""
    with np.errstate(invalid="ignore"):
        low = np.where(mask, scores, -np.inf)
        e = np.exp(low - low.max(axis=-1, keepdims=True))
        return np.nan_to_num(e / e.sum(axis=-1, keepdims=True))
