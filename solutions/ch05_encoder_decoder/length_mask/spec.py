"""How `length_mask` is checked: against a loop that marks entry by entry."""

import numpy as np

from grader.spec.spec import Case, Output, Spec, change, instead


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
)
WHOLE = "np.arange(max_length) < lengths[:, None]"


def counted_from_the_end(lengths, max_length):
    mask = np.ones((len(lengths), max_length), dtype=bool)
    for row, length in zip(mask, lengths, strict=True):
        row[length - max_length :] = False
    return mask


def slice_too_short(lengths, max_length):
    mask = np.zeros((len(lengths), max_length), dtype=bool)
    for row, length in zip(mask, lengths, strict=True):
        row[: length - 1] = True
    return mask


SPEC.mistakes(
    {
        **instead(
            "<",
            {
                "true_at_the_padding": ">=",
                "one_entry_too_many": "<=",
            },
        ),
        "one_entry_too_few": change("np.arange(max_length)", "np.arange(1, max_length + 1)"),
        "as_wide_as_the_longest_row": [
            change("np.arange(max_length)", "np.arange(lengths.max())"),
            change(WHOLE, "np.array([[t < n for t in range(lengths.max())] for n in lengths])"),
        ],
        "real_entries_at_the_end": [
            change("np.arange(max_length)", "np.arange(max_length)[::-1]"),
            change(WHOLE, "np.arange(max_length) >= np.where(lengths > 0, max_length - lengths, 0)[:, None]"),
        ],
        "only_the_last_entry": [change("< lengths[:, None]", "== lengths[:, None] - 1"), change("<", "==")],
        "only_the_first_padding": change("<", "!="),
        "numbers_for_truth_values": [
            *(change(WHOLE, f"({WHOLE}).astype({kind})") for kind in ("int", "float", "'f4'"))
        ],
        "mask_to_be_added": [*(change(WHOLE, f"np.where({WHOLE}, 0.0, {low})") for low in ("-np.inf", "-1e9"))],
        "one_length_for_all": [
            *(
                change("lengths[:, None]", f"np.full((len(lengths), 1), {one})")
                for one in ("lengths[0]", "lengths.max()", "lengths.min()")
            )
        ],
        "a_length_of_0_counted_from_the_end": change(WHOLE, "np.tri(max_length, dtype=bool)[lengths - 1]"),
        "a_length_of_0_taken_for_1": change("lengths[:, None]", "np.maximum(lengths, 1)[:, None]"),
        "real_ones_without_the_first": change(WHOLE, f"({WHOLE}) & (np.arange(max_length) > 0)"),
        "full_rows_lose_everything": counted_from_the_end,
        "slice_ends_at_the_last_index": slice_too_short,
    }
)


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
