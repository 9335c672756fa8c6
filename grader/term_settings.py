"""The settings of a term, in `TERM/term.toml`: due dates, extensions, what lateness costs, and which of several
attempts counts. All that decides about points and is not in the course stands there, so a kept term keeps it.

    attempts = "best"  # the default is "last"
    timezone = "Europe/Berlin"  # of all times without an offset

    [late]
    share = 0.1  # see `late_policies.py`

    [due]
    ch01_vanilla_rnn = 2026-03-01 23:59:00

    [extensions.ch01_vanilla_rnn]
    ann = 2026-03-08 12:00:00+01:00

A time without an offset is what clocks in `timezone` show; without that line it is refused.

The file is optional. If it has a due date for a chapter, it is also the only source of that chapter's extensions; for
all other chapters nbgrader's gradebook keeps both.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

import msgspec

from grader.errors import ExpectedError
from grader.manifest import Manifest
from grader.shown import one_form
from grader.times import TimeError, local_as_utc, zone

NAME = "term.toml"


class TermSettingsError(ExpectedError):
    """`term.toml` contains a mistake; the message says which, and how to write it."""


class TermSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The late policy (see `late_policies.py`), the due date of each chapter, and the due dates of students with an
    extension, by chapter and student. Times are in UTC, without a time zone, as nbgrader stores them. `timezone` is the
    IANA name of the zone in which they were written without an offset and are shown; empty if there is none.
    """

    attempts: Literal["last", "best"] = "last"
    timezone: str = ""
    late: dict[str, str | int | float | bool] | None = None
    due: dict[str, datetime] = {}
    extensions: dict[str, dict[str, datetime]] = {}

    def extension(self, chapter_id: str, student: str) -> timedelta | None:
        """How much later than the class this student may submit the chapter; None if there is no extension."""
        own = self.extensions.get(chapter_id, {}).get(student)
        return None if own is None else own - self.due[chapter_id]


def read_term_settings(term: Path, manifest: Manifest) -> TermSettings:
    """The settings of this term; the defaults if there is no file. Raises TermSettingsError, UnknownIdError."""
    path = term / NAME
    try:
        read = msgspec.toml.decode(path.read_bytes(), type=TermSettings)
    except FileNotFoundError:
        return TermSettings()
    except (msgspec.MsgspecError, ValueError) as error:
        raise TermSettingsError(f"{path}: {str(error).rstrip('.')}. {_EXAMPLE}") from error
    for chapter_id in {**read.due, **read.extensions}:
        manifest.chapter(chapter_id)
    try:
        where = zone(read.timezone) if read.timezone else None
    except TimeError as error:
        raise TermSettingsError(f"{path}: timezone: {error}. {_EXAMPLE}") from error
    settings = msgspec.structs.replace(
        read,
        due={chapter_id: _utc(when, where, path, f"due.{chapter_id}") for chapter_id, when in read.due.items()},
        extensions={
            chapter_id: {
                one_form(s): _utc(when, where, path, f"extensions.{chapter_id}.{s}") for s, when in students.items()
            }
            for chapter_id, students in read.extensions.items()
        },
    )
    for chapter_id, students in settings.extensions.items():
        if chapter_id not in settings.due:
            raise TermSettingsError(
                f"{path}: there are extensions for {chapter_id}, but no due date. Add it under [due]. {_EXAMPLE}"
            )
        for student, when in students.items():
            if when < settings.due[chapter_id]:
                raise TermSettingsError(
                    f"{path}: the extension of {student!r} for {chapter_id} ends before the due date of the class. "
                    f"Write the student's own due date there. {_EXAMPLE}"
                )
    return settings


_EXAMPLE = (
    "A due date is written  ch01_vanilla_rnn = 2026-03-01 12:00:00Z  (Z for UTC, or an offset such as +01:00), or "
    'without either if the file has a line such as  timezone = "Europe/Berlin"  above [due].'
)


def _utc(when: datetime, where: ZoneInfo | None, path: Path, key: str) -> datetime:
    try:
        if when.tzinfo is not None:
            return when.astimezone(UTC).replace(tzinfo=None)
        if where is None:
            raise TermSettingsError(f"{path}: {key} has no offset, so it is not certain when that is. {_EXAMPLE}")
        return local_as_utc(when, where)
    except TimeError as error:
        raise TermSettingsError(f"{path}: {key}: {error}. {_EXAMPLE}") from error
    except OverflowError:
        raise TermSettingsError(f"{path}: {key} is a date that UTC cannot express. {_EXAMPLE}") from None
