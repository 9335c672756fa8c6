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
The loop carries one thing, the state at hand: each step takes it, renews it, and leaves it to the next. It starts with
`h_0`, which was before any input and so is not among the results. `x[:, t]` is one time step of all sequences at once,
so the batch needs no loop of its own. Each step makes a *new* array; only because of that are the states that were kept
still what they were when the loop has ended. Stacking along axis 1 puts time between batch and units.
""",
)


SPEC.mistake(
    "state_not_carried",
    "Every step starts again from `h_0`. The state that one step gives must be what the next step takes; as it stands, "
    "the network forgets after each step.",
    change("rnn_step(x[:, t], h_t, W_xh", "rnn_step(x[:, t], h_0, W_xh"),
    tempts="The name h_0 is at hand inside the loop, and every step looks right.",
    keeps=["one time step"],
)

SPEC.mistake(
    "starts_from_zero",
    "The first step starts from a zero state. It should start from `h_0`, which is not zero here.",
    change("h, h_t = [], h_0", "h, h_t = [], np.zeros_like(h_0)"),
    tempts="Nearly every example starts from a zero state.",
)

SPEC.mistake(
    "h_0_comes_first",
    "The results begin with `h_0` itself. They should begin with the state after the first input: `h[:, 0]` has "
    "already read `x[:, 0]`.",
    change("h, h_t = [], h_0", "h, h_t = [h_0], h_0"),
    change("h, h_t = [], h_0", "h, h_t = [h_0], h_0", ("np.stack(h, ", "np.stack(h[:-1], ")),
    tempts="A list that starts as [h_0] gives every step its predecessor; cut to the right length, it is cut at the "
    "wrong end.",
)

SPEC.mistake(
    "first_input_skipped",
    "The first input is never read. The equation counts inputs from 1, Python from 0: the first input is `x[:, 0]`, "
    "and `h[:, 0]` is the state after reading it.",
    change("h, h_t = [], h_0", "h, h_t = [h_0], h_0", ("range(x.shape[1])", "range(1, x.shape[1])")),
    change("range(x.shape[1])", "range(1, x.shape[1])"),
    tempts="The equation counts from 1: h[:, 0] is taken for h_0, and the loop starts at 1.",
)

SPEC.mistake(
    "last_state_only",
    "This is the state after the last step. The states of all steps are due, with shape (B, T, H).",
    change("return np.stack(h, axis=1)", "return h_t"),
    tempts="The state after the last step is what a classifier needs.",
)

SPEC.mistake(
    "time_axis_first",
    "Time has become the first axis, (T, B, H). In this course the batch comes first, (B, T, H): look at the `axis` of "
    "the stacking.",
    change("np.stack(h, axis=1)", "np.array(h)"),
    tempts="np.array of the list of states puts time in front, as PyTorch does by default.",
)

SPEC.mistake(
    "loops_over_the_batch",
    "The loop walks along the first axis of `x`, which is the batch. Time is the second: the input of step `t` is "
    "`x[:, t]`.",
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
    tempts="`for x_t in x` reads like the equation; it walks along the first axis, the batch.",
)

SPEC.mistake(
    "one_array_for_all_steps",
    "All time steps hold the same numbers, those of the last step. The state is overwritten in place, and the same "
    "array is kept every time; let each step make a new one.",
    change("h, h_t = [], h_0", "h, h_t = [], h_0.copy()", ("h_t = rnn_step(", "h_t[:] = rnn_step(")),
    tempts="It saves memory: the state is overwritten in place, and the same array is kept T times.",
    keeps=["one time step"],
)

SPEC.mistake(
    "as_many_steps_as_rows",
    "The loop makes as many steps as the batch has rows: `x.shape[0]`, or `len(x)`, is B. The number of time steps is "
    "`x.shape[1]`.",
    change("x.shape[1]", "x.shape[0]"),
    tempts="The number of steps is taken for the length of x.",
)

SPEC.mistake(
    "last_step_missing",
    "The last input is never read, so one state is missing at the end. `range(n)` stops before n already: for T steps "
    "it is `range(T)`, without a − 1.",
    change("range(x.shape[1])", "range(x.shape[1] - 1)"),
    tempts="The last index is T − 1, and so the range is made to end there.",
)

SPEC.mistake(
    "first_state_only",
    "Only the state after the first step comes back. `return` ends the function at once: does it stand inside the "
    "loop?",
    change("range(x.shape[1])", "range(1)"),
    tempts="One indentation too many puts the return into the loop.",
    keeps=["one time step"],
)

SPEC.mistake(
    "steps_in_one_row",
    "The states of all steps stand in one long row, of length T · H. Time needs an axis of its own: `np.concatenate` "
    "joins along an axis that is there already, `np.stack` makes a new one.",
    change("np.stack(h, axis=1)", "np.concatenate(h, axis=1)"),
    tempts="To concatenate along axis 1 sounds like putting time there; the states have no such axis yet.",
)

SPEC.mistake(
    "reshaped_for_transposed",
    "The shape is right, but the numbers are in the wrong places. `reshape` cuts the states anew, in the order in "
    "which they lie; it does not exchange the axes for time and batch. Stack along axis 1, or use `swapaxes`.",
    change("np.stack(h, axis=1)", "np.array(h).reshape(len(x), x.shape[1], -1)"),
    tempts="The shape (T, B, H) has to become (B, T, H), and reshape makes any shape.",
    keeps=["one time step"],
)

SPEC.mistake(
    "list_of_states",
    "A list of the T states comes back. One array of shape (B, T, H) is due: stack them along axis 1.",
    change("np.stack(h, axis=1)", "h"),
    tempts="All the states are there; that they are in a list is easily forgotten.",
)

SPEC.mistake(
    "both_weights_transposed",
    "Both weight matrices are transposed. PyTorch keeps its weights as (out, in) and transposes them; here they are "
    "(in, out), and stand to the right of `x_t` and `h_prev` as they are.",
    change("rnn_step(x[:, t], h_t, W_xh, W_hh, b_h)", "np.tanh(x[:, t] @ W_xh.T + h_t @ W_hh.T + b_h)"),
    tempts="PyTorch's formula has both weights transposed.",
)

SPEC.mistake(
    "no_tanh",
    "The tanh is missing: each state is the plain sum of the input's part, the state's part and the bias.",
    change("rnn_step(x[:, t], h_t, W_xh, W_hh, b_h)", "x[:, t] @ W_xh + h_t @ W_hh + b_h"),
    tempts="The step is written out again, and its last part is left out.",
)


@SPEC.alternative
def filled_in_place(x, h_0, W_xh, W_hh, b_h):
    """An array made beforehand; the input's part for all steps in one product."""
    drive = x @ W_xh + b_h
    h = np.empty_like(drive)
    for t in range(x.shape[1]):
        h[:, t] = np.tanh(drive[:, t] + (h[:, t - 1] if t > 0 else h_0) @ W_hh)
    return h


@SPEC.alternative
def time_first_and_back(x, h_0, W_xh, W_hh, b_h):
    """Time moved to the front, walked along, and moved back: the result is a view that is not contiguous."""
    states = [h_0]
    for x_t in x.swapaxes(0, 1):
        states.append(np.tanh(x_t @ W_xh + states[-1] @ W_hh + b_h))
    return np.array(states[1:]).swapaxes(0, 1)


@SPEC.alternative
def by_recursion(x, h_0, W_xh, W_hh, b_h):
    """The first step, then the rest of the sequence from there."""
    h_1 = np.tanh(x[:, 0] @ W_xh + h_0 @ W_hh + b_h)
    if x.shape[1] == 1:
        return h_1[:, None]
    return np.concatenate([h_1[:, None], by_recursion(x[:, 1:], h_1, W_xh, W_hh, b_h)], axis=1)
