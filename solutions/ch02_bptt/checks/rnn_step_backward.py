"""How `rnn_step_backward` is checked: against PyTorch's autograd, one facet for each of the five gradients."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec, on_grid


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


OTHERS = {
    "dx_t": ("dh_prev", "dW_xh", "dW_hh", "db_h"),
    "dh_prev": ("dx_t", "dW_xh", "dW_hh", "db_h"),
    "dW_hh": ("dx_t", "dh_prev", "dW_xh", "db_h"),
    "db_h": ("dx_t", "dh_prev", "dW_xh", "dW_hh"),
}

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


@SPEC.misconception()
def tanh_taken_again(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """Tempting because the derivative is written 1 - tanh²(…), and h_t is at hand to put in; it is the tanh already."""
    da_t = dh_t * (1 - np.tanh(h_t) ** 2)
    return da_t @ W_xh.T, da_t @ W_hh.T, x_t.T @ da_t, h_prev.T @ da_t, da_t.sum(axis=0)


@SPEC.misconception()
def slope_left_out(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """Tempting because the matrix products are what one thinks about; the tanh between them is forgotten."""
    return dh_t @ W_xh.T, dh_t @ W_hh.T, x_t.T @ dh_t, h_prev.T @ dh_t, dh_t.sum(axis=0)


@SPEC.misconception()
def slope_of_the_state_before(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """Tempting because one walks back to h_prev, and it has the same shape; the tanh in between gave h_t."""
    da_t = dh_t * (1 - h_prev**2)
    return da_t @ W_xh.T, da_t @ W_hh.T, x_t.T @ da_t, h_prev.T @ da_t, da_t.sum(axis=0)


@SPEC.misconception()
def slope_from_the_sum(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """Tempting because the tanh is taken at the sum, so its square seems to be meant; the slope needs the tanh's."""
    da_t = dh_t * (1 - np.arctanh(h_t) ** 2)
    return da_t @ W_xh.T, da_t @ W_hh.T, x_t.T @ da_t, h_prev.T @ da_t, da_t.sum(axis=0)


