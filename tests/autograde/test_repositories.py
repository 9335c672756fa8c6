"""The loop on the page about repositories on GitHub, run on local repositories, of which some are hostile."""

import os
import re
import subprocess
from datetime import datetime
from pathlib import Path

import pytest
import yaml

from grader.submission.timestamp import submitted_at

PAGE = (Path(__file__).parents[2] / "book" / "classroom.md").read_text("utf-8")
CHAPTER = "ch00_sequences"


@pytest.fixture
def loop():
    (found,) = [block for block in re.findall(r"^```bash\n(.*?)^```", PAGE, re.M | re.S) if "archive" in block]
    return found


@pytest.fixture
def clone(tmp_path):
    """Make a student's clone, with the files that `work` writes into it."""
    environment = os.environ | {
        f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    environment |= {"GIT_COMMITTER_DATE": "2026-02-28T23:30:00-05:00", "GIT_CONFIG_GLOBAL": os.devnull}

    def make(student, work):
        folder = tmp_path / "term" / "downloaded" / "github" / f"rnn-{student}"
        folder.mkdir(parents=True)
        work(folder)
        for arguments in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "work"]):
            subprocess.run(["git", *arguments], cwd=folder, env=environment, check=True)

    return make


def collect(folder, loop):
    """Run the loop; return the files that it has collected, without the timestamps, and what it complains of."""
    done = subprocess.run(["bash", "-c", loop], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    submitted = folder / "term" / "submitted"
    assert [path for path in submitted.rglob("*") if path.is_symlink()] == []
    found = {str(path.relative_to(submitted)): path.read_text() for path in submitted.rglob("*") if path.is_file()}
    return {name: text for name, text in found.items() if not name.endswith("/timestamp.txt")}, done.stderr


def chapter(folder):
    (folder / "exercises" / CHAPTER).mkdir(parents=True)
    return folder / "exercises" / CHAPTER


def test_a_class_is_collected(tmp_path, clone, loop):
    def ann(folder):
        (chapter(folder) / "text.ipynb").write_text("ann")
        (folder / "exercises" / CHAPTER / "helper.py").write_text("help")
        (folder / "README.md").write_text("not a part of it")

    clone("ann-lee", ann)
    clone("bo", lambda folder: (chapter(folder) / "text.ipynb").write_text("bo"))
    old = tmp_path / "term" / "submitted" / "bo" / CHAPTER / "old.ipynb"
    old.parent.mkdir(parents=True)
    old.write_text("of an earlier commit")
    (tmp_path / "term" / "downloaded" / "github" / "rnn-bo" / "exercises" / CHAPTER / "text.ipynb").write_text("later")
    found, told = collect(tmp_path, loop)
    assert found == {
        f"ann-lee/{CHAPTER}/text.ipynb": "ann",
        f"ann-lee/{CHAPTER}/helper.py": "help",
        f"bo/{CHAPTER}/text.ipynb": "bo",
    }
    assert told == ""
    for student in ("ann-lee", "bo"):
        when = submitted_at(tmp_path / "term" / "submitted" / student / CHAPTER)
        assert when == datetime(2026, 3, 1, 4, 30)


def test_links_lead_nowhere(tmp_path, clone, loop):
    """A file, the folder of the chapter, the folder above it, and the file that the loop itself writes."""
    secret = tmp_path / "solutions" / CHAPTER
    secret.mkdir(parents=True)
    (secret / "counting.py").write_text("secret")

    def a_file(folder):
        (chapter(folder) / "counting.py").symlink_to(secret / "counting.py")
        (folder / "exercises" / CHAPTER / "timestamp.txt").symlink_to(secret / "counting.py")
        (folder / "exercises" / CHAPTER / "text.ipynb").write_text("mine")

    def a_folder(folder):
        (folder / "exercises").mkdir()
        (folder / "exercises" / CHAPTER).symlink_to(secret)

    clone("file", a_file)
    clone("folder", a_folder)
    clone("above", lambda folder: (folder / "exercises").symlink_to(tmp_path / "solutions"))
    found, told = collect(tmp_path, loop)
    assert found == {f"file/{CHAPTER}/text.ipynb": "mine"}
    assert told.count("fatal") == 2
    assert (secret / "counting.py").read_text() == "secret"


def test_a_commit_before_the_due_date(tmp_path, clone, loop):
    """With the line for it, put where the page says."""
    (line,) = re.findall(r"^```bash\n( +commit=.*\n)```", PAGE, re.M)
    chosen = re.sub(r"(?=^ +git -C .* archive)", line, loop, flags=re.M).replace("HEAD:exercises", "$commit:exercises")
    clone("ann-lee", lambda folder: (chapter(folder) / "text.ipynb").write_text("in time"))
    github = tmp_path / "term" / "downloaded" / "github" / "rnn-ann-lee"
    (github / "exercises" / CHAPTER / "text.ipynb").write_text("late")
    environment = os.environ | {"GIT_COMMITTER_DATE": "2026-03-01T12:00:01Z"}
    subprocess.run(
        ["git", "-c", "user.name=x", "-c", "user.email=x", "commit", "-qam", "late"],
        cwd=github,
        env=environment,
        check=True,
    )
    assert collect(tmp_path, chosen)[0] == {f"ann-lee/{CHAPTER}/text.ipynb": "in time"}
    assert collect(tmp_path, loop)[0] == {f"ann-lee/{CHAPTER}/text.ipynb": "late"}


def test_the_workflow_is_of_this_form_and_knows_no_secret():
    (text,) = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.M | re.S)
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    steps = workflow["jobs"]["check"]["steps"]
    assert [next(iter(step)) for step in steps] == ["uses", "uses", "run", "run"]
    assert "secrets." not in text
