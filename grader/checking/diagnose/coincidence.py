"""Which numbers two results can share by coincidence (ids, truth values, small fractions) and which are distinctive."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import numpy as np

from grader.checking.case import Tolerance
from grader.checking.compare import Array, close

DENOMINATORS = np.arange(1, 101)  # a fraction of up to 100 tokens can arise in many ways
MAX_ENTRIES = 1_000  # of an array that are examined
_MISSING = object()


def is_distinctive(expected: Any, wrong: Any, tolerance: Tolerance) -> bool:
    """Whether the wrong result of a mistake differs from the expected one in a number that cannot be equal by
    coincidence. A student who returns this result has made the same mistake.
    """
    if isinstance(expected, list | tuple) and isinstance(wrong, list | tuple):
        return any(is_distinctive(e, w, tolerance) for e, w in zip_longest(expected, wrong, fillvalue=_MISSING))
    if isinstance(expected, dict) and isinstance(wrong, dict):
        return any(is_distinctive(expected.get(key, _MISSING), value, tolerance) for key, value in wrong.items())
    if not _is_number(wrong):
        return _contains_distinctive(wrong)
    numbers = np.asarray(wrong)
    if not _is_number(expected) or np.shape(expected) != numbers.shape:
        return _any_distinctive(numbers)
    differ = ~close(np.asarray(expected), numbers, tolerance)
    return _any_distinctive(numbers[differ]) or _any_distinctive(np.asarray(expected)[differ])


def _contains_distinctive(value: Any) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return any(map(_contains_distinctive, value))
    return _is_number(value) and _any_distinctive(np.asarray(value))


def _is_number(value: Any) -> bool:
    return isinstance(value, np.ndarray | float)


def _any_distinctive(numbers: Array) -> bool:
    """Whether one of these numbers is neither whole nor a fraction of small whole numbers."""
    if numbers.dtype.kind == "c":
        return _any_distinctive(numbers.real) or _any_distinctive(numbers.imag)
    if numbers.dtype.kind != "f":
        return False
    finite = numbers[np.isfinite(numbers)].astype(float).ravel()[:MAX_ENTRIES, None]
    parts = finite * DENOMINATORS
    return bool((np.abs(parts - np.rint(parts)) > 1e-9 + 1e-12 * np.abs(parts)).all(axis=1).any())
