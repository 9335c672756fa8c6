"""`run_submission(request, starter) → outcome`: the one seam through which student code is ever run.

How a child is started, with a sandbox or without, is the starter's concern (`sandbox.py`, `unsandboxed.py`); what is
said to it stands in `trial.py`, and what is believed of it here.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from grader.autograde.fault import Fault
from grader.autograde.inside.frames import Cell, Request
from grader.autograde.running.processes import Starter, WorkerError
from grader.autograde.running.trial import Child, Outcome, examine, run_cells

FIRST_TRIAL = 0.25  # of its limits: no time-out in it is believed, so an endless loop need not cost twice its limit


def run_submission(
    request: Request, starter: Starter, outcome: Outcome | None = None, trust: Trust | None = None
) -> Outcome:
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

    `outcome` and `trust` are what `run_together` knows already, and has seen once.
    """
    started = time.monotonic()
    outcome, trust = outcome or Outcome(), trust or Trust()
    skip = request.skip | _examined(request, outcome)
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
            finished = _examine_all(child, waiting, outcome, trust)
        if finished or not child.may_be_followed:
            break
        skip |= {cell.index for cell in waiting} & _examined(request, outcome)
    if not outcome.ready:
        raise WorkerError(f"no process for student code could be started: {outcome.faults[-1].text}")
    outcome.seconds += time.monotonic() - started
    return outcome


@dataclass
class Trust:
    """Which faults were seen once, and are believed if they happen again: `patience` is the part of each limit that a
    child gets, and at the cells `died` a process has ended.
    """

    patience: float = FIRST_TRIAL
    died: set[int | None] = field(default_factory=set)

    def doubts(self, fault: Fault, child: Child, outcome: Outcome) -> bool:
        """Whether this is the first time; the child that makes sure is not counted."""
        if fault.kind == "timeout" and child.patience < 1 and child.meter.left > 0:
            self.patience = 1.0
        elif fault.kind == "died" and fault.cell not in self.died:
            self.died.add(fault.cell)
        else:
            return False
        outcome.children -= 1
        return True


def _examined(request: Request, outcome: Outcome) -> frozenset[int]:
    """The check cells of which all is known: their cases are observed, or a fault is noted."""
    faulty = {fault.cell for fault in outcome.faults}
    return frozenset(
        cell.index
        for cell in request.to_run
        if cell.exercise is not None and (cell.index in faulty or cell.exercise in outcome.observations)
    )


def _examine_all(child: Child, waiting: Sequence[Cell], outcome: Outcome, trust: Trust) -> bool:
    """Examine the forks that wait, on public and then on hidden cases; say whether none needs a fresh child."""
    for hidden in (False, True):
        for cell in waiting:
            if outcome.fault_in(cell.index) is None:
                fault = examine(child, cell, outcome, hidden)
                if fault is not None and trust.doubts(fault, child, outcome):
                    return False
                if fault is not None:
                    outcome.faults.append(fault)
                    # what goes on computing would take the others' time, and what ended a shared process took theirs
                    if fault.kind in ("memory", "timeout") or child.exams_are_shared:
                        return False
    return True
