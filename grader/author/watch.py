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
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import chain
from multiprocessing.connection import Connection
from pathlib import Path

from grader.author.course import Course
from grader.author.lint import lint_course
from grader.errors import ExpectedError
from grader.manifest import Place
from grader.spec.folders import PARTS, exercise_folder, fixtures_path, reference_path

PAUSE = 0.1  # seconds between two looks at the files
Times = dict[Path, tuple[int, int] | None]  # of each file: when it was changed, and its size; None if it is not there


@dataclass(frozen=True)
class Begun:
    """A run begins, because these files have been saved; none for the first run."""

    saved: list[Path]


@dataclass(frozen=True)
class Followed:
    """A rule was followed: the problems that it has found, and the seconds since the run began."""

    rule: str
    problems: list[str]
    seconds: float


@dataclass(frozen=True)
class Ended:
    """A run has ended: the seconds since it began, and the modules and the course's files that it has imported."""

    seconds: float
    modules: Sequence[str] = ()
    files: Sequence[Path] = ()


Event = Begun | Followed | Ended


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


def _run(connection: Connection, root: Path, name: str, begun: float) -> None:
    """One run, in a fork."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the watching process's to answer
    had = set(sys.modules)

    def tell(rule: str, problems: list[str]) -> None:
        connection.send(Followed(rule, problems, time.monotonic() - begun))

    try:
        for found in lint_course(root, name):
            tell(*found)
    except ExpectedError as error:
        tell("The files can be read", [str(error)])
    except Exception:
        tell("The run reaches its end", [traceback.format_exc()])
    # What PyTorch imports only when it is first used would cost each run seconds.
    modules = [module for module in sys.modules if module not in had]
    connection.send(Ended(time.monotonic() - begun, modules, imported_files(root)))


def watch(root: Path, name: str) -> Generator[Event, None, None]:
    """Check an exercise, and again after each change, until interrupted or closed. A change in the middle of a run
    begins another one. Raises ExpectedError.
    """
    if "fork" not in multiprocessing.get_all_start_methods():
        raise WatchError("This system cannot fork processes, so --watch does not work. Run the command without it.")
    warm(root, name)
    seen, saved = _times(files_of(root, Course(root).manifest.place(name))), Times()
    while True:
        yield Begun(sorted(saved))
        saved = yield from _until_a_change(root, name, seen)
        seen |= saved


def _until_a_change(root: Path, name: str, seen: Times) -> Generator[Event, None, Times]:
    """Run once, and wait until one of the files in `seen` changes, to which those that the run has imported are added.
    Return what has changed.
    """
    with closing(_messages(root, name)) as messages:
        while not (saved := _changed(seen)):
            message = next(messages)
            if message is not None:
                yield message
            if isinstance(message, Ended):
                _import(root, message.modules)
                seen |= _times(set(message.files) - seen.keys())
    return saved


def _messages(root: Path, name: str) -> Generator[Followed | Ended | None, None, None]:
    """What a run tells, and None after each pause in which it tells nothing. The run is ended with the generator."""
    context, begun = multiprocessing.get_context("fork"), time.monotonic()
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(theirs, root, name, begun), daemon=True)
    process.start()
    theirs.close()
    message: Followed | Ended | None = None
    try:
        while not isinstance(message, Ended):
            try:
                message = ours.recv() if ours.poll(PAUSE) else None
            except (EOFError, OSError):  # it was killed
                message = Ended(time.monotonic() - begun)
            yield message
        while True:
            time.sleep(PAUSE)
            yield None
    finally:
        process.kill()
        process.join()
        ours.close()


def _times(paths: Iterable[Path]) -> Times:
    found: Times = {}
    for path in paths:
        try:
            status = path.stat()
            found[path] = status.st_mtime_ns, status.st_size
        except OSError:
            found[path] = None
    return found


def _changed(seen: Times) -> Times:
    return {path: now for path, now in _times(seen).items() if now != seen[path]}
