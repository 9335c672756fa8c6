"""Exam questions of chapter 03: the linear case, the number of steps until a gradient is gone, clipping."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np

from grader.exam.draw import demand
from grader.exam.numbers import factor, floats, matrix, row, tex, written
from grader.exam.tables import MINUS_LN
from grader.exam.working import Minus, Working


def linear_case(draw, oracles):
    """Eigenvalues of a linear network, and its gradient two steps back."""
    small, large = sorted(draw.numbers(2, "-1.5", "1.5", "0.1"), key=abs)
    p, q = draw.one([-2, -1, 1, 2]), draw.one([-2, -1, 1, 2])
    dh = draw.numbers(2, "-2", "2", "0.5")
    demand(abs(large) != 1 and abs(abs(large) - abs(small)) >= Fraction(1, 5))
    # W = Q diag(small, large) Q⁻¹ with Q = [[1, p], [q, 1 + pq]], whose determinant is 1
    W = [
        [small * (1 + p * q) - large * p * q, p * (large - small)],
        [q * (1 + p * q) * (small - large), large * (1 + p * q) - small * p * q],
    ]
    demand(all(each and abs(each) < 4 for line in W for each in line) and W[0][1] != W[1][0])
    values = sorted(np.linalg.eigvals(floats(W)).real, key=abs)
    rho = oracles["spectral_radius"](floats(W))
    back = [oracles["linear_gradient"](floats(W), floats(dh), lag) for lag in (1, 2)]
    work = Working()
    trace = work.total(r"\operatorname{tr}(W_{hh})", W[0][0], W[1][1])
    det = work.total(r"\det(W_{hh})", (W[0][0], W[1][1]), Minus((W[0][1], W[1][0])))
    sign = "-" if trace >= 0 else "+"
    middle = rf" {sign} {written(abs(trace))} \lambda" if trace else ""
    last = f" {'-' if det < 0 else '+'} {written(abs(det))}"
    work.say(rf"$\lambda^2{middle}{last} = (\lambda - {factor(large)})(\lambda - {factor(small)}) = 0$")
    work.answer(r"\lambda_1", large, values[1])
    work.answer(r"\lambda_2", small, values[0])
    work.answer(r"\rho(W_{hh})", abs(large), rho)
    work.part(
        r"Compute both eigenvalues of $W_{hh}$, which are numbers with one decimal, and its spectral radius.", 4, 6
    )
    dh_t = dh
    for lag in (1, 2):
        work.say(rf"$dh_{{T-{lag}}} = dh_{{{'T' if lag == 1 else 'T-1'}}} W_{{hh}}^\top$")
        name = f"dh_{{T-{lag}}}"
        dh_t = [work.total(f"{name}[{i}]", (dh_t[0], W[i][0]), (dh_t[1], W[i][1])) for i in range(2)]
        for i in range(2):
            work.answer(f"{name}[{i}]", dh_t[i], back[lag - 1][i])
    work.part("Compute the gradients $dh_{T-1}$ and $dh_{T-2}$.", 3, 6)
    fate = ("vanishes", "explodes")
    work.say(r"Over many steps, nearly every gradient changes by the factor $\rho(W_{hh})$ a step.")
    work.answer_text("the gradient", fate[abs(large) > 1], fate[rho > 1])
    work.part(r"Does the gradient vanish or explode as it is passed back further, and why?", 2, 2)
    return work.question(
        "linear_case",
        "A linear network",
        [
            "A linear recurrent network $h_t = h_{t-1} W_{hh} + x_t W_{xh}$ has two units. Only its last state $h_T$ "
            "appears in the loss.",
            f"$W_{{hh}} = {matrix(W)}$, $dh_T = {row(dh)}$",
        ],
        {"W": W, "dh": dh},
    )


def steps_until(draw, oracles):
    """After how many steps is a gradient smaller than a share of itself?"""
    w, share = draw.number("0.5", "0.95", "0.05"), draw.number("0.05", "0.35", "0.05")
    u, h = (
        draw.one([Fraction(2, 5), Fraction(3, 5), Fraction(4, 5), Fraction(6, 5)]),
        draw.one([1, -1]) * Fraction(1, 2),
    )
    demand(w != Fraction(3, 4) * u)
    linear = next(k for k in range(1, 99) if abs(oracles["linear_gradient"](floats([[w]]), floats([1]), k)[0]) < share)
    states = np.full((99, 1), float(h))
    tanh = next(k for k in range(1, 99) if abs(oracles["jacobian_product"](states, floats([[u]]), 0, k)[0, 0]) < share)
    work = Working()
    found = _steps(work, "w", w, share)
    work.answer("k", found, linear, 0)
    work.part(
        rf"A linear network has a single unit with the recurrent weight $w = {tex(w)}$. After how many steps $k$ is "
        rf"$\lvert \partial h_t / \partial h_{{t-k}} \rvert$ smaller than ${tex(share)}$ for the first time?",
        4,
        5,
    )
    slope = work.total("1 - h^2", 1, Minus((h, h)))
    through = work.total("J", (u, slope))
    work.answer("J", through, oracles["jacobian_product"](states, floats([[u]]), 0, 1)[0, 0])
    again = _steps(work, "J", through, share)
    work.answer("k", again, tanh, 0)
    work.part(
        rf"A network with tanh has a single unit with the weight $w_{{hh}} = {tex(u)}$, and its state is "
        rf"$h_t = {tex(h)}$ at "
        rf"every step. Compute the Jacobian $J$ of one step. After how many steps is the gradient smaller than "
        rf"${tex(share)}$ times itself for the first time?",
        4,
        5,
    )
    return work.question(
        "steps_until",
        "How far a gradient reaches",
        ["How far back can a network learn? We count the steps after which a gradient is nearly gone."],
        {"w": w, "share": share, "u": u, "h": h},
    )


def _steps(work, name, per_step, share):
    """The first k with per_step ** k < share, by logarithms."""
    work.say(rf"${name}^k < {tex(share)}$ if $k > (-\ln {tex(share)}) / (-\ln {tex(per_step)})$.")
    above = work.look_up(rf"-\ln({tex(share)})", MINUS_LN, share)
    ratio = work.quotient("k_0", above, work.look_up(rf"-\ln({tex(per_step)})", MINUS_LN, per_step))
    demand(Fraction(1, 10) < ratio % 1 < Fraction(9, 10))
    return math.floor(ratio) + 1


NORMS = [
    (three, root)
    for three in combinations(range(1, 15), 3)
    if (root := math.isqrt(sum(each**2 for each in three))) ** 2 == sum(each**2 for each in three)
]


def clipping(draw, oracles):
    """Clip a gradient by its norm and by its values."""
    sizes, root = draw.one(NORMS)
    scale = draw.one([Fraction(1, 10), Fraction(1, 5), Fraction(1, 2)])
    share = draw.one([Fraction(each, 20) for each in (4, 5, 6, 8, 10, 12, 15, 16)])
    g = [draw.one([1, -1]) * size * scale for size in draw.some(sizes, 3)]
    max_norm, limit = share * root * scale, draw.number("0.1", "3", "0.1")
    demand((max_norm * 100).denominator == 1 and sorted(map(abs, g))[0] < limit < sorted(map(abs, g))[1])
    clipped, norm = oracles["clip_by_norm"]([floats(g)], float(max_norm))
    (cut,) = oracles["clip_by_value"]([floats(g)], float(limit))
    names = ("dw_{xh}", "dw_{hh}", "db_h")
    work = Working()
    squares = work.total(r"\lVert g \rVert^2", *((each, each) for each in g))
    work.say(rf"$\lVert g \rVert = \sqrt{{{tex(squares)}}} = {tex(root * scale)}$")
    work.answer(r"\lVert g \rVert", root * scale, norm)
    work.part(
        r"Compute the norm $\lVert g \rVert$ of all three gradients together. It is a number with at most one decimal.",
        2,
        3,
    )
    ratio = work.quotient("f", max_norm, root * scale)
    for name, each, expected in zip(names, g, clipped[0], strict=True):
        work.answer(name, work.total(name, (ratio, each)), expected)
    work.part(f"Clip the gradients by norm, with the threshold $c = {tex(max_norm)}$.", 3, 4)
    work.say(rf"Entries outside $[-{tex(limit)}, {tex(limit)}]$ become the nearer end of the interval.")
    for name, each, expected in zip(names, g, cut, strict=True):
        work.answer(name, max(-limit, min(limit, each)), expected)
    work.part(f"Clip the original gradients by value instead, with the threshold $c = {tex(limit)}$.", 2, 3)
    work.say("It multiplies all entries by the same number, whereas clipping by value changes only the large ones.")
    kept = "clipping by norm"
    parallel = np.allclose(clipped[0] / floats(g), clipped[0][0] / float(g[0]))
    work.answer_text(
        "keeps the direction",
        kept,
        kept if parallel and not np.allclose(cut / cut[0], floats(g) / float(g[0])) else "both",
    )
    work.part("Which of the two keeps the direction of the gradient, and why?", 2, 2)
    shown = ", ".join(f"${name} = {tex(each)}$" for name, each in zip(names, g, strict=True))
    return work.question(
        "clipping",
        "Clipping a gradient",
        [f"A vanilla RNN with one input and one unit has the gradients {shown}. Together they are $g$."],
        {"g": g, "max_norm": max_norm, "limit": limit},
    )


QUESTIONS = [linear_case, steps_until, clipping]
