"""What the ways to start a notebook's processes have in common: the descriptors that are passed, and how they end.

`Descriptors` are the ends that the processes get. A `Starter` (`sandbox.Sandbox`, `unsandboxed.Plain` or
`other_user.OtherUser`) returns a `Running`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

START_SECONDS = 60.0  # of running time, for starting up, before and between the student's cells
ANSWER_SECONDS = 300.0  # until the process that watches the others answers, on the busiest machine
LIBRARY_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class WorkerError(Exception):
    """The grader's own process failed, which says nothing about the submission."""


@dataclass(frozen=True)
class Descriptors:
    """A file with the request, a pipe for frames, and a socket for each exercise's cases, in the request's order."""

    request: int
    results: int
    sockets: Sequence[int]

    @property
    def all(self) -> list[int]:
        return [self.request, self.results, *self.sockets]


@dataclass(frozen=True)
class State:
    """The state of a notebook's processes, as reported by the process that watches them: the processor time that they
    have used together, and whether all of them wait for something other than a processor or a disk.
    """

    too_much_memory: bool = False
    cpu: float = 0.0
    waiting: bool = False


class Running(Protocol):
    """A notebook's processes."""

    def stop(self) -> None:
        """Kill the process that runs the cells; its forks keep waiting."""

    def state(self) -> State:
        """Their state so far. Raises WorkerError if they could not be started properly."""

    def end(self) -> None:
        """Kill the remaining ones. Raises WorkerError as `state` does."""


class Starter(Protocol):
    """A way to start a notebook's processes."""

    def start(self, descriptors: Descriptors) -> Running:
        """Run the request. Raises WorkerError if no process can be started."""


def same_modules() -> dict[str, str]:
    """The environment variables with which another Python of the grader's finds the same modules as this process. A
    folder grader/ in the course must not hide the package.
    """
    return {"PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path)), "PYTHONSAFEPATH": "1"}


def environment(scratch: str) -> dict[str, str]:
    """The environment variables of a student's process: none of the instructor's."""
    return {
        "HOME": scratch,
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "MPLBACKEND": "Agg",
        "PYTHONHASHSEED": "0",
        **dict.fromkeys(LIBRARY_THREADS, "1"),
    }
