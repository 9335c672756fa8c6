"""Scores in nbgrader's gradebook, an SQLite or PostgreSQL database.

`database` (opening it, transactions, readable errors), `registration`, `writer`, `statements` (its SQL, and the table
of the previous answers to questions), `late` (due dates, and what lateness costs) by `late_policies`, `slips` (days of
it that cost nothing), `penalties` (writes them), `scores` (manual points and late penalties: the only place where
totals are computed), `roster`, `enrolment` (writes a roster), `people` (the roster with `groups.csv`).

The rows are those that `nbgrader generate_assignment` and `nbgrader autograde` would write, so formgrader,
`generate_feedback` and `export` work with them unchanged. Importing nbgrader takes a second, so only the functions that
use it import it.

*Late penalties* are rows too. The policy is called for each notebook once the points are recorded, and the class table,
the JSON and the feedback pages use only these rows.

*Answers to questions.* A score once given stays until the answer changes: its digest is in a table of our own,
`unrolled_answer`, written in the transaction that sets `needs_manual_grade`. So a run may be killed between any two
steps, and stored results may be deleted.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from grader.gradebook.database import GradebookError, explained, gradebook_url, open_engine, patient, shown
from grader.gradebook.registration import register
from grader.gradebook.roster import called, names, roster
from grader.gradebook.scores import read_scores
from grader.gradebook.writer import Writer, open_writer
from grader.imports import nbgrader_tables

__all__ = [
    "GradebookError",
    "Writer",
    "called",
    "gradebook_url",
    "names",
    "open_gradebook",
    "open_writer",
    "read_scores",
    "register",
    "roster",
    "shown",
]


@contextmanager
def open_gradebook(db_url: str) -> Iterator[Any]:
    """nbgrader's own `Gradebook`, created if it does not exist and closed at the end. Raises GradebookError."""
    with open_engine(db_url), explained(db_url):
        gradebook = nbgrader_tables().Gradebook(patient(db_url))
    try:
        yield gradebook
    finally:
        gradebook.close()
