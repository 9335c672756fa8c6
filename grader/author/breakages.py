"""Ways to break a right notebook, and which of its exercises still get points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from grader.cells import grade_id, notebook_bytes

_ALL, _NONE = slice(None), slice(0)


@dataclass(frozen=True)
class Breakage:
    """How a notebook becomes a broken file, given the ids of its exercises, and which of these keep their points."""

    file: Callable[[Any, list[str]], bytes]
    keeps: slice


def _not_json(notebook: Any, exercises: list[str]) -> bytes:
    return b"PK\x03\x04 this is no notebook"


def _another_assignment(notebook: Any, exercises: list[str]) -> bytes:
    for cell in notebook.cells:
        cell.metadata.pop("nbgrader", None)
        for name in exercises:
            cell.source = cell.source.replace(name, f"other_{name}")
    return notebook_bytes(notebook)


def _check_cells_edited(notebook: Any, exercises: list[str]) -> bytes:
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade"):
            cell.source = "2.0"
    return notebook_bytes(notebook)


def _check_cells_deleted(notebook: Any, exercises: list[str]) -> bytes:
    notebook.cells = [cell for cell in notebook.cells if not cell.metadata.get("nbgrader", {}).get("grade")]
    return notebook_bytes(notebook)


def _metadata_lost(notebook: Any, exercises: list[str]) -> bytes:
    for cell in notebook.cells:
        cell.metadata.pop("nbgrader", None)
    return notebook_bytes(notebook)


def _cell_deleted(notebook: Any, exercises: list[str]) -> bytes:
    notebook.cells = [c for c in notebook.cells if grade_id(c) != exercises[-1]]
    return notebook_bytes(notebook)


def _syntax_error(notebook: Any, exercises: list[str]) -> bytes:
    for cell in notebook.cells:
        if grade_id(cell) == exercises[0]:
            cell.source = cell.source.replace("):", ")", 1)
    return notebook_bytes(notebook)


BREAKAGES = {
    "not JSON": Breakage(_not_json, _NONE),
    "another assignment": Breakage(_another_assignment, _NONE),
    "check cells edited": Breakage(_check_cells_edited, _ALL),
    "check cells deleted": Breakage(_check_cells_deleted, _ALL),
    "metadata lost": Breakage(_metadata_lost, _ALL),
    "last exercise's cell deleted": Breakage(_cell_deleted, slice(None, -1)),
    "syntax error in the first": Breakage(_syntax_error, slice(1, None)),
}
