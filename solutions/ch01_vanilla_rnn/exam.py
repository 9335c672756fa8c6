"""Exam questions of chapter 01: one step, from the state to probabilities, the number of parameters."""

import numpy as np
import torch

from grader.exam.draw import demand
from grader.exam.numbers import floats, matrix, row
from grader.exam.tables import EXP, TANH
from grader.exam.working import Working


def one_step(draw, oracles):
    """One step of a vanilla RNN."""
    x, h_prev = draw.numbers(2, "-2", "2", "0.5"), draw.numbers(2, "-0.9", "0.9", "0.1")
    W_xh = [draw.numbers(2, "-0.9", "0.9", "0.1") for _ in range(2)]
    W_hh = [draw.numbers(2, "-1.5", "1.5", "0.5") for _ in range(2)]
    b_h = draw.numbers(2, "-0.5", "0.5", "0.05")
    demand(W_hh[0][1] != W_hh[1][0])
    state = oracles["rnn_step"](*map(floats, ([x], [h_prev], W_xh, W_hh, b_h)))[0]
    work = Working()
    work.say("$a_t = x_t W_{xh} + h_{t-1} W_{hh} + b_h$; unit $j$ takes column $j$ of each matrix.")
    a = []
    for j in range(2):
        products = [*((x[i], W_xh[i][j]) for i in range(2)), *((h_prev[i], W_hh[i][j]) for i in range(2))]
        a.append(work.total(f"a_t[{j}]", *products, b_h[j]))
        work.answer(f"a_t[{j}]", a[j], np.arctanh(state[j]))
    demand(a[0] != a[1] and 0 not in a)
    work.part("Compute the pre-activations $a_t$ of both units.", 4, 6)
    for j in range(2):
        work.answer(f"h_t[{j}]", work.look_up(f"h_t[{j}]", TANH, a[j]), state[j])
    work.part("Compute the new state $h_t$.", 2, 3)
    return work.question(
        "one_step",
        "One step of a vanilla RNN",
        [
            "A vanilla RNN with two inputs and two units reads the input $x_t$. Its previous state is $h_{t-1}$.",
            f"$x_t = {row(x)}$, $h_{{t-1}} = {row(h_prev)}$, $W_{{xh}} = {matrix(W_xh)}$, $W_{{hh}} = {matrix(W_hh)}$, "
            f"$b_h = {row(b_h)}$",
        ],
        {"x": x, "h_prev": h_prev, "W_xh": W_xh, "W_hh": W_hh, "b_h": b_h},
    )


def next_token(draw, oracles):
    """From a state to the probabilities of the next token."""
    h = draw.numbers(2, "-0.8", "0.8", "0.2")
    W_hy = [draw.numbers(3, "-2", "2", "0.5") for _ in range(2)]
    b_y = draw.numbers(3, "-0.5", "0.5", "0.1")
    tokens = draw.some("aeinrstu", 3)
    weight, bias = torch.from_numpy(floats(W_hy).T), torch.from_numpy(floats(b_y))
    logits = torch.nn.functional.linear(torch.from_numpy(floats(h)), weight, bias).numpy()
    expected = oracles["softmax"](logits)
    work = Working()
    work.say("$z_t = h_t W_{hy} + b_y$")
    z = []
    for v in range(3):
        z.append(work.total(f"z_t[{v}]", (h[0], W_hy[0][v]), (h[1], W_hy[1][v]), b_y[v]))
        work.answer(f"z_t[{v}]", z[v], logits[v])
    demand(len(set(z)) == 3)
    work.part("Compute the three logits $z_t$.", 3, 5)
    top = z.index(max(z))
    work.say(f"Subtract the largest logit, $z_t[{top}]$, from all of them: this does not change the probabilities.")
    powers = [work.look_up(rf"e^{{z_t[{v}] - z_t[{top}]}}", EXP, z[top] - z[v]) for v in range(3)]
    total = work.total("s", *powers)
    for v in range(3):
        work.answer(f"p_t[{v}]", work.quotient(f"p_t[{v}]", powers[v], total), expected[v])
    work.part("Compute the probabilities $p_t$ of the three tokens.", 4, 6)
    best = tokens[top]
    work.answer_text("greedy choice", f"*{best}*", f"*{tokens[int(expected.argmax())]}*")
    work.part("Which token is written if the most probable one is chosen?", 1, 1)
    named = ", ".join(f"*{token}* ({v})" for v, token in enumerate(tokens))
    return work.question(
        "next_token",
        "The next token",
        [
            f"An RNN that writes the tokens {named} is in the state $h_t$. Its readout has the weights $W_{{hy}}$ and "
            "the bias $b_y$.",
            f"$h_t = {row(h)}$, $W_{{hy}} = {matrix(W_hy)}$, $b_y = {row(b_y)}$",
        ],
        {"h": h, "W_hy": W_hy, "b_y": b_y, "tokens": tokens},
    )


def parameters(draw, oracles):
    """The number of parameters, and what it depends on."""
    D, H, V = (draw.one(options) for options in ([6, 8, 12, 15], [10, 20, 30, 40], [5, 9, 11, 25]))
    T = draw.one([50, 100, 200])
    work = Working()
    work.say("$W_{xh}$ has the shape (D, H), $W_{hh}$ has (H, H), and $b_h$ has (H,).")
    inner = work.total("n", (D, H), (H, H), H)
    work.answer("n", inner, oracles["count_parameters"]("rnn", D, H) - H, 0)  # PyTorch has two biases
    work.part("Give the shapes of $W_{xh}$, $W_{hh}$ and $b_h$. How many parameters are these?", 3, 4)
    work.say("$W_{hy}$ has the shape (H, V), and $b_y$ has (V,).")
    outer = work.total("m", (H, V), V)
    readout = torch.nn.Linear(H, V, device="meta")
    work.answer("m", outer, sum(parameter.numel() for parameter in readout.parameters()), 0)
    work.part("Give the shapes of $W_{hy}$ and $b_y$. How many parameters are these?", 2, 3)
    work.say("The same weights are used at every step.")
    work.answer_text("change", "none", "none")
    work.part(
        f"The network was trained on sequences of {T} steps. How does the number of its parameters change if they have "
        f"{2 * T} steps, and why?",
        2,
        2,
    )
    return work.question(
        "parameters",
        "Counting parameters",
        [
            f"A vanilla RNN reads inputs of $D = {D}$ numbers, has $H = {H}$ hidden units and one bias $b_h$, and "
            f"predicts one of $V = {V}$ tokens at each step."
        ],
        {"D": D, "H": H, "V": V, "T": T},
    )


QUESTIONS = [one_step, next_token, parameters]
