"""The numbers of a class report for other programs: JSON with all of them, and CSV tables for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

import msgspec

from grader.classreport.choices import Table
from grader.classreport.figures import STATUSES
from grader.classreport.gather import ClassReport
from grader.shown import json_text, one_line

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
Cell = str | float | None


def as_json(report: ClassReport) -> str:
    """All numbers and texts of the report."""
    return json_text(msgspec.json.format(msgspec.json.encode(report).decode(), indent=1))


def as_csv(report: ClassReport, table: Table) -> str:
    """One table, with a header line. Texts that a spreadsheet would compute as formulas get a leading apostrophe."""
    with io.StringIO(newline="") as text:
        csv.writer(text, lineterminator="\n").writerows([_safe(cell) for cell in row] for row in _TABLES[table](report))
        return text.getvalue()


def _safe(cell: Cell) -> str | float | None:
    """Text that begins like a formula is neutralised (https://owasp.org/www-community/attacks/CSV_Injection)."""
    if not isinstance(cell, str):
        return cell
    text = one_line(cell)
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text


def _exercises(report: ClassReport) -> Iterator[Sequence[Cell]]:
    yield (
        *("exercise", "title", "notebook", "points", "students", *STATUSES, "wrong_with_likely_cause", "by_hand"),
        *("submitted", "mean_share", "difficulty", "discrimination", "discrimination_undefined"),
        *("submitted_again", "gained", "lost"),
    )
    for each in report.exercises:
        again = each.attempts
        row: list[Cell] = [each.id, each.title, each.notebook, each.points, each.students, *each.statuses.values()]
        row += [each.caused, each.by_hand, each.submitted]
        row += [each.share, each.difficulty, each.discrimination, each.undefined]
        row += [None] * 3 if again is None else [again.students, again.gained, again.lost]
        yield row


def _mistakes(report: ClassReport) -> Iterator[Sequence[Cell]]:
    yield "exercise", "mistake", "title", "students", "of", "who", "message", "page"
    for each in report.mistakes:
        yield (
            each.exercise,
            each.id,
            each.short,
            each.count,
            each.of,
            _who(report, each.students),
            each.message,
            each.page,
        )


def _who(report: ClassReport, students: Sequence[str]) -> str:
    return "; ".join(report.called.get(student, student) for student in students)


def _points(report: ClassReport) -> Iterator[Sequence[Cell]]:
    yield "from", "below", "students"
    for each in report.points.bins:
        yield each.low, each.high, each.students


def _reviews(report: ClassReport) -> Iterator[Sequence[Cell]]:
    yield "what", "students", "who"
    for each in report.reviews:
        yield each.what, each.students.count, _who(report, each.students.names)


def _changes(report: ClassReport) -> Iterator[Sequence[Cell]]:
    yield "student", "before", "after", "exercises", "why"
    for each in report.last_run.changed if report.last_run else ():
        yield _who(report, [each.student]), each.before, each.after, " ".join(each.exercises), ", ".join(each.why)


_TABLES = {
    Table.exercises: _exercises,
    Table.mistakes: _mistakes,
    Table.points: _points,
    Table.reviews: _reviews,
    Table.changes: _changes,
}
