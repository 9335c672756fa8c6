"""A chapter through nbgrader's exchange, as on a JupyterHub: from release to the feedback that a student fetches."""

import getpass
import json
import os
import re
import shutil
from pathlib import Path

import pytest
from nbgrader.coursedir import CourseDirectory
from right_work import RIGHT

from grader.gradebook import gradebook_url
from grader.grading.chapter import autograde
from grader.grading.pool import here
from grader.plugins.exchange_collect import MAX_DEPTH, MAX_ENTRIES, Collect, PlainCopy
from tests.nbgrader_command import real_nbgrader

ROOT = Path(__file__).parents[2]
CHAPTER = "ch01_vanilla_rnn"
STUDENT = getpass.getuser()
FOR_ALL = """
c = get_config()
c.CourseDirectory.course_id = "rnn"
c.Exchange.root = {root!r}
"""


@pytest.fixture
def hub(tmp_path):
    """Run a command of nbgrader in a folder, with the configuration that a hub has for everybody."""
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "nbgrader_config.py").write_text(FOR_ALL.format(root=str(tmp_path / "exchange")))
    (tmp_path / "exchange").mkdir(mode=0o777)
    environment = {
        "JUPYTER_CONFIG_PATH": str(tmp_path / "etc"),
        "JUPYTER_DATA_DIR": str(tmp_path / "data"),
    }

    def run(folder, *arguments):
        done = real_nbgrader(*arguments, cwd=folder, term=tmp_path / "term", environment=environment)
        assert done.returncode == 0, done.stderr
        return done.stderr

    return run


def solve(path):
    notebook = json.loads(path.read_text("utf-8"))
    for cell in notebook["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if name in RIGHT:
            cell["source"] = RIGHT[name]
    path.write_text(json.dumps(notebook), "utf-8")


@pytest.mark.system
def test_from_release_to_feedback(hub, small_course, tmp_path):
    """Also: a link that the student adds to the submission is not followed with the instructor's permissions."""
    course, home, term = tmp_path / "course", tmp_path / "home", tmp_path / "term"
    shutil.copytree(small_course, course)
    shutil.copy(ROOT / "nbgrader_config.py", course)
    home.mkdir()
    (term / "hidden").mkdir(parents=True)
    (term / "hidden" / "seed").write_text("271828")

    hub(course, "release_assignment", CHAPTER)
    hub(home, "fetch_assignment", CHAPTER)
    solve(home / CHAPTER / "recurrence.ipynb")
    hub(home, "submit", CHAPTER)
    (inbound,) = (tmp_path / "exchange" / "rnn" / "inbound").iterdir()
    (inbound / "data.csv").symlink_to(term / "hidden" / "seed")
    told = hub(course, "collect", CHAPTER)
    submitted = term / "submitted" / STUDENT / CHAPTER
    assert {path.name for path in submitted.iterdir()} == {
        "recurrence.ipynb",
        "timestamp.txt",
        "submission_secret.txt",
    }
    assert "left out 'data.csv': it is a link" in told

    (graded,) = autograde(course, term, CHAPTER, here, db_url=gradebook_url(term))
    assert (graded.student, graded.earned) == (STUDENT, sum(verdict.points for verdict in graded.by_exercise.values()))
    hub(course, "generate_feedback", CHAPTER)
    hub(course, "release_feedback", CHAPTER)
    hub(home, "fetch_feedback", CHAPTER)
    (page,) = (home / CHAPTER / "feedback").rglob("*.html")
    assert page.name == "recurrence.html"
    text = re.sub(r"<[^>]*>", "", page.read_text("utf-8"))
    assert "np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)" in text
    assert "✓ rnn_step 2 / 2 right" in text


def test_a_submission_that_cannot_be_opened_does_not_end_the_collection(tmp_path, monkeypatch):
    (tmp_path / "secret").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    monkeypatch.chdir(tmp_path)
    step = Collect(coursedir=CourseDirectory(root=str(tmp_path)))
    step.do_copy(str(tmp_path / "link"), str(tmp_path / "target"))
    assert not (tmp_path / "target").exists()
    step.do_copy(str(tmp_path / "secret"), str(tmp_path / "target"))
    assert (tmp_path / "target").is_dir()


def copied(source, target, most=10_000):
    """What a copy leaves out, with the reasons, and the files that it has."""
    left_out = dict(PlainCopy(most).copy(source, target))
    return left_out, {str(path.relative_to(target)): path.read_bytes() for path in target.rglob("*") if path.is_file()}


def test_only_plain_files_are_copied(tmp_path):
    outside, source = tmp_path / "outside", tmp_path / "source"
    (source / "data").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (source / "data" / "a.csv").write_text("1,2")
    (source / "work.ipynb").write_text("{}")
    (source / "file").symlink_to(outside / "secret")
    (source / "folder").symlink_to(outside)
    (source / "nowhere").symlink_to(tmp_path / "none")
    os.mkfifo(source / "pipe")
    left_out, files = copied(source, tmp_path / "target")
    assert files == {"data/a.csv": b"1,2", "work.ipynb": b"{}"}
    assert set(left_out) == {"file", "folder", "nowhere", "pipe"}
    assert {left_out[name] for name in ("file", "folder", "nowhere")} == {"it is a link"}


def test_no_submission_fills_the_disk(tmp_path):
    source = tmp_path / "source"
    deep = source.joinpath(*"d" * (MAX_DEPTH + 3))
    deep.mkdir(parents=True)
    (deep / "deep.txt").write_text("deep")
    with open(source / "sparse", "wb") as file:
        file.truncate(10**12)
    (source / "small").write_bytes(b"0" * 900)
    left_out, files = copied(source, tmp_path / "target", most=1000)
    assert set(files) == {"small"}
    assert set(left_out) == {"sparse", "/".join("d" * (MAX_DEPTH + 1))}


def test_no_submission_has_endless_files(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    for number in range(MAX_ENTRIES + 5):
        (source / f"{number}").touch()
    left_out, files = copied(source, tmp_path / "target")
    assert len(files) == MAX_ENTRIES
    assert list(left_out.values()) == ["there are too many files"]
