"""How `softmax` is checked: against `torch.softmax`."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec, change


def oracle(z, axis=-1):
    """PyTorch's softmax, in float64."""
    return torch.softmax(torch.from_numpy(z), dim=axis).numpy()


EXAMPLE = Case(
    sizes={"B": 2, "V": 3},
    inputs={"z": np.array([[1.00, -0.50, 2.00], [0.30, 0.00, -1.20]])},
)


def case(sizes, z, kind="ordinary", **axis):
    return Case(sizes=sizes, inputs={"z": z.round(2), **axis}, kind=kind)  # rounded, so that a report can show them


def cases(rng):
    for B, V in [(2, 5), (4, 4), (1, 6), (3, 1)]:
        yield case({"B": B, "V": V}, rng.normal(size=(B, V)))
    yield case({"V": 6}, rng.normal(size=6))
    yield case({"B": 3, "V": 5}, rng.normal(size=(3, 5)), axis=-1)
    yield case({"B": 2, "T": 3, "V": 4}, rng.normal(size=(2, 3, 4)), axis=2)

    other = "another axis"
    yield case({"B": 3, "V": 5}, rng.normal(size=(3, 5)), other, axis=0)
    yield case({"B": 4, "V": 4}, rng.normal(size=(4, 4)), other, axis=0)
    yield case({"B": 2, "T": 3, "V": 4}, rng.normal(size=(2, 3, 4)), other, axis=1)
    yield case({"B": 3, "T": 2, "V": 5}, rng.normal(size=(3, 2, 5)), other, axis=-2)
    yield case({"B": 4, "T": 3, "V": 2}, rng.normal(size=(4, 3, 2)), other, axis=0)

    large = "large values"
    yield case({"B": 2, "V": 5}, rng.normal(size=(2, 5)) - 1000, large)  # all far below 0
    yield case({"B": 2, "V": 3}, rng.normal(size=(2, 3)) + 900, large)
    yield case({"B": 2, "V": 4}, rng.normal(size=(2, 4)) + np.array([[1000.0], [-1000.0]]), large)
    yield case({"B": 3, "V": 5}, rng.uniform(-1000, 1000, size=(3, 5)), large)
    yield case(
        {"B": 2, "V": 4}, rng.normal(size=(2, 4)) + rng.permuted([[1500.0, -1500, -1500, -1500]] * 2, axis=1), large
    )


SPEC = Spec(
    outputs=[Output("p")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("the last axis", share=2, kinds=("ordinary",)),
        Facet("another axis", share=1, kinds=("another axis",)),
        Facet("large values", share=1, kinds=("large values",)),
    ],
    why=r"""
`np.exp` makes every number positive and keeps their order; division by the sum along `axis` makes them sum to 1.
Subtracting the maximum $m$ first does not change the result, because it divides numerator and denominator by the same
factor: $e^{z_i - m} / \sum_j e^{z_j - m} = e^{z_i} / \sum_j e^{z_j}$. But it keeps the numbers within the range of
float64: the largest exponent is now 0, so nothing overflows, and at least one term of the sum is 1, so there is no
division by 0. `keepdims=True` keeps `axis` with length 1, so that the division broadcasts correctly for every `axis`.
""",
)


