"""How `relative_error` is checked: against exact arithmetic with fractions, entry by entry."""

from fractions import Fraction

import numpy as np

from grader.author.spec import Case, Facet, Output, Spec, change

ORDINARY, SMALL, ZERO, NOTHING = "ordinary", "small entries", "0 / 0", "nothing but 0 / 0"


def oracle(a, b):
    """The definition in fractions; an entry that is 0 in both is no error."""
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
    """Two arrays that differ by a third or so; the largest error is where both are negative and a is below b.

    Where there are several entries, the largest difference is elsewhere.
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
    """Whether the worst entry is another one than that with the largest difference."""
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
    b[tuple(rng.integers(size) for size in b.shape)] *= -1  # opposite signs: as wrong as can be
    yield case(a, b)
    yield case(*pair(rng, 5, 2)[::-1])  # the largest error is where b is below a
    for turn in (1, -1):
        a, b = pair(rng, 4)
        i = rng.integers(4)
        a[i], b[i] = 0, rng.uniform(1.5, 2) * rng.choice([-1, 1])
        yield case(*(a, b)[::turn])

    for scale in (1e-9, 1e-14, 1e-40):  # only 0 is nothing: no floor below the line, however low
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
Each entry is compared with its own size, so that a wrong entry among large right ones is not overlooked. Both arrays
stand below the line: the result does not depend on which is called the right one, and lies between 0 and 1. The
maximum is what we want to know: *is there any entry that is wrong?* Where both entries are 0 they agree, and 0 / 0,
which NumPy calls nan, has to become 0: divide only where there is something to divide by.
""",
)

