"""How `gru_step_backward` is checked: against autograd through `torch.nn.GRUCell`, with a facet for each gradient."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Gates, Output, Spec, change, instead


def oracle(dh_t, x_t, h_prev, W_x, W_h, b_x, b_h):
    """Autograd through PyTorch's cell in float64; its weights are (3H, in), with the blocks in the order r, z, n."""
    cell = torch.nn.GRUCell(len(W_x), len(W_h), dtype=torch.float64)
    with torch.no_grad():
        cell.weight_ih.copy_(torch.from_numpy(W_x.T))
        cell.weight_hh.copy_(torch.from_numpy(W_h.T))
        cell.bias_ih.copy_(torch.from_numpy(b_x))
        cell.bias_hh.copy_(torch.from_numpy(b_h))
    x, h = (torch.from_numpy(array.copy()).requires_grad_() for array in (x_t, h_prev))
    leaves = (x, h, cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh)
    dx, dh, dW_x, dW_h, *db = torch.autograd.grad(cell(x, h), leaves, torch.from_numpy(dh_t))
    return tuple(g.numpy() for g in (dx, dh, dW_x.T.contiguous(), dW_h.T.contiguous(), *db))


EXAMPLE = Case(
    sizes={"B": 1, "D": 1, "H": 1},
    inputs={
        "dh_t": np.array([[2.00]]),
        "x_t": np.array([[0.50]]),
        "h_prev": np.array([[-0.80]]),
        "W_x": np.array([[0.70, -0.60, 1.20]]),
        "W_h": np.array([[-1.10, 0.90, 1.50]]),
        "b_x": np.array([0.20, 0.40, -0.30]),
        "b_h": np.array([0.10, 0.30, 0.60]),
    },
)


def case(rng, B, D, H):
    return Case(
        sizes={"B": B, "D": D, "H": H},
        inputs={
            "dh_t": rng.normal(size=(B, H)),
            "x_t": rng.normal(size=(B, D)),
            "h_prev": rng.uniform(-0.9, 0.9, size=(B, H)),
            "W_x": rng.normal(size=(D, 3 * H)) / np.sqrt(D),
            "W_h": rng.normal(size=(H, 3 * H)) / np.sqrt(H),
            "b_x": rng.normal(size=3 * H),
            "b_h": rng.normal(size=3 * H),
        },
    )


def cases(rng):
    yield case(rng, B=2, D=3, H=4)
    yield case(rng, B=3, D=3, H=3)
    yield case(rng, B=4, D=2, H=2)
    yield case(rng, B=1, D=2, H=3)
    yield case(rng, B=3, D=1, H=2)
    yield case(rng, B=3, D=2, H=1)


def da_x_in(order):
    """The old and the new text if the blocks of the input's side are put together in this order."""
    return "[da_r, da_z, da_n]", f"[{', '.join(f'da_{gate}' for gate in order)}]"


def da_h_in(order):
    """The same for the state's side, where the block of n is `da_n * r`."""
    return "[da_r, da_z, da_n * r]", f"[{', '.join(f'da_{gate}' for gate in order).replace('da_n', 'da_n * r')}]"


SPEC = Spec(
    outputs=[
        Output("dx_t", ("B", "D")),
        Output("dh_prev", ("B", "H")),
        Output("dW_x", ("D", "3H")),
        Output("dW_h", ("H", "3H")),
        Output("db_x"),
        Output("db_h"),
    ],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("dx_t", share=1, outputs=("dx_t",)),
        Facet("dh_prev", share=2, outputs=("dh_prev",)),
        Facet("dW_x", share=1, outputs=("dW_x",)),
        Facet("dW_h", share=2, outputs=("dW_h",)),
        Facet("db_x", share=1, outputs=("db_x",)),
        Facet("db_h", share=1, outputs=("db_h",)),
    ],
    gates=[
        Gates(
            "rzn",
            inputs=("W_x", "W_h", "b_x", "b_h"),
            outputs=("dW_x", "dW_h", "db_x", "db_h"),
            inside={
                "da": lambda order: change(*da_x_in(order), da_h_in(order)),
                "da_x": lambda order: change(*da_x_in(order)),
                "da_h": lambda order: change(*da_h_in(order)),
            },
        ),
        Gates("rzn", inputs=("W_x", "b_x"), outputs=("dW_x", "db_x")),
        Gates("rzn", inputs=("W_h", "b_h"), outputs=("dW_h", "db_h")),
    ],
)
ONLY_DH = ("dx_t", "dW_x", "dW_h", "db_x", "db_h")
THROUGH_W_H = "da_h @ W_h.T"
SLOPES = "dr * r * (1 - r)", "dz * z * (1 - z)"


