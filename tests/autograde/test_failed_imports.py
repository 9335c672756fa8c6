"""An import that fails costs what needs it, not the rest of its cell, and is named once as the cause."""

import json

import pytest
from right_work import RIGHT

from grader.checking.case import Observation
from grader.codec import Raised
from grader.feedback.page import feedback_page
from grader.grading.grade import grade
from grader.grading.missing import lacks
from grader.grading.report import remark_line
from grader.inside.frames import End, Missing
from grader.running.trial import Outcome, _bounded

BOTH = RIGHT["rnn_step"] + RIGHT["rnn_forward"]
COLAB = """\
from google.colab import drive
drive.mount('/content/drive')
%cd /content/drive/MyDrive
"""


@pytest.fixture
def graded(session, starters, tmp_path):
    def run(tree, starter="plain", **files):
        (tmp_path / "recurrence.ipynb").write_text(json.dumps(tree))
        for name, content in files.items():
            (tmp_path / f"{name}.py").write_text(content)
        found = grade(session, starters[starter], "ada", tmp_path)
        shown = session.term / "autograded" / "ada" / session.chapter.id / "recurrence.ipynb"
        page = feedback_page(session.manifest, session.chapter, found, {})
        return found, list(map(remark_line, found.remarks)), page, json.loads(shown.read_text())

    return run


def first_code(notebook, source):
    cell = notebook.cells[notebook.first()]
    cell["source"] = source
    return cell


LINE = "recurrence, cell 2: `{}` could not be imported ({}); the lines that need it were skipped"


@pytest.mark.parametrize("starter", ["sandbox", "plain"])
def test_a_notebook_from_colab(graded, notebook, starter):
    imports = "".join(notebook.cells[notebook.first()]["source"])
    first_code(notebook, COLAB + imports)
    found, lines, page, shown = graded(notebook.tree, starter)
    assert found.earned == 4
    assert lines == [LINE.format("google.colab", "No module named 'google'")]
    sentence = "Cell 2 could not import <code>google.colab</code>: No module named &#x27;google&#x27;."
    assert page.count(sentence) == 1
    (output,) = shown["cells"][notebook.first()]["outputs"]
    assert (output["ename"], output["evalue"]) == ("ModuleNotFoundError", "No module named 'google'")


def test_what_needs_it_is_left_out(hand_in, notebook):
    first_code(
        notebook,
        "import numpy as np, seaborn_x as sns\nsns.set_theme()\nsns = 3 if False else sns\nfrom math import tau\n"
        "print('on', tau)",
    )
    notebook.append("print('before')\nsns.set_theme()\nprint('after')\nsns")
    result = hand_in(notebook.tree)
    assert result.points == (2, 2)
    assert result.outputs("print('on'")[0].text.startswith("on 6.28")
    text, error = result.outputs("print('before')")
    assert text.text == "before\nafter\n"
    assert error.evalue == "name 'sns' is not defined"


def test_other_errors_end_their_cell(hand_in, notebook):
    notebook.append("print('first')\nno_such_name\nprint('never')")
    notebook.append("print('second')\nimport no_such_module\nelsewhere\nprint('not')")
    notebook.append("print('third')\nraise ImportError('of my own')\nprint('neither')")
    result = hand_in(notebook.tree)
    assert result.points == (2, 2)
    assert [result.outputs(f"'{word}'")[0].text for word in ("first", "second", "third")] == [
        "first\n",
        "second\n",
        "third\n",
    ]


def test_a_syntax_error_stops_a_cell_before_its_first_line(hand_in, notebook):
    notebook.append("print('on')\nreturn 3")
    (error,) = hand_in(notebook.tree).outputs("return 3")
    assert error.ename == "SyntaxError"


def test_who_catches_it_is_not_disturbed(hand_in, notebook):
    first_code(
        notebook,
        "try:\n    import google.colab\n    at_home = False\nexcept ImportError:\n    at_home = True\n"
        "assert at_home\nimport numpy as np",
    )
    result = hand_in(notebook.tree)
    assert result.points == (2, 2)
    assert result.outputs("assert at_home") == []


def test_what_was_bound_before_stays(hand_in, notebook):
    first_code(notebook, "import numpy as np\nimport cupy_x as np")
    assert hand_in(notebook.tree).points == (2, 2)


