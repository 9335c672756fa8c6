"""All points as a plain CSV file: one row per student, and for each chapter a column per exercise and question.

The columns of a chapter are `CHAPTER.ITEM` for each item, then `CHAPTER.late_penalty`, `.total`, `.points_possible`,
`.status` and `.comments`. The file begins with a byte order mark, so that Excel reads it as UTF-8 (in Python:
`encoding="utf-8-sig"`). `grader roster` reads its first columns.
"""

from __future__ import annotations

from grader.lms.exported import Exported
from grader.lms.table import Policy, Status, Table, worth
from grader.sheets import Cell, exact
from grader.shown import one_line


def export_plain(table: Table, policy: Policy) -> Exported:
    """All points of all students. What is not graded is empty, as is every total that is not published."""
    header: list[Cell] = ["id", "last_name", "first_name", "email", "lms_user_id"]
    for chapter in table.chapters:
        names = [item.id for item in chapter.items]
        names += ["late_penalty", "total", "points_possible", "status", "comments"]
        header += [f"{chapter.id}.{name}" for name in names]
    rows = [header]
    for student in table.students:
        row: list[Cell] = [
            one_line(text)
            for text in (student.id, student.last_name, student.first_name, student.email, student.lms_user_id)
        ]
        for chapter in table.chapters:
            standing = table.of(chapter, student)
            has_points = standing.status in (Status.final, Status.waiting)
            row += [_cell(points) for points in standing.points.values()]
            row.append(_cell(standing.penalty if has_points else None))
            row.append(_cell(policy.total(standing)))
            row += [exact(worth(chapter)), str(standing.status), standing.comments_text]
        rows.append(row)
    return Exported(rows, mark=True)


def _cell(points: float | None) -> Cell:
    return "" if points is None else exact(points)
