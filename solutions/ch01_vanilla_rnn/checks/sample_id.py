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
    """Whether the id drawn is neither the likeliest, nor what u alone or a second softmax would give."""
    flat = np.cumsum(np.exp(probs)) / np.exp(probs).sum()
    slips = {int(probs.argmax()), int(np.argmax(probs > u)), int((flat <= u).sum())}
    return oracle(probs, u) not in slips


def drawn_by_size(probs, u):
    """The id that comes out if the probabilities are sorted first, the largest in front."""
    by_size = np.argsort(probs, kind="stable")[::-1]
    return by_size[np.argmax(np.cumsum(probs[by_size]) > u)]


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
        and oracle(probs, u) not in (nearest, drawn_by_size(probs, u))
    )


def inside(rng, V, zeros=0):
    """Any u that is not near a boundary."""
    while True:
        probs = on_grid(rng.dirichlet(np.full(V, 0.6)))
        probs[rng.permutation(V)[:zeros]] = 0
        probs /= probs.sum()
        u = float(rng.uniform())
        passed_over = zeros == 0 or 0 in probs[: oracle(probs, u)]  # so that ids numbered without them are others
        if V == 1 or (tells(probs, u) and is_far_from_slips(probs, u) and passed_over):
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
    while True:
        probs = sixteenths(rng, V, zero)
        if sorts_one_way(probs, 0.0):
            return Case(sizes={"V": V}, inputs={"probs": probs, "u": 0.0}, kind="u on a boundary")


def at(rng, V, zero, index):
    """u exactly at the cumulative probability of this id."""
    while True:
        probs = sixteenths(rng, V, zero)
        u = float(np.cumsum(probs)[index])
        if tells(probs, u) and sorts_one_way(probs, u):
            return Case(sizes={"V": V}, inputs={"probs": probs, "u": u}, kind="u on a boundary")


def above(rng, V, zeros):
    """Probabilities cut to six decimals, so that they add up to a little less than 1, and a u above their sum."""
    while True:
        probs = rng.dirichlet(np.full(V - zeros, 2.0))
        probs = np.concatenate([np.maximum(np.floor(probs * 1e6 - 0.5), 1) / 1e6, np.zeros(zeros)])
        if probs.sum() < 1 - 1e-7 and probs.argmax() not in (0, V - zeros - 1):
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


