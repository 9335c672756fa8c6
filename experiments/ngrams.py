"""Counted models of text: what a network has to beat.

    from experiments.ngrams import WittenBell

Witten and Bell (1991), method C, as Chen and Goodman (1999) write it for n-grams.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence


class WittenBell:
    """An n-gram model: each order is interpolated with the one below it, the lowest with the uniform distribution.

    The more different tokens have followed a context, the less its own counts are trusted.
    """

    def __init__(self, ids: Sequence[int], order: int, vocab_size: int) -> None:
        """Count all n-grams up to `order` in ids (N,), each from 0 to vocab_size - 1. order 0 is uniform."""
        self.order, self.vocab_size = order, vocab_size
        self._counts: dict[tuple[int, ...], dict[int, int]] = defaultdict(dict)
        self._totals: dict[tuple[int, ...], int] = defaultdict(int)
        ids = tuple(int(token) for token in ids)
        for place, token in enumerate(ids):
            for length in range(min(order, place + 1)):
                context = ids[place - length : place]
                followers = self._counts[context]
                followers[token] = followers.get(token, 0) + 1
                self._totals[context] += 1

    def probability(self, context: Sequence[int], token: int) -> float:
        """Of the token, after the context; only its last order - 1 tokens count. Equation (witten-bell)."""
        context = tuple(context)
        p = 1 / self.vocab_size
        for length in range(min(self.order, len(context) + 1)):
            seen = context[len(context) - length :]
            if seen not in self._totals:
                break
            followers = self._counts[seen]
            p = (followers.get(token, 0) + len(followers) * p) / (self._totals[seen] + len(followers))
        return p

    def bits(self, ids: Sequence[int]) -> float:
        """Mean surprise in bits a token, over all tokens of ids but the first."""
        ids = tuple(int(token) for token in ids)
        reach = max(self.order - 1, 0)
        total = 0.0
        for place in range(1, len(ids)):
            total -= math.log2(self.probability(ids[max(0, place - reach) : place], ids[place]))
        return total / (len(ids) - 1)
