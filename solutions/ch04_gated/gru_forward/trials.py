"""Programs that the spec of `gru_forward` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials
from solutions.ch04_gated.gru_step.trials import gates_in_a_dict

TRIALS = Trials()


STEP = "gru_step(x[:, t], h_t, W_x, W_h, b_x, b_h)"


WRONG = {
    "the first input at every step": ([("x[:, t]", "x[:, 0]")], "altered input: first_step x"),
    "biases exchanged": ([(STEP, STEP.replace("b_x, b_h", "b_h, b_x"))], "altered input: exchanged b_x, b_h"),
    "summed": ([("h.append(h_t)", "h.append(h_t + sum(h))")], "first_step_only"),
    "mean over time": ([("np.stack(h, axis=1)", "np.mean(h, axis=0)")], "after: mean over T"),
    "units before time": ([("axis=1", "axis=2")], "after: axes T and H exchanged"),
    "dict": ([("np.stack(h, axis=1)", "dict(enumerate(h))")], None),
    "float32": ([("np.stack(h, axis=1)", "np.stack(h, axis=1).astype('f4')")], "float32"),
    "a residual": ([(STEP, f"h_t + {STEP}")], None),
    "every second input": ([("x[:, t]", "x[:, t // 2]")], "first_step_only"),
    "the state halved": ([("h.append(h_t)", "h.append(h_t)\nh_t = h_t / 2")], "first_step_only"),
}


def filled(x, h_0, W_x, W_h, b_x, b_h):
    h = np.zeros((len(x), x.shape[1] + 1, h_0.shape[1]))
    h[:, 0] = h_0
    for t in range(x.shape[1]):
        h[:, t + 1] = gates_in_a_dict(x[:, t], h[:, t], W_x, W_h, b_x, b_h)
    return h[:, 1:]


def row_by_row(x, h_0, W_x, W_h, b_x, b_h):
    rows = []
    for b in range(len(x)):
        h_t, states = h_0[b : b + 1], []
        for x_t in x[b]:
            h_t = gates_in_a_dict(x_t[None], h_t, W_x, W_h, b_x, b_h)
            states.append(h_t[0])
        rows.append(states)
    return np.array(rows)


TRIALS.all_wrong(WRONG)
TRIALS.all_right([filled, row_by_row])
