"""When a submission was handed in, by the `timestamp.txt` that nbgrader's collect steps write."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

NAME = "timestamp.txt"
_MOST = 100  # characters that are read


class TimestampError(Exception):
    """There is a time stamp, and it cannot be read; the message is what stands there."""


def handed_in_at(folder: Path) -> datetime | None:
    """When it was handed in (UTC, without saying so); None where there is no time stamp. Raises TimestampError."""
    try:
        with (folder / NAME).open("rb") as file:
            content = file.read(_MOST)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise TimestampError(error.strerror) from error
    text = content.decode("utf-8", "replace").strip()
    from nbgrader.utils import parse_utc

    try:
        if not text:
            raise TimestampError("nothing")
        found: datetime = parse_utc(text)
    except (ValueError, OverflowError, TypeError) as error:
        raise TimestampError(repr(text)) from error
    return found
