"""n-gram models of text, the baseline for a network.

    from experiments.ngrams import WittenBell

Witten and Bell (1991), method C, as Chen and Goodman (1999) write it for n-grams.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence


class WittenBell:
    """An n-gram model: each order is interpolated with the one below it, the lowest with the uniform distribution.

    The more different tokens have followed a context, the less weight its own counts get.
    """

    def __init__(self, ids: Sequence[int], order: int, vocab_size: int) -> None:
        """Count all n-grams up to `order` in ids (N,), each from 0 to vocab_size - 1. order 0 is uniform."""
        self.order, self.vocab_size = order, vocab_size
        self._counts: dict[tuple[int, ...], dict[int, int]] = defaultdict(dict)
        self._totals: dict[tuple[int, ...], int] = defaultdict(int)
        ids = tuple(int(token) for token in ids)
        for position, token in enumerate(ids):
            for length in range(min(order, position + 1)):
                context = ids[position - length : position]
                followers = self._counts[context]
                followers[token] = followers.get(token, 0) + 1
                self._totals[context] += 1

    def probability(self, context: Sequence[int], token: int) -> float:
        """Probability of the token after the last order - 1 tokens of the context. Equation (witten-bell)."""
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
        """Mean cross-entropy in bits a token, over all tokens of ids but the first."""
        ids = tuple(int(token) for token in ids)
        reach = max(self.order - 1, 0)
        total = 0.0
        for position in range(1, len(ids)):
            total -= math.log2(self.probability(ids[max(0, position - reach) : position], ids[position]))
        return total / (len(ids) - 1)
