"""All points as a plain CSV file: one row per student, and for each chapter a column per exercise and question.

The columns of a chapter are `CHAPTER.ITEM` for each item, then `CHAPTER.late_penalty`, `.total`, `.points_possible`,
`.status` and `.comments`. If the term has slip days, `.slip_days` stands before the penalty, and `slip_days_left` in
the last column. An item from which a student is exempt is `exempt`, and `.points_possible` is what counts for the
student. The file begins with a byte order mark, so that Excel reads it as UTF-8 (in Python: `encoding="utf-8-sig"`).
`grader roster` reads its first columns.
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
        names += [
            *(["slip_days"] if table.slip_days else []),
            "late_penalty",
            "total",
            "points_possible",
            "status",
            "comments",
        ]
        header += [f"{chapter.id}.{name}" for name in names]
    if table.slip_days:
        header.append("slip_days_left")
    rows = [header]
    for student in table.students:
        row: list[Cell] = [
            one_line(text)
            for text in (student.id, student.last_name, student.first_name, student.email, student.lms_user_id)
        ]
        for chapter in table.chapters:
            standing = table.of(chapter, student)
            has_points = standing.status in (Status.final, Status.waiting)
            points = standing.points
            row += [_cell(points[item.id]) if item.id in points else "exempt" for item in chapter.items]
            if table.slip_days:
                row.append(exact(standing.slip_days) if has_points else "")
            row.append(_cell(standing.penalty if has_points else None))
            row.append(_cell(policy.total(standing)))
            row += [exact(worth(standing.chapter)), str(standing.status), standing.comments_text]
        if table.slip_days:
            row.append(exact(table.slips[student.id].left if student.id in table.slips else table.slip_days))
        rows.append(row)
    return Exported(rows, mark=True)


def _cell(points: float | None) -> Cell:
    return "" if points is None else exact(points)
