"""`grader submit`: what it packs, and every reason for which it refuses."""

import hashlib
import json
import os
import shutil
import zipfile

import msgspec
import pytest

import grader.work.submission as module
from grader.journal import Entry
from grader.submission.archive import ArchiveError, archive_bytes, read_archive
from tests.work.student_folder import CHAPTER, RIGHT, ROOT, WITHOUT_BIAS, edited, exercises

NAMES = ["capstone.ipynb", "capstone_weights.json", "predictions.ipynb", "recurrence.ipynb", "unrolling.ipynb"]
NAMES += ["writing.ipynb"]


@pytest.fixture
def folder(tmp_path):
    return exercises(tmp_path)


@pytest.fixture
def submit(grader, tmp_path):
    """Submit; return exit status, output, errors, and the zip's names if it was written."""

    def call(*more, at=tmp_path):
        status, output, error = grader("submit", CHAPTER, *more, at=at)
        path = at / f"{CHAPTER}-submission.zip"
        return status, output, error, zipfile.ZipFile(path).namelist() if path.exists() else None

    return call


def test_a_chapter(submit, folder, tmp_path):
    edited(folder / "recurrence.ipynb", {**RIGHT, "rnn_forward": "rnn_forward = print"})
    status, output, error, names = submit()
    assert status == 0
    assert names == ["manifest.json", *NAMES]
    assert "  recurrence.ipynb: 2 of 2 attempted\n" in output
    assert "  1 other file\n" in output
    assert f"Wrote {CHAPTER}-submission.zip (" in output
    assert "Not answered yet: why_it_writes." in error
    with zipfile.ZipFile(tmp_path / f"{CHAPTER}-submission.zip") as archive:
        tree = json.loads(archive.read("manifest.json"))
        for file in tree["files"]:
            content = (folder / file["name"]).read_bytes()
            assert archive.read(file["name"]) == content
            assert (file["bytes"], file["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert (tree["format"], tree["version"], tree["chapter"]) == ("unrolled-submission", 1, CHAPTER)
    assert tree["created"].endswith("+00:00")
    assert tree["course"]["manifest_sha256"] == hashlib.sha256((ROOT / "course.toml").read_bytes()).hexdigest()
    recurrence = next(each for each in tree["notebooks"] if each["name"] == "recurrence")
    assert recurrence == {
        "name": "recurrence",
        "file": "recurrence.ipynb",
        "exercises": [{"id": "rnn_step", "attempted": True}, {"id": "rnn_forward", "attempted": True}],
        "questions": [],
    }
    capstone = next(each for each in tree["notebooks"] if each["name"] == "capstone")
    assert (capstone["exercises"], capstone["questions"]) == ([], [{"id": "why_it_writes", "attempted": False}])


def test_the_same_files_at_the_same_time_are_the_same_zip(submit, folder, tmp_path):
    submit()
    manifest, files = read_archive(tmp_path / f"{CHAPTER}-submission.zip")
    again = archive_bytes(manifest, dict(reversed(files.items())))
    assert again == (tmp_path / f"{CHAPTER}-submission.zip").read_bytes()


@pytest.mark.parametrize("below", [".", "exercises", f"exercises/{CHAPTER}"])
def test_from_where_it_is_called(submit, folder, tmp_path, below):
    assert submit(at=tmp_path / below)[3] == ["manifest.json", *NAMES]
    assert submit(at=tmp_path / below)[3] == ["manifest.json", *NAMES]  # the first zip is replaced, and not packed


def test_a_folder_of_another_name(submit, folder, tmp_path):
    shutil.move(folder, tmp_path / "my work")
    shutil.rmtree(tmp_path / "exercises")
    assert submit(at=tmp_path / "my work")[0] == 0
    status, _, error, _ = submit()
    assert status == 1
    assert f"There is no folder {CHAPTER} here, and none of its notebooks." in error


def test_what_is_unfinished_is_mentioned_alone(submit, folder, diary):
    edited(folder / "recurrence.ipynb", {"rnn_step": WITHOUT_BIAS, "rnn_forward": "rnn_forward = 3"})
    entries = [Entry("2026-03-01T12:00:00+00:00", "rnn_step", status, 0.0, 2.0) for status in ("passed", "failed")]
    diary.write_bytes(b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries))
    status, _, error, _ = submit()
    assert status == 0
    assert "Not right when they were last checked: rnn_step.\n" in error
    assert "Never checked on this machine: rnn_forward.\n" in error
    assert (
        "Not written yet: concatenated_weights, classify_last, softmax, sequence_loss, sample_id, generate.\n" in error
    )


def test_an_exercise_whose_cells_are_gone(submit, folder):
    edited(folder / "recurrence.ipynb", RIGHT, dropped=["rnn_forward", "rnn_forward-check"])
    status, output, error, _ = submit()
    assert status == 0
    assert "recurrence.ipynb no longer has a cell for rnn_forward, so without points.\n" in error
    assert "  recurrence.ipynb: 1 of 1 attempted\n" in output


def test_the_second_submission_says_that_it_replaces_the_first(submit, folder):
    assert "in place of the earlier one" not in submit()[1]
    assert "kB), in place of the earlier one. Submit this file.\n" in submit()[1]


def test_from_the_folder_of_another_chapter(submit, folder, tmp_path):
    """Both have a capstone; the chapter that was named counts."""
    other = exercises(tmp_path, "ch02_bptt")
    assert submit(at=other)[3] == ["manifest.json", *NAMES]
    shutil.rmtree(folder)
    assert f"There is no folder {CHAPTER} here" in submit(at=tmp_path / "exercises" / "ch02_bptt")[2]


@pytest.mark.parametrize("given", [f"exercises/{CHAPTER}", f"exercises/{CHAPTER}/"])
def test_a_path_instead_of_a_name(grader, folder, given):
    assert grader("submit", given)[0] == 0


def test_the_current_folder_as_the_chapter(grader, folder):
    assert grader("submit", ".", at=folder)[0] == 0


def test_an_earlier_version_kept_by_jupyter_is_named(submit, folder):
    truncated(folder)
    error = submit()[2]
    assert "Restore an earlier version, or take the notebook from the course again" in error
    assert "Not written yet" not in error  # nothing is submitted, so only the reasons matter
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / "recurrence-checkpoint.ipynb").touch()
    assert f"Jupyter has kept an earlier version: copy {folder / '.ipynb_checkpoints'}" in submit()[2]


