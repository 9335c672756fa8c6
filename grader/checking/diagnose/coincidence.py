"""Which numbers two results can share by coincidence (ids, truth values, small fractions), and which not."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import numpy as np

from grader.checking.case import Tolerance
from grader.checking.compare import Array, close

DENOMINATORS = np.arange(1, 101)  # a share of up to so many tokens is a number that may come about in any way
MANY = 1_000  # entries of an array that are looked at
_NOTHING = object()


def is_telling(due: Any, given: Any, tolerance: Tolerance) -> bool:
    """Whether the result of a mistake differs from the expected one in a number that cannot be hit by coincidence, so
    that a student who returns the same has made the same mistake.
    """
    if isinstance(due, list | tuple) and isinstance(given, list | tuple):
        return any(is_telling(d, g, tolerance) for d, g in zip_longest(due, given, fillvalue=_NOTHING))
    if isinstance(due, dict) and isinstance(given, dict):
        return any(is_telling(due.get(key, _NOTHING), value, tolerance) for key, value in given.items())
    if not _is_number(given):
        return _holds_odd(given)
    numbers = np.asarray(given)
    if not _is_number(due) or np.shape(due) != numbers.shape:
        return _is_odd(numbers)
    differ = ~close(np.asarray(due), numbers, tolerance)
    return _is_odd(numbers[differ]) or _is_odd(np.asarray(due)[differ])


def _holds_odd(value: Any) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return any(map(_holds_odd, value))
    return _is_number(value) and _is_odd(np.asarray(value))


def _is_number(value: Any) -> bool:
    return isinstance(value, np.ndarray | float)


def _is_odd(numbers: Array) -> bool:
    """Whether one of them is neither whole nor a fraction of small whole numbers."""
    if numbers.dtype.kind == "c":
        return _is_odd(numbers.real) or _is_odd(numbers.imag)
    if numbers.dtype.kind != "f":
        return False
    finite = numbers[np.isfinite(numbers)].astype(float).ravel()[:MANY, None]
    parts = finite * DENOMINATORS
    return bool((np.abs(parts - np.rint(parts)) > 1e-9 + 1e-12 * np.abs(parts)).all(axis=1).any())
