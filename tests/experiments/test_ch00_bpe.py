"""The fast byte pair encoding equals the reference of the exercises."""

from __future__ import annotations

from collections import Counter

import numpy as np

from experiments.ch00 import bpe
from experiments.text import python_docs
from solutions.ch00_sequences.subwords import apply_bpe, learn_bpe
from tests.loops import for_each


@for_each("seed", range(30))
def test_learn_equals_the_reference_on_random_words(seed: int) -> None:
    """Few letters and small counts: many ties, runs of one letter, and pairs that run out."""
    rng = np.random.default_rng(seed)
    letters = "abc"[: rng.integers(1, 4)]
    counts = Counter(
        {
            "".join(rng.choice(list(letters), size=rng.integers(1, 9))): int(rng.integers(1, 5))
            for _ in range(rng.integers(1, 12))
        }
    )
    num_merges = int(rng.integers(0, 40))
    merges = bpe.learn(counts, num_merges)
    assert merges == learn_bpe(dict(counts), num_merges)
    for word in [*counts, "abcabc", "aaaaa"]:
        assert bpe.encode([word], merges) == apply_bpe(word, merges)


def test_learn_equals_the_reference_on_real_words() -> None:
    text = python_docs().held_out[:6000]
    counts = bpe.word_counts(text)
    merges = bpe.learn(counts, 60)
    assert merges == learn_bpe(dict(counts), 60)
    assert bpe.encode(counts, merges) == [piece for word in counts for piece in apply_bpe(word, merges)]


def test_pieces_and_words_can_be_joined_again() -> None:
    text = python_docs().held_out
    tokens = bpe.words(text)
    assert "".join(tokens) == text
    assert "".join(bpe.encode(tokens, bpe.learn(bpe.word_counts(text), 50))) == text
    assert bpe.words("in 3.11,  it's\n\nok") == ["in", " 3.11,", " ", " it", "'", "s", "\n", "\n", "ok"]


def test_it_stops_when_no_pair_is_left() -> None:
    assert bpe.learn({"aaa": 1, "b": 5}, 10) == [("a", "a"), ("aa", "a")]
    assert bpe.learn({}, 3) == []
