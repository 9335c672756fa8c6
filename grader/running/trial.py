"""One child process of a notebook: its request, the results of its cells, and the observations of its forks.

`runner.py` decides which of its failures to accept.
"""

from __future__ import annotations

import os
import socket
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass, field

from grader.checking.case import Observation
from grader.codec import CodecError, shortened
from grader.inside.frames import (
    MAX_MISSING,
    MAX_VALUE,
    NOT_KEPT,
    Begin,
    Cell,
    Done,
    End,
    Missing,
    Observed,
    Ready,
    Request,
    request_bytes,
)
from grader.running.conversation import Frames, TooMuchError, is_readable, send
from grader.running.meter import Meter, OutOfTimeError
from grader.running.processes import START_SECONDS, Descriptors, Starter
from grader.submission.fault import Fault

MAX_NAME, MAX_NAMES = 100, 50  # of failed imports: characters of each text, and names
MAX_CHILDREN = 12  # children for one notebook before the rest of it is skipped


@dataclass
class Outcome:
    """The result of running a notebook: the end of each cell, the observations of each exercise on all hidden
    (`observations`) and all public cases, and the faults outside Python. `fork_seconds` of its `seconds` passed before
    a first cell ran. `running` is its running time, as far as its children were watched. `digests` are hashes of the
    bytes of the observations, by the exercise and whether they are on hidden cases.
    """

    ends: dict[int, End] = field(default_factory=dict)
    observations: dict[str, tuple[Observation, ...]] = field(default_factory=dict)
    public: dict[str, tuple[Observation, ...]] = field(default_factory=dict)
    digests: dict[tuple[str, bool], bytes] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    children: int = 0
    ready: bool = False
    sealed: bool = False  # hidden cases were sent, so the output of a later child's cells or public cases is not kept
    seconds: float = 0.0
    fork_seconds: float = 0.0
    running: float = 0.0

    def printed(self, first: int) -> int:
        """How many characters the cells from this one on have printed."""
        return sum(len(end.printed) for index, end in self.ends.items() if index >= first)

    def fault_in(self, cell: int) -> Fault | None:
        return next((fault for fault in self.faults if fault.cell == cell), None)


def run_cells(child: Child, outcome: Outcome) -> tuple[list[Cell], Fault | None]:
    """Run the cells of one child and record how each ended; return the check cells at which a fork waits, and the fault
    that ended the child early, if any.
    """
    request = child.request
    due = iter(request.to_run)
    current: Cell | None = None
    waiting: list[Cell] = []
    started = time.monotonic()
    child.meter.allow(START_SECONDS)
    frames = Frames(child.results, child.meter, request.limits.result_bytes)
    try:
        for frame in frames:
            match frame:
                case Ready():
                    outcome.ready = True
                    outcome.fork_seconds += time.monotonic() - started
                case Begin(index) if current is None:
                    current = next(due, None)
                    if current is None or current.index != index:
                        return waiting, Fault("out of turn", None)
                    child.begin(current)
                case End(index) if current is not None and current.index == index:
                    child.meter.check(request.seconds(current))
                    if not outcome.sealed and index not in outcome.ends:
                        printed = outcome.printed(request.start_of(current))
                        outcome.ends[index] = _bounded(frame, request.limits.output_bytes - printed)
                    waiting += [current] if current.exercise else []
                    current = None
                    child.meter.allow(START_SECONDS)
                case Done() if current is None:
                    return waiting, None
    except (OutOfTimeError, CodecError, TooMuchError) as error:
        return waiting, _fault(error, current, child)
    return waiting, _fault(EOFError(), current, child)


def _bounded(end: End, room: int) -> End:
    """The output of a cell, cut to what an honest child would have sent."""
    raised = None if end.raised is None else shortened(end.raised)
    value = None if end.value is None else end.value[:MAX_VALUE]
    missing = tuple(
        Missing(
            each.module[:MAX_NAME], each.reason[:MAX_NAME], tuple(name[:MAX_NAME] for name in each.names[:MAX_NAMES])
        )
        for each in end.missing[:MAX_MISSING]
    )
    return End(end.cell, end.printed[: max(0, room) + len(NOT_KEPT)], value, raised, missing)


