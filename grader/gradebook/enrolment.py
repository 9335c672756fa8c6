"""Write a roster into the gradebook: new students are added, and known ones get the names that the roster has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from grader.gradebook.database import explained, open_engine, transaction
from grader.gradebook.roster import Student
from grader.imports import nbgrader_tables

if TYPE_CHECKING:
    from sqlalchemy import Connection

_ATTEMPTS = 3
DETAILS = ("first_name", "last_name", "email", "lms_user_id")


@dataclass
class Enrolled:
    """The students of a roster that were added, changed (before, after) or left unchanged, and the `others`, whom the
    gradebook has but the roster does not.
    """

    added: list[Student] = field(default_factory=list)
    changed: list[tuple[Student, Student]] = field(default_factory=list)
    unchanged: list[Student] = field(default_factory=list)
    others: list[Student] = field(default_factory=list)


def enrol(db_url: str, roster: Sequence[Student]) -> Enrolled:
    """Write these students into the gradebook, which is created if it does not exist, in one transaction.

    What the roster leaves empty is kept, and no student is deleted. Raises GradebookError, and then nothing is written.
    """
    with open_engine(db_url) as engine, explained(db_url):
        from sqlalchemy.exc import IntegrityError

        left = _ATTEMPTS
        while True:
            try:
                with transaction(engine) as connection:
                    return _enrol(connection, roster)
            except IntegrityError:  # another run has just added one of them
                left -= 1
                if not left:
                    raise


def _enrol(connection: Connection, roster: Sequence[Student]) -> Enrolled:
    from sqlalchemy import bindparam, select

    table = nbgrader_tables().Student.__table__
    columns = [table.c[name] for name in ("id", *DETAILS)]
    rows = (
        Student(*(value or "" for value in row)) for row in connection.execute(select(*columns).order_by(table.c.id))
    )
    known, found = {student.id: student for student in rows}, Enrolled()
    told = {student.id for student in roster}
    found.others = [student for name, student in known.items() if name not in told]
    for student in roster:
        before = known.get(student.id)
        if before is None:
            found.added.append(student)
            continue
        after = replace(before, **{name: value for name in DETAILS if (value := getattr(student, name))})
        if after == before:
            found.unchanged.append(before)
        else:
            found.changed.append((before, after))
    if found.added:
        connection.execute(table.insert(), [{"id": each.id, **_row(each)} for each in found.added])
    if found.changed:
        update = table.update().where(table.c.id == bindparam("whose"))
        connection.execute(update, [{"whose": after.id, **_row(after)} for _, after in found.changed])
    return found


def _row(student: Student) -> dict[str, Any]:
    """The details as nbgrader stores them: NULL if unknown."""
    return {name: getattr(student, name) or None for name in DETAILS}
