"""How `concatenated_weights` is checked: by what the matrix must do to each entry of `[x_t, h_prev]`."""

import numpy as np

from grader.author.spec import Case, Output, Spec, change


def oracle(W_xh, W_hh):
    """Row by row: a row of W is what the split form makes of an input and a state that are 0 but for one entry."""
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
    why="""
A product of a row with a matrix is a sum over the entries of the row, each times its own row of the matrix.
The first D entries of `[x_t, h_prev]` are the input's, so the first D rows of `W` have to be those of `W_xh`; the other
H entries are the state's, and the other H rows are those of `W_hh`. The sum over all D + H entries is then the sum of
the two products. Nothing was assumed about D and H, so it holds for D = H too.
""",
)


SPEC.mistake(
    "state_comes_first",
    "The rows for the state come first. In `[x_t, h_prev]` the input comes first, so the rows that it meets do too.",
    change("[W_xh, W_hh]", "[W_hh, W_xh]"),
    tempts="Some papers write [h, x], the state first.",
)
SPEC.mistake(
    "side_by_side",
    "The matrices are joined side by side, which fits only where D = H. What has to become longer is the number of "
    "*rows*, from D to D + H.",
    change("axis=0", "axis=1"),
    tempts="[x_t, h_prev] stand side by side, so that the matrices seem to have to as well.",
)
SPEC.mistake(
    "for_columns",
    "This is the matrix for column states, of shape (H, D + H), as many papers have it. In this course `[x_t, h_prev]` "
    "is a row and `W` stands on its right, with shape (D + H, H).",
    change("[W_xh, W_hh], axis=0", "[W_xh.T, W_hh.T], axis=1"),
    tempts="Papers with column states have W [x; h], with a W of shape (H, D + H).",
)
SPEC.mistake(
    "transposed_W_hh",
    "The rows for the state are those of the transpose of `W_hh`. The state is a row here too, and meets `W_hh` as it "
    "is.",
    change("[W_xh, W_hh]", "[W_xh, W_hh.T]"),
    tempts="Papers with column states have the transpose of W_hh, and the shape fits all the same.",
)
SPEC.mistake(
    "in_two_blocks",
    "The two matrices stand in blocks of their own, so input and state go to different columns and are never added. "
    "Both have to end in the same H columns.",
    change("np.concatenate([W_xh, W_hh], axis=0)", "np.block([[W_xh, 0 * W_xh], [0 * W_hh, W_hh]])"),
    tempts="A block for each input keeps the two apart; but then their products are never added.",
)
SPEC.mistake(
    "flattened",
    "One long vector came back. `np.append` flattens its arguments unless it is given an axis.",
    change("np.concatenate([W_xh, W_hh], axis=0)", "np.append(W_xh, W_hh)"),
    tempts="np.append sounds right; without an axis it makes one long vector of both.",
)
SPEC.mistake(
    "on_a_new_axis",
    "The two matrices are put one behind the other along a new axis, which runs only where D = H. `np.stack` and "
    "`np.array` do that; what is due is one matrix, with the rows of both.",
    change("np.concatenate([W_xh, W_hh], axis=0)", "np.stack([W_xh, W_hh])"),
    tempts="To stack sounds like putting one under the other.",
)
SPEC.mistake(
    "both_in_a_list",
    "The two matrices come back side by side in a list or a tuple. One matrix is due, with the rows of both: "
    "join them.",
    change("np.concatenate([W_xh, W_hh], axis=0)", "[W_xh, W_hh]"),
    change("np.concatenate([W_xh, W_hh], axis=0)", "(W_xh, W_hh)"),
    tempts="[W_xh, W_hh] looks like the formula.",
)
SPEC.mistake(
    "rows_in_a_list",
    "The rows are right, but they are in a list. `np.array(…)` makes one matrix of them.",
    change("np.concatenate([W_xh, W_hh], axis=0)", "W_xh.tolist() + W_hh.tolist()"),
    change("np.concatenate([W_xh, W_hh], axis=0)", "list(W_xh) + list(W_hh)"),
    tempts="With lists `+` joins them.",
)
SPEC.mistake(
    "added",
    "The two matrices are added, so that input and state meet the same weights. What is added is what comes *out* of "
    "them; `W` has the rows of both, D + H of them.",
    change("np.concatenate([W_xh, W_hh], axis=0)", "W_xh + W_hh"),
    tempts="The formula has a + in it.",
)
SPEC.mistake(
    "multiplied",
    "The two matrices are multiplied with each other. They act on different things, one on the input and one on the "
    "state; `W` has the rows of both, D + H of them.",
    change("np.concatenate([W_xh, W_hh], axis=0)", "W_xh @ W_hh"),
    tempts="One matrix for two is often their product.",
)
SPEC.mistake(
    "each_transposed",
    "The input's matrix is transposed before it is joined, which fits only where D = H. Inputs and states are rows "
    "here, and meet `W_xh` and `W_hh` as they are.",
    change("[W_xh, W_hh]", "[W_xh.T, W_hh.T]"),
    change("[W_xh, W_hh]", "[W_xh.T, W_hh]"),
    tempts="PyTorch keeps its weights transposed.",
)
SPEC.mistake(
    "one_matrix_twice",
    "One of the two matrices is there twice, and the other is missing. The first D rows of `W` are those of `W_xh`, "
    "the other H rows are those of `W_hh`.",
    change("[W_xh, W_hh]", "[W_xh, W_xh]"),
    change("[W_xh, W_hh]", "[W_hh, W_hh]"),
    tempts="The second line is a copy of the first, and one letter in it stays as it was.",
)
FILLED = "D, H = W_xh.shape\nW = np.zeros((D + H, H))\nW[:D] = W_xh\nW[D:] = W_hh\nreturn W"
BY_ROWS = (
    "D, H = W_xh.shape\nW = np.zeros((D + H, H))\nW[:D] = W_xh\nfor i in range(H):\n    W[D + i] = W_hh[i]\nreturn W"
)
JOINED = "return np.concatenate([W_xh, W_hh], axis=0)"
SPEC.mistake(
    "rows_overlap",
    "The rows of both matrices are written from row 0 on, so those of the second replace those of the first, and rows "
    "at the end stay 0. The first D rows of `W` belong to `W_xh`; where do the rows of `W_hh` begin?",
    change(JOINED, FILLED, ("W[D:]", "W[:H]")),
    change(JOINED, FILLED, ("W[:D] = W_xh\nW[D:] = W_hh", "W[:H] = W_hh\nW[:D] = W_xh")),
    tempts="Both loops count from 0.",
)
SPEC.mistake(
    "W_hh_from_row_H",
    "The rows of `W_hh` begin at row H. Above them are the rows of `W_xh`, and there are D of these, so the two meet "
    "only where D = H.",
    change(JOINED, FILLED, ("W[D:]", "W[H:]")),
    change(JOINED, BY_ROWS, ("W[D + i]", "W[H + i]")),
    change(JOINED, BY_ROWS, ("range(H)", "range(H, D + H)"), ("W[D + i] = W_hh[i]", "W[i] = W_hh[i - H]")),
    tempts="`W_hh` and H go together in every formula.",
)
SPEC.mistake(
    "H_for_D",
    "It works only where D = H: you read D from the second axis of `W_xh`. `W_xh` has the shape (D, H), so it has D "
    "rows, and the rows of `W_hh` come after these.",
    change(JOINED, FILLED, ("D, H = W_xh.shape", "D = H = W_xh.shape[1]")),
    tempts="Which axis belongs to the input depends on the convention, and papers have (H, D).",
)
SPEC.mistake(
    "D_rows_of_W_hh",
    "You take D rows of `W_hh`, as many as of `W_xh`, but it has H of them. Where D is smaller than H the last rows of "
    "`W` stay 0; where D is larger, `W_hh` does not have that many.",
    change(JOINED, BY_ROWS, ("range(H)", "range(D)")),
    change(JOINED, FILLED, ("W[D:] = W_hh", "W[D : 2 * D] = W_hh[:D]")),
    tempts="One loop copies a row of each matrix in each round, and is right where D = H.",
)


@SPEC.alternative
def stacked(W_xh, W_hh):
    """By np.vstack."""
    return np.vstack((W_xh, W_hh))


@SPEC.alternative
def filled(W_xh, W_hh):
    """An array made beforehand, filled from both ends."""
    D, H = W_xh.shape
    W = np.empty((D + H, H))
    W[:D] = W_xh
    W[D:] = W_hh
    return W


@SPEC.alternative
def stacked_as_columns(W_xh, W_hh):
    """The column convention's matrix, transposed back: a view that is not contiguous."""
    return np.hstack([W_xh.T, W_hh.T]).T
