"""`grader autograde --all`: one process, one line for each chapter, and what no chapter does to the others."""

import json
import os
import shutil
import signal

import nbformat
import pytest
from typer.testing import CliRunner

from grader.author.notebooks import release_notebooks
from grader.cli import commands as cli
from grader.grading import chapter as chapters
from grader.grading import hidden, pool
from grader.grading.grade import Graded
from grader.grading.report import summary
from grader.manifest import Chapter, Exercise, Notebook
from grader.running import selftest
from grader.spec.record import record

IDS = {"ch01": "double", "ch02": "triple", "ch03": "halve", "ch04": "square"}
CHAPTER = """
[[chapters]]
id = "{0}"
title = "Chapter {0}"
pages = {{ page = "A page" }}
[[chapters.notebooks]]
name = "{1}s"
title = "First"
[[chapters.notebooks.exercises]]
id = "{1}"
title = "Exercise {1}"
points = 2
page = "page"
"""
NOTEBOOK = '''# %%
from grader import check

# %% exercise="{0}"
def {0}(x):
    """x (N,) -> {0} (N,)."""
    ### BEGIN SOLUTION
    return {1}
    ### END SOLUTION
'''
CHECKS = """
import numpy as np
from pathlib import Path
from grader.spec.spec import Case, Output, Spec
with open(Path(__file__).with_name("runs.txt"), "a") as file:
    file.write(__import__("os").environ.get("RUN", "") + "x")
SPEC = Spec(outputs=[Output("y", ("N",))], example=Case({{"N": 2}}, {{"x": np.array([0.5, 2.0])}}),
            cases=lambda rng: [Case({{"N": 3}}, {{"x": rng.normal(size=3)}})], oracle=lambda x: {0})
"""
HINTS = "".join(f"\n## Hint {number}\n\nThink {number} times.\n" for number in (1, 2, 3))
RESULTS = {"double": "2 * x", "triple": "3 * x", "halve": "x / 2", "square": "x * x"}


pytestmark = [pytest.mark.system, pytest.mark.usefixtures("own_hidden")]


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    root = tmp_path_factory.mktemp("all") / "course"
    for chapter, name in IDS.items():
        folder = root / "solutions" / chapter
        (folder / name).mkdir(parents=True)
        (folder / f"{name}s.py").write_text(NOTEBOOK.format(name, RESULTS[name]))
        (folder / name / "spec.py").write_text(CHECKS.format(RESULTS[name]))
        (folder / name / "hints.md").write_text(f"# {name}\n{HINTS}")
    (root / "course.toml").write_text('title = "A course"\n' + "".join(CHAPTER.format(*each) for each in IDS.items()))
    release_notebooks(root, root / "exercises")
    (root / "grader" / "data").mkdir(parents=True)
    record(root, root / "grader" / "data")
    return root


@pytest.fixture
def course(released, tmp_path):
    root = shutil.copytree(released, tmp_path / "course")
    for path in root.rglob("runs.txt"):
        path.unlink()
    return root


@pytest.fixture
def submit(course, tmp_path):
    def write(student, chapter, result):
        name = IDS[chapter]
        notebook = nbformat.read(course / "exercises" / chapter / f"{name}s.ipynb", 4)
        for cell in notebook.cells:
            if cell.metadata.get("nbgrader", {}).get("grade_id") == name:
                cell.source = f"def {name}(x):\n    return {result}"
        folder = tmp_path / "term" / "submitted" / student / chapter
        folder.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, folder / f"{name}s.ipynb")

    return write


@pytest.fixture
def term(tmp_path, submit):
    """Three chapters with submissions: ann's are right, bo's wrong. Nothing for ch04."""
    for chapter in ("ch01", "ch02", "ch03"):
        submit("ann", chapter, RESULTS[IDS[chapter]])
        submit("bo", chapter, "0 * x")
    return tmp_path / "term"


