"""The time of a submission, from the `timestamp.txt` that nbgrader's collect steps or an instructor write."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from grader.times import TimeError, as_utc

NAME = "timestamp.txt"
_MOST = 100  # characters that are read


class TimestampError(Exception):
    """The timestamp cannot be read; the message says what was found instead."""


def submitted_at(folder: Path) -> datetime | None:
    """The time of submission, in UTC without a time zone; None if there is no timestamp. Raises TimestampError."""
    try:
        with (folder / NAME).open("rb") as file:
            content = file.read(_MOST)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise TimestampError(error.strerror) from error
    text = content.decode("utf-8", "replace").strip()
    if not text:
        raise TimestampError("nothing")
    try:
        return as_utc(text)
    except TimeError as error:
        raise TimestampError(repr(text)) from error
