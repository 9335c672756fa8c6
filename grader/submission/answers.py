"""Find the answer to each question of a notebook: the cell made for it, and the cells around it that belong to it.

Students write in the cell that was made for the answer, in new cells above or below it, or in both. All of these cells
together are the answer that an instructor grades.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from grader.cells import grade_id
from grader.submission.pictures import lacks_pictures
from grader.submission.remark import OddCell


@dataclass(frozen=True)
class Answer:
    """The answer to a question: its non-empty cells in order, of which those in `beside` are not the released one."""

    cells: tuple[int, ...]
    beside: tuple[int, ...]
    digest: str  # of its text and pictures; empty where there is no answer
    remarks: tuple[OddCell, ...]


def answer_cells(released: Any, cells: Sequence[Any], questions: Sequence[str]) -> dict[int, str]:
    """The submitted cell that answers each question: the first non-empty cell with its id, otherwise the student's own
    cell after the text of the question.
    """
    templates = {grade_id(cell): cell for cell in released.cells}
    known = {_text(cell) for cell in released.cells}
    before = {
        grade_id(cell): first.source.strip() for first, cell in zip(released.cells, released.cells[1:], strict=False)
    }
    found: dict[int, str] = {}
    for name in questions:
        stub = templates[name].source.strip()
        indices = [i for i, cell in enumerate(cells) if grade_id(cell) == name]
        if not indices:
            asked = [i + 1 for i, cell in enumerate(cells) if cell.source.strip() == before.get(name)]
            indices = [i for i in asked if i < len(cells) and (_text(cells[i]) == stub or _is_own(cells[i], known))]
        if indices:
            found[next((i for i in indices if _text(cells[i]) not in ("", stub)), indices[0])] = name
    return found


def read_answers(
    released: Any, cells: Sequence[Any], questions: Sequence[str], prose: Collection[int]
) -> dict[str, Answer]:
    """The answer to each question, in a notebook that is matched with the release. `prose` are code cells whose content
    is not code.
    """
    stubs = {grade_id(cell): cell.source.strip() for cell in released.cells}
    known = {_text(cell) for cell in released.cells}
    places = {name: next(i for i, cell in enumerate(cells) if grade_id(cell) == name) for name in questions}
    return {name: _read(cells, name, at, stubs[name], known, places.values(), prose) for name, at in places.items()}


def _read(
    cells: Sequence[Any],
    name: str,
    at: int,
    stub: str,
    known: Collection[str],
    answers: Collection[int],
    prose: Collection[int],
) -> Answer:
    released = [-1, *(i for i, cell in enumerate(cells) if i != at and not _is_own(cell, known)), len(cells)]
    start, end = max(i for i in released if i < at), min(i for i in released if i > at)
    first = at if start in answers else start + 1  # a cell below another question's answer belongs to that answer
    around = [i for i in range(first, end) if i != at and _text(cells[i])]
    beside = tuple(i for i in around if cells[i].cell_type != "code" or i in prose)
    own = () if _text(cells[at]) in ("", stub) else (at,)
    said = tuple(sorted((*own, *beside)))
    remarks = [OddCell("answer beside", name)] if beside else []
    remarks += [OddCell("picture missing", name)] if any(lacks_pictures(cells[i]) for i in said) else []
    return Answer(said, beside, _digest(cells[i] for i in said) if said else "", tuple(remarks))


def _is_own(cell: Any, known: Collection[str]) -> bool:
    return grade_id(cell) is None and (not _text(cell) or _text(cell) not in known)


def _text(cell: Any) -> str:
    return str(cell.source.strip())


def _digest(cells: Iterable[Any]) -> str:
    """A hash of the answer: if it has not changed, there is nothing new to grade."""
    content = [(_text(cell), cell.get("attachments", {})) for cell in cells]
    return hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()
