"""How fast a torch module's results change with its weights, from differences of the oracle's results.

These are the expected numbers with which a student's gradients are compared (`grader/checking/gradients.py`). The
oracle computes no gradient, so they do not depend on any backward pass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from grader.checking.case import Case, Observation, Output
from grader.checking.compare import named_outputs
from grader.checking.gradients import direction, weighting
from grader.checking.module_cases import learned_from
from grader.checking.verdict import Problem

STEP = 3e-4  # along a direction of length 1
STENCIL = ((1, 8.0), (-1, -8.0), (2, -1.0), (-2, 1.0))  # of a derivative, divided by 12; its error is of fourth order


def slopes(
    case: Case, outputs: tuple[Output, ...], oracle: Callable[[Case], Observation]
) -> dict[str, dict[str, float]]:
    """For each learning result, the change of its weighted sum with each weight and computed argument. Weights of
    earlier calls whose state is carried on do not move, because that state is a constant: the oracle finds them as
    `run["earlier"]`.
    """
    weights, run = case.inputs["weights"], case.inputs["run"]
    learning = [name for name, word in run["returns"].items() if word == "learning"]
    found: dict[str, dict[str, float]] = {name: {} for name in learning}
    if not learning:
        return {}
    for name, value in learned_from(case).items():
        sums = np.zeros(len(learning))
        for steps, factor in STENCIL:
            moved = {name: value + steps * STEP * direction(name, value.shape)}
            inputs = {**case.inputs, "run": {**run, "earlier": weights}}
            inputs |= {"weights": {**weights, **moved}} if name in weights else moved
            results = named_outputs(outputs, oracle(replace(case, inputs=inputs)).result)
            if isinstance(results, Problem):
                raise ValueError(f"the oracle's result does not fit its outputs: {results.text}")
            sums += [factor * _sum(results[each]) / (12 * STEP) for each in learning]
        for each, total in zip(learning, sums, strict=True):
            found[each][name] = float(total)
    return found


def _sum(value: Any) -> float:
    return float((weighting(value.shape) * value).sum())
