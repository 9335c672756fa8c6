"""What the observations of torch modules show: numbers from a student's process, compared with the expected ones.

A student's process says what its module returned and which gradients it got. Whether a gradient reaches a weight, and
whether random results are those of dropout, is decided here, in the grader's own process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from grader.checking.case import Case, Checks, Observation, Output
from grader.checking.compare import close, named_outputs, same_value
from grader.checking.gradients import PARTLY, Array, unreached
from grader.checking.module_cases import OUTCOMES, learned_from
from grader.checking.verdict import Problem

UNLIKE = "unlike"  # random numbers, but not those of dropout


def settled(checks: Checks, observations: Sequence[Observation]) -> tuple[Observation, ...]:
    """The observations with `unreached`, and the words "random", "fixed" and "unlike", as the numbers show."""
    if checks.driver != "module" or not checks.expected:
        return tuple(observations)
    cases = zip(checks.cases, checks.expected, observations, strict=True)
    return tuple(o if o.settled else _settled(checks, case, due, o) for case, due, o in cases)


def _settled(checks: Checks, case: Case, due: Observation, observation: Observation) -> Observation:
    bare = replace(observation, unreached={}, gradients={}, outcomes={}, settled=True)
    results = named_outputs(checks.outputs, observation.result)
    expected = named_outputs(checks.outputs, due.result)
    if observation.raised is not None or isinstance(results, Problem) or isinstance(expected, Problem):
        return bare
    results = dict(results)
    for name, outcomes in due.outcomes.items():
        results[name] = _word(results[name], outcomes, checks)
    right = [o.name for o in checks.outputs if same_value(o, expected[o.name], results[o.name], checks.tolerance)]
    cut: dict[str, list[str]] = {}
    words = case.inputs["run"]["returns"]
    for name, numbers in due.gradients.items():
        if (
            words[name] == "learning"
            and name in right
            and (weights := unreached(numbers, observation.gradients.get(name), learned_from(case)))
        ):
            cut[name] = weights
    for name in set(case.inputs["run"]["carry"].values()):
        if isinstance(results[name], str) and results[name] == "attached":  # this alone explains other gradients
            cut = {other: weights for other, weights in cut.items() if weights != [PARTLY]}
    return replace(bare, result=_together(results), unreached=cut)


def _word(got: Any, outcomes: Array, checks: Checks) -> str:
    """What the results (seeds, B, …) of several seeds are, if `outcomes` (masks, B, …) has the results for every mask
    that dropout can draw. The rows of a batch are masked one by one.
    """
    due = (OUTCOMES, *outcomes.shape[1:])
    if not isinstance(got, np.ndarray) or got.dtype != outcomes.dtype or got.shape != due:
        return UNLIKE
    if (got == got[:1]).all():
        return "fixed"
    entries = tuple(range(3, outcomes.ndim + 1))
    near = [close(outcomes, np.broadcast_to(one, outcomes.shape), checks.tolerance) for one in got]
    possible = np.any(np.all(near, axis=entries), axis=1)  # (seeds, B)
    return "random" if np.all(possible) else UNLIKE


def with_outcomes(case: Case, outputs: tuple[Output, ...], observation: Observation) -> Observation:
    """An oracle's observation with the word "random" in place of the results for every mask, which are kept apart."""
    results = named_outputs(outputs, observation.result)
    words: Mapping[str, str] = case.inputs["run"]["returns"]
    if observation.raised is not None or isinstance(results, Problem) or "random" not in words.values():
        return observation
    found = {name: value for name, value in results.items() if words[name] == "random"}
    return replace(observation, result=_together(results | dict.fromkeys(found, "random")), outcomes=found)


def _together(results: Mapping[str, Any]) -> Any:
    """Named results as a module returns them."""
    return next(iter(results.values())) if len(results) == 1 else tuple(results.values())
