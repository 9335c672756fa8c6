"""Programs that the spec of `gru_step_backward` does not contain; beside each wrong one is what it is told."""

import numpy as np
import torch

from grader.spec.trials import Trials
from solutions.ch04_gated import gru, gru_backward

TRIALS = Trials()


sigmoid = gru.sigmoid


def read(order, *names):
    listed = " and ".join(", ".join(names).rsplit(", ", 1))
    return f"altered input: read {', '.join(order)}, {listed}, r, z, n"


SIDES = "x_r, x_z, x_n = ", "h_r, h_z, h_n = "


ALL = "W_x", "W_h", "b_x", "b_h"


WRONG = {
    "z before r": (
        [(SIDES[0], "x_z, x_r, x_n = "), (SIDES[1], "h_z, h_r, h_n = ")],
        f"{read('zrn', *ALL)} For dW_x, dW_h, db_x and db_h",
    ),
    "z before r, there and back": (
        [
            (SIDES[0], "x_z, x_r, x_n = "),
            (SIDES[1], "h_z, h_r, h_n = "),
            ("[da_r, da_z, da_n]", "[da_z, da_r, da_n]"),
            ("[da_r, da_z, da_n * r]", "[da_z, da_r, da_n * r]"),
        ],
        "altered input: read_and_written z, r, n, W_x, W_h, b_x, b_h, dW_x, dW_h, db_x and db_h, r, z, n",
    ),
    "concatenated n, r, z": (
        [("[da_r, da_z, da_n]", "[da_n, da_r, da_z]"), ("[da_r, da_z, da_n * r]", "[da_n * r, da_r, da_z]")],
        "altered input: written n, r, z, da, r, z, n",
    ),
    "da_h concatenated z, r, n": (
        [("[da_r, da_z, da_n * r]", "[da_z, da_r, da_n * r]")],
        "altered input: written z, r, n, da_h, r, z, n",
    ),
    "one bias gradient for both": (
        [("return dx_t, dh_prev, dW_x, dW_h, db_x, db_h", "return dx_t, dh_prev, dW_x, dW_h, db_x, db_x")],
        "da_n_not_gated For db_h",
    ),
    "the other for both": (
        [("return dx_t, dh_prev, dW_x, dW_h, db_x, db_h", "return dx_t, dh_prev, dW_x, dW_h, db_h, db_h")],
        "r_gates_the_input_too For db_x",
    ),
    "da_x for dW_h": ([("h_prev.T @ da_h", "h_prev.T @ da_x")], "da_n_not_gated For dW_h"),
    "da_h for dW_x": ([("x_t.T @ da_x", "x_t.T @ da_h")], "r_gates_the_input_too For dW_x"),
    "da_h for dx_t": ([("da_x @ W_x.T", "da_h @ W_x.T")], "r_gates_the_input_too For dx_t"),
    "da_x for dh_prev": ([("da_h @ W_h.T", "da_x @ W_h.T")], "da_n_not_gated For dh_prev"),
    "no direct path, dz's sign": (
        [("dh_t * z + ", ""), ("(h_prev - n)", "(n - h_prev)")],
        "dz_sign For dx_t, dW_x, dW_h, db_x and db_h",
    ),
    "dz's sign, not gated in dW_h": (
        [("(h_prev - n)", "(n - h_prev)"), ("h_prev.T @ da_h", "h_prev.T @ da_x")],
        "dz_sign For dx_t, dh_prev, dW_x, db_x and db_h",
    ),
    "Chung's gate but for the direct path": (
        [("dn = dh_t * (1 - z)", "dn = dh_t * z"), ("(h_prev - n)", "(n - h_prev)")],
        "update_gate_swapped For dx_t, dW_x, dW_h, db_x and db_h",
    ),
    "h_prev times da_n for the reset gate, not transposed": (
        [("da_n * h_n", "(da_n @ W_h[:, -r.shape[1] :]) * h_prev")],
        None,
    ),
    "W_hn left out of the path through n": (
        [("da_h @ W_h.T", "da_r @ W_h[:, : r.shape[1]].T + da_z @ W_h[:, r.shape[1] : -r.shape[1]].T + da_n * r")],
        None,
    ),
    "r forgotten in the forward step": ([("x_n + r * h_n", "x_n + h_n")], None),
    "everything through the tanh": ([("dz = dh_t * (h_prev - n)", "dz = dh_t * (h_prev - n) * (1 - n**2)")], None),
    "two paths left out": ([("da_h @ W_h.T", "da_h[:, : r.shape[1]] @ W_h[:, : r.shape[1]].T")], None),
    "direct path through W_h": ([("dh_t * z + da_h @ W_h.T", "(da_h + np.hstack([dh_t * z] * 3)) @ W_h.T")], None),
    "dh_t counted twice": ([("dh_t * z + ", "dh_t * z + dh_t * z + ")], None),
    "subtracted": ([("dh_t * z + ", "dh_t * z - ")], None),
    "dh_prev also times r": ([("dh_t * z + ", "dh_t * z * r + ")], None),
    "dz from h_t": ([("(h_prev - n)", "(h_prev - ((1 - z) * n + z * h_prev))")], None),
    "da_n of both functions": ([("(1 - n**2)", "(1 - n**2) * n")], None),
    "r twice": ([("da_n * r]", "da_n * r * r]")], None),
    "z for r on the state's side": ([("da_n * r]", "da_n * z]")], None),
    "1 - r on the state's side": ([("da_n * r]", "da_n * (1 - r)]")], None),
    "dr from x_n": ([("da_n * h_n", "da_n * x_n")], None),
    "dr from the whole pre-activation": ([("da_n * h_n", "da_n * (x_n + r * h_n)")], None),
    "dr through W_hn": (
        [("da_n * h_n", "da_n @ W_h[:, -r.shape[1] :].T * h_prev")],
        "r_before_the_product For dx_t, dW_x and db_x",
    ),
    "b_h forgotten in the forward pass": ([("W_h + b_h", "W_h")], "altered input: zeros b_h"),
    "weights by dh_t": ([("h_prev.T @ da_h", "h_prev.T @ np.hstack([dh_t] * 3)")], None),
    "the mean of the bias": ([("da_x.sum(axis=0)", "da_x.mean(axis=0)")], "averaged_over_the_batch For db_x"),
    "two results exchanged": ([("dW_h, db_x, db_h\n", "dW_h, db_h, db_x\n")], "order"),
    "dW_x transposed": ([("return dx_t, dh_prev, dW_x,", "return dx_t, dh_prev, dW_x.T,")], "transposed For dW_x"),
    "float32": ([("return dx_t,", "return dx_t.astype('f4'),")], "float32 For dx_t"),
    "negated": ([("dn = dh_t *", "dh_t = -dh_t\ndn = dh_t *")], "sign"),
    "dh_t ignored": ([("dn = dh_t *", "dh_t = np.ones_like(dh_t)\ndn = dh_t *")], "altered input: ones dh_t"),
    "in place": ([("dn = dh_t * (1 - z)", "dn = dh_t\ndn *= 1 - z")], None),
}


