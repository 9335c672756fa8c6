"""Work on the GRU's five exercises that no spec names.

What is nearly right must fail and get no wrong name: beside each stands the diagnosis that is true of it, or None.
What is right in another way must pass.
"""

import numpy as np
import torch

from grader.author.changes import change, define, plain_code
from solutions.ch04_gated import gru, gru_backward
from tests.loops import for_each
from tests.nearly_right import fails, passes

MODULES = {"gru_step_backward": gru_backward}
sigmoid = gru.sigmoid


def changed(exercise_id, *pairs):
    """The reference solution with these texts replaced."""
    module = MODULES.get(exercise_id, gru)
    with open(module.__file__, encoding="utf-8") as file:
        code = plain_code(file.read(), exercise_id)
    first, *more = pairs
    return define(exercise_id, change(*first, *more).apply(code), module, "nearly right")


def read(order, *names):
    listed = " and ".join(", ".join(names).rsplit(", ", 1))
    return f"counterfactual: read {', '.join(order)}, {listed}, r, z, n"


SIDES = "x_r, x_z, x_n = ", "h_r, h_z, h_n = "
MIX, N = "(1 - z) * n + z * h_prev", "np.tanh(x_n + r * h_n)"
W_X, W_H = "np.split(x_t @ W_x + b_x, 3, axis=1)", "np.split(h_prev @ W_h + b_h, 3, axis=1)"
ALL = "W_x", "W_h", "b_x", "b_h"
TURNS = "counterfactual: alternating W_x, W_h, b_x and b_h"

WRONG_STEPS = {
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
    "b_x twice": ([("W_h + b_h", "W_h + b_x")], "counterfactual: in_place_of b_x, b_h"),
    "b_h left out": ([("W_h + b_h", "W_h")], "counterfactual: zeros b_h"),
    "b_x left out": ([("W_x + b_x", "W_x")], "counterfactual: zeros b_x"),
    "both biases on the input's side": ([("W_h + b_h", "W_h"), ("W_x + b_x", "W_x + b_x + b_h")], "b_hn_not_gated"),
    "both biases on the state's side": ([("W_h + b_h", "W_h + b_h + b_x"), ("W_x + b_x", "W_x")], "b_xn_gated"),
    "difference of the gates": ([("x_z + h_z", "x_z + h_z - x_r - h_r")], None),
    "two logistic functions": ([("sigmoid(x_r + h_r)", "sigmoid(x_r) + sigmoid(h_r)")], None),
    "two tanhs": ([(N, "np.tanh(x_n) + r * np.tanh(h_n)")], "function_of_each_side"),
    "r outside the tanh": ([(N, "r * np.tanh(x_n + h_n)")], "r_outside_the_tanh"),
    "relu": ([(N, "np.maximum(0, x_n + r * h_n)")], None),
    "1 - r": ([("r * h_n", "(1 - r) * h_n")], "counterfactual: opposite r, W_x, W_h, b_x and b_h"),
    "z swapped and r swapped": ([(MIX, "z * n + (1 - z) * h_prev"), ("r * h_n", "z * h_n")], None),
    "swapped by names": ([(MIX, "z * h_prev + z * n")], "both_times_z"),
    "mean with r and z": ([(MIX, "r * n + z * h_prev")], None),
    "a residual": ([(MIX, f"h_prev + {MIX}")], None),
    "the state reset in the mean": ([("z * h_prev", "z * r * h_prev")], None),
    "negated": ([(MIX, f"-({MIX})")], "sign"),
    "float32": ([(MIX, f"({MIX}).astype('f4')")], "float32"),
    "both": ([(MIX, f"({MIX}), n")], "after: [0] missing"),
    "in place": ([("r = sigmoid", "h_prev *= 1.5\nr = sigmoid")], None),
    "sigma of minus": ([("z = sigmoid(x_z", "z = sigmoid(-x_z"), ("x_z + h_z", "x_z - h_z")], "update_gate_swapped"),
    "no state in the gates": ([("x_r + h_r", "x_r"), ("x_z + h_z", "x_z")], "h_prev_left_out_of_the_gates"),
    "Chung's step": (
        [
            (MIX, "z * n + (1 - z) * h_prev"),
            ("r * h_n", "(r * h_prev) @ W_h[:, 2 * h_prev.shape[1] :] + b_h[2 * h_prev.shape[1] :]"),
        ],
        "the_step_of_chung",
    ),
    "W_h.T block by block": (
        [("h_prev @ W_h + b_h", "h_prev @ np.hstack([W.T for W in np.split(W_h, 3, axis=1)]) + b_h")],
        "blocks_of_W_h_transposed",
    ),
}

