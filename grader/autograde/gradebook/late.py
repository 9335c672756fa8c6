"""Late penalties, computed by nbgrader's plugin (the one set in `nbgrader_config.py`) for submissions after the due
date. nbgrader assigns them in its own autograde step, which this course does not use.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.autograde.gradebook.database import GradebookError, explained, open_engine, patient
from grader.autograde.imports import nbgrader_tables

if TYPE_CHECKING:
    from sqlalchemy import Engine

CONFIG = "nbgrader_config.py"


@contextmanager
def open_penalties(db_url: str, chapter_id: str, root: Path) -> Iterator[Callable[[str], None]]:
    """Provide a function that assigns a student's late penalties, and removes those that no longer apply.

    The submission has to be in the gradebook. Both raise GradebookError.
    """
    with open_engine(db_url) as engine, explained(db_url):
        needed = _may_differ(engine, chapter_id)
        gradebook = nbgrader_tables().Gradebook(patient(db_url)) if needed else None
    if gradebook is None:
        yield lambda _: None
        return
    try:
        penalties = _Penalties(gradebook, chapter_id, root)

        def assign(student: str) -> None:
            with explained(db_url):
                penalties.assign(student)

        yield assign
    finally:
        gradebook.close()


def _may_differ(engine: Engine, chapter_id: str) -> bool:
    """Whether a penalty may have to be assigned or removed: there is a due date, or there was one."""
    from sqlalchemy import select

    api = nbgrader_tables()
    assignment, submitted = api.Assignment.__table__, api.SubmittedAssignment.__table__
    notebook = api.SubmittedNotebook.__table__
    of_chapter = assignment.c.name == chapter_id
    joined = assignment.join(submitted, submitted.c.assignment_id == assignment.c.id)
    joined = joined.join(notebook, notebook.c.assignment_id == submitted.c.id)
    dates = select(assignment.c.duedate).where(of_chapter)
    assigned = select(notebook.c.id).select_from(joined).where(of_chapter, notebook.c.late_submission_penalty != 0)
    with engine.connect() as connection:
        return connection.scalar(dates) is not None or connection.scalar(assigned.limit(1)) is not None


class _Penalties:
    def __init__(self, gradebook: Any, chapter_id: str, root: Path) -> None:
        self._gradebook = gradebook
        self._chapter_id = chapter_id
        self._root = root

    def assign(self, student: str) -> None:
        try:
            submission = self._gradebook.find_submission(self._chapter_id, student)
            late = submission.total_seconds_late if submission.assignment.duedate is not None else 0
            for notebook in submission.notebooks:
                penalty = self._penalty(student, notebook.score, late) if late > 0 else None
                if notebook.late_submission_penalty != penalty:
                    notebook.late_submission_penalty = penalty
            self._gradebook.db.commit()
        finally:
            self._gradebook.db.rollback()  # so that the next one is read afresh, and other programs need not wait

    def _penalty(self, student: str, score: float, late: float) -> float | None:
        try:
            penalty = self._plugin.late_submission_penalty(student, score, late)
            return None if penalty is None else min(max(float(penalty), 0.0), score)
        except Exception as error:
            raise GradebookError(
                f"{type(self._plugin).__name__} raised {type(error).__name__}: {error}. "
                f"Fix it, or remove it from {self._root / CONFIG}."
            ) from error

    @cached_property
    def _plugin(self) -> Any:
        """The plugin that nbgrader's own step would use. Raises GradebookError."""
        from nbgrader.preprocessors.latesubmissions import AssignLatePenalties
        from traitlets.config.loader import ConfigFileNotFound, PyFileConfigLoader

        folder = str(self._root)
        if folder not in sys.path:
            sys.path.append(folder)  # where nbgrader, run in the course folder, finds the course's own plugins
        environment = dict(os.environ)  # the configuration file may change it for nbgrader's own programs
        try:
            config = PyFileConfigLoader(CONFIG, folder).load_config()
            step = AssignLatePenalties(config=config)
            step.init_plugin()
        except ConfigFileNotFound:
            step = AssignLatePenalties()
            step.init_plugin()
        except Exception as error:
            raise GradebookError(f"{self._root / CONFIG}: {type(error).__name__}: {error}") from error
        finally:
            os.environ.clear()
            os.environ.update(environment)
        return step.plugin_inst
