"""Whatever defines an exercise counts, in whichever cell and by whichever statement; a stub never replaces it."""

import ast
import copy
import json

import pytest
from right_work import RIGHT

from grader.grading.grade import grade
from grader.submission.bindings import bound_names

BOTH = RIGHT["rnn_step"] + RIGHT["rnn_forward"]
HELPER = ("import numpy as np\n\n" + BOTH).encode()


def indented(source):
    return "".join(f"    {line}\n" for line in source.splitlines())


BINDS_F = [
    "def f(): pass",
    "async def f(): pass",
    "class f: pass",
    "f = 1",
    "a = f = 1",
    "a, (f, *b) = c",
    "a, *f = c",
    "f: int = 1",
    "(f := 1)",
    "[f := a for a in c]",
    "f = lambda: 1",
    "import f",
    "import f.g",
    "import g as f",
    "from g import f",
    "from g import h as f",
    "if a:\n    def f(): pass",
    "if a:\n    pass\nelse:\n    f = 1",
    "try:\n    from g import f\nexcept ImportError:\n    pass",
    "try:\n    pass\nexcept ImportError:\n    f = 1",
    "try:\n    pass\nfinally:\n    f = 1",
    "with a as f: pass",
    "with a:\n    def f(): pass",
    "for f in c: pass",
    "for a in c:\n    f = a",
    "while a:\n    f = 1",
    "match a:\n    case {'f': f}: pass",
    "match a:\n    case [*f]: pass",
    "match a:\n    case {**f}: pass",
    "match a:\n    case 1:\n        f = 1",
    "def g():\n    global f\n    f = 1",
]
BINDS_NO_F = [
    "f",
    "f()",
    "f.a = 1",
    "f[0] = 1",
    "f: int",
    "del f",
    "g(f=1)",
    "[f for f in c]",
    "lambda f: (f := 1)",
    "def g(f):\n    f = 1",
    "class g:\n    f = 1\n    def f(): pass",
    "import g.f",
    "from f import g",
    "from g import f as h",
]


@pytest.mark.parametrize("source", BINDS_F)
def test_what_binds_a_name(source):
    assert "f" in bound_names(ast.parse(source))


@pytest.mark.parametrize("source", BINDS_NO_F)
def test_what_binds_it_not(source):
    assert "f" not in bound_names(ast.parse(source))


# --- merged cells --------------------------------------------------------------------------------------------


def merge(n, source=BOTH):
    """All functions in the first exercise's cell; the second's is gone."""
    n.cell("rnn_step")["source"] = source
    del n.cells[n.at("rnn_forward")]


def merge_and_lose_checks(n):
    merge(n)
    del n.cells[n.at("rnn_step-check")], n.cells[n.at("rnn_forward-check")]


def merge_into_a_cell_of_ones_own(n):
    del n.cells[n.at("rnn_step")], n.cells[n.at("rnn_forward")]
    n.insert(n.first() + 1, BOTH)


def merge_without_metadata(n):
    merge(n)
    for cell in n.cells:
        cell["metadata"] = {}


def merge_into_the_last(n):
    n.cell("rnn_forward")["source"] = BOTH
    del n.cells[n.at("rnn_step")]


LOST = "the check cell of `{}` was missing; it was restored"
LIFTED = "the check cell of `{}` was above the cell that defines it; it was moved below"
LEFT = "the released stub of `{}` was left in the notebook alongside the student's cell; it was not run"
MERGED = [
    (merge, []),
    (merge_and_lose_checks, [LOST.format("rnn_step"), LOST.format("rnn_forward")]),
    (merge_into_a_cell_of_ones_own, []),
    (merge_without_metadata, []),
    (merge_into_the_last, [LIFTED.format("rnn_step")]),
]


@pytest.mark.parametrize(("change", "remarks"), MERGED, ids=lambda value: getattr(value, "__name__", ""))
def test_functions_in_one_cell(hand_in, notebook, change, remarks):
    change(notebook)
    result = hand_in(notebook.tree)
    assert result.points == (2, 2)
    assert result.remarks == remarks


def test_a_merged_cell_that_fails_is_named(hand_in, notebook):
    merge(notebook, "1 / 0\n" + BOTH)
    result = hand_in(notebook.tree)
    assert result.points == (0, 0)
    for name in RIGHT:
        assert "the cell that should define it stopped with ZeroDivisionError: division by zero" in result.shown(name)


# --- other statements ----------------------------------------------------------------------------------------

STATEMENTS = {
    "if": "if True:\n" + indented(BOTH),
    "try": "try:\n" + indented(BOTH) + "except ValueError:\n    pass",
    "with": "import contextlib\nwith contextlib.nullcontext():\n" + indented(BOTH),
    "for": "for _ in range(1):\n" + indented(BOTH),
    "lambda": RIGHT["rnn_forward"] + "rnn_step = lambda x_t, h_prev, W_xh, W_hh, b_h: np.tanh("
    "x_t @ W_xh + h_prev @ W_hh + b_h)",
    "partial": BOTH + "import functools\ndef biased(shift, x_t, h_prev, W_xh, W_hh, b_h):\n"
    "    return np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h + shift)\n"
    "rnn_step = functools.partial(biased, 0)",
    "tuple": BOTH.replace("def rnn_", "def my_") + "rnn_step, rnn_forward = my_step, my_forward",
    "loop variable": BOTH.replace("def rnn_", "def my_") + "for rnn_step, rnn_forward in [(my_step, my_forward)]: pass",
    "names by eye": "%matplotlib inline\n"
    + BOTH.replace("def rnn_", "def my_")
    + "rnn_step, rnn_forward = my_step, my_forward",
    "walrus": BOTH.replace("def rnn_", "def my_") + "print(rnn_step := my_step, rnn_forward := my_forward)",
    "global": "def define():\n    global rnn_step, rnn_forward\n" + indented(BOTH) + "define()",
    "exec": f"exec({BOTH!r})",
    "globals": BOTH.replace("def rnn_", "def my_") + "globals().update(rnn_step=my_step, rnn_forward=my_forward)",
    "a magic": "%matplotlib inline\nif True:\n" + indented(BOTH),
}