def test_the_cause_is_named_once(graded, notebook):
    first_code(notebook, "import no_such_numpy as np\nfrom grader import check, hint, progress")
    found, lines, page, _ = graded(notebook.tree)
    assert found.earned == 0
    assert lines == [LINE.format("no_such_numpy", "No module named 'no_such_numpy'")]
    notes = {verdict.note for verdict in found.by_exercise.values()}
    assert notes == {
        "`no_such_numpy` is missing: cell 2 could not import it (No module named 'no_such_numpy'). Use only "
        "packages that the course installs, or submit the module's file together with your notebook."
    }
    assert {verdict.status for verdict in found.by_exercise.values()} == {"error"}
    assert "NameError" not in page
    assert page.count("<code>no_such_numpy</code> is missing") == 1


@pytest.mark.parametrize("line", ["from helper import *", "from helper import rnn_step, rnn_forward"])
def test_a_file_that_was_not_handed_in(graded, notebook, line):
    del notebook.cells[notebook.at("rnn_step")], notebook.cells[notebook.at("rnn_forward")]
    notebook.insert(notebook.first() + 1, line)
    found, lines, page, _ = graded(notebook.tree)
    assert found.earned == 0
    assert lines == [LINE.replace("2", "3").format("helper", "No module named 'helper'")]
    assert page.count("<code>helper</code> is missing: cell 3 could not import it") == 1
    assert "not defined" not in page


def test_a_name_that_a_file_does_not_have(graded, notebook):
    del notebook.cells[notebook.at("rnn_step")]
    notebook.insert(notebook.first() + 1, "from helper import affine, rnn_step")
    found, lines, _, _ = graded(notebook.tree, helper="def affine(): pass")
    assert found.earned == 2
    reason = "cannot import name 'rnn_step' from 'helper'"
    assert lines == [LINE.replace("2", "3").format("helper", reason)]
    assert reason in found.by_exercise["rnn_step"].note


def test_one_exercise_that_needs_it_beside_one_that_is_wrong(graded, notebook):
    notebook.cell("rnn_step")["source"] = "import no_such_module\n" + RIGHT["rnn_step"].replace(
        "np.", "no_such_module."
    )
    notebook.cell("rnn_forward")["source"] = "def rnn_forward(**inputs):\n    return 0"
    found, _, page, _ = graded(notebook.tree)
    assert found.by_exercise["rnn_step"].note.startswith("`no_such_module` is missing: cell 4 could not import it")
    assert found.by_exercise["rnn_forward"].status == "failed"
    assert page.count("<code>no_such_module</code> is missing") == 1


def test_a_name_error_of_ones_own_is_told_as_such(graded, notebook):
    first_code(notebook, "import numpy as np\nimport no_such_module")
    notebook.cell("rnn_step")["source"] = RIGHT["rnn_step"].replace("np.", "numpy.")
    found, *_ = graded(notebook.tree)
    assert found.by_exercise["rnn_step"].note == "On hidden cases your code raises an exception."
    assert found.public["recurrence"]["rnn_step"].cases[0].problems[0].text == "NameError: name 'numpy' is not defined"


def test_many_of_them_are_bounded(graded, notebook):
    notebook.append("\n".join(f"import no_{number}_{'x' * 300}" for number in range(60)))
    found, lines, *_ = graded(notebook.tree)
    assert found.earned == 4
    assert len(lines) == 20
    assert all(len(line) < 400 for line in lines)


def raising(*texts):
    return tuple(Observation(raised=Raised("NameError", f"name '{text}' is not defined")) for text in texts)


@pytest.mark.parametrize(("hidden", "is_told"), [(("a", "a"), True), (("b", "a"), True), (("a", "other"), False)])
def test_hidden_cases_choose_no_words(hidden, is_told):
    """Else a function could tell a hidden input by the name that it lacks."""
    missing = tuple(Missing(f"module_{name}", "gone", (name,)) for name in "ab")
    outcome = Outcome({1: End(1, missing=missing)}, {"f": raising(*hidden)}, {"f": raising("a", "b")})
    note = lacks("f", outcome)
    assert note.startswith("`module_a` is missing: cell 2 could not import it (gone).") is is_told
    assert bool(note) is is_told


def test_a_child_that_claims_too_much():
    long = "x" * 10_000
    kept = _bounded(End(0, missing=(Missing(long, long, (long,) * 10_000),) * 10_000), 10)
    assert len(kept.missing) == 20
    assert sum(len(text) for each in kept.missing for text in (each.module, each.reason, *each.names)) < 110_000
