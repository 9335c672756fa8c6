"""Programs that the spec of `gru_step` does not contain; beside each wrong one is what it is told."""

import numpy as np
import torch

from grader.spec.trials import Trials

TRIALS = Trials()


def read(order, *names):
    listed = " and ".join(", ".join(names).rsplit(", ", 1))
    return f"altered input: read {', '.join(order)}, {listed}, r, z, n"


SIDES = "x_r, x_z, x_n = ", "h_r, h_z, h_n = "


MIX, N = "(1 - z) * n + z * h_prev", "np.tanh(x_n + r * h_n)"


W_X, W_H = "np.split(x_t @ W_x + b_x, 3, axis=1)", "np.split(h_prev @ W_h + b_h, 3, axis=1)"


ALL = "W_x", "W_h", "b_x", "b_h"


TURNS = "altered input: alternating W_x, W_h, b_x and b_h"


WRONG = {
    "z before r": ([(SIDES[0], "x_z, x_r, x_n = "), (SIDES[1], "h_z, h_r, h_n = ")], read("zrn", *ALL)),
    "n first": ([(SIDES[0], "x_n, x_r, x_z = "), (SIDES[1], "h_n, h_r, h_z = ")], read("nrz", *ALL)),
    "one side in another order": ([(SIDES[1], "h_z, h_r, h_n = ")], read("zrn", "W_h", "b_h")),
    "the columns take turns": (
        [
            (W_X, "(x_t @ W_x + b_x).reshape(len(x_t), -1, 3).transpose(2, 0, 1)"),
            (W_H, "(h_prev @ W_h + b_h).reshape(len(x_t), -1, 3).transpose(2, 0, 1)"),
        ],
        TURNS,
    ),
    "b_x twice": ([("W_h + b_h", "W_h + b_x")], "altered input: in_place_of b_x, b_h"),
    "b_h left out": ([("W_h + b_h", "W_h")], "altered input: zeros b_h"),
    "b_x left out": ([("W_x + b_x", "W_x")], "altered input: zeros b_x"),
    "difference of the gates": ([("x_z + h_z", "x_z + h_z - x_r - h_r")], None),
    "two logistic functions": ([("sigmoid(x_r + h_r)", "sigmoid(x_r) + sigmoid(h_r)")], None),
    "relu": ([(N, "np.maximum(0, x_n + r * h_n)")], None),
    "1 - r": ([("r * h_n", "(1 - r) * h_n")], "altered input: opposite r, W_x, W_h, b_x and b_h"),
    "z swapped and r swapped": ([(MIX, "z * n + (1 - z) * h_prev"), ("r * h_n", "z * h_n")], None),
    "mean with r and z": ([(MIX, "r * n + z * h_prev")], None),
    "a residual": ([(MIX, f"h_prev + {MIX}")], None),
    "the state reset in the mean": ([("z * h_prev", "z * r * h_prev")], None),
    "negated": ([(MIX, f"-({MIX})")], "sign"),
    "float32": ([(MIX, f"({MIX}).astype('f4')")], "float32"),
    "both": ([(MIX, f"({MIX}), n")], "after: [0] missing"),
    "in place": ([("r = sigmoid", "h_prev *= 1.5\nr = sigmoid")], None),
}


def pytorch_cell(x_t, h_prev, W_x, W_h, b_x, b_h):
    cell = torch.nn.GRUCell(len(W_x), len(W_h), dtype=torch.float64)
    cell.load_state_dict(
        {
            "weight_ih": torch.tensor(W_x.T),
            "weight_hh": torch.tensor(W_h.T),
            "bias_ih": torch.tensor(b_x),
            "bias_hh": torch.tensor(b_h),
        }
    )
    return cell(torch.tensor(x_t), torch.tensor(h_prev)).detach().numpy()


def gates_in_a_dict(x_t, h_prev, W_x, W_h, b_x, b_h):
    H, a = W_h.shape[0], {}
    for i, gate in enumerate("rzn"):
        block = slice(i * H, (i + 1) * H)
        a[gate] = x_t.dot(W_x[:, block]) + b_x[block], h_prev.dot(W_h[:, block]) + b_h[block]
    r, z = (1 / (1 + np.exp(-sum(a[gate]))) for gate in "rz")
    n = np.tanh(a["n"][0] + r * a["n"][1])
    return n * (1 - z) + h_prev * z


def keeps_and_adds(x_t, h_prev, W_x, W_h, b_x, b_h):
    h_t = np.array(h_prev)
    new = gates_in_a_dict(x_t, h_prev, W_x, W_h, b_x, b_h)
    h_t += new - h_prev
    return h_t


TRIALS.all_wrong(WRONG)
TRIALS.all_right([pytorch_cell, gates_in_a_dict, keeps_and_adds])
