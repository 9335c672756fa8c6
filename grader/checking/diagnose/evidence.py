"""What a diagnosis has to explain: the cases and the results that are wrong, and the words for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from grader.checking.case import Checks, Facet
from grader.checking.verdict import CaseResult


def failed_cases(checks: Checks, results: tuple[CaseResult, ...], facet: Facet) -> list[int]:
    """The indices of the cases on which this facet is wrong."""
    return [
        index
        for index, result in enumerate(results)
        if any(facet.covers(checks.cases[index], problem.output) for problem in result.problems)
    ]


def about(names: Sequence[str]) -> str:
    """What a diagnosis that does not explain all at once begins with: the results that it does explain."""
    *others, last = names or [""]
    named = f"{', '.join(others)} and {last}" if others else last
    return f"For {named}: " if named else ""


def about_facets(facets: Sequence[Facet]) -> str:
    """The same for facets, of which some may be no results."""
    return about([facet.name for facet in facets if facet.outputs is not None])


def is_real(value: Any) -> bool:
    """Whether a value is a number, or an array of them, that a pattern can reckon with."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fiu"
    return isinstance(value, float | int) and np.asarray(value).dtype.kind in "fi"  # no truth value, nothing huge
