"""Whether the results are right and stand in another order."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from grader.checking.case import Checks, Observation
from grader.checking.compare import agree, named_outputs
from grader.checking.verdict import Problem


def in_another_order(checks: Checks, observations: tuple[Observation, ...]) -> bool:
    """Whether on all cases the results are those that are due, after one and the same exchange of places."""
    names = tuple(output.name for output in checks.outputs)
    if (
        checks.own is not None
        or len(names) == 1
        or any(
            o.raised is not None or isinstance(named_outputs(checks.outputs, o.result), Problem) for o in observations
        )
    ):
        return False

    def right(order: tuple[int, ...]) -> bool:
        return all(
            agree(due, replace(ours, result=tuple(ours.result[place] for place in order)), names, checks)
            for due, ours in zip(checks.expected, observations, strict=True)
        )

    as_returned, *others = permutations(range(len(names)))
    return not right(as_returned) and any(map(right, others))