LAST_POSSIBLE = "np.flatnonzero(probs)[-1]"
IF_NONE = f"if len(exceeds) == 0:\n    return int({LAST_POSSIBLE})"
SPEC.mistake(
    "reaches_for_exceeds",
    "Where `u` falls exactly on a cumulative sum, that sum has only reached `u`. The first one that *exceeds* it is "
    "due; otherwise u = 0 draws a first id of probability 0. (`np.searchsorted` stops at a sum that reaches, unless it "
    'is told `side="right"`.)',
    change("> u", ">= u"),
    tempts=">= and > seem to differ on nothing; at u = 0 an id of probability 0 is drawn.",
    keeps=["u between boundaries", "u above the sum"],
)
SPEC.mistake(
    "no_id_above_the_sum",
    "By rounding the cumulative sums may end a little below 1, and `u` may lie above the last one. No id is found "
    "then. The last id of non-zero probability is due.",
    change(LAST_POSSIBLE, "len(probs)"),
    change(LAST_POSSIBLE, "0"),
    change(f"int({LAST_POSSIBLE})", "-1"),
    change(IF_NONE, ""),
    change(IF_NONE, "", ("exceeds[0]", "next(iter(exceeds))")),
    change(f"int({LAST_POSSIBLE})", "None"),
    tempts="Probabilities add up to 1, on paper. Here the id is then one too large for the vocabulary.",
    keeps=["u between boundaries", "u on a boundary"],
)
SPEC.mistake(
    "last_id_whatever_its_probability",
    "Where `u` lies above the last sum, the last id of all is drawn, even if its probability is 0. Draw the last one "
    "that can come.",
    change(LAST_POSSIBLE, "len(probs) - 1"),
    tempts="The last id is the natural answer where no sum exceeds u; it may have probability 0.",
    keeps=["u between boundaries", "u on a boundary"],
)
SPEC.mistake(
    "likeliest",
    "The likeliest id comes back, whatever `u` is. Each id should come as often as its probability says, and `u` "
    "decides.",
    change("np.flatnonzero(np.cumsum(probs) > u)", "[np.argmax(probs)]"),
    tempts="One wants the best id; a text made so repeats itself, and u has no say.",
)
SPEC.mistake(
    "not_cumulative",
    "`u` is compared with the probabilities themselves. It belongs among their cumulative sums.",
    *(change("np.cumsum(probs)", "probs", (LAST_POSSIBLE, last)) for last in ("0", "len(probs) - 1")),
    tempts="'Probability exceeds u' reads like probs > u; the sums are what u is compared with.",
)
SPEC.mistake(
    "probabilities_for_sums",
    "It is right where `u` lies above all sums. Elsewhere you compare `u` with the probabilities themselves; it "
    "belongs among their cumulative sums.",
    change("np.cumsum(probs)", "probs"),
    tempts="'The first id that exceeds u' is easily read as `probs[i] > u`.",
    keeps=["u above the sum"],
)
SPEC.mistake(
    "softmax_again",
    "The probabilities go through a softmax once more, which makes them nearly equal. They add up to 1 already; use "
    "them as they are.",
    change("np.cumsum(probs)", "np.cumsum(np.exp(probs) / np.exp(probs).sum())"),
    tempts="Sampling goes with a softmax; these numbers have been through it already.",
)
SPEC.mistake(
    "reaches_and_nothing_above",
    "Two things. Where `u` falls exactly on a cumulative sum, that sum has only reached `u`; the first one that "
    "*exceeds* it is due. And by rounding `u` may lie above the last sum, so that no id is found; the last id of "
    "non-zero probability is due then.",
    change("> u", ">= u", (LAST_POSSIBLE, "len(probs)")),
    change("> u", ">= u", (LAST_POSSIBLE, "0")),
    change("> u", ">= u", (IF_NONE, "")),
    change("> u", ">= u", (f"int({LAST_POSSIBLE})", "None")),
    tempts="`np.searchsorted` and a loop `while total < u` do just this.",
    keeps=["u between boundaries"],
)
SPEC.mistake(
    "likeliest_above_the_sum",
    "Where `u` lies above the last sum, the likeliest id is drawn. Rounding has cut off a little at the end, so the "
    "last id of non-zero probability is due.",
    change(LAST_POSSIBLE, "np.argmax(probs)"),
    tempts="The likeliest id seems to be a safe answer.",
    keeps=["u between boundaries", "u on a boundary"],
)
SPEC.mistake(
    "all_that_exceed",
    "An array with *all* the ids whose cumulative probability exceeds `u` comes back. The first of them is due.",
    change("int(exceeds[0])", "exceeds", (IF_NONE, "")),
    tempts="`np.where(…)[0]` looks like the first; it is the array of all.",
)
SPEC.mistake(
    "one_too_small",
    "The id is one too small. The sums that do not exceed `u` belong to ids that are passed over; the id due is the "
    "one after the last of them.",
    change("int(exceeds[0])", "int(exceeds[0]) - 1"),
    change("int(exceeds[0])", "max(int(exceeds[0]) - 1, 0)"),
    tempts="An index is often one less than a count; here the count of sums passed over is the index.",
    keeps=["u above the sum"],
)
SPEC.mistake(
    "one_too_large",
    "The id is one too large. Compare `u` with the sum that has `probs[i]` in it already, and return that `i`.",
    change("int(exceeds[0])", "int(exceeds[0]) + 1"),
    change("int(exceeds[0])", "min(int(exceeds[0]) + 1, len(probs) - 1)"),
    tempts="In a loop the sum is compared first, and the probability is added afterwards.",
    keeps=["u above the sum"],
)
SPEC.mistake(
    "sum_for_id",
    "The cumulative probability comes back, not the id that it belongs to. The id is its index.",
    change("int(exceeds[0])", "np.cumsum(probs)[exceeds[0]]"),
    tempts="A loop over the sums has the sum at hand, and no index.",
    keeps=["u above the sum"],
)
SPEC.mistake(
    "probability_for_id",
    "The probability of the id comes back, not the id. The id is its index.",
    change("int(exceeds[0])", "probs[exceeds[0]]"),
    tempts="`probs[i]` is what was just added.",
    keeps=["u above the sum"],
)
SPEC.mistake(
    "id_as_a_float",
    "The id is right, but it is a float. An id is an integer: `int(…)`.",
    change("int(exceeds[0])", "float(exceeds[0])"),
    tempts="Many numbers here are floats.",
    keeps=["u above the sum"],
)
SPEC.mistake(
    "below_for_exceeds",
    "This is the first id whose cumulative probability is *below* `u`. The first one that exceeds `u` is due.",
    change("> u", "< u"),
    tempts="Which side u is on is easily mixed up.",
)
SPEC.mistake(
    "numbered_without_zeros",
    "The ids of probability 0 are thrown out first, and the others are numbered anew. An id is its place in the whole "
    "of `probs`.",
    change("np.cumsum(probs)", "np.cumsum(probs[probs > 0])"),
    tempts="An id of probability 0 must never come, and so it is thrown out.",
    keeps=["u above the sum"],
)
SPEC.mistake(
    "nearest_sum",
    "The id whose cumulative probability lies nearest to `u` comes back. The first one that exceeds `u` is due, even "
    "if the one before it is nearer.",
    change("np.flatnonzero(np.cumsum(probs) > u)", "[np.argmin(np.abs(np.cumsum(probs) - u))]"),
    tempts="To look for a number in a list is to look for the nearest one.",
    keeps=["u above the sum"],
)
SPEC.mistake(
    "even_pieces",
    "`u` is cut into V equal pieces, so that every id comes equally often. Each piece must be as long as the "
    "probability of its id.",
    change("np.flatnonzero(np.cumsum(probs) > u)", "[u * len(probs)]"),
    tempts="It is how one draws from a list.",
)
SPEC.mistake(
    "sorted_first",
    "The probabilities are sorted before they are summed up. The sums go through the ids in their own order, 0, 1, 2 "
    "and so on.",
    change("np.cumsum(probs)", "np.cumsum(np.sort(probs))"),
    change(
        "np.flatnonzero(np.cumsum(probs) > u)",
        "np.argsort(-probs, kind='stable')[np.cumsum(np.sort(probs)[::-1]) > u]",
    ),
    tempts="Other ways of sampling, such as top-p, begin with sorting.",
    keeps=["u above the sum"],
)


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
