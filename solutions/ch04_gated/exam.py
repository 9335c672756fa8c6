"""Exam questions of chapter 04: one LSTM step, one GRU step, what a forget gate leaves, the number of parameters."""

import numpy as np

from grader.exam.draw import demand, grid
from grader.exam.numbers import floats, row, tex
from grader.exam.tables import SIGMOID, TANH
from grader.exam.working import Working


def lstm(draw, oracles):
    """One step of an LSTM with one unit."""
    x, h_prev, c_prev = draw.number("-2", "2", "0.5"), draw.number("-0.9", "0.9", "0.1"), draw.number("-2", "2", "0.1")
    W_x, W_h = draw.numbers(4, "-0.9", "0.9", "0.1"), draw.numbers(4, "-2", "2", "0.5")
    b = draw.numbers(4, "-1", "1", "0.05")
    work = Working()
    work.say("$a_t = x_t W_x + h_{t-1} W_h + b$, in the blocks i, f, g, o.")
    values = {}
    for block, w, u, bias in zip("ifgo", W_x, W_h, b, strict=True):
        a = work.total(f"a_t^{{({block})}}", (x, w), (h_prev, u), bias)
        demand(a != 0)
        values[block] = work.look_up(f"{block}_t", TANH if block == "g" else SIGMOID, a)
        function = np.tanh if block == "g" else _sigmoid
        work.answer(f"{block}_t", values[block], function(float(x) * float(w) + float(h_prev) * float(u) + float(bias)))
    work.part("Compute the gates $i_t$, $f_t$, $o_t$ and the candidate $g_t$.", 6, 8)
    c = work.total("c_t", (values["f"], c_prev), (values["i"], values["g"]))
    TANH.look_up(c)  # before the oracle is asked, which takes longer
    (h_t,), (c_t,) = (
        each[0] for each in oracles["lstm_step"](*map(floats, ([[x]], [[h_prev]], [[c_prev]], [W_x], [W_h], b)))
    )
    work.answer("c_t", c, c_t)
    work.part("Compute the new cell state $c_t$.", 2, 2)
    squashed = work.look_up(r"\tanh(c_t)", TANH, c)
    work.answer("h_t", work.total("h_t", (values["o"], squashed)), h_t)
    work.part("Compute the new state $h_t$.", 2, 2)
    return work.question(
        "lstm",
        "One step of an LSTM",
        [
            "An LSTM with one input and one unit reads $x_t$. The columns of its weights and its bias are the blocks "
            "i, f, g and o.",
            f"$x_t = {tex(x)}$, $h_{{t-1}} = {tex(h_prev)}$, $c_{{t-1}} = {tex(c_prev)}$, $W_x = {row(W_x)}$, "
            f"$W_h = {row(W_h)}$, $b = {row(b)}$",
        ],
        {"x": x, "h_prev": h_prev, "c_prev": c_prev, "W_x": W_x, "W_h": W_h, "b": b},
    )


def _sigmoid(a):
    return 1 / (1 + np.exp(-a))


def gru(draw, oracles):
    """One step of a GRU with one unit."""
    x, h_prev = draw.number("-2", "2", "0.5"), draw.number("-0.9", "0.9", "0.1")
    W_x, W_h = draw.numbers(3, "-0.9", "0.9", "0.1"), draw.numbers(3, "-2", "2", "0.5")
    b_x, b_h = draw.numbers(3, "-0.5", "0.5", "0.05"), draw.numbers(3, "-0.5", "0.5", "0.05")
    work = Working()
    gates = {}
    for k, gate in enumerate("rz"):
        a = work.total(f"a_t^{{({gate})}}", (x, W_x[k]), (h_prev, W_h[k]), b_x[k], b_h[k])
        demand(a != 0)
        gates[gate] = work.look_up(f"{gate}_t", SIGMOID, a)
        exact = _sigmoid(float(x * W_x[k] + h_prev * W_h[k] + b_x[k] + b_h[k]))
        work.answer(f"{gate}_t", gates[gate], exact)
    work.part("Compute the reset gate $r_t$ and the update gate $z_t$.", 4, 4)
    work.say(
        r"$n_t = \tanh(x_t W_x + b_x + r_t (h_{t-1} W_h + b_h))$ in the block n: the gate scales the whole bracket."
    )
    inner = work.total("u", (h_prev, W_h[2]), b_h[2])
    candidate = work.look_up("n_t", TANH, work.total("a_t^{(n)}", (x, W_x[2]), b_x[2], (gates["r"], inner)))
    reset = _sigmoid(float(x * W_x[0] + h_prev * W_h[0] + b_x[0] + b_h[0]))
    work.answer("n_t", candidate, np.tanh(float(x * W_x[2] + b_x[2]) + reset * float(inner)))
    demand(inner != 0 and abs(candidate) > 0)
    work.part("Compute the candidate $n_t$. The reset gate is applied after the product, as in PyTorch.", 3, 4)
    work.say("$h_t = (1 - z_t) n_t + z_t h_{t-1}$: here the update gate keeps the previous state.")
    ((expected,),) = oracles["gru_step"](*map(floats, ([[x]], [[h_prev]], [W_x], [W_h], b_x, b_h)))
    found = work.total("h_t", (1 - gates["z"], candidate), (gates["z"], h_prev))
    work.answer("h_t", found, expected)
    work.part("Compute the new state $h_t$.", 2, 3)
    return work.question(
        "gru",
        "One step of a GRU",
        [
            "A GRU with one input and one unit reads $x_t$. The columns of its weights and the entries of its biases "
            "are the blocks r, z and n.",
            f"$x_t = {tex(x)}$, $h_{{t-1}} = {tex(h_prev)}$, $W_x = {row(W_x)}$, $W_h = {row(W_h)}$, "
            f"$b_x = {row(b_x)}$, $b_h = {row(b_h)}$",
        ],
        {"x": x, "h_prev": h_prev, "W_x": W_x, "W_h": W_h, "b_x": b_x, "b_h": b_h},
    )


