"""What a diagnosis has to explain: the wrong cases and results, and the words that name them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from grader.checking.case import Checks, Facet, Observation
from grader.checking.settle import UNLIKE
from grader.checking.verdict import CaseResult


def failed_cases(checks: Checks, results: tuple[CaseResult, ...], facet: Facet) -> list[int]:
    """The indices of the cases on which this facet is wrong."""
    return [
        index
        for index, result in enumerate(results)
        if any(facet.covers(checks.cases[index], problem.output) for problem in result.problems)
    ]


def without_random_results(
    observations: tuple[Observation, ...], results: tuple[CaseResult, ...]
) -> tuple[CaseResult, ...]:
    """The results without the problem that dropout cannot give some, if anything else is wrong: every mistake makes
    them so, and their numbers are not known.
    """
    odd = [_is_unlike(observation) for observation in observations]
    if not any(result.problems for result, is_odd in zip(results, odd, strict=True) if not is_odd):
        return results
    return tuple(replace(each, problems=()) if is_odd else each for each, is_odd in zip(results, odd, strict=True))


def _is_unlike(observation: Observation) -> bool:
    found = observation.result if isinstance(observation.result, tuple) else (observation.result,)
    return any(isinstance(value, str) and value == UNLIKE for value in found)


def results_prefix(names: Sequence[str]) -> str:
    """The beginning of a diagnosis that explains only these results: 'For dW_xh and dW_hh: '. Empty without names."""
    *others, last = names or [""]
    named = f"{', '.join(others)} and {last}" if others else last
    return f"For {named}: " if named else ""


def facets_prefix(facets: Sequence[Facet]) -> str:
    """The same for facets. Those that are not defined by outputs are left out."""
    return results_prefix([facet.name for facet in facets if facet.outputs is not None])


def is_real(value: Any) -> bool:
    """Whether a value is a real number or an array of real numbers, so that patterns apply."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fiu"
    # the kind excludes truth values and huge integers
    return isinstance(value, float | int) and np.asarray(value).dtype.kind in "fi"
