"""Programs that the spec of `gru_step_cho` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


def read(order, *names):
    listed = " and ".join(", ".join(names).rsplit(", ", 1))
    return f"altered input: read {', '.join(order)}, {listed}, r, z, n"


SIDES = "x_r, x_z, x_n = ", "h_r, h_z, h_n = "


MIX, N = "(1 - z) * n + z * h_prev", "np.tanh(x_n + r * h_n)"


ALL = "W_x", "W_h", "b_x", "b_h"


CHO = "np.tanh(x_n + (r * h_prev) @ W_hn + b_hn)"


WRONG = {
    "z before r": ([(SIDES[0], "x_z, x_r, x_n = "), ("h_r, h_z, _ = ", "h_z, h_r, _ = ")], read("zrn", *ALL)),
    "b_h left out": ([("W_h + b_h", "W_h"), (" + b_hn)", ")")], "altered input: zeros b_h"),
    "b_x left out": ([("W_x + b_x", "W_x")], "altered input: zeros b_x"),
    "a block of W_h": (
        [("W_h[:, 2 * H :], b_h[2 * H :]", "W_h[:, H : 2 * H], b_h[H : 2 * H]")],
        "altered input: same_block n, z, W_h and b_h",
    ),
    "the first block of W_h": ([("W_h[:, 2 * H :]", "W_h[:, :H]")], None),
    "the gate on the columns": ([("(r * h_prev) @ W_hn", "h_prev @ (W_hn * r[0])")], None),
    "1 - r": ([("r * h_prev", "(1 - r) * h_prev")], "altered input: opposite r, W_x, W_h, b_x and b_h"),
    "r twice": ([(CHO, "np.tanh(x_n + r * ((r * h_prev) @ W_hn + b_hn))")], "r_twice"),
    "two tanhs": ([(CHO, "np.tanh(x_n) + np.tanh((r * h_prev) @ W_hn + b_hn)")], None),
    "b_hn outside": ([(CHO, "np.tanh(x_n + (r * h_prev) @ W_hn) + b_hn")], None),
    "b_x for b_h": ([("b_h[2", "b_x[2")], None),
    "PyTorch's with z swapped": (
        [("(r * h_prev) @ W_hn + b_hn", "r * (h_prev @ W_hn + b_hn)"), (MIX, "z * n + (1 - z) * h_prev")],
        None,
    ),
    "negated": ([(MIX, f"-({MIX})")], "sign"),
    "float32": ([(MIX, f"({MIX}).astype('f4')")], "float32"),
}


def masked_columns(x_t, h_prev, W_x, W_h, b_x, b_h):
    """Cho's step with the gate as a diagonal matrix for each row."""
    H, rows = W_h.shape[0], []
    for x, h in zip(x_t, h_prev, strict=True):
        a = x @ W_x + b_x + b_h
        r, z = np.split(1 / (1 + np.exp(-(a + h @ W_h)[: 2 * H])), 2)
        n = np.tanh(a[2 * H :] + h @ np.diag(r) @ W_h[:, 2 * H :])
        rows.append((1 - z) * n + z * h)
    return np.array(rows)


TRIALS.all_wrong(WRONG)
TRIALS.all_right([masked_columns])
