"""Best or last attempt: with `attempts = "best"` in `TERM/term.toml`, every submission that is graded is kept, and the
one with the most points counts.

`TERM/attempts/CHAPTER/STUDENT/N/` holds one attempt: `submission/`, a copy of the files, and the results of its grading
in the layout of a term. An attempt is complete as soon as its folder exists. Which one counts depends only on these
folders, the due dates and the course, so a run that was killed is continued by the next one with the same gradebook.

The attempts are compared by the autograder's points, after the late penalty. The attempt that counts is then graded
like any other submission; its result is in `TERM/results/`, as always.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from operator import attrgetter
from pathlib import Path

from grader.files import write_whole
from grader.gradebook.database import GradebookError
from grader.gradebook.late import DueDates, Policy
from grader.gradebook.slips import SlipDays
from grader.grading import store
from grader.grading.grade import Graded
from grader.grading.pool import Done, Execute, Job, Task
from grader.grading.session import State
from grader.manifest import Chapter
from grader.shown import NO_NAMES, Called, named
from grader.submission.timestamp import NAME as TIMESTAMP
from grader.submission.timestamp import TimestampError, submitted_at
from grader.term_settings import TermSettings

DIGITS = 6  # attempts whose points agree to so many digits are equally good


@dataclass(frozen=True)
class Attempt:
    """A kept submission: its number, counted from 1, and its folder."""

    number: int
    folder: Path

    @property
    def submission(self) -> Path:
        return self.folder / "submission"


def kept(term: Path, chapter_id: str, student: str) -> list[Attempt]:
    """A student's attempts, the oldest first."""
    folders = (term / "attempts" / chapter_id / student).glob("[0-9]*")
    found = (Attempt(int(path.name), path) for path in folders if path.name.isdecimal())
    return sorted(found, key=attrgetter("number"))


def keep(term: Path, chapter_id: str, student: str, folder: Path) -> list[Attempt]:
    """Keep a submission unless it is the newest attempt already; return all attempts. Raises OSError.

    If only its time of submission has changed, the newest attempt gets the new one.
    """
    attempts = kept(term, chapter_id, student)
    if attempts and _content(attempts[-1].submission) == _content(folder):
        _correct_time(attempts[-1].submission, folder)
        return attempts
    number = attempts[-1].number + 1 if attempts else 1
    home = term / "attempts" / chapter_id / student
    home.mkdir(parents=True, exist_ok=True)
    for part in home.glob(".part-*"):  # of a run that was killed
        shutil.rmtree(part)
    part = Path(tempfile.mkdtemp(prefix=".part-", dir=home))
    (part / "submission").mkdir()
    for path in _files(folder):
        shutil.copyfile(path, part / "submission" / path.name)
    part.rename(home / str(number))
    return [*attempts, Attempt(number, home / str(number))]


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file() and not path.is_symlink())


