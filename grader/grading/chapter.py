"""Grade all submissions of a chapter: scores go to nbgrader's gradebook, notebooks to `autograded/`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import closing, suppress
from pathlib import Path

from grader.gradebook.late import DueDates
from grader.grading import store
from grader.grading.attempts import counting
from grader.grading.changes import Log
from grader.grading.grade import Graded
from grader.grading.pool import Done, Execute, Job, Task
from grader.grading.preflight import stray_lines
from grader.grading.recorder import batches, recorder
from grader.grading.release import AutogradeError
from grader.grading.rules import same_rules
from grader.grading.session import open_session
from grader.grading.store import Change
from grader.manifest import Chapter, load_manifest
from grader.shown import one_form
from grader.submission.folders import Submissions, find_submissions
from grader.term_settings import read_term_settings


def submissions(term: Path, chapter: Chapter) -> Submissions:
    """The submissions of this chapter. Raises AutogradeError if there are none that can be graded."""
    found = find_submissions(term, chapter)
    if not found.folders:
        folder = term / "submitted"
        others = sorted({path.name for path in folder.glob("*/*") if path.is_dir()})
        also = f" There are submissions for {', '.join(others)}." if others else ""
        lines = "".join(f"\n  {line}" for line in stray_lines(chapter, found.strays))
        raise AutogradeError(
            f"No submissions for {chapter.id} in {folder}.{also} "
            f"Put each student's notebooks into {folder}/STUDENT/{chapter.id}/.{lines}"
        )
    return found


def chosen(
    term: Path,
    chapter: Chapter,
    students: Collection[str] | None = None,
    *,
    only_failed: bool = False,
    again: bool = False,
) -> list[Task]:
    """The submissions to grade: those of these students (all if None), or only those that failed. With `again`, they
    are graded even if their results are up to date.

    Raises AutogradeError for a student without a submission.
    """
    found = submissions(term, chapter)
    folders = found.folders
    names = list(folders) if students is None else list(map(one_form, students))
    strange = [name for name in names if name not in folders]
    if strange:
        odd = [stray for stray in found.strays if stray.student in strange]
        lines = "".join(f"\n  {line}" for line in stray_lines(chapter, odd))
        raise AutogradeError(
            f"No submission for {chapter.id} by {', '.join(map(repr, strange))} in {term / 'submitted'}.{lines}"
        )
    if only_failed:
        names = [name for name in names if _failed(term, chapter, name)]
    return [Task(name, folders[name], again or only_failed) for name in names]


def _failed(term: Path, chapter: Chapter, student: str) -> bool:
    """Whether the last run left this submission without a result or with remarks for manual review."""
    stored = store.read(term, chapter.id, student)
    return stored is None or bool(stored.graded.remarks)


def autograde(
    root: Path,
    term: Path,
    chapter_id: str,
    execute: Execute,
    *,
    db_url: str | None,
    tasks: Sequence[Task] | None = None,
    sandboxed: bool = True,
    announce: Callable[[int], None] = lambda _: None,
    on_graded: Callable[[Done], None] = lambda _: None,
    on_change: Callable[[Change], None] = lambda _: None,
    stopping: Callable[[], bool] = lambda: False,
    new_rules: bool = False,
) -> list[Graded]:
    """Grade submissions of a chapter, these `tasks` or all; return the results by student.

    `execute` is one of `pool`'s. `db_url` is the gradebook's, or None to write none. `announce` is told how many there
    are, `on_graded` each result as it is written, `on_change` each change of a student's points; once `stopping` says
    so no more are begun. Unless `new_rules` are accepted, the chapter is graded only by the rules that it was graded by
    before (see `rules.py`). Raises UnknownIdError, TermSettingsError, AutogradeError, HiddenError, GradebookError,
    SandboxError.
    """
    if tasks is None:
        tasks = chosen(term, load_manifest(root / "course.toml").chapter(chapter_id))
    settings = read_term_settings(term, load_manifest(root / "course.toml"))
    same_rules(root, term, chapter_id, settings, db_url, new_rules=new_rules)
    session = open_session(root, term, chapter_id)  # makes the hidden cases, before any worker needs them
    announce(len(tasks))
    job = Job(root.resolve(), term.resolve(), chapter_id, sandboxed)
    results: list[Graded] = []
    if settings.attempts == "best":
        due = DueDates(db_url, chapter_id, settings)
        chapters = session.manifest.chapters
        tasks, results = counting(job, session.state, tasks, execute, due, settings, chapters, stopping=stopping)
    log = Log(term, chapter_id)
    for task in tasks:  # changes that a killed run could not report
        _tell(log, before.change if (before := store.read(term, chapter_id, task.student)) else None, on_change)
    folders = {task.student: task.folder for task in tasks}
    with (
        recorder(db_url, session, folders, settings) as record,
        closing(execute(job, session.state, tasks)) as all_done,
    ):
        for batch in batches(all_done):
            results += record([done.graded for done in batch])
            for done in batch:
                _tell(log, done.change, on_change)
                on_graded(done)
            if stopping():
                break
    return sorted(results, key=lambda graded: graded.student)


def _tell(log: Log, change: Change | None, on_change: Callable[[Change], None]) -> None:
    """Log and report a change, once. If it cannot be written, the next run does both."""
    with suppress(OSError):
        if change is not None and log.add(change):
            on_change(change)
