"""`run_submission(request, starter) → outcome`: the one seam through which student code is ever run.

How a child is started, with a sandbox or without, is the starter's concern (`sandbox.py`, `unsandboxed.py`); what is
said to it and believed of it stands here.
"""

from __future__ import annotations

import os
import socket
import tempfile
import time
from collections.abc import Sequence
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
    Missing,
    Observed,
    Ready,
    Request,
    request_bytes,
)
from grader.autograde.running.conversation import Frames, TooMuchError, is_readable, send
from grader.autograde.running.meter import Meter, OutOfTimeError
from grader.autograde.running.processes import START_SECONDS, Descriptors, Starter, WorkerError
from grader.checking.case import Observation
from grader.codec import MAX_TEXT, CodecError, Line, Raised

MAX_NAME, MAX_NAMES = 100, 50  # of what could not be imported: characters of each text, and names
MAX_CHILDREN = 12  # children that one notebook may use up before the rest of it is given up
FIRST_TRIAL = 0.25  # of its limits: no time-out in it is believed, so an endless loop need not cost twice its limit


@dataclass
class Outcome:
    """What came of a notebook: how each cell ended, what was observed of each exercise on hidden (`observations`) and
    on public cases, of all of them or not at all, and what went wrong outside Python. `fork_seconds` of its `seconds`
    passed before a first cell ran. `running` is its running time, as far as its children were looked at.
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
    running: float = 0.0

    @property
    def printed(self) -> int:
        """How many characters all cells have printed."""
        return sum(len(end.printed) for end in self.ends.values())

    def fault_in(self, cell: int) -> Fault | None:
        return next((fault for fault in self.faults if fault.cell == cell), None)


def run_submission(request: Request, starter: Starter) -> Outcome:
    """Run a notebook in a child process, then examine the forks that it left at its check cells.

    Where a cell kills or exhausts the child, a fresh one skips that cell and runs the others again; where an exercise
    does so to a process that it shares, a fresh one has a fork for each that is left. No exam is sent
    before a child has shown all that it will, and no hidden case before all public ones are answered. Where one
    exercise takes the memory of all, a fresh child goes on with those that are left; nothing else is kept of it, since
    it may know how long the hidden cases took.

    That a process ended is believed when it happens twice at the same cell: an exit of the notebook's own does, a kill
    from outside does not. That it took too long is believed when that happens again in a fresh child, since a process
    may hang by accident; so the first one has but a part of each limit, and those that follow a time-out all of it.
    Time is running time (`meter.py`). Raises WorkerError where no child could be started at all, or where none got
    enough of the machine to be judged.
    """
    started = time.monotonic()
    outcome = Outcome()
    skip = set(request.skip)
    trust = _Trust()
    apart = request.apart
    while True:
        outcome.children += 1
        with _Child(replace(request, skip=frozenset(skip), apart=apart), starter, trust.patience, outcome) as child:
            apart = True
            waiting, fault = _run_cells(child, outcome)
            if fault is not None:
                if trust.doubts(fault, child, outcome):
                    continue
                if not outcome.sealed:
                    outcome.faults.append(fault)
                if fault.cell is not None and child.may_be_followed:
                    skip.add(fault.cell)
                    continue
                child.stop()
            finished = _examine_all(child, waiting, outcome, trust)
        if finished or not child.may_be_followed:
            break
        skip |= {cell.index for cell in waiting if cell.index in _examined(request, outcome)}
    if not outcome.ready:
        raise WorkerError(f"no process for student code could be started: {outcome.faults[-1].text}")
    outcome.seconds = time.monotonic() - started
    return outcome


@dataclass
class _Trust:
    """Which faults were seen once, and are believed if they happen again; `patience` is the part of each limit that a
    child gets.
    """

    patience: float = FIRST_TRIAL
    _died: set[int | None] = field(default_factory=set)

    def doubts(self, fault: Fault, child: _Child, outcome: Outcome) -> bool:
        """Whether this is the first time; the child that makes sure is not counted."""
        if fault.kind == "timeout" and child.patience < 1 and child.meter.left > 0:
            self.patience = 1.0
        elif fault.kind == "died" and fault.cell not in self._died:
            self._died.add(fault.cell)
        else:
            return False
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


def _run_cells(child: _Child, outcome: Outcome) -> tuple[list[Cell], Fault | None]:
    """Run one child's cells and note how each ended; return the check cells at which a fork waits, and what ended the
    child early, if anything did.
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
                        outcome.ends[index] = _bounded(frame, request.limits.output_bytes - outcome.printed)
                    waiting += [current] if current.exercise else []
                    current = None
                    child.meter.allow(START_SECONDS)
                case Done() if current is None:
                    return waiting, None
    except (OutOfTimeError, CodecError, TooMuchError) as error:
        return waiting, _fault(error, current, child)
    return waiting, _fault(EOFError(), current, child)


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


