"""A correct submission of every chapter is run once: no cell of it needs more than a first child's share of its limit.

Otherwise each submission of a correct class would be run twice, which once made chapter 00 take an hour for 300.
"""

import json
from dataclasses import replace

import pytest

from grader.author.demo_class import standalone
from grader.author.record import reference
from grader.autograde.grading import grade
from grader.autograde.grading.session import open_session
from grader.autograde.running.sandbox import Sandbox
from grader.autograde.running.together import run_together
from grader.cells import grade_id, notebook_bytes
from grader.manifest import load_manifest
from tests.conftest import ROOT

MANIFEST = load_manifest(ROOT / "course.toml")


def solved(session, notebook):
    """The released notebook with the reference solutions in their cells."""
    tree = json.loads(notebook_bytes(session.released[notebook.name]))
    code = {e.id: standalone(reference(ROOT, MANIFEST.place(e.id)), e.id) for e in notebook.exercises}
    for cell in tree["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        cell["source"] = code.get(name, cell["source"])
    assert code.keys() <= {grade_id(cell) for cell in session.released[notebook.name].cells}
    return json.dumps(tree)


@pytest.mark.system
@pytest.mark.parametrize("chapter", MANIFEST.chapters, ids=lambda chapter: chapter.id)
def test_a_correct_submission_is_run_once(chapter, tmp_path, monkeypatch):
    session = open_session(ROOT, tmp_path / "term", chapter.id)
    folder = tmp_path / "submitted"
    folder.mkdir()
    for notebook in chapter.notebooks:
        (folder / f"{notebook.name}.ipynb").write_text(solved(session, notebook), "utf-8")
    outcomes = []

    def watched(requests, starter):
        outcomes.extend(run_together(requests, starter))
        return outcomes[-len(requests) :]

    monkeypatch.setattr(grade, "run_together", watched)
    with Sandbox(session.limits, hide=(ROOT, session.term)) as sandbox:
        graded = grade.grade(replace(session, term=tmp_path / "term"), sandbox, "ann", folder)
    assert graded.earned == sum(exercise.points for exercise in chapter.exercises)
    assert [fault for outcome in outcomes for fault in outcome.faults] == []
    assert [outcome.children for outcome in outcomes] == [1] * len(outcomes)
