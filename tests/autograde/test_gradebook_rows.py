"""Our rows are those of nbgrader's own API and steps, whatever a term brings."""

import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import nbgrader_api
import pytest
from gradebook_course import register_first, write_course
from histories import differing, history

from grader.author.notebooks import student_notebooks
from grader.gradebook import gradebook_url, open_gradebook, open_writer, register
from grader.manifest import load_manifest


def released(root):
    manifest = load_manifest(root / "course.toml")
    return student_notebooks(root, manifest, manifest.chapters[0])


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return write_course(tmp_path_factory.mktemp("rows") / "course")


@pytest.fixture(scope="module")
def registered(course, tmp_path_factory):
    term = tmp_path_factory.mktemp("registered")
    register_first(gradebook_url(term), course)
    return term / "gradebook.db"


def schema(path):
    with closing(sqlite3.connect(path)) as connection:
        tables = connection.execute("select type, name, sql from sqlite_master").fetchall()
        return sorted(map(repr, tables)), connection.execute("select * from alembic_version").fetchall()


def test_a_new_gradebook_is_nbgraders(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")  # nbgrader starts a bare `alembic`
    nbgrader_api.api.Gradebook(f"sqlite:///{tmp_path}/theirs.db").close()
    with open_gradebook(f"sqlite:///{tmp_path}/ours.db"):
        pass
    ours, theirs = schema(tmp_path / "ours.db"), schema(tmp_path / "theirs.db")
    assert len(theirs[1]) == 1
    assert ours == theirs
    assert nbgrader_api.rows(f"sqlite:///{tmp_path}/ours.db") == nbgrader_api.rows(f"sqlite:///{tmp_path}/theirs.db")


def test_registering_writes_nbgraders_rows(tmp_path, course):
    """Also where cells come, go and change before anyone has submitted."""
    root = tmp_path / "course"
    shutil.copytree(course, root)
    urls = [f"sqlite:///{tmp_path}/{name}.db" for name in ("ours", "theirs")]
    for url in urls:
        with open_gradebook(url):
            pass
    manifest = (root / "course.toml").read_text("utf-8")
    source = (root / "solutions/ch01/second.py").read_text("utf-8")
    for points, exercise in (("points = 1", "square"), ("points = 4", "cube")):
        (root / "course.toml").write_text(manifest.replace("points = 1\n", points + "\n").replace("square", exercise))
        (root / "solutions/ch01/second.py").write_text(source.replace("square", exercise))
        chapter = load_manifest(root / "course.toml").chapters[0]
        register(urls[0], chapter, released(root))
        nbgrader_api.save_cells(urls[1], "ch01", released(root))
        ours, theirs = map(nbgrader_api.rows, urls)
        assert ours == theirs
        assert any(exercise in row for row in ours["grade_cells"])


def test_points_and_sources_may_change_under_submissions(tmp_path, course, registered):
    root = tmp_path / "course"
    shutil.copytree(course, root)
    urls = [f"sqlite:///{tmp_path}/{name}.db" for name in ("ours", "theirs")]
    for url in urls:
        shutil.copy(registered, url.removeprefix("sqlite:///"))
        with open_gradebook(url) as gradebook:
            nbgrader_api.record(gradebook, "ch01", "ada", {"first": {"double": 2.0}})
    manifest = (root / "course.toml").read_text("utf-8")
    (root / "course.toml").write_text(manifest.replace("points = 2\n", "points = 5\n"), "utf-8")
    source = (root / "solutions/ch01/first.py").read_text("utf-8")
    (root / "solutions/ch01/first.py").write_text(source.replace("def double(x):", "def double(x):  # twice"), "utf-8")
    register(urls[0], load_manifest(root / "course.toml").chapters[0], released(root))
    nbgrader_api.save_cells(urls[1], "ch01", released(root))
    ours, theirs = map(nbgrader_api.rows, urls)
    assert ours == theirs
    assert any("twice" in row for row in ours["source_cell"])
    assert any("5.0" in row for row in ours["grade_cells"])


@pytest.mark.parametrize("seed", [1, 2])
def test_whatever_happens_the_rows_are_nbgraders(tmp_path, registered, seed):
    urls = [f"sqlite:///{tmp_path}/{name}.db" for name in ("ours", "theirs")]
    for url in urls:
        shutil.copy(registered, url.removeprefix("sqlite:///"))
    assert differing(*urls, history(seed, length=60)) == []


def test_a_submission_that_lost_rows_gets_them_back(registered, tmp_path):
    """As after `remove_submission_notebook`; with its answers new to those who grade."""
    shutil.copy(registered, tmp_path / "gradebook.db")
    url = gradebook_url(tmp_path)
    with open_writer(url, "ch01") as writer, open_gradebook(url) as gradebook:
        writer.record("ada", {"second": {"square": 1.0}}, answers={"second": {"why": "one"}})
        gradebook.remove_submission_notebook("second", "ch01", "ada")
        gradebook.db.remove()
        writer.record("ada", {"second": {"square": 1.0}}, answers={"second": {"why": "one"}})
        assert [grade.name for grade in gradebook.find_submission_notebook("second", "ch01", "ada").grades]
        assert gradebook.find_grade("square-check", "second", "ch01", "ada").auto_score == 1
        assert gradebook.find_grade("why", "second", "ch01", "ada").needs_manual_grade
