"""What was found of each submission, on disk, so that no work is done twice and none is lost.

`TERM/results/CHAPTER/STUDENT/result.json` holds a `Graded` with the key it was found under: a hash of the submission,
of all that verdicts depend on, and of the way it was run. A result is written whole or not at all, before the gradebook
is; another run takes it from here as long as the key is the same.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from grader.autograde.grading.grade import Graded
from grader.files import write_whole

PRIVATE = 0o600


class Stored(msgspec.Struct, frozen=True):
    """A result with its key."""

    key: str
    graded: Graded


def key(state: str, folder: Path, sandboxed: bool) -> str:
    """What a result of this submission depends on. Raises OSError where it cannot be read."""
    digest = hashlib.sha256(f"{state} {sandboxed}\0".encode())
    for path in sorted(folder.iterdir()):
        digest.update(path.name.encode("utf-8", "surrogateescape") + b"\0")
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


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
