"""Notebooks as students really save them: right code earns its points, `grader check` and grading agree, and whoever
reads of a loss reads its reason.
"""

import json
import sys
from functools import partial

import pytest
from right_work import RIGHT

from grader.checking.evaluate import verdict
from grader.checking.verdict import CaseResult
from grader.feedback.remarks import for_student
from grader.grading.grade import grade
from grader.grading.pool import Task
from grader.grading.preflight import preflight, preflight_lines, preflight_tree
from grader.grading.report import for_a_human, remark_line
from grader.released import COURSE
from grader.render.text import passes_in, verdict_text
from grader.submission.check_cells import calls_check, checked_function, is_only_a_check
from grader.submission.ipython import ToPython, without_cell_magic
from grader.work.notebooks import read_work, whose
from grader.work.python import without_magics
from grader.work.run import request_for, run

STEP, FORWARD = RIGHT["rnn_step"], RIGHT["rnn_forward"]
WRONG = STEP.replace("b_h", "2 * b_h").replace("2 * b_h)", "b_h)", 1)
MINE = STEP.replace("def rnn_step(", "def mine(")
LOST = "no cell defines `rnn_step`; the released stub was inserted"
OF_ANOTHER = "the check cell of `rnn_step` names another function; that one was graded"
EDITED = "the check cell of `rnn_step` was edited; the released one was used"
OF_A_VALUE = "the check cell of `rnn_step` checks more than the name of a function; `rnn_step` itself was graded"
AS_TEXT = "the cell of `rnn_step` had become a text cell; it was run as code"
MAGIC = "the cell of `rnn_step` begins with a magic (%%) that does not run it as Python here, so it defines nothing"


@pytest.fixture
def checked(tmp_path, monkeypatch):
    """Which exercises are right by `grader check`."""
    monkeypatch.setenv("UNROLLED_DIARY", str(tmp_path / "diary.jsonl"))

    def check(tree, python):
        path = tmp_path / "recurrence.ipynb"
        path.write_text(json.dumps(tree))
        work = read_work(path)
        outcome = run(request_for(COURSE.manifest, *whose(work, COURSE.manifest, ""), work, python), tmp_path, print)
        assert outcome.finished
        return [name in outcome.results and outcome.results[name].status == "passed" for name in RIGHT]

    return check


def source(**sources):
    """A change: other sources in cells of the release."""

    def change(notebook):
        for name, text in sources.items():
            notebook.cell(name.replace("_check", "-check"))["source"] = text

    return change


def without_ids(change, notebook):
    change(notebook)
    for cell in notebook.cells:
        cell["metadata"] = {}


def as_text(kind, notebook, name="rnn_step"):
    cell = notebook.cell(name)
    cell["cell_type"] = kind
    del cell["outputs"], cell["execution_count"]


def above(text, notebook):
    notebook.insert(notebook.at("rnn_step"), text)


RENAMED = source(rnn_step=MINE, rnn_step_check='check("rnn_step", mine)')


def method(notebook):
    lines = "".join(f"    {line}\n" for line in STEP.splitlines())
    source(rnn_step=f"class Cell:\n    @staticmethod\n{lines}", rnn_step_check='check("rnn_step", Cell.rnn_step)')(
        notebook
    )


def checked_elsewhere(notebook):
    source(rnn_step=WRONG)(notebook)
    notebook.append(f'{MINE}\n\ncheck("rnn_step", mine)')


def set_up_as_raw(notebook):
    cell = notebook.cells[notebook.first()]
    cell["cell_type"] = "raw"
    del cell["outputs"], cell["execution_count"]


def text_as_code(notebook):
    notebook.cells[0] |= {"cell_type": "code", "outputs": [], "execution_count": None}


def written_to_a_file(notebook):
    source(rnn_step=f"%%writefile mine.py\nimport numpy as np\n{STEP}")(notebook)
    notebook.insert(notebook.at("rnn_step") + 1, "from mine import rnn_step")


def removed(notebook):
    del notebook.cells[notebook.at("rnn_step")]


