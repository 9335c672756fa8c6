"""Programs that the spec of `lstm_step_backward` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials
from solutions.ch04_gated.lstm_backward import lstm_forward, lstm_gates, sigmoid
from solutions.ch04_gated.lstm_backward import lstm_step_backward as right_step

TRIALS = Trials()


LINES = {
    "c": "f * c_prev + i * g",
    "tc": "np.tanh(c)",
    "h": "o * tc",
    "do": "dh_t * tc",
    "dc": "dc_next + dh_t * o * (1 - tc**2)",
    "di": "dc * g",
    "df": "dc * c_prev",
    "dg": "dc * i",
    "dc_prev": "dc * f",
    "da_i": "di * i * (1 - i)",
    "da_f": "df * f * (1 - f)",
    "da_g": "dg * (1 - g**2)",
    "da_o": "do * o * (1 - o)",
    "da": "np.hstack([da_i, da_f, da_g, da_o])",
    "dx_t": "da @ W_x.T",
    "dh_prev": "da @ W_h.T",
    "dW_x": "x_t.T @ da",
    "dW_h": "h_prev.T @ da",
    "db": "da.sum(axis=0)",
}


RESULTS = "dx_t", "dh_prev", "dc_prev", "dW_x", "dW_h", "db"


def step(**lines):
    """The right step with some of its lines replaced."""

    def student(**given):
        names = {**given, "np": np, "sigmoid": sigmoid}
        gates = lstm_gates(*(given[name] for name in ("x_t", "h_prev", "W_x", "W_h", "b")))
        names.update(zip("ifgo", gates, strict=True))
        for name, line in {**LINES, **lines}.items():
            names[name] = eval(line, names)
        return tuple(names[name] for name in RESULTS)

    return student


def gates_read_as(order):
    """The right step of a student who has another order of the gates in mind."""

    def student(dh_t, dc_next, x_t, h_prev, c_prev, W_x, W_h, b):
        to = np.concatenate([np.arange(len(W_h)) + len(W_h) * order.index(gate) for gate in "ifgo"])
        back = np.argsort(to)
        inputs = dh_t, dc_next, x_t, h_prev, c_prev, W_x[:, to], W_h[:, to], b[to]
        dx_t, dh_prev, dc_prev, dW_x, dW_h, db = right_step(*inputs)
        return dx_t, dh_prev, dc_prev, dW_x[:, back], dW_h[:, back], db[back]

    return student


C = ("dc_prev",)


ALL_BUT_DC_PREV, ALL_BUT_DH_PREV = set(RESULTS) - {"dc_prev"}, set(RESULTS) - {"dh_prev"}


ALL = "W_x, W_h, b, dW_x, dW_h and db, i, f, g, o"


WRONG = {
    "the right one, i, f, o, g": (gates_read_as("ifog"), f"read_and_written i, f, o, g, {ALL}", None),
    "the right one, f, i, g, o": (gates_read_as("figo"), f"read_and_written f, i, g, o, {ALL}", None),
    "the right one, i, g, f, o": (gates_read_as("igfo"), f"read_and_written i, g, f, o, {ALL}", None),
    "da as i, f, o, g": (step(da="np.hstack([da_i, da_f, da_o, da_g])"), "written i, f, o, g, da, i, f, g, o", C),
    "da as f, i, g, o": (step(da="np.hstack([da_f, da_i, da_g, da_o])"), "written f, i, g, o, da, i, f, g, o", C),
    "half a slope at o": (step(da_o="do * (1 - o)"), None, C),
    "tanh's slope at i": (step(da_i="di * (1 - i**2)"), None, C),
    "df with i": (step(df="dc * i"), None, C),
    "df with h_prev": (step(df="dc * h_prev"), None, C),
    "dc_prev with the path of h unscaled": (step(dc_prev="dc_next * f + dh_t * o"), None, ALL_BUT_DC_PREV),
    "dc_prev through h alone": (step(dc_prev="(dc - dc_next) * f"), "dc_next_left_out For dc_prev", ALL_BUT_DC_PREV),
    "dh_prev with a path of its own": (step(dh_prev="da @ W_h.T + dh_t * o"), "direct_path_added", ALL_BUT_DH_PREV),
    "dh_prev by the o gate alone": (step(dh_prev="da_o @ W_h[:, -len(W_h):].T"), None, ALL_BUT_DH_PREV),
    "as in chapter 02": (step(dc="dc_next + dh_t * (1 - h**2)"), None, ()),
    "c_t without f": (step(c="c_prev + i * g"), None, ()),
    "i and f exchanged in c_t": (step(c="i * c_prev + f * g"), None, ()),
    "g's slope by sigmoids": (step(da_g="dg * sigmoid(g) * (1 - sigmoid(g))"), None, C),
    "below each other": (step(da="np.concatenate([da_i, da_f, da_g, da_o])"), None, ()),
    "W_x not transposed": (step(dx_t="da @ W_x"), None, ()),
    "dW_x and dW_h transposed": (step(dW_x="da.T @ x_t", dW_h="da.T @ h_prev"), "transposed For dW_x and dW_h", None),
    "db as a row": (step(db="da.sum(axis=0, keepdims=True)"), "after: squeeze of axis=-2 missing For db", None),
    "dc_next through o": (step(dc="dc_next * o + dh_t * o * (1 - tc**2)"), None, ()),
    "negated": (lambda **given: tuple(-a for a in step()(**given)), "sign", ()),
    "dc_prev before dh_prev": (
        lambda **given: tuple(step()(**given)[n] for n in (0, 2, 1, 3, 4, 5)),
        "order",
        None,
    ),
    "without the bias": (lambda b, **given: step()(b=0 * b, **given), "altered input: zeros b", None),
}


RIGHT = {
    "slopes by cosh": step(dc="dh_t * o / np.cosh(c)**2 + dc_next", da_g="dg * (1 + g) * (1 - g)"),
    "sigmoid minus its square": step(da_i="di * (i - i**2)", da_f="df * (f - f * f)", da_o="do * (o - o**2)"),
    "through h": step(da_o="dh_t * h * (1 - o)"),
    "einsum": step(dW_x="np.einsum('bd,bk->dk', x_t, da)", db="np.einsum('bk->k', da)"),
    "block by block": step(dh_prev="sum(a @ w.T for a, w in zip((da_i, da_f, da_g, da_o), np.split(W_h, 4, axis=1)))"),
}

TRIALS.all_wrong(WRONG)
TRIALS.all_right(RIGHT)
