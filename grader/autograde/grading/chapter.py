"""Autograde a chapter: every submission of a term folder, into nbgrader's gradebook and `autograded/`."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

from grader.autograde.gradebook import GradebookError, open_writer, register
from grader.autograde.gradebook.writer import Writer
from grader.autograde.grading import store
from grader.autograde.grading.grade import Graded, handed_in_at
from grader.autograde.grading.pool import Done, Execute, Job, Task
from grader.autograde.grading.release import AutogradeError
from grader.autograde.grading.session import Session, open_session
from grader.autograde.submission.files import handed_in
from grader.manifest import Chapter, load_manifest


def submissions(term: Path, chapter: Chapter) -> dict[str, Path]:
    """The students' folders of this chapter, by student. Raises AutogradeError where there is none."""
    found = handed_in(term, chapter.id)
    if not found:
        folder = term / "submitted"
        others = sorted({path.name for path in folder.glob("*/*") if path.is_dir()})
        also = f" There are submissions of {', '.join(others)}." if others else ""
        raise AutogradeError(
            f"No submissions of {chapter.id} in {folder}.{also} "
            f"Put each student's notebooks into {folder}/STUDENT/{chapter.id}/."
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
    """The submissions to grade: of these students, of all if None; `only_failed` ones; `again` whatever is stored.

    Raises AutogradeError for a student who has handed in nothing.
    """
    folders = submissions(term, chapter)
    names = list(folders) if students is None else list(students)
    strange = [name for name in names if name not in folders]
    if strange:
        raise AutogradeError(
            f"No submission of {chapter.id} by {', '.join(map(repr, strange))} in {term / 'submitted'}."
        )
    if only_failed:
        names = [name for name in names if _failed(term, chapter, name)]
    return [Task(name, folders[name], again or only_failed) for name in names]


def _failed(term: Path, chapter: Chapter, student: str) -> bool:
    """Whether the last run left this submission without a result, or with something for a human to look at."""
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
    stopping: Callable[[], bool] = lambda: False,
) -> list[Graded]:
    """Grade submissions of a chapter, these `tasks` or all; return the results by student.

    `execute` is one of `pool`'s. `db_url` is the gradebook's, or None to write none. `announce` is told how many there
    are, `on_graded` each result as it is written; once `stopping` says so no more are begun. Raises UnknownIdError,
    AutogradeError, HiddenError, GradebookError, SandboxError.
    """
    if tasks is None:
        tasks = chosen(term, load_manifest(root / "course.toml").chapter(chapter_id))
    session = open_session(root, term, chapter_id)  # makes the hidden cases, before any worker needs them
    announce(len(tasks))
    job = Job(root.resolve(), term.resolve(), chapter_id, sandboxed)
    results = []
    with _recorder(db_url, session) as record, closing(execute(job, session.state, tasks)) as all_done:
        for done in all_done:
            results.append(record(done))
            on_graded(done)
            if stopping():
                break
    return sorted(results, key=lambda graded: graded.student)


@contextmanager
def _recorder(db_url: str | None, session: Session) -> Iterator[Callable[[Done], Graded]]:
    """Gives a function that writes a result into the gradebook; what cannot be written becomes that result's fault."""
    if db_url is None:
        yield lambda done: done.graded
        return
    with ThreadPoolExecutor(1) as aside, ExitStack() as open_until_the_end:
        # it imports for a second, while the workers start
        registered = aside.submit(register, db_url, session.chapter, session.released)

        @cache
        def opened() -> Writer:
            registered.result()
            return open_until_the_end.enter_context(open_writer(db_url, session.chapter.id))

        def record(done: Done) -> Graded:
            graded = done.graded
            if graded.fault:
                return graded
            writer = opened()
            started = time.perf_counter()
            scores = {name: {v.id: v.earned for v in vs.values()} for name, vs in graded.verdicts.items()}
            when = handed_in_at(session.term / "submitted" / graded.student / session.chapter.id)
            try:
                writer.record(graded.student, scores, timestamp=when, unanswered=graded.unanswered)
            except GradebookError as error:
                return replace(graded, fault=f"graded, but not written to the gradebook: {error}")
            return replace(graded, seconds=graded.seconds | {"gradebook": time.perf_counter() - started})

        yield record
        registered.result()  # may complain even where there was nothing to record
