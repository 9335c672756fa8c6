"""What both ways to start a notebook's processes share: the descriptors that cross, and how they end.

`Descriptors` are the ends that the processes get. A `Starter` (`sandbox.Sandbox`, or `plain.Plain`) gives a `Running`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

START_SECONDS = 60.0  # of running time, for what is not the student's
ANSWER_SECONDS = 300.0  # until whoever watches the processes has answered, on the busiest machine
LIBRARY_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class WorkerError(Exception):
    """The grader's own process failed before any student code ran: nobody's work is to be judged by it."""


@dataclass(frozen=True)
class Descriptors:
    """A file with the request, a pipe for frames, and a socket for each exercise's exams, in the request's order."""

    request: int
    results: int
    sockets: Sequence[int]

    @property
    def all(self) -> list[int]:
        return [self.request, self.results, *self.sockets]


@dataclass(frozen=True)
class State:
    """What became of a notebook's processes so far, as the process that watches them says: the seconds of processor
    time that they have used together, and whether all wait for something that is neither a processor nor a disk.
    """

    too_much_memory: bool = False
    cpu: float = 0.0
    waiting: bool = False


class Running(Protocol):
    """A notebook's processes."""

    def stop(self) -> None:
        """Kill the process that runs the cells; its forks wait on."""

    def state(self) -> State:
        """What became of them so far. Raises WorkerError where they could not be started as they must."""

    def end(self) -> None:
        """Kill all that are left. Raises WorkerError as `state` does."""


class Starter(Protocol):
    """A way to start a notebook's processes."""

    def start(self, descriptors: Descriptors) -> Running:
        """Run the request. Raises WorkerError where no process can be started."""


def environment(scratch: str) -> dict[str, str]:
    """What a student's process sees of the environment: nothing of the instructor's."""
    return {
        "HOME": scratch,
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "MPLBACKEND": "Agg",
        "PYTHONHASHSEED": "0",
        **dict.fromkeys(LIBRARY_THREADS, "1"),
    }
