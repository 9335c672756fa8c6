"""Whether a chapter is over for the whole class, so that its solutions can be shown.

It is over once the due date and every extension have passed: students pass on what they get, so whose page it is makes
no difference. No option shows solutions earlier, or without a due date. A due date is one line in `TERM/term.toml`, it
may lie in the past, and unlike an option it stands there for whoever grades the next submission.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from grader.errors import ExpectedError
from grader.gradebook import called, roster
from grader.gradebook.late import due_in_gradebook
from grader.shown import named
from grader.term_settings import NAME, TermSettings
from grader.times import shown


class NotOverError(ExpectedError):
    """Solutions cannot be shown yet; the message says why and what to do."""


@dataclass(frozen=True)
class End:
    """When the last students can submit a chapter on time, in UTC; `student` has it as an extension, if not empty."""

    when: datetime
    student: str = ""


def require_over(term: Path, settings: TermSettings, chapter_id: str, db_url: str) -> None:
    """Raise NotOverError if some students can still submit a chapter on time, or if it has no due date."""
    end = last_end(settings, chapter_id, db_url)
    if end is None:
        raise NotOverError(
            f"{chapter_id} has no due date, so it is not certain that all students have finished. Write it into "
            f"{term / NAME}, below a line  [due]  and with your offset from UTC, such as  "
            f"{chapter_id} = 2026-03-01 23:59:00+01:00"
        )
    if sentence := _told(end, settings, chapter_id, db_url):
        raise NotOverError(f"{sentence} Repeat this command after that time. Without --solutions, it works now.")


def still_open(settings: TermSettings, chapter_id: str, db_url: str) -> str:
    """A sentence that says until when some students can still submit a chapter on time; empty if none can, or if it has
    no due date. Raises GradebookError.
    """
    end = last_end(settings, chapter_id, db_url)
    return "" if end is None else _told(end, settings, chapter_id, db_url)


def _told(end: End, settings: TermSettings, chapter_id: str, db_url: str) -> str:
    if end.when < datetime.now(UTC).replace(tzinfo=None):
        return ""
    until = shown(end.when, settings.clocks)
    if end.student:
        return f"{named(called(db_url).get(end.student, end.student))} has an extension for {chapter_id} until {until}."
    return f"Students can submit {chapter_id} until {until}."


def last_end(settings: TermSettings, chapter_id: str, db_url: str) -> End | None:
    """The end of a chapter, from `term.toml` or, if that has no due date for it, from the gradebook; None if there is
    no due date.
    """
    date, extended = settings.due.get(chapter_id), dict(settings.extensions.get(chapter_id, {}))
    if date is None and roster(db_url) is not None:  # there may be no gradebook, and opening it would create one
        date, extensions = due_in_gradebook(db_url, chapter_id)
        extended = {student: date + extension for student, extension in extensions.items()} if date else {}
    if date is None:
        return None
    ends = [End(date), *(End(when, student) for student, when in sorted(extended.items()))]
    return max(ends, key=lambda end: end.when)
