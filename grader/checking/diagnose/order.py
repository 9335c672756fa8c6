"""Whether the results are right and stand in another order."""

from __future__ import annotations

from collections.abc import Sequence

from grader.checking.case import Checks, Observation
from grader.checking.compare import named_outputs, same_value
from grader.checking.verdict import Problem


def in_another_order(checks: Checks, observations: tuple[Observation, ...]) -> bool:
    """Whether on all cases the results are those that are due, after one and the same exchange of places."""
    if checks.own is not None or len(checks.outputs) == 1:
        return False
    if any(o.raised or isinstance(named_outputs(checks.outputs, o.result), Problem) for o in observations):
        return False
    pairs = list(zip(checks.expected, observations, strict=True))
    right: list[list[int]] = []  # for each place of the results: the outputs that could stand there
    for place in range(len(checks.outputs)):
        right.append(
            [
                index
                for index, output in enumerate(checks.outputs)
                if all(same_value(output, o.result[index], ours.result[place], checks.tolerance) for o, ours in pairs)
            ]
        )
        if not right[-1]:
            return False
    as_returned = all(place in outputs for place, outputs in enumerate(right))
    return not as_returned and _each_has_its_own(right)


def _each_has_its_own(choices: Sequence[Sequence[int]]) -> bool:
    """Whether every place can have one of its choices, and no two the same (a perfect matching)."""
    holder: dict[int, int] = {}

    def finds(place: int, tried: set[int]) -> bool:
        for choice in choices[place]:
            if choice not in tried:
                tried.add(choice)
                if choice not in holder or finds(holder[choice], tried):
                    holder[choice] = place
                    return True
        return False

    return all(finds(place, set()) for place in range(len(choices)))
