"""How `relative_error` is checked: against exact arithmetic with fractions, entry by entry."""

from fractions import Fraction

import numpy as np

from grader.author.spec import Case, Facet, Output, Spec

ORDINARY, SMALL, ZERO = "ordinary", "small entries", "0 / 0"


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
    both, opposite = np.split(rng.permutation(12)[:4], [3])
    a.flat[both] = b.flat[both] = 0
    a.flat[opposite], b.flat[opposite] = -rng.uniform(0.01, 0.05), rng.uniform(0.01, 0.05)
    yield case(a, b, ZERO)
    yield case(b, a, ZERO)
    yield case(np.zeros(2), np.zeros(2), ZERO)


SPEC = Spec(
    outputs=[Output("error")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[Facet("entry by entry", 3, kinds=(ORDINARY, SMALL)), Facet("0 / 0", 1, kinds=(ZERO,))],
    why="""
Each entry is compared with its own size, so that a wrong entry among large right ones is not overlooked. Both arrays
stand below the line: the result does not depend on which is called the right one, and lies between 0 and 1. The
maximum is what we want to know: *is there any entry that is wrong?* Where both entries are 0 they agree, and 0 / 0,
which NumPy calls nan, has to become 0: divide only where there is something to divide by.
""",
)


@SPEC.misconception()
def one_sided(a, b):
    """Tempting because a relative error is an error divided by the right value; of two gradients neither is that."""
    return np.max(np.divide(np.abs(a - b), np.abs(b), out=np.zeros(a.shape), where=b != 0))


@SPEC.misconception("one_sided")
def one_sided_by_a(a, b):
    """The same with the other one below."""
    return np.max(np.divide(np.abs(a - b), np.abs(a), out=np.zeros(a.shape), where=a != 0))


@SPEC.misconception("one_sided")
def by_the_larger(a, b):
    """The same with the larger of the two, as some libraries have it."""
    size = np.maximum(np.abs(a), np.abs(b))
    return np.max(np.divide(np.abs(a - b), size, out=np.zeros(a.shape), where=size != 0))


@SPEC.misconception("one_sided")
def one_sided_zeros_and_all(a, b):
    """The same without a thought for zeros."""
    return np.max(np.abs(a - b) / np.abs(b))


@SPEC.misconception("one_sided")
def one_sided_by_a_zeros_and_all(a, b):
    """The same, by the other one."""
    return np.max(np.abs(a - b) / np.abs(a))


@SPEC.misconception("one_sided")
def by_the_larger_zeros_and_all(a, b):
    """The same, by the larger one."""
    return np.max(np.abs(a - b) / np.maximum(np.abs(a), np.abs(b)))


@SPEC.misconception()
def one_ratio_for_all(a, b):
    """Tempting because two maxima and one division look like the maximum of all the ratios."""
    size = np.max(np.abs(a) + np.abs(b))
    return np.max(np.abs(a - b)) / size if size else 0.0


@SPEC.misconception("one_ratio_for_all")
def one_ratio_of_maxima(a, b):
    """The same with a maximum each."""
    size = np.max(np.abs(a)) + np.max(np.abs(b))
    return np.max(np.abs(a - b)) / size if size else 0.0


@SPEC.misconception("one_ratio_for_all")
def one_ratio_of_norms(a, b):
    """The same with norms, which is a measure in its own right: it overlooks a small entry that is all wrong."""
    size = np.linalg.norm(a) + np.linalg.norm(b)
    return np.linalg.norm(a - b) / size if size else 0.0


@SPEC.misconception("one_ratio_for_all")
def one_ratio_of_sums(a, b):
    """The same with sums."""
    size = np.sum(np.abs(a) + np.abs(b))
    return np.sum(np.abs(a - b)) / size if size else 0.0


@SPEC.misconception("one_ratio_for_all")
def one_ratio_zeros_and_all(a, b):
    """The same without a thought for zeros."""
    return np.max(np.abs(a - b)) / np.max(np.abs(a) + np.abs(b))


@SPEC.misconception("one_ratio_for_all")
def one_ratio_of_norms_zeros_and_all(a, b):
    """The same with norms."""
    return np.linalg.norm(a - b) / (np.linalg.norm(a) + np.linalg.norm(b))


@SPEC.misconception()
def mean_for_max(a, b):
    """Tempting because an average is what one reports; one wrong entry among a thousand hides in it."""
    size = np.abs(a) + np.abs(b)
    return np.mean(np.divide(np.abs(a - b), size, out=np.zeros(a.shape), where=size != 0))


@SPEC.misconception("mean_for_max")
def mean_for_max_zeros_and_all(a, b):
    """The same without a thought for zeros."""
    return np.mean(np.abs(a - b) / (np.abs(a) + np.abs(b)))


@SPEC.misconception(keeps=["entry by entry"])
def nan_for_zero(a, b):
    """Tempting because the formula has no such case; then one weight that is never used makes all of it nan."""
    return np.max(np.abs(a - b) / (np.abs(a) + np.abs(b)))


@SPEC.misconception("nan_for_zero")
def nan_where_all_is_zero(a, b):
    """The same with np.nanmax, which finds nothing where all entries are nan."""
    return np.nanmax(np.abs(a - b) / (np.abs(a) + np.abs(b)))


@SPEC.misconception("nan_for_zero")
def zero_division(a, b):
    """The same in a loop with Python's numbers, which raise ZeroDivisionError."""
    pairs = zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)
    return max(abs(x - y) / (abs(x) + abs(y)) for x, y in pairs)


