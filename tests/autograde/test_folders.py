"""Whose submission is taken from where, and what is told of all that lies elsewhere."""

import json
import os
import shutil

import pytest

from grader.autograde.grading.preflight import stray_lines
from grader.autograde.submission.folders import find_submissions

CHAPTER = "ch01_vanilla_rnn"


@pytest.fixture
def lay(tmp_path, right):
    """Lay notebooks of the chapter, and other files, below submitted/; say what is found there."""
    other = json.loads(json.dumps(right))
    for cell in other["cells"]:
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"]["grade_id"] = "another_exercise"
    unmarked = json.loads(json.dumps(right))
    for cell in unmarked["cells"]:
        cell["metadata"].pop("nbgrader", None)
    contents = {"": json.dumps(right), "other": json.dumps(other), "unmarked": json.dumps(unmarked), "text": "x"}

    def run(*paths):
        for path, what in (path if isinstance(path, tuple) else (path, "") for path in paths):
            file = tmp_path / "submitted" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(contents[what])

    return run


@pytest.fixture
def found(tmp_path, session):
    def look():
        handed = find_submissions(tmp_path, session.chapter)
        folders = {name: str(path.relative_to(tmp_path / "submitted")) for name, path in handed.folders.items()}
        return folders, {(stray.kind, stray.path, stray.graded) for stray in handed.strays}

    return look


def test_as_expected(lay, found):
    lay(f"ann/{CHAPTER}/recurrence.ipynb", f"bo/{CHAPTER}/recurrence.ipynb", ("readme.txt", "text"))
    lay("bo/ch99/recurrence.ipynb", f"bo/{CHAPTER}/.ipynb_checkpoints/recurrence.ipynb")
    assert found() == ({"ann": f"ann/{CHAPTER}", "bo": f"bo/{CHAPTER}"}, set())


ELSEWHERE = {
    "beside": (["ann/recurrence.ipynb"], "ann"),
    "beside, under another name": (["ann/Recurrence (1).ipynb"], "ann"),
    "beside, without marks": ([("ann/my work.ipynb", "unmarked")], "ann"),
    "beside, no notebook at all": ([("ann/recurrence.ipynb", "text")], "ann"),
    "beside, with notes of one's own": (["ann/recurrence.ipynb", ("ann/notes.ipynb", "text")], "ann"),
    "beside another chapter's folder": (["ann/recurrence.ipynb", ("ann/ch99/by_hand.ipynb", "other")], "ann"),
    "another case": (["ann/Ch01_Vanilla_RNN/recurrence.ipynb"], "ann/Ch01_Vanilla_RNN"),
    "other signs": (["ann/ch01 vanilla-rnn/recurrence.ipynb"], "ann/ch01 vanilla-rnn"),
    "another name": (["ann/homework 1/recurrence.ipynb"], "ann/homework 1"),
    "unzipped too deep": ([f"ann/{CHAPTER}/{CHAPTER}/recurrence.ipynb"], f"ann/{CHAPTER}/{CHAPTER}"),
}


@pytest.mark.parametrize("what", ELSEWHERE)
def test_graded_from_where_it_lies(lay, found, what):
    paths, place = ELSEWHERE[what]
    lay(*paths)
    assert found() == ({"ann": place}, {("elsewhere", place, True)})


