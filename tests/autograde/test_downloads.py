"""Downloads of Canvas, Moodle and Gradescope, through the real `nbgrader zip_collect` as the course configures it."""

import os
import zipfile
from pathlib import Path

import pytest

from tests.nbgrader_command import nbgrader

ROOT = Path(__file__).parents[2]
CHAPTER = "ch01_vanilla_rnn"

CANVAS = {
    "leeann_12345_678910_recurrence.ipynb": "ann",
    "leeann_12345_678911_predictions.ipynb": "ann 2",
    "leeann_12345_678912_helper.py": "help",
    "bo_LATE_222_3000_recurrence-1.ipynb": "bo, late",
    "cy_333_4001_recurrence.ipynb": "cy, old",
    "cy_333_4002_recurrence-1.ipynb": "cy",
    "cy_333_4000_recurrence-2.ipynb": "cy, older",
    "dee_444_5000_work.zip": {
        "work/recurrence.ipynb": "dee",
        "work/other-1.ipynb": "dee 1",
        "work/other.ipynb": "dee 0",
        "__MACOSX/work/._recurrence.ipynb": "junk",
    },
    "eve_555_6000_two.zip": {"a/recurrence.ipynb": "eve a", "b/recurrence.ipynb": "eve b"},
    "leeann_12345_text.html": "words",
    "thelastone_666_7000_timestamp.txt": "2020-01-01",
}
MOODLE = {
    "Ann Lee_1234567_assignsubmission_file_/recurrence.ipynb": "ann",
    "Ann Lee_1234567_assignsubmission_file_/writing.ipynb": "ann 2",
    "Bo de la Cruz-Núñez_1234568_assignsubmission_file/recurrence.ipynb": "bo",
    "Cy_1234569_assignsubmission_file_recurrence.ipynb": "cy",
    "Ann Lee_1234567_assignsubmission_onlinetext_/onlinetext.html": "words",
}
METADATA = """---
submission_111:
  :submitters:
  - :name: Ann Lee
    :sid: '17'
    :email: ann@example.edu
  - :name: Cy
    :email: cy@example.edu
  - :name: Dee
    :sid: d-19
  :created_at: 2026-03-01 13:30:00.123456789 +01:00
  :score: 0.0
submission_112:
  :submitters:
  - :name: Bo
    :sid: 'b-18'
    :email:
  :created_at: !ruby/object:Time 2026-03-01 12:30:00 Z
  :results: !ruby/hash:ActiveSupport::HashWithIndifferentAccess
    output: fine
submission_113:
  :submitters:
  - :name: "../../evil"
    :email: "../../evil"
"""
GRADESCOPE = {
    "assignment_9_export/submission_metadata.yml": METADATA,
    "assignment_9_export/submission_111/recurrence.ipynb": "ann",
    "assignment_9_export/submission_111/sub/helper.py": "help",
    "assignment_9_export/submission_112/recurrence.ipynb": "bo",
    "assignment_9_export/submission_113/recurrence.ipynb": "evil",
    "assignment_9_export/submission_114/recurrence.ipynb": "no metadata",
}


