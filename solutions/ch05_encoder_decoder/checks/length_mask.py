"""How `length_mask` is checked: against a loop that marks entry by entry."""

import numpy as np

from grader.author.spec import Case, Output, Spec, change


def oracle(lengths, max_length):
    """Each row has as many True as its length says, then False."""
    return np.array([[True] * int(n) + [False] * (max_length - int(n)) for n in lengths], dtype=bool)


EXAMPLE = Case(sizes={"B": 3, "S": 4}, inputs={"lengths": np.array([3, 1, 0]), "max_length": 4})

EMPTY = "length 0"


def case(lengths, max_length, kind="ordinary"):
    return Case(
        {"B": len(lengths), "S": max_length},
        {"lengths": np.array(lengths), "max_length": max_length},
        kind=kind,
    )


def cases(rng):
    yield case([2, 5, 3, 1], 5)
    yield case([3, 3], 3)
    yield case(rng.permutation([1, 2, 4]).tolist(), 6)  # longer than the longest row
    yield case([2], 5)
    yield case([1, 1, 1], 1)
    yield case([*rng.integers(1, 8, size=4).tolist(), 5, 2], 7)
    yield case([0, 3], 3, kind=EMPTY)
    yield case([0], 2, kind=EMPTY)


SPEC = Spec(
    outputs=[Output("mask", ("B", "S"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    why="""
An entry is real if its position is smaller than the length of its row: a row of length 3 has the real positions 0, 1
and 2. The positions are an array (S,), the lengths a column (B, 1), and comparing the two broadcasts to (B, S): every
position with every length. A length of 0 needs no special treatment, because no position is smaller than 0.
""",
)


WHOLE = "np.arange(max_length) < lengths[:, None]"
SPEC.mistake(
    "true_at_the_padding",
    "Your mask is `True` at the padding and `False` at the real entries. Here `True` marks what is *real*. (Some "
    "libraries ask for the opposite, so look it up each time.)",
    change("<", ">="),
    tempts="PyTorch's `key_padding_mask` is True where the padding is.",
)
SPEC.mistake(
    "one_entry_too_many",
    "You mark one entry too many in each row. Count the positions from 0: a row of length 3 has the real positions 0, "
    "1 and 2, so the position is *smaller* than the length.",
    change("<", "<="),
    tempts="'Up to the length' sounds as if the length itself were included.",
)
SPEC.mistake(
    "one_entry_too_few",
    "You mark one entry too few in each row. Count the positions from 0 to S − 1 and compare them with the length "
    "itself: a row of length 3 has the real positions 0, 1 and 2.",
    change("np.arange(max_length)", "np.arange(1, max_length + 1)"),
    change("lengths[:, None]", "lengths[:, None] - 1"),
    tempts="Positions are counted from 1 in the equations, and from 0 in the code.",
)
SPEC.mistake(
    "as_wide_as_the_longest_row",
    "Your mask is as wide as the longest row of this batch. Give it `max_length` columns: the array that it belongs to "
    "can be wider than the longest of these rows.",
    change("np.arange(max_length)", "np.arange(lengths.max())"),
    tempts="Usually the batch is padded to its longest row, and `max_length` seems to say the same.",
)
SPEC.mistake(
    "real_entries_at_the_end",
    "You mark the last entries of each row. Mark the first ones: the padding stands at the end.",
    change("np.arange(max_length)", "np.arange(max_length)[::-1]"),
    change(WHOLE, "np.arange(max_length) >= max_length - lengths[:, None]"),
    change(WHOLE, "np.arange(max_length) >= np.where(lengths > 0, max_length - lengths, 0)[:, None]"),
    tempts="Some libraries pad at the front.",
)
SPEC.mistake(
    "only_the_last_entry",
    "You mark only one entry in each row, at its end. Mark *all* real entries, with `<` in place of `==`.",
    change("< lengths[:, None]", "== lengths[:, None] - 1"),
    change("<", "=="),
    tempts="The last real entry is what an encoder needs in the end.",
)
SPEC.mistake(
    "numbers_for_truth_values",
    "You return numbers in place of truth values. Return an array of type `bool`, as a comparison gives it: indexing "
    "with `x[mask]` and the opposite, `~mask`, work only with truth values.",
    *(change(WHOLE, f"({WHOLE}).astype({kind})") for kind in ("int", "float", "'f4'")),
    tempts="A mask is often multiplied, and then 0 and 1 do the same as False and True.",
)
SPEC.mistake(
    "mask_to_be_added",
    "You return a mask to be added to scores: 0 and a very negative number, or −∞. Return `True` and `False`; what is "
    "done with them is decided where the mask is used.",
    *(change(WHOLE, f"np.where({WHOLE}, 0.0, {low})") for low in ("-np.inf", "-1e9")),
    tempts="In attention such masks are added to the scores.",
)
SPEC.mistake(
    "one_length_for_all",
    "You use the same length for every row. Compare the positions with each row's *own* length.",
    *(
        change("lengths[:, None]", f"np.full((len(lengths), 1), {one})")
        for one in ("lengths[0]", "lengths.max()", "lengths.min()")
    ),
    tempts="A single slice for the whole batch is simpler.",
)
SPEC.mistake(
    "a_length_of_0_taken_for_1",
    "You mark an entry in a row of length 0. No entry of such a row is real: all of them are `False`.",
    change("lengths[:, None]", "np.maximum(lengths, 1)[:, None]"),
    tempts="A mean over no entry at all divides by zero, and one real entry avoids that.",
)
SPEC.mistake(
    "real_ones_without_the_first",
    "You leave out position 0. The real positions of a row of length n are 0 to n − 1, so position 0 is real in every "
    "row that is not empty.",
    change(WHOLE, f"({WHOLE}) & (np.arange(max_length) > 0)"),
    tempts="At position 0 of a target stands ⟨sos⟩ in some programs, which is left out of the loss.",
)


@SPEC.mistake(
    "full_rows_lose_everything",
    "You write `False` from a position that you count from the end of the row. In a row without padding this position "
    "is 0, the beginning, so the whole row becomes `False`. Count from the beginning: the padding of a row of length n "
    "begins at position n.",
    tempts="The number of padded entries is known, and a negative index counts from the end; but −0 is 0.",
)
def counted_from_the_end(lengths, max_length):
    mask = np.ones((len(lengths), max_length), dtype=bool)
    for row, length in zip(mask, lengths, strict=True):
        row[length - max_length :] = False
    return mask


@SPEC.mistake(
    "slice_ends_at_the_last_index",
    "Your slice ends at n − 1, but the end of a slice is not part of it, so the last real entry of each row is "
    "missing. In a row of length 0 the end is −1, which means all entries but the last. End the slice at n.",
    tempts="The last real entry has the index n − 1.",
)
def slice_too_short(lengths, max_length):
    mask = np.zeros((len(lengths), max_length), dtype=bool)
    for row, length in zip(mask, lengths, strict=True):
        row[: length - 1] = True
    return mask


@SPEC.alternative
def row_by_row(lengths, max_length):
    """The first entries of each row set to True."""
    mask = np.zeros((len(lengths), max_length), dtype=bool)
    for b, n in enumerate(lengths):
        mask[b, :n] = True
    return mask


@SPEC.alternative
def outer(lengths, max_length):
    """Every length compared with every position."""
    return np.greater.outer(lengths, np.arange(max_length))


@SPEC.alternative
def rows_of_a_triangle(lengths, max_length):
    """Row n of this triangle has n entries that are True."""
    return np.tri(max_length + 1, max_length, -1, dtype=bool)[lengths]


@SPEC.alternative
def nested_lists(lengths, max_length):
    """Plain Python."""
    return np.array([[t < n for t in range(max_length)] for n in lengths])
