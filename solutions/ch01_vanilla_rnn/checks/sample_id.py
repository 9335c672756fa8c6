"""How `sample_id` is checked: against exact arithmetic with fractions."""

from fractions import Fraction

import numpy as np

from grader.author.spec import Case, Facet, Output, Spec, change, on_grid


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
    """Whether the id is neither the most probable one, nor what u alone or a second softmax would give."""
    flat = np.cumsum(np.exp(probs)) / np.exp(probs).sum()
    slips = {int(probs.argmax()), int(np.argmax(probs > u)), int((flat <= u).sum())}
    return oracle(probs, u) not in slips


def drawn_by_size(probs, u):
    """The id that is drawn if the probabilities are sorted first, in descending order."""
    by_size = np.argsort(probs, kind="stable")[::-1]
    return by_size[np.argmax(np.cumsum(probs[by_size]) > u)]


def drawn_from_the_smallest(probs, u):
    """The index of the first sum that exceeds u if the probabilities are sorted first, in ascending order."""
    return int((np.cumsum(np.sort(probs)) <= u).sum())


def sorts_one_way(probs, u):
    """Whether sorting first draws the same id however it orders equal probabilities, which depends on the CPU."""
    return np.sum(probs == probs[drawn_by_size(probs, u)]) == 1


def is_far_from_slips(probs, u):
    """Whether no boundary is near u, and neither the nearest one, nor V equal pieces, nor sorting would give the id."""
    totals = np.cumsum(probs)
    flat = np.cumsum(np.exp(probs)) / np.exp(probs).sum()
    nearest = int(np.abs(totals - u).argmin())
    return (
        np.abs(totals - u).min() > 1e-3
        and int((flat <= u).sum()) != int(u * len(probs))
        and oracle(probs, u) not in (nearest, drawn_by_size(probs, u), drawn_from_the_smallest(probs, u))
    )


def inside(rng, V, zeros=0):
    """A random u that is not near a boundary."""
    while True:
        probs = on_grid(rng.dirichlet(np.full(V, 0.6)))
        probs[rng.permutation(V)[:zeros]] = 0
        probs /= probs.sum()
        u = float(rng.uniform())
        passed_over = zeros == 0 or 0 in probs[: oracle(probs, u)]  # so that renumbering the ids changes the result
        if V == 1 or (tells(probs, u) and is_far_from_slips(probs, u) and passed_over):
            return Case(sizes={"V": V}, inputs={"probs": probs, "u": u})


def sixteenths(rng, V, zero):
    """Probabilities that are multiples of 1/16, so that every sum is exact; those of the ids in `zero` are 0."""
    while True:
        weights = rng.permutation(V) + 1.0
        weights[zero] = 0
        probs = rng.multinomial(16, weights / weights.sum()) / 16
        if np.delete(probs, zero).min() > 0 and len(set(probs)) > 2:
            return probs


def at_zero(rng, V, zero):
    while True:
        probs = sixteenths(rng, V, zero)
        if sorts_one_way(probs, 0.0):
            return Case(sizes={"V": V}, inputs={"probs": probs, "u": 0.0}, kind="u on a boundary")


def at(rng, V, zero, index):
    """u exactly at the cumulative probability of this id."""
    while True:
        probs = sixteenths(rng, V, zero)
        u = float(np.cumsum(probs)[index])
        if tells(probs, u) and sorts_one_way(probs, u) and oracle(probs, u) != drawn_by_size(probs, u):
            return Case(sizes={"V": V}, inputs={"probs": probs, "u": u}, kind="u on a boundary")


def above(rng, V, zeros):
    """Probabilities cut to six decimals, so that they sum to slightly less than 1, and a u above their sum."""
    while True:
        probs = rng.dirichlet(np.full(V - zeros, 2.0))
        probs = np.concatenate([np.maximum(np.floor(probs * 1e6 - 0.5), 1) / 1e6, np.zeros(zeros)])
        if probs.sum() < 1 - 1e-7 and probs.argmax() not in (0, V - zeros - 1):
            return Case(sizes={"V": V}, inputs={"probs": probs, "u": 1 - 1e-9}, kind="u above the sum")


