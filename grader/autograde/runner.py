"""`run_submission(request) → outcome`: the one seam through which student code is ever run.

This first version starts a plain child process: other code, own memory, a time limit for each cell and each exercise,
and no walls.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.autograde.frames import (
    Begin,
    Cell,
    Done,
    End,
    Fault,
    Frame,
    FrameReader,
    Observed,
    Ready,
    Request,
    exam_bytes,
    request_bytes,
)
from grader.cases import Observation
from grader.codec import CodecError

START_SECONDS = 60.0
LEAVE_SECONDS = 1.0
MAX_CHILDREN = 12  # children that one notebook may use up before the rest of it is given up
_CHILD = Path(__file__).with_name("child.py")


@dataclass
class Outcome:
    """What came of a notebook: how each cell ended, what was observed of each exercise, and what went wrong outside
    Python.
    """

    ends: dict[int, End] = field(default_factory=dict)
    observations: dict[str, dict[int, Observation]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    children: int = 0
    ready: bool = False
    seconds: float = 0.0

    def fault_in(self, cell: int) -> Fault | None:
        return next((fault for fault in self.faults if fault.cell == cell), None)


class WorkerError(Exception):
    """The grader's own process failed before any student code ran: nobody's work is to be judged by it."""


class _TooMuchError(Exception):
    """A child wrote more than it may."""


def run_submission(request: Request) -> Outcome:
    """Run a notebook in a child process, then examine the forks that it left at its check cells, one after another.

    Where a cell kills or exhausts the child, a fresh one skips that cell and runs the others again. No exam is sent
    before the last child has shown all that it will. Raises WorkerError where no child could be started at all.
    """
    started = time.monotonic()
    last = started + START_SECONDS + 2 * sum(request.seconds(cell) for cell in request.to_run)
    outcome = Outcome()
    skip = set(request.skip)
    while True:
        outcome.children += 1
        with _Child(replace(request, skip=frozenset(skip))) as child:
            waiting, fault = _run_cells(child, last, outcome)
            if fault is not None:
                child.stop()
                outcome.faults.append(fault)
                if fault.cell is not None and outcome.children < MAX_CHILDREN and time.monotonic() < last:
                    skip.add(fault.cell)
                    continue
            for cell in waiting:
                _examine(child, cell, outcome)
            if outcome.faults:
                child.stop()
            break
    if not outcome.ready:
        raise WorkerError(f"no process for student code could be started: {outcome.faults[-1].text}")
    outcome.seconds = time.monotonic() - started
    return outcome


def _run_cells(child: _Child, last: float, outcome: Outcome) -> tuple[list[Cell], Fault | None]:
    """Run one child's cells and note how each ended; return the check cells at which a fork waits, and what ended the
    child early, if anything did.
    """
    request = child.request
    due = iter(request.to_run)
    current: Cell | None = None
    waiting: list[Cell] = []
    limit = START_SECONDS
    frames = _Frames(child.results, request.result_bytes, last)
    try:
        frames.next_within(limit)
        for frame in frames:
            match frame:
                case Ready():
                    outcome.ready = True
                case Begin(index) if current is None:
                    current = next(due, None)
                    if current is None or current.index != index:
                        return waiting, Fault("malformed", None, "it claims to run a cell that is not due")
                    limit = request.seconds(current)
                    frames.next_within(limit)
                case End(index) if current is not None and current.index == index:
                    outcome.ends.setdefault(index, frame)
                    waiting += [current] if current.exercise else []
                    current = None
                    limit = START_SECONDS
                    frames.next_within(limit)
                case Done() if current is None:
                    return waiting, None
    except (TimeoutError, CodecError, _TooMuchError) as error:
        return waiting, _fault(error, current, limit, request)
    return waiting, Fault("died", current.index if current else None, "the Python process ended")


def _examine(child: _Child, cell: Cell, outcome: Outcome) -> None:
    """Send the fork of this check cell its exam, and note what it observes within the exercise's time."""
    assert cell.exercise is not None
    request = child.request
    exam = request.exams[cell.exercise]
    seconds = request.seconds(cell)
    found = outcome.observations.setdefault(cell.exercise, {})
    line = child.sockets[cell.exercise]
    frames = _Frames(line.fileno(), request.result_bytes, time.monotonic() + seconds)
    try:
        line.settimeout(seconds)
        line.sendall(exam_bytes(exam, seconds))
        line.shutdown(socket.SHUT_WR)
        frames.next_within(seconds)
        for frame in frames:
            if isinstance(frame, Observed) and 0 <= frame.case < len(exam.cases):
                found.setdefault(frame.case, frame.observation)
            if len(found) == len(exam.cases):
                return
        fault = Fault("died", cell.index, "the Python process ended")
    except (OSError, CodecError, _TooMuchError) as error:
        fault = _fault(error, cell, seconds, request)
    outcome.faults.append(fault)


