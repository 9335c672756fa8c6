"""Whose submission is taken from where, and what is told of all that lies elsewhere."""

import json
import os
import shutil
from pathlib import Path

import pytest

from grader.grading.preflight import stray_lines
from grader.submission.folders import find_submissions

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
    "unzipped far too deep": ([f"ann/{CHAPTER}/a/b/recurrence.ipynb"], f"ann/{CHAPTER}/a/b"),
    "deep, and no folder of the chapter": (["ann/a/b/recurrence.ipynb"], "ann/a/b"),
    "unzipped beside the zip": (
        [f"ann/{CHAPTER}/work/recurrence.ipynb", (f"ann/{CHAPTER}/work.zip", "text")],
        f"ann/{CHAPTER}/work",
    ),
    "in the checkpoints alone": (
        [f"ann/{CHAPTER}/.ipynb_checkpoints/recurrence-checkpoint.ipynb"],
        f"ann/{CHAPTER}/.ipynb_checkpoints",
    ),
    "above an empty folder with its checkpoints": (
        ["ann/recurrence.ipynb", f"ann/{CHAPTER}/.ipynb_checkpoints/recurrence-checkpoint.ipynb"],
        "ann",
    ),
    "in the checkpoints above an empty folder": (
        [(f"ann/{CHAPTER}/notes.txt", "text"), "ann/.ipynb_checkpoints/recurrence-checkpoint.ipynb"],
        "ann/.ipynb_checkpoints",
    ),
    "too deep, with checkpoints": (
        [f"ann/{CHAPTER}/a/recurrence.ipynb", f"ann/{CHAPTER}/.ipynb_checkpoints/recurrence-checkpoint.ipynb"],
        f"ann/{CHAPTER}/a",
    ),
    "too deep, with a version elsewhere": (
        [f"ann/{CHAPTER}/a/recurrence.ipynb", "ann/old/recurrence.ipynb"],
        f"ann/{CHAPTER}/a",
    ),
    "above an empty folder": (["ann/recurrence.ipynb", (f"ann/{CHAPTER}/notes.txt", "text")], "ann"),
    "beside an empty folder": (["ann/other/recurrence.ipynb", (f"ann/{CHAPTER}/notes.txt", "text")], "ann/other"),
    "beside an empty folder, with a zip": (
        ["ann/other/recurrence.ipynb", (f"ann/{CHAPTER}/notes.txt", "text"), ("ann/work.zip", "text")],
        "ann/other",
    ),
    "beside an empty folder, with another chapter": (
        ["ann/recurrence.ipynb", (f"ann/{CHAPTER}/notes.txt", "text"), ("ann/ch99/by_hand.ipynb", "other")],
        "ann",
    ),
    "the other spelling of an empty folder": (
        ["ann/Ch01_Vanilla_RNN/recurrence.ipynb", (f"ann/{CHAPTER}/notes.txt", "text")],
        "ann/Ch01_Vanilla_RNN",
    ),
    "beside an empty folder of another case": (
        ["ann/recurrence.ipynb", ("ann/Ch01_Vanilla_RNN/notes.txt", "text")],
        "ann",
    ),
    "one of two other cases": (
        ["ann/CH01_VANILLA_RNN/recurrence.ipynb", ("ann/Ch01_Vanilla_RNN/notes.txt", "text")],
        "ann/CH01_VANILLA_RNN",
    ),
    "beside an empty folder, as a browser saves it": (
        [("ann/recurrence.ipynb.txt", "unmarked"), (f"ann/{CHAPTER}/notes.txt", "text")],
        "ann",
    ),
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
    "a zip in some folder": ([("ann/other/work.zip", "text")], "packed"),
    "a zip of a notebook": ([("ann/recurrence.ipynb.zip", "text")], "packed"),
    "a zip of another chapter's": ([("ann/ch99/work.zip", "text"), ("ann/ch99/by_hand.ipynb", "other")], None),
    "no one's notebook in some folder": ([("ann/other/untitled.ipynb", "text")], "unknown"),
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


