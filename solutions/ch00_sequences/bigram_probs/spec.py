"""How `bigram_probs` is checked: against fractions, every entry of which looks through the whole text."""

from fractions import Fraction

import numpy as np

from grader.spec.spec import Case, Output, Spec, change, instead


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
)
START = "np.full((vocab_size, vocab_size), float(alpha))"
ZEROS = "np.zeros((vocab_size, vocab_size))"
RANGE = "range(len(ids) - 1)"
ENTRY = "counts[ids[t], ids[t + 1]]"
SUM = "counts.sum(axis=1, keepdims=True)"
RETURN = f"return counts / {SUM}"
LOOP = f"for t in {RANGE}:\n    {ENTRY} += 1"

SPEC.mistakes(
    {
        "columns_sum_to_1": change("axis=1", "axis=0"),
        **instead(
            SUM,
            {
                "one_sum_for_all_rows": "counts.sum()",
                "last_id_counted_as_followed": "(np.bincount(ids, minlength=vocab_size)[:, None] + vocab_size * alpha)",
            },
        ),
        "row_sums_along_the_columns": change("axis=1, keepdims=True", "axis=1"),
        "current_and_next_swapped": change(ENTRY, "counts[ids[t + 1], ids[t]]"),
        "repeated_pairs_counted_once": change(LOOP, "counts[ids[:-1], ids[1:]] += 1"),
        "alpha_left_out_of_the_sum": [
            change(SUM, f"({SUM} - vocab_size * alpha)"),
            change(SUM, f"({SUM} - (vocab_size - 1) * alpha)"),
            change(SUM, f"np.maximum({SUM} - vocab_size * alpha, 1)"),
            change(SUM, f"({SUM} - (vocab_size - len(np.unique(ids))) * alpha)"),
        ],
        "alpha_not_added": [
            change(START, ZEROS),
            change(START, ZEROS, (SUM, f"np.maximum({SUM}, 1)")),
            change(
                START,
                ZEROS,
                (RETURN, f"total = {SUM}\nreturn np.where(total > 0, counts / np.maximum(total, 1), 1 / vocab_size)"),
            ),
        ],
        "alpha_for_seen_pairs_only": [
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
        ],
        "alpha_at_every_occurrence": change("+= 1", "+= 1 + alpha"),
        **instead(
            "float(alpha)",
            {
                "alpha_rounded_down": "int(alpha)",
                "one_in_place_of_alpha": "1.0",
                "alpha_divided_by_V": "alpha / vocab_size",
            },
        ),
        **instead(
            RETURN,
            {
                "unseen_rows_of_zeros": (
                    f"counts[{SUM}[:, 0] <= vocab_size * alpha] = 0\nreturn counts / np.maximum({SUM}, 1e-12)"
                ),
                "rows_not_divided": "return counts",
            },
        ),
        "wraps_round": change(RANGE, "range(len(ids))", ("ids[t + 1]", "np.roll(ids, -1)[t]")),
        **instead(
            RANGE,
            {
                "pairs_do_not_overlap": "range(0, len(ids) - 1, 2)",
                "last_pair_left_out": "range(len(ids) - 2)",
            },
        ),
        "ids_counted_from_1": [
            change(ENTRY, "counts[ids[t] - 1, ids[t + 1] - 1]"),
            change(ENTRY, "counts[ids[t] - 1, ids[t + 1]]"),
            change(ENTRY, "counts[ids[t], ids[t + 1] - 1]"),
        ],
        "next_but_one_counted": change(RANGE, "range(len(ids) - 2)", ("ids[t + 1]", "ids[t + 2]")),
        "both_directions_counted": change(f"{ENTRY} += 1", f"{ENTRY} += 1\ncounts[ids[t + 1], ids[t]] += 1"),
        "vocab_size_not_used": change(START, "np.full((ids.max() + 1, ids.max() + 1), float(alpha))"),
        "alpha_after_the_division": [
            change(
                START,
                ZEROS,
                (
                    RETURN,
                    f"probs = counts / np.maximum({SUM}, 1) + alpha\nreturn probs / probs.sum(axis=1, keepdims=True)",
                ),
            ),
            change(START, ZEROS, (RETURN, f"return counts / np.maximum({SUM}, 1) + alpha")),
        ],
        "alpha_for_unseen_pairs_only": change(
            START, ZEROS, (RETURN, f"counts[counts == 0] = alpha\nreturn counts / {SUM}")
        ),
    }
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
