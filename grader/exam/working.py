"""The solution of a question while it is written: each step is calculated as a reader would, and noted.

A step takes exact numbers and gives its result with at most four decimals, as the sheet asks for. A result that is
asked for comes with the value of an independent oracle: if the two are rounded to different numbers, or if one of them
is close to a boundary between two roundings, other numbers are drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from grader.exam.draw import demand
from grader.exam.numbers import WORKING, Number, factor, is_near_boundary, rounded, tex, written
from grader.exam.question import (
    MOST_DECIMALS,
    MOST_PRODUCTS,
    Answer,
    ExamError,
    Grid,
    Part,
    Question,
    numbers_in,
)
from grader.exam.tables import ARGUMENT, Table

Term = Number | Sequence[Number]
_EXACT = 1e-9  # what an oracle may differ by from an exact result


class Minus(tuple[Number, ...]):
    """The factors of a product that is subtracted."""


class Working:
    """The parts of a question so far, and the steps of the part that is being written."""

    def __init__(self) -> None:
        self.products = 0
        self._tables: list[Table] = []
        self._parts: list[Part] = []
        self._steps: list[str | Grid] = []
        self._answers: list[Answer] = []

    def say(self, step: str | Grid) -> None:
        """A step in words, with `$formulas$`, or a table."""
        self._steps.append(step)

    def total(self, name: str, *terms: Term) -> Fraction:
        """A sum of numbers and of products, which are sequences of factors, or `Minus` of these. `name` is TeX."""
        value, shown = Fraction(0), ""
        for term in terms:
            factors = [term] if isinstance(term, Fraction | int) else list(term)
            product = Fraction(1)
            for each in factors:
                product *= each
            minus = isinstance(term, Minus)
            value += -product if minus else product
            self.products += len(factors) - 1
            shown += _term(factors, minus, first=not shown)
        known = len(terms) == 1 and isinstance(terms[0], Fraction | int)
        return self._note(name, "" if known else shown, value)

    def quotient(self, name: str, above: Number, below: Number) -> Fraction:
        """A quotient of two numbers."""
        self.products += 1
        return self._note(name, f"{tex(above)} / {factor(below)}", Fraction(above) / below)

    def look_up(self, name: str, table: Table, argument: Fraction) -> Fraction:
        """A value of a printed table. Raises Redraw if the table does not have it."""
        self.need(table)
        value, at = table.look_up(argument), rounded(argument, ARGUMENT)
        nearby = "" if at == argument else rf" \approx {table.named(tex(at))}"
        sign = "=" if at == 0 else r"\approx"
        shown = table.named(tex(argument))
        self.say(f"${'' if name == shown else f'{name} = '}{shown}{nearby} {sign} {{{tex(value)}}}$")
        return value

    def need(self, table: Table) -> None:
        """Print this table on the sheet."""
        if table not in self._tables:
            self._tables.append(table)

    def answer(self, name: str, by_hand: Number, expected: float, decimals: int = 2) -> None:
        """A number that is asked for: as calculated here, and as an independent oracle gives it.

        Raises Redraw if rounding could decide, and ExamError if the two are not the same number.
        """
        value, expected = Fraction(by_hand), float(expected)
        if abs(float(value) - expected) > 10.0**-decimals:
            raise ExamError(
                f"The solution and the oracle disagree about {name}: {float(value)} and {expected}. Correct the "
                "question in the chapter's exam.py."
            )
        demand(not is_near_boundary(value, decimals) and not is_near_boundary(expected, decimals))
        result = rounded(value, decimals)
        demand(result == rounded(expected, decimals) and (result != 0 or value == 0))
        exact = result == value and abs(float(value) - expected) < _EXACT
        sign = "=" if exact else r"\approx"
        shown = f"${name} {sign} {{{tex(value, decimals)}}}$"
        self._answers.append(Answer(name, shown, value, expected, decimals))

    def answer_text(self, name: str, by_hand: str, expected: str) -> None:
        """Words that are asked for, with `$formulas$`. Raises ExamError if the oracle gives others."""
        if by_hand != expected:
            raise ExamError(
                f"The solution and the oracle disagree about {name}: {by_hand!r} and {expected!r}. Correct the "
                "question in the chapter's exam.py."
            )
        self._answers.append(Answer(name, f"{name}: {by_hand}", by_hand, expected))

    def part(self, task: str, points: int, lines: int) -> None:
        """End a part, which asks for this. `lines` is how many lines there are to write on."""
        self._parts.append(Part(task, points, lines, tuple(self._steps), tuple(self._answers)))
        self._steps, self._answers = [], []

    def question(self, id_: str, title: str, text: Sequence[str | Grid], given: Mapping[str, Any]) -> Question:
        """The whole question. Raises ExamError if it cannot be done by hand."""
        if self._steps or self._answers:
            raise ExamError(f"Question {id_}: steps follow the last part. End the part with part(…).")
        if self.products > MOST_PRODUCTS:
            raise ExamError(f"Question {id_} needs {self.products} products; at most {MOST_PRODUCTS} are done by hand.")
        for number in numbers_in(given):
            if rounded(number, MOST_DECIMALS) != number:
                raise ExamError(f"Question {id_} gives {number}, which has more than {MOST_DECIMALS} decimals.")
        return Question(id_, title, tuple(text), tuple(self._parts), given, tuple(self._tables), self.products)

    def _note(self, name: str, shown: str, value: Fraction) -> Fraction:
        result = rounded(value, WORKING)
        sign = "=" if result == value else r"\approx"
        self.say(f"${name}{f' = {shown}' if shown else ''} {sign} {{{tex(result)}}}$")
        return result


def _term(factors: Sequence[Number], minus: bool, first: bool) -> str:
    """A summand in TeX, with the sign before it."""
    if len(factors) == 1 and not first:
        return f" {'-' if (factors[0] < 0) != minus else '+'} {written(abs(Fraction(factors[0])))}"
    shown = r" \cdot ".join([tex(factors[0]) if first and not minus else factor(factors[0]), *map(factor, factors[1:])])
    sign = "-" if minus else "+"
    return f"{sign if minus else ''}{shown}" if first else f" {sign} {shown}"
