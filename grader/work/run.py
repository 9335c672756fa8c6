"""`grader check`: run a notebook's cells in a process of its own, as grading does, and collect what they report."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import msgspec

from grader import journal
from grader.cells import STUB, check_id, grade_id
from grader.manifest import Chapter, Manifest, Notebook
from grader.submission.bindings import lacks_code
from grader.submission.check_cells import binds, check_of, checked_function, is_only_a_check
from grader.submission.match import turned_to_text
from grader.submission.notebook import LONG
from grader.time_limit import on_own_machine
from grader.work.events import Begin, Checked, CodeCell, End, Event, Finished, Request
from grader.work.notebooks import Work

GRACE = 5.0  # seconds in which code may end after it was interrupted
_POLL = 0.1  # seconds; on Windows, Ctrl-C is noticed only between two waits
_LAST = 20  # lines of standard error that are kept

_decoder = msgspec.json.Decoder(Event)


@dataclass
class Outcome:
    """What has happened so far: the latest result of each exercise, whether all cells have run, and, if the process
    ended early, where and why.
    """

    results: dict[str, Checked] = field(default_factory=dict)
    finished: bool = False
    cell: int | None = None
    exercise: str | None = None
    hung: bool = False
    errors: tuple[str, ...] = ()


def request_for(
    manifest: Manifest,
    chapter: Chapter,
    notebook: Notebook,
    work: Work,
    python: Callable[[str], str],
    seconds: float | None = None,
    width: int | None = None,
) -> Request:
    """What is to run. `seconds` replaces the time limits of cells and exercises, and `width` is that of the terminal,
    if the report goes to one. Cells that are tagged as long are left out, as in grading.
    """
    limits = manifest.limits(chapter)

    def limit(given: float) -> float:
        return seconds if seconds is not None else on_own_machine(given)

    return Request(
        tuple(_cells(notebook, work, python)),
        {each.id: limit(each.seconds or limits.seconds_per_exercise) for each in notebook.exercises},
        limit(limits.seconds_per_cell),
        limits.output_bytes,
        width,
    )


def _cells(notebook: Notebook, work: Work, python: Callable[[str], str]) -> Iterator[CodeCell]:
    """The code cells as Python, and which of them is the check cell of which exercise, decided as grading does. One
    that does not check a function by its name checks the exercise's, too.
    """
    checks = {check_id(each.id): each.id for each in notebook.exercises}
    left = set(checks.values())
    for index, source in code_of(notebook, work):
        if takes_long(work, index) or _is_stub_left(notebook, work, source):
            continue
        exercise = checks.get(grade_id(work.cells[index]) or "") or next(
            (name for name in checks.values() if is_only_a_check(source, name)), None
        )
        if exercise not in left:
            yield CodeCell(index, python(source))
            continue
        left.discard(exercise)
        function, is_run = checked_function(source, exercise), binds(source)
        if is_run:
            yield CodeCell(index, python(source), exercise)
        if not (is_run and function):
            yield CodeCell(index, check_of(exercise, function), exercise)


def code_of(notebook: Notebook, work: Work) -> list[tuple[int, str]]:
    """The code cells, with text cells that were code: index and source."""
    turned = turned_to_text(work.cells, [each.id for each in notebook.exercises])
    return sorted([*work.code, *((index, work.cells[index]["source"]) for index in turned)])


def _is_stub_left(notebook: Notebook, work: Work, source: str) -> bool:
    """Whether a cell is the released one of an exercise that another cell defines."""
    names = [each.id for each in notebook.exercises if STUB.format(id=each.id) in source]
    return any(lacks_code(source, name) and work.is_written(name) for name in names)


def takes_long(work: Work, index: int) -> bool:
    """Whether a cell is tagged as long: no points depend on it, so it is left out."""
    tags = work.cells[index]["metadata"].get("tags")
    return isinstance(tags, list) and LONG in tags


def run(request: Request, folder: Path, show: Callable[[Event], None]) -> Outcome:
    """Run the cells in this folder, and call `show` with each event. Ends the process when interrupted by Ctrl-C."""
    environment = {
        **os.environ,
        "MPLBACKEND": "agg",  # no windows
        "PYTHONIOENCODING": "utf-8:backslashreplace",
    }
    environment.pop("NBGRADER_EXECUTION", None)  # a wrong answer would raise an exception
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "grader.work.session"],  # -P: a file grader.py next to the notebook is not ours
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environment,
        start_new_session=True,  # Ctrl-C reaches the parent alone, which then ends this process
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),  # the same on Windows
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    errors: deque[str] = deque(maxlen=_LAST)
    events: queue.Queue[Event | None] = queue.Queue()
    readers = [
        threading.Thread(target=_read_events, args=(process.stdout, events), daemon=True),
        threading.Thread(target=_read_errors, args=(process.stderr, errors), daemon=True),
    ]
    for reader in readers:
        reader.start()
    try:
        with suppress(OSError):  # if the process could not start, its standard error says why
            process.stdin.write(msgspec.json.encode(request) + b"\n")
            process.stdin.flush()
        outcome = _follow(events, show)
    finally:
        _end(process)
        with suppress(OSError):
            process.stdin.close()
        for reader, stream in zip(readers, (process.stdout, process.stderr), strict=True):
            reader.join(1.0)
            if not reader.is_alive():  # a program that left the process group may still hold the other end
                stream.close()
    outcome.errors = tuple(errors)
    return outcome


def _follow(events: queue.Queue[Event | None], show: Callable[[Event], None]) -> Outcome:
    outcome = Outcome()
    deadline = time.monotonic() + 120.0  # until the first cell begins: on a slow disk, NumPy takes long to import
    while True:
        try:
            event = events.get(timeout=_POLL)
        except queue.Empty:
            if time.monotonic() > deadline:
                outcome.hung = True
                _note_time_out(outcome.exercise)
                return outcome
            continue
        match event:
            case None:
                return outcome
            case Begin(cell, seconds, exercise):
                outcome.cell, outcome.exercise = cell, exercise
                deadline = time.monotonic() + seconds + GRACE
            case End():
                deadline = time.monotonic() + 60.0
            case Checked(exercise, counts=True):
                outcome.results[exercise] = event
            case Finished():
                outcome.finished = True
                return outcome
        show(event)


def _note_time_out(exercise: str | None) -> None:
    if exercise is not None:
        from grader.checking.evaluate import verdict
        from grader.released import COURSE

        journal.note(verdict(COURSE.manifest.place(exercise), "timeout"))


def _read_events(stream: IO[bytes], events: queue.Queue[Event | None]) -> None:
    for line in stream:
        with suppress(msgspec.MsgspecError):
            events.put(_decoder.decode(line))
    events.put(None)


def _read_errors(stream: IO[bytes], errors: deque[str]) -> None:
    for line in stream:
        text = line[:2000].decode("utf-8", "replace").rstrip()
        if text and not text.startswith("Extension modules: "):  # a long list in Python's report of a crash
            errors.append(text)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the process and, where there are process groups, everything that it has started."""
    if sys.platform == "win32":
        process.kill()
    else:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