CHO = "np.tanh(x_n + (r * h_prev) @ W_hn + b_hn)"
WRONG_CHO = {
    "z before r": ([(SIDES[0], "x_z, x_r, x_n = "), ("h_r, h_z, _ = ", "h_z, h_r, _ = ")], read("zrn", *ALL)),
    "b_h left out": ([("W_h + b_h", "W_h"), (" + b_hn)", ")")], "counterfactual: zeros b_h"),
    "b_x left out": ([("W_x + b_x", "W_x")], "counterfactual: zeros b_x"),
    "a block of W_h": (
        [("W_h[:, 2 * H :], b_h[2 * H :]", "W_h[:, H : 2 * H], b_h[H : 2 * H]")],
        "counterfactual: same_block n, z, W_h and b_h",
    ),
    "the first block of W_h": ([("W_h[:, 2 * H :]", "W_h[:, :H]")], None),
    "the gate on the columns": ([("(r * h_prev) @ W_hn", "h_prev @ (W_hn * r[0])")], None),
    "W_hn.T": ([("@ W_hn", "@ W_hn.T")], "blocks_of_W_h_transposed"),
    "1 - r": ([("r * h_prev", "(1 - r) * h_prev")], "counterfactual: opposite r, W_x, W_h, b_x and b_h"),
    "all of the state reset": (
        [
            ("z = sigmoid", "h_prev = r * h_prev\nz = sigmoid"),
            ("(r * h_prev)", "h_prev"),
        ],
        "reset_state_kept",
    ),
    "r twice": ([(CHO, "np.tanh(x_n + r * ((r * h_prev) @ W_hn + b_hn))")], None),
    "two tanhs": ([(CHO, "np.tanh(x_n) + np.tanh((r * h_prev) @ W_hn + b_hn)")], None),
    "b_hn outside": ([(CHO, "np.tanh(x_n + (r * h_prev) @ W_hn) + b_hn")], None),
    "b_x for b_h": ([("b_h[2", "b_x[2")], None),
    "PyTorch's with z swapped": (
        [("(r * h_prev) @ W_hn + b_hn", "r * (h_prev @ W_hn + b_hn)"), (MIX, "z * n + (1 - z) * h_prev")],
        None,
    ),
    "negated": ([(MIX, f"-({MIX})")], "sign"),
    "float32": ([(MIX, f"({MIX}).astype('f4')")], "float32"),
}

STEP = "gru_step(x[:, t], h_t, W_x, W_h, b_x, b_h)"
WRONG_WALKS = {
    "backward in time": ([("range(x.shape[1])", "range(x.shape[1])[::-1]")], "loops_backward"),
    "inputs reversed": ([("x[:, t]", "x[:, -1 - t]")], "loops_backward"),
    "the first input at every step": ([("x[:, t]", "x[:, 0]")], "counterfactual: first_step x"),
    "the previous states": (
        [("h.append(h_t)", "pass"), ("h_t = gru_step", "h.append(h_t)\nh_t = gru_step")],
        "h_0_comes_first",
    ),
    "biases exchanged": ([(STEP, STEP.replace("b_x, b_h", "b_h, b_x"))], "counterfactual: exchanged b_x, b_h"),
    "summed": ([("h.append(h_t)", "h.append(h_t + sum(h))")], "first_step_only"),
    "mean over time": ([("np.stack(h, axis=1)", "np.mean(h, axis=0)")], "after: mean over T"),
    "units before time": ([("axis=1", "axis=2")], "after: axes T and H exchanged"),
    "dict": ([("np.stack(h, axis=1)", "dict(enumerate(h))")], None),
    "float32": ([("np.stack(h, axis=1)", "np.stack(h, axis=1).astype('f4')")], "float32"),
    "a residual": ([(STEP, f"h_t + {STEP}")], None),
    "every second input": ([("x[:, t]", "x[:, t // 2]")], "first_step_only"),
    "the state halved": ([("h.append(h_t)", "h.append(h_t)\nh_t = h_t / 2")], "first_step_only"),
}

