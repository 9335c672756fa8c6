"""Exports of several chapters at once, and the options for what is not final; no gradebook is needed."""

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from grader.gradebook.roster import Student
from grader.gradebook.scores import Recorded, Score
from grader.lms.canvas import export_canvas
from grader.lms.matching import match
from grader.lms.moodle import export_moodle
from grader.lms.options import Empty, Format
from grader.lms.plain import export_plain
from grader.lms.table import Policy, Standing, Status, Table, is_complete, not_final, worth
from grader.lms.write import write_export
from grader.manifest import Chapter, Exercise, Notebook, Question
from grader.sheets import ExchangeError, Line, Sheet

ONE = Chapter("ch01", "One", (Notebook("a", "A", (Exercise("double", "Double", 2, "p"),)),))
TWO = Chapter("ch02", "Two", (Notebook("b", "B", (), (Question("why", "Why", 3),)),))
ANN = Student("ann", "Ann", "Lee", "ann@x.edu", "101")
BO = Student("bo", "Bo", "Ray", "bo@x.edu", "102")
WAITING = Recorded({"why": Score(needs_a_human=True)}, 0.0, {"why": None})
AGAIN = Recorded({"why": Score(1.5, 0.25, needs_a_human=True)}, 0.5, {"why": None})  # an answer that has changed


def standing(student, chapter, status, recorded=None):
    return Standing(student, chapter, status, recorded) if recorded else Standing(student, chapter, status)


def table(of_two=WAITING, status_of_two=Status.waiting):
    graded = Recorded({"double": Score()}, 0.0, {"double": 1.5})
    return Table(
        (ONE, TWO),
        (ANN, BO),
        {
            "ch01": {"ann": standing(ANN, ONE, Status.final, graded), "bo": standing(BO, ONE, Status.missing)},
            "ch02": {
                "ann": standing(ANN, TWO, status_of_two, of_two),
                "bo": standing(BO, TWO, Status.ungraded),
            },
        },
    )


@pytest.mark.parametrize(
    ("status", "recorded", "policy", "total"),
    [
        (Status.waiting, WAITING, Policy(), None),
        (Status.waiting, WAITING, Policy(ungraded=Empty.zero), 0),
        (Status.waiting, AGAIN, Policy(missing=Empty.zero), None),
        (Status.waiting, AGAIN, Policy(ungraded=Empty.zero), 1.25),
        (Status.missing, None, Policy(ungraded=Empty.zero), None),
        (Status.missing, None, Policy(missing=Empty.zero), 0),
        (Status.ungraded, None, Policy(Empty.zero, Empty.zero), None),
        (Status.final, Recorded({}, 2.0, {"why": 1.0}), Policy(), 0),
    ],
)
def test_what_is_published(status, recorded, policy, total):
    assert policy.total(standing(ANN, TWO, status, recorded)) == total


def test_points_that_wait_for_an_instructor():
    assert standing(ANN, TWO, Status.waiting, WAITING).waiting == ("why",)
    assert standing(ANN, TWO, Status.waiting, AGAIN).waiting == ("why",)
    assert standing(ANN, TWO, Status.final, Recorded({"why": Score(1.0)}, 0.0, {"why": None})).waiting == ()
    assert (worth(ONE), worth(TWO)) == (2, 3)


def test_a_row_for_each_student_in_the_plain_table():
    header, ann, bo = export_plain(table(), Policy(missing=Empty.zero)).rows
    assert header[5:] == [
        *("ch01.double", "ch01.late_penalty", "ch01.total", "ch01.points_possible", "ch01.status", "ch01.comments"),
        *("ch02.why", "ch02.late_penalty", "ch02.total", "ch02.points_possible", "ch02.status", "ch02.comments"),
    ]
    assert ann[5:] == [Decimal("1.5"), 0, Decimal("1.5"), 2, "final", "", "", 0, "", 3, "answers not graded yet", ""]
    assert bo[5:] == ["", "", 0, 2, "no submission", "", "", "", "", 3, "submission not graded yet", ""]


