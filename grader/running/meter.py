"""The clock for a notebook's time limits: its running time.

Running time is the processor time of all the notebook's processes together, plus the time during which all of them wait
for something other than a processor or a disk, such as `sleep`, a lock or each other. It does not include time in which
they could compute but a busy machine does not let them. A limit therefore means the same however busy the machine is;
on an idle machine it is wall-clock time. It is read from outside, by the process that watches the others.
"""

from __future__ import annotations

import select
import time
from collections.abc import Callable

from grader.running.processes import State, WorkerError

LOOK_SECONDS = 0.1  # between two looks at the processes; a notebook that finishes earlier needs none
WALL_SECONDS, WALL_FACTOR = 120.0, 30.0  # a limit may take this long on the clock, or so many times the limit


class OutOfTimeError(Exception):
    """A notebook's running time exceeded `limit`."""

    def __init__(self, limit: float) -> None:
        super().__init__(limit)
        self.limit = limit


class StarvedError(WorkerError):
    """The machine was so busy that a notebook could neither compute nor wait, which says nothing about the notebook."""


class Meter:
    """The running time of one child's processes. Their notebook may use `most` seconds, and has used `before` already.

    `allow` starts a section with its own limit. `wait`, `check` and `look` raise OutOfTimeError if that limit or `most`
    is exceeded, and StarvedError.
    """

    def __init__(
        self, state: Callable[[], State], most: float, before: float = 0.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._state, self._clock = state, clock
        self._most, self._before = most, before
        self._cpu = self._waited = 0.0
        self._looked = clock()
        self.allow(most)
        self._base: float | None = 0.0  # of `used`, where what is allowed began

    @property
    def used(self) -> float:
        """Seconds of running time up to the last look."""
        return self._cpu + self._waited

    @property
    def left(self) -> float:
        """The seconds that the notebook can still use."""
        return self._most - self._before - self.used

    def allow(self, seconds: float) -> None:
        """Allow this much time from now on, counted from the next look."""
        self._limit = seconds
        self._base = None
        self._began = self._clock()

    def wait(self, descriptor: int, event: int) -> None:
        """Return when a descriptor is ready for `select.POLLIN` or `POLLOUT`, while there is time."""
        poll = select.poll()
        poll.register(descriptor, event)
        while True:
            left = self._looked + LOOK_SECONDS - self._clock()
            if left > 0 and poll.poll(1000 * left):
                return
            self.look(self._limit)

    def check(self, seconds: float) -> None:
        """Check at the end of a section that it took at most these seconds; if it ended before a look, it did."""
        if self._base is not None:
            self.look(seconds)

    def look(self, limit: float) -> None:
        """Read the time that the processes have used, and compare it with this limit."""
        state, now = self._state(), self._clock()
        self._cpu = max(self._cpu, state.cpu)
        if state.waiting:  # after a late look, the true waiting time is unknown
            self._waited += min(now - self._looked, LOOK_SECONDS)
        self._looked = now
        if self._base is None:
            self._base = self.used
        if self.used - self._base > limit:
            raise OutOfTimeError(limit)
        if self.left < 0:
            raise OutOfTimeError(self._most)
        if self._looked - self._began > max(WALL_SECONDS, WALL_FACTOR * limit):
            raise StarvedError(
                f"its notebook had {self.used - self._base:.1f} s of running time in "
                f"{self._looked - self._began:.0f} s, too little to judge it. Grade it again when this machine is less "
                "busy, or with fewer workers"
            )
