"""The modules that a notebook could not import, and the exercises that fail for that reason."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from grader.codec import Raised
from grader.inside.frames import MAX_MISSING, Missing, not_defined
from grader.running.trial import Outcome
from grader.shown import named
from grader.submission.remark import NotImported

_ANY = "*"  # stands for the names that `from helper import *` would have bound
_NAME_ERROR = re.compile(r"name '(\w+)' is not defined")


def not_imported(outcome: Outcome) -> list[NotImported]:
    """Each module that could not be imported, with the first cell that imports it."""
    found: dict[str, NotImported] = {}
    for cell, missing in _all_missing(outcome):
        module = named(missing.module)
        found.setdefault(module, NotImported(cell, module, named(missing.reason)))
    return list(found.values())[:MAX_MISSING]


def lacks(name: str, outcome: Outcome) -> str:
    """The note for an exercise whose every call failed because a name was not imported; '' for other exercises.

    The name is taken from the public cases, because a function could use the name that is missing on a hidden case to
    reveal its inputs.
    """
    notes = _notes(outcome)
    public, hidden = (
        [_note(observation.raised, name, notes) for observation in part.get(name, ())]
        for part in (outcome.public, outcome.observations)
    )
    return public[0] if public and all(public) and all(hidden) else ""


def _note(raised: Raised | None, exercise: str, notes: Mapping[str, str]) -> str:
    if raised == not_defined(exercise):
        return notes.get(exercise) or notes.get(_ANY, "")
    found = _NAME_ERROR.fullmatch(raised.text) if raised is not None and raised.type == "NameError" else None
    return notes.get(found[1], "") if found is not None else ""


def _notes(outcome: Outcome) -> dict[str, str]:
    """The note for each missing name."""
    notes: dict[str, str] = {}
    for cell, missing in _all_missing(outcome):
        for name in missing.names:
            notes.setdefault(name, _NOTE.format(named(missing.module), cell + 1, named(missing.reason)))
    return notes


_NOTE = (
    "`{}` is missing: cell {} could not import it ({}). Use only packages that the course installs, or submit the "
    "module's file together with your notebook."
)


def _all_missing(outcome: Outcome) -> Iterator[tuple[int, Missing]]:
    for cell in sorted(outcome.ends):
        for missing in outcome.ends[cell].missing:
            yield cell, missing
