"""`run_submission(request) → outcome`: the one seam through which student code is ever run.

This first version starts a plain child process: other code, own memory, a time limit for each cell, and no walls.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.autograde.frames import (
    Begin,
    Done,
    End,
    Fault,
    Frame,
    FrameReader,
    Observed,
    Ready,
    Request,
    request_bytes,
)
from grader.cases import Observation
from grader.codec import CodecError

START_SECONDS = 60.0
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


def run_submission(request: Request) -> Outcome:
    """Run a notebook in a child process; where a cell kills or exhausts it, a fresh child skips that cell and goes on.

    Raises WorkerError where no child could be started at all.
    """
    started = time.monotonic()
    outcome = Outcome()
    skip = set(request.skip)
    while outcome.children < MAX_CHILDREN:
        outcome.children += 1
        fault = _one_child(replace(request, skip=frozenset(skip)), outcome)
        if fault is None:
            break
        outcome.faults.append(fault)
        if fault.cell is None or fault.cell in skip:
            break
        skip |= {fault.cell} | {cell.index for cell in request.cells if cell.exercise and cell.index in outcome.ends}
    if not outcome.ready:
        raise WorkerError(f"no process for student code could be started: {outcome.faults[-1].text}")
    outcome.seconds = time.monotonic() - started
    return outcome


def _one_child(request: Request, outcome: Outcome) -> Fault | None:
    """Run one child to its end, note what it says in `outcome`, and return what ended it early, if anything did."""
    cells = {cell.index: cell for cell in request.cells if cell.index not in request.skip}
    with (
        tempfile.TemporaryDirectory(prefix="submission-") as scratch,
        _Child(request_bytes(request), scratch) as child,
    ):
        current: int | None = None
        in_all = START_SECONDS + sum(map(request.seconds, cells.values()))
        try:
            for frame in child.frames(in_all, request.result_bytes):
                match frame:
                    case Ready():
                        outcome.ready = True
                    case Begin(cell) if cell in cells:
                        current = cell
                        child.next_frame_within(request.seconds(cells[cell]))
                    case End(cell) if cell == current:
                        outcome.ends.setdefault(cell, frame)
                        current = None
                        child.next_frame_within(START_SECONDS)
                    case Observed(exercise, case, observation) if (
                        current is not None
                        and cells[current].exercise == exercise
                        and 0 <= case < len(request.exams[exercise].cases)
                    ):
                        outcome.observations.setdefault(exercise, {}).setdefault(case, observation)
                    case Done() if current is None:
                        return None
        except TimeoutError:
            seconds = request.seconds(cells[current]) if current is not None else START_SECONDS
            return Fault("timeout", current, f"stopped after {seconds:g} s")
        except CodecError:
            return Fault("malformed", current, "its answer could not be read")
        except _TooMuchError:
            return Fault("too much", current, f"gave more than {request.result_bytes:,} bytes of results")
        return Fault("died", current, "the Python process ended")


class WorkerError(Exception):
    """The grader's own process failed before any student code ran: nobody's work is to be judged by it."""


class _TooMuchError(Exception):
    """A child wrote more than it may."""


class _Child:
    """One child process, with a pipe for the request and one for the results; it is dead when the `with` ends."""

    def __init__(self, request: bytes, scratch: str) -> None:
        self._request = request
        self._scratch = scratch
        self.next_frame_within(START_SECONDS)

    def __enter__(self) -> _Child:
        results, results_end = os.pipe()
        self._results = results
        request = tempfile.TemporaryFile()
        request.write(self._request)
        request.seek(0)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-B", str(_CHILD), str(request.fileno()), str(results_end)],
                pass_fds=(request.fileno(), results_end),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=self._scratch,
                env=_environment(self._scratch),
                start_new_session=True,
            )
        finally:
            request.close()
            os.close(results_end)
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._results)

    def next_frame_within(self, seconds: float) -> None:
        """From now on the child has this long."""
        self._deadline = time.monotonic() + seconds

    def frames(self, in_all: float, most: int) -> Iterator[Frame]:
        """Frames as they come. Raises TimeoutError where a cell or the whole is late, CodecError, _TooMuchError."""
        reader = FrameReader()
        total = 0
        end = time.monotonic() + in_all
        with selectors.DefaultSelector() as selector:
            selector.register(self._results, selectors.EVENT_READ)
            while True:
                if not selector.select(max(0.0, min(self._deadline, end) - time.monotonic())):
                    raise TimeoutError
                data = os.read(self._results, 1 << 16)
                if not data:
                    return
                total += len(data)
                if total > most:
                    raise _TooMuchError
                yield from reader.feed(data)


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
