"""The answers to questions when they were last recorded, in a table of our own, because nbgrader's tables cannot store
them.

The table is in the gradebook so that it is written in the same transaction as the scores, and kept as long as the
manual scores. Each row belongs to a row of nbgrader's table `grade`; once that row is deleted, this one is never read.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from grader.gradebook.database import transaction

if TYPE_CHECKING:
    from sqlalchemy import Engine, Table

NAME = "unrolled_answer"


@cache
def answers_table() -> Table:
    """The hash of each answer, by the id of its grade; empty if there was no answer."""
    from sqlalchemy import Column, MetaData, String, Table

    return Table(
        NAME, MetaData(), Column("grade_id", String(32), primary_key=True), Column("digest", String(64), nullable=False)
    )


def make_answers(engine: Engine) -> None:
    """Create the table if it does not exist."""
    from sqlalchemy import inspect

    if not inspect(engine).has_table(NAME):
        with transaction(engine, alone=True) as connection:
            answers_table().create(connection, checkfirst=True)  # in case another run has just created it
