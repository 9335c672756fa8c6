"""No submission is graded if course.toml has been edited but not released."""

import json
import shutil

import pytest
from right_work import RIGHT

from grader.author.notebooks import release_notebooks
from grader.gradebook import gradebook_url
from grader.grading.chapter import autograde
from grader.grading.pool import here
from grader.grading.release import AutogradeError

CHAPTER = "ch01_vanilla_rnn"


@pytest.fixture
def course(small_course, tmp_path):
    return shutil.copytree(small_course, tmp_path / "course")


@pytest.fixture
def term(tmp_path, right):
    folder = tmp_path / "term" / "submitted" / "ann" / CHAPTER
    folder.mkdir(parents=True)
    (folder / "recurrence.ipynb").write_text(json.dumps(right))
    return tmp_path / "term"


def edit(course, old, new):
    path = course / "course.toml"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def grade(course, term):
    return autograde(course, term, CHAPTER, here, db_url=gradebook_url(term))


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


EDITS = {
    "points": ("points = 2", "points = 5", "rnn_step has 5 points in course.toml but 2 in exercises/ch01_vanilla_rnn/"),
    "another exercise": ('id = "rnn_step"', 'id = "rnn_stride"', "rnn_stride is in course.toml but not in exercises/"),
    "a notebook": ('name = "recurrence"', 'name = "recurring"', "recurring.ipynb: the file cannot be read"),
}


@pytest.mark.parametrize("what", EDITS)
def test_an_edit_is_released_first(course, term, what):
    grade(course, term)
    before = files(term)
    old, new, words = EDITS[what]
    edit(course, old, new)
    if what == "another exercise":
        edit(course, 'needs = ["rnn_step"]', "")
    with pytest.raises(AutogradeError) as caught:
        grade(course, term)
    assert words in str(caught.value).replace(str(course), "")
    assert "grader release" in str(caught.value)
    assert files(term) == before


def test_the_data_of_the_students_checks_is_released_too(course, term):
    edit(course, "points = 2", "points = 3")
    release_notebooks(course, course / "exercises")
    with pytest.raises(AutogradeError) as caught:
        grade(course, term)
    assert "rnn_step has 3 points in course.toml but 2 in grader/data/course.toml" in str(caught.value)
    shutil.copy(course / "course.toml", course / "grader" / "data")
    (graded,) = grade(course, term)
    assert graded.earned == 5


def test_limits_and_titles_need_no_release(course, term):
    edit(course, "seconds_per_cell = 6", "seconds_per_cell = 7")
    edit(course, 'title = "One step of the recurrence"', 'title = "One step"')
    (graded,) = grade(course, term)
    assert graded.earned == len(RIGHT) * 2
