"""What may be handed in: files that are no notebook, and notebooks whose cells are not where they were."""

import copy
import json
import os

import nbformat
import pytest
from right_work import RIGHT

import grader.grading.grade as module
from grader.cells import check_source
from grader.gradebook import gradebook_url, open_gradebook
from grader.grading import store
from grader.grading.chapter import autograde, submissions
from grader.grading.grade import grade
from grader.grading.pool import here
from grader.grading.release import AutogradeError
from grader.grading.report import remark_line
from grader.manifest import UnknownIdError
from grader.running.processes import WorkerError
from grader.running.unsandboxed import Plain
from grader.submission.notebook import MAX_CELLS, MAX_SOURCE, read_notebook
from grader.submission.readable import UnreadableError

# --- the file ------------------------------------------------------------------------------------------------


def as_version_3(tree):
    old = nbformat.convert(nbformat.reads(json.dumps(tree), 4), 3)
    return nbformat.writes(old, version=3).encode()


UNREADABLE = {
    "not JSON": (b"PK\x03\x04 this is no notebook", "not JSON"),
    "not text": (b"\x89PNG\r\n\x1a\n\xff\xfe\xfd", "not text"),
    "empty": (b"", "the file is empty"),
    "JSON, but no notebook": (b'{"a": 1}', "no cells"),
    "a list": (b"[1, 2]", "no cells"),
    "cells are no list": (b'{"cells": {}, "nbformat": 4}', "no cells"),
    "worksheets of nonsense": (
        b'{"worksheets": [3], "nbformat": 3, "nbformat_minor": 0}',
        "an unknown format",
    ),
    "nested deeply": (b"[" * 200_000, "nested too deeply"),
    "too many cells": (
        json.dumps({"cells": [{"cell_type": "code", "source": ""}] * (MAX_CELLS + 1)}).encode(),
        "2,001 cells",
    ),
    "too much source": (
        json.dumps({"cells": [{"cell_type": "code", "source": "x" * (MAX_SOURCE + 1)}]}).encode(),
        "2,000,001 characters",
    ),
    "a huge number": (b'{"cells": [], "nbformat": ' + b"9" * 10_000 + b"}", "not JSON"),
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_a_file_that_cannot_be_read(session, tmp_path, what):
    content, words = UNREADABLE[what]
    folder = tmp_path / "ada" / session.chapter.id
    folder.mkdir(parents=True)
    (folder / "recurrence.ipynb").write_bytes(content)
    check_unreadable(session, folder, words, "Open it in Jupyter, save it, and submit the .ipynb file again.")


def check_unreadable(session, folder, words, advice, status="error"):
    graded = grade(session, Plain(), "ada", folder)
    assert graded.earned == 0
    assert not graded.fault
    (remark,) = map(remark_line, graded.remarks)
    assert remark.startswith("recurrence: ")
    verdicts = graded.verdicts["recurrence"]
    assert {name: v.status for name, v in verdicts.items()} == {"rnn_step": status, "rnn_forward": status}
    path = session.term / "autograded" / "ada" / session.chapter.id / "recurrence.ipynb"
    shown = nbformat.read(path, 4)
    nbformat.validate(shown)
    first = path.read_bytes()
    for text in (remark, verdicts["rnn_step"].note, shown.cells[0].source):
        assert words in text
    assert advice in shown.cells[0].source
    assert advice in json.dumps([cell.get("outputs") for cell in shown.cells])
    grade(session, Plain(), "ada", folder)
    assert path.read_bytes() == first  # the same bytes each time


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda folder: None, "there is no file recurrence.ipynb"),
        (lambda folder: (folder / "recurrence.ipynb").mkdir(), "recurrence.ipynb is a folder, not a file"),
        (
            lambda folder: [(folder / f"{name}.ipynb").write_text("{}") for name in "ab"],
            "there is no file recurrence.ipynb (found instead: a.ipynb, b.ipynb)",
        ),
        (lambda folder: (folder / "recurrence.ipynb").symlink_to("nowhere"), "there is no file recurrence.ipynb"),
    ],
)
def test_no_file(session, tmp_path, make, words):
    folder = tmp_path / session.chapter.id
    folder.mkdir()
    make(folder)
    check_unreadable(session, folder, words, f"This notebook was not submitted: {words}", "missing")


def test_a_file_under_another_name(session, tmp_path, right):
    (tmp_path / "recurrence (1).ipynb").write_text(json.dumps(right))
    (tmp_path / "notes.txt").write_text("")
    graded = grade(session, Plain(), "ada", tmp_path)
    assert graded.earned == 4
    (remark,) = map(remark_line, graded.remarks)
    assert remark == "there is no file recurrence.ipynb; recurrence (1).ipynb was graded instead"


