"""How `sample_id` is checked: against exact arithmetic with fractions."""

from fractions import Fraction

import numpy as np

from grader.author.spec import Case, Facet, Output, Spec, on_grid


def oracle(probs, u):
    """The definition, with fractions: the first id whose cumulative probability exceeds u, else the last possible."""
    total, last = Fraction(0), 0
    for index, p in enumerate(probs.tolist()):
        total += Fraction(p)
        if total > Fraction(u):
            return index
        if p > 0:
            last = index
    return last


EXAMPLE = Case(sizes={"V": 4}, inputs={"probs": np.array([0.40, 0.00, 0.35, 0.25]), "u": 0.60})


def tells(probs, u):
    """Whether the id drawn is neither the likeliest, nor what u alone or a second softmax would give."""
    flat = np.cumsum(np.exp(probs)) / np.exp(probs).sum()
    slips = {int(probs.argmax()), int(np.argmax(probs > u)), int((flat <= u).sum())}
    return oracle(probs, u) not in slips


def is_far_from_slips(probs, u):
    """Whether no boundary is near u, and neither the nearest one nor V equal pieces would give the id."""
    totals = np.cumsum(probs)
    flat = np.cumsum(np.exp(probs)) / np.exp(probs).sum()
    nearest = int(np.abs(totals - u).argmin())
    return (
        np.abs(totals - u).min() > 1e-3
        and int((flat <= u).sum()) != int(u * len(probs))
        and nearest != oracle(probs, u)
    )


def inside(rng, V, zeros=0):
    """Any u that is not near a boundary."""
    while True:
        probs = on_grid(rng.dirichlet(np.full(V, 0.6)))
        probs[rng.permutation(V)[:zeros]] = 0
        probs /= probs.sum()
        u = float(rng.uniform())
        if V == 1 or (tells(probs, u) and is_far_from_slips(probs, u)):
            return Case(sizes={"V": V}, inputs={"probs": probs, "u": u})


def sixteenths(rng, V, zero):
    """Probabilities that are multiples of 1/16, so that every sum is exact; the ids in `zero` cannot come."""
    while True:
        weights = rng.permutation(V) + 1.0
        weights[zero] = 0
        probs = rng.multinomial(16, weights / weights.sum()) / 16
        if np.delete(probs, zero).min() > 0 and len(set(probs)) > 2:
            return probs


def at_zero(rng, V, zero):
    return Case(sizes={"V": V}, inputs={"probs": sixteenths(rng, V, zero), "u": 0.0}, kind="u on a boundary")


def at(rng, V, zero, index):
    """u exactly at the cumulative probability of this id."""
    while True:
        probs = sixteenths(rng, V, zero)
        u = float(np.cumsum(probs)[index])
        if tells(probs, u):
            return Case(sizes={"V": V}, inputs={"probs": probs, "u": u}, kind="u on a boundary")


def above(rng, V, zeros):
    """Probabilities cut to six decimals, so that they add up to a little less than 1, and a u above their sum."""
    while True:
        probs = rng.dirichlet(np.full(V - zeros, 2.0))
        probs = np.concatenate([np.maximum(np.floor(probs * 1e6 - 0.5), 1) / 1e6, np.zeros(zeros)])
        if probs.sum() < 1 - 1e-7 and probs.argmax() != V - zeros - 1:
            return Case(sizes={"V": V}, inputs={"probs": probs, "u": 1 - 1e-9}, kind="u above the sum")


def cases(rng):
    for V, zeros in [(5, 0), (4, 0), (7, 2), (6, 0), (9, 3), (1, 0)]:
        yield inside(rng, V, zeros)
    yield at_zero(rng, 5, zero=[0])
    yield at_zero(rng, 6, zero=[0, 1, 3])
    yield at(rng, 5, zero=[], index=1)
    yield at(rng, 6, zero=[2], index=1)
    yield at(rng, 7, zero=[1, 4, 5], index=3)
    yield above(rng, 5, zeros=0)
    yield above(rng, 6, zeros=2)
    yield above(rng, 8, zeros=1)


