"""The gradebook through nbgrader's own API and steps, which are slow but correct: the reference for ours.

Also lists all rows of a gradebook without their random ids.
"""

import re
import warnings
from contextlib import contextmanager

from sqlalchemy import create_engine, select
from sqlalchemy.exc import SAWarning

from grader.imports import nbgrader_tables

api = nbgrader_tables()


@contextmanager
def quiet():
    """nbgrader 0.9 with SQLAlchemy 2 adds grades to a session that saves them by another way."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Object of type", category=SAWarning)
        yield


def save_cells(db_url, chapter_id, released):
    """Register a chapter as `nbgrader generate_assignment` does."""
    from nbgrader.preprocessors import SaveCells

    with api.Gradebook(db_url) as gradebook:
        gradebook.update_or_create_assignment(chapter_id)
    for name, notebook in released.items():
        SaveCells().preprocess(notebook, {"nbgrader": {"db_url": db_url, "assignment": chapter_id, "notebook": name}})


def record(gradebook, chapter_id, student_id, scores, *, timestamp=None, comments=None, answers=None, recorded=None):
    """Record a submission by nbgrader's objects. `recorded` holds the answers that were recorded last, by grade."""
    with quiet():
        gradebook.update_or_create_student(student_id)
        submission = gradebook.update_or_create_submission(chapter_id, student_id, timestamp=timestamp)
        for notebook in submission.notebooks:
            for grade in notebook.grades:
                exercise, is_check = re.subn("-check$", "", grade.name)
                if is_check:
                    earned = scores.get(notebook.name, {}).get(exercise, 0.0)
                    if grade.manual_score is None:
                        grade.needs_manual_grade = False
                    elif grade.auto_score != earned:
                        grade.needs_manual_grade = True
                    grade.auto_score = earned
                else:
                    answer = (answers or {}).get(notebook.name, {}).get(grade.name, "")
                    grade.auto_score = None if answer else 0.0
                    if not answer and grade.manual_score is None:
                        grade.needs_manual_grade = False
                    elif recorded is None or recorded.get(grade.id) != answer:
                        grade.needs_manual_grade = True
                    if recorded is not None:
                        recorded[grade.id] = answer
            for comment in notebook.comments:
                comment.auto_comment = (comments or {}).get(notebook.name, {}).get(comment.name)
        gradebook.db.commit()
        gradebook.db.remove()


def rows(db_url):
    """Every row, by table: what it says and what it belongs to. Ids are left out, and checked to be like nbgrader's."""
    t = {table.name: table.c for table in api.Base.metadata.sorted_tables}
    assignment, notebook, cell = t["assignment"], t["notebook"], t["base_cell"]
    submission, submitted = t["submitted_assignment"], t["submitted_notebook"]
    of_cell = [cell.notebook_id == notebook.id]
    of_submission = [submitted.assignment_id == submission.id, submitted.notebook_id == notebook.id]
    whose = {  # names, and how they are reached
        "course": ([t["course"].id], []),
        "student": ([t["student"].id], []),
        "assignment": ([assignment.course_id], []),
        "notebook": ([assignment.name], [notebook.assignment_id == assignment.id]),
        "base_cell": ([notebook.name], of_cell),
        **{
            kind: ([notebook.name, cell.name], [*of_cell, t[kind].id == cell.id])
            for kind in ("grade_cells", "solution_cells", "task_cells")
        },
        "source_cell": ([notebook.name], [t["source_cell"].notebook_id == notebook.id]),
        "submitted_assignment": ([submission.student_id, assignment.name], [submission.assignment_id == assignment.id]),
        "submitted_notebook": ([submission.student_id, notebook.name], of_submission),
        **{
            kind: (
                [submission.student_id, notebook.name, cell.name, cell.type],
                [*of_submission, t[kind].notebook_id == submitted.id, t[kind].cell_id == cell.id],
            )
            for kind in ("grade", "comment")
        },
    }
    assert whose.keys() == t.keys()
    found = {}
    engine = create_engine(db_url)
    with engine.connect() as connection:
        for name, (names, joins) in whose.items():
            own = [column for column in t[name] if not column.primary_key and not column.foreign_keys]
            told = connection.execute(select(*names, *own).where(*joins)).all()
            ids = connection.scalars(select(t[name].id)).all()
            assert len(told) == len(ids), f"{name}: rows belong to nothing"
            assert name in ("course", "student") or all(re.fullmatch("[0-9a-f]{32}", id_) for id_ in ids)
            found[name] = sorted(map(repr, map(tuple, told)))
    engine.dispose()
    return found