def notebook_of(sources):
    cells = [{"cell_type": "code", "metadata": {}, "source": source} for source in sources]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4})


def truncated(folder):
    path = folder / "recurrence.ipynb"
    path.write_text(path.read_text()[:-300])


def in_conflict(folder):
    path = folder / "recurrence.ipynb"
    path.write_text("{\n<<<<<<< HEAD\n" + path.read_text() + "=======\n>>>>>>> theirs\n")


def cell_in_conflict(folder):
    merged = "<<<<<<< local\ndef rnn_step(): pass\n=======\n>>>>>>> remote"
    edited(folder / "recurrence.ipynb", {"rnn_step": merged})


def versions(folder):
    shutil.copy(folder / "recurrence.ipynb", folder / "recurrence-Copy1.ipynb")
    edited(folder / "recurrence.ipynb", RIGHT)


def foreign(folder):
    (folder / "recurrence.ipynb").write_text(notebook_of(["x = 1"]))


def of_another_chapter(folder):
    (folder / "recurrence.ipynb").unlink()
    shutil.copy(ROOT / "exercises/ch02_bptt/by_hand.ipynb", folder / "recurrence (1).ipynb")
    shutil.copy(ROOT / "exercises/ch02_bptt/checking.ipynb", folder)


def too_large(folder):
    (folder / "weights.bin").write_bytes(bytes(9_000_000))


def too_many(folder):
    for number in range(40):
        (folder / f"data{number:02}.txt").touch()


def too_many_cells(folder):
    edited(folder / "recurrence.ipynb", added=["x = 1"] * 2000)


def too_much_code(folder):
    edited(folder / "recurrence.ipynb", added=["x" * 2_000_001])


def a_link(folder):
    (folder / "recurrence.ipynb").rename(folder.parent / "recurrence.ipynb")
    (folder / "recurrence.ipynb").symlink_to(folder.parent / "recurrence.ipynb")


def a_bad_name(folder):
    (folder / "a:b.txt").touch()


def a_name_of_windows(folder):
    (folder / "CON.py").touch()


def a_name_with_a_dot(folder):
    (folder / "recurrence.ipynb").rename(folder / "recurrence.ipynb.")


def a_flood(folder):
    for number in range(300):
        (folder / f"extra{number:03}.txt").touch()


def a_flood_of_notebooks(folder):
    (folder / "recurrence.ipynb").unlink()
    for number in range(300):
        (folder / f"extra{number:03}.ipynb").write_text("{}")


def empty(folder):
    (folder / "recurrence.ipynb").write_text("")


def none_at_all(folder):
    for path in folder.glob("*.ipynb"):
        path.unlink()


REFUSED = {
    truncated: "recurrence.ipynb cannot be read: the file is not JSON, so it is not a notebook",
    empty: "recurrence.ipynb cannot be read: the file is empty.",
    in_conflict: "recurrence.ipynb cannot be read: it contains conflict markers of git (<<<<<<<).",
    cell_in_conflict: "recurrence.ipynb contains conflict markers of git (<<<<<<<) in cell 4.",
    versions: "There are 2 versions of recurrence.ipynb: recurrence.ipynb, recurrence-Copy1.ipynb. Keep one of them",
    foreign: "recurrence.ipynb contains no cell of the notebook recurrence.ipynb. Is it from another course",
    of_another_chapter: "checking.ipynb is checking.ipynb of ch02_bptt. Move it out of this folder.",
    too_large: "Too large, or too many files: weights.bin (9.0 MB). Grading takes up to 40 files, each up to 8 MB",
    too_many: "Too large, or too many files: data34.txt (0.0 MB), data35.txt (0.0 MB)",
    too_many_cells: "cells; the limit is 2,000.",
    too_much_code: "The cells of recurrence.ipynb contain 2,0",
    a_link: "recurrence.ipynb cannot be read: the file is a link; submit the notebook itself.",
    a_bad_name: "Rename these: a:b.txt (its name contains :).",
    a_name_of_windows: "Rename these: CON.py (Windows reserves the name CON).",
    a_name_with_a_dot: "recurrence.ipynb.: its name begins or ends with a dot or a space. Rename it to recurrence",
    a_flood: "(0.0 MB) and 258 more. Grading takes up to 40 files",
    a_flood_of_notebooks: "More notebooks that are none of this chapter's: ",
    none_at_all: f"contains no notebook of {CHAPTER}.",
}


