"""Outputs that do not depend on the inputs. A constant may be right on the few cases of a facet, such as 0 for a loss
without any token or an empty array for no steps, and still shows no knowledge: it earns nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from grader.checking.case import Checks, Observation
from grader.checking.compare import named_outputs
from grader.checking.verdict import Problem
from grader.codec import encode

_HUGE = 1e300  # numbers that are not finite, and integers beyond float64, are not compared


def constant_outputs(checks: Checks, observations: Sequence[Observation]) -> list[str]:
    """The outputs that are the same on all cases, or of which all numbers are, although they should differ.

    A function that raises an exception on some case is not constant. What the results of a torch module prove is said
    by `settle.py`, in words that are the same for many cases.
    """
    if not checks.expected or checks.driver == "module" or any(each.raised is not None for each in observations):
        return []
    due, got = (_columns(checks, each) for each in (checks.expected, observations))
    return [name for name in got if _is_constant(got[name], checks) and not _is_constant(due.get(name, []), checks)]


def _columns(checks: Checks, observations: Sequence[Observation]) -> dict[str, list[Any]]:
    """The values of each output on all cases; nothing if some case has another number of results."""
    columns: dict[str, list[Any]] = {output.name: [] for output in checks.outputs}
    for each in observations:
        found = named_outputs(checks.outputs, each.result)
        if isinstance(found, Problem):
            return {}
        for name, value in found.items():
            columns[name].append(value)
    return columns


def _is_constant(values: list[Any], checks: Checks) -> bool:
    first = encode(values[0]) if values else b""
    if all(encode(value) == first for value in values[1:]):
        return True
    numbers = [number for value in values for number in _numbers(value)]
    if any(number is None for number in numbers):
        return False
    entries = np.concatenate([np.ravel(number) for number in numbers] or [np.zeros(0)])
    bound = checks.tolerance.of(entries.dtype).absolute
    return not entries.size or bool(np.all(np.abs(entries - entries[0]) <= bound))


def _numbers(value: Any) -> Iterator[Any]:
    """The arrays and numbers in a value; None for anything else."""
    if isinstance(value, list | tuple):
        for entry in value:
            yield from _numbers(entry)
    elif isinstance(value, dict):
        yield from _numbers(list(value.values()))
    elif isinstance(value, int | float | complex) and abs(value) < _HUGE:
        yield np.array(value, complex)
    elif isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufc" and np.all(np.abs(value) < _HUGE):
        yield value.astype(complex)
    else:
        yield None
