"""How `lstm_step` is checked: against `torch.nn.LSTMCell`."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Gates, Output, Spec, change, instead


def oracle(x_t, h_prev, c_prev, W_x, W_h, b):
    """PyTorch's cell, whose weights are (out, in) and whose second bias is set to 0."""
    cell = torch.nn.LSTMCell(W_x.shape[0], W_h.shape[0], dtype=torch.float64)
    with torch.no_grad():
        cell.weight_ih.copy_(torch.from_numpy(W_x.T))
        cell.weight_hh.copy_(torch.from_numpy(W_h.T))
        cell.bias_ih.copy_(torch.from_numpy(b))
        cell.bias_hh.zero_()
        h_t, c_t = cell(torch.from_numpy(x_t), (torch.from_numpy(h_prev), torch.from_numpy(c_prev)))
    return h_t.numpy(), c_t.numpy()


EXAMPLE = Case(
    sizes={"B": 1, "D": 2, "H": 2},
    inputs={
        "x_t": np.array([[1.00, -2.00]]),
        "h_prev": np.array([[0.50, -0.40]]),
        "c_prev": np.array([[1.20, -0.70]]),
        "W_x": np.array(
            [
                [0.30, -0.60, 0.80, 0.25, 0.45, -0.35, -0.20, 0.70],
                [0.10, 0.40, -0.15, 0.90, -0.15, 0.40, 0.65, -0.25],
            ]
        ),
        "W_h": np.array(
            [
                [0.20, -0.50, 0.70, -0.30, 0.60, 0.90, -0.40, 0.35],
                [-0.75, 0.15, 0.50, 0.80, -0.10, -0.65, 0.25, -0.45],
            ]
        ),
        "b": np.array([0.10, -0.20, 0.40, 1.95, -0.30, 0.05, 0.15, -0.60]),
    },
)


def case(rng, B, D, H):
    return Case(
        sizes={"B": B, "D": D, "H": H},
        inputs={
            "x_t": rng.normal(size=(B, D)),
            "h_prev": rng.uniform(-0.9, 0.9, size=(B, H)),
            "c_prev": 1.5 * rng.normal(size=(B, H)),
            "W_x": rng.normal(size=(D, 4 * H)) / np.sqrt(D),
            "W_h": rng.normal(size=(H, 4 * H)) / np.sqrt(H),
            "b": rng.normal(size=4 * H),
        },
    )


def saturated(rng):
    """Four units: an ordinary one, and three whose pre-activations are near 800 or −800."""
    some = case(rng, B=2, D=3, H=4)
    large = 800.0 * np.array([[0, 1, -1, 1], [0, -1, 1, 1], [0, 1, 1, -1], [0, 1, 1, -1]])  # one row for each block
    return Case(some.sizes, {**some.inputs, "b": some.inputs["b"] + large.ravel()}, kind="pre-activations of ±800")


def cases(rng):
    yield case(rng, B=2, D=3, H=4)
    yield case(rng, B=3, D=3, H=3)
    yield case(rng, B=4, D=2, H=2)
    yield case(rng, B=1, D=2, H=3)
    yield case(rng, B=3, D=1, H=2)
    yield case(rng, B=3, D=2, H=1)
    yield saturated(rng)


