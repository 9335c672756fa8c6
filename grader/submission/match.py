"""Match the cells of a submitted notebook with those of the released one, and put the notebook together that is graded.

Cells are matched by `metadata.nbgrader.grade_id` or, if an editor removed it, by the function that they define. Check
cells always come from the release, whatever the submission contains instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from grader.cells import check_id, grade_id
from grader.submission.answers import answer_cells
from grader.submission.bindings import bindings_of
from grader.submission.check_cells import binds, calls_check, check_of, checked_function, is_only_a_check
from grader.submission.ipython import skips_its_cell
from grader.submission.notebook import copied
from grader.submission.remark import OddCell


@dataclass(frozen=True)
class Release:
    """A released notebook: its cells by their ids, the exercise of each check cell by the cell's id, and the ids of
    exercises and questions.
    """

    notebook: Any
    cells: dict[str, Any]
    checks: dict[str, str]
    exercises: Sequence[str]
    questions: Sequence[str]


def release_of(notebook: Any, exercises: Sequence[str], questions: Sequence[str]) -> Release:
    """The released notebook with these exercises and questions."""
    cells = {name: cell for cell in notebook.cells if (name := grade_id(cell))}
    return Release(notebook, cells, {check_id(name): name for name in exercises}, exercises, questions)


@dataclass
class Draft:
    """The cells of the notebook that is graded, while they are put together.

    `examined` maps an exercise to the function that its check cell names in place of the exercise's own. `foreign` says
    that the submission has none of this notebook's exercises and questions.
    """

    cells: list[Any] = field(default_factory=list)
    remarks: list[OddCell] = field(default_factory=list)
    examined: dict[str, str] = field(default_factory=dict)
    foreign: bool = False
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
        own = [i for i, cell in enumerate(self.cells) if self.binds(cell, bound) and not is_as_released(cell, stub)]
        return (
            own
            or [i for i, cell in enumerate(self.cells) if grade_id(cell) == name]
            or [i for i, cell in enumerate(self.cells) if self.binds(cell, "*")][:1]
        )

    def stubs(self, stub: Any) -> list[int]:
        """The cells that contain an exercise's released stub."""
        return [i for i, cell in enumerate(self.cells) if is_as_released(cell, stub)]


def is_as_released(cell: Any, template: Any) -> bool:
    alike = cell["cell_type"] == template["cell_type"]
    return bool(alike and cell["source"].strip() == template["source"].strip())


def matched(release: Release, submitted: Any) -> Draft:
    """The cells of the notebook that is graded, with remarks: the student's cells in their order, and what they lack
    of the release. The answer cell of a question keeps the student's text and pictures; everything else in it comes
    from the release.
    """
    draft, cells = Draft(), [*submitted.cells]
    for index, name in turned_to_text(cells, release.exercises).items():
        cells[index] = _as_code(cells[index])
        draft.remarks.append(OddCell("turned to text", name))
    answers = answer_cells(release.notebook, cells, release.questions)
    roles = _roles(draft, release, cells, answers)
    found = {role.name for role in roles}
    draft.foreign = found.isdisjoint((*release.exercises, *release.checks, *release.questions))
    _take(draft, release, cells, roles)
    for name in release.exercises:
        _complete(draft, release, name)
    for name in release.questions:
        if name not in found:
            draft.cells.append(_own(release.cells[name]))
            draft.remarks.append(OddCell("answer missing", name))
    return draft


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


@dataclass(frozen=True)
class _Role:
    """What a submitted cell is: the cell `name` of the release, or the student's own if it is ''. `again` says that
    another cell is that of the release already.
    """

    name: str = ""
    again: bool = False


def _roles(draft: Draft, release: Release, cells: Sequence[Any], answers: dict[int, str]) -> list[_Role]:
    """The role of each submitted cell. `answers` are the cells that answer a question."""
    ids = {grade_id(cell) for cell in cells}
    found: list[_Role] = []
    taken: set[str] = set()
    for index, cell in enumerate(cells):
        name = grade_id(cell)
        if index in answers:
            found.append(_Role(answers[index]))
            continue
        if name not in release.cells and cell.cell_type == "code":
            defined = (n for n in release.exercises if n not in ids | taken and draft.binds(cell, n))
            checked = (check for check, n in release.checks.items() if is_only_a_check(cell.source, n))
            name = next(chain(defined, checked), None)
        if name is None or name not in release.cells or release.cells[name].cell_type != cell.cell_type:
            found.append(_Role())
        else:
            found.append(_Role(name, again=name in taken or name in answers.values()))
            taken.add(name)
    return found