SPEC = Spec(
    outputs=[Output("id")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("u between boundaries", share=2, kinds=("ordinary",)),
        Facet("u on a boundary", share=1, kinds=("u on a boundary",)),
        Facet("u above the sum", share=1, kinds=("u above the sum",)),
    ],
    why="""
The cumulative sums cut the stretch from 0 to 1 into V pieces; piece i is as long as `probs[i]`. A u that is drawn
evenly from [0, 1) falls into piece i with exactly that probability. Each piece holds its left end and not its right
one, so the comparison is *exceeds*, not *reaches*: then a piece of length 0 holds nothing, and its id is never drawn,
not even by u = 0. In floating point the last sum may stop short of 1. A u above it belongs to the last piece that has a
length.
""",
)


@SPEC.misconception(keeps=["u between boundaries", "u above the sum"])
def reaches_for_exceeds(probs, u):
    """Tempting because >= and > seem to differ on nothing; at u = 0 an id of probability 0 is drawn."""
    reached = np.flatnonzero(np.cumsum(probs) >= u)
    return reached[0] if len(reached) else np.flatnonzero(probs)[-1]


@SPEC.misconception(keeps=["u between boundaries", "u on a boundary"])
def no_id_above_the_sum(probs, u):
    """Tempting because probabilities add up to 1, on paper. Here the id is then one too large for the vocabulary."""
    return int(np.searchsorted(np.cumsum(probs), u, side="right"))


@SPEC.misconception("no_id_above_the_sum")
def argmax_of_nothing(probs, u):
    """The same: np.argmax gives 0 where nothing is True."""
    return int(np.argmax(np.cumsum(probs) > u))


@SPEC.misconception("no_id_above_the_sum")
def first_of_nothing(probs, u):
    """The same: there is no first one, an IndexError."""
    return np.where(np.cumsum(probs) > u)[0][0]


@SPEC.misconception("no_id_above_the_sum")
def next_of_nothing(probs, u):
    """The same: there is no next one, a StopIteration."""
    return next(index for index, total in enumerate(np.cumsum(probs)) if total > u)


@SPEC.misconception("no_id_above_the_sum")
def loop_that_ends(probs, u):
    """The same: the loop ends without a return, and a function that does so gives None."""
    total = 0.0
    for index, p in enumerate(probs):
        total += p
        if total > u:
            return index
    return None


@SPEC.misconception(keeps=["u between boundaries", "u on a boundary"])
def last_id_whatever_its_probability(probs, u):
    """Tempting because the last id is the natural answer where no sum exceeds u; it may have probability 0."""
    return min(int(np.searchsorted(np.cumsum(probs), u, side="right")), len(probs) - 1)


@SPEC.misconception()
def likeliest(probs, u):
    """Tempting because one wants the best id; a text made so repeats itself, and u has no say."""
    return int(np.argmax(probs))


@SPEC.misconception()
def not_cumulative(probs, u):
    """Tempting because 'probability exceeds u' reads like probs > u; the sums are what u is compared with."""
    return int(np.argmax(probs > u))


@SPEC.misconception()
def softmax_again(probs, u):
    """Tempting because sampling goes with a softmax; these numbers have been through it already."""
    p = np.exp(probs) / np.exp(probs).sum()
    return min(int(np.searchsorted(np.cumsum(p), u, side="right")), len(probs) - 1)


@SPEC.alternative
def by_search(probs, u):
    """np.searchsorted from the right, cut off at the last id that can come; a NumPy integer comes back."""
    return np.minimum(np.searchsorted(np.cumsum(probs), u, side="right"), np.flatnonzero(probs)[-1])


@SPEC.alternative
def by_subtraction(probs, u):
    """Walk along the ids and take each probability off u; a Python integer comes back."""
    last = None
    for index, p in enumerate(probs):
        if p > 0:
            last = index
            if u < p:
                return index
            u -= p
    return last


@SPEC.alternative
def among_the_possible(probs, u):
    """Ids of probability 0 left out beforehand, then counted, at most to the last one."""
    possible = [index for index, p in enumerate(probs) if p > 0]
    below = sum(total <= u for total in np.cumsum(probs[possible])[:-1])
    return possible[below]


@SPEC.alternative
def divided_by_the_last_sum(probs, u):
    """The sums stretched so that the last one is 1; what that changes is no more than the rounding it mends."""
    total = np.cumsum(probs)
    return int(np.argmax(total / total[-1] > u))