def test_a_column_for_each_chapter_in_canvas():
    exported = export_canvas(table(), Policy(Empty.zero, Empty.zero))
    assert exported.rows == [
        ["Student", "ID", "Section", "One", "Two"],
        ["    Points Possible", "", "", 2, 3],
        ["Lee, Ann", "101", "", Decimal("1.5"), 0],
        ["Ray, Bo", "102", "", 0, ""],
    ]
    assert exported.notes[-1] == "An empty cell deletes the score that Canvas has; --into keeps it."
    header = ("Student", "ID", "SIS Login ID", "Section", "Two (2)")
    into = Sheet(
        Path("x.csv"), header, (Line(2, ("Ray, Bo", "102", "b", "S", "2.00")), Line(3, ("L", "101", "", "", "")))
    )
    exported = export_canvas(table(), Policy(), into)
    assert exported.rows == [
        ["Student", "ID", "SIS Login ID", "Section", "One", "Two (2)"],
        ["    Points Possible", "", "", "", 2, 3],
        ["Ray, Bo", "102", "b", "S", "", 2],
        ["L", "101", "", "", Decimal("1.5"), ""],
    ]
    assert (exported.problems, len(exported.notes)) == ([], 1)


def test_two_columns_for_each_chapter_in_moodle():
    exported = export_moodle(table(), Policy())
    assert exported.rows[0][4::2] == ["Assignment: One (Real)", "Assignment: Two (Real)"]
    assert exported.rows[1:] == [["Ann", "Lee", "101", "ann@x.edu", Decimal("1.5"), "", "", ""]]
    assert exported.notes[-1] == "An empty grade deletes the grade that Moodle has; --into keeps it."
    worksheet = Sheet(Path("x.csv"), ("Identifier", "Full name", "Grade"), ())
    with pytest.raises(ExchangeError, match="worksheet of one assignment"):
        export_moodle(table(), Policy(), worksheet)


@pytest.mark.parametrize("export", [export_canvas, export_moodle])
def test_a_column_belongs_to_one_chapter(export):
    with pytest.raises(ExchangeError, match="--column names the column of one chapter"):
        export(table(), Policy(), None, "One")


def test_one_file_for_each_chapter_in_gradescope(tmp_path):
    written = write_export(
        Format.gradescope, tmp_path, table(), Policy(Empty.zero, Empty.zero), tmp_path / "g", None, None
    )
    assert written.line == f"Wrote 3 files: {tmp_path}/g/CHAPTER/STUDENT/results.json"
    files = sorted(path.relative_to(tmp_path / "g").as_posix() for path in tmp_path.rglob("*.json"))
    assert files == ["ch01/ann/results.json", "ch01/bo/results.json", "ch02/ann/results.json"]


def test_several_chapters_in_one_file(tmp_path):
    assert write_export(Format.csv, tmp_path, table(), Policy(), None, None, None).line == (
        f"Wrote {tmp_path}/exports/chapters-points.csv"
    )


def test_a_late_penalty_of_other_points_is_told_and_nothing_is_final():
    said = (
        "ch01: points were given after the late penalties were computed for Ann Lee (ann). Run  grader autograde ch01"
    )
    whole, zero = (
        replace(table(), chapters=(ONE,), standings={"ch01": table().standings["ch01"]}),
        Policy(missing=Empty.zero),
    )
    old = replace(whole, penalised={"ch01": ("ann",)})
    assert not_final(old, zero, Path("term"))[-1].startswith(said)
    assert not_final(old, zero, Path("term"))[:-1] == not_final(whole, zero, Path("term"))
    assert (is_complete(whole, zero), is_complete(old, zero)) == (True, False)


def test_no_student_has_a_folder_outside(tmp_path):
    away = Student("../away", lms_user_id="1")
    graded = Recorded({"double": Score()}, 0.0, {"double": 1.5})
    alone = Table((ONE,), (away,), {"ch01": {"../away": Standing(away, ONE, Status.final, graded)}})
    written = write_export(Format.gradescope, tmp_path, alone, Policy(), tmp_path / "g", None, None)
    assert written.problems == ["With an id that cannot be a folder's name, so without a file: ../away."]
    assert list(tmp_path.rglob("*.json")) == []