DUE = (f"ann/{CHAPTER}/notes.txt", "text")  # the chapter's folder, without a notebook
LEFT_ALONE = {
    "two folders in it": (
        [f"ann/{CHAPTER}/a/recurrence.ipynb", f"ann/{CHAPTER}/b/recurrence.ipynb"],
        "unclear",
        {f"ann/{CHAPTER}/a", f"ann/{CHAPTER}/b"},
    ),
    "two folders in it, one deeper": (
        [f"ann/{CHAPTER}/a/recurrence.ipynb", f"ann/{CHAPTER}/b/c/recurrence.ipynb"],
        "unclear",
        {f"ann/{CHAPTER}/a", f"ann/{CHAPTER}/b/c"},
    ),
    "two chapters in a folder in it": (
        [f"ann/{CHAPTER}/a/recurrence.ipynb", (f"ann/{CHAPTER}/a/by_hand.ipynb", "other")],
        "unclear",
        {f"ann/{CHAPTER}/a"},
    ),
    "two folders beside it": (
        [DUE, "ann/recurrence.ipynb", "ann/other/recurrence.ipynb"],
        "unclear",
        {"ann", "ann/other"},
    ),
    "two chapters beside it": (
        [DUE, "ann/other/recurrence.ipynb", ("ann/other/by_hand.ipynb", "other")],
        "unclear",
        {"ann/other"},
    ),
    "another spelling and a folder beside it": (
        [DUE, f"ann/{CHAPTER.upper()}/recurrence.ipynb", "ann/other/recurrence.ipynb"],
        "unclear",
        {f"ann/{CHAPTER.upper()}", "ann/other"},
    ),
    "checkpoints of two folders": (
        [f"ann/{CHAPTER}/.ipynb_checkpoints/a.ipynb", "ann/.ipynb_checkpoints/a.ipynb"],
        "unclear",
        {f"ann/{CHAPTER}/.ipynb_checkpoints", "ann/.ipynb_checkpoints"},
    ),
    "a zip in it": ([(f"ann/{CHAPTER}/work.zip", "text")], "packed", {f"ann/{CHAPTER}/work.zip"}),
    "a zip of a notebook in it": (
        [(f"ann/{CHAPTER}/recurrence.ipynb.zip", "text")],
        "packed",
        {f"ann/{CHAPTER}/recurrence.ipynb.zip"},
    ),
    "a zip in a folder in it": ([(f"ann/{CHAPTER}/a/work.zip", "text")], "packed", {f"ann/{CHAPTER}/a/work.zip"}),
    "a zip in it, and a notebook beside it": (
        [(f"ann/{CHAPTER}/work.zip", "text"), "ann/recurrence.ipynb"],
        "packed",
        {f"ann/{CHAPTER}/work.zip"},
    ),
    "a zip beside it": ([DUE, ("ann/work.zip", "text")], "packed", {"ann/work.zip"}),
    "a zip in a folder beside it": ([DUE, ("ann/other/work.tgz", "text")], "packed", {"ann/other/work.tgz"}),
    "a zip in its folder of another case": (
        [("ann/Ch01_Vanilla_RNN/work.zip", "text")],
        "packed",
        {"ann/Ch01_Vanilla_RNN/work.zip"},
    ),
    "no one's notebook in a folder in it": (
        [(f"ann/{CHAPTER}/a/untitled.ipynb", "text")],
        "unknown",
        {f"ann/{CHAPTER}/a"},
    ),
    "no one's notebook beside it": ([DUE, ("ann/untitled.ipynb", "text")], "unknown", {"ann"}),
}


@pytest.mark.parametrize("what", LEFT_ALONE)
def test_no_submission_is_taken_for_an_empty_one(lay, found, what):
    paths, kind, places = LEFT_ALONE[what]
    lay(*paths)
    assert found() == ({}, {(kind, place, False) for place in places})


