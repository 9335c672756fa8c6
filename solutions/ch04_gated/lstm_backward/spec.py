"""How `lstm_backward` is checked: against autograd through `torch.nn.LSTM`, one facet for each of the six gradients."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Gates, Output, Spec, change, instead


def oracle(dh, dc_T, x, h_0, c_0, W_x, W_h, b):
    """Autograd through PyTorch's own LSTM in float64; only the sum of its two biases matters."""
    D, H = len(W_x), len(W_h)
    lstm = torch.nn.LSTM(D, H, batch_first=True, dtype=torch.float64)
    given = {"weight_ih_l0": W_x.T, "weight_hh_l0": W_h.T, "bias_ih_l0": b, "bias_hh_l0": 0 * b}
    lstm.load_state_dict({name: torch.from_numpy(array.copy()) for name, array in given.items()})
    inputs, h, c = states = [torch.from_numpy(array.copy()).requires_grad_() for array in (x, h_0, c_0)]
    outputs, (_, c_T) = lstm(inputs, (h[None], c[None]))
    weights = lstm.weight_ih_l0, lstm.weight_hh_l0, lstm.bias_ih_l0
    upstream = torch.from_numpy(dh), torch.from_numpy(dc_T)[None]
    dx, dh_0, dc_0, dW_x, dW_h, db = torch.autograd.grad([outputs, c_T], [*states, *weights], upstream)
    return tuple(gradient.numpy() for gradient in (dx, dh_0, dc_0, dW_x.T, dW_h.T, db))


EXAMPLE = Case(
    sizes={"B": 1, "T": 2, "D": 1, "H": 1},
    inputs={
        "dh": np.array([[[-0.60], [1.40]]]),
        "dc_T": np.array([[0.30]]),
        "x": np.array([[[0.50], [-1.00]]]),
        "h_0": np.array([[0.20]]),
        "c_0": np.array([[-0.80]]),
        "W_x": np.array([[0.50, -0.30, 0.40, 0.80]]),
        "W_h": np.array([[0.25, 0.60, -0.90, 0.35]]),
        "b": np.array([0.20, 1.79, -1.27, -1.26]),
    },
)


def case(rng, B, T, D, H, at=slice(None), kind="ordinary"):
    """`at` are the steps with an output."""
    dh = np.zeros((B, T, H))
    dh[:, at] = rng.normal(size=(B, T, H))[:, at]
    return Case(
        sizes={"B": B, "T": T, "D": D, "H": H},
        inputs={
            "dh": dh,
            "dc_T": rng.normal(size=(B, H)),
            "x": rng.normal(size=(B, T, D)),
            "h_0": rng.uniform(-0.9, 0.9, size=(B, H)),
            "c_0": rng.normal(size=(B, H)),
            "W_x": rng.normal(size=(D, 4 * H)) / np.sqrt(D),
            "W_h": rng.normal(size=(H, 4 * H)) / np.sqrt(H),
            "b": 0.5 * rng.normal(size=4 * H),
        },
        kind=kind,
    )


def cases(rng):
    yield case(rng, B=2, T=5, D=3, H=4)
    yield case(rng, B=3, T=3, D=3, H=3)
    yield case(rng, B=1, T=4, D=2, H=3)
    yield case(rng, B=3, T=4, D=1, H=1)
    yield case(rng, B=3, T=6, D=2, H=4, at=slice(-1, None), kind="a loss at the last step only")
    yield case(rng, B=2, T=4, D=3, H=2, at=slice(1), kind="a loss at the first step only")
    yield case(rng, B=3, T=1, D=2, H=4, kind="T = 1")
    yield case(rng, B=2, T=1, D=1, H=3, kind="T = 1")
    large = case(rng, B=4, T=5, D=2, H=3)
    yield Case(large.sizes, {**large.inputs, "dh": 30 * large.inputs["dh"]})  # clipped gradients would show here


SPEC = Spec(
    outputs=[
        Output("dx", ("B", "T", "D"), backward=True),
        Output("dh_0", ("B", "H")),
        Output("dc_0", ("B", "H")),
        Output("dW_x", ("D", "4H")),
        Output("dW_h", ("H", "4H")),
        Output("db", ("4H",)),
    ],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    gates=[Gates("ifgo", inputs=("W_x", "W_h", "b"), outputs=("dW_x", "dW_h", "db"))],
    facets=[
        Facet("dx", share=1, outputs=("dx",)),
        Facet("dh_0", share=1, outputs=("dh_0",)),
        Facet("dc_0", share=1, outputs=("dc_0",)),
        Facet("dW_x", share=1, outputs=("dW_x",)),
        Facet("dW_h", share=1, outputs=("dW_h",)),
        Facet("db", share=1, outputs=("db",)),
    ],
)
RETURNED = "return dx, dh_next, dc_next, dW_x, dW_h, db"
CARRIED = "dh_t = dh[:, t] + dh_next"
START = "dh_next, dc_next = np.zeros(h_0.shape), dc_T"
REPLACED = "dx_t, dh_next, dc_next, dW_x_t, dW_h_t, db_t"
LOOP = "reversed(range(x.shape[1]))"
COUNTS = "len(x)", "x.shape[1]", "(len(x) * x.shape[1])"
FORWARD = "h, c = lstm_forward(x, h_0, c_0, W_x=W_x, W_h=W_h, b=b)"
BEFORE = "h_prev = h[:, t - 1] if t > 0 else h_0\nc_prev = c[:, t - 1] if t > 0 else c_0"

