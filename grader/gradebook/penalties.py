"""Write late penalties to nbgrader's gradebook. nbgrader assigns them in an autograde step of its own, which this
course does not use.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from grader.gradebook.database import explained, open_engine, open_existing, patient
from grader.gradebook.late import DAY, Policy, due_date, has_penalties, set_due_date
from grader.gradebook.slips import SlipDays, Slips
from grader.imports import nbgrader_tables
from grader.manifest import Chapter
from grader.term_settings import TermSettings


def late_penalties(db_url: str) -> dict[str, dict[str, float]]:
    """All late penalties in the gradebook that cost anything, by chapter and student. Raises GradebookError."""
    with open_existing(db_url, "submitted_notebook") as connection:
        if connection is None:
            return {}
        from sqlalchemy import select

        api = nbgrader_tables()
        assignment, submission = api.Assignment.__table__.c, api.SubmittedAssignment.__table__.c
        notebook = api.SubmittedNotebook.__table__.c
        its = (submission.assignment_id == assignment.id) & (notebook.assignment_id == submission.id)
        query = select(assignment.name, submission.student_id, notebook.late_submission_penalty).where(
            its, notebook.late_submission_penalty > 0
        )
        found: dict[str, dict[str, float]] = {}
        for chapter_id, student, penalty in connection.execute(query):
            of = found.setdefault(chapter_id, {})
            of[student] = of.get(student, 0.0) + penalty
        return found


@contextmanager
def open_penalties(
    db_url: str, chapter_id: str, term: Path, chapters: Sequence[Chapter], settings: TermSettings
) -> Iterator[Callable[[str], None]]:
    """Set the chapter's due date, and provide a function that sets a student's extension, assigns the student's late
    penalties, and removes those that no longer apply. `chapters` are all of the course: slip days that this chapter
    uses or gives back change the penalties of others.

    The submission has to be in the gradebook. Both raise GradebookError.
    """
    with open_engine(db_url) as engine, explained(db_url):
        set_due_date(engine, chapter_id, settings)
        # without a due date, penalties may still be there that were assigned when there was one
        may_differ = due_date(engine, chapter_id) is not None or has_penalties(engine, chapter_id)
        gradebook = nbgrader_tables().Gradebook(patient(db_url)) if may_differ else None
    if gradebook is None:
        yield lambda _: None
        return
    policy = Policy(term, settings)
    slips = SlipDays(db_url, term, chapters, settings)
    by_id = {chapter.id: chapter for chapter in chapters}

    def assign(student: str) -> None:
        spent = slips.of(student)
        for name in dict.fromkeys((chapter_id, *spent.late)):
            exempt = settings.exemptions(by_id[name]).get(student, frozenset()) if name in by_id else frozenset()
            with explained(db_url):
                _assign(gradebook, name, student, policy, settings, spent.used.get(name, 0), exempt)

    try:
        yield assign
    finally:
        gradebook.close()


def _assign(
    gradebook: Any,
    chapter_id: str,
    student: str,
    policy: Policy,
    settings: TermSettings,
    days: int,
    exempt: frozenset[str],
) -> None:
    """Set a student's extension and late penalties, where they differ; `days` of the lateness cost nothing, and neither
    does that of notebooks from which the student is exempt.
    """
    try:
        submission = gradebook.find_submission(chapter_id, student)
        if chapter_id in settings.due:
            extension = settings.extension(chapter_id, student)
            if submission.extension != extension:
                submission.extension = extension
        for notebook, penalty in _different(submission, policy, days, exempt):
            notebook.late_submission_penalty = penalty
        gradebook.db.commit()
    finally:
        gradebook.db.rollback()  # so that the next one is read afresh, and other programs need not wait


def _different(
    submission: Any, policy: Policy, days: int, exempt: Collection[str]
) -> Iterator[tuple[Any, float | None]]:
    """The notebooks of a submission whose late penalty is another one than recorded, each with what it is."""
    late = submission.total_seconds_late - DAY * days if submission.assignment.duedate is not None else 0
    for notebook in submission.notebooks:
        penalty = None if notebook.name in exempt else policy.penalty(submission.student_id, notebook.score, late)
        if notebook.late_submission_penalty != penalty:
            yield notebook, penalty


def outdated_penalties(
    db_url: str, chapter: Chapter, term: Path, settings: TermSettings, slips: Mapping[str, Slips]
) -> tuple[str, ...]:
    """The students whose late penalties in the gradebook are not those of the points that it has now, because an
    instructor has given points since they were computed. Raises GradebookError.
    """
    with open_engine(db_url) as engine, explained(db_url):
        if settings.late is None or not has_penalties(engine, chapter.id):
            return ()
    policy, exempt, none = Policy(term, settings), settings.exemptions(chapter), Slips()
    with explained(db_url):
        gradebook = nbgrader_tables().Gradebook(patient(db_url))
        try:
            return tuple(
                submission.student_id
                for submission in gradebook.assignment_submissions(chapter.id)
                if submission.total_seconds_late > 0
                and any(
                    _different(
                        submission,
                        policy,
                        slips.get(submission.student_id, none).used.get(chapter.id, 0),
                        exempt.get(submission.student_id, ()),
                    )
                )
            )
        finally:
            gradebook.close()
