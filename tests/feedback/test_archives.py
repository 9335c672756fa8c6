"""Archives of feedback, read as Canvas and Moodle read them."""

import io
import json
import re
import zipfile

import pytest

from grader.feedback.archives import ArchiveError, pack_feedback
from grader.feedback.choices import For
from grader.gradebook.people import people
from grader.gradebook.roster import Student

CHAPTER = "ch01_vanilla_rnn"
ANN, BO = Student("12345", "Ann", "Lee", lms_user_id="12345"), Student("Bo Xu", "Bo", "Xu", lms_user_id="12346")
PEOPLE = people([ANN, BO])
PAGE = "<html><head><style>p {}</style></head><body><h1>Your feedback</h1></body></html>"


@pytest.fixture
def pages(tmp_path):
    found = {}
    for student in ("12345", "Bo Xu", "eve"):
        path = tmp_path / "feedback" / student / f"{CHAPTER}.html"
        path.parent.mkdir(parents=True)
        path.write_text(PAGE)
        found[student] = path
    return found


def download(term, name, *files):
    path = term / "downloaded" / CHAPTER / "archive" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for file in files:
            archive.writestr(file, "x")


def contents(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def of_moodle(name):
    """The participant, the plugin and the file's name, as `is_valid_filename_for_import` finds them."""
    parts = name.split("_", 4)
    return int(parts[1]), parts[2], parts[3], parts[4]


def of_canvas(name):
    """The user and the upload, as `infer_comment_context_from_filename` finds them."""
    return [int(part) for part in name.split("_") if re.fullmatch(r"\d+", part)][:2]


def test_for_moodle(tmp_path, pages):
    folders = ("Ann Lee_71_assignsubmission_file/a.ipynb", "Bo Xu_72_assignsubmission_file_/b.zip")
    download(tmp_path, "RNN-4711.zip", *folders)
    packed = pack_feedback(For.moodle, tmp_path, CHAPTER, pages, PEOPLE)
    assert (packed.count, packed.without) == (2, ("eve",))
    found = contents(packed.path)
    assert sorted(map(of_moodle, found)) == [
        (71, "assignsubmission", "file", f"{CHAPTER}.html"),
        (72, "assignsubmission", "file", f"{CHAPTER}.html"),
    ]
    assert set(found.values()) == {PAGE.encode()}
    first = packed.path.read_bytes()
    pack_feedback(For.moodle, tmp_path, CHAPTER, pages, PEOPLE)
    assert packed.path.read_bytes() == first


def test_for_canvas_a_page_has_the_form_of_an_upload(tmp_path, pages):
    files = ("leeann_12345_901_recurrence.ipynb", "leeann_12345_900_capstone.ipynb", "leeann_12345_902_notes.pdf")
    download(tmp_path, "submissions.zip", *files, "xubo_LATE_12346_903_ch01-submission.zip", "xubo_12346_904_a.ipynb")
    found = contents(pack_feedback(For.canvas, tmp_path, CHAPTER, pages, PEOPLE).path)
    assert {name: of_canvas(name) for name in found} == {
        "leeann_12345_901_recurrence.ipynb": [12345, 901],
        "xubo_LATE_12346_903_ch01-submission.zip": [12346, 903],
    }
    notebook = json.loads(found["leeann_12345_901_recurrence.ipynb"])
    assert [cell["source"] for cell in notebook["cells"]] == ["<h1>Your feedback</h1>"]
    assert contents(io.BytesIO(found["xubo_LATE_12346_903_ch01-submission.zip"])) == {f"{CHAPTER}.html": PAGE.encode()}


def test_the_newest_download_counts(tmp_path, pages):
    import os

    download(tmp_path, "new.zip", "leeann_12345_950_recurrence.ipynb")
    download(tmp_path, "old.zip", "leeann_12345_901_recurrence.ipynb", "xubo_12346_902_recurrence.ipynb")
    os.utime(tmp_path / "downloaded" / CHAPTER / "archive" / "old.zip", (1, 1))
    found = contents(pack_feedback(For.canvas, tmp_path, CHAPTER, pages, PEOPLE).path)
    assert sorted(map(of_canvas, found)) == [[12345, 950], [12346, 902]]


@pytest.mark.parametrize("files", [None, ["Ann Lee_71_assignsubmission_file/a.ipynb"], ["notes.txt"]])
def test_without_a_download_of_that_system(tmp_path, pages, files):
    if files:
        download(tmp_path, "d.zip", *files)
    with pytest.raises(ArchiveError, match="The feedback for Canvas is named after its own download"):
        pack_feedback(For.canvas, tmp_path, CHAPTER, pages, PEOPLE)
    assert not (tmp_path / "exports").exists()


def test_a_damaged_download_is_none(tmp_path, pages):
    path = tmp_path / "downloaded" / CHAPTER / "archive" / "d.zip"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"PK")
    with pytest.raises(ArchiveError):
        pack_feedback(For.moodle, tmp_path, CHAPTER, pages, PEOPLE)