def _take(draft: Draft, release: Release, cells: Sequence[Any], roles: Sequence[_Role]) -> None:
    """Add the student's cells in order, with the check cells and metadata of the release."""
    first = {role.name: cell for cell, role in zip(cells, roles, strict=True) if not role.again}
    for cell, role in zip(cells, roles, strict=True):
        if not role.name:
            draft.cells.append(_plain(cell))
        elif role.again:
            _take_again(draft, release, role.name, cell, first[role.name])
        elif role.name in release.checks:
            _take_check(draft, release, role.name, cell, cells)
        else:
            draft.cells.append(_own(release.cells[role.name]))
            kept = ("source", "attachments") if role.name in release.questions else ("source",)
            draft.cells[-1] |= {key: cell[key] for key in kept if key in cell}


def _take_again(draft: Draft, release: Release, name: str, cell: Any, first: Any) -> None:
    """Add a further cell of this name as the student's own; a check cell only if it binds names. A remark says if both
    have been written in.
    """
    if name in release.checks:
        draft.cells += [_plain(cell)] if binds(cell.source) else []
        return
    draft.cells.append(_plain(cell))
    template = release.cells[name]
    if name in release.exercises:
        if not is_as_released(first, template) and not is_as_released(cell, template):
            draft.remarks.append(OddCell("cell twice", name))
    elif cell.source.strip() not in ("", template.source.strip()):
        draft.remarks.append(OddCell("answer twice", name))


def _take_check(draft: Draft, release: Release, name: str, cell: Any, cells: Sequence[Any]) -> None:
    """Add a check cell of the release. If the student's binds names, it is run as a cell of its own above."""
    taken, exercise = _own(release.cells[name]), release.checks[name]
    if cell.source.strip() != taken.source.strip():
        function = checked_function(cell.source, exercise)
        bound = function.partition(".")[0]
        if not is_only_a_check(cell.source, exercise):
            of_a_value = not function and calls_check(cell.source, exercise)
            draft.remarks.append(OddCell("check of a value" if of_a_value else "check edited", exercise))
            draft.cells += [_plain(cell)] if binds(cell.source) else []
        if function not in ("", exercise) and any(draft.binds(c, bound) or draft.binds(c, "*") for c in cells):
            draft.remarks.append(OddCell("check of another", exercise))
            draft.examined[exercise] = function
            taken.source = check_of(exercise, function)
    draft.cells.append(taken)


def _complete(draft: Draft, release: Release, name: str) -> None:
    """Restore what a submission lacks of an exercise: its cell (the stub), and its check cell after the last
    definition.
    """
    check, stub = check_id(name), release.cells[name]
    definitions = draft.definitions(name, stub)
    ids = [grade_id(cell) for cell in draft.cells]
    if not definitions:
        definitions = [ids.index(check) if check in ids else len(ids)]
        draft.cells.insert(definitions[0], _own(stub))
        ids.insert(definitions[0], name)
        draft.remarks.append(OddCell("undefined", name))
    elif (stubs := draft.stubs(stub)) and not set(stubs) & set(definitions):
        draft.remarks.append(OddCell("stub left", name))
    at = ids.index(check) if check in ids else -1
    if definitions[0] < at < definitions[-1]:
        draft.remarks.append(OddCell("defined again", name))
    if definitions[0] < at:
        return
    cell = draft.cells.pop(at) if at >= 0 else _own(release.cells[check])
    draft.cells.insert(definitions[-1] + (0 if at >= 0 else 1), cell)
    if not draft.foreign:
        draft.remarks.append(OddCell("check above" if at >= 0 else "check missing", name))


def _plain(cell: Any) -> Any:
    """A cell of the student's own, without metadata that could be taken for the release's."""
    own = _own(cell)
    own.metadata.pop("nbgrader", None)
    return own


def _own(cell: Any) -> Any:
    """A copy of a cell that can be changed down to the entries of its metadata; anything deeper is shared."""
    return copied(cell, metadata=copied(cell.metadata))
