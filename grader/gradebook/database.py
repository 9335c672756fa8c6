"""The gradebook as a database: open or create it, write in transactions, and turn its errors into advice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.errors import ExpectedError, how_to_install
from grader.files import private_folder
from grader.imports import nbgrader_tables

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

PATIENCE = 30  # seconds to wait for another writer
COURSE = "default_course"  # nbgrader's name for the one course of a gradebook
_ADVISORY_LOCK = 0x756E726F6C6C6564  # for PostgreSQL: only one run at a time creates tables or registers cells


class GradebookError(ExpectedError):
    """The gradebook cannot be read or written as asked; the message says why and what to do next."""


def gradebook_url(term: Path) -> str:
    """The database URL of a term folder's own gradebook: TERM/gradebook.db."""
    from sqlalchemy import URL

    return URL.create("sqlite", database=str((term / "gradebook.db").resolve())).render_as_string()


@contextmanager
def open_engine(db_url: str) -> Iterator[Engine]:
    """Connections to the gradebook, which is created if it does not exist. Raises GradebookError."""
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


@contextmanager
def open_existing(db_url: str, table: str) -> Iterator[Connection | None]:
    """A connection for reading; None if there is no gradebook, or if it has no such table. Nothing is created.

    Raises GradebookError.
    """
    with explained(db_url):
        from sqlalchemy import create_engine, inspect, make_url

        url = make_url(patient(db_url))
        if url.get_backend_name() == "sqlite" and "uri" not in url.query and not Path(url.database or "").is_file():
            yield None  # connecting would create it
            return
        engine = create_engine(url)
        try:
            with engine.connect() as connection:
                yield connection if inspect(connection).has_table(table) else None
        finally:
            engine.dispose()


def patient(db_url: str) -> str:
    """The URL, with a time to wait for another writer if it has none. Only SQLite takes this time from the URL."""
    from sqlalchemy import make_url

    url = make_url(db_url)
    if url.get_backend_name() == "sqlite" and "timeout" not in url.query:
        url = url.update_query_dict({"timeout": str(PATIENCE)})
    return url.render_as_string(hide_password=False)


@contextmanager
def transaction(engine: Engine, *, alone: bool = False) -> Iterator[Connection]:
    """A transaction: everything is written, or nothing. If `alone`, no other run creates tables or registers cells."""
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")  # wait for other writers now, not in the middle
        elif alone and engine.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})")
        try:
            yield connection
            connection.commit()
        except BaseException:
            connection.invalidate()  # a failed commit leaves SQLite's transaction open, so close the connection
            raise


def _be_patient(connection: Any, _: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = '{PATIENCE}s'")
    connection.commit()


def _make_or_check(engine: Engine) -> None:
    from sqlalchemy import inspect

    if not inspect(engine).get_table_names():
        with transaction(engine, alone=True) as connection:
            if not inspect(connection).get_table_names():  # unless another run has just created them
                _make_tables(connection)
    _refuse_older(engine)


def _make_tables(connection: Connection) -> None:
    """Create the same tables as `nbgrader.api.Gradebook`, but in one transaction and without running `alembic`."""
    from sqlalchemy import text

    api = nbgrader_tables()
    api.Base.metadata.create_all(bind=connection)
    connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
    connection.execute(text("INSERT INTO alembic_version (version_num) VALUES (:head)"), {"head": _newest_revision()})
    connection.execute(api.Course.__table__.insert().values(id=COURSE))


def _newest_revision() -> str | None:
    """nbgrader's latest revision, on which no other builds. It is read from the files, because `alembic` takes long to
    import; `alembic` is used only if the files are not clear.
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
    """Refuse an older gradebook. nbgrader would add the missing tables but not the columns, and then cannot upgrade."""
    from sqlalchemy import inspect

    found = inspect(engine).get_multi_columns()
    columns = {(table, column["name"]) for (_, table), columns in found.items() for column in columns}
    for table in nbgrader_tables().Base.metadata.sorted_tables:
        for column in table.columns:
            if (table.name, column.name) not in columns:
                raise GradebookError(
                    f"Gradebook {shown(str(engine.url))}: it has no {table.name}.{column.name}. "
                    "It was made by an older nbgrader or another program. Back it up, then run  nbgrader db upgrade"
                )


def _make_folder(db_url: str) -> None:
    """Create the folder of an SQLite file, because SQLite creates only the file."""
    from sqlalchemy import make_url

    url = make_url(db_url)
    if url.get_backend_name() == "sqlite" and url.database not in (None, "", ":memory:") and "uri" not in url.query:
        try:
            private_folder(Path(url.database).parent)
        except OSError as error:
            raise GradebookError(f"Gradebook {shown(db_url)}: its folder cannot be created: {error}.") from error


# --- complaints ---------------------------------------------------------------------------------------------


@contextmanager
def explained(db_url: str) -> Iterator[None]:
    """Turn an error of the database or of nbgrader into a GradebookError that says what to do."""
    try:
        from sqlalchemy.exc import SQLAlchemyError
    except ImportError as error:
        raise GradebookError(f"{error}. {_INSTALL}") from error

    try:
        yield
    except (SQLAlchemyError, ImportError) as error:
        raise GradebookError(_explain(db_url, error)) from error


_INSTALL = f"Install nbgrader. {how_to_install('autograde')}"
_BUSY = "Another program is writing to it. Wait until it has finished, then repeat this command."
_FULL = "Free some disk space (df -h shows where), then repeat this command."
_DAMAGED = "Restore it from a backup, or move it away and grade again."
_ADVICE = (
    ("locked", _BUSY),
    ("lock timeout", _BUSY),
    ("deadlock", _BUSY),
    ("disk is full", _FULL),
    ("No space left", _FULL),
    ("unable to open", "Make sure that its folder exists and that you have permission to write there."),
    ("readonly", "You have no permission to write to it. Check its owner and permissions (ls -l)."),
    ("read-only", "You have no permission to write to it. Ask the administrator of the database."),
    ("permission denied", "You have no permission to write to it. Ask the administrator of the database."),
    ("not a database", _DAMAGED),
    ("malformed", f"It is damaged. {_DAMAGED}"),
    ("disk I/O error", "The disk failed, or the file is not on a local disk. Check this, then repeat this command."),
    ("no such", "It was made by an older nbgrader. Back it up, then run  nbgrader db upgrade"),
    ("too long", "Names can have at most 128 characters."),
    ("No module named 'psycopg", f"Install its driver. {how_to_install('postgres')}"),
    ("No module named 'nbgrader'", _INSTALL),
    ("No module named", "Install the driver of this kind of database into this environment."),
    ("Could not parse", "Write it as  sqlite:///term/gradebook.db  or  postgresql+psycopg://user@host/name"),
    ("authentication failed", "Correct the user and password in its URL."),
    ("does not exist", "Create it (createdb), or correct the name in its URL."),
    ("connection", "Make sure that the database server is running and can be reached, then repeat this command."),
)


def _explain(db_url: str, error: Exception) -> str:
    complaint = " ".join(str(getattr(error, "orig", None) or error).split())
    advice = next((advice for words, advice in _ADVICE if words in complaint), None)
    return f"Gradebook {shown(db_url)}: {complaint.rstrip('.')}. {advice or 'Fix this, then repeat the command.'}"


def shown(db_url: str) -> str:
    """The URL without its password."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        return make_url(db_url).render_as_string(hide_password=True)
    except ArgumentError:
        return repr(db_url)
