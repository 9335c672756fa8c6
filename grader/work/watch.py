"""Notice that a file was saved, by looking at it; no library for this is among what students install."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

INTERVAL = 0.5  # seconds between two looks

_State = tuple[int, int] | None  # the time of the last change in ns and the size; None if there is no file


def changes(path: Path, sleep: Callable[[float], None]) -> Iterator[None]:
    """Yield once at the start, then each time that the file has changed and has stayed the same for one interval.

    An editor may write a file in several steps, or delete it and write it again. Never ends by itself.
    """
    seen = _state(path)
    yield
    while True:
        sleep(INTERVAL)
        now = _state(path)
        if now is None or now == seen:
            continue
        sleep(INTERVAL)
        if _state(path) == now:
            seen = now
            yield


def _state(path: Path) -> _State:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
