"""Byte pair encoding of a whole text, fast enough for hundreds of merges.

    from experiments.ch00.bpe import encode, learn, word_counts, words

`learn` finds the same merges as the exercise `learn_bpe`, but after each merge it counts again only in the words that
contain the merged pair. A word is a run of characters together with the space before it, so that the words of a text,
and the pieces of each word, can be joined to the text again.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

Pair = tuple[str, str]
_WORD = re.compile(r" ?[a-z]+| ?[^a-z\s]+|\s")


def words(text: str) -> list[str]:
    """Split lower-case text into words and runs of other characters, each with the space before it, or white space."""
    return _WORD.findall(text)


def word_counts(text: str) -> Counter[str]:
    """How often each of the text's `words` occurs."""
    return Counter(words(text))


def learn(counts: Mapping[str, int], num_merges: int) -> list[Pair]:
    """Learn merges from the counts of words (each at least 1): the pairs, in the order in which they were merged."""
    pieces = {word: list(word) for word in counts}
    totals: dict[Pair, int] = defaultdict(int)
    where: dict[Pair, set[str]] = defaultdict(set)
    for word in counts:
        _count(pieces[word], counts[word], totals)
        for pair in _pairs(pieces[word]):
            where[pair].add(word)
    merges: list[Pair] = []
    while len(merges) < num_merges and totals:
        most = max(totals.values())
        best = min(pair for pair, total in totals.items() if total == most)
        merges.append(best)
        for word in where.pop(best):
            _count(pieces[word], -counts[word], totals)
            pieces[word] = merge(pieces[word], best)
            _count(pieces[word], counts[word], totals)
            for pair in _pairs(pieces[word]):
                where[pair].add(word)
        totals = defaultdict(int, {pair: total for pair, total in totals.items() if total})
    return merges


def merge(pieces: Sequence[str], pair: Pair) -> list[str]:
    """Merge a pair everywhere, from left to right."""
    merged: list[str] = []
    i = 0
    while i < len(pieces):
        if tuple(pieces[i : i + 2]) == pair:
            merged.append(pieces[i] + pieces[i + 1])
            i += 2
        else:
            merged.append(pieces[i])
            i += 1
    return merged


def encode(tokens: Iterable[str], merges: Sequence[Pair]) -> list[str]:
    """Split each word into its pieces. Each different word is split once; merges that it cannot contain are skipped."""
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    split: dict[str, list[str]] = {}
    found: list[str] = []
    for token in tokens:
        if token not in split:
            pieces = list(token)
            while known := [pair for pair in _pairs(pieces) if pair in ranks]:
                pieces = merge(pieces, min(known, key=ranks.__getitem__))
            split[token] = pieces
        found += split[token]
    return found


def _pairs(pieces: Sequence[str]) -> list[Pair]:
    return list(pairwise(pieces))


def _count(pieces: Sequence[str], times: int, totals: dict[Pair, int]) -> None:
    for pair in _pairs(pieces):
        totals[pair] += times
