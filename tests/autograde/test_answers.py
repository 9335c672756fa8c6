"""Answers in words are kept whatever an editor did to their cells; a notebook that is graded finds its siblings."""

import copy
import json
import shutil

import nbformat
import pytest

from grader.author.notebooks import TEXT_STUB, release_notebooks
from grader.cells import grade_id
from grader.gradebook import gradebook_url, open_gradebook
from grader.grading.chapter import autograde
from grader.grading.pool import Task, here
from grader.grading.report import remark_line
from grader.spec.record import record
from grader.submission.files import MAX_FILE_BYTES, MAX_FILES, submitted_files
from grader.submission.notebook import read_notebook
from grader.submission.pictures import MAX_PICTURE
from grader.submission.plan import plan
from grader.submission.remark import OddCell, Remark
from tests.hostile_answers import PICTURE
from tests.nbgrader_command import nbgrader

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
from grader.spec.spec import Case, Output, Spec

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
        "solutions/ch01/double/spec.py": SPEC,
        "solutions/ch01/double/hints.md": "## Hint 1\n\na\n\n## Hint 2\n\nb\n\n## Hint 3\n\nc\n",
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
    assert (bool(made.answers["why"]), made.foreign, made.remarks) == (True, False, ())


def test_an_answer_that_stands_twice(planned):
    made = planned(lambda c: (answer(c), c.append({**c[2], "source": "Another."})))
    assert found(made).source == "My answer."
    assert made.notebook.cells[-1].source == "Another."
    assert [remark_line(Remark(odd)) for odd in made.remarks] == [
        "the cell `why` appears twice; read both, and give the points in the first that is filled in",
    ]
    assert OddCell("answer beside", "why") in planned(lambda c: (answer(c), c.append(text("More.")))).remarks


def text(source, cell_type="markdown", **more):
    return {"cell_type": cell_type, "source": source, "metadata": {}, **more}


CODE_CELL = {"cell_type": "code", "outputs": [], "execution_count": None}
BESIDE = {
    "below": lambda c: c.insert(3, text("Mine.")),
    "above": lambda c: c.insert(2, text("Mine.")),
    "below, raw": lambda c: c.insert(3, text("Mine.", "raw")),
    "below, behind an empty cell and code": lambda c: c.extend([text(""), text("x = 1", **CODE_CELL), text("Mine.")]),
    "in place of the placeholder": lambda c: (c.pop(2), c.insert(2, text("Mine."))),
    "words in a code cell": lambda c: c.insert(3, text("It is so because.", **CODE_CELL)),
    "over the question": lambda c: c[1].update(source="Why is that? Because."),
    "split": lambda c: (c.insert(2, {**c[2], "source": TEXT_STUB}), c[3].update(source="Mine.")),
}


@pytest.mark.parametrize("what", BESIDE)
def test_text_beside_the_placeholder_is_an_answer(planned, what):
    made = planned(BESIDE[what])
    assert made.answers["why"]
    nbformat.validate(made.notebook)
    assert [name for cell in made.notebook.cells if (name := grade_id(cell))] == ["why"]
    if what not in ("in place of the placeholder", "split"):  # these stand where an answer should
        assert OddCell("answer beside", "why") in made.remarks


def test_an_answer_in_several_cells_is_one_answer(planned):
    def several(c):
        c[2]["source"] = "One."
        c[2:] = [text("Zero."), c[2], text("Two."), text("Three.", "raw")]

    def changed(c):
        several(c)
        c[-1]["source"] = "Four."

    one, two = planned(several), planned(changed)
    assert [cell.source for cell in one.notebook.cells[2:]] == ["Zero.", "One.", "Two.", "Three."]
    assert {cell.cell_type for cell in one.notebook.cells[2:]} == {"markdown"}  # nbgrader shows these with paragraphs
    assert one.answers != two.answers
    assert one.answers == planned(several).answers


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c.insert(3, text(" \n")),
        lambda c: c.insert(3, text("x = 1", **CODE_CELL)),
        lambda c: c.insert(3, text("Why is that?")),
        lambda c: c.insert(1, text("Above the question.")),
        lambda c: c.insert(3, dict(c[2])),
    ],
)
def test_what_is_no_answer(planned, change):
    made = planned(change)
    assert made.answers == {"why": ""}
    assert made.remarks == ()


def test_each_answer_has_its_own_text(released, tmp_path):
    """What stands between two questions belongs to the one above."""
    two = copy.deepcopy(released)
    two.cells.append(copy.deepcopy(two.cells[2]))
    two.cells[3].metadata.nbgrader.grade_id = "how"
    submitted = copy.deepcopy(two)
    submitted.cells.insert(3, nbformat.v4.new_markdown_cell("Mine."))
    made = plan(two, submitted, [], ["why", "how"])
    assert (bool(made.answers["why"]), made.answers["how"]) == (True, "")


def test_the_same_answer_is_the_same_wherever_it_was_saved(planned):
    changes = [lambda c: answer(c), lambda c: c[2].update(source="My answer.\n\n"), lambda c: (answer(c), lost(c))]
    assert len({planned(change).answers["why"] for change in changes}) == 1


