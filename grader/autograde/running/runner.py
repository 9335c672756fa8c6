"""`run_submission(request, starter) → outcome`: the one seam through which student code is ever run.

How a child is started, with a sandbox or without, is the starter's concern (`sandbox.py`, `unsandboxed.py`); what is
said to it and believed of it stands here.
"""

from __future__ import annotations

import os
import selectors
import socket
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from grader.autograde.fault import Fault
from grader.autograde.inside.frames import (
    MAX_LINES,
    MAX_MISSING,
    MAX_VALUE,
    NOT_KEPT,
    Begin,
    Cell,
    Done,
    End,
    Frame,
    FrameReader,
    Missing,
    Observed,
    Ready,
    Request,
    request_bytes,
)
from grader.autograde.running.processes import START_SECONDS, Descriptors, Starter, WorkerError
from grader.checking.case import Observation
from grader.codec import MAX_TEXT, CodecError, Line, Raised

MAX_NAME, MAX_NAMES = 100, 50  # of what could not be imported: characters of each text, and names
MAX_CHILDREN = 12  # children that one notebook may use up before the rest of it is given up


@dataclass
class Outcome:
    """What came of a notebook: how each cell ended, what was observed of each exercise on hidden (`observations`) and
    on public cases, of all of them or not at all, and what went wrong outside Python. `fork_seconds` of its `seconds`
    passed before a first cell ran.
    """

    ends: dict[int, End] = field(default_factory=dict)
    observations: dict[str, tuple[Observation, ...]] = field(default_factory=dict)
    public: dict[str, tuple[Observation, ...]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    children: int = 0
    ready: bool = False
    sealed: bool = False  # hidden cases were sent: what a later child shows by its cells or public cases is not kept
    seconds: float = 0.0
    fork_seconds: float = 0.0

    @property
    def printed(self) -> int:
        """How many characters all cells have printed."""
        return sum(len(end.printed) for end in self.ends.values())

    def fault_in(self, cell: int) -> Fault | None:
        return next((fault for fault in self.faults if fault.cell == cell), None)


class _TooMuchError(Exception):
    """A child wrote more than it may."""


def run_submission(request: Request, starter: Starter) -> Outcome:
    """Run a notebook in a child process, then examine the forks that it left at its check cells.

    Where a cell kills or exhausts the child, a fresh one skips that cell and runs the others again; where an exercise
    does so to a process that it shares, a fresh one has a fork for each that is left. No exam is sent
    before a child has shown all that it will, and no hidden case before all public ones are answered. Where one
    exercise takes the memory of all, a fresh child goes on with those that are left; nothing else is kept of it, since
    it may know how long the hidden cases took.

    That a process ended is believed when it happens twice at the same cell: an exit of the notebook's own does, a kill
    from outside does not. Raises WorkerError where no child could be started at all.
    """
    started = time.monotonic()
    last = started + request.limits.seconds_per_notebook
    outcome = Outcome()
    skip = set(request.skip)
    doubted: set[int | None] = set()
    apart = request.apart
    while True:
        outcome.children += 1
        may_go_on = outcome.children < MAX_CHILDREN and time.monotonic() < last
        with _Child(replace(request, skip=frozenset(skip), apart=apart), starter) as child:
            apart = True
            waiting, fault = _run_cells(child, last, outcome)
            if fault is not None:
                if _is_doubted(fault, doubted, outcome):
                    continue
                if not outcome.sealed:
                    outcome.faults.append(fault)
                if fault.cell is not None and may_go_on:
                    skip.add(fault.cell)
                    continue
                child.stop()
            finished = _examine_all(child, waiting, outcome, doubted)
        if finished or not may_go_on:
            break
        skip |= {cell.index for cell in waiting if cell.index in _examined(request, outcome)}
    if not outcome.ready:
        raise WorkerError(f"no process for student code could be started: {outcome.faults[-1].text}")
    outcome.seconds = time.monotonic() - started
    return outcome


def _is_doubted(fault: Fault, doubted: set[int | None], outcome: Outcome) -> bool:
    """Whether this is the first time that a process ended at this cell; the child that makes sure is not counted."""
    if fault.kind != "died" or fault.cell in doubted:
        return False
    doubted.add(fault.cell)
    outcome.children -= 1
    return True


def _examined(request: Request, outcome: Outcome) -> set[int]:
    """The check cells of which all is known: their cases are observed, or a fault is noted."""
    faulty = {fault.cell for fault in outcome.faults}
    return {
        cell.index
        for cell in request.to_run
        if cell.exercise is not None and (cell.index in faulty or cell.exercise in outcome.observations)
    }


def _run_cells(child: _Child, last: float, outcome: Outcome) -> tuple[list[Cell], Fault | None]:
    """Run one child's cells and note how each ended; return the check cells at which a fork waits, and what ended the
    child early, if anything did.
    """
    request = child.request
    due = iter(request.to_run)
    current: Cell | None = None
    waiting: list[Cell] = []
    limit = START_SECONDS
    started = time.monotonic()
    frames = _Frames(child.results, request.limits.result_bytes, last)
    try:
        frames.next_within(limit)
        for frame in frames:
            match frame:
                case Ready():
                    outcome.ready = True
                    outcome.fork_seconds += time.monotonic() - started
                case Begin(index) if current is None:
                    current = next(due, None)
                    if current is None or current.index != index:
                        return waiting, Fault("out of turn", None)
                    limit = request.seconds(current)
                    frames.next_within(limit)
                case End(index) if current is not None and current.index == index:
                    if not outcome.sealed and index not in outcome.ends:
                        outcome.ends[index] = _bounded(frame, request.limits.output_bytes - outcome.printed)
                    waiting += [current] if current.exercise else []
                    current = None
                    limit = START_SECONDS
                    frames.next_within(limit)
                case Done() if current is None:
                    return waiting, None
    except (TimeoutError, CodecError, _TooMuchError) as error:
        return waiting, _fault(error, current, limit, child)
    return waiting, _fault(EOFError(), current, limit, child)


def _bounded(end: End, room: int) -> End:
    """What a cell showed, as much of it as an honest child would have sent."""
    raised = end.raised
    if raised is not None:
        kept = raised.lines[-MAX_LINES:]
        lines = tuple(Line(line.number, line.function[:MAX_TEXT], line.source[:MAX_TEXT]) for line in kept)
        raised = Raised(raised.type[:MAX_TEXT], raised.text[:MAX_TEXT], lines)
    value = None if end.value is None else end.value[:MAX_VALUE]
    missing = tuple(
        Missing(
            each.module[:MAX_NAME], each.reason[:MAX_NAME], tuple(name[:MAX_NAME] for name in each.names[:MAX_NAMES])
        )
        for each in end.missing[:MAX_MISSING]
    )
    return End(end.cell, end.printed[: max(0, room) + len(NOT_KEPT)], value, raised, missing)


def _examine_all(child: _Child, waiting: Sequence[Cell], outcome: Outcome, doubted: set[int | None]) -> bool:
    """Examine the forks that wait, on public and then on hidden cases; say whether none needs a fresh child."""
    for hidden in (False, True):
        for cell in waiting:
            if outcome.fault_in(cell.index) is None:
                fault = _examine(child, cell, outcome, hidden)
                if fault is not None and _is_doubted(fault, doubted, outcome):
                    return False
                if fault is not None:
                    outcome.faults.append(fault)
                    if fault.kind == "memory" or child.exams_are_shared:
                        return False
    return True


def _examine(child: _Child, cell: Cell, outcome: Outcome, hidden: bool) -> Fault | None:
    """Send the fork of this check cell one part of its exam, and note what it observes within the exercise's time.

    It must answer each case once, in order, and nothing but what it was asked.
    """
    assert cell.exercise is not None
    request = child.request
    exam = request.exams[cell.exercise]
    cases = exam.hidden if hidden else exam.public
    if not cases or (outcome.sealed and not hidden):
        return None
    outcome.sealed |= hidden
    seconds = request.seconds(cell)
    found: list[Observation] = []
    line = child.sockets[cell.exercise]
    frames = _Frames(line.fileno(), request.limits.result_bytes, time.monotonic() + seconds)
    try:
        if _is_readable(line):
            raise CodecError("an answer to nothing")
        line.settimeout(seconds)
        line.sendall(exam.part_bytes(hidden, seconds))
        frames.next_within(seconds)
        for frame in frames:
            if not isinstance(frame, Observed) or frame.case != len(found):
                raise CodecError("an answer that is not due")
            found.append(frame.observation)
            if len(found) == len(cases):
                if frames.reader.pending:
                    raise CodecError("an answer to nothing")
                (outcome.observations if hidden else outcome.public)[cell.exercise] = tuple(found)
                return None
    except (OSError, CodecError, _TooMuchError) as error:
        return _fault(error, cell, seconds, child)
    return _fault(EOFError(), cell, seconds, child)


def _is_readable(line: socket.socket) -> bool:
    """Whether something lies there unread; an end that is closed is found out by sending."""
    line.setblocking(False)
    try:
        return bool(line.recv(1, socket.MSG_PEEK))
    except BlockingIOError:
        return False


def _fault(error: Exception, cell: Cell | None, seconds: float, child: _Child) -> Fault:
    index = cell.index if cell is not None else None
    match error:
        case TimeoutError():
            return Fault("timeout", index, seconds)
        case CodecError():
            return Fault("malformed", index)
        case _TooMuchError():
            return Fault("too much", index, child.request.limits.result_bytes)
    return Fault("memory" if child.used_up_memory() else "died", index)


class _Frames:
    """Frames from a descriptor, as they come, until its other end is closed.

    Iterating raises TimeoutError where one is not there in time, CodecError, and _TooMuchError. Nothing is waited for
    beyond `last`.
    """

    def __init__(self, descriptor: int, most: int, last: float) -> None:
        self._descriptor = descriptor
        self._most = most
        self._last = last
        self.reader = FrameReader()
        self.next_within(START_SECONDS)

    def next_within(self, seconds: float) -> None:
        """From now on this long is left, whatever comes."""
        self._deadline = min(time.monotonic() + seconds, self._last)

    def __iter__(self) -> Iterator[Frame]:
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
                yield from self.reader.feed(data)


class _Child:
    """One child with its request, a pipe for its frames, and a socket for each exercise's exam.

    It and all its forks are killed when the `with` ends.
    """

    def __init__(self, request: Request, starter: Starter) -> None:
        self.request = request
        self.sockets: dict[str, socket.socket] = {}
        self._starter = starter

    def __enter__(self) -> _Child:
        with ExitStack() as for_good, ExitStack() as for_now:
            self.results, results_end = os.pipe()
            for_good.callback(os.close, self.results)
            for_now.callback(os.close, results_end)
            theirs = []
            for name in self.request.exams:
                ours, end = socket.socketpair()
                self.sockets[name] = for_good.enter_context(ours)
                theirs.append(for_now.enter_context(end).fileno())
            file = for_now.enter_context(tempfile.TemporaryFile())
            file.write(request_bytes(self.request))
            file.seek(0)
            self._running = self._starter.start(Descriptors(file.fileno(), results_end, theirs))
            self._resources = for_good.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._resources.close()
        self._running.end()

    @property
    def exams_are_shared(self) -> bool:
        return any(cell.shares for cell in self.request.to_run)

    def stop(self) -> None:
        """Kill the process that runs the cells; its forks wait on."""
        self._running.stop()

    def used_up_memory(self) -> bool:
        """Whether the whole of it was ended for that."""
        return self._running.state().too_much_memory
