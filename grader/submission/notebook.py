"""Read a submitted notebook and match it with the released one: which cells run, in which order, and which differ.

Cells are matched by `metadata.nbgrader.grade_id` or, if an editor removed it, by the function that they define. Check
cells always come from the release, whatever the submission contains instead.
"""

from __future__ import annotations

import copy
import json
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from grader.cells import check_id, grade_id
from grader.codec import writable
from grader.imports import skip_iri_grammar
from grader.inside.frames import Cell
from grader.submission.answers import Answer, answer_cells, read_answers
from grader.submission.bindings import bindings_of, lacks_code
from grader.submission.check_cells import binds, calls_check, check_of, checked_function, is_only_a_check
from grader.submission.ipython import ToPython, skips_its_cell
from grader.submission.pictures import bound_pictures, sound_pictures
from grader.submission.readable import UnreadableError, read_tree
from grader.submission.remark import Asks, Foreign, OddCell, OtherPython
from grader.submission.saved import passes_seen

MAX_SOURCE = 2_000_000  # characters in all cells together
MAX_CELLS = 2_000
OWN_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
LONG = "long"  # the tag of a cell that is skipped while grading: it takes long, and no points depend on it


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


def read_notebook(path: Path) -> Any:
    """A submitted file as a notebook in format 4, without outputs; `metadata.saw` names the exercises for which they
    show a pass. Raises UnreadableError.
    """
    skip_iri_grammar()
    import nbformat

    tree = read_tree(path)
    if "cells" not in tree:
        try:
            tree = nbformat.convert(nbformat.reader.reads(json.dumps(tree)), 4)
        except Exception as error:
            raise UnreadableError(f"the notebook has an unknown format: {type(error).__name__}") from error
    if len(tree["cells"]) > MAX_CELLS:
        raise UnreadableError(f"the notebook has {len(tree['cells']):,} cells; the limit is {MAX_CELLS:,}")
    try:
        notebook = nbformat.v4.new_notebook(metadata=nbformat.from_dict(tree.get("metadata", {})))
    except Exception:  # the metadata is not needed
        notebook = nbformat.v4.new_notebook()
    notebook.metadata["saw"] = sorted(passes_seen(tree["cells"]))
    notebook.cells = [cell for cell in map(_sound_cell, tree["cells"]) if cell is not None]
    fresh_ids(notebook)
    bound_pictures(notebook)
    size = sum(len(cell.source) for cell in notebook.cells)
    if size > MAX_SOURCE:
        raise UnreadableError(f"its cells contain {size:,} characters; the limit is {MAX_SOURCE:,}")
    return notebook


def _sound_cell(cell: Any) -> Any:
    """The parts of a cell that are needed, in valid form; None if it is not a cell."""
    import nbformat

    if not isinstance(cell, dict) or cell.get("cell_type") not in ("code", "markdown", "raw"):
        return None
    source = cell.get("source", "")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        return None
    # not made by nbformat's `new_…_cell`, which validates each cell: writing the notebook validates them all
    sound = nbformat.from_dict({"id": "", "cell_type": cell["cell_type"], "metadata": {}, "source": writable(source)})
    if cell["cell_type"] == "code":
        sound |= {"outputs": [], "execution_count": None}
    metadata = cell.get("metadata")
    entry = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    if isinstance(entry, dict) and isinstance(entry.get("grade_id"), str):
        sound.metadata["nbgrader"] = {name: value for name, value in entry.items() if _is_plain(value)}
    tags = metadata.get("tags") if isinstance(metadata, dict) else None
    if isinstance(tags, list) and LONG in tags:
        sound.metadata["tags"] = [LONG]
    pictures = sound_pictures(cell.get("attachments"))
    if pictures and cell["cell_type"] != "code":
        sound.attachments = nbformat.from_dict(pictures)
    return sound


def _is_plain(value: object) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, str) and value == writable(value))


