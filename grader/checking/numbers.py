"""Write numbers for reports: short, and the same on every machine although the last bits of results differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.checking.case import DEFAULT_TOLERANCE, Tolerance

DIGITS_OF_TWO, DIGITS, DIGITS_OF_FLOAT64 = 4, 6, 17  # of each of two numbers; of a single one; all that there are

# Digits that are the same on every machine, by the number's size in bytes. Numbers are rounded to them first, so that
# 0.14915 and 0.1491499999999999 are written in the same way.
STABLE_DIGITS = {2: 3, 4: 6}
STABLE_DIGITS_OF_FLOAT64 = 12


def distinguish(got: Any, expected: Any, tolerance: Tolerance = DEFAULT_TOLERANCE) -> tuple[str, str]:
    """Write two numbers with as many digits as are needed to tell them apart. A number within the absolute tolerance of
    0 is written as 0.
    """
    if _is_exact(got):
        return str(got), str(expected)
    tolerance = tolerance.of(np.asarray(expected).dtype)
    got, expected = (number * 0 if abs(number) <= tolerance.absolute else number for number in (got, expected))
    digits = _digits_to_distinguish(got, expected, tolerance, DIGITS_OF_TWO)
    return f"{rounded(got, digits):.{digits}g}", f"{rounded(expected, digits):.{digits}g}"


def number_text(number: Any, expected: Any = None, tolerance: Tolerance = DEFAULT_TOLERANCE) -> str:
    """A returned number as Python writes it, with six digits, or with more if they are needed to tell it from the
    expected one.
    """
    if _is_exact(number):
        return str(number)
    scalar = isinstance(expected, int | float | complex | np.number)
    scalar = scalar or (isinstance(expected, np.ndarray) and expected.ndim == 0)
    comparable = scalar and np.asarray(expected).dtype.kind in "iufc"
    digits = _digits_to_distinguish(number, np.asarray(expected)[()], tolerance, DIGITS) if comparable else DIGITS
    return str(rounded(number, digits))


def in_few_digits(value: Any) -> Any:
    """An input as it is shown in a call: arrays as lists, numbers rounded to six digits, or to more if six digits would
    turn a fraction into a whole number.
    """
    if isinstance(value, np.ndarray):
        return in_few_digits(value.tolist())
    if isinstance(value, list):
        return [in_few_digits(item) for item in value]
    if not isinstance(value, float):
        return value
    candidates = (rounded(value, digits) for digits in range(DIGITS, DIGITS_OF_FLOAT64))
    return next((candidate for candidate in candidates if not candidate.is_integer()), value)


def rounded(number: Any, digits: int = DIGITS) -> Any:
    """A real or complex number, rounded to this many significant digits; −0 becomes 0."""
    if isinstance(number, complex | np.complexfloating):
        return complex(rounded(number.real, digits), rounded(number.imag, digits))
    stable_digits = STABLE_DIGITS.get(np.asarray(number).itemsize, STABLE_DIGITS_OF_FLOAT64)
    stable = float(f"{number:.{max(stable_digits, digits)}g}")
    return float(f"{stable:.{digits}g}") + 0.0


def _is_exact(number: Any) -> bool:
    return np.asarray(number).dtype.kind in "iub"


def _digits_to_distinguish(got: Any, expected: Any, tolerance: Tolerance, fewest: int) -> int:
    """How many digits, `fewest` or at least six, make the texts differ; `fewest` if the numbers are equal."""
    with np.errstate(all="ignore"):
        if abs(got - expected) <= tolerance.absolute + tolerance.relative * abs(expected):
            return fewest
    choices = (fewest, *range(DIGITS, DIGITS_OF_FLOAT64 + 1))
    return next((digits for digits in choices if rounded(got, digits) != rounded(expected, digits)), fewest)
