"""Exact numbers, how they are rounded, and how they are written.

All numbers that a reader calculates with are fractions, so that a sum such as 0.1 + 0.2 is exact, and a value lies on a
boundary between two roundings only if it really does.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

WORKING = 4  # decimals of intermediate results and of printed tables
MARGIN = Fraction(
    1, 10
)  # of the last decimal: results that are closer to a boundary between two roundings are not used
_NOISE = Fraction(1, 10**6)  # so that it does not depend on the processor whether a value is within the margin

Number = Fraction | int
Nested = Fraction | int | Sequence["Nested"]


def rounded(value: Number | float, decimals: int) -> Fraction:
    """The nearest number with this many decimals; halves are rounded away from 0."""
    scaled = abs(Fraction(value)) * 10**decimals + Fraction(1, 2)
    return Fraction(scaled.numerator // scaled.denominator, 10**decimals) * (-1 if value < 0 else 1)


def is_near_boundary(value: Number | float, decimals: int) -> bool:
    """Whether a slightly different value could be rounded to another number with this many decimals."""
    from_boundary = abs(Fraction(value) * 10**decimals % 1 - Fraction(1, 2))
    return bool(from_boundary <= MARGIN + _NOISE)


def decimals_of(value: Number) -> int | None:
    """How many decimals write this number exactly, None if no number of them up to 12 does."""
    return next((count for count in range(13) if (Fraction(value) * 10**count).denominator == 1), None)


def written(value: Number, decimals: int | None = None) -> str:
    """A number with this many decimals, by default as many as it needs. A number in the interval (−1, 0) has its zero.

    Raises ValueError if it needs more than 12.
    """
    if decimals is None:
        decimals = decimals_of(value)
        if decimals is None:
            raise ValueError(f"{value} cannot be written as a decimal number")
    digits = abs(rounded(value, decimals)) * 10**decimals
    whole, rest = divmod(digits.numerator, 10**decimals)
    sign = "−" if value < 0 and digits else ""
    return f"{sign}{whole}.{rest:0{decimals}}" if decimals else f"{sign}{whole}"


def tex(value: Number, decimals: int | None = None) -> str:
    """The same in TeX, with a hyphen for the minus."""
    return written(value, decimals).replace("−", "-")


def factor(value: Number) -> str:
    """A number in TeX as a factor or a later summand: in parentheses if it is negative."""
    return f"({tex(value)})" if value < 0 else tex(value)


def matrix(rows: Sequence[Sequence[Number]]) -> str:
    """A matrix in TeX, without brackets: the style sheet draws them, because many machines have no font that can."""
    body = r" \\ ".join(" & ".join(map(tex, row)) for row in rows)
    return rf"\begin{{matrix}} {body} \end{{matrix}}"


def row(values: Sequence[Number]) -> str:
    """A vector in TeX, which is a row."""
    return matrix([values])


def floats(values: Nested) -> npt.NDArray[np.float64]:
    """Nested sequences of numbers as an array of the same shape, as the oracles take them."""
    return np.array(_floats(values), dtype=np.float64)


def _floats(values: Nested) -> Any:
    return float(values) if isinstance(values, Fraction | int) else [_floats(each) for each in values]
