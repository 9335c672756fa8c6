"""How `sample_id` is checked: against exact arithmetic with fractions."""

from fractions import Fraction

import numpy as np

from grader.spec.spec import Case, Facet, Output, Spec, change, instead, on_grid


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


def hardly_possible(rng, V):
    """Probabilities cut to six decimals, and a last possible id that has next to none; u is above their sum. Divided by
    their sum they reach 1.
    """
    u = float(np.nextafter(1, 0))
    while True:
        probs = np.floor(rng.dirichlet(np.full(V - 2, 2.0)) * 1e6 - 0.5) / 1e6
        probs = np.concatenate([probs, [1e-9, 0]])
        sums = np.cumsum(probs / probs.sum())[-1], np.cumsum(probs)[-1] / probs.sum()
        if probs[:-2].min() > 0.01 and probs.sum() < 1 - 1e-7 and min(sums) > u:
            return Case(sizes={"V": V}, inputs={"probs": probs, "u": u}, kind="u above the sum")


def close_to_a_sum(rng, V, side):
    """u is 1e-8 below (-1) or above (1) a cumulative sum that is on the other side of u if rounded to six decimals."""
    while True:
        probs = on_grid(rng.dirichlet(np.full(V, 2.0)))
        probs /= probs.sum()
        total = float(np.cumsum(probs)[1])
        if side * (round(total, 6) - total) > 1e-7 and 0.5 < total < 0.9 and probs.min() > 0.01:
            return Case(sizes={"V": V}, inputs={"probs": probs, "u": total + side * 1e-8})


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
    yield hardly_possible(rng, 6)
    yield close_to_a_sum(rng, 5, side=-1)
    yield close_to_a_sum(rng, 4, side=1)


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
)
LAST_POSSIBLE = "np.flatnonzero(probs)[-1]"
DIVIDED = "np.cumsum(probs / probs.sum())", "(np.cumsum(probs) / probs.sum())"
IF_NONE = f"if len(exceeds) == 0:\n    return int({LAST_POSSIBLE})"

SPEC.mistakes(
    {
        "equality_accepted": [
            change("> u", ">= u"),
            change("np.cumsum(probs) > u", "(probs > 0) & (np.cumsum(probs) >= u)"),
        ],
    },
    keeps=["u between boundaries", "u above the sum"],
)
SPEC.mistakes(
    {
        "no_id_above_the_sum": [
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
        ],
        **instead(
            LAST_POSSIBLE,
            {
                "last_id_whatever_its_probability": "len(probs) - 1",
                "most_probable_above_the_sum": "np.argmax(probs)",
            },
        ),
        "small_probability_taken_for_0": [
            *(change(LAST_POSSIBLE, f"np.flatnonzero(probs > {least})[-1]") for least in ("1e-8", "1e-3", "0.01"))
        ],
        "divided_by_the_sum_and_very_last_id": [
            *(change("np.cumsum(probs)", of_one, (LAST_POSSIBLE, "len(probs) - 1")) for of_one in DIVIDED)
        ],
    },
    keeps=["u between boundaries", "u on a boundary"],
)
SPEC.mistakes(
    {
        **instead(
            "np.flatnonzero(np.cumsum(probs) > u)",
            {
                "always_the_most_probable": "[np.argmax(probs)]",
                "equal_intervals": "[u * len(probs)]",
            },
        ),
        "not_cumulative": [
            *(change("np.cumsum(probs)", "probs", (LAST_POSSIBLE, last)) for last in ("0", "len(probs) - 1"))
        ],
        "softmax_again": change("np.cumsum(probs)", "np.cumsum(np.exp(probs) / np.exp(probs).sum())"),
        "all_ids_returned": change("int(exceeds[0])", "exceeds", (IF_NONE, "")),
        "last_that_does_not_exceed": change(
            "np.flatnonzero(np.cumsum(probs) > u)", "np.flatnonzero(np.cumsum(probs) <= u)[-1:]", (IF_NONE, "")
        ),
        "decides_at_the_first_id": [
            *(
                change("np.cumsum(probs) > u", "np.cumsum(probs)[:1] > u", (f"int({LAST_POSSIBLE})", none))
                for none in ("-1", "None")
            )
        ],
        "below_for_exceeds": change("> u", "< u"),
    }
)
SPEC.mistakes(
    {
        **instead(
            "np.cumsum(probs)",
            {
                "not_cumulative_below_the_sum": "probs",
                "renumbered_without_zeros": "np.cumsum(probs[probs > 0])",
            },
        ),
        "one_too_small": [
            change("int(exceeds[0])", "int(exceeds[0]) - 1"),
            change("int(exceeds[0])", "max(int(exceeds[0]) - 1, 0)"),
        ],
        "one_too_large": [
            change("int(exceeds[0])", "int(exceeds[0]) + 1"),
            change("int(exceeds[0])", "min(int(exceeds[0]) + 1, len(probs) - 1)"),
        ],
        **instead(
            "int(exceeds[0])",
            {
                "cumulative_sum_returned": "np.cumsum(probs)[exceeds[0]]",
                "probability_returned": "probs[exceeds[0]]",
                "id_as_a_float": "float(exceeds[0])",
            },
        ),
        "nearest_sum": change("np.flatnonzero(np.cumsum(probs) > u)", "[np.argmin(np.abs(np.cumsum(probs) - u))]"),
        "sorted_first": [
            change("np.cumsum(probs)", "np.cumsum(np.sort(probs))"),
            change(
                "np.flatnonzero(np.cumsum(probs) > u)",
                "np.argsort(-probs, kind='stable')[np.cumsum(np.sort(probs)[::-1]) > u]",
            ),
        ],
    },
    keeps=["u above the sum"],
)
SPEC.mistakes(
    {
        "equality_accepted_and_no_id_above_the_sum": [
            change("> u", ">= u", (LAST_POSSIBLE, "len(probs)")),
            change("> u", ">= u", (LAST_POSSIBLE, "0")),
            change("> u", ">= u", (IF_NONE, "")),
            change("> u", ">= u", (f"int({LAST_POSSIBLE})", "None")),
        ],
    },
    keeps=["u between boundaries"],
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
