"""Write submissions to the gradebook: the rows of nbgrader's own API, in one transaction and a few statements.

The chapter's notebooks and cells, which are the same for all submissions, are read only once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from grader.cells import check_id
from grader.gradebook.database import GradebookError, explained, open_engine, transaction
from grader.gradebook.statements import Edit, Statements, make_answers
from grader.imports import nbgrader_tables

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

_CHECK_SUFFIX = check_id("")
_ATTEMPTS = 3

Row = dict[str, Any]
Edits = dict[Edit, list[Row]]
Scores = Mapping[str, Mapping[str, float]]


@contextmanager
def open_writer(db_url: str, chapter_id: str) -> Iterator[Writer]:
    """Open a writer for the submissions of one registered chapter. Raises GradebookError."""
    with open_engine(db_url) as engine:
        with explained(db_url):
            make_answers(engine)
        yield Writer(engine, chapter_id)


class Writer:
    """Writes submissions of one chapter; use it from one thread."""

    def __init__(self, engine: Engine, chapter_id: str) -> None:
        self._engine = engine
        self._chapter_id = chapter_id
        self._sql = Statements()
        with explained(str(engine.url)):
            self._assignment, self._notebooks = self._read_chapter()

    def record(self, student_id: str, scores: Scores, **more: Any) -> None:
        """Write one submission in one transaction: what `given` makes of these values, as `record_all` does."""
        self.record_all([self.given(student_id, scores, **more)])

    def given(
        self,
        student_id: str,
        scores: Scores,
        *,
        timestamp: datetime | None = None,
        comments: Mapping[str, Mapping[str, str]] | None = None,
        answers: Mapping[str, Mapping[str, str]] | None = None,
    ) -> Given:
        """The values that `record_all` writes for one submission. Raises GradebookError if they are invalid.

        `scores` are points by notebook and exercise; an exercise without points gets 0. `timestamp` is the time of
        submission, in UTC if it has no time zone. `comments`, by notebook and exercise, appear in the feedback unless
        an instructor wrote a comment there. `answers`, by notebook and question, are hashes of the answers, which are
        graded manually; a question with no hash or an empty one has no answer and gets 0. An exercise is marked for
        manual grading again if its points changed after an instructor gave a score, and so is a question if its answer
        changed since it was last recorded.
        """
        _check_student(student_id)
        earned = self._checked(student_id, scores)
        return Given(student_id, _utc(timestamp), earned, comments or {}, answers or {})

    def record_all(self, submissions: Sequence[Given]) -> None:
        """Write the scores of submissions in one transaction. Manual scores and comments are kept.

        Raises GradebookError, in which case nothing is written.
        """
        in_order = sorted(submissions, key=lambda given: given.student_id)  # so that two runs cannot deadlock
        with explained(str(self._engine.url)):
            self._persist(lambda connection: self._write(connection, in_order))

    def _persist(self, write: Callable[[Connection], None]) -> None:
        """Write, and try again if another run has just written the same student or the connection was lost.

        If it was lost during the commit, it is unknown what was written; writing the same values again does no harm.
        """
        from sqlalchemy.exc import DBAPIError, IntegrityError

        for left in reversed(range(_ATTEMPTS)):
            try:
                with transaction(self._engine) as connection:
                    write(connection)
                return
            except DBAPIError as error:
                if not left or not (isinstance(error, IntegrityError) or error.connection_invalidated):
                    raise

    # --- what is asked for ----------------------------------------------------------------------------------

    def _checked(self, student_id: str, scores: Scores) -> dict[str, float]:
        """The points of all check cells, by the id of the cell."""
        earned = {}
        _check_names("notebook", self._chapter_id, scores, {notebook.name for notebook in self._notebooks})
        for notebook in self._notebooks:
            where, given = f"{self._chapter_id}/{notebook.name}", scores.get(notebook.name, {})
            _check_names("exercise", where, given, {cell.exercise for cell in notebook.checks})
            for cell in notebook.checks:
                points = earned[cell.id] = float(given.get(cell.exercise, 0.0))
                if not (math.isfinite(points) and 0 <= points <= cell.max_score):
                    raise GradebookError(
                        f"{where}: {student_id!r} cannot have {points} points for {cell.exercise!r}: "
                        f"the points go from 0 to {cell.max_score:g}. If they changed, register the chapter again."
                    )
        return earned

    # --- reading --------------------------------------------------------------------------------------------

    def _read_chapter(self) -> tuple[str, list[_Notebook]]:
        from sqlalchemy import func, select

        api = nbgrader_tables()
        assignment, notebooks = api.Assignment.__table__, api.Notebook.__table__
        base, grade, task = api.BaseCell.__table__, api.GradeCell.__table__, api.TaskCell.__table__
        with self._engine.connect() as connection:
            id_ = connection.scalar(select(assignment.c.id).where(assignment.c.name == self._chapter_id))
            if id_ is None:
                raise GradebookError(
                    f"The gradebook has no assignment {self._chapter_id!r}. Register the chapter first."
                )
            query = select(notebooks.c.id, notebooks.c.name).where(notebooks.c.assignment_id == id_)
            found = {n.id: _Notebook(n.id, n.name) for n in connection.execute(query.order_by(notebooks.c.name))}
            worth = func.coalesce(grade.c.max_score, task.c.max_score, 0.0).label("max_score")
            joined = base.outerjoin(grade, grade.c.id == base.c.id).outerjoin(task, task.c.id == base.c.id)
            query = select(base.c.id, base.c.name, base.c.type, base.c.notebook_id, worth).select_from(joined)
            for cell in connection.execute(query.where(base.c.notebook_id.in_(found))):
                notebook = found[cell.notebook_id]
                if cell.type in ("GradeCell", "TaskCell"):
                    notebook.graded.append(_Cell(cell.id, cell.name, cell.max_score))
                if cell.type in ("SolutionCell", "TaskCell"):
                    notebook.commented.append(_Cell(cell.id, cell.name, 0.0))
        return id_, list(found.values())

    # --- writing --------------------------------------------------------------------------------------------

    def _write(self, connection: Connection, submissions: Sequence[Given]) -> None:
        """Insert the rows that are missing, and update those that differ."""
        edits = {edit: list[Row]() for edit in self._sql.edits}
        for given in submissions:
            self._find(connection, given, edits)
        for edit, rows in edits.items():
            if rows:
                connection.execute(self._sql.edits[edit], rows)

    def _find(self, connection: Connection, given: Given, edits: Edits) -> None:
        """Add the edits for one submission."""
        sql = self._sql
        found = connection.execute(sql.submission, {"a": self._assignment, "s": given.student_id}).one_or_none()
        if found is None:
            raise GradebookError(
                f"The gradebook has lost its assignment {self._chapter_id!r}. Register the chapter first."
            )
        if found.student is None:
            edits["new student"].append({"id": given.student_id})
        if found.id is None:
            submission, old = uuid4().hex, _Old()
            row = {"id": submission, "assignment_id": self._assignment, "student_id": given.student_id}
            edits["new submission"].append({**row, "timestamp": given.timestamp})
        else:
            submission, old = found.id, self._read_old(connection, found.id)
            if found.timestamp != given.timestamp:
                edits["timestamp"].append({"row": submission, "timestamp": given.timestamp})
        for notebook in self._notebooks:
            self._mirror(edits, notebook, given, old, submission)

    def _read_old(self, connection: Connection, submission: str) -> _Old:
        old, of = _Old(), {"submission": submission}
        old.notebooks = {row.notebook_id: row.id for row in connection.execute(self._sql.notebooks, of)}
        old.grades = {(row.notebook_id, row.cell_id): row for row in connection.execute(self._sql.grades, of)}
        old.answers = {row.grade_id: row.digest for row in connection.execute(self._sql.answers, of)}
        old.comments = {(row.notebook_id, row.cell_id): row for row in connection.execute(self._sql.comments, of)}
        return old

    def _mirror(self, edits: Edits, notebook: _Notebook, given: Given, old: _Old, submission: str) -> None:
        of = old.notebooks.get(notebook.id)
        if of is None:
            of = uuid4().hex
            edits["new notebook"].append({"id": of, "notebook_id": notebook.id, "assignment_id": submission})
        answers = given.answers.get(notebook.name, {})
        for cell in notebook.graded:
            grade = old.grades.get((of, cell.id))
            was = _UNGRADED if grade is None else _Grade(grade.auto_score, grade.manual_score, grade.needs_manual_grade)
            id_ = uuid4().hex if grade is None else grade.id
            if cell.exercise:
                now = _check_grade(was, given.earned[cell.id])
            else:
                answer, recorded = answers.get(cell.name, ""), old.answers.get(id_)
                now = _question_grade(was, answer, recorded)
                if answer != recorded:
                    edits["new answer" if recorded is None else "answer"].append({"grade": id_, "digest": answer})
            values = {"auto_score": now.auto, "needs_manual_grade": now.needs_a_human}
            if grade is None:
                edits["new grade"].append({"id": id_, "cell_id": cell.id, "notebook_id": of, **values})
            elif now != was:
                edits["grade"].append({"row": id_, **values})
        comments = given.comments.get(notebook.name, {})
        for cell in notebook.commented:
            text = _storable(comments.get(cell.name))
            comment = old.comments.get((of, cell.id))
            if comment is None:
                row = {"id": uuid4().hex, "cell_id": cell.id, "notebook_id": of, "auto_comment": text}
                edits["new comment"].append(row)
            elif comment.auto_comment != text:
                edits["comment"].append({"row": comment.id, "auto_comment": text})


# --- the rules --------------------------------------------------------------------------------------------


class _Grade(NamedTuple):
    auto: float | None
    manual: float | None
    needs_a_human: bool


_UNGRADED = _Grade(None, None, True)


def _check_grade(was: _Grade, earned: float) -> _Grade:
    """The points of an exercise. A manual score needs another look if the autograder's points have changed since."""
    changed = was.manual is not None and (was.needs_a_human or was.auto != earned)
    return _Grade(earned, was.manual, changed)


