"""A gradebook that is busy, full, read-only, old, broken, or written by two runs: a clear word, and nothing lost."""

import shutil
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest
from gradebook_course import register_first, write_course
from test_gradebook import dump
from two_runs import check_two_runs, go, run, scores_by_student

from grader.gradebook import GradebookError, gradebook_url, open_gradebook, open_writer
from grader.gradebook.database import patient
from tests.nbgrader_command import real_nbgrader


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return write_course(tmp_path_factory.mktemp("trouble") / "course")


@pytest.fixture(scope="module")
def template(course, tmp_path_factory):
    term = tmp_path_factory.mktemp("registered")
    register_first(gradebook_url(term), course)
    return term / "gradebook.db"


@pytest.fixture
def gradebook(template, tmp_path):
    shutil.copy(template, tmp_path)
    return tmp_path / "gradebook.db"


def record(db_url, student="ada"):
    with open_writer(db_url, "ch01") as writer:
        writer.record(student, {"first": {"double": 2}})


# --- busy -------------------------------------------------------------------------------------------------


def test_we_wait_half_a_minute_for_other_writers(tmp_path):
    assert "timeout=30" in patient(gradebook_url(tmp_path))
    assert patient("sqlite:///g.db?timeout=2") == "sqlite:///g.db?timeout=2"


def test_a_gradebook_that_is_locked_for_a_while(gradebook):
    other = sqlite3.connect(gradebook, isolation_level=None, check_same_thread=False)
    with closing(other), open_writer(f"sqlite:///{gradebook}", "ch01") as writer:
        other.execute("BEGIN IMMEDIATE")
        other.execute("insert into student (id) values ('zoe')")
        release = threading.Timer(0.3, other.execute, ["COMMIT"])
        release.start()
        writer.record("ada", {})
        release.join()
    assert {"ada", "zoe"} == {eval(row)[0] for row in dump(f"sqlite:///{gradebook}")["student"]}


def test_one_submission_meets_a_lock_and_the_others_go_on(gradebook):
    with (
        closing(sqlite3.connect(gradebook, isolation_level=None)) as other,
        open_writer(f"sqlite:///{gradebook}?timeout=0.05", "ch01") as writer,
    ):
        writer.record("ada", {})
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(GradebookError, match=r"database is locked\. Another program is writing to it\. Wait until"):
            writer.record("bo", {})
        other.execute("ROLLBACK")
        other.execute("BEGIN")
        other.execute("select * from student").fetchone()  # a reader in mid-sentence: no commit can go past it
        with pytest.raises(GradebookError, match="database is locked"):
            writer.record("bo", {})
        other.execute("ROLLBACK")
        writer.record("cy", {})
        writer.record("bo", {})
    assert sorted(scores_by_student(f"sqlite:///{gradebook}")) == ["ada", "bo", "cy"]


