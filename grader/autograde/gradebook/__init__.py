"""Scores in nbgrader's gradebook: SQLite, or PostgreSQL by its URL.

What is written is what `nbgrader generate_assignment` and `nbgrader autograde` would write, so that
formgrader, `generate_feedback` and `export` work on it unchanged. nbgrader takes a second to import, so the
functions that use it import it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from grader.autograde.gradebook.database import GradebookError, explained, gradebook_url, open_engine, patient
from grader.autograde.gradebook.registration import register
from grader.autograde.gradebook.writer import Writer, open_writer
from grader.autograde.imports import nbgrader_tables

__all__ = [
    "GradebookError",
    "Writer",
    "gradebook_url",
    "open_gradebook",
    "open_writer",
    "record_submission",
    "register",
]


@contextmanager
def open_gradebook(db_url: str) -> Iterator[Any]:
    """nbgrader's own `Gradebook`, made if there is none, closed at the end. Raises GradebookError."""
    with open_engine(db_url), explained(db_url):
        gradebook = nbgrader_tables().Gradebook(patient(db_url))
    try:
        yield gradebook
    finally:
        gradebook.close()


def record_submission(
    gradebook: Any,
    chapter_id: str,
    student_id: str,
    scores: Mapping[str, Mapping[str, float]],
    *,
    timestamp: datetime | None = None,
    comments: Mapping[str, Mapping[str, str]] | None = None,
    unanswered: Mapping[str, Collection[str]] | None = None,
) -> None:
    """`Writer.record` for one submission alone, in an open gradebook."""
    gradebook.db.remove()
    Writer(gradebook.engine, chapter_id).record(
        student_id, scores, timestamp=timestamp, comments=comments, unanswered=unanswered
    )