SPEC.mistakes(
    {
        "dc_next_not_carried": [
            change(CARRIED, "dh_t, dc_next = dh[:, t] + dh_next, dc_T if t == x.shape[1] - 1 else np.zeros(h_0.shape)"),
            change(CARRIED, "dh_t, dc_next = dh[:, t] + dh_next, dc_T"),
            change(CARRIED, "dh_t, dc_next = dh[:, t] + dh_next, np.zeros(h_0.shape)"),
        ],
        **instead(
            START,
            {
                "dc_T_left_out": "dh_next, dc_next = np.zeros(h_0.shape), np.zeros(c_0.shape)",
                "last_dh_counted_twice": "dh_next, dc_next = dh[:, -1], dc_T",
            },
        ),
        "dc_T_added_at_every_step": [
            change(CARRIED, "dh_t, dc_next = dh[:, t] + dh_next, dc_T + dc_next"),
            change(
                START,
                "dh_next, dc_next = np.zeros(h_0.shape), np.zeros(h_0.shape)",
                (CARRIED, "dh_t, dc_next = dh[:, t] + dh_next, dc_T + dc_next"),
            ),
        ],
        "dh_next_not_added": change("dh[:, t] + dh_next", "dh[:, t]"),
        "nothing_carried": [
            change(CARRIED, "dh_t, dc_next = dh[:, t], dc_T if t == x.shape[1] - 1 else np.zeros(h_0.shape)"),
            change(CARRIED, "dh_t, dc_next = dh[:, t], np.zeros(h_0.shape)"),
            change(CARRIED, "dh_t, dc_next = dh[:, t], dc_T"),
        ],
        "dh_used_at_the_last_step_only": change(
            START, "dh_next, dc_next = dh[:, -1], dc_T", ("dh[:, t] + dh_next", "dh_next")
        ),
        "dh_next_accumulated": [
            change(
                REPLACED,
                "dx_t, dh_prev, dc_next, dW_x_t, dW_h_t, db_t",
                ("dx[:, t] = dx_t", "dx[:, t] = dx_t\ndh_next = dh_next + dh_prev"),
            ),
            change(
                REPLACED,
                "dx_t, dh_prev, dc_next, dW_x_t, dW_h_t, db_t",
                ("dx[:, t] = dx_t", "dx[:, t] = dx_t\ndh_next = dh_t + dh_prev"),
            ),
        ],
        "dc_next_accumulated": change(
            REPLACED,
            "dx_t, dh_next, dc_prev, dW_x_t, dW_h_t, db_t",
            ("dx[:, t] = dx_t", "dx[:, t] = dx_t\ndc_next = dc_next + dc_prev"),
        ),
        "dh_next_and_dc_next_accumulated": change(
            REPLACED,
            "dx_t, dh_prev, dc_prev, dW_x_t, dW_h_t, db_t",
            ("dx[:, t] = dx_t", "dx[:, t] = dx_t\ndh_next, dc_next = dh_next + dh_prev, dc_next + dc_prev"),
        ),
        "dh_next_and_dc_next_exchanged": [
            change(REPLACED, "dx_t, dc_next, dh_next, dW_x_t, dW_h_t, db_t"),
            change(CARRIED, "dh_t, dc_next = dh[:, t] + dc_next, dh_next"),
        ],
        "dh_and_dc_exchanged_in_the_call": change("dh_t, dc_next, x[:, t]", "dc_next, dh_t, x[:, t]"),
        **instead(
            LOOP,
            {
                "loops_forward": "range(x.shape[1])",
                "first_step_left_out": "range(x.shape[1] - 1, 0, -1)",
                "last_step_left_out": "range(x.shape[1] - 2, -1, -1)",
            },
        ),
        "c_prev_is_c_t": change("c_prev = c[:, t - 1] if t > 0 else c_0", "c_prev = c[:, t]"),
        "h_prev_is_h_t": change("h_prev = h[:, t - 1] if t > 0 else h_0", "h_prev = h[:, t]"),
        "states_one_step_late": change(
            "h_prev = h[:, t - 1] if t > 0 else h_0\nc_prev = c[:, t - 1] if t > 0 else c_0",
            "h_prev, c_prev = h[:, t], c[:, t]",
        ),
        "states_one_step_early": [
            change(BEFORE, "h_prev, c_prev = (h[:, t - 2], c[:, t - 2]) if t > 1 else (h_0, c_0)"),
            change(
                BEFORE,
                "h_prev, c_prev = (h_0, c_0) if t == 1 else (h[:, t - 2 if t else -1], c[:, t - 2 if t else -1])",
            ),
        ],
        "states_wrap_around": [
            change(
                "c_prev = c[:, t - 1] if t > 0 else c_0",
                "c_prev = c[:, t - 1]",
                ("h[:, t - 1] if t > 0 else h_0", "h[:, t - 1]"),
            ),
            change("c[:, t - 1] if t > 0 else c_0", "c[:, t - 1]"),
            change("h[:, t - 1] if t > 0 else h_0", "h[:, t - 1]"),
        ],
        "zero_initial_states": [
            change("else c_0", "else np.zeros(c_0.shape)", ("else h_0", "else np.zeros(h_0.shape)")),
            change("else c_0", "else np.zeros(c_0.shape)"),
            change("else h_0", "else np.zeros(h_0.shape)"),
        ],
        "h_and_c_exchanged": [
            change(FORWARD, "c, h = lstm_forward(x, h_0, c_0, W_x, W_h, b)"),
            change("h_prev, c_prev, W_x", "c_prev, h_prev, W_x"),
        ],
        "initial_states_at_every_step": [
            change(BEFORE, "h_prev, c_prev = h_0, c_0"),
            change("h[:, t - 1] if t > 0 else h_0", "h_0"),
            change("c[:, t - 1] if t > 0 else c_0", "c_0"),
        ],
        "forward_from_zero_states": [
            change(FORWARD, "h, c = lstm_forward(x, np.zeros(h_0.shape), np.zeros(c_0.shape), W_x, W_h, b)"),
            change(
                FORWARD,
                "h_0, c_0 = np.zeros(h_0.shape), np.zeros(c_0.shape)\nh, c = lstm_forward(x, h_0, c_0, W_x, W_h, b)",
            ),
        ],
        "dh_next_starts_with_dc_T": [
            change(START, "dh_next, dc_next = dc_T, np.zeros(c_0.shape)"),
            change(START, "dh_next, dc_next = dc_T, dc_T"),
        ],
        "dh_added_to_dc_next": [
            change(CARRIED, "dh_t, dc_next = dh[:, t] + dh_next, dc_next + dh[:, t]"),
            change(CARRIED, "dh_t, dc_next = dh[:, t] + dh_next, dc_next + dh_next"),
            change(CARRIED, "dh_t, dc_next = dh[:, t] + dh_next, dc_next + dh[:, t] + dh_next"),
            change(
                CARRIED,
                "dh_t = dh[:, t] + dh_next\n_, _, _, o = lstm_gates(x[:, t], h_prev, W_x, W_h, b)\n"
                "dc_next = dc_next + dh_t * o * (1 - np.tanh(c[:, t]) ** 2)",
            ),
        ],
        "steps_counted_by_the_batch": change("range(x.shape[1])", "range(x.shape[0])"),
        "in_place": change(CARRIED, "dh_t = dh[:, t]\ndh_t += dh_next"),
    }
)
SPEC.mistakes(
    {
        "overwritten": change(
            "dW_x += dW_x_t", "dW_x = dW_x_t", ("dW_h += dW_h_t", "dW_h = dW_h_t"), ("db += db_t", "db = db_t")
        ),
        "last_step_only": change(
            "dW_x += dW_x_t\ndW_h += dW_h_t\ndb += db_t",
            "if t == x.shape[1] - 1:\n    dW_x, dW_h, db = dW_x_t, dW_h_t, db_t",
        ),
        "averaged": [
            *(change(RETURNED, f"return dx, dh_next, dc_next, dW_x / {n}, dW_h / {n}, db / {n}") for n in COUNTS)
        ],
        "weight_gradients_clipped": [
            *(
                change(
                    RETURNED, f"return dx, dh_next, dc_next, *(np.clip(d, -{most}, {most}) for d in (dW_x, dW_h, db))"
                )
                for most in (1, 5)
            )
        ],
    },
    keeps=["dx", "dh_0", "dc_0"],
)
SPEC.mistakes(
    {
        "dc_0_is_dc_T": [
            change(RETURNED, "return dx, dh_next, dc_T, dW_x, dW_h, db"),
            change(RETURNED, "return dx, dh_next, np.zeros(c_0.shape), dW_x, dW_h, db"),
        ],
        "dc_0_is_that_of_the_first_cell_state": change(
            CARRIED,
            "dh_t, received = dh[:, t] + dh_next, dc_next",
            (RETURNED, "return dx, dh_next, received, dW_x, dW_h, db"),
        ),
    },
    keeps=["dx", "dh_0", "dW_x", "dW_h", "db"],
)
SPEC.mistakes(
    {
        "dh_0_is_that_of_the_first_state": [
            change(RETURNED, "return dx, dh[:, 0], dc_next, dW_x, dW_h, db"),
            change(RETURNED, "return dx, dh_t, dc_next, dW_x, dW_h, db"),
            change(RETURNED, "return dx, dh_next + dh[:, 0], dc_next, dW_x, dW_h, db"),
            change(RETURNED, "return dx, np.zeros(h_0.shape), dc_next, dW_x, dW_h, db"),
        ],
    },
    keeps=["dx", "dc_0", "dW_x", "dW_h", "db"],
)
SPEC.mistakes(
    {
        "dx_in_the_order_of_the_loop": change("dx[:, t] = dx_t", "dx[:, -1 - t] = dx_t"),
    },
    keeps=["dh_0", "dc_0", "dW_x", "dW_h", "db"],
)


