"""The released notebooks of a chapter, and whether they agree with `course.toml`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from grader.cells import check_id, grade_id
from grader.errors import ExpectedError
from grader.manifest import Chapter, ManifestError, Notebook, UnknownIdError, load_manifest
from grader.submission.notebook import read_notebook
from grader.submission.readable import UnreadableError

_MOST = 5  # differences that are listed

Points = dict[str, float]  # of each graded cell, by its grade_id


class AutogradeError(ExpectedError):
    """This chapter cannot be graded as asked; the message says what is missing and what to do."""


def released_notebooks(root: Path, chapter: Chapter) -> dict[str, Any]:
    """The chapter's notebooks as students got them, by name.

    Raises AutogradeError if one is missing, or if `course.toml` has other exercises or points than the release, because
    the gradebook takes its points from the release.
    """
    released = {}
    for notebook in chapter.notebooks:
        path = root / "exercises" / chapter.id / f"{notebook.name}.ipynb"
        try:
            released[notebook.name] = read_notebook(path)
        except UnreadableError as error:
            raise AutogradeError(f"{path}: {error}. Run `grader release` first.") from error
    if found := [*_of_notebooks(chapter, released), *_of_data(root, chapter)]:
        more = f"\n  and {len(found) - _MOST} more" if len(found) > _MOST else ""
        raise AutogradeError(
            f"course.toml has changed since {chapter.id} was released:\n  "
            + "\n  ".join(found[:_MOST])
            + f"{more}\nNothing was graded. Run  grader release  first, then repeat this command."
        )
    return released


def _of_notebooks(chapter: Chapter, released: dict[str, Any]) -> list[str]:
    found = []
    for notebook in chapter.notebooks:
        place = f"exercises/{chapter.id}/{notebook.name}.ipynb"
        found += _differences(_points(notebook), _points_of_cells(released[notebook.name]), place)
    return found


def _of_data(root: Path, chapter: Chapter) -> list[str]:
    """The differences from the copy of the manifest that the release made, which the students' own checks use."""
    path = root / "grader" / "data" / "course.toml"
    try:
        notebooks = load_manifest(path).chapter(chapter.id).notebooks
    except (ManifestError, UnknownIdError) as error:
        return [f"grader/data/course.toml: {error}"]
    released = {notebook.name: _points(notebook) for notebook in notebooks}
    found = []
    for notebook in chapter.notebooks:
        found += _differences(_points(notebook), released.get(notebook.name, {}), "grader/data/course.toml")
    return found


def _points(notebook: Notebook) -> Points:
    return {check_id(e.id): e.points for e in notebook.exercises} | {q.id: q.points for q in notebook.questions}


def _points_of_cells(notebook: Any) -> Points:
    marked = [(grade_id(cell), cell.metadata.get("nbgrader")) for cell in notebook.cells]
    return {name: float(entry.get("points", 0)) for name, entry in marked if name is not None and entry.get("grade")}


def _differences(due: Points, released: Points, place: str) -> list[str]:
    found = []
    for name in due | released:
        exercise = name.removesuffix(check_id(""))
        if name not in released:
            found.append(f"{exercise} is in course.toml but not in {place}")
        elif name not in due:
            found.append(f"{exercise} is in {place} but not in this notebook of course.toml")
        elif due[name] != released[name]:
            found.append(f"{exercise} has {due[name]:g} points in course.toml but {released[name]:g} in {place}")
    return found