EMPTY = {
    "nothing in it": ([DUE], f"ann/{CHAPTER}"),
    "nothing in a folder of another case": ([("ann/Ch01_Vanilla_RNN/notes.txt", "text")], "ann/Ch01_Vanilla_RNN"),
    "nothing in two": (
        [("ann/CH01_VANILLA_RNN/a.txt", "text"), ("ann/Ch01_Vanilla_RNN/a.txt", "text")],
        "ann/CH01_VANILLA_RNN",
    ),
    "another chapter beside it": ([DUE, ("ann/ch99/by_hand.ipynb", "other")], f"ann/{CHAPTER}"),
    "another chapter beside it, and what belongs to that": (
        [
            DUE,
            ("ann/ch99/by_hand.ipynb", "other"),
            ("ann/ch99/untitled.ipynb", "text"),
            ("ann/ch99/work.zip", "text"),
        ],
        f"ann/{CHAPTER}",
    ),
    "another chapter in it": ([(f"ann/{CHAPTER}/ch99/by_hand.ipynb", "other")], f"ann/{CHAPTER}"),
    "resource forks": ([DUE, ("ann/__MACOSX/._recurrence.ipynb", "text")], f"ann/{CHAPTER}"),
}


@pytest.mark.parametrize("what", EMPTY)
def test_a_student_without_any_notebook_submits_an_empty_folder(lay, found, what):
    paths, place = EMPTY[what]
    lay(*paths)
    assert found() == ({"ann": place}, {("empty", place, True)})


@pytest.mark.parametrize("name", ["recurrence.ipynb.txt", "recurrence.IPYNB", "recurrence.ipynb.json"])
def test_what_is_read_as_a_notebook_counts_as_one(lay, found, name):
    lay(f"ann/{CHAPTER}/{name}", "ann/other/recurrence.ipynb")
    assert found() == ({"ann": f"ann/{CHAPTER}"}, set())


@pytest.fixture
def close(monkeypatch, tmp_path):
    """Take away the permission to read a folder, which means nothing to root."""

    def run(*closed):
        def iterdir(self):
            if str(self) in {str(tmp_path / "submitted" / path) for path in closed}:
                raise PermissionError(13, "Permission denied", str(self))
            return whole(self)

        whole = Path.iterdir
        monkeypatch.setattr(Path, "iterdir", iterdir)

    return run


def test_a_folder_that_cannot_be_read_is_not_empty(lay, found, close):
    lay(DUE, "ann/other/recurrence.ipynb", ("bo/other/a.txt", "text"), (f"bo/{CHAPTER}/a.txt", "text"))
    lay((f"cy/{CHAPTER}/a/a.txt", "text"), "cy/recurrence.ipynb", "dee/recurrence.ipynb")
    close(f"ann/{CHAPTER}", "bo/other", f"cy/{CHAPTER}/a", "dee")
    assert found() == (
        {"ann": f"ann/{CHAPTER}"},  # so that the run reports a fault
        {("closed", "bo/other", False), ("closed", f"cy/{CHAPTER}/a", False), ("closed", "dee", False)},
    )


def test_links_are_not_followed_far(lay, found, tmp_path):
    lay(DUE, "bo/a/b/recurrence.ipynb", (f"bo/{CHAPTER}/notes.txt", "text"), (f"cy/{CHAPTER}/notes.txt", "text"))
    submitted = tmp_path / "submitted"
    (submitted / "ann" / "all").symlink_to(submitted.parent)
    (submitted / "ann" / "again").symlink_to(submitted / "ann")
    (submitted / "cy" / "linked").symlink_to(submitted / "bo" / "a" / "b")
    assert found() == (
        {"ann": f"ann/{CHAPTER}", "bo": "bo/a/b", "cy": "cy/linked"},
        {("empty", f"ann/{CHAPTER}", True), ("elsewhere", "bo/a/b", True), ("elsewhere", "cy/linked", True)},
    )


def test_the_right_name_counts_before_one_like_it(lay, found):
    lay(f"ann/{CHAPTER}/recurrence.ipynb", "ann/CH01/recurrence.ipynb", f"ann/{CHAPTER.upper()}/recurrence.ipynb")
    assert found() == ({"ann": f"ann/{CHAPTER}"}, {("spare", f"ann/{CHAPTER.upper()}", True)})