def test_a_text_that_several_have_matches_none():
    """Two students of one name are not told apart by it, and neither are two rows."""
    twins = [Student("t1", email="a@x.edu"), Student("t2", email="A@x.edu"), Student("t3", email="c@x.edu")]
    lines = (Line(2, ("a@x.edu", "")), Line(3, ("C@x.edu", "")), Line(4, ("c@x.edu", "t1")))
    into = Sheet(Path("x.csv"), ("Email address", "ID number"), lines)
    keys = [
        (lambda cells: cells["email address"], lambda student: student.email),
        (lambda cells: cells["id number"], lambda student: student.id),
    ]
    found = match(twins, into, keys, lambda cells: cells["email address"])
    assert [(line.number, student.id) for line, student in found.rows] == [(4, "t1")]
    assert found.problems == [
        "Not in x.csv, so not in the export: t2, t3.",
        "In x.csv but not in the gradebook, so left out: a@x.edu (line 2), C@x.edu (line 3). Import the roster with  "
        "grader roster x.csv",
    ]


def example_on_the_page() -> str:
    """The exporter that the page for instructors shows."""
    page = (Path(__file__).parents[2] / "book" / "returning.md").read_text("utf-8")
    return page.partition("```python\n")[2].partition("```")[0]


def test_an_exporter_of_ones_own(tmp_path):
    (tmp_path / "passed.py").write_text(example_on_the_page())
    written = write_export(Format.csv, tmp_path, table(), Policy(), None, None, None, tmp_path / "passed.py")
    assert written.line == f"Wrote {tmp_path / 'exports' / 'chapters-passed.csv'}"
    lines = (tmp_path / "exports" / "chapters-passed.csv").read_text("utf-8").splitlines()
    assert lines == ['"email","chapter","points"', '"ann@x.edu","ch01",1.5']


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("def export(table, policy):\n    return 3\n", "returned no Exported"),
        ("def export(table, policy):\n    raise KeyError(3)\n", "KeyError: 3. Nothing was written"),
        ("x = 3\n", "AttributeError: .*export"),
        ("def export(", "SyntaxError"),
    ],
)
def test_an_exporter_that_fails_is_told(tmp_path, code, told):
    (tmp_path / "own.py").write_text(code)
    with pytest.raises(ExchangeError, match=told):
        write_export(Format.csv, tmp_path, table(), Policy(), None, None, None, tmp_path / "own.py")
    with pytest.raises(ExchangeError, match="There is no file"):
        write_export(Format.csv, tmp_path, table(), Policy(), None, None, None, tmp_path / "none.py")
    with pytest.raises(ExchangeError, match="--with names an exporter of your own"):
        write_export(Format.canvas, tmp_path, table(), Policy(), None, None, None, tmp_path / "own.py")
    assert not (tmp_path / "exports").exists()


def test_canvas_test_student_with_points_is_no_problem():
    pretended = Student("999")
    header = ("Student", "ID", "Section", "One")
    rows = (Line(2, ("Lee, Ann", "101", "S", "")), Line(3, ("Student, Test", "999", "S", "")))
    into = Sheet(Path("canvas.csv"), header, rows)
    graded = Recorded({"double": Score()}, 0.0, {"double": 1.5})
    standings = {each.id: standing(each, ONE, Status.final, graded) for each in (ANN, pretended)}
    exported = export_canvas(Table((ONE,), (ANN, pretended), {"ch01": standings}), Policy(), into)
    assert (exported.problems, [row[1] for row in exported.rows[2:]]) == ([], ["101"])


def test_a_gradebook_in_another_language_says_which_columns_lack():
    into = Sheet(Path("canvas.csv"), ("Studierende", "ID", "Abschnitt"), ())
    with pytest.raises(ExchangeError, match=r"lacks Student \(or LastName and FirstName\) and Section .*Edit Settings"):
        export_canvas(table(), Policy(), into)
    worksheet = Sheet(Path("w.csv"), ("Identifier", "Vollständiger Name", "Bewertung"), ())
    alone = Table((ONE,), (), {"ch01": {}})
    with pytest.raises(ExchangeError, match=r"has no column Grade, but .*Bewertung.*lang=en"):
        export_moodle(alone, Policy(), worksheet)
