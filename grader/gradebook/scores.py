"""The scores in the gradebook: the autograder's points, manual scores and comments, and late penalties."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from grader.cells import check_id
from grader.gradebook.database import open_existing
from grader.imports import nbgrader_tables


@dataclass(frozen=True)
class Score:
    """The manual score, extra credit and comment of an exercise or a question, and whether it needs manual grading."""

    manual: float | None = None
    extra: float = 0.0
    needs_a_human: bool = False
    comment: str = ""

    @property
    def changed(self) -> bool:
        """Whether an instructor gave points, which may differ from the autograder's."""
        return self.manual is not None or self.extra != 0

    def final(self, earned: float | None) -> float | None:
        """The points that count if the autograder gave `earned`; None if no points were given.

        Extra credit counts once there are points, as in nbgrader.
        """
        points = earned if self.manual is None else self.manual
        return None if points is None else points + self.extra


_UNSEEN = Score()


@dataclass(frozen=True)
class Recorded:
    """The scores of one submission by exercise or question, its late penalty from nbgrader, and the points that the
    autograder gave when they were recorded.
    """

    scores: Mapping[str, Score] = field(default_factory=dict)
    late_penalty: float = 0.0
    earned: Mapping[str, float | None] = field(default_factory=dict)

    def of(self, item: str) -> Score:
        return self.scores.get(item, _UNSEEN)

    def final(self, item: str) -> float | None:
        """The points that count for an exercise or a question, from the gradebook alone; None if none were given."""
        return self.of(item).final(self.earned.get(item))

    def after_penalty(self, points: float) -> float:
        """What the late penalty leaves of all points; never negative, as in nbgrader's export."""
        return max(0.0, points - self.late_penalty)


NOTHING = Recorded()
_NONE: Mapping[str, Collection[str]] = MappingProxyType({})
ByStudent = Mapping[str, Recorded]
Rows = Sequence[Any]


def read_scores(db_url: str, chapter_id: str, exempt: Mapping[str, Collection[str]] = _NONE) -> dict[str, Recorded]:
    """The recorded scores by student, without those of notebooks from which students are `exempt`; empty if there is no
    gradebook. Raises GradebookError.
    """
    with open_existing(db_url, "assignment") as connection:
        if connection is None:
            return {}
        from sqlalchemy import select

        api = nbgrader_tables()
        assignment, submission = api.Assignment.__table__.c, api.SubmittedAssignment.__table__.c
        notebook, cell = api.SubmittedNotebook.__table__.c, api.BaseCell.__table__.c
        grade, comment = api.Grade.__table__.c, api.Comment.__table__.c
        whose = (assignment.name == chapter_id) & (submission.assignment_id == assignment.id)
        whose &= notebook.assignment_id == submission.id
        given = (grade.auto_score, grade.manual_score, grade.extra_credit, grade.needs_manual_grade)
        of_grade = (grade.notebook_id == notebook.id) & (grade.cell_id == cell.id)
        of_comment = (comment.notebook_id == notebook.id) & (comment.cell_id == cell.id)
        source = api.Notebook.__table__.c
        whose &= source.id == notebook.notebook_id
        who = (submission.student_id, source.name, cell.name)
        late = select(submission.student_id, source.name, notebook.late_submission_penalty).where(whose)
        grades: Rows = connection.execute(select(*who, *given).where(whose, of_grade)).all()
        comments: Rows = connection.execute(select(*who, comment.manual_comment).where(whose, of_comment)).all()
        penalties: Rows = connection.execute(late).all()

    def counts(row: Any) -> bool:
        return row[1] not in exempt.get(row[0], ())

    said = {(student, name): text or "" for student, _, name, text in filter(counts, comments)}
    scores: dict[str, dict[str, Score]] = {}
    earned: dict[str, dict[str, float | None]] = {}
    for student, _, name, auto, manual, extra, needs_a_human in filter(counts, grades):
        item = name.removesuffix(check_id(""))  # the comment on an exercise belongs to the cell that solves it
        score = Score(manual, extra or 0.0, bool(needs_a_human), said.get((student, item), ""))
        scores.setdefault(student, {})[item] = score
        earned.setdefault(student, {})[item] = auto
    late_by: dict[str, float] = {}
    for row in penalties:
        late_by[row[0]] = late_by.get(row[0], 0.0) + ((row[2] or 0.0) if counts(row) else 0.0)
    return {
        student: Recorded(scores.get(student, {}), penalty, earned.get(student, {}))
        for student, penalty in late_by.items()
    }
