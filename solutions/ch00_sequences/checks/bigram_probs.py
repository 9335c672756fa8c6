"""How `bigram_probs` is checked: against fractions, every entry of which looks through the whole text."""

from fractions import Fraction

import numpy as np

from grader.author.spec import Case, Output, Spec, change


def oracle(ids, vocab_size, alpha):
    """Entry by entry in exact arithmetic."""
    text, alpha = ids.tolist(), Fraction(alpha)
    probs = np.zeros((vocab_size, vocab_size))
    for i in range(vocab_size):
        after = [text[t + 1] for t in range(len(text) - 1) if text[t] == i]
        for j in range(vocab_size):
            probs[i, j] = float((after.count(j) + alpha) / (len(after) + vocab_size * alpha))
    return probs


EXAMPLE = Case(
    sizes={"V": 4, "T": 7},
    inputs={"ids": np.array([0, 1, 0, 2, 0, 1, 1]), "vocab_size": 4, "alpha": 0.5},
)

UNSEEN, NO_PAIR = "an id that nothing follows", "no pair"


def case(ids, vocab_size, alpha, kind="ordinary"):
    return Case(
        {"V": vocab_size, "T": len(ids)}, {"ids": np.array(ids), "vocab_size": vocab_size, "alpha": alpha}, kind
    )


def drawn(rng, vocab_size, length, alpha):
    """A text in which every id is followed by another one, and the pair (0, 1) occurs more than once.

    It ends with an id other than its first, and an id follows itself.
    """
    middle = [*range(vocab_size), *rng.integers(vocab_size, size=length - vocab_size - 7).tolist()]
    text = [0, 1, 1, 0, 1, *rng.permutation(middle).tolist(), 0, 1]
    return case(text, vocab_size, alpha)


def cases(rng):
    yield drawn(rng, vocab_size=3, length=12, alpha=1)
    yield drawn(rng, vocab_size=4, length=30, alpha=0.25)
    yield drawn(rng, vocab_size=6, length=50, alpha=1.5)
    yield drawn(rng, vocab_size=5, length=40, alpha=0.01)
    yield case([0, 0, 0], 1, 2, UNSEEN)
    yield case([1, 0, 1, 1, 3], 5, 0.75, UNSEEN)  # 2, 3 and 4 are not followed by anything
    used = 2 * rng.permutation(4)[:3]  # some ids below 8
    yield case(rng.choice(used, size=15).tolist(), 8, 2.5, UNSEEN)
    yield case([2, 0], 3, 1, UNSEEN)
    yield case([2], 4, 0.5, NO_PAIR)
    yield case([0], 1, 1, NO_PAIR)


