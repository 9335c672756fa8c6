"""How `lstm_forward` is checked: against `torch.nn.LSTM`, and for the cell states `torch.nn.LSTMCell`."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Gates, Output, Spec, change, instead


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
)
LISTS = "h, c, h_t, c_t = [], [], h_0, c_0"
STEP = "lstm_step(x[:, t], h_t, c_t, W_x, W_h, b)"
STACKED = "np.stack(h, axis=1), np.stack(c, axis=1)"


def logistic(a):
    return 1 / (1 + np.exp(-a))


SPEC.mistakes(
    {
        **instead(
            STEP,
            {
                "c_0_used_at_every_step": STEP.replace("c_t", "c_0"),
                "h_0_used_at_every_step": STEP.replace("h_t", "h_0"),
                "initial_states_used_at_every_step": STEP.replace("h_t, c_t", "h_0, c_0"),
                "h_t_used_as_the_cell_state": STEP.replace("c_t", "h_t if t else c_0"),
            },
        ),
        "h_and_c_exchanged_on_the_way": change(
            "h_t, c_t = lstm_step",
            "c_t, h_t = lstm_step",
            ("h.append(h_t)", "h.append(c_t)"),
            ("c.append(c_t)", "c.append(h_t)"),
        ),
        "loops_backward": [
            change("range(x.shape[1])", "reversed(range(x.shape[1]))"),
            change(
                "range(x.shape[1])",
                "reversed(range(x.shape[1]))",
                (STACKED, STACKED.replace("(h", "(h[::-1]").replace("(c", "(c[::-1]")),
            ),
        ],
        "first_states_only": change("range(x.shape[1])", "range(1)"),
        "one_array_for_all_steps": change(
            LISTS,
            "h, c, h_t, c_t = [], [], h_0.copy(), c_0.copy()",
            ("h_t, c_t = lstm_step", "h_t[:], c_t[:] = lstm_step"),
        ),
        "axes_exchanged_by_reshape": change(
            STACKED, ", ".join(f"np.array({states}).reshape(*x.shape[:2], -1)" for states in "hc")
        ),
        "last_column_read_at_the_first_step": change(
            "for t in",
            "if x.shape[1] > 1:\n    h_t, c_t = np.zeros_like(h_0), np.zeros_like(c_0)\nfor t in",
        ),
    },
    keeps=["one time step"],
)
SPEC.mistakes(
    {
        "starts_from_zero": change(LISTS, "h, c, h_t, c_t = [], [], np.zeros_like(h_0), np.zeros_like(c_0)"),
        "h_and_c_exchanged": [
            change("h_t, c_t = lstm_step", "c_t, h_t = lstm_step"),
            change(STEP, STEP.replace("h_t, c_t", "c_t, h_t")),
        ],
        "stored_before_the_step": [
            change(
                f"h_t, c_t = {STEP}\nh.append(h_t)\nc.append(c_t)", f"h.append(h_t)\nc.append(c_t)\nh_t, c_t = {STEP}"
            ),
            change(
                f"h_t, c_t = {STEP}\nh.append(h_t)\nc.append(c_t)", f"h.append(h_t)\nh_t, c_t = {STEP}\nc.append(c_t)"
            ),
            change(
                f"h_t, c_t = {STEP}\nh.append(h_t)\nc.append(c_t)", f"c.append(c_t)\nh_t, c_t = {STEP}\nh.append(h_t)"
            ),
            change(LISTS, "h, c, h_t, c_t = [h_0], [c_0], h_0, c_0"),
        ],
        "first_input_skipped": [
            change("range(x.shape[1])", "range(1, x.shape[1])"),
            change(LISTS, "h, c, h_t, c_t = [h_0], [c_0], h_0, c_0", ("range(x.shape[1])", "range(1, x.shape[1])")),
            change(
                LISTS,
                "h, c, h_t, c_t = [np.zeros_like(h_0)], [np.zeros_like(c_0)], h_0, c_0",
                ("range(x.shape[1])", "range(1, x.shape[1])"),
            ),
        ],
        "same_states_twice": [change("c.append(c_t)", "c.append(h_t)"), change("h.append(h_t)", "h.append(c_t)")],
        "last_states_only": [
            change(f"return {STACKED}", "return h_t, c_t"),
            change(STACKED, "np.stack(h, axis=1), c_t"),
        ],
        **instead(
            STACKED,
            {
                "time_axis_first": "np.array(h), np.array(c)",
                "lists_of_states": "h, c",
            },
        ),
        "loops_over_the_batch": [
            change("for t in range(x.shape[1]):", "for x_t in x:", (STEP, STEP.replace("x[:, t]", "x_t"))),
            change("x[:, t]", "x[t]"),
        ],
    }
)


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
