"""Who takes the course, by the gradebook: read, and nothing made for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from grader.autograde.gradebook.database import explained, patient


def roster(db_url: str) -> frozenset[str] | None:
    """The ids of the students that were entered; None where there is no gradebook, or nobody in it.

    Grading enters whoever handed in, by the id alone. So where some have a name, an e-mail address or another system's
    id, as from `nbgrader db student import`, those are the roster. Raises GradebookError.
    """
    with explained(db_url):
        from sqlalchemy import column, create_engine, inspect, make_url, select, table

        url = make_url(db_url)
        if url.get_backend_name() == "sqlite" and "uri" not in url.query and not Path(url.database or "").is_file():
            return None  # to connect would make it
        engine = create_engine(patient(db_url))
        try:
            if not inspect(engine).has_table("student"):
                return None
            details = ("first_name", "last_name", "email", "lms_user_id")
            columns: list[Any] = [column(name) for name in ("id", *details)]
            query = select(*columns).select_from(table("student"))
            with engine.connect() as connection:
                rows = connection.execute(query).all()
        finally:
            engine.dispose()
    entered = frozenset(row.id for row in rows if any(row[1:]))
    return entered or frozenset(row.id for row in rows) or None
