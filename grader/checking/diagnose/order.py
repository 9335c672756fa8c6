"""Find out whether the results are right but in a different order."""

from __future__ import annotations

from collections.abc import Sequence

from grader.checking.case import Checks, Observation
from grader.checking.compare import named_outputs, same_value
from grader.checking.verdict import Problem


def in_another_order(checks: Checks, observations: tuple[Observation, ...]) -> bool:
    """Whether one permutation turns the results into the expected ones on all cases."""
    if checks.own is not None or len(checks.outputs) == 1:
        return False
    if any(o.raised or isinstance(named_outputs(checks.outputs, o.result), Problem) for o in observations):
        return False
    pairs = list(zip(checks.expected, observations, strict=True))
    right: list[list[int]] = []  # for each position: the outputs that it could contain
    for position in range(len(checks.outputs)):
        right.append(
            [
                index
                for index, output in enumerate(checks.outputs)
                if all(
                    same_value(output, o.result[index], ours.result[position], checks.tolerance) for o, ours in pairs
                )
            ]
        )
        if not right[-1]:
            return False
    as_returned = all(position in outputs for position, outputs in enumerate(right))
    return not as_returned and _has_perfect_matching(right)


def _has_perfect_matching(choices: Sequence[Sequence[int]]) -> bool:
    """Whether every position can have one of its choices, and no two positions the same one."""
    assigned: dict[int, int] = {}  # the position that has this choice

    def assign(position: int, tried: set[int]) -> bool:
        for choice in choices[position]:
            if choice not in tried:
                tried.add(choice)
                if choice not in assigned or assign(assigned[choice], tried):
                    assigned[choice] = position
                    return True
        return False

    return all(assign(position, set()) for position in range(len(choices)))
