"""Times that decide about points: understood exactly, or refused with the way in which to write them.

A time has an offset from UTC, `Z` or `UTC`. Abbreviations of zones are refused, because several zones share many of
them (CST is in America, China and Cuba), and so are dates in any other order than year, month, day. A time that a
zone's clocks show twice, in the night in which they are put back, or never, is refused too.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

HOW = "such as 2026-03-01 23:59:00 +01:00, or with UTC at the end"
_TIME = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)[T ]+(?P<time>\d\d:\d\d(:\d\d([.,]\d{1,9})?)?)"
    r" *(?P<zone>Z|UTC|GMT|(?P<sign>[+-])(?P<hours>\d\d)(:?(?P<minutes>\d\d))?)?",
    re.IGNORECASE | re.ASCII,
)


class TimeError(ValueError):
    """A text is no time, or one that can be understood in several ways."""


def as_utc(text: str) -> datetime:
    """A time as UTC, without a time zone. One without an offset is in UTC, as nbgrader writes it. Raises TimeError."""
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise TimeError(f"{text!r} is not a time")
    seconds, _, fraction = match["time"].replace(",", ".").partition(".")
    try:
        found = datetime.fromisoformat(
            f"{match['date']} {seconds}.{fraction[:6]:0<6}" if fraction else f"{match['date']} {seconds}"
        )
        return (found - _offset(match)).replace(tzinfo=None)
    except (ValueError, OverflowError) as error:
        raise TimeError(f"{text!r} is not a time") from error


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


def local_as_utc(when: datetime, where: ZoneInfo) -> datetime:
    """The time that clocks in a zone show, as UTC without a zone. Raises TimeError if they show it twice or never."""
    shown = {when.replace(tzinfo=where, fold=fold).astimezone(UTC) for fold in (0, 1)}
    real = {each for each in shown if each.astimezone(where).replace(tzinfo=None) == when}
    if len(real) != 1:
        how = "twice" if real else "never"
        raise TimeError(f"clocks in {where.key} show {when.isoformat(' ')} {how} on that day; write it with its offset")
    return real.pop().replace(tzinfo=None)


def shown(when: datetime, where: tzinfo = UTC) -> str:
    """A time in UTC, as clocks in a zone show it, with the zone's abbreviation."""
    local = when.replace(tzinfo=UTC).astimezone(where)
    return f"{local.replace(tzinfo=None).isoformat(' ', 'seconds' if local.second else 'minutes')} {local.tzname()}"
