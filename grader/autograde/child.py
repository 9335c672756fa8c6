"""The student's process: runs a notebook's cells in order, drives each exercise at its check cell, and writes frames.

Started as `python -I child.py REQUEST_FD RESULT_FD`. It holds the cases' inputs and no expected value. `check`,
`hint` and `progress` do nothing here; nothing that a cell does ends the run but the end of the process.
"""

from __future__ import annotations

import ast
import io
import linecache
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from types import ModuleType
from typing import Any

import grader
from grader.autograde.frames import (
    Begin,
    Cell,
    Done,
    End,
    Exam,
    Frame,
    Observed,
    Ready,
    frame_bytes,
    read_request,
)
from grader.cases import Observation
from grader.codec import Raised
from grader.drivers import caught, drive

MAX_VALUE = 4_000  # characters kept of a last expression's text


class _Bounded(io.StringIO):
    """What a cell prints, up to a number of characters that all cells share."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room

    def write(self, text: str) -> int:
        kept = text[: max(0, self.room)]
        self.room -= len(text)
        super().write(kept)
        return len(text)


class _Shell:
    """A small stand-in for IPython's shell: magics are accepted and do nothing."""

    def run_line_magic(self, name: str, line: str, *_: object, **__: object) -> None:
        """Ignore the magic."""

    def run_cell_magic(self, name: str, line: str, cell: str) -> None:
        """Ignore the magic with its cell."""

    def system(self, command: str) -> None:
        """Ignore the command."""

    getoutput = system


def run(request: bytes, result_fd: int) -> None:
    """Run all cells of a request; what happens goes out as frames."""
    work = read_request(request)
    for name in grader.__all__:
        setattr(grader, name, _inert)
    module = ModuleType("__main__")
    sys.modules["__main__"] = module
    namespace = module.__dict__
    namespace["get_ipython"] = _Shell
    _send(result_fd, Ready())
    room = work.output_bytes
    for cell in work.cells:
        _send(result_fd, Begin(cell.index))
        if cell.exercise is None:
            end = _run_cell(cell, namespace, room)
            room -= len(end.printed)
        else:
            _drive(cell.exercise, work.exams[cell.exercise], namespace, result_fd)
            end = End(cell.index)
        _send(result_fd, end)
    _send(result_fd, Done())


def _run_cell(cell: Cell, namespace: dict[str, Any], room: int) -> End:
    output = _Bounded(room)
    value, raised = None, None
    filename = f"<cell {cell.index}>"
    linecache.cache[filename] = (len(cell.source), None, cell.source.splitlines(keepends=True), filename)
    with redirect_stdout(output), redirect_stderr(output):
        try:
            tree = ast.parse(cell.source, filename)
            last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, filename, "exec"), namespace)
            if isinstance(last, ast.Expr):
                result = eval(compile(ast.Expression(last.value), filename, "eval"), namespace)
                value = None if result is None else repr(result)[:MAX_VALUE]
        except BaseException as error:  # SystemExit and KeyboardInterrupt end the cell, not the notebook
            raised = caught(error)
    printed = output.getvalue()
    if output.room < 0:
        printed += "\n[what was printed beyond this was not kept]"
    return End(cell.index, printed, value, raised)


def _drive(name: str, exam: Exam, namespace: dict[str, Any], result_fd: int) -> None:
    """Drive a function on every case. What it prints meanwhile is not kept: it could show the hidden cases."""
    with redirect_stdout(_Bounded(0)), redirect_stderr(_Bounded(0)):
        for index, case in enumerate(exam.cases):
            if name in namespace:
                try:
                    observation = drive(exam.driver, namespace[name], case)
                except BaseException as error:
                    observation = Observation(raised=caught(error))
            else:
                observation = Observation(raised=Raised("NameError", f"{name} is not defined"))
            _send(result_fd, Observed(name, index, observation))


def _send(result_fd: int, frame: Frame) -> None:
    data = memoryview(frame_bytes(frame))
    while data:
        data = data[os.write(result_fd, data) :]


def _inert(*_: object, **__: object) -> None:
    """In place of `check`, `hint` and `progress`: grading has its own calls."""


def main() -> None:
    """Read the request to its end, then run it."""
    request_fd, result_fd = map(int, sys.argv[1:3])
    with os.fdopen(request_fd, "rb") as file:
        request = file.read()
    run(request, result_fd)


if __name__ == "__main__":
    main()
