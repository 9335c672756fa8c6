"""Tables of values that are printed on a sheet: tanh, the logistic function, exp, ln and square roots.

An argument is rounded to two decimals before it is looked up, and must then be in the table: otherwise other numbers
are drawn. A value has four decimals.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from grader.exam.draw import demand
from grader.exam.numbers import WORKING, is_near_boundary, rounded

ARGUMENT = 2  # decimals of an argument
COLUMNS = 10


@dataclass(frozen=True)
class Table:
    """The values of a function at the multiples of `step` from 0, in `rows` of ten. `tex` is the function, with {} for
    its argument; `negative` is what to do with a negative argument: TeX to print, and the value from that of −a.
    """

    id: str
    title: str
    tex: str
    function: Callable[[float], float]
    step: Fraction
    rows: int
    negative: tuple[str, Callable[[Fraction], Fraction]] | None = None
    has_zero: bool = True

    def named(self, argument: str) -> str:
        """The function of an argument, in TeX."""
        return self.tex.format(argument).replace("{-0}", "{0}")

    def argument(self, row: int, column: int) -> Fraction:
        return (row * COLUMNS + column) * self.step

    def entry(self, argument: Fraction) -> Fraction | None:
        """The printed value, None where the table has none."""
        inside = 0 <= argument < self.rows * COLUMNS * self.step and argument % self.step == 0
        if not inside or (argument == 0 and not self.has_zero):
            return None
        return rounded(self.function(float(argument)), WORKING)

    def look_up(self, argument: Fraction) -> Fraction:
        """The value that a reader finds. Raises Redraw if the rounded argument is not in the table, or is unsure."""
        demand(not is_near_boundary(argument, ARGUMENT))
        at = rounded(argument, ARGUMENT)
        if at < 0 and self.negative is not None:
            return self.negative[1](self.look_up(-at))
        found = self.entry(at)
        demand(found is not None)
        assert found is not None
        return found


_HUNDREDTHS, _TENTHS = Fraction(1, 20), Fraction(1, 10)

TANH = Table(
    "tanh",
    "Hyperbolic tangent",
    r"\tanh({})",
    math.tanh,
    _HUNDREDTHS,
    4,
    (r"\tanh(-a) = -\tanh(a)", lambda value: -value),
)
SIGMOID = Table(
    "sigmoid",
    "Logistic function",
    r"\sigma({})",
    lambda a: 1 / (1 + math.exp(-a)),
    _HUNDREDTHS,
    4,
    (r"\sigma(-a) = 1 - \sigma(a)", lambda value: 1 - value),
)
EXP = Table("exp", "Exponential function of a negative number", "e^{{-{}}}", lambda d: math.exp(-d), _TENTHS, 4)
MINUS_LN = Table("ln", "Negative logarithm", r"-\ln({})", lambda p: -math.log(p), _HUNDREDTHS, 2, has_zero=False)
ROOT = Table("root", "Square root", r"\sqrt{{{}}}", math.sqrt, _HUNDREDTHS, 2)
TABLES = (TANH, SIGMOID, EXP, MINUS_LN, ROOT)
