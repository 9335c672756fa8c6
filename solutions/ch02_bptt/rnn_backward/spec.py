"""How `rnn_backward` is checked: against PyTorch's autograd, one facet for each of the five gradients."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Output, Spec, change, instead, on_grid


def oracle(dh, x, h_0, h, W_xh, W_hh):
    """Autograd through the unrolled loop in float64. Constants added to the pre-activations make it return `h`."""
    arrays = (x, h_0, W_xh, W_hh, np.zeros(h_0.shape[1]))
    inputs, h_t, W, U, b = leaves = [torch.from_numpy(array.copy()).requires_grad_() for array in arrays]
    target, states = torch.atanh(torch.from_numpy(h)), []
    for t in range(x.shape[1]):
        a = inputs[:, t] @ W + h_t @ U + b
        h_t = torch.tanh(a + (target[:, t] - a).detach())
        states.append(h_t)
    return tuple(g.numpy() for g in torch.autograd.grad(torch.stack(states, dim=1), leaves, torch.from_numpy(dh)))


EXAMPLE = Case(
    sizes={"B": 1, "T": 2, "D": 1, "H": 2},
    inputs={
        "dh": np.array([[[0.30, -0.10], [1.00, 0.50]]]),
        "x": np.array([[[-1.00], [2.00]]]),
        "h_0": np.array([[0.50, -0.25]]),
        "h": np.array([[[0.50, -0.60], [0.80, 0.60]]]),
        "W_xh": np.array([[0.30, 0.55]]),
        "W_hh": np.array([[0.50, -0.25], [1.00, 0.75]]),
    },
)


def case(rng, B, T, D, H, last_only=False, large=1.0, kind="ordinary"):
    x, h_0 = rng.normal(size=(B, T, D)), rng.uniform(-0.9, 0.9, size=(B, H))
    W_xh, W_hh = rng.normal(size=(D, H)) / np.sqrt(D), rng.normal(size=(H, H)) / np.sqrt(H)
    b_h, h = 0.5 * rng.normal(size=H), [h_0]
    for t in range(T):
        h.append(on_grid(np.tanh(x[:, t] @ W_xh + h[-1] @ W_hh + b_h)))
    dh = large * rng.normal(size=(B, T, H))
    if last_only:
        dh[:, :-1] = 0
    return Case(
        sizes={"B": B, "T": T, "D": D, "H": H},
        inputs={"dh": dh, "x": x, "h_0": h_0, "h": np.stack(h[1:], axis=1), "W_xh": W_xh, "W_hh": W_hh},
        kind=kind,
    )


def cases(rng):
    yield case(rng, B=2, T=5, D=3, H=4)
    yield case(rng, B=3, T=3, D=3, H=3)
    yield case(rng, B=1, T=4, D=2, H=3)
    yield case(rng, B=3, T=4, D=1, H=1)
    yield case(rng, B=3, T=6, D=2, H=4, last_only=True, kind="a loss at the last step only")
    yield case(rng, B=2, T=4, D=2, H=3, large=30.0, kind="large gradients")
    yield case(rng, B=3, T=1, D=2, H=4, kind="T = 1")
    yield case(rng, B=2, T=1, D=1, H=3, kind="T = 1")


SPEC = Spec(
    outputs=[
        Output("dx", ("B", "T", "D"), backward=True),
        Output("dh_0", ("B", "H")),
        Output("dW_xh", ("D", "H")),
        Output("dW_hh", ("H", "H")),
        Output("db_h", ("H",)),
    ],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("dx", share=2, outputs=("dx",)),
        Facet("dh_0", share=1, outputs=("dh_0",)),
        Facet("dW_xh", share=2, outputs=("dW_xh",)),
        Facet("dW_hh", share=2, outputs=("dW_hh",)),
        Facet("db_h", share=1, outputs=("db_h",)),
    ],
)
RETURNED = "dh_next, dW_xh, dW_hh, db_h"
COUNTS = "len(x)", "x.shape[1]", "(len(x) * x.shape[1])"


def one_buffer(dh, x, h_0, h, W_xh, W_hh):
    da, dh_next, das = np.zeros(h_0.shape), np.zeros(h_0.shape), []
    for t in reversed(range(x.shape[1])):
        da[:] = (dh[:, t] + dh_next) * (1 - h[:, t] ** 2)
        das.append(da)
        dh_next = da @ W_hh.T
    da = np.stack(das[::-1], axis=1)
    before = np.concatenate([h_0[:, None], h[:, :-1]], axis=1)
    dW_xh, dW_hh = np.einsum("bti,btj->ij", x, da), np.einsum("bti,btj->ij", before, da)
    return da @ W_xh.T, dh_next, dW_xh, dW_hh, da.sum(axis=(0, 1))


SPEC.mistakes(
    {
        "dh_next_not_added": change("(dh[:, t] + dh_next)", "dh[:, t]"),
        "dh_used_at_the_last_step_only": change(
            "dh_next = np.zeros(h_0.shape)", "dh_next = dh[:, -1]", ("(dh[:, t] + dh_next)", "dh_next")
        ),
        "dh_next_accumulated": [
            change("dh_next = da_t", "dh_next = dh_next + da_t"),
            change(
                "da_t = (dh[:, t] + dh_next)",
                "dh_next = dh_next + dh[:, t]\nda_t = dh_next",
                ("dh_next = da_t", "dh_next = dh_next + da_t"),
            ),
        ],
        **instead(
            "reversed(range(x.shape[1]))",
            {
                "loops_forward": "range(x.shape[1])",
                "first_step_left_out": "range(x.shape[1] - 1, 0, -1)",
                "last_step_left_out": "range(x.shape[1] - 2, -1, -1)",
            },
        ),
        "slope_left_out": change(" * (1 - h[:, t] ** 2)", ""),
        **instead(
            "h[:, t] ** 2",
            {
                "tanh_taken_again": "np.tanh(h[:, t]) ** 2",
                "slope_of_the_state_before": "h_prev**2",
                "slope_not_squared": "h[:, t]",
            },
        ),
        "slope_for_one_source": change(
            "(dh[:, t] + dh_next) * (1 - h[:, t] ** 2)", "dh[:, t] * (1 - h[:, t] ** 2) + dh_next"
        ),
        "slope_left_out_of_dh_next": change("dh_next = da_t @", "dh_next = (dh[:, t] + dh_next) @"),
        **instead(
            "dh_next = da_t @ W_hh.T",
            {
                "W_hh_left_out": "dh_next = da_t",
                "dh_added_to_dh_next": "dh_next = da_t @ W_hh.T + dh[:, t]",
                "dh_added_twice": "dh_next = da_t @ W_hh.T + (dh[:, t - 1] if t > 0 else 0)",
            },
        ),
        "W_hh_not_transposed": change("W_hh.T", "W_hh"),
        "W_hh_as_in_papers": change("h_prev.T @ da_t", "da_t.T @ h_prev", ("da_t @ W_hh.T", "(W_hh.T @ da_t.T).T")),
        "W_xh_not_transposed": change("W_xh.T", "W_xh"),
        "bias_summed_over_the_units": [
            change("db_h += da_t.sum(axis=0)", "db_h += da_t.sum(axis=1)"),
            change("db_h += da_t.sum(axis=0)", "db_h = db_h + da_t.sum(axis=1)"),
        ],
        "in_place": change("da_t = (dh[:, t] + dh_next)", "dh_t = dh[:, t]\ndh_t += dh_next\nda_t = dh_t"),
        "slope_for_the_next_state_alone": change("(dh[:, t] + dh_next) * (1", "dh[:, t] + dh_next * (1"),
        **instead(
            "(1 - h[:, t] ** 2)",
            {
                "slope_of_the_logistic": "(h[:, t] * (1 - h[:, t]))",
                "slope_bracket_squared": "(1 - h[:, t]) ** 2",
            },
        ),
        "last_dh_counted_twice": change("dh_next = np.zeros(h_0.shape)", "dh_next = dh[:, -1]"),
        "slope_taken_twice": [
            change("dh_next = da_t @ W_hh.T", "dh_next = da_t @ W_hh.T * (1 - h[:, t] ** 2)"),
            change("dh_next = da_t @ W_hh.T", "dh_next = da_t @ W_hh.T * (1 - h_prev**2)"),
        ],
        "steps_counted_by_the_batch": change("range(x.shape[1])", "range(x.shape[0])"),
        "multiplied_by_dh_next": change("dh[:, t] + dh_next", "dh[:, t] * dh_next"),
    }
)
SPEC.mistakes(
    {
        "overwritten": change("dW_xh +=", "dW_xh =", ("dW_hh +=", "dW_hh ="), ("db_h +=", "db_h =")),
        "last_step_only": change(
            "dW_xh += x[:, t].T @ da_t\ndW_hh += h_prev.T @ da_t\ndb_h += da_t.sum(axis=0)",
            """
        if t == x.shape[1] - 1:
            dW_xh, dW_hh, db_h = x[:, t].T @ da_t, h_prev.T @ da_t, da_t.sum(axis=0)
        """,
        ),
        "averaged": [*(change(RETURNED, f"dh_next, dW_xh / {n}, dW_hh / {n}, db_h / {n}") for n in COUNTS)],
        "weight_gradients_clipped": [
            *(
                change(RETURNED, f"dh_next, *(np.clip(dW, -{most}, {most}) for dW in (dW_xh, dW_hh, db_h))")
                for most in (1, 5, 10)
            )
        ],
    },
    keeps=("dx", "dh_0"),
)
SPEC.mistakes(
    {
        "dW_xh_from_x_one_step_early": change("x[:, t].T", "x[:, t - 1].T"),
    },
    keeps=("dx", "dh_0", "dW_hh", "db_h"),
)
SPEC.mistakes(
    {
        "weight_gradients_transposed": change(RETURNED, "dh_next, dW_xh.T, dW_hh.T, db_h"),
    },
    keeps=("dx", "dh_0", "db_h"),
)
SPEC.mistakes(
    {
        "dW_hh_from_h_t": change("h_prev.T", "h[:, t].T"),
        "dW_hh_transposed": change("h_prev.T @ da_t", "da_t.T @ h_prev"),
        "h_0_forgotten": change("else h_0", "else np.zeros_like(h_0)"),
        "h_wraps_around": change(" if t > 0 else h_0", ""),
        "dW_hh_from_another_state": [
            change("h_prev.T", "h_0.T"),
            change("h[:, t - 1]", "h[:, 0]"),
            change("h_prev.T", "(h[:, -2] if x.shape[1] > 1 else h_0).T"),
            change("h_prev.T", "h[:, -1].T"),
            change("h_prev.T", "(h[:, t - 2] if t > 1 else h_0).T"),
        ],
    },
    keeps=("dx", "dh_0", "dW_xh", "db_h"),
)
SPEC.mistakes(
    {
        "bias_averaged": [
            change("da_t.sum(axis=0)", "da_t.mean(axis=0)"),
            *(change(RETURNED, f"dh_next, dW_xh, dW_hh, db_h / {n}") for n in COUNTS[1:]),
        ],
        "bias_not_summed": change("db_h += da_t.sum(axis=0)", "db_h = db_h + da_t"),
    },
    keeps=("dx", "dh_0", "dW_xh", "dW_hh"),
)
SPEC.mistakes(
    {
        "dh_0_is_that_of_the_first_state": [
            change("dh_next = da_t @ W_hh.T", "dh_next = da_t @ W_hh.T if t > 0 else dh[:, t] + dh_next"),
            change("dh_next = da_t @ W_hh.T", "dh_next = da_t @ W_hh.T if t > 0 else da_t"),
            change("return dx, dh_next", "return dx, dh[:, 0]"),
        ],
        **instead(
            "return dx, dh_next",
            {
                "dh_0_left_zero": "return dx, np.zeros(h_0.shape)",
                "dh_0_through_a_tanh": "return dx, dh_next * (1 - h_0**2)",
            },
        ),
    },
    keeps=("dx", "dW_xh", "dW_hh", "db_h"),
)
SPEC.mistakes(
    {
        "dx_in_the_order_of_the_loop": change("return dx", "return dx[:, ::-1]"),
        "dx_without_the_slope": [
            change("dx[:, t] = da_t @", "dx[:, t] = (dh[:, t] + dh_next) @"),
            change("dx[:, t] = da_t @", "dx[:, t] = dh[:, t] @"),
        ],
    },
    keeps=("dh_0", "dW_xh", "dW_hh", "db_h"),
)
SPEC.mistakes(
    {
        "one_array_for_all_steps": one_buffer,
    },
    keeps=("dh_0",),
)


@SPEC.alternative
def by_recursion(dh, x, h_0, h, W_xh, W_hh):
    """The last step, then the rest of the sequence, to whose last `dh` its `dh_next` is added."""
    if x.shape[1] == 0:
        return np.zeros(x.shape), np.zeros(h_0.shape), np.zeros(W_xh.shape), np.zeros(W_hh.shape), np.zeros(len(W_hh))
    da = dh[:, -1] * (1 - h[:, -1] ** 2)
    h_prev = h[:, -2] if x.shape[1] > 1 else h_0
    rest, to_h_0 = dh[:, :-1].copy(), da @ W_hh.T
    if x.shape[1] > 1:
        rest[:, -1] += to_h_0
    dx, dh_0, dW_xh, dW_hh, db_h = by_recursion(rest, x[:, :-1], h_0, h[:, :-1], W_xh, W_hh)
    return (
        np.concatenate([dx, (da @ W_xh.T)[:, None]], axis=1),
        dh_0 if x.shape[1] > 1 else to_h_0,
        dW_xh + x[:, -1].T @ da,
        dW_hh + h_prev.T @ da,
        db_h + da.sum(axis=0),
    )


@SPEC.alternative
def sums_after_the_loop(dh, x, h_0, h, W_xh, W_hh):
    """The loop computes only da; the weight gradients and dx are then products over batch and time at once."""
    slope, da = 1 - h**2, np.zeros(h.shape)
    carry = np.zeros(h_0.shape)
    for t in range(x.shape[1] - 1, -1, -1):
        da[:, t] = (dh[:, t] + carry) * slope[:, t]
        carry = da[:, t] @ W_hh.T
    before = np.concatenate([h_0[:, None], h[:, :-1]], axis=1)
    return (
        da @ W_xh.T,
        carry,
        np.einsum("bti,btj->ij", x, da),
        np.tensordot(before, da, axes=([0, 1], [0, 1])),
        da.sum(axis=(0, 1)),
    )


@SPEC.alternative
def by_stacking(dh, x, h_0, h, W_xh, W_hh):
    """Lists filled from the front and then stacked; input and state side by side, with one weight matrix."""
    D, W = x.shape[2], np.vstack([W_xh, W_hh])
    states, dW, dh_t = [h_0, *h.swapaxes(0, 1)], 0, 0
    da, dx = [], []
    for t in reversed(range(x.shape[1])):
        da.insert(0, (dh[:, t] + dh_t) * (1 - states[t + 1] ** 2))
        d_row = da[0] @ W.T
        dW = dW + np.hstack([x[:, t], states[t]]).T @ da[0]
        dx.insert(0, d_row[:, :D])
        dh_t = d_row[:, D:]
    return np.stack(dx, axis=1), dh_t, dW[:D], dW[D:], np.sum(da, axis=(0, 1))


@SPEC.alternative
def row_by_row(dh, x, h_0, h, W_xh, W_hh):
    """One sequence at a time, over reversed time indices."""
    dx, dh_0 = np.zeros(x.shape), np.zeros(h_0.shape)
    dW_xh, dW_hh, db_h = np.zeros(W_xh.shape), np.zeros(W_hh.shape), np.zeros(len(W_hh))
    for b in range(len(x)):
        before = np.vstack([h_0[b], h[b, :-1]])
        for t in range(x.shape[1])[::-1]:
            da = (dh[b, t] + dh_0[b]) * (1 - h[b, t] ** 2)
            dx[b, t], dh_0[b] = W_xh @ da, W_hh @ da
            dW_xh, dW_hh, db_h = dW_xh + np.outer(x[b, t], da), dW_hh + np.outer(before[t], da), db_h + da
    return dx, dh_0, dW_xh, dW_hh, db_h


@SPEC.alternative
def path_by_path(dh, x, h_0, h, W_xh, W_hh):
    """No `dh_next`: the `dh` of every step is passed back to all earlier steps by itself. Slow, but right."""
    dx, dh_0 = np.zeros(x.shape), np.zeros(h_0.shape)
    dW_xh, dW_hh, db_h = np.zeros(W_xh.shape), np.zeros(W_hh.shape), np.zeros(len(W_hh))
    for start in range(x.shape[1]):
        da = dh[:, start] * (1 - h[:, start] ** 2)
        for t in range(start, -1, -1):
            dx[:, t] += da @ W_xh.T
            dW_xh += x[:, t].T @ da
            dW_hh += (h[:, t - 1] if t else h_0).T @ da
            db_h += da.sum(axis=0)
            da = da @ W_hh.T * ((1 - h[:, t - 1] ** 2) if t else 1)
        dh_0 += da
    return dx, dh_0, dW_xh, dW_hh, db_h
