"""Work on the backward pass of the LSTM that no spec names.

What is nearly right must fail and get no wrong name: beside each stands the diagnosis that is true of it, or None.
What is right in another way must pass.
"""

import itertools

import numpy as np
import pytest

from solutions.ch04_gated.lstm_backward import lstm_forward, lstm_gates, sigmoid
from solutions.ch04_gated.lstm_backward import lstm_step_backward as right_step
from tests.conftest import SEEDS, exercise
from tests.loops import for_each
from tests.nearly_right import fails, passes

# cell_gradient -------------------------------------------------------------------------------------------------------

WRONG_PATHS = {
    "logarithm": (lambda f, k, t: np.log(f[:, k + 1 : t + 1]).sum(axis=1), None),
    "of the batch": (lambda f, k, t: np.prod(f[k + 1 : t + 1], axis=0), "multiplied_over_another_axis"),
    "matrices": (
        lambda f, k, t: np.stack([np.diag(np.prod(row[k + 1 : t + 1], axis=0)) for row in f]),
        "diagonal_matrix",
    ),
    "running product of all": (lambda f, k, t: np.cumprod(f, axis=1)[:, t], "k_ignored"),
    "a difference": (lambda f, k, t: np.cumprod(f, axis=1)[:, t] - np.cumprod(f, axis=1)[:, k], None),
    "geometric mean": (lambda f, k, t: np.prod(f[:, k + 1 : t + 1], axis=1) ** (1 / max(t - k, 1)), None),
    "mean over the batch": (lambda f, k, t: np.prod(f[:, k + 1 : t + 1], axis=1).mean(axis=0), "after: mean over B"),
    "an axis too many": (
        lambda f, k, t: np.prod(f[:, k + 1 : t + 1], axis=1, keepdims=True),
        "after: squeeze of axis=-2 missing",
    ),
    "the first sequence": (lambda f, k, t: np.prod(f[0, k + 1 : t + 1], axis=0), "after: first entry along B"),
    "k to t by reduce": (lambda f, k, t: np.multiply.reduce(f[:, k:t], axis=1), "f_one_step_early"),
    "a sum": (lambda f, k, t: sum(f[:, s] for s in range(k + 1, t + 1)), "added"),
    "from the first factor": (
        lambda f, k, t: f[:, k + 1] * np.prod(f[:, k + 2 : t + 1], axis=1),
        "not_one_for_k_equal_t",
    ),
    "negated": (lambda f, k, t: -np.prod(f[:, k + 1 : t + 1], axis=1), "sign"),
    "float32": (lambda f, k, t: np.prod(f[:, k + 1 : t + 1], axis=1).astype("f4"), "float32"),
}


@for_each("name", WRONG_PATHS)
def test_a_nearly_right_direct_path(name):
    fails("cell_gradient", *WRONG_PATHS[name])


RIGHT_PATHS = {
    "accumulate": lambda f, k, t: [
        *itertools.accumulate((f[:, s] for s in range(k + 1, t + 1)), np.multiply, initial=np.ones(f[:, 0].shape))
    ][-1],
    "einsum of logarithms": lambda f, k, t: np.exp(np.einsum("bth->bh", np.log(f[:, k + 1 : t + 1]))),
    "a case of its own": lambda f, k, t: np.ones_like(f[:, 0]) if k == t else f[:, k + 1 : t + 1].prod(1),
    "time first": lambda f, k, t: np.prod(f.swapaxes(0, 1)[k + 1 : t + 1], axis=0),
    "powers of two": lambda f, k, t: 2 ** np.log2(f)[:, k + 1 : t + 1].sum(axis=-2),
}


@pytest.mark.parametrize("name", RIGHT_PATHS)
def test_a_right_direct_path_passes_however_it_is_written(name):
    passes("cell_gradient", RIGHT_PATHS[name])


# lstm_step_backward --------------------------------------------------------------------------------------------------

