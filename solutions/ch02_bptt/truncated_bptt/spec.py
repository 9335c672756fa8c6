"""How `truncated_bptt` is checked: against PyTorch's autograd, with the state detached at each cut."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Output, Spec, change, instead, on_grid

WHOLE, SHORT, FULL, BY_HAND = "ordinary", "a short last chunk", "tau ≥ T", "the notebook's example"


def oracle(dh, x, h_0, h, W_xh, W_hh, tau):
    """Autograd through the recurrence. The loss is linear in the states, with coefficients dh; detach makes the cut."""
    dh, x, h_0, h = map(torch.from_numpy, (dh, x, h_0, h))
    W_xh, W_hh = (torch.tensor(W, requires_grad=True) for W in (W_xh, W_hh))
    db_h = torch.zeros(W_hh.shape[0], dtype=torch.float64, requires_grad=True)
    before = torch.cat([h_0[:, None], h[:, :-1]], dim=1)
    bias = (torch.atanh(h) - x @ W_xh - before @ W_hh).detach()  # not an input; it reproduces the states h
    state, loss = h_0, torch.zeros(())
    for t in range(x.shape[1]):
        if t % tau == 0:
            state = state.detach()
        state = torch.tanh(x[:, t] @ W_xh + state @ W_hh + bias[:, t] + db_h)
        loss = loss + (state * dh[:, t]).sum()
    return tuple(g.numpy() for g in torch.autograd.grad(loss, (W_xh, W_hh, db_h)))


def forward(x, h_0, W_xh, W_hh, b_h):
    states = [h_0]
    for x_t in np.moveaxis(x, 1, 0):
        states.append(np.tanh(x_t @ W_xh + states[-1] @ W_hh + b_h))
    return np.stack(states[1:], axis=1)


EXAMPLE = Case(
    sizes={"B": 1, "T": 5, "D": 1, "H": 1, "tau": 3},
    inputs={
        "dh": np.array([[[-0.64], [-0.20], [0.40], [-0.85], [2.50]]]),
        "x": np.array([[[1.00], [-1.50], [2.00], [2.50], [-1.00]]]),
        "h_0": np.array([[0.70]]),
        "h": np.array([[[-0.50], [0.60], [0.50], [-0.60], [0.80]]]),
        "W_xh": np.array([[0.75]]),
        "W_hh": np.array([[1.50]]),
        "tau": 3,
    },
    kind=BY_HAND,
)


def case(rng, B, T, D, H, tau, kind=WHOLE):
    x, h_0 = rng.normal(size=(B, T, D)), rng.uniform(-0.9, 0.9, size=(B, H))
    W_xh, W_hh = rng.normal(size=(D, H)) / np.sqrt(D), rng.normal(size=(H, H)) / np.sqrt(H)
    if H == 1:
        W_hh = rng.choice([-1, 1]) * rng.uniform(0.8, 1.2, size=(1, 1))
    h = on_grid(forward(x, h_0, W_xh, W_hh, rng.normal(size=H) / 4))
    inputs = {"dh": rng.normal(size=(B, T, H)), "x": x, "h_0": h_0, "h": h, "W_xh": W_xh, "W_hh": W_hh, "tau": tau}
    return Case({"B": B, "T": T, "D": D, "H": H, "tau": tau}, inputs, kind)


def cases(rng):
    yield case(rng, B=2, T=6, D=4, H=5, tau=3)
    yield case(rng, B=3, T=8, D=3, H=3, tau=2)
    yield case(rng, B=1, T=9, D=2, H=2, tau=3)
    yield case(rng, B=2, T=4, D=1, H=3, tau=1)
    yield case(rng, B=2, T=7, D=3, H=4, tau=3, kind=SHORT)
    yield case(rng, B=1, T=5, D=2, H=1, tau=3, kind=SHORT)
    yield case(rng, B=2, T=4, D=3, H=5, tau=4, kind=FULL)
    yield case(rng, B=3, T=4, D=2, H=3, tau=9, kind=FULL)
    yield case(rng, B=2, T=1, D=2, H=3, tau=2, kind=FULL)


SPEC = Spec(
    outputs=[Output("dW_xh", ("D", "H")), Output("dW_hh", ("H", "H")), Output("db_h", ("H",))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("whole chunks", 2, kinds=(WHOLE,)),
        Facet("a short last chunk", 1, kinds=(SHORT, BY_HAND)),
        Facet("tau ≥ T", 1, kinds=(FULL,)),
    ],
)
CUT = "if (t + 1) % tau == 0:\n    dh_next = np.zeros(h_0.shape)"
STEPS = "range(x.shape[1])"

SPEC.mistakes(
    {
        "gradient_crosses_cuts": change(CUT, ""),
        "state_reset_at_cuts": [
            change("if t > 0", "if t % tau else 0 * h_0 if t > 0"),
            change("if t > 0", "if t % tau"),
            change("if t > 0", "if t % tau else h[:, t] if t > 0"),
            change("if t > 0", "if t % tau else h[:, 0] if t > 0"),
        ],
        "last_chunk_only": [
            change(STEPS, "range((x.shape[1] - 1) // tau * tau, x.shape[1])"),
            change(STEPS, f"{STEPS}[-tau:]", (CUT, "")),
            change(STEPS, f"{STEPS}[:tau]"),
        ],
        "dh_dropped_between_chunks": change(
            "(dh[:, t] + dh_next)", "((t + 1) % tau > 0 or t + 1 == x.shape[1]) * (dh[:, t] + dh_next)"
        ),
        "dh_next_kept_between_chunks": change(
            f"for t in reversed({STEPS}):", f"for t in sorted(reversed({STEPS}), key=lambda t: t // tau):", (CUT, "")
        ),
        "one_cut_only": change("(t + 1) % tau == 0", "t + 1 == tau"),
        "chunks_one_step_longer": change("% tau", "% (tau + 1)"),
        "a_window_for_each_step": change(
            f"for t in reversed({STEPS}):",
            f"for end, t in [(end, t) for end in {STEPS} for t in reversed(range(end + 1)[-tau:])]:",
            (CUT, ""),
            ("(dh[:, t] + dh_next)", "(dh[:, t] if t == end else dh_next)"),
        ),
        "mean_over_chunks": change(
            "return dW_xh, dW_hh, db_h", "n = -(-x.shape[1] // tau)\nreturn dW_xh / n, dW_hh / n, db_h / n"
        ),
    },
    keeps=("tau ≥ T",),
)
SPEC.mistakes(
    {
        "dW_hh_from_h_t": [change("(h[:, t - 1] if t > 0 else h_0)", "h[:, t]"), change("t - 1", "t")],
        "h_wraps_around": change(" if t > 0 else h_0", ""),
        "W_hh_not_transposed": change("W_hh.T", "W_hh"),
        "dW_hh_transposed": change(
            "dW_hh += (h[:, t - 1] if t > 0 else h_0).T @ da_t", "dW_hh += da_t.T @ (h[:, t - 1] if t > 0 else h_0)"
        ),
        "W_hh_as_in_papers": change(
            "dW_hh += (h[:, t - 1] if t > 0 else h_0).T @ da_t",
            "dW_hh += da_t.T @ (h[:, t - 1] if t > 0 else h_0)",
            ("da_t @ W_hh.T", "(W_hh.T @ da_t.T).T"),
        ),
        "tau_as_the_number_of_chunks": [
            change("% tau", "% -(-x.shape[1] // tau)"),
            change("% tau", "% max(1, x.shape[1] // tau)"),
            change(
                "(t + 1) % tau == 0", "t in [part[-1] for part in np.array_split(range(x.shape[1]), tau) if len(part)]"
            ),
        ],
        "one_state_for_each_chunk": change(
            "(h[:, t - 1] if t > 0 else h_0)", "(h[:, t // tau * tau - 1] if t >= tau else h_0)"
        ),
        "overwritten": change("dW_xh +=", "dW_xh =", ("dW_hh +=", "dW_hh ="), ("db_h +=", "db_h =")),
        "dh_dropped_at_cuts": [
            change("(dh[:, t] + dh_next)", "((t + 1) % tau > 0) * (dh[:, t] + dh_next)"),
            change("(dh[:, t] + dh_next)", "((t + 1) % tau > 0 and t + 1 < x.shape[1]) * (dh[:, t] + dh_next)"),
        ],
        "cuts_one_step_off": [
            change("t + 1", "t"),
            change("t + 1", "t + 2"),
            change("t + 1", "t - 1"),
            change("% tau", "% max(1, tau - 1)"),
        ],
        "slope_left_out": change(" * (1 - h[:, t] ** 2)", ""),
        **instead(
            "h[:, t] ** 2",
            {
                "tanh_taken_again": "np.tanh(h[:, t]) ** 2",
                "slope_not_squared": "h[:, t]",
            },
        ),
        "slope_bracket_squared": change("(1 - h[:, t] ** 2)", "(1 - h[:, t]) ** 2"),
        "slope_for_one_source": [
            change("(dh[:, t] + dh_next) * (1", "dh[:, t] + dh_next * (1"),
            change("(dh[:, t] + dh_next) * (1 - h[:, t] ** 2)", "dh[:, t] * (1 - h[:, t] ** 2) + dh_next"),
        ],
        **instead(
            "dh_next = da_t @",
            {
                "dh_next_accumulated": "dh_next = dh_next + da_t @",
                "slope_left_out_of_dh_next": "dh_next = (dh[:, t] + dh_next) @",
            },
        ),
        "loops_forward": [
            change("reversed(range(x.shape[1]))", "range(x.shape[1])"),
            change("reversed(range(x.shape[1]))", "range(x.shape[1])", ("(t + 1) % tau", "t % tau")),
        ],
        "first_step_left_out": change("reversed(range(x.shape[1]))", "range(x.shape[1] - 1, 0, -1)"),
        "dh_used_at_chunk_ends_only": change(
            "(dh[:, t] + dh_next)", "(dh[:, t] * ((t + 1) % tau == 0 or t + 1 == x.shape[1]) + dh_next)"
        ),
        "first_steps_give_no_dW_hh": change(
            "dW_hh += (h[:, t - 1] if t > 0 else h_0)", "dW_hh += (t % tau > 0) * h[:, t - 1]"
        ),
    }
)
SPEC.mistakes(
    {
        "short_last_chunk_dropped": change(STEPS, "range(x.shape[1] // tau * tau)"),
    },
    keeps=("whole chunks",),
)
SPEC.mistakes(
    {
        "cuts_counted_from_the_end": change("(t + 1)", "(x.shape[1] - 1 - t)"),
    },
    keeps=("whole chunks", "tau ≥ T"),
)


@SPEC.alternative
def chunk_by_chunk(dh, x, h_0, h, W_xh, W_hh, tau):
    """Each chunk as a sequence of its own, which starts from the last state of the previous chunk."""
    total = None
    for start in range(0, x.shape[1], tau):
        s = slice(start, start + tau)
        h_before = h[:, start - 1] if start else h_0
        part = all_weights_at_once(dh[:, s], x[:, s], h_before, h[:, s], W_xh, W_hh, tau)
        total = part if total is None else tuple(a + b for a, b in zip(total, part, strict=True))
    return total


@SPEC.alternative
def forward_in_time(dh, x, h_0, h, W_xh, W_hh, tau):
    """Forward mode: the derivatives of the state with respect to all weights, set to zero at each cut."""
    (B, T, D), H = x.shape, h.shape[2]
    stack = np.concatenate([x, np.concatenate([h_0[:, None], h[:, :-1]], axis=1), np.ones((B, T, 1))], axis=2)
    gradient, slopes = np.zeros((D + H + 1, H)), None
    for t in range(T):
        if t % tau == 0:
            slopes = np.zeros((B, D + H + 1, H, H))  # of unit k with respect to row i, column j of all weights
        slopes = np.einsum("bijl,lk->bijk", slopes, W_hh) + np.einsum("bi,jk->bijk", stack[:, t], np.eye(H))
        slopes *= (1 - h[:, t] ** 2)[:, None, None, :]
        gradient += np.einsum("bk,bijk->ij", dh[:, t], slopes)
    return gradient[:D], gradient[D:-1], gradient[-1]


@SPEC.alternative
def all_weights_at_once(dh, x, h_0, h, W_xh, W_hh, tau):
    """First all da, then one product for each weight; a factor of 0 or 1 makes the cut."""
    da, back = np.zeros(h.shape), np.zeros(h_0.shape)
    for t in range(h.shape[1] - 1, -1, -1):
        da[:, t] = (dh[:, t] + back * ((t + 1) % tau > 0)) * (1 - h[:, t] ** 2)
        back = da[:, t] @ W_hh.T
    before = np.concatenate([h_0[:, None], h[:, :-1]], axis=1)
    return np.einsum("btd,bth->dh", x, da), np.einsum("btg,bth->gh", before, da), da.sum(axis=(0, 1))
