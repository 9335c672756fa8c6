"""How large a result is, compared with what is expected, before anything is computed from it.

Results and recorded calls are whatever a student's process says they are. A diagnosis computes much more from a result
than the judge, so it gets only results of about the expected size, and so does an exercise's own judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from grader.checking.case import Checks, Observation
from grader.checking.describe import describe
from grader.checking.verdict import Problem
from grader.codec import MAX_TEXT, Opaque

OBJECT = 20  # a Python object costs about as much as so many entries of an array, or characters of a string
ROOM, TIMES = 20_000, 20  # a result may be of this size, and in addition this many times as large as the expected one


def size(value: Any, most: float = np.inf) -> int:
    """The size of a tree of plain values, in entries of an array. Nothing is counted beyond `most`."""
    total, waiting = 0, [iter((value,))]
    while waiting and total <= most:
        for entry in waiting[-1]:
            total += OBJECT + _own_size(entry)
            if isinstance(entry, list | tuple | dict):
                waiting.append(_entries(entry))
                break
            if total > most:
                break
        else:
            waiting.pop()
    return total


def _own_size(value: Any) -> int:
    match value:
        case np.ndarray():
            return value.size
        case str():
            return len(value)
        case Opaque(name, text):
            return len(name) + len(text)
    return 0


def _entries(value: Any) -> Iterator[Any]:
    if not isinstance(value, dict):
        return iter(value)
    return (part for item in value.items() for part in item)


def is_too_large(value: Any, expected: Any) -> bool:
    """Whether a value is so much larger than the expected one that it is not examined any further."""
    return _exceeds(value, _most(expected))


def _most(expected: Any) -> int:
    return ROOM + TIMES * size(expected)


def _exceeds(value: Any, most: int) -> bool:
    return size(value, most) > most


def examined(checks: Checks, observations: Sequence[Observation]) -> tuple[Observation, ...]:
    """The observations that a diagnosis gets: a result that is too large is replaced by its description."""
    expected = checks.expected or (Observation(),) * len(observations)
    found = []
    for case, due, observation in zip(checks.cases, expected, observations, strict=True):
        if checks.own is not None:
            fitting = agreed(observation, checks.own.largest(case))
            observation = Observation() if isinstance(fitting, Problem) else fitting
        elif is_too_large(observation.result, due.result):
            observation = replace(observation, result=_described(observation.result))
        found.append(observation)
    return tuple(found)


def _described(value: Any) -> Opaque:
    return Opaque(type(value).__name__, describe(value)[:MAX_TEXT])


def agreed(observation: Observation, largest: Observation) -> Observation | Problem:
    """What an exercise's own judge sees of an observation: the result, and the calls of the callables that were given.
    If one of them is larger than the judge can examine, or a callable was called more often, the problem.

    `largest` has a result and calls of the expected size, and as many calls as the judge can use.
    """
    if is_too_large(observation.result, largest.result):
        return Problem("judge", f"a result of the size that the task asks for; got {describe(observation.result)}")
    seen = {name: calls for name, calls in observation.calls.items() if name in largest.calls}
    for name, calls in seen.items():
        due = largest.calls[name]
        if len(calls) > len(due):
            was = "was 1" if len(calls) == 1 else f"were {len(calls):,}"
            return Problem("judge", f"at most {len(due):,} calls of `{name}`; there {was}")
        most = _most(due[0])
        for number, call in enumerate(calls):
            if _exceeds(call, most):
                return Problem("judge", f"arguments of the expected size; call {number} of `{name}` has larger ones")
    return replace(observation, calls=seen)
