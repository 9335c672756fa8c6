"""The labelled equations and the numbers of chapter 5's pages on training and decoding, computed in another way."""

from __future__ import annotations

import math
import re
from collections import Counter

import numpy as np
import pytest
import sacrebleu
import torch
from torch.nn.functional import cross_entropy

from experiments.ch05 import beams
from experiments.ch05.beams import Hypothesis
from experiments.ch05.model import EOS, PAD, Settings, Translator, Vocabulary, batch_of
from experiments.ch05.numbers import pairs, words
from experiments.ch05.tree import Beam, results, search
from tests.book.conftest import BOOK

DRAWINGS = BOOK / "ch05_encoder_decoder" / "drawings"


def sacre(candidates: list[list[str]], references: list[list[str]]) -> float:
    texts = [" ".join(one) for one in candidates], [[" ".join(one) for one in references]]
    return float(sacrebleu.corpus_bleu(*texts, smooth_method="none", tokenize="none", force=True).score) / 100


# Training -------------------------------------------------------------------------------------------------------------


def test_the_masked_loss() -> None:
    """Equation (masked-loss): torch's loss with ignore_index, from one probability at a time."""
    data = pairs([7, 97, 1600, 7777], "fr")
    source, target = Vocabulary(s for s, _ in data), Vocabulary(t for _, t in data)
    torch.manual_seed(0)
    model = Translator(len(source), len(target), Settings(embed_size=3, hidden_size=4)).double()
    ids, lengths, read, wanted = batch_of(data, source, target, reverse=False)
    with torch.no_grad():
        probabilities = model(ids, lengths, read).softmax(-1)
        loss = cross_entropy(model(ids, lengths, read).flatten(0, 1), wanted.flatten(), ignore_index=PAD)
    total, count = 0.0, 0
    for b, (_, french) in enumerate(data):
        for t, token in enumerate([*(target.id[word] for word in french), EOS]):
            total -= math.log(probabilities[b, t, token])
            count += 1
    assert loss.item() == pytest.approx(total / count, abs=1e-12)


@pytest.mark.parametrize("p", [0.001, 0.3, 0.999])
def test_the_gradient_of_the_log(p: float) -> None:
    """Equation (gradient-of-log): both slopes, from difference quotients."""

    def probability(z: float) -> float:
        return math.exp(z) / (math.exp(z) + (1 - p) / p)  # p at z = 0

    step = 1e-5
    slope = (-probability(step) + probability(-step)) / (2 * step)
    slope_of_log = (-math.log(probability(step)) + math.log(probability(-step))) / (2 * step)
    assert slope == pytest.approx(-p * (1 - p), abs=1e-9)
    assert slope_of_log == pytest.approx(-(1 - p), abs=1e-9)


@torch.no_grad()
def test_padding_changes_nothing() -> None:
    """A sentence alone and beside a longer one: same context, same sum of losses."""
    data = pairs([7, 7777], "fr")
    source, target = Vocabulary(s for s, _ in data), Vocabulary(t for _, t in data)
    torch.manual_seed(0)
    model = Translator(len(source), len(target), Settings(embed_size=3, hidden_size=4)).double()
    found = []
    for rows in (data[:1], data):
        ids, lengths, read, wanted = batch_of(rows, source, target, reverse=False)
        each = cross_entropy(model(ids, lengths, read)[0], wanted[0], ignore_index=PAD, reduction="sum")
        found.append((model.encode(ids, lengths)[:, 0], each))
    torch.testing.assert_close(found[0], found[1], rtol=0, atol=1e-12)


# Decoding -------------------------------------------------------------------------------------------------------------


def test_the_most_probable_token_needs_no_softmax() -> None:
    """Equation (argmax-of-logits): logits have the order of the probabilities, but their sums do not rank sentences."""
    z = np.random.default_rng(0).normal(scale=3, size=(200, 7))
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    np.testing.assert_array_equal(p.argsort(axis=1), z.argsort(axis=1))
    # Sums of logits do not rank sentences: the second has the larger logits, and the smaller probability.
    first, second = np.array([0.0, -5.0]), np.array([3.0, 3.0])
    assert first[0] < second[0]
    assert np.log(np.exp(first) / np.exp(first).sum())[0] > np.log(np.exp(second) / np.exp(second).sum())[0]


