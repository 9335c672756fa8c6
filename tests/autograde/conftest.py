"""One term's hidden checks for all tests here, and `hand_in`: grade a notebook built in memory in a real child."""

import copy
import json
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from right_work import RIGHT

from grader.cells import notebook_bytes
from grader.grading.report import remark_line
from grader.grading.score import autograded_notebook, request_for, verdicts_of, without_cases
from grader.grading.session import open_session
from grader.manifest import Limits
from grader.running.runner import run_submission
from grader.running.sandbox import Sandbox
from grader.running.trial import Outcome
from grader.running.unsandboxed import Plain
from grader.submission.notebook import read_notebook
from grader.submission.plan import Plan, plan
from grader.submission.remark import Remark
from tests.small_course import write_small_course

CHAPTER = "ch01_vanilla_rnn"


@pytest.fixture(scope="session")
def small_course(tmp_path_factory):
    """The root of a course of one notebook with two exercises."""
    return write_small_course(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="session")
def session(small_course, tmp_path_factory):
    """The chapter made ready for grading, with hidden checks of a new seed."""
    return open_session(small_course, tmp_path_factory.mktemp("term"), CHAPTER)


@dataclass
class Result:
    plan: Plan
    outcome: Outcome
    verdicts: dict[str, Any]
    notebook: Any
    text: str

    def __getitem__(self, name):
        return self.verdicts[name]

    @property
    def points(self):
        return tuple(verdict.earned for verdict in self.verdicts.values())

    @property
    def remarks(self):
        """What an instructor reads of its cells."""
        return [remark_line(Remark(odd)) for odd in self.plan.remarks]

    def shown(self, name):
        """What the student sees of an exercise in the autograded notebook."""
        cell = next(c for c in self.notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == f"{name}-check")
        assert len(cell.outputs) == 1
        return cell.outputs[0].data["text/plain"]

    def outputs(self, words):
        """The outputs of the one cell that holds these words."""
        found = [cell for cell in self.notebook.cells if cell.cell_type == "code" and words in cell.source]
        assert len(found) == 1
        return found[0].outputs


@pytest.fixture(scope="session")
def right(session):
    """The released notebook with both exercises solved, as plain JSON that a test may change."""
    tree = json.loads(notebook_bytes(session.released["recurrence"]))
    for cell in tree["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if name in RIGHT:
            cell["source"] = RIGHT[name]
    return tree


@pytest.fixture
def notebook(right):
    """A copy of the right notebook, with a few ways to change it."""
    tree = copy.deepcopy(right)

    def at(name):
        return next(i for i, c in enumerate(tree["cells"]) if c["metadata"].get("nbgrader", {}).get("grade_id") == name)

    def code(source, **metadata):
        return {"cell_type": "code", "source": source, "metadata": metadata, "outputs": [], "execution_count": None}

    return SimpleNamespace(
        tree=tree,
        cells=tree["cells"],
        at=at,
        cell=lambda name: tree["cells"][at(name)],
        insert=lambda index, source: tree["cells"].insert(index, code(source)),
        append=lambda source: tree["cells"].append(code(source)),
        first=lambda: next(i for i, c in enumerate(tree["cells"]) if c["cell_type"] == "code"),
    )


@pytest.fixture(scope="session")
def starters(session):
    """One warm sandbox for all tests that need only the usual limits, and the starter without a sandbox."""
    with Sandbox(session.limits, hide=(session.root, session.term)) as sandbox:
        yield {"sandbox": sandbox, "plain": Plain()}


@pytest.fixture
def hand_in(session, starters, tmp_path):
    """Grade a notebook, given as JSON tree or bytes, in a real child."""

    def run(content, seconds=5.0, starter="sandbox", **limits):
        path = tmp_path / "recurrence.ipynb"
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        exercises = session.chapter.notebooks[0]
        planned = plan(session.released["recurrence"], read_notebook(path), [e.id for e in exercises.exercises])
        limits = Limits(**{"seconds_per_exercise": seconds, "seconds_per_cell": seconds, **limits})
        request = request_for(planned, session.cases, limits)
        outcome = run_submission(request, starters[starter])
        of = session.manifest, exercises, session.hidden, session.texts
        verdicts = verdicts_of(*of, planned, outcome, session.cache)
        harmless = {name: without_cases(found, verdicts) for name, found in verdicts.items()}
        shown = autograded_notebook(planned, outcome, harmless)
        nbformat.validate(shown)
        return Result(planned, outcome, verdicts, shown, notebook_bytes(shown).decode())

    return run
