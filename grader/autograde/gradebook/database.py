"""The gradebook as a database: opened or made, written in whole transactions, its complaints told in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.autograde.imports import nbgrader_tables

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

PATIENCE = 30  # seconds to wait for whoever else is writing
COURSE = "default_course"  # nbgrader's name for the one course of a gradebook
_ADVISORY_LOCK = 0x756E726F6C6C6564  # for PostgreSQL: one run at a time makes tables or registers cells


class GradebookError(Exception):
    """The gradebook cannot be read or written as asked; the message says why and what to do next."""


def gradebook_url(term: Path) -> str:
    """The database URL of a term folder's own gradebook: TERM/gradebook.db."""
    from sqlalchemy import URL

    return URL.create("sqlite", database=str((term / "gradebook.db").resolve())).render_as_string()


@contextmanager
def open_engine(db_url: str) -> Iterator[Engine]:
    """Connections to the gradebook, which is made if there is none. Raises GradebookError."""
    with explained(db_url):
        from sqlalchemy import create_engine, event

        _make_folder(db_url)
        engine = create_engine(patient(db_url))
        if engine.dialect.name == "postgresql":
            event.listen(engine, "connect", _be_patient)
    try:
        with explained(db_url):
            _make_or_check(engine)
        yield engine
    finally:
        engine.dispose()


def patient(db_url: str) -> str:
    """The URL, with the time to wait for another writer where it gives none; SQLite alone has it there."""
    from sqlalchemy import make_url

    url = make_url(db_url)
    if url.get_backend_name() == "sqlite" and "timeout" not in url.query:
        url = url.update_query_dict({"timeout": str(PATIENCE)})
    return url.render_as_string(hide_password=False)


@contextmanager
def transaction(engine: Engine, *, alone: bool = False) -> Iterator[Connection]:
    """All that is written inside is written together or not at all. `alone`: no other run makes or registers now."""
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")  # wait for other writers now, not half-way
        elif alone and engine.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})")
        try:
            yield connection
            connection.commit()
        except BaseException:
            connection.invalidate()  # a commit that failed leaves SQLite's transaction open: hang up
            raise


def _be_patient(connection: Any, _: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = '{PATIENCE}s'")
    connection.commit()


def _make_or_check(engine: Engine) -> None:
    from sqlalchemy import inspect

    if not inspect(engine).get_table_names():
        with transaction(engine, alone=True) as connection:
            if not inspect(connection).get_table_names():  # another run may have been faster
                _make_tables(connection)
    _refuse_older(engine)


def _make_tables(connection: Connection) -> None:
    """What `nbgrader.api.Gradebook` makes, in one transaction, and without its bare call of `alembic`."""
    from sqlalchemy import text

    api = nbgrader_tables()
    api.Base.metadata.create_all(bind=connection)
    connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
    connection.execute(text("INSERT INTO alembic_version (version_num) VALUES (:head)"), {"head": _newest_revision()})
    connection.execute(api.Course.__table__.insert().values(id=COURSE))


def _newest_revision() -> str | None:
    """The last of nbgrader's revisions, on which no other builds. `alembic` takes long to import, and is asked only
    where the files do not tell.
    """
    from nbgrader.dbutil import ALEMBIC_DIR

    texts = [path.read_text("utf-8") for path in Path(ALEMBIC_DIR, "versions").glob("*.py")]
    told = [dict(re.findall(r"^(revision|down_revision) = ['\"](\w+)['\"]$", text, re.MULTILINE)) for text in texts]
    last = {each.get("revision") for each in told} - {each.get("down_revision") for each in told}
    if len(last) == 1:
        return last.pop()
    from alembic.script import ScriptDirectory

    return ScriptDirectory(ALEMBIC_DIR).get_current_head()


def _refuse_older(engine: Engine) -> None:
    """nbgrader adds the tables that an older gradebook lacks and not the columns, after which no upgrade works."""
    from sqlalchemy import inspect

    found = inspect(engine).get_multi_columns()
    columns = {(table, column["name"]) for (_, table), columns in found.items() for column in columns}
    for table in nbgrader_tables().Base.metadata.sorted_tables:
        for column in table.columns:
            if (table.name, column.name) not in columns:
                raise GradebookError(
                    f"Gradebook {shown(str(engine.url))}: it has no {table.name}.{column.name}. "
                    "An older nbgrader made it, or another program: back it up, then run  nbgrader db upgrade"
                )


def _make_folder(db_url: str) -> None:
    """SQLite makes its file, not the folder around it."""
    from sqlalchemy import make_url

    url = make_url(db_url)
    if url.get_backend_name() == "sqlite" and url.database not in (None, "", ":memory:") and "uri" not in url.query:
        try:
            Path(url.database).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise GradebookError(f"Gradebook {shown(db_url)}: its folder cannot be made: {error}.") from error


# --- complaints ---------------------------------------------------------------------------------------------


@contextmanager
def explained(db_url: str) -> Iterator[None]:
    """Turn what a database or nbgrader complains about into a GradebookError that says what to do."""
    try:
        from sqlalchemy.exc import SQLAlchemyError
    except ImportError as error:
        raise GradebookError(f"{error}. {_INSTALL}") from error

    try:
        yield
    except (SQLAlchemyError, ImportError) as error:
        raise GradebookError(_explain(db_url, error)) from error


_INSTALL = "Install nbgrader:  pip install 'unrolled-grader[autograde]'"
_BUSY = "Another program is writing to it. Wait until that has finished, then run this again."
_FULL = "There is no room left. Make some (df -h shows where), then run this again."
_DAMAGED = "Restore it from a backup, or move it away and grade again."
_ADVICE = (
    ("locked", _BUSY),
    ("lock timeout", _BUSY),
    ("deadlock", _BUSY),
    ("disk is full", _FULL),
    ("No space left", _FULL),
    ("unable to open", "Make sure that its folder exists and that you may write there."),
    ("readonly", "You may not write to it: look at its owner and mode (ls -l)."),
    ("read-only", "You may not write to it: ask who runs the database."),
    ("permission denied", "You may not write to it: ask who runs the database."),
    ("not a database", _DAMAGED),
    ("malformed", f"It is damaged. {_DAMAGED}"),
    ("disk I/O error", "The disk failed, or its file is not on a local disk: look there, then run this again."),
    ("no such", "An older nbgrader made it: back it up, then run  nbgrader db upgrade"),
    ("too long", "Its columns hold names of at most 128 characters."),
    ("No module named 'psycopg", "Install its driver:  pip install 'unrolled-grader[postgres]'"),
    ("No module named 'nbgrader'", _INSTALL),
    ("No module named", "Install the driver of this kind of database into this environment."),
    ("Could not parse", "Write it as  sqlite:///term/gradebook.db  or  postgresql+psycopg://user@host/name"),
    ("authentication failed", "Put the right user and password into its URL."),
    ("does not exist", "Make it (createdb), or put the right name into its URL."),
    ("connection", "Make sure that the database server runs and can be reached, then run this again."),
)


def _explain(db_url: str, error: Exception) -> str:
    complaint = " ".join(str(getattr(error, "orig", None) or error).split())
    advice = next((advice for words, advice in _ADVICE if words in complaint), None)
    return f"Gradebook {shown(db_url)}: {complaint.rstrip('.')}. {advice or 'Mend this, then run it again.'}"


def shown(db_url: str) -> str:
    """The URL without its password."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        return make_url(db_url).render_as_string(hide_password=True)
    except ArgumentError:
        return repr(db_url)
