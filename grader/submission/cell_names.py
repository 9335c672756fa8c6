"""What to call a notebook's cells in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from grader.cells import check_id, grade_id
from grader.submission.bindings import bindings_of
from grader.submission.check_cells import is_only_a_check


def cell_names(cells: Iterable[Mapping[str, Any]], exercises: Iterable[str]) -> dict[int, str]:
    """What to call each cell, by index. Editors show no numbers of cells, so a cell is named after its exercise, or
    after the one above it: 'the cell of rnn_step', 'the check cell of rnn_step', 'cell 12, below rnn_step'.
    """
    exercises = list(exercises)
    found: dict[int, str] = {}
    above = ""
    for index, cell in enumerate(cells):
        id_, source = grade_id(cell) or "", cell["source"]
        bound = bindings_of(source).names if cell["cell_type"] == "code" else frozenset()
        its = next((name for name in exercises if name == id_ or name in bound), "")
        checked = next((name for name in exercises if check_id(name) == id_ or is_only_a_check(source, name)), "")
        if its:
            found[index] = f"the cell of {its}"
        elif checked:
            found[index] = f"the check cell of {checked}"
        else:
            found[index] = f"cell {index + 1}, below {above}" if above else f"cell {index + 1}"
        above = its or checked or above
    return found


def subject(name: str) -> str:
    """The name of a cell at the beginning of a sentence."""
    return f"{name[0].upper()}{name[1:]}{',' * (',' in name)}"
