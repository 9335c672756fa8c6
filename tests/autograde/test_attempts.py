"""Best or last attempt: which submission of several counts, after any run and any change."""

import json
import shutil
import sqlite3
from contextlib import closing

import pytest
from right_work import RIGHT
from typer.testing import CliRunner

from grader.author.notebooks import release_notebooks
from grader.cli import commands as cli
from grader.gradebook import gradebook_url
from grader.grading import attempts, chapter, store
from grader.grading.chapter import autograde, chosen
from grader.grading.pool import here
from grader.manifest import load_manifest

CHAPTER = "ch01_vanilla_rnn"
WRONG = "def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):\n    return x_t\n"
POLICY = "[late]\nshare = 0.25\n"


@pytest.fixture
def course(small_course, tmp_path):
    return shutil.copytree(small_course, tmp_path / "course")


@pytest.fixture
def submit(tmp_path, right):
    """Write a submission of `recurrence`, two points for each of its two exercises, over the earlier one."""

    def write(student, right_step=True, day=None, words=""):
        tree = json.loads(json.dumps(right))
        for cell in tree["cells"]:
            if cell["metadata"].get("nbgrader", {}).get("grade_id") == "rnn_step":
                cell["source"] = (RIGHT["rnn_step"] if right_step else WRONG) + words
        folder = tmp_path / "term" / "submitted" / student / CHAPTER
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "recurrence.ipynb").write_text(json.dumps(tree))
        if day:
            (folder / "timestamp.txt").write_text(f"2026-03-{day:02} 12:00:00 UTC")

    return write


@pytest.fixture
def term(tmp_path, session):
    shutil.copytree(session.term / "hidden", tmp_path / "term" / "hidden")  # so that it need not be computed
    (tmp_path / "term" / "term.toml").write_text('attempts = "best"\n')
    return tmp_path / "term"


def run(course, term, **choice):
    """Grade; return what is reported to have changed, as (student, reasons, points)."""
    tasks = chosen(term, load_manifest(course / "course.toml").chapter(CHAPTER), **choice)
    changes = []
    results = autograde(course, term, CHAPTER, here, db_url=gradebook_url(term), tasks=tasks, on_change=changes.append)
    assert [graded.fault for graded in results] == [""] * len(results)
    return [(c.student, c.reasons, sum(c.new.values())) for c in changes]


def recorded(term):
    """The points in the gradebook by student, after the late penalty; read without the grader."""
    points = "SELECT notebook_id, SUM(COALESCE(manual_score, auto_score)) AS points FROM grade GROUP BY notebook_id"
    late = "SELECT id, assignment_id, COALESCE(late_submission_penalty, 0) AS late FROM submitted_notebook"
    query = (
        "SELECT s.student_id, SUM(g.points) - SUM(n.late) FROM submitted_assignment s "
        f"JOIN ({late}) n ON n.assignment_id = s.id JOIN ({points}) g ON g.notebook_id = n.id GROUP BY s.student_id"
    )
    with closing(sqlite3.connect(term / "gradebook.db")) as db:
        rows = db.execute(query).fetchall()
    return dict(rows)


def test_the_best_attempt_counts(course, term, submit):
    submit("ann")
    submit("bo", right_step=False)
    assert run(course, term) == [("ann", ("first",), 4), ("bo", ("first",), 2)]
    submit("ann", right_step=False)
    submit("bo")
    assert run(course, term) == [("bo", ("submission",), 4)]
    assert recorded(term) == {"ann": 4, "bo": 4}
    assert run(course, term) == []
    submit("ann", right_step=False, words="# once more\n")
    assert run(course, term) == []
    assert [each.number for each in attempts.kept(term, CHAPTER, "ann")] == [1, 2, 3]
    settings = chapter.read_term_settings(term, load_manifest(course / "course.toml"))
    assert attempts.earlier_lines(settings, term, CHAPTER, ["ann", "bo"])[1:] == ["  ann: 1 of 3"]


def test_by_default_the_last_attempt_counts(course, term, submit):
    (term / "term.toml").unlink()
    submit("ann")
    run(course, term)
    submit("ann", right_step=False)
    assert run(course, term) == [("ann", ("submission",), 2)]
    assert not (term / "attempts").exists()


def test_of_equally_good_attempts_the_newest_counts(course, term, submit):
    submit("ann")
    run(course, term)
    submit("ann", words="# with a comment\n")
    run(course, term)
    autograded = term / "autograded" / "ann" / CHAPTER / "recurrence.ipynb"
    assert "# with a comment" in autograded.read_text()


def test_a_late_attempt_counts_only_if_it_is_better_after_its_penalty(course, term, submit):
    (term / "term.toml").write_text(f'attempts = "best"\n{POLICY}[due]\n{CHAPTER} = 2026-03-01 12:00:00Z\n')
    for student, late in (("ann", 2), ("bo", 4)):  # 4 points, minus one a day: 3 for ann, 1 for bo
        submit(student, right_step=False, day=1)
        run(course, term, students=[student])
        submit(student, day=late)
        run(course, term, students=[student])
    assert recorded(term) == {"ann": 3, "bo": 2}
    extended = f"[extensions.{CHAPTER}]\nbo = 2026-03-04 12:00:00Z\n"
    (term / "term.toml").write_text((term / "term.toml").read_text() + extended)
    run(course, term)
    assert recorded(term) == {"ann": 3, "bo": 4}


