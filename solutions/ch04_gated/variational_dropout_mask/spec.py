"""How `variational_dropout_mask` is checked: by the form, values, source and distribution of many masks, which
`judge.py` judges.

No value is fixed, because there are many ways to draw a mask. In each case the function is called several times with
one generator, and then again with a new one of the same seed.
"""

import numpy as np

from grader.spec.spec import Case, Facet, Fixture, Output, Spec, change, instead


def case(B, size, p, draws, seed):
    inputs = {"rng": Fixture("rng", {"seed": seed}), "batch_size": B, "size": size, "p": p, "draws": draws}
    return Case({"B": B, "size": size}, inputs, kind="ordinary" if p else "p is 0")


def cases(rng):
    for B, size, p, draws in (
        (3, 4, 0.25, 600),
        (1, 5, 0.4, 600),
        (4, 1, 0.3, 600),
        (2, 3, 0.0, 50),
        (5, 8, 0.8, 400),
        (3, 40, 0.1, 200),
    ):
        yield case(B, size, p, draws, int(rng.integers(2**31)))


SPEC = Spec(
    driver="draws",
    outputs=[Output("mask")],
    example=case(2, 5, 0.2, 600, seed=5),
    cases=cases,
    facets=[Facet("values", 1, outputs=("mask",)), Facet("distribution", 1, outputs=("distribution",))],
)
KEEP = "rng.random(size=(batch_size, 1, size)) >= p"
RETURN = "return keep / (1 - p)"

SPEC.mistakes(
    {
        **instead(
            RETURN,
            {
                "not_scaled": "return keep.astype(float)",
                "multiplied_by_1_minus_p": "return keep * (1 - p)",
            },
        ),
    },
    keeps=("distribution",),
)
SPEC.mistakes(
    {
        **instead(
            RETURN,
            {
                "truth_values_returned": "return keep",
                "divided_by_p": "return keep / p",
            },
        ),
        "p_taken_as_the_share_that_is_kept": [
            change(">= p", "< p", (RETURN, "return keep / p")),
            change(">= p", "< p", (RETURN, "return keep.astype(float)")),
        ],
        "one_mask_for_the_batch": [
            change("size=(batch_size, 1, size)", "size=(1, 1, size)"),
            change(RETURN, "return np.repeat(keep[:1], batch_size, axis=0) / (1 - p)"),
        ],
        "one_number_for_all_units": [
            change("size=(batch_size, 1, size)", "size=(batch_size, 1, 1)"),
            change(RETURN, "return np.repeat(keep[:, :, :1], size, axis=2) / (1 - p)"),
        ],
        "time_axis_missing": change("size=(batch_size, 1, size)", "size=(batch_size, size)"),
        "axes_in_another_order": [
            change("size=(batch_size, 1, size)", "size=(1, batch_size, size)"),
            change("size=(batch_size, 1, size)", "size=(batch_size, size, 1)"),
        ],
        "divided_by_the_share_that_was_kept": [
            change(RETURN, "return keep / keep.mean()"),
            change(RETURN, "return keep / keep.mean(axis=2, keepdims=True)"),
        ],
        "numbers_not_from_rng": [
            change("rng.random", "np.random.random"),
            change("rng.random", "np.random.default_rng().random"),
        ],
        "same_mask_every_time": [
            change("rng.random", "np.random.default_rng(0).random"),
            change("keep =", "np.random.seed(0)\nkeep =", ("rng.random", "np.random.random")),
        ],
    }
)
SPEC.mistakes(
    {
        "kept_with_probability_p": [
            change(">= p", "< p"),
            change(KEEP, "rng.binomial(1, p, size=(batch_size, 1, size))"),
        ],
        "numbers_not_uniform": change("rng.random(", "rng.normal("),
        "number_of_zeros_fixed": [
            change(
                KEEP,
                "rng.random(size=(batch_size, 1, size)).argsort(axis=2) >= round(p * size)",
            ),
            change(
                KEEP,
                "rng.permutation(np.arange(batch_size * size) >= int(p * "
                "batch_size * size)).reshape(batch_size, 1, size)",
            ),
        ],
    },
    keeps=("values",),
)


@SPEC.alternative
def from_the_binomial_distribution(rng, batch_size, size, p):
    """Draw zeros and ones directly."""
    return rng.binomial(1, 1 - p, size=(batch_size, 1, size)) / (1 - p)


@SPEC.alternative
def chosen(rng, batch_size, size, p):
    """Draw each entry from the two values, and add the axis of time at the end."""
    return rng.choice([0.0, 1 / (1 - p)], p=[p, 1 - p], size=(batch_size, size))[:, None, :]


@SPEC.alternative
def entry_by_entry(rng, batch_size, size, p):
    """A loop over all entries."""
    mask = np.ones((batch_size, 1, size))
    for b in range(batch_size):
        for j in range(size):
            mask[b, 0, j] = 0.0 if rng.uniform() < p else 1.0 / (1.0 - p)
    return mask
