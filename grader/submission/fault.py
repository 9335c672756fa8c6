"""Why a notebook's process ended before it was finished, as the grader sees it from outside."""

from __future__ import annotations

from typing import Literal

import msgspec


class Fault(msgspec.Struct, frozen=True):
    """The cell that was running (None if none was), and what it did. `limit` is the limit that it exceeded: the seconds
    of a timeout, or the bytes of results.
    """

    kind: Literal["timeout", "memory", "died", "malformed", "out of turn", "too much"]
    cell: int | None
    limit: float = 0

    @property
    def text(self) -> str:
        """What happened. Texts of the kinds timeout and memory can follow 'it was'."""
        return _TEXTS[self.kind].format(self.limit)


_TEXTS = {
    "timeout": "stopped after {:g} s of running time",
    "memory": "stopped because it used more memory than allowed",
    "died": "the Python process ended",
    "malformed": "its answer could not be read",
    "out of turn": "its process reported cells in the wrong order",
    "too much": "it produced more than {:,.0f} bytes of results",
}
