"""The reference of the explorable `bpe`: its costs by other formulas, and its first text."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from experiments.ch00.explorable_bpe import DATA, explored, merge_bits, unigram_bits

TEXT = DATA["text"]


def test_the_cost_of_a_text_is_its_length_times_the_entropy_of_its_shares() -> None:
    tokens = [token for word in explored(TEXT, 4).words for token in word]
    shares = np.unique(tokens, return_counts=True)[1] / len(tokens)
    assert unigram_bits(tokens) == pytest.approx(-len(tokens) * (shares * np.log2(shares)).sum(), abs=1e-9)
    assert unigram_bits(["a"] * 5) == 0
    assert unigram_bits(list("abcd")) == 8
    # the probability of the text is the product of the tokens' shares
    p = math.prod(tokens.count(token) / len(tokens) for token in tokens)
    assert 2 ** -unigram_bits(tokens) == pytest.approx(p, rel=1e-9)


def test_the_cost_of_merges() -> None:
    assert merge_bits(4, 0) == 0
    assert merge_bits(4, 1) == 4  # one of 4 · 4 pairs
    assert merge_bits(7, 2) == pytest.approx(math.log2(49) + 6)


def test_what_is_shown_of_the_first_text() -> None:
    assert 0 < DATA["merges"] <= DATA["most"]
    assert len(TEXT) <= DATA["longest"]
    all_stages = [explored(TEXT, made) for made in range(DATA["most"] + 1)]
    possible = len(all_stages[-1].merges)
    assert all_stages[possible].pairs == []
    assert all(len(word) == 1 for word in all_stages[possible].words)
    for made, stage in enumerate(all_stages):
        assert "".join(token for word in stage.words for token in word) == TEXT
        assert len(stage.merges) == min(made, possible)
        if made < possible:
            assert stage.pairs[0][0] == all_stages[made + 1].merges[-1]
    bits = [stage.bits for stage in all_stages[: possible + 1]]
    whole = [stage.bits_with_merges for stage in all_stages[: possible + 1]]
    assert all(b <= a for a, b in pairwise(bits)), "for this text; it is no law"
    least = int(np.argmin(whole))
    assert 0 < least < possible, "with the merges, the cost first falls and then rises"


def test_overlaps_ties_and_single_words() -> None:
    assert explored("aaaa", 1).words == [["aa", "aa"]]
    assert explored("aaaa", 0).pairs == [(("a", "a"), 3)]
    assert explored("ab cd", 1).merges == [(" ", "c")]
    assert explored("a", 5).merges == []
    assert explored("abab abab", 99).words == [["abab"], [" abab"]]
