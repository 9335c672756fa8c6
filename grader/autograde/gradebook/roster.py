"""The roster, read from the gradebook. Nothing is created or written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from grader.autograde.gradebook.database import explained, patient
from grader.autograde.gradebook.scores import Rows


def roster(db_url: str) -> frozenset[str] | None:
    """The ids of the students in the roster; None if there is no gradebook, or if it has no students.

    Grading adds every student with a submission, by the id only. If some students have a name, an e-mail address or the
    id of another system, as after `nbgrader db student import`, these are the roster. Raises GradebookError.
    """
    rows = _students(db_url)
    entered = frozenset(row[0] for row in rows if any(row[1:]))
    return entered or frozenset(row[0] for row in rows) or None


def names(db_url: str) -> tuple[frozenset[str], frozenset[str]]:
    """The ids of all students in the gradebook, and what else names them: first and last names, e-mail addresses and
    the ids of other systems. Raises GradebookError.
    """
    rows = _students(db_url)
    return frozenset(row[0] for row in rows), frozenset(str(name) for row in rows for name in row[1:] if name)


def _students(db_url: str) -> Rows:
    """The students in the gradebook: id, first name, last name, e-mail address, id of another system."""
    with explained(db_url):
        from sqlalchemy import column, create_engine, inspect, make_url, select, table

        url = make_url(db_url)
        if url.get_backend_name() == "sqlite" and "uri" not in url.query and not Path(url.database or "").is_file():
            return []  # connecting would create it
        engine = create_engine(patient(db_url))
        try:
            if not inspect(engine).has_table("student"):
                return []
            details = ("first_name", "last_name", "email", "lms_user_id")
            columns: list[Any] = [column(name) for name in ("id", *details)]
            query = select(*columns).select_from(table("student"))
            with engine.connect() as connection:
                rows: Rows = connection.execute(query).all()
        finally:
            engine.dispose()
    return rows