def test_one_like_the_right_name_is_told_of_beside_an_archive(lay, found):
    lay((f"ann/{CHAPTER}/work.zip", "text"), f"ann/{CHAPTER.upper()}/recurrence.ipynb")
    assert found() == (
        {},
        {("packed", f"ann/{CHAPTER}/work.zip", False), ("spare", f"ann/{CHAPTER.upper()}", False)},
    )


def test_a_name_that_is_no_text_is_told_as_text(lay, tmp_path, session):
    lay(("ann/work.zip", "text"))
    os.rename(tmp_path / "submitted" / "ann", tmp_path / "submitted" / os.fsdecode(b"a\xff\n\x1b[2J"))
    (line,) = stray_lines(session.chapter, find_submissions(tmp_path, session.chapter).strays)
    line.encode()
    assert line.isprintable()


def test_each_is_told_in_a_line(lay, tmp_path, session):
    lay(("ann/work.zip", "text"), f"bo/{CHAPTER.upper()}/recurrence.ipynb", (f"cy/{CHAPTER}/work.zip", "text"))
    lay(f"{CHAPTER}/dee/recurrence.ipynb", (f"eve/{CHAPTER}/notes.txt", "text"), ("fay/x.ipynb", "text"))
    lay(f"gus/{CHAPTER}/a/recurrence.ipynb", f"gus/{CHAPTER}/b/recurrence.ipynb")
    lay((f"hal/{CHAPTER}/notes.txt", "text"), "hal/recurrence.ipynb")
    unclear = (
        "contains notebooks of this chapter, but so do other folders, or it also contains notebooks of other chapters. "
        f"Not graded. Put the notebooks that count into gus/{CHAPTER}/"
    )
    assert stray_lines(session.chapter, find_submissions(tmp_path, session.chapter).strays) == [
        f"ann/work.zip: is an archive, which is not unpacked. Not graded. Unpack it into ann/{CHAPTER}/, delete it if "
        "it contains no notebook, or collect with  nbgrader zip_collect",
        f"bo/{CHAPTER.upper()}: graded from here, because bo/{CHAPTER}/ contains no notebook",
        f"{CHAPTER}: is named like the chapter, where a student's folder is expected. Not graded. "
        f"Put each student's notebooks into STUDENT/{CHAPTER}/",
        f"cy/{CHAPTER}/work.zip: is an archive, which is not unpacked. Not graded. Unpack it into cy/{CHAPTER}/, "
        "delete it if it contains no notebook, or collect with  nbgrader zip_collect",
        f"eve/{CHAPTER}: contains no notebook of this chapter, and neither does any other folder of this student. "
        "Graded as a submission without notebooks.",
        "fay: contains notebooks, but none belongs to this chapter by its cells or its name. Not graded. "
        f"If one does, put it into fay/{CHAPTER}/",
        f"gus/{CHAPTER}/a: {unclear}",
        f"gus/{CHAPTER}/b: {unclear}",
        f"hal: graded from here, because hal/{CHAPTER}/ contains no notebook",
    ]


def test_names_have_one_form(lay, found, tmp_path, session):
    """A folder may come from a Mac, which takes letters apart. Two folders of one name are told with code points."""
    apart, composed = "Zoe\u0308", "Zo\xeb"
    lay(f"{apart}/{CHAPTER}/recurrence.ipynb", f"bo/{CHAPTER}/recurrence.ipynb")
    assert found() == ({composed: f"{apart}/{CHAPTER}", "bo": f"bo/{CHAPTER}"}, set())
    lay(f"{composed}/{CHAPTER}/recurrence.ipynb")
    assert found() == (
        {"bo": f"bo/{CHAPTER}"},
        {("alike", f"{apart} (U+0308)", False), ("alike", f"{composed} (U+00EB)", False)},
    )
    lines = stray_lines(session.chapter, find_submissions(tmp_path, session.chapter).strays)
    assert lines[0].startswith(f"{apart} (U+0308): looks like the name of another folder")


def test_no_submitted_folder_at_all(tmp_path, session):
    assert find_submissions(tmp_path, session.chapter).folders == {}
    shutil.rmtree(tmp_path)
    assert find_submissions(tmp_path, session.chapter).strays == ()
