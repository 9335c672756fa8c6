"""`run_submission(request, starter) → outcome`: the only place from which student code is run.

The starter decides how a child is started, with the sandbox or without (`sandbox.py`, `unsandboxed.py`). `trial.py`
communicates with the child, and this module decides which of its failures to accept.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from grader.inside.frames import Cell, Request
from grader.running.processes import Starter, WorkerError
from grader.running.trial import Child, Outcome, run_cases, run_cells
from grader.submission.fault import Fault

FIRST_TRIAL = 0.25  # of its limits: no timeout in it is accepted, so that an endless loop need not take twice its limit


def run_submission(
    request: Request, starter: Starter, outcome: Outcome | None = None, trust: Trust | None = None
) -> Outcome:
    """Run a notebook in a child process, then test the functions in the forks that it left at its check cells.

    If a cell kills or exhausts the child, a new child skips that cell and runs the others again. If an exercise does
    this to a process that it shares, the new child has a separate fork for each remaining exercise. No cases are sent
    before a child has finished its cells, and no hidden case before all public ones are answered. If one exercise uses
    up the memory for all, a new child continues with the remaining ones; nothing else from it is kept, because it may
    know how long the hidden cases took.

    A dead process is accepted as a fault if it happens twice at the same cell: an exit that the notebook causes
    happens again, a kill from outside does not. A timeout is accepted if it happens again in a new child, because a
    process may hang by accident; therefore the first child gets only a part of each limit, and the children after a
    timeout the whole limit. Time is running time (`meter.py`). Raises WorkerError if no child could be started, or if
    none got enough processor time to be judged.

    `outcome` and `trust` are what `run_together` has recorded and observed in an earlier run.
    """
    started = time.monotonic()
    outcome, trust = outcome or Outcome(), trust or Trust()
    skip = request.skip | _finished(request, outcome)
    apart = request.apart or outcome.sealed
    while True:
        outcome.children += 1
        with Child(replace(request, skip=skip, apart=apart), starter, trust.patience, outcome) as child:
            apart = True
            waiting, fault = run_cells(child, outcome)
            if fault is not None:
                if trust.doubts(fault, child, outcome):
                    continue
                if not outcome.sealed:
                    outcome.faults.append(fault)
                if fault.cell is not None and child.may_be_followed:
                    skip |= {fault.cell}
                    continue
                child.stop()
            finished = _run_all_cases(child, waiting, outcome, trust)
        if finished or not child.may_be_followed:
            break
        skip |= {cell.index for cell in waiting} & _finished(request, outcome)
    if not outcome.ready:
        raise WorkerError(f"no process for student code could be started: {outcome.faults[-1].text}")
    outcome.seconds += time.monotonic() - started
    return outcome


@dataclass
class Trust:
    """The faults that were seen once and are accepted if they happen again: `patience` is the part of each limit that a
    child gets, and `died` are the cells at which a process has ended.
    """

    patience: float = FIRST_TRIAL
    died: set[int | None] = field(default_factory=set)

    def doubts(self, fault: Fault, child: Child, outcome: Outcome) -> bool:
        """Whether this fault is seen for the first time. The child that repeats the attempt is not counted."""
        if fault.kind == "timeout" and child.patience < 1 and child.meter.left > 0:
            self.patience = 1.0
        elif fault.kind == "died" and fault.cell not in self.died:
            self.died.add(fault.cell)
        else:
            return False
        outcome.children -= 1
        return True


def _finished(request: Request, outcome: Outcome) -> frozenset[int]:
    """The check cells that are finished: their cases are observed, or a fault is recorded."""
    faulty = {fault.cell for fault in outcome.faults}
    return frozenset(
        cell.index
        for cell in request.to_run
        if cell.exercise is not None and (cell.index in faulty or cell.exercise in outcome.observations)
    )


def _run_all_cases(child: Child, waiting: Sequence[Cell], outcome: Outcome, trust: Trust) -> bool:
    """Run the waiting forks on the public and then on the hidden cases; return whether no new child is needed."""
    for hidden in (False, True):
        for cell in waiting:
            if outcome.fault_in(cell.index) is not None:
                continue
            fault = run_cases(child, cell, outcome, hidden)
            if fault is None:
                continue
            if trust.doubts(fault, child, outcome):
                return False
            outcome.faults.append(fault)
            # a process that keeps computing takes time from the others; a shared one that died had their cases
            if fault.kind in ("memory", "timeout") or child.forks_are_shared:
                return False
    return True
