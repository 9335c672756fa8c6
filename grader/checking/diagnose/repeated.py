"""Whether a call that occurs twice among the cases returned two different results."""

from __future__ import annotations

from grader.checking.case import Checks, Observation
from grader.checking.compare import agree
from grader.codec import Opaque, encode

TWO_RESULTS = (
    "Your function returned two different results for the same call. Compute the result from the arguments alone: draw "
    "no random numbers of your own and keep nothing from an earlier call, because the same call must always give the "
    "same result."
)


def gives_two_results(checks: Checks, observations: tuple[Observation, ...]) -> bool:
    """Whether two cases with the same inputs have the same expected result, but the student's results differ."""
    if checks.own is not None:
        return False
    outputs = tuple(output.name for output in checks.outputs)
    seen: dict[bytes, tuple[Observation, Observation]] = {}
    for case, due, ours in zip(checks.cases, checks.expected, observations, strict=True):
        if not case.inputs or ours.raised is not None or isinstance(ours.result, Opaque):
            continue
        due_before, before = seen.setdefault(encode(dict(case.inputs)), (due, ours))
        same = encode(before.result) == encode(ours.result) or agree(before, ours, outputs, checks)
        if not same and agree(due_before, due, outputs, checks):
            return True
    return False
