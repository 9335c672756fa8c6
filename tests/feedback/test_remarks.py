"""Every remark that grading makes has words for the student, and none of them accuses."""

import copy
import shutil
import typing
from pathlib import Path

import nbformat
import pytest

from grader.codec import CodecError
from grader.feedback.remarks import _ODD_CELLS as SENTENCES
from grader.feedback.remarks import for_student
from grader.grading.grade import _ended
from grader.grading.report import _ODD_CELLS as LINES
from grader.inside.frames import Request
from grader.manifest import Limits, load_manifest
from grader.running.conversation import TooMuchError
from grader.running.meter import OutOfTimeError
from grader.running.trial import Child, _fault
from grader.submission.choose import choose
from grader.submission.fault import Fault
from grader.submission.files import MAX_FILE_BYTES, submitted_files
from grader.submission.notebook import read_notebook
from grader.submission.plan import plan
from grader.submission.readable import UnreadableError
from grader.submission.remark import OddCell, OtherFiles, Remark, Unreadable

ROOT = Path(__file__).parents[2]
CHAPTER = load_manifest(ROOT / "course.toml").chapter("ch01_vanilla_rnn")
FOLDER = ROOT / "exercises" / CHAPTER.id


def of(notebook_name, change):
    """What the student reads of a released notebook that was changed in this way."""
    path = FOLDER / f"{notebook_name}.ipynb"
    notebook = next(n for n in CHAPTER.notebooks if n.name == notebook_name)
    submitted = read_notebook(path)
    change(
        submitted.cells, {c.metadata["nbgrader"]["grade_id"]: c for c in submitted.cells if "nbgrader" in c.metadata}
    )
    planned = plan(
        read_notebook(path), submitted, [e.id for e in notebook.exercises], [q.id for q in notebook.questions]
    )
    remarks = tuple(Remark(odd, notebook_name) for odd in planned.remarks)
    assert remarks
    told = for_student(CHAPTER, remarks)
    assert {title for title, _ in told} == {notebook.title}
    return [sentence for _, sentence in told]


def edited(cells, by_id):
    for name in ("rnn_step-check", "rnn_forward-check"):
        by_id[name].source = "2.0"


def missing(cells, by_id):
    cells.remove(by_id["rnn_step-check"])


def above(cells, by_id):
    cells.remove(by_id["rnn_step-check"])
    cells.insert(0, by_id["rnn_step-check"])


def undefined(cells, by_id):
    cells.remove(by_id["rnn_forward"])


def again(cells, by_id):
    by_id["rnn_step"].source = "def rnn_step(*args):\n    pass"
    cells.append(copy.deepcopy(by_id["rnn_step"]))
    cells[-1].metadata.clear()
    cells[-1].source = "def rnn_step():\n    pass"


def left(cells, by_id):
    cells[1].source += "\n\ndef rnn_step():\n    pass"


def twice(cells, by_id):
    by_id["rnn_step"].source = "def rnn_step():\n    pass"
    cells.insert(cells.index(by_id["rnn_step"]), copy.deepcopy(by_id["rnn_step"]))


def foreign(cells, by_id):
    cells.clear()


CHANGES = [
    (
        edited,
        "Edited check cells: `rnn_step`, `rnn_forward`. The original checks were used. You lose no points.",
    ),
    (missing, "Missing check cells: `rnn_step`. They were restored. You lose no points."),
    (above, "Check cells above the cell that defines their function: `rnn_step`."),
    (undefined, "No cell defines `rnn_forward`. If you wrote that code, check that"),
    (again, "Defined again below the check cell: `rnn_step`. The definition above the check cell was graded."),
    (left, "Original cells left in the notebook alongside your own definition: `rnn_step`. Your definition was graded"),
    (twice, "Duplicate cells: `rnn_step`. Both were run"),
    (foreign, "The file contains none of this notebook's exercises. Is it from another assignment?"),
]


@pytest.mark.parametrize(("change", "words"), CHANGES, ids=lambda value: getattr(value, "__name__", ""))
def test_what_a_notebook_lacks(change, words):
    told = of("recurrence", change)
    assert told[0].startswith(words)
    assert len(told) == 1
    assert "could not be read" not in told[0]  # the words for what is not known


def test_every_kind_of_odd_cell_has_words_for_both_readers():
    kinds = set(typing.get_args(typing.get_type_hints(OddCell)["kind"]))
    assert kinds == set(LINES) == set(SENTENCES)


def test_an_answer_that_is_gone():
    submitted, released = (read_notebook(FOLDER / "recurrence.ipynb") for _ in range(2))
    cells = read_notebook(FOLDER / "capstone.ipynb").cells
    released.cells += [c for c in cells if c.metadata.get("nbgrader", {}).get("grade_id") == "why_it_writes"]
    exercises = [exercise.id for exercise in CHAPTER.notebooks[0].exercises]
    (remark,) = plan(released, submitted, exercises, ["why_it_writes"]).remarks
    ((_, sentence),) = for_student(CHAPTER, (Remark(remark, "recurrence"),))
    assert sentence.startswith("No cell answers `why_it_writes`. If you wrote an answer,")


