"""The same exercises as a course without our grader has them: plain asserts on recorded numbers in locked cells.

`tests.pickle` holds each exercise's public cases and `plain_tests.py` compares; both lie beside every notebook.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograding.classes import CHAPTER, ROOT
from grader.cells import notebook_bytes
from grader.manifest import load_manifest
from grader.released import Released

HELPER = '''"""One assert a result."""
import copy
import pickle

import numpy as np

with open("tests.pickle", "rb") as file:
    CASES = pickle.load(file)


def test(name, function):
    for inputs, due in CASES[name]:
        got = function(**copy.deepcopy(inputs))
        assert np.shape(got) == np.shape(due), f"shape {np.shape(got)}, not {np.shape(due)}"
        np.testing.assert_allclose(got, due, rtol=1e-9, atol=1e-11)
'''
_OURS = "from grader import check, hint, progress"
_THEIRS = "from plain_tests import test"


def write_helpers(folder: Path) -> None:
    """What a notebook of this course needs beside it."""
    chapter = load_manifest(ROOT / "course.toml").chapter(CHAPTER)
    recorded = Released(ROOT / "grader" / "data")
    cases = {}
    for exercise in chapter.exercises:
        checks = recorded.checks(exercise.id)
        cases[exercise.id] = [
            (dict(case.inputs), due.result) for case, due in zip(checks.cases, checks.expected, strict=True)
        ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tests.pickle").write_bytes(pickle.dumps(cases))
    (folder / "plain_tests.py").write_text(HELPER)
    for path in (ROOT / "exercises" / CHAPTER).iterdir():
        if path.suffix != ".ipynb":
            (folder / path.name).write_bytes(path.read_bytes())


def plain(path: Path) -> bytes:
    """A notebook of ours, released or submitted, with asserts for checks."""
    import nbformat

    notebook: Any = nbformat.from_dict(json.loads(path.read_bytes()))
    for cell in notebook.cells:
        source = "".join(cell.source)
        if cell.cell_type == "code":
            source = source.replace(_OURS, _THEIRS).replace("progress()", "")
            if cell.metadata.get("nbgrader", {}).get("grade"):
                source = source.replace("check(", "test(", 1)
        cell.source = source
    return notebook_bytes(notebook)


@dataclass(frozen=True)
class Plain:
    """A chapter as nbgrader grades it without our grader: helpers beside each notebook, and asserts for checks."""

    root: Path
    chapter: str
    write_helpers: Callable[[Path], None]
    notebook: Callable[[Path], bytes]


PLAIN = Plain(ROOT, CHAPTER, write_helpers, plain)