SUM, ADDED = "size * hidden_size + hidden_size**2 + 2 * hidden_size", "total += directions * blocks"
WRONG_COUNTS = {
    "D + H, squared": ([(SUM, "(size + hidden_size) ** 2 + 2 * hidden_size")], None),
    "4H squared": ([("hidden_size**2", "blocks * hidden_size**2")], "recurrent_weights_times_blocks_twice"),
    "D squared": ([(SUM, "size * hidden_size + size**2 + 2 * hidden_size")], None),
    "no input weights": ([("size * hidden_size + hidden", "hidden")], None),
    "no recurrent weights": ([(" + hidden_size**2", "")], "no_recurrent_weights"),
    "an output layer": ([("return total", "return total + hidden_size")], None),
    "layers times all": (
        [("range(num_layers)", "range(1)"), ("return total", "return num_layers * total")],
        "upper_layers_read_the_input",
    ),
    "directions times all": (
        [
            (ADDED, "total += blocks"),
            ("size = directions * ", "size = "),
            ("return total", "return directions * total"),
        ],
        "upper_layers_read_one_direction",
    ),
    "one bias a direction": ([("2 * hidden_size)", "hidden_size)")], "one_bias"),
    "first layer in one direction": (
        [(ADDED, "total += (1 if size == input_size else directions) * blocks")],
        "first_layer_not_doubled",
    ),
    "upper layers in one direction": (
        [("size = directions * hidden_size", "size, directions = directions * hidden_size, 1")],
        None,
    ),
    "two biases in block n alone": (
        [("blocks * (" + SUM + ")", "(blocks * (" + SUM + ") - (blocks - 1) * hidden_size)")],
        None,
    ),
    "all of an upper layer doubled": (
        [("size = directions * hidden_size", "size = hidden_size = directions * hidden_size")],
        None,
    ),
    "three biases": ([("2 * hidden", "3 * hidden")], None),
    "biases of the input": ([("+ 2 * hidden_size", "+ hidden_size + size")], "biases_of_the_input_size"),
    "upper layers have no input": ([("size = directions * hidden_size", "size = 0")], None),
    "size doubles again and again": ([("size = directions * hidden_size", "size = directions * size")], None),
    "all as LSTM": ([('{"rnn": 1, "gru": 3, "lstm": 4}[kind]', "4")], None),
    "upper layers once": ([("range(num_layers)", "range(min(num_layers, 2))")], None),
    "a list": ([("return total", "return [total]")], "after: [0] missing"),
    "kind ignored, one bias": ([("2 * hidden_size)", "hidden_size)"), ("directions * blocks", "directions")], None),
}

