"""n-gram models of text, the baseline for a network.

    from experiments.ngrams import AddAlpha, Interpolated, WittenBell

The three models count the same n-grams and differ in how they treat what was never counted. Witten and Bell (1991),
method C, and interpolation are written here as Chen and Goodman (1999) write them for n-grams.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Sequence


class NGram(ABC):
    """What all n-gram models share: the counts, and the mean cross-entropy of a text."""

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

    @abstractmethod
    def probability(self, context: Sequence[int], token: int) -> float:
        """Probability of the token after the last order - 1 tokens of the context."""

    def total_bits(self, ids: Sequence[int]) -> float:
        """Negative log-likelihood in bits, summed over all tokens of ids but the first."""
        ids = tuple(int(token) for token in ids)
        reach = max(self.order - 1, 0)
        total = 0.0
        for position in range(1, len(ids)):
            total -= math.log2(self.probability(ids[max(0, position - reach) : position], ids[position]))
        return total

    def bits(self, ids: Sequence[int]) -> float:
        """Mean cross-entropy in bits a token, over all tokens of ids but the first."""
        return self.total_bits(ids) / (len(ids) - 1)


class AddAlpha(NGram):
    """An n-gram model that adds alpha to each count: add-alpha (Lidstone) smoothing, for alpha = 1 Laplace's rule.

    It uses only the longest context. After a context that never occurred, all tokens have the same probability.
    """

    def __init__(self, ids: Sequence[int], order: int, vocab_size: int, alpha: float) -> None:
        """alpha > 0, or 0 for relative frequencies, which exist only for contexts that occurred."""
        super().__init__(ids, order, vocab_size)
        self.alpha = alpha

    def probability(self, context: Sequence[int], token: int) -> float:
        """Probability of the token after the last order - 1 tokens of the context. Equation (add-alpha)."""
        if self.order == 0:
            return 1 / self.vocab_size
        context = tuple(context)
        seen = context[max(0, len(context) - self.order + 1) :]
        count = self._counts[seen].get(token, 0) if seen in self._counts else 0
        return (count + self.alpha) / (self._totals.get(seen, 0) + self.alpha * self.vocab_size)


class Interpolated(NGram):
    """An n-gram model: each order is mixed with the one below it, with one weight for each order."""

    def __init__(self, ids: Sequence[int], order: int, vocab_size: int, weights: Sequence[float]) -> None:
        """weights (order,): weights[n - 1] is the share of the n-gram's relative frequency, from 0 to below 1."""
        if len(weights) != order or not all(0 <= weight < 1 for weight in weights):
            raise ValueError(f"an interpolated {order}-gram needs {order} weights from 0 to below 1, not {weights}")
        super().__init__(ids, order, vocab_size)
        self.weights = tuple(weights)

    def probability(self, context: Sequence[int], token: int) -> float:
        """Probability of the token after the last order - 1 tokens of the context. Equation (interpolation)."""
        context = tuple(context)
        p = 1 / self.vocab_size
        for length in range(min(self.order, len(context) + 1)):
            seen = context[len(context) - length :]
            if seen not in self._totals:
                break
            p = (
                self.weights[length] * self._counts[seen].get(token, 0) / self._totals[seen]
                + (1 - self.weights[length]) * p
            )
        return p


class WittenBell(NGram):
    """An n-gram model: each order is interpolated with the one below it, the lowest with the uniform distribution.

    The more different tokens have followed a context, the less weight its own counts get.
    """

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
