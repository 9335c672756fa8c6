"""How `gru_forward` is checked: against `torch.nn.GRU`."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Gates, Output, Spec, change


def oracle(x, h_0, W_x, W_h, b_x, b_h):
    """PyTorch's GRU, batch first, whose weights are (3H, in), with the blocks in the order r, z, n."""
    gru = torch.nn.GRU(len(W_x), len(W_h), batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        gru.weight_ih_l0.copy_(torch.from_numpy(W_x.T))
        gru.weight_hh_l0.copy_(torch.from_numpy(W_h.T))
        gru.bias_ih_l0.copy_(torch.from_numpy(b_x))
        gru.bias_hh_l0.copy_(torch.from_numpy(b_h))
        return gru(torch.from_numpy(x), torch.from_numpy(h_0)[None])[0].numpy()


EXAMPLE = Case(
    sizes={"B": 1, "T": 3, "D": 1, "H": 2},
    inputs={
        "x": np.array([[[1.50], [0.00], [-1.00]]]),
        "h_0": np.array([[0.40, -0.60]]),
        "W_x": np.array([[0.60, -0.40, 0.80, -0.20, 0.50, -1.00]]),
        "W_h": np.array([[0.50, -0.30, 0.20, 0.70, 0.90, -0.50], [-0.80, 0.40, -0.60, 0.10, 0.30, 1.10]]),
        "b_x": np.array([0.10, -0.20, 0.35, 0.20, -0.40, 0.10]),
        "b_h": np.array([-0.30, 0.25, 0.15, -0.35, 0.25, 0.45]),
    },
)


def case(rng, B, T, D, H, kind="ordinary"):
    return Case(
        sizes={"B": B, "T": T, "D": D, "H": H},
        inputs={
            "x": rng.normal(size=(B, T, D)),
            "h_0": rng.uniform(-0.9, 0.9, size=(B, H)),
            "W_x": rng.normal(size=(D, 3 * H)) / np.sqrt(D),
            "W_h": rng.normal(size=(H, 3 * H)) / np.sqrt(H),
            "b_x": rng.normal(size=3 * H),
            "b_h": rng.normal(size=3 * H),
        },
        kind=kind,
    )


def cases(rng):
    yield case(rng, B=2, T=5, D=3, H=4)
    yield case(rng, B=4, T=4, D=4, H=4)
    yield case(rng, B=1, T=6, D=2, H=3)
    yield case(rng, B=3, T=4, D=1, H=1)
    yield case(rng, B=3, T=1, D=2, H=4, kind="T = 1")
    yield case(rng, B=2, T=1, D=1, H=3, kind="T = 1")


SPEC = Spec(
    outputs=[Output("h", ("B", "T", "H"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("several time steps", share=3, kinds=("ordinary",)),
        Facet("one time step", share=1, kinds=("T = 1",)),
    ],
    gates=[
        Gates("rzn", inputs=("W_x", "W_h", "b_x", "b_h")),
        Gates("rzn", inputs=("W_x", "b_x")),
        Gates("rzn", inputs=("W_h", "b_h")),
    ],
    why="""
Seen from outside, a GRU is used exactly like a tanh RNN: one array is passed on from step to step. The loop is
therefore that of `rnn_forward`, with another step inside. An LSTM passes on two arrays, the hidden state and the cell
state, so its loop has one more variable.
""",
)


SPEC.mistake(
    "h_0_used_at_every_step",
    "You start every step from `h_0`. Pass each step the state that the previous step returned: otherwise no state "
    "depends on earlier inputs.",
    change("gru_step(x[:, t], h_t, ", "gru_step(x[:, t], h_0, "),
    tempts="h_0 is in scope inside the loop, and each step looks right by itself.",
    keeps=["one time step"],
)
SPEC.mistake(
    "starts_from_zero",
    "You start from a zero state. Start from `h_0`, which is not zero here.",
    change("h, h_t = [], h_0", "h, h_t = [], np.zeros_like(h_0)"),
    tempts="Nearly every example, and PyTorch by default, starts from a zero state.",
)
SPEC.mistake(
    "cho_step_used",
    "You use the step of Cho et al. (2014), in which the reset gate comes before the product. Use `gru_step`, in "
    "which it comes after the product: `r * (h_prev @ W_hn + b_hn)`.",
    change("gru_step(", "gru_step_cho("),
    tempts="gru_step_cho is the function that was written last.",
)


@SPEC.mistake(
    "update_gate_swapped",
    "You swap the roles of `z` and `1 - z` in the step. Multiply the *previous state* by `z` and the candidate by "
    "`1 - z`, as in `gru_step`.",
    tempts="Chung et al. (2014) and many texts after them write the step with z and 1 - z exchanged.",
)
def with_chung_s_update_gate(x, h_0, W_x, W_h, b_x, b_h):
    h, h_t = [], h_0
    for t in range(x.shape[1]):
        (x_r, x_z, x_n), (h_r, h_z, h_n) = (
            np.split(side, 3, axis=1) for side in (x[:, t] @ W_x + b_x, h_t @ W_h + b_h)
        )
        r, z = 1 / (1 + np.exp(-x_r - h_r)), 1 / (1 + np.exp(-x_z - h_z))
        h_t = (1 - z) * h_t + z * np.tanh(x_n + r * h_n)
        h.append(h_t)
    return np.stack(h, axis=1)


SPEC.mistake(
    "h_0_comes_first",
    "Your result begins with `h_0`. Begin with the state after the first input, because `h[:, 0]` is the state after "
    "reading `x[:, 0]`.",
    change("h, h_t = [], h_0", "h, h_t = [h_0], h_0"),
    change("h, h_t = [], h_0", "h, h_t = [h_0], h_0", ("np.stack(h, ", "np.stack(h[:-1], ")),
    tempts="With [h_0] as the initial list, every step finds its previous state; the list is then returned whole, or "
    "shortened at the wrong end.",
)
SPEC.mistake(
    "first_input_skipped",
    "You never read the first input. Start the loop at index 0, because Python counts from 0: `h[:, 0]` is the state "
    "after reading `x[:, 0]`.",
    change("h, h_t = [], h_0", "h, h_t = [h_0], h_0", ("range(x.shape[1])", "range(1, x.shape[1])")),
    change("h, h_t = [], h_0", "h, h_t = [np.zeros_like(h_0)], h_0", ("range(x.shape[1])", "range(1, x.shape[1])")),
    change("range(x.shape[1])", "range(1, x.shape[1])"),
    tempts="Equations count from 1, so h[:, 0] is taken for h_0 and the loop starts at 1.",
)
SPEC.mistake(
    "loops_backward",
    "You read the inputs from the last step to the first. Start with the first step, because each step needs the "
    "state that the previous step returned; only the backward pass runs from the end.",
    change("range(x.shape[1])", "reversed(range(x.shape[1]))"),
    change("range(x.shape[1])", "reversed(range(x.shape[1]))", ("np.stack(h, ", "np.stack(h[::-1], ")),
    tempts="The loop is copied from the backward pass of the previous notebook.",
    keeps=["one time step"],
)
SPEC.mistake(
    "last_state_only",
    "You return only the state after the last step. Return the states of all steps, with shape (B, T, H), because "
    "there may be an output at every step.",
    change("return np.stack(h, axis=1)", "return h_t"),
    tempts="A classifier needs nothing but the last state.",
)
SPEC.mistake(
    "first_state_only",
    "You return only the state after the first step. Check whether `return` is inside the loop, where it ends the "
    "function in the first pass.",
    change("range(x.shape[1])", "range(1)"),
    tempts="One indentation too many puts the return into the loop.",
    keeps=["one time step"],
)
SPEC.mistake(
    "time_axis_first",
    "You return an array with time as its first axis, (T, B, H). Stack the states along the second axis, because the "
    "batch comes first in this course: (B, T, H).",
    change("np.stack(h, axis=1)", "np.array(h)"),
    tempts="np.array of the list of states puts time first, as PyTorch does by default.",
)
SPEC.mistake(
    "loops_over_the_batch",
    "You take the inputs along the first axis of `x`, which is the batch. Take them along the second axis, time: the "
    "input of step `t` is `x[:, t]`.",
    change("for t in range(x.shape[1]):", "for x_t in x:", ("gru_step(x[:, t], ", "gru_step(x_t, ")),
    change("for t in range(x.shape[1]):", "for x_t in x:", ("x[:, t]", "x_t"), ("np.stack(h, axis=1)", "np.stack(h)")),
    change("x[:, t]", "x[t]"),
    tempts="`for x_t in x` reads like the equation, but it runs along the first axis, the batch.",
)
SPEC.mistake(
    "as_many_steps_as_rows",
    "You take as many steps as the batch has rows: `x.shape[0]`, or `len(x)`, is B. Use `x.shape[1]`, the number of "
    "time steps.",
    change("x.shape[1]", "x.shape[0]"),
    tempts="len(x) looks like the length of the sequence.",
)
SPEC.mistake(
    "one_array_for_all_steps",
    "You overwrite one array in place and store that same array at every step, so all time steps show the last state. "
    "Create a new array at each step, or store a copy.",
    change("h, h_t = [], h_0", "h, h_t = [], h_0.copy()", ("h_t = gru_step(", "h_t[:] = gru_step(")),
    tempts="Overwriting the state in place saves memory, but the list then holds the same array T times.",
    keeps=["one time step"],
)
SPEC.mistake(
    "last_step_missing",
    "You never read the last input, so the last state is missing. Use `range(T)` for T steps: it ends at T − 1 "
    "already, so do not subtract 1.",
    change("range(x.shape[1])", "range(x.shape[1] - 1)"),
    tempts="The last index is T − 1, so the range is made to end there.",
)
SPEC.mistake(
    "list_of_states",
    "You return a list of the T states. Stack them along axis 1 into one array of shape (B, T, H).",
    change("np.stack(h, axis=1)", "h"),
    tempts="All states are there, so it is easily forgotten that they are in a list.",
)
SPEC.mistake(
    "steps_concatenated",
    "You join the states of all steps into one long row, of length T · H. Use `np.stack`, which makes a new axis for "
    "time, whereas `np.concatenate` joins arrays along an axis that they have already.",
    change("np.stack(h, axis=1)", "np.concatenate(h, axis=1)"),
    tempts="Concatenating along axis 1 sounds like putting time there, but the states have no such axis yet.",
)
SPEC.mistake(
    "last_state_too",
    "You return the last state as well, as `torch.nn.GRU` does. Return the array of all states alone; its last time "
    "step is the last state.",
    change("return np.stack(h, axis=1)", "return np.stack(h, axis=1), h_t"),
    tempts="PyTorch returns a pair, and lstm_forward returned two arrays.",
)


@SPEC.alternative
def inputs_of_all_steps_at_once(x, h_0, W_x, W_h, b_x, b_h):
    """A single product for the inputs of all steps, and a preallocated array."""
    H, drive = h_0.shape[1], x @ W_x + b_x
    h = np.empty((*x.shape[:2], H))
    for t in range(x.shape[1]):
        previous = h[:, t - 1] if t else h_0
        a_x, a_h = drive[:, t], previous @ W_h + b_h
        r, z = np.split(1 / (1 + np.exp(-(a_x + a_h)[:, : 2 * H])), 2, axis=1)
        n = np.tanh(a_x[:, 2 * H :] + r * a_h[:, 2 * H :])
        h[:, t] = n + z * (previous - n)
    return h


@SPEC.alternative
def by_recursion(x, h_0, W_x, W_h, b_x, b_h):
    """The first step, then the rest of the sequence, starting from its state."""
    (x_r, x_z, x_n), (h_r, h_z, h_n) = (np.split(side, 3, axis=1) for side in (x[:, 0] @ W_x + b_x, h_0 @ W_h + b_h))
    z = 1 / (1 + np.exp(-x_z - h_z))
    n = np.tanh(x_n + h_n / (1 + np.exp(-x_r - h_r)))
    h_1 = z * h_0 + (1 - z) * n
    if x.shape[1] == 1:
        return h_1[:, None]
    return np.concatenate([h_1[:, None], by_recursion(x[:, 1:], h_1, W_x, W_h, b_x, b_h)], axis=1)