@pytest.mark.skipif(os.name == "nt", reason="links and such names need more than a student's rights on Windows")
@pytest.mark.parametrize("spoil", REFUSED, ids=lambda spoil: spoil.__name__)
def test_what_could_not_be_graded_is_refused(submit, folder, spoil):
    spoil(folder)
    status, output, error, names = submit()
    assert (status, output, names) == (1, "", None)
    assert REFUSED[spoil] in error
    assert f"Nothing was written, because {folder} could not be graded as it is.\n" in error
    assert len(error.splitlines()) < 12  # 300 extra files had a line each


def test_all_reasons_at_once(submit, folder):
    truncated(folder)
    too_large(folder)
    (folder / "unrolling.ipynb").unlink()
    (folder / "scratch.ipynb").write_text(notebook_of(["2 + 2"]))
    (folder / "notes.ipynb").write_text("{")
    status, _, error, _ = submit()
    assert status == 1
    assert error.count("✗") == 5
    assert "✗ Missing: unrolling.ipynb. To submit without it, add --partial." in error
    assert "✗ scratch.ipynb contains no cell of this chapter. Move it out of this folder." in error
    assert "✗ notes.ipynb cannot be read: the file is not JSON" in error


def test_a_missing_notebook_and_partial(submit, folder):
    (folder / "unrolling.ipynb").unlink()
    assert submit()[0] == 1
    status, _, error, names = submit("--partial")
    assert (status, names) == (0, ["manifest.json", *(name for name in NAMES if name != "unrolling.ipynb")])
    assert "Missing, so without points: unrolling.ipynb." in error


def test_what_is_left_out(submit, folder, tmp_path):
    """If every notebook of the chapter is there, others do no harm; nor do copies that are equal."""
    (folder / "scratch.ipynb").write_text(notebook_of(["2 + 2"]))
    shutil.copy(folder / "recurrence.ipynb", folder / "recurrence (1).ipynb")
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / "__pycache__").mkdir()
    (folder / "data").mkdir()
    (folder / "timestamp.txt").write_text("2020-01-01 00:00:00 UTC")
    (folder / "manifest.json").write_text("{}")
    (folder / "Thumbs.db").touch()
    (folder / "helper.py").write_text("x = 1")
    status, _, error, names = submit()
    assert (status, names) == (0, ["manifest.json", *sorted([*NAMES, "helper.py"])])
    assert "Left out: scratch.ipynb contains no cell of this chapter." in error
    assert "Left out, because recurrence.ipynb has the same cells: recurrence (1).ipynb." in error
    assert "Left out, because grading reads no folders and links: data." in error
    assert "Left out: timestamp.txt, because a submission has its own file of this name." in error


def test_renamed_and_without_ids(submit, folder, tmp_path):
    """An editor has removed the cells' ids, and a browser has renamed the file: it is recognised by what it defines."""
    path = edited(folder / "recurrence.ipynb", RIGHT)
    notebook = json.loads(path.read_text())
    for cell in notebook["cells"]:
        cell["metadata"] = {}
    path.unlink()
    (folder / "recurrence.ipynb.txt").write_text(json.dumps(notebook))
    status, output, _, names = submit()
    assert (status, "recurrence.ipynb.txt" in names) == (0, True)
    assert "  recurrence.ipynb.txt: 2 of 2 attempted\n" in output


def test_another_name(grader, folder, tmp_path):
    (tmp_path / "mine.zip").write_text("my thesis")
    status, _, error = grader("submit", CHAPTER, "--out", "mine.zip")
    assert (status, (tmp_path / "mine.zip").read_text()) == (1, "my thesis")
    assert "mine.zip exists and is not a submission. Choose another name with --out." in error
    assert grader("submit", CHAPTER, "--out", "other.zip")[0] == 0
    assert grader("submit", CHAPTER, "--out", tmp_path)[0] == 1


def test_a_limit_of_all_files(submit, folder, monkeypatch):
    monkeypatch.setattr(module, "MAX_TOTAL", 50_000)
    status, _, error, _ = submit()
    assert status == 1
    assert "All files together have 0 MB; the limit is 0 MB." in error


def test_an_unknown_chapter(grader, tmp_path):
    status, _, error = grader("submit", "ch1")
    assert status == 1
    assert "There is no chapter 'ch1'." in error


def test_an_archive_error_has_all_problems():
    assert str(ArchiveError(["one", "two"])) == "one; two"