def just_below_one(rng, V, zeros):
    """Hundredths that sum to 1 on paper but to less in floating point, even if sorted first or divided by their sum.
    As u is the largest number below 1, no cumulative sum exceeds it.
    """
    u = float(np.nextafter(1, 0))
    while True:
        drawn = rng.multinomial(100, np.full(V - zeros, 1 / (V - zeros))) / 100
        probs = np.concatenate([drawn, np.zeros(zeros)])
        largest_first = np.sort(probs)[::-1]
        sums = [np.cumsum(p)[-1] for p in (probs, largest_first, largest_first[::-1], probs / probs.sum())]
        sums.append(sums[0] / probs.sum())
        if drawn.min() > 0 and max(sums) <= u and probs.argmax() not in (0, V - zeros - 1):
            return Case(sizes={"V": V}, inputs={"probs": probs, "u": u}, kind="sum rounded below 1")


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
    yield from [just_below_one(rng, 12, zeros=2)] * 2  # the same call twice, which shows a student's own random numbers


SPEC = Spec(
    outputs=[Output("id")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("u between boundaries", share=2, kinds=("ordinary",)),
        Facet("u on a boundary", share=1, kinds=("u on a boundary",)),
        Facet("u above the sum", share=1, kinds=("u above the sum", "sum rounded below 1")),
    ],
    why="""
The cumulative sums divide the line from 0 to 1 into V intervals, and interval i is as long as `probs[i]`. A number u
drawn uniformly from [0, 1) falls into interval i with exactly that probability. Each interval includes its left end but
not its right one, so the sum has to *exceed* u: an interval of length 0 is then empty, and its id is never drawn, not
even by u = 0. In floating point the last sum may be slightly less than 1; a u above it belongs to the last interval
that is not empty.
""",
)


