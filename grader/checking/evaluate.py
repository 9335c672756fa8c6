"""Turn observations into a verdict: judge every case, add up the points of the facets, and look for the likely cause.
Notebooks and the autograder both use this module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from grader.checking.case import Checks, Facet, Observation
from grader.checking.constant import constant_outputs
from grader.checking.diagnose import diagnose
from grader.checking.diagnose.evidence import failed_cases
from grader.checking.drivers import drive
from grader.checking.judge import judge
from grader.checking.settle import settled
from grader.checking.sizes import examined
from grader.checking.verdict import CaseResult, Diagnosis, FacetResult, Status, Verdict
from grader.codec import shortened
from grader.manifest import Place


def observe(checks: Checks, function: Any, after_first: Callable[[], None] | None = None) -> tuple[Observation, ...]:
    """Run a function on every case, in this process. `after_first` is called after the first case."""
    observations = []
    for case in checks.cases:
        observations.append(drive(checks.driver, function, case, checks.fixtures))
        if after_first is not None and len(observations) == 1:
            after_first()
    return settled(checks, observations)


def evaluate(
    place: Place,
    checks: Checks,
    texts: Mapping[str, str],
    observations: tuple[Observation, ...],
    wrong_needs: Sequence[str] = (),
    words: bool = True,
) -> Verdict:
    """Judge an exercise by the observations, one for each case, and return the verdict.

    `texts` contains the message of each mistake. `wrong_needs` names the exercises that this one builds on and
    that are wrong themselves. Without `words`, the cases do not describe the call and its result: these descriptions
    take time to make and must not be shown for hidden cases.
    """
    with np.errstate(all="ignore"):  # a notebook may have called np.seterr
        return _evaluate(place, checks, texts, observations, wrong_needs, words)


def _evaluate(
    place: Place,
    checks: Checks,
    texts: Mapping[str, str],
    observations: tuple[Observation, ...],
    wrong_needs: Sequence[str],
    words: bool,
) -> Verdict:
    observations = settled(checks, [replace(o, raised=o.raised and shortened(o.raised)) for o in observations])
    results = tuple(judge(checks, index, observation, words) for index, observation in enumerate(observations))
    if all(o.raised is not None and o.raised.type == "NotImplementedError" for o in observations):
        return _unimplemented(place, checks, observations)
    total = sum(facet.share for facet in checks.facets)
    failing = [result for result in results if result.problems]
    right = [facet for facet in checks.facets if not failed_cases(checks, results, facet)]
    seen = examined(checks, observations) if failing else observations
    constant = constant_outputs(checks, seen) if failing and right else []
    proved = [facet for facet in right if not constant or not (facet.outputs is None or {*facet.outputs} & {*constant})]
    facets = tuple(
        FacetResult(
            facet.name,
            place.exercise.points * facet.share / total if facet in proved else 0.0,
            place.exercise.points * facet.share / total,
        )
        for facet in checks.facets
    )
    status: Status = "passed"
    diagnosis = None
    if failing:
        status = "error" if failing[0].problems[0].kind == "raised" else "failed"
        diagnosis = diagnose(checks, seen, results, texts, wrong_needs)
    return verdict(place, status, results, facets, diagnosis, _why_unproved(right, proved, constant))


def _why_unproved(right: Sequence[Facet], proved: Sequence[Facet], constant: Sequence[str]) -> str:
    """Why facets of which all cases are right earn nothing."""
    names = " and ".join(f"{facet.name!r}" for facet in right if facet not in proved)
    same = " and ".join(f"`{name}`" for name in constant)
    return f"For {names} you get no points yet, because {same} would be the same for any inputs." if names else ""


def verdict(
    place: Place,
    status: Status,
    cases: tuple[CaseResult, ...] = (),
    facets: tuple[FacetResult, ...] = (),
    diagnosis: Diagnosis | None = None,
    note: str = "",
    unwritten: str = "",
) -> Verdict:
    """A verdict on this exercise. Unless it passed, it earns the sum of the points of its facets."""
    exercise = place.exercise
    earned = float(exercise.points) if status == "passed" else float(sum(facet.earned for facet in facets))
    return Verdict(
        exercise.id,
        exercise.title,
        status,
        earned,
        float(exercise.points),
        place.page_title,
        cases,
        facets,
        diagnosis,
        note,
        unwritten,
    )


def _unimplemented(place: Place, checks: Checks, observations: tuple[Observation, ...]) -> Verdict:
    raised = observations[0].raised
    names = [line.function for line in raised.lines] if raised is not None else []
    calls_unwritten = checks.id in names and names[-1] != checks.id
    return verdict(place, "unimplemented", unwritten=names[-1] if calls_unwritten else "")