@dataclass
class _Draft:
    cells: list[Any] = field(default_factory=list)
    remarks: list[OddCell | Foreign | Asks | OtherPython] = field(default_factory=list)
    examined: dict[str, str] = field(default_factory=dict)  # what a check cell names instead of the exercise
    _names: dict[str, frozenset[str]] = field(default_factory=dict)  # by source, because parsing can take seconds

    def binds(self, cell: Any, name: str) -> bool:
        """Whether a cell binds a name; `*` asks whether it may bind names that its syntax does not show."""
        if cell["cell_type"] != "code" or skips_its_cell(cell["source"]):
            return False
        source = cell["source"]
        if source not in self._names:
            self._names[source] = bindings_of(source).names
        return name in self._names[source]

    def may_bind(self, index: int, name: str) -> bool:
        return self.binds(self.cells[index], name) or self.binds(self.cells[index], "*")

    def name_of(self, exercise: str) -> str:
        """The name that the function of an exercise is reached by."""
        return self.examined.get(exercise, exercise).partition(".")[0]

    def definitions(self, name: str, stub: Any) -> list[int]:
        """The cells that define an exercise, without released stubs if there are others; if there are none, the first
        cell that may define it.
        """
        bound = self.name_of(name)
        own = [i for i, cell in enumerate(self.cells) if self.binds(cell, bound) and not _is_as_released(cell, stub)]
        return (
            own
            or [i for i, cell in enumerate(self.cells) if grade_id(cell) == name]
            or [i for i, cell in enumerate(self.cells) if self.binds(cell, "*")][:1]
        )


def _is_as_released(cell: Any, template: Any) -> bool:
    alike = cell["cell_type"] == template["cell_type"]
    return bool(alike and cell["source"].strip() == template["source"].strip())


def plan(released: Any, submitted: Any, exercises: Sequence[str], questions: Sequence[str] = ()) -> Plan:
    """Match a submission with the released notebook. The answer cell of a question keeps the student's text and
    pictures; everything else in it comes from the release.
    """
    templates = {name: cell for cell in released.cells if (name := grade_id(cell))}
    checks = {check_id(name): name for name in exercises}
    draft = _Draft()
    for index, name in turned_to_text(submitted.cells, exercises).items():
        submitted = copied(submitted, cells=[*submitted.cells])
        submitted.cells[index] = _as_code(submitted.cells[index])
        draft.remarks.append(OddCell("turned to text", name))
    answers = answer_cells(released, submitted, questions)
    solved = _take_submitted(draft, submitted, templates, checks, exercises, answers)
    foreign = not solved and not any(grade_id(cell) in checks for cell in draft.cells)
    for name in exercises:
        _complete(draft, name, templates, foreign)
    for name in questions:
        if name not in map(grade_id, draft.cells):
            draft.cells.append(_own(templates[name]))
            draft.remarks.append(OddCell("answer missing", name))
    notebook = copied(released, metadata=copy.deepcopy(released.metadata), cells=draft.cells)
    fresh_ids(notebook)
    definitions = {name: draft.definitions(name, templates[name]) for name in exercises}
    stubs = {i: name for name in exercises for i in _stubs(draft, templates[name])}
    runnable = _runnable(draft, checks, {i for i, name in stubs.items() if i not in definitions[name]})
    given = _read_answers(released, draft, notebook, questions, runnable)
    draft.remarks += [
        OddCell("magic", n) for n, (i, *_) in definitions.items() if skips_its_cell(draft.cells[i].source)
    ]
    draft.remarks += _of_this_python(submitted, runnable)
    if foreign:
        draft.remarks = [Foreign()]
    return Plan(
        notebook,
        _without_needless_forks(runnable, {cell.source for cell in released.cells}),
        {name: found[0] for name, found in definitions.items()},
        tuple(draft.remarks),
        foreign,
        tuple(name for name in exercises if _is_written(draft, name, definitions[name], stubs, templates[name].source)),
        {name: "" if foreign else answer.digest for name, answer in given.items()},
        all(cell.exercise is not None or bindings_of(cell.source).stays_within for cell in runnable),
        frozenset(exercises).intersection(submitted.metadata.get("saw", ())),
    )


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


