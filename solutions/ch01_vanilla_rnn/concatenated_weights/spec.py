"""How `concatenated_weights` is checked: by the effect of each entry of `[x_t, h_prev]` on the state."""

import numpy as np

from grader.spec.spec import Case, Output, Spec, change, instead


def oracle(W_xh, W_hh):
    """Row by row: a row of W is what the two products give if one entry of [x_t, h_prev] is 1 and the others are 0."""
    D, H = W_xh.shape
    W = np.zeros((D + H, H))
    for row in range(D + H):
        x_t = np.array([float(row == d) for d in range(D)])
        h_prev = np.array([float(row == D + i) for i in range(H)])
        for unit in range(H):
            W[row, unit] = sum(x_t * W_xh[:, unit]) + sum(h_prev * W_hh[:, unit])
    return W


EXAMPLE = Case(
    sizes={"D": 1, "H": 2},
    inputs={
        "W_xh": np.array([[0.50, -0.30]]),
        "W_hh": np.array([[0.10, 0.70], [-0.60, 0.20]]),
    },
)


def case(rng, D, H):
    return Case(
        sizes={"D": D, "H": H},
        inputs={"W_xh": rng.normal(size=(D, H)), "W_hh": rng.normal(size=(H, H))},
    )


def cases(rng):
    yield case(rng, D=2, H=3)
    yield case(rng, D=4, H=2)
    yield case(rng, D=3, H=3)
    yield case(rng, D=1, H=4)
    yield case(rng, D=3, H=1)


SPEC = Spec(
    outputs=[Output("W", ("D + H", "H"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
)
FILLED = "D, H = W_xh.shape\nW = np.zeros((D + H, H))\nW[:D] = W_xh\nW[D:] = W_hh\nreturn W"
BY_ROWS = (
    "D, H = W_xh.shape\nW = np.zeros((D + H, H))\nW[:D] = W_xh\nfor i in range(H):\n    W[D + i] = W_hh[i]\nreturn W"
)
JOINED = "return np.concatenate([W_xh, W_hh], axis=0)"

SPEC.mistakes(
    {
        **instead(
            "[W_xh, W_hh]",
            {
                "W_hh_comes_first": "[W_hh, W_xh]",
                "W_hh_transposed": "[W_xh, W_hh.T]",
            },
        ),
        "side_by_side": change("axis=0", "axis=1"),
        "for_column_vectors": change("[W_xh, W_hh], axis=0", "[W_xh.T, W_hh.T], axis=1"),
        **instead(
            "np.concatenate([W_xh, W_hh], axis=0)",
            {
                "block_diagonal": "np.block([[W_xh, 0 * W_xh], [0 * W_hh, W_hh]])",
                "flattened": "np.append(W_xh, W_hh)",
                "stacked_on_a_new_axis": "np.stack([W_xh, W_hh])",
                "matrices_added": "W_xh + W_hh",
                "matrices_multiplied": "W_xh @ W_hh",
            },
        ),
        "not_joined": change("np.concatenate([W_xh, W_hh], axis=0)", "[W_xh, W_hh]"),
        "rows_in_a_list": [
            change("np.concatenate([W_xh, W_hh], axis=0)", "W_xh.tolist() + W_hh.tolist()"),
            change("np.concatenate([W_xh, W_hh], axis=0)", "list(W_xh) + list(W_hh)"),
        ],
        "W_xh_transposed": [change("[W_xh, W_hh]", "[W_xh.T, W_hh.T]"), change("[W_xh, W_hh]", "[W_xh.T, W_hh]")],
        "one_matrix_twice": [change("[W_xh, W_hh]", "[W_xh, W_xh]"), change("[W_xh, W_hh]", "[W_hh, W_hh]")],
        "rows_overlap": [
            change(JOINED, FILLED, ("W[D:]", "W[:H]")),
            change(JOINED, FILLED, ("W[:D] = W_xh\nW[D:] = W_hh", "W[:H] = W_hh\nW[:D] = W_xh")),
        ],
        "W_hh_from_row_H": [
            change(JOINED, FILLED, ("W[D:]", "W[H:]")),
            change(JOINED, BY_ROWS, ("W[D + i]", "W[H + i]")),
            change(JOINED, BY_ROWS, ("range(H)", "range(H, D + H)"), ("W[D + i] = W_hh[i]", "W[i] = W_hh[i - H]")),
        ],
        "H_for_D": change(JOINED, FILLED, ("D, H = W_xh.shape", "D = H = W_xh.shape[1]")),
        "D_rows_of_W_hh": [
            change(JOINED, BY_ROWS, ("range(H)", "range(D)")),
            change(JOINED, FILLED, ("W[D:] = W_hh", "W[D : 2 * D] = W_hh[:D]")),
        ],
    }
)


@SPEC.alternative
def stacked(W_xh, W_hh):
    """With np.vstack."""
    return np.vstack((W_xh, W_hh))


@SPEC.alternative
def filled(W_xh, W_hh):
    """A preallocated array, filled in two parts."""
    D, H = W_xh.shape
    W = np.empty((D + H, H))
    W[:D] = W_xh
    W[D:] = W_hh
    return W


@SPEC.alternative
def stacked_as_columns(W_xh, W_hh):
    """The matrix for column vectors, transposed: a view that is not contiguous."""
    return np.hstack([W_xh.T, W_hh.T]).T