def of_both_gates(of_r, of_z):
    """The derivative of the logistic function replaced in both gates, in r alone, and in z alone."""
    (was_r, was_z), r, z = SLOPES, f"dr * {of_r}", f"dz * {of_z}"
    return change(was_r, r, (was_z, z)), change(was_r, r), change(was_z, z)


def backward_of_cho(dh_t, x_t, h_prev, W_x, W_h, b_x, b_h, own_candidate):
    """The backward pass of the other convention, with its own candidate or that of PyTorch."""
    (x_r, x_z, x_n), (h_r, h_z, h_n) = (np.split(a, 3, axis=1) for a in (x_t @ W_x + b_x, h_prev @ W_h + b_h))
    W_hr, W_hz, W_hn = np.split(W_h, 3, axis=1)
    r, z = 1 / (1 + np.exp(-x_r - h_r)), 1 / (1 + np.exp(-x_z - h_z))
    n = np.tanh(x_n + ((r * h_prev) @ W_hn + b_h[-len(W_h) :] if own_candidate else r * h_n))
    da_n = dh_t * (1 - z) * (1 - n**2)
    d_reset = da_n @ W_hn.T
    da_r, da_z = d_reset * h_prev * r * (1 - r), dh_t * (h_prev - n) * z * (1 - z)
    da = np.hstack([da_r, da_z, da_n])
    dh_prev = dh_t * z + da_r @ W_hr.T + da_z @ W_hz.T + d_reset * r
    dW_h = np.hstack([h_prev.T @ da_r, h_prev.T @ da_z, (r * h_prev).T @ da_n])
    return da @ W_x.T, dh_prev, x_t.T @ da, dW_h, da.sum(axis=0), da.sum(axis=0)


def with_its_candidate(dh_t, x_t, h_prev, W_x, W_h, b_x, b_h):
    return backward_of_cho(dh_t, x_t, h_prev, W_x, W_h, b_x, b_h, own_candidate=True)


def with_pytorch_s_candidate(dh_t, x_t, h_prev, W_x, W_h, b_x, b_h):
    return backward_of_cho(dh_t, x_t, h_prev, W_x, W_h, b_x, b_h, own_candidate=False)