SUM, APART, BELOW = "np.abs(a) + np.abs(b)", "np.abs(a - b)", "np.where(size > 0, size, 1.0)"
LARGEST_SUM = "np.max(np.abs(a) + np.abs(b))"
NORMS = (SUM, "np.linalg.norm(a) + np.linalg.norm(b)", (APART, "np.linalg.norm(a - b)"))
ZEROS_AND_ALL = (BELOW, "size")  # without a thought for zeros
SPEC.mistake(
    "one_sided",
    "Only one of the two arrays stands below the line (or the larger of the two). Divide by the sum of both sizes, "
    "`abs(a) + abs(b)`, so that neither counts as the right one.",
    *(
        change(SUM, size, zeros)
        for zeros in ((BELOW, "np.where(size > 0, size, np.inf)"), ZEROS_AND_ALL)
        for size in ("np.abs(b)", "np.abs(a)", "np.maximum(np.abs(a), np.abs(b))")
    ),
    *(change(SUM, size) for size in ("np.abs(b)", "np.abs(a)")),
    *(change(SUM, size, (BELOW, "np.where(a == b, 1.0, size)")) for size in ("np.abs(b)", "np.abs(a)")),
    tempts="A relative error is an error divided by the right value; of two gradients neither is that.",
)
SPEC.mistake(
    "one_ratio_for_all",
    "One ratio is made of the whole arrays. Divide entry by entry first, then take the largest quotient: a small "
    "entry that is all wrong is lost among large ones otherwise.",
    change(SUM, LARGEST_SUM),
    change(SUM, "np.max(np.abs(a)) + np.max(np.abs(b))"),
    change(*NORMS),
    change(SUM, "np.sum(np.abs(a) + np.abs(b))", (APART, "np.sum(np.abs(a - b))")),
    change(SUM, LARGEST_SUM, ZEROS_AND_ALL),
    change(*NORMS, ZEROS_AND_ALL),
    tempts="Two maxima and one division look like the maximum of all the ratios; norms are a measure in their own "
    "right, and overlook a small entry that is all wrong.",
)
SPEC.mistake(
    "mean_for_max",
    "The mean of the errors comes back; the largest is due. One wrong entry among a thousand hardly moves a mean.",
    change(".max()", ".mean()"),
    change(".max()", ".mean()", ZEROS_AND_ALL),
    tempts="An average is what one reports; one wrong entry among a thousand hides in it.",
)
SPEC.mistake(
    "nan_for_zero",
    "Where both entries are 0 the division is 0 / 0. They agree there, so their error is 0.",
    change(BELOW, "size"),
    change(BELOW, "size", ("errors.max()", "np.nanmax(errors)")),
    change(
        f"{APART} / {BELOW}",
        f"np.array([d / s for d, s in zip({APART}.ravel().tolist(), size.ravel().tolist())])",
    ),
    tempts="The formula has no such case; then one weight that is never used makes all of it nan.",
    keeps=["entry by entry"],
)
SPEC.mistake(
    "left_out_where_one_is_zero",
    "Entries of which only one is 0 are left out, or count as right. There the error is 1: it is what a forgotten "
    "gradient looks like. Only where both are 0 it is 0.",
    change(BELOW, "np.where((a != 0) & (b != 0), size, np.inf)"),
    tempts="0 in either array looks like nothing to compare; an entry that was forgotten is just that.",
    keeps=["0 / 0"],
)
SPEC.mistake(
    "constant_below",
    "Tiny entries count for too little: a small number stands below the line beside their sizes, or what is smaller "
    "than it is left out, as with `np.isclose`. Gradients of 1e-14 can be wrong too. Only where both entries are "
    "exactly 0 something else has to stand below.",
    *(change(BELOW, f"np.maximum({floor}, size)") for floor in ("1e-8", "1e-6", "1e-10", "1e-12")),
    *(change(BELOW, f"(size + {eps})") for eps in ("1e-12", "1e-15", "1e-16")),
    change(BELOW, "np.maximum(np.finfo(float).eps, size)"),
    change(BELOW, "(size + np.finfo(float).eps)"),
    change(BELOW, "np.maximum(1e-30, size)"),
    *(change(BELOW, f"np.where(size > {floor}, size, np.inf)") for floor in ("1e-8", "1e-10", "1e-12")),
    change("errors.max()", "np.where(np.isclose(a, b), 0, errors).max()"),
    tempts="A well-known course writes np.maximum(1e-8, …) below; any floor, however low, calls two tiny gradients "
    "equal.",
    keeps=["0 / 0"],
)
SPEC.mistake(
    "eps_added_to_the_sum",
    "A small number is added below the line, so that every error comes out a little too small. Only where both "
    "entries are 0 something else has to stand below.",
    *(change(BELOW, f"(size + {eps})") for eps in ("1e-8", "1e-6", "1e-10")),
    tempts="+ 1e-8 is how a division by zero is kept away elsewhere; here it makes small errors smaller.",
)
SPEC.mistake(
    "sign_kept_above",
    "The difference keeps its sign, so that half of the errors count as less than none. Take its absolute value.",
    change(APART, "(a - b)"),
    change(APART, "(a - b)", ZEROS_AND_ALL),
    change(APART, "(b - a)"),
    change(APART, "(b - a)", ZEROS_AND_ALL),
    tempts="The difference looks positive as one writes it; then all entries below theirs count as none.",
)
SPEC.mistake(
    "sign_kept_below",
    "Below the line stands `a + b`, or its absolute value. For entries of opposite sign that is nearly 0, and for "
    "negative ones the sign turns. The sizes are added: `abs(a) + abs(b)`.",
    *(
        change(SUM, size, zeros)
        for zeros in (("size > 0", "a != b"), ZEROS_AND_ALL)
        for size in ("np.abs(a + b)", "a + b")
    ),
    tempts="One pair of bars around the whole fraction looks like enough; a + b may be near 0.",
)
SPEC.mistake(
    "sum_for_max",
    "The sum of the errors comes back; the largest is due. A sum grows with the number of entries.",
    change(".max()", ".sum()"),
    change(".max()", ".sum()", ZEROS_AND_ALL),
    tempts=("Errors are added up elsewhere, in losses and in norms."),
)
SPEC.mistake(
    "not_relative",
    "The largest difference comes back as it is. Each is compared with its own size: divide by `abs(a) + abs(b)`.",
    change(f"{APART} / {BELOW}", APART),
    tempts=("The difference is an error too, the absolute one; whether it is much depends on the size."),
)
SPEC.mistake(
    "sizes_compared",
    "The sizes are compared, `abs(a)` with `abs(b)`, so that 3 and −3 count as equal. Take the difference first, "
    "then its absolute value.",
    change(APART, "np.abs(np.abs(a) - np.abs(b))"),
    change(APART, "np.abs(np.abs(a) - np.abs(b))", ZEROS_AND_ALL),
    tempts=("There are bars everywhere in the formula; a gradient of the wrong sign is then all right."),
)
SPEC.mistake(
    "difference_squared",
    "The difference is squared. Take its absolute value: then above and below the line stand sizes of the same kind.",
    change(APART, "(a - b) ** 2"),
    change(APART, "(a - b) ** 2", ZEROS_AND_ALL),
    tempts=("A square makes a difference positive as well, as in a squared error."),
)
SPEC.mistake(
    "zero_for_all",
    "As soon as both entries are 0 in one place, all of the result is 0. That place has error 0; all others are "
    "compared as ever.",
    change("return float(errors.max())", "return 0.0 if (size == 0).any() else float(errors.max())"),
    tempts=("0 / 0 is 0 is done with one `if` and a return; it ends the whole comparison."),
    keeps=["entry by entry"],
)
SPEC.mistake(
    "sum_without_brackets",
    "Brackets are missing below the line: the difference is divided by `abs(a)`, and then `abs(b)` is added. "
    "Write `/ (abs(a) + abs(b))`.",
    change(f"{APART} / {BELOW}", "np.abs(a - b) / np.abs(a) + np.abs(b)"),
    tempts=("'Over a plus b' is how one says it; in Python the division comes first."),
)
SPEC.mistake(
    "zero_if_close",
    "0 comes back where `np.allclose` finds the two arrays close. It calls any two numbers below 1e-8 close, however "
    "much they differ for their size; how close they are is what the relative error has to tell. Compute it in any "
    "case.",
    change("return float(errors.max())", "return 0.0 if np.allclose(a, b) else float(errors.max())"),
    tempts="`np.allclose` seems to answer the question, and the number is then only for the other cases.",
    keeps=["0 / 0"],
)
SPEC.mistake(
    "one_entry_only",
    "The error of a single entry comes back, the first or the last. The largest of all is expected: a `return` inside "
    "the loop ends it in its first round, and `=` in each round keeps the last error alone.",
    change("errors.max()", "errors.flat[0]"),
    change("errors.max()", "(errors[size > 0][0] if size.any() else 0.0)"),
    change("errors.max()", "errors.flat[-1]"),
    change("errors.max()", "(errors[size > 0][-1] if size.any() else 0.0)"),
    tempts="One level of indentation too many, and nothing complains.",
)
SPEC.mistake(
    "entry_of_the_largest_difference",
    "You look for the entry with the largest *difference* and return its error. A small difference between two small "
    "numbers can be the larger error: divide every difference by its own size first, then look for the largest.",
    change("errors.max()", "errors.flat[np.abs(a - b).argmax()]"),
    change("errors.max()", "errors.flat[np.abs(a - b).argmax()]", ZEROS_AND_ALL),
    tempts="The worst entry seems to be where the two arrays are furthest apart, and it takes one division only.",
)
SPEC.mistake(
    "no_maximum",
    "Several numbers come back: the maximum is missing, or it is taken along one axis alone. One number is expected, "
    "the largest of all errors.",
    change("float(errors.max())", "errors"),
    change("float(errors.max())", "errors.max(axis=-1)"),
    change("float(errors.max())", "errors.max(axis=0)"),
    tempts="The quotients are the hard part, and the maximum comes after them.",
)
SPEC.mistake(
    "nothing_left",
    "The entries where both are 0 are taken out first, and where these are all entries nothing is left: the maximum of "
    "nothing is an error. Two arrays of zeros agree, so the result is 0 there.",
    change("errors.max()", "errors[size > 0].max()"),
    tempts="A mask keeps 0 / 0 away, and it takes an array of zeros to see that a maximum needs an entry.",
    keeps=["entry by entry"],
)


@SPEC.alternative
def divided_by_one(a, b):
    """Where the sum is 0, 1 stands in for it."""
    size = np.abs(a) + np.abs(b)
    return float(np.max(np.abs(a - b) / np.where(size == 0, 1, size)))


@SPEC.alternative
def in_a_loop(a, b):
    """Every pair of numbers by itself."""
    return max(0.0 if x == y else abs(x - y) / (abs(x) + abs(y)) for x, y in zip(a.flat, b.flat, strict=True))


@SPEC.alternative
def only_where_they_differ(a, b):
    """Entries that are equal are left out, and none may be left."""
    x, y = a[a != b], b[a != b]
    return np.max(np.abs(x - y) / (np.abs(x) + np.abs(y)), initial=0)


@SPEC.alternative
def nan_made_zero(a, b):
    """nan put right afterwards."""
    return np.nan_to_num(np.abs(a - b) / (np.abs(a) + np.abs(b))).max()
