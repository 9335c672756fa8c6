"""How `relative_error` is checked: against exact arithmetic with fractions, entry by entry."""

from fractions import Fraction

import numpy as np

from grader.author.spec import Case, Facet, Output, Spec, change

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
    why="""
Each entry is compared with its own size, so a wrong entry is not overlooked among large ones that are right. The sizes
of both entries are in the denominator, so the result does not depend on which array comes first and lies between 0
and 1. The maximum answers the question of a gradient check: *is any entry wrong?* Where both entries are 0 they agree,
but NumPy computes nan for 0 / 0, so the denominator needs another value there.
""",
)

SUM, APART, BELOW = "np.abs(a) + np.abs(b)", "np.abs(a - b)", "np.where(size > 0, size, 1.0)"
LARGEST_SUM = "np.max(np.abs(a) + np.abs(b))"
NORMS = (SUM, "np.linalg.norm(a) + np.linalg.norm(b)", (APART, "np.linalg.norm(a - b)"))
ZEROS_AND_ALL = (BELOW, "size")  # 0 / 0 is not treated either
SPEC.mistake(
    "divided_by_one_size",
    "You divide each difference by the size of only one of its two entries, or by the larger of them. Divide by the "
    "sum of both sizes, `abs(a) + abs(b)`, because neither array counts as the right one.",
    *(
        change(SUM, size, zeros)
        for zeros in ((BELOW, "np.where(size > 0, size, np.inf)"), ZEROS_AND_ALL)
        for size in ("np.abs(b)", "np.abs(a)", "np.maximum(np.abs(a), np.abs(b))")
    ),
    *(change(SUM, size) for size in ("np.abs(b)", "np.abs(a)")),
    *(change(SUM, size, (BELOW, "np.where(a == b, 1.0, size)")) for size in ("np.abs(b)", "np.abs(a)")),
    tempts="A relative error is usually an error divided by the right value, but neither gradient is known to be "
    "right.",
)
SPEC.mistake(
    "one_ratio_for_all",
    "You divide by one number for the whole arrays, such as a maximum or a norm. Divide entry by entry first and then "
    "take the largest quotient: otherwise a small entry that is completely wrong is lost among large ones.",
    change(SUM, LARGEST_SUM),
    change(SUM, "np.max(np.abs(a)) + np.max(np.abs(b))"),
    change(*NORMS),
    change(SUM, "np.sum(np.abs(a) + np.abs(b))", (APART, "np.sum(np.abs(a - b))")),
    change(SUM, LARGEST_SUM, ZEROS_AND_ALL),
    change(*NORMS, ZEROS_AND_ALL),
    tempts="One maximum divided by another looks like the maximum of all ratios, and norms are a common measure. Both "
    "overlook a small entry that is completely wrong.",
)
SPEC.mistake(
    "mean_for_max",
    "You return the mean of the errors. Return the largest one, because one wrong entry among a thousand hardly "
    "changes a mean.",
    change(".max()", ".mean()"),
    change(".max()", ".mean()", ZEROS_AND_ALL),
    tempts="Errors are often reported as averages, but one wrong entry among a thousand disappears in an average.",
)
SPEC.mistake(
    "nan_for_zero",
    "Where both entries are 0, you compute 0 / 0. Make the error 0 there, because the two entries agree.",
    change(BELOW, "size"),
    change(BELOW, "size", ("errors.max()", "np.nanmax(errors)")),
    change(
        f"{APART} / {BELOW}",
        f"np.array([d / s for d, s in zip({APART}.ravel().tolist(), size.ravel().tolist())])",
    ),
    change(f"{APART} / {BELOW}", f"({APART} / size if np.any(a != b) else np.zeros(np.shape(a)))"),
    tempts="The formula does not show this case, and it takes a weight that was never used to meet it.",
    keeps=["entry by entry"],
)
SPEC.mistake(
    "left_out_where_one_is_zero",
    "You leave out the positions where only one of the two entries is 0, or count them as right. Compare them like all "
    "others: their error is 1, which is what a forgotten gradient looks like. The error is 0 only where both entries "
    "are 0.",
    change(BELOW, "np.where((a != 0) & (b != 0), size, np.inf)"),
    tempts="A 0 in either array looks as if there were nothing to compare, but it may be an entry that was forgotten.",
    keeps=["0 / 0"],
)
SPEC.mistake(
    "floor_in_denominator",
    "You let tiny entries count for too little: the denominator has a small constant as its minimum or as a "
    "summand, or you ignore what is smaller than a constant, as `np.isclose` does. Make an exception only where both "
    "entries are exactly 0, because gradients of 1e-14 can be wrong too.",
    *(change(BELOW, f"np.maximum({floor}, size)") for floor in ("1e-8", "1e-6", "1e-10", "1e-12")),
    *(change(BELOW, f"(size + {eps})") for eps in ("1e-12", "1e-15", "1e-16")),
    change(BELOW, "np.maximum(np.finfo(float).eps, size)"),
    change(BELOW, "(size + np.finfo(float).eps)"),
    change(BELOW, "np.maximum(1e-30, size)"),
    *(change(BELOW, f"np.where(size > {floor}, size, np.inf)") for floor in ("1e-8", "1e-10", "1e-12")),
    change("errors.max()", "np.where(np.isclose(a, b), 0, errors).max()"),
    tempts="A well-known course writes np.maximum(1e-8, …) in the denominator. Two entries far below such a constant "
    "then count as equal.",
    keeps=["0 / 0"],
)
SPEC.mistake(
    "eps_added_to_the_sum",
    "You add a small constant to the denominator, which makes the errors a little too small. Change the denominator "
    "only where both entries are 0, because nowhere else could you divide by 0.",
    *(change(BELOW, f"(size + {eps})") for eps in ("1e-8", "1e-6", "1e-10")),
    tempts="Adding 1e-8 is a common way to avoid a division by 0, but here it makes small errors smaller.",
)
SPEC.mistake(
    "sign_kept_in_numerator",
    "You keep the sign of the difference, so a negative difference gives a negative error. Take the absolute value, "
    "because too small is as wrong as too large.",
    change(APART, "(a - b)"),
    change(APART, "(a - b)", ZEROS_AND_ALL),
    change(APART, "(b - a)"),
    change(APART, "(b - a)", ZEROS_AND_ALL),
    tempts="One tends to think of the larger number minus the smaller one.",
)
SPEC.mistake(
    "sign_kept_in_denominator",
    "Your denominator is `a + b` or its absolute value. Add the sizes, `abs(a) + abs(b)`, because in `a + b` entries "
    "of opposite sign cancel and two negative ones give a negative size.",
    *(
        change(SUM, size, zeros)
        for zeros in (("size > 0", "a != b"), ZEROS_AND_ALL)
        for size in ("np.abs(a + b)", "a + b")
    ),
    tempts="One absolute value around the whole fraction looks sufficient, but a + b may be close to 0.",
)
SPEC.mistake(
    "sum_for_max",
    "You return the sum of the errors. Return the largest one, because a sum grows with the number of entries.",
    change(".max()", ".sum()"),
    change(".max()", ".sum()", ZEROS_AND_ALL),
    tempts="Elsewhere errors are added up, in losses and in norms.",
)
SPEC.mistake(
    "not_divided",
    "You return the largest difference itself. Divide each difference by `abs(a) + abs(b)` first, because only the "
    "size of the entries tells whether a difference matters.",
    change(f"{APART} / {BELOW}", APART),
    tempts="The difference is an error too, the absolute one, but it does not tell whether it matters.",
)
SPEC.mistake(
    "sizes_compared",
    "You compare the sizes, `abs(a)` with `abs(b)`, so 3 and −3 count as equal. Subtract first and then take the "
    "absolute value, because a gradient of the wrong sign is wrong.",
    change(APART, "np.abs(np.abs(a) - np.abs(b))"),
    change(APART, "np.abs(np.abs(a) - np.abs(b))", ZEROS_AND_ALL),
    tempts="The formula has absolute values everywhere, so it is easy to add one too many.",
)
SPEC.mistake(
    "difference_squared",
    "You square the difference. Take its absolute value, because otherwise the quotient changes when both gradients "
    "are multiplied by the same number.",
    change(APART, "(a - b) ** 2"),
    change(APART, "(a - b) ** 2", ZEROS_AND_ALL),
    tempts="A square makes the difference positive as well, as in a squared error.",
)
SPEC.mistake(
    "zero_for_all",
    "You return 0 as soon as both arrays are 0 in one position. Give only that entry the error 0 and compare all "
    "others as usual, because they may still be wrong.",
    change("return float(errors.max())", "return 0.0 if (size == 0).any() else float(errors.max())"),
    tempts="An `if` with a return handles 0 / 0 in one line, but it ends the whole comparison.",
    keeps=["entry by entry"],
)
SPEC.mistake(
    "sum_without_brackets",
    "You leave out the brackets in the denominator, so you divide by `abs(a)` alone and then add `abs(b)`. Write `/ "
    "(abs(a) + abs(b))`, because Python divides before it adds.",
    change(f"{APART} / {BELOW}", "np.abs(a - b) / np.abs(a) + np.abs(b)"),
    tempts="Read aloud, 'over a plus b' has no brackets either.",
)
SPEC.mistake(
    "zero_if_close",
    "You return 0 where `np.allclose` calls the two arrays close. Compute the error in every case, because "
    "`np.allclose` accepts every difference below 1e-8, however small the entries are.",
    change("return float(errors.max())", "return 0.0 if np.allclose(a, b) else float(errors.max())"),
    tempts="`np.allclose` seems to answer the question already, so that the number matters in the other cases alone.",
    keeps=["0 / 0"],
)
SPEC.mistake(
    "one_entry_only",
    "You return the error of a single entry, the first or the last. Return the largest of all: a `return` inside the "
    "loop ends it in its first pass, and a plain `=` keeps only the error of the last pass.",
    change("errors.max()", "errors.flat[0]"),
    change("errors.max()", "(errors[size > 0][0] if size.any() else 0.0)"),
    change("errors.max()", "errors.flat[-1]"),
    change("errors.max()", "(errors[size > 0][-1] if size.any() else 0.0)"),
    tempts="A return that is indented one level too far raises no error.",
)
SPEC.mistake(
    "entry_of_the_largest_difference",
    "You look for the entry with the largest *difference* and return its error. Divide every difference by its own "
    "size first and then take the maximum, because a small difference between two small numbers can be the larger "
    "error.",
    change("errors.max()", "errors.flat[np.abs(a - b).argmax()]"),
    change("errors.max()", "errors.flat[np.abs(a - b).argmax()]", ZEROS_AND_ALL),
    tempts="The worst entry seems to be where the two arrays differ most, and this takes a single division.",
)
SPEC.mistake(
    "no_maximum",
    "You return several numbers, because the maximum is missing or is taken along one axis only. Return one number, "
    "the largest of all errors.",
    change("float(errors.max())", "errors"),
    change("float(errors.max())", "errors.max(axis=-1)"),
    change("float(errors.max())", "errors.max(axis=0)"),
    tempts="The quotients are the hard part, and the maximum is easily forgotten after them.",
)
SPEC.mistake(
    "maximum_of_empty_array",
    "You take out the entries where both arrays are 0 before you take the maximum, which is an error if none is left. "
    "Return 0 in that case, because two arrays of zeros agree.",
    change("errors.max()", "errors[size > 0].max()"),
    tempts="A mask avoids 0 / 0, and only arrays that are 0 everywhere show that a maximum needs an entry.",
    keeps=["entry by entry"],
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