def test_a_file_whose_name_is_no_text(session, tmp_path, right):
    """As zip files from another system give them: the result can be kept all the same."""
    (tmp_path / os.fsdecode(b"\xfcbung\x1b.ipynb")).write_text(json.dumps(right))
    graded = grade(session, Plain(), "ada", tmp_path)
    assert graded.earned == 4
    store.write(tmp_path, "ch", store.Stored(store.Key("", "", "", "", sandboxed=True), graded))
    (remark,) = map(remark_line, store.read(tmp_path, "ch", "ada").graded.remarks)
    assert remark == "there is no file recurrence.ipynb; \ufffdbung\ufffd.ipynb was graded instead"
    for path in tmp_path.glob("*.ipynb"):
        path.write_text("{}")
    (tmp_path / "another.ipynb").write_text("{}")
    (remark,) = map(remark_line, grade(session, Plain(), "ada", tmp_path).remarks)
    assert remark.endswith("there is no file recurrence.ipynb (found instead: another.ipynb, \ufffdbung\ufffd.ipynb)")


def test_older_and_stranger_formats(hand_in, right):
    assert hand_in(as_version_3(right)).points == (2, 2)
    for change in ({"nbformat": 5}, {"nbformat": "four"}, {"metadata": []}, {"metadata": {"kernelspec": {}}}):
        assert hand_in({**right, **change}).points == (2, 2)
    without = {"cells": right["cells"]}
    assert hand_in(b"\xef\xbb\xbf" + json.dumps(without).encode()).points == (2, 2)  # with a byte order mark
    assert hand_in(json.dumps(without).encode("utf-16")).points == (2, 2)


def test_cells_that_are_none(hand_in, notebook):
    notebook.cells[:0] = [3, None, [], {}, {"cell_type": "diagram"}, {"cell_type": "code", "source": 3}]
    notebook.cells.append({"cell_type": "raw", "source": ["a", "b"], "metadata": None, "attachments": []})
    for cell in notebook.cells[7:9]:
        cell["metadata"] = {**cell["metadata"], "nested": {"deep": [float("nan")]}, "tags": 3}
    result = hand_in(notebook.tree)
    assert result.points == (2, 2)
    assert result.notebook.cells[-1].source == "ab"
    assert "NaN" not in result.text


def test_pictures_in_markdown_are_kept(hand_in, notebook):
    picture = {"a.png": {"image/png": "iVBORw0KGgo="}}
    notebook.cells.append({"cell_type": "markdown", "source": "![](attachment:a.png)", "attachments": picture})
    assert hand_in(notebook.tree).notebook.cells[-1].attachments == picture


def test_outputs_that_were_handed_in_are_not_kept(hand_in, notebook):
    for cell in notebook.cells:
        if cell["cell_type"] == "code":
            text = ["<script>forged 99 / 2"]
            cell["outputs"] = [{"output_type": "execute_result", "data": {"text/html": text}, "metadata": {}}]
    assert "forged" not in hand_in(notebook.tree).text


# --- the cells -----------------------------------------------------------------------------------------------


def test_another_assignment(hand_in, notebook):
    for cell in notebook.cells:
        cell["metadata"].pop("nbgrader", None)
        cell["source"] = "".join(cell["source"]).replace("rnn_", "lstm_")
    result = hand_in(notebook.tree)
    assert result.points == (0, 0)
    assert {v.status for v in result.verdicts.values()} == {"error"}
    assert "another assignment" in result.shown("rnn_step")
    assert "Submit the notebook of this one." in result.shown("rnn_forward")
    assert result.remarks == ["contains none of this notebook's exercises. Is it from another assignment?"]