SPEC.mistakes(
    {
        **instead(
            "dh_t * z + ",
            {
                "direct_path_left_out": "",
                "direct_path_not_gated": "dh_t + ",
                "direct_path_by_1_minus_z": "dh_t * (1 - z) + ",
            },
        ),
        **instead(
            THROUGH_W_H,
            {
                "path_through_r_left_out": "da_h[:, z.shape[1] :] @ W_h[:, z.shape[1] :].T",
                "path_through_z_left_out": "da_r @ W_h[:, : z.shape[1]].T + (da_n * r) @ W_h[:, 2 * z.shape[1] :].T",
                "path_through_n_left_out": "da_h[:, : 2 * z.shape[1]] @ W_h[:, : 2 * z.shape[1]].T",
                "paths_through_gates_left_out": "(da_n * r) @ W_h[:, 2 * z.shape[1] :].T",
                "blocks_of_W_h_not_transposed": (
                    "sum(d @ W for d, W in zip(np.split(da_h, 3, axis=1), np.split(W_h, 3, axis=1), strict=True))"
                ),
            },
        ),
        "direct_path_only": change("dh_t * z + da_h @ W_h.T", "dh_t * z"),
    },
    keeps=ONLY_DH,
)
SPEC.mistakes(
    {
        "r_held_constant": change("dr * r * (1 - r)", "np.zeros_like(r)"),
        "z_held_constant": change("dz * z * (1 - z)", "np.zeros_like(z)"),
        "gates_held_constant": change("dr * r * (1 - r)", "np.zeros_like(r)", ("dz * z * (1 - z)", "np.zeros_like(z)")),
        "update_gate_swapped": change(
            "dn = dh_t * (1 - z)",
            "dn = dh_t * z",
            ("dh_t * (h_prev - n)", "dh_t * (n - h_prev)"),
            ("dh_prev = dh_t * z", "dh_prev = dh_t * (1 - z)"),
        ),
        **instead(
            "(h_prev - n)",
            {
                "dz_sign": "(n - h_prev)",
                "dz_from_the_sum": "(h_prev + n)",
            },
        ),
        "dz_from_one_product": [*(change("(h_prev - n)", becomes) for becomes in ("h_prev", "n", "(-n)"))],
        **instead(
            "dn = dh_t * (1 - z)",
            {
                "dn_by_z": "dn = dh_t * z",
                "dn_not_gated": "dn = dh_t",
            },
        ),
        "da_n_times_r_before_dr": [
            change("dr = da_n * h_n", "dr = da_n * r * h_n"),
            change("(1 - n**2)", "(1 - n**2) * r", ("da_n * r]", "da_n]")),
        ],
        **instead(
            "da_n * h_n",
            {
                "dr_from_h_prev": "da_n * h_prev",
                "dr_without_b_hn": "da_n * (h_n - b_h[-r.shape[1] :])",
                "dr_without_its_factor": "da_n",
                "dr_past_the_tanh": "dn * h_n",
            },
        ),
        "slope_of_n_left_out": change(" * (1 - n**2)", ""),
        "slope_of_n_from_the_pre_activation": [
            change("n**2", "(x_n + r * h_n) ** 2"),
            change("n**2", "(x_n + h_n) ** 2"),
        ],
        **instead(
            "n**2",
            {
                "tanh_taken_again": "np.tanh(n) ** 2",
                "slope_of_n_not_squared": "n",
                "slope_of_n_taken_on_h_t": "((1 - z) * n + z * h_prev) ** 2",
            },
        ),
        "slope_of_n_of_the_logistic": change("(1 - n**2)", "n * (1 - n)"),
        "slopes_of_the_gates_left_out": [
            change(" * r * (1 - r)", "", (" * z * (1 - z)", "")),
            change(" * r * (1 - r)", ""),
            change(" * z * (1 - z)", ""),
        ],
        "slopes_from_the_pre_activations": [
            *of_both_gates("(x_r + h_r) * (1 - x_r - h_r)", "(x_z + h_z) * (1 - x_z - h_z)")
        ],
        "sigmoid_taken_again": [*of_both_gates("sigmoid(r) * (1 - sigmoid(r))", "sigmoid(z) * (1 - sigmoid(z))")],
        "slopes_of_the_tanh": [*of_both_gates("(1 - r**2)", "(1 - z**2)")],
        "slopes_without_the_gate": [*of_both_gates("(1 - r)", "(1 - z)")],
        "slopes_exchanged": change(SLOPES[0], "dr * z * (1 - z)", ("dz * z * (1 - z)", "dz * r * (1 - r)")),
        "forward_step_of_cho": change(
            "np.tanh(x_n + r * h_n)", "np.tanh(x_n + (r * h_prev) @ W_h[:, -len(W_h) :] + b_h[-len(W_h) :])"
        ),
        "r_before_the_product": [with_its_candidate, with_pytorch_s_candidate],
    }
)
SPEC.mistakes(
    {
        "reshaped_not_transposed": change(
            "da_x @ W_x.T",
            "da_x @ W_x.reshape(W_x.shape[::-1])",
            ("da_h @ W_h.T", "da_h @ W_h.reshape(W_h.shape[::-1])"),
        ),
    },
    keeps=("dW_x", "dW_h", "db_x", "db_h"),
)
SPEC.mistakes(
    {
        "da_n_not_gated": change("da_n * r], axis=1)", "da_n], axis=1)"),
    },
    keeps=("dx_t", "dW_x", "db_x"),
)
SPEC.mistakes(
    {
        "r_gates_the_input_too": change(
            "da_x = np.concatenate([da_r, da_z, da_n]", "da_x = np.concatenate([da_r, da_z, da_n * r]"
        ),
    },
    keeps=("dh_prev", "dW_h", "db_h"),
)
SPEC.mistakes(
    {
        "dW_h_from_h_t": change("h_prev.T @ da_h", "((1 - z) * n + z * h_prev).T @ da_h"),
        "dW_h_from_the_reset_state": [
            *(
                change(
                    "h_prev.T @ da_h",
                    f"np.hstack([h_prev.T @ da_r, h_prev.T @ da_z, (r * h_prev).T @ {da_n}])",
                )
                for da_n in ("da_n", "(da_n * r)")
            ),
            change("h_prev.T @ da_h", "(r * h_prev).T @ da_h"),
            change("h_prev.T @ da_h", "(r * h_prev).T @ da_x"),
        ],
    },
    keeps=("dx_t", "dh_prev", "dW_x", "db_x", "db_h"),
)
SPEC.mistakes(
    {
        "averaged_over_the_batch": change(
            "dW_x, dW_h, db_x, db_h", "dW_x / len(x_t), dW_h / len(x_t), db_x / len(x_t), db_h / len(x_t)"
        ),
    },
    keeps=("dx_t", "dh_prev"),
)
SPEC.mistakes(
    {
        "biases_not_summed": [
            change("da_x.sum(axis=0), da_h.sum(axis=0)", "da_x, da_h"),
            change("da_x.sum(axis=0), da_h.sum(axis=0)", "da_x[0], da_h[0]"),
        ],
    },
    keeps=("dx_t", "dh_prev", "dW_x", "dW_h"),
)