def autograd(dh_t, x_t, h_prev, W_x, W_h, b_x, b_h):
    leaves = x, h, W, U, b, c = [torch.tensor(a, requires_grad=True) for a in (x_t, h_prev, W_x, W_h, b_x, b_h)]
    (x_r, x_z, x_n), (h_r, h_z, h_n) = (x @ W + b).chunk(3, dim=1), (h @ U + c).chunk(3, dim=1)
    z = torch.sigmoid(x_z + h_z)
    h_t = (1 - z) * torch.tanh(x_n + torch.sigmoid(x_r + h_r) * h_n) + z * h
    return [g.numpy() for g in torch.autograd.grad(h_t, leaves, torch.tensor(dh_t))]


def by_blocks_of_an_array(dh_t, x_t, h_prev, W_x, W_h, b_x, b_h):
    """Blocks as an axis of their own, and dz from the difference of state and candidate with the sign outside."""
    (B, H), D = h_prev.shape, x_t.shape[1]
    a_x, a_h = (x_t @ W_x + b_x).reshape(B, 3, H), (h_prev @ W_h + b_h).reshape(B, 3, H)
    r, z = (1 / (1 + np.exp(-(a_x + a_h)[:, i])) for i in (0, 1))
    n = np.tanh(a_x[:, 2] + r * a_h[:, 2])
    d_x, d_h = np.empty((B, 3, H)), np.empty((B, 3, H))
    d_x[:, 2] = (dh_t - dh_t * z) * (1 - n * n)
    d_x[:, 1] = -(dh_t * (n - h_prev)) * z * (1 - z)
    d_x[:, 0] = d_x[:, 2] * a_h[:, 2] * r * (1 - r)
    d_h[:, :2], d_h[:, 2] = d_x[:, :2], d_x[:, 2] * r
    return (
        np.einsum("bkh,dkh->bd", d_x, W_x.reshape(D, 3, H)),
        np.einsum("bkh,jkh->bj", d_h, W_h.reshape(H, 3, H)) + dh_t * z,
        np.einsum("bd,bkh->dkh", x_t, d_x).reshape(D, 3 * H),
        np.einsum("bj,bkh->jkh", h_prev, d_h).reshape(H, 3 * H),
        d_x.sum(axis=0).ravel(),
        d_h.sum(axis=0).reshape(-1),
    )


def joined(dh_t, x_t, h_prev, W_x, W_h, b_x, b_h):
    """A column of ones for the biases, so that the sums over the batch are products."""
    ones = np.ones((len(x_t), 1))
    X, S, V, U = np.hstack([x_t, ones]), np.hstack([h_prev, ones]), np.vstack([W_x, b_x]), np.vstack([W_h, b_h])
    (x_r, x_z, x_n), (h_r, h_z, h_n) = np.split(X @ V, 3, axis=1), np.split(S @ U, 3, axis=1)
    r, z = sigmoid(x_r + h_r), sigmoid(x_z + h_z)
    n = np.tanh(x_n + r * h_n)
    d_n = dh_t * (1 - z) * (1 - n**2)
    gates = [d_n * h_n * r * (1 - r), dh_t * (h_prev - n) * z * (1 - z)]
    d_x, d_h = np.hstack([*gates, d_n]), np.hstack([*gates, d_n * r])
    dV, dU = X.T @ d_x, S.T @ d_h
    return (d_x @ V.T)[:, :-1], (d_h @ U.T)[:, :-1] + z * dh_t, dV[:-1], dU[:-1], dV[-1], dU[-1]


TRIALS.all_wrong(WRONG)
TRIALS.all_right([autograd, by_blocks_of_an_array, joined])
