"""How a report writes numbers: short, and alike on every machine, though the last bits of what is computed are not."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.checking.case import DEFAULT_TOLERANCE, Tolerance

FEWEST, DIGITS, ALL = 4, 6, 17  # of two numbers that differ; of one; what a float64 holds
SURE = {2: 3, 4: 6}  # digits that are alike on every machine, by the bytes of a number: it is rounded to them first,
SURE_OF_FLOAT64 = 12  # so that 0.14915 and 0.1491499999999999 are written alike


def apart(got: Any, expected: Any, tolerance: Tolerance = DEFAULT_TOLERANCE) -> tuple[str, str]:
    """Two numbers in as many digits as it takes to tell them apart; what is 0 to the judge is written 0."""
    if _is_exact(got):
        return str(got), str(expected)
    tolerance = tolerance.of(np.asarray(expected).dtype)
    got, expected = (number * 0 if abs(number) <= tolerance.absolute else number for number in (got, expected))
    digits = _digits_apart(got, expected, tolerance, FEWEST)
    return f"{rounded(got, digits):.{digits}g}", f"{rounded(expected, digits):.{digits}g}"


def shown(number: Any, due: Any = None, tolerance: Tolerance = DEFAULT_TOLERANCE) -> str:
    """A returned number, as Python writes it: six digits, or more where they tell it from the expected one."""
    if _is_exact(number):
        return str(number)
    of_one = isinstance(due, int | float | complex | np.number) or (isinstance(due, np.ndarray) and due.ndim == 0)
    comparable = of_one and np.asarray(due).dtype.kind in "iufc"
    digits = _digits_apart(number, np.asarray(due)[()], tolerance, DIGITS) if comparable else DIGITS
    return str(rounded(number, digits))


def given(value: Any) -> Any:
    """An input as a report writes it into a call: its numbers in six digits, or in more where six would make a whole
    number of one that is none; arrays become lists.
    """
    if isinstance(value, np.ndarray):
        return given(value.tolist())
    if isinstance(value, list):
        return [given(item) for item in value]
    if not isinstance(value, float):
        return value
    return next((r for r in (rounded(value, digits) for digits in range(DIGITS, ALL)) if not r.is_integer()), value)


def rounded(number: Any, digits: int = DIGITS) -> Any:
    """A real or complex number in so many digits; −0 is 0."""
    if isinstance(number, complex | np.complexfloating):
        return complex(rounded(number.real, digits), rounded(number.imag, digits))
    sure = SURE.get(np.asarray(number).itemsize, SURE_OF_FLOAT64)
    settled = float(f"{number:.{max(sure, digits)}g}")
    return float(f"{settled:.{digits}g}") + 0.0


def _is_exact(number: Any) -> bool:
    return np.asarray(number).dtype.kind in "iub"


def _digits_apart(got: Any, expected: Any, tolerance: Tolerance, fewest: int) -> int:
    """How many digits, `fewest` or more than five, make the texts differ; `fewest` for numbers that are equal."""
    with np.errstate(all="ignore"):
        if abs(got - expected) <= tolerance.absolute + tolerance.relative * abs(expected):
            return fewest
    each = (fewest, *range(DIGITS, ALL + 1))
    return next((digits for digits in each if rounded(got, digits) != rounded(expected, digits)), fewest)