@SPEC.alternative
def gate_by_gate(dh_t, x_t, h_prev, W_x, W_h, b_x, b_h):
    """Every block by itself, each path added to `dh_prev` in turn."""
    (W_xr, W_xz, W_xn), (W_hr, W_hz, W_hn) = np.split(W_x, 3, axis=1), np.split(W_h, 3, axis=1)
    (b_xr, b_xz, b_xn), (b_hr, b_hz, b_hn) = np.split(b_x, 3), np.split(b_h, 3)
    r = 1 / (1 + np.exp(-(x_t @ W_xr + b_xr + h_prev @ W_hr + b_hr)))
    z = 1 / (1 + np.exp(-(x_t @ W_xz + b_xz + h_prev @ W_hz + b_hz)))
    q = h_prev @ W_hn + b_hn
    n = np.tanh(x_t @ W_xn + b_xn + r * q)
    da_n = dh_t * (1 - z) * (1 - n) * (1 + n)
    dq, da_r, da_z = da_n * r, da_n * q * (r - r**2), dh_t * (h_prev - n) * (z - z**2)
    dh_prev = dh_t * z
    dh_prev = dh_prev + dq @ W_hn.T
    dh_prev = dh_prev + da_r @ W_hr.T
    dh_prev = dh_prev + da_z @ W_hz.T
    dx_t = da_n @ W_xn.T + da_r @ W_xr.T + da_z @ W_xz.T
    dW_x = np.hstack([x_t.T @ da_r, x_t.T @ da_z, x_t.T @ da_n])
    dW_h = np.hstack([h_prev.T @ da_r, h_prev.T @ da_z, h_prev.T @ dq])
    db_x = np.concatenate([da.sum(axis=0) for da in (da_r, da_z, da_n)])
    db_h = np.concatenate([da.sum(axis=0) for da in (da_r, da_z, dq)])
    return dx_t, dh_prev, dW_x, dW_h, db_x, db_h


@SPEC.alternative
def filled_in_place(dh_t, x_t, h_prev, W_x, W_h, b_x, b_h):
    """One array for each side, filled block by block, with the derivatives in terms of the exponential."""
    H = h_prev.shape[1]
    a_x, a_h = x_t @ W_x + b_x, h_prev @ W_h + b_h
    gates = 0.5 + 0.5 * np.tanh((a_x + a_h)[:, : 2 * H] / 2)
    r, z = gates[:, :H], gates[:, H:]
    n = np.tanh(a_x[:, 2 * H :] + r * a_h[:, 2 * H :])
    da_x, da_h = np.zeros(a_x.shape), np.zeros(a_h.shape)
    da_x[:, 2 * H :] = dh_t * (1 - z) / np.cosh(a_x[:, 2 * H :] + r * a_h[:, 2 * H :]) ** 2
    da_x[:, H : 2 * H] = -dh_t * (n - h_prev)
    da_x[:, :H] = da_x[:, 2 * H :] * a_h[:, 2 * H :]
    da_x[:, : 2 * H] *= gates * (1 - gates)
    da_h[:] = da_x
    da_h[:, 2 * H :] *= r
    return (
        np.einsum("bk,dk->bd", da_x, W_x),
        np.einsum("bk,jk->bj", da_h, W_h) + z * dh_t,
        np.einsum("bd,bk->dk", x_t, da_x),
        np.einsum("bj,bk->jk", h_prev, da_h),
        np.ones(len(x_t)) @ da_x,
        np.ones(len(x_t)) @ da_h,
    )


@SPEC.alternative
def row_by_row(dh_t, x_t, h_prev, W_x, W_h, b_x, b_h):
    """One sequence at a time; the gradients of the weights and the biases accumulate over all of them."""
    H, dx_t, dh_prev = h_prev.shape[1], np.zeros(x_t.shape), np.zeros(h_prev.shape)
    dW_x, dW_h, db_x, db_h = (np.zeros(p.shape) for p in (W_x, W_h, b_x, b_h))
    for b in range(len(x_t)):
        a_x, a_h = (x_t[b] @ W_x + b_x).reshape(3, H), (h_prev[b] @ W_h + b_h).reshape(3, H)
        r, z = 1 / (1 + np.exp(-(a_x + a_h)[:2]))
        n = np.tanh(a_x[2] + r * a_h[2])
        da_n = dh_t[b] * (1 - z) * (1 - n**2)
        common = [da_n * a_h[2] * r * (1 - r), dh_t[b] * (h_prev[b] - n) * z * (1 - z)]
        da_x, da_h = np.concatenate([*common, da_n]), np.concatenate([*common, da_n * r])
        dx_t[b], dh_prev[b] = W_x @ da_x, W_h @ da_h + dh_t[b] * z
        dW_x += np.outer(x_t[b], da_x)
        dW_h += np.outer(h_prev[b], da_h)
        db_x += da_x
        db_h += da_h
    return dx_t, dh_prev, dW_x, dW_h, db_x, db_h
