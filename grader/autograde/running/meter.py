"""The clock by which a notebook's time limits are judged: its running time.

Running time passes while the notebook's processes compute, as their processor time, which they share; and while all of
them wait for something other than a processor or a disk: `sleep`, a lock, one another. It stands still while they
could compute and a busy machine does not let them. So a limit means the same on any machine, whatever else runs there,
and where nothing else runs, it is the time on the wall. It is read from outside, by whoever watches the processes.
"""

from __future__ import annotations

import select
import time
from collections.abc import Callable

from grader.autograde.running.processes import State, WorkerError

LOOK_SECONDS = 0.1  # between two looks at the processes; a notebook that is done by then costs none
WALL_SECONDS, WALL_FACTOR = 120.0, 30.0  # how long a limit may take on the wall, at least, and beside what it allows


class OutOfTimeError(Exception):
    """A notebook's running time went beyond `limit`."""

    def __init__(self, limit: float) -> None:
        super().__init__(limit)
        self.limit = limit


class StarvedError(WorkerError):
    """A notebook neither computed nor waited for so long that it says nothing of the notebook."""


class Meter:
    """The running time of one child's processes, whose notebook may use `most` seconds and had used some `before`.

    `allow` begins what has a limit of its own. `wait`, `check` and `look` raise OutOfTimeError beyond that, or beyond
    `most`, and StarvedError.
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
        """What the notebook may still use."""
        return self._most - self._before - self.used

    def allow(self, seconds: float) -> None:
        """From here on this long is left, which counts from the next look."""
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
        """What was allowed is done: was it within these seconds? What is done between two looks was."""
        if self._base is not None:
            self.look(seconds)

    def look(self, limit: float) -> None:
        """See what the processes have used, and judge it by this limit."""
        state, now = self._state(), self._clock()
        self._cpu = max(self._cpu, state.cpu)
        if state.waiting:  # whoever looks late does not know how long
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
                f"{self._looked - self._began:.0f} s, too little to judge it by. Grade it again when less runs on "
                "this machine, or with fewer workers"
            )
