"""The file of the student's diary: the result of each check that ran in a notebook or with `grader check`.

It is a file on the student's own machine, one JSON object per line, which nothing sends anywhere:
`~/.unrolled/diary.jsonl`, or the file that the environment variable UNROLLED_DIARY names. An empty UNROLLED_DIARY
turns it off.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from grader.checking.verdict import Status, Verdict

VARIABLE = "UNROLLED_DIARY"


class Entry(msgspec.Struct, frozen=True):
    """One check: when it ended (ISO 8601, UTC), its result, and the id of the likely cause if there was one."""

    at: str
    exercise: str
    status: Status
    earned: float
    points: float
    cause: str | None = None


def path() -> Path | None:
    """The file of the diary; None if it is turned off or there is no home folder."""
    given = os.environ.get(VARIABLE)
    if given is not None:
        return Path(given) if given else None
    try:
        return Path.home() / ".unrolled" / "diary.jsonl"
    except RuntimeError:
        return None


def note(verdict: Verdict) -> None:
    """Add a verdict. A diary that cannot be written is no reason to fail a check."""
    file = path()
    if file is None:
        return
    cause = verdict.diagnosis.id if verdict.diagnosis else None
    now = datetime.now(UTC).isoformat(timespec="seconds")
    line = msgspec.json.encode(Entry(now, verdict.id, verdict.status, verdict.earned, verdict.points, cause)) + b"\n"
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(file, "ab", buffering=0) as diary:
            diary.write(line)


def clear() -> Path | None:
    """Delete the file and return its path, or None if there is none. Raises OSError."""
    file = path()
    if file is None or not file.is_file():
        return None
    file.unlink()
    return file


def read() -> list[Entry]:
    """All entries, the oldest first; lines that are not entries, such as one that was cut off, are left out."""
    file = path()
    try:
        lines: Iterable[bytes] = file.read_bytes().splitlines() if file else ()
    except OSError:
        return []
    entries: list[Entry] = []
    for line in lines:
        with suppress(msgspec.MsgspecError):
            entries.append(msgspec.json.decode(line, type=Entry))
    return entries
