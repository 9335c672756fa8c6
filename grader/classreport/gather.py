"""Gather a class report from what grading has stored: results, the gradebook, the log of changes, the submissions.

Nothing is run, created or written.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from grader.classreport.anonymous import general
from grader.classreport.excerpts import Excerpts
from grader.classreport.figures import Distribution, ExerciseFigures, Mistake, distribution, exercise_figures, mistakes
from grader.classreport.names import Names, words_in_code
from grader.errors import ExpectedError
from grader.gradebook import called, gradebook_url, names, read_scores, roster
from grader.gradebook.slips import SlipDays
from grader.grading import store
from grader.grading.attempts import folder_of_result
from grader.grading.changes import REASONS, Logged, read_log
from grader.grading.grade import Graded
from grader.grading.release import released_notebooks
from grader.grading.report import Notes, findings, waiting
from grader.grading.session import state_of
from grader.manifest import Chapter, Manifest, load_manifest
from grader.released import Released
from grader.submission.folders import find_submissions
from grader.term_settings import read_term_settings

FORMAT_VERSION = 1
TO_TEACH = 3


class ReportError(ExpectedError):
    """There are no results to report on; the message says what to do."""


class Students(msgspec.Struct, frozen=True):
    """Some students: how many, and their names (none in an anonymous report)."""

    count: int
    names: tuple[str, ...]

    @classmethod
    def of(cls, names: Collection[str]) -> Students:
        return cls(len(names), tuple(sorted(names)))


class Review(msgspec.Struct, frozen=True):
    """Something that an instructor should look at, and whose submissions it concerns. `rank`: 0 if notebooks were not
    graded, 1 if points may be affected, 2 if it is harmless.
    """

    rank: int
    what: str
    students: Students


class Changed(msgspec.Struct, frozen=True):
    """How a student's points from the checks changed, in total and by exercise, and why."""

    student: str
    before: float | None
    after: float
    exercises: dict[str, tuple[float | None, float | None]]
    why: tuple[str, ...]


class LastRun(msgspec.Struct, frozen=True):
    """The changes that the last run with any change made; `began` is its start (ISO 8601, UTC), empty if an old log
    does not have it. Students graded for the first time are only counted.
    """

    began: str
    first: int
    up: int
    down: int
    changed: tuple[Changed, ...]


class SlipUse(msgspec.Struct, frozen=True):
    """A student's slip days: used in this chapter, used in the term so far, and left."""

    student: str
    here: int
    term: int
    left: int


class SlipDaysUsed(msgspec.Struct, frozen=True):
    """How many slip days each student has in a term, and the students who have used some."""

    each: int
    students: tuple[SlipUse, ...]


class ClassReport(msgspec.Struct, frozen=True):
    """A report on one chapter. `students` is the number of results in it.

    `called` has the names in the roster, by student id; it is empty in an anonymous report.
    `ungraded` have a submission without a readable result and are not in the figures; `outdated` have changed since
    they were graded, or the course has; `unsafe` were graded without a sandbox; `absent` are in the roster without a
    submission. `exempt` are exempt from the chapter or from some notebooks, which are not in the figures. `unread`
    counts the students with answers or scores that need manual grading. `slips` is None if the term has no slip days.
    """

    format: int
    course: str
    chapter: str
    title: str
    anonymous: bool
    students: int
    ungraded: Students
    outdated: Students
    unsafe: Students
    absent: Students
    unread: int
    points: Distribution
    exercises: tuple[ExerciseFigures, ...]
    mistakes: tuple[Mistake, ...]
    reviews: tuple[Review, ...]
    waiting: tuple[str, ...]
    last_run: LastRun | None
    called: dict[str, str] = {}
    exempt: Students = Students(0, ())
    slips: SlipDaysUsed | None = None

    @property
    def to_teach(self) -> tuple[Mistake, ...]:
        return self.mistakes[:TO_TEACH]


@dataclass
class _Read:
    """The results of a class, and what is to be said about them."""

    results: list[Graded] = field(default_factory=list)
    ungraded: list[str] = field(default_factory=list)
    outdated: list[str] = field(default_factory=list)
    folders: dict[str, Path] = field(default_factory=dict)  # of the submissions that are as they were graded