def zipped(path, files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            if isinstance(content, dict):
                zipped(path.parent / "inner.zip", content)
                archive.write(path.parent / "inner.zip", name)
                (path.parent / "inner.zip").unlink()
            else:
                archive.writestr(name, content)


def collect(term, *more):
    done = nbgrader("zip_collect", CHAPTER, *more, term=term)
    assert done.returncode == 0, done.stderr
    return done.stderr


def download(term, name, files):
    archive = term / "downloaded" / CHAPTER / "archive"
    archive.mkdir(parents=True, exist_ok=True)
    zipped(archive / name, files)


def submitted(term):
    folder = term / "submitted"
    found = {str(p.relative_to(folder)): p.read_text() for p in folder.rglob("*") if p.is_file()}
    assert all(name.split("/")[1] == CHAPTER for name in found)
    return {name.replace(f"/{CHAPTER}/", "/"): text for name, text in found.items()}


def test_canvas(tmp_path):
    download(tmp_path, "submissions.zip", CANVAS)
    log = collect(tmp_path)
    found = submitted(tmp_path)
    eve = {name: text for name, text in found.items() if name.startswith("555/")}
    assert sorted(eve.values()) == ["eve a", "eve b"]
    assert (
        "555 has several files of one name. Collected under another one: recurrence.ipynb as b_recurrence.ipynb" in log
    )
    assert {name: text for name, text in found.items() if name not in eve} == {
        "12345/recurrence.ipynb": "ann",
        "12345/predictions.ipynb": "ann 2",
        "12345/helper.py": "help",
        "222/recurrence.ipynb": "bo, late",
        "333/recurrence.ipynb": "cy",
        "444/recurrence.ipynb": "dee",
        "444/other-1.ipynb": "dee 1",
        "444/other.ipynb": "dee 0",
    }
    assert "Skipped, because cy_333_4002_recurrence-1.ipynb is newer" in log
    assert "No release notebooks" not in log
    assert "Not collected, because these names tell no student: submissions/leeann_12345_text.html." in log
    assert "not: thelastone_666_7000_timestamp.txt of 666." in log
    assert "Collected 10 files of 5 students." in log
    assert "Canvas marks as late: 222. It does not say when they submitted; grader times enters it." in log
    assert "Directory not found" not in log
    download(tmp_path, "submissions.zip", {"cy_333_9999_recurrence-3.ipynb": "cy, again"})
    assert "Clearing existing" not in collect(tmp_path, "--force")
    assert submitted(tmp_path) == found | {"333/recurrence.ipynb": "cy, again"}


def test_moodle(tmp_path):
    download(tmp_path, "Course-Chapter 1-42.zip", MOODLE)
    collect(tmp_path)
    assert submitted(tmp_path) == {
        "Ann Lee/recurrence.ipynb": "ann",
        "Ann Lee/writing.ipynb": "ann 2",
        "Bo de la Cruz-Núñez/recurrence.ipynb": "bo",
        "Cy/recurrence.ipynb": "cy",
    }


def test_two_students_of_one_name(tmp_path):
    files = {f"Ann Lee_{number}_assignsubmission_file_/recurrence.ipynb": f"ann {number}" for number in (1, 22, 333)}
    download(tmp_path, "moodle.zip", MOODLE | files)
    log = collect(tmp_path)
    names = {f"Ann Lee_{number}" for number in (1, 22, 333, 1234567)}
    assert {name.split("/")[0] for name in submitted(tmp_path)} == names | {"Bo de la Cruz-Núñez", "Cy"}
    assert submitted(tmp_path)["Ann Lee_22/recurrence.ipynb"] == "ann 22"
    (told,) = [line for line in log.splitlines() if "students are called" in line]
    assert told.endswith(
        "4 students are called Ann Lee. They are collected as Ann Lee_1, Ann Lee_1234567, Ann Lee_22, Ann Lee_333. "
        "Rename these folders."
    )


@pytest.mark.parametrize(("older", "newer"), [("submissions", "submissions (1)"), ("submissions (1)", "submissions")])
def test_the_newest_of_two_downloads(tmp_path, older, newer):
    """Where a student is in both; who is in one alone, as of another section, is collected from that."""
    cy = {"cy_333_4001_recurrence.ipynb": "cy, old", "cy_333_4002_predictions.ipynb": "cy, taken back"}
    download(tmp_path, f"{older}.zip", cy | {"ann_1_2_recurrence.ipynb": "ann"})
    download(tmp_path, f"{newer}.zip", {"cy_333_5001_recurrence-1.ipynb": "cy", "bo_2_2_recurrence.ipynb": "bo"})
    for age, name in enumerate((newer, older)):
        os.utime(tmp_path / "downloaded" / CHAPTER / "archive" / f"{name}.zip", (1e9, 1e9 - age))
    assert f"333 is collected from {newer}, which is newer than {older}." in collect(tmp_path)
    assert submitted(tmp_path) == {
        "333/recurrence.ipynb": "cy",
        "1/recurrence.ipynb": "ann",
        "2/recurrence.ipynb": "bo",
    }


def test_files_beside_the_archives(tmp_path):
    """An instructor unpacked the download, or got a file by mail."""
    archive = tmp_path / "downloaded" / CHAPTER / "archive"
    (archive / "Ann Lee_1234567_assignsubmission_file_").mkdir(parents=True)
    (archive / "Ann Lee_1234567_assignsubmission_file_" / "recurrence.ipynb").write_text("ann")
    (archive / "cy_333_4001_recurrence.ipynb").write_text("cy")
    download(tmp_path, "cy_333_4002_more.zip", {"predictions.ipynb": "cy 2"})
    collect(tmp_path)
    assert submitted(tmp_path) == {
        "Ann Lee/recurrence.ipynb": "ann",
        "333/recurrence.ipynb": "cy",
        "333/predictions.ipynb": "cy 2",
    }


def test_gradescope(tmp_path):
    download(tmp_path, "submissions.zip", GRADESCOPE)
    log = collect(tmp_path)
    group = {
        f"{member}/{name}": text
        for member in ("ann@example.edu", "cy@example.edu", "d-19")
        for name, text in (
            ("recurrence.ipynb", "ann"),
            ("helper.py", "help"),
            ("timestamp.txt", "2026-03-01 12:30:00.123456"),
        )
    }
    assert "Collected 9 files of 6 students." in log
    assert submitted(tmp_path) == group | {
        "b-18/recurrence.ipynb": "bo",
        "b-18/timestamp.txt": "2026-03-01 12:30:00",
        "submission_113/recurrence.ipynb": "evil",
        "submission_114/recurrence.ipynb": "no metadata",
    }
    assert not list(tmp_path.parent.rglob("evil*"))


@pytest.mark.parametrize("name", ["recurrence.ipynb", "ann_recurrence.ipynb"])
def test_a_name_of_none_of_the_three_is_skipped_aloud(tmp_path, name):
    download(tmp_path, "submissions.zip", {name: "ann", "cy_333_4001_recurrence.ipynb": "cy"})
    assert f"Not collected, because these names tell no student: submissions/{name}." in collect(tmp_path)
    assert submitted(tmp_path) == {"333/recurrence.ipynb": "cy"}
