"""The exercise's own mistakes: which of them explain all that is wrong with a facet."""

from __future__ import annotations

from grader.checking.case import Checks, Facet, Observation
from grader.checking.compare import agree, named_outputs
from grader.checking.diagnose.coincidence import is_telling
from grader.checking.diagnose.evidence import failed_cases
from grader.checking.verdict import CaseResult, Problem

Variant = tuple[Observation, ...]  # what one way to make a mistake gives, case by case


def fitting_mistakes(
    checks: Checks, observations: tuple[Observation, ...], results: tuple[CaseResult, ...], facet: Facet
) -> dict[str, list[Variant]]:
    """The misconceptions that explain what is wrong with a facet, each with its variants that do; of an own judge's
    there are none. Of several, those that would also have spoilt an output which is right are dropped.
    """
    telling = [i for i in failed_cases(checks, results, facet) if observations[i].raised is None]
    if checks.own is not None:
        return {
            name: []
            for name, matches in checks.own.matches.items()
            if telling and all(matches(checks.cases[i], observations[i]) for i in telling)
        }
    fitting: dict[str, list[Variant]] = {}
    for name, variants in checks.misconceptions.items():
        found = [variant for variant in variants if _fits(checks, observations, telling, facet, variant)]
        fitting |= {name: found} if found else {}
    if len(fitting) > 1:
        right = _right_outputs(checks, results)
        sparing = {n: found for n, found in fitting.items() if any(_spares(checks, right, v) for v in found)}
        fitting = sparing or fitting
    return fitting


def no_coincidence(checks: Checks, facet: Facet, variants: list[Variant]) -> bool:
    """Whether the same result cannot be a coincidence: the mistake changes an input or differs in a telling number."""
    if checks.own is not None:
        return True  # its matches look closely, or ought to
    names = [output.name for output in checks.outputs if facet.outputs is None or output.name in facet.outputs]
    return any(
        theirs.changed or theirs.unreached or _differs_tellingly(checks, names, due, theirs)
        for variant in variants
        for due, theirs in zip(checks.expected, variant, strict=True)
    )


def _differs_tellingly(checks: Checks, names: list[str], due: Observation, theirs: Observation) -> bool:
    right, wrong = (named_outputs(checks.outputs, o.result) for o in (due, theirs))
    if isinstance(right, Problem) or isinstance(wrong, Problem):
        return is_telling(due.result, theirs.result, checks.tolerance)
    return any(is_telling(right[name], wrong[name], checks.tolerance) for name in names)


def _fits(
    checks: Checks,
    observations: tuple[Observation, ...],
    telling: list[int],
    facet: Facet,
    variant: Variant,
) -> bool:
    outputs = facet.outputs or tuple(output.name for output in checks.outputs)
    agrees = all(
        agree(observations[i], variant[i], outputs, checks)
        # on another facet's cases the mistake must show too, unless it gives the expected result there
        or (not facet.covers(checks.cases[i], None) and agree(checks.expected[i], variant[i], outputs, checks))
        for i in reversed(range(len(checks.cases)))  # the first cases are small, and much agrees there
    )
    if not agrees:  # as nearly all do not
        return False
    pairs = list(zip(observations, variant, strict=True))
    changes = all(set(theirs.changed) <= set(ours.changed) for ours, theirs in pairs)
    changes = changes and all(theirs.unreached in ({}, ours.unreached) for ours, theirs in pairs)
    shown = any(variant[i].raised is None and _shows(checks, i, outputs, variant[i]) for i in telling) or (
        not telling and _raises_there_alone(checks, observations, variant, facet)
    )
    return changes and shown


def _shows(checks: Checks, index: int, outputs: tuple[str, ...], theirs: Observation) -> bool:
    """Whether a mistake does anything wrong to these outputs of a case; what gives the right ones explains nothing."""
    return bool(theirs.changed or theirs.unreached) or not agree(checks.expected[index], theirs, outputs, checks)


def _right_outputs(checks: Checks, results: tuple[CaseResult, ...]) -> tuple[str, ...]:
    """The outputs that are right on every case; none where a case is wrong as a whole."""
    wrong = {problem.output for result in results for problem in result.problems}
    return () if None in wrong else tuple(output.name for output in checks.outputs if output.name not in wrong)


def _spares(checks: Checks, right: tuple[str, ...], variant: Variant) -> bool:
    """Whether a mistake leaves these outputs right."""
    return not right or all(
        agree(due, theirs, right, checks) for due, theirs in zip(checks.expected, variant, strict=True)
    )


def _raises_there_alone(checks: Checks, observations: tuple[Observation, ...], variant: Variant, facet: Facet) -> bool:
    """Whether all cases of a kind that belongs to a facet raise what the mistake raises there, or those of several such
    kinds, and all other cases, if any, give the same.
    """
    outputs = tuple(output.name for output in checks.outputs)
    kinds = {case.kind for case, theirs in zip(checks.cases, variant, strict=True) if theirs.raised is not None}
    inside = [case.kind in kinds for case in checks.cases]
    within = all(facet.covers(case, None) for case in checks.cases if case.kind in kinds)
    return (
        within
        and not all(inside)
        and all(
            agree(ours, theirs, outputs, checks) and (ours.raised is not None) == raises
            for raises, ours, theirs in zip(inside, observations, variant, strict=True)
        )
    )
