"""How `lstm_forward` is checked: against `torch.nn.LSTM`, and for the cell states `torch.nn.LSTMCell`."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Gates, Output, Spec, change


def oracle(x, h_0, c_0, W_x, W_h, b):
    """PyTorch's LSTM, batch first, with its second bias set to 0. It returns only the last cell state, so it runs once
    for each beginning of the sequences.
    """
    lstm = torch.nn.LSTM(W_x.shape[0], W_h.shape[0], batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        lstm.weight_ih_l0.copy_(torch.from_numpy(W_x.T))
        lstm.weight_hh_l0.copy_(torch.from_numpy(W_h.T))
        lstm.bias_ih_l0.copy_(torch.from_numpy(b))
        lstm.bias_hh_l0.zero_()
        start = torch.from_numpy(h_0)[None], torch.from_numpy(c_0)[None]
        runs = [lstm(torch.from_numpy(x[:, : t + 1]), start) for t in range(x.shape[1])]
    return runs[-1][0].numpy(), np.stack([c_t[0].numpy() for _, (_, c_t) in runs], axis=1)


EXAMPLE = Case(
    sizes={"B": 1, "T": 3, "D": 1, "H": 1},
    inputs={
        "x": np.array([[[1.00], [0.00], [0.50]]]),
        "h_0": np.array([[0.40]]),
        "c_0": np.array([[-0.50]]),
        "W_x": np.array([[4.00, 0.00, 2.00, 0.00]]),
        "W_h": np.array([[0.00, 0.00, 0.00, -2.00]]),
        "b": np.array([-2.00, 3.00, 0.00, 1.00]),
    },
)


def case(rng, B, T, D, H, kind="ordinary"):
    return Case(
        sizes={"B": B, "T": T, "D": D, "H": H},
        inputs={
            "x": rng.normal(size=(B, T, D)),
            "h_0": rng.uniform(-0.9, 0.9, size=(B, H)),
            "c_0": 1.5 * rng.normal(size=(B, H)),
            "W_x": rng.normal(size=(D, 4 * H)) / np.sqrt(D),
            "W_h": rng.normal(size=(H, 4 * H)) / np.sqrt(H),
            "b": rng.normal(size=4 * H),
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
    outputs=[Output("h", ("B", "T", "H")), Output("c", ("B", "T", "H"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("several time steps", share=3, kinds=("ordinary",)),
        Facet("one time step", share=1, kinds=("T = 1",)),
    ],
    gates=[Gates("ifgo", inputs=("W_x", "W_h", "b"))],
    why="""
