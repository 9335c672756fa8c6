"""Diagnosis: the likely cause of a wrong result, reported only if the evidence singles out one cause.

If the same call gave two different results, that is the cause, because such results are no evidence for any other.
Otherwise the exercise's own mistakes are tried first. The student's results on all cases are compared with those
of each named wrong implementation, first as a whole and then, unless they are merely in the wrong order, facet by
facet. A mistake is reported only if exactly one matches. If none does, the patterns shared by all exercises are
tried, first on all outputs together and then on each output. If no exact pattern fits, the cause may be an exercise
that this one builds on; only then come the vague patterns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from grader.checking.case import WHOLE, Checks, Facet, Observation
from grader.checking.diagnose.altered_input import altered_input
from grader.checking.diagnose.evidence import facets_prefix, failed_cases, without_random_results
from grader.checking.diagnose.mistakes import fitting_mistakes, no_coincidence
from grader.checking.diagnose.operations import extra_operation
from grader.checking.diagnose.order import in_another_order
from grader.checking.diagnose.parts import vague_pattern
from grader.checking.diagnose.patterns import exact_pattern, pattern
from grader.checking.diagnose.repeated import TWO_RESULTS, gives_two_results
from grader.checking.verdict import CaseResult, Diagnosis


def diagnose(
    checks: Checks,
    observations: tuple[Observation, ...],
    results: tuple[CaseResult, ...],
    texts: Mapping[str, str],
    wrong_needs: Sequence[str] = (),
) -> Diagnosis | None:
    """The one cause that the evidence singles out, or None.

    `texts` contains the message of each mistake. `wrong_needs` names the exercises that the student's code uses
    and that are wrong themselves. If no cause in this exercise fits exactly, they are to be fixed first.
    """
    failing = [facet for facet in checks.facets if failed_cases(checks, results, facet)]
    if not failing:
        return None
    if gives_two_results(checks, observations):
        return Diagnosis("two results of one call", TWO_RESULTS)
    fits = partial(fitting_mistakes, checks, observations, results)
    # a mistake that explains everything comes first
    whole = list(fits(WHOLE[0])) if len(checks.facets) > 1 else []
    if len(whole) == 1:
        return Diagnosis(whole[0], texts.get(whole[0], ""))
    if in_another_order(checks, observations):
        names = ", ".join(output.name for output in checks.outputs)
        return Diagnosis("order", f"Your results are right but in the wrong order. Use `return {names}`.")
    shown = next(index for index, result in enumerate(results) if result.problems)  # the case that a report shows
    failing.sort(key=lambda facet: shown not in failed_cases(checks, results, facet))
    found = [(facet, fits(facet)) for facet in failing]
    all_have_a_cause = all(mistakes for _, mistakes in found)
    for facet, mistakes in found:
        # ids and words can agree by coincidence: every other wrong facet then needs a cause too
        if len(mistakes) == 1 and (all_have_a_cause or no_coincidence(checks, facet, *mistakes.values())):
            (name,) = mistakes
            explained = [other for other, others in found if list(others) == [name]]
            prefix = facets_prefix(explained) if checks.own is None else ""
            if not prefix and not any(shown in failed_cases(checks, results, each) for each in explained):
                prefix = f"On cases of the kind {' and '.join(repr(each.name) for each in explained)}: "
            return Diagnosis(name, prefix + texts.get(name, ""))
    from_needs = bool(wrong_needs) and _may_come_from_needs(observations, results, wrong_needs)
    results = without_random_results(observations, results)
    evidence = checks, observations, results
    failing = [facet for facet in checks.facets if failed_cases(checks, results, facet)]
    several = any(mistakes for _, mistakes in found)
    exact = _exact_cause(*evidence, failing, several)
    if exact is not None:
        return replace(exact, text=f"{exact.text} {_may_be_there(wrong_needs)}") if from_needs else exact
    if from_needs:
        return _fix_first(wrong_needs)
    if several or _lacks_a_gradient(results):
        return None
    return pattern(*evidence, failing, vague_pattern) or pattern(*evidence, failing, vague_pattern, by_output=True)


def _exact_cause(
    checks: Checks,
    observations: tuple[Observation, ...],
    results: tuple[CaseResult, ...],
    failing: list[Facet],
    several: bool,
) -> Diagnosis | None:
    """A cause that every exercise can have and that gives exactly these results. If `several` mistakes fit a facet,
    only an altered input is looked for.
    """
    evidence = checks, observations, results
    if _lacks_a_gradient(results):
        return None  # the value of that result is right, so no pattern of values explains the problem
    if several:
        return altered_input(*evidence)
    return (
        pattern(*evidence, failing, exact_pattern)
        or altered_input(*evidence)
        or pattern(*evidence, failing, exact_pattern, by_output=True)
        or extra_operation(*evidence)
        or extra_operation(*evidence, by_output=True)
        or altered_input(*evidence, by_output=True)
    )


def _lacks_a_gradient(results: tuple[CaseResult, ...]) -> bool:
    return any(problem.kind == "gradient" for result in results for problem in result.problems)


def _may_come_from_needs(
    observations: tuple[Observation, ...], results: tuple[CaseResult, ...], wrong_needs: Sequence[str]
) -> bool:
    """Whether exercises that this one builds on can cause all problems: wrong values, or exceptions in their code."""
    kinds = {problem.kind for result in results for problem in result.problems}
    raised = [observation.raised for observation in observations if observation.raised is not None]
    raised_in_needs = all(any(line.function in wrong_needs for line in each.lines) for each in raised)
    return bool(kinds) and kinds <= {"values", "not_finite", "raised"} and raised_in_needs


def _may_be_there(wrong_needs: Sequence[str]) -> str:
    names = " and ".join(f"`{name}`" for name in wrong_needs)
    return f"Your code uses {names}, which failed when last checked, so the mistake may be there."


def _fix_first(wrong_needs: Sequence[str]) -> Diagnosis:
    names = " and ".join(f"`{name}`" for name in wrong_needs)
    return Diagnosis(
        "needs",
        f"This exercise builds on {names}, which failed when last checked. Fix {names} first, then check again.",
    )
