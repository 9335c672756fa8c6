"""A PostgreSQL server of a test's own: a new cluster in a temporary folder, reached by a Unix socket alone."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from sqlalchemy import create_engine, text

MISSING = "PostgreSQL's server is missing: install Debian's package `postgresql`."


def programs() -> Path:
    """The folder of initdb and postgres, which Debian keeps off the PATH. Raises FileNotFoundError."""
    found = [Path(path) for path in (shutil.which("initdb"),) if path]
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if not found:
        raise FileNotFoundError(MISSING)
    return found[-1].resolve().parent


@dataclass
class Server:
    socket: Path
    _numbers: Iterator[int] = field(default_factory=count)

    def url(self, database: str) -> str:
        return f"postgresql+psycopg://grader@/{database}?host={self.socket}"

    def new_database(self, template: str = "template1") -> str:
        """The URL of a new database, empty or a copy of another to which nobody is connected."""
        name = f"gradebook{next(self._numbers)}"
        self.run(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self.url(name)

    def run(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        engine = create_engine(self.url(database), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            result = connection.execute(text(statement))
            rows = [tuple(row) for row in result] if result.returns_rows else []
        engine.dispose()
        return rows


@contextmanager
def running(*, fsync: bool = False) -> Iterator[Server]:
    """Start one, and stop it at the end, also where the tests are killed. As root it runs as the user `postgres`."""
    bin_folder = programs()
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    as_user = ["setpriv"]
    try:
        if os.getuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
            as_user += ["--reuid=postgres", "--regid=postgres", "--clear-groups"]
        data, log = folder / "data", folder / "log"
        initdb = [bin_folder / "initdb", "-D", data, "-U", "grader", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"]
        subprocess.run([*as_user, "--", *initdb], cwd=folder, check=True, capture_output=True)
        options = ["-c", "listen_addresses=", "-c", f"unix_socket_directories={folder}"]
        options += ["-c", f"fsync={'on' if fsync else 'off'}"]
        server = [*as_user, "--pdeathsig=INT", "--", bin_folder / "postgres", "-D", data, *options]
        with log.open("wb") as out, subprocess.Popen(server, cwd=folder, stdout=out, stderr=out) as process:
            while subprocess.run([bin_folder / "pg_isready", "-q", "-h", folder], check=False).returncode:
                assert process.poll() is None, log.read_text("utf-8")
            try:
                yield Server(folder)
            finally:
                process.send_signal(signal.SIGQUIT)  # at once; nothing of it is kept
    finally:
        shutil.rmtree(folder, ignore_errors=True)
