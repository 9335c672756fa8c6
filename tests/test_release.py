"""Release: solutions → the notebooks of exercises, the same bytes each time, and errors that say where."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest

from grader.author.notebooks import (
    ReleaseError,
    generate,
    instructor_notebook,
    release_notebooks,
    source_path,
    stray_notebooks,
    student_notebook,
)
from grader.cells import cell_source, notebook_bytes
from grader.manifest import load_manifest
from tests.nbgrader_command import real_nbgrader

ROOT = Path(__file__).parents[1]

COURSE = """
title = "A course"
[[chapters]]
id = "ch01"
title = "One"
pages = { page = "A page" }
[[chapters.notebooks]]
name = "first"
title = "First"
[[chapters.notebooks.exercises]]
id = "double"
title = "Double"
points = 2
page = "page"
[[chapters.notebooks.exercises]]
id = "halve"
title = "Halve"
points = 1.5
page = "page"
[[chapters]]
id = "ch02"
title = "Two"
pages = { page = "A page" }
[[chapters.notebooks]]
name = "second"
title = "Second"
[[chapters.notebooks.exercises]]
id = "square"
title = "Square"
points = 1
page = "page"
"""

FIRST = '''# %% [markdown]
# # First

# %%
from grader import check

# %% exercise="double"
def double(x):
    """Twice x."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION

# %%
print("between")

# %% exercise="halve"
def halve(x):
    """Half of x."""
    half = 0.5
    ### BEGIN SOLUTION
    return half * x
    ### END SOLUTION

# %% active="ipynb"
# print("only in the notebook")

# %% active="py"
print("only on import")
'''

SECOND = '''# %%
from grader import check

# %% exercise="square"
def square(x):
    """x times x."""
    ### BEGIN SOLUTION
    return x * x
    ### END SOLUTION
