"""Answers in words are kept whatever an editor did to their cells; a notebook that is graded finds its siblings."""

import json

import nbformat
import pytest

from grader.author.notebooks import TEXT_STUB, release_notebooks
from grader.author.record import record
from grader.autograde.gradebook import gradebook_url, open_gradebook
from grader.autograde.grading.chapter import autograde
from grader.autograde.grading.pool import here
from grader.autograde.grading.report import remark_line
from grader.autograde.remark import Remark
from grader.autograde.submission.files import MAX_FILE_BYTES, MAX_FILES, submitted_files
from grader.autograde.submission.notebook import plan, read_notebook

COURSE = """
title = "A course"
[[chapters]]
id = "ch01"
title = "One"
pages = { page = "A page" }
[[chapters.notebooks]]
name = "code"
title = "Code"
[[chapters.notebooks.exercises]]
id = "double"
title = "Double"
points = 2
page = "page"
[[chapters.notebooks]]
name = "words"
title = "In words"
[[chapters.notebooks.questions]]
id = "why"
title = "Why"
points = 3
"""
CODE = """# %%
from grader import check

# %% exercise="double"
def double(x):
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION
"""
WORDS = """# %%
import json
from pathlib import Path
print(sorted(path.name for path in Path(".").iterdir()))
print(json.loads(Path("given.json").read_text()))
print(len(json.loads(Path("code.ipynb").read_text())["cells"]))

# %% [markdown]
# Why is that?

# %% [markdown] question="why"
# ### BEGIN SOLUTION
# Because.
# ### END SOLUTION
"""
SPEC = """
import numpy as np
from grader.author.spec import Case, Output, Spec

SPEC = Spec(
    outputs=[Output("y", ("N",))],
    example=Case({"N": 2}, {"x": np.array([1.0, 2.5])}),
    cases=lambda rng: [Case({"N": 3}, {"x": rng.normal(size=3)})],
    oracle=lambda x: np.array([value + value for value in x]),
)
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    root = tmp_path_factory.mktemp("course")
    files = {
        "course.toml": COURSE,
        "solutions/ch01/code.py": CODE,
        "solutions/ch01/words.py": WORDS,
        "solutions/ch01/files/given.json": "[1, 2]",
        "solutions/ch01/checks/double.py": SPEC,
        "solutions/ch01/checks/double.md": "## Hint 1\n\na\n\n## Hint 2\n\nb\n\n## Hint 3\n\nc\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    release_notebooks(root, root / "exercises")
    record(root, root / "grader" / "data")
    return root


@pytest.fixture
def released(course):
    return read_notebook(course / "exercises/ch01/words.ipynb")


@pytest.fixture
def planned(released, tmp_path):
    """Plan a submission: the released notebook with its answer cell changed."""

    def run(change):
        tree = json.loads(nbformat.writes(released))
        change(tree["cells"])
        path = tmp_path / "words.ipynb"
        path.write_text(json.dumps(tree), "utf-8")
        return plan(released, read_notebook(path), [], ["why"])

    return run


def answer(cells, **changes):
    cells[2].update(source="My answer.", **changes)


def lost(cells):
    for cell in cells:
        cell["metadata"] = {}


def found(plan):
    return next(c for c in plan.notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == "why")


CHANGES = {
    "as it should be": answer,
    "made a code cell": lambda c: answer(c, cell_type="code", outputs=[], execution_count=None),
    "made a raw cell": lambda c: answer(c, cell_type="raw"),
    "metadata lost": lambda c: (answer(c), lost(c)),
    "metadata forged": lambda c: (answer(c), c[2]["metadata"]["nbgrader"].update(points=99, locked=True)),
    "cells before it": lambda c: (answer(c), c.insert(0, {"cell_type": "markdown", "source": "Ha", "metadata": {}})),
    "at the top": lambda c: (answer(c), c.insert(0, c.pop(2))),
}


@pytest.mark.parametrize("what", CHANGES)
def test_the_students_text_is_kept_and_the_rest_comes_from_the_release(planned, released, what):
    made = planned(CHANGES[what])
    cell = found(made)
    assert (cell.cell_type, cell.source) == ("markdown", "My answer.")
    assert cell.metadata == released.cells[2].metadata
    assert (made.unanswered, made.foreign, made.remarks) == ((), False, ())


def test_an_answer_that_stands_twice(planned):
    made = planned(lambda c: (answer(c), c.append({**c[2], "source": "Another."})))
    assert found(made).source == "My answer."
    assert made.notebook.cells[-1].source == "Another."
    assert [remark_line(Remark(odd)) for odd in made.remarks] == [
        "the cell `why` stands twice; the first is the answer"
    ]


@pytest.mark.parametrize("text", [TEXT_STUB, f"\n{TEXT_STUB} ", "", "  \n"])
def test_no_answer(planned, text):
    made = planned(lambda c: c[2].update(source=text))
    assert made.unanswered == ("why",)


def test_a_deleted_answer_cell_is_put_back_empty(planned):
    made = planned(lambda c: c.pop(2))
    assert made.unanswered == ("why",)
    assert found(made).source == TEXT_STUB


def test_a_notebook_of_another_assignment(planned):
    made = planned(lambda c: c.clear())
    assert made.foreign
    assert made.unanswered == ("why",)


@pytest.fixture(scope="module")
def graded(course, tmp_path_factory):
    """Ada has answered, Bo has not, Cy has not handed the notebook in."""
    term = tmp_path_factory.mktemp("term")
    for student in ("ada", "bo", "cy"):
        folder = term / "submitted" / student / "ch01"
        folder.mkdir(parents=True)
        code = nbformat.read(course / "exercises/ch01/code.ipynb", 4)
        words = nbformat.read(course / "exercises/ch01/words.ipynb", 4)
        code.cells[1].source = "def double(x):\n    return 2 * x"
        if student == "ada":
            words.cells[2].source = "Since it is so."
        nbformat.write(code, folder / "code.ipynb")
        if student != "cy":
            nbformat.write(words, folder / "words.ipynb")
    (term / "submitted/ada/ch01/given.json").write_text("[9]")
    (term / "submitted/ada/ch01/notes.txt").write_text("mine")
    (term / "secret.txt").write_text("loot")
    (term / "submitted/ada/ch01/link.txt").symlink_to(term / "secret.txt")
    (term / "submitted/ada/ch01/folder").mkdir()
    return term, {g.student: g for g in autograde(course, term, "ch01", here, db_url=gradebook_url(term))}


def test_only_answers_wait_for_a_human(graded):
    term, results = graded
    assert {name: result.earned for name, result in results.items()} == {"ada": 2, "bo": 2, "cy": 2}
    with open_gradebook(gradebook_url(term)) as gradebook:
        states = {}
        for name in results:
            grade = gradebook.find_grade("why", "words", "ch01", name)
            states[name] = (grade.auto_score, grade.needs_manual_grade, grade.max_score)
    assert states == {"ada": (None, True, 3), "bo": (0, False, 3), "cy": (0, False, 3)}


def test_a_notebook_finds_its_siblings_and_the_released_files(graded):
    term, _ = graded
    notebook = nbformat.read(term / "autograded/ada/ch01/words.ipynb", 4)
    names, given, count = notebook.cells[0].outputs[0].text.splitlines()
    assert names == "['code.ipynb', 'given.json', 'notes.txt', 'words.ipynb']"  # no link and no folder
    assert given == "[1, 2]"  # the release's, not the student's
    assert count == "3"
    assert notebook.cells[2].source == "Since it is so."


def test_what_the_release_gives_takes_no_room_of_a_submissions(tmp_path):
    (tmp_path / "weights.bin").write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    (tmp_path / "mine.bin").write_bytes(b"y" * MAX_FILE_BYTES)
    files, remarks = submitted_files(tmp_path, {"weights.bin": b""})
    assert (list(files), remarks) == (["mine.bin"], [])


def test_files_are_bounded_in_number_and_size(tmp_path):
    (tmp_path / "big.bin").write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    for number in range(MAX_FILES + 5):
        (tmp_path / f"{number:03}.txt").write_text("x")
    (tmp_path / "z.ipynb").write_text("{}")
    (tmp_path / ".hidden").write_text("x")
    files, left_out = submitted_files(tmp_path)
    assert len(files) == MAX_FILES
    assert "z.ipynb" in files  # notebooks come first
    assert not {"big.bin", ".hidden"} & set(files)
    assert len(left_out) == 7
    assert remark_line(Remark(left_out[-1])).startswith("big.bin (8.0 MB) was not laid beside the notebooks")
