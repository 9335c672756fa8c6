"""The student's process: run a notebook's cells in order, and write frames.

In the sandbox, `run` is called in a copy of the warm process; without it, `unsandboxed.py` lets `enter.py` call `main`
with the descriptors REQUEST RESULT SOCKET…. What notebooks import from `grader` does nothing here (but see
`enter.py`), and a cell can end the run only by ending the process.

The process forks at each check cell. The fork keeps the notebook's state at that point and waits until the last visible
cell has finished. Only then does it receive the inputs of the public cases, followed by those of the hidden cases; it
calls the function on each, writes its observations and exits. No visible cell can therefore show these inputs, and the
side effects of a function stay in its own fork. If the cells keep no state apart from their names, one fork (or the
process itself, at its end) handles several check cells and restores the names that each of them saw; several notebooks
can then be run one after another. Expected values never reach this process.
"""

from __future__ import annotations

import builtins
import io
import linecache
import os
import random
import select
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from functools import partial, reduce
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from grader.checking.case import Case, Observation
from grader.checking.drivers import drive
from grader.checking.observing import caught
from grader.codec import CodecError, Opaque
from grader.inside.frames import (
    MAX_MISSING,
    MAX_VALUE,
    NOT_KEPT,
    Begin,
    Cell,
    Done,
    End,
    Observed,
    Part,
    Ready,
    file_of,
    frame_bytes,
    not_defined,
    read_part,
    read_request,
)
from grader.inside.shell import NoInput, Shell, display
from grader.inside.statements import Lost, Ran, run_statements

HELD_BYTES = 1 << 16  # of answers, before they are sent


class _Bounded(io.StringIO):
    """The output of a cell, up to a number of characters that all cells share."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room

    def write(self, text: str) -> int:
        kept = text[: max(0, self.room)]
        self.room -= len(text)
        super().write(kept)
        return len(text)


def run(request: bytes, result_fd: int, socket_fds: Sequence[int], confine: Callable[[], None]) -> None:
    """Run all cells of a request and write frames about them. Return when every fork has ended.

    `socket_fds` belong to the request's exercises, in order. A fork calls `confine` before it gets hidden cases.
    """
    work = read_request(request)
    for name, content in work.files.items():
        Path(name).write_bytes(content)
    sys.path.insert(0, os.getcwd())  # as in Jupyter, so that files next to the notebook can be imported
    builtins.input = NoInput()
    sockets = dict(zip(work.exercises, socket_fds, strict=True))
    forks = []
    seen: dict[str, _Seen] = {}  # for each exercise without a fork so far
    before = frame_bytes(Ready())  # sent together with the next frame, so that the reader wakes up half as often
    starts = [*work.starts]
    for cell in work.cells:
        while starts and cell.index >= starts[0]:
            notebook, room = _begun(starts.pop(0)), work.output_bytes
        _send(result_fd, before + frame_bytes(Begin(cell.index)))
        end = End(cell.index)
        if cell.exercise is None:
            end = _run_cell(cell, notebook, room)
            room -= len(end.printed)
        else:
            seen[cell.exercise] = _Seen(notebook, dict(notebook.names), cell.examined or cell.exercise)
            if not cell.shares:
                fork = os.fork()
                if fork == 0:
                    _answer_cases(seen, sockets, result_fd, confine)
                forks.append(fork)
                for name in seen:
                    os.close(sockets.pop(name))
                seen.clear()
        before = frame_bytes(end)
    _send(result_fd, before + frame_bytes(Done()))
    if seen:
        _answer_cases(seen, sockets, result_fd, confine)
    for fork in forks:
        with suppress(ChildProcessError):
            os.waitpid(fork, 0)


@dataclass
class _Notebook:
    """A running notebook: its module, the index of its first cell, the lines of its cells for `linecache`, and the
    names that its imports failed to bind.
    """

    module: ModuleType
    first: int
    lines: dict[str, Any] = field(default_factory=dict)
    lost: Lost = field(default_factory=Lost)

    @property
    def names(self) -> dict[str, Any]:
        return self.module.__dict__


@dataclass(frozen=True)
class _Seen:
    """The names at a check cell, its notebook, and which of the names is called, or which attribute of one."""

    notebook: _Notebook
    names: dict[str, Any]
    function: str


def _begun(first: int) -> _Notebook:
    """Start a notebook with an empty module and fixed random seeds, so that grading it again gives the same result."""
    module = ModuleType("__main__")
    sys.modules["__main__"] = module
    shell = Shell(module.__dict__)
    module.__dict__.update(get_ipython=lambda: shell, display=display)
    random.seed(0)
    np.random.seed(0)
    if "torch" in sys.modules:
        sys.modules["torch"].default_generator.manual_seed(0)
    return _Notebook(module, first)


def _run_cell(cell: Cell, notebook: _Notebook, room: int) -> End:
    output = _Bounded(room)
    ran = Ran()
    value, raised = None, None
    filename = file_of(cell.index - notebook.first)
    notebook.lines[filename] = (len(cell.source), None, cell.source.splitlines(keepends=True), filename)
    linecache.cache[filename] = notebook.lines[filename]
    with redirect_stdout(output), redirect_stderr(output):
        try:
            run_statements(cell.source, filename, notebook.names, notebook.lost, ran, cell.plain)
            value = None if ran.value is None else repr(ran.value)[:MAX_VALUE]
        except BaseException as error:  # SystemExit and KeyboardInterrupt end only the cell
            raised = caught(error)
    printed = output.getvalue()
    if output.room < 0:
        printed += NOT_KEPT
    return End(cell.index, printed, value, raised or ran.raised, tuple(ran.missing[:MAX_MISSING]))


def _answer_cases(
    seen: dict[str, _Seen], sockets: dict[str, int], result_fd: int, confine: Callable[[], None]
) -> NoReturn:
    """Wait for the cases of these exercises, call the functions on each case, and end this process.

    What the functions print is not kept. A function that never returns is killed from outside.
    """
    try:
        os.close(result_fd)
        _one_thread()
        for other in sockets.keys() - seen.keys():
            os.close(sockets[other])
        lines = {sockets[name]: name for name in seen}
        confined = False
        while lines:
            for line in select.select(list(lines), [], [])[0]:
                part = read_part(partial(os.read, line))
                if part is None:
                    del lines[line]
                    continue
                if part.hidden and not confined:
                    confine()
                    confined = True
                _answer_part(line, part, lines[line], seen[lines[line]])
    finally:
        os._exit(0)


def _restored_names(seen: _Seen) -> dict[str, Any]:
    """Restore the names of a notebook as they were at a check cell, and return them."""
    notebook, names = seen.notebook, seen.notebook.names
    names.clear()
    names.update(seen.names)
    sys.modules["__main__"] = notebook.module
    linecache.cache.update(notebook.lines)
    return names


def _one_thread() -> None:
    """Use one thread: a fork has no copy of PyTorch's threads, so waiting for them would never end."""
    with suppress(Exception):  # a cell may have put anything there
        sys.modules["torch"].set_num_threads(1)