def test_the_log_probability_of_a_sequence() -> None:
    """Equation (sequence-log-prob): what the search has added up, for every hypothesis left, from teacher forcing."""
    data = pairs([7, 97, 1600], "fr")
    source, target = Vocabulary(s for s, _ in data), Vocabulary(t for _, t in data)
    torch.manual_seed(0)
    model = Translator(len(source), len(target), Settings(embed_size=3, hidden_size=4)).eval()
    fitted = beams.Fitted(model, source, target, [])
    for (english, _), left in zip(data, beams.beams(fitted, [s for s, _ in data], 3), strict=True):
        for one in left:
            ids, lengths, read, wanted = batch_of([(english, one.words)], source, target, reverse=False)
            with torch.no_grad():
                logs = model(ids, lengths, read)[0].log_softmax(-1)
            each = logs[torch.arange(len(wanted[0])), wanted[0]][: one.length]
            assert one.log_prob == pytest.approx(each.sum().item(), abs=1e-4)


def test_the_score_of_a_beam() -> None:
    """Equation (beam-score): the sum at 0, the mean per token at 1, ⟨eos⟩ counted."""
    steps = [0.62, 0.55, 0.38, 0.94]
    one = Beam(("mille", "six", "cents", "⟨eos⟩"), sum(math.log(p) for p in steps))
    assert one.score(0) == pytest.approx(math.log(np.prod(steps)), abs=1e-12)
    assert one.score(1) == pytest.approx(np.mean(np.log(steps)), abs=1e-12)
    assert Hypothesis(["a"], -3.0, 2).score(0.5) == pytest.approx(-3 / math.sqrt(2), abs=1e-12)
    assert next(beam for beam in results(3, 0) if beam.words == one.words).log_prob == pytest.approx(one.log_prob)


def test_bleu() -> None:
    """Equation (bleu): precisions, clipping and brevity over a corpus, equal to sacrebleu's."""
    rng = np.random.default_rng(0)
    numbers = rng.integers(1000, 9999, 50)
    references = [words(int(n), "fr") for n in numbers]
    candidates = [words(int(n) - int(rng.integers(0, 3)), "fr")[: rng.integers(4, 9)] for n in numbers]
    logs = 0.0
    for n in (1, 2, 3, 4):
        matched = total = 0
        for candidate, reference in zip(candidates, references, strict=True):
            have, wanted = (Counter(zip(*(s[i:] for i in range(n)), strict=False)) for s in (candidate, reference))
            matched += sum(min(count, wanted[gram]) for gram, count in have.items())
            total += sum(have.values())
        logs += math.log(matched / total) / 4
    r, c = sum(map(len, references)), sum(map(len, candidates))
    assert c < r
    assert math.exp(logs) * min(1, math.exp(1 - r / c)) == pytest.approx(sacre(candidates, references), abs=1e-12)
    assert 100 * sacre(candidates, references) == pytest.approx(beams.bleu(candidates, references), abs=1e-9)


def test_the_drawn_tree_is_the_search() -> None:
    """The boxes of beam_tree.svg: the kept hypotheses of width 3, and the two best of the pruned ones."""
    svg = (DRAWINGS / "beam_tree.svg").read_text("utf-8")
    drawn = re.findall(r'class="small">([^<]+)</text><text [^>]+class="small">(−[\d.]+)<', svg)
    expected = []
    for step in search(3):
        for beam in [*step[:3], *step[3:5]]:
            expected.append((beam.words[-1], f"−{-beam.log_prob:.2f}"))
    assert drawn == expected
    assert svg.count('class="state"') + svg.count('class="weight"') == 3 * len(search(3))
