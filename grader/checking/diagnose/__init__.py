"""The likely cause of a wrong result, reported only if the evidence singles out one.

`mistakes` (the exercise's own), `order`, `repeated` (the same call gave two results), `altered_input`, `operations`
(one operation more or less on the result), `patterns` (a sign, a factor, a rounding …), `parts` (which calls,
sequences, rows or steps are wrong); `evidence` says what needs an explanation, `coincidence` how much an agreement
proves.

A cause must explain the results on every case of a facet, and at least one of these results must be wrong. The first of
these that fits is reported:

1. the same call gave two different results, which are no evidence for anything else
2. the exercise's own mistakes
3. results in the wrong order
4. an exercise that this one builds on and that is wrong, if the code uses it: the advice is to fix it first
5. exact patterns: float32, lost precision, transposed, sign, broadcast, one step early or late, rounded, truncated, a
   constant factor, a mean in place of a sum
6. an altered input that explains everything that is wrong
7. an operation more or less on the result
8. an altered input that explains one output
9. what says only where the result is wrong: where an argument is omitted; rows that were never filled or are in another
   order; all but the first sequence, or the first step

A cause that fits exactly comes before the advice to fix another exercise: it is worth knowing even if that one is wrong
too, and the report then adds that the code uses it.

*Several results.* Causes are tried on all results together first, so that of two mistakes that share an output the one
that explains everything is reported; then, unless the results are right but in the wrong order, facet by facet or
output by output, and the report begins with the names: "For dW_xh and dW_hh: …". If several fit, those that would also
have spoilt an output that is right are dropped. A mistake that leaves an output unchanged does not explain an error in
it, and one that changes an input fits only if that input was changed. An output with `backward=True` is computed from
the last time step to the first, and its report starts there.

*Coincidence.* Ids, words, truth values, whole numbers and small fractions can agree by coincidence. A mistake that is
visible only in such values is reported only if everything else that is wrong is explained too. Of an exception only the
type is compared, so a mistake is recognised by exceptions only if they occur on all cases of a kind that the author has
set apart for it and all others are right. A pattern that one result may fit by coincidence is reported on two cases or
more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from grader.checking.case import WHOLE, Checks, Facet, Observation
from grader.checking.diagnose.altered_input import altered_input, altered_input_of_outputs
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
        or altered_input_of_outputs(*evidence)
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
