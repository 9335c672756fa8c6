"""How `rnn_step_backward` is checked: against PyTorch's autograd, one facet for each of the five gradients."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec, change, on_grid


def oracle(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """Autograd through the step in float64. A constant is added to the sum in the tanh, so that just h_t comes out."""
    arrays = (x_t, h_prev, W_xh, W_hh, np.zeros(h_t.shape[1]))
    x, h, W, U, b = leaves = [torch.from_numpy(array.copy()).requires_grad_() for array in arrays]
    a = x @ W + h @ U + b
    state = torch.tanh(a + (torch.atanh(torch.from_numpy(h_t)) - a).detach())
    return tuple(g.numpy() for g in torch.autograd.grad(state, leaves, torch.from_numpy(dh_t)))


EXAMPLE = Case(
    sizes={"B": 1, "D": 2, "H": 2},
    inputs={
        "dh_t": np.array([[0.80, -0.50]]),
        "x_t": np.array([[1.00, -2.00]]),
        "h_prev": np.array([[0.50, -0.25]]),
        "h_t": np.array([[0.50, -0.60]]),
        "W_xh": np.array([[0.50, -0.25], [1.00, 0.75]]),
        "W_hh": np.array([[0.20, 0.50], [-0.60, 0.10]]),
    },
)


def case(rng, B, D, H):
    x_t, h_prev = rng.normal(size=(B, D)), rng.uniform(-0.9, 0.9, size=(B, H))
    W_xh, W_hh = rng.normal(size=(D, H)) / np.sqrt(D), rng.normal(size=(H, H)) / np.sqrt(H)
    return Case(
        sizes={"B": B, "D": D, "H": H},
        inputs={
            "dh_t": rng.normal(size=(B, H)),
            "x_t": x_t,
            "h_prev": h_prev,
            "h_t": on_grid(np.tanh(x_t @ W_xh + h_prev @ W_hh + 0.5 * rng.normal(size=H))),
            "W_xh": W_xh,
            "W_hh": W_hh,
        },
    )


def cases(rng):
    yield case(rng, B=2, D=3, H=4)
    yield case(rng, B=3, D=3, H=3)
    yield case(rng, B=4, D=2, H=2)
    yield case(rng, B=1, D=2, H=3)
    yield case(rng, B=3, D=1, H=2)
    yield case(rng, B=3, D=2, H=1)


SPEC = Spec(
    outputs=[
        Output("dx_t", ("B", "D")),
        Output("dh_prev", ("B", "H")),
        Output("dW_xh", ("D", "H")),
        Output("dW_hh", ("H", "H")),
        Output("db_h", ("H",)),
    ],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("dx_t", share=1, outputs=("dx_t",)),
        Facet("dh_prev", share=2, outputs=("dh_prev",)),
        Facet("dW_xh", share=1, outputs=("dW_xh",)),
        Facet("dW_hh", share=1, outputs=("dW_hh",)),
        Facet("db_h", share=1, outputs=("db_h",)),
    ],
    why=r"""
