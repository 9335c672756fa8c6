"""The exercise's own mistakes: which of them explain all that is wrong with a facet."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.checking.case import Checks, Facet, Observation
from grader.checking.compare import agree
from grader.checking.diagnose.evidence import failed_cases, is_real
from grader.checking.verdict import CaseResult


def fitting_names(
    checks: Checks, observations: tuple[Observation, ...], results: tuple[CaseResult, ...], facet: Facet
) -> list[str]:
    """The misconceptions that explain what is wrong with a facet. Of several, those that would also have spoilt an
    output which is right are dropped.
    """
    telling = [i for i in failed_cases(checks, results, facet) if observations[i].raised is None]
    if checks.own is not None:
        return [
            name
            for name, matches in checks.own.matches.items()
            if telling and all(matches(checks.cases[i], observations[i]) for i in telling)
        ]
    fitting = {
        name: [variant for variant in variants if _fits(checks, observations, telling, facet, variant)]
        for name, variants in checks.misconceptions.items()
    }
    names = [name for name, variants in fitting.items() if variants]
    if len(names) > 1:
        right = _right_outputs(checks, results)
        names = [name for name in names if any(_spares(checks, right, variant) for variant in fitting[name])] or names
    return names


def _fits(
    checks: Checks,
    observations: tuple[Observation, ...],
    telling: list[int],
    facet: Facet,
    variant: tuple[Observation, ...],
) -> bool:
    outputs = facet.outputs or tuple(output.name for output in checks.outputs)
    agrees = all(
        agree(observations[i], variant[i], outputs, checks)
        # on another facet's cases the mistake must show too, unless it gives what is due there
        or (not facet.covers(case, None) and agree(checks.expected[i], variant[i], outputs, checks))
        for i, case in reversed(list(enumerate(checks.cases)))  # the first cases are small, and much agrees there
    )
    if not agrees:  # as nearly all do not
        return False
    changes = all(set(theirs.changed) <= set(ours.changed) for ours, theirs in zip(observations, variant, strict=True))
    shown = any(variant[i].raised is None and _shows(checks, i, outputs, variant[i]) for i in telling) or (
        not telling and _raises_there_alone(checks, observations, variant, facet)
    )
    return changes and shown


def _shows(checks: Checks, index: int, outputs: tuple[str, ...], theirs: Observation) -> bool:
    """Whether a mistake does anything wrong to these outputs of a case; what gives the right ones explains nothing."""
    return bool(theirs.changed) or not agree(checks.expected[index], theirs, outputs, checks)


def _right_outputs(checks: Checks, results: tuple[CaseResult, ...]) -> tuple[str, ...]:
    """The outputs that are right on every case; none where a case is wrong as a whole."""
    wrong = {problem.output for result in results for problem in result.problems}
    return () if None in wrong else tuple(output.name for output in checks.outputs if output.name not in wrong)


def _spares(checks: Checks, right: tuple[str, ...], variant: tuple[Observation, ...]) -> bool:
    """Whether a mistake leaves these outputs right."""
    return not right or all(
        agree(due, theirs, right, checks) for due, theirs in zip(checks.expected, variant, strict=True)
    )


def _raises_there_alone(
    checks: Checks, observations: tuple[Observation, ...], variant: tuple[Observation, ...], facet: Facet
) -> bool:
    """Whether all cases of a facet raise what the mistake raises there, and all other cases, if any, give the same."""
    outputs = tuple(output.name for output in checks.outputs)
    covered = [facet.covers(case, None) for case in checks.cases]
    return not all(covered) and all(
        agree(ours, theirs, outputs, checks) and (ours.raised is not None) == inside
        for inside, ours, theirs in zip(covered, observations, variant, strict=True)
    )


def of_ids(checks: Checks) -> bool:
    """Whether every number that is due is an integer, so that two results may well be equal for no reason."""
    numbers = [number for o in checks.expected for number in _numbers(o.result)]
    return bool(numbers) and all(np.asarray(number).dtype.kind in "iu" for number in numbers)


def _numbers(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [number for item in value for number in _numbers(item)]
    return [value] if is_real(value) else []