SPEC = Spec(
    outputs=[Output("probs", ("V", "V"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    why=r"""
The array begins with α in every entry, so α is added exactly once however often a pair occurs, and the sum of a row
contains it V times. A row without any pair consists of α alone, and α / (V α) = 1 / V: the distribution is uniform,
with no special case in the code. A loop increases an entry at every occurrence. `counts[ids[:-1], ids[1:]] += 1` would
not, because it reads and writes every entry once; `np.add.at` is the form that accumulates.
""",
)

START = "np.full((vocab_size, vocab_size), float(alpha))"
ZEROS = "np.zeros((vocab_size, vocab_size))"
RANGE = "range(len(ids) - 1)"
ENTRY = "counts[ids[t], ids[t + 1]]"
SUM = "counts.sum(axis=1, keepdims=True)"
RETURN = f"return counts / {SUM}"
LOOP = f"for t in {RANGE}:\n    {ENTRY} += 1"
SPEC.mistake(
    "columns_sum_to_1",
    "Your columns sum to 1. Divide each *row* by its sum instead, with `axis=1, keepdims=True`: a row contains all "
    "that may follow one id.",
    change("axis=1", "axis=0"),
    tempts="axis=0 comes first, and the rows are easily confused with the columns.",
)
SPEC.mistake(
    "one_sum_for_all_rows",
    "You divide by the sum of all entries, which gives the probability of a *pair*. Divide each row by its own sum: "
    "the current id is known, and the probabilities of what follows it sum to 1.",
    change(SUM, "counts.sum()"),
    tempts="A sum without an axis is right for a single distribution.",
)
SPEC.mistake(
    "row_sums_along_the_columns",
    "You divide column j by the sum of row j, because NumPy aligns a sum of shape (V,) with the last axis. Keep the "
    "summed axis, with `keepdims=True`, so that the shape of the sums is (V, 1).",
    change("axis=1, keepdims=True", "axis=1"),
    tempts="(V, V) / (V,) runs without a complaint.",
)
SPEC.mistake(
    "current_and_next_swapped",
    "You count the pairs the other way round, with the next id as the row. Increase "
    "`counts[ids[t], ids[t + 1]]`: row i is about what comes *after* id i.",
    change(ENTRY, "counts[ids[t + 1], ids[t]]"),
    tempts="Both are ids, and both ways give rows that sum to 1.",
)
SPEC.mistake(
    "repeated_pairs_counted_once",
    "You count a pair that occurs several times only once. `counts[ids[:-1], ids[1:]] += 1` increases each "
    "entry once, however often its indices are repeated; use a loop or `np.add.at`.",
    change(LOOP, "counts[ids[:-1], ids[1:]] += 1"),
    tempts="`+=` with index arrays looks like a loop, but repeated indices are written once.",
)
SPEC.mistake(
    "alpha_left_out_of_the_sum",
    "You increase the counts by `alpha`, but you divide by a sum that does not contain all of it. Add `alpha` to all "
    "V entries of a row first, and sum the row afterwards, so that it sums to 1.",
    change(SUM, f"({SUM} - vocab_size * alpha)"),
    change(SUM, f"({SUM} - (vocab_size - 1) * alpha)"),
    change(SUM, f"np.maximum({SUM} - vocab_size * alpha, 1)"),
    change(SUM, f"({SUM} - (vocab_size - len(np.unique(ids))) * alpha)"),
    tempts="The row sums of the counts are computed first, and α is then added to the numerator.",
)
SPEC.mistake(
    "alpha_not_added",
    "You do not use `alpha`: your probabilities are those of the counts alone, so a pair that did not occur gets 0, "
    "or NaN in a row without any count. Add `alpha` to every entry before you divide.",
    change(START, ZEROS),
    change(START, ZEROS, (SUM, f"np.maximum({SUM}, 1)")),
    change(
        START,
        ZEROS,
        (RETURN, f"total = {SUM}\nreturn np.where(total > 0, counts / np.maximum(total, 1), 1 / vocab_size)"),
    ),
    tempts="Relative frequencies are what one means by counting.",
)
SPEC.mistake(
    "alpha_for_seen_pairs_only",
    "You add `alpha` only to the pairs that occur. Add it to every entry, because the pairs that did *not* occur need "
    "it most: without it their probability is 0.",
    change(START, ZEROS, (RETURN, f"counts[counts > 0] += alpha\nreturn counts / {SUM}")),
    change(
        START,
        ZEROS,
        (RETURN, f"counts[counts > 0] += alpha\nreturn counts / np.maximum({SUM}, 1e-12)"),
    ),
    change(
        START,
        ZEROS,
        (
            RETURN,
            f"counts[counts > 0] += alpha\ntotal = {SUM}\n"
            "return np.where(total > 0, counts / np.maximum(total, 1), 1 / vocab_size)",
        ),
    ),
    tempts="With a dict of counts, the pairs that were not seen are not there.",
)
SPEC.mistake(
    "alpha_at_every_occurrence",
    "You add `alpha` again at every occurrence of a pair. Add it once to each entry, for example by starting from an "
    "array full of `alpha`, and increase the entry by 1 at every occurrence.",
    change("+= 1", "+= 1 + alpha"),
    tempts="The addition is put into the loop, where the counts are changed.",
)
SPEC.mistake(
    "alpha_rounded_down",
    "You store the counts as integers, which cuts `alpha` down to an integer: 0.5 becomes 0, and 1.5 becomes 1. Use an "
    "array of floats.",
    change("float(alpha)", "int(alpha)"),
    tempts="Counts are integers, and the dtype of the array is chosen accordingly.",
)
SPEC.mistake(
    "one_in_place_of_alpha",
    "You add 1 to every count. Add `alpha`, which need not be 1.",
    change("float(alpha)", "1.0"),
    tempts="Add-one smoothing is the best-known kind.",
)
SPEC.mistake(
    "unseen_rows_of_zeros",
    "You leave a row full of zeros if nothing has followed its id. Add `alpha` there too: all its entries are then "
    "equal, and after the division each is 1 / V.",
    change(RETURN, f"counts[{SUM}[:, 0] <= vocab_size * alpha] = 0\nreturn counts / np.maximum({SUM}, 1e-12)"),
    tempts="A row without counts looks like a division by zero that has to be avoided.",
)
SPEC.mistake(
    "last_id_counted_as_followed",
    "You divide by the number of times that an id *occurs*. The last id of the text is not followed by anything, so "
    "this is 1 too many in its row. Divide by the sum of the row.",
    change(SUM, "(np.bincount(ids, minlength=vocab_size)[:, None] + vocab_size * alpha)"),
    tempts="In the formula of the page the denominator is the count of the context.",
)
SPEC.mistake(
    "wraps_round",
    "You count a pair too many: the last id followed by the first. The text does not continue at its start; with "
    "`ids[:-1]` and `ids[1:]` there are T − 1 pairs.",
    change(RANGE, "range(len(ids))", ("ids[t + 1]", "np.roll(ids, -1)[t]")),
    change(RANGE, "range(len(ids))", (ENTRY, "counts[ids[t - 1], ids[t]]")),
    tempts="`np.roll` keeps the length, and `ids[t - 1]` is the last id for t = 0.",
)
SPEC.mistake(
    "pairs_do_not_overlap",
    "You cut the text into pairs that do not overlap. Every id but the last begins a pair: use the pairs (0, 1), "
    "(1, 2), (2, 3) of positions, and so on.",
    change(RANGE, "range(0, len(ids) - 1, 2)"),
    tempts="A pair sounds like two ids that are used up.",
)
SPEC.mistake(
    "last_pair_left_out",
    "You leave out the last pair. T ids have T − 1 pairs, the last of which consists of the last two ids.",
    change(RANGE, "range(len(ids) - 2)"),
    tempts="`range(len(ids) - 2)`, after the 1 for the last id has been subtracted once already.",
)
SPEC.mistake(
    "rows_not_divided",
    "You return the counts with `alpha`. Divide each row by its sum, so that it is a probability distribution.",
    change(RETURN, "return counts"),
    tempts="Counting is most of the work.",
)
SPEC.mistake(
    "alpha_after_the_division",
    "You add `alpha` to probabilities. Add it to the counts, before the first division: the more often an id has "
    "occurred, the less `alpha` should change its row.",
    change(
        START,
        ZEROS,
        (RETURN, f"probs = counts / np.maximum({SUM}, 1) + alpha\nreturn probs / probs.sum(axis=1, keepdims=True)"),
    ),
    change(START, ZEROS, (RETURN, f"return counts / np.maximum({SUM}, 1) + alpha")),
    tempts="Smoothing sounds like something that is done to probabilities.",
)
SPEC.mistake(
    "alpha_for_unseen_pairs_only",
    "You give `alpha` only to the pairs that do not occur. Add it to every entry, also to those that were counted.",
    change(START, ZEROS, (RETURN, f"counts[counts == 0] = alpha\nreturn counts / {SUM}")),
    tempts="The zeros are what smoothing is meant to remove.",
)


@SPEC.alternative
def add_at(ids, vocab_size, alpha):
    """All pairs at once, with the addition that accumulates."""
    counts = np.zeros((vocab_size, vocab_size))
    np.add.at(counts, (ids[:-1], ids[1:]), 1)
    smoothed = counts + alpha
    return smoothed / smoothed.sum(axis=1)[:, None]


@SPEC.alternative
def numbers_of_pairs(ids, vocab_size, alpha):
    """Each pair as a single number, which `np.bincount` counts."""
    ids = np.asarray(ids)
    counts = np.bincount(ids[:-1] * vocab_size + ids[1:], minlength=vocab_size**2).reshape(vocab_size, vocab_size)
    return (counts + alpha) / (counts.sum(axis=1, keepdims=True) + alpha * vocab_size)


@SPEC.alternative
def with_a_counter(ids, vocab_size, alpha):
    """A Counter of pairs, and one row after the other."""
    import itertools
    from collections import Counter

    text = ids.tolist()
    pairs = Counter(itertools.pairwise(text))
    rows = []
    for i in range(vocab_size):
        row = np.array([pairs[i, j] + alpha for j in range(vocab_size)], dtype=float)
        rows.append(row / row.sum())
    return np.array(rows)