def _question_grade(was: _Grade, answer: str, recorded: str | None) -> _Grade:
    """A new answer needs manual grading. No answer gets 0; it needs a look only if an older answer was given points."""
    changed = was.needs_a_human or answer != recorded
    return _Grade(None, was.manual, changed) if answer else _Grade(0.0, was.manual, changed and was.manual is not None)


# --- values -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Cell:
    id: str
    name: str
    max_score: float

    @cached_property
    def exercise(self) -> str:
        """The exercise that this cell checks; empty if it belongs to a question."""
        return self.name.removesuffix(_CHECK_SUFFIX) if self.name.endswith(_CHECK_SUFFIX) else ""


@dataclass(frozen=True)
class _Notebook:
    id: str
    name: str
    graded: list[_Cell] = field(default_factory=list)
    commented: list[_Cell] = field(default_factory=list)

    @property
    def checks(self) -> list[_Cell]:
        return [cell for cell in self.graded if cell.exercise]


@dataclass(frozen=True)
class Given:
    """The values to record for one submission."""

    student_id: str
    timestamp: datetime | None
    earned: Mapping[str, float]
    comments: Mapping[str, Mapping[str, str]]
    answers: Mapping[str, Mapping[str, str]]


@dataclass
class _Old:
    """The existing rows of a submission that was recorded before, by their cells."""

    notebooks: dict[str, str] = field(default_factory=dict)
    grades: dict[tuple[str, str], Any] = field(default_factory=dict)
    comments: dict[tuple[str, str], Any] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)


def _utc(time: datetime | None) -> datetime | None:
    """The time as nbgrader stores it: in UTC, without a time zone."""
    return time if time is None or time.tzinfo is None else time.astimezone(UTC).replace(tzinfo=None)


def _storable(text: str | None) -> str | None:
    """The text as every database accepts it, without NULs and lone surrogates."""
    return text if text is None else text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def _check_student(student_id: str) -> None:
    if not student_id or _storable(student_id) != student_id:
        raise GradebookError(f"The gradebook cannot store {student_id!r} as a student's name. Rename the folder.")


def _check_names(what: str, where: str, given: Collection[str], known: Collection[str]) -> None:
    strange = sorted(set(given) - set(known))
    if strange:
        raise GradebookError(
            f"The gradebook has no {what} {strange[0]!r} in {where}; "
            f"it has {', '.join(sorted(known)) or 'none'}. Register the chapter again."
        )