ALONG = "(axis=axis, keepdims=True)"
SHIFT = f" - z.max{ALONG}"
CLIPPED = [f"np.minimum(z, {most})" for most in (500, 700, 709)] + [
    f"np.clip(z, -{most}, {most})" for most in (500, 700, 709)
]
SPEC.mistake(
    "over_the_first_axis",
    "You sum over the first axis, so the columns sum to 1. Sum along `axis`, which is the last axis unless the call "
    "says otherwise.",
    change("max(axis=axis", "max(axis=0", ("sum(axis=axis", "sum(axis=0")),
    tempts="axis=0 comes to mind first; it makes the columns of a batch sum to 1.",
)
SPEC.mistake(
    "axis_ignored",
    "You use the last axis in at least one place, even where the call passes another one. Use the argument `axis` "
    "everywhere, because the call decides which axis sums to 1.",
    change("max(axis=axis", "max(axis=-1", ("sum(axis=axis", "sum(axis=-1")),
    change("max(axis=axis", "max(axis=-1"),
    change("sum(axis=axis", "sum(axis=-1"),
    tempts="The last axis is nearly always right, so the argument is forgotten.",
    keeps=["the last axis", "large values"],
)
SPEC.mistake(
    "sums_over_everything",
    "You divide by the sum of the whole array, so all its numbers together sum to 1. Sum along `axis` only, because "
    "each row has to sum to 1 by itself.",
    change(f"max{ALONG}", "max()", (f"sum{ALONG}", "sum()")),
    change(SHIFT, "", (f"sum{ALONG}", "sum()")),
    change(f"sum{ALONG}", "sum()"),
    tempts="e.sum() without an axis is right for a single row, which is what one tries first.",
)
SPEC.mistake(
    "no_shift",
    "You exponentiate the logits as they are, so large ones give nan: `np.exp(1000)` overflows, and `np.exp(-1000)` "
    "is 0. Subtract the largest value along `axis` first, which does not change the result.",
    change(SHIFT, ""),
    tempts="It is the formula, letter by letter, but exp(710) is too large for float64.",
    keeps=["the last axis", "another axis"],
)
SPEC.mistake(
    "one_maximum_for_all",
    "You subtract the maximum of the whole array from all rows. Subtract from each row its own maximum: in a row far "
    "below the others, all exponentials underflow to 0, and 0 / 0 is nan.",
    change(f"max{ALONG}", "max()"),
    tempts="z.max() stops the overflow, but a row far below that maximum then becomes 0 / 0.",
    keeps=["the last axis", "another axis"],
)
SPEC.mistake(
    "not_normalised",
    "You scale each row such that its largest number is 1. Divide by the *sum* along `axis`, because probabilities "
    "have to sum to 1.",
    change(f" / e.sum{ALONG}", ""),
    change(SHIFT, "", ("e.sum", "e.max")),
    tempts="After the shift all numbers lie between 0 and 1, and look like probabilities.",
)
SPEC.mistake(
    "no_keepdims",
    "You lose an axis in a sum or maximum along `axis`, so NumPy aligns the result with the wrong axis, or not at "
    "all. Pass `keepdims=True`, which keeps the axis with length 1.",
    change(f"max{ALONG}", "max(axis=axis)", (f"sum{ALONG}", "sum(axis=axis)")),
    change(f"sum{ALONG}", "sum(axis=axis)"),
    change(f"max{ALONG}", "max(axis=axis)"),
    change(SHIFT, "", (f"sum{ALONG}", "sum(axis=axis)")),
    tempts="It runs for a single row and for a square array, where the maxima are aligned with the columns.",
)
SPEC.mistake(
    "axis_put_back_at_1",
    "You lose an axis in a sum or maximum and put it back with `[:, None]`, which is always position 1. Use "
    "`keepdims=True`, because it keeps the axis where it was, whatever `axis` is.",
    change(f"max{ALONG}", "max(axis=axis)[:, None]", (f"sum{ALONG}", "sum(axis=axis)[:, None]")),
    tempts="For a two-dimensional array and its last axis, it does what keepdims does.",
    keeps=["large values"],
)
SPEC.mistake(
    "no_exp",
    "You divide the logits by their sum without exponentiating them. Exponentiate first, because logits may be "
    "negative and probabilities may not.",
    change(f"np.exp(z{SHIFT})", "z"),
    tempts="Division by the sum is what makes numbers sum to 1, but negative ones stay in the result.",
)
SPEC.mistake(
    "not_shifted_by_the_maximum",
    "You shift each row, but not by its maximum, so large values still give nan. Subtract the maximum: the largest "
    "exponent is then 0, so nothing overflows, and the sum is at least 1.",
    change("z.max(", "z.mean("),
    change("z.max(", "z.min("),
    change("z.max(", "abs(z).max("),
    change("- z.max(", "+ z.max("),
    tempts="On paper, any number may be subtracted.",
    keeps=["the last axis", "another axis"],
)
SPEC.mistake(
    "tiny_number_in_the_sum",
    "You add a tiny number to the sum, so the probabilities sum to slightly less than 1. Leave it out: once the "
    "maximum is subtracted, the sum is at least 1 and there is no division by 0.",
    *(change(f"/ e.sum{ALONG}", f"/ (e.sum{ALONG} + {tiny})") for tiny in ("1e-6", "1e-7", "1e-8")),
    *(change(SHIFT, "", (f"/ e.sum{ALONG}", f"/ (e.sum{ALONG} + {tiny})")) for tiny in ("1e-7", "1e-8")),
    tempts="A tiny number in the denominator is a habit against division by 0.",
)
SPEC.mistake(
    "divided_by_the_largest",
    "You divide the logits by the largest one, or by the largest absolute value, which changes the result. Subtract "
    "the largest one instead: this multiplies numerator and denominator by the same factor, which cancels.",
    change(SHIFT, f" / z.max{ALONG}"),
    change(SHIFT, f" / abs(z).max{ALONG}"),
    tempts="Division is the usual way to make numbers smaller.",
)
SPEC.mistake(
    "shift_in_the_numerator_only",
    "You subtract the maximum in the numerator but not in the denominator, so the probabilities no longer sum to 1. "
    "Use the same exponentials in both.",
    change("e.sum(", "np.exp(z).sum("),
    tempts="The sum is written out again, as in the formula.",
)
SPEC.mistake(
    "clipped",
    "You clip large values, which makes them all equal. Subtract the maximum of each row instead, because that keeps "
    "their differences.",
    *(change(SHIFT, "", ("np.exp(z)", f"np.exp({clipped})")) for clipped in CLIPPED),
    tempts="Clipping stops the overflow.",
    keeps=["the last axis", "another axis"],
)
SPEC.mistake(
    "nan_replaced",
    "You let large values overflow, and then replace the nan by a number. Subtract the maximum of each row first, so "
    "that nothing overflows.",
    change(
        SHIFT,
        "",
        ("return e / e.sum(axis=axis, keepdims=True)", "return np.nan_to_num(e / e.sum(axis=axis, keepdims=True))"),
    ),
    tempts="`np.nan_to_num` makes the nan go away.",
    keeps=["the last axis", "another axis"],
)
SPEC.mistake(
    "logistic_function",
    "You apply the logistic function to each logit separately, so the results do not sum to 1. Divide each "
    "exponential by the sum of all of them along `axis`.",
    change(f"np.exp(z{SHIFT})", "1 / (1 + np.exp(-z))", (f" / e.sum{ALONG}", "")),
    change(f"np.exp(z{SHIFT})", "np.exp(np.minimum(z, 0)) / (1 + np.exp(-abs(z)))", (f" / e.sum{ALONG}", "")),
    tempts="For two classes, the softmax is a logistic function.",
)
SPEC.mistake(
    "one_hot_of_the_largest",
    "You give the largest logit probability 1 and all others 0. Divide each exponential by their sum instead, because "
    "every logit gets a share.",
    change(f"np.exp(z{SHIFT})", f"(z == z.max{ALONG})"),
    tempts="In the end one wants the most probable answer.",
)
SPEC.mistake(
    "log_sum_overflows",
    "You subtract the logarithm of the sum of the exponentials, but with large logits these exponentials overflow or "
    "are all 0. Subtract the maximum of each row before you exponentiate.",
    change(
        "z.max(axis=axis, keepdims=True)", "np.log(np.exp(z).sum(axis=axis, keepdims=True))", (f" / e.sum{ALONG}", "")
    ),
    tempts="Texts recommend computing with logarithms, but the logarithm alone does not prevent the overflow.",
    keeps=["the last axis", "another axis"],
)
AT_THE_END = "(axis=axis)[..., None]"
SPEC.mistake(
    "axis_put_back_at_the_end",
    "You lose an axis in a sum or maximum and put it back at the end, so the result is right along the last axis "
    "alone. Use `keepdims=True`, because it keeps the axis where it was, whatever `axis` is.",
    change(f"max{ALONG}", f"max{AT_THE_END}", (f"sum{ALONG}", f"sum{AT_THE_END}")),
    change(f"max{ALONG}", f"max{AT_THE_END}"),
    change(f"sum{ALONG}", f"sum{AT_THE_END}"),
    tempts="`[..., None]` does what keepdims does, as long as the axis is the last.",
    keeps=["the last axis", "large values"],
)
SPEC.mistake(
    "axis_not_moved_back",
    "You move `axis` to the end and leave it there, so the probabilities are right but their axes are in another "
    "order. Move it back afterwards, because the result must have the shape of `z`.",
    *(
        change(
            "e =",
            f"z = np.{moved}(z, axis, -1)\ne =",
            ("max(axis=axis", "max(axis=-1"),
            ("sum(axis=axis", "sum(axis=-1"),
        )
        for moved in ("moveaxis", "swapaxes")
    ),
    tempts="With the axis at the end the rest is simple, and moving it back is forgotten.",
    keeps=["the last axis", "large values"],
)