def run_cases(child: Child, cell: Cell, outcome: Outcome, hidden: bool) -> Fault | None:
    """Send the public or the hidden cases to the fork of this check cell, and record its observations.

    It must answer each case once, in order and in time, and send nothing else.
    """
    assert cell.exercise is not None
    request = child.request
    exercise = request.cases[cell.exercise]
    cases = exercise.hidden if hidden else exercise.public
    if not cases or (outcome.sealed and not hidden):
        return None
    outcome.sealed |= hidden
    found: list[Observation] = []
    line = child.sockets[cell.exercise]
    frames = Frames(line.fileno(), child.meter, request.limits.result_bytes)
    child.begin(cell)
    try:
        if is_readable(line):
            raise CodecError("an answer to nothing")
        send(line, exercise.part_bytes(hidden), child.meter)
        for frame in frames:
            if not isinstance(frame, Observed) or frame.case != len(found):
                raise CodecError("an unexpected answer")
            found.append(frame.observation)
            if len(found) == len(cases):
                if frames.reader.pending:
                    raise CodecError("an answer to nothing")
                child.meter.check(request.seconds(cell))
                (outcome.observations if hidden else outcome.public)[cell.exercise] = tuple(found)
                outcome.digests[cell.exercise, hidden] = frames.digest
                return None
    except (OSError, OutOfTimeError, CodecError, TooMuchError) as error:
        return _fault(error, cell, child)
    return _fault(EOFError(), cell, child)


def _fault(error: Exception, cell: Cell | None, child: Child) -> Fault:
    index = cell.index if cell is not None else None
    match error:
        case OutOfTimeError():
            return Fault("timeout", index, error.limit)
        case CodecError():
            return Fault("malformed", index)
        case TooMuchError():
            return Fault("too much", index, child.request.limits.result_bytes)
    return Fault("memory" if child.used_up_memory() else "died", index)


class Child:
    """One child with its request, a pipe for its frames, a socket for each exercise's cases, and a meter of its time.

    It gets the fraction `patience` of each limit. It and all its forks are killed at the end of the `with` block.
    """

    def __init__(self, request: Request, starter: Starter, patience: float, outcome: Outcome) -> None:
        self.request = request
        self.patience = patience
        self.sockets: dict[str, socket.socket] = {}
        self._starter = starter
        self._outcome = outcome

    def __enter__(self) -> Child:
        with ExitStack() as for_good, ExitStack() as for_now:
            self.results, results_end = os.pipe()
            for_good.callback(os.close, self.results)
            for_now.callback(os.close, results_end)
            theirs = []
            for name in self.request.cases:
                ours, end = socket.socketpair()
                self.sockets[name] = for_good.enter_context(ours)
                theirs.append(for_now.enter_context(end).fileno())
            file = for_now.enter_context(tempfile.TemporaryFile())
            file.write(request_bytes(self.request))
            file.seek(0)
            self._running = self._starter.start(Descriptors(file.fileno(), results_end, theirs))
            self.meter = Meter(self._running.state, self.request.limits.seconds_per_notebook, self._outcome.running)
            self._resources = for_good.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._outcome.running += self.meter.used
        self._resources.close()
        self._running.end()

    def begin(self, cell: Cell) -> None:
        """Start the time of this cell, or of the public or hidden cases of a check cell."""
        self.meter.allow(self.patience * self.request.seconds(cell))

    @property
    def may_be_followed(self) -> bool:
        """Whether the notebook may use up another child."""
        return self._outcome.children < MAX_CHILDREN and self.meter.left > 0

    @property
    def forks_are_shared(self) -> bool:
        return any(cell.shares for cell in self.request.to_run)

    def stop(self) -> None:
        """Kill the process that runs the cells; its forks keep waiting."""
        self._running.stop()

    def used_up_memory(self) -> bool:
        """Whether the whole notebook was killed because it used too much memory."""
        return self._running.state().too_much_memory