def class_report(root: Path, term: Path, chapter_id: str, db_url: str | None, anonymous: bool) -> ClassReport:
    """The report on a chapter, with points from the gradebook (the term's own if None).

    Raises UnknownIdError, ReportError, AutogradeError, GradebookError, OSError.
    """
    manifest = load_manifest(root / "course.toml")
    chapter = manifest.chapter(chapter_id)
    url = db_url or gradebook_url(term)
    submitted = find_submissions(term, chapter).folders
    read = _read(root, term, manifest, chapter, submitted)
    if not read.results:
        raise ReportError(
            f"No result for {chapter.id} in {term} can be read, so there is nothing to report. "
            + store.grade_first(term, chapter.id)
        )
    settings = read_term_settings(term, manifest)
    exempt = settings.exemptions(chapter)
    notes = Notes(exempt=exempt)
    results = notes.counting(chapter, read.results)
    if not results:
        raise ReportError(f"Every graded student is exempt from {chapter.id}, so there is nothing to report.")
    scores, log = read_scores(url, chapter.id, exempt), read_log(term, chapter.id)
    entered = roster(url) or frozenset()
    ids, given = names(url)
    everyone = {*ids, *submitted, *read.ungraded, *(graded.student for graded in read.results)}
    data = Released(root / "grader" / "data")
    messages = {exercise.id: data.messages(exercise.id) for exercise in chapter.exercises}
    released = released_notebooks(root, chapter)
    known = Names(everyone | {change.student for change in log}, given, words_in_code(released.values()))
    whole = {student for student, names in exempt.items() if len(names) == len(chapter.notebooks)}
    made = mistakes(manifest, chapter, results, messages)
    report = ClassReport(
        format=FORMAT_VERSION,
        course=manifest.title,
        chapter=chapter.id,
        title=chapter.title,
        anonymous=False,
        students=len(results),
        ungraded=Students.of(read.ungraded),
        outdated=Students.of(read.outdated),
        unsafe=Students.of([graded.student for graded in read.results if not graded.sandboxed]),
        absent=Students.of(entered - {*submitted, *(graded.student for graded in read.results), *whole}),
        exempt=Students.of(exempt),
        unread=sum(any(score.needs_a_human for score in its.scores.values()) for its in scores.values()),
        points=distribution(chapter, results, scores, exempt),
        exercises=exercise_figures(chapter, results, scores, log),
        mistakes=tuple(map(Excerpts(chapter, released, read.folders, known).of, made)),
        reviews=_reviews(results, anonymous),
        waiting=tuple(waiting(chapter, scores)),
        last_run=_last_run(log),
        called=called(url),
        slips=_slips(SlipDays(url, term, manifest.chapters, settings), settings.slip_days, chapter.id),
    )
    return _anonymised(report) if anonymous else report


def _read(root: Path, term: Path, manifest: Manifest, chapter: Chapter, submitted: Mapping[str, Path]) -> _Read:
    read = _Read()
    state, settings = state_of(root, term, manifest, chapter), read_term_settings(term, manifest)
    graded = store.students(term, chapter.id)
    has_result = set(graded)
    read.ungraded = [name for name in submitted if name not in has_result]
    for name in graded:
        stored = store.read(term, chapter.id, name)
        if stored is None or stored.graded.student != name or stored.graded.fault:
            read.ungraded.append(name)
            continue
        read.results.append(stored.graded)
        folder = submitted.get(name)
        if folder is not None:
            folder = folder_of_result(settings, term, chapter.id, name, folder, stored)
        now = store.key_now(state, folder, stored)
        if now not in (None, stored.key):
            read.outdated.append(name)
        if now is not None and folder is not None and now.submission == stored.key.submission:
            read.folders[name] = folder
    return read


def _slips(slip_days: SlipDays, each: int, chapter_id: str) -> SlipDaysUsed | None:
    """Who has used slip days, `each` of which every student has. Raises GradebookError."""
    users = tuple(
        SlipUse(student, slips.used.get(chapter_id, 0), sum(slips.used.values()), slips.left)
        for student, slips in sorted(slip_days.of_all().items())
        if slips.used
    )
    return SlipDaysUsed(each, users) if each else None


def _reviews(results: Sequence[Graded], anonymous: bool) -> tuple[Review, ...]:
    """What an instructor should look at. In an anonymous report, what students wrote or named is left out."""
    found: dict[tuple[int, str], set[str]] = {}
    for finding in findings(results):
        line = general(finding) if anonymous else finding.line
        found.setdefault((finding.rank, line), set()).update(finding.students)
    return tuple(Review(rank, line, Students.of(who)) for (rank, line), who in found.items())


def _last_run(log: Sequence[Logged]) -> LastRun | None:
    """The changes of the run that logged last; None if nothing is logged."""
    if not log:
        return None
    run = log[-1].run
    own = [change for change in log if change.run == run]
    others = [change for change in own if change.reasons != ("first",)]
    points = [change.points for change in others]
    return LastRun(
        began=run,
        first=len(own) - len(others),
        up=sum(before is not None and after > before for before, after in points),
        down=sum(before is not None and after < before for before, after in points),
        changed=tuple(
            Changed(c.student, *c.points, c.exercises, tuple(REASONS[reason] for reason in c.reasons))
            for c in sorted(others, key=lambda change: change.student)
        ),
    )


def _anonymised(report: ClassReport) -> ClassReport:
    """The report without the students' names. Excerpts and reviews contain none already."""

    def nameless(students: Students) -> Students:
        return msgspec.structs.replace(students, names=())

    run = report.last_run
    if run is not None:
        changed = sorted(
            (msgspec.structs.replace(change, student="") for change in run.changed),
            key=lambda change: (-1.0 if change.before is None else change.before, change.after, str(change)),
        )
        run = msgspec.structs.replace(run, changed=tuple(changed))
    return msgspec.structs.replace(
        report,
        anonymous=True,
        ungraded=nameless(report.ungraded),
        outdated=nameless(report.outdated),
        unsafe=nameless(report.unsafe),
        absent=nameless(report.absent),
        mistakes=tuple(msgspec.structs.replace(mistake, students=()) for mistake in report.mistakes),
        reviews=tuple(msgspec.structs.replace(review, students=nameless(review.students)) for review in report.reviews),
        last_run=run,
        called={},
        exempt=nameless(report.exempt),
        slips=report.slips and _nameless(report.slips),
    )


def _nameless(slips: SlipDaysUsed) -> SlipDaysUsed:
    """In the order of the numbers, which tells no student."""
    users = (msgspec.structs.replace(each, student="") for each in slips.students)
    return SlipDaysUsed(slips.each, tuple(sorted(users, key=lambda each: (each.term, each.here))))
