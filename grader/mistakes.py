"""The mistakes that a student's checks have met, and which of them the student has overcome."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from grader.journal import Entry

NO_MISTAKE = ("needs", "two results of one call")  # causes that say nothing about a mistake in this function's code

# Short titles of the likely causes that every exercise can have: patterns and treatments found by `checking/diagnose/`.
GENERAL = {
    "order": "The results were returned in the wrong order.",
    "float32": "The numbers were computed in float32.",
    "lost_precision": "Numbers were rounded to float32 on the way.",
    "transposed": "The result was transposed.",
    "sign": "The result had the wrong sign.",
    "broadcast": "A vector became a square matrix by broadcasting.",
    "one_step_late": "The results came one step too late.",
    "one_step_early": "The results came one step too early.",
    "constant_factor": "The result was off by a constant factor.",
    "averaged": "A mean was computed where a sum is expected.",
    "summed": "A sum was computed where a mean is expected.",
    "rounded": "The result was rounded.",
    "cut_off": "The result was clipped.",
    "left_out": "The result was wrong where an argument was left out.",
    "never_filled": "Some rows of the result were never filled.",
    "rows_in_another_order": "The rows or columns were in the wrong order.",
    "first_sequence_only": "Only the first sequence of each batch was right.",
    "first_step_only": "Only the first step was right.",
}
# Of causes whose id says more: altered input: zeros x_t.
GENERAL_KINDS = {
    "counterfactual: ": "An input was not used as it should be.",  # in diaries of earlier releases
    "altered input: ": "An input was not used as it should be.",
    "after: ": "The result needed one operation less, or one more.",
}
_SENTENCE = re.compile(r"(?:`[^`]*`|[^`])+?(?:[.!?](?=\s|$)|: )")


@dataclass(frozen=True)
class Met:
    """A mistake that at least one check of an exercise has shown.

    `cause` is the id of the likely cause. `first` and `last` are the times (ISO 8601, UTC) of the first and the last
    check that showed it, and `times` counts those checks; `checks` counts all checks of the exercise.

    The mistake is overcome if a check of the same exercise *after the last one that showed it* proves it: one that
    passed (`passed`), or one that failed with another recognised cause (`gone`). A check that stopped with an exception
    or failed without a recognised cause proves nothing, because the mistake may still be there, and a check of an
    unfinished function does not either. `since` is the time of the check that proves it. A mistake that is made again
    is open again.
    """

    exercise: str
    cause: str
    first: str
    last: str
    times: int
    checks: int
    overcome: Literal["passed", "gone"] | None
    since: str | None


def met(entries: Iterable[Entry]) -> list[Met]:
    """The mistakes of these checks, in the order in which they were first met.

    The checks are in the order in which they were noted, which is what *after* refers to, and not the clock.
    """
    by_exercise: dict[str, list[Entry]] = {}
    order: dict[tuple[str, str], None] = {}
    for entry in entries:
        by_exercise.setdefault(entry.exercise, []).append(entry)
        if _mistake(entry):
            order.setdefault((entry.exercise, str(entry.cause)))
    return [_met(exercise, cause, by_exercise[exercise]) for exercise, cause in order]


def _mistake(entry: Entry) -> bool:
    return bool(entry.cause) and entry.status in ("failed", "error") and entry.cause not in NO_MISTAKE


def _met(exercise: str, cause: str, checks: Sequence[Entry]) -> Met:
    shown = [index for index, entry in enumerate(checks) if _mistake(entry) and entry.cause == cause]
    later = checks[shown[-1] + 1 :]
    passed = next((entry for entry in later if entry.status == "passed"), None)
    gone = next((entry for entry in later if _mistake(entry)), None)
    proof = passed or gone
    return Met(
        exercise,
        cause,
        checks[shown[0]].at,
        checks[shown[-1]].at,
        len(shown),
        len(checks),
        "passed" if passed else "gone" if gone else None,
        proof.at if proof else None,
    )


def general_title(cause: str) -> str | None:
    """The short title of a cause that every exercise can have; None for any other id."""
    return GENERAL.get(cause) or next((title for kind, title in GENERAL_KINDS.items() if cause.startswith(kind)), None)


def title_of(cause: str, own: str | None, usual: str) -> str:
    """The short title of a mistake, a sentence: from the message that its exercise has for it, if it has its `own`; or
    else that of a general cause; or else from what was `usual` in its reports.
    """
    return short_title(own) if own else GENERAL.get(cause) or short_title(usual)


def short_title(message: str) -> str:
    """The beginning of a mistake's message, up to the end of its first sentence or to a colon."""
    found = _SENTENCE.match(message)
    if found is None:
        return message
    return found[0][:-2] + "." if found[0].endswith(": ") else found[0]
