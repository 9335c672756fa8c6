"""`grader lint EXERCISE --watch`: check an exercise again whenever one of its files is saved.

The watching process imports what is slow to import, once, and runs nothing of the course. Each run is a fork of it, so
that every run sees the files as they are now, and a run that is out of date can be ended. A run begins with what takes
little time; it sends its findings as they come, and the results of the mistakes, which the next run uses again.
"""

from __future__ import annotations

import ast
import importlib
import multiprocessing
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from grader.author.course import Course
from grader.author.lint import (
    OTHER_SEEDS,
    Subject,
    cases_are_telling,
    misconceptions_are_named,
    nothing_is_left_to_write,
    page_links_to_it,
    right_ones_pass,
    says,
    solution_is_not_shown,
    stub_is_not_implemented,
    why_is_told,
)
from grader.author.memory import Memory, mistake_digests, variant_keys
from grader.author.record import (
    PUBLIC_SEED,
    Observer,
    checks_folder,
    fixtures_path,
    load_spec,
    mistaken,
    reference_path,
)
from grader.author.spec import Spec
from grader.checking.evaluate import observe
from grader.errors import ExpectedError
from grader.manifest import Place
from grader.released import MESSAGES, OWN_JUDGE

PAUSE = 0.1  # seconds between two looks at the files
Found = tuple[str, list[str]]


class WatchError(ExpectedError):
    """The system cannot watch; the message says why."""


@dataclass
class Before:
    """What a run knows of the runs before it."""

    memory: Memory = field(default_factory=Memory)
    mistakes: dict[str, str] | None = None  # their digests
    pieces: dict[str, list[tuple[int, str, str]]] = field(default_factory=dict)  # of pages and hints


def answers(
    root: Path, name: str, before: Before, tell: Callable[[str, Any], None] = lambda *_: None
) -> Iterator[Found]:
    """Pairs (the rule, the problems found), the quick ones first. `tell` receives what the next run should know.
    Raises ExpectedError.
    """
    course = Course(root, before.pieces)
    place = course.manifest.place(name)
    left = nothing_is_left_to_write(Subject(course, place))
    yield says(nothing_is_left_to_write), left
    if left:
        return
    yield says(page_links_to_it), page_links_to_it(Subject(course, place))
    spec, source = load_spec(root, place), (checks_folder(root, place) / f"{name}.py").read_text("utf-8")
    imported = imported_files(root)
    tell("files", imported)
    digests, known = mistake_digests(spec, source), before.mistakes
    changed = [] if known is None else [name for name, digest in digests.items() if known.get(name) != digest]
    others = [path for path in (*files_of(root, place), *imported) if _matters(path, name)]
    keys, memory = variant_keys(spec, source, others), before.memory
    ways = memory.remembering(mistaken, "recorded", keys), memory.remembering(_observe, "observed", keys)
    public, other = (_subject(course, place, spec, seeds, *ways) for seeds in ((PUBLIC_SEED,), OTHER_SEEDS))
    quick = public.without_mistakes()
    for rule in (right_ones_pass, stub_is_not_implemented, why_is_told, solution_is_not_shown):
        yield f"{says(rule)} (public cases)" if rule is right_ones_pass else says(rule), rule(quick)
    if changed:
        what = f"The mistakes that you have changed are named (public cases): {', '.join(changed)}"
        yield what, misconceptions_are_named(public, changed)
    tell("mistakes", digests)  # only now: if a run is ended before, these mistakes come first in the next one, too
    yield f"{says(misconceptions_are_named)} (public cases)", misconceptions_are_named(public)
    tell("memory", memory.new)
    everything = _subject(course, place, spec, (PUBLIC_SEED, *OTHER_SEEDS))
    yield says(cases_are_telling), cases_are_telling(everything.without_mistakes())
    yield f"{says(right_ones_pass)} (other seeds)", right_ones_pass(other.without_mistakes())
    yield f"{says(misconceptions_are_named)} (other seeds)", misconceptions_are_named(other)
    tell("memory", memory.new)


def _subject(course: Course, place: Place, spec: Spec, seeds: tuple[int, ...], *ways: Observer) -> Subject:
    subject = Subject(course, place, seeds, *ways)
    subject.__dict__["spec"] = spec  # a run loads it once
    return subject


def _observe(function: Callable[..., Any], checks: Any) -> Any:
    return observe(checks, function)


def files_of(root: Path, place: Place) -> list[Path]:
    """The files that an author of this exercise edits."""
    folder, name = checks_folder(root, place), place.exercise.id
    return [
        folder / f"{name}.py",
        folder / MESSAGES.format(name),
        folder / OWN_JUDGE.format(name),
        fixtures_path(root, place.chapter),
        reference_path(root, place),
        root / f"{place.page_path}.md",
        root / "course.toml",
    ]


