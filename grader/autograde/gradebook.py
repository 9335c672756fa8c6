"""Scores into nbgrader's gradebook, through nbgrader's own API: SQLite, or any database URL that it takes.

What is written is what `nbgrader generate_assignment` and `nbgrader autograde` would write, so that
formgrader, `generate_feedback` and `export` work on it unchanged. nbgrader takes seconds to import, so the
functions that use it import it.
"""

from __future__ import annotations

import math
import os
import sys
import warnings
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.manifest import Chapter, Manifest
from grader.release import check_id, generate, instructor_notebook, source_path

if TYPE_CHECKING:
    from nbformat import NotebookNode
    from nbgrader.api import Gradebook

_CHECK_SUFFIX = check_id("")


class GradebookError(Exception):
    """The gradebook cannot be read or written as asked; the message says why and what to do next."""


def gradebook_url(term: Path) -> str:
    """The database URL of a term folder's own gradebook: TERM/gradebook.db."""
    from sqlalchemy import URL

    return URL.create("sqlite", database=str((term / "gradebook.db").resolve())).render_as_string()


@contextmanager
def open_gradebook(db_url: str) -> Iterator[Gradebook]:
    """nbgrader's gradebook, made if there is none, closed at the end. Raises GradebookError."""
    from nbgrader.api import Gradebook

    with _explained(db_url), _environment_on_path():
        _make_folder(db_url)
        gradebook = Gradebook(db_url)
    try:
        yield gradebook
    finally:
        gradebook.close()


def register(db_url: str, root: Path, manifest: Manifest, chapter: Chapter) -> None:
    """Make or update the chapter's assignment: its notebooks, grade cells, solution cells and sources.

    Doing it again changes nothing. Raises GradebookError where cells were added or removed although students
    have submitted, and ReleaseError where a notebook cannot be released.
    """
    notebooks = {
        notebook.name: (
            instructor_notebook(root, manifest, chapter, notebook),
            source_path(root, chapter, notebook),
        )
        for notebook in chapter.notebooks
    }
    with open_gradebook(db_url) as gradebook, _explained(db_url):
        gradebook.update_or_create_assignment(chapter.id)
        _refuse_changes(gradebook, chapter.id, {name: cells for name, (cells, _) in notebooks.items()})
        for old in [notebook.name for notebook in gradebook.find_assignment(chapter.id).notebooks]:
            if old not in notebooks:
                gradebook.remove_notebook(old, chapter.id)
    for name, (instructor, path) in notebooks.items():
        with _explained(db_url):
            generate(instructor, path, {"db_url": db_url, "assignment": chapter.id, "notebook": name})


def record_submission(
    gradebook: Gradebook,
    chapter_id: str,
    student_id: str,
    scores: Mapping[str, Mapping[str, float]],
    *,
    timestamp: datetime | None = None,
    comments: Mapping[str, Mapping[str, str]] | None = None,
    unanswered: Mapping[str, Collection[str]] | None = None,
) -> None:
    """Write one submission's scores in one transaction; what a human wrote stays.

    `scores` are points by notebook and exercise; an exercise without one gets 0. `timestamp` (UTC where it
    has no zone) is when it was submitted. `comments`, by notebook and exercise, stand in the feedback unless
    a human wrote one there. An exercise whose points changed under a human's score is marked for another
    look; so is every question that only humans grade, where the timestamp is a new one; a question in `unanswered` (by
    notebook) gets 0 and needs no look. Raises GradebookError,
    and then writes nothing.
    """
    from nbgrader.api import MissingEntry
    from nbgrader.utils import parse_utc

    with _explained(str(gradebook.engine.url)), _one_transaction(gradebook):
        try:
            gradebook.find_assignment(chapter_id)
        except MissingEntry as error:
            raise GradebookError(
                f"The gradebook has no assignment {chapter_id!r}. Register the chapter first."
            ) from error
        gradebook.update_or_create_student(student_id)
        try:
            is_new = gradebook.find_submission(chapter_id, student_id).timestamp != parse_utc(timestamp)
        except MissingEntry:
            is_new = True
        submission = gradebook.update_or_create_submission(chapter_id, student_id, timestamp=timestamp)
        notebooks = {notebook.name: notebook for notebook in submission.notebooks}
        _check_names("notebook", chapter_id, scores, notebooks)
        for name, notebook in notebooks.items():
            _set_scores(notebook, scores.get(name, {}), f"{chapter_id}/{name}", student_id)
            _set_questions(notebook, (unanswered or {}).get(name, ()), is_new)
            _set_comments(notebook, (comments or {}).get(name, {}))


def _set_scores(notebook: Any, scores: Mapping[str, float], where: str, student_id: str) -> None:
    checks = {
        grade.name.removesuffix(_CHECK_SUFFIX): grade for grade in notebook.grades if grade.name.endswith(_CHECK_SUFFIX)
    }
    _check_names("exercise", where, scores, checks)
    for exercise_id, grade in checks.items():
        earned = float(scores.get(exercise_id, 0.0))
        if not (math.isfinite(earned) and 0 <= earned <= grade.max_score):
            raise GradebookError(
                f"{where}: {student_id!r} cannot have {earned} points for {exercise_id!r}: "
                f"it is worth 0 to {grade.max_score:g}. Register the chapter again if its points changed."
            )
        if grade.manual_score is None:
            grade.needs_manual_grade = False
        elif grade.auto_score != earned:
            grade.needs_manual_grade = True
        grade.auto_score = earned