WRONG_BACKWARD = {
    "z before r": (
        [(SIDES[0], "x_z, x_r, x_n = "), (SIDES[1], "h_z, h_r, h_n = ")],
        f"{read('zrn', *ALL)} For dW_x, dW_h, db_x and db_h",
    ),
    "z before r, there and back": (
        [
            (SIDES[0], "x_z, x_r, x_n = "),
            (SIDES[1], "h_z, h_r, h_n = "),
            ("[da_r, da_z, da_n]", "[da_z, da_r, da_n]"),
            ("[da_r, da_z, da_n * r]", "[da_z, da_r, da_n * r]"),
        ],
        "counterfactual: read_and_written z, r, n, W_x, W_h, b_x, b_h, dW_x, dW_h, db_x and db_h, r, z, n",
    ),
    "concatenated n, r, z": (
        [("[da_r, da_z, da_n]", "[da_n, da_r, da_z]"), ("[da_r, da_z, da_n * r]", "[da_n * r, da_r, da_z]")],
        "counterfactual: written n, r, z, da, r, z, n",
    ),
    "da_h concatenated z, r, n": (
        [("[da_r, da_z, da_n * r]", "[da_z, da_r, da_n * r]")],
        "counterfactual: written z, r, n, da_h, r, z, n",
    ),
    "one bias gradient for both": (
        [("return dx_t, dh_prev, dW_x, dW_h, db_x, db_h", "return dx_t, dh_prev, dW_x, dW_h, db_x, db_x")],
        "da_n_not_gated For db_h",
    ),
    "the other for both": (
        [("return dx_t, dh_prev, dW_x, dW_h, db_x, db_h", "return dx_t, dh_prev, dW_x, dW_h, db_h, db_h")],
        "r_gates_the_input_too For db_x",
    ),
    "da_x for dW_h": ([("h_prev.T @ da_h", "h_prev.T @ da_x")], "da_n_not_gated For dW_h"),
    "da_h for dW_x": ([("x_t.T @ da_x", "x_t.T @ da_h")], "r_gates_the_input_too For dW_x"),
    "da_h for dx_t": ([("da_x @ W_x.T", "da_h @ W_x.T")], "r_gates_the_input_too For dx_t"),
    "da_x for dh_prev": ([("da_h @ W_h.T", "da_x @ W_h.T")], "da_n_not_gated For dh_prev"),
    "no direct path, dz's sign": (
        [("dh_t * z + ", ""), ("(h_prev - n)", "(n - h_prev)")],
        "dz_sign For dx_t, dW_x, dW_h, db_x and db_h",
    ),
    "dz's sign, not gated in dW_h": (
        [("(h_prev - n)", "(n - h_prev)"), ("h_prev.T @ da_h", "h_prev.T @ da_x")],
        "dz_sign For dx_t, dh_prev, dW_x, db_x and db_h",
    ),
    "Chung's gate but for the direct path": (
        [("dn = dh_t * (1 - z)", "dn = dh_t * z"), ("(h_prev - n)", "(n - h_prev)")],
        "update_gate_swapped For dx_t, dW_x, dW_h, db_x and db_h",
    ),
    "h_prev times da_n for the reset gate, not transposed": (
        [("da_n * h_n", "(da_n @ W_h[:, -r.shape[1] :]) * h_prev")],
        None,
    ),
    "W_hn left out of the path through n": (
        [("da_h @ W_h.T", "da_r @ W_h[:, : r.shape[1]].T + da_z @ W_h[:, r.shape[1] : -r.shape[1]].T + da_n * r")],
        None,
    ),
    "r forgotten in the forward step": ([("x_n + r * h_n", "x_n + h_n")], None),
    "everything through the tanh": ([("dz = dh_t * (h_prev - n)", "dz = dh_t * (h_prev - n) * (1 - n**2)")], None),
    "two paths left out": ([("da_h @ W_h.T", "da_h[:, : r.shape[1]] @ W_h[:, : r.shape[1]].T")], None),
    "direct path through W_h": ([("dh_t * z + da_h @ W_h.T", "(da_h + np.hstack([dh_t * z] * 3)) @ W_h.T")], None),
    "dh_t counted twice": ([("dh_t * z + ", "dh_t * z + dh_t * z + ")], None),
    "subtracted": ([("dh_t * z + ", "dh_t * z - ")], None),
    "dh_prev also times r": ([("dh_t * z + ", "dh_t * z * r + ")], None),
    "dz from h_t": ([("(h_prev - n)", "(h_prev - ((1 - z) * n + z * h_prev))")], None),
    "da_n of both functions": ([("(1 - n**2)", "(1 - n**2) * n")], None),
    "r twice": ([("da_n * r]", "da_n * r * r]")], None),
    "z for r on the state's side": ([("da_n * r]", "da_n * z]")], None),
    "1 - r on the state's side": ([("da_n * r]", "da_n * (1 - r)]")], None),
    "dr from x_n": ([("da_n * h_n", "da_n * x_n")], None),
    "dr from the whole pre-activation": ([("da_n * h_n", "da_n * (x_n + r * h_n)")], None),
    "dr through W_hn": (
        [("da_n * h_n", "da_n @ W_h[:, -r.shape[1] :].T * h_prev")],
        "r_before_the_product For dx_t, dW_x and db_x",
    ),
    "b_h forgotten in the forward pass": ([("W_h + b_h", "W_h")], "counterfactual: zeros b_h"),
    "weights by dh_t": ([("h_prev.T @ da_h", "h_prev.T @ np.hstack([dh_t] * 3)")], None),
    "the mean of the bias": ([("da_x.sum(axis=0)", "da_x.mean(axis=0)")], "averaged_over_the_batch For db_x"),
    "two results exchanged": ([("dW_h, db_x, db_h\n", "dW_h, db_h, db_x\n")], "order"),
    "dW_x transposed": ([("return dx_t, dh_prev, dW_x,", "return dx_t, dh_prev, dW_x.T,")], "transposed For dW_x"),
    "float32": ([("return dx_t,", "return dx_t.astype('f4'),")], "float32 For dx_t"),
    "negated": ([("dn = dh_t *", "dh_t = -dh_t\ndn = dh_t *")], "sign"),
    "dh_t ignored": ([("dn = dh_t *", "dh_t = np.ones_like(dh_t)\ndn = dh_t *")], "counterfactual: ones dh_t"),
    "in place": ([("dn = dh_t * (1 - z)", "dn = dh_t\ndn *= 1 - z")], None),
}

