"""How `gru_step` is checked: against `torch.nn.GRUCell`."""

import numpy as np
import torch

from grader.spec.spec import Case, Gates, Output, Spec, change, instead


def oracle(x_t, h_prev, W_x, W_h, b_x, b_h):
    """One step of PyTorch's cell, whose weights are (3H, in), with the blocks in the order r, z, n."""
    cell = torch.nn.GRUCell(len(W_x), len(W_h), dtype=torch.float64)
    with torch.no_grad():
        cell.weight_ih.copy_(torch.from_numpy(W_x.T))
        cell.weight_hh.copy_(torch.from_numpy(W_h.T))
        cell.bias_ih.copy_(torch.from_numpy(b_x))
        cell.bias_hh.copy_(torch.from_numpy(b_h))
        return cell(torch.from_numpy(x_t), torch.from_numpy(h_prev)).numpy()


EXAMPLE = Case(
    sizes={"B": 1, "D": 1, "H": 2},
    inputs={
        "x_t": np.array([[1.50]]),
        "h_prev": np.array([[0.40, -0.60]]),
        "W_x": np.array([[0.60, -0.40, 0.80, -0.20, 0.50, -1.00]]),
        "W_h": np.array([[0.50, -0.30, 0.20, 0.70, 0.90, -0.50], [-0.80, 0.40, -0.60, 0.10, 0.30, 1.10]]),
        "b_x": np.array([0.10, -0.20, 0.35, 0.20, -0.40, 0.10]),
        "b_h": np.array([-0.30, 0.25, 0.15, -0.35, 0.25, 0.45]),
    },
)


def case(rng, B, D, H):
    return Case(
        sizes={"B": B, "D": D, "H": H},
        inputs={
            "x_t": rng.normal(size=(B, D)),
            "h_prev": rng.uniform(-0.9, 0.9, size=(B, H)),
            "W_x": rng.normal(size=(D, 3 * H)) / np.sqrt(D),
            "W_h": rng.normal(size=(H, 3 * H)) / np.sqrt(H),
            "b_x": rng.normal(size=3 * H),
            "b_h": rng.normal(size=3 * H),
        },
    )


def cases(rng):
    yield case(rng, B=2, D=3, H=4)
    yield case(rng, B=5, D=3, H=3)
    yield case(rng, B=4, D=4, H=4)
    yield case(rng, B=1, D=3, H=2)
    yield case(rng, B=3, D=1, H=5)
    yield case(rng, B=3, D=2, H=1)