CHANGES = {
    # what: (a change of a right notebook, whether rnn_step is right, what the instructor reads)
    "renamed": (RENAMED, True, [OF_ANOTHER]),
    "renamed, without ids": (partial(without_ids, RENAMED), True, [OF_ANOTHER]),
    "a static method": (method, True, [OF_ANOTHER]),
    "renamed, and wrong": (
        source(rnn_step=WRONG.replace("rnn_step(", "mine("), rnn_step_check='check("rnn_step", mine)'),
        False,
        [OF_ANOTHER],
    ),
    "a second try under another name": (
        source(rnn_step=f"{WRONG}\n\n{MINE}", rnn_step_check='check("rnn_step", mine)'),
        True,
        [OF_ANOTHER],
    ),
    "renamed, with more in the check cell": (
        source(rnn_step=MINE, rnn_step_check='rnn_step = mine\ncheck("rnn_step", mine)\nprint("right?")'),
        True,
        [EDITED, OF_ANOTHER],
    ),
    "defined in the check cell": (
        source(rnn_step="", rnn_step_check=f'{STEP}\n\ncheck("rnn_step", rnn_step)'),
        True,
        [EDITED],
    ),
    "another value is checked": (
        source(rnn_step=MINE, rnn_step_check='check("rnn_step", lambda *given: mine(*given))'),
        False,
        [OF_A_VALUE],
    ),
    "a name that nothing defines": (source(rnn_step_check='check("rnn_step", nowhere)'), True, []),
    "quotes of another kind": (source(rnn_step_check="check('rnn_step', rnn_step)  # mine"), True, []),
    "the check of another exercise": (
        source(rnn_step=WRONG, rnn_step_check='check("rnn_forward", rnn_forward)'),
        False,
        [EDITED],
    ),
    "another function is checked in a cell of one's own": (checked_elsewhere, False, []),
    "Markdown": (partial(as_text, "markdown"), True, [AS_TEXT]),
    "raw": (partial(as_text, "raw"), True, [AS_TEXT]),
    "Markdown, without ids": (partial(without_ids, partial(as_text, "markdown")), True, [AS_TEXT]),
    "the set-up as raw": (set_up_as_raw, True, ["the cell of `imports` had become a text cell; it was run as code"]),
    "released text as code": (text_as_code, True, []),
    "%%time": (source(rnn_step=f"%%time\n{STEP}"), True, []),
    "%%time below an empty line": (source(rnn_step=f"\n \n%%time\n{STEP}"), True, []),
    "%%prun": (source(rnn_step=f"%%prun -q\n{STEP}"), True, []),
    "%%capture NAME": (source(rnn_step=f"%%capture out --no-stderr\n{STEP}\nassert not out.stdout"), True, []),
    "%%capture and then show": (
        source(rnn_step=f"%%capture out\n{STEP}", rnn_step_check='out.show()\ncheck("rnn_step", rnn_step)'),
        True,
        [EDITED],
    ),
    "%%writefile and import": (written_to_a_file, True, []),
    "%%writefile alone": (source(rnn_step=f"%%writefile mine.py\n{STEP}"), False, [MAGIC]),
    "%%timeit": (source(rnn_step=f"%%timeit\n{STEP}"), False, [MAGIC]),
    "%%bash": (source(rnn_step=f"%%bash\n{STEP}"), False, [MAGIC]),
    "input() above": (
        source(rnn_step=f"name = input('Your name: ')\n{STEP}"),
        True,
        [", cell 4: calls input(), which returns an empty text while it is graded"],
    ),
    "input() in a function": (
        source(rnn_step=STEP.replace("return ", "input('go on? ')\n    return ")),
        True,
        [", cell 4: calls input(), which returns an empty text while it is graded"],
    ),
    "a loop that waits for an answer": (
        partial(above, "while not input('Go on? '):\n    pass"),
        True,
        [", cell 4: calls input(), which returns an empty text while it is graded"],
    ),
    "the cell deleted": (
        removed,
        False,
        [LOST],
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_both_commands_agree(hand_in, notebook, checked, what):
    change, right, lines = CHANGES[what]
    change(notebook)
    result = hand_in(notebook.tree)
    assert result.points == (2 * right, 2)
    assert result.remarks == lines
    assert checked(notebook.tree, ToPython()) == [right, True]
    assert checked(notebook.tree, without_magics) == [right, True]


CHECKS = {
    # a cell: (what it names, whether it is nothing but that, whether it calls the check at all)
    'check("f", f)': ("f", True, True),
    "check('f', a.b.f);": ("a.b.f", True, True),
    '%%time\ncheck("f", g)': ("g", True, True),
    'x = 1\ncheck("f", f)\ncheck("f", g)': ("g", False, True),
    'check("g", f)': ("", False, False),
    'check("f", f, 1)': ("", False, True),
    'check("f", f())': ("", False, True),
    'r = check("f", f)': ("", False, True),
    'print(check("f", a[0]))': ("", False, True),
    'x.check("f", f)': ("", False, False),
    "check(": ("", False, False),
    f'check("f", a{".b" * 1500})': (f"a{'.b' * 1500}", True, True),
    "": ("", False, False),
}


@pytest.mark.parametrize(("cell", "found"), CHECKS.items())
def test_what_a_check_cell_checks(cell, found):
    assert (checked_function(cell, "f"), is_only_a_check(cell, "f"), calls_check(cell, "f")) == found


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("x = 1", "x = 1"),
        ("%%time\nx = 1", "\nx = 1"),
        (" \n\n  %%prun -q\nx = 1", " \n\n\nx = 1"),
        ("%%capture --no-stderr out\nx = 1", "out = get_ipython().captured\nx = 1"),
        ("%%capture 3\nx = 1", "\nx = 1"),
        ("%%bash -s a\nls", "get_ipython().run_cell_magic('bash', '-s a', 'ls')\n"),
        ("\n%%writefile 'a b.py'\nx = 1\n", "\nget_ipython().run_cell_magic('writefile', \"'a b.py'\", 'x = 1\\n')\n"),
        ("# first\n%%time\nx = 1", "# first\n%%time\nx = 1"),
        ("%%", "%%"),
    ],
)
def test_cell_magics_as_python(cell, python):
    assert without_cell_magic(cell) == python


