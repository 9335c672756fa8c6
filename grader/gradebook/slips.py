"""Slip days: days that a student may be late in a term at no cost, as `slip_days` of `TERM/term.toml` allows.

Late submissions use them up in the order of the chapters' due dates, whatever the order in which they are graded. Of a
submission's lateness, as many days are taken off as make its penalty smallest, and no more: none within the grace
minutes, and none if it stays without points anyway. What is left late after them costs what the policy says, and an
extension comes first, because it moves the due date.

Who used how many days follows from the times in the gradebook alone, so nothing is stored, and an extension or another
submission later on gives days back. Whole chapters from which a student is exempt use none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from grader.gradebook.database import open_existing
from grader.gradebook.late import DAY, Policy
from grader.imports import nbgrader_tables
from grader.manifest import Chapter
from grader.term_settings import TermSettings, without


@dataclass(frozen=True)
class Slips:
    """The slip days of one student: the chapters submitted late, in the order of due dates, how many days each of them
    has used if any, and how many are left in the end.
    """

    late: tuple[str, ...] = ()
    used: Mapping[str, int] = field(default_factory=dict)
    left: int = 0


class SlipDays:
    """The slip days of a term. `chapters` are all of the course; `db_url` is None if there is no gradebook."""

    def __init__(self, db_url: str | None, term: Path, chapters: Sequence[Chapter], settings: TermSettings) -> None:
        self._db_url, self._settings = db_url, settings
        self._policy = Policy(term, settings)
        self._chapters = {chapter.id: chapter for chapter in chapters}

    def of(self, student: str) -> Slips:
        """The slip days of this student as the gradebook is now. Raises GradebookError."""
        return self._spent(student, self._late(student).get(student, []))

    def of_all(self) -> dict[str, Slips]:
        """The slip days of all students with a submission; empty if the term has none. Raises GradebookError."""
        return {student: self._spent(student, late) for student, late in self._late(None).items()}

    def without(self, student: str, chapter_id: str, late: float) -> float:
        """What is left of a lateness (seconds) in this chapter after the slip days that earlier chapters have left.
        Raises GradebookError.
        """
        if not self._settings.slip_days or late <= 0:
            return late
        earlier = [each for each in self._late(student, until=chapter_id).get(student, []) if each[0] != chapter_id]
        left = self._spent(student, earlier).left
        return late - DAY * self._needed(student, chapter_id, late, left)

    def _spent(self, student: str, late: Sequence[tuple[str, float]]) -> Slips:
        left, used = self._settings.slip_days, dict[str, int]()
        for chapter_id, seconds in late:
            used[chapter_id] = self._needed(student, chapter_id, seconds, left)
            left -= used[chapter_id]
        days = {chapter_id: count for chapter_id, count in used.items() if count}
        return Slips(tuple(used), days, left)

    def _needed(self, student: str, chapter_id: str, late: float, left: int) -> int:
        """The fewest of these days that make the penalty for all points of the chapter smallest."""
        chapter = self._chapters[chapter_id]
        counts = without(chapter, self._settings.exemptions(chapter).get(student, ()))
        points = sum(item.points for item in counts.items)
        if not counts.notebooks:
            return 0
        penalties = [self._policy.penalty(student, points, late - DAY * days) or 0.0 for days in range(left + 1)]
        return penalties.index(min(penalties))

    def _late(self, student: str | None, until: str = "") -> dict[str, list[tuple[str, float]]]:
        """The chapters and seconds of each student's late submissions, in the order of due dates; of all students if
        None, and no chapter due after `until` if one is named.
        """
        if not self._settings.slip_days or self._db_url is None:
            return {}
        due, rows = self._read(student)
        due |= self._settings.due
        order = {name: number for number, name in enumerate(self._chapters)}
        dates = {name: when for name, when in due.items() if when is not None and name in order}
        dated = sorted((when, order[name], name) for name, when in dates.items())
        rank = {name: number for number, (_, _, name) in enumerate(dated)}
        last = rank.get(until, len(rank)) if until else len(rank)
        found: dict[str, list[tuple[str, float]]] = {}
        for row in sorted((row for row in rows if row.name in rank), key=lambda row: rank[row.name]):
            its = found.setdefault(row.student_id, [])
            if row.timestamp is not None and rank[row.name] <= last:
                decided = row.name in self._settings.due  # then the gradebook may still have what was withdrawn
                extension = self._settings.extension(row.name, row.student_id) if decided else row.extension
                if (seconds := (row.timestamp - dates[row.name] - (extension or timedelta())).total_seconds()) > 0:
                    its.append((row.name, seconds))
        return found

    def _read(self, student: str | None) -> tuple[dict[str, datetime | None], Sequence[Any]]:
        """The due dates in the gradebook, and the submissions of one student or of all, with their times."""
        with open_existing(str(self._db_url), "submitted_assignment") as connection:
            if connection is None:
                return {}, []
            from sqlalchemy import select

            api = nbgrader_tables()
            assignment, submission = api.Assignment.__table__.c, api.SubmittedAssignment.__table__.c
            query = select(assignment.name, submission.student_id, submission.timestamp, submission.extension)
            query = query.where(submission.assignment_id == assignment.id)
            if student is not None:
                query = query.where(submission.student_id == student)
            due = connection.execute(select(assignment.name, assignment.duedate)).all()
            return {row.name: row.duedate for row in due}, connection.execute(query).all()