def forgetting(draw, oracles):
    """What is left of a cell's gradient after some steps."""
    f = [draw.some(grid("0.3", "0.95", "0.05"), 2) for _ in range(3)]
    bias = draw.number("0.5", "1.95", "0.05")
    gates = floats([[[1, 1], *f]])
    path = oracles["cell_gradient"](gates, 0, 3)[0]
    steady = np.full((1, 5, 1), _sigmoid(float(bias)))
    work = Working()
    work.say(
        r"Along the direct path, $\partial c_4 / \partial c_1 = f_2 \odot f_3 \odot f_4$, for each unit by itself."
    )
    for j in range(2):
        name = rf"\partial c_4[{j}] / \partial c_1[{j}]"
        work.answer(name, work.total(name, [step[j] for step in f]), path[j])
    work.part(r"Compute $\partial c_4 / \partial c_1$ for both units, with the gates held fixed.", 3, 4)
    gate = work.look_up(r"\sigma(b_f)", SIGMOID, bias)
    square = work.total(r"\sigma(b_f)^2", (gate, gate))
    left = work.total(r"\sigma(b_f)^4", (square, square))
    work.answer(r"\sigma(b_f)^4", left, oracles["cell_gradient"](steady, 0, 4)[0, 0])
    work.part(
        rf"In another LSTM, the forget gate of a unit has the bias $b_f = {tex(bias)}$, and inputs and states hardly "
        "move its pre-activation. Which share of the cell's content is left after four steps?",
        3,
        3,
    )
    shown = ", ".join(f"$f_{t} = {row(each)}$" for t, each in enumerate(f, 2))
    return work.question(
        "forgetting",
        "What the forget gate leaves",
        [f"An LSTM with two units reads four inputs. Its forget gates at the last three steps are {shown}."],
        {"f": f, "bias": bias},
    )


def parameters(draw, oracles):
    """The parameters of an LSTM and a GRU."""
    D, H = draw.one([4, 6, 8, 12, 15]), draw.one([5, 10, 16, 20, 30])
    work = Working()
    work.say("One block has weights of the shapes (D, H) and (H, H) and two biases of the shape (H,).")
    block = work.total("n", (D, H), (H, H), (2, H))
    work.answer("n", block, oracles["count_parameters"]("rnn", D, H), 0)
    work.part("How many parameters does one block have, that is, one gate or the candidate?", 2, 3)
    work.answer(
        r"n_{\text{LSTM}}", work.total(r"n_{\text{LSTM}}", (4, block)), oracles["count_parameters"]("lstm", D, H), 0
    )
    work.answer(
        r"n_{\text{GRU}}", work.total(r"n_{\text{GRU}}", (3, block)), oracles["count_parameters"]("gru", D, H), 0
    )
    work.part("How many parameters do an LSTM and a GRU of this size have?", 2, 2)
    return work.question(
        "parameters",
        "Counting parameters",
        [
            f"A recurrent layer reads $D = {D}$ numbers at each step and has $H = {H}$ units. As in PyTorch, each "
            "block has two biases."
        ],
        {"D": D, "H": H},
    )


QUESTIONS = [lstm, gru, forgetting, parameters]
