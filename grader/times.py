"""Times that decide about points: understood exactly, or refused with the way in which to write them.

A time has an offset from UTC, `Z` or `UTC`. Abbreviations of zones are refused, because several zones share many of
them (CST is in America, China and Cuba), and so are dates in any other order than year, month, day. A time that a
zone's clocks show twice, in the night in which they are put back, or never, is refused too.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

from grader.counts import counted
from grader.errors import ExpectedError

HOW = "such as 2026-03-01 23:59:00 +01:00, or with UTC at the end"
_TIME = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)[T ]+(?P<time>\d\d:\d\d(:\d\d([.,]\d{1,9})?)?)"
    r" *(?P<zone>Z|UTC|GMT|(?P<sign>[+-])(?P<hours>\d\d)(:?(?P<minutes>\d\d))?)?",
    re.IGNORECASE | re.ASCII,
)


class TimeError(ValueError):
    """A text is no time, or one that can be understood in several ways."""


class NoZoneError(ExpectedError):
    """The name of a time zone that a person gave is none; the message says how to write it."""


def as_utc(text: str) -> datetime:
    """A time as UTC, without a time zone. One without an offset is in UTC, as nbgrader writes it. Raises TimeError."""
    match = _matched(text)
    try:
        return (_local(match) - _offset(match)).replace(tzinfo=None)
    except (ValueError, OverflowError) as error:
        raise TimeError(f"{text!r} is not a time") from error


def given_as_utc(text: str, where: ZoneInfo | None) -> datetime:
    """A time as UTC, without a time zone. One without an offset is what clocks in `where` show, and is refused without
    that. Raises TimeError.
    """
    match = _matched(text)
    if match["zone"]:
        return as_utc(text)
    if where is None:
        raise TimeError(f"{text!r} has no time zone")
    try:
        return local_as_utc(_local(match), where)
    except (ValueError, OverflowError) as error:
        raise error if isinstance(error, TimeError) else TimeError(f"{text!r} is not a time") from error


def _matched(text: str) -> re.Match[str]:
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise TimeError(f"{text!r} is not a time")
    return match


def _local(match: re.Match[str]) -> datetime:
    """The time that is written, without its offset. Raises ValueError."""
    seconds, _, fraction = match["time"].replace(",", ".").partition(".")
    return datetime.fromisoformat(
        f"{match['date']} {seconds}.{fraction[:6]:0<6}" if fraction else f"{match['date']} {seconds}"
    )


def _offset(match: re.Match[str]) -> timedelta:
    if match["sign"] is None:
        return timedelta()
    hours, minutes = int(match["hours"]), int(match["minutes"] or 0)
    if hours > 14 or minutes > 59:  # no zone is further from UTC
        raise ValueError("no offset of any zone")
    return timedelta(hours=hours, minutes=minutes) * (-1 if match["sign"] == "-" else 1)


def zone(name: str) -> ZoneInfo:
    """A zone by its IANA name, such as Europe/Berlin. Raises TimeError."""
    try:
        if "/" not in name and name != "UTC":
            raise ValueError
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        raise TimeError(
            f"{name!r} is no time zone. Write its IANA name, such as Europe/Berlin or America/New_York"
        ) from None


def given_zone(name: str) -> ZoneInfo | None:
    """The zone that a person names; None if the name is empty. Raises NoZoneError."""
    try:
        return zone(name) if name else None
    except TimeError as error:
        raise NoZoneError(f"{error}.") from error


def local_as_utc(when: datetime, where: ZoneInfo) -> datetime:
    """The time that clocks in a zone show, as UTC without a zone. Raises TimeError if they show it twice or never."""
    shown = {when.replace(tzinfo=where, fold=fold).astimezone(UTC) for fold in (0, 1)}
    real = {each for each in shown if each.astimezone(where).replace(tzinfo=None) == when}
    if len(real) != 1:
        how = "twice" if real else "never"
        raise TimeError(f"clocks in {where.key} show {when.isoformat(' ')} {how} on that day; write it with its offset")
    return real.pop().replace(tzinfo=None)


def how_long(span: timedelta) -> str:
    """A span of time in its two largest units, rounded down: *1 day 3 hours*, *2 hours 5 minutes*."""
    minutes = int(span.total_seconds()) // 60
    parts = [(minutes // 1440, "day"), (minutes // 60 % 24, "hour"), (minutes % 60, "minute")]
    said = [counted(count, unit) if count else "" for count, unit in parts]
    first = next((place for place, text in enumerate(said) if text), None)
    return "less than a minute" if first is None else " ".join(filter(None, said[first : first + 2]))


def shown(when: datetime, where: tzinfo = UTC) -> str:
    """A time in UTC, as clocks in a zone show it, with the zone's abbreviation."""
    local = when.replace(tzinfo=UTC).astimezone(where)
    return f"{local.replace(tzinfo=None).isoformat(' ', 'seconds' if local.second else 'minutes')} {local.tzname()}"