def _answer_part(line: int, part: Part, exercise: str, seen: _Seen) -> None:
    """Answer the public or the hidden cases of an exercise."""
    namespace = _restored_names(seen)
    with redirect_stdout(_Bounded(0)), redirect_stderr(_Bounded(0)):
        answers = bytearray()
        for index, case in enumerate(part.cases):
            answers += _answer(index, part, exercise, seen.function.split("."), namespace, case)
            if len(answers) > HELD_BYTES:
                _send(line, answers)
                answers = bytearray()
        _send(line, answers)


def _answer(
    index: int, part: Part, exercise: str, function: Sequence[str], namespace: dict[str, Any], case: Case
) -> bytes:
    name, *attributes = function
    if name not in namespace:
        return frame_bytes(Observed(index, Observation(raised=not_defined(exercise))))
    try:
        called = reduce(getattr, attributes, namespace[name])
        return frame_bytes(Observed(index, drive(part.driver, called, case, part.fixtures)))
    except CodecError as error:
        return frame_bytes(Observed(index, Observation(Opaque("result", f"({error})"))))
    except BaseException as error:
        return frame_bytes(Observed(index, Observation(raised=caught(error))))


def _send(descriptor: int, frames: bytes | bytearray) -> None:
    rest = memoryview(frames)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def main() -> NoReturn:
    """Read the request, run it, and exit without waiting for anything that the notebook left running."""
    request_fd, result_fd, *socket_fds = map(int, sys.argv[1:])
    with os.fdopen(request_fd, "rb") as file:
        request = file.read()
    run(request, result_fd, socket_fds, lambda: None)
    os._exit(0)
