"""What ended a notebook's process before it was done, as the grader sees it from outside."""

from __future__ import annotations

from typing import Literal

import msgspec


class Fault(msgspec.Struct, frozen=True):
    """Which cell was running (None: none was), and what it did. `limit` is what it went beyond: the seconds of a
    timeout, the bytes of what was too much.
    """

    kind: Literal["timeout", "memory", "died", "malformed", "out of turn", "too much"]
    cell: int | None
    limit: float = 0

    @property
    def text(self) -> str:
        """What happened, in words that may stand behind 'it was' or alone."""
        return _TEXTS[self.kind].format(self.limit)


_TEXTS = {
    "timeout": "stopped after {:g} s of running time",
    "memory": "stopped, since it needed more memory than it may have",
    "died": "the Python process ended",
    "malformed": "its answer could not be read",
    "out of turn": "it claims to run a cell that is not due",
    "too much": "gave more than {:,.0f} bytes of results",
}