GATES = [
    Gates("rzn", inputs=("W_x", "W_h", "b_x", "b_h")),
    Gates("rzn", inputs=("W_x", "b_x")),
    Gates("rzn", inputs=("W_h", "b_h")),
]
SPEC = Spec(
    outputs=[Output("h_t", ("B", "H"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    gates=GATES,
)
MIX, CANDIDATE = "(1 - z) * n + z * h_prev", "np.tanh(x_n + r * h_n)"

SPEC.mistakes(
    {
        **instead(
            MIX,
            {
                "update_gate_swapped": "z * n + (1 - z) * h_prev",
                "mixed_by_r": "(1 - r) * n + r * h_prev",
                "previous_state_left_out": "(1 - z) * n",
                "n_returned": "n",
                "tanh_at_the_end": f"np.tanh({MIX})",
            },
        ),
        "r_before_the_product": [
            change("+ r * h_n", "+ (r * h_prev) @ W_h[:, -n_H:] + b_h[-n_H:]", ("r = ", "n_H = h_prev.shape[1]\nr = ")),
            change(
                "+ r * h_n", "+ (r * h_prev) @ W_h[:, -n_H:] + r * b_h[-n_H:]", ("r = ", "n_H = h_prev.shape[1]\nr = ")
            ),
        ],
        "the_step_of_chung": [
            *(
                change(
                    MIX,
                    "z * n + (1 - z) * h_prev",
                    ("r * h_n", f"(r * h_prev) @ W_h[:, -n_H:] + {bias}"),
                    ("r = ", "n_H = h_prev.shape[1]\nr = "),
                )
                for bias in ("b_h[-n_H:]", "r * b_h[-n_H:]")
            )
        ],
        **instead(
            "r * h_n",
            {
                "b_hn_not_gated": "r * (h_n - b_h[-h_prev.shape[1] :]) + b_h[-h_prev.shape[1] :]",
                "b_hn_left_out": "r * (h_n - b_h[-h_prev.shape[1] :])",
                "r_left_out": "h_n",
                "candidate_gated_by_z": "z * h_n",
            },
        ),
        "b_xn_gated": change(
            CANDIDATE, "np.tanh(x_n - b + r * (h_n + b))", ("r = ", "b = b_x[-h_prev.shape[1] :]\nr = ")
        ),
        **instead(
            "x_n + r * h_n",
            {
                "r_times_everything": "r * (x_n + h_n)",
                "r_times_the_input": "r * x_n + h_n",
            },
        ),
        "h_prev_left_out_of_n": [change("x_n + r * h_n", "x_n"), change("r * h_n", "r * b_h[-h_prev.shape[1] :]")],
        "W_hn_left_out": [
            change("r * h_n", "r * h_prev"),
            change("r * h_n", "r * (h_prev + b_h[-h_prev.shape[1] :])"),
            change("r * h_n", "r * h_prev + b_h[-h_prev.shape[1] :]"),
        ],
        "h_prev_not_gated": [change(MIX, "z * n + h_prev"), change(MIX, "(1 - z) * n + h_prev")],
        "n_not_gated": change("(1 - z) * n", "n"),
        "both_times_z": [change(MIX, "z * n + z * h_prev"), change(MIX, "(1 - z) * n + (1 - z) * h_prev")],
        **instead(
            CANDIDATE,
            {
                "no_tanh": "x_n + r * h_n",
                "sigmoid_for_tanh": "sigmoid(x_n + r * h_n)",
                "r_outside_the_tanh": "r * np.tanh(x_n + h_n)",
            },
        ),
        "tanh_for_sigmoid": [
            change(
                "r = sigmoid(x_r + h_r)", "r = np.tanh(x_r + h_r)", ("z = sigmoid(x_z + h_z)", "z = np.tanh(x_z + h_z)")
            ),
            change("r = sigmoid", "r = np.tanh"),
            change("z = sigmoid", "z = np.tanh"),
        ],
        "no_sigmoid": [
            change("r = sigmoid(x_r + h_r)", "r = x_r + h_r", ("z = sigmoid(x_z + h_z)", "z = x_z + h_z")),
            change("r = sigmoid(x_r + h_r)", "r = x_r + h_r"),
            change("z = sigmoid(x_z + h_z)", "z = x_z + h_z"),
        ],
        "function_of_each_side": [
            change(CANDIDATE, "np.tanh(x_n) + r * np.tanh(h_n)"),
            change(
                "sigmoid(x_r + h_r)",
                "sigmoid(x_r) + sigmoid(h_r)",
                ("sigmoid(x_z + h_z)", "sigmoid(x_z) + sigmoid(h_z)"),
            ),
            change(
                "sigmoid(x_r + h_r)",
                "sigmoid(x_r) * sigmoid(h_r)",
                ("sigmoid(x_z + h_z)", "sigmoid(x_z) * sigmoid(h_z)"),
            ),
        ],
        **{
            f"{bias}_left_out_of_the_gates": [
                change("(x_r + h_r)", f"(x_r + h_r - {of_r})", ("(x_z + h_z)", f"(x_z + h_z - {of_z})")),
                change("(x_r + h_r)", f"(x_r + h_r - {of_r})"),
                change("(x_z + h_z)", f"(x_z + h_z - {of_z})"),
            ]
            for bias, of_r, of_z in (
                ("b_h", "b_h[: len(W_h)]", "b_h[len(W_h) : 2 * len(W_h)]"),
                ("b_x", "b_x[: len(W_h)]", "b_x[len(W_h) : 2 * len(W_h)]"),
            )
        },
        "b_xn_left_out": change("x_n + r * h_n", "x_n - b_x[-len(W_h) :] + r * h_n"),
        "h_prev_left_out_of_the_gates": change("x_r + h_r", "x_r", ("x_z + h_z", "x_z")),
        "blocks_of_W_h_transposed": change(
            "h_prev @ W_h", "h_prev @ np.hstack([W.T for W in np.split(W_h, 3, axis=1)])"
        ),
        "no_bias": change("x_t @ W_x + b_x", "x_t @ W_x", ("h_prev @ W_h + b_h", "h_prev @ W_h")),
    }
)


@SPEC.alternative
def block_by_block(x_t, h_prev, W_x, W_h, b_x, b_h):
    """Slices of the weights, one gate after the other."""
    H = h_prev.shape[1]
    r = 1 / (1 + np.exp(-(x_t @ W_x[:, :H] + b_x[:H] + h_prev @ W_h[:, :H] + b_h[:H])))
    z = 1 / (1 + np.exp(-(x_t @ W_x[:, H : 2 * H] + b_x[H : 2 * H] + h_prev @ W_h[:, H : 2 * H] + b_h[H : 2 * H])))
    n = np.tanh(x_t @ W_x[:, 2 * H :] + b_x[2 * H :] + r * (h_prev @ W_h[:, 2 * H :] + b_h[2 * H :]))
    return n + z * (h_prev - n)


@SPEC.alternative
def two_gates_at_once(x_t, h_prev, W_x, W_h, b_x, b_h):
    """One logistic function for both gates, and axes of their own for the blocks."""
    H = h_prev.shape[1]
    a_x = (x_t @ W_x + b_x).reshape(-1, 3, H)
    a_h = np.einsum("bi,ij->bj", h_prev, W_h).reshape(-1, 3, H) + b_h.reshape(3, H)
    r, z = np.moveaxis(0.5 + 0.5 * np.tanh((a_x + a_h)[:, :2] / 2), 1, 0)
    n = np.tanh(a_x[:, 2] + r * a_h[:, 2])
    return n - z * n + h_prev * z


@SPEC.alternative
def unit_by_unit(x_t, h_prev, W_x, W_h, b_x, b_h):
    """Plain loops over rows and units."""
    (B, H), h_t = h_prev.shape, np.zeros(h_prev.shape)
    for row in range(B):
        for unit in range(H):
            sides = [
                (x_t[row] @ W_x[:, column] + b_x[column], h_prev[row] @ W_h[:, column] + b_h[column])
                for column in (unit, H + unit, 2 * H + unit)
            ]
            r, z = (1 / (1 + np.exp(-sum(pair))) for pair in sides[:2])
            n = np.tanh(sides[2][0] + r * sides[2][1])
            h_t[row, unit] = (1 - z) * n + z * h_prev[row, unit]
    return h_t
