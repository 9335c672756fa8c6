"""Exam questions of chapter 00: counts, perplexity, the softmax."""

from fractions import Fraction
from itertools import combinations, pairwise
from math import prod

import numpy as np

from grader.exam.draw import demand, grid
from grader.exam.numbers import floats, tex, written
from grader.exam.question import Grid
from grader.exam.tables import EXP, MINUS_LN
from grader.exam.working import Working

LETTERS = "abc"


def bigrams(draw, oracles):
    """Count bigrams, smooth them, and multiply."""
    ids, alpha = [draw.below(3) for _ in range(12)], draw.one([Fraction(1, 2), Fraction(1), Fraction(2)])
    string = [draw.below(3) for _ in range(3)]
    pairs = list(pairwise(ids))
    counts = [[pairs.count((i, j)) for j in range(3)] for i in range(3)]
    demand(all(sum(row) >= 2 for row in counts) and len(set(map(tuple, counts))) == 3)
    demand(any(0 in row for row in counts) and string[0] != string[1] != string[2])
    expected = oracles["ngram_counts"](np.array(ids), 2)
    probs = oracles["bigram_probs"](np.array(ids), 3, float(alpha))
    work = Working()
    work.say("Go through the text once and count each pair of neighbours.")
    table = [(f"*{LETTERS[i]}*", *map(str, row), str(sum(row))) for i, row in enumerate(counts)]
    work.say(
        Grid("Counts of the next letter after each context", ("context", "*a*", "*b*", "*c*", "sum"), tuple(table))
    )
    for i, row in enumerate(counts):
        named = ", ".join(map(str, row))
        work.answer_text(f"after *{LETTERS[i]}*", named, ", ".join(str(expected[(i,)].get(j, 0)) for j in range(3)))
    work.part(
        "Count how often *a*, *b* and *c* follow *a*, how often they follow *b*, and how often they follow *c*.", 3, 4
    )
    work.say(r"$p(j \mid i) = \frac{\#(i, j) + \alpha}{\#(i) + V \alpha}$ with $V = 3$")
    factors = []
    for i, j in pairwise(string):
        name = rf"p(\text{{{LETTERS[j]}}} \mid \text{{{LETTERS[i]}}})"
        factors.append(work.quotient(name, counts[i][j] + alpha, sum(counts[i]) + 3 * alpha))
        work.answer(name, factors[-1], probs[i, j])
    asked = " and ".join(rf"$p(\text{{{LETTERS[j]}}} \mid \text{{{LETTERS[i]}}})$" for i, j in pairwise(string))
    work.part(rf"Estimate {asked} with add-alpha smoothing, $\alpha = {written(alpha)}$.", 3, 4)
    demand(factors[0] != factors[1])
    (i, j, k), name = string, "p"
    by_hand = work.total(name, factors)
    work.answer(name, by_hand, probs[i, j] * probs[j, k], 3)
    rest, first = "".join(LETTERS[each] for each in (j, k)), LETTERS[i]
    work.part(
        f"Which probability $p$ does this model give to the next two letters being *{rest}* if the last letter was "
        f"*{first}*? Round to three decimals.",
        1,
        2,
    )
    text = "".join(LETTERS[each] for each in ids)
    return work.question(
        "bigrams",
        "A bigram model",
        [f"A bigram model over the letters *a*, *b* and *c* is trained on the text *{text}*."],
        {"ids": ids, "alpha": alpha, "string": string},
    )


def means():
    """For each geometric mean that is a multiple of 0.05, the two or three different multiples that have it."""
    found, multiples = {}, grid("0.05", "0.95", "0.05")
    for count in (2, 3):
        powers = {each**count: each for each in multiples}
        for probs in combinations(multiples, count):
            mean = powers.get(prod(probs))
            if mean is not None and mean not in probs:
                found.setdefault(mean, []).append(probs)
    return found


MEANS = means()