@SPEC.alternative
def without_the_step(dh, dc_T, x, h_0, c_0, W_x, W_h, b):
    """Stores the gates of the forward pass; the loop computes only da, and all sums follow after it."""
    H, steps = len(W_h), range(x.shape[1])
    h, c, gates = [h_0], [c_0], []
    for t in steps:
        a_i, a_f, a_g, a_o = np.split(x[:, t] @ W_x + h[-1] @ W_h + b, 4, axis=1)
        i, f, g, o = 1 / (1 + np.exp(-a_i)), 1 / (1 + np.exp(-a_f)), np.tanh(a_g), 1 / (1 + np.exp(-a_o))
        gates.append((i, f, g, o))
        c.append(f * c[-1] + i * g)
        h.append(o * np.tanh(c[-1]))
    da, dh_next, dc = np.zeros((*x.shape[:2], 4 * H)), 0, dc_T
    for t in steps[::-1]:
        (i, f, g, o), dh_t, tanh_c = gates[t], dh[:, t] + dh_next, np.tanh(c[t + 1])
        dc = dc + dh_t * o * (1 - tanh_c**2)
        da[:, t, :H] = dc * g * i * (1 - i)
        da[:, t, H : 2 * H] = dc * c[t] * f * (1 - f)
        da[:, t, 2 * H : 3 * H] = dc * i * (1 - g**2)
        da[:, t, 3 * H :] = dh_t * tanh_c * o * (1 - o)
        dc, dh_next = dc * f, da[:, t] @ W_h.T
    before = np.stack(h[:-1], axis=1)
    dW_x, dW_h = np.einsum("btd,btk->dk", x, da), np.einsum("bth,btk->hk", before, da)
    return da @ W_x.T, dh_next, dc, dW_x, dW_h, da.sum(axis=(0, 1))


