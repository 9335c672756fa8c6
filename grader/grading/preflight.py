"""What `grader autograde` finds before it grades: who has submitted and who has not, which files are not in their
expected place, and how many submissions have to be graded. This writes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from grader.counts import counted
from grader.gradebook import roster
from grader.gradebook.late import DueDates
from grader.grading import store
from grader.grading.attempts import folder_of_result
from grader.grading.pool import Task
from grader.grading.report import saw_a_pass, unconfirmed
from grader.grading.session import state_of
from grader.manifest import Chapter, Manifest
from grader.shown import NO_NAMES, Called, named, one_line, some, told_apart
from grader.submission.choose import choose
from grader.submission.folders import Stray, find_submissions
from grader.submission.plan import Plan
from grader.submission.timestamp import TimestampError, submitted_at
from grader.term_settings import read_term_settings

# What has to be done with a submission, as the summary line words it.
_TO_DO = {
    "new": "new",
    "submission": "changed since they were graded",
    "course": "unchanged but graded with other checks, points or limits",
    "again": "unchanged but to be regraded",
    "unchanged": "unchanged",
    "unreadable": "unreadable",
}


@dataclass(frozen=True)
class Preflight:
    """What was found. `to_do` counts the submissions by what has to be done. `roster` are the students in the
    gradebook; None if there are none, or if only some students were asked for. `saw` are the exercises for which the
    saved outputs of a student's notebooks show a pass, although nothing that could earn it was submitted or graded.
    `exempt` are the students who are exempt from the whole chapter, `untimed` those whose submission has no time, if
    lateness costs anything.
    """

    to_do: dict[str, int]
    strays: tuple[Stray, ...]
    roster: frozenset[str] | None
    submitted: frozenset[str]
    saw: dict[str, list[str]] = field(default_factory=dict)
    exempt: frozenset[str] = frozenset()
    untimed: tuple[str, ...] = ()

    @property
    def absent(self) -> list[str]:
        """The students of the roster without a submission that can be graded."""
        return sorted((self.roster or frozenset()) - self.submitted - self.exempt)

    @property
    def unchanged(self) -> int:
        """How many submissions need not be graded."""
        return self.to_do.get("unchanged", 0)

    @property
    def unknown(self) -> list[str]:
        """The students with a submission who are not in the roster."""
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
    released: Mapping[str, Any] | None = None,
) -> Preflight:
    """Examine the submissions of these tasks and the files around them; with the `released` notebooks, what the
    submitted ones contain, too. Raises GradebookError, TermSettingsError, OSError.
    """
    state = state_of(root, term, manifest, chapter)
    settings = read_term_settings(term, manifest)
    count: Counter[str] = Counter()
    saw: dict[str, list[str]] = {}
    timed = settings.late is not None and DueDates(db_url, chapter.id, settings).is_known
    untimed = tuple(task.student for task in tasks if timed and _has_no_time(task.folder))
    for task in tasks:
        before = store.read(term, chapter.id, task.student)
        try:
            folder = folder_of_result(settings, term, chapter.id, task.student, task.folder, before)
            now = store.key(state, folder, sandboxed)
        except OSError:
            count["unreadable"] += 1
            continue
        why = store.reasons(term, chapter.id, task.student, before, now)
        count[_to_do(why, task.again)] += 1
        if released is not None:
            current = before if not why else None
            saw[task.student] = saw_a_pass(current.graded) if current else _not_written(folder, chapter, released)
    handed = find_submissions(term, chapter)
    strays, whole = handed.strays, len(chapter.notebooks)
    if students is not None:
        strays = tuple(stray for stray in strays if stray.student in students)
    return Preflight(
        to_do={name: count[name] for name in _TO_DO if count[name]},
        strays=strays,
        roster=roster(db_url) if db_url is not None and students is None else None,
        submitted=frozenset(handed.folders),
        saw={student: names for student, names in saw.items() if names},
        exempt=frozenset(who for who, names in settings.exemptions(chapter).items() if len(names) == whole),
        untimed=untimed,
    )


def _has_no_time(folder: Path) -> bool:
    """Whether a submission does not say when it was made; a time that cannot be read is reported with its result."""
    try:
        return submitted_at(folder) is None
    except TimestampError:
        return False


def _not_written(folder: Path, chapter: Chapter, released: Mapping[str, Any]) -> list[str]:
    """The exercises for which a submission's saved outputs show a pass and its notebooks contain no code."""
    plans = (chosen.plan for chosen in choose(folder, chapter, released).values())
    return [name for plan in plans if isinstance(plan, Plan) for name in sorted(plan.saw - {*plan.written})]


def _to_do(why: Collection[store.Reason], again: bool) -> str:
    if "first" in why or "illegible" in why:
        return "new"
    if not why:
        return "again" if again else "unchanged"
    return "submission" if "submission" in why else "course"