def test_pictures_in_an_answer_are_kept(planned):
    def pasted(data):
        return lambda c: c[2].update(source="![a](attachment:a.png)", attachments={"a.png": {"image/png": data}})

    made = planned(pasted(PICTURE))
    assert found(made).attachments == {"a.png": {"image/png": PICTURE}}
    assert made.remarks == ()
    assert planned(pasted([PICTURE[:20], PICTURE[20:]])).answers == made.answers
    assert planned(pasted(PICTURE[:-4])).answers != made.answers


@pytest.mark.parametrize(
    "attachments",
    [None, [], {}, {"a.png": {}}, {"a.png": {"text/html": "x"}}, {"a.png": {"image/png": "x" * (MAX_PICTURE + 1)}}],
)
def test_a_picture_that_is_missing_or_too_large_is_told(planned, attachments):
    made = planned(lambda c: c[2].update(source="See ![a](attachment:a.png).", attachments=attachments))
    assert made.answers["why"]
    assert not found(made).get("attachments")
    assert [remark_line(Remark(odd)) for odd in made.remarks] == [
        "a picture in the answer to `why` is not in the notebook, or is too large"
    ]


@pytest.mark.parametrize(
    "source", ["![a](<attachment:a (1).png>)", "![a](attachment:a%20%281%29.png)", '<img src="attachment:a (1).png">']
)
def test_a_picture_is_found_as_editors_write_it(planned, source):
    attachments = {"a (1).png": {"image/png": PICTURE}}
    assert planned(lambda c: c[2].update(source=source, attachments=attachments)).remarks == ()
    assert planned(lambda c: c[2].update(source=source)).remarks == (OddCell("picture missing", "why"),)


def test_pictures_are_bounded_in_all(planned):
    picture = {"image/png": "x" * (MAX_PICTURE - 1)}

    def many(c):
        c[2].update(source="Mine.", attachments=dict.fromkeys("abc", picture))

    assert set(found(planned(many)).attachments) == {"a", "b"}


@pytest.mark.parametrize("text", [TEXT_STUB, f"\n{TEXT_STUB} ", "", "  \n"])
def test_no_answer(planned, text):
    made = planned(lambda c: c[2].update(source=text))
    assert made.answers == {"why": ""}


def test_a_deleted_answer_cell_is_put_back_empty(planned):
    made = planned(lambda c: c.pop(2))
    assert made.answers == {"why": ""}
    assert found(made).source == TEXT_STUB


def test_a_notebook_of_another_assignment(planned):
    made = planned(lambda c: c.clear())
    assert made.foreign
    assert made.answers == {"why": ""}


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
    assert remark_line(Remark(left_out[-1])).startswith("big.bin (8.0 MB) was not available to the notebooks")


@pytest.fixture
def essay(course, tmp_path):
    """Hand in Ada's notebooks with these cells in place of the placeholder, and grade them."""
    code = nbformat.read(course / "exercises/ch01/code.ipynb", 4)

    def grade(*cells, again=False, recorded=True):
        db_url = gradebook_url(tmp_path) if recorded else None
        folder = tmp_path / "submitted" / "ada" / "ch01"
        folder.mkdir(parents=True, exist_ok=True)
        nbformat.write(code, folder / "code.ipynb")
        words = json.loads((course / "exercises/ch01/words.ipynb").read_text("utf-8"))
        words["cells"][2:] = [{**words["cells"][2], **cell} for cell in cells or [{}]]
        (folder / "words.ipynb").write_text(json.dumps(words), "utf-8")
        (graded,) = autograde(course, tmp_path, "ch01", here, db_url=db_url, tasks=[Task("ada", folder, again)])
        assert graded.fault == ""
        if not recorded:
            return None
        with open_gradebook(db_url) as gradebook:
            its = gradebook.find_grade("why", "words", "ch01", "ada")
            return its.manual_score, its.needs_manual_grade

    return grade


def test_an_essay_that_comes_later_is_shown_to_a_human(essay, tmp_path):
    """It comes without a `timestamp.txt`, as from most learning management systems."""
    assert essay() == (None, False)
    assert essay({"source": "Because."}) == (None, True)
    with open_gradebook(gradebook_url(tmp_path)) as gradebook:
        its = gradebook.find_grade("why", "words", "ch01", "ada")
        its.manual_score, its.needs_manual_grade = 2, False
        gradebook.db.commit()
    shutil.rmtree(tmp_path / "results")
    assert essay({"source": "Because."}, again=True) == (2, False)
    essay({"source": "Since."}, recorded=False)  # graded and stored, and killed before the gradebook
    assert essay({"source": "Since."}) == (2, True)
    assert essay({"source": "Since."}, again=True) == (2, True)


def test_nbgraders_feedback_shows_a_picture_and_tells_of_a_missing_one(essay, tmp_path):
    source = "![a](attachment:a.png) and ![b](attachment:b.png) and <script>ran()</script>"
    essay({"source": source, "attachments": {"a.png": {"image/png": PICTURE}}}, text("More.", "raw"))
    done = nbgrader("generate_feedback", "ch01", term=tmp_path)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "feedback/ada/ch01/words.html").read_text("utf-8")
    assert f'src="data:image/png;base64,{PICTURE}"' in page
    assert "[picture missing: b.png. It is not in the notebook.]" in page
    assert "<script>ran()" not in page
    assert "More." in page