def _read_answers(
    released: Any, draft: _Draft, notebook: Any, questions: Sequence[str], runnable: Sequence[Cell]
) -> dict[str, Answer]:
    """The answers to the questions. Remarks on them are added to the draft."""
    prose = {cell.index for cell in runnable if not bindings_of(cell.source).is_python}
    given = read_answers(released, notebook.cells, questions, prose)
    for name, answer in given.items():
        twice = OddCell("answer twice", name) in draft.remarks
        draft.remarks += [odd for odd in answer.remarks if not (twice and odd.kind == "answer beside")]
        for index in answer.beside:
            if notebook.cells[index].cell_type == "raw":
                notebook.cells[index].cell_type = "markdown"  # nbgrader would drop its line breaks
    return given


def _runnable(draft: _Draft, checks: dict[str, str], idle: set[int]) -> list[Cell]:
    """The cells to run, as Python."""
    python = ToPython()
    return [
        Cell(
            index,
            source := python(cell.source),
            exercise := checks.get(grade_id(cell) or ""),
            plain=bindings_of(source).plain,
            examined=draft.examined.get(exercise or "", ""),
        )
        for index, cell in enumerate(draft.cells)
        if cell.cell_type == "code"
        and index not in idle
        and (grade_id(cell) is not None or LONG not in cell.metadata.get("tags", ()))
    ]


def _is_written(draft: _Draft, name: str, cells: Sequence[int], stubs: Collection[int], stub: str) -> bool:
    """Whether one of these cells may define an exercise with code in it."""
    bound = draft.name_of(name)
    own = [i for i in cells if i not in stubs and draft.may_bind(i, bound)]
    return any(not lacks_code(draft.cells[i].source, bound, stub if bound == name else "") for i in own)


def _stubs(draft: _Draft, stub: Any) -> list[int]:
    """The cells that contain an exercise's released stub."""
    return [i for i, cell in enumerate(draft.cells) if _is_as_released(cell, stub)]


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


def turned_to_text(cells: Sequence[Any], exercises: Sequence[str]) -> dict[int, str]:
    """The text cells that are run as code, because one key turns either into the other: the first that defines an
    exercise which no code cell defines, and those that import from `grader`. Their indices, each with what it is of.
    """
    codes = [cell for cell in cells if cell["cell_type"] == "code"]
    defined = {grade_id(cell) for cell in codes}.union(*(bindings_of(cell["source"]).names for cell in codes))
    shown = {i: bindings_of(cell["source"]) for i, cell in enumerate(cells) if cell["cell_type"] != "code"}
    texts = {index: each.names for index, each in shown.items() if each.is_python}
    found = {index: "imports" for index in texts if "from grader import" in cells[index]["source"]}
    for name in exercises:
        if name not in defined:
            own = (i for i, names in texts.items() if name in names and grade_id(cells[i]) in (name, None))
            found |= dict.fromkeys([*own][:1], name)
    return found


def _as_code(cell: Any) -> Any:
    code = copied(cell, cell_type="code", outputs=[], execution_count=None)
    code.pop("attachments", None)
    return code


