"""What an instructor reads of a remark; remarks and notes on disk; and which names of functions a note may hold."""

import json
import typing

import msgspec
import pytest

from grader.checking.verdict import Verdict
from grader.grading import store
from grader.grading.grade import Graded
from grader.grading.report import as_tree, for_a_human, may_change_points, remark_line, to_look_at
from grader.grading.score import without_cases
from grader.manifest import Chapter
from grader.render.rows import note_text
from grader.submission.fault import Fault
from grader.submission.remark import (
    Asks,
    Ended,
    Foreign,
    LeftOut,
    NoTime,
    NotImported,
    NotSubmitted,
    OddCell,
    OtherFiles,
    OtherName,
    OtherPython,
    Remark,
    TooLarge,
    Unreadable,
)

KEY = store.Key("submission", "checks", "points", "limits", sandboxed=True)
LINES = {
    Remark(OddCell("check edited", "f"), "nb"): "nb: the check cell of `f` was edited; the released one was used",
    Remark(Foreign(), "nb"): "nb: contains none of this notebook's exercises. Is it from another assignment?",
    Remark(Unreadable("the file is empty"), "nb"): "nb: the file is empty",
    Remark(NotSubmitted("there is no file nb.ipynb"), "nb"): "nb: there is no file nb.ipynb",
    Remark(Asks(3), "nb"): "nb, cell 4: calls input(), which returns an empty text while it is graded",
    Remark(
        OtherPython(3, "3.13", "3.11"), "nb"
    ): "nb: contains code that is not Python 3.11, which grades; it was written with Python 3.13",
    Remark(Ended(Fault("timeout", 3, 2.5)), "nb"): "nb, cell 4: stopped after 2.5 s of running time",
    Remark(Ended(Fault("timeout", 3, 10.0), "f"), "nb"): "nb, the check of f: stopped after 10 s of running time",
    Remark(Ended(Fault("died", None)), "nb"): "nb, between cells: the Python process ended",
    Remark(Ended(Fault("memory", 0)), "nb"): "nb, cell 1: stopped because it used more memory than allowed",
    Remark(Ended(Fault("malformed", 0)), "nb"): "nb, cell 1: its answer could not be read",
    Remark(Ended(Fault("out of turn", None)), "nb"): "nb, between cells: its process reported cells in the wrong order",
    Remark(
        Ended(Fault("too much", 0, 64_000_000)), "nb"
    ): "nb, cell 1: it produced more than 64,000,000 bytes of results",
    Remark(
        LeftOut("a.csv", 4_050_000)
    ): "a.csv (4.0 MB) was not available to the notebooks: too large, or too many files",
    Remark(NoTime("'noon'")): (
        "timestamp.txt contains 'noon', which is no time or may be several, so the submission counts as on time; "
        "write it such as 2026-03-01 23:59:00 +01:00, or with UTC at the end"
    ),
    Remark(OtherName("nb.ipynb", False, "b.ipynb")): "there is no file nb.ipynb; b.ipynb was graded instead",
    Remark(OtherName("nb.ipynb", True, "b.ipynb")): "nb.ipynb is a folder, not a file; b.ipynb was graded instead",
    Remark(NotImported(1, "jax", "no such"), "nb"): "nb, cell 2: `jax` could not be imported (no such); the lines that "
    "need it were skipped",
    Remark(TooLarge("f"), "nb"): "nb, the check of f: the results are too large to be judged",
    Remark(
        OtherFiles("b", ("a", "c")), "nb"
    ): "nb: several versions: b is the most complete and was graded; not graded: a, c",
}


@pytest.mark.parametrize(("remark", "line"), LINES.items(), ids=LINES.values())
def test_what_an_instructor_reads(remark, line):
    assert remark_line(remark) == line


def test_lines_are_what_is_printed_and_what_programs_read():
    graded = Graded("ada", remarks=tuple(LINES))
    printed = {**LINES, Remark(NotSubmitted("there is no file nb.ipynb"), "nb"): "missing notebook: nb"}
    assert sorted(for_a_human([graded])[1:]) == sorted(f"  ada: {line}" for line in printed.values())
    tree = as_tree(Chapter("ch", "C", ()), [graded], sandboxed=True)
    assert tree["students"][0]["remarks"] == list(LINES.values())


