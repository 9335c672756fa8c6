"""What a notebook could not import, and which exercises fail for that reason."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from grader.autograde.inside.frames import MAX_MISSING, Missing, not_defined
from grader.autograde.remark import NotImported
from grader.autograde.running.trial import Outcome
from grader.codec import Raised
from grader.render.rows import harmless

_ANY = "*"  # what `from helper import *` would have bound
_NAME_ERROR = re.compile(r"name '(\w+)' is not defined")


def not_imported(outcome: Outcome) -> list[NotImported]:
    """Each module that a cell could not import, with the first such cell."""
    found: dict[str, NotImported] = {}
    for cell, missing in _all_missing(outcome):
        module = harmless(missing.module)
        found.setdefault(module, NotImported(cell, module, harmless(missing.reason)))
    return list(found.values())[:MAX_MISSING]


def lacks(name: str, outcome: Outcome) -> str:
    """The note for an exercise of which every call ended for want of a name that was not imported; '' for others.

    Which name is told of its public cases: by the name that a hidden case lacks a function could tell its inputs.
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
    """What is said where a name is missing, by the name."""
    notes: dict[str, str] = {}
    for cell, missing in _all_missing(outcome):
        for name in missing.names:
            notes.setdefault(name, _NOTE.format(harmless(missing.module), cell + 1, harmless(missing.reason)))
    return notes


_NOTE = (
    "`{}` is missing: cell {} could not import it ({}). Use what the course installs, or hand in the module's file "
    "beside your notebook."
)


def _all_missing(outcome: Outcome) -> Iterator[tuple[int, Missing]]:
    for cell in sorted(outcome.ends):
        for missing in outcome.ends[cell].missing:
            yield cell, missing
