"""The settings of a term, in `TERM/term.toml`: due dates, extensions, what lateness costs, and which of several
attempts counts. All that decides about points and is not in the course stands there, so a kept term keeps it.

    attempts = "best"  # the default is "last"

    [late]
    share = 0.1  # see `late_policies.py`

    [due]
    ch01_vanilla_rnn = 2026-03-01 12:00:00Z

    [extensions.ch01_vanilla_rnn]
    ann = 2026-03-08 12:00:00Z

The file is optional. If it has a due date for a chapter, it is also the only source of that chapter's extensions; for
all other chapters nbgrader's gradebook keeps both.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import msgspec

from grader.errors import ExpectedError
from grader.manifest import Manifest

NAME = "term.toml"


class TermSettingsError(ExpectedError):
    """`term.toml` contains a mistake; the message says which, and how to write it."""


class TermSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The late policy (see `late_policies.py`), the due date of each chapter, and the due dates of students with an
    extension, by chapter and student. Times are in UTC, without a time zone, as nbgrader stores them.
    """

    attempts: Literal["last", "best"] = "last"
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
    settings = msgspec.structs.replace(
        read,
        due={chapter_id: _utc(when, path, f"due.{chapter_id}") for chapter_id, when in read.due.items()},
        extensions={
            chapter_id: {s: _utc(when, path, f"extensions.{chapter_id}.{s}") for s, when in students.items()}
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


_EXAMPLE = "A due date is written  ch01_vanilla_rnn = 2026-03-01 12:00:00Z  (Z for UTC, or an offset such as +01:00)."


def _utc(when: datetime, path: Path, key: str) -> datetime:
    try:
        return when if when.tzinfo is None else when.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:
        raise TermSettingsError(f"{path}: {key} is a date that UTC cannot express. {_EXAMPLE}") from None
