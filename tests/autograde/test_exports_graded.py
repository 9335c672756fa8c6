"""Exports of classes that were really graded, and of gradebooks with a long history."""

import json
import shutil

import pytest
from gradebook_course import register_first, write_course
from histories import Record, _by_a_human, history
from nbgrader.plugins.export import CsvExportPlugin
from test_exports import table
from typer.testing import CliRunner

from grader.cli import commands as cli
from grader.gradebook import gradebook_url, open_gradebook, open_writer
from grader.gradescope.results import submission_tree
from grader.grading import pool, store
from grader.grading.chapter import autograde
from grader.lms.table import Status, read_table
from grader.manifest import load_manifest

CHAPTER = "ch01_vanilla_rnn"


@pytest.mark.parametrize("seed", range(4))
def test_whatever_happened_the_totals_are_those_of_nbgrader(tmp_path, seed):
    root, url = write_course(tmp_path / "course"), gradebook_url(tmp_path)
    register_first(url, root)
    with open_gradebook(url) as gradebook, open_writer(url, "ch01") as writer:
        for step in history(seed, 60):
            if isinstance(step, Record):
                writer.record(step.student, step.scores, **step.more)
            else:
                _by_a_human(gradebook, step)
        CsvExportPlugin(to=str(tmp_path / "grades.csv")).export(gradebook)
    header, *rows = table(tmp_path / "grades.csv")
    theirs = {row[header.index("student_id")]: float(row[header.index("score")]) for row in rows}
    manifest = load_manifest(root / "course.toml")
    standings = read_table(root, tmp_path, manifest, manifest.chapters, url).standings["ch01"]
    assert {name: standing.total for name, standing in standings.items()} == pytest.approx(theirs)
    assert any(standing.total for standing in standings.values())


@pytest.fixture(scope="module")
def graded_once(small_course, tmp_path_factory, right):
    """Ann's notebook is right; Bo returns the wrong sign in the first exercise."""
    term = tmp_path_factory.mktemp("graded")
    wrong = json.loads(json.dumps(right).replace("np.tanh(", "-np.tanh("))
    assert wrong != right
    for student, notebook in (("ann", right), ("bo", wrong)):
        folder = term / "submitted" / student / CHAPTER
        folder.mkdir(parents=True)
        (folder / "recurrence.ipynb").write_text(json.dumps(notebook))
    results = autograde(small_course, term, CHAPTER, pool.here, db_url=gradebook_url(term))
    assert {each.student: each.fault for each in results} == {"ann": "", "bo": ""}
    return term, {each.student: each.earned for each in results}


@pytest.fixture
def graded(graded_once, small_course, tmp_path, monkeypatch):
    """A copy of the term, and the points of its students."""
    term, earned = graded_once
    monkeypatch.chdir(small_course)
    return shutil.copytree(term, tmp_path / "term"), earned


def call(*arguments):
    result = CliRunner().invoke(cli.app, ["export", CHAPTER, *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def test_reports_for_gradescope(graded):
    term, earned = graded
    status, _, error = call("--term", term, "--format", "gradescope")
    assert (status, error) == (0, "")
    ann, bo = (
        json.loads((term / "exports/gradescope" / CHAPTER / name / "results.json").read_bytes())
        for name in ("ann", "bo")
    )
    assert (ann["score"], bo["score"]) == (earned["ann"], earned["bo"]) == (4.0, earned["bo"])
    assert earned["bo"] < 4
    assert [test["extra_data"]["id"] for test in ann["tests"]] == ["rnn_step", "rnn_forward"]
    assert [test["output"] for test in ann["tests"]] == ["Hidden cases: right"] * 2
    assert [test["status"] for test in ann["tests"] + bo["tests"]] == ["passed", "passed", "failed", "failed"]
    shown = bo["tests"][0]["output"]
    public, _, hidden = shown.partition("Hidden cases: ")
    assert public.startswith("Public cases: not right yet")
    assert "called         rnn_step(" in public
    assert "On hidden cases the values differ" in hidden
    assert "called" not in hidden


def test_a_submission_that_changed_is_told(graded):
    term, _ = graded
    assert call("--term", term)[0] == 0
    path = term / "submitted/bo" / CHAPTER / "recurrence.ipynb"
    path.write_text(path.read_text() + "\n")
    status, output, _ = call("--term", term)
    assert status == 3
    assert (
        f"{CHAPTER}: the submission or the checks have changed since grading for bo. "
        f"Run  grader autograde {CHAPTER} --term {term}  first." in output.splitlines()
    )


def test_points_without_stored_results(graded):
    term, earned = graded
    (term / "results" / CHAPTER / "ann" / "result.json").unlink()
    status, _, error = call("--term", term, "--format", "gradescope")
    assert (status, error) == (3, "Without a stored result, so with points but without reports: ann.\n")
    ann = json.loads((term / "exports/gradescope" / CHAPTER / "ann" / "results.json").read_bytes())
    assert (ann["score"], [test["score"] for test in ann["tests"]]) == (earned["ann"], [2.0, 2.0])


def test_a_result_without_a_gradebook(graded, small_course):
    """What an autograder in Gradescope has: the points are those of the checks."""
    term, earned = graded
    chapter = load_manifest(small_course / "course.toml").chapter(CHAPTER)
    tree = submission_tree(chapter, store.read(term, CHAPTER, "bo").graded)
    assert tree["score"] == sum(test["score"] for test in tree["tests"]) == earned["bo"]


def test_the_status_of_a_graded_class_is_final(graded, small_course):
    term, _ = graded
    manifest = load_manifest(small_course / "course.toml")
    found = read_table(small_course, term, manifest, manifest.chapters, gradebook_url(term))
    assert {standing.status for standing in found.standings[CHAPTER].values()} == {Status.final}
    assert found.outdated == {CHAPTER: ()}