# --- what both readers are told ------------------------------------------------------------------------------

ODD = "def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):\n    return lambda!\n"
OURS = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.mark.parametrize(
    ("theirs", "lines", "note"),
    [
        (
            "3.99.1",
            [f"contains code that is not Python {OURS}, which grades; it was written with Python 3.99"],
            f"its cell is not Python {OURS}, which grades this course. The notebook says that it was written with "
            "Python 3.99. Write the cell so that both accept it.",
        ),
        (OURS, [], f"Fix that cell first. Grading uses Python {OURS}."),
        ("3.8", [], f"Fix that cell first. Grading uses Python {OURS}."),
        (None, [], f"Fix that cell first. Grading uses Python {OURS}."),
        (["3", "99"], [], f"Fix that cell first. Grading uses Python {OURS}."),
        ("3.9999999", [], f"Fix that cell first. Grading uses Python {OURS}."),
    ],
)
def test_code_of_another_python(hand_in, notebook, theirs, lines, note):
    source(rnn_step=ODD)(notebook)
    notebook.tree["metadata"]["language_info"] = {"name": "python", "version": theirs}
    result = hand_in(notebook.tree)
    assert result.points == (0, 2)
    assert result.remarks == lines
    assert result["rnn_step"].note.endswith(note)


def test_not_implemented_is_said_of_a_stub_alone(hand_in, notebook):
    removed(notebook)
    result = hand_in(notebook.tree)
    assert result["rnn_step"].status == "error"
    assert result["rnn_step"].note.startswith("No cell defines rnn_step. If you wrote that code,")
    source(rnn_forward="%%timeit\n" + FORWARD)(notebook)
    assert hand_in(notebook.tree)["rnn_forward"].note == (
        "rnn_forward is not defined: its cell begins with a magic (%%) that does not run it as Python. Delete it."
    )


@pytest.fixture
def graded(session, starters, tmp_path):
    def run(student, **trees):
        folder = tmp_path / "submitted" / student / session.chapter.id
        folder.mkdir(parents=True)
        for name, tree in trees.items():
            (folder / f"{name}.ipynb").write_text(json.dumps(tree))
        return grade(session, starters["plain"], student, folder)

    return run


