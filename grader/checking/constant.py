"""Outputs that do not depend on the inputs. A constant may be right on the few cases of a facet, such as 0 for a loss
without any token or an empty array for no steps, and still shows no knowledge: it earns nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from grader.checking.case import Checks, Observation
from grader.checking.compare import named_outputs
from grader.checking.diagnose.altered_input import leaves
from grader.checking.verdict import Problem
from grader.codec import encode

_HUGE = 1e300  # larger numbers, and those that are not finite, are not compared


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
    if len(set(map(encode, values))) <= 1:
        return True
    arrays = [leaf for value in values for leaf in leaves(value)]
    if not all(array.dtype.kind in "biufc" and np.all(np.abs(array) < _HUGE) for array in arrays):
        return False
    numbers = np.concatenate([np.zeros(0, complex), *(array.ravel() for array in arrays)])
    return bool(np.all(np.abs(numbers - numbers[:1]) <= checks.tolerance.absolute))
