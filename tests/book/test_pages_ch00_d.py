"""Each labelled equation of chapter 0's page on evaluation, compared with a direct computation."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from experiments.ch00 import counts, museum, window
from experiments.ngrams import WittenBell
from solutions.ch00_sequences.counting import perplexity


def test_the_cost_of_a_text_is_the_sum_of_the_costs_of_its_tokens() -> None:
    """Equation (negative-log-likelihood): products become sums, halving costs one bit, certainty costs nothing."""
    p = np.random.default_rng(0).uniform(0.01, 1, size=12)
    assert sum(-math.log(one) for one in p) == pytest.approx(-math.log(math.prod(p)))
    assert (-math.log(0.125) - -math.log(0.25)) / math.log(2) == pytest.approx(1)
    assert -math.log(1) == 0


def test_cross_entropy_is_the_cost_of_a_counted_text_per_token() -> None:
    """Equation (cross-entropy-of-probabilities): the mean of a model's costs, in nats and in bits."""
    ids = np.random.default_rng(1).integers(0, 4, size=80).tolist()
    model = WittenBell(ids[:60], 3, 4)
    p = [model.probability(ids[t - 2 : t], ids[t]) for t in range(2, 60)]
    nats = -math.log(math.prod(p)) / len(p)
    assert sum(-math.log(one) for one in p) / len(p) == pytest.approx(nats)
    uniform = WittenBell([], 0, 4)
    assert uniform.bits(ids) * math.log(2) == pytest.approx(math.log(4), abs=1e-12)


def test_perplexity_is_a_geometric_mean() -> None:
    """Equation (perplexity): of 1 / p. Uniform probabilities give exactly V."""
    p = np.random.default_rng(2).uniform(0.01, 1, size=9)
    assert perplexity(-np.log(p)) == pytest.approx(np.prod(1 / p) ** (1 / 9))
    assert perplexity(np.full(7, math.log(51))) == pytest.approx(51)
    assert perplexity(-np.log([0.5, 0.125])) == pytest.approx(4)
    assert perplexity(-np.log([0.3, 0.3])) < perplexity(-np.log([0.6, 0.1]))


def test_bits_per_character_divide_the_same_total() -> None:
    """Equation (bits-per-character): from tokens of any length, by the sum and by the mean."""
    tokens, p = ["ab", "c", "def"], np.array([0.2, 0.5, 0.01])
    N, C, nats = len(tokens), sum(map(len, tokens)), -np.log(p)
    bits = nats.sum() / (C * math.log(2))
    assert bits == pytest.approx(-math.log2(math.prod(p)) / 6)
    assert bits == pytest.approx(N / C * nats.mean() / math.log(2))


def test_the_records_agree() -> None:
    """The 5-gram of characters and the trigram of pieces were measured by two programs, on one text."""
    record, counted, windowed = (
        json.loads(module.RESULTS_FILE.read_text("utf-8")) for module in (museum, counts, window)
    )
    assert record["text"]["sha256"] == counted["text"]["sha256"] == windowed["text"]["sha256"]
    table = {(row["model"], row["smoothing"]): row["bits"] for row in counted["models"]}
    pieces = record["pieces"][museum.MERGES.index(500)]
    assert table["uniform", "none"] == pytest.approx(math.log2(counted["text"]["characters"]), abs=1e-3)
    assert table["5-gram", "Witten-Bell"] == pytest.approx(record["characters"]["bits_per_character"], abs=2e-4)
    assert table["subwords", "Witten-Bell"] == pytest.approx(pieces["bits_per_character"], abs=2e-4)
    assert min(table, key=lambda name: table[name]) == ("6-gram", "interpolated")
    assert table["5-gram", "Witten-Bell"] < min(run["bits"] for run in windowed["runs"]) - 0.01
    assert len(windowed["seeds"]) >= 5
