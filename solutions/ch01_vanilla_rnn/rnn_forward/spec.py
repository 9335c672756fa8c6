"""How `rnn_forward` is checked: against `torch.nn.RNN`."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Output, Spec, change, instead


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
)

SPEC.mistakes(
    {
        "h_0_used_at_every_step": change("rnn_step(x[:, t], h_t, W_xh", "rnn_step(x[:, t], h_0, W_xh"),
        "one_array_for_all_steps": change(
            "h, h_t = [], h_0", "h, h_t = [], h_0.copy()", ("h_t = rnn_step(", "h_t[:] = rnn_step(")
        ),
        "first_state_only": change("range(x.shape[1])", "range(1)"),
        "earlier_state_reused": [
            change("x[:, t], h_t,", "x[:, t], h[0] if h else h_0,"),
            change("x[:, t], h_t,", "x[:, t], h[t - 2] if t > 1 else h_0,"),
            change("x[:, t], h_t,", "x[:, t], h[max(t - 2, 0)] if h else h_0,"),
        ],
        "pre_activation_passed_on": change(
            "h_t = rnn_step(x[:, t], h_t, W_xh, W_hh, b_h)",
            "h_t = x[:, t] @ W_xh + h_t @ W_hh + b_h",
            ("h.append(h_t)", "h.append(np.tanh(h_t))"),
        ),
        "reshaped_not_transposed": change("np.stack(h, axis=1)", "np.array(h).reshape(len(x), x.shape[1], -1)"),
    },
    keeps=["one time step"],
)
SPEC.mistakes(
    {
        "starts_from_zero": change("h, h_t = [], h_0", "h, h_t = [], np.zeros_like(h_0)"),
        "h_0_comes_first": [
            change("h, h_t = [], h_0", "h, h_t = [h_0], h_0"),
            change("h, h_t = [], h_0", "h, h_t = [h_0], h_0", ("np.stack(h, ", "np.stack(h[:-1], ")),
        ],
        "first_input_skipped": [
            change("h, h_t = [], h_0", "h, h_t = [h_0], h_0", ("range(x.shape[1])", "range(1, x.shape[1])")),
            change("range(x.shape[1])", "range(1, x.shape[1])"),
        ],
        "last_state_only": change("return np.stack(h, axis=1)", "return h_t"),
        **instead(
            "np.stack(h, axis=1)",
            {
                "time_axis_first": "np.array(h)",
                "steps_concatenated": "np.concatenate(h, axis=1)",
                "list_of_states": "h",
            },
        ),
        "loops_over_the_batch": [
            change("for t in range(x.shape[1]):", "for x_t in x:", ("rnn_step(x[:, t], ", "rnn_step(x_t, ")),
            change(
                "for t in range(x.shape[1]):",
                "for x_t in x:",
                ("x[:, t]", "x_t"),
                ("np.stack(h, axis=1)", "np.stack(h)"),
            ),
            change("x[:, t]", "x[t]"),
            change(
                "x[:, t]",
                "x[t]",
                ("h, h_t = []", "h, h_t = np.zeros((*x.shape[:2], len(b_h)))"),
                ("h.append(h_t)", "h[:, t] = h_t"),
                ("np.stack(h, axis=1)", "h"),
            ),
        ],
        "as_many_steps_as_rows": [
            change("x.shape[1]", "x.shape[0]"),
            change(
                "h, h_t = [], h_0",
                "h, h_t = np.zeros((*x.shape[:2], len(b_h))), h_0",
                ("range(x.shape[1])", "range(x.shape[0])"),
                ("h.append(h_t)", "h[:, t] = h_t"),
                ("np.stack(h, axis=1)", "h"),
            ),
        ],
        "last_step_missing": change("range(x.shape[1])", "range(x.shape[1] - 1)"),
        **instead(
            "rnn_step(x[:, t], h_t, W_xh, W_hh, b_h)",
            {
                "both_weights_transposed": "np.tanh(x[:, t] @ W_xh.T + h_t @ W_hh.T + b_h)",
                "no_tanh": "x[:, t] @ W_xh + h_t @ W_hh + b_h",
            },
        ),
    }
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