def test_an_answer_that_stands_twice():
    def doubled(cells, by_id):
        by_id["why_it_writes"].source = "Mine."
        cells.insert(0, copy.deepcopy(by_id["why_it_writes"]))

    assert of("capstone", doubled) == [
        "Duplicate answer cells: `why_it_writes`. The points are given in the first one that is filled in."
    ]


def test_text_beside_an_answer():
    def beside(cells, by_id):
        cells.append(nbformat.v4.new_markdown_cell("![Mine.](attachment:a.png)"))

    assert of("capstone", beside) == [
        "Answers that continue in other cells: `why_it_writes`. Your instructor reads those cells too.",
        "Answers with a picture that is not in the notebook, or is larger than 6 MB: `why_it_writes`. "
        "Your instructor cannot see it. Paste the picture into the cell itself.",
    ]


class Died:
    def __init__(self, memory=False):
        self.memory = memory
        self.request = Request((), {}, Limits(result_bytes=5))

    used_up_memory = Child.used_up_memory


PLACE = "cell 4, below rnn_step"
ERRORS = [
    (
        OutOfTimeError(5),
        False,
        "Cell 4, below rnn_step, was stopped after 5 s of running time. The other cells were run without it.",
    ),
    (EOFError(), True, "Cell 4, below rnn_step, used more memory than a notebook is allowed and was stopped."),
    (EOFError(), False, "Cell 4, below rnn_step, did not finish: the Python process ended."),
    (CodecError(""), False, "Cell 4, below rnn_step, could not be run to its end: its answer could not be read."),
    (
        TooMuchError(),
        False,
        "Cell 4, below rnn_step, could not be run to its end: it produced more than 5 bytes of results.",
    ),
]


@pytest.mark.parametrize(("error", "memory", "words"), ERRORS)
def test_cells_that_did_not_end(error, memory, words, monkeypatch):
    monkeypatch.setattr(Died, "used_up_memory", lambda self: self.memory)
    cell = type("Cell", (), {"index": 3, "exercise": None})
    fault = _fault(error, cell, Died(memory))
    planned = type("Plan", (), {"cells": (cell,)})
    ((title, sentence),) = for_student(CHAPTER, (Remark(_ended(fault, planned), "recurrence", PLACE),))
    assert title == "The recurrence"
    assert sentence.startswith(words)


def test_what_stands_under_the_exercise_is_not_told_twice():
    cell = type("Cell", (), {"index": 3, "exercise": "rnn_step"})
    planned = type("Plan", (), {"cells": (cell,)})
    assert for_student(CHAPTER, (Remark(_ended(Fault("timeout", 3, 5), planned), "recurrence"),)) == []
    between = Remark(_ended(Fault("died", None), planned), "recurrence")
    assert for_student(CHAPTER, (between,)) == [
        ("The recurrence", "The notebook could not be run to its end: the Python process ended.")
    ]


def test_files(tmp_path):
    (tmp_path / "big <b>.csv").write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    _, left_out = submitted_files(tmp_path)
    assert for_student(CHAPTER, tuple(map(Remark, left_out))) == [
        (
            "",
            "The file big <b>.csv (8.0 MB) was not available to your notebooks while they ran: "
            "it is too large, or you submitted too many files.",
        )
    ]
    shutil.copy(FOLDER / "recurrence.ipynb", tmp_path / "final.ipynb")
    (other,) = choose(
        tmp_path, CHAPTER, {n.name: read_notebook(FOLDER / f"{n.name}.ipynb") for n in CHAPTER.notebooks}
    )["recurrence"].remarks
    assert for_student(CHAPTER, (Remark(other),)) == [
        (
            "",
            "There is no file recurrence.ipynb, so final.ipynb was graded instead. Keep the original file name.",
        )
    ]


def test_several_files():
    remark = Remark(OtherFiles("final.ipynb", ("a.ipynb", "b.ipynb")), "recurrence")
    assert for_student(CHAPTER, (remark,)) == [
        (
            "The recurrence",
            "Several of your files are versions of this notebook. final.ipynb was graded, because it is the most "
            "complete. Not graded: a.ipynb, b.ipynb. Submit one file for each notebook.",
        )
    ]


def test_a_file_that_cannot_be_read(tmp_path):
    (tmp_path / "a.ipynb").write_text("")
    with pytest.raises(UnreadableError) as caught:
        read_notebook(tmp_path / "a.ipynb")
    assert for_student(CHAPTER, (Remark(Unreadable(str(caught.value)), "recurrence"),)) == [
        ("The recurrence", "It could not be read: the file is empty.")
    ]