NOT_GRADED = {
    "two cases": (["ann/CH01_VANILLA_RNN/a.ipynb", "ann/Ch01_Vanilla_RNN/a.ipynb"], "unclear"),
    "two folders": (["ann/old/recurrence.ipynb", "ann/new/recurrence.ipynb"], "unclear"),
    "two chapters in one": (["ann/recurrence.ipynb", ("ann/by_hand.ipynb", "other")], "unclear"),
    "no one's notebook": ([("ann/untitled.ipynb", "text")], "unknown"),
    "another chapter's": ([("ann/by_hand.ipynb", "other")], None),
    "a zip": ([("ann/work.zip", "text")], "packed"),
    "a zip beside the students": ([("class.ZIP", "text")], "packed"),
    "a notebook beside the students": (["recurrence.ipynb"], "no student"),
    "the other way round": ([f"{CHAPTER}/ann/recurrence.ipynb"], "swapped"),
    "a Mac's": ([f"__MACOSX/{CHAPTER}/recurrence.ipynb"], "never"),
    "hidden": ([f".ann/{CHAPTER}/recurrence.ipynb"], "never"),
    "checkpoints": ([f".ipynb_checkpoints/{CHAPTER}/recurrence.ipynb"], "never"),
    "resource forks": ([("ann/._recurrence.ipynb", "text")], None),
    "checkpoints of a student's": (["ann/.ipynb_checkpoints/recurrence.ipynb"], None),
}


@pytest.mark.parametrize("what", NOT_GRADED)
def test_not_graded_and_told(lay, found, what):
    paths, kind = NOT_GRADED[what]
    lay(*paths)
    folders, strays = found()
    assert folders == {}
    assert {(stray[0], stray[2]) for stray in strays} == ({(kind, False)} if kind else set())


EMPTY = {
    "nothing in it": ([(f"ann/{CHAPTER}/notes.txt", "text")], "empty", f"ann/{CHAPTER}"),
    "a zip in it": ([(f"ann/{CHAPTER}/work.zip", "text")], "packed", f"ann/{CHAPTER}/work.zip"),
}


@pytest.mark.parametrize("what", EMPTY)
def test_a_folder_without_a_notebook_is_handed_in(lay, found, what):
    paths, kind, place = EMPTY[what]
    lay(*paths)
    assert found() == ({"ann": f"ann/{CHAPTER}"}, {(kind, place, True)})


def test_the_right_name_counts_before_one_like_it(lay, found):
    lay(f"ann/{CHAPTER}/recurrence.ipynb", "ann/CH01/recurrence.ipynb", f"ann/{CHAPTER.upper()}/recurrence.ipynb")
    assert found() == ({"ann": f"ann/{CHAPTER}"}, {("spare", f"ann/{CHAPTER.upper()}", True)})


def test_a_name_that_is_no_text_is_told_as_text(lay, tmp_path, session):
    lay(("ann/work.zip", "text"))
    os.rename(tmp_path / "submitted" / "ann", tmp_path / "submitted" / os.fsdecode(b"a\xff\n\x1b[2J"))
    (line,) = stray_lines(session.chapter, find_submissions(tmp_path, session.chapter).strays)
    line.encode()
    assert line.isprintable()


def test_each_is_told_in_a_line(lay, tmp_path, session):
    lay(("ann/work.zip", "text"), f"bo/{CHAPTER.upper()}/recurrence.ipynb", (f"cy/{CHAPTER}/work.zip", "text"))
    lay(f"{CHAPTER}/dee/recurrence.ipynb")
    assert stray_lines(session.chapter, find_submissions(tmp_path, session.chapter).strays) == [
        f"ann/work.zip: is an archive, which is not unpacked. Not graded. Unpack it into ann/{CHAPTER}/, or collect "
        "with  nbgrader zip_collect",
        f"bo/{CHAPTER.upper()}: graded from here, because bo/{CHAPTER}/ contains no notebook",
        f"{CHAPTER}: is named like the chapter, where a student's folder is expected. Not graded. "
        f"Put each student's notebooks into STUDENT/{CHAPTER}/",
        f"cy/{CHAPTER}/work.zip: is an archive, which is not unpacked. Graded as a submission without notebooks. "
        f"Unpack it into cy/{CHAPTER}/, or collect with  nbgrader zip_collect",
    ]


def test_no_submitted_folder_at_all(tmp_path, session):
    assert find_submissions(tmp_path, session.chapter).folders == {}
    shutil.rmtree(tmp_path)
    assert find_submissions(tmp_path, session.chapter).strays == ()
