"""Exam questions of chapter 05: beam search over a small tree, BLEU, the loss of a padded batch."""

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np

from grader.exam.draw import demand
from grader.exam.numbers import decimals_of, floats, tex, written
from grader.exam.question import Grid
from grader.exam.tables import EXP, MINUS_LN, ROOT
from grader.exam.working import Working
from solutions.ch05_encoder_decoder.fixtures import table_decoder

EOS, STEPS, WIDTH = "⟨eos⟩", 3, 2
PREFIXES = [(), (0,), (1,), (0, 0), (0, 1), (1, 0), (1, 1)]  # what can have been written, as indices of two words
WORDS = [("rain", "snow"), ("cat", "dog"), ("red", "blue"), ("tea", "milk"), ("north", "south"), ("one", "two")]
TENTHS = [Fraction(each, 10) for each in range(1, 8)]
DISTRIBUTIONS = [three for three in permutations(TENTHS, 3) if sum(three) == 1]
IMPOSSIBLE = -1e9  # the logit of ⟨sos⟩


def beams(draw, oracles):
    """Greedy decoding and beam search."""
    words = [*draw.one(WORDS), EOS]
    probs = {prefix: draw.one(DISTRIBUTIONS) for prefix in PREFIXES}
    demand(probs[()][2] == Fraction(1, 10))
    step, sos, eos = _decoder(probs), 3, 2
    work = Working()
    kept = [((), Fraction(1))]
    for t in range(1, STEPS + 1):
        candidates, shown = [], []
        for ids, p in kept:
            if eos in ids:
                candidates.append((ids, p))
                shown.append(f"*{_text(words, ids)}* ${tex(p)}$ (finished)")
                continue
            for id_, factor in enumerate(probs[ids]):
                product = p * factor
                work.products += t > 1
                candidates.append(((*ids, id_), product))
                by_hand = f"{tex(p)} \\cdot {tex(factor)} = " if t > 1 else ""
                shown.append(f"*{_text(words, (*ids, id_))}* ${by_hand}{tex(product)}$")
        demand(len({p for _, p in candidates}) == len(candidates))
        kept = sorted(candidates, key=lambda each: -each[1])[:WIDTH]
        expected = oracles["beam_search"](step, np.array([0]), sos, eos, WIDTH, t)
        work.say(f"Step {t}: {'; '.join(shown)}.")
        for number, ((ids, p), (found, score)) in enumerate(zip(kept, expected, strict=True), 1):
            name = f"beam {number} of step {t}"
            work.answer_text(name, f"*{_text(words, ids)}*", f"*{_text(words, _finished(found, ids, eos))}*")
            work.answer(rf"p(\text{{{_text(words, ids)}}})", p, math.exp(score), 3)
    demand(all(ids[-1] == eos for ids, _ in kept))
    work.part("Write down the two beams after each of the three steps, with their probabilities.", 6, 9)
    chosen, p = (), Fraction(1)
    while len(chosen) < STEPS and eos not in chosen:
        best = max(range(3), key=lambda each: probs[chosen][each])
        factor, chosen = probs[chosen][best], (*chosen, best)
        work.products += len(chosen) > 1
        p *= factor
    demand(chosen != kept[0][0] and chosen[-1] == eos and p < kept[0][1])
    greedy = oracles["greedy_decode"](step, np.array([0]), sos, eos, STEPS)
    work.say(f"Greedy decoding takes the most probable token at each step: *{_text(words, chosen)}*.")
    work.answer_text("greedy", f"*{_text(words, chosen)}*", f"*{_text(words, _finished(greedy, chosen, eos))}*")
    work.answer("p", p, float(np.prod([float(probs[chosen[:t]][id_]) for t, id_ in enumerate(chosen)])), 3)
    work.part("Which sentence does greedy decoding write, and what is its probability?", 2, 3)
    lines = [
        (_text(words, prefix) if prefix else "nothing", *(written(each) for each in probs[prefix]))
        for prefix in PREFIXES
    ]
    return work.question(
        "beams",
        "Beam search",
        [
            f"A decoder writes the words *{words[0]}* and *{words[1]}* and ends with {EOS}. The table gives the "
            f"probability "
            "of the next token after each beginning. Beam search keeps two hypotheses. A finished one is not extended, "
            "but keeps competing. It makes three steps. Give probabilities with three decimals, which are exact.",
            Grid("Probabilities of the next token", ("so far", *words), tuple(lines)),
        ],
        {"probs": [probs[prefix] for prefix in PREFIXES], "words": words},
    )


def _decoder(probs):
    """The step of a decoder with these probabilities; ids are the two words, ⟨eos⟩ and ⟨sos⟩."""
    logits = [[0, 0, 0, IMPOSSIBLE], *([*map(math.log, probs[prefix]), IMPOSSIBLE] for prefix in PREFIXES)]
    children = np.full((len(logits), 4), -1)
    children[0, 3] = 1
    for number, prefix in enumerate(PREFIXES, 1):
        for id_ in (0, 1):
            if (*prefix, id_) in PREFIXES:
                children[number, id_] = 1 + PREFIXES.index((*prefix, id_))
    return table_decoder(logits=logits, children=children)


def _finished(found, by_hand, eos):
    """The ids that a search has returned, which are without ⟨eos⟩, with it where the solution has it."""
    return (*found, *([eos] if by_hand[-1] == eos else []))


def _text(words, ids):
    return " ".join(words[each] for each in ids)


NOUNS, PLACES = ["cat", "dog", "boy", "bird", "girl", "fox"], ["mat", "roof", "hill", "wall", "road", "boat"]
VERBS, ADJECTIVES = ["sat", "slept", "stood", "sang", "ate", "read"], ["small", "old", "happy", "grey", "young"]


