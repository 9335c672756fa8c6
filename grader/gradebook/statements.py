"""The SQL statements that read and write a submission, and a table of our own for the answers to questions when they
were last recorded, because nbgrader's tables cannot store them.

The table is in the gradebook so that it is written in the same transaction as the scores, and kept as long as the
manual scores. Each row belongs to a row of nbgrader's table `grade`; once that row is deleted, this one is never read.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal

from grader.gradebook.database import transaction
from grader.imports import nbgrader_tables

if TYPE_CHECKING:
    from sqlalchemy import Engine, Executable, Table

ANSWERS = "unrolled_answer"

Edit = Literal[
    "new student",
    "new submission",
    "timestamp",
    "new notebook",
    "new grade",
    "grade",
    "new comment",
    "comment",
    "new answer",
    "answer",
]


@cache
def _answers() -> Table:
    """The hash of each answer, by the id of its grade; empty if there was no answer."""
    from sqlalchemy import Column, MetaData, String, Table

    id_ = Column("grade_id", String(32), primary_key=True)
    return Table(ANSWERS, MetaData(), id_, Column("digest", String(64), nullable=False))


def make_answers(engine: Engine) -> None:
    """Create the table if it does not exist."""
    from sqlalchemy import inspect

    if not inspect(engine).has_table(ANSWERS):
        with transaction(engine, alone=True) as connection:
            _answers().create(connection, checkfirst=True)  # in case another run has just created it


class Statements:
    """The statements, built once so that SQLAlchemy compiles each only once. `edits` insert and update rows, in an
    order in which each row comes after those that it refers to.
    """

    def __init__(self) -> None:
        from sqlalchemy import and_, bindparam, select

        api = nbgrader_tables()
        assignment, student = api.Assignment.__table__, api.Student.__table__
        submission, notebook = api.SubmittedAssignment.__table__, api.SubmittedNotebook.__table__
        grade, comment, answer = api.Grade.__table__, api.Comment.__table__, _answers()
        its = and_(submission.c.assignment_id == assignment.c.id, submission.c.student_id == bindparam("s"))
        self.submission = (
            select(student.c.id.label("student"), submission.c.id, submission.c.timestamp)
            .select_from(assignment.outerjoin(student, student.c.id == bindparam("s")).outerjoin(submission, its))
            .where(assignment.c.id == bindparam("a"))
        )
        of_submission = notebook.c.assignment_id == bindparam("submission")
        self.notebooks = select(notebook.c.id, notebook.c.notebook_id).where(of_submission)
        ours = select(notebook.c.id).where(of_submission)
        # lock the rows, so that a manual score cannot change between reading and writing (SQLite locks the database)
        self.grades = select(grade).where(grade.c.notebook_id.in_(ours)).with_for_update()
        graded = select(grade.c.id).where(grade.c.notebook_id.in_(ours))
        self.answers = select(answer).where(answer.c.grade_id.in_(graded))
        self.comments = select(comment).where(comment.c.notebook_id.in_(ours))
        self.edits: dict[Edit, Executable] = {
            "new student": student.insert(),
            "new submission": submission.insert(),
            "timestamp": submission.update().where(submission.c.id == bindparam("row")),
            "new notebook": notebook.insert(),
            "new grade": grade.insert(),
            "grade": grade.update().where(grade.c.id == bindparam("row")),
            "new comment": comment.insert(),
            "comment": comment.update().where(comment.c.id == bindparam("row")),
            "new answer": answer.insert().values(grade_id=bindparam("grade")),
            "answer": answer.update().where(answer.c.grade_id == bindparam("grade")),
        }
