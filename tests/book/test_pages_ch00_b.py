"""Each labelled equation of the page on text as numbers, and the worked example of its merges, computed directly."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from solutions.ch00_sequences.subwords import apply_bpe, learn_bpe
from solutions.ch00_sequences.text import embed, one_hot


@pytest.mark.parametrize("shape", [(), (1,), (4,), (2, 3)])
@pytest.mark.parametrize(("V", "D"), [(1, 1), (7, 3), (3, 7)])
def test_a_one_hot_vector_picks_a_row(V: int, D: int, shape: tuple[int, ...]) -> None:
    """Equation (one-hot-embedding): the sum over all rows, the product, and the row itself."""
    rng = np.random.default_rng(0)
    E, ids = rng.normal(size=(V, D)), rng.integers(V, size=shape)
    product = one_hot(ids, V) @ E
    for index in np.ndindex(shape):
        summed = sum((j == ids[index]) * E[j] for j in range(V))
        np.testing.assert_array_equal(product[index], summed)
        np.testing.assert_array_equal(embed(ids, E)[index], E[ids[index]])


def test_the_dozen_words_by_hand() -> None:
    """As the page's table: the counts at the start and after each of three merges, by looking at strings."""
    dozen = {"brrr": 3, "purr": 3, "pure": 2, "cure": 2, "ring": 2}
    written = [
        ["b r r r", "p u r r", "p u r e", "c u r e", "r i n g"],
        ["b rr r", "p u rr", "p u r e", "c u r e", "r i n g"],
        ["b rr r", "pu rr", "pu r e", "c u r e", "r i n g"],
        ["b rr r", "pu rr", "pu re", "c u re", "r i n g"],
    ]
    merges = learn_bpe(dozen, 4)
    for made, words in enumerate(written):
        counts: Counter[tuple[str, str]] = Counter()
        for word, (whole, times) in zip(words, dozen.items(), strict=True):
            pieces = word.split()
            assert apply_bpe(whole, merges[:made]) == pieces
            for i in range(len(pieces) - 1):
                counts[pieces[i], pieces[i + 1]] += times
        most = max(counts.values())
        assert merges[made] == min(pair for pair, count in counts.items() if count == most)
    assert merges == [("r", "r"), ("p", "u"), ("r", "e"), ("b", "rr")]