WRONG = [
    (exercise_id, name, changed(exercise_id, *pairs), allowed)
    for exercise_id, works in (
        ("gru_step", WRONG_STEPS),
        ("gru_step_cho", WRONG_CHO),
        ("gru_forward", WRONG_WALKS),
        ("count_parameters", WRONG_COUNTS),
        ("gru_step_backward", WRONG_BACKWARD),
    )
    for name, (pairs, allowed) in works.items()
]


@for_each(("exercise_id", "name", "function", "allowed"), WRONG)
def test_a_nearly_right_one(exercise_id, name, function, allowed):
    fails(exercise_id, function, allowed)


# Right, in other ways ------------------------------------------------------------------------------------------------


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


def masked_columns(x_t, h_prev, W_x, W_h, b_x, b_h):
    """Cho's step with the gate as a diagonal matrix for each row."""
    H, rows = W_h.shape[0], []
    for x, h in zip(x_t, h_prev, strict=True):
        a = x @ W_x + b_x + b_h
        r, z = np.split(1 / (1 + np.exp(-(a + h @ W_h)[: 2 * H])), 2)
        n = np.tanh(a[2 * H :] + h @ np.diag(r) @ W_h[:, 2 * H :])
        rows.append((1 - z) * n + z * h)
    return np.array(rows)


def filled(x, h_0, W_x, W_h, b_x, b_h):
    h = np.zeros((len(x), x.shape[1] + 1, h_0.shape[1]))
    h[:, 0] = h_0
    for t in range(x.shape[1]):
        h[:, t + 1] = gates_in_a_dict(x[:, t], h[:, t], W_x, W_h, b_x, b_h)
    return h[:, 1:]


def row_by_row(x, h_0, W_x, W_h, b_x, b_h):
    rows = []
    for b in range(len(x)):
        h_t, states = h_0[b : b + 1], []
        for x_t in x[b]:
            h_t = gates_in_a_dict(x_t[None], h_t, W_x, W_h, b_x, b_h)
            states.append(h_t[0])
        rows.append(states)
    return np.array(rows)


def by_branches(kind, input_size, hidden_size, num_layers=1, bidirectional=False):
    if kind == "rnn":
        k = 1
    elif kind == "lstm":
        k = 4
    else:
        k = 3
    H = hidden_size
    first = k * H * input_size + k * H * H + 2 * k * H
    if bidirectional:
        return 2 * first + (num_layers - 1) * 2 * (k * H * 2 * H + k * H * H + 2 * k * H)
    return first + (num_layers - 1) * (k * H * H + k * H * H + 2 * k * H)


def as_numpy_sum(kind, input_size, hidden_size, num_layers=1, bidirectional=False):
    directions = 1 + int(bidirectional)
    inputs = np.array([input_size] + [directions * hidden_size] * (num_layers - 1))
    return np.sum((inputs + hidden_size + 2) * hidden_size * directions) * {"rnn": 1, "gru": 3, "lstm": 4}[kind]


