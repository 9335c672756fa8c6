"""Draw the numbers of a question from a seed: the same ones on every machine and in every Python."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import TypeVar

T = TypeVar("T")


class Redraw(Exception):  # noqa: N818 - not an error: the next numbers are drawn
    """These numbers do not make a good question."""


def demand(holds: bool) -> None:
    """Raise Redraw unless the numbers that have been drawn are as a question needs them."""
    if not holds:
        raise Redraw


class Draw:
    """A source of random choices. It uses `random()` alone, whose sequence Python promises not to change."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def below(self, count: int) -> int:
        """An integer from 0 to `count` − 1."""
        return int(self._random.random() * count)

    def one(self, options: Sequence[T]) -> T:
        """One of these."""
        return options[self.below(len(options))]

    def some(self, options: Sequence[T], count: int) -> list[T]:
        """So many of these, each at most once, in random order."""
        left = list(options)
        return [left.pop(self.below(len(left))) for _ in range(count)]

    def number(self, low: str, high: str, step: str) -> Fraction:
        """A multiple of `step` from `low` to `high`, which are decimal numbers; never 0."""
        return self.one(grid(low, high, step))

    def numbers(self, count: int, low: str, high: str, step: str) -> list[Fraction]:
        """So many such numbers, of different absolute values."""
        sizes = sorted({abs(each) for each in grid(low, high, step)})
        options = set(grid(low, high, step))
        return [self.one([each for each in (size, -size) if each in options]) for size in self.some(sizes, count)]


def grid(low: str, high: str, step: str) -> list[Fraction]:
    """All multiples of `step` from `low` to `high` except 0."""
    size = Fraction(step)
    first, last = -(-Fraction(low) // size), Fraction(high) // size
    return [number * size for number in range(first, last + 1) if number]