@SPEC.misconception("slope_from_the_sum")
def slope_from_a_sum_without_the_bias(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """The sum as the arguments allow it: the bias is not among them."""
    da_t = dh_t * (1 - (x_t @ W_xh + h_prev @ W_hh) ** 2)
    return da_t @ W_xh.T, da_t @ W_hh.T, x_t.T @ da_t, h_prev.T @ da_t, da_t.sum(axis=0)


@SPEC.misconception("slope_from_the_sum")
def tanh_computed_anew_without_the_bias(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """The right formula, at a sum that lacks the bias."""
    da_t = dh_t * (1 - np.tanh(x_t @ W_xh + h_prev @ W_hh) ** 2)
    return da_t @ W_xh.T, da_t @ W_hh.T, x_t.T @ da_t, h_prev.T @ da_t, da_t.sum(axis=0)


@SPEC.misconception()
def slope_without_brackets(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """Tempting because 'dh_t times 1 - h_t²' is how one says it; in Python the product comes first."""
    da_t = dh_t * 1 - h_t**2
    return da_t @ W_xh.T, da_t @ W_hh.T, x_t.T @ da_t, h_prev.T @ da_t, da_t.sum(axis=0)


@SPEC.misconception()
def slope_of_the_logistic(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """Tempting because h (1 - h) is the best known derivative of a squashing function; it is the logistic's."""
    da_t = dh_t * h_t * (1 - h_t)
    return da_t @ W_xh.T, da_t @ W_hh.T, x_t.T @ da_t, h_prev.T @ da_t, da_t.sum(axis=0)


@SPEC.misconception()
def slope_not_squared(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """Tempting because 1 - h_t differs from the right slope by two characters."""
    da_t = dh_t * (1 - h_t)
    return da_t @ W_xh.T, da_t @ W_hh.T, x_t.T @ da_t, h_prev.T @ da_t, da_t.sum(axis=0)


@SPEC.misconception()
def dh_t_left_out(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """Tempting because 'differentiate the step' is done with 1 - h_t²; the chain begins at the loss."""
    da_t = 1 - h_t**2
    return da_t @ W_xh.T, da_t @ W_hh.T, x_t.T @ da_t, h_prev.T @ da_t, da_t.sum(axis=0)


@SPEC.misconception(keeps=OTHERS["dh_prev"])
def W_hh_not_transposed(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """Tempting because the forward pass has h_prev @ W_hh, and the shapes fit either way: W_hh is square."""
    da_t = dh_t * (1 - h_t**2)
    return da_t @ W_xh.T, da_t @ W_hh, x_t.T @ da_t, h_prev.T @ da_t, da_t.sum(axis=0)


@SPEC.misconception()
def W_xh_not_transposed(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """Tempting for the same reason; where D is not H it does not even run."""
    da_t = dh_t * (1 - h_t**2)
    return da_t @ W_xh, da_t @ W_hh.T, x_t.T @ da_t, h_prev.T @ da_t, da_t.sum(axis=0)


@SPEC.misconception()
def no_weight_transposed(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """Both at once."""
    da_t = dh_t * (1 - h_t**2)
    return da_t @ W_xh, da_t @ W_hh, x_t.T @ da_t, h_prev.T @ da_t, da_t.sum(axis=0)


@SPEC.misconception()
def column_convention(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """Tempting because many texts write states as columns, and Wᵀ da, da xᵀ; with rows it rarely even runs."""
    da_t = dh_t * (1 - h_t**2)
    return W_xh.T @ da_t, W_hh.T @ da_t, da_t @ x_t.T, da_t @ h_prev.T, da_t.sum(axis=0)


@SPEC.misconception("column_convention")
def weights_of_ours_from_the_left(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """The same with weights that are stored as ours are."""
    da_t = dh_t * (1 - h_t**2)
    return W_xh @ da_t, W_hh @ da_t, x_t @ da_t.T, h_prev @ da_t.T, da_t.sum(axis=0)


@SPEC.misconception(keeps=OTHERS["dh_prev"])
def W_hh_left_out(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """Tempting because da_t already has the shape of h_prev; it belongs to the sum, one product before h_prev."""
    da_t = dh_t * (1 - h_t**2)
    return da_t @ W_xh.T, da_t, x_t.T @ da_t, h_prev.T @ da_t, da_t.sum(axis=0)


@SPEC.misconception(keeps=OTHERS["dW_hh"])
def dW_hh_from_h_t(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """Tempting because dW_xh goes with x_t, so dW_hh seems to go with h_t; W_hh was multiplied by h_prev."""
    da_t = dh_t * (1 - h_t**2)
    return da_t @ W_xh.T, da_t @ W_hh.T, x_t.T @ da_t, h_t.T @ da_t, da_t.sum(axis=0)


@SPEC.misconception(keeps=("dx_t", "dh_prev", "db_h"))
def weight_gradients_transposed(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """Tempting because in the column convention of many texts the outer product is written da xᵀ."""
    da_t = dh_t * (1 - h_t**2)
    return da_t @ W_xh.T, da_t @ W_hh.T, da_t.T @ x_t, da_t.T @ h_prev, da_t.sum(axis=0)


@SPEC.misconception(keeps=("dx_t", "dh_prev"))
def averaged_over_the_batch(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """Tempting because losses are means; where the loss is one, its division is in dh_t already."""
    da_t, B = dh_t * (1 - h_t**2), len(dh_t)
    return da_t @ W_xh.T, da_t @ W_hh.T, x_t.T @ da_t / B, h_prev.T @ da_t / B, da_t.mean(axis=0)


@SPEC.misconception(keeps=("dx_t", "dh_prev", "db_h"))
def weights_averaged_over_the_batch(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """The same for the two weight matrices alone."""
    da_t, B = dh_t * (1 - h_t**2), len(dh_t)
    return da_t @ W_xh.T, da_t @ W_hh.T, x_t.T @ da_t / B, h_prev.T @ da_t / B, da_t.sum(axis=0)


@SPEC.misconception(keeps=OTHERS["db_h"])
def bias_averaged_over_the_batch(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """Tempting because .mean(axis=0) brings (B, H) to (H,) just as .sum(axis=0) does."""
    da_t = dh_t * (1 - h_t**2)
    return da_t @ W_xh.T, da_t @ W_hh.T, x_t.T @ da_t, h_prev.T @ da_t, da_t.mean(axis=0)


@SPEC.misconception(keeps=OTHERS["db_h"])
def bias_not_summed(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """Tempting because the bias is multiplied by nothing, so da_t is its gradient: true of each row by itself."""
    da_t = dh_t * (1 - h_t**2)
    return da_t @ W_xh.T, da_t @ W_hh.T, x_t.T @ da_t, h_prev.T @ da_t, da_t


@SPEC.misconception("bias_not_summed")
def bias_summed_over_the_units(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """Summed, but along the other axis."""
    da_t = dh_t * (1 - h_t**2)
    return da_t @ W_xh.T, da_t @ W_hh.T, x_t.T @ da_t, h_prev.T @ da_t, da_t.sum(axis=1)


@SPEC.misconception("bias_not_summed")
def bias_of_the_first_row(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """The right shape, from one row."""
    da_t = dh_t * (1 - h_t**2)
    return da_t @ W_xh.T, da_t @ W_hh.T, x_t.T @ da_t, h_prev.T @ da_t, da_t[0]


@SPEC.misconception()
def in_place(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    """Tempting because the name da_t then seems to need no array of its own; but it is dh_t itself that changes."""
    da_t = dh_t
    da_t *= 1 - h_t**2
    return da_t @ W_xh.T, da_t @ W_hh.T, x_t.T @ da_t, h_prev.T @ da_t, da_t.sum(axis=0)


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
