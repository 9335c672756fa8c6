"""The final points of a class: for each student and chapter, what the gradebook has, and whether it is final.

The points are those of nbgrader's export: an instructor's points replace the autograder's, extra credit is added, and
the late penalty is subtracted from the total, which is never negative.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from grader.counts import counted, number
from grader.gradebook import read_scores
from grader.gradebook.penalties import outdated_penalties
from grader.gradebook.roster import Student, students
from grader.gradebook.scores import NOTHING, ByStudent, Recorded
from grader.gradebook.slips import SlipDays, Slips
from grader.grading import store
from grader.grading.attempts import is_current
from grader.grading.session import state_of
from grader.lms.options import Empty
from grader.manifest import Chapter, Manifest
from grader.sheets import ExchangeError
from grader.shown import harmless, some
from grader.submission.folders import find_submissions
from grader.term_settings import read_term_settings, without


class Status(StrEnum):
    """Whether a student's points for a chapter are final, and if not, why."""

    final = "final"
    waiting = "answers not graded yet"
    ungraded = "submission not graded yet"
    missing = "no submission"
    exempt = "exempt"


@dataclass(frozen=True)
class Standing:
    """The points of one student for one chapter.

    `chapter` has what counts for this student, without the notebooks from which the student is exempt; `whole` is the
    chapter with them. `slip_days` is how many days of lateness cost nothing.
    `points` are those that count so far for each exercise and question, None where none were given; `waiting` names
    those that an instructor still has to grade. `total` is after the late `penalty`, with 0 for what is not graded.
    """

    student: Student
    chapter: Chapter
    status: Status
    recorded: Recorded = NOTHING
    whole: Chapter | None = None
    slip_days: int = 0

    @property
    def points(self) -> dict[str, float | None]:
        return {item.id: self.recorded.final(item.id) for item in self.chapter.items}

    @property
    def waiting(self) -> tuple[str, ...]:
        of = self.recorded.of
        return tuple(name for name, points in self.points.items() if points is None or of(name).needs_a_human)

    @property
    def penalty(self) -> float:
        return self.recorded.late_penalty

    @property
    def total(self) -> float:
        return self.recorded.after_penalty(sum(points or 0.0 for points in self.points.values()))

    @property
    def comments(self) -> tuple[tuple[str, str], ...]:
        """The titles of exercises and questions with the instructor's comments on them."""
        said = ((item.title, self.recorded.of(item.id).comment.strip()) for item in self.chapter.items)
        return tuple((title, harmless(comment)) for title, comment in said if comment)

    @property
    def comments_text(self) -> str:
        """The comments as one text, with • before the items of lists, because a - may begin a formula."""
        return "\n\n".join(f"{title}: {_BULLET.sub('• ', comment)}" for title, comment in self.comments)

    @property
    def feedback(self) -> str:
        """The comments and the late penalty as text for the student; empty if there are none."""
        penalty = f"Late penalty: {counted(self.penalty, 'point')}." if self.penalty else ""
        slips = f"Submitted late: {counted(self.slip_days, 'slip day')} used." if self.slip_days else ""
        exempt = ", ".join(self.exempt)
        exempt = f"Exempt from: {exempt}." if exempt and self.chapter.notebooks else ""
        return "\n\n".join(filter(None, (self.comments_text, exempt, slips, penalty)))

    @property
    def exempt(self) -> tuple[str, ...]:
        """The titles of the notebooks from which the student is exempt."""
        return tuple(
            each.title for each in (self.whole or self.chapter).notebooks if each not in self.chapter.notebooks
        )


_BULLET = re.compile(r"^[-+] (?=\S)", re.MULTILINE)


@dataclass(frozen=True)
class Policy:
    """What is written for students whose points are not final."""

    ungraded: Empty = Empty.leave
    missing: Empty = Empty.leave

    def total(self, standing: Standing) -> float | None:
        """The points to publish; None to leave the place empty. An ungraded submission is never published as 0."""
        match standing.status:
            case Status.final:
                return standing.total
            case Status.waiting:
                return standing.total if self.ungraded is Empty.zero else None
            case Status.missing:
                return 0.0 if self.missing is Empty.zero else None
            case Status.ungraded | Status.exempt:
                return None

    def score(self, standing: Standing) -> float | None:
        """The points for a system in which all students have the same maximum: of who is exempt from some notebooks,
        the same share of the points of the whole chapter.
        """
        total = self.total(standing)
        if total is None or standing.whole is None or not worth(standing.chapter):
            return total
        return total * worth(standing.whole) / worth(standing.chapter)


@dataclass(frozen=True)
class Table:
    """The standings of all students, by chapter and student; `students` are all of them, by id. `outdated` names, by
    chapter, those whose submission or checks have changed since it was graded. `slips` has the slip days of who has
    submitted anything, and `slip_days` is how many the term gives each student. `penalised` names, by chapter, those
    whose late penalty is that of other points than they have now.
    """

    chapters: tuple[Chapter, ...]
    students: tuple[Student, ...]
    standings: Mapping[str, Mapping[str, Standing]]
    outdated: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    slips: Mapping[str, Slips] = field(default_factory=dict)
    slip_days: int = 0
    penalised: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, chapter: Chapter, student: Student) -> Standing:
        return self.standings[chapter.id][student.id]


def worth(chapter: Chapter) -> float:
    """The points that can be earned in a chapter."""
    return sum(item.points for item in chapter.items)