def _content(folder: Path) -> str:
    """A hash of the files of a submission, without its time."""
    digest = hashlib.sha256()
    for path in _files(folder):
        if path.name != TIMESTAMP:
            with path.open("rb") as file:
                name = path.name.encode("utf-8", "surrogateescape")
                digest.update(name + b"\0" + hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _correct_time(attempt: Path, submitted: Path) -> None:
    old, new = (folder / TIMESTAMP for folder in (attempt, submitted))
    if not new.is_file() or new.is_symlink():
        old.unlink(missing_ok=True)
    elif not old.is_file() or old.read_bytes() != new.read_bytes():
        write_whole(old, new.read_bytes())


# --- which one counts -----------------------------------------------------------------------------------------


def counting(
    job: Job,
    state: State,
    tasks: Sequence[Task],
    execute: Execute,
    due: DueDates,
    settings: TermSettings,
    chapters: Sequence[Chapter],
    *,
    stopping: Callable[[], bool],
) -> tuple[list[Task], list[Graded]]:
    """Keep these submissions as attempts, and grade the attempts of each student who has several. Return a task for
    each student, with the attempt that counts, and the students for whom it could not be found, with the `fault`.
    `chapters` are all of the course.
    """
    faults: list[Graded] = []
    attempts: dict[str, list[Attempt]] = {}
    for task in tasks:
        try:
            attempts[task.student] = keep(job.term, job.chapter, task.student, task.folder)
        except OSError as error:
            reason = f"{error.filename} cannot be read or kept as an attempt ({error.strerror})"
            faults.append(Graded(task.student, fault=reason))
    again = {task.student: task.again for task in tasks}
    several = [
        Task(student, each.submission, again[student], each.folder)
        for student, its in attempts.items()
        if len(its) > 1
        for each in its
    ]
    outdated = [task for task in several if task.again or not _is_up_to_date(job, state, task)]
    failed: dict[str, str] = {}
    for done in _graded(job, state, outdated, execute):
        if done.graded.fault:
            failed[done.graded.student] = f"one of several attempts: {done.graded.fault}"
        if stopping():
            return [], faults
    worth = _Worth(job, due, settings, chapters)
    chosen: list[Task] = []
    for task in tasks:
        student = task.student
        if student in failed:
            faults.append(Graded(student, fault=failed[student]))
        elif student in attempts:
            try:
                best = _best(student, attempts[student], worth)
                chosen.append(replace(task, folder=best.submission))
            except GradebookError as error:
                faults.append(Graded(student, fault=f"the best attempt could not be found: {error}"))
    return chosen, faults


def _is_up_to_date(job: Job, state: State, task: Task) -> bool:
    before = store.read(task.place or job.term, job.chapter, task.student)
    return before is not None and before.key == store.key(state, task.folder, job.sandboxed)


def _graded(job: Job, state: State, tasks: Sequence[Task], execute: Execute) -> Iterator[Done]:
    if tasks:
        with closing(execute(job, state, tasks)) as all_done:
            yield from all_done


class _Worth:
    """What an attempt is worth in one chapter: the autograder's points after the late penalty, for what counts."""

    def __init__(self, job: Job, due: DueDates, settings: TermSettings, chapters: Sequence[Chapter]) -> None:
        self._job, self._due = job, due
        self._policy = Policy(job.term, settings)
        self._slips = SlipDays(due.db_url, job.term, chapters, settings)
        (chapter,) = (chapter for chapter in chapters if chapter.id == job.chapter)
        self._exempt = settings.exemptions(chapter)

    def of(self, student: str, attempt: Attempt) -> float:
        """Raises GradebookError."""
        stored = store.read(attempt.folder, self._job.chapter, student)
        if stored is None:  # deleted or damaged since it was graded
            raise GradebookError(f"the result in {attempt.folder} cannot be read. Run the command again.")
        exempt = self._exempt.get(student, frozenset())
        verdicts = {name: its for name, its in stored.graded.verdicts.items() if name not in exempt}
        scores = {name: sum(v.earned for v in its.values()) for name, its in verdicts.items()}
        late = self._due.seconds_late(student, _time(attempt.submission))
        late = self._slips.without(student, self._job.chapter, late)
        return round(self._policy.points_after(student, scores, late), DIGITS)


def _best(student: str, attempts: Sequence[Attempt], worth: _Worth) -> Attempt:
    """The attempt with the most points; of equally good ones the newest. Raises GradebookError."""
    if len(attempts) == 1:
        return attempts[0]
    return max(attempts, key=lambda attempt: (worth.of(student, attempt), attempt.number))


def _time(folder: Path) -> datetime | None:
    try:
        return submitted_at(folder)
    except TimestampError:
        return None  # counts as on time; if this attempt counts, a remark says so


# --- for reports ----------------------------------------------------------------------------------------------


def folder_of_result(
    settings: TermSettings, term: Path, chapter_id: str, student: str, folder: Path, stored: store.Stored | None
) -> Path:
    """The folder that a stored result belongs to: the submission's, or that of an earlier attempt that counts."""
    if settings.attempts != "best" or stored is None:
        return folder
    attempts = kept(term, chapter_id, student)
    newest = attempts[-1].submission if attempts else None
    if newest is None or _content(newest) != _content(folder) or _stamp(newest) != _stamp(folder):
        return folder  # it has not been graded yet
    found = [each.submission for each in attempts if store.digest(each.submission) == stored.key.submission]
    return found[-1] if found else folder


def is_current(
    settings: TermSettings, term: Path, chapter_id: str, stored: store.Stored, folder: Path | None, state: State
) -> bool:
    """Whether grading would keep this result of the submission in `folder`. A result whose submission is gone, so that
    the folder is None, counts as current.
    """
    if folder is not None:
        folder = folder_of_result(settings, term, chapter_id, stored.graded.student, folder, stored)
    return store.key_now(state, folder, stored) in (None, stored.key)


def _stamp(folder: Path) -> bytes:
    path = folder / TIMESTAMP
    return path.read_bytes() if path.is_file() and not path.is_symlink() else b""


@dataclass(frozen=True)
class Counted:
    """The submission that counts: the how many-th it is of how many kept ones, and when it was submitted, in UTC (None
    if that is not known).
    """

    number: int
    of: int
    when: datetime | None


def counted_attempt(
    settings: TermSettings, term: Path, chapter_id: str, stored: store.Stored, folder: Path | None
) -> Counted:
    """Which of a student's submissions a stored result belongs to; `folder` is the newest one, None if it is gone.
    Only with `attempts = "best"` are earlier ones known.
    """
    student = stored.graded.student
    attempts = kept(term, chapter_id, student) if settings.attempts == "best" else []
    found = [each for each in attempts if store.digest(each.submission) == stored.key.submission]
    if found:
        return Counted(found[-1].number, attempts[-1].number, _time(found[-1].submission))
    return Counted(1, 1, None if folder is None else _time(folder))


def earlier_lines(
    settings: TermSettings, term: Path, chapter_id: str, students: Sequence[str], called: Called = NO_NAMES
) -> list[str]:
    """Which students have an earlier attempt that counts, as the instructor reads it; empty if there are none. `called`
    has the names of students, by id.
    """
    found = []
    for student in students:
        attempts = kept(term, chapter_id, student) if settings.attempts == "best" else []
        stored = store.read(term, chapter_id, student) if len(attempts) > 1 else None
        if stored is None or store.digest(attempts[-1].submission) == stored.key.submission:
            continue
        graded = [each for each in attempts[:-1] if store.digest(each.submission) == stored.key.submission]
        found += [
            f"  {named(called.get(student, student))}: {each.number} of {attempts[-1].number}" for each in graded[:1]
        ]
    return ["An earlier attempt counts, because it has more points:", *found] if found else []
