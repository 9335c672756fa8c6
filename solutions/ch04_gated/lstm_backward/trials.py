"""Programs that the spec of `lstm_backward` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials
from solutions.ch04_gated.lstm_backward import lstm_forward, lstm_gates, sigmoid
from solutions.ch04_gated.lstm_backward import lstm_step_backward as right_step

TRIALS = Trials()


LOOP = {
    "forward": "h, c = lstm_forward(x, h_0, c_0, W_x, W_h, b)",
    "start": "dh_next, dc_next = np.zeros(h_0.shape), dc_T",
    "steps": "range(T - 1, -1, -1)",
    "h_prev": "h[:, t - 1] if t > 0 else h_0",
    "c_prev": "c[:, t - 1] if t > 0 else c_0",
    "call": "step(dh[:, t] + dh_next, dc_next, x[:, t], h_prev, c_prev, W_x, W_h, b)",
    "dx": "dx[:, t] = results[0]",
    "sums": "dW_x, dW_h, db = dW_x + results[3], dW_h + results[4], db + results[5]",
    "carry": "dh_next, dc_next = results[1:3]",
    "returned": "dx, dh_next, dc_next, dW_x, dW_h, db",
}


SOURCE = """
def student(dh, dc_T, x, h_0, c_0, W_x, W_h, b):
    T = x.shape[1]
    {forward}
    dx, dW_x, dW_h, db = np.zeros(x.shape), 0, 0, 0
    {start}
    for t in {steps}:
        h_prev = {h_prev}
        c_prev = {c_prev}
        results = {call}
        {dx}
        {sums}
        {carry}
    return {returned}
"""


def loop(step=right_step, **parts):
    """The right loop with some of its parts replaced."""
    names = {"np": np, "lstm_forward": lstm_forward, "step": step}
    exec(SOURCE.format(**{**LOOP, **parts}), names)
    return names["student"]


def call(dh_t="dh[:, t] + dh_next", dc_next="dc_next", x_t="x[:, t]"):
    return loop(call=f"step({dh_t}, {dc_next}, {x_t}, h_prev, c_prev, W_x, W_h, b)")


WRONG = {
    "dh unused": (call(dh_t="dh_next"), "altered input: zeros dh"),
    "dh backward": (call(dh_t="dh[:, T - 1 - t] + dh_next"), "altered input: backward dh"),
    "the last dh": (call(dh_t="dh[:, -1] + dh_next"), "altered input: last_step dh"),
    "dh doubled": (call(dh_t="2 * dh[:, t] + dh_next"), "altered input: doubled dh"),
    "c is cut": (
        loop(carry="dh_next, dc_next = results[1], 0 * results[2]"),
        "dc_next_not_carried For dx, dh_0, dW_x, dW_h and db",
    ),
    "h is cut": (
        loop(carry="dh_next, dc_next = 0 * results[1], results[2]"),
        "dh_next_not_added For dx, dc_0, dW_x, dW_h and db",
    ),
    "both are cut": (
        loop(carry="dh_next, dc_next = 0 * results[1], 0 * results[2]"),
        "nothing_carried For dx, dW_x, dW_h and db",
    ),
    "c two steps early": (loop(c_prev="c[:, t - 2] if t > 1 else c_0"), None),
    "x early": (call(x_t="x[:, t - 1]"), None),
    "range(T - 1, 0, -1)": (loop(steps="range(T - 1, 0, -1)"), "first_step_left_out For dx and dh_0"),
    "db overwritten": (
        loop(sums="dW_x, dW_h, db = dW_x + results[3], dW_h + results[4], results[5]"),
        "overwritten For db",
    ),
    "dc_0 before dh_0": (loop(returned="dx, dc_next, dh_next, dW_x, dW_h, db"), "order"),
    "changes dc_T": (loop(carry="dh_next, dc_next[:] = results[1], results[2]"), None),
}


def one_sequence_at_a_time(dh, dc_T, x, h_0, c_0, W_x, W_h, b):
    rows = [loop()(dh[n : n + 1], dc_T[n : n + 1], x[n : n + 1], h_0[n : n + 1], c_0[n : n + 1], W_x, W_h, b)
            for n in range(len(x))]  # fmt: skip
    dx, dh_0, dc_0, *weights = zip(*rows, strict=True)
    return np.concatenate(dx), np.concatenate(dh_0), np.concatenate(dc_0), *(sum(parts) for parts in weights)


TRIALS.all_wrong(WRONG)
TRIALS.all_right(
    {
        "one sequence at a time": one_sequence_at_a_time,
    }
)
