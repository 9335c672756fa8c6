"""Exam questions of chapter 02: two steps backward, a cut between two chunks, the gradient at the logits."""

from fractions import Fraction

import numpy as np

from grader.exam.draw import demand
from grader.exam.numbers import floats, matrix, row, tex
from grader.exam.tables import EXP
from grader.exam.working import Minus, Working


def two_steps(draw, oracles):
    """The gradient through two steps of a network with two units."""
    x, h = draw.numbers(2, "-2", "2", "0.5"), [draw.numbers(2, "-0.9", "0.9", "0.1") for _ in range(2)]
    h_0, dh = draw.numbers(2, "-0.9", "0.9", "0.1"), [draw.numbers(2, "-2", "2", "0.1") for _ in range(2)]
    W_xh, W_hh = draw.numbers(2, "-1", "1", "0.1"), [draw.numbers(2, "-1", "1", "0.1") for _ in range(2)]
    demand(W_hh[0][1] != W_hh[1][0])
    last = oracles["rnn_step_backward"](*map(floats, ([dh[1]], [[x[1]]], [h[0]], [h[1]], [W_xh], W_hh)))
    _, _, dW_xh, _, db_h = oracles["rnn_backward"](*map(floats, ([dh], [[[x[0]], [x[1]]]], [h_0], [h], [W_xh], W_hh)))
    work = Working()
    work.say("$da_2 = dh_2 (1 - h_2^2)$ for each unit, and $dh_2$ is the upstream gradient alone: no step follows.")
    da_2 = _through_tanh(work, 2, dh[1], h[1])
    for j in range(2):
        work.answer(f"da_2[{j}]", da_2[j], last[4][j])
    work.part("Compute $da_2$, the gradient of the last pre-activations.", 2, 4)
    work.say(r"$dh_1 = dh_1^{\text{out}} + da_2 W_{hh}^\top$: unit $i$ takes row $i$ of $W_{hh}$.")
    dh_1 = []
    for i in range(2):
        dh_1.append(work.total(f"dh_1[{i}]", dh[0][i], (da_2[0], W_hh[i][0]), (da_2[1], W_hh[i][1])))
        work.answer(f"dh_1[{i}]", dh_1[i], float(dh[0][i]) + last[1][0, i])
    work.part("Compute $dh_1$, the total gradient of the first state.", 3, 4)
    da_1 = _through_tanh(work, 1, dh_1, h[0])
    work.say("The weights and the bias are used at both steps, so their gradients are sums over both.")
    for j in range(2):
        work.answer(f"db_h[{j}]", work.total(f"db_h[{j}]", da_1[j], da_2[j]), db_h[j])
    for j in range(2):
        found = work.total(f"dW_{{xh}}[{j}]", (x[0], da_1[j]), (x[1], da_2[j]))
        work.answer(f"dW_{{xh}}[{j}]", found, dW_xh[0, j])
    work.part("Compute the gradients $db_h$ and $dW_{xh}$.", 4, 7)
    return work.question(
        "two_steps",
        "Backpropagation through two steps",
        [
            "A vanilla RNN with one input and two units has read two inputs. Its states were $h_1$ and $h_2$, and the "
            r"gradients through the outputs at the two steps are $dh_1^{\text{out}}$ and $dh_2^{\text{out}}$.",
            f"$x_1 = {tex(x[0])}$, $x_2 = {tex(x[1])}$, $h_1 = {row(h[0])}$, $h_2 = {row(h[1])}$, "
            rf"$dh_1^{{\text{{out}}}} = {row(dh[0])}$, $dh_2^{{\text{{out}}}} = {row(dh[1])}$, "
            rf"$W_{{hh}} = {matrix(W_hh)}$",
        ],
        {"x": x, "h": h, "dh": dh, "W_hh": W_hh},
    )


def _through_tanh(work, t, dh, h):
    """The gradients of the pre-activations of step t."""
    slopes = [work.total(f"1 - h_{t}[{j}]^2", 1, Minus((h[j], h[j]))) for j in range(2)]
    return [work.total(f"da_{t}[{j}]", (dh[j], slopes[j])) for j in range(2)]


