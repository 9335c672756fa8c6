"""Questions for a human to grade, and the files beside notebooks: from source to release, and what cannot be."""

from pathlib import Path

import pytest

from grader.author.course import Course
from grader.author.course_rules import generated_files_are_current, nothing_is_stray
from grader.author.notebooks import (
    TEXT_STUB,
    ReleaseError,
    instructor_notebook,
    release_notebooks,
    stray_files,
    student_notebook,
)
from grader.author.release import release
from grader.cells import cell_source
from grader.manifest import load_manifest

COURSE = """
title = "A course"
[[chapters]]
id = "ch01"
title = "One"
[[chapters.notebooks]]
name = "words"
title = "In words"
[[chapters.notebooks.questions]]
id = "why"
title = "Why"
points = 2
[[chapters.notebooks.questions]]
id = "how"
title = "How"
points = 1.5
"""

SOURCE = """# %% [markdown]
# Why is that?

# %% [markdown] question="why"
# ### BEGIN SOLUTION
# Because. One point for each word.
# ### END SOLUTION

# %% [markdown] question="how"
# Begin with the word *thus*:
#
# ### BEGIN SOLUTION
# Thus.
# ### END SOLUTION
"""


@pytest.fixture
def course(tmp_path):
    (tmp_path / "course.toml").write_text(COURSE, "utf-8")
    files = tmp_path / "solutions" / "ch01" / "files"
    files.mkdir(parents=True)
    (files / "weights.json").write_text("[1.5]\n", "utf-8")
    (tmp_path / "solutions" / "ch01" / "words.py").write_text(SOURCE, "utf-8")
    return tmp_path


def place(root):
    manifest = load_manifest(root / "course.toml")
    chapter = manifest.chapters[0]
    return root, manifest, chapter, chapter.notebooks[0]


def test_a_question_becomes_a_cell_that_nbgrader_has_graded_by_hand(course):
    student = student_notebook(*place(course))
    assert [cell.cell_type for cell in student.cells] == ["markdown"] * 3
    why, how = student.cells[1:]
    assert why.source == TEXT_STUB
    assert how.source == f"Begin with the word *thus*:\n\n{TEXT_STUB}"
    for cell, name, points in ((why, "why", 2), (how, "how", 1.5)):
        meta = cell.metadata.nbgrader
        assert (meta.grade, meta.solution, meta.locked, meta.task) == (True, True, False, False)
        assert (meta.grade_id, meta.points) == (name, points)
        assert cell.metadata.get("editable", True)
    assert "One point" in cell_source(instructor_notebook(*place(course)), "why")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('question="how"', 'question="who"', r"words\.py:9: the questions are why, who; course\.toml has why, how"),
        (
            SOURCE[SOURCE.index('# %% [markdown] question="how"') :],
            "",
            r"the questions are why; course\.toml has why, how",
        ),
        ('[markdown] question="why"', 'question="why"', r"words\.py:4: question 'why' is a code cell"),
        ("# ### BEGIN SOLUTION\n# Thus.\n# ### END SOLUTION", "", r"question 'how' has no solution region"),
        ('# %% [markdown] question="why"', "# %% [markdown]", r"the questions are how"),
    ],
)
def test_a_question_that_cannot_be_released_is_named_with_its_line(course, old, new, message):
    path = course / "solutions" / "ch01" / "words.py"
    assert old in SOURCE
    path.write_text(SOURCE.replace(old, new), "utf-8")
    with pytest.raises(ReleaseError, match=message):
        student_notebook(*place(course))


def test_files_are_laid_beside_the_notebooks(course):
    out = course / "exercises"
    assert [path.name for path in release_notebooks(course, out)] == ["words.ipynb", "weights.json"]
    assert (out / "ch01" / "weights.json").read_text("utf-8") == "[1.5]\n"
    assert release_notebooks(course, out) == []


def test_a_file_that_is_stray_or_out_of_date_is_found(course):
    out = course / "exercises"
    (course / "grader" / "data").mkdir(parents=True)
    release(course)
    assert (nothing_is_stray(Course(course)), generated_files_are_current(Course(course))) == ([], [])
    (out / "ch01" / "weights.json").write_text("[2.5]\n", "utf-8")
    (out / "ch01" / "old.json").write_text("{}", "utf-8")
    (out / "ch01" / ".ipynb_checkpoints").mkdir()
    (out / "ch01" / ".ipynb_checkpoints" / "old.txt").write_text("", "utf-8")
    assert stray_files(course, load_manifest(course / "course.toml"), out) == [out / "ch01" / "old.json"]
    assert any("ch01/old.json" in problem for problem in nothing_is_stray(Course(course)))
    (problem,) = generated_files_are_current(Course(course))
    assert problem.startswith("exercises/ch01/words.ipynb and its files: not what the present sources give")


def test_the_capstone_s_weights_are_those_of_their_experiment():
    """What students get is small, and says nothing but the alphabet and the five arrays."""
    import json

    path = Path(__file__).parents[1] / "exercises" / "ch01_vanilla_rnn" / "capstone_weights.json"
    assert path.stat().st_size < 200_000
    shipped = json.loads(path.read_text("utf-8"))
    assert shipped.keys() == {"characters", "weights"}
    assert list(shipped["weights"]) == ["W_xh", "W_hh", "b_h", "W_hy", "b_y"]
