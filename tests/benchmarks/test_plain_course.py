"""The course that nbgrader and Otter are given in benchmarks: its asserts tell right from wrong."""

import json
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from autograding.classes import CHAPTER  # noqa: E402
from autograding.plain_course import plain, write_helpers  # noqa: E402

from grader.manifest import load_manifest  # noqa: E402
from grader.spec.load import load_spec, reference  # noqa: E402
from tests.conftest import exercise  # noqa: E402

MANIFEST = load_manifest(ROOT / "course.toml")
EXERCISES = [exercise.id for exercise in MANIFEST.chapter(CHAPTER).exercises]


@pytest.fixture(scope="module")
def plain_test(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    write_helpers(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return runpy.run_path("plain_tests.py")["test"]


@pytest.mark.parametrize("name", EXERCISES)
def test_right_and_wrong(plain_test, name):
    place = MANIFEST.place(name)
    plain_test(name, reference(ROOT, place))
    fooled = [entry for entry in load_spec(ROOT, place).named_mistakes.values() if passes(plain_test, name, entry)]
    verdicts = [exercise(name).verdict(entry.functions[0]) for entry in fooled]
    kinds = {problem.kind for verdict in verdicts for case in verdict.cases for problem in case.problems}
    assert kinds <= {"type", "dtype", "changed"}  # asserts on numbers see no wrong type


def passes(plain_test, name, entry):
    try:
        plain_test(name, entry.functions[0])
    except Exception:  # as a cell of a notebook it fails by any
        return False
    return True


def test_a_notebook_keeps_all_but_our_checks():
    path = ROOT / "exercises" / CHAPTER / "recurrence.ipynb"
    before, after = (json.loads(content)["cells"] for content in (path.read_bytes(), plain(path)))
    assert [cell["metadata"] for cell in before] == [cell["metadata"] for cell in after]
    sources = ["".join(cell["source"]) for cell in after if cell["cell_type"] == "code"]
    assert 'test("rnn_step", rnn_step)' in sources
    assert not any("check(" in source or "grader" in source for source in sources)
