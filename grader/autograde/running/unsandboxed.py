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
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from grader.autograde.inside.usage import activity, with_descendants
from grader.autograde.running.processes import Descriptors, State, environment

LEAVE_SECONDS = 1.0
_ENTER = Path(__file__).parents[1] / "inside" / "enter.py"


class Plain:
    """Start a new interpreter for each notebook, in its own folder."""

    def start(self, descriptors: Descriptors) -> _Notebook:
        scratch = tempfile.TemporaryDirectory(prefix="submission-", ignore_cleanup_errors=True)
        process = subprocess.Popen(
            [sys.executable, "-I", "-B", str(_ENTER), "grader.autograde.inside.child", *map(str, descriptors.all)],
            pass_fds=descriptors.all,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=scratch.name,
            env=environment(scratch.name),
            start_new_session=True,
        )
        return _Notebook(process, scratch)


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
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(LEAVE_SECONDS)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.scratch.cleanup()
