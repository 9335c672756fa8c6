"""How points changed from run to run: the log `TERM/results/CHAPTER/changes.log`, to which each change is appended as
a line of JSON, and the summary that is printed.

A change is written first to the stored result (`store.py`) and then to this log. If a run ends in between, the next run
writes it before it grades anything.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from grader.counts import number
from grader.files import PRIVATE
from grader.grading.store import Change, Reason
from grader.shown import NO_NAMES, Called, json_text, named

PRINTED = 20  # students whose changes are printed


class Logged(msgspec.Struct, frozen=True):
    """A line of the log: when it was written and when its run began (ISO 8601, UTC; `run` is empty in logs of earlier
    versions), a student's points before and after, in total and for each exercise that changed, and why.
    """

    at: str
    student: str
    points: tuple[float | None, float]
    exercises: dict[str, tuple[float | None, float | None]]
    reasons: tuple[Reason, ...]
    id: str
    run: str = ""


class Log:
    """The log of a chapter, for one run. Several runs may write to it at the same time."""

    def __init__(self, term: Path, chapter_id: str) -> None:
        self.path = log_path(term, chapter_id)
        self._run = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._known: set[str] = set()
        self._read = 0  # bytes of it

    def add(self, change: Change) -> bool:
        """Append a change if the log does not have it yet; return whether it was appended. Raises OSError."""
        if change.id in self._known:
            return False
        self.path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, PRIVATE)
        with open(descriptor, "r+b", buffering=0) as file:
            with suppress(OSError):  # a file system without locks: at worst a line is duplicated
                fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(self._read)
            news = file.read()
            self._read += len(news)
            self._known |= {name for line in news.splitlines() if (name := _id(line))}
            if change.id in self._known:
                return False
            torn = b"\n" if news and not news.endswith(b"\n") else b""
            file.write(torn + _line(change, self._run))
        self._known.add(change.id)
        return True


def log_path(term: Path, chapter_id: str) -> Path:
    return term / "results" / chapter_id / "changes.log"


def read_log(term: Path, chapter_id: str) -> list[Logged]:
    """All changes, the oldest first; lines that cannot be read, such as one that was cut off, are left out."""
    try:
        lines: Iterable[bytes] = log_path(term, chapter_id).read_bytes().splitlines()
    except OSError:
        return []
    found: list[Logged] = []
    for line in lines:
        with suppress(msgspec.MsgspecError):
            found.append(msgspec.json.decode(line, type=Logged))
    return found


def _line(change: Change, run: str) -> bytes:
    old = change.old or {}
    logged = Logged(
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        student=change.student,
        points=(None if change.old is None else sum(old.values()), sum(change.new.values())),
        exercises=_different(old, change.new),
        reasons=change.reasons,
        id=change.id,
        run=run,
    )
    return json_text(msgspec.json.encode(logged).decode()).encode() + b"\n"


def _different(old: Mapping[str, float], new: Mapping[str, float]) -> dict[str, tuple[float | None, float | None]]:
    """The points before and after of the exercises of which they differ."""
    both = {name: (old.get(name), new.get(name)) for name in [*old, *new]}
    return {name: (before, now) for name, (before, now) in both.items() if before != now}


def _id(line: bytes) -> str:
    try:
        return msgspec.json.decode(line, type=_Id).id
    except msgspec.MsgspecError:
        return ""  # a line that was cut off by a full disk


class _Id(msgspec.Struct):
    id: str


def printed(changes: Sequence[Change], log: Path, called: Called = NO_NAMES) -> list[str]:
    """What has changed since the last run: one line for each of the first students; empty if nothing has. `called` has
    the names of students, by id.
    """
    first = [change for change in changes if change.reasons == ("first",)]
    others = sorted((change for change in changes if change not in first), key=lambda change: change.student)
    lines = [
        f"  {named(called.get(change.student, change.student))}: {_change_words(change)}" for change in others[:PRINTED]
    ]
    lines += [f"  and {len(others) - PRINTED} more"] if len(others) > PRINTED else []
    lines += [f"  graded for the first time: {len(first)}"] if first else []
    return [f"Changed since the last run (full log: {log}):", *lines] if lines else []


def _change_words(change: Change) -> str:
    why = ", ".join(REASONS[reason] for reason in change.reasons)
    if change.old is None:
        return f"{number(sum(change.new.values()))} points: {why}"
    old, new = change.old, change.new
    parts = [f"{name} {_points(before)} → {_points(now)}" for name, (before, now) in _different(old, new).items()]
    return f"{number(sum(old.values()))} → {number(sum(new.values()))} points ({', '.join(parts)}): {why}"


def _points(value: float | None) -> str:
    return "–" if value is None else number(value)


REASONS: dict[Reason, str] = {
    "first": "graded for the first time",
    "illegible": "the earlier result was unreadable",
    "submission": "the submission changed",
    "checks": "the checks or the grader changed",
    "points": "the exercises' points changed",
    "limits": "the limits changed",
    "sandbox": "only one of the two runs used the sandbox",
    "again": "regraded with a different result",
}