def test_what_matters_most_comes_first():
    edited, again = Remark(OddCell("check edited", "f"), "nb"), Remark(OddCell("defined again", "f"), "nb")
    unreadable = Remark(Unreadable("the file is empty"), "nb")
    results = [
        Graded("ada", remarks=(edited, again)),
        Graded("bo", remarks=(unreadable,)),
        Graded("cy", fault="it fell"),
    ]
    assert for_a_human(results)[1:] == [
        "  bo: nb: the file is empty",
        "  cy: it fell",
        f"  ada: {remark_line(again)}",
        f"  ada: {remark_line(edited)}",
    ]
    assert for_a_human([Graded("ada")]) == []


def test_every_kind_of_remark_has_its_place():
    kinds = [*typing.get_args(typing.get_type_hints(OddCell)["kind"])]
    assert {kind for kind in kinds if not may_change_points(OddCell(kind, "f"))} == {
        "check edited",
        "check missing",
        "check above",
        "check of another",
        "stub left",
        "turned to text",
    }
    assert all(may_change_points(remark.what) for remark in LINES if not isinstance(remark.what, OddCell))


def test_what_is_said_of_many_is_said_once():
    edited, again = Remark(OddCell("check edited", "f"), "nb"), Remark(OddCell("defined again", "f"), "nb")
    names = [f"s{number}" for number in range(12)]
    results = [Graded(name, remarks=(edited, again, again) if name in ("s3", "s7") else (edited,)) for name in names]
    assert for_a_human(results)[1:] == [
        f"  s3 (2 times), s7 (2 times): {remark_line(again)}",
        f"  12 students: {remark_line(edited)} (s0, s1, s2, s3, s4 and 7 more)",
    ]
    tree = as_tree(Chapter("ch", "C", ()), results, sandboxed=True)
    assert [len(student["remarks"]) for student in tree["students"]] == [
        3 if name in ("s3", "s7") else 1 for name in names
    ]
    assert for_a_human([Graded(name, remarks=(again,)) for name in names])[1:] == [
        f"  12 students: {remark_line(again)} ({', '.join(names)})"  # who has to be looked at is named
    ]


def test_missing_notebooks_are_one_line_with_the_names_of_their_students():
    lost = tuple(Remark(NotSubmitted(f"there is no file {name}.ipynb"), name) for name in ("a", "b"))
    elsewhere = Remark(NotSubmitted("there is no file a.ipynb (found instead: x.ipynb)"), "a")
    names = [f"s{number}" for number in range(6)]
    results = [*(Graded(name, remarks=lost) for name in names), Graded("t", remarks=(elsewhere,))]
    assert for_a_human(results, {"s0": "Ann Lee (s0)"})[1:] == [
        "  6 students: missing notebooks: a, b (Ann Lee (s0), s1, s2, s3, s4, s5)",
        "  t: a: there is no file a.ipynb (found instead: x.ipynb)",
    ]


def test_many_remarks_of_a_kind_get_one_line():
    """With the first of them, and everyone whose points they may have changed; a program gets them all."""
    names = [f"s{number}" for number in range(7)]
    missing = [Remark(OddCell("check missing", name), "nb") for name in "abcd"]
    foreign = [Remark(Foreign(), notebook) for notebook in "pqrs"]
    stopped = [Remark(Ended(Fault("timeout", cell, 2.5)), "nb") for cell in range(4)]
    died = [Remark(Ended(Fault("died", cell)), "nb") for cell in range(3)]
    results = [Graded(name, remarks=(*missing, *foreign)) for name in names]
    results.append(Graded("t", remarks=(*stopped, *died), fault="it fell"))
    everyone = ", ".join(names)
    assert for_a_human(results)[1:] == [
        f"  7 students: {remark_line(foreign[0])} (one of 4 such remarks) ({everyone})",
        "  t: it fell",
        f"  t: {remark_line(stopped[0])} (one of 4 such remarks)",
        *(f"  t: {remark_line(each)}" for each in died),
        f"  7 students: {remark_line(missing[0])} (one of 4 such remarks) (s0, s1, s2, s3, s4 and 2 more)",
    ]
    assert to_look_at(results) == 8
    assert to_look_at([Graded("ann", remarks=tuple(missing)), Graded("bo")]) == 0
    tree = as_tree(Chapter("ch", "C", ()), results, sandboxed=True)
    assert [len(student["remarks"]) for student in tree["students"]] == [8] * 7 + [7]


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


@pytest.mark.parametrize(("name", "told"), [("g", "f calls g, which is not written yet."), ("what_I_saw", "")])
def test_of_hidden_runs_no_name_is_told_but_an_exercises(name, told):
    seen = Verdict("f", "F", "unimplemented", 0, 1, "p", unwritten=name)
    assert note_text(seen) == f"f calls {name}, which is not written yet."
    assert note_text(without_cases(seen, {"f", "g"})) == told
