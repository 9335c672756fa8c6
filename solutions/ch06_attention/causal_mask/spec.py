"""How `causal_mask` is checked: against a loop that marks entry by entry."""

import numpy as np

from grader.spec.spec import Case, Output, Spec, change, instead


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
)
WHOLE = "np.tril(np.ones((T, T), dtype=bool))"

SPEC.mistakes(
    {
        "future_allowed": change("np.tril", "np.triu"),
        "diagonal_left_out": change(WHOLE, "np.tril(np.ones((T, T), dtype=bool), k=-1)"),
        "true_where_forbidden": change(WHOLE, "~np.tril(np.ones((T, T), dtype=bool))"),
        "next_position_allowed": change(WHOLE, "np.tril(np.ones((T, T), dtype=bool), k=1)"),
        "zeros_and_ones": [change(", dtype=bool", ""), change("dtype=bool", "dtype=int")],
        "added_to_the_scores": [
            change(WHOLE, f"np.where({WHOLE}, 0.0, -np.inf)"),
            change(WHOLE, f"np.where({WHOLE}, 0.0, -1e9)"),
        ],
        **instead(
            WHOLE,
            {
                "only_itself": "np.eye(T, dtype=bool)",
                "only_the_one_before": "np.eye(T, dtype=bool) | np.eye(T, k=-1, dtype=bool)",
                "everything_allowed": "np.ones((T, T), dtype=bool)",
                "batch_axis_added": f"{WHOLE}[None]",
            },
        ),
    }
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
