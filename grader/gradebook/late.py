"""Due dates and extensions in nbgrader's gradebook, and what lateness costs: a plugin of nbgrader's kind, which
`term.toml` chooses and sets, computes it for submissions after the due date.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.gradebook.database import GradebookError, explained, open_engine, transaction
from grader.imports import nbgrader_tables
from grader.sources import load_module
from grader.term_settings import NAME, TermSettings

if TYPE_CHECKING:
    from sqlalchemy import Engine

CONFIG = "nbgrader_config.py"
DAY = 24 * 60 * 60
OURS = "grader.gradebook.late_policies.PerDay"


def set_due_date(engine: Engine, chapter_id: str, settings: TermSettings) -> bool:
    """Set the chapter's due date in the gradebook, if `term.toml` has one; return whether the chapter is registered."""
    from sqlalchemy import select

    assignment = nbgrader_tables().Assignment.__table__
    of_chapter = assignment.c.name == chapter_id
    with engine.connect() as connection:
        found = connection.execute(select(assignment.c.duedate).where(of_chapter)).one_or_none()
    date = settings.due.get(chapter_id)
    if found is not None and date is not None and found.duedate != date:
        with transaction(engine) as connection:
            connection.execute(assignment.update().where(of_chapter).values(duedate=date))
    return found is not None


def due_date(engine: Engine, chapter_id: str) -> datetime | None:
    """The chapter's due date in the gradebook; None if it has none."""
    from sqlalchemy import select

    assignment = nbgrader_tables().Assignment.__table__
    with engine.connect() as connection:
        return connection.scalar(select(assignment.c.duedate).where(assignment.c.name == chapter_id))


def due_in_gradebook(db_url: str, chapter_id: str) -> tuple[datetime | None, dict[str, timedelta]]:
    """The chapter's due date in the gradebook, None if it has none, and the extensions of students who have one. Raises
    GradebookError.
    """
    with open_engine(db_url) as engine, explained(db_url):
        from sqlalchemy import select

        api = nbgrader_tables()
        assignment, submission = api.Assignment.__table__.c, api.SubmittedAssignment.__table__.c
        of_chapter = (assignment.name == chapter_id) & (submission.assignment_id == assignment.id)
        query = select(submission.student_id, submission.extension).where(of_chapter)
        with engine.connect() as connection:
            extensions = {student: extension for student, extension in connection.execute(query) if extension}
        return due_date(engine, chapter_id), extensions


def has_penalties(engine: Engine, chapter_id: str) -> bool:
    """Whether a late penalty is in the gradebook."""
    from sqlalchemy import select

    api = nbgrader_tables()
    assignment, submission = api.Assignment.__table__.c, api.SubmittedAssignment.__table__.c
    notebook = api.SubmittedNotebook.__table__.c
    its = (submission.assignment_id == assignment.id) & (notebook.assignment_id == submission.id)
    assigned = select(notebook.id).where(its, assignment.name == chapter_id, notebook.late_submission_penalty != 0)
    with engine.connect() as connection:
        return connection.scalar(assigned.limit(1)) is not None


class DueDates:
    """Until when the students may submit a chapter: from `term.toml`, or else from the gradebook, if there is one."""

    def __init__(self, db_url: str | None, chapter_id: str, settings: TermSettings) -> None:
        self._settings, self._chapter_id, self.db_url = settings, chapter_id, db_url
        self._due = settings.due.get(chapter_id)
        self._extensions: dict[str, timedelta] = {}
        if self._due is None and db_url is not None:
            self._due, self._extensions = due_in_gradebook(db_url, chapter_id)

    @property
    def is_known(self) -> bool:
        """Whether the chapter has a due date."""
        return self._due is not None

    def of(self, student: str) -> datetime | None:
        """The due date of this student, with any extension, in UTC; None without one."""
        if self._due is None:
            return None
        extension = self._settings.extension(self._chapter_id, student) or self._extensions.get(student)
        return self._due + (extension or timedelta())

    def seconds_late(self, student: str, when: datetime | None) -> float:
        """How late a submission of this time is, as nbgrader computes it: 0 if either time is unknown."""
        until = self.of(student)
        return 0.0 if until is None or when is None else max(0.0, (when - until).total_seconds())


class Policy:
    """What lateness costs in a term, by its `term.toml`."""

    def __init__(self, term: Path, settings: TermSettings) -> None:
        self._term, self._late = term, settings.late

    def penalty(self, student: str, score: float, late: float) -> float | None:
        """The penalty for a notebook with this score that is `late` seconds late. Raises GradebookError."""
        if late <= 0 or self._late is None:
            return None
        try:
            penalty = self._plugin.late_submission_penalty(student, score, late)
            return None if penalty is None else min(max(float(penalty), 0.0), score)
        except GradebookError:
            raise
        except Exception as error:
            raise GradebookError(
                f"{type(self._plugin).__name__} raised {type(error).__name__}: {error}. "
                f"Fix it, or remove it from {self._term / NAME}."
            ) from error

    def points_after(self, student: str, scores: Mapping[str, float], late: float) -> float:
        """The points that remain of these scores, which are by notebook. Raises GradebookError."""
        return sum(score - (self.penalty(student, score, late) or 0.0) for score in scores.values())

    def check(self) -> None:
        """Raise GradebookError if the settings are no policy."""
        if self._late is not None:
            _ = self._plugin

    @cached_property
    def _plugin(self) -> Any:
        settings = dict(self._late or {})
        try:
            kind = _plugin_class(self._term, str(settings.pop("plugin", OURS)))
            if unknown := settings.keys() - set(kind.class_trait_names(config=True)):
                raise ValueError(f"{kind.__name__} has no setting {min(unknown)!r}")
            from traitlets.config import Config

            return kind(config=Config({kind.__name__: settings}))
        except Exception as error:
            raise GradebookError(f"{self._term / NAME}: [late]: {type(error).__name__}: {error}") from error


def _plugin_class(term: Path, name: str) -> Any:
    """The class with this name: ours, or one in a file of the term."""
    if name == OURS:
        from grader.gradebook.late_policies import PerDay

        return PerDay
    module, _, kind = name.rpartition(".")
    return getattr(load_module(term / f"{module}.py", f"_{module}_of_the_term"), kind)


def refuse_other_policies(root: Path, term: Path) -> None:
    """Raise GradebookError if `nbgrader_config.py` sets a late policy: it would be another one in another checkout."""
    from traitlets.config.loader import ConfigFileNotFound, PyFileConfigLoader

    environment = dict(os.environ)  # the configuration file may change it for nbgrader's own programs
    try:
        config = PyFileConfigLoader(CONFIG, str(root)).load_config()
    except ConfigFileNotFound:
        return
    except Exception as error:
        raise GradebookError(f"{root / CONFIG}: {type(error).__name__}: {error}") from error
    finally:
        os.environ.clear()
        os.environ.update(environment)
    for name in ("AssignLatePenalties", "LateSubmissionPlugin", "PerDay"):
        if name in config:
            raise GradebookError(
                f"{root / CONFIG} sets {name}, but what lateness costs stands in {term / NAME}, which is kept with the "
                "term. Write it there, for example  [late]  and below it  share = 0.1  (share = 1: a late submission "
                f"gets no points), and remove the lines from {CONFIG}. Nothing was changed."
            )