def bleu_by_hand(draw, oracles):
    """BLEU with n-grams of orders 1 and 2."""
    noun, place, verb = draw.one(NOUNS), draw.one(PLACES), draw.one(VERBS)
    reference = ["the", noun, verb, "on", "the", place]
    if draw.below(2):
        reference.insert(1, draw.one(ADJECTIVES))
    keep = sorted(draw.some(range(len(reference)), 5))
    candidate = [reference[each] for each in keep]
    candidate[draw.below(5)] = draw.one(["the", draw.one(NOUNS), draw.one(VERBS), candidate[draw.below(5)]])
    (grams, matches), (pairs, matched) = (_matches(candidate, reference, n) for n in (1, 2))
    demand(any(count > clipped for _, count, _, clipped in grams if clipped) and matched and matches < 5)
    c, r = len(candidate), len(reference)
    score = oracles["bleu"]([candidate], [[reference]], 2)
    penalty = math.exp(1 - r / c)
    first = oracles["bleu"]([candidate], [[reference]], 1) / penalty
    work = Working()
    for n, lines in ((1, grams), (2, pairs)):
        head = (f"{n}-gram", "in the candidate", "in the reference", "clipped")
        shown = tuple((f"*{' '.join(gram)}*", *map(str, counts)) for gram, *counts in lines)
        work.say(Grid(f"{n}-grams of the candidate", head, shown))
    p_1, p_2 = work.quotient("p_1", matches, 5), work.quotient("p_2", matched, 4)
    work.answer("p_1", p_1, first)
    work.answer("p_2", p_2, (score / penalty) ** 2 / first)
    work.part("Compute the clipped precisions $p_1$ and $p_2$.", 4, 7)
    work.say(f"The candidate has $c = {c}$ tokens and the reference $r = {r}$, so it is too short.")
    work.say("$\\mathrm{BP} = e^{1 - r/c}$")
    factor = work.look_up("\\mathrm{BP}", EXP, work.quotient("r/c", r, c) - 1)
    work.answer("\\mathrm{BP}", factor, penalty)
    work.part("Compute the brevity penalty.", 2, 3)
    product = work.total("p_1 p_2", (p_1, p_2))
    root = work.look_up("\\sqrt{p_1 p_2}", ROOT, product)
    work.answer("\\mathrm{BLEU}", work.total("\\mathrm{BLEU}", (factor, root)), score)
    work.part("Compute BLEU with n-grams of the orders 1 and 2, a number from 0 to 1.", 2, 3)
    return work.question(
        "bleu_by_hand",
        "BLEU by hand",
        [
            "A program has translated a sentence, and we have one reference.",
            f"Candidate: *{' '.join(candidate)}*",
            f"Reference: *{' '.join(reference)}*",
        ],
        {"candidate": candidate, "reference": reference},
    )


def _matches(candidate, reference, n):
    """(n-gram, count in the candidate, in the reference, clipped) for each n-gram, and the sum of the last."""
    own, its = (Counter(zip(*(tokens[k:] for k in range(n)), strict=False)) for tokens in (candidate, reference))
    lines = [(gram, count, its[gram], min(count, its[gram])) for gram, count in own.items()]
    return lines, sum(line[3] for line in lines)


def padded_loss(draw, oracles):
    """The cross-entropy of a padded batch."""
    lengths = [4, draw.one([2, 3])]
    probs = [draw.numbers(4, "0.05", "0.95", "0.05") for _ in range(2)]
    mask = np.arange(4) < np.array(lengths)[:, None]
    p = floats(probs)
    logits, targets = np.log(np.stack([p, 1 - p], axis=2)), np.zeros((2, 4), dtype=int)
    work = Working()
    sums = []
    for b, its in enumerate(probs, 1):
        losses = [work.look_up(f"l_{{{b},{t}}}", MINUS_LN, each) for t, each in enumerate(its[: lengths[b - 1]], 1)]
        sums.append(work.total(f"l_{b}", *losses))
    loss = work.quotient("L", work.total("l_1 + l_2", *sums), sum(lengths))
    work.answer("L", loss, oracles["masked_cross_entropy"](logits, targets, mask))
    work.part(
        "Compute the cross-entropy of the batch in nats per token. Padding does not count, and every real token counts "
        "the same.",
        5,
        7,
    )
    means = [
        work.quotient(f"L_{b}", each, length) for b, (each, length) in enumerate(zip(sums, lengths, strict=True), 1)
    ]
    wrong = work.quotient("L'", work.total("L_1 + L_2", *means), 2)
    rows = [oracles["masked_cross_entropy"](logits[[b]], targets[[b]], mask[[b]]) for b in range(2)]
    demand(abs(wrong - loss) > Fraction(1, 20))
    work.say("In this mean, a token of the shorter sequence counts more than one of the longer sequence.")
    work.answer("L'", wrong, sum(rows) / 2)
    work.part(
        "A program computes the mean of each sequence first, and then the mean of the two numbers. Which number $L'$ "
        "does it get, and why is it not the cross-entropy per token?",
        3,
        4,
    )
    lines = [
        (f"sequence {b}", *(written(each) for each in its), str(length))
        for b, (its, length) in enumerate(zip(probs, lengths, strict=True), 1)
    ]
    head = ("target", *(f"*t* = {t}" for t in range(1, 5)), "length")
    return work.question(
        "padded_loss",
        "The loss of a padded batch",
        [
            "A batch has two target sequences. The second one is padded. The table gives the probability that the "
            "decoder gives to the target token at each step, at padded positions to ⟨pad⟩.",
            Grid("Probabilities of the targets", head, tuple(lines)),
        ],
        {"probs": probs, "lengths": lengths},
    )


QUESTIONS = [beams, bleu_by_hand, padded_loss]