def perplexities(draw, oracles):
    """From probabilities to the cross-entropy and the perplexity."""
    root, vocab_size = draw.one(sorted(MEANS)), 3 + draw.below(8)
    probs = draw.one(MEANS[root])
    probs, count = draw.some(probs, len(probs)), len(probs)
    demand(abs(vocab_size - 1 / root) > Fraction(1, 2))
    nll = -np.log(floats(probs))
    work = Working()
    losses = [work.look_up(f"l_{t}", MINUS_LN, p) for t, p in enumerate(probs, 1)]
    mean = work.quotient("L", work.total("l", *losses), count)
    work.answer("L", mean, nll.mean())
    work.part("Compute the cross-entropy $L$, the mean negative log-likelihood in nats per token.", 3, 4)
    named = " ".join(f"p_{t}" for t in range(1, count + 1))
    work.say(rf"$e^L = ({named})^{{-1/{count}}}$, because $L = -\ln({named}) / {count}$.")
    product = work.total(named, probs)
    work.say(rf"${tex(product)} = {tex(root)}^{count}$")
    found = work.quotient("e^L", 1, root)
    work.answer("e^L", found, oracles["perplexity"](nll))
    power = "square" if count == 2 else "cube"
    work.part(
        f"Compute the perplexity. The product of the probabilities is the {power} of a number with at most two "
        f"decimals.",
        3,
        4,
    )
    work.say(
        f"The perplexity of a uniform model is its number of tokens, {vocab_size}. The lower perplexity is better."
    )
    uniform = oracles["perplexity"](np.full(count, np.log(vocab_size)))
    work.answer(r"e^{L_{\text{uniform}}}", vocab_size, uniform, 0)
    models = ("the first model", "the uniform model")
    work.answer_text("better on this text", models[found > vocab_size], models[oracles["perplexity"](nll) > uniform])
    work.part(
        f"Another model gives the same probability to each of {vocab_size} tokens. What is its perplexity, and which "
        "of the two models is better on this text?",
        2,
        3,
    )
    return work.question(
        "perplexities",
        "Cross-entropy and perplexity",
        [
            f"A language model gives the {'two' if count == 2 else 'three'} tokens of a text, each after the tokens "
            "before it, the probabilities " + ", ".join(f"$p_{t} = {tex(p)}$" for t, p in enumerate(probs, 1)) + "."
        ],
        {"probs": probs, "vocab_size": vocab_size},
    )


def softmaxes(draw, oracles):
    """The softmax of three logits."""
    logits, shift = draw.numbers(3, "-2", "2", "0.1"), 2 + draw.below(8)
    top = logits.index(max(logits))
    expected = oracles["softmax"](floats(logits))
    work = Working()
    work.say(f"Subtract the largest logit, $z_{top}$, from all of them: this does not change the probabilities.")
    powers = [work.look_up(f"e^{{z_{i} - z_{top}}}", EXP, logits[top] - z) for i, z in enumerate(logits)]
    total = work.total("s", *powers)
    for i, power in enumerate(powers):
        work.answer(f"p_{i}", work.quotient(f"p_{i}", power, total), expected[i])
    work.part("Compute the probabilities $p_0$, $p_1$ and $p_2$ that the softmax gives.", 5, 7)
    work.say(rf"Each $e^{{z_i}}$ and their sum are multiplied by $e^{{{shift}}}$, which cancels.")
    same = np.allclose(oracles["softmax"](floats(logits) + shift), expected)
    work.answer_text("the probabilities", "stay the same", "stay the same" if same else "change")
    work.part(f"We add {shift} to each logit. How do the probabilities change, and why?", 2, 3)
    return work.question(
        "softmaxes",
        "From logits to probabilities",
        [
            "A model over three tokens computes the logits "
            + ", ".join(f"$z_{i} = {tex(z)}$" for i, z in enumerate(logits))
            + "."
        ],
        {"logits": logits, "shift": shift},
    )


QUESTIONS = [bigrams, perplexities, softmaxes]
