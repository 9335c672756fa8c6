"""`grader lint EXERCISE --watch`: check an exercise again whenever one of its files is saved.

The watching process imports what is slow to import, once, and runs nothing of the course. Each run is a fork of it that
follows the rules of `lint`, so that every run sees the files as they are now, and a run that is out of date can be
ended. What an exercise has passed is not checked again until what the rule depends on has changed, and the checks of
all seeds are kept, so a run computes only what a change concerns.
"""

from __future__ import annotations

import ast
import importlib
import multiprocessing
import signal
import sys
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from grader.author.course import Course
from grader.author.lint import lint_course
from grader.errors import ExpectedError
from grader.manifest import Place
from grader.spec.folders import PARTS, exercise_folder, fixtures_path, reference_path

PAUSE = 0.1  # seconds between two looks at the files
Times = dict[Path, tuple[int, int] | None]
Event = tuple[str, Any]


class WatchError(ExpectedError):
    """The system cannot watch; the message says why."""


def files_of(root: Path, place: Place) -> list[Path]:
    """The files that an author of this exercise edits."""
    folder = exercise_folder(root, place)
    page, chapter = root / f"{place.page_path}.md", place.chapter
    return [
        *(folder / part for part in PARTS),
        fixtures_path(root, chapter),
        reference_path(root, place),
        page,
        root / "course.toml",
    ]


def imported_files(root: Path) -> list[Path]:
    """The course's own modules that have been imported, such as solutions of other chapters."""
    files = {str(getattr(module, "__file__", None)) for module in list(sys.modules.values())}
    folders = (f"{root / 'solutions'}/", f"{root / 'experiments'}/")
    return sorted(Path(file) for file in files if file.startswith(folders))


def warm(root: Path, name: str) -> None:
    """Import what the runs will need. Nothing of the course is run."""
    for path in files_of(root, Course(root).manifest.place(name)):
        if path.suffix == ".py" and path.exists():
            with suppress(SyntaxError, UnicodeDecodeError):
                _import(root, _imports(path.read_text("utf-8")))


def _import(root: Path, modules: Iterable[str]) -> None:
    """Import modules, apart from the course's own, which each run must import itself."""
    for module in modules:
        if not (root / module.partition(".")[0]).exists():
            with suppress(Exception):
                importlib.import_module(module)


def _imports(source: str) -> set[str]:
    """The top-level modules that a source imports."""
    nodes = list(ast.walk(ast.parse(source)))
    names = chain.from_iterable([alias.name for alias in node.names] for node in nodes if isinstance(node, ast.Import))
    of = (node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level)
    return {name.partition(".")[0] for name in chain(names, of)}


def _run(connection: Connection, root: Path, name: str) -> None:
    """One run, in a fork."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the watching process's to answer
    had = set(sys.modules)
    try:
        for found in lint_course(root, name):
            connection.send(("found", found))
    except ExpectedError as error:
        connection.send(("found", ("The files can be read", [str(error)])))
    except Exception:
        connection.send(("found", ("The run reaches its end", [traceback.format_exc()])))
    # What PyTorch imports only when it is first used would cost each run seconds.
    connection.send(("end", ([module for module in sys.modules if module not in had], imported_files(root))))


def watch(root: Path, name: str, runs: int | None = None) -> Iterator[Event]:
    """Check an exercise, and again after each change, until interrupted or until so many runs have ended.

    Yields ("begin", the changed files), then ("found", (the rule, the problems, seconds since the change)) for each
    rule, then ("end", seconds). A change in the middle of a run begins another one. Raises ExpectedError.
    """
    if "fork" not in multiprocessing.get_all_start_methods():
        raise WatchError("This system cannot fork processes, so --watch does not work. Run the command without it.")
    warm(root, name)
    watched = set(files_of(root, Course(root).manifest.place(name)))
    seen, changed = _times(watched), list[Path]()
    context = multiprocessing.get_context("fork")
    while runs is None or runs > 0:
        yield "begin", changed
        begun = time.monotonic()
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_run, args=(theirs, root, name), daemon=True)
        process.start()
        theirs.close()
        is_running = True
        try:
            while not (changed := _differ(seen, now := _times(watched))):
                if not is_running:
                    time.sleep(PAUSE)
                elif (event := _received(ours)) is not None and event[0] == "found":
                    yield "found", (*event[1], time.monotonic() - begun)
                elif event is not None:
                    is_running = False
                    yield "end", time.monotonic() - begun
                    modules, files = event[1]
                    _import(root, modules)
                    seen |= _times(set(files) - watched)
                    watched |= set(files)
                    if runs is not None and (runs := runs - 1) == 0:
                        return
            seen = now
        finally:
            process.kill()
            process.join()
            ours.close()


def _received(connection: Connection) -> tuple[str, tuple[list[str], list[Path]]] | None:
    """The next message, or None if there is none within the pause."""
    try:
        return connection.recv() if connection.poll(PAUSE) else None
    except (EOFError, OSError):
        return "end", ([], [])


def _times(paths: set[Path]) -> Times:
    found: Times = {}
    for path in paths:
        try:
            status = path.stat()
            found[path] = status.st_mtime_ns, status.st_size
        except OSError:
            found[path] = None
    return found


def _differ(old: Times, new: Times) -> list[Path]:
    return sorted(path for path, value in new.items() if path in old and old[path] != value)
