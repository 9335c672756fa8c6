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
`np.exp` makes every number positive and keeps their order; division by the sum along `axis` makes them add up to 1.
Taking the largest number away first changes nothing in the result, because it divides numerator and denominator by the
same factor: $e^{z_i - m} / \sum_j e^{z_j - m} = e^{z_i} / \sum_j e^{z_j}$. It changes what the machine can hold: the
largest exponent is now 0, so nothing overflows, and at least one term of the sum is 1, so that we never divide by 0.
`keepdims=True` leaves an axis of length 1 where `axis` was, so that the division lines up whatever `axis` is.
""",
)


ALONG = "(axis=axis, keepdims=True)"
SHIFT = f" - z.max{ALONG}"
CLIPPED = [f"np.minimum(z, {most})" for most in (500, 700, 709)] + [
    f"np.clip(z, -{most}, {most})" for most in (500, 700, 709)
]
SPEC.mistake(
    "over_the_first_axis",
    "The columns add up to 1: the sum runs along the first axis. It runs along `axis`, which is the last one unless "
    "the call says otherwise.",
    change("max(axis=axis", "max(axis=0", ("sum(axis=axis", "sum(axis=0")),
    tempts="axis=0 is what one types first; it makes the columns of a batch add up to 1.",
)
SPEC.mistake(
    "axis_ignored",
    "It is right along the last axis, and takes the last axis even where the call gives another one. Use the argument "
    "`axis` in every place where an axis is named.",
    change("max(axis=axis", "max(axis=-1", ("sum(axis=axis", "sum(axis=-1")),
    change("max(axis=axis", "max(axis=-1"),
    change("sum(axis=axis", "sum(axis=-1"),
    tempts="The last axis is right nearly always, so that the argument is forgotten.",
    keeps=["the last axis", "large values"],
)
SPEC.mistake(
    "sums_over_everything",
    "All numbers of the array together add up to 1. Each row must do so by itself: sum along `axis` alone.",
    change(f"max{ALONG}", "max()", (f"sum{ALONG}", "sum()")),
    change(SHIFT, "", (f"sum{ALONG}", "sum()")),
    change(f"sum{ALONG}", "sum()"),
    tempts="e.sum() without an axis is right for a single row, on which one tries it first.",
)
SPEC.mistake(
    "no_shift",
    "Small values come out right, large ones as nan: `np.exp(1000)` overflows, and `np.exp(-1000)` is 0. Take the "
    "largest value away before you exponentiate; the result stays the same.",
    change(SHIFT, ""),
    tempts="It is the formula, letter by letter; exp(710) is too large for float64.",
    keeps=["the last axis", "another axis"],
)
SPEC.mistake(
    "one_shift_for_all",
    "Where rows lie far apart, some come out as nan: one number, the largest of the whole array, is taken away from "
    "all rows. A row far below it becomes all zeros, and 0 / 0 is nan. Each row needs its own largest value.",
    change(f"max{ALONG}", "max()"),
    tempts="z.max() stops the overflow; a row far below the largest number of all then becomes 0 / 0.",
    keeps=["the last axis", "another axis"],
)
SPEC.mistake(
    "not_normalised",
    "The largest number of each row is 1, and the rows add up to more than 1. Divide by the *sum* along `axis`.",
    change(f" / e.sum{ALONG}", ""),
    change(SHIFT, "", ("e.sum", "e.max")),
    tempts="After the shift all numbers lie between 0 and 1, and look like probabilities.",
)
SPEC.mistake(
    "no_keepdims",
    "A sum or maximum along `axis` loses that axis, so that NumPy lines its numbers up with the wrong axis, or not at "
    "all. `keepdims=True` keeps the axis, with length 1.",
    change(f"max{ALONG}", "max(axis=axis)", (f"sum{ALONG}", "sum(axis=axis)")),
    change(f"sum{ALONG}", "sum(axis=axis)"),
    change(f"max{ALONG}", "max(axis=axis)"),
    change(SHIFT, "", (f"sum{ALONG}", "sum(axis=axis)")),
    tempts="It runs for one row, and for a square: the maxima are lined up with the columns.",
)
SPEC.mistake(
    "axis_put_back_at_one_place",
    "A sum or maximum along `axis` loses that axis, and `[:, None]` puts one back at place 1 whatever `axis` is. That "
    "fits a table and its last axis alone; `keepdims=True` keeps the axis where it was.",
    change(f"max{ALONG}", "max(axis=axis)[:, None]", (f"sum{ALONG}", "sum(axis=axis)[:, None]")),
    tempts="For a table it does what keepdims does.",
    keeps=["large values"],
)
SPEC.mistake(
    "no_exp",
    "The numbers are divided by their sum as they are, so those below 0 are not made positive. Exponentiate them "
    "first.",
    change(f"np.exp(z{SHIFT})", "z"),
    tempts="Dividing by the sum is what makes things add up to 1; numbers below 0 stay below 0.",
)
SPEC.mistake(
    "not_the_largest",
    "Ordinary values come out right, large ones as nan: what is taken away from each row is not its largest value. "
    "Only then is the largest exponent 0, so that nothing overflows and the sum is never 0.",
    change("z.max(", "z.mean("),
    change("z.max(", "z.min("),
    change("z.max(", "abs(z).max("),
    change("- z.max(", "+ z.max("),
    tempts="On paper any number may be taken away.",
    keeps=["the last axis", "another axis"],
)
SPEC.mistake(
    "tiny_number_in_the_sum",
    "A tiny number is added to the sum, so that the probabilities add up to a little less than 1. Once the largest "
    "value is taken away the sum is never below 1, and needs no help.",
    *(change(f"/ e.sum{ALONG}", f"/ (e.sum{ALONG} + {tiny})") for tiny in ("1e-6", "1e-7", "1e-8")),
    *(change(SHIFT, "", (f"/ e.sum{ALONG}", f"/ (e.sum{ALONG} + {tiny})")) for tiny in ("1e-7", "1e-8")),
    tempts="A tiny number in the denominator is a habit against division by 0.",
)
SPEC.mistake(
    "divided_by_the_largest",
    "The numbers are divided by the largest one, or by the largest absolute value, before they are exponentiated, "
    "which changes the result. Take the largest one away from them: a difference is a factor on all of them, above and "
    "below the line.",
    change(SHIFT, f" / z.max{ALONG}"),
    change(SHIFT, f" / abs(z).max{ALONG}"),
    tempts="To make numbers smaller one divides them.",
)
SPEC.mistake(
    "shift_above_only",
    "The largest value is taken away above the line and not below it, so that the probabilities no longer add up to 1. "
    "Use the same exponentials in both places.",
    change("e.sum(", "np.exp(z).sum("),
    tempts="The sum is written out again, as it stands in the formula.",
)
SPEC.mistake(
    "clipped",
    "Large numbers are cut off, and then they are all the same. Take each row's largest value away instead, which "
    "keeps the differences.",
    *(change(SHIFT, "", ("np.exp(z)", f"np.exp({clipped})")) for clipped in CLIPPED),
    tempts="Clipping stops the overflow.",
    keeps=["the last axis", "another axis"],
)
SPEC.mistake(
    "nan_replaced",
    "Ordinary values come out right. Large ones overflow, and what is nan then is replaced by a number. Take each "
    "row's largest value away beforehand, and nothing overflows.",
    change(
        SHIFT,
        "",
        ("return e / e.sum(axis=axis, keepdims=True)", "return np.nan_to_num(e / e.sum(axis=axis, keepdims=True))"),
    ),
    tempts="`np.nan_to_num` makes the nan go away.",
    keeps=["the last axis", "another axis"],
)
SPEC.mistake(
    "logistic",
    "This is the logistic function, of each number by itself: the results lie between 0 and 1, and do not add up to 1. "
    "Divide each exponential by the sum of all of them along `axis`.",
    change(f"np.exp(z{SHIFT})", "1 / (1 + np.exp(-z))", (f" / e.sum{ALONG}", "")),
    change(f"np.exp(z{SHIFT})", "np.exp(np.minimum(z, 0)) / (1 + np.exp(-abs(z)))", (f" / e.sum{ALONG}", "")),
    tempts="With two possibilities the softmax is a logistic function.",
)
SPEC.mistake(
    "the_winner_takes_all",
    "The largest number gets 1, the others 0. Each should get its share: divide each exponential by their sum.",
    change(f"np.exp(z{SHIFT})", f"(z == z.max{ALONG})"),
    tempts="One wants to know the likeliest in the end.",
)
SPEC.mistake(
    "unsafe_log_sum",
    "Ordinary values come out right, large ones as 0 or infinity: you subtract the logarithm of the sum, but the "
    "exponentials in that sum overflow or are all 0. Take each row's largest value away before you exponentiate.",
    change(
        "z.max(axis=axis, keepdims=True)", "np.log(np.exp(z).sum(axis=axis, keepdims=True))", (f" / e.sum{ALONG}", "")
    ),
    tempts="Texts recommend to compute with logarithms; the logarithm alone prevents no overflow.",
    keeps=["the last axis", "another axis"],
)
AT_THE_END = "(axis=axis)[..., None]"
SPEC.mistake(
    "axis_put_back_at_the_end",
    "It is right along the last axis. A sum or maximum along `axis` loses that axis, and you put it back at the end "
    "whatever `axis` is. `keepdims=True` keeps the axis where it was.",
    change(f"max{ALONG}", f"max{AT_THE_END}", (f"sum{ALONG}", f"sum{AT_THE_END}")),
    change(f"max{ALONG}", f"max{AT_THE_END}"),
    change(f"sum{ALONG}", f"sum{AT_THE_END}"),
    tempts="`[..., None]` does what keepdims does, as long as the axis is the last.",
    keeps=["the last axis", "large values"],
)
SPEC.mistake(
    "axis_not_moved_back",
    "It is right along the last axis. Along another one the probabilities are right, but their axes are in another "
    "order: you move `axis` to the end before you compute. Move it back to its place afterwards, so that the result "
    "has the shape of `z`.",
    *(
        change(
            "e =",
            f"z = np.{moved}(z, axis, -1)\ne =",
            ("max(axis=axis", "max(axis=-1"),
            ("sum(axis=axis", "sum(axis=-1"),
        )
        for moved in ("moveaxis", "swapaxes")
    ),
    tempts="With the axis at the end the rest is simple, and the way back is forgotten.",
    keeps=["the last axis", "large values"],
)


@SPEC.mistake(
    "rows_of_a_table_only",
    "It is right for a table, row by row. `z` may have one axis, or three, and `axis` may be another one: work along "
    "`axis`, whatever it is, and keep it with `keepdims=True`.",
    tempts="A batch of rows is what one has in mind.",
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
    """exp of the log-softmax."""
    return np.exp(z - np.logaddexp.reduce(z, axis=axis, keepdims=True))


@SPEC.alternative
def axis_to_the_end(z, axis=-1):
    """The axis moved to the end, rows one by one, and moved back: the result is a view."""
    moved = np.moveaxis(z, axis, -1)
    rows = [np.exp(row - max(row)) for row in moved.reshape(-1, moved.shape[-1])]
    p = np.array([row / sum(row) for row in rows]).reshape(moved.shape)
    return np.moveaxis(p, -1, axis)


@SPEC.alternative
def by_differences(z, axis=-1):
    """One over the sum of exp(z_j - z_i); where that overflows, one over infinity is 0, as it should be."""
    z = np.moveaxis(z, axis, -1)
    p = 1 / np.exp(z[..., None, :] - z[..., :, None]).sum(axis=-1)
    return np.moveaxis(p, -1, axis)
