"""Find out whether the same call, which occurs twice among the cases, returned two different results."""

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
    """Whether two cases have the same inputs and the same expected result, but different results of the student."""
    if checks.own is not None:
        return False
    outputs = tuple(output.name for output in checks.outputs)
    for group in checks.same_inputs:
        usable = [i for i in group if observations[i].raised is None and not isinstance(observations[i].result, Opaque)]
        for other in usable[1:]:
            first = usable[0]
            before, ours = observations[first], observations[other]
            same = encode(before.result) == encode(ours.result) or agree(before, ours, outputs, checks)
            if not same and agree(checks.expected[first], checks.expected[other], outputs, checks):
                return True
    return False