def autograd(dh_t, x_t, h_prev, W_x, W_h, b_x, b_h):
    leaves = x, h, W, U, b, c = [torch.tensor(a, requires_grad=True) for a in (x_t, h_prev, W_x, W_h, b_x, b_h)]
    (x_r, x_z, x_n), (h_r, h_z, h_n) = (x @ W + b).chunk(3, dim=1), (h @ U + c).chunk(3, dim=1)
    z = torch.sigmoid(x_z + h_z)
    h_t = (1 - z) * torch.tanh(x_n + torch.sigmoid(x_r + h_r) * h_n) + z * h
    return [g.numpy() for g in torch.autograd.grad(h_t, leaves, torch.tensor(dh_t))]


def by_blocks_of_an_array(dh_t, x_t, h_prev, W_x, W_h, b_x, b_h):
    """Blocks as an axis of their own, and dz from the difference of state and candidate with the sign outside."""
    (B, H), D = h_prev.shape, x_t.shape[1]
    a_x, a_h = (x_t @ W_x + b_x).reshape(B, 3, H), (h_prev @ W_h + b_h).reshape(B, 3, H)
    r, z = (1 / (1 + np.exp(-(a_x + a_h)[:, i])) for i in (0, 1))
    n = np.tanh(a_x[:, 2] + r * a_h[:, 2])
    d_x, d_h = np.empty((B, 3, H)), np.empty((B, 3, H))
    d_x[:, 2] = (dh_t - dh_t * z) * (1 - n * n)
    d_x[:, 1] = -(dh_t * (n - h_prev)) * z * (1 - z)
    d_x[:, 0] = d_x[:, 2] * a_h[:, 2] * r * (1 - r)
    d_h[:, :2], d_h[:, 2] = d_x[:, :2], d_x[:, 2] * r
    return (
        np.einsum("bkh,dkh->bd", d_x, W_x.reshape(D, 3, H)),
        np.einsum("bkh,jkh->bj", d_h, W_h.reshape(H, 3, H)) + dh_t * z,
        np.einsum("bd,bkh->dkh", x_t, d_x).reshape(D, 3 * H),
        np.einsum("bj,bkh->jkh", h_prev, d_h).reshape(H, 3 * H),
        d_x.sum(axis=0).ravel(),
        d_h.sum(axis=0).reshape(-1),
    )


def joined(dh_t, x_t, h_prev, W_x, W_h, b_x, b_h):
    """A column of ones for the biases, so that the sums over the batch are products."""
    ones = np.ones((len(x_t), 1))
    X, S, V, U = np.hstack([x_t, ones]), np.hstack([h_prev, ones]), np.vstack([W_x, b_x]), np.vstack([W_h, b_h])
    (x_r, x_z, x_n), (h_r, h_z, h_n) = np.split(X @ V, 3, axis=1), np.split(S @ U, 3, axis=1)
    r, z = sigmoid(x_r + h_r), sigmoid(x_z + h_z)
    n = np.tanh(x_n + r * h_n)
    d_n = dh_t * (1 - z) * (1 - n**2)
    gates = [d_n * h_n * r * (1 - r), dh_t * (h_prev - n) * z * (1 - z)]
    d_x, d_h = np.hstack([*gates, d_n]), np.hstack([*gates, d_n * r])
    dV, dU = X.T @ d_x, S.T @ d_h
    return (d_x @ V.T)[:, :-1], (d_h @ U.T)[:, :-1] + z * dh_t, dV[:-1], dU[:-1], dV[-1], dU[-1]


RIGHT = [
    ("gru_step", pytorch_cell),
    ("gru_step", gates_in_a_dict),
    ("gru_step", keeps_and_adds),
    ("gru_step_cho", masked_columns),
    ("gru_forward", filled),
    ("gru_forward", row_by_row),
    ("count_parameters", by_branches),
    ("count_parameters", as_numpy_sum),
    ("gru_step_backward", autograd),
    ("gru_step_backward", by_blocks_of_an_array),
    ("gru_step_backward", joined),
]


@for_each(("exercise_id", "function"), RIGHT)
def test_a_right_one_passes_however_it_is_written(exercise_id, function):
    passes(exercise_id, function)