'''


@pytest.fixture
def course(tmp_path):
    root = tmp_path / "course"
    for name, text in {
        "course.toml": COURSE,
        "solutions/ch01/first.py": FIRST,
        "solutions/ch02/second.py": SECOND,
        "solutions/ch01/__init__.py": "",
        "solutions/ch01/double/spec.py": "",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    return root


def places(root):
    manifest = load_manifest(root / "course.toml")
    return [(root, manifest, chapter, notebook) for chapter in manifest.chapters for notebook in chapter.notebooks]


def first(root):
    return places(root)[0]


# --- the course's own notebooks -------------------------------------------------------------------------


def test_the_committed_notebooks_are_what_release_makes(tmp_path):
    release_notebooks(ROOT, tmp_path)
    made = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*.ipynb")}
    committed = {path: (ROOT / "exercises" / path).read_bytes() for path in made}
    assert made == committed
    assert stray_notebooks(load_manifest(ROOT / "course.toml"), ROOT / "exercises") == []


def test_another_process_writes_the_same_bytes(tmp_path):
    code = "import sys; from pathlib import Path; from grader.author.notebooks import release_notebooks as r; "
    code += f"r(Path({str(ROOT)!r}), Path({str(tmp_path)!r}))"
    environment = {**os.environ, "PYTHONHASHSEED": "7", "TZ": "Pacific/Auckland", "LC_ALL": "C"}
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, check=True)
    for path in (ROOT / "exercises").rglob("*.ipynb"):
        assert (tmp_path / path.relative_to(ROOT / "exercises")).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("place", places(ROOT), ids=lambda place: f"{place[2].id}/{place[3].name}")
def test_every_released_notebook_is_valid_and_runs_to_its_end_with_stubs(place, monkeypatch):
    monkeypatch.chdir(ROOT / "exercises" / place[2].id)
    notebook = student_notebook(*place)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert "jupytext" not in notebook.metadata
    assert b"BEGIN SOLUTION" not in notebook_bytes(notebook)
    namespace = {"__name__": "__main__"}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            exec(compile(cell.source, cell.id, "exec"), namespace)


@pytest.mark.parametrize("place", places(ROOT), ids=lambda place: f"{place[2].id}/{place[3].name}")
def test_no_line_of_a_solution_is_left_in_a_released_notebook(place):
    instructor, student = instructor_notebook(*place), student_notebook(*place)
    left = notebook_bytes(student).decode()
    for exercise in place[3].exercises:
        solution = cell_source(instructor, exercise.id)
        regions = [rest.partition("### END SOLUTION")[0] for rest in solution.split("### BEGIN SOLUTION")[1:]]
        for line in (line for region in regions for line in region.splitlines()):
            assert len(line.strip()) < 12 or json.dumps(line.strip())[1:-1] not in left


def test_the_worked_examples_of_the_notebook_are_right():
    """The numbers in the prose of ch01_vanilla_rnn/recurrence, read from it."""
    from solutions.ch01_vanilla_rnn.recurrence import rnn_forward, rnn_step

    place = next(place for place in places(ROOT) if place[3].name == "recurrence")
    prose = source_path(ROOT, *place[2:]).read_text("utf-8").replace("−", "-")
    matrices = {
        name: np.array([[float(v) for v in row.split("&")] for row in body.split("\\\\")])
        for name, body in re.findall(r"(\S+) = \\begin\{bmatrix\} (.*?) \\end\{bmatrix\}", prose)
    }
    W = [matrices["W_{xh}"], matrices["W_{hh}"], matrices["b_h"][0]]
    h_0 = matrices["h_{t-1}"]
    h_1 = rnn_step(next(m for name, m in matrices.items() if name.endswith("x_t")), h_0, *W)
    assert np.round(h_1, 2).tolist() == [[-0.67, -0.76]]
    assert "`[[-0.67, -0.76]]`" in prose

    rows = [
        [[float(v) for v in pair.split(",")] for pair in re.findall(r"\[(.*?)\]", line.partition("|")[2])]
        for line in prose.splitlines()
        if re.match(r"# \| \d \| \[", line)
    ]
    x, from_x, from_h, z, h = (np.array(column)[None] for column in zip(*rows, strict=True))
    states = rnn_forward(x, h_0, *W)
    before = np.concatenate([h_0[:, None], states[:, :-1]], axis=1)
    for shown, value in [(from_x, x @ W[0]), (from_h, before @ W[1]), (h, states)]:
        np.testing.assert_array_equal(shown, np.round(value, 2))
    np.testing.assert_array_equal(z, np.round(x @ W[0] + before @ W[1] + W[2], 2))


# --- what release does ------------------------------------------------------------------------------------


def test_a_stub_keeps_all_but_the_solution_region(course):
    student = student_notebook(*first(course))
    assert cell_source(student, "halve") == (
        'def halve(x):\n    """Half of x."""\n    half = 0.5\n'
        '    raise NotImplementedError("halve: replace this line with your code")'
    )
    assert "return half * x" in cell_source(instructor_notebook(*first(course)), "halve")
    with pytest.raises(KeyError):
        cell_source(student, "unknown")


SEVERAL = '''# %% exercise="halve"
class halve:
    """Half of x, in two steps."""

    def __init__(self, share=0.5):
        self.share = share

    def first(self, x):
        """Given in half."""
        if x is None:
            return 0
        ### BEGIN SOLUTION
        half = self.share * x
        ### END SOLUTION
        return self.second(half)

    def second(self, x):
        ### BEGIN SOLUTION
        return x
        ### END SOLUTION

