"""The settings of a term, in `TERM/term.toml`: due dates, extensions, what lateness costs, and which of several
attempts counts. All that decides about points and is not in the course stands there, so a kept term keeps it.

    attempts = "best"  # the default is "last"
    slip_days = 3  # days that each student may be late in the whole term at no cost
    timezone = "Europe/Berlin"  # of all times without an offset

    [late]
    share = 0.1  # see `late_policies.py`

    [due]
    ch01_vanilla_rnn = 2026-03-01 23:59:00

    [extensions.ch01_vanilla_rnn]
    ann = 2026-03-08 12:00:00+01:00

    [exempt.ch02_bptt]
    bo = true  # from the whole chapter
    cy = ["training"]  # from these notebooks

A time without an offset is what clocks in `timezone` show; without that line it is refused.

The file is optional. If it has a due date for a chapter, it is also the only source of that chapter's extensions; for
all other chapters nbgrader's gradebook keeps both.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any, Literal, get_type_hints
from zoneinfo import ZoneInfo

import msgspec
from msgspec.structs import replace

from grader.errors import ExpectedError
from grader.manifest import Chapter, Manifest
from grader.shown import one_form
from grader.times import TimeError, local_as_utc, zone

NAME = "term.toml"


class TermSettingsError(ExpectedError):
    """`term.toml` contains a mistake; the message says which, and how to write it."""


class TermSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The late policy (see `late_policies.py`), the days of lateness that cost a student nothing (see `slips.py`), the
    due date of each chapter, and the due dates of students with an extension, by chapter and student. `exempt` says, by
    chapter and student, who is exempt from the chapter (true) or from some of its notebooks. Times are in UTC,
    without a time zone, as nbgrader stores them. `timezone` is the
    IANA name of the zone in which they were written without an offset and are shown; empty if there is none.
    """

    attempts: Literal["last", "best"] = "last"
    timezone: str = ""
    slip_days: int = 0
    late: dict[str, str | int | float | bool] | None = None
    due: dict[str, datetime] = {}
    extensions: dict[str, dict[str, datetime]] = {}
    exempt: dict[str, dict[str, bool | tuple[str, ...]]] = {}

    @property
    def clocks(self) -> tzinfo:
        """The zone in which times are shown: `timezone`, or UTC."""
        return zone(self.timezone) if self.timezone else UTC

    def extension(self, chapter_id: str, student: str) -> timedelta | None:
        """How much later than the class this student may submit the chapter; None if there is no extension."""
        own = self.extensions.get(chapter_id, {}).get(student)
        return None if own is None else own - self.due[chapter_id]

    def exemptions(self, chapter: Chapter) -> dict[str, frozenset[str]]:
        """The notebooks of a chapter from which students are exempt, by student; only those with an exemption."""
        everything = frozenset(notebook.name for notebook in chapter.notebooks)
        its = self.exempt.get(chapter.id, {})
        return {student: everything if names is True else frozenset(names or ()) for student, names in its.items()}


def without(chapter: Chapter, notebooks: Collection[str]) -> Chapter:
    """The chapter as it counts for a student who is exempt from some notebooks."""
    return replace(chapter, notebooks=tuple(each for each in chapter.notebooks if each.name not in notebooks))


