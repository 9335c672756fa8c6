"""How `rnn_forward` is checked: against `torch.nn.RNN`."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec, change


def oracle(x, h_0, W_xh, W_hh, b_h):
    """PyTorch's RNN, batch first, whose weights are (out, in) and whose second bias is set to 0."""
    rnn = torch.nn.RNN(*W_xh.shape, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        rnn.weight_ih_l0.copy_(torch.from_numpy(W_xh.T))
        rnn.weight_hh_l0.copy_(torch.from_numpy(W_hh.T))
        rnn.bias_ih_l0.copy_(torch.from_numpy(b_h))
        rnn.bias_hh_l0.zero_()
        return rnn(torch.from_numpy(x), torch.from_numpy(h_0)[None])[0].numpy()


EXAMPLE = Case(
    sizes={"B": 1, "T": 3, "D": 1, "H": 2},
    inputs={
        "x": np.array([[[1.00], [0.00], [-0.50]]]),
        "h_0": np.array([[0.30, -0.20]]),
        "W_xh": np.array([[0.80, -0.40]]),
        "W_hh": np.array([[0.50, 0.20], [-0.30, 0.60]]),
        "b_h": np.array([0.10, -0.05]),
    },
)


def case(rng, B, T, D, H, kind="ordinary"):
    return Case(
        sizes={"B": B, "T": T, "D": D, "H": H},
        inputs={
            "x": rng.normal(size=(B, T, D)),
            "h_0": rng.uniform(-0.9, 0.9, size=(B, H)),
            "W_xh": rng.normal(size=(D, H)) / np.sqrt(D),
            "W_hh": rng.normal(size=(H, H)) / np.sqrt(H),
            "b_h": rng.normal(size=H),
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
    why="""
The loop passes a single thing on, the current state: each step takes it and replaces it with the new one. The first
step takes `h_0`, which is the state before any input and therefore not part of the result. `x[:, t]` holds the inputs
of one time step for all sequences, so no loop over the batch is needed. Each step creates a *new* array, so the later
steps do not overwrite the stored states. Stacking along axis 1 puts time between batch and units.
""",
)


SPEC.mistake(
    "h_0_used_at_every_step",
    "You start every step from `h_0`. Pass each step the state that the previous step returned, because otherwise no "
    "state depends on earlier inputs.",
    change("rnn_step(x[:, t], h_t, W_xh", "rnn_step(x[:, t], h_0, W_xh"),
    tempts="h_0 is in scope inside the loop, and each step looks right by itself.",
    keeps=["one time step"],
)

SPEC.mistake(
    "starts_from_zero",
    "You start from a zero state. Start from `h_0`, which is not zero here.",
    change("h, h_t = [], h_0", "h, h_t = [], np.zeros_like(h_0)"),
    tempts="Nearly every example starts from a zero state.",
)

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
    "You never read the first input. Start the loop at index 0: the equation counts the inputs from 1, but Python "
    "counts from 0, so the first input is `x[:, 0]` and `h[:, 0]` is the state after reading it.",
    change("h, h_t = [], h_0", "h, h_t = [h_0], h_0", ("range(x.shape[1])", "range(1, x.shape[1])")),
    change("range(x.shape[1])", "range(1, x.shape[1])"),
    tempts="The equation counts from 1, so h[:, 0] is taken for h_0 and the loop starts at 1.",
)

SPEC.mistake(
    "last_state_only",
    "You return only the state after the last step. Return the states of all steps, with shape (B, T, H), because "
    "there may be an output at every step.",
    change("return np.stack(h, axis=1)", "return h_t"),
    tempts="A classifier needs nothing but the last state.",
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
    change("for t in range(x.shape[1]):", "for x_t in x:", ("rnn_step(x[:, t], ", "rnn_step(x_t, ")),
    change("for t in range(x.shape[1]):", "for x_t in x:", ("x[:, t]", "x_t"), ("np.stack(h, axis=1)", "np.stack(h)")),
    change("x[:, t]", "x[t]"),
    change(
        "x[:, t]",
        "x[t]",
        ("h, h_t = []", "h, h_t = np.zeros((*x.shape[:2], len(b_h)))"),
        ("h.append(h_t)", "h[:, t] = h_t"),
        ("np.stack(h, axis=1)", "h"),
    ),
    tempts="`for x_t in x` reads like the equation, but it runs along the first axis, the batch.",
)

SPEC.mistake(
    "one_array_for_all_steps",
    "You overwrite one array in place and store that same array at every step, so all time steps show the last state. "
    "Create a new array at each step, or store a copy.",
    change("h, h_t = [], h_0", "h, h_t = [], h_0.copy()", ("h_t = rnn_step(", "h_t[:] = rnn_step(")),
    tempts="Overwriting the state in place saves memory, but the list then holds the same array T times.",
    keeps=["one time step"],
)

SPEC.mistake(
    "as_many_steps_as_rows",
    "You take as many steps as the batch has rows: `x.shape[0]`, or `len(x)`, is B. Use `x.shape[1]`, the number of "
    "time steps.",
    change("x.shape[1]", "x.shape[0]"),
    change(
        "h, h_t = [], h_0",
        "h, h_t = np.zeros((*x.shape[:2], len(b_h))), h_0",
        ("range(x.shape[1])", "range(x.shape[0])"),
        ("h.append(h_t)", "h[:, t] = h_t"),
        ("np.stack(h, axis=1)", "h"),
    ),
    tempts="len(x) looks like the length of the sequence.",
)

SPEC.mistake(
    "last_step_missing",
    "You never read the last input, so the last state is missing. Use `range(T)` for T steps: it ends at T − 1 "
    "already, so do not subtract 1.",
    change("range(x.shape[1])", "range(x.shape[1] - 1)"),
    tempts="The last index is T − 1, so the range is made to end there.",
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
    "steps_concatenated",
    "You join the states of all steps into one long row, of length T · H. Use `np.stack`, which makes a new axis for "
    "time, whereas `np.concatenate` joins arrays along an axis that they have already.",
    change("np.stack(h, axis=1)", "np.concatenate(h, axis=1)"),
    tempts="Concatenating along axis 1 sounds like putting time there, but the states have no such axis yet.",
)

SPEC.mistake(
    "reshaped_not_transposed",
    "You reshape (T, B, H) to (B, T, H), which puts the numbers in the wrong positions. Stack along axis 1, or use "
    "`swapaxes`, because `reshape` keeps the numbers in their order and does not exchange axes.",
    change("np.stack(h, axis=1)", "np.array(h).reshape(len(x), x.shape[1], -1)"),
    tempts="The shape (T, B, H) has to become (B, T, H), and reshape produces any shape.",
    keeps=["one time step"],
)

SPEC.mistake(
    "list_of_states",
    "You return a list of the T states. Stack them along axis 1 into one array of shape (B, T, H).",
    change("np.stack(h, axis=1)", "h"),
    tempts="All states are there, so it is easily forgotten that they are in a list.",
)

SPEC.mistake(
    "both_weights_transposed",
    "You transpose both weight matrices. Use them as they are: here they have the shape (in, out), whereas PyTorch "
    "stores them as (out, in) and transposes them in its formula.",
    change("rnn_step(x[:, t], h_t, W_xh, W_hh, b_h)", "np.tanh(x[:, t] @ W_xh.T + h_t @ W_hh.T + b_h)"),
    tempts="PyTorch's formula transposes both weights.",
)

SPEC.mistake(
    "no_tanh",
    "You leave out the tanh, so each state is the plain sum of two products and the bias. Apply the tanh to this sum, "
    "the pre-activation, at every step.",
    change("rnn_step(x[:, t], h_t, W_xh, W_hh, b_h)", "x[:, t] @ W_xh + h_t @ W_hh + b_h"),
    tempts="The step is written out again, and its outermost function is forgotten.",
)


@SPEC.alternative
def filled_in_place(x, h_0, W_xh, W_hh, b_h):
    """A preallocated array, and a single product for the inputs of all steps."""
    drive = x @ W_xh + b_h
    h = np.empty_like(drive)
    for t in range(x.shape[1]):
        h[:, t] = np.tanh(drive[:, t] + (h[:, t - 1] if t > 0 else h_0) @ W_hh)
    return h


@SPEC.alternative
def time_first_and_back(x, h_0, W_xh, W_hh, b_h):
    """Time moved to the front and back again: the result is a view that is not contiguous."""
    states = [h_0]
    for x_t in x.swapaxes(0, 1):
        states.append(np.tanh(x_t @ W_xh + states[-1] @ W_hh + b_h))
    return np.array(states[1:]).swapaxes(0, 1)


@SPEC.alternative
def by_recursion(x, h_0, W_xh, W_hh, b_h):
    """The first step, then the rest of the sequence, starting from its state."""
    h_1 = np.tanh(x[:, 0] @ W_xh + h_0 @ W_hh + b_h)
    if x.shape[1] == 1:
        return h_1[:, None]
    return np.concatenate([h_1[:, None], by_recursion(x[:, 1:], h_1, W_xh, W_hh, b_h)], axis=1)