def one_cut(draw, oracles):
    """Backpropagation through time, whole and truncated."""
    h_0, *h = draw.numbers(4, "-0.9", "0.9", "0.1")
    dh, w = draw.numbers(3, "-2", "2", "0.1"), draw.number("-1.5", "1.5", "0.1")
    demand(abs(w) >= 1)
    inputs = [*map(floats, ([[[g] for g in dh]], [[[1], [1], [1]]], [[h_0]], [[[s] for s in h]], [[1]], [[w]]))]
    whole, truncated = (float(oracles["truncated_bptt"](*inputs, tau)[1][0, 0]) for tau in (3, 2))
    work = Working()
    slopes = [work.total(f"1 - h_{t}^2", 1, Minus((h[t - 1], h[t - 1]))) for t in (1, 2, 3)]
    work.say(r"From the last step: $da_t = dh_t (1 - h_t^2)$ and $dh_{t-1} = dh_{t-1}^{\text{out}} + da_t w_{hh}$.")
    da_3 = work.total("da_3", (dh[2], slopes[2]))
    da_2 = work.total("da_2", (work.total("dh_2", dh[1], (da_3, w)), slopes[1]))
    da_1 = work.total("da_1", (work.total("dh_1", dh[0], (da_2, w)), slopes[0]))
    found = work.total("dw_{hh}", (h_0, da_1), (h[0], da_2), (h[1], da_3))
    work.answer("dw_{hh}", found, whole)
    work.part("Compute $dw_{hh}$ with backpropagation through all three steps.", 5, 9)
    work.say("The state $h_2$ crosses the cut, but no gradient comes back to it from step 3. $da_3$ stays the same.")
    cut_2 = work.total("da_2", (dh[1], slopes[1]))
    cut_1 = work.total("da_1", (work.total("dh_1", dh[0], (cut_2, w)), slopes[0]))
    cut = work.total("dw_{hh}", (h_0, cut_1), (h[0], cut_2), (h[1], da_3))
    work.answer(r"dw_{hh}^{\text{truncated}}", cut, truncated)
    demand(abs(found - cut) > Fraction(1, 10))
    work.part(
        r"Compute $dw_{hh}$ with truncated backpropagation in chunks of $\tau = 2$ steps: the first chunk has the "
        "steps 1 and 2, the second one has step 3.",
        4,
        7,
    )
    shown = ", ".join(rf"$dh_{t}^{{\text{{out}}}} = {tex(g)}$" for t, g in enumerate(dh, 1))
    return work.question(
        "one_cut",
        "Truncated backpropagation",
        [
            f"A vanilla RNN with a single unit and the recurrent weight $w_{{hh}} = {tex(w)}$ has read three inputs. "
            "Its states were " + ", ".join(f"$h_{t} = {tex(s)}$" for t, s in enumerate([h_0, *h])) + ".",
            f"The gradients through the outputs are {shown}.",
        ],
        {"h_0": h_0, "h": h, "dh": dh, "w": w},
    )


def at_the_logits(draw, oracles):
    """The gradient of the cross-entropy with respect to the logits."""
    logits, targets = [draw.numbers(3, "-1.5", "1.5", "0.1") for _ in range(2)], [draw.below(3) for _ in range(2)]
    demand(targets[0] != targets[1])
    expected = oracles["cross_entropy_backward"](floats([logits]), np.array([targets]))[0]
    work = Working()
    work.say("The loss is the mean over two steps, so $dz_t = (p_t - y_t) / 2$, where $y_t$ is the one-hot target.")
    for t in (1, 2):
        z, target = logits[t - 1], targets[t - 1]
        top = z.index(max(z))
        powers = [work.look_up(f"e^{{z_{t}[{v}] - z_{t}[{top}]}}", EXP, z[top] - each) for v, each in enumerate(z)]
        total = work.total(f"s_{t}", *powers)
        probs = [work.quotient(f"p_{t}[{v}]", power, total) for v, power in enumerate(powers)]
        for v, p in enumerate(probs):
            name, above = f"dz_{t}[{v}]", p - (v == target)
            work.answer(name, work.quotient(name, above, 2), expected[t - 1, v])
        work.part(f"Compute the three entries of $dz_{t}$.", 4, 8)
    work.say("The probabilities of a step sum to 1, and so does the one-hot target.")
    work.answer_text("sum", "0", "0" if np.abs(expected.sum(axis=1)).max() < 1e-12 else "another number")
    work.part("What is the sum of the entries of each $dz_t$, and why is it always this number?", 2, 2)
    shown = ", ".join(f"$z_{t} = {row(z)}$" for t, z in enumerate(logits, 1))
    return work.question(
        "at_the_logits",
        "The gradient at the logits",
        [
            f"An RNN has computed the logits of two steps, {shown}. The targets are $y_1 = {targets[0]}$ and "
            f"$y_2 = {targets[1]}$, ids that are counted from 0, and the loss $L$ is the mean cross-entropy of the two "
            "steps."
        ],
        {"logits": logits, "targets": targets},
    )


QUESTIONS = [two_steps, one_cut, at_the_logits]