def imported_files(root: Path) -> list[Path]:
    """The course's own modules that have been imported, such as solutions of other chapters."""
    files = {str(getattr(module, "__file__", None)) for module in list(sys.modules.values())}
    folders = (f"{root / 'solutions'}/", f"{root / 'experiments'}/")
    return sorted(Path(file) for file in files if file.startswith(folders))


def _matters(path: Path, name: str) -> bool:
    """Whether the results of mistakes depend on a file, besides the spec."""
    return path.suffix == ".py" and path.stem != name and path.exists()


def warm(root: Path, name: str) -> Before:
    """Import what the runs will need, and read the pages. Nothing of the course is run."""
    course = Course(root)
    place = course.manifest.place(name)
    before = Before(pieces=course.read)
    with suppress(Exception):  # what is wrong with the files is the runs' to tell
        _ = course.notebooks[name].student
        _ = course.shown
    for path in files_of(root, place):
        if path.suffix == ".py" and path.exists():
            with suppress(SyntaxError, UnicodeDecodeError):
                _import(root, _imports(path.read_text("utf-8")))
    return before


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


def _run(connection: Connection, root: Path, name: str, before: Before) -> None:
    """One run, in a fork."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the watching process's to answer
    had = set(sys.modules)
    try:
        for found in answers(root, name, before, lambda what, value: connection.send((what, value))):
            connection.send(("found", found))
    except ExpectedError as error:
        connection.send(("found", ("The files can be read", [str(error)])))
    except Exception:
        connection.send(("found", ("The run reaches its end", [traceback.format_exc()])))
    connection.send(("end", [module for module in sys.modules if module not in had]))


@dataclass
class Run:
    """A run in progress."""

    root: Path
    name: str
    before: Before

    def __post_init__(self) -> None:
        context = multiprocessing.get_context("fork")
        self.connection, theirs = context.Pipe(duplex=False)
        arguments = (theirs, self.root, self.name, self.before)
        self.process = context.Process(target=_run, args=arguments, daemon=True)
        self.process.start()
        theirs.close()

    def received(self, seconds: float) -> tuple[str, Any] | None:
        """The next message, or None if there is none within this time."""
        try:
            return self.connection.recv() if self.connection.poll(seconds) else None
        except (EOFError, OSError):
            return "end", []

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


def watch(root: Path, name: str, runs: int | None = None) -> Iterator[tuple[str, Any]]:
    """Check an exercise, and again after each change, until interrupted or until so many runs have ended.

    Yields ("begin", the changed files), then ("found", (the rule, the problems, seconds since the change)) for each
    rule, then ("end", seconds). A change in the middle of a run begins another one. Raises ExpectedError.
    """
    if "fork" not in multiprocessing.get_all_start_methods():
        raise WatchError("This system cannot fork processes, so --watch does not work. Run the command without it.")
    before = warm(root, name)
    watched = set(files_of(root, Course(root).manifest.place(name)))
    seen = _times(watched)
    changed: list[Path] = []
    while runs is None or runs > 0:
        yield "begin", changed
        begun = time.monotonic()
        run, ended = Run(root, name, before), False
        try:
            while not (changed := _differ(seen, now := _times(watched))):
                if ended:
                    time.sleep(PAUSE)
                    continue
                message = run.received(PAUSE)
                if message is None:
                    continue
                what, value = message
                if what == "found":
                    yield "found", (*value, time.monotonic() - begun)
                elif what == "files":
                    new = set(value) - watched
                    watched |= new
                    seen |= _times(new)
                elif what == "mistakes":
                    before.mistakes = value
                elif what == "memory":
                    before.memory.known |= value
                else:
                    ended = True
                    yield "end", time.monotonic() - begun
                    if runs is not None and (runs := runs - 1) == 0:
                        return
                    _import(root, value)  # what PyTorch imports only when it is first used would cost each run seconds
            seen = now
        finally:
            run.stop()


def _times(paths: set[Path]) -> dict[Path, tuple[int, int] | None]:
    found: dict[Path, tuple[int, int] | None] = {}
    for path in paths:
        try:
            status = path.stat()
            found[path] = status.st_mtime_ns, status.st_size
        except OSError:
            found[path] = None
    return found


def _differ(old: dict[Path, Any], new: dict[Path, Any]) -> list[Path]:
    return sorted(path for path, value in new.items() if path in old and old[path] != value)
