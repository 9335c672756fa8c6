"""What `grader autograde` finds before it grades: who handed in and who did not, what lies where it should not, and how
many results are to be found anew. Nothing is written for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from grader.autograde.gradebook import roster
from grader.autograde.grading import store
from grader.autograde.grading.pool import Task
from grader.autograde.grading.session import state_of
from grader.autograde.submission.folders import Stray, handed_in
from grader.codec import writable
from grader.manifest import Chapter, Manifest
from grader.render.rows import harmless

_SOME = 8  # names that a short line has

# What there is to do with a submission, in the words of the line that counts them.
_TO_DO = {
    "new": "new",
    "submission": "changed since graded",
    "course": "unchanged but graded by other checks, points or limits",
    "again": "unchanged and graded again",
    "unchanged": "unchanged",
    "unreadable": "unreadable",
}


@dataclass(frozen=True)
class Preflight:
    """What was found. `to_do` counts the submissions by what there is to do; `roster` is who is in the gradebook, None
    where it has nobody or only some students were asked for.
    """

    to_do: dict[str, int]
    strays: tuple[Stray, ...]
    roster: frozenset[str] | None
    submitted: frozenset[str]

    @property
    def absent(self) -> list[str]:
        """Who is in the roster and handed in nothing that could be graded."""
        return sorted((self.roster or frozenset()) - self.submitted)

    @property
    def unknown(self) -> list[str]:
        """Who handed in and is not in the roster."""
        return [] if self.roster is None else sorted(self.submitted - self.roster)


def preflight(
    root: Path,
    term: Path,
    manifest: Manifest,
    chapter: Chapter,
    tasks: Sequence[Task],
    *,
    students: Collection[str] | None,
    sandboxed: bool,
    db_url: str | None,
) -> Preflight:
    """Look at the submissions of these tasks, and at what lies beside them. Raises GradebookError, OSError."""
    state = state_of(root, term, manifest, chapter)
    count: Counter[str] = Counter()
    for task in tasks:
        try:
            now = store.key(state, task.folder, sandboxed)
        except OSError:
            count["unreadable"] += 1
            continue
        before = store.read(term, chapter.id, task.student)
        count[_to_do(store.reasons(term, chapter.id, task.student, before, now), task.again)] += 1
    handed = handed_in(term, chapter)
    strays = handed.strays
    if students is not None:
        strays = tuple(stray for stray in strays if stray.student in students)
    return Preflight(
        to_do={name: count[name] for name in _TO_DO if count[name]},
        strays=strays,
        roster=roster(db_url) if db_url is not None and students is None else None,
        submitted=frozenset(handed.folders),
    )


def _to_do(why: Collection[store.Reason], again: bool) -> str:
    if "first" in why or "illegible" in why:
        return "new"
    if not why:
        return "again" if again else "unchanged"
    return "submission" if "submission" in why else "course"


def preflight_lines(chapter: Chapter, found: Preflight, *, whole: bool) -> list[str]:
    """What an instructor reads: the counts, and what is odd; the `whole` of it has all names."""
    total = sum(found.to_do.values())
    counts = ", ".join(f"{count} {_TO_DO[name]}" for name, count in found.to_do.items())
    lines = [f"{total} submission{'s' * (total != 1)} of {chapter.id}: {counts}." if total else "Nothing to grade."]
    if found.absent:
        of = f"{len(found.absent)} of {len(found.roster or ())} in the gradebook"
        lines.append(f"{of} have no submission: {_names(found.absent, whole)}.")
    if found.unknown:
        lines.append(f"{len(found.unknown)} not in the gradebook: {_names(found.unknown, whole)}. Is the name right?")
    if found.strays:
        lines += ["Not as expected in submitted/:", *(f"  {line}" for line in stray_lines(chapter, found.strays))]
    return lines


def preflight_tree(chapter: Chapter, found: Preflight) -> dict[str, Any]:
    """The same for another program."""
    lines = stray_lines(chapter, found.strays)
    return {
        "to_do": found.to_do,
        "roster": None if found.roster is None else len(found.roster),
        "absent": [_legible(name) for name in found.absent],
        "not_in_roster": [_legible(name) for name in found.unknown],
        "strays": [{**msgspec.to_builtins(s), "text": line} for s, line in zip(found.strays, lines, strict=True)],
    }


def some(names: Sequence[str]) -> str:
    """The first few names, and how many there are beside."""
    more = f" and {len(names) - _SOME} more" if len(names) > _SOME else ""
    return ", ".join(map(_legible, names[:_SOME])) + more


def _legible(text: str) -> str:
    """Folders' names in one line, whatever they hold."""
    name = harmless(writable(text))
    return name if name.isprintable() else repr(name)


def _names(names: Sequence[str], whole: bool) -> str:
    return ", ".join(map(_legible, names)) if whole else some(names)


def stray_lines(chapter: Chapter, strays: Sequence[Stray]) -> list[str]:
    """A line for each: what lies where, what is done about it, and what you can do."""
    return [_legible(_stray_line(chapter, stray)) for stray in strays]


def _stray_line(chapter: Chapter, stray: Stray) -> str:
    due = f"{stray.student or 'STUDENT'}/{chapter.id}/"
    zero = " Graded as handed in without a notebook." if stray.graded else " Not graded."
    return f"{stray.path}: " + _STRAYS[stray.kind].format(due=due, zero=zero)


_STRAYS = {
    "elsewhere": "graded from here, since no notebook is in {due}",
    "spare": "not graded, since {due} is there too. If the right notebooks are here, move them there.",
    "unclear": "notebooks of this chapter, but other folders have some too, or here are other chapters' notebooks."
    "{zero} Put those that count into {due}",
    "unknown": "notebooks, but none is of this chapter by its cells or its name.{zero} If one is, put it into {due}",
    "packed": "an archive, which is not unpacked.{zero} Unpack it into {due}, or collect with  nbgrader zip_collect",
    "empty": "no notebook in it.{zero}",
    "no student": "a notebook in no student's folder.{zero} Put it into {due}",
    "swapped": "is named like the chapter, where a student's folder is expected.{zero} "
    "Put each student's notebooks into {due}",
    "never": "hidden or made by an operating system, so no student. If it is one, rename it.",
    "closed": "cannot be read.{zero} Look at its owner and mode:  ls -ld",
}