@SPEC.alternative
def by_recursion(dh, dc_T, x, h_0, c_0, W_x, W_h, b):
    """One step forward, the rest of the sequence by the same function, then one step backward."""
    a_i, a_f, a_g, a_o = np.split(x[:, 0] @ W_x + h_0 @ W_h + b, 4, axis=1)
    i, f, g, o = 1 / (1 + np.exp(-a_i)), 1 / (1 + np.exp(-a_f)), np.tanh(a_g), 1 / (1 + np.exp(-a_o))
    c_t = f * c_0 + i * g
    later, dh_t, dc, sums = [], dh[:, 0], dc_T, (0, 0, 0)
    if x.shape[1] > 1:
        rest = by_recursion(dh[:, 1:], dc_T, x[:, 1:], o * np.tanh(c_t), c_t, W_x, W_h, b)
        later, dh_t, dc, sums = [rest[0]], dh_t + rest[1], rest[2], rest[3:]
    dc = dc + dh_t * o / np.cosh(c_t) ** 2
    da = np.hstack([dc * g * (i - i**2), dc * c_0 * (f - f**2), dc * i * (1 - g**2), dh_t * np.tanh(c_t) * (o - o**2)])
    dx = np.concatenate([(da @ W_x.T)[:, None], *later], axis=1)
    return dx, da @ W_h.T, dc * f, sums[0] + x[:, 0].T @ da, sums[1] + h_0.T @ da, sums[2] + da.sum(axis=0)