@pytest.mark.parametrize("where", ["in place of the first cell", "in a cell of its own"])
@pytest.mark.parametrize("how", STATEMENTS)
def test_every_way_to_define(hand_in, notebook, how, where):
    del notebook.cells[notebook.at("rnn_forward")]
    if where == "in a cell of its own":
        del notebook.cells[notebook.at("rnn_step")]
        notebook.insert(notebook.first() + 1, STATEMENTS[how])
    else:
        notebook.cell("rnn_step")["source"] = STATEMENTS[how]
    result = hand_in(notebook.tree)
    assert result.points == (2, 2)
    assert result.remarks == []


# --- stubs that were left ------------------------------------------------------------------------------------


@pytest.fixture
def stubs(session):
    return {
        name: cell.source
        for cell in session.released["recurrence"].cells
        if (name := cell.metadata.get("nbgrader", {}).get("grade_id")) in RIGHT
    }


def test_stubs_that_were_left_below_a_merged_cell(hand_in, notebook, stubs):
    notebook.cell("rnn_step")["source"] = BOTH
    notebook.cell("rnn_forward")["source"] = stubs["rnn_forward"] + "\n\n"
    result = hand_in(notebook.tree)
    assert result.points == (2, 2)
    assert result.remarks == [LEFT.format("rnn_forward")]
    (output,) = result.outputs("rnn_forward: replace this line")
    assert output.evalue == "This cell was not run."


def test_a_solution_below_the_check_of_an_untouched_stub(hand_in, notebook, stubs):
    notebook.cell("rnn_step")["source"] = stubs["rnn_step"]
    notebook.append(RIGHT["rnn_step"])
    result = hand_in(notebook.tree)
    assert result.points == (2, 2)
    assert result.remarks == [LEFT.format("rnn_step"), LIFTED.format("rnn_step")]


@pytest.mark.parametrize("stub_first", [True, False])
def test_a_copied_cell_of_which_one_is_the_stub(hand_in, notebook, stubs, stub_first):
    copied = copy.deepcopy(notebook.cell("rnn_step"))
    copied["source"] = stubs["rnn_step"]
    notebook.cells.insert(notebook.at("rnn_step") + (not stub_first), copied)
    result = hand_in(notebook.tree)
    assert result.points == (2, 2)
    assert result.remarks == [LEFT.format("rnn_step")]


def test_an_untouched_stub_is_unwritten(hand_in, notebook, stubs):
    notebook.cell("rnn_step")["source"] = stubs["rnn_step"]
    notebook.insert(notebook.first() + 1, "from math import *")
    result = hand_in(notebook.tree)
    assert result.points == (0, 2)
    assert result["rnn_step"].status == "unimplemented"
    assert result.remarks == []


# --- from a file beside the notebook -------------------------------------------------------------------------


@pytest.fixture
def grade_with(session, starters, tmp_path):
    def run(tree, starter, **files):
        (tmp_path / "recurrence.ipynb").write_text(json.dumps(tree))
        for name, content in files.items():
            (tmp_path / f"{name}.py").write_bytes(content)
        return grade(session, starters[starter], "ada", tmp_path)

    return run


@pytest.mark.parametrize("starter", ["sandbox", "plain"])
@pytest.mark.parametrize("line", ["from helper import *", "from helper import rnn_step, rnn_forward"])
def test_functions_of_a_file_beside_the_notebook(grade_with, notebook, starter, line):
    del notebook.cells[notebook.at("rnn_step")], notebook.cells[notebook.at("rnn_forward")]
    notebook.insert(notebook.first() + 1, line)
    graded = grade_with(notebook.tree, starter, helper=HELPER)
    assert graded.earned == 4
    assert graded.remarks == ()


def test_a_named_import_beside_untouched_stubs(grade_with, notebook, stubs):
    for name in RIGHT:
        notebook.cell(name)["source"] = stubs[name]
    notebook.insert(notebook.first() + 1, "from helper import rnn_step, rnn_forward")
    assert grade_with(notebook.tree, "plain", helper=HELPER).earned == 4


def test_names_that_a_file_does_not_have(grade_with, notebook):
    del notebook.cells[notebook.at("rnn_step")]
    notebook.insert(notebook.first() + 1, "from helper import *")
    graded = grade_with(notebook.tree, "plain", helper=b"x = 1")
    verdict = graded.by_exercise["rnn_step"]
    assert (verdict.earned, verdict.status) == (0, "error")
    assert verdict.note.startswith("rnn_step is not defined above its check cell.")
