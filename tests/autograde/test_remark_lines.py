"""What an instructor reads of a remark; remarks and notes on disk; and which names of functions a note may hold."""

import json

import msgspec
import pytest

from grader.autograde.fault import Fault
from grader.autograde.grading import store
from grader.autograde.grading.grade import Graded
from grader.autograde.grading.report import as_json, for_a_human, remark_line
from grader.autograde.grading.score import without_cases
from grader.autograde.remark import Ended, Foreign, LeftOut, NoTime, OddCell, OtherName, Remark, Unreadable
from grader.checking.verdict import Verdict
from grader.manifest import Chapter
from grader.render.rows import noted

KEY = store.Key("submission", "checks", "points", "limits", sandboxed=True)
LINES = {
    Remark(OddCell("check edited", "f"), "nb"): "nb: the check cell of `f` was edited; the released one was used",
    Remark(Foreign(), "nb"): "nb: nothing of this notebook's exercises was found in it; is it from another assignment?",
    Remark(Unreadable("the file is empty"), "nb"): "nb: the file is empty",
    Remark(Ended(Fault("timeout", 3, 2.5)), "nb"): "nb, cell 4: stopped after 2.5 s",
    Remark(Ended(Fault("timeout", 3, 10.0), "f"), "nb"): "nb, the check of f: stopped after 10 s",
    Remark(Ended(Fault("died", None)), "nb"): "nb, between cells: the Python process ended",
    Remark(Ended(Fault("memory", 0)), "nb"): "nb, cell 1: stopped, since it needed more memory than it may have",
    Remark(Ended(Fault("malformed", 0)), "nb"): "nb, cell 1: its answer could not be read",
    Remark(Ended(Fault("out of turn", None)), "nb"): "nb, between cells: it claims to run a cell that is not due",
    Remark(Ended(Fault("too much", 0, 64_000_000)), "nb"): "nb, cell 1: gave more than 64,000,000 bytes of results",
    Remark(LeftOut("a.csv", 4_050_000)): "a.csv (4.0 MB) was not laid beside the notebooks: too large or too many",
    Remark(NoTime("'noon'")): "its timestamp.txt holds no time but 'noon', so it counts as in time",
    Remark(OtherName("nb.ipynb", False, "b.ipynb")): "there is no file nb.ipynb; b.ipynb was graded in its place",
    Remark(OtherName("nb.ipynb", True, "b.ipynb")): "nb.ipynb is a folder, not a file; b.ipynb was graded in its place",
}


@pytest.mark.parametrize(("remark", "line"), LINES.items(), ids=LINES.values())
def test_what_an_instructor_reads(remark, line):
    assert remark_line(remark) == line


def test_lines_are_what_is_printed_and_what_programs_read():
    graded = Graded("ada", remarks=tuple(LINES))
    assert for_a_human([graded])[1:] == [f"  ada: {line}" for line in LINES.values()]
    tree = json.loads(as_json(Chapter("ch", "C", ()), [graded], sandboxed=True))
    assert tree["students"][0]["remarks"] == list(LINES.values())


def test_remarks_come_back_from_disk(tmp_path):
    stored = store.Stored(KEY, Graded("ada", remarks=tuple(LINES)))
    store.write(tmp_path, "ch", stored)
    assert store.read(tmp_path, "ch", "ada") == stored
    assert list(map(remark_line, store.read(tmp_path, "ch", "ada").graded.remarks)) == list(LINES.values())


@pytest.mark.parametrize(
    "remarks", [["nb: the file is empty"], [{"what": {"type": "Told"}}], [{"what": {"type": "OddCell", "kind": "x"}}]]
)
def test_remarks_of_another_version_are_as_good_as_none(tmp_path, remarks):
    store.write(tmp_path, "ch", store.Stored(KEY, Graded("ada")))
    path = tmp_path / "results/ch/ada/result.json"
    tree = json.loads(path.read_text())
    tree["graded"]["remarks"] = remarks
    path.write_bytes(msgspec.json.encode(tree))
    assert store.read(tmp_path, "ch", "ada") is None


@pytest.mark.parametrize(("name", "told"), [("g", "f calls g, and that is not written yet."), ("what_I_saw", "")])
def test_of_hidden_runs_no_name_is_told_but_an_exercises(name, told):
    seen = Verdict("f", "F", "unimplemented", 0, 1, "p", unwritten=name)
    assert noted(seen) == f"f calls {name}, and that is not written yet."
    assert noted(without_cases(seen, {"f", "g"})) == told
