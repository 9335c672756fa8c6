"""A run of `grader autograde`: which chapters are graded, when the sandbox is tested and hidden cases are made, and how
each chapter ended. What a run finds is returned as it comes, for a command to print.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

from rich.console import Console

from grader.errors import ExpectedError
from grader.gradebook import read_scores
from grader.gradebook.penalties import late_penalties
from grader.gradebook.roster import students as roster_of
from grader.gradebook.scores import ByStudent
from grader.gradebook.slips import SlipDays
from grader.grading.chapter import autograde, chosen
from grader.grading.grade import Graded
from grader.grading.hidden import computed_ahead
from grader.grading.pool import Done, Execute, Task
from grader.grading.preflight import Preflight, preflight
from grader.grading.release import AutogradeError, released_notebooks
from grader.grading.report import NO_NOTES, Notes
from grader.grading.store import Change
from grader.grading.watched import watched
from grader.manifest import Chapter, Manifest, load_manifest
from grader.running import selftest
from grader.running.sandbox import SandboxError
from grader.submission.folders import find_submissions
from grader.term_settings import read_term_settings


@dataclass(frozen=True)
class Options:
    """What to grade, and how. `chapter` is None for every chapter with submissions, `students` for all. With `unsafe`
    there is no sandbox, and the gradebook is written only with `force_gradebook`. `trusted` says that all code of the
    term is the course's own, which is graded even where the sandbox does not work.
    """

    root: Path
    term: Path
    db_url: str
    execute: Execute
    chapter: str | None = None
    students: list[str] | None = None
    only_failed: bool = False
    again: bool = False
    new_rules: bool = False
    dry_run: bool = False
    unsafe: bool = False
    force_gradebook: bool = False
    trusted: bool = False

    @property
    def records(self) -> bool:
        """Whether the gradebook is written."""
        return self.force_gradebook or not self.unsafe


@dataclass(frozen=True)
class Unsubmitted:
    """The chapters without any submission, when all are to be graded."""

    chapters: list[Chapter]


@dataclass(frozen=True)
class Unsandboxed:
    """Student code runs without the sandbox: as asked, or because it failed for this reason."""

    reason: str = ""


@dataclass(frozen=True)
class Examined:
    """What was found before a chapter is graded."""

    chapter: Chapter
    before: Preflight


@dataclass(frozen=True)
class DryRun:
    """What was found of a chapter that is not graded."""

    chapter: Chapter
    before: Preflight
    sandboxed: bool


@dataclass(frozen=True)
class GradedChapter:
    """What grading a chapter has found; `scores` are those in the gradebook, `notes` what the term knows of its
    students, and `stopped` says that Ctrl-C ended it.
    """

    chapter: Chapter
    before: Preflight
    results: list[Graded]
    changes: list[Change]
    scores: ByStudent
    sandboxed: bool
    stopped: bool
    seconds: float
    notes: Notes = NO_NOTES


@dataclass(frozen=True)
class NotGraded:
    """One of all chapters that could not be graded."""

    chapter: Chapter
    error: ExpectedError | OSError


@dataclass(frozen=True)
class Interrupted:
    """Ctrl-C ended the run while no submission was graded."""


Event = Unsubmitted | Unsandboxed | Examined | DryRun | GradedChapter | NotGraded | Interrupted
Steps = Generator[Event, None, bool]  # of one chapter; returns whether Ctrl-C stopped it
Students = list[str] | None  # None: all


class Status(IntEnum):
    """The exit statuses, from the best to the worst."""

    DONE = 0
    NOT_ALL = 3
    CHAPTER_FAILED = 1
    STOPPED = 130


def status(event: Event) -> Status:
    """The exit status of a run in which nothing worse happened."""
    match event:
        case Interrupted() | GradedChapter(stopped=True):
            return Status.STOPPED
        case NotGraded():
            return Status.CHAPTER_FAILED
        case GradedChapter():
            left_out = any(stray.student and not stray.graded for stray in event.before.strays)
            return Status.NOT_ALL if left_out or any(graded.fault for graded in event.results) else Status.DONE
        case _:
            return Status.DONE


def worst(statuses: Sequence[Status]) -> Status:
    """The exit status of a run with these; `DONE` if there are none."""
    return max(statuses, key=[*Status].index, default=Status.DONE)


def run(options: Options, console: Console) -> Generator[Event, None, None]:
    """Grade what was asked for, with progress bars on `console`. Of all chapters, one that cannot be graded does not
    keep the others from being graded.

    Raises UnknownIdError, AutogradeError, SandboxError; for a single chapter also what `chapter.autograde` raises.
    """
    manifest = load_manifest(options.root / "course.toml")
    if options.chapter is None:
        yield from _all(options, manifest, console)
    elif options.dry_run:
        yield from _dry_run(options, manifest, manifest.chapter(options.chapter), options.students)
    else:
        yield from _one(options, manifest, manifest.chapter(options.chapter), console)


def _one(options: Options, manifest: Manifest, chapter: Chapter, console: Console) -> Iterator[Event]:
    """Grade a chapter. The sandbox is tested while its submissions are looked through."""
    started = time.monotonic()
    tasks = _tasks(options, chapter, options.students)  # fails before anything is written
    with _sandbox_test(options, chapter) as tested:
        before = _examined(options, manifest, chapter, tasks)
        yield Examined(chapter, before)
        unsandboxed = tested()
    if unsandboxed:
        yield unsandboxed
    yield _graded(options, chapter, tasks, before, console, not unsandboxed, started)


def _all(options: Options, manifest: Manifest, console: Console) -> Iterator[Event]:
    """Grade the chapters with submissions, one after another, while the hidden cases of the next ones are made."""
    asked, unsubmitted = _with_submissions(options, manifest)
    if unsubmitted:
        yield Unsubmitted(unsubmitted)
    if options.dry_run:
        yield from _each(asked, lambda chapter, students: _dry_run(options, manifest, chapter, students))
        return
    chapters = [chapter for chapter, _ in asked]
    with _sandbox_test(options, chapters[0]) as tested, computed_ahead(options.root, options.term, chapters) as wait:
        if unsandboxed := tested():
            yield unsandboxed

        def steps(chapter: Chapter, students: Students) -> Steps:
            started = time.monotonic()
            tasks = _tasks(options, chapter, students)
            before = _examined(options, manifest, chapter, tasks)
            yield Examined(chapter, before)
            wait(chapter)
            found = _graded(options, chapter, tasks, before, console, not unsandboxed, started, chapter.id)
            yield found
            return found.stopped

        yield from _each(asked, steps)


def _each(asked: Sequence[tuple[Chapter, Students]], steps: Callable[[Chapter, Students], Steps]) -> Iterator[Event]:
    """What these steps find in each chapter, until Ctrl-C. An error ends the steps of its own chapter only."""
    for chapter, students in asked:
        try:
            if (yield from steps(chapter, students)):
                return
        except (ExpectedError, OSError) as error:
            yield NotGraded(chapter, error)
        except KeyboardInterrupt:
            yield Interrupted()
            return


def _with_submissions(options: Options, manifest: Manifest) -> tuple[list[tuple[Chapter, Students]], list[Chapter]]:
    """The chapters to grade, each with those of the students asked for who submitted it, and the chapters that no
    student submitted. Raises AutogradeError if nothing was submitted, or nothing by one of the students.
    """
    submitted = {each.id: find_submissions(options.term, each).folders for each in manifest.chapters}
    folder = options.term / "submitted"
    if not any(submitted.values()):
        raise AutogradeError(
            f"No submissions in {folder}. Put each student's notebooks into {folder}/STUDENT/CHAPTER/."
        )
    for student in options.students or ():
        if not any(student in folders for folders in submitted.values()):
            raise AutogradeError(f"No submission by {student!r} in {folder}.")
    asked: list[tuple[Chapter, Students]] = []
    for chapter in manifest.chapters:
        students = options.students and [name for name in options.students if name in submitted[chapter.id]]
        if submitted[chapter.id] and students != []:
            asked.append((chapter, students))
    return asked, [chapter for chapter in manifest.chapters if not submitted[chapter.id]]


def _dry_run(options: Options, manifest: Manifest, chapter: Chapter, students: Students) -> Steps:
    released = released_notebooks(options.root, chapter)
    before = _examined(options, manifest, chapter, _chosen(options, chapter, students), released)
    yield DryRun(chapter, before, sandboxed=not options.unsafe)
    return False


def _tasks(options: Options, chapter: Chapter, students: Students) -> list[Task]:
    """The submissions of a chapter that may have to be graded. Raises AutogradeError."""
    released_notebooks(options.root, chapter)  # fails if the release is missing or old, before anything is written
    return _chosen(options, chapter, students)


def _chosen(options: Options, chapter: Chapter, students: Students) -> list[Task]:
    return chosen(options.term, chapter, students, only_failed=options.only_failed, again=options.again)


def _examined(
    options: Options,
    manifest: Manifest,
    chapter: Chapter,
    tasks: Sequence[Task],
    released: Mapping[str, Any] | None = None,
) -> Preflight:
    """What there is to do, and what looks wrong; what the submitted notebooks contain only if `released` is given."""
    return preflight(
        options.root,
        options.term,
        manifest,
        chapter,
        tasks,
        students=options.students,
        sandboxed=not options.unsafe,
        db_url=options.db_url,
        released=released,
    )


@contextmanager
def _sandbox_test(options: Options, chapter: Chapter) -> Iterator[Callable[[], Unsandboxed | None]]:
    """Test the sandbox in the background. Provide a function that waits for the result: what there is to know if
    student code will run without it. That function raises SandboxError.
    """
    with ThreadPoolExecutor(1) as aside:
        yield aside.submit(_unsandboxed, options, chapter).result


def _unsandboxed(options: Options, chapter: Chapter) -> Unsandboxed | None:
    if options.unsafe:
        return Unsandboxed()
    try:
        selftest.prove(options.root, options.term, chapter.id)
    except SandboxError as error:
        if not options.trusted:
            raise
        return Unsandboxed(str(error))
    return None


def _elsewhere(
    before: Mapping[str, Mapping[str, float]], now: Mapping[str, Mapping[str, float]], chapter_id: str
) -> dict[str, list[str]]:
    """The students whose late penalties in other chapters are not what they were, by chapter."""
    found: dict[str, list[str]] = {}
    for name in sorted({*before, *now} - {chapter_id}):
        old, new = before.get(name, {}), now.get(name, {})
        if changed := sorted(student for student in {*old, *new} if old.get(student) != new.get(student)):
            found[name] = changed
    return found


def _graded(
    options: Options,
    chapter: Chapter,
    tasks: Sequence[Task],
    before: Preflight,
    console: Console,
    sandboxed: bool,
    started: float,
    label: str = "",
) -> GradedChapter:
    url = options.db_url if options.records else None
    manifest = load_manifest(options.root / "course.toml")
    settings = read_term_settings(options.term, manifest)
    moving = url if settings.slip_days else None  # only slip days change penalties of other chapters
    penalties = {} if moving is None else late_penalties(moving)
    changes: list[Change] = []

    def grade(
        announce: Callable[[int], None], on_graded: Callable[[Done], None], stopping: Callable[[], bool]
    ) -> list[Graded]:
        return autograde(
            options.root,
            options.term,
            chapter.id,
            options.execute,
            db_url=url,
            tasks=tasks,
            sandboxed=sandboxed,
            announce=announce,
            on_graded=on_graded,
            on_change=changes.append,
            stopping=stopping,
            new_rules=options.new_rules,
        )

    results, stopped = watched(console, grade, label)
    exempt = settings.exemptions(chapter)
    scores = {} if url is None else read_scores(url, chapter.id, exempt)
    slips = SlipDays(url, options.term, manifest.chapters, settings).of_all()
    people = [each for each in roster_of(options.db_url) if each.name]
    notes = Notes(
        {each.id: each.called for each in people},
        {each.id: each.name for each in people},
        exempt,
        slips,
        {} if moving is None else _elsewhere(penalties, late_penalties(moving), chapter.id),
    )
    seconds = time.monotonic() - started
    return GradedChapter(chapter, before, results, changes, scores, sandboxed, stopped, seconds, notes)
