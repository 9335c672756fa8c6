"""How `concatenated_weights` is checked: by the effect of each entry of `[x_t, h_prev]` on the state."""

import numpy as np

from grader.author.spec import Case, Output, Spec, change


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
    why="""
A row times a matrix is a sum over the entries of the row, each times its row of the matrix. The first D entries of
`[x_t, h_prev]` belong to the input, so the first D rows of `W` are those of `W_xh`. The other H entries belong to the
state, so the other H rows are those of `W_hh`. The sum over all D + H entries is then the sum of the two products.
Nothing was assumed about D and H, so this holds for D = H too.
""",
)


SPEC.mistake(
    "W_hh_comes_first",
    "You put the rows of `W_hh` first. Put those of `W_xh` first, because the input comes first in `[x_t, h_prev]`.",
    change("[W_xh, W_hh]", "[W_hh, W_xh]"),
    tempts="Some papers write [h, x], with the state first.",
)
SPEC.mistake(
    "side_by_side",
    "You join the two matrices side by side, which works only where D = H and makes `W` wider. It has to become "
    "*taller*: the number of rows grows from D to D + H.",
    change("axis=0", "axis=1"),
    tempts="In [x_t, h_prev] the two are side by side, so it seems that the matrices must be as well.",
)
SPEC.mistake(
    "for_column_vectors",
    "You return the matrix for column vectors, of shape (H, D + H), as many papers have it. Return its transpose, of "
    "shape (D + H, H), because `[x_t, h_prev]` is a row in this course and `W` stands to its right.",
    change("[W_xh, W_hh], axis=0", "[W_xh.T, W_hh.T], axis=1"),
    tempts="Papers with column states have W [x; h], with a W of shape (H, D + H).",
)
SPEC.mistake(
    "W_hh_transposed",
    "You transpose `W_hh`. Use it as it is, because the state is a row, like the input. (The shape fits either way, "
    "so it does not reveal the mistake.)",
    change("[W_xh, W_hh]", "[W_xh, W_hh.T]"),
    tempts="Papers with column states have the transpose of our W_hh, and the shape fits all the same.",
)
SPEC.mistake(
    "block_diagonal",
    "You put the two matrices into separate columns, so the contributions of the input and of the state are never "
    "added. Put both into the same H columns, one above the other.",
    change("np.concatenate([W_xh, W_hh], axis=0)", "np.block([[W_xh, 0 * W_xh], [0 * W_hh, W_hh]])"),
    tempts="Two blocks on the diagonal keep input and state apart, but then their products are never added.",
)
SPEC.mistake(
    "flattened",
    "You return one long vector. If you use `np.append`, pass it an `axis`, because without one it flattens both "
    "matrices.",
    change("np.concatenate([W_xh, W_hh], axis=0)", "np.append(W_xh, W_hh)"),
    tempts="np.append sounds right, but without an axis it flattens both.",
)
SPEC.mistake(
    "stacked_on_a_new_axis",
    "You put the two matrices along a new axis, which works only where D = H. Use `np.concatenate`, which joins them "
    "along an axis that they have already; `np.stack` and `np.array` make a new one.",
    change("np.concatenate([W_xh, W_hh], axis=0)", "np.stack([W_xh, W_hh])"),
    tempts="To stack sounds like putting one matrix on top of the other.",
)
SPEC.mistake(
    "not_joined",
    "You return the two matrices in a list or a tuple. Join them into one matrix that has the rows of both.",
    change("np.concatenate([W_xh, W_hh], axis=0)", "[W_xh, W_hh]"),
    change("np.concatenate([W_xh, W_hh], axis=0)", "(W_xh, W_hh)"),
    tempts="[W_xh, W_hh] looks like the formula.",
)
SPEC.mistake(
    "rows_in_a_list",
    "Your rows are right, but you return them in a list. Turn the list into a matrix with `np.array(…)`.",
    change("np.concatenate([W_xh, W_hh], axis=0)", "W_xh.tolist() + W_hh.tolist()"),
    change("np.concatenate([W_xh, W_hh], axis=0)", "list(W_xh) + list(W_hh)"),
    tempts="With lists, + joins them.",
)
SPEC.mistake(
    "matrices_added",
    "You add the two matrices. Put the rows of both into `W`, D + H in all: what is added is not the weights, but "
    "their products with the input and the state.",
    change("np.concatenate([W_xh, W_hh], axis=0)", "W_xh + W_hh"),
    tempts="The formula has a + in it.",
)
SPEC.mistake(
    "matrices_multiplied",
    "You multiply the two matrices. Put the rows of both into `W`, D + H in all, because one of them acts on the "
    "input and the other on the previous state.",
    change("np.concatenate([W_xh, W_hh], axis=0)", "W_xh @ W_hh"),
    tempts="Two matrices are often merged into one by multiplying them.",
)
SPEC.mistake(
    "W_xh_transposed",
    "You transpose `W_xh`, which works only where D = H. Use both matrices as they are, because inputs and states are "
    "rows in this course.",
    change("[W_xh, W_hh]", "[W_xh.T, W_hh.T]"),
    change("[W_xh, W_hh]", "[W_xh.T, W_hh]"),
    tempts="PyTorch stores its weights transposed.",
)
SPEC.mistake(
    "one_matrix_twice",
    "You use one of the two matrices twice and leave out the other. The first D rows of `W` are those of `W_xh`, and "
    "the H rows below are those of `W_hh`.",
    change("[W_xh, W_hh]", "[W_xh, W_xh]"),
    change("[W_xh, W_hh]", "[W_hh, W_hh]"),
    tempts="The second line is a copy of the first, and one letter in it is not changed.",
)
FILLED = "D, H = W_xh.shape\nW = np.zeros((D + H, H))\nW[:D] = W_xh\nW[D:] = W_hh\nreturn W"
BY_ROWS = (
    "D, H = W_xh.shape\nW = np.zeros((D + H, H))\nW[:D] = W_xh\nfor i in range(H):\n    W[D + i] = W_hh[i]\nreturn W"
)
JOINED = "return np.concatenate([W_xh, W_hh], axis=0)"
SPEC.mistake(
    "rows_overlap",
    "You write both matrices from row 0 on, so one overwrites rows of the other, and the last rows of `W` remain 0. "
    "Begin with `W_hh` below the D rows of `W_xh`.",
    change(JOINED, FILLED, ("W[D:]", "W[:H]")),
    change(JOINED, FILLED, ("W[:D] = W_xh\nW[D:] = W_hh", "W[:H] = W_hh\nW[:D] = W_xh")),
    tempts="Both loops count from 0.",
)
SPEC.mistake(
    "W_hh_from_row_H",
    "You write `W_hh` from row H on, which is right only where D = H. Begin at row D, because there are D rows of "
    "`W_xh` above it.",
    change(JOINED, FILLED, ("W[D:]", "W[H:]")),
    change(JOINED, BY_ROWS, ("W[D + i]", "W[H + i]")),
    change(JOINED, BY_ROWS, ("range(H)", "range(H, D + H)"), ("W[D + i] = W_hh[i]", "W[i] = W_hh[i - H]")),
    tempts="W_hh and H go together in every formula.",
)
SPEC.mistake(
    "H_for_D",
    "You read D from the second axis of `W_xh`, so your code works only where D = H. Read it from the first, because "
    "`W_xh` has the shape (D, H).",
    change(JOINED, FILLED, ("D, H = W_xh.shape", "D = H = W_xh.shape[1]")),
    tempts="Which axis belongs to the input depends on the convention, and papers have (H, D).",
)
SPEC.mistake(
    "D_rows_of_W_hh",
    "You take D rows of `W_hh`, as many as `W_xh` has. Take all of its H rows: where D is smaller than H, the last "
    "rows of `W` remain 0, and where D is larger, `W_hh` has fewer than D rows.",
    change(JOINED, BY_ROWS, ("range(H)", "range(D)")),
    change(JOINED, FILLED, ("W[D:] = W_hh", "W[D : 2 * D] = W_hh[:D]")),
    tempts="One loop copies a row of each matrix per pass, which is right where D = H.",
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