def read_term_settings(term: Path, manifest: Manifest) -> TermSettings:
    """The settings of this term; the defaults if there is no file. Raises TermSettingsError, UnknownIdError."""
    path = term / NAME
    try:
        read = msgspec.toml.decode(path.read_bytes(), type=TermSettings)
    except FileNotFoundError:
        return TermSettings()
    except (msgspec.MsgspecError, ValueError) as error:
        raise TermSettingsError(_unread(path, error)) from error
    for table in ("due", "extensions", "exempt"):
        for chapter_id in getattr(read, table):
            _check_chapter(path, table, chapter_id, manifest)
    if read.slip_days < 0 or (read.slip_days and read.late is None):
        raise TermSettingsError(
            f"{path}: slip_days = {read.slip_days}: it is the number of days, and needs a table [late], because "
            "without one lateness costs nothing. Write for example  [late]  and below it  share = 0.1"
        )
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
        exempt={
            c: {one_form(s): _exempt(path, manifest, c, s, e) for s, e in its.items()} for c, its in read.exempt.items()
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


def _unread(path: Path, error: Exception) -> str:
    """Why the file cannot be read, with the chapter and the student whose line it is."""
    text = str(error).rstrip(".")
    if unknown := re.fullmatch(r".*unknown field `(\w+)`", text):
        more = " To exempt (excuse) students, write  [exempt.CHAPTER]." if "excuse" in unknown[1] else ""
        known = ", ".join(field.name for field in msgspec.structs.fields(TermSettings))
        return f"{path}: {unknown[1]} is no setting of a term. There are {known}.{more}"
    where = _place_of_mistake(path)
    what = text.partition(" - at `")[0]
    return f"{path}: {f'{where}: ' if where else ''}{what}. {_ADVICE.get(where.split('.')[0], _EXAMPLE)}"


def _place_of_mistake(path: Path) -> str:
    """The first value that is not what it has to be, such as `extensions.CHAPTER.STUDENT`; empty if that is not clear.
    msgspec leaves out the keys of a table.
    """
    try:
        tree = tomllib.loads(path.read_text("utf-8"))
    except ValueError:
        return ""
    hints = get_type_hints(TermSettings)
    for key, value in tree.items():
        for place, single in _values(key, value):
            try:
                msgspec.convert(single, hints.get(key, Any), strict=True)
            except msgspec.ValidationError:
                return place
    return ""


def _values(key: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Each value in a setting with its place, alone in tables like those around it."""
    if not isinstance(value, dict) or not value:
        yield key, value
        return
    for name, inner in value.items():
        for place, single in _values(name, inner):
            yield f"{key}.{place}", {name: single}


def _check_chapter(path: Path, table: str, chapter_id: str, manifest: Manifest) -> None:
    known = [chapter.id for chapter in manifest.chapters]
    if chapter_id not in known:
        close = [name for name in known if name.startswith(chapter_id)]
        close = close or difflib.get_close_matches(chapter_id, known, 1, 0.6)
        meant = f" Do you mean {close[0]}?" if close else ""
        raise TermSettingsError(
            f"{path}: {table}.{chapter_id}: the course has no chapter {chapter_id!r}.{meant} It has {', '.join(known)}."
        )


def _exempt(
    path: Path, manifest: Manifest, chapter_id: str, student: str, given: bool | tuple[str, ...]
) -> bool | tuple[str, ...]:
    known = [notebook.name for notebook in manifest.chapter(chapter_id).notebooks]
    if isinstance(given, bool):
        if not given:
            raise TermSettingsError(f"{path}: exempt.{chapter_id}.{student} = false: delete the line. {_EXEMPT}")
    elif strange := [name for name in given if name not in known]:
        raise TermSettingsError(
            f"{path}: exempt.{chapter_id}.{student}: {chapter_id} has no notebook {strange[0]!r}. It has "
            f"{', '.join(known)}."
        )
    elif not given:
        raise TermSettingsError(f"{path}: exempt.{chapter_id}.{student} names no notebook. {_EXEMPT}")
    return True if not isinstance(given, bool) and set(given) == set(known) else given


_EXEMPT = (
    "An exemption is written below  [exempt.ch01_vanilla_rnn]  as  ann = true  for the whole chapter, or  "
    'ann = ["recurrence"]  for some notebooks.'
)
_EXAMPLE = (
    "A due date is written  ch01_vanilla_rnn = 2026-03-01 12:00:00Z  (Z for UTC, or an offset such as +01:00), or "
    'without either if the file has a line such as  timezone = "Europe/Berlin"  above [due].'
)

_ADVICE = {
    "exempt": _EXEMPT,
    "late": "What lateness costs is written as  share = 0.1  below  [late].",
    "slip_days": "Write for example  slip_days = 3  above all tables.",
    "attempts": 'Write  attempts = "best"  or  attempts = "last".',
}


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
