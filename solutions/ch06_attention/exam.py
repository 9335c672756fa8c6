"""Exam questions of chapter 06: a decoder that looks back, causal self-attention, the gradient of the scores."""

import numpy as np
import torch

from grader.exam.draw import demand, grid
from grader.exam.numbers import floats, matrix, row, written
from grader.exam.tables import EXP
from grader.exam.working import Working


def looking_back(draw, oracles):
    """Dot-product scores, weights and a context."""
    query, keys = draw.numbers(2, "-2", "2", "0.5"), [draw.numbers(2, "-1.4", "1.4", "0.2") for _ in range(3)]
    expected = oracles["dot_score"](floats([query]), floats([keys]))
    shares = oracles["masked_softmax"](expected, np.ones((1, 3), dtype=bool))
    context = oracles["attend"](shares, floats([keys]))[0]
    work = Working()
    scores = []
    for j, key in enumerate(keys, 1):
        scores.append(work.total(f"e_{j}", *zip(query, key, strict=True)))
        work.answer(f"e_{j}", scores[-1], expected[0, j - 1])
    demand(len(set(scores)) == 3)
    work.part("Compute the dot-product scores $e_1$, $e_2$ and $e_3$, without a scale.", 3, 4)
    weights = _softmax(work, "e", scores)
    for j, weight in enumerate(weights, 1):
        work.answer(rf"\alpha_{j}", weight, shares[0, j - 1])
    work.part(r"Compute the attention weights $\alpha_1$, $\alpha_2$ and $\alpha_3$.", 4, 6)
    work.say(r"$c = \sum_j \alpha_j k_j$, because values and keys are the same here.")
    for i in range(2):
        name = f"c[{i}]"
        work.answer(name, work.total(name, *((w, key[i]) for w, key in zip(weights, keys, strict=True))), context[i])
    work.part("Compute the context $c$. The values are the keys.", 2, 4)
    shown = ", ".join(f"$k_{j} = {row(key)}$" for j, key in enumerate(keys, 1))
    return work.question(
        "looking_back",
        "A decoder that looks back",
        [
            "A decoder attends to three states of the encoder. Its query is $q$, and the keys are $k_1$, $k_2$ and "
            "$k_3$.",
            f"$q = {row(query)}$, {shown}",
        ],
        {"query": query, "keys": keys},
    )


def _softmax(work, name, scores):
    """The weights of scores, whose names are numbered from 1."""
    top = scores.index(max(scores))
    work.say(f"Subtract the largest score, ${name}_{top + 1}$, from all of them: this does not change the weights.")
    powers = [
        work.look_up(f"e^{{{name}_{j} - {name}_{top + 1}}}", EXP, scores[top] - each)
        for j, each in enumerate(scores, 1)
    ]
    total = work.total("s", *powers)
    return [work.quotient(rf"\alpha_{j}", power, total) for j, power in enumerate(powers, 1)]


