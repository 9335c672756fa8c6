"""How `rnn_step_backward` is checked: against PyTorch's autograd, one facet for each of the five gradients."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec, change, on_grid


def oracle(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """Autograd through the step in float64. A constant is added to the pre-activation so that the tanh returns h_t."""
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
All five gradients pass through the pre-activation $a_t$, so its gradient comes first: $da_t = dh_t \cdot (1 - h_t^2)$,
entry by entry, because each unit has its own tanh. The derivative of the tanh is $1 - \tanh^2(a_t)$, and $\tanh(a_t)$
is $h_t$ itself, which is why the forward pass stores the states and need not store the pre-activations. In
$a_{bj} = \sum_i x_{bi} W_{ij} + \dots$ the input $x_{bi}$ feeds every unit $j$ through $W_{ij}$, so its gradient is
$\sum_j da_{bj} W_{ij}$, a sum along row $i$ of $W$, which `@ W_xh.T` computes. The weight $W_{ij}$ feeds unit $j$ in
every row $b$ of the batch, so its gradient is $\sum_b x_{bi}\, da_{bj}$, which is `x_t.T @ da_t`: the matrix product
contains the sum over the batch. The bias is added in every row and multiplied by nothing, so its gradient is the sum of
the rows. The shapes almost determine the code, because each gradient has the shape of what it belongs to.
""",
)

