"""Run a notebook without the sandbox, in a child of this process with the same permissions.

This is for trusted code only: the demo class, a student's own notebook on their own machine, and what an instructor
grades with `--unsafe-no-sandbox`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from grader.inside.usage import activity, with_descendants
from grader.running.processes import Descriptors, State, environment

LEAVE_SECONDS = 1.0
_ENTER = Path(__file__).parents[1] / "inside" / "enter.py"


class Plain:
    """Start a new interpreter for each notebook, in its own folder."""

    def start(self, descriptors: Descriptors) -> _Notebook:
        scratch = tempfile.TemporaryDirectory(prefix="submission-", ignore_cleanup_errors=True)
        return _Notebook(new_interpreter("grader.inside.child", descriptors.all, scratch.name), scratch)


@dataclass
class _Notebook:
    process: subprocess.Popen[bytes]
    scratch: tempfile.TemporaryDirectory[str]

    def stop(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)

    def state(self) -> State:
        seen = activity(with_descendants(self.process.pid))
        return State(cpu=seen.cpu, waiting=seen.waiting)

    def end(self) -> None:
        """Let the process wait for its forks and exit; after a second, kill what is left."""
        wait_or_kill(self.process)
        self.scratch.cleanup()


def new_interpreter(module: str, descriptors: Sequence[int], scratch: str) -> subprocess.Popen[bytes]:
    """Start a module of `inside` in its own session, with these descriptors as arguments, in the folder `scratch`."""
    return subprocess.Popen(
        [sys.executable, "-I", "-B", str(_ENTER), module, *map(str, descriptors)],
        pass_fds=descriptors,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=scratch,
        env=environment(scratch),
        start_new_session=True,
    )


def wait_or_kill(process: subprocess.Popen[bytes]) -> None:
    """Let a process wait for its forks and exit; after a second, kill what is left of its session."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(LEAVE_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