Two states are passed from step to step, and both are replaced at each step by what the step returns. The cell state is
a state in its own right: it cannot be computed from the hidden state, because the output gate hides a part of it. That
is why a network that continues a text later, or a gradient that arrives later, needs both. The backward pass of the
next notebook needs all cell states, so they are returned as well.
""",
)

LISTS = "h, c, h_t, c_t = [], [], h_0, c_0"
STEP = "lstm_step(x[:, t], h_t, c_t, W_x, W_h, b)"
STACKED = "np.stack(h, axis=1), np.stack(c, axis=1)"

SPEC.mistake(
    "c_0_used_at_every_step",
    "You start every step from the initial cell state. Pass each step the cell state that the previous step returned, "
    "because otherwise nothing that a step writes is kept.",
    change(STEP, STEP.replace("c_t", "c_0")),
    tempts="The hidden state is carried as in the tanh network, and the second state is overlooked.",
    keeps=["one time step"],
)
SPEC.mistake(
    "h_0_used_at_every_step",
    "You start every step from the initial hidden state. Pass each step the hidden state that the previous step "
    "returned, because the gates read it.",
    change(STEP, STEP.replace("h_t", "h_0")),
    tempts="h_0 is in scope inside the loop, and each step looks right by itself.",
    keeps=["one time step"],
)
SPEC.mistake(
    "initial_states_used_at_every_step",
    "You start every step from `h_0` and `c_0`. Pass each step the two states that the previous step returned, because "
    "otherwise no state depends on earlier inputs.",
    change(STEP, STEP.replace("h_t, c_t", "h_0, c_0")),
    tempts="h_0 and c_0 are in scope inside the loop, and each step looks right by itself.",
    keeps=["one time step"],
)
SPEC.mistake(
    "starts_from_zero",
    "You start from zero states. Start from `h_0` and `c_0`, which are not zero here.",
    change(LISTS, "h, c, h_t, c_t = [], [], np.zeros_like(h_0), np.zeros_like(c_0)"),
    tempts="PyTorch starts from zero states unless it is given others.",
)
SPEC.mistake(
    "h_t_used_as_the_cell_state",
    "You pass the hidden state on as the cell state too. Keep both states in variables of their own: the cell state "
    "cannot be computed from the hidden state, because the output gate hides a part of it.",
    change(STEP, STEP.replace("c_t", "h_t if t else c_0")),
    tempts="The tanh network carries one state, and one variable seems to be enough.",
    keeps=["one time step"],
)
SPEC.mistake(
    "h_and_c_exchanged",
    "You exchange the two states. `lstm_step` returns `h_t, c_t` and takes `h_prev` before `c_prev`: "
    "the hidden state comes first in both.",
    change("h_t, c_t = lstm_step", "c_t, h_t = lstm_step"),
    change(STEP, STEP.replace("h_t, c_t", "c_t, h_t")),
    tempts="The cell state is computed first, so it is expected first.",
)
SPEC.mistake(
    "h_and_c_exchanged_on_the_way",
    "Your first step is right, but the two states that you pass on to the next step are exchanged. `lstm_step` returns "
    "`h_t, c_t` and takes `h_prev` before `c_prev`: the hidden state comes first in both.",
    change(
        "h_t, c_t = lstm_step",
        "c_t, h_t = lstm_step",
        ("h.append(h_t)", "h.append(c_t)"),
        ("c.append(c_t)", "c.append(h_t)"),
    ),
    tempts="The first step takes h_0 and c_0 in the right order, and the loop looks as if it did the same.",
    keeps=["one time step"],
)
SPEC.mistake(
    "stored_before_the_step",
    "You store a state before the step has updated it, so a result begins with an initial state. Store both states "
    "after the step, because `h[:, 0]` and `c[:, 0]` are the states after reading `x[:, 0]`.",
    change(f"h_t, c_t = {STEP}\nh.append(h_t)\nc.append(c_t)", f"h.append(h_t)\nc.append(c_t)\nh_t, c_t = {STEP}"),
    change(f"h_t, c_t = {STEP}\nh.append(h_t)\nc.append(c_t)", f"h.append(h_t)\nh_t, c_t = {STEP}\nc.append(c_t)"),
    change(f"h_t, c_t = {STEP}\nh.append(h_t)\nc.append(c_t)", f"c.append(c_t)\nh_t, c_t = {STEP}\nh.append(h_t)"),
    change(LISTS, "h, c, h_t, c_t = [h_0], [c_0], h_0, c_0"),
    tempts="Each step needs the previous states, so they are put into the lists before it.",
)
SPEC.mistake(
    "first_input_skipped",
    "You never read the first input. Start the loop at index 0, because Python counts from 0: `h[:, 0]` and `c[:, 0]` "
    "are the states after reading `x[:, 0]`.",
    change("range(x.shape[1])", "range(1, x.shape[1])"),
    change(LISTS, "h, c, h_t, c_t = [h_0], [c_0], h_0, c_0", ("range(x.shape[1])", "range(1, x.shape[1])")),
    change(
        LISTS,
        "h, c, h_t, c_t = [np.zeros_like(h_0)], [np.zeros_like(c_0)], h_0, c_0",
        ("range(x.shape[1])", "range(1, x.shape[1])"),
    ),
    tempts="Equations count from 1, so h[:, 0] is taken for h_0 and the loop starts at 1.",
)
SPEC.mistake(
    "loops_backward",
    "You read the inputs from the last step to the first. Start with the first step, because each step needs the "
    "states that the previous step returned; only the backward pass runs from the end.",
    change("range(x.shape[1])", "reversed(range(x.shape[1]))"),
    change(
        "range(x.shape[1])",
        "reversed(range(x.shape[1]))",
        (STACKED, STACKED.replace("(h", "(h[::-1]").replace("(c", "(c[::-1]")),
    ),
    tempts="The loop is copied from `rnn_backward` of chapter 02.",
    keeps=["one time step"],
)
SPEC.mistake(
    "same_states_twice",
    "You return the same states twice. Store `h_t` in `h` and `c_t` in `c`, and create two arrays: `h = c = …` gives "
    "two names to a single array.",
    change("c.append(c_t)", "c.append(h_t)"),
    change("h.append(h_t)", "h.append(c_t)"),
    tempts="The line that stores the hidden state is copied, or both arrays are created in one line.",
)
SPEC.mistake(
    "last_states_only",
    "You return only the last state where the states of all steps belong. Return the hidden and the cell states of all "
    "steps, each with shape (B, T, H): any step may have an output, and the backward pass needs all cell states.",
    change(f"return {STACKED}", "return h_t, c_t"),
    change(STACKED, "np.stack(h, axis=1), c_t"),
    tempts="PyTorch's LSTM returns the hidden states of all steps, but only the last cell state.",
)
SPEC.mistake(
    "time_axis_first",
    "You return arrays with time as their first axis, (T, B, H). Stack the states along the second axis, because the "
    "batch comes first in this course: (B, T, H).",
    change(STACKED, "np.array(h), np.array(c)"),
    tempts="np.array of a list of states puts time first, as PyTorch does by default.",
)
SPEC.mistake(
    "lists_of_states",
    "You return lists of the T states. Stack each list along axis 1 into one array of shape (B, T, H).",
    change(STACKED, "h, c"),
    tempts="All states are there, so it is easily forgotten that they are in lists.",
)
SPEC.mistake(
    "first_states_only",
    "You return only the states after the first step. Check whether `return` is inside the loop, where it ends the "
    "function in the first pass.",
    change("range(x.shape[1])", "range(1)"),
    tempts="One indentation too many puts the return into the loop.",
    keeps=["one time step"],
)
SPEC.mistake(
    "loops_over_the_batch",
    "You take the inputs along the first axis of `x`, which is the batch. Take them along the second axis, time: the "
    "input of step `t` is `x[:, t]`.",
    change("for t in range(x.shape[1]):", "for x_t in x:", (STEP, STEP.replace("x[:, t]", "x_t"))),
    change("x[:, t]", "x[t]"),
    tempts="`for x_t in x` reads like the equation, but it runs along the first axis, the batch.",
)


def logistic(a):
    return 1 / (1 + np.exp(-a))


@SPEC.alternative
def filled_in_place(x, h_0, c_0, W_x, W_h, b):
    """Preallocated arrays, and a single product for the inputs of all steps."""
    drive, H = x @ W_x + b, len(W_h)
    h, c = np.empty((2, *x.shape[:2], H))
    for t in range(x.shape[1]):
        a = drive[:, t] + (h[:, t - 1] if t > 0 else h_0) @ W_h
        i, f, o = logistic(a[:, :H]), logistic(a[:, H : 2 * H]), logistic(a[:, 3 * H :])
        c[:, t] = f * (c[:, t - 1] if t > 0 else c_0) + i * np.tanh(a[:, 2 * H : 3 * H])
        h[:, t] = o * np.tanh(c[:, t])
    return h, c


@SPEC.alternative
def time_first_and_back(x, h_0, c_0, W_x, W_h, b):
    """Time moved to the front and back again, pairs of states in one list: the results are views."""
    states = [(h_0, c_0)]
    for x_t in x.swapaxes(0, 1):
        h, c = states[-1]
        i, f, g, o = np.split(x_t @ W_x + h @ W_h + b, 4, axis=1)
        c = logistic(f) * c + logistic(i) * np.tanh(g)
        states.append((logistic(o) * np.tanh(c), c))
    both = np.array(states[1:])  # (T, 2, B, H)
    return tuple(both.transpose(1, 2, 0, 3))