def read_table(root: Path, term: Path, manifest: Manifest, chapters: Sequence[Chapter], db_url: str) -> Table:
    """Read the points of these chapters. The students are those in the gradebook and those with a submission.

    Raises ExchangeError if no submission for a chapter is graded, GradebookError, OSError.
    """
    known = {student.id: student for student in students(db_url)}
    settings = read_term_settings(term, manifest)
    exempt = {chapter.id: settings.exemptions(chapter) for chapter in chapters}
    scores: dict[str, ByStudent] = {each.id: read_scores(db_url, each.id, exempt[each.id]) for each in chapters}
    slips = SlipDays(db_url, term, manifest.chapters, settings).of_all()
    found = {chapter.id: find_submissions(term, chapter) for chapter in chapters}
    submitted = {id_: {*each.folders, *(s.student for s in each.strays if s.student)} for id_, each in found.items()}
    for chapter in chapters:
        if not scores[chapter.id]:
            raise ExchangeError(f"The gradebook has no points for {chapter.id}. {store.grade_first(term, chapter.id)}")
    names = sorted({*known, *(name for each in submitted.values() for name in each)})
    everyone = tuple(known.get(name, Student(name)) for name in names)
    standings = {
        chapter.id: {
            student.id: _standing(
                student,
                chapter,
                scores[chapter.id],
                submitted[chapter.id],
                exempt[chapter.id].get(student.id, frozenset()),
                slips.get(student.id, Slips()),
            )
            for student in everyone
        }
        for chapter in chapters
    }
    outdated = {c.id: _outdated(root, term, manifest, c, found[c.id].folders) for c in chapters}
    penalised = {c.id: outdated_penalties(db_url, c, term, settings, slips) for c in chapters}
    return Table(tuple(chapters), everyone, standings, outdated, slips, settings.slip_days, penalised)


def _outdated(
    root: Path, term: Path, manifest: Manifest, chapter: Chapter, folders: Mapping[str, Path]
) -> tuple[str, ...]:
    """The students with a stored result that grading would not keep."""
    found = {name: stored for name in folders if (stored := store.read(term, chapter.id, name)) is not None}
    if not found:
        return ()
    state = state_of(root, term, manifest, chapter)
    settings = read_term_settings(term, manifest)
    return tuple(
        name
        for name, stored in found.items()
        if not is_current(settings, term, chapter.id, stored, folders[name], state)
    )


def graded_chapters(chapters: Sequence[Chapter], db_url: str) -> list[Chapter]:
    """The chapters with points in the gradebook. Raises GradebookError."""
    return [chapter for chapter in chapters if read_scores(db_url, chapter.id)]


def _standing(
    student: Student,
    chapter: Chapter,
    scores: ByStudent,
    submitted: Collection[str],
    exempt: Collection[str],
    slips: Slips,
) -> Standing:
    counts = without(chapter, exempt)
    if not counts.notebooks:
        return Standing(student, counts, Status.exempt, whole=chapter)
    recorded, days = scores.get(student.id), slips.used.get(chapter.id, 0)
    if recorded is None:
        status = Status.ungraded if student.id in submitted else Status.missing
        return Standing(student, counts, status, whole=chapter)
    standing = Standing(student, counts, Status.final, recorded, chapter, days)
    return replace(standing, status=Status.waiting) if standing.waiting else standing


def is_complete(table: Table, policy: Policy) -> bool:
    """Whether every submission and every answer is graded, or counted as the policy says, and no result is old."""
    unfinished = (Status.waiting, Status.ungraded)
    everyone = (standing for its in table.standings.values() for standing in its.values())
    left = any(each.status in unfinished and policy.total(each) is None for each in everyone)
    return not left and not any(table.outdated.values()) and not any(table.penalised.values())


def not_final(table: Table, policy: Policy, term: Path) -> list[str]:
    """Lines on the students whose points are not final, and what is written for them."""
    lines = []
    for chapter in table.chapters:
        first = store.grade_first(term, chapter.id)
        named: dict[Status, list[str]] = {}
        for standing in table.standings[chapter.id].values():
            named.setdefault(standing.status, []).append(standing.student.called)
        for status, what in (
            (Status.waiting, _WAITING[policy.ungraded]),
            (Status.ungraded, f"no total exported. {first.removesuffix('.')}"),
            (Status.missing, _MISSING[policy.missing]),
            (Status.exempt, "nothing counts for them"),
        ):
            if names := named.get(status):
                count = counted(len(names), "student")
                lines.append(f"{chapter.id}: {status} for {count}, {what}: {some(names)}.")
        standings = table.standings[chapter.id].values()
        if names := [each.student.called for each in standings if each.exempt and each.chapter.notebooks]:
            lines.append(
                f"{chapter.id}: exempt from some notebooks, so their points are a share of what is left, and for "
                f"Canvas and Moodle the same share of {number(worth(chapter))}: {some(names)}."
            )
        if names := [table.standings[chapter.id][name].student.called for name in table.outdated.get(chapter.id, ())]:
            lines.append(
                f"{chapter.id}: the submission or the checks have changed since grading for {some(names)}. {first}"
            )
        if names := [table.standings[chapter.id][name].student.called for name in table.penalised.get(chapter.id, ())]:
            lines.append(
                f"{chapter.id}: points were given after the late penalties were computed for {some(names)}. {first}"
            )
    return lines


_WAITING = {
    Empty.leave: "no total exported (--ungraded zero counts these answers as 0, or with the points they had before)",
    Empty.zero: "counted as 0, or with the points they had before",
}
_MISSING = {Empty.leave: "no total exported (--missing zero writes 0)", Empty.zero: "written as 0"}
