"""Grading with a progress bar and Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from multiprocessing import active_children
from typing import NoReturn

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
from rich.progress import Task as Bar
from rich.text import Text

from grader.grading.grade import Graded
from grader.grading.pool import Done


class _Rate(ProgressColumn):
    def render(self, task: Bar) -> Text:
        return Text("" if task.speed is None else f"{task.speed:.1f}/s")


def end_at_once() -> NoReturn:
    """Kill this process's workers and end it, whatever they are doing: a run may be killed at any moment."""
    for worker in active_children():
        worker.kill()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(130)


def watched(
    err: Console,
    run: Callable[[Callable[[int], None], Callable[[Done], None], Callable[[], bool]], list[Graded]],
    label: str = "",
) -> tuple[list[Graded], bool]:
    """Run with a progress bar on `err`; return the results, and whether Ctrl-C stopped it. The first Ctrl-C stops after
    the submissions that are being graded, the second one immediately. A bar with a label disappears at the end,
    and is shown in a terminal only.
    """
    stop = False

    def interrupted(*_: object) -> None:
        nonlocal stop
        if stop:
            err.print("Stopped.")
            end_at_once()
        stop = True
        show("stopping")

    def show(what: str, **changes: int) -> None:
        progress.update(bar, description=f"{label} {what}".strip(), **changes)  # type: ignore[arg-type]

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), _Rate())
    before = signal.getsignal(signal.SIGINT)
    bars = Progress(
        *columns,
        TimeRemainingColumn(),
        console=err,
        transient=bool(label),
        disable=bool(label) and not err.is_terminal,
    )
    with bars as progress:
        bar = progress.add_task(f"{label} preparing".strip(), total=None)
        signal.signal(signal.SIGINT, interrupted)
        try:
            results = run(
                lambda count: show("grading", total=count),
                lambda done: show("unchanged" if done.stored else "grading", advance=1),
                lambda: stop,
            )
        finally:
            signal.signal(signal.SIGINT, before)
    return results, stop