SPEC.mistake(
    "tanh_taken_again",
    "You compute the derivative as 1 − tanh²(h_t), which applies the tanh a second time. Use `1 - h_t**2`, because "
    "`h_t` is already the tanh of the pre-activation.",
    change("h_t**2", "np.tanh(h_t) ** 2"),
    tempts="The derivative is written 1 - tanh²(…), and h_t is at hand to put in, although it is already the tanh.",
)
SPEC.mistake(
    "slope_left_out",
    "You leave out the derivative of the tanh and use `dh_t` where `da_t` belongs. Multiply `dh_t` by `1 - h_t**2` "
    "first, because the pre-activation influences the state only through the tanh.",
    change(" * (1 - h_t**2)", ""),
    tempts="The matrix products get all the attention, and the tanh between them is forgotten.",
)
SPEC.mistake(
    "slope_of_the_state_before",
    "You compute the derivative of the tanh from `h_prev`. Use `1 - h_t**2`, because `h_t` is what the tanh of this "
    "step returned.",
    change("h_t**2", "h_prev**2"),
    tempts="The backward pass leads to h_prev, which has the same shape, but the tanh of this step returned h_t.",
)
SPEC.mistake(
    "slope_from_the_pre_activation",
    "You compute the derivative of the tanh from the pre-activation. Use `1 - h_t**2`, because the derivative "
    "contains the square of the *state*, not that of the pre-activation. A pre-activation recomputed here also lacks "
    "the bias.",
    change("h_t**2", "np.arctanh(h_t) ** 2"),
    change("h_t**2", "(x_t @ W_xh + h_prev @ W_hh) ** 2"),
    change("h_t**2", "np.tanh(x_t @ W_xh + h_prev @ W_hh) ** 2"),
    tempts="The derivative is taken at the pre-activation, so its square seems to be meant, but the formula needs "
    "that of the tanh.",
)
SPEC.mistake(
    "slope_without_parentheses",
    "You left out the parentheses: `dh_t * 1 - h_t**2` is `dh_t` minus the square of `h_t`. Write `dh_t * (1 - "
    "h_t**2)`, because `dh_t` multiplies the whole derivative.",
    change("(1 - h_t**2)", "1 - h_t**2"),
    tempts="'dh_t times 1 - h_t²' is how one says it, but Python multiplies first.",
)
SPEC.mistake(
    "slope_of_the_logistic",
    "You use h · (1 − h), the derivative of the logistic function. Use 1 − h², because this step applies the tanh.",
    change("(1 - h_t**2)", "h_t * (1 - h_t)"),
    tempts="h (1 - h) is the best known derivative of an activation function, but it belongs to the logistic function.",
)
SPEC.mistake(
    "slope_not_squared",
    "You compute the derivative of the tanh as 1 − h_t. Square the state: the derivative is 1 − tanh²(a_t), and "
    "tanh(a_t) is `h_t`.",
    change("h_t**2", "h_t"),
    tempts="1 - h_t differs from the right derivative by three characters.",
)
SPEC.mistake(
    "dh_t_left_out",
    "You do not use `dh_t`, so you differentiate this step alone. Multiply the derivative of the tanh by `dh_t`, "
    "because the chain rule starts at the loss.",
    change("dh_t * ", ""),
    tempts="'Differentiate the step' gives 1 - h_t², but the chain rule starts at the loss.",
)
SPEC.mistake(
    "W_hh_not_transposed",
    "You multiply by `W_hh` where its transpose belongs. Use `W_hh.T`: forward, unit k sends its value along row k of "
    "`W_hh`, so backward its gradient is summed along that same row. Because `W_hh` is square, the shapes fit either "
    "way.",
    change("W_hh.T", "W_hh"),
    tempts="The forward pass has h_prev @ W_hh, and the shapes fit either way because W_hh is square.",
    keeps=("dx_t", "dW_xh", "dW_hh", "db_h"),
)
SPEC.mistake(
    "W_xh_not_transposed",
    "You multiply by `W_xh` where its transpose belongs. Use `W_xh.T`: `da_t` is (B, H) and `dx_t` is (B, D), so the "
    "matrix in between must be (H, D).",
    change("W_xh.T", "W_xh"),
    tempts="The forward pass has x_t @ W_xh. Where D is not H, this code does not even run.",
)
SPEC.mistake(
    "no_weight_transposed",
    "You multiply by `W_xh` and `W_hh` where their transposes belong. Use `W_xh.T` and `W_hh.T`: `da_t` is (B, H) and "
    "`dx_t` is (B, D), so the matrix in between must be (H, D). The same rule holds for `W_hh`, where the shapes fit "
    "either way because it is square.",
    change("W_xh.T", "W_xh", ("W_hh.T", "W_hh")),
    tempts="The forward pass uses both weight matrices as they are.",
)
SPEC.mistake(
    "column_convention",
    "You use the products of the column convention, with the weights on the left. Put `da_t` to the left of a "
    "transposed weight matrix, and to the right of the transposed input or state, because in this course each row is "
    "one sequence and `da_t` is (B, H).",
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
    tempts="Many texts write states as columns, with Wᵀ da and da xᵀ. With rows, that code rarely even runs.",
)
SPEC.mistake(
    "W_hh_left_out",
    "You pass `da_t` itself back to the previous state. Take it through `W_hh` as well, because the previous state "
    "entered the pre-activation as a product with `W_hh`.",
    change("da_t @ W_hh.T", "da_t"),
    tempts="da_t already has the shape of h_prev, but it belongs to the pre-activation, one product after h_prev.",
    keeps=("dx_t", "dW_xh", "dW_hh", "db_h"),
)
SPEC.mistake(
    "dW_hh_from_h_t",
    "You compute `dW_hh` from `h_t`, one step too late. Use `h_prev`, because `W_hh` was multiplied by the previous "
    "state.",
    change("h_prev.T", "h_t.T"),
    tempts="dW_xh uses x_t, so dW_hh seems to use h_t, but W_hh was multiplied by h_prev.",
    keeps=("dx_t", "dh_prev", "dW_xh", "db_h"),
)
SPEC.mistake(
    "weight_gradients_transposed",
    "You return the gradient of a weight matrix transposed. Give it the layout of the weight itself, with a row for "
    "each incoming value and a column for each unit, because each entry belongs to one weight. In `dW_hh`, which is "
    "square, the shape does not tell you.",
    change("dW_xh, dW_hh, db_h", "dW_xh.T, dW_hh.T, db_h"),
    tempts="In the column convention of many texts the outer product is written da xᵀ.",
    keeps=("dx_t", "dh_prev", "db_h"),
)
SPEC.mistake(
    "averaged_over_the_batch",
    "You average the gradients of the weights and the bias over the batch. Sum them instead: where the loss is a "
    "mean, `dh_t` already contains the division.",
    change("dW_xh, dW_hh, db_h", "dW_xh / len(x_t), dW_hh / len(x_t), db_h / len(x_t)"),
    tempts="Losses are usually means, but then dh_t already contains the division.",
    keeps=("dx_t", "dh_prev"),
)
SPEC.mistake(
    "weights_averaged_over_the_batch",
    "You average the gradients of the two weight matrices over the batch. Sum them instead: where the loss is a mean, "
    "`dh_t` already contains the division.",
    change("dW_xh, dW_hh, db_h", "dW_xh / len(x_t), dW_hh / len(x_t), db_h"),
    tempts="Losses are usually means, and the division is written into the two products alone.",
    keeps=("dx_t", "dh_prev", "db_h"),
)
SPEC.mistake(
    "bias_averaged_over_the_batch",
    "You average `db_h` over the batch. Sum it instead: where the loss is a mean, `dh_t` already contains the "
    "division.",
    change("da_t.sum(axis=0)", "da_t.mean(axis=0)"),
    tempts=".mean(axis=0) turns (B, H) into (H,) just as .sum(axis=0) does.",
    keeps=("dx_t", "dh_prev", "dW_xh", "dW_hh"),
)
SPEC.mistake(
    "bias_not_summed",
    "You do not sum `db_h` over the batch. Sum over the rows, so that (B, H) becomes (H,), because the one bias is "
    "added in every row and each row contributes to its gradient.",
    *(change("da_t.sum(axis=0)", becomes) for becomes in ("da_t", "da_t.sum(axis=1)", "da_t[0]")),
    tempts="The bias is multiplied by nothing, so da_t looks like its gradient. For a single row it is.",
    keeps=("dx_t", "dh_prev", "dW_xh", "dW_hh"),
)
SPEC.mistake(
    "in_place",
    "Your gradients are right, but you overwrite `dh_t`: `da_t = dh_t` is a second name for the array, not a copy, so "
    "`*=` writes into `dh_t` itself. Make a new array instead: `a = a * b`.",
    change("da_t = dh_t * (1 - h_t**2)", "da_t = dh_t\nda_t *= 1 - h_t**2"),
    tempts="Under the name da_t it looks like an array of its own, but it is dh_t itself that changes.",
)
SPEC.mistake(
    "slope_is_the_square_alone",
    "You use h_t² as the derivative of the tanh. Subtract it from 1, because where the state is near −1 or 1 the tanh "
    "is flat and its derivative is near 0.",
    change("(1 - h_t**2)", "h_t**2"),
    tempts="The square is what one remembers of 1 - h_t².",
)
SPEC.mistake(
    "summed_over_the_batch_before_the_product",
    "You sum over the batch before you multiply, so the inputs and states of each sequence are multiplied by the "
    "`da_t` of the other sequences too. Multiply first and sum over the batch afterwards, because each sequence has "
    "its own input, state and `da_t`.",
    change(
        "x_t.T @ da_t",
        "np.outer(x_t.sum(axis=0), da_t.sum(axis=0))",
        ("h_prev.T @ da_t", "np.outer(h_prev.sum(axis=0), da_t.sum(axis=0))"),
    ),
    tempts="`np.outer` takes vectors, and a sum over the batch turns each array into one.",
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
    """One sequence at a time; the gradients of the weights and the bias accumulate over all of them."""
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
def from_the_pre_activation(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """Recovers the pre-activation from h_t and differentiates the tanh there; returns a list."""
    da_t = dh_t / np.cosh(np.arctanh(h_t)) ** 2
    dW_xh = (x_t[:, :, None] * da_t[:, None, :]).sum(axis=0)
    dW_hh = (h_prev[:, :, None] * da_t[:, None, :]).sum(axis=0)
    return [np.dot(da_t, W_xh.T), (W_hh @ da_t.T).T, dW_xh, dW_hh, np.ones(len(da_t)) @ da_t]
