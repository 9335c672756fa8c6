"""Each labelled equation of chapter 0's page on language models, compared with a direct computation.

Equation (add-alpha), Equation (interpolation) and Equation (witten-bell) for random contexts are in
tests/experiments/test_ch00_counts.py; here, the page's own example.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from experiments.ngrams import AddAlpha, Interpolated, WittenBell
from solutions.ch00_sequences.counting import bigram_probs, ngram_counts

WORD = "abracadabra"
KINDS = sorted(set(WORD))
IDS = np.array([KINDS.index(letter) for letter in WORD])
V = len(KINDS)


def joint(rng: np.random.Generator, T: int) -> np.ndarray:
    """Probabilities of all texts of T tokens out of three, drawn at random."""
    p = rng.random((3,) * T)
    drawn: np.ndarray = p / p.sum()
    return drawn


@pytest.mark.parametrize("T", [1, 2, 4])
def test_the_chain_rule_holds_for_every_distribution(T: int) -> None:
    """Equation (chain-rule-of-probability): conditionals as ratios of sums over all continuations."""
    p = joint(np.random.default_rng(T), T)
    for text in itertools.product(range(3), repeat=T):
        product = 1.0
        for t in range(T):
            product *= p[text[: t + 1]].sum() / p[text[:t]].sum()
        assert product == pytest.approx(p[text], rel=1e-12)


def test_the_markov_assumption_is_exact_for_a_bigram_model_and_an_approximation_for_others() -> None:
    """Equation (markov-assumption), for n = 2 and texts of four tokens out of three."""
    rng = np.random.default_rng(3)
    first, after = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3), size=3)
    bigram = np.einsum("a,ab,bc,cd->abcd", first, after, after, after)
    for p, exact in ((bigram, True), (joint(rng, 4), False)):
        last_two = p.sum(axis=(0, 1))
        given_all, given_last = p / p.sum(axis=3, keepdims=True), last_two / last_two.sum(axis=1, keepdims=True)
        assert np.allclose(given_all, given_last, atol=1e-12) == exact


def test_with_an_end_token_all_lengths_share_one_total() -> None:
    """Equation (end-token-product): what has not ended after T tokens is what is missing from 1."""
    rng = np.random.default_rng(5)
    first, end = rng.dirichlet(np.ones(3)), rng.uniform(0.1, 0.6, size=3)
    after = rng.dirichlet(np.ones(3), size=3) * (1 - end[:, None])
    total = 0.0
    for T in range(1, 8):
        going_on = 0.0
        for text in itertools.product(range(3), repeat=T):
            p = first[text[0]] * math.prod(after[a, b] for a, b in itertools.pairwise(text))
            total += p * end[text[-1]]
            going_on += p * (1 - end[text[-1]])
        assert total + going_on == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_relative_frequencies_are_those_that_the_text_shows(n: int) -> None:
    """Equation (relative-frequency), from slices of the text; they make the text more probable than any others."""
    grams = [WORD[i : i + n] for i in range(len(WORD) - n + 1)]
    ours = ngram_counts(IDS, n)
    for gram in grams:
        followers = ours[tuple(KINDS.index(letter) for letter in gram[:-1])]
        share = followers[KINDS.index(gram[-1])] / sum(followers.values())
        assert share == grams.count(gram) / sum(other[:-1] == gram[:-1] for other in grams)
        others = np.random.default_rng(n).dirichlet(np.ones(len(followers)), size=50)
        numbers = np.array(list(followers.values()))
        best = (numbers * np.log(numbers / numbers.sum())).sum()
        assert ((np.log(others) @ numbers) <= best + 1e-12).all()


def test_smoothing_of_the_worked_example() -> None:
    """Equation (add-alpha), Equation (interpolation) and Equation (witten-bell), with the page's numbers."""
    a, b = KINDS.index("a"), KINDS.index("b")
    added = AddAlpha(IDS, 2, V, 0.5)
    assert added.probability([a], b) == pytest.approx(2.5 / 6.5)
    assert added.probability([a], a) == pytest.approx(0.5 / 6.5)
    np.testing.assert_allclose([added.probability([a], token) for token in range(V)], bigram_probs(IDS, V, 0.5)[a])
    mixed = Interpolated(IDS, 2, V, (0.9, 0.6))
    assert mixed.probability([a], b) == pytest.approx(0.6 * 2 / 4 + 0.4 * (0.9 * 2 / 11 + 0.1 / 5))
    counted = WittenBell(IDS, 2, V)
    assert WittenBell(IDS, 1, V).probability([], b) == pytest.approx((2 + 5 / 5) / (11 + 5)) == pytest.approx(0.1875)
    assert counted.probability([a], b) == pytest.approx((2 + 3 * 0.1875) / (4 + 3))
    assert counted.probability([a], a) == pytest.approx(3 * (5 + 1) / 16 / 7)


def test_witten_bell_is_interpolation_with_a_weight_for_each_context() -> None:
    """As the page says: the weight of a context is #(k) / (#(k) + d(k))."""
    counted, lower = WittenBell(IDS, 2, V), WittenBell(IDS, 1, V)
    for context in range(V):
        after = [int(right) for left, right in itertools.pairwise(IDS) if left == context]
        weight = len(after) / (len(after) + len(set(after)))
        for token in range(V):
            p = weight * after.count(token) / len(after) + (1 - weight) * lower.probability([], token)
            assert counted.probability([context], token) == pytest.approx(p, rel=1e-12)
