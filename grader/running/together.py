"""Several notebooks of one student in one child: one process, one set of namespaces and mounts instead of one for each.

All but the last of them change nothing outside themselves. This usually succeeds. If anything fails, each unfinished
notebook is run again in a child of its own, and only the outcome of that run counts.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

import msgspec

from grader.inside.frames import Request
from grader.running.processes import Starter
from grader.running.runner import FIRST_TRIAL, Trust, run_submission
from grader.running.trial import Child, Outcome, run_cases, run_cells
from grader.submission.fault import Fault


def run_together(requests: Sequence[Request], starter: Starter) -> list[Outcome]:
    """Run notebooks with the same limits and files, one after another. Only the last may change things outside itself.

    Raises WorkerError as `run_submission` does.
    """
    if len(requests) == 1:
        return [run_submission(requests[0], starter)]
    started = time.monotonic()
    bounds = list(accumulate((_length(request) for request in requests), initial=0))
    seen = Outcome(children=1)
    fault = _tried(_joined(requests, bounds), starter, seen)
    outcomes = []
    for request, (first, end) in zip(requests, pairwise(bounds), strict=True):
        outcome = _part(seen, request, first, end) if seen.sealed or fault is None else Outcome()
        if fault is not None and not (outcome.sealed and outcome.observations.keys() == request.cases.keys()):
            outcome = run_submission(request, starter, outcome, _seen_once(fault, first, end))
        outcomes.append(outcome)
    outcomes[0].seconds += time.monotonic() - started - sum(outcome.seconds for outcome in outcomes)
    outcomes[0].fork_seconds += seen.fork_seconds
    return outcomes


def _length(request: Request) -> int:
    return max((cell.index + 1 for cell in request.cells), default=0)


def _joined(requests: Sequence[Request], bounds: Sequence[int]) -> Request:
    """All notebooks as one request. The cases of all but the last go to forks that the last cannot reach."""
    *others, last = (
        [replace(cell, index=first + cell.index) for cell in request.cells]
        for request, first in zip(requests, bounds, strict=False)
    )
    cells = [cell for each in others for cell in each]
    behind = max((at for at, cell in enumerate(cells) if cell.exercise), default=None)
    if behind is not None:
        cells[behind] = replace(cells[behind], shares=False)
    cases = {name: each for request in requests for name, each in request.cases.items()}
    return replace(requests[0], cells=(*cells, *last), cases=cases, starts=tuple(bounds[:-1]))


def _tried(joined: Request, starter: Starter, seen: Outcome) -> Fault | None:
    """Run all notebooks in one child, up to the first fault."""
    with Child(joined, starter, FIRST_TRIAL, seen) as child:
        waiting, fault = run_cells(child, seen)
        for hidden in (False, True):
            for cell in waiting:
                fault = fault or run_cases(child, cell, seen, hidden)
    return fault


def _part(seen: Outcome, request: Request, first: int, end: int) -> Outcome:
    """The outcome of one of the notebooks."""
    return Outcome(
        ends={i - first: msgspec.structs.replace(seen.ends[i], cell=i - first) for i in seen.ends if first <= i < end},
        observations={name: seen.observations[name] for name in request.cases if name in seen.observations},
        public={name: seen.public[name] for name in request.cases if name in seen.public},
        digests={(name, hidden): digest for (name, hidden), digest in seen.digests.items() if name in request.cases},
        children=seen.children,
        ready=seen.ready,
        sealed=seen.sealed,
    )


def _seen_once(fault: Fault, first: int, end: int) -> Trust:
    """The trust with which a notebook is run again: a fault in its own cells is accepted if it happens again."""
    if fault.cell is None or not first <= fault.cell < end:
        return Trust()
    if fault.kind == "timeout":
        return Trust(patience=1.0)
    return Trust(died={fault.cell - first} if fault.kind == "died" else set())
