"""The answers to a notebook's questions: which cell holds one, what the student wrote beside it, and what it all says.

Students answer where they find room: in the cell that was made for it, in a new one below or above, or in both. All of
that is the answer, and stands together where a human grades it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from grader.autograde.remark import OddCell
from grader.autograde.submission.pictures import lacks_pictures
from grader.cells import grade_id


@dataclass(frozen=True)
class Answer:
    """What answers a question: the cells that say something, in order, of which those `beside` are not its own."""

    cells: tuple[int, ...]
    beside: tuple[int, ...]
    digest: str  # of its text and pictures; empty where there is no answer
    remarks: tuple[OddCell, ...]


def answer_cells(released: Any, submitted: Any, questions: Sequence[str]) -> dict[int, str]:
    """The submitted cell that answers each question: by its id, the first that says something; else the student's own
    behind the text that asks the question.
    """
    templates = {grade_id(cell): cell for cell in released.cells}
    known = {_text(cell) for cell in released.cells}
    before = {
        grade_id(cell): first.source.strip() for first, cell in zip(released.cells, released.cells[1:], strict=False)
    }
    cells = submitted.cells
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
    """The answer to each question in a notebook that is matched with the release. `prose` are the code cells that are
    no code.
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
    first = at if start in answers else start + 1  # what stands below another question's answer belongs to that
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
    """Where it is the same, a human has nothing new to read."""
    content = [(_text(cell), cell.get("attachments", {})) for cell in cells]
    return hashlib.sha256(msgspec.json.encode(content, order="sorted")).hexdigest()
