"""The plan of a submitted notebook: which cells run, in which order, and what people are told about them."""

from __future__ import annotations

import copy
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from grader.cells import grade_id
from grader.inside.frames import Cell
from grader.submission.answers import Answer, read_answers
from grader.submission.bindings import bindings_of, lacks_code
from grader.submission.ipython import ToPython, skips_its_cell
from grader.submission.match import Draft, Release, matched, release_of
from grader.submission.notebook import LONG, copied, fresh_ids
from grader.submission.remark import Asks, Foreign, OddCell, OtherPython

OWN_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


@dataclass(frozen=True)
class Plan:
    """A submission prepared for grading: the notebook to show (`notebook.cells[cell.index]` belongs to `cell`) and the
    cells to run.

    `defining` maps each exercise to the index of the cell that defines it. `remarks` are for people; `foreign` says
    that the file contains none of this notebook's exercises. `written` names the exercises that a cell may
    define with code in it. `answers` are hashes of the answers to all questions, empty if there is no answer.
    `stays_within` says that running it changes nothing outside the notebook, so that another notebook can be run after
    it in the same process. `saw` names the exercises for which the saved outputs show a pass, which proves nothing.
    """

    notebook: Any
    cells: tuple[Cell, ...]
    defining: dict[str, int]
    remarks: tuple[OddCell | Foreign | Asks | OtherPython, ...] = ()
    foreign: bool = False
    written: tuple[str, ...] = ()
    answers: dict[str, str] = field(default_factory=dict)
    stays_within: bool = False
    saw: frozenset[str] = frozenset()


def plan(released: Any, submitted: Any, exercises: Sequence[str], questions: Sequence[str] = ()) -> Plan:
    """Match a submission with the released notebook, and decide what is run."""
    release = release_of(released, exercises, questions)
    draft = matched(release, submitted)
    notebook = copied(released, metadata=copy.deepcopy(released.metadata), cells=draft.cells)
    fresh_ids(notebook)
    # From here on, cells are known by their indices: none is added or moved any more.
    definitions = {name: draft.definitions(name, release.cells[name]) for name in exercises}
    stubs = {i: name for name in exercises for i in draft.stubs(release.cells[name])}
    runnable = _runnable(draft, release, idle={i for i, name in stubs.items() if i not in definitions[name]})
    given = _read_answers(draft, release, runnable)
    remarks: list[OddCell | Foreign | Asks | OtherPython] = [*draft.remarks]  # in the order in which they are told
    remarks += _on_answers(draft.remarks, given)
    remarks += [
        OddCell("magic", name) for name, (i, *_) in definitions.items() if skips_its_cell(draft.cells[i].source)
    ]
    remarks += _of_this_python(submitted, runnable)
    return Plan(
        notebook=notebook,
        cells=_without_needless_forks(runnable, {cell.source for cell in released.cells}),
        defining={name: found[0] for name, found in definitions.items()},
        remarks=(Foreign(),) if draft.foreign else tuple(remarks),
        foreign=draft.foreign,
        written=tuple(
            name
            for name in exercises
            if _is_written(draft, name, set(definitions[name]) - stubs.keys(), release.cells[name].source)
        ),
        answers={name: "" if draft.foreign else answer.digest for name, answer in given.items()},
        stays_within=all(cell.exercise is not None or bindings_of(cell.source).stays_within for cell in runnable),
        saw=frozenset(exercises).intersection(submitted.metadata.get("saw", ())),
    )


def _runnable(draft: Draft, release: Release, idle: Collection[int]) -> list[Cell]:
    """The cells to run, as Python: all code but those that are `idle` and those of the student's own that take long."""
    python = ToPython()
    return [
        Cell(
            index,
            source := python(cell.source),
            exercise := release.checks.get(grade_id(cell) or ""),
            plain=bindings_of(source).plain,
            examined=draft.examined.get(exercise or "", ""),
        )
        for index, cell in enumerate(draft.cells)
        if cell.cell_type == "code"
        and index not in idle
        and (grade_id(cell) is not None or LONG not in cell.metadata.get("tags", ()))
    ]


def _read_answers(draft: Draft, release: Release, runnable: Sequence[Cell]) -> dict[str, Answer]:
    """The answers to the questions. Raw cells among them become text, because nbgrader would drop their line breaks."""
    prose = {cell.index for cell in runnable if not bindings_of(cell.source).is_python}
    given = read_answers(release.notebook, draft.cells, release.questions, prose)
    for cell in (draft.cells[index] for answer in given.values() for index in answer.beside):
        if cell.cell_type == "raw":
            cell.cell_type = "markdown"
    return given


def _on_answers(remarks: Collection[OddCell], given: dict[str, Answer]) -> Iterator[OddCell]:
    """The remarks on answers. A second cell of an answer, on which there is a remark, is none that stands beside it."""
    for name, answer in given.items():
        twice = OddCell("answer twice", name) in remarks
        yield from (odd for odd in answer.remarks if not (twice and odd.kind == "answer beside"))


def _of_this_python(submitted: Any, cells: Sequence[Cell]) -> Iterator[Asks | OtherPython]:
    """What works where a student's notebook was written but not while it is graded."""
    own = [(cell.index, bindings_of(cell.source)) for cell in cells if cell.exercise is None]
    asks = [index for index, found in own if found.asks]
    yield from map(Asks, asks[:1])
    theirs = _VERSION.match(str(submitted.metadata.get("language_info", {}).get("version", "")))
    if theirs and (int(theirs[1]), int(theirs[2])) > sys.version_info[:2]:
        not_python = [index for index, found in own if not found.is_python]
        yield from (OtherPython(index, theirs[0], OWN_PYTHON) for index in not_python[:1])


_VERSION = re.compile(r"(\d)\.(\d{1,3})(?!\d)")


def _is_written(draft: Draft, name: str, cells: Collection[int], stub: str) -> bool:
    """Whether one of these cells may define an exercise with code in it."""
    bound = draft.name_of(name)
    own = [draft.cells[i].source for i in cells if draft.may_bind(i, bound)]
    return not all(lacks_code(source, bound, stub if bound == name else "") for source in own)


def _without_needless_forks(cells: Sequence[Cell], released: Collection[str]) -> tuple[Cell, ...]:
    """Up to the first cell that may leave state behind, each check cell leaves its test cases to the fork of the next
    one. After the last of them, the release's own cells need no fork either, because they only demonstrate stateless
    functions.
    """
    stateful = (i for i, cell in enumerate(cells) if cell.exercise is None and not bindings_of(cell.source).stateless)
    end = next(stateful, len(cells))
    together = [i for i, cell in enumerate(cells[:end]) if cell.exercise is not None]

    def shows_only(cell: Cell) -> bool:
        return cell.exercise is None and (cell.source in released or bindings_of(cell.source).stateless)

    if not all(map(shows_only, cells[end:])):
        del together[-1:]
    return tuple(replace(cell, shares=i in together) for i, cell in enumerate(cells))