def _examine_all(child: _Child, waiting: Sequence[Cell], outcome: Outcome, trust: _Trust) -> bool:
    """Examine the forks that wait, on public and then on hidden cases; say whether none needs a fresh child."""
    for hidden in (False, True):
        for cell in waiting:
            if outcome.fault_in(cell.index) is None:
                fault = _examine(child, cell, outcome, hidden)
                if fault is not None and trust.doubts(fault, child, outcome):
                    return False
                if fault is not None:
                    outcome.faults.append(fault)
                    # what goes on computing would take the others' time, and what ended a shared process took theirs
                    if fault.kind in ("memory", "timeout") or child.exams_are_shared:
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
    found: list[Observation] = []
    line = child.sockets[cell.exercise]
    frames = Frames(line.fileno(), child.meter, request.limits.result_bytes)
    child.begin(cell)
    try:
        if is_readable(line):
            raise CodecError("an answer to nothing")
        send(line, exam.part_bytes(hidden), child.meter)
        for frame in frames:
            if not isinstance(frame, Observed) or frame.case != len(found):
                raise CodecError("an answer that is not due")
            found.append(frame.observation)
            if len(found) == len(cases):
                if frames.reader.pending:
                    raise CodecError("an answer to nothing")
                child.meter.check(request.seconds(cell))
                (outcome.observations if hidden else outcome.public)[cell.exercise] = tuple(found)
                return None
    except (OSError, OutOfTimeError, CodecError, TooMuchError) as error:
        return _fault(error, cell, child)
    return _fault(EOFError(), cell, child)


def _fault(error: Exception, cell: Cell | None, child: _Child) -> Fault:
    index = cell.index if cell is not None else None
    match error:
        case OutOfTimeError():
            return Fault("timeout", index, error.limit)
        case CodecError():
            return Fault("malformed", index)
        case TooMuchError():
            return Fault("too much", index, child.request.limits.result_bytes)
    return Fault("memory" if child.used_up_memory() else "died", index)


class _Child:
    """One child with its request, a pipe for its frames, a socket for each exercise's exam, and a meter of its time.

    It gets the part `patience` of each limit. It and all its forks are killed when the `with` ends.
    """

    def __init__(self, request: Request, starter: Starter, patience: float, outcome: Outcome) -> None:
        self.request = request
        self.patience = patience
        self.sockets: dict[str, socket.socket] = {}
        self._starter = starter
        self._outcome = outcome

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
            self.meter = Meter(self._running.state, self.request.limits.seconds_per_notebook, self._outcome.running)
            self._resources = for_good.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._outcome.running += self.meter.used
        self._resources.close()
        self._running.end()

    def begin(self, cell: Cell) -> None:
        """From here on the time of this cell counts, or of half of its exam."""
        self.meter.allow(self.patience * self.request.seconds(cell))

    @property
    def may_be_followed(self) -> bool:
        """Whether the notebook may use up another child."""
        return self._outcome.children < MAX_CHILDREN and self.meter.left > 0

    @property
    def exams_are_shared(self) -> bool:
        return any(cell.shares for cell in self.request.to_run)

    def stop(self) -> None:
        """Kill the process that runs the cells; its forks wait on."""
        self._running.stop()

    def used_up_memory(self) -> bool:
        """Whether the whole of it was ended for that."""
        return self._running.state().too_much_memory