def _take_submitted(
    draft: _Draft,
    submitted: Any,
    templates: dict[str, Any],
    checks: dict[str, str],
    exercises: Sequence[str],
    answers: dict[int, str],
) -> set[str]:
    """Add the student's cells in order, with the check cells and metadata of the release; return the exercises and
    questions that were found.
    """
    by_id = {grade_id(cell) for cell in submitted.cells}
    seen: set[str] = set()
    for index, cell in enumerate(submitted.cells):
        name = grade_id(cell)
        if index in answers:
            seen.add(answers[index])
            draft.cells.append(_own(templates[answers[index]]))
            draft.cells[-1] |= {key: cell[key] for key in ("source", "attachments") if key in cell}
            continue
        if name not in templates and cell.cell_type == "code":
            name = next((n for n in exercises if n not in by_id and n not in seen and draft.binds(cell, n)), None)
            name = name or next((c for c, n in checks.items() if is_only_a_check(cell.source, n)), None)
        if name is None or name not in templates or templates[name].cell_type != cell.cell_type:
            draft.cells.append(_plain(cell))
        elif name in seen or name in answers.values():
            if name in checks and not binds(cell.source):
                continue
            draft.cells.append(_plain(cell))
            if name in checks:
                continue
            if name not in exercises:
                if cell.source.strip() not in ("", templates[name].source.strip()):
                    draft.remarks.append(OddCell("answer twice", name))
                continue
            first = next(each for each in draft.cells if grade_id(each) == name)
            if not any(_is_as_released(each, templates[name]) for each in (first, cell)):
                draft.remarks.append(OddCell("cell twice", name))
        else:
            seen.add(name)
            taken = _own(templates[name])
            if name in checks:
                _take_check(draft, taken, cell, checks[name], submitted)
            else:
                taken.source = cell.source
            draft.cells.append(taken)
    return seen & {*exercises, *answers.values()}


def _take_check(draft: _Draft, taken: Any, cell: Any, exercise: str, submitted: Any) -> None:
    """Fill in a check cell. If a student's binds names, it is run as a cell of its own above."""
    if cell.source.strip() == taken.source.strip():
        return
    function = checked_function(cell.source, exercise)
    bound = function.partition(".")[0]
    if not is_only_a_check(cell.source, exercise):
        draft.remarks.append(OddCell("check edited", exercise))
        if binds(cell.source):
            draft.cells.append(_plain(cell))
        if not function and calls_check(cell.source, exercise):
            draft.remarks[-1] = OddCell("check of a value", exercise)
    if function not in ("", exercise) and any(draft.binds(c, bound) or draft.binds(c, "*") for c in submitted.cells):
        draft.remarks.append(OddCell("check of another", exercise))
        draft.examined[exercise] = function
        taken.source = check_of(exercise, function)


def _complete(draft: _Draft, name: str, templates: dict[str, Any], foreign: bool) -> None:
    """Restore what a submission lacks of an exercise: its cell (the stub), and its check cell after the last
    definition.
    """
    check, stub = check_id(name), templates[name]
    definitions = draft.definitions(name, stub)
    ids = [grade_id(cell) for cell in draft.cells]
    if not definitions:
        definitions = [ids.index(check) if check in ids else len(ids)]
        draft.cells.insert(definitions[0], _own(stub))
        ids.insert(definitions[0], name)
        draft.remarks.append(OddCell("undefined", name))
    elif (stubs := _stubs(draft, stub)) and not set(stubs) & set(definitions):
        draft.remarks.append(OddCell("stub left", name))
    at = ids.index(check) if check in ids else -1
    if definitions[0] < at < definitions[-1]:
        draft.remarks.append(OddCell("defined again", name))
    if definitions[0] < at:
        return
    cell = draft.cells.pop(at) if at >= 0 else _own(templates[check])
    draft.cells.insert(definitions[-1] + (0 if at >= 0 else 1), cell)
    if not foreign:
        draft.remarks.append(OddCell("check above" if at >= 0 else "check missing", name))


def _plain(cell: Any) -> Any:
    """A cell of the student's own, without metadata that could be taken for the release's."""
    own = _own(cell)
    own.metadata.pop("nbgrader", None)
    return own


def _own(cell: Any) -> Any:
    """A copy of a cell that can be changed down to the entries of its metadata; anything deeper is shared."""
    return copied(cell, metadata=copied(cell.metadata))


def copied(node: Any, **changes: Any) -> Any:
    """A copy of a notebook or part of one, with some entries changed. Deep copies would dominate the reading time."""
    new = type(node)()
    dict.update(new, node)  # the class's own `update` walks through everything
    dict.update(new, changes)
    return new


def fresh_ids(notebook: Any) -> None:
    """Give every cell a unique id, because submissions may repeat ids."""
    for index, cell in enumerate(notebook.cells):
        cell["id"] = grade_id(cell) or f"cell-{index}"
