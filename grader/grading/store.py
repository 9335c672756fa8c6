"""Store the result of each submission on disk, so that no work is repeated or lost.

`TERM/results/CHAPTER/STUDENT/result.json` holds a `Graded` with its key: hashes of the submission and of everything
else that verdicts depend on, and whether it ran in the sandbox. A result is written atomically, before the gradebook;
later runs reuse it as long as the key is the same. The last change of its points is stored with it, so that it is
reported even if the run ended before it could do so (`changes.py`).
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal

import msgspec

from grader.files import PRIVATE, write_whole
from grader.grading.grade import Graded
from grader.grading.session import State

Reason = Literal["first", "illegible", "submission", "checks", "points", "limits", "sandbox", "again"]


class Key(msgspec.Struct, frozen=True):
    """What a result depends on: hashes, and whether it was found in the sandbox."""

    submission: str
    checks: str
    points: str
    limits: str
    sandboxed: bool


class Change(msgspec.Struct, frozen=True):
    """How a student's points changed, by exercise; `old` is None if there was no readable result before.

    Every change has a unique `id`.
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
    """The key of a result of this submission. Raises OSError if the submission cannot be read."""
    return Key(digest(folder), state.checks, state.points, state.limits, sandboxed)


def digest(folder: Path) -> str:
    """A hash of a submission. Raises OSError if it cannot be read."""
    found = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.suffix != ".ipynb":
            continue  # another chapter's folder, if the student's notebooks of this chapter are next to it
        found.update(path.name.encode("utf-8", "surrogateescape") + b"\0")
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                found.update(hashlib.file_digest(file, "sha256").digest())
    return found.hexdigest()


def key_now(state: State, folder: Path | None, stored: Stored) -> Key | None:
    """The key that this result would get now; None if its submission is gone. Raises OSError if it cannot be read."""
    try:
        return None if folder is None else key(state, folder, stored.graded.sandboxed)
    except FileNotFoundError:
        return None


def reasons(term: Path, chapter_id: str, student: str, before: Stored | None, now: Key) -> tuple[Reason, ...]:
    """Why a submission has to be graded although a result may be stored; empty if the result is up to date."""
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
    """The last change of a student's points: from the stored result to this one or, if they agree, an earlier one."""
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
    """The stored result; None if there is none or it cannot be read."""
    try:
        return msgspec.json.decode(_path(term, chapter_id, student).read_bytes(), type=Stored)
    except (OSError, ValueError, msgspec.MsgspecError):
        return None


def write(term: Path, chapter_id: str, stored: Stored) -> None:
    """Store a result that only its owner can read."""
    write_whole(_path(term, chapter_id, stored.graded.student), msgspec.json.encode(stored), PRIVATE)


def students(term: Path, chapter_id: str) -> list[str]:
    """The students with a stored result, readable or not."""
    return sorted(path.parent.name for path in (term / "results" / chapter_id).glob("*/result.json"))


def _path(term: Path, chapter_id: str, student: str) -> Path:
    return term / "results" / chapter_id / student / "result.json"


def grade_first(term: Path, chapter_id: str) -> str:
    """The advice of a command that finds no result, or an old one."""
    return f"Run  grader autograde {chapter_id} --term {term}  first."