@pytest.fixture
def grader(monkeypatch, course, term):
    def call(*arguments):
        monkeypatch.chdir(course)
        result = CliRunner().invoke(cli.app, ["autograde", "--term", str(term), "--workers", "1", *arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.stdout, result.stderr

    return call


def runs(course):
    """How often the hidden cases of each chapter were computed."""
    return {path.parts[-3]: path.read_text().count("x") for path in sorted(course.rglob("runs.txt"))}


def shown(output):
    """The lines, without their seconds."""
    return [line.split(" in ")[0].split() + line.split(" · ")[1:] for line in output.splitlines() if line[:2] == "ch"]


def test_every_chapter_is_graded_and_gets_a_line(grader, course, term, monkeypatch):
    proved, processes = [], []
    real, process = selftest.prove, hidden._process
    monkeypatch.setattr(selftest, "prove", lambda *given: proved.append(given) or real(*given))
    monkeypatch.setattr(hidden, "_process", lambda *given: processes.append(given) or process(*given))
    status, output, error = grader("--all")
    assert status == 0
    assert error.splitlines() == ["No submissions for ch04."]
    assert shown(output) == [[chapter, "2", "graded", "mean 1.0 of 2"] for chapter in ("ch01", "ch02", "ch03")]
    assert output.splitlines()[-2:] == [
        f"All points, and what needs manual review:  grader autograde CHAPTER --term {term}",
        f"Gradebook: {term}/gradebook.db   notebooks: {term}/autograded",
    ]
    assert len(proved) == 1
    assert [[chapter.id for chapter in given[2]] for given in processes] == [["ch01", "ch02", "ch03"]]
    assert runs(course) == {"ch01": 1, "ch02": 1, "ch03": 1}

    status, output, _ = grader("--all")
    assert status == 0
    assert shown(output) == [[chapter, "2", "unchanged", "mean 1.0 of 2"] for chapter in ("ch01", "ch02", "ch03")]
    assert len(processes) == 1
    assert runs(course) == {"ch01": 1, "ch02": 1, "ch03": 1}


def test_only_what_changed_is_graded(grader, course, term, submit):
    grader("--all")
    submit("bo", "ch02", RESULTS["triple"])
    checks = course / "solutions/ch03/halve/spec.py"
    checks.write_text(checks.read_text() + "# other checks\n")
    status, output, _ = grader("--all")
    assert status == 0
    assert shown(output) == [
        ["ch01", "2", "unchanged", "mean 1.0 of 2"],
        ["ch02", "1", "graded,", "1", "unchanged", "mean 2.0 of 2", "1 with other points than before"],
        ["ch03", "2", "graded", "mean 1.0 of 2"],
    ]
    assert runs(course) == {"ch01": 1, "ch02": 1, "ch03": 2}
    status, output, _ = grader("--all", "--force", "--student", "ann")
    assert [line[1:3] for line in shown(output)] == [["1", "graded"]] * 3


def test_a_chapter_that_fails_does_not_keep_the_others_from_being_graded(grader, course, term):
    (course / "solutions/ch01/double/spec.py").write_text("SPEC = 3")
    notebook = course / "exercises/ch02/triples.ipynb"
    notebook.rename(notebook.with_suffix(".away"))
    status, output, error = grader("--all")
    assert status == 1
    assert [line[0] for line in shown(output)] == ["ch03"]
    assert "ch01 was not graded. The hidden cases of ch01 could not be computed:" in error
    assert "defines no SPEC" in error
    assert "ch02 was not graded. " in error
    assert "Run `grader release` first." in error
    assert [path.name for path in (term / "autograded" / "ann").iterdir()] == ["ch03"]

    tree = json.loads(grader("--all", "--json")[1])
    assert [each["chapter"] for each in tree["chapters"]] == ["ch01", "ch02", "ch03"]
    assert ["error" in each for each in tree["chapters"]] == [True, True, False]


def test_the_exit_status_is_the_worst_of_the_chapters(grader, term):
    odd = term / "submitted" / "bo" / "ch02"
    shutil.rmtree(odd)
    odd.mkdir()
    (odd / "work.zip").touch()
    status, output, error = grader("--all")
    assert status == 3
    assert shown(output)[1] == ["ch02", "1", "graded", "mean 2.0 of 2"]
    assert "ch02:   bo/ch02/work.zip: is an archive, which is not unpacked. Not graded." in error
    assert "Some submissions could not be graded or recorded" in error


def test_a_submission_that_cannot_be_graded_is_named_with_the_reason():
    results = [Graded("ann"), Graded("bo", fault="the worker process died")]
    first, second = summary(chapter_of_one(), results, {}, [], 0, 1.25)
    assert first.split(" in ")[0].split() == ["ch01", "1", "graded,", "1", "not", "graded"]
    assert "1 to be looked at" in first
    assert second == "  bo: the worker process died"
    (line,) = summary(chapter_of_one(), [], {}, [], 0, 0.04)
    assert line.split() == ["ch01", "nothing", "to", "grade", "in", "0.0", "s"]


def chapter_of_one():
    notebook = Notebook("doubles", "First", (Exercise("double", "Double", 2.0, "page"),))
    return Chapter("ch01", "One", (notebook,), {"page": "A page"})


def test_ctrl_c_stops_all_chapters(grader, term, monkeypatch):
    """After the submissions that are being graded: here, while the first chapter's are."""
    real = pool.here

    def interrupted(job, state, tasks):
        for done in real(job, state, tasks):
            os.kill(os.getpid(), signal.SIGINT)
            yield done

    monkeypatch.setattr(pool, "local", lambda workers: interrupted)
    status, output, error = grader("--all")
    assert status == 130
    assert [line[0] for line in shown(output)] == ["ch01"]
    assert "Stopped. Finished results are kept" in error
    monkeypatch.setattr(pool, "local", lambda workers: real)
    monkeypatch.setattr(chapters, "open_session", lambda *given: (_ for _ in ()).throw(KeyboardInterrupt))
    status, output, error = grader("--all", "--force")
    assert (status, shown(output)) == (130, [])
    assert "Stopped." in error


def test_a_dry_run_of_all_chapters_writes_nothing(grader, term):
    status, output, error = grader("--all", "--dry-run")
    assert (status, error) == (0, "No submissions for ch04.\n")
    assert output.splitlines() == [f"2 submissions of {chapter}: 2 new." for chapter in ("ch01", "ch02", "ch03")]
    status, output, _ = grader("--all", "--dry-run", "--json", "--student", "bo")
    assert [(each["chapter"], each["preflight"]["to_do"]) for each in json.loads(output)["chapters"]] == [
        (chapter, {"new": 1}) for chapter in ("ch01", "ch02", "ch03")
    ]
    assert [path.name for path in term.iterdir()] == ["submitted"]


def test_all_results_for_another_program(grader, term):
    status, output, _ = grader("--all", "--json")
    assert status == 0
    tree = json.loads(output)
    assert tree["format"] == 1
    assert {
        (each["chapter"], student["student"], student["earned"])
        for each in tree["chapters"]
        for student in each["students"]
    } == {(chapter, *of) for chapter in ("ch01", "ch02", "ch03") for of in (("ann", 2), ("bo", 0))}


def test_without_a_sandbox_it_is_said_once(grader, term):
    status, output, error = grader("--all", "--unsafe-no-sandbox")
    assert status == 0
    assert error.count("No sandbox") == error.count("The gradebook is not written.") == 1
    assert len(shown(output)) == 3
    assert "Gradebook: not written" in output
    assert not (term / "gradebook.db").exists()
    grader("--all")
    assert (term / "gradebook.db").exists()


def test_a_student_of_some_chapters(grader, term, submit):
    submit("cy", "ch02", RESULTS["triple"])
    status, output, _ = grader("--all", "--student", "cy")
    assert (status, shown(output)) == (0, [["ch02", "1", "graded", "mean 2.0 of 2"]])
    status, output, error = grader("--all", "--student", "cy", "--student", "ann")
    assert [line[1] + line[2] for line in shown(output)] == ["1graded", "1graded,", "1graded"]
    status, output, error = grader("--all", "--student", "cy", "--student", "dee")
    assert (status, output) == (1, "")
    assert f"No submission by 'dee' in {term}/submitted." in error


def test_only_failed_submissions_of_all_chapters(grader, term):
    grader("--all")
    (term / "results/ch02/bo/result.json").unlink()
    status, output, _ = grader("--all", "--only-failed")
    assert status == 0
    assert [line[:4] for line in shown(output)] == [
        ["ch01", "nothing", "to", "grade"],
        ["ch02", "1", "graded", "mean 0.0 of 2"],
        ["ch03", "nothing", "to", "grade"],
    ]


def test_nothing_was_submitted(grader, term):
    shutil.rmtree(term / "submitted")
    status, output, error = grader("--all")
    assert (status, output) == (1, "")
    assert f"No submissions in {term}/submitted. Put each student's notebooks into" in error


@pytest.mark.parametrize("arguments", [(), ("ch01", "--all")])
def test_one_chapter_or_all(grader, arguments):
    status, _, error = grader(*arguments)
    assert status == 2
    assert "Name one chapter, or grade them all with --all." in error