def preflight_lines(chapter: Chapter, found: Preflight, *, whole: bool, called: Called = NO_NAMES) -> list[str]:
    """What an instructor reads: the counts, and what looks wrong. If `whole`, all names are listed. `called` has the
    names of students, by id.
    """
    total = sum(found.to_do.values())
    counts = ", ".join(f"{count} {_TO_DO[name]}" for name, count in found.to_do.items())
    lines = [f"{counted(total, 'submission')} of {chapter.id}: {counts}." if total else "Nothing to grade."]
    apart = dict(zip(names := [*found.absent, *found.unknown], told_apart(names), strict=True))
    apart |= {name: called[name] for name in names if name in called}
    if found.absent:
        of = f"{len(found.absent)} of {len(found.roster or ())} students in the gradebook"
        lines.append(
            f"{of} have no submission that can be graded: {_names([apart[name] for name in found.absent], whole)}."
        )
    if found.unknown:
        unknown = _names([apart[name] for name in found.unknown], whole)
        lines.append(f"{len(found.unknown)} not in the gradebook: {unknown}. Check the names.")
    if found.untimed:
        untimed = _names([called.get(name, name) for name in found.untimed], whole)
        lines.append(
            f"{counted(len(found.untimed), 'submission')} without a time, so on time for late penalties and slip days: "
            f"{untimed}. Enter the times with  grader times {chapter.id} FILE"
        )
    if found.saw:
        lines.append(unconfirmed({called.get(student, student): its for student, its in found.saw.items()}))
    if found.strays:
        lines += ["Unexpected in submitted/:", *(f"  {line}" for line in _folded(chapter, found.strays, called))]
    return lines


def _folded(chapter: Chapter, strays: Sequence[Stray], called: Mapping[str, str]) -> list[str]:
    """The lines on these, in which all students without any notebook are one line."""
    empty = [stray for stray in strays if stray.kind == "empty" and stray.student]
    if len(empty) < 2:
        return stray_lines(chapter, strays)
    names = some([called.get(stray.student, stray.student) for stray in empty], len(empty))
    told = _STRAYS["empty"].replace("this student", "these students")
    others = [stray for stray in strays if stray not in empty]
    return [one_line(f"{len(empty)} students: {told.rstrip('.')}: {names}"), *stray_lines(chapter, others)]


def preflight_tree(chapter: Chapter, found: Preflight) -> dict[str, Any]:
    """The same for another program."""
    lines = stray_lines(chapter, found.strays)
    return {
        "to_do": found.to_do,
        "roster": None if found.roster is None else len(found.roster),
        "absent": [named(name) for name in found.absent],
        "not_in_roster": [named(name) for name in found.unknown],
        "untimed": [named(name) for name in found.untimed],
        "saw_a_pass": {named(student): names for student, names in found.saw.items()},
        "strays": [{**msgspec.to_builtins(s), "text": line} for s, line in zip(found.strays, lines, strict=True)],
    }


def _names(names: Sequence[str], whole: bool) -> str:
    return some(names, len(names)) if whole else some(names)


def stray_lines(chapter: Chapter, strays: Sequence[Stray]) -> list[str]:
    """A line for each: where it is, what it is, how it was handled, and what you can do."""
    return [one_line(_stray_line(chapter, stray)) for stray in strays]


def _stray_line(chapter: Chapter, stray: Stray) -> str:
    due = f"{stray.student or 'STUDENT'}/{chapter.id}/"
    if stray.kind == "of submit" and not stray.student:
        return f"{stray.path}: {_OF_NOBODY.format(chapter=chapter.id)}"
    return f"{stray.path}: " + _STRAYS[stray.kind].format(due=due, chapter=chapter.id)


_OF_NOBODY = (
    "is a zip of grader submit outside any student's folder. Not graded. Put it into STUDENT/ and unpack it with  "
    "grader collect {chapter}"
)

_STRAYS = {
    "elsewhere": "graded from here, because {due} contains no notebook",
    "spare": "not graded, because {due} exists too. If the right notebooks are here, move them there.",
    "unclear": "contains notebooks of this chapter, but so do other folders, or it also contains notebooks of other "
    "chapters. Not graded. Put the notebooks that count into {due}",
    "unknown": "contains notebooks, but none belongs to this chapter by its cells or its name. Not graded. "
    "If one does, put it into {due}",
    "packed": "is an archive, which is not unpacked. Not graded. Unpack it into {due}, delete it if it contains no "
    "notebook, or collect with  nbgrader zip_collect",
    "of submit": "is a zip of grader submit. Not graded. Unpack it with  grader collect {chapter}",
    "packed again": "is a zip of grader submit, but there are notebooks in {due} already, which are graded instead. If "
    "the zip is newer, unpack it with  grader collect {chapter}",
    "empty": "contains no notebook of this chapter, and neither does any other folder of this student. "
    "Graded as a submission without notebooks.",
    "no student": "is a notebook outside any student's folder. Not graded. Put it into {due}",
    "swapped": "is named like the chapter, where a student's folder is expected. Not graded. "
    "Put each student's notebooks into {due}",
    "never": "is hidden or was made by an operating system, so it is ignored. If it is a student's folder, rename it.",
    "alike": "looks like the name of another folder, because the same letters can be written in two ways. Neither is "
    "graded. Move what counts into one of them, and delete the other.",
    "closed": "cannot be read. Not graded. Check its owner and permissions:  ls -ld",
}
