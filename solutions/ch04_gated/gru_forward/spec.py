"""How `gru_forward` is checked: against `torch.nn.GRU`."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Gates, Output, Spec, change, instead


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


SPEC.mistakes(
    {
        "h_0_used_at_every_step": change("gru_step(x[:, t], h_t, ", "gru_step(x[:, t], h_0, "),
        "loops_backward": [
            change("range(x.shape[1])", "reversed(range(x.shape[1]))"),
            change("range(x.shape[1])", "reversed(range(x.shape[1]))", ("np.stack(h, ", "np.stack(h[::-1], ")),
        ],
        "first_state_only": change("range(x.shape[1])", "range(1)"),
        "one_array_for_all_steps": change(
            "h, h_t = [], h_0", "h, h_t = [], h_0.copy()", ("h_t = gru_step(", "h_t[:] = gru_step(")
        ),
        "axes_exchanged_by_reshape": change("np.stack(h, axis=1)", "np.array(h).reshape(*x.shape[:2], -1)"),
        "last_column_read_at_the_first_step": change(
            "h, h_t = [], h_0", "h, h_t = [], np.zeros_like(h_0) if x.shape[1] > 1 else h_0"
        ),
    },
    keeps=["one time step"],
)
SPEC.mistakes(
    {
        "starts_from_zero": change("h, h_t = [], h_0", "h, h_t = [], np.zeros_like(h_0)"),
        "cho_step_used": change("gru_step(", "gru_step_cho("),
        "update_gate_swapped": with_chung_s_update_gate,
        "h_0_comes_first": [
            change("h, h_t = [], h_0", "h, h_t = [h_0], h_0"),
            change("h, h_t = [], h_0", "h, h_t = [h_0], h_0", ("np.stack(h, ", "np.stack(h[:-1], ")),
        ],
        "first_input_skipped": [
            change("h, h_t = [], h_0", "h, h_t = [h_0], h_0", ("range(x.shape[1])", "range(1, x.shape[1])")),
            change(
                "h, h_t = [], h_0", "h, h_t = [np.zeros_like(h_0)], h_0", ("range(x.shape[1])", "range(1, x.shape[1])")
            ),
            change("range(x.shape[1])", "range(1, x.shape[1])"),
        ],
        **instead(
            "return np.stack(h, axis=1)",
            {
                "last_state_only": "return h_t",
                "last_state_too": "return np.stack(h, axis=1), h_t",
            },
        ),
        **instead(
            "np.stack(h, axis=1)",
            {
                "time_axis_first": "np.array(h)",
                "list_of_states": "h",
                "steps_concatenated": "np.concatenate(h, axis=1)",
            },
        ),
        "loops_over_the_batch": [
            change("for t in range(x.shape[1]):", "for x_t in x:", ("gru_step(x[:, t], ", "gru_step(x_t, ")),
            change(
                "for t in range(x.shape[1]):",
                "for x_t in x:",
                ("x[:, t]", "x_t"),
                ("np.stack(h, axis=1)", "np.stack(h)"),
            ),
            change("x[:, t]", "x[t]"),
        ],
        "as_many_steps_as_rows": change("x.shape[1]", "x.shape[0]"),
        "last_step_missing": change("range(x.shape[1])", "range(x.shape[1] - 1)"),
    }
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