LAST_POSSIBLE = "np.flatnonzero(probs)[-1]"
DIVIDED = "np.cumsum(probs / probs.sum())", "(np.cumsum(probs) / probs.sum())"
IF_NONE = f"if len(exceeds) == 0:\n    return int({LAST_POSSIBLE})"
SPEC.mistake(
    "equality_accepted",
    "You accept a cumulative sum that equals `u`. Look for the first one that *exceeds* `u`, because otherwise u = 0 "
    'draws a first id of probability 0. (`np.searchsorted` accepts equality unless you pass `side="right"`.)',
    change("> u", ">= u"),
    tempts="It seems to make no difference whether one writes >= or >, but at u = 0 an id of probability 0 is drawn.",
    keeps=["u between boundaries", "u above the sum"],
)
SPEC.mistake(
    "no_id_above_the_sum",
    "You return no valid id, or the wrong one, where `u` lies above the last cumulative sum. Return the last id of "
    "non-zero probability there, because rounding may leave that sum slightly below 1.",
    change(LAST_POSSIBLE, "len(probs)"),
    change(LAST_POSSIBLE, "0"),
    change(f"int({LAST_POSSIBLE})", "-1"),
    change(IF_NONE, ""),
    change(IF_NONE, "", ("exceeds[0]", "next(iter(exceeds))")),
    change(f"int({LAST_POSSIBLE})", "None"),
    *(
        change("np.cumsum(probs)", of_one, (LAST_POSSIBLE, wrong))
        for of_one in DIVIDED
        for wrong in ("len(probs)", "0")
    ),
    *(change("np.cumsum(probs)", of_one, (IF_NONE, "")) for of_one in DIVIDED),
    tempts="On paper, probabilities sum to 1. Here the id is then one too large for the vocabulary.",
    keeps=["u between boundaries", "u on a boundary"],
)
SPEC.mistake(
    "last_id_whatever_its_probability",
    "You return the very last id where `u` lies above the last cumulative sum. Return the last id of *non-zero* "
    "probability, because an id of probability 0 must never be drawn.",
    change(LAST_POSSIBLE, "len(probs) - 1"),
    tempts="Where no sum exceeds u, the last id is the natural answer, but its probability may be 0.",
    keeps=["u between boundaries", "u on a boundary"],
)
SPEC.mistake(
    "divided_by_the_sum_and_very_last_id",
    "You divide by the sum of the probabilities, and return the very last id where no cumulative sum exceeds `u`. "
    "Return the last id of *non-zero* probability there, because rounding may leave the last sum below 1 even after "
    "the division, and an id of probability 0 must never be drawn.",
    *(change("np.cumsum(probs)", of_one, (LAST_POSSIBLE, "len(probs) - 1")) for of_one in DIVIDED),
    tempts="Numbers divided by their sum add up to 1 on paper, so the last sum seems to exceed every u.",
    keeps=["u between boundaries", "u on a boundary"],
)
SPEC.mistake(
    "always_the_most_probable",
    "You return the most probable id, whatever `u` is. Let `u` decide, so that each id comes up as often as its "
    "probability says.",
    change("np.flatnonzero(np.cumsum(probs) > u)", "[np.argmax(probs)]"),
    tempts="One wants the best id, but text made in this way repeats itself.",
)
SPEC.mistake(
    "not_cumulative",
    "You compare `u` with the probabilities themselves. Compare it with their cumulative sums, because these are the "
    "ends of the ids' intervals.",
    *(change("np.cumsum(probs)", "probs", (LAST_POSSIBLE, last)) for last in ("0", "len(probs) - 1")),
    tempts="'The probability exceeds u' reads like probs > u.",
)
SPEC.mistake(
    "not_cumulative_below_the_sum",
    "You compare `u` with the probabilities themselves. Compare it with their cumulative sums, because these are the "
    "ends of the ids' intervals. (Where `u` lies above all sums, your result is right.)",
    change("np.cumsum(probs)", "probs"),
    tempts="'The first id that exceeds u' is easily read as `probs[i] > u`.",
    keeps=["u above the sum"],
)
SPEC.mistake(
    "softmax_again",
    "You apply a softmax to the probabilities, which makes them more alike. Use them as they are, because they have "
    "been through a softmax already.",
    change("np.cumsum(probs)", "np.cumsum(np.exp(probs) / np.exp(probs).sum())"),
    tempts="Sampling usually begins with a softmax, but these numbers have been through one already.",
)
SPEC.mistake(
    "equality_accepted_and_no_id_above_the_sum",
    "You make two mistakes. You accept a cumulative sum that equals `u`: look for the first one that *exceeds* it. "
    "And where rounding leaves the last sum below `u`, you return no valid id, or the wrong one: return the last id of "
    "non-zero probability.",
    change("> u", ">= u", (LAST_POSSIBLE, "len(probs)")),
    change("> u", ">= u", (LAST_POSSIBLE, "0")),
    change("> u", ">= u", (IF_NONE, "")),
    change("> u", ">= u", (f"int({LAST_POSSIBLE})", "None")),
    tempts="`np.searchsorted` does just this, and so does a loop `while total < u`.",
    keeps=["u between boundaries"],
)
SPEC.mistake(
    "most_probable_above_the_sum",
    "You return the most probable id where `u` lies above the last cumulative sum. Return the last id of non-zero "
    "probability there, because it is the end of that id's interval that rounding has cut off.",
    change(LAST_POSSIBLE, "np.argmax(probs)"),
    tempts="The most probable id seems to be a safe answer.",
    keeps=["u between boundaries", "u on a boundary"],
)
SPEC.mistake(
    "all_ids_returned",
    "You return an array with *all* ids whose cumulative probability exceeds `u`. Return the first of them.",
    change("int(exceeds[0])", "exceeds", (IF_NONE, "")),
    tempts="`np.where(…)[0]` looks like the first one, but it is the array of all.",
)
SPEC.mistake(
    "one_too_small",
    "Your id is one too small. Return the index of the first sum that exceeds `u`, not that of the last sum that does "
    "not.",
    change("int(exceeds[0])", "int(exceeds[0]) - 1"),
    change("int(exceeds[0])", "max(int(exceeds[0]) - 1, 0)"),
    tempts="An index is often one less than a count, but here the number of sums that do not exceed u is the index.",
    keeps=["u above the sum"],
)
SPEC.mistake(
    "last_that_does_not_exceed",
    "You return the last id whose cumulative probability does not exceed `u`; where `u` is small there is none. "
    "Return the first id whose cumulative probability exceeds `u`, because its interval is the one that contains `u`.",
    change("np.flatnonzero(np.cumsum(probs) > u)", "np.flatnonzero(np.cumsum(probs) <= u)[-1:]", (IF_NONE, "")),
    tempts="The last one that does not exceed u and the first one that does sound like the same id.",
)
SPEC.mistake(
    "decides_at_the_first_id",
    "Your loop returns in its first pass, whatever `u` is, as it does if there is a `return` in its `else`. Return "
    "only where the sum exceeds `u`, because otherwise the loop has to go on to the next id.",
    *(
        change("np.cumsum(probs) > u", "np.cumsum(probs)[:1] > u", (f"int({LAST_POSSIBLE})", none))
        for none in ("-1", "None")
    ),
    tempts="An `if` seems to ask for an `else`.",
)
SPEC.mistake(
    "one_too_large",
    "Your id is one too large. Add `probs[i]` to the sum before you compare it with `u`, and return that `i`.",
    change("int(exceeds[0])", "int(exceeds[0]) + 1"),
    change("int(exceeds[0])", "min(int(exceeds[0]) + 1, len(probs) - 1)"),
    tempts="In a loop, the sum is compared first and the probability added afterwards.",
    keeps=["u above the sum"],
)
SPEC.mistake(
    "cumulative_sum_returned",
    "You return the cumulative probability. Return its index, which is the id.",
    change("int(exceeds[0])", "np.cumsum(probs)[exceeds[0]]"),
    tempts="A loop over the sums has the sum in a variable, but no index.",
    keeps=["u above the sum"],
)
SPEC.mistake(
    "probability_returned",
    "You return the probability of the id. Return its index, which is the id itself.",
    change("int(exceeds[0])", "probs[exceeds[0]]"),
    tempts="`probs[i]` is the number that was just added.",
    keeps=["u above the sum"],
)
SPEC.mistake(
    "id_as_a_float",
    "Your id is right, but it is a float. Convert it with `int(…)`, because an id is used as an index.",
    change("int(exceeds[0])", "float(exceeds[0])"),
    tempts="Many numbers here are floats.",
    keeps=["u above the sum"],
)
SPEC.mistake(
    "below_for_exceeds",
    "You return the first id whose cumulative probability is *below* `u`. Return the first one whose cumulative "
    "probability exceeds `u`.",
    change("> u", "< u"),
    tempts="It is easy to mix up which side u is on.",
)
SPEC.mistake(
    "renumbered_without_zeros",
    "You remove the ids of probability 0 and number the others from 0 again. Keep them all, because an id is a "
    "position in the whole of `probs`.",
    change("np.cumsum(probs)", "np.cumsum(probs[probs > 0])"),
    tempts="An id of probability 0 must never be drawn, so it is removed.",
    keeps=["u above the sum"],
)
SPEC.mistake(
    "nearest_sum",
    "You return the id whose cumulative probability is nearest to `u`. Return the first one that exceeds `u`, even if "
    "the previous one is nearer.",
    change("np.flatnonzero(np.cumsum(probs) > u)", "[np.argmin(np.abs(np.cumsum(probs) - u))]"),
    tempts="To look up a number in a list often means to find the nearest.",
    keeps=["u above the sum"],
)
SPEC.mistake(
    "equal_intervals",
    "You divide the line from 0 to 1 into V equal intervals, so all ids are equally likely. Make each interval as "
    "long as the probability of its id.",
    change("np.flatnonzero(np.cumsum(probs) > u)", "[u * len(probs)]"),
    tempts="It is how one draws an element of a list.",
)
SPEC.mistake(
    "sorted_first",
    "You sort the probabilities before you sum them. Sum them in the order of their ids, because the index of a sum "
    "has to be its id.",
    change("np.cumsum(probs)", "np.cumsum(np.sort(probs))"),
    change(
        "np.flatnonzero(np.cumsum(probs) > u)",
        "np.argsort(-probs, kind='stable')[np.cumsum(np.sort(probs)[::-1]) > u]",
    ),
    tempts="Other sampling methods, such as top-p, begin with sorting.",
    keeps=["u above the sum"],
)


@SPEC.alternative
def by_search(probs, u):
    """np.searchsorted from the right, limited to the last id of non-zero probability; returns a NumPy integer."""
    return np.minimum(np.searchsorted(np.cumsum(probs), u, side="right"), np.flatnonzero(probs)[-1])


@SPEC.alternative
def by_subtraction(probs, u):
    """Subtract the probability of one id after another from u; returns a Python integer."""
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
    """Leave out the ids of probability 0 first, then count the sums, except the last, that do not exceed u."""
    possible = [index for index, p in enumerate(probs) if p > 0]
    below = sum(total <= u for total in np.cumsum(probs[possible])[:-1])
    return possible[below]


@SPEC.alternative
def divided_by_the_last_sum(probs, u):
    """Scale the sums so that the last one is 1, which changes them by no more than their rounding error."""
    total = np.cumsum(probs)
    return int(np.argmax(total / total[-1] > u))
