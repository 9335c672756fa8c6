"""How `relative_error` is checked: against exact arithmetic with fractions, entry by entry."""

from fractions import Fraction

import numpy as np

from grader.spec.spec import Case, Facet, Output, Spec, change, instead

ORDINARY, SMALL, ZERO, NOTHING = "ordinary", "small entries", "0 / 0", "nothing but 0 / 0"


def oracle(a, b):
    """The definition in fractions; an entry that is 0 in both arrays has no error."""
    largest = Fraction(0)
    for x, y in zip(map(Fraction, a.ravel().tolist()), map(Fraction, b.ravel().tolist()), strict=True):
        if x != y:
            largest = max(largest, abs(x - y) / (abs(x) + abs(y)))
    return float(largest)


EXAMPLE = Case(
    sizes={"D": 2, "H": 2},
    inputs={"a": np.array([[0.30, -0.80], [1.20, -0.05]]), "b": np.array([[0.25, -0.20], [1.30, -0.04]])},
)


def pair(rng, *shape):
    """Two arrays that differ by about a third. The largest error is where both are negative and a is below b; if there
    are several entries, the largest difference is elsewhere.
    """
    while True:
        a = rng.uniform(0.1, 2, size=shape) * rng.choice([-1, 1], size=shape)
        b = a * rng.uniform(0.7, 1.4, size=shape)
        worst = np.unravel_index(rng.integers(a.size), shape)
        a[worst] = -abs(a[worst])
        b[worst] = a[worst] * rng.uniform(0.2, 0.4)
        if a.size == 1 or apart(a, b):
            return a, b


def apart(a, b):
    """Whether the entry with the largest error is not the one with the largest difference."""
    difference, size = np.abs(a - b), np.abs(a) + np.abs(b)
    return difference.argmax() != np.divide(difference, size, out=np.zeros(a.shape), where=size > 0).argmax()


def case(a, b, kind=ORDINARY):
    symbols = {1: "H", 2: "DH", 3: "BTH"}[a.ndim]
    return Case(sizes=dict(zip(symbols, a.shape, strict=True)), inputs={"a": a, "b": b}, kind=kind)


def cases(rng):
    yield case(*pair(rng, 3, 4))
    yield case(*pair(rng, 4, 4))
    yield case(*pair(rng, 6))
    yield case(*pair(rng, 2, 3, 4))
    yield case(*pair(rng, 1, 1))

    a, b = pair(rng, 3, 5)
    b[tuple(rng.integers(size) for size in b.shape)] *= -1  # opposite signs: the largest possible error
    yield case(a, b)
    yield case(*pair(rng, 5, 2)[::-1])  # the largest error is where b is below a
    for turn in (1, -1):
        a, b = pair(rng, 4)
        i = rng.integers(4)
        a[i], b[i] = 0, rng.uniform(1.5, 2) * rng.choice([-1, 1])
        yield case(*(a, b)[::turn])

    for scale in (1e-9, 1e-14, 1e-40):  # only 0 is an exception: the denominator has no least value, however small
        a, b = pair(rng, 3, 4)
        small = np.abs(1 - b / a) > np.median(np.abs(1 - b / a))
        yield case(np.where(small, a * scale, a), np.where(small, b * scale, b), SMALL)
    a, b = pair(rng, 2, 5)
    yield case(a * 1e-9, b * 1e-9, SMALL)

    a, b = pair(rng, 4, 3)
    *both, opposite = 0, *rng.permutation(np.arange(2, 11))[:3]  # neither the first error nor the last is the largest
    a.flat[both] = b.flat[both] = 0
    a.flat[opposite], b.flat[opposite] = -rng.uniform(0.01, 0.05), rng.uniform(0.01, 0.05)
    yield case(a, b, ZERO)
    yield case(b, a, ZERO)
    yield case(np.zeros(2), np.zeros(2), NOTHING)


