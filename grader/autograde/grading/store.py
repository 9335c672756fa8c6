"""What was found of each submission, on disk, so that no work is done twice and none is lost.

`TERM/results/CHAPTER/STUDENT/result.json` holds a `Graded` with the key it was found under: hashes of the submission
and of all that verdicts depend on beside it, and the way it was run. A result is written whole or not at all, before
the gradebook is; another run takes it from here as long as the key is the same. With it stands how it came to differ
from the one before, so that a change is told even where a run ended before it could (`changes.py`).
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal

import msgspec

from grader.autograde.grading.grade import Graded
from grader.autograde.grading.session import State
from grader.files import write_whole

PRIVATE = 0o600

Reason = Literal["first", "illegible", "submission", "checks", "points", "limits", "sandbox", "again"]


class Key(msgspec.Struct, frozen=True):
    """What a result depends on: hashes, and whether there was a sandbox."""

    submission: str
    checks: str
    points: str
    limits: str
    sandboxed: bool


class Change(msgspec.Struct, frozen=True):
    """How a student's points changed, by exercise; there are no `old` ones where nothing legible was stored before.

    No two changes have the same `id`.
    """

    student: str
    reasons: tuple[Reason, ...]
    new: dict[str, float]
    old: dict[str, float] | None = None
    id: str = ""


class Stored(msgspec.Struct, frozen=True):
    """A result with its key, and the last change of its points."""

    key: Key
    graded: Graded
    change: Change | None = None


def key(state: State, folder: Path, sandboxed: bool) -> Key:
    """What a result of this submission depends on. Raises OSError where it cannot be read."""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.suffix != ".ipynb":
            continue  # another chapter, where a student's notebooks of this one lie beside its folder
        digest.update(path.name.encode("utf-8", "surrogateescape") + b"\0")
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return Key(digest.hexdigest(), state.checks, state.points, state.limits, sandboxed)


def reasons(term: Path, chapter_id: str, student: str, before: Stored | None, now: Key) -> tuple[Reason, ...]:
    """Why a submission is to be graded although there may be a stored result; none where that is still right."""
    if before is None:
        return ("illegible",) if _path(term, chapter_id, student).exists() else ("first",)
    was = before.key
    parts: dict[Reason, bool] = {
        "submission": was.submission != now.submission,
        "checks": was.checks != now.checks,
        "points": was.points != now.points,
        "limits": was.limits != now.limits,
        "sandbox": was.sandboxed != now.sandboxed,
    }
    return tuple(name for name, differs in parts.items() if differs)


def last_change(before: Stored | None, why: tuple[Reason, ...], now: Key, graded: Graded) -> Change | None:
    """The last change of a student's points: from the stored result to this one; an earlier one where these agree."""
    old = None if before is None else _points(before.graded)
    new = _points(graded)
    if before is not None and old == new:
        return before.change
    earlier = before.change.id if before is not None and before.change is not None else ""
    marked = hashlib.sha256(msgspec.json.encode((graded.student, earlier, now, old, new))).hexdigest()[:16]
    return Change(graded.student, why or ("again",), new, old, marked)


def _points(graded: Graded) -> dict[str, float]:
    return {name: verdict.earned for name, verdict in graded.by_exercise.items()}


def read(term: Path, chapter_id: str, student: str) -> Stored | None:
    """A stored result; None where there is none, or none that can be read."""
    try:
        return msgspec.json.decode(_path(term, chapter_id, student).read_bytes(), type=Stored)
    except (OSError, ValueError, msgspec.MsgspecError):
        return None


def write(term: Path, chapter_id: str, stored: Stored) -> None:
    """Store a result, readable by its owner alone."""
    write_whole(_path(term, chapter_id, stored.graded.student), msgspec.json.encode(stored), PRIVATE)


def students(term: Path, chapter_id: str) -> list[str]:
    """Who has a stored result, legible or not."""
    return sorted(path.parent.name for path in (term / "results" / chapter_id).glob("*/result.json"))


def _path(term: Path, chapter_id: str, student: str) -> Path:
    return term / "results" / chapter_id / student / "result.json"