def _set_questions(notebook: Any, unanswered: Collection[str], is_new: bool) -> None:
    for grade in notebook.grades:
        if grade.name.endswith(_CHECK_SUFFIX):
            continue
        if grade.name in unanswered:
            grade.auto_score, grade.needs_manual_grade = 0.0, is_new and grade.manual_score is not None
        elif is_new:
            grade.auto_score, grade.needs_manual_grade = None, True


def _set_comments(notebook: Any, comments: Mapping[str, str]) -> None:
    for comment in notebook.comments:
        comment.auto_comment = comments.get(comment.name)


def _check_names(what: str, where: str, given: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    strange = sorted(set(given) - set(known))
    if strange:
        raise GradebookError(
            f"The gradebook knows no {what} {strange[0]!r} in {where}; "
            f"it has {', '.join(sorted(known)) or 'none'}. Register the chapter again."
        )


def _refuse_changes(gradebook: Gradebook, chapter_id: str, notebooks: Mapping[str, NotebookNode]) -> None:
    """nbgrader cannot add or remove cells under existing submissions: say which ones, before it says less."""
    assignment = gradebook.find_assignment(chapter_id)
    if not assignment.submissions:
        return
    new = {
        f"{name}: {cell.metadata.nbgrader.grade_id}"
        for name, notebook in notebooks.items()
        for cell in notebook.cells
        if "nbgrader" in cell.metadata
    }
    old = {f"{notebook.name}: {cell.name}" for notebook in assignment.notebooks for cell in notebook.source_cells}
    if new == old:
        return
    changes = [f"added {name}" for name in sorted(new - old)] + [f"removed {name}" for name in sorted(old - new)]
    raise GradebookError(
        f"{chapter_id}: cells changed although {len(assignment.submissions)} students have submitted "
        f"({'; '.join(changes)}), which nbgrader cannot do. Either undo the change for this term, or move "
        "the gradebook away and grade again: points are computed afresh, scores and comments given by hand "
        "stay in the old one."
    )


# --- the database -------------------------------------------------------------------------------------


@contextmanager
def _one_transaction(gradebook: Gradebook) -> Iterator[None]:
    """All that happens inside is written together or not at all, though nbgrader's API commits at each call.

    The session joins a transaction of ours (SQLAlchemy: "joining a session into an external transaction").
    """
    from sqlalchemy.exc import SAWarning

    session = gradebook.db
    session.remove()
    with gradebook.engine.connect() as connection:
        if connection.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")  # wait for other writers now, not half-way
        session.configure(bind=connection, join_transaction_mode="rollback_only")
        try:
            with warnings.catch_warnings():
                # nbgrader 0.9 with SQLAlchemy 2 adds grades to a session that saves them by another way
                warnings.filterwarnings("ignore", message="Object of type", category=SAWarning)
                yield
            session.flush()
            connection.commit()
        finally:
            session.remove()
            session.configure(bind=gradebook.engine)


@contextmanager
def _explained(db_url: str) -> Iterator[None]:
    """Turn what a database or nbgrader complains about into a GradebookError that says what to do."""
    from nbgrader.api import InvalidEntry
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (SQLAlchemyError, InvalidEntry, ImportError) as error:
        raise GradebookError(_explain(db_url, error)) from error


def _explain(db_url: str, error: Exception) -> str:
    complaint = str(getattr(error, "orig", None) or error)
    for words, advice in (
        ("locked", "Another program is writing to it. Wait until that has finished, then run this again."),
        ("unable to open", "Make sure that its folder exists and that you may write there."),
        ("readonly", "You may not write to it: look at its owner and mode (ls -l)."),
        ("not a database", "Restore it from a backup, or move it away and grade again."),
        ("malformed", "It is damaged. Restore it from a backup, or move it away and grade again."),
        ("no such", "An older nbgrader made it: back it up, then run  nbgrader db upgrade"),
        ("No module named", "Install the driver of this kind of database into this environment."),
        ("Could not parse", "Write it as  sqlite:///term/gradebook.db  or  postgresql://user@host/name"),
    ):
        if words in complaint:
            return f"Gradebook {_shown(db_url)}: {complaint}. {advice}"
    return f"Gradebook {_shown(db_url)}: {complaint}. Nothing was written; mend this and run it again."


def _shown(db_url: str) -> str:
    """The URL without its password."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        return make_url(db_url).render_as_string(hide_password=True)
    except ArgumentError:
        return repr(db_url)


def _make_folder(db_url: str) -> None:
    """SQLite makes its file, not the folder around it."""
    from sqlalchemy import make_url

    url = make_url(db_url)
    if url.get_backend_name() == "sqlite" and url.database not in (None, "", ":memory:"):
        try:
            Path(url.database).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise GradebookError(f"Gradebook {_shown(db_url)}: its folder cannot be made: {error}.") from error


@contextmanager
def _environment_on_path() -> Iterator[None]:
    """nbgrader starts a bare `alembic` for a new gradebook: let it find the one of this environment."""
    before = os.environ.get("PATH")
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), before or os.defpath])
    try:
        yield
    finally:
        if before is None:
            del os.environ["PATH"]
        else:
            os.environ["PATH"] = before
