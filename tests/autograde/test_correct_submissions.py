"""A correct submission of every chapter is run once: no cell of it needs more than a first child's share of its limit.

Otherwise each submission of a correct class would be run twice, which once made chapter 00 take an hour for 300.
"""

import sys
from dataclasses import replace

import pytest

from grader.grading import grade
from grader.grading.session import open_session
from grader.manifest import load_manifest
from grader.running.sandbox import Sandbox
from grader.running.together import run_together
from tests.conftest import ROOT

sys.path.append(str(ROOT / "benchmarks"))
from autograding.classes import solution

MANIFEST = load_manifest(ROOT / "course.toml")


@pytest.mark.system
@pytest.mark.parametrize("chapter", MANIFEST.chapters, ids=lambda chapter: chapter.id)
def test_a_correct_submission_is_run_once(chapter, tmp_path, monkeypatch):
    session = open_session(ROOT, tmp_path / "term", chapter.id)
    folder = tmp_path / "submitted"
    folder.mkdir()
    for notebook in chapter.notebooks:
        (folder / f"{notebook.name}.ipynb").write_text(solution(chapter, notebook), "utf-8")
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
