"""The exercise's own mistakes: find those that explain everything that is wrong with a facet."""

from __future__ import annotations

from collections.abc import Sequence

from grader.checking.case import Checks, Facet, Observation
from grader.checking.compare import agree, named_outputs
from grader.checking.diagnose.coincidence import is_distinctive
from grader.checking.diagnose.evidence import failed_cases
from grader.checking.verdict import CaseResult, Problem

SEVERAL = 3  # cases that raise, and cases that do not, if exceptions alone are to prove a mistake
Way = tuple[Observation, ...]  # the results of one way to make a mistake, one for each case


def fitting_mistakes(
    checks: Checks, observations: tuple[Observation, ...], results: tuple[CaseResult, ...], facet: Facet
) -> dict[str, list[Way]]:
    """Map each mistake that explains what is wrong with a facet to its ways that do so. If the exercise has its own
    judge, there are no ways. If several mistakes fit, those that make a right output wrong are dropped.
    """
    # the cases with a wrong result: an exception has many causes
    wrong = [i for i in failed_cases(checks, results, facet) if observations[i].raised is None]
    if checks.own is not None:
        return {
            name: []
            for name, matches in checks.own.matches.items()
            if wrong and all(matches(checks.cases[i], observations[i]) for i in wrong)
        }
    fitting: dict[str, list[Way]] = {}
    for name, ways in checks.mistakes.items():
        found = [way for way in ways if _fits(checks, observations, wrong, facet, way)]
        fitting |= {name: found} if found else {}
    if len(fitting) > 1:
        right = _right_outputs(checks, results)
        harmless = {n: found for n, found in fitting.items() if any(_keeps_right(checks, right, v) for v in found)}
        fitting = harmless or fitting
    return fitting


def no_coincidence(checks: Checks, facet: Facet, ways: list[Way]) -> bool:
    """Whether agreement proves the mistake: it changes an input, cuts off a gradient, or gives a distinctive number."""
    if checks.own is not None:
        return True  # its own code decides whether a case shows the mistake
    names = [output.name for output in checks.outputs if facet.outputs is None or output.name in facet.outputs]
    return any(
        theirs.changed or theirs.unreached or _differs_distinctively(checks, names, expected, theirs)
        for way in ways
        for expected, theirs in zip(checks.expected, way, strict=True)
    )


def _differs_distinctively(checks: Checks, names: list[str], expected: Observation, theirs: Observation) -> bool:
    right, wrong = (named_outputs(checks.outputs, o.result) for o in (expected, theirs))
    if isinstance(right, Problem) or isinstance(wrong, Problem):
        return is_distinctive(expected.result, theirs.result, checks.tolerance)
    return any(is_distinctive(right[name], wrong[name], checks.tolerance) for name in names)


def _fits(checks: Checks, observations: tuple[Observation, ...], wrong: Sequence[int], facet: Facet, way: Way) -> bool:
    """Whether this way explains what is wrong with a facet; `wrong` are the facet's cases with a wrong result."""
    outputs = facet.outputs or tuple(output.name for output in checks.outputs)
    return (
        _gives_the_results(checks, observations, facet, outputs, way)  # most ways end here
        and _leaves_the_same_behind(observations, way)
        and (
            any(way[i].raised is None and _shows(checks, i, outputs, way[i]) for i in wrong)
            if wrong
            else _raises_only_on_its_kinds(checks, observations, way, facet)
            or _raises_case_by_case(checks, observations, way)
        )
    )


def _gives_the_results(
    checks: Checks, observations: tuple[Observation, ...], facet: Facet, outputs: tuple[str, ...], way: Way
) -> bool:
    """Whether the student's results are those of this way, on the facet's cases and on all others on which this way
    gives a wrong result.
    """
    return all(
        agree(observations[i], way[i], outputs, checks)
        or (not facet.covers(checks.cases[i], None) and agree(checks.expected[i], way[i], outputs, checks))
        for i in reversed(range(len(checks.cases)))  # from the last, because small cases agree more often
    )


def _leaves_the_same_behind(observations: tuple[Observation, ...], way: Way) -> bool:
    """Whether the student's code changes all inputs that this way changes and, if this way cuts off gradients, cuts off
    exactly these.
    """
    return all(
        set(theirs.changed) <= set(ours.changed) and theirs.unreached in ({}, ours.unreached)
        for ours, theirs in zip(observations, way, strict=True)
    )


def _shows(checks: Checks, index: int, outputs: tuple[str, ...], theirs: Observation) -> bool:
    """Whether a mistake is visible on a case: it changes an input, cuts off a gradient or makes one of these outputs
    wrong.
    """
    return bool(theirs.changed or theirs.unreached) or not agree(checks.expected[index], theirs, outputs, checks)


def _right_outputs(checks: Checks, results: tuple[CaseResult, ...]) -> tuple[str, ...]:
    """The outputs that are right on every case; empty if a case has a problem with the call as a whole."""
    wrong = {problem.output for result in results for problem in result.problems}
    return () if None in wrong else tuple(output.name for output in checks.outputs if output.name not in wrong)


def _keeps_right(checks: Checks, right: tuple[str, ...], way: Way) -> bool:
    """Whether a mistake leaves these outputs right on every case."""
    return not right or all(
        agree(expected, theirs, right, checks) for expected, theirs in zip(checks.expected, way, strict=True)
    )


def _raises_only_on_its_kinds(checks: Checks, observations: tuple[Observation, ...], way: Way, facet: Facet) -> bool:
    """Whether the student's code raises the same exceptions as the mistake on all cases of the kinds on which the
    mistake raises, and gives the same results on all other cases. These kinds must belong to the facet, and other kinds
    must exist.
    """
    outputs = tuple(output.name for output in checks.outputs)
    kinds = {case.kind for case, theirs in zip(checks.cases, way, strict=True) if theirs.raised is not None}
    raises = [case.kind in kinds for case in checks.cases]
    return (
        not all(raises)
        and all(facet.covers(case, None) for case in checks.cases if case.kind in kinds)
        and all(
            agree(ours, theirs, outputs, checks) and (ours.raised is not None) == due
            for due, ours, theirs in zip(raises, observations, way, strict=True)
        )
    )


def _raises_case_by_case(checks: Checks, observations: tuple[Observation, ...], way: Way) -> bool:
    """Whether the student's code raises the same exceptions as the mistake on the same cases, whatever their kinds, and
    is right on all others; there must be several of both.
    """
    outputs = tuple(output.name for output in checks.outputs)
    raising = sum(theirs.raised is not None for theirs in way)
    return min(raising, len(way) - raising) >= SEVERAL and all(
        agree(ours, theirs, outputs, checks) and (theirs.raised or agree(expected, theirs, outputs, checks))
        for ours, theirs, expected in zip(observations, way, checks.expected, strict=True)
    )
