"""How `masked_softmax` is checked: against PyTorch's softmax of the entries that are not masked, row by row."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Output, Spec, change


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
    """A mask with a True in each row. If S > 1, the first row has a False too, and the last row has two True."""
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


def some_of_both(rng, shape):
    """A mask with a True and a False among the first two positions of each row."""
    mask = some(rng, shape)
    mask[..., 0] = rng.permutation([True, False])[0]
    mask[..., 1] = ~mask[..., 0]
    return mask


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
    ):
        mask = some_of_both(rng, shape)
        yield case(np.where(mask, centre, masked) + scores(rng, shape), mask, HUGE)
    for shape, centre, masked in (((5,), -4e9, -2e9), ((3, 3), -4e12, 4e12)):  # so far apart that one gets all weight
        mask = some_of_both(rng, shape)
        yield case(np.where(mask, centre, masked) * rng.uniform(1, 1.4, size=shape), mask, HUGE)

    levels = np.array([[900.0], [-900.0], [0.0]])
    yield case(levels + scores(rng, (3, 4)), some(rng, (3, 4)), HUGE)  # rows far from each other

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
)
RIGHT_SUM = "e.sum(axis=-1, keepdims=True)"
REAL = "np.where(mask, scores, -np.inf)"
LARGEST = "np.where(some, real.max(axis=-1, keepdims=True), 0.0)"
OF_ALL = "scores.max(axis=-1, keepdims=True)"
EXP = "np.exp(real - largest)"
SUM = f"np.where(some, {RIGHT_SUM}, 1.0)"
RETURN = f"return e / {SUM}"
POSITIVE = (SUM, f"np.maximum({RIGHT_SUM}, 1e-300)")  # a sum of 0, wherever it comes from, gives zeros
ONE_FOR_ZERO = f"np.where({RIGHT_SUM} > 0, {RIGHT_SUM}, 1.0)"
UNTREATED = (LARGEST, "real.max(axis=-1, keepdims=True)"), (SUM, RIGHT_SUM)
AND_MASKED_AFTER = (
    ((RETURN, f"{RETURN} * mask"),),
    ((EXP, f"{EXP} * mask"),),
    ((EXP, f"{EXP} * mask"), POSITIVE),
)
LOW = ("-100.0", "-1e4", "-1e9", "-1e10")

SPEC.mistakes(
    {
        "mask_not_used": [
            change("some = mask", "mask = np.ones_like(mask)\nsome = mask"),
            change(LARGEST, "0.0", (REAL, "scores"), (SUM, RIGHT_SUM)),
        ],
        "mask_inverted": [
            change("some = mask", "mask = ~mask\nsome = mask"),
            change("np.where(mask, scores, -np.inf)", "np.where(mask, -np.inf, scores)", *UNTREATED),
        ],
        "masked_scores_raised": [
            change(REAL, "scores + ~mask * 1e9", *UNTREATED),
            change(REAL, "scores + ~mask * 1e9", UNTREATED[0], (EXP, f"{EXP} * mask"), POSITIVE),
        ],
        "first_positions_only": change(
            "some = mask", "mask = np.arange(mask.shape[-1]) < mask.sum(axis=-1, keepdims=True)\nsome = mask"
        ),
        "masked_after_the_softmax": [
            change(LARGEST, OF_ALL, (EXP, "np.exp(scores - largest)"), (RETURN, f"return e / {RIGHT_SUM} * mask")),
            change(LARGEST, "0.0", (EXP, "np.exp(scores)"), (RETURN, f"return e / {RIGHT_SUM} * mask")),
        ],
        "zero_as_a_masked_score": [
            *(
                change(REAL, "scores * mask", (LARGEST, largest), (RETURN, f"return e / {RIGHT_SUM}{after}"))
                for largest in ("real.max(axis=-1, keepdims=True)", "0.0")
                for after in ("", " * some", " * mask")
            )
        ],
        "masked_scores_not_low_enough": [
            change(REAL, masked.format(low), *more)
            for low in ("-5.0", "-10.0")
            for masked in ("np.where(mask, scores, {})", "scores + ~mask * {}")
            for more in ((), UNTREATED)
        ],
        "minus_infinity_times_zero": [
            change(REAL, "scores + ~mask * -np.inf"),
            change(REAL, "scores + ~mask * -np.inf", *UNTREATED),
        ],
        "epsilon_added": [
            *(change(SUM, f"({RIGHT_SUM} + 1e-{digits})") for digits in range(3, 9)),
            change(LARGEST, OF_ALL, (EXP, "np.exp(scores - largest) * mask"), (SUM, f"({RIGHT_SUM} + 1e-8)")),
        ],
        "not_normalised": [
            change(RETURN, "return e"),
            change(LARGEST, "0.0", (RETURN, "return e")),
            change(LARGEST, "0.0", (EXP, "np.exp(scores) * mask"), (RETURN, "return e")),
        ],
        "over_the_whole_array": [
            change(SUM, "e.sum()"),
            change(SUM, "max(e.sum(), 1e-300)"),
            change(LARGEST, "real.max()", (SUM, "e.sum()")),
            change(LARGEST, "real.max() if mask.any() else 0.0", (SUM, "max(e.sum(), 1e-300)")),
        ],
        "over_the_wrong_axis": [
            *(
                change(
                    "mask.any(axis=-1", f"mask.any(axis={axis}", ("real.max(axis=-1", f"real.max(axis={axis}"), *more
                )
                for axis in (0, 1, -2)
                for more in (
                    (("e.sum(axis=-1", f"e.sum(axis={axis}"),),
                    (
                        (LARGEST.replace("-1", str(axis)), f"real.max(axis={axis}, keepdims=True)"),
                        (SUM, f"e.sum(axis={axis}, keepdims=True)"),
                    ),
                )
            )
        ],
    }
)
SPEC.mistakes(
    {
        "finite_number_for_minus_infinity": [
            *(
                change(REAL, masked, *more)
                for low in LOW
                for masked in (f"np.where(mask, scores, {low})", f"scores + ~mask * {low}")
                for more in ((), *(AND_MASKED_AFTER if low != LOW[0] else ()))
            )
        ],
        "maximum_over_masked_entries": [
            *(
                change(LARGEST, largest, *total)
                for largest in (OF_ALL, "(scores * mask).max(axis=-1, keepdims=True)")
                for total in ((), (POSITIVE,))
            )
        ],
        "one_maximum_for_all_rows": [
            *(
                change(LARGEST, largest, *total)
                for largest in ("real.max() if mask.any() else 0.0", "scores.max()")
                for total in ((), (POSITIVE,))
            )
        ],
        "maximum_not_subtracted": [
            *(
                change(LARGEST, "0.0", (EXP, exp), *total)
                for exp in ("np.exp(real)", "np.exp(scores) * mask")
                for total in ((), (POSITIVE,), ((RETURN, f"return np.nan_to_num(e / {SUM})"),))
            ),
            change(LARGEST, "0.0", (EXP, "np.exp(scores) * mask"), (SUM, ONE_FOR_ZERO)),
            change(
                LARGEST,
                "0.0",
                (EXP, "np.exp(scores) * mask"),
                (RETURN, f"return np.where({RIGHT_SUM} > 0, e / {SUM}, 0.0)"),
            ),
        ],
    },
    keeps=["ordinary scores", "rows all masked"],
)
SPEC.mistakes(
    {
        "uniform_in_a_row_all_masked": change("-np.inf", "-1e300", *UNTREATED),
        "softmax_of_a_row_all_masked": [
            *(
                change(
                    "some = mask", f"some = mask.any(axis=-1, keepdims=True)\n{lowered}mask = mask | ~some\nsome = mask"
                )
                for lowered in ("", *(f"scores = np.where(some, scores, scores {low})\n" for low in LOW[2:]))
            )
        ],
        "nan_in_a_row_all_masked": [
            change(SUM, RIGHT_SUM),
            change("some = mask", "if not mask.any():\n    return np.zeros(scores.shape)\nsome = mask", *UNTREATED),
        ],
    },
    keeps=["ordinary scores", "huge scores"],
)


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