LINES = {
    "c": "f * c_prev + i * g",
    "tc": "np.tanh(c)",
    "h": "o * tc",
    "do": "dh_t * tc",
    "dc": "dc_t + dh_t * o * (1 - tc**2)",
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

    def student(dh_t, dc_t, x_t, h_prev, c_prev, W_x, W_h, b):
        to = np.concatenate([np.arange(len(W_h)) + len(W_h) * order.index(gate) for gate in "ifgo"])
        back = np.argsort(to)
        inputs = dh_t, dc_t, x_t, h_prev, c_prev, W_x[:, to], W_h[:, to], b[to]
        dx_t, dh_prev, dc_prev, dW_x, dW_h, db = right_step(*inputs)
        return dx_t, dh_prev, dc_prev, dW_x[:, back], dW_h[:, back], db[back]

    return student


C = ("dc_prev",)
ALL_BUT_DC_PREV, ALL_BUT_DH_PREV = set(RESULTS) - {"dc_prev"}, set(RESULTS) - {"dh_prev"}
ALL = "W_x, W_h, b, dW_x, dW_h and db, i, f, g, o"

WRONG_STEPS = {
    "the right one, i, f, o, g": (gates_read_as("ifog"), f"read_and_written i, f, o, g, {ALL}", None),
    "the right one, f, i, g, o": (gates_read_as("figo"), f"read_and_written f, i, g, o, {ALL}", None),
    "the right one, i, g, f, o": (gates_read_as("igfo"), f"read_and_written i, g, f, o, {ALL}", None),
    "da as i, f, o, g": (step(da="np.hstack([da_i, da_f, da_o, da_g])"), "written i, f, o, g, da, i, f, g, o", C),
    "da as f, i, g, o": (step(da="np.hstack([da_f, da_i, da_g, da_o])"), "written f, i, g, o, da, i, f, g, o", C),
    "no slope at i": (step(da_i="di"), "sigmoid_slope_left_out", C),
    "no slope at o": (step(da_o="do"), "sigmoid_slope_left_out", C),
    "half a slope at o": (step(da_o="do * (1 - o)"), None, C),
    "tanh's slope at i": (step(da_i="di * (1 - i**2)"), None, C),
    "df with i": (step(df="dc * i"), None, C),
    "df with f": (step(df="dc * f"), "multiplied_by_the_gate_itself", C),
    "dg with g": (step(dg="dc * g"), "multiplied_by_the_gate_itself", C),
    "di alone": (step(di="dc"), "other_factor_left_out", C),
    "df with h_prev": (step(df="dc * h_prev"), None, C),
    "do from dc": (step(do="0 * dh_t", da_o="dc * tc * o * (1 - o)"), "do_from_dc", C),
    "dc_prev with the path of h unscaled": (step(dc_prev="dc_t * f + dh_t * o"), None, ALL_BUT_DC_PREV),
    "dc_prev through h alone": (step(dc_prev="(dc - dc_t) * f"), "dc_t_left_out For dc_prev", ALL_BUT_DC_PREV),
    "dh_prev with a path of its own": (step(dh_prev="da @ W_h.T + dh_t * o"), None, ALL_BUT_DH_PREV),
    "dh_prev by the o gate alone": (step(dh_prev="da_o @ W_h[:, -len(W_h):].T"), None, ALL_BUT_DH_PREV),
    "c for tanh(c)": (step(tc="c"), "tanh_of_c_t_left_out", ()),
    "tanh's slope of h_t, o": (step(dc="dc_t + dh_t * o * (1 - h**2)"), "tanh_slope_taken_on_h_t", ()),
    "as in chapter 02": (step(dc="dc_t + dh_t * (1 - h**2)"), None, ()),
    "c_t without f": (step(c="c_prev + i * g"), None, ()),
    "i and f exchanged in c_t": (step(c="i * c_prev + f * g"), None, ()),
    "g's slope by sigmoids": (step(da_g="dg * sigmoid(g) * (1 - sigmoid(g))"), None, C),
    "below each other": (step(da="np.concatenate([da_i, da_f, da_g, da_o])"), None, ()),
    "stacked": (step(da="np.stack([da_i, da_f, da_g, da_o], axis=1)"), None, ()),
    "W_x not transposed": (step(dx_t="da @ W_x"), None, ()),
    "dW_x and dW_h transposed": (step(dW_x="da.T @ x_t", dW_h="da.T @ h_prev"), "transposed For dW_x and dW_h", None),
    "db as a row": (step(db="da.sum(axis=0, keepdims=True)"), "after: squeeze of axis=-2 missing For db", None),
    "dc_t through o": (step(dc="dc_t * o + dh_t * o * (1 - tc**2)"), None, ()),
    "do in dc": (step(dc="dc_t + do"), "do_added_to_dc_t", ()),
    "no dh_t": (step(dc="dc_t + o * (1 - tc**2)", do="tc"), "dh_t_left_out", ()),
    "1 - tanh(c)": (step(dc="dc_t + dh_t * o * (1 - tc)"), "tanh_slope_of_c_not_squared", ()),
    "negated": (lambda **given: tuple(-a for a in step()(**given)), "sign", ()),
    "dc_prev before dh_prev": (
        lambda **given: tuple(step()(**given)[n] for n in (0, 2, 1, 3, 4, 5)),
        "order",
        None,
    ),
    "without the bias": (lambda b, **given: step()(b=0 * b, **given), "counterfactual: zeros b", None),
}


@for_each("name", WRONG_STEPS)
def test_a_nearly_right_step(name):
    fails("lstm_step_backward", *WRONG_STEPS[name])


RIGHT_STEPS = {
    "as it is": step(),
    "slopes by cosh": step(dc="dh_t * o / np.cosh(c)**2 + dc_t", da_g="dg * (1 + g) * (1 - g)"),
    "sigmoid minus its square": step(da_i="di * (i - i**2)", da_f="df * (f - f * f)", da_o="do * (o - o**2)"),
    "through h": step(da_o="dh_t * h * (1 - o)"),
    "einsum": step(dW_x="np.einsum('bd,bk->dk', x_t, da)", db="np.einsum('bk->k', da)"),
    "block by block": step(dh_prev="sum(a @ w.T for a, w in zip((da_i, da_f, da_g, da_o), np.split(W_h, 4, axis=1)))"),
    "a stack along a new axis": step(da="np.stack([da_i, da_f, da_g, da_o], axis=1).reshape(len(x_t), -1)"),
}


@pytest.mark.parametrize("name", RIGHT_STEPS)
def test_a_right_step_passes_however_it_is_written(name):
    passes("lstm_step_backward", RIGHT_STEPS[name])


# lstm_backward -------------------------------------------------------------------------------------------------------

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


def call(dh_t="dh[:, t] + dh_next", dc_t="dc_next", x_t="x[:, t]"):
    return loop(call=f"step({dh_t}, {dc_t}, {x_t}, h_prev, c_prev, W_x, W_h, b)")


WRONG_LOOPS = {
    "dc_T to the last h too": (
        call(dh_t="dh[:, t] + dh_next + (dc_T if t == T - 1 else 0)"),
        "dh_next_starts_with_dc_T",
    ),
    "dc_T to h": (loop(start="dh_next, dc_next = dc_T, np.zeros(c_0.shape)"), "dh_next_starts_with_dc_T"),
    "dh into dc": (call(dc_t="dc_next + dh[:, t]"), "dh_added_to_dc_next"),
    "dh_next into dc": (call(dc_t="dc_next + dh_next"), "dh_added_to_dc_next"),
    "dh unused": (call(dh_t="dh_next"), "counterfactual: zeros dh"),
    "dh backward": (call(dh_t="dh[:, T - 1 - t] + dh_next"), "counterfactual: backward dh"),
    "the last dh": (call(dh_t="dh[:, -1] + dh_next"), "counterfactual: last_step dh"),
    "dh doubled": (call(dh_t="2 * dh[:, t] + dh_next"), "counterfactual: doubled dh"),
    "nothing carried in c": (call(dc_t="0 * dc_T"), "dc_next_not_carried"),
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
    "forward from zeros": (
        loop(forward="h, c = lstm_forward(x, 0 * h_0, 0 * c_0, W_x, W_h, b)"),
        "forward_from_zero_states",
    ),
    "h and c exchanged": (loop(forward="c, h = lstm_forward(x, h_0, c_0, W_x, W_h, b)"), "h_and_c_exchanged"),
    "c_0 always": (loop(c_prev="c_0"), "initial_states_at_every_step"),
    "c two steps early": (loop(c_prev="c[:, t - 2] if t > 1 else c_0"), None),
    "c late": (loop(c_prev="c[:, t]"), "c_prev_is_c_t"),
    "both late": (loop(h_prev="h[:, t]", c_prev="c[:, t]"), "states_one_step_late"),
    "wraps around": (loop(h_prev="h[:, t - 1]", c_prev="c[:, t - 1]"), "states_wrap_around"),
    "x early": (call(x_t="x[:, t - 1]"), None),
    "range(T)": (loop(steps="range(T)"), "loops_forward"),
    "range(T - 1, 0, -1)": (loop(steps="range(T - 1, 0, -1)"), "first_step_left_out For dx and dh_0"),
    "db overwritten": (
        loop(sums="dW_x, dW_h, db = dW_x + results[3], dW_h + results[4], results[5]"),
        "overwritten For db",
    ),
    "dx appended": (loop(dx="dx[:, T - 1 - t] = results[0]"), "dx_in_the_order_of_the_loop"),
    "dh_next accumulated": (loop(carry="dh_next, dc_next = dh_next + results[1], results[2]"), "dh_next_accumulated"),
    "exchanged": (loop(carry="dc_next, dh_next = results[1:3]"), "dh_next_and_dc_next_exchanged"),
    "dc_0 before dh_0": (loop(returned="dx, dc_next, dh_next, dW_x, dW_h, db"), "order"),
    "changes dc_T": (loop(carry="dh_next, dc_next[:] = results[1], results[2]"), None),
}


@for_each("name", WRONG_LOOPS)
def test_a_nearly_right_loop(name):
    fails("lstm_backward", *WRONG_LOOPS[name])


def test_the_order_of_the_gates_in_a_step_of_ones_own():
    """A student who writes the step again may have another order in mind."""
    function = loop(step=lambda *inputs: gates_read_as("ifog")(*inputs))
    for seed in SEEDS:
        assert not exercise("lstm_backward").verdict(function, seed)


def test_where_the_step_is_wrong_it_is_to_be_fixed_first():
    names = "dh_t", "dc_t", "x_t", "h_prev", "c_prev", "W_x", "W_h", "b"
    wrong = step(da_i="di * (1 - i**2)")
    function = loop(step=lambda *inputs: wrong(**dict(zip(names, inputs, strict=True))))
    verdict = exercise("lstm_backward").verdict(function, wrong_needs=("lstm_step_backward",))
    assert verdict.diagnosis.id == "needs"


def with_the_initial_state_in_front(dh, dc_T, x, h_0, c_0, W_x, W_h, b):
    h, c = lstm_forward(x, h_0, c_0, W_x, W_h, b)
    h, c = np.concatenate([h_0[:, None], h], axis=1), np.concatenate([c_0[:, None], c], axis=1)
    dh_all, dc = np.concatenate([np.zeros_like(h_0)[:, None], dh], axis=1), dc_T
    dx, sums = [], [0, 0, 0]
    for t in reversed(range(x.shape[1])):
        dx_t, dh_prev, dc, *parts = right_step(dh_all[:, t + 1], dc, x[:, t], h[:, t], c[:, t], W_x, W_h, b)
        dh_all[:, t] += dh_prev
        dx.insert(0, dx_t)
        sums = [total + part for total, part in zip(sums, parts, strict=True)]
    return np.stack(dx, axis=1), dh_all[:, 0], dc, *sums


def one_sequence_at_a_time(dh, dc_T, x, h_0, c_0, W_x, W_h, b):
    rows = [loop()(dh[n : n + 1], dc_T[n : n + 1], x[n : n + 1], h_0[n : n + 1], c_0[n : n + 1], W_x, W_h, b)
            for n in range(len(x))]  # fmt: skip
    dx, dh_0, dc_0, *weights = zip(*rows, strict=True)
    return np.concatenate(dx), np.concatenate(dh_0), np.concatenate(dc_0), *(sum(parts) for parts in weights)


@pytest.mark.parametrize("function", [loop(), with_the_initial_state_in_front, one_sequence_at_a_time])
def test_a_right_loop_passes_however_it_is_written(function):
    passes("lstm_backward", function)
