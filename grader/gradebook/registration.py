"""A chapter's assignment in the gradebook: its notebooks, grade cells, solution cells and sources.

The rows are those of nbgrader's own `generate_assignment` (its step SaveCells), written in one transaction.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from grader.gradebook.database import COURSE, GradebookError, explained, open_engine, transaction
from grader.imports import nbgrader_tables
from grader.manifest import Chapter

if TYPE_CHECKING:
    from nbformat import NotebookNode
    from sqlalchemy import Connection

Row = dict[str, Any]
Cells = dict[tuple[str, ...], Row]  # by notebook, and name, and type


def register(db_url: str, chapter: Chapter, released: Mapping[str, NotebookNode]) -> bool:
    """Create or update the chapter's assignment; return whether anything was written. If it is up to date, nothing is
    locked either.

    `released` are the notebooks as students got them, by name. Raises GradebookError if cells were added or removed
    although students have submitted.
    """
    with open_engine(db_url) as engine, explained(db_url):
        wanted = _Wanted(released)
        with engine.connect() as connection:
            if _Saved(connection, chapter.id).holds(wanted):
                return False
        with transaction(engine, alone=True) as connection:
            saved = _Saved(connection, chapter.id)
            _refuse_changes(connection, chapter.id, saved, wanted)
            _save(connection, chapter.id, saved, wanted)
    return True


class _Wanted:
    """What the gradebook should contain for a chapter."""

    def __init__(self, released: Mapping[str, NotebookNode]) -> None:
        nbgrader_tables()
        from nbgrader.utils import is_grade, is_locked, is_solution, is_task

        self.kernelspecs = {n: json.dumps(book.metadata.get("kernelspec", {})) for n, book in released.items()}
        self.cells: Cells = {}
        self.sources: Cells = {}
        for name, cell in ((name, cell) for name, notebook in released.items() for cell in notebook.cells):
            if not (is_grade(cell) or is_solution(cell) or is_task(cell) or is_locked(cell)):
                continue
            ours = cell.metadata.nbgrader
            for kind, it_is in (("GradeCell", is_grade), ("SolutionCell", is_solution), ("TaskCell", is_task)):
                if it_is(cell):
                    self.cells[name, ours["grade_id"], kind] = (
                        {}
                        if kind == "SolutionCell"
                        else {"max_score": float(ours["points"]), "cell_type": cell.cell_type}
                    )
            self.sources[name, ours["grade_id"]] = {
                "cell_type": cell.cell_type,
                "locked": is_locked(cell),
                "source": cell.source,
                "checksum": ours.get("checksum"),
            }


class _Saved:
    """What the gradebook contains for a chapter: the ids of its rows, and their values."""

    def __init__(self, connection: Connection, chapter_id: str) -> None:
        from sqlalchemy import select

        api = nbgrader_tables()
        notebooks, base, sources = api.Notebook.__table__, api.BaseCell.__table__, api.SourceCell.__table__
        assignment = api.Assignment.__table__
        self.assignment = connection.scalar(select(assignment.c.id).where(assignment.c.name == chapter_id))
        self.notebooks: dict[str, str] = {}
        self.kernelspecs: dict[str, str | None] = {}
        self.ids: dict[tuple[str, ...], str] = {}
        self.cells: Cells = {}
        self.sources: Cells = {}
        of_chapter = notebooks.c.assignment_id == self.assignment
        for row in connection.execute(select(notebooks).where(of_chapter)):
            self.notebooks[row.name] = row.id
            self.kernelspecs[row.name] = row.kernelspec
        joined = base.join(notebooks, base.c.notebook_id == notebooks.c.id)
        for kind in ("GradeCell", "SolutionCell", "TaskCell"):
            table = getattr(api, kind).__table__
            values = [column for column in table.c if column.name != "id"]
            query = select(base.c.id, notebooks.c.name, base.c.name, *values)
            for id_, notebook, name, *worth in connection.execute(
                query.select_from(joined.join(table, table.c.id == base.c.id)).where(of_chapter)
            ):
                self.ids[notebook, name, kind] = id_
                self.cells[notebook, name, kind] = dict(zip((c.name for c in values), worth, strict=True))
        joined = sources.join(notebooks, sources.c.notebook_id == notebooks.c.id)
        values = [sources.c.cell_type, sources.c.locked, sources.c.source, sources.c.checksum]
        query = select(sources.c.id, notebooks.c.name, sources.c.name, *values)
        for id_, notebook, name, *told in connection.execute(query.select_from(joined).where(of_chapter)):
            self.ids[notebook, name] = id_
            self.sources[notebook, name] = dict(zip((c.name for c in values), told, strict=True))

    def holds(self, wanted: _Wanted) -> bool:
        return (
            self.assignment is not None
            and self.kernelspecs == wanted.kernelspecs
            and self.cells == wanted.cells
            and self.sources == wanted.sources
        )


def _refuse_changes(connection: Connection, chapter_id: str, saved: _Saved, wanted: _Wanted) -> None:
    """Refuse to add or remove cells once there are submissions: these mirror the cells, in rows with manual scores."""
    from sqlalchemy import func, select

    submitted = nbgrader_tables().SubmittedAssignment.__table__
    number = connection.scalar(
        select(func.count()).select_from(submitted).where(submitted.c.assignment_id == saved.assignment)
    )
    old, new = ({*((n,) for n in of.kernelspecs), *of.cells, *of.sources} for of in (saved, wanted))
    if not number or new == old:
        return
    added, removed = (sorted({": ".join(key[:2]) for key in keys}) for keys in (new - old, old - new))
    changes = [f"added {name}" for name in added] + [f"removed {name}" for name in removed]
    raise GradebookError(
        f"{chapter_id}: cells changed although {number} students have submitted "
        f"({'; '.join(changes)}), which nbgrader does not support. Either undo the change for this term, or move "
        "the gradebook away and grade again: the points are computed again, but manual scores and comments "
        "remain in the old gradebook."
    )


def _save(connection: Connection, chapter_id: str, saved: _Saved, wanted: _Wanted) -> None:
    """Insert, update and delete the rows that differ; all others keep their ids."""
    assignment = saved.assignment or _new_assignment(connection, chapter_id)
    notebooks = nbgrader_tables().Notebook.__table__
    ids = dict(saved.notebooks)
    for name, kernelspec in wanted.kernelspecs.items():
        if name not in ids:
            row = {"id": (id_ := uuid4().hex), "name": name, "assignment_id": assignment, "kernelspec": kernelspec}
            connection.execute(notebooks.insert().values(row))
            ids[name] = id_
        elif kernelspec != saved.kernelspecs[name]:
            connection.execute(notebooks.update().where(notebooks.c.id == ids[name]).values(kernelspec=kernelspec))
    _save_sources(connection, ids, saved, wanted)
    _save_cells(connection, ids, saved, wanted)
    for name in saved.notebooks.keys() - wanted.kernelspecs.keys():
        connection.execute(notebooks.delete().where(notebooks.c.id == ids[name]))


def _save_sources(connection: Connection, notebooks: dict[str, str], saved: _Saved, wanted: _Wanted) -> None:
    sources = nbgrader_tables().SourceCell.__table__
    for key in saved.sources.keys() - wanted.sources.keys():
        connection.execute(sources.delete().where(sources.c.id == saved.ids[key]))
    for (notebook, name), told in wanted.sources.items():
        if (notebook, name) not in saved.sources:
            row = {"id": uuid4().hex, "name": name, "notebook_id": notebooks[notebook], **told}
            connection.execute(sources.insert().values(row))
        elif told != saved.sources[notebook, name]:
            connection.execute(sources.update().where(sources.c.id == saved.ids[notebook, name]).values(told))


def _save_cells(connection: Connection, notebooks: dict[str, str], saved: _Saved, wanted: _Wanted) -> None:
    api = nbgrader_tables()
    base = api.BaseCell.__table__
    for key in saved.cells.keys() - wanted.cells.keys():
        table = getattr(api, key[-1]).__table__
        connection.execute(table.delete().where(table.c.id == saved.ids[key]))
        connection.execute(base.delete().where(base.c.id == saved.ids[key]))
    for (notebook, name, kind), worth in wanted.cells.items():
        table = getattr(api, kind).__table__
        if (notebook, name, kind) not in saved.cells:
            row = {"id": (id_ := uuid4().hex), "name": name, "notebook_id": notebooks[notebook], "type": kind}
            connection.execute(base.insert().values(row))
            connection.execute(table.insert().values(id=id_, **worth))
        elif worth != saved.cells[notebook, name, kind]:
            connection.execute(table.update().where(table.c.id == saved.ids[notebook, name, kind]).values(worth))


def _new_assignment(connection: Connection, chapter_id: str) -> str:
    from sqlalchemy import select

    api = nbgrader_tables()
    course = api.Course.__table__
    if connection.scalar(select(course.c.id).where(course.c.id == COURSE)) is None:
        connection.execute(course.insert().values(id=COURSE))
    id_ = uuid4().hex
    connection.execute(api.Assignment.__table__.insert().values(id=id_, name=chapter_id, course_id=COURSE))
    return id_
