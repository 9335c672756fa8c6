"""The students in the gradebook, and which of them are the roster. Nothing is created or written."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from grader.gradebook.database import open_existing
from grader.shown import one_form


@dataclass(frozen=True)
class Student:
    """A student of the gradebook: the id, which is the name of the folder, and what else is known; empty if unknown.

    `lms_user_id` is the id in another system, such as Canvas.
    """

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""

    @property
    def name(self) -> str:
        """The first and the last name; empty if neither is known."""
        return " ".join(filter(None, (self.first_name, self.last_name)))

    @property
    def called(self) -> str:
        """How people call the student: the name with the id behind it, or the id alone if that says as much."""
        return f"{self.name} ({self.id})" if self.name and one_form(self.name) != one_form(self.id) else self.id

    @property
    def is_known(self) -> bool:
        """Whether anything but the id is known, as after importing a roster."""
        return any((self.first_name, self.last_name, self.email, self.lms_user_id))


def students(db_url: str) -> list[Student]:
    """All students in the gradebook, by id; empty if there is no gradebook. Raises GradebookError."""
    with open_existing(db_url, "student") as connection:
        if connection is None:
            return []
        from sqlalchemy import column, select, table

        columns: list[Any] = [column(each.name) for each in fields(Student)]
        rows = connection.execute(select(*columns).select_from(table("student"))).all()
    return sorted((Student(*(value or "" for value in row)) for row in rows), key=lambda student: student.id)


def called(db_url: str) -> dict[str, str]:
    """How to call each student of whom the roster has a name, by id. Raises GradebookError."""
    return {student.id: student.called for student in students(db_url) if student.called != student.id}


def roster(db_url: str) -> frozenset[str] | None:
    """The ids of the students in the roster; None if there is no gradebook, or if it has no students.

    Grading adds every student with a submission, by the id only. If some students have a name, an e-mail address or the
    id of another system, as after `grader roster`, these are the roster. Raises GradebookError.
    """
    found = students(db_url)
    entered = frozenset(student.id for student in found if student.is_known)
    return entered or frozenset(student.id for student in found) or None


def names(db_url: str) -> tuple[frozenset[str], frozenset[str]]:
    """The ids of all students in the gradebook, and what else names them: first and last names, e-mail addresses and
    the ids of other systems. Raises GradebookError.
    """
    found = students(db_url)
    others = (name for s in found for name in (s.first_name, s.last_name, s.email, s.lms_user_id) if name)
    return frozenset(student.id for student in found), frozenset(others)