@SPEC.mistake(
    "normalised_by_first_index",
    "You normalise each `z[i]` separately, which is right only for the rows of a two-dimensional array. Work along "
    "`axis`, with `keepdims=True`, because `z` may have any number of axes.",
    tempts="One thinks of a batch of rows.",
    keeps=["large values"],
)
def row_by_row(z, axis=-1):
    rows = []
    for row in z:
        e = np.exp(row - row.max())
        rows.append(e / e.sum())
    return np.array(rows)


@SPEC.alternative
def through_the_logarithm(z, axis=-1):
    """The exponential of the log-softmax."""
    return np.exp(z - np.logaddexp.reduce(z, axis=axis, keepdims=True))


@SPEC.alternative
def axis_to_the_end(z, axis=-1):
    """The axis moved to the end, each row normalised, and the axis moved back: the result is a view."""
    moved = np.moveaxis(z, axis, -1)
    rows = [np.exp(row - max(row)) for row in moved.reshape(-1, moved.shape[-1])]
    p = np.array([row / sum(row) for row in rows]).reshape(moved.shape)
    return np.moveaxis(p, -1, axis)


@SPEC.alternative
def by_differences(z, axis=-1):
    """1 over the sum of exp(z_j - z_i); where that overflows, 1 over infinity is 0, as it should be."""
    z = np.moveaxis(z, axis, -1)
    p = 1 / np.exp(z[..., None, :] - z[..., :, None]).sum(axis=-1)
    return np.moveaxis(p, -1, axis)