def _fault(error: Exception, cell: Cell | None, seconds: float, request: Request) -> Fault:
    index = cell.index if cell is not None else None
    match error:
        case TimeoutError():
            return Fault("timeout", index, f"stopped after {seconds:g} s")
        case CodecError():
            return Fault("malformed", index, "its answer could not be read")
        case _TooMuchError():
            return Fault("too much", index, f"gave more than {request.result_bytes:,} bytes of results")
    return Fault("died", index, "the Python process ended")


class _Frames:
    """Frames from a descriptor, as they come, until its other end is closed.

    Iterating raises TimeoutError where one is not there in time, CodecError, and _TooMuchError. Nothing is waited for
    beyond `last`.
    """

    def __init__(self, descriptor: int, most: int, last: float) -> None:
        self._descriptor = descriptor
        self._most = most
        self._last = last
        self.next_within(START_SECONDS)

    def next_within(self, seconds: float) -> None:
        """From now on this long is left, whatever comes."""
        self._deadline = min(time.monotonic() + seconds, self._last)

    def __iter__(self) -> Iterator[Frame]:
        reader = FrameReader()
        total = 0
        with selectors.DefaultSelector() as selector:
            selector.register(self._descriptor, selectors.EVENT_READ)
            while True:
                left = self._deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    raise TimeoutError
                data = os.read(self._descriptor, 1 << 16)
                if not data:
                    return
                total += len(data)
                if total > self._most:
                    raise _TooMuchError
                yield from reader.feed(data)


class _Child:
    """One child process: a file with its request, a pipe for its frames, and a socket for each exercise's exam.

    It, its forks and all else in its process group are dead when the `with` ends.
    """

    def __init__(self, request: Request) -> None:
        self.request = request
        self.sockets: dict[str, socket.socket] = {}
        self._stopped = False

    def __enter__(self) -> _Child:
        with ExitStack() as for_good, ExitStack() as for_now:
            scratch = for_good.enter_context(
                tempfile.TemporaryDirectory(prefix="submission-", ignore_cleanup_errors=True)
            )
            self.results, results_end = os.pipe()
            for_good.callback(os.close, self.results)
            for_now.callback(os.close, results_end)
            theirs = {}
            for name in self.request.exams:
                ours, end = socket.socketpair()
                self.sockets[name] = for_good.enter_context(ours)
                theirs[name] = for_now.enter_context(end).fileno()
            file = for_now.enter_context(tempfile.TemporaryFile())
            file.write(request_bytes(self.request, theirs))
            file.seek(0)
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-B", str(_CHILD), str(file.fileno()), str(results_end)],
                pass_fds=(file.fileno(), results_end, *theirs.values()),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=scratch,
                env=_environment(scratch),
                start_new_session=True,
            )
            for_good.callback(self._end)
            self._resources = for_good.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._resources.close()

    def stop(self) -> None:
        """Kill the process that runs the cells; its forks wait on."""
        os.kill(self._process.pid, signal.SIGKILL)
        self._stopped = True

    def _end(self) -> None:
        """Let the process gather its forks and leave; kill what is still there after a second."""
        with selectors.DefaultSelector() as selector:
            selector.register(self.results, selectors.EVENT_READ)
            end = time.monotonic() + (0 if self._stopped else LEAVE_SECONDS)
            while selector.select(max(0.0, end - time.monotonic())) and os.read(self.results, 1 << 16):
                pass
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def _environment(scratch: str) -> dict[str, str]:
    """What the child sees of the environment: nothing of the instructor's."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {
        "HOME": scratch,
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "MPLBACKEND": "Agg",
        "PYTHONHASHSEED": "0",
        **threads,
    }
