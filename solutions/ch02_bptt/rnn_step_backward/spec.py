"""How `rnn_step_backward` is checked: against PyTorch's autograd, one facet for each of the five gradients."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Output, Spec, change, instead, on_grid


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
)

SPEC.mistakes(
    {
        **instead(
            "h_t**2",
            {
                "tanh_taken_again": "np.tanh(h_t) ** 2",
                "slope_of_the_state_before": "h_prev**2",
                "slope_not_squared": "h_t",
            },
        ),
        "slope_left_out": change(" * (1 - h_t**2)", ""),
        "slope_from_the_pre_activation": [
            change("h_t**2", "np.arctanh(h_t) ** 2"),
            change("h_t**2", "(x_t @ W_xh + h_prev @ W_hh) ** 2"),
            change("h_t**2", "np.tanh(x_t @ W_xh + h_prev @ W_hh) ** 2"),
        ],
        **instead(
            "(1 - h_t**2)",
            {
                "slope_without_parentheses": "1 - h_t**2",
                "slope_of_the_logistic": "h_t * (1 - h_t)",
                "slope_times_the_state": "h_t * (1 - h_t**2)",
                "slope_bracket_squared": "(1 - h_t) ** 2",
                "slope_is_the_square_alone": "h_t**2",
            },
        ),
        "square_added": change("1 - h_t**2", "1 + h_t**2"),
        "dh_t_left_out": change("dh_t * ", ""),
        "W_xh_not_transposed": change("W_xh.T", "W_xh"),
        "no_weight_transposed": change("W_xh.T", "W_xh", ("W_hh.T", "W_hh")),
        "column_convention": [
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
        ],
        "in_place": change("da_t = dh_t * (1 - h_t**2)", "da_t = dh_t\nda_t *= 1 - h_t**2"),
    }
)
SPEC.mistakes(
    {
        "W_hh_not_transposed": change("W_hh.T", "W_hh"),
        "W_hh_left_out": change("da_t @ W_hh.T", "da_t"),
        "slope_of_h_prev_too": change("da_t @ W_hh.T", "da_t @ W_hh.T * (1 - h_prev**2)"),
    },
    keeps=("dx_t", "dW_xh", "dW_hh", "db_h"),
)
SPEC.mistakes(
    {
        "W_hh_as_in_papers": change("da_t @ W_hh.T", "(W_hh.T @ da_t.T).T", ("h_prev.T @ da_t", "da_t.T @ h_prev")),
    },
    keeps=("dx_t", "dW_xh", "db_h"),
)
SPEC.mistakes(
    {
        "dW_hh_from_h_t": change("h_prev.T", "h_t.T"),
        "dW_hh_transposed": change("h_prev.T @ da_t", "da_t.T @ h_prev"),
    },
    keeps=("dx_t", "dh_prev", "dW_xh", "db_h"),
)
SPEC.mistakes(
    {
        **instead(
            "dW_xh, dW_hh, db_h",
            {
                "weight_gradients_transposed": "dW_xh.T, dW_hh.T, db_h",
                "weights_averaged_over_the_batch": "dW_xh / len(x_t), dW_hh / len(x_t), db_h",
            },
        ),
        "summed_over_the_batch_before_the_product": change(
            "x_t.T @ da_t",
            "np.outer(x_t.sum(axis=0), da_t.sum(axis=0))",
            ("h_prev.T @ da_t", "np.outer(h_prev.sum(axis=0), da_t.sum(axis=0))"),
        ),
    },
    keeps=("dx_t", "dh_prev", "db_h"),
)
SPEC.mistakes(
    {
        "averaged_over_the_batch": change("dW_xh, dW_hh, db_h", "dW_xh / len(x_t), dW_hh / len(x_t), db_h / len(x_t)"),
    },
    keeps=("dx_t", "dh_prev"),
)
SPEC.mistakes(
    {
        "bias_averaged_over_the_batch": change("da_t.sum(axis=0)", "da_t.mean(axis=0)"),
        "bias_not_summed": [
            *(change("da_t.sum(axis=0)", becomes) for becomes in ("da_t", "da_t.sum(axis=1)", "da_t[0]"))
        ],
    },
    keeps=("dx_t", "dh_prev", "dW_xh", "dW_hh"),
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
