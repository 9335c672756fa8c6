"""How `rnn_step` is checked: against `torch.nn.RNNCell`."""

import numpy as np
import torch

from grader.spec.spec import Case, Output, Spec, change, instead


def oracle(x_t, h_prev, W_xh, W_hh, b_h):
    """One step of PyTorch's cell, whose weights are (out, in) and whose second bias is set to 0."""
    cell = torch.nn.RNNCell(*W_xh.shape, dtype=torch.float64)
    with torch.no_grad():
        cell.weight_ih.copy_(torch.from_numpy(W_xh.T))
        cell.weight_hh.copy_(torch.from_numpy(W_hh.T))
        cell.bias_ih.copy_(torch.from_numpy(b_h))
        cell.bias_hh.zero_()
        return cell(torch.from_numpy(x_t), torch.from_numpy(h_prev)).numpy()


EXAMPLE = Case(
    sizes={"B": 1, "D": 2, "H": 2},
    inputs={
        "x_t": np.array([[1.00, -0.50]]),
        "h_prev": np.array([[0.20, 0.40]]),
        "W_xh": np.array([[0.50, -0.30], [0.20, 0.80]]),
        "W_hh": np.array([[0.10, 0.70], [-0.60, 0.30]]),
        "b_h": np.array([0.05, -0.15]),
    },
)


def case(rng, B, D, H):
    return Case(
        sizes={"B": B, "D": D, "H": H},
        inputs={
            "x_t": rng.normal(size=(B, D)),
            "h_prev": rng.uniform(-0.9, 0.9, size=(B, H)),
            "W_xh": rng.normal(size=(D, H)) / np.sqrt(D),
            "W_hh": rng.normal(size=(H, H)) / np.sqrt(H),
            "b_h": rng.normal(size=H),
        },
    )


def cases(rng):
    yield case(rng, B=2, D=3, H=4)
    yield case(rng, B=5, D=3, H=3)
    yield case(rng, B=4, D=4, H=4)
    yield case(rng, B=1, D=3, H=2)
    yield case(rng, B=3, D=1, H=5)
    yield case(rng, B=3, D=2, H=1)


SPEC = Spec(
    outputs=[Output("h_t", ("B", "H"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
)
SUM = "x_t @ W_xh + h_prev @ W_hh + b_h"


def one_unit_after_another(x_t, h_prev, W_xh, W_hh, b_h):
    h_t = np.array(h_prev)
    for unit in range(len(b_h)):
        h_t[:, unit] = np.tanh(x_t @ W_xh[:, unit] + h_t @ W_hh[:, unit] + b_h[unit])
    return h_t


SPEC.mistakes(
    {
        **instead(
            "h_prev @ W_hh",
            {
                "W_hh_transposed": "h_prev @ W_hh.T",
                "W_hh_left_out": "h_prev",
                "tanh_of_h_prev": "np.tanh(h_prev) @ W_hh",
            },
        ),
        "weights_from_the_left": [
            change("h_prev @ W_hh", "W_hh @ h_prev"),
            change("x_t @ W_xh + h_prev @ W_hh", "W_xh @ x_t + W_hh @ h_prev"),
            change("x_t @ W_xh + h_prev @ W_hh", "W_xh.T @ x_t + W_hh.T @ h_prev"),
        ],
        "no_bias": change(" + b_h", ""),
        "bias_after_the_tanh": change(" + b_h)", ") + b_h"),
        **instead(
            f"np.tanh({SUM})",
            {
                "no_tanh": SUM,
                "sigmoid_for_tanh": f"1 / (1 + np.exp(-({SUM})))",
                "relu_for_tanh": f"np.maximum(0, {SUM})",
                "added_to_h_prev": f"h_prev + np.tanh({SUM})",
                "pre_activation_halved": f"np.tanh(({SUM}) / 2)",
            },
        ),
        "tanh_of_each_product": [
            change(" + h_prev @ W_hh + b_h)", ") + np.tanh(h_prev @ W_hh) + b_h"),
            change(" + h_prev @ W_hh + b_h)", " + b_h) + np.tanh(h_prev @ W_hh)"),
            change(" + h_prev", ") + np.tanh(h_prev"),
        ],
        "h_prev_left_out": change(" + h_prev @ W_hh", ""),
        "tan_for_tanh": [*(change("np.tanh", name) for name in ("np.tan", "np.arctan", "np.arctanh"))],
        **instead(
            "x_t @ W_xh + h_prev @ W_hh",
            {
                "both_weights_transposed": "x_t @ W_xh.T + h_prev @ W_hh.T",
                "weights_swapped": "x_t @ W_hh + h_prev @ W_xh",
            },
        ),
        "joined_in_different_orders": [
            change("x_t @ W_xh + h_prev @ W_hh", f"np.hstack([{row}]) @ np.vstack([{rows}])")
            for row, rows in (("h_prev, x_t", "W_xh, W_hh"), ("x_t, h_prev", "W_hh, W_xh"))
        ],
        "tanh_of_the_input_only": [
            change(f"np.tanh({SUM})", "np.tanh(x_t @ W_xh + b_h) + h_prev @ W_hh"),
            change(f"np.tanh({SUM})", "np.tanh(x_t @ W_xh) + h_prev @ W_hh + b_h"),
        ],
        "tanh_of_the_state_only": [
            change(f"np.tanh({SUM})", "x_t @ W_xh + np.tanh(h_prev @ W_hh + b_h)"),
            change(f"np.tanh({SUM})", "x_t @ W_xh + np.tanh(h_prev @ W_hh) + b_h"),
        ],
        "star_for_at": [
            change("h_prev @ W_hh", "h_prev * W_hh"),
            change("x_t @ W_xh + h_prev @ W_hh", "x_t * W_xh + h_prev * W_hh"),
            change("x_t @ W_xh", "x_t * W_xh"),
        ],
        "bias_as_column": change("+ b_h", "+ b_h.reshape(-1, 1)"),
        "bias_in_inner_loop": [
            *(change("+ b_h", f"+ {times} * b_h") for times in ("x_t.shape[1]", "len(W_hh)", "(len(W_xh) + len(W_hh))"))
        ],
        "units_updated_in_place": one_unit_after_another,
    }
)


@SPEC.alternative
def one_matrix(x_t, h_prev, W_xh, W_hh, b_h):
    """A single product with the joined weights."""
    return np.tanh(np.concatenate([x_t, h_prev], axis=1) @ np.concatenate([W_xh, W_hh], axis=0) + b_h)


@SPEC.alternative
def with_einsum(x_t, h_prev, W_xh, W_hh, b_h):
    """With np.einsum, and the tanh computed from the exponential."""
    a = np.einsum("bd,dh->bh", x_t, W_xh) + np.einsum("bi,ij->bj", h_prev, W_hh) + b_h[None, :]
    return 1 - 2 / (np.exp(2 * a) + 1)


@SPEC.alternative
def unit_by_unit(x_t, h_prev, W_xh, W_hh, b_h):
    """Plain loops over rows and units."""
    h_t = np.zeros(h_prev.shape)
    for row in range(len(x_t)):
        for unit in range(len(b_h)):
            a = sum(x_t[row, d] * W_xh[d, unit] for d in range(W_xh.shape[0]))
            a += sum(h_prev[row, i] * W_hh[i, unit] for i in range(W_hh.shape[0]))
            h_t[row, unit] = np.tanh(a + b_h[unit])
    return h_t
