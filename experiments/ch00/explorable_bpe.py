"""What the explorable `bpe` shows: a short text, cut by merges that were learned from the text itself.

    python -m experiments.ch00.explorable_bpe [TEXT]     its numbers after each merge

The book's explorable computes the same numbers in the reader's browser, for any text. Its first text is in `bpe.json`.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from experiments.ch00.bpe import Pair
from solutions.ch00_sequences.subwords import apply_bpe, learn_bpe

DATA_FILE = Path(__file__).with_name("bpe.json")  # written by hand: the first text, and the limits
DATA: dict[str, Any] = json.loads(DATA_FILE.read_text("utf-8"))


class Shown(NamedTuple):
    """What the explorable shows of a text after some merges."""

    merges: list[Pair]
    words: list[list[str]]  # the tokens of each word
    pairs: list[tuple[Pair, int]]  # what could be merged next, and how often it occurs, by the rule of `learn_bpe`
    per_character: float  # tokens per character
    bits: float  # the cost of the tokens, per character
    bits_with_merges: float  # the same with the list of merges, per character


def unigram_bits(tokens: Sequence[str]) -> float:
    """The cost of the tokens if the probability of each is its share of them."""
    counts = Counter(tokens)
    return sum(count * math.log2(len(tokens) / count) for count in counts.values())


def merge_bits(num_characters: int, num_merges: int) -> float:
    """The cost of a list of merges: each names two of the pieces that exist before it, all equally probable."""
    return sum(2 * math.log2(num_characters + made) for made in range(num_merges))


def explored(text: str, num_merges: int) -> Shown:
    """A text after some merges, as many as there are at most. Spaces divide its words; each belongs to the next one."""
    words = re.findall(" ?[^ ]+", text)
    assert "".join(words) == text, "a text has single spaces, and none at its end"
    merges = learn_bpe(Counter(words), num_merges)
    cut = [apply_bpe(word, merges) for word in words]
    tokens = [token for word in cut for token in word]
    pairs = Counter(pair for word in cut for pair in pairwise(word))
    cost, listed = unigram_bits(tokens), merge_bits(len(set(text)), len(merges))
    return Shown(
        merges,
        cut,
        sorted(pairs.items(), key=lambda item: (-item[1], item[0])),
        len(tokens) / len(text),
        cost / len(text),
        (cost + listed) / len(text),
    )


def main() -> None:
    text = sys.argv[1] if len(sys.argv) > 1 else DATA["text"]
    for made in range(len(explored(text, DATA["most"]).merges) + 1):
        found = explored(text, made)
        numbers = found.per_character, found.bits, found.bits_with_merges
        print(f"{made:3}", *(f"{number:7.3f}" for number in numbers), "|".join(t for w in found.words for t in w))


if __name__ == "__main__":
    main()