SPEC = Spec(
    outputs=[Output("h_t", ("B", "H")), Output("c_t", ("B", "H"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("h_t", share=2, outputs=("h_t",), kinds=("ordinary",)),
        Facet("c_t", share=3, outputs=("c_t",), kinds=("ordinary",)),
        Facet("pre-activations of ±800", share=1, kinds=("pre-activations of ±800",)),
    ],
    gates=[Gates("ifgo", inputs=("W_x", "W_h", "b"))],
)


def exponentials_divided(x_t, h_prev, c_prev, W_x, W_h, b):
    a_i, a_f, a_g, a_o = np.split(x_t @ W_x + h_prev @ W_h + b, 4, axis=1)
    i, f, o = (np.exp(a) / (1 + np.exp(a)) for a in (a_i, a_f, a_o))
    c_t = f * c_prev + i * np.tanh(a_g)
    return o * np.tanh(c_t), c_t


SPLIT = "np.split(a, 4, axis=1)"
BIASED = "np.split(a - b * np.repeat([{}], len(W_h)), 4, axis=1)"  # a 1 for each block that lacks its bias


SPEC.mistakes(
    {
        **instead(
            "f * c_prev + i * g",
            {
                "i_and_f_exchanged": "i * c_prev + f * g",
                "tanh_of_the_cell_state": "np.tanh(f * c_prev + i * g)",
                "forget_gate_times_the_sum": "f * (c_prev + i * g)",
            },
        ),
        **instead(
            "np.tanh(a_g)",
            {
                "candidate_through_sigmoid": "sigmoid(a_g)",
                "candidate_without_tanh": "a_g",
            },
        ),
        "gate_without_sigmoid": [
            change("sigmoid(a_i), sigmoid(a_f), np.tanh(a_g), sigmoid(a_o)", "a_i, a_f, np.tanh(a_g), a_o"),
            change("sigmoid(a_i)", "a_i"),
            change("sigmoid(a_f)", "a_f"),
        ],
        "gate_through_tanh": [
            change(
                "sigmoid(a_i), sigmoid(a_f), np.tanh(a_g), sigmoid(a_o)",
                "np.tanh(a_i), np.tanh(a_f), np.tanh(a_g), np.tanh(a_o)",
            ),
            change("sigmoid(a_i)", "np.tanh(a_i)"),
            change("sigmoid(a_f)", "np.tanh(a_f)"),
        ],
        "forget_gate_left_out": change("f * c_prev", "c_prev"),
        "input_gate_left_out": change("i * g", "g"),
        "one_gate_for_both_shares": [change("i * g", "(1 - f) * g"), change("f * c_prev", "(1 - i) * c_prev")],
        "sigmoid_of_minus_a": change(
            "sigmoid(a_i), sigmoid(a_f), np.tanh(a_g), sigmoid(a_o)",
            "sigmoid(-a_i), sigmoid(-a_f), np.tanh(a_g), sigmoid(-a_o)",
        ),
        "forget_bias_added": change("sigmoid(a_f)", "sigmoid(a_f + 1)"),
        "bias_left_out_of_a_block": [
            change(SPLIT, BIASED.format(without))
            for without in ("1, 0, 0, 0", "0, 1, 0, 0", "0, 0, 1, 0", "1, 1, 0, 1")
        ],
        "blocks_of_W_h_transposed": change(
            "h_prev @ W_h", "h_prev @ np.hstack([W.T for W in np.split(W_h, 4, axis=1)])"
        ),
    }
)
SPEC.mistakes(
    {
        **instead(
            "o * np.tanh(c_t)",
            {
                "tanh_of_c_t_left_out": "o * c_t",
                "sigmoid_of_c_t": "o * sigmoid(c_t)",
                "output_gate_left_out": "np.tanh(c_t)",
                "tanh_of_the_product": "np.tanh(o * c_t)",
                "h_t_from_c_prev": "o * np.tanh(c_prev)",
            },
        ),
        **instead(
            "sigmoid(a_o)",
            {
                "output_gate_without_sigmoid": "a_o",
                "output_gate_through_tanh": "np.tanh(a_o)",
            },
        ),
        "bias_of_the_output_gate_left_out": change(SPLIT, BIASED.format("0, 0, 0, 1")),
    },
    keeps=["c_t"],
)
SPEC.mistakes(
    {
        "tanh_already_in_c_t": change(
            "f * c_prev + i * g", "np.tanh(f * c_prev + i * g)", ("o * np.tanh(c_t)", "o * c_t")
        ),
    },
    keeps=["h_t"],
)
SPEC.mistakes(
    {
        "sigmoid_overflows": exponentials_divided,
    },
    keeps=["h_t", "c_t"],
)


@SPEC.alternative
def one_matrix_and_slices(x_t, h_prev, c_prev, W_x, W_h, b):
    """A single product with the joined weights, blocks as slices, and the logistic function as it is defined."""
    a = np.concatenate([x_t, h_prev], axis=1) @ np.concatenate([W_x, W_h], axis=0) + b
    H = h_prev.shape[1]
    gates = 1 / (1 + np.exp(-a))  # overflows for a pre-activation of −800, with the right limit
    c_t = gates[:, H : 2 * H] * c_prev + gates[:, :H] * np.tanh(a[:, 2 * H : 3 * H])
    return gates[:, 3 * H :] * np.tanh(c_t), c_t


@SPEC.alternative
def gate_by_gate(x_t, h_prev, c_prev, W_x, W_h, b):
    """Each gate from its own columns, by a function inside the function."""
    H = len(W_h)

    def pre_activation(block):
        columns = slice(block * H, (block + 1) * H)
        return x_t @ W_x[:, columns] + h_prev @ W_h[:, columns] + b[columns]

    def logistic(a):
        return np.exp(-np.logaddexp(0, -a))

    c_t = logistic(pre_activation(1)) * c_prev
    c_t += logistic(pre_activation(0)) * np.tanh(pre_activation(2))
    return [logistic(pre_activation(3)) * np.tanh(c_t), c_t]


@SPEC.alternative
def with_an_axis_for_the_gates(x_t, h_prev, c_prev, W_x, W_h, b):
    """The blocks as an axis of their own, by reshape."""
    a = (x_t @ W_x + h_prev @ W_h + b).reshape(len(x_t), 4, -1)
    i, f, o = (0.5 * (1 + np.tanh(a[:, block] / 2)) for block in (0, 1, 3))
    c_t = f * c_prev + i * np.tanh(a[:, 2])
    return o * np.tanh(c_t), c_t