@SPEC.misconception(keeps=["0 / 0"])
def left_out_where_one_is_zero(a, b):
    """Tempting because 0 in either array looks like nothing to compare; an entry that was forgotten is just that."""
    both = (a != 0) & (b != 0)
    return np.max(np.divide(np.abs(a - b), np.abs(a) + np.abs(b), out=np.zeros(a.shape), where=both))


@SPEC.misconception(keeps=["0 / 0"])
def constant_below(a, b):
    """Tempting because a well-known course writes np.maximum(1e-8, …) below; it calls any two tiny gradients equal."""
    return np.max(np.abs(a - b) / np.maximum(1e-8, np.abs(a) + np.abs(b)))


@SPEC.misconception("constant_below")
def larger_constant_below(a, b):
    """The same with 1e-6."""
    return np.max(np.abs(a - b) / np.maximum(1e-6, np.abs(a) + np.abs(b)))


@SPEC.misconception("constant_below")
def floor_of_1e_10(a, b):
    """The same with 1e-10."""
    size = np.abs(a) + np.abs(b)
    return np.max(np.abs(a - b) / np.maximum(1e-10, size))


@SPEC.misconception("constant_below")
def floor_of_1e_12(a, b):
    """The same with 1e-12."""
    size = np.abs(a) + np.abs(b)
    return np.max(np.abs(a - b) / np.maximum(1e-12, size))


@SPEC.misconception("constant_below")
def added_1e_12(a, b):
    """The same with 1e-12, added."""
    size = np.abs(a) + np.abs(b)
    return np.max(np.abs(a - b) / (size + 1e-12))


@SPEC.misconception("constant_below")
def added_1e_15(a, b):
    """The same with 1e-15, added."""
    size = np.abs(a) + np.abs(b)
    return np.max(np.abs(a - b) / (size + 1e-15))


@SPEC.misconception("constant_below")
def added_1e_16(a, b):
    """The same with 1e-16, added."""
    size = np.abs(a) + np.abs(b)
    return np.max(np.abs(a - b) / (size + 1e-16))


@SPEC.misconception("constant_below")
def floor_of_the_machine(a, b):
    """The same with the smallest number that can be told when it is added to 1."""
    size = np.abs(a) + np.abs(b)
    return np.max(np.abs(a - b) / np.maximum(np.finfo(float).eps, size))


@SPEC.misconception("constant_below")
def added_machine_eps(a, b):
    """The same with that number, added."""
    size = np.abs(a) + np.abs(b)
    return np.max(np.abs(a - b) / (size + np.finfo(float).eps))


@SPEC.misconception("constant_below")
def floor_of_1e_30(a, b):
    """The same with 1e-30: a floor, however low, is a floor."""
    size = np.abs(a) + np.abs(b)
    return np.max(np.abs(a - b) / np.maximum(1e-30, size))


@SPEC.misconception("constant_below")
def small_ones_left_out(a, b):
    """The same by leaving out the entries whose sizes add up to less than 1e-10."""
    size = np.abs(a) + np.abs(b)
    return np.max(np.divide(np.abs(a - b), size, out=np.zeros(a.shape), where=size > 1e-10))


@SPEC.misconception()
def eps_added_to_the_sum(a, b):
    """Tempting because + 1e-8 is how a division by zero is kept away elsewhere; here it makes small errors smaller."""
    return np.max(np.abs(a - b) / (np.abs(a) + np.abs(b) + 1e-8))


@SPEC.misconception("eps_added_to_the_sum")
def larger_eps_added(a, b):
    """The same with 1e-6."""
    return np.max(np.abs(a - b) / (np.abs(a) + np.abs(b) + 1e-6))


@SPEC.misconception("eps_added_to_the_sum")
def smaller_eps_added(a, b):
    """The same with 1e-10."""
    return np.max(np.abs(a - b) / (np.abs(a) + np.abs(b) + 1e-10))


@SPEC.misconception()
def sign_kept_above(a, b):
    """Tempting because the difference looks positive as one writes it; then all entries below theirs count as none."""
    size = np.abs(a) + np.abs(b)
    return np.max(np.divide(a - b, size, out=np.zeros(a.shape), where=size != 0))


@SPEC.misconception("sign_kept_above")
def sign_kept_above_zeros_and_all(a, b):
    """The same without a thought for zeros."""
    return np.max((a - b) / (np.abs(a) + np.abs(b)))


@SPEC.misconception("sign_kept_above")
def sign_kept_the_other_way(a, b):
    """The same with a taken from b."""
    size = np.abs(a) + np.abs(b)
    return np.max(np.divide(b - a, size, out=np.zeros(a.shape), where=size != 0))


@SPEC.misconception("sign_kept_above")
def sign_kept_the_other_way_zeros_and_all(a, b):
    """The same, and without a thought for zeros."""
    return np.max((b - a) / (np.abs(a) + np.abs(b)))


@SPEC.misconception()
def sign_kept_below(a, b):
    """Tempting because one pair of bars around the whole fraction looks like enough; a + b may be near 0."""
    return np.max(np.divide(np.abs(a - b), np.abs(a + b), out=np.zeros(a.shape), where=a != b))


@SPEC.misconception("sign_kept_below")
def no_bars_below(a, b):
    """The same with no bars at all below."""
    return np.max(np.divide(np.abs(a - b), a + b, out=np.zeros(a.shape), where=a != b))


@SPEC.misconception("sign_kept_below")
def bars_around_zeros_and_all(a, b):
    """The same without a thought for zeros."""
    return np.max(np.abs((a - b) / (a + b)))


@SPEC.misconception("sign_kept_below")
def no_bars_below_zeros_and_all(a, b):
    """The same with no bars below."""
    return np.max(np.abs(a - b) / (a + b))


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
