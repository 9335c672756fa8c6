"""How `softmax` is checked: against `torch.softmax`."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Output, Spec, change, instead


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
)
ALONG = "(axis=axis, keepdims=True)"
SHIFT = f" - z.max{ALONG}"
CLIPPED = [f"np.minimum(z, {most})" for most in (500, 700, 709)] + [
    f"np.clip(z, -{most}, {most})" for most in (500, 700, 709)
]
AT_THE_END = "(axis=axis)[..., None]"


def row_by_row(z, axis=-1):
    rows = []
    for row in z:
        e = np.exp(row - row.max())
        rows.append(e / e.sum())
    return np.array(rows)


SPEC.mistakes(
    {
        "over_the_first_axis": change("max(axis=axis", "max(axis=0", ("sum(axis=axis", "sum(axis=0")),
        "sums_over_everything": [
            change(f"max{ALONG}", "max()", (f"sum{ALONG}", "sum()")),
            change(SHIFT, "", (f"sum{ALONG}", "sum()")),
            change(f"sum{ALONG}", "sum()"),
        ],
        "not_normalised": [change(f" / e.sum{ALONG}", ""), change(SHIFT, "", ("e.sum", "e.max"))],
        "no_keepdims": [
            change(f"max{ALONG}", "max(axis=axis)", (f"sum{ALONG}", "sum(axis=axis)")),
            change(f"sum{ALONG}", "sum(axis=axis)"),
            change(f"max{ALONG}", "max(axis=axis)"),
            change(SHIFT, "", (f"sum{ALONG}", "sum(axis=axis)")),
        ],
        **instead(
            f"np.exp(z{SHIFT})",
            {
                "no_exp": "z",
                "base_2": f"2.0 ** (z{SHIFT})",
                "one_hot_of_the_largest": f"(z == z.max{ALONG})",
            },
        ),
        "tiny_number_in_the_sum": [
            *(change(f"/ e.sum{ALONG}", f"/ (e.sum{ALONG} + {tiny})") for tiny in ("1e-6", "1e-7", "1e-8")),
            *(change(SHIFT, "", (f"/ e.sum{ALONG}", f"/ (e.sum{ALONG} + {tiny})")) for tiny in ("1e-7", "1e-8")),
        ],
        "divided_by_the_largest": [change(SHIFT, f" / z.max{ALONG}"), change(SHIFT, f" / abs(z).max{ALONG}")],
        "shift_in_the_numerator_only": change("e.sum(", "np.exp(z).sum("),
        "shift_in_the_denominator_only": change(SHIFT, "", ("e.sum(", f"np.exp(z{SHIFT}).sum(")),
        "fixed_number_subtracted": change(f"z.max{ALONG}", "1000"),
        "logistic_function": change(f"np.exp(z{SHIFT})", "1 / (1 + np.exp(-z))", (f" / e.sum{ALONG}", "")),
    }
)
SPEC.mistakes(
    {
        "axis_ignored": [
            change("max(axis=axis", "max(axis=-1", ("sum(axis=axis", "sum(axis=-1")),
            change("max(axis=axis", "max(axis=-1"),
            change("sum(axis=axis", "sum(axis=-1"),
        ],
        "axis_0_taken_for_none": change("e =", "axis = axis or -1\ne ="),
        "axis_put_back_at_the_end": [
            change(f"max{ALONG}", f"max{AT_THE_END}", (f"sum{ALONG}", f"sum{AT_THE_END}")),
            change(f"max{ALONG}", f"max{AT_THE_END}"),
            change(f"sum{ALONG}", f"sum{AT_THE_END}"),
        ],
        "axis_not_moved_back": [
            *(
                change(
                    "e =",
                    f"z = np.{moved}(z, axis, -1)\ne =",
                    ("max(axis=axis", "max(axis=-1"),
                    ("sum(axis=axis", "sum(axis=-1"),
                )
                for moved in ("moveaxis", "swapaxes")
            )
        ],
    },
    keeps=["the last axis", "large values"],
)
SPEC.mistakes(
    {
        "no_shift": change(SHIFT, ""),
        "one_maximum_for_all": change(f"max{ALONG}", "max()"),
        "not_shifted_by_the_maximum": [
            change("z.max(", "z.mean("),
            change("z.max(", "z.min("),
            change("z.max(", "abs(z).max("),
            change("- z.max(", "+ z.max("),
        ],
        "clipped": [*(change(SHIFT, "", ("np.exp(z)", f"np.exp({clipped})")) for clipped in CLIPPED)],
        "nan_replaced": change(
            SHIFT,
            "",
            ("return e / e.sum(axis=axis, keepdims=True)", "return np.nan_to_num(e / e.sum(axis=axis, keepdims=True))"),
        ),
        "log_sum_overflows": change(
            "z.max(axis=axis, keepdims=True)",
            "np.log(np.exp(z).sum(axis=axis, keepdims=True))",
            (f" / e.sum{ALONG}", ""),
        ),
    },
    keeps=["the last axis", "another axis"],
)
SPEC.mistakes(
    {
        "axis_put_back_at_1": change(
            f"max{ALONG}", "max(axis=axis)[:, None]", (f"sum{ALONG}", "sum(axis=axis)[:, None]")
        ),
        "normalised_by_first_index": row_by_row,
    },
    keeps=["large values"],
)


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