SPEC = Spec(
    outputs=[Output("error")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[Facet("entry by entry", 3, kinds=(ORDINARY, SMALL)), Facet("0 / 0", 1, kinds=(ZERO, NOTHING))],
)
SUM, APART, BELOW = "np.abs(a) + np.abs(b)", "np.abs(a - b)", "np.where(size > 0, size, 1.0)"
LARGEST_SUM = "np.max(np.abs(a) + np.abs(b))"
NORMS = (SUM, "np.linalg.norm(a) + np.linalg.norm(b)", (APART, "np.linalg.norm(a - b)"))
ZEROS_AND_ALL = (BELOW, "size")  # 0 / 0 is not treated either

SPEC.mistakes(
    {
        "divided_by_one_size": [
            *(
                change(SUM, size, zeros)
                for zeros in ((BELOW, "np.where(size > 0, size, np.inf)"), ZEROS_AND_ALL)
                for size in ("np.abs(b)", "np.abs(a)", "np.maximum(np.abs(a), np.abs(b))")
            ),
            *(change(SUM, size) for size in ("np.abs(b)", "np.abs(a)")),
            *(change(SUM, size, (BELOW, "np.where(a == b, 1.0, size)")) for size in ("np.abs(b)", "np.abs(a)")),
        ],
        "one_ratio_for_all": [
            change(SUM, LARGEST_SUM),
            change(SUM, "np.max(np.abs(a)) + np.max(np.abs(b))"),
            change(*NORMS),
            change(SUM, "np.sum(np.abs(a) + np.abs(b))", (APART, "np.sum(np.abs(a - b))")),
            change(SUM, LARGEST_SUM, ZEROS_AND_ALL),
            change(*NORMS, ZEROS_AND_ALL),
        ],
        "mean_for_max": [change(".max()", ".mean()"), change(".max()", ".mean()", ZEROS_AND_ALL)],
        "eps_added_to_the_sum": [*(change(BELOW, f"(size + {eps})") for eps in ("1e-8", "1e-6", "1e-10"))],
        "sign_kept_in_numerator": [
            change(APART, "(a - b)"),
            change(APART, "(a - b)", ZEROS_AND_ALL),
            change(APART, "(b - a)"),
            change(APART, "(b - a)", ZEROS_AND_ALL),
        ],
        "sign_kept_in_denominator": [
            *(
                change(SUM, size, zeros)
                for zeros in (("size > 0", "a != b"), ZEROS_AND_ALL)
                for size in ("np.abs(a + b)", "a + b")
            )
        ],
        "sum_for_max": [change(".max()", ".sum()"), change(".max()", ".sum()", ZEROS_AND_ALL)],
        **instead(
            f"{APART} / {BELOW}",
            {
                "not_divided": APART,
                "sum_without_brackets": "np.abs(a - b) / np.abs(a) + np.abs(b)",
            },
        ),
        "sizes_compared": [
            change(APART, "np.abs(np.abs(a) - np.abs(b))"),
            change(APART, "np.abs(np.abs(a) - np.abs(b))", ZEROS_AND_ALL),
        ],
        "difference_squared": [change(APART, "(a - b) ** 2"), change(APART, "(a - b) ** 2", ZEROS_AND_ALL)],
        "sizes_squared_too": [
            change(SUM, "a**2 + b**2", (APART, "(a - b) ** 2"), *zeros) for zeros in ((), (ZEROS_AND_ALL,))
        ],
        "one_entry_only": [
            change("errors.max()", "errors.flat[0]"),
            change("errors.max()", "(errors[size > 0][0] if size.any() else 0.0)"),
            change("errors.max()", "errors.flat[-1]"),
        ],
        "entry_of_the_largest_difference": [
            change("errors.max()", "errors.flat[np.abs(a - b).argmax()]"),
            change("errors.max()", "errors.flat[np.abs(a - b).argmax()]", ZEROS_AND_ALL),
        ],
        "no_maximum": [
            change("float(errors.max())", "errors"),
            change("float(errors.max())", "errors.max(axis=-1)"),
            change("float(errors.max())", "errors.max(axis=0)"),
        ],
    }
)
SPEC.mistakes(
    {
        "nan_for_zero": [
            change(BELOW, "size"),
            change(BELOW, "size", ("errors.max()", "np.nanmax(errors)")),
            change(
                f"{APART} / {BELOW}",
                f"np.array([d / s for d, s in zip({APART}.ravel().tolist(), size.ravel().tolist())])",
            ),
            change(f"{APART} / {BELOW}", f"({APART} / size if np.any(a != b) else np.zeros(np.shape(a)))"),
        ],
        "zero_for_all": change(
            "return float(errors.max())", "return 0.0 if (size == 0).any() else float(errors.max())"
        ),
        "maximum_of_empty_array": change("errors.max()", "errors[size > 0].max()"),
        "one_for_zero": change("errors.max()", "np.where(size > 0, errors, 1.0).max()"),
    },
    keeps=["entry by entry"],
)
SPEC.mistakes(
    {
        "left_out_where_one_is_zero": [
            change(BELOW, f"np.where({both}, size, np.inf)") for both in ("(a != 0) & (b != 0)", "a != 0", "b != 0")
        ],
        "floor_in_denominator": [
            *(change(BELOW, f"np.maximum({floor}, size)") for floor in ("1e-8", "1e-6", "1e-10", "1e-12")),
            *(change(BELOW, f"(size + {eps})") for eps in ("1e-12", "1e-15", "1e-16")),
            change(BELOW, "np.maximum(np.finfo(float).eps, size)"),
            change(BELOW, "(size + np.finfo(float).eps)"),
            change(BELOW, "np.maximum(1e-30, size)"),
            *(change(BELOW, f"np.where(size > {floor}, size, np.inf)") for floor in ("1e-8", "1e-10", "1e-12")),
            change("errors.max()", "np.where(np.isclose(a, b), 0, errors).max()"),
        ],
        "zero_if_close": change(
            "return float(errors.max())", "return 0.0 if np.allclose(a, b) else float(errors.max())"
        ),
    },
    keeps=["0 / 0"],
)


@SPEC.alternative
def divided_by_one(a, b):
    """Divide by 1 where the sum is 0."""
    size = np.abs(a) + np.abs(b)
    return float(np.max(np.abs(a - b) / np.where(size == 0, 1, size)))


@SPEC.alternative
def in_a_loop(a, b):
    """One pair of numbers at a time."""
    return max(0.0 if x == y else abs(x - y) / (abs(x) + abs(y)) for x, y in zip(a.flat, b.flat, strict=True))


@SPEC.alternative
def only_where_they_differ(a, b):
    """Leave out equal entries, even if none is left."""
    x, y = a[a != b], b[a != b]
    return np.max(np.abs(x - y) / (np.abs(x) + np.abs(y)), initial=0)


@SPEC.alternative
def nan_made_zero(a, b):
    """Replace nan afterwards."""
    return np.nan_to_num(np.abs(a - b) / (np.abs(a) + np.abs(b))).max()
