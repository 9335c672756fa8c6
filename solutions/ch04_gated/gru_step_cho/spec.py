"""How `gru_step_cho` is checked: against a slow loop over units, written from the equations of Cho et al. (2014)."""

from math import exp, tanh

import numpy as np

from grader.spec.spec import Output, Spec, change, instead
from solutions.ch04_gated.gru_step.spec import EXAMPLE, GATES, cases


def oracle(x_t, h_prev, W_x, W_h, b_x, b_h):
    """Unit by unit: the gates of all units first, because the candidate of a unit needs the reset gates of all."""

    def weighted(values, weights, column, bias):
        return sum(value * weight for value, weight in zip(values, weights[:, column], strict=True)) + bias[column]

    def logistic(a):
        return 1 / (1 + exp(-a))

    H, h_t = h_prev.shape[1], np.zeros(h_prev.shape)
    for x, h, new in zip(x_t, h_prev, h_t, strict=True):
        r = [logistic(weighted(x, W_x, j, b_x) + weighted(h, W_h, j, b_h)) for j in range(H)]
        z = [logistic(weighted(x, W_x, H + j, b_x) + weighted(h, W_h, H + j, b_h)) for j in range(H)]
        reset = [r_k * h_k for r_k, h_k in zip(r, h, strict=True)]
        for j in range(H):
            candidate = tanh(weighted(x, W_x, 2 * H + j, b_x) + weighted(reset, W_h, 2 * H + j, b_h))
            new[j] = z[j] * h[j] + (1 - z[j]) * candidate
    return h_t


SPEC = Spec(
    outputs=[Output("h_t", ("B", "H"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    gates=GATES,
)
MIX, CANDIDATE = "(1 - z) * n + z * h_prev", "np.tanh(x_n + (r * h_prev) @ W_hn + b_hn)"

SPEC.mistakes(
    {
        "r_after_the_product": [
            change("(r * h_prev) @ W_hn + b_hn", "r * (h_prev @ W_hn + b_hn)"),
            change("(r * h_prev) @ W_hn", "r * (h_prev @ W_hn)"),
        ],
        "b_hn_gated": change("(r * h_prev) @ W_hn + b_hn", "(r * h_prev) @ W_hn + r * b_hn"),
        **instead(
            MIX,
            {
                "update_gate_swapped": "z * n + (1 - z) * h_prev",
                "n_returned": "n",
            },
        ),
        "r_on_the_gates_too": change(
            "z = sigmoid(x_z + h_z)",
            "z = sigmoid(x_z + (r * h_prev) @ W_h[:, H : 2 * H] + b_h[H : 2 * H])",
        ),
        "reset_state_kept": change("z * h_prev", "z * (r * h_prev)"),
        "r_times_everything": change("x_n + (r * h_prev) @ W_hn + b_hn", "r * (x_n + h_prev @ W_hn + b_hn)"),
        **instead(
            "(r * h_prev) @",
            {
                "r_left_out": "h_prev @",
                "reset_by_z": "(z * h_prev) @",
            },
        ),
        "h_prev_left_out_of_n": [
            change("x_n + (r * h_prev) @ W_hn + b_hn", "x_n + b_hn"),
            change("x_n + (r * h_prev) @ W_hn + b_hn", "x_n"),
        ],
        "W_hn_left_out": [
            change("(r * h_prev) @ W_hn + b_hn", "r * h_prev + b_hn"),
            change("(r * h_prev) @ W_hn + b_hn", "r * h_prev"),
        ],
        "h_prev_not_gated": [change(MIX, "z * n + h_prev"), change(MIX, "(1 - z) * n + h_prev")],
        "no_tanh": change(CANDIDATE, CANDIDATE.removeprefix("np.tanh")),
        "sigmoid_for_tanh": change("np.tanh(", "sigmoid("),
        "no_sigmoid": [
            change("r = sigmoid(x_r + h_r)", "r = x_r + h_r", ("z = sigmoid(x_z + h_z)", "z = x_z + h_z")),
            change("r = sigmoid(x_r + h_r)", "r = x_r + h_r"),
            change("z = sigmoid(x_z + h_z)", "z = x_z + h_z"),
        ],
        "tanh_for_sigmoid": [
            change(
                "r = sigmoid(x_r + h_r)", "r = np.tanh(x_r + h_r)", ("z = sigmoid(x_z + h_z)", "z = np.tanh(x_z + h_z)")
            ),
            change("r = sigmoid", "r = np.tanh"),
            change("z = sigmoid", "z = np.tanh"),
        ],
        "blocks_of_W_h_transposed": [
            change("@ W_hn", "@ W_hn.T"),
            change(
                "@ W_hn", "@ W_hn.T", ("h_prev @ W_h ", "h_prev @ np.hstack([W.T for W in np.split(W_h, 3, axis=1)]) ")
            ),
        ],
        "b_hn_left_out": change(" + b_hn)", ")"),
        "b_h_left_out_of_the_gates": [
            change("h_prev @ W_h + b_h", "h_prev @ W_h"),
            change("sigmoid(x_r + h_r)", "sigmoid(x_r + h_r - b_h[:H])"),
            change("sigmoid(x_z + h_z)", "sigmoid(x_z + h_z - b_h[H : 2 * H])"),
        ],
        "no_bias": change("x_t @ W_x + b_x", "x_t @ W_x", ("h_prev @ W_h + b_h", "h_prev @ W_h"), (" + b_hn)", ")")),
        "r_twice": [
            change("(r * h_prev) @ W_hn + b_hn", "r * ((r * h_prev) @ W_hn + b_hn)"),
            change("(r * h_prev) @ W_hn", "r * ((r * h_prev) @ W_hn)"),
        ],
        "b_xn_left_out": [
            change("np.tanh(x_n +", "np.tanh(x_n - b_x[2 * H :] +"),
            change("np.tanh(x_n +", "np.tanh(x_n - b_x[2 * H :] +", (" + b_hn)", ")")),
        ],
    }
)


@SPEC.alternative
def block_by_block(x_t, h_prev, W_x, W_h, b_x, b_h):
    """Slices of the weights, one gate after the other; the two biases merged, which is right in this version."""
    H, b = h_prev.shape[1], b_x + b_h
    r = 1 / (1 + np.exp(-(x_t @ W_x[:, :H] + h_prev @ W_h[:, :H] + b[:H])))
    z = 1 / (1 + np.exp(-(x_t @ W_x[:, H : 2 * H] + h_prev @ W_h[:, H : 2 * H] + b[H : 2 * H])))
    n = np.tanh(x_t @ W_x[:, 2 * H :] + (r * h_prev) @ W_h[:, 2 * H :] + b[2 * H :])
    return n + z * (h_prev - n)


@SPEC.alternative
def joined_rows(x_t, h_prev, W_x, W_h, b_x, b_h):
    """Input and state side by side, as one row with one matrix; the second time with the state reset."""
    W, b = np.concatenate([W_x, W_h]), b_x + b_h
    r_and_z = np.hstack([x_t, h_prev]) @ W + b
    r, z, _ = np.split(0.5 + 0.5 * np.tanh(r_and_z / 2), 3, axis=1)
    n = np.tanh(np.split(np.hstack([x_t, r * h_prev]) @ W + b, 3, axis=1)[2])
    return n - z * n + h_prev * z