def test_no_cells_at_all(hand_in):
    result = hand_in({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    assert result.points == (0, 0)
    assert result.plan.foreign


def delete_exercise(n):
    del n.cells[n.at("rnn_step")]


def edit_check(n):
    n.cell("rnn_step-check")["source"] = "2.0"


def harm_by_check(n):
    n.cell("rnn_step-check")["source"] = "del rnn_step, rnn_forward\nraise SystemExit"


def delete_check(n):
    del n.cells[n.at("rnn_step-check")]


def double_check(n):
    n.cells.insert(n.at("rnn_step-check"), copy.deepcopy(n.cell("rnn_step-check")))


def lift_check(n):
    n.cells.insert(0, n.cells.pop(n.at("rnn_step-check")))


def lift_both_checks(n):
    lift_check(n)
    n.cells.insert(0, n.cells.pop(n.at("rnn_forward-check")))


def fake_check_above(n):
    """The student's own cell bears the check's name; the true one is gone."""
    delete_check(n)
    n.insert(0, "2.0")
    n.cells[0]["metadata"] = {"nbgrader": {"grade_id": "rnn_step-check", "grade": True, "points": 100}}


def double_exercise(n):
    n.cells.insert(n.at("rnn_step"), copy.deepcopy(n.cell("rnn_step")))


def double_exercise_stub_first(n):
    double_exercise(n)
    n.cell("rnn_step")["source"] = "def rnn_step(*args):\n    raise NotImplementedError"


def lose_metadata(n):
    for cell in n.cells:
        cell["metadata"] = {}


def lose_metadata_and_checks(n):
    n.cells[:] = [c for c in n.cells if not c["metadata"].get("nbgrader", {}).get("grade")]
    lose_metadata(n)


def nonsense_metadata(n):
    for cell in n.cells:
        cell["metadata"] = {"nbgrader": ["rnn_step"]}


def one_id_for_all(n):
    for cell in n.cells:
        cell["id"] = "same"


def markdown_exercise(n):
    n.cell("rnn_step").update(cell_type="markdown")


def swap_exercises(n):
    """The order of the notebook's parts is the student's."""
    at = n.at("rnn_step")
    moved = [n.cells.pop(at), n.cells.pop(at)]
    n.cells += moved


def one_cell_for_both(n):
    n.cell("rnn_forward")["source"] = ""
    n.cell("rnn_step")["source"] = RIGHT["rnn_step"] + RIGHT["rnn_forward"]


def claims_more_points(n):
    n.cell("rnn_step")["source"] = "def rnn_step(**inputs):\n    return 0"
    n.cell("rnn_step-check")["metadata"]["nbgrader"].update(points=50, solution=True, locked=False)


MISSING = "no cell defines `rnn_step`; the released stub was inserted"
LIFTED = "the check cell of `{}` was above the cell that defines it; it was moved below"
LOST = "the check cell of `{}` was missing; it was restored"
BROKEN = [
    # how, points, status of rnn_step, remarks
    (delete_exercise, (0, 2), "error", [MISSING]),
    (markdown_exercise, (2, 2), "passed", ["the cell of `rnn_step` had become a text cell; it was run as code"]),
    (edit_check, (2, 2), "passed", ["the check cell of `rnn_step` was edited; the released one was used"]),
    (harm_by_check, (2, 2), "passed", ["the check cell of `rnn_step` was edited; the released one was used"]),
    (delete_check, (2, 2), "passed", [LOST.format("rnn_step")]),
    (double_check, (2, 2), "passed", []),
    (lift_check, (2, 2), "passed", [LIFTED.format("rnn_step")]),
    (lift_both_checks, (2, 2), "passed", [LIFTED.format("rnn_step"), LIFTED.format("rnn_forward")]),
    (
        fake_check_above,
        (2, 2),
        "passed",
        ["the check cell of `rnn_step` was edited; the released one was used", LIFTED.format("rnn_step")],
    ),
    (double_exercise, (2, 2), "passed", ["the cell `rnn_step` appears twice; both were run in order"]),
    (double_exercise_stub_first, (2, 2), "passed", ["the cell `rnn_step` appears twice; both were run in order"]),
    (lose_metadata, (2, 2), "passed", []),
    (lose_metadata_and_checks, (2, 2), "passed", [LOST.format("rnn_step"), LOST.format("rnn_forward")]),
    (nonsense_metadata, (2, 2), "passed", []),
    (one_id_for_all, (2, 2), "passed", []),
    (swap_exercises, (2, 2), "passed", []),
    (one_cell_for_both, (2, 2), "passed", []),
    (claims_more_points, (0, 2), "failed", []),
]


@pytest.mark.parametrize(("change", "points", "status", "remarks"), BROKEN, ids=lambda v: getattr(v, "__name__", ""))
def test_cells_out_of_place(hand_in, notebook, session, change, points, status, remarks):
    change(notebook)
    result = hand_in(notebook.tree)
    assert result.points == points
    assert result["rnn_step"].status == status
    assert result.remarks == remarks
    result.shown("rnn_step")
    result.shown("rnn_forward")
    checks = [c for c in result.notebook.cells if c.metadata.get("nbgrader", {}).get("grade")]
    released = {
        c.metadata.nbgrader.grade_id: c.metadata.nbgrader
        for c in session.released["recurrence"].cells
        if "nbgrader" in c.metadata
    }
    assert len(checks) == 2
    assert all(c.metadata.nbgrader == released[c.metadata.nbgrader.grade_id] for c in checks)
    assert {c.source for c in checks} == {check_source("rnn_step"), check_source("rnn_forward")}
    assert len({c.id for c in result.notebook.cells}) == len(result.notebook.cells)


def test_an_unknown_notebook_is_no_path(tmp_path):
    with pytest.raises(UnreadableError, match="cannot be read: No such file"):
        read_notebook(tmp_path / "none.ipynb")


# --- the class -----------------------------------------------------------------------------------------------


def test_an_unknown_chapter(small_course, tmp_path):
    with pytest.raises(UnknownIdError, match=r"no chapter 'ch01_vanila_rnn'\. Near it: ch01_vanilla_rnn"):
        autograde(small_course, tmp_path, "ch01_vanila_rnn", here, db_url=None)


def test_no_submissions(session, tmp_path):
    (tmp_path / "submitted/ada/ch99").mkdir(parents=True)
    (tmp_path / "submitted/stray.txt").write_text("")
    with pytest.raises(AutogradeError) as caught:
        submissions(tmp_path, session.chapter)
    text = str(caught.value)
    assert text.startswith(
        f"No submissions for ch01_vanilla_rnn in {tmp_path}/submitted. There are submissions for ch99."
    )
    assert text.endswith(f"Put each student's notebooks into {tmp_path}/submitted/STUDENT/ch01_vanilla_rnn/.")


NAMES = ["ada lovelace", "o'hara (bob)", "Łukasz Żółw", "学生", "100%_+{x}", "a&b;c", "-f", "نیم‌فاصله"]
UNFIT = {
    "line\nbreak": "line\ufffdbreak",
    'o"hara': 'o"hara',
    "<img src=x>": "<img src=x>",
    "a\\b": "a\\b",
    "\x1b[2J": "\ufffd[2J",
}


@pytest.fixture(scope="module")
def odd_class(tmp_path_factory, small_course, right):
    """A class with odd names, of whom one hands in what makes the grader itself fail."""
    term = tmp_path_factory.mktemp("odd class")
    for name in [*NAMES, *UNFIT, "faulty", "unlucky"]:
        folder = term / "submitted" / name / "ch01_vanilla_rnn"
        folder.mkdir(parents=True)
        (folder / "recurrence.ipynb").write_text(json.dumps(right))
    (term / "submitted" / os.fsdecode(b"latin-\xe9") / "ch01_vanilla_rnn").mkdir(parents=True)
    (term / "submitted" / "stray file.ipynb").write_text("{}")
    (term / "submitted" / ".ipynb_checkpoints").mkdir()
    (term / "submitted" / NAMES[0] / "ch01_vanilla_rnn" / "timestamp.txt").write_text("2026-03-01 12:30:00 UTC")
    (term / "submitted" / NAMES[1] / "ch01_vanilla_rnn" / "timestamp.txt").write_bytes(b"\xff yesterday")

    def run_together(requests, starter):
        if current[-1] == "faulty":
            raise WorkerError("no process for student code could be started: out of memory")
        if current[-1] == "unlucky":
            raise ZeroDivisionError("a bug")
        return real(requests, starter)

    real, real_grade, current = module.run_together, module.grade, []

    def grade(session, starter, student, folder):
        current.append(student)
        return real_grade(session, starter, student, folder)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "run_together", run_together)
        patch.setattr(module, "grade", grade)
        results = autograde(small_course, term, "ch01_vanilla_rnn", here, db_url=gradebook_url(term))
    return term, {graded.student: graded for graded in results}


def test_odd_names_are_graded_like_others(odd_class):
    term, results = odd_class
    assert set(results) == {*NAMES, *UNFIT.values(), "faulty", "unlucky", "latin-\ufffd"}
    assert {name: results[name].earned for name in NAMES} == dict.fromkeys(NAMES, 4)
    with open_gradebook(gradebook_url(term)) as gradebook:
        scores = {s.student_id: s.score for s in gradebook.assignment_submissions("ch01_vanilla_rnn")}
        assert scores == dict.fromkeys(NAMES, 4)
        first = gradebook.find_submission("ch01_vanilla_rnn", NAMES[0])
        assert str(first.timestamp) == "2026-03-01 12:30:00"
    for name in NAMES:
        nbformat.validate(nbformat.read(term / "autograded" / name / "ch01_vanilla_rnn" / "recurrence.ipynb", 4))


def test_a_fault_of_the_grader_costs_nobody_points(odd_class):
    term, results = odd_class
    assert results["faulty"].fault == "no process for student code could be started: out of memory"
    assert results["unlucky"].fault.startswith("the grader failed: ZeroDivisionError: a bug (test_submissions.py:")
    assert results["latin-\ufffd"].fault == "the folder's name is not valid UTF-8; rename the folder"
    assert (
        results["line\ufffdbreak"].fault
        == r"the folder's name contains '\n', which nbgrader cannot show; rename the folder"
    )
    assert all(results[name].fault.endswith("which nbgrader cannot show; rename the folder") for name in UNFIT.values())
    assert {path.name for path in (term / "autograded").iterdir()} == set(NAMES)
