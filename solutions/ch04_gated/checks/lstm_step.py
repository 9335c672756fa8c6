"""How `lstm_step` is checked: against `torch.nn.LSTMCell`."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Gates, Output, Spec, change


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
    why=r"""
One product with $W_x$ and one with $W_h$ compute the pre-activations of all four blocks, and `np.split` cuts them
apart. From then on everything is entry by entry, because each unit has gates of its own: unit $j$ never reads the cell
state of another unit, only the hidden states of all units, through $W_h$. The cell state is multiplied by $f_t$ and
added to; no matrix and no tanh act on it on its way from one step to the next, so it can keep a number unchanged, and
it can grow beyond 1. The tanh in $h_t = o_t \odot \tanh(c_t)$ acts on a copy, which bounds what the rest of the network
sees.
""",
)

SPEC.mistake(
    "i_and_f_exchanged",
    "You exchange the input gate and the forget gate. The forget gate multiplies the previous cell state and the input "
    "gate multiplies the candidate; the blocks are in the order i, f, g, o.",
    change("f * c_prev + i * g", "i * c_prev + f * g"),
    tempts="The equation for the cell state begins with the forget gate, so it is taken for the first block.",
)
SPEC.mistake(
    "tanh_of_c_t_left_out",
    "You multiply the output gate by the cell state itself. Multiply it by `np.tanh(c_t)`: the cell state can grow "
    "beyond 1, and the tanh bounds what the rest of the network sees.",
    change("o * np.tanh(c_t)", "o * c_t"),
    tempts="The tanh of the candidate seems to be the tanh of the cell, so a second one is not expected.",
    keeps=["c_t"],
)
SPEC.mistake(
    "sigmoid_of_c_t",
    "You apply the logistic function to the cell state. Multiply the output gate by `np.tanh(c_t)`, because the hidden "
    "state must be able to be negative; only the three gates use `sigmoid`.",
    change("o * np.tanh(c_t)", "o * sigmoid(c_t)"),
    tempts="σ stands in three of the four lines above, so it is written in the last one too.",
    keeps=["c_t"],
)
SPEC.mistake(
    "output_gate_left_out",
    "You return `np.tanh(c_t)` as the hidden state. Multiply it by the output gate, which decides how much of the cell "
    "state is shown.",
    change("o * np.tanh(c_t)", "np.tanh(c_t)"),
    tempts="The new cell state feels like the result, and the last gate is forgotten.",
    keeps=["c_t"],
)
SPEC.mistake(
    "tanh_of_the_product",
    "You apply the tanh to the product of the output gate and the cell state. Apply it to `c_t` alone and multiply by "
    "the gate afterwards: `o * np.tanh(c_t)`.",
    change("o * np.tanh(c_t)", "np.tanh(o * c_t)"),
    tempts="In the tanh network, the tanh came last.",
    keeps=["c_t"],
)
SPEC.mistake(
    "h_t_from_c_prev",
    "You compute the hidden state from the previous cell state. Use the new one, `c_t`, which this step has just "
    "computed.",
    change("o * np.tanh(c_t)", "o * np.tanh(c_prev)"),
    tempts="The gates are all computed from previous states, so the previous cell state seems to be meant too.",
    keeps=["c_t"],
)
SPEC.mistake(
    "tanh_of_the_cell_state",
    "You apply a tanh to the cell state that you pass on. Return `c_t` without it, so that the cell can keep a number "
    "unchanged over many steps. Only the hidden state uses `np.tanh(c_t)`.",
    change("f * c_prev + i * g", "np.tanh(f * c_prev + i * g)"),
    tempts="In the tanh network, the tanh belongs to the state, so it is applied when the state is computed.",
)
SPEC.mistake(
    "tanh_already_in_c_t",
    "Your hidden state is right, but the cell state that you return has been through the tanh. Apply the tanh only "
    "where the hidden state is computed, so that the cell can keep a number unchanged over many steps.",
    change("f * c_prev + i * g", "np.tanh(f * c_prev + i * g)", ("o * np.tanh(c_t)", "o * c_t")),
    change("return h_t, c_t", "return h_t, np.tanh(c_t)"),
    tempts="Only the hidden state seems to matter, and its tanh can as well be taken one line earlier.",
    keeps=["h_t"],
)
SPEC.mistake(
    "candidate_through_sigmoid",
    "You compute the candidate with the logistic function. Use `np.tanh` for it, because what is written must be able "
    "to be negative; only the three gates use `sigmoid`.",
    change("np.tanh(a_g)", "sigmoid(a_g)"),
    tempts="With all four blocks in one array, applying one function to all of them is a single call.",
)
SPEC.mistake(
    "candidate_without_tanh",
    "You use the pre-activation of the candidate as it is. Apply `np.tanh` to it, so that a single step writes a "
    "number between −1 and 1.",
    change("np.tanh(a_g)", "a_g"),
    tempts="The candidate is not a gate, so it is taken for a linear quantity.",
)
SPEC.mistake(
    "gate_without_sigmoid",
    "You use a pre-activation where a gate belongs. Apply `sigmoid` to the blocks of i, f and o, because a gate is a "
    "share between 0 and 1.",
    change("sigmoid(a_i), sigmoid(a_f), np.tanh(a_g), sigmoid(a_o)", "a_i, a_f, np.tanh(a_g), a_o"),
    change("sigmoid(a_i)", "a_i"),
    change("sigmoid(a_f)", "a_f"),
    tempts="After cutting the array into blocks, the work on the gates seems to be done.",
)
SPEC.mistake(
    "output_gate_without_sigmoid",
    "You use the pre-activation of the output gate as it is. Apply `sigmoid` to it, because a gate is a share between "
    "0 and 1.",
    change("sigmoid(a_o)", "a_o"),
    tempts="The output gate is computed last, often on a line of its own, and its function is forgotten there.",
    keeps=["c_t"],
)
SPEC.mistake(
    "gate_through_tanh",
    "You compute a gate with the tanh. Use `sigmoid` for i, f and o, because a gate is a share between 0 and 1; only "
    "the candidate uses the tanh.",
    change(
        "sigmoid(a_i), sigmoid(a_f), np.tanh(a_g), sigmoid(a_o)",
        "np.tanh(a_i), np.tanh(a_f), np.tanh(a_g), np.tanh(a_o)",
    ),
    change("sigmoid(a_i)", "np.tanh(a_i)"),
    change("sigmoid(a_f)", "np.tanh(a_f)"),
    tempts="The tanh is the function of all networks so far, and one call serves all four blocks.",
)
SPEC.mistake(
    "output_gate_through_tanh",
    "You compute the output gate with the tanh. Use `sigmoid` for it, because a gate is a share between 0 and 1; only "
    "the candidate uses the tanh.",
    change("sigmoid(a_o)", "np.tanh(a_o)"),
    tempts="The candidate is the block before it, and its line is copied.",
    keeps=["c_t"],
)
SPEC.mistake(
    "forget_gate_left_out",
    "You add to the whole previous cell state. Multiply `c_prev` by the forget gate first, because otherwise the cell "
    "can never forget.",
    change("f * c_prev", "c_prev"),
    tempts="This is the LSTM of 1997, which had no forget gate.",
)
SPEC.mistake(
    "input_gate_left_out",
    "You add the whole candidate to the cell state. Multiply it by the input gate, which decides how much of it is "
    "written.",
    change("i * g", "g"),
    tempts="The candidate has already been through its tanh, so nothing seems to be missing.",
)
SPEC.mistake(
    "forget_gate_times_the_sum",
    "You multiply the sum by the forget gate. Multiply only the previous cell state by it, because the forget gate "
    "decides what is kept of the past, not what is written now.",
    change("f * c_prev + i * g", "f * (c_prev + i * g)"),
    tempts="'Forget a part of the memory' suggests that the gate acts on the whole memory, at the end.",
)
SPEC.mistake(
    "one_gate_for_both_shares",
    "You use one gate for keeping and 1 minus the same gate for writing. The LSTM has two separate gates: `f` for the "
    "previous cell state and `i` for the candidate, which need not sum to 1.",
    change("i * g", "(1 - f) * g"),
    change("f * c_prev", "(1 - i) * c_prev"),
    tempts="This is how a leaky average and the GRU divide the shares.",
)


SPEC.mistake(
    "sigmoid_of_minus_a",
    "Each of your gates is 1 minus what it should be. The logistic function is 1 / (1 + exp(−a)), with a minus in the "
    "exponent, so that a large pre-activation opens the gate. This notebook has it as `sigmoid`.",
    change(
        "sigmoid(a_i), sigmoid(a_f), np.tanh(a_g), sigmoid(a_o)",
        "sigmoid(-a_i), sigmoid(-a_f), np.tanh(a_g), sigmoid(-a_o)",
    ),
    tempts="The minus in the exponent is easily lost.",
)


@SPEC.mistake(
    "sigmoid_overflows",
    "You compute the logistic function as exp(a) / (1 + exp(a)), which is inf / inf and therefore NaN for large a. Use "
    "the `sigmoid` of this notebook, or 1 / (1 + exp(−a)), which has the right limits.",
    tempts="The two formulas are equal on paper.",
    keeps=["h_t", "c_t"],
)
def exponentials_divided(x_t, h_prev, c_prev, W_x, W_h, b):
    a_i, a_f, a_g, a_o = np.split(x_t @ W_x + h_prev @ W_h + b, 4, axis=1)
    i, f, o = (np.exp(a) / (1 + np.exp(a)) for a in (a_i, a_f, a_o))
    c_t = f * c_prev + i * np.tanh(a_g)
    return o * np.tanh(c_t), c_t


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