def test_a_notebook_that_was_not_submitted(graded, session):
    result = graded("ann")
    assert list(map(remark_line, result.remarks)) == ["recurrence: there is no file recurrence.ipynb"]
    assert for_student(session.chapter, result.remarks) == [
        ("The recurrence", "It was not submitted: there is no file recurrence.ipynb.")
    ]
    notes = {found.note for found in result.by_exercise.values()}
    assert notes == {"This notebook was not submitted: there is no file recurrence.ipynb."}


def report(name, *problems):
    """The report on an exercise that was right on two cases, or not."""
    cases = [CaseResult("", {}, problems) for _ in range(2)]
    return verdict_text(verdict(COURSE.manifest.place(name), "failed" if problems else "passed", cases))


def saved(notebook, name, *texts):
    """Save outputs of a check cell, in the three forms of the format."""
    kinds = [
        lambda text: {"output_type": "stream", "name": "stdout", "text": text},
        lambda text: {
            "output_type": "execute_result",
            "data": {"text/plain": text},
            "metadata": {},
            "execution_count": 1,
        },
        lambda text: {
            "output_type": "display_data",
            "data": {"text/plain": text.splitlines(keepends=True), "text/html": "<div></div>"},
            "metadata": {},
        },
    ]
    notebook.cell(f"{name}-check")["outputs"] = [kinds[i % 3](text) for i, text in enumerate(texts)]


PASS = report("rnn_step")
FAIL = PASS.replace("right on all 2 cases", "not right yet: 0 of 2 cases pass").replace("2 / 2", "0 / 2")


def test_what_a_report_says_is_read_back():
    assert [*passes_in(f"before\n{PASS}\n{FAIL}\nrnn_step 2 / 2 right")] == [("rnn_step", True), ("rnn_step", False)]


@pytest.mark.parametrize(
    ("texts", "saw"),
    [
        ([PASS], True),
        ([FAIL, PASS], True),
        ([FAIL, FAIL, PASS], True),
        ([PASS, FAIL], False),
        ([FAIL], False),
        ([], False),
        ([PASS.replace("rnn_step", "another")], False),
        (["x" * 30_000 + "\n" + PASS], False),
    ],
)
@pytest.mark.parametrize("change", [source(rnn_step=WRONG), removed])
def test_a_pass_that_grading_does_not_confirm(graded, notebook, session, texts, saw, change):
    """It earns nothing, and both readers are told."""
    change(notebook)
    saved(notebook, "rnn_step", *texts)
    result = graded("ann", recurrence=notebook.tree)
    assert result.earned == 2
    line = "1 student saw a pass that grading does not confirm: ann (rnn_step); compare"
    assert (f"  {line}" in for_a_human([result])) == saw
    told = [sentence for _, sentence in for_student(session.chapter, result.remarks)]
    assert any(each.startswith("Your notebook shows a pass of `rnn_step`") for each in told) == saw


def test_a_pass_that_grading_confirms(graded, notebook):
    saved(notebook, "rnn_step", PASS)
    assert graded("ann", recurrence=notebook.tree).remarks == ()


@pytest.mark.parametrize("outputs", [None, 3, [None, 3, {"text": 3}, {"data": {"text/plain": [3]}}, {"data": []}]])
def test_outputs_of_any_form(graded, notebook, outputs):
    notebook.cell("rnn_step-check")["outputs"] = outputs
    assert graded("ann", recurrence=notebook.tree).remarks == ()


def test_a_dry_run_says_so_before(graded, notebook, session, tmp_path):
    """Of code that is not there, from the notebooks; of what was graded, from the results."""
    saved(notebook, "rnn_step", PASS)
    removed(notebook)
    graded("ann", recurrence=notebook.tree)
    task = Task("ann", tmp_path / "submitted" / "ann" / session.chapter.id)
    look = partial(
        preflight, session.root, tmp_path, session.manifest, session.chapter, [task], students=["ann"], sandboxed=False
    )
    said = "1 student saw a pass that grading does not confirm: ann (rnn_step); compare"
    found = look(db_url=None, released=session.released)
    assert said in preflight_lines(session.chapter, found, whole=True)
    assert preflight_tree(session.chapter, found)["saw_a_pass"] == {"ann": ["rnn_step"]}
    assert look(db_url=None).saw == {}
