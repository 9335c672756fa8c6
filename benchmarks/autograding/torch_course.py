"""A course with torch in it, graded by ours and by nbgrader: that of `tests/answers/`, whose notebooks import torch.

nbgrader's notebooks ask the same of a cell as ours, on the public cases: an assert for each.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from autograding import nbgrader_course, ours
from autograding.classes import ROOT, make_class
from autograding.plain_course import Plain
from grader.cells import notebook_bytes

SIZE, NBGRADER_SIZE = 24, 4
_OURS, _THEIRS = "from grader import check", "from torch_tests import check"
_HELPER = """
from pathlib import Path
from grader.checking.drivers import drive
from grader.checking.judge import judge
from grader.released import Released

DATA = Released(Path({data!r}))


def check(name, found):
    checks = DATA.checks(name)
    for index, case in enumerate(checks.cases):
        assert not judge(checks, index, drive(checks.driver, found, case, checks.fixtures)).problems
"""


def grade(folder: Path, most: int | None = None) -> dict[str, Any]:
    """What each of the two graders takes, in time, and with the memory of all its processes, with so many submissions
    at most.
    """
    sys.path.append(str(ROOT))
    from tests.answers_course import CHAPTER, write_answers_course

    root, term, course = write_answers_course(folder), folder / "class", folder / "nbgrader"
    make_class(term, most or SIZE, root, CHAPTER)
    plain = Plain(root, CHAPTER, lambda beside: _write_helpers(root, beside), _plain)
    nbgrader_course.make_course(course, term, most or NBGRADER_SIZE, plain)
    where: dict[str, Any] = {"root": root, "chapter": CHAPTER}
    return {
        "ours": ours.grade(term, 2, **where),
        "ours_memory": ours.grade(term, 2, memory=True, **where),
        "nbgrader": nbgrader_course.grade(course, plain, memory=True),
    }


def _write_helpers(root: Path, beside: Path) -> None:
    beside.mkdir(parents=True, exist_ok=True)
    (beside / "torch_tests.py").write_text(_HELPER.format(data=str(root / "grader" / "data")))


def _plain(path: Path) -> bytes:
    import nbformat

    notebook: Any = nbformat.from_dict(json.loads(path.read_bytes()))
    for cell in notebook.cells:
        cell.source = "".join(cell.source).replace(_OURS, _THEIRS)
    return notebook_bytes(notebook)