def causal(draw, oracles):
    """One row of causal self-attention, scaled."""
    queries, keys = ([draw.numbers(4, low, high, step) for _ in range(3)] for low, high, step in _RANGES)
    values = [draw.numbers(2, "-3", "3", "0.5") for _ in range(3)]
    mask = np.tril(np.ones((1, 3, 3), dtype=bool))
    y, shares = oracles["self_attention"](np.eye(3)[None], *map(floats, (queries, keys, values)), mask)
    work = Working()
    work.say(r"Position 2 may attend to the positions 1 and 2 only. $e_{2,j} = q_2 k_j^\top / \sqrt{4}$")
    scores = []
    for j in (1, 2):
        product = work.total(rf"q_2 k_{j}^\top", *zip(queries[1], keys[j - 1], strict=True))
        scores.append(work.quotient(f"e_{{2,{j}}}", product, 2))
    demand(scores[0] != scores[1])
    powers = [work.look_up(f"e^{{e_{{2,{j}}} - \\max}}", EXP, max(scores) - each) for j, each in enumerate(scores, 1)]
    total = work.total("s", *powers)
    weights = [work.quotient(rf"\alpha_{{2,{j}}}", power, total) for j, power in enumerate(powers, 1)]
    for j, weight in enumerate(weights, 1):
        work.answer(rf"\alpha_{{2,{j}}}", weight, shares[0, 1, j - 1])
    work.say(r"$\alpha_{2,3} = 0$, because of the mask.")
    work.answer(r"\alpha_{2,3}", 0, shares[0, 1, 2], 0)
    work.part(r"Compute the three attention weights $\alpha_{2,1}$, $\alpha_{2,2}$ and $\alpha_{2,3}$.", 6, 8)
    for i in range(2):
        found = work.total(f"y_2[{i}]", *((w, value[i]) for w, value in zip(weights, values, strict=False)))
        work.answer(f"y_2[{i}]", found, y[0, 1, i])
    work.part("Compute the output $y_2$.", 2, 3)
    return work.question(
        "causal",
        "Causal self-attention",
        [
            "A layer of self-attention with a causal mask has computed queries, keys and values of three positions. "
            "Row $t$ of each matrix belongs to position $t$. Scores are divided by the square root of the number of "
            "columns of a key, which is 4. Consider position 2.",
            f"$Q = {matrix(queries)}$, $K = {matrix(keys)}$, $V = {matrix(values)}$",
        ],
        {"queries": queries, "keys": keys, "values": values},
    )


_RANGES = (("-2", "2", "0.5"), ("-2", "2", "0.4"))  # of queries and of keys, so that scores have one decimal


def scores_backward(draw, oracles):
    """The gradient of the scores."""
    weights, dc = draw.some(grid("0.1", "0.8", "0.1"), 3), draw.numbers(2, "-2", "2", "0.5")
    values = [draw.numbers(2, "-2", "2", "0.2") for _ in range(3)]
    demand(sum(weights) == 1)
    e, v = torch.from_numpy(np.log(floats(weights))).requires_grad_(), torch.from_numpy(floats(values))
    alpha = torch.softmax(e, dim=0)
    alpha.retain_grad()
    (alpha @ v @ torch.from_numpy(floats(dc))).backward()
    work = Working()
    slopes = []
    for j, value in enumerate(values, 1):
        slopes.append(work.total(rf"d\alpha_{j}", *zip(dc, value, strict=True)))
        work.answer(rf"d\alpha_{j}", slopes[-1], alpha.grad[j - 1])
    work.part(r"Compute the gradients $d\alpha_1$, $d\alpha_2$ and $d\alpha_3$ of the attention weights.", 3, 4)
    work.say(r"$de_j = \alpha_j (d\alpha_j - m)$ with $m = \sum_i \alpha_i\, d\alpha_i$")
    mean = work.total("m", *zip(weights, slopes, strict=True))
    for j, (weight, slope) in enumerate(zip(weights, slopes, strict=True), 1):
        found = work.total(f"de_{j}", (weight, slope - mean))
        work.answer(f"de_{j}", found, e.grad[j - 1])
    work.part("Compute the gradients $de_1$, $de_2$ and $de_3$ of the scores.", 4, 6)
    work.say("Adding the same number to all scores changes no weight, so the gradients of the scores sum to 0.")
    total = "0" if abs(e.grad.sum().item()) < 1e-12 else "another number"
    work.answer_text("sum", "0", total)
    work.part("What is the exact sum of the three gradients of the scores, and why is it always this number?", 2, 2)
    shown = ", ".join(rf"$\alpha_{j} = {written(each)}$" for j, each in enumerate(weights, 1))
    named = ", ".join(f"$v_{j} = {row(value)}$" for j, value in enumerate(values, 1))
    return work.question(
        "scores_backward",
        "The gradient of the scores",
        [
            r"A context is $c = \sum_j \alpha_j v_j$, and the weights $\alpha$ are the softmax of the scores $e$. The "
            "backward pass has reached the context, and $dc$ is known.",
            f"{shown}, {named}, $dc = {row(dc)}$",
        ],
        {"weights": weights, "values": values, "dc": dc},
    )


QUESTIONS = [looking_back, causal, scores_backward]