'''


def test_several_regions_of_a_cell_are_each_a_stub_that_runs(course):
    path = course / "solutions/ch01/first.py"
    path.write_text(FIRST.replace(HALVE, SEVERAL), "utf-8")
    source = cell_source(student_notebook(*first(course)), "halve")
    assert "self.share * x" not in source
    assert "return x" not in source
    namespace = {}
    exec(source, namespace)
    made = namespace["halve"]()
    assert made.first(None) == 0
    for stub in (made.first, made.second):
        with pytest.raises(NotImplementedError, match=r"^halve: replace this line with your code$"):
            stub(1)
    assert source.count("raise NotImplementedError") == 2
    assert "return self.second(half)" in source  # what is given stays


def test_each_exercise_is_followed_by_its_locked_check_worth_its_points(course):
    cells = student_notebook(*first(course)).cells
    ids = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in cells]
    assert ids == [None, None, "double", "double-check", None, "halve", "halve-check", None]
    exercise, check = cells[5], cells[6]
    assert check.source == 'check("halve", halve)'
    assert (check.metadata.deletable, check.metadata.editable) == (False, False)
    meta = check.metadata.nbgrader
    assert (meta.grade, meta.solution, meta.locked, meta.points) == (True, False, True, 1.5)
    meta = exercise.metadata.nbgrader
    assert (meta.grade, meta.solution, meta.locked) == (False, True, False)
    assert "editable" not in exercise.metadata
    assert cells[7].source == 'print("only in the notebook")'


def test_ids_of_cells_are_unique_and_stay_when_other_cells_change(course):
    before = [cell.id for cell in student_notebook(*first(course)).cells]
    assert len(set(before)) == len(before)
    path = course / "solutions/ch01/first.py"
    path.write_text(path.read_text("utf-8").replace("# # First", "# # Erstes\n\n# %%\n1 + 1"), "utf-8")
    after = [cell.id for cell in student_notebook(*first(course)).cells]
    assert after[2:] == before[1:]


def test_two_equal_cells_have_two_ids(course):
    path = course / "solutions/ch01/first.py"
    path.write_text(path.read_text("utf-8") + '\n# %%\nprint("between")\n', "utf-8")
    ids = [cell.id for cell in student_notebook(*first(course)).cells]
    assert len(set(ids)) == len(ids)


def test_only_changed_notebooks_are_written(course):
    out = course / "exercises"
    assert [path.name for path in release_notebooks(course, out)] == ["first.ipynb", "second.ipynb"]
    assert release_notebooks(course, out) == []
    path = course / "solutions/ch02/second.py"
    path.write_text(SECOND.replace("x times x", "x squared"), "utf-8")
    assert release_notebooks(course, out) == [out / "ch02/second.ipynb"]
    assert sorted(path.name for path in out.rglob("*") if path.is_file()) == ["first.ipynb", "second.ipynb"]


def test_nothing_is_written_unless_all_can_be(course):
    (course / "solutions/ch02/second.py").write_text("# %%\n", "utf-8")
    with pytest.raises(ReleaseError):
        release_notebooks(course, course / "exercises")
    assert not (course / "exercises").exists()


def test_leftovers_of_an_earlier_release_are_found(course):
    out = course / "exercises"
    release_notebooks(course, out)
    old = out / "ch01" / "old.ipynb"
    shutil.copy(out / "ch01" / "first.ipynb", old)
    (out / "ch01" / ".ipynb_checkpoints").mkdir()
    shutil.copy(old, out / "ch01" / ".ipynb_checkpoints")
    assert stray_notebooks(load_manifest(course / "course.toml"), out) == [old]


# --- what cannot be released ------------------------------------------------------------------------------

HALVE = FIRST[FIRST.index('# %% exercise="halve"') : FIRST.index('# %% active="ipynb"')]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (HALVE, "", r"first\.py:1: no cell for exercise 'halve', which course\.toml lists in ch01/first"),
        ('"halve"', '"quarter"', r"first\.py:17: exercise 'quarter' .*no notebook has it"),
        ('"halve"', '"square"', r"first\.py:17: exercise 'square' .* belongs to ch02/second"),
        ('"halve"', '"double"', r"first\.py:17: exercise 'double' has a cell already, at line 7"),
        ("def halve", "def halved", r"first\.py:17: .* has to define .* it defines halved"),
        ("def halve(x):", "if True:", r"first\.py:17: .* it defines none"),
        ("def halve(x):", "def halve(x:", r"first\.py:18: exercise 'halve' is not valid Python"),
        (
            '# %% exercise="halve"',
            '# %% [markdown] exercise="halve"',
            r"first\.py:17: .* has to be a code cell",
        ),
        (
            "    ### BEGIN SOLUTION\n    return half * x\n    ### END SOLUTION\n",
            "    return half * x\n",
            r"first\.py:17: exercise 'halve' has no solution region",
        ),
        ("half * x\n    ### END SOLUTION", "half * x", r"first\.py:21: this solution region is never closed"),
        (
            "    ### BEGIN SOLUTION\n    return half",
            "    return half",
            r"first\.py:22: ### END SOLUTION without",
        ),
        (
            "    return half",
            "    # BEGIN SOLUTION\n    return half",
            r"first\.py:22: .* begins inside .* line 21",
        ),
        (
            'print("between")',
            "### BEGIN SOLUTION\n### END SOLUTION",
            r"first\.py:14: .* students would see it",
        ),
        (
            'def halve(x):\n    """Half of x."""\n    half = 0.5\n    ### BEGIN SOLUTION\n',
            '### BEGIN SOLUTION\ndef halve(x):\n    """Half of x."""\n    half = 0.5\n',
            r"first\.py: without its solution regions, exercise 'halve' is no longer a definition",
        ),
        (
            "    ### END SOLUTION\n\n# %% active",
            "    ### END SOLUTION\n\n### BEGIN SOLUTION\nprint(halve(4))\n### END SOLUTION\n\n# %% active",
            r"first\.py: a solution region of exercise 'halve' stands outside of every function",
        ),
        ("# # First", "# # First\n\n# %% nbgrader={}\n", r"first\.py: nbgrader's step \w+ refuses"),
    ],
)
def test_a_source_that_cannot_be_released_is_named_with_its_line(course, old, new, message):
    path = course / "solutions/ch01/first.py"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")
    with pytest.raises(ReleaseError, match=message):
        student_notebook(*first(course))


def test_exercises_in_another_order_than_the_manifest(course):
    path = course / "solutions/ch01/first.py"
    head, _, tail = FIRST.partition(HALVE)
    path.write_text(head.replace('# %% exercise="double"', HALVE + '# %% exercise="double"') + tail, "utf-8")
    with pytest.raises(ReleaseError, match=r"first\.py:7: the exercises come as halve, double; course\.toml has"):
        student_notebook(*first(course))


def test_a_missing_source(course):
    (course / "solutions/ch02/second.py").unlink()
    with pytest.raises(ReleaseError, match=r"second\.py: there is no such file, but course\.toml lists"):
        release_notebooks(course, course / "exercises")


def test_a_source_that_the_manifest_does_not_list(course):
    (course / "solutions/ch02/third.py").write_text("", "utf-8")
    with pytest.raises(ReleaseError, match=r"third\.py: course\.toml lists no notebook 'third'"):
        release_notebooks(course, course / "exercises")


def test_a_source_that_is_not_text(course):
    (course / "solutions/ch02/second.py").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ReleaseError, match=r"second\.py: cannot be read"):
        release_notebooks(course, course / "exercises")


# --- nbgrader's Validate ----------------------------------------------------------------------------------


@pytest.mark.system
@pytest.mark.parametrize("solved", [False, True], ids=["stub", "solution"])
def test_nbgrader_validate_fails_on_the_stub_and_passes_on_the_solution(tmp_path, solved):
    root, manifest, chapter, notebook = first(ROOT)
    instructor = instructor_notebook(root, manifest, chapter, notebook)
    student = generate(instructor, source_path(root, chapter, notebook))
    if solved:
        for cell in student.cells:
            if cell.metadata.get("nbgrader", {}).get("solution"):
                cell.source = cell_source(instructor, cell.metadata.nbgrader.grade_id)
    path = tmp_path / "recurrence.ipynb"
    path.write_bytes(notebook_bytes(student))
    done = real_nbgrader("validate", path, cwd=tmp_path)
    if solved:
        assert "Success! Your notebook passes all the tests." in done.stdout, done.stdout + done.stderr
    else:
        assert f"VALIDATION FAILED ON {len(notebook.exercises)} CELL(S)" in done.stdout, done.stdout + done.stderr


# --- files beside the notebooks ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "says"),
    [
        ([8_000_001], r"0\.bin: 8,000,001 bytes; a data file can have at most 8,000,000\."),
        ([7_000_000] * 3, r"files: 3 files of 21,000,000 bytes; at most 40 of 20,000,000 together"),
        ([1] * 41, r"files: 41 files of 41 bytes; at most 40"),
        ([8_000_000, 8_000_000], None),
    ],
)
def test_files_that_could_not_lie_beside_the_notebooks_are_not_released(course, sizes, says):
    folder = course / "solutions" / "ch01" / "files"
    folder.mkdir()
    for number, size in enumerate(sizes):
        with open(folder / f"{number}.bin", "wb") as file:
            file.truncate(size)
    if says is None:
        release_notebooks(course, course / "exercises")
        assert (course / "exercises/ch01/1.bin").stat().st_size == 8_000_000
        return
    with pytest.raises(ReleaseError, match=says):
        release_notebooks(course, course / "exercises")
    assert not (course / "exercises").exists()
