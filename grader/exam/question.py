"""What an exam question consists of, once its numbers are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from grader.errors import ExpectedError
from grader.exam.tables import Table

MOST_PRODUCTS = 20  # multiplications and divisions of a question
MOST_DECIMALS = 2  # of a number that a question gives


class ExamError(ExpectedError):
    """A chapter's questions are missing, or one of them is wrong; the message says which and what to do."""


@dataclass(frozen=True)
class Grid:
    """A table in the text of a question. Cells are texts with `$formulas$`; the first cell of a line is its heading."""

    caption: str
    head: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Answer:
    """A result that is asked for: its name in TeX, how it is printed, and its value, a number or a text."""

    name: str
    shown: str
    value: Fraction | str
    expected: float | str
    decimals: int | None = None


@dataclass(frozen=True)
class Part:
    """One task of a question, with so many lines to write on, and its solution: steps, and what is asked for."""

    task: str
    points: int
    lines: int
    steps: tuple[str | Grid, ...]
    answers: tuple[Answer, ...]


@dataclass(frozen=True)
class Question:
    """A question whose numbers are drawn. `given` are all its numbers by name, nested sequences of fractions or
    integers, from which a second computation can find the answers; `products` is how many multiplications and divisions
    the solution needs.
    """

    id: str
    title: str
    text: tuple[str | Grid, ...]
    parts: tuple[Part, ...]
    given: Mapping[str, Any]
    tables: tuple[Table, ...] = ()
    products: int = 0

    @property
    def points(self) -> int:
        return sum(part.points for part in self.parts)


def numbers_in(given: Any) -> Sequence[Fraction]:
    """All numbers in the values of `given`."""
    if isinstance(given, Mapping):
        return [each for value in given.values() for each in numbers_in(value)]
    if isinstance(given, list | tuple):
        return [each for value in given for each in numbers_in(value)]
    return [Fraction(given)] if isinstance(given, Fraction | int) else []