All five gradients go through the sum $a_t$, so it is computed once: $da_t = dh_t \cdot (1 - h_t^2)$, entry by entry,
since each unit has its own tanh. Its slope is $1 - \tanh^2(a_t)$, and $\tanh(a_t)$ is $h_t$ itself, which is why the
forward pass keeps states and need not keep sums. In $a_{bj} = \sum_i x_{bi} W_{ij} + \dots$ the input $x_{bi}$ reaches
every unit $j$ through $W_{ij}$, so its gradient is $\sum_j da_{bj} W_{ij}$: the columns of $W$ are summed over, which
is what `@ W_xh.T` does. The weight $W_{ij}$ reaches unit $j$ in every row $b$, so its gradient is
$\sum_b x_{bi}\, da_{bj}$, which is `x_t.T @ da_t`: the sum over the batch is inside the product. The bias is added in
every row and multiplied by nothing, so its gradient is the sum of the rows. The shapes alone would almost tell the
code: each gradient has the shape of what it belongs to.
""",
)

SPEC.mistake(
    "tanh_taken_again",
    "The slope is taken as 1 − tanh²(h_t). But `h_t` is already the tanh of the sum, and here its tanh is taken once "
    "more. The slope is 1 minus the square of `h_t` itself.",
    change("h_t**2", "np.tanh(h_t) ** 2"),
    tempts="The derivative is written 1 - tanh²(…), and h_t is at hand to put in; it is the tanh already.",
)
SPEC.mistake(
    "slope_left_out",
    "The slope of the tanh is missing: `dh_t` is used where `da_t` belongs. Before anything reaches the sum, it goes "
    "through the tanh and is multiplied by 1 − h_t².",
    change(" * (1 - h_t**2)", ""),
    tempts="The matrix products are what one thinks about; the tanh between them is forgotten.",
)
SPEC.mistake(
    "slope_of_the_state_before",
    "The slope is taken at `h_prev`. The tanh of this step gave `h_t`, so its slope is 1 − h_t².",
    change("h_t**2", "h_prev**2"),
    tempts="One walks back to h_prev, and it has the same shape; the tanh in between gave h_t.",
)
SPEC.mistake(
    "slope_from_the_sum",
    "The slope is made from the sum inside the tanh. No sum is needed: the slope is 1 minus the square of the "
    "*state*, `h_t`. One minus the square of the sum is something else, and a sum computed anew from these arguments "
    "lacks the bias.",
    change("h_t**2", "np.arctanh(h_t) ** 2"),
    change("h_t**2", "(x_t @ W_xh + h_prev @ W_hh) ** 2"),
    change("h_t**2", "np.tanh(x_t @ W_xh + h_prev @ W_hh) ** 2"),
    tempts="The tanh is taken at the sum, so its square seems to be meant; the slope needs the tanh's.",
)
SPEC.mistake(
    "slope_without_brackets",
    "Brackets are missing: `dh_t * 1 - h_t**2` is `dh_t`, minus the square of `h_t`. The whole slope, `1 - h_t**2`, "
    "is what `dh_t` is multiplied by.",
    change("(1 - h_t**2)", "1 - h_t**2"),
    tempts="'dh_t times 1 - h_t²' is how one says it; in Python the product comes first.",
)
SPEC.mistake(
    "slope_of_the_logistic",
    "h · (1 − h) is the slope of the logistic function. The slope of the tanh is 1 − h².",
    change("(1 - h_t**2)", "h_t * (1 - h_t)"),
    tempts="h (1 - h) is the best known derivative of a squashing function; it is the logistic's.",
)
SPEC.mistake(
    "slope_not_squared",
    "The slope is taken as 1 − h_t. It is 1 minus the *square* of `h_t`.",
    change("h_t**2", "h_t"),
    tempts="1 - h_t differs from the right slope by two characters.",
)
SPEC.mistake(
    "dh_t_left_out",
    "`dh_t` is not used: this is the slope of the step alone. The chain begins with what comes from the loss, so the "
    "slope is multiplied by `dh_t`.",
    change("dh_t * ", ""),
    tempts="'Differentiate the step' is done with 1 - h_t²; the chain begins at the loss.",
)
SPEC.mistake(
    "W_hh_not_transposed",
    "`W_hh` is not turned round on the way back. Forward, unit k sends its value along row k of `W_hh`; backward, it "
    "collects along that same row. `W_hh` is square, so the wrong way round fits too: write out one entry of "
    "`dh_prev` as a sum.",
    change("W_hh.T", "W_hh"),
    tempts="The forward pass has h_prev @ W_hh, and the shapes fit either way: W_hh is square.",
    keeps=("dx_t", "dW_xh", "dW_hh", "db_h"),
)
SPEC.mistake(
    "W_xh_not_transposed",
    "`W_xh` is not turned round on the way back. `da_t` is (B, H) and `dx_t` is (B, D): the matrix in between has to "
    "be (H, D).",
    change("W_xh.T", "W_xh"),
    tempts="The forward pass has x_t @ W_xh; where D is not H it does not even run.",
)
SPEC.mistake(
    "no_weight_transposed",
    "Neither weight matrix is turned round on the way back. `da_t` is (B, H) and `dx_t` is (B, D), so the matrix in "
    "between has to be (H, D); with `W_hh`, which is square, it is the same, though no shape complains.",
    change("W_xh.T", "W_xh", ("W_hh.T", "W_hh")),
    tempts="The forward pass has both weights as they are.",
)
SPEC.mistake(
    "column_convention",
    "The products are those of the column convention, with weights on the left of states. In this course each row is "
    "one sequence: `da_t` is (B, H) and stands on the left of a weight, and on the right of what came in, turned.",
    change(
        "da_t @ W_xh.T",
        "W_xh.T @ da_t",
        ("da_t @ W_hh.T", "W_hh.T @ da_t"),
        ("x_t.T @ da_t", "da_t @ x_t.T"),
        ("h_prev.T @ da_t", "da_t @ h_prev.T"),
    ),
    change(
        "da_t @ W_xh.T",
        "W_xh @ da_t",
        ("da_t @ W_hh.T", "W_hh @ da_t"),
        ("x_t.T @ da_t", "x_t @ da_t.T"),
        ("h_prev.T @ da_t", "h_prev @ da_t.T"),
    ),
    tempts="Many texts write states as columns, and Wᵀ da, da xᵀ; with rows it rarely even runs.",
)
SPEC.mistake(
    "W_hh_left_out",
    "`dh_prev` is `da_t` itself: the path through `W_hh` is missing. `da_t` belongs to the sum in the tanh, and "
    "`h_prev` got there by a product with `W_hh`.",
    change("da_t @ W_hh.T", "da_t"),
    tempts="da_t already has the shape of h_prev; it belongs to the sum, one product before h_prev.",
    keeps=("dx_t", "dW_xh", "dW_hh", "db_h"),
)
SPEC.mistake(
    "dW_hh_from_h_t",
    "`dW_hh` is made with `h_t`, one step too late. `W_hh` was multiplied by the state before, `h_prev`.",
    change("h_prev.T", "h_t.T"),
    tempts="dW_xh goes with x_t, so dW_hh seems to go with h_t; W_hh was multiplied by h_prev.",
    keeps=("dx_t", "dh_prev", "dW_xh", "db_h"),
)
SPEC.mistake(
    "weight_gradients_transposed",
    "The gradient of a weight matrix comes out turned, rows for columns: its rows should be what came in, its columns "
    "the units, as in the weight itself. `dW_hh` is square, so its shape does not tell.",
    change("dW_xh, dW_hh, db_h", "dW_xh.T, dW_hh.T, db_h"),
    tempts="In the column convention of many texts the outer product is written da xᵀ.",
    keeps=("dx_t", "dh_prev", "db_h"),
)
SPEC.mistake(
    "averaged_over_the_batch",
    "The gradients of weights and bias are means over the batch, sums are due. Where the loss is a mean, that "
    "division is in `dh_t` already.",
    change("dW_xh, dW_hh, db_h", "dW_xh / len(x_t), dW_hh / len(x_t), db_h / len(x_t)"),
    tempts="Losses are means; where the loss is one, its division is in dh_t already.",
    keeps=("dx_t", "dh_prev"),
)
SPEC.mistake(
    "weights_averaged_over_the_batch",
    "The gradients of the two weight matrices are means over the batch, sums are due. Where the loss is a mean, that "
    "division is in `dh_t` already.",
    change("dW_xh, dW_hh, db_h", "dW_xh / len(x_t), dW_hh / len(x_t), db_h"),
    tempts="Losses are means, and the division is written into the two products alone.",
    keeps=("dx_t", "dh_prev", "db_h"),
)
SPEC.mistake(
    "bias_averaged_over_the_batch",
    "`db_h` is the mean over the batch; the sum is due. Where the loss is a mean, that division is in `dh_t` already.",
    change("da_t.sum(axis=0)", "da_t.mean(axis=0)"),
    tempts=".mean(axis=0) brings (B, H) to (H,) just as .sum(axis=0) does.",
    keeps=("dx_t", "dh_prev", "dW_xh", "dW_hh"),
)
SPEC.mistake(
    "bias_not_summed",
    "In `db_h` the sum over the batch is missing, or runs along another axis. The one bias is added in every row, so "
    "all rows' blame adds up: (B, H) becomes (H,).",
    *(change("da_t.sum(axis=0)", becomes) for becomes in ("da_t", "da_t.sum(axis=1)", "da_t[0]")),
    tempts="The bias is multiplied by nothing, so da_t is its gradient: true of each row by itself.",
    keeps=("dx_t", "dh_prev", "dW_xh", "dW_hh"),
)
SPEC.mistake(
    "in_place",
    "The gradients are right, and `dh_t` is overwritten on the way: `da_t = dh_t` is a second name, not a copy, and "
    "`*=` writes into the array itself. `a = a * b` makes a new one.",
    change("da_t = dh_t * (1 - h_t**2)", "da_t = dh_t\nda_t *= 1 - h_t**2"),
    tempts="The name da_t then seems to need no array of its own; but it is dh_t itself that changes.",
)
SPEC.mistake(
    "slope_is_the_square_alone",
    "The slope is taken as h_t². It is *one minus* the square: where the state is near 1 or −1, the tanh is flat.",
    change("(1 - h_t**2)", "h_t**2"),
    tempts=("The square is what one remembers of 1 - h_t²."),
)
SPEC.mistake(
    "summed_over_the_batch_before_the_product",
    "You sum over the batch before you multiply, so the inputs and states of each sequence are multiplied by `da_t` of "
    "the other sequences too. Each sequence has a product of its own; the sum over the batch comes afterwards.",
    change(
        "x_t.T @ da_t",
        "np.outer(x_t.sum(axis=0), da_t.sum(axis=0))",
        ("h_prev.T @ da_t", "np.outer(h_prev.sum(axis=0), da_t.sum(axis=0))"),
    ),
    tempts="`np.outer` takes vectors, and a sum over the batch makes a vector of each.",
    keeps=("dx_t", "dh_prev", "db_h"),
)


@SPEC.alternative
def with_einsum(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """Every sum by its indices."""
    da_t = np.einsum("bj,bj->bj", dh_t, 1 - h_t * h_t)
    return (
        np.einsum("bj,ij->bi", da_t, W_xh),
        np.einsum("bj,kj->bk", da_t, W_hh),
        np.einsum("bi,bj->ij", x_t, da_t),
        np.einsum("bk,bj->kj", h_prev, da_t),
        np.einsum("bj->j", da_t),
    )


@SPEC.alternative
def row_by_row(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """One sequence at a time; weights and bias collect from all of them."""
    dx_t, dh_prev = np.zeros(x_t.shape), np.zeros(h_prev.shape)
    dW_xh, dW_hh, db_h = np.zeros(W_xh.shape), np.zeros(W_hh.shape), np.zeros(W_hh.shape[0])
    for b in range(len(dh_t)):
        da = dh_t[b] * (1 + h_t[b]) * (1 - h_t[b])
        dx_t[b], dh_prev[b] = W_xh @ da, W_hh @ da
        dW_xh += np.outer(x_t[b], da)
        dW_hh += np.outer(h_prev[b], da)
        db_h += da
    return dx_t, dh_prev, dW_xh, dW_hh, db_h


@SPEC.alternative
def by_stacking(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """Input, state and a 1 for the bias side by side, as one row with one matrix."""
    D, H = W_xh.shape
    da_t = dh_t * (1 - h_t**2)
    row = np.hstack([x_t, h_prev, np.ones((len(x_t), 1))])
    d_row, d_matrix = da_t @ np.vstack([W_xh, W_hh]).T, row.T @ da_t
    return d_row[:, :D], d_row[:, D:], d_matrix[:D], d_matrix[D : D + H], d_matrix[-1]


@SPEC.alternative
def one_weight_at_a_time(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """Loops over inputs and units, as in the tables of the notebook."""
    (B, D), H = x_t.shape, h_t.shape[1]
    dx_t, dh_prev = np.zeros((B, D)), np.zeros((B, H))
    dW_xh, dW_hh, db_h = np.zeros((D, H)), np.zeros((H, H)), np.zeros(H)
    for b in range(B):
        for j in range(H):
            da = dh_t[b, j] * (1 - h_t[b, j] ** 2)
            db_h[j] += da
            for i in range(D):
                dx_t[b, i] += da * W_xh[i, j]
                dW_xh[i, j] += da * x_t[b, i]
            for k in range(H):
                dh_prev[b, k] += da * W_hh[k, j]
                dW_hh[k, j] += da * h_prev[b, k]
    return dx_t, dh_prev, dW_xh, dW_hh, db_h


@SPEC.alternative
def from_the_sum(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """The sum is found again from h_t, and tanh differentiated there; results in a list."""
    da_t = dh_t / np.cosh(np.arctanh(h_t)) ** 2
    dW_xh = (x_t[:, :, None] * da_t[:, None, :]).sum(axis=0)
    dW_hh = (h_prev[:, :, None] * da_t[:, None, :]).sum(axis=0)
    return [np.dot(da_t, W_xh.T), (W_hh @ da_t.T).T, dW_xh, dW_hh, np.ones(len(da_t)) @ da_t]
