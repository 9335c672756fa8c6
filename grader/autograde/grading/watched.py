"""Grading with a progress bar and Ctrl-C."""

from __future__ import annotations

import signal
from collections.abc import Callable

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
from rich.progress import Task as Bar
from rich.text import Text

from grader.autograde.grading.grade import Graded
from grader.autograde.grading.pool import Done


class _Rate(ProgressColumn):
    def render(self, task: Bar) -> Text:
        return Text("" if task.speed is None else f"{task.speed:.1f}/s")


def watched(
    err: Console,
    run: Callable[[Callable[[int], None], Callable[[Done], None], Callable[[], bool]], list[Graded]],
) -> tuple[list[Graded], bool]:
    """Run with a progress bar on `err`; return the results, and whether Ctrl-C stopped it. The first Ctrl-C stops after
    the submissions that are being graded, the second one immediately.
    """
    stop = False

    def interrupted(*_: object) -> None:
        nonlocal stop
        stop = True
        signal.signal(signal.SIGINT, before)
        progress.update(bar, description="stopping")

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), _Rate())
    before = signal.getsignal(signal.SIGINT)
    with Progress(*columns, TimeRemainingColumn(), console=err) as progress:
        bar = progress.add_task("preparing", total=None)
        signal.signal(signal.SIGINT, interrupted)
        try:
            results = run(
                lambda count: progress.update(bar, total=count, description="grading"),
                lambda done: progress.update(bar, advance=1, description="unchanged" if done.stored else "grading"),
                lambda: stop,
            )
        finally:
            signal.signal(signal.SIGINT, before)
    return results, stop
