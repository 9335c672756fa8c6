"""How `causal_mask` is checked: against a loop that marks entry by entry."""

import numpy as np

from grader.author.spec import Case, Output, Spec, change


def oracle(T):
    """Row by row: the positions up to the row's own are True, the later ones False."""
    return np.array([[True] * (t + 1) + [False] * (T - t - 1) for t in range(T)], dtype=bool)


EXAMPLE = Case(sizes={"T": 4}, inputs={"T": 4})


def cases(rng):
    for T in (2, 3, 1, 5, int(rng.integers(6, 12))):
        yield Case(sizes={"T": T}, inputs={"T": T})


SPEC = Spec(
    outputs=[Output("mask", ("T", "keys"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    why="""
Row t may attend to the columns 0 to t: the entries on the diagonal and below it, which `np.tril` keeps. A comparison
says the same: `np.arange(T)[:, None] >= np.arange(T)`, the row's number is at least the column's.
""",
)


WHOLE = "np.tril(np.ones((T, T), dtype=bool))"
SPEC.mistake(
    "future_allowed",
    "Your mask is transposed: each position may attend to itself and to *later* positions. Rows are the positions that "
    "attend, so row t must be `True` in the columns 0 to t.",
    change("np.tril", "np.triu"),
    change(WHOLE, f"{WHOLE}.T"),
    tempts="Which of `tril` and `triu` is wanted depends on which axis is the query's.",
)
SPEC.mistake(
    "diagonal_left_out",
    "You forbid a position to attend to itself. Allow it: the position's own input is known, and only later ones are "
    "not. Without the diagonal, position 0 could attend to nothing.",
    change(WHOLE, "np.tril(np.ones((T, T), dtype=bool), k=-1)"),
    change(WHOLE, "np.arange(T) < np.arange(T)[:, None]"),
    tempts="Earlier positions are the ones that the text mentions first.",
)
SPEC.mistake(
    "true_where_forbidden",
    "Your mask is `True` where attention is forbidden. Here `True` means *may be attended*. (Some libraries ask for "
    "the opposite, so look it up each time.)",
    change(WHOLE, "~np.tril(np.ones((T, T), dtype=bool))"),
    change(WHOLE, "np.triu(np.ones((T, T), dtype=bool), k=1)"),
    tempts="`torch.nn.MultiheadAttention` takes a mask that is True where attention is forbidden.",
)
SPEC.mistake(
    "next_position_allowed",
    "You allow one position too many in each row: the next one, which is the very position that is to be predicted. "
    "Row t must be `True` in the columns 0 to t.",
    change(WHOLE, "np.tril(np.ones((T, T), dtype=bool), k=1)"),
    change(WHOLE, "np.arange(T) <= np.arange(T)[:, None] + 1"),
    tempts="Counting from 0 or from 1.",
)
SPEC.mistake(
    "zeros_and_ones",
    "Your mask consists of the numbers 0 and 1. Return an array of type `bool`: `np.where` would accept numbers, but "
    "`~` and an index need truth values.",
    change(", dtype=bool", ""),
    change("dtype=bool", "dtype=int"),
    tempts="`np.ones` makes numbers unless told otherwise.",
)
SPEC.mistake(
    "added_to_the_scores",
    "Your mask has 0 where attention is allowed and −∞ or a large negative number elsewhere, ready to be added to the "
    "scores. Return truth values instead: `True` where attention is allowed.",
    change(WHOLE, f"np.where({WHOLE}, 0.0, -np.inf)"),
    change(WHOLE, f"np.where({WHOLE}, 0.0, -1e9)"),
    tempts="PyTorch's `generate_square_subsequent_mask` returns such an array.",
)
SPEC.mistake(
    "only_itself",
    "You allow each position to attend to itself alone. Allow the earlier positions too: row t must be `True` in all "
    "columns from 0 to t.",
    change(WHOLE, "np.eye(T, dtype=bool)"),
    tempts="The diagonal is where row and column have the same number.",
)
SPEC.mistake(
    "everything_allowed",
    "Your mask allows everything. Row t must be `True` in the columns 0 to t and `False` in the others, which are the "
    "future of position t.",
    change(WHOLE, "np.ones((T, T), dtype=bool)"),
    tempts="The array is made, and the triangle is forgotten.",
)
SPEC.mistake(
    "batch_axis_added",
    "Your mask has an axis for the batch. Return (T, T): the same mask holds for every sequence.",
    change(WHOLE, f"{WHOLE}[None]"),
    tempts="Scores have the shape (B, T, T).",
)


@SPEC.alternative
def numbers_compared(T):
    """Each row's number with each column's."""
    t = np.arange(T)
    return t[:, None] >= t[None, :]


@SPEC.alternative
def entry_by_entry(T):
    """One row after the other."""
    mask = np.zeros((T, T), dtype=bool)
    for t in range(T):
        mask[t, : t + 1] = True
    return mask