def test_the_time_of_the_same_attempt_can_be_corrected(course, term, submit):
    (term / "term.toml").write_text(f'attempts = "best"\n{POLICY}[due]\n{CHAPTER} = 2026-03-01 12:00:00Z\n')
    submit("ann")
    run(course, term)
    assert recorded(term) == {"ann": 4}  # no time is known yet
    submit("ann", day=3)
    run(course, term)
    assert recorded(term) == {"ann": 2}
    assert [each.number for each in attempts.kept(term, CHAPTER, "ann")] == [1]


def test_a_corrected_check_regrades_all_attempts(course, term, submit):
    """At first the points are for `rnn_step`, then for `rnn_forward`: the other attempt becomes the better one."""
    only_step = "def rnn_forward(xs, h0, W_xh, W_hh, b_h):\n    return xs\n"
    submit("ann")
    path = term / "submitted" / "ann" / CHAPTER / "recurrence.ipynb"
    tree = json.loads(path.read_text())
    for cell in tree["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == "rnn_forward":
            cell["source"] = only_step
    path.write_text(json.dumps(tree))
    set_points(course, rnn_step=3, rnn_forward=2)
    run(course, term)
    assert recorded(term) == {"ann": 3}
    submit("ann", right_step=False)
    assert run(course, term) == []
    assert recorded(term) == {"ann": 3}
    set_points(course, rnn_step=3, rnn_forward=5)
    assert run(course, term) == [("ann", ("submission", "points"), 5)]
    assert recorded(term) == {"ann": 5}


def set_points(course, **points):
    text = (course / "course.toml").read_text()
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("points ="):
            name = next(old for old in reversed(lines[:number]) if old.startswith("id =")).split('"')[1]
            lines[number] = f"points = {points[name]}"
    (course / "course.toml").write_text("\n".join(lines) + "\n")
    release_notebooks(course, course / "exercises")
    shutil.copy(course / "course.toml", course / "grader" / "data")


@pytest.mark.parametrize("place", ["copy", "attempt", "result"])
def test_a_killed_run_is_continued(course, term, submit, monkeypatch, place):
    submit("ann")
    submit("bo", right_step=False)
    run(course, term)
    submit("ann", right_step=False)
    submit("bo")

    class Killed(BaseException):
        pass

    def kill(*_):
        raise Killed

    with monkeypatch.context() as patch:
        if place == "copy":
            patch.setattr(attempts.shutil, "copyfile", kill)
        elif place == "attempt":
            real = store.write

            def write(folder, chapter_id, stored):
                real(folder, chapter_id, stored)
                kill()

            patch.setattr(store, "write", write)
        else:
            patch.setattr(chapter, "recorder", kill)
        with pytest.raises(Killed):
            run(course, term)
    run(course, term)
    assert recorded(term) == {"ann": 4, "bo": 4}
    assert [[each.number for each in attempts.kept(term, CHAPTER, name)] for name in ("ann", "bo")] == [[1, 2]] * 2
    assert not list((term / "attempts").rglob(".part-*"))


def test_an_attempt_that_cannot_be_graded_leaves_the_points(course, term, submit, monkeypatch):
    submit("ann", right_step=False)
    run(course, term)
    submit("ann")
    real = store.write

    def full(folder, chapter_id, stored):
        if "attempts" in folder.parts:
            raise OSError(28, "No space left on device")
        real(folder, chapter_id, stored)

    monkeypatch.setattr(store, "write", full)
    (graded,) = autograde(course, term, CHAPTER, here, db_url=gradebook_url(term))
    assert graded.fault == "one of several attempts: the result could not be stored: No space left on device"
    assert recorded(term) == {"ann": 2}


def test_the_earlier_attempt_is_not_reported_as_outdated(course, term, submit, monkeypatch):
    monkeypatch.chdir(course)
    submit("ann")
    run(course, term)
    submit("ann", right_step=False)
    dry = ["autograde", CHAPTER, "--term", str(term), "--dry-run"]
    assert "1 changed since they were graded" in CliRunner().invoke(cli.app, dry).stdout
    run(course, term)
    assert "1 unchanged" in CliRunner().invoke(cli.app, dry).stdout
    result = CliRunner().invoke(cli.app, ["feedback", CHAPTER, "--term", str(term)])
    assert (result.exit_code, result.stderr) == (0, "")
    submit("ann", right_step=False, words="# again\n")
    assert "out of date" in CliRunner().invoke(cli.app, ["feedback", CHAPTER, "--term", str(term)]).stderr
    assert "1 changed since they were graded" in CliRunner().invoke(cli.app, dry).stdout


def test_links_are_not_kept(course, term, submit, tmp_path):
    submit("ann")
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    (term / "submitted" / "ann" / CHAPTER / "notes.txt").symlink_to(secret)
    run(course, term)
    run(course, term)
    (attempt,) = attempts.kept(term, CHAPTER, "ann")
    assert [path.name for path in attempt.submission.iterdir()] == ["recurrence.ipynb"]