def test_registering_again_needs_no_lock(gradebook, course):
    with closing(sqlite3.connect(gradebook, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        register_first(f"sqlite:///{gradebook}?timeout=0.05", course)


def test_two_runs_at_the_same_time(tmp_path, course):
    check_two_runs(gradebook_url(tmp_path), course)


def test_a_run_that_is_killed_leaves_whole_submissions(gradebook, course):
    students = [f"s{n:03}" for n in range(400)]
    written = 0
    for due in (3, 60):
        with run(f"sqlite:///{gradebook}", course, 1.0, students) as process:
            go(process)
            told = [process.stdout.readline().strip() for _ in range(due)]
            process.kill()
            told += process.stdout.read().split()
        found = scores_by_student(f"sqlite:///{gradebook}")
        written = max(written, len(told))
        assert written <= len(found) <= written + 1
        assert sorted(found) == students[: len(found)]
    record(f"sqlite:///{gradebook}")


# --- out of order -----------------------------------------------------------------------------------------


def test_a_disk_that_is_full(gradebook, tmp_path):
    """A real one: a small file system in memory."""
    small = tmp_path / "small"
    small.mkdir()
    program = f"""
import os, shutil
from grader.gradebook import GradebookError, open_writer
shutil.copy({str(gradebook)!r}, {str(small)!r})
with open_writer("sqlite:///{small}/gradebook.db", "ch01") as writer:
    writer.record("ada", {{}})
    try:
        with open("{small}/filler", "wb", buffering=0) as filler:
            while True:
                filler.write(bytes(4096))
    except OSError:
        pass
    try:
        for n in range(50):
            writer.record(f"s{{n}}", {{}})
    except GradebookError as error:
        print(error)
    os.remove("{small}/filler")
    writer.record("bo", {{}})
shutil.copy("{small}/gradebook.db", {str(tmp_path / "after.db")!r})
"""
    walls = ["bwrap", "--dev-bind", "/", "/", "--size", "1000000", "--tmpfs", str(small)]
    done = subprocess.run([*walls, sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "disk is full. Free some disk space" in done.stdout
    found = scores_by_student(f"sqlite:///{tmp_path}/after.db")
    assert {"ada", "bo"} <= set(found)
    assert len(found) < 52


def test_a_gradebook_that_may_not_be_written(gradebook):
    before = gradebook.read_bytes()
    with pytest.raises(GradebookError, match=r"readonly database\. You have no permission to write to it"):
        record(f"sqlite:///file:{gradebook}?mode=ro&uri=true")
    assert gradebook.read_bytes() == before


@pytest.mark.system
def test_a_gradebook_of_an_older_nbgrader(tmp_path, course):
    term = tmp_path / "term"
    term.mkdir()
    url = gradebook_url(term)
    with open_gradebook(url):
        pass
    gradebook = term / "gradebook.db"
    with closing(sqlite3.connect(gradebook)) as connection:
        connection.execute("alter table student drop column lms_user_id")
        connection.execute("update alembic_version set version_num = '167914646830'")
        connection.commit()
    before = gradebook.read_bytes()
    for use in (record, lambda url: register_first(url, course)):
        with pytest.raises(
            GradebookError, match=r"no student\.lms_user_id\. It was made by an older nbgrader .* nbgrader db upgrade"
        ):
            use(url)
    assert gradebook.read_bytes() == before

    done = real_nbgrader("db", "upgrade", term=term)
    assert done.returncode == 0, done.stderr
    register_first(url, course)
    record(url)


def test_a_gradebook_that_is_damaged(gradebook):
    content = bytearray(gradebook.read_bytes())
    content[4096:] = bytes(len(content) - 4096)  # the first page, with the tables' names, is whole
    gradebook.write_bytes(content)
    with pytest.raises(GradebookError, match=r"malformed\. It is damaged\. Restore it from a backup"):
        record(f"sqlite:///{gradebook}")


def test_an_assignment_that_disappears(gradebook):
    url = f"sqlite:///{gradebook}"
    with open_writer(url, "ch01") as writer:
        with open_gradebook(url) as theirs:
            theirs.remove_assignment("ch01")
        with pytest.raises(GradebookError, match=r"lost its assignment 'ch01'\. Register"):
            writer.record("ada", {})
        assert dump(url)["student"] == []


@pytest.mark.parametrize("name", ["", "a\0b", "\udcff"])
def test_a_name_that_no_database_holds(gradebook, name):
    with pytest.raises(GradebookError, match=r"as a student's name\. Rename"):
        record(f"sqlite:///{gradebook}", name)


def test_a_comment_with_what_no_database_holds(gradebook):
    url = f"sqlite:///{gradebook}"
    with open_writer(url, "ch01") as writer:
        writer.record("ada", {}, comments={"first": {"double": "a\0b\udcff"}})
    with open_gradebook(url) as theirs:
        assert theirs.find_comment("double", "first", "ch01", "ada").comment == "a\ufffdb?"


def test_no_driver(monkeypatch):
    class Missing:
        def find_spec(self, name, *_):
            if name == "psycopg":
                raise ModuleNotFoundError("No module named 'psycopg'", name=name)

    for name in [name for name in sys.modules if name.partition(".")[0] == "psycopg"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Missing(), *sys.meta_path])
    with (
        pytest.raises(GradebookError, match=r"Install its driver\. .* --editable '\.\[postgres\]'") as caught,
        open_writer("postgresql+psycopg://ada:secret@host/name", "ch01"),
    ):
        pass
    assert "secret" not in str(caught.value)


# --- imports ----------------------------------------------------------------------------------------------


def test_writing_imports_neither_jupyter_server_nor_the_grammar_of_iris(gradebook):
    program = (
        f"import sys; from grader.gradebook import open_writer\n"
        f"with open_writer('sqlite:///{gradebook}', 'ch01') as writer: writer.record('ada', {{}})\n"
        "for name in ('jupyter_server', 'nbgrader.apps', 'nbconvert', 'lark', 'torch', 'alembic'):\n"
        "    assert name not in sys.modules, name\n"
        "import nbgrader, nbgrader.preprocessors, nbgrader.converters\n"
        "assert nbgrader.__version__ and nbgrader.api.Gradebook\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=Path(__file__).parents[2], check=True, timeout=60)
