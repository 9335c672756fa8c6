"""What was answered when a question was recorded last: a table of our own beside nbgrader's, which have no place for
it.

It lies in the gradebook so that it is written in one transaction with what follows from it, and is there as long as a
human's score is. A row belongs to a row of nbgrader's table `grade`; where that is removed, it is never read again.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from grader.autograde.gradebook.database import transaction

if TYPE_CHECKING:
    from sqlalchemy import Engine, Table

NAME = "unrolled_answer"


@cache
def answers_table() -> Table:
    """The digest of each answer, by the id of its grade; empty where there was none."""
    from sqlalchemy import Column, MetaData, String, Table

    return Table(
        NAME, MetaData(), Column("grade_id", String(32), primary_key=True), Column("digest", String(64), nullable=False)
    )


def make_answers(engine: Engine) -> None:
    """Make the table where it is not there yet."""
    from sqlalchemy import inspect

    if not inspect(engine).has_table(NAME):
        with transaction(engine, alone=True) as connection:
            answers_table().create(connection, checkfirst=True)  # another run may have been faster
