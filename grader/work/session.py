"""The process that runs a notebook for `grader check`, started by `grader.work.run`.

The request comes on standard input, which the parent keeps open: when it closes, the parent has ended, and so does this
process. Events leave on standard output. Whatever else is written to either stream by C code or by a program that a
cell starts goes to standard error.

A cell or a check that takes too long is interrupted as by Ctrl-C. Code that ignores the interruption is ended by the
parent. Nothing here depends on `fork`, so that it works on Windows.
"""

from __future__ import annotations

import builtins
import faulthandler
import io
import linecache
import os
import random
import signal
import sys
import threading
import warnings
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, BinaryIO, NoReturn

import msgspec
import numpy as np

from grader import student
from grader.checking.observing import caught
from grader.codec import Raised
from grader.inside.frames import file_of
from grader.inside.shell import NoInput, Shell, display
from grader.inside.statements import Lost, Ran, run_statements
from grader.manifest import Place
from grader.render.notes import Hint, Progress, Report
from grader.render.rows import headline
from grader.render.text import verdict_text
from grader.time_limit import TimeLimit
from grader.work.events import Begin, Checked, End, Event, Failed, Finished, Printed, Request, TooLong, Undefined

LONGEST_VALUE = 4_000  # characters of a last expression's text
_CUT = "\n[what was printed beyond this is not shown]\n"


class _Output(io.TextIOBase):
    """What cells print, sent as events up to a number of characters."""

    encoding = "utf-8"

    def __init__(self, session: _Session, room: int) -> None:
        self._session = session
        self._room = room

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if text and self._room > 0:
            self._session.send(Printed(text[: self._room] + _CUT * (len(text) > self._room)))
        self._room -= len(text)
        return len(text)


@dataclass
class _Session:
    """A running notebook. `events` is the descriptor for events; `cell` is the index of the current cell,
    `of` the exercise of which it is the check cell."""

    request: Request
    events: int
    names: dict[str, Any] = field(default_factory=dict)
    lost: Lost = field(default_factory=Lost)
    limit: TimeLimit = field(default_factory=TimeLimit)
    cell: int = 0
    of: str | None = None
    checked: set[str] = field(default_factory=set)
    at_end: bool = False
    _sending: threading.Lock = field(default_factory=threading.Lock)

    def send(self, event: Event) -> None:
        line = memoryview(msgspec.json.encode(event) + b"\n")
        with self._sending:  # cells may start threads that print
            while line:
                line = line[os.write(self.events, line) :]

    def begin(self) -> None:
        """Start to count the time of a cell, or of the rest of one after a check."""
        self.send(Begin(self.cell, self.request.cell_seconds, None))
        self.limit.set(self.request.cell_seconds)

    def check_within(self, place: Place, function: Any, seconds: float) -> Report:
        """In place of `student.check_within`: the same within the limit of the request, and reported to the parent."""
        exercise = place.exercise.id
        seconds = self.request.exercises.get(exercise, self.request.cell_seconds)
        self.limit.off()
        self.send(Begin(self.cell, seconds, exercise))
        report = _check_within(place, function, seconds)
        verdict = report.verdict
        counts = self.at_end or exercise == self.of
        if counts:
            self.checked.add(verdict.id)
        self.send(
            Checked(
                verdict.id,
                verdict.status,
                verdict.earned,
                verdict.points,
                headline(verdict),
                verdict_text(verdict, self.request.width),
                self.at_end,
                counts,
            )
        )
        self.begin()
        return report

    def run_cell(self, index: int, source: str, exercise: str | None) -> None:
        """Run one cell. What it raises is reported."""
        self.cell, self.of = index, exercise
        filename, ran, raised = file_of(index), Ran(), None
        line: tuple[tuple[str, str], ...] = ()
        linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
        try:
            try:
                self.begin()
                run_statements(source, filename, self.names, self.lost, ran)
                if ran.value is not None and not isinstance(ran.value, Report | Progress):  # the parent shows both
                    print(_text_of(ran.value))
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt) and self.limit.rang:
                    raise
                raised = caught(error)  # SystemExit and KeyboardInterrupt end only the cell
                if isinstance(error, SyntaxError) and error.filename == filename:
                    raised = msgspec.structs.replace(raised, text=error.msg)
                    line = ((f"line {error.lineno}", (error.text or "").strip()),)
            finally:
                self.limit.off()
        except KeyboardInterrupt:
            if not self.limit.rang:
                raise
            self.send(TooLong(index, self.request.cell_seconds))
        if raised or ran.raised:
            self.send(_failed(index, raised or ran.raised, line))
        self.send(End())

    def check_the_rest(self) -> None:
        """Check the exercises whose check cells are missing or did not run."""
        self.at_end, self.cell = True, max((cell.index for cell in self.request.cells), default=0)
        for exercise in self.request.exercises:
            if exercise in self.checked:
                continue
            if exercise in self.names:
                student.check(exercise, self.names[exercise])
                self.limit.off()
            else:
                self.send(Undefined(exercise))


_check_within = student.check_within


def _text_of(value: object) -> str:
    shown = value.__repr__() if isinstance(value, Hint) else repr(value)
    return shown if len(shown) <= LONGEST_VALUE else shown[:LONGEST_VALUE] + " …"


def _failed(index: int, raised: Raised | None, line: tuple[tuple[str, str], ...]) -> Failed:
    """`line` is where a syntax error is."""
    assert raised is not None
    lines = line or tuple((f"line {line.number} in {line.function}", line.source) for line in raised.lines)
    return Failed(index, raised.type, raised.text, lines)


def _end_with_the_parent(requests: BinaryIO) -> None:
    while requests.read(1):
        pass
    os._exit(1)


def main() -> NoReturn:
    """Read the request, run it, and end without waiting for threads that the notebook started."""
    requests = open(os.dup(0), "rb")  # noqa: SIM115 - it stays open
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    request = msgspec.json.decode(requests.readline(), type=Request)
    threading.Thread(target=_end_with_the_parent, args=(requests,), daemon=True).start()
    events = os.dup(1)
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a program in the background ignores it
    faulthandler.enable(2, all_threads=False)
    session = _Session(request, events)
    module = ModuleType("__main__")
    session.names = module.__dict__
    shell = Shell(session.names)
    session.names.update(get_ipython=lambda: shell, display=display)
    sys.modules["__main__"] = module
    sys.path.insert(0, os.getcwd())  # as in Jupyter, so that files next to the notebook can be imported
    sys.argv = [""]
    builtins.input = NoInput()
    student.check_within = session.check_within
    warnings.filterwarnings("ignore", message=".*non-interactive.*cannot be shown")  # figures are not
    sys.stdout = sys.stderr = _Output(session, request.output)
    random.seed(0)
    np.random.seed(0)
    for cell in request.cells:
        session.run_cell(cell.index, cell.source, cell.exercise)
    session.check_the_rest()
    session.send(Finished())
    os._exit(0)


if __name__ == "__main__":
    main()
