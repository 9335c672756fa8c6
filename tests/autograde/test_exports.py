"""Final points for Canvas, Moodle and Gradescope and as plain CSV: they are those that nbgrader exports."""

import csv
import io
import json
import shutil
from pathlib import Path

import pytest
from gradebook_course import register_first, write_course
from nbgrader.plugins.export import CsvExportPlugin
from typer.testing import CliRunner

from grader.cli import commands as cli
from grader.gradebook import gradebook_url, open_gradebook, open_writer
from grader.gradebook.enrolment import enrol
from grader.gradebook.roster import Student
from grader.lms.exported import find_column
from grader.manifest import load_manifest
from grader.sheets import ExchangeError, Line, Sheet
from tests.gradescope_format import assert_documented

HOSTILE = "=HYPERLINK(1)"
ROSTER = [
    Student("ann", "Ann", "Lee", "ann@example.edu", "101"),
    Student("bo", "Bo", HOSTILE, "bo@example.edu", "102"),
    Student("cy", "Cy", "Ng", "cy@example.edu", "103"),
    Student("dee", "Dee", "Oh", "dee@example.edu", "104"),
    Student("eve", "Eve", "Wu", "eve@example.edu", "105"),
]
ANSWER = {"second": {"why": "digest"}}


@pytest.fixture(scope="session")
def course(tmp_path_factory):
    return write_course(tmp_path_factory.mktemp("exports") / "course")


@pytest.fixture(scope="session")
def graded(course, tmp_path_factory):
    """Ann and Bo are graded, with all that an instructor can change; Cy's answer is not; Dee's submission is not; Eve
    has none; Fay was graded, and is not in the roster.
    """
    term = tmp_path_factory.mktemp("term")
    fill(gradebook_url(term), course)
    (term / "submitted" / "dee" / "ch01").mkdir(parents=True)
    (term / "submitted" / "dee" / "ch01" / "first.ipynb").write_text("{}")
    return term


def fill(url, course):
    register_first(url, course)
    enrol(url, ROSTER)
    with open_writer(url, "ch01") as writer:
        writer.record("ann", {"first": {"double": 0.5, "halve": 1.5}, "second": {"square": 1 / 3}}, answers=ANSWER)
        writer.record("bo", {"first": {"double": 2}}, answers={"second": {"why": ""}})
        writer.record("cy", {"first": {"double": 2}, "second": {"square": 1}}, answers=ANSWER)
        writer.record("fay", {"first": {"halve": 0.25}}, answers={"second": {"why": ""}})
    with open_gradebook(url) as gradebook:
        for student, name, notebook, manual, extra in (
            ("ann", "double-check", "first", 1.75, 0.5),
            ("ann", "why", "second", 2.5, None),
            ("bo", "double-check", "first", None, 0.25),
            ("cy", "why", "second", None, 1.0),  # extra credit, but no points yet
        ):
            grade = gradebook.find_grade(name, notebook, "ch01", student)
            grade.manual_score, grade.extra_credit = manual, extra
            grade.needs_manual_grade = student == "cy"
        for student, name, notebook, comment in (
            ("ann", "double", "first", "=1+1, nearly.\nSee page 3."),
            ("ann", "why", "second", "Good \x1b[31mwork"),
        ):
            gradebook.find_comment(name, notebook, "ch01", student).manual_comment = comment
        gradebook.find_submission("ch01", "ann").notebooks[0].late_submission_penalty = 0.5
        gradebook.find_submission("ch01", "fay").notebooks[0].late_submission_penalty = 1.0  # more than the points
        gradebook.db.commit()


@pytest.fixture
def term(graded, tmp_path):
    return shutil.copytree(graded, tmp_path / "term")


@pytest.fixture
def export(course, term, monkeypatch):
    monkeypatch.chdir(course)

    def call(*options, chapters=("ch01",)):
        result = CliRunner().invoke(cli.app, ["export", *chapters, "--term", str(term), *map(str, options)])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.stdout, result.stderr

    return call


def table(path, encoding="utf-8", delimiter=","):
    with path.open(newline="", encoding=encoding) as file:
        return list(csv.reader(file, delimiter=delimiter))


def totals_of_nbgrader(url, folder):
    """The scores in the file that nbgrader's own plugin writes."""
    with open_gradebook(url) as gradebook:
        CsvExportPlugin(to=str(folder / "grades.csv")).export(gradebook)
    with (folder / "grades.csv").open(newline="", encoding="utf-8") as file:
        return {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}


# by hand: Ann 1.75 + 0.5 + 1.5 + 1/3 + 2.5 - 0.5, Bo 2 + 0.25, Cy 2 + 1, Fay 0.25 - 1
TOTALS = {"ann": 6.083333, "bo": 2.25, "cy": 3.0, "fay": 0.0}


def test_the_totals_are_those_of_nbgrader(export, term, tmp_path):
    theirs = totals_of_nbgrader(gradebook_url(term), tmp_path)
    assert export("--ungraded", "zero", "--missing", "zero")[0] == 3  # Dee's submission is not graded
    header, *rows = table(term / "exports/ch01-points.csv", "utf-8-sig")
    ours = {row[0]: row[header.index("ch01.total")] for row in rows}
    assert ours.pop("dee") == ""
    assert theirs.pop("dee") == 0
    assert {name: float(total) for name, total in ours.items()} == pytest.approx(theirs, abs=5e-7)
    assert {name: float(total) for name, total in ours.items()} == {**TOTALS, "eve": 0.0}


def test_the_plain_table(export, term):
    status, output, error = export()
    assert (status, error) == (3, "")
    assert output.splitlines() == [
        f"Wrote {term}/exports/ch01-points.csv",
        "ch01: answers not graded yet for 1 student, no total exported (--ungraded zero counts these answers as 0, or "
        "with the points they had before): Cy Ng (cy).",
        "ch01: submission not graded yet for 1 student, no total exported. "
        f"Run  grader autograde ch01 --term {term}  first: Dee Oh (dee).",
        "ch01: no submission for 1 student, no total exported (--missing zero writes 0): Eve Wu (eve).",
    ]
    path = term / "exports/ch01-points.csv"
    assert path.stat().st_mode & 0o777 == 0o600
    header, *rows = table(path, "utf-8-sig")
    items = ["double", "halve", "square", "why", "late_penalty", "total", "points_possible", "status", "comments"]
    assert header == ["id", "last_name", "first_name", "email", "lms_user_id", *(f"ch01.{item}" for item in items)]
    comments = "Double: =1+1, nearly.\nSee page 3.\n\nWhy: Good \ufffd[31mwork"
    ann = ["2.25", "1.5", "0.333333", "2.5", "0.5", "6.083333", "7.5", "final", comments]
    assert rows[0] == ["ann", "Lee", "Ann", "ann@example.edu", "101", *ann]
    assert rows[1][:5] == ["bo", f"'{HOSTILE}", "Bo", "bo@example.edu", "102"]
    assert rows[2][5:] == ["2", "0", "1", "", "0", "", "7.5", "answers not graded yet", ""]
    assert rows[3][5:] == ["", "", "", "", "", "", "7.5", "submission not graded yet", ""]
    assert rows[4][5:] == ["", "", "", "", "", "", "7.5", "no submission", ""]
    assert rows[5][:6] == ["fay", "", "", "", "", "0"]
    text = path.read_bytes()
    assert b',2.25,1.5,0.333333,2.5,0.5,6.083333,7.5,"final"' in text  # numbers have no quotes
    assert b'"101"' in text


# --- Canvas ---------------------------------------------------------------------------------------------------

CANVAS = f"""Student,ID,SIS User ID,SIS Login ID,Section,Notes,One (11),Other (12),Current Score
,,,,,,Manual Posting,,
    Points Possible,,,,,,7.50,20.00,(read only)
"{HOSTILE}, Bo",102,+S2,bo,Rec 1,-sick,1.00,5.00,80
"Lee, Ann",101,S1,ann,Rec 1,,,6.00,81
"Ng, Cy",103,S3,cy,Rec 2,,3.25,EX,82
"Wu, Eve",105,S5,eve,Rec 2,,EX,EX,82
"Unknown, Uma",999,S9,uma,Rec 2,,,,
"Student, Test",1000,,f00f,Rec 1,,,,
"""


def test_into_the_gradebook_of_canvas(export, term, tmp_path):
    into = tmp_path / "from_canvas.csv"
    into.write_text(CANVAS, "utf-8")
    status, output, error = export("--format", "canvas", "--into", into)
    assert status == 3
    assert table(term / "exports/ch01-canvas.csv") == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "One (11)"],
        ["    Points Possible", "", "", "", "", "7.5"],
        [f"'{HOSTILE}, Bo", "102", "'+S2", "bo", "Rec 1", "2.25"],
        ["Lee, Ann", "101", "S1", "ann", "Rec 1", "6.083333"],
        ["Ng, Cy", "103", "S3", "cy", "Rec 2", "3.25"],  # not published, so Canvas's own score
        ["Wu, Eve", "105", "S5", "eve", "Rec 2", "EX"],
    ]
    assert error.splitlines() == [
        f"Not in {into}, so not in the export: dee, fay.",
        f"In {into} but not in the gradebook, so left out: Unknown, Uma (line 8). Import the roster with  "
        f"grader roster {into}",
    ]
    assert "Canvas has" not in output  # its points agree


class OfCanvas:
    """How lib/gradebook_importer.rb of Canvas reads a file: whose score for which assignment it changes."""

    def __init__(self, path, students, assignments):
        header, *rows = table(path)
        assert "Student" in header[0]
        assert "ID" in header[1]
        last = 2 + (header[2] == "SIS User ID") + ("SIS Login ID" in header[2:4])
        assert "Section" in header[last]
        self.scores, self.new = {}, []
        for column, title in enumerate(header[last + 1 :], last + 1):
            number = title.rpartition("(")[2].removesuffix(")")
            self.new += [title] if number not in assignments else []
            for row in rows:
                if "Points Possible" not in row[0]:
                    assert row[1] in students
                    self.scores[row[1], title] = row[column]


def test_canvas_finds_every_student_and_assignment(export, term, tmp_path):
    into = tmp_path / "from_canvas.csv"
    into.write_text(CANVAS, "utf-8")
    output = export("--format", "canvas", "--into", into, "--ungraded", "zero", "--missing", "zero")[1]
    assert output.splitlines()[-1] == "Excused in Canvas, and left so: eve."
    canvas = OfCanvas(term / "exports/ch01-canvas.csv", {"101", "102", "103", "105", "999"}, {"11", "12"})
    assert canvas.new == []
    scores = {id_: score for (id_, _), score in canvas.scores.items()}
    assert scores.pop("105") == "EX"
    assert {id_: float(score) for id_, score in scores.items()} == {
        "101": TOTALS["ann"],
        "102": TOTALS["bo"],
        "103": TOTALS["cy"],
    }


def test_from_the_roster_for_canvas(export, term):
    status, _, error = export("--format", "canvas")
    assert (status, error) == (
        3,
        "Without a Canvas ID, so not in the file: fay. Import the roster with  grader roster EXPORTED_GRADEBOOK.csv\n",
    )
    path = term / "exports/ch01-canvas.csv"
    assert table(path) == [
        ["Student", "ID", "Section", "One"],
        ["    Points Possible", "", "", "7.5"],
        ["Lee, Ann", "101", "", "6.083333"],
        [f"'{HOSTILE}, Bo", "102", "", "2.25"],
    ]
    assert OfCanvas(path, {"101", "102"}, set()).new == ["One"]


def test_other_points_in_canvas_are_told(export, tmp_path, term):
    into = tmp_path / "from_canvas.csv"
    into.write_text(CANVAS.replace("7.50", "100.00").replace(",", ";").replace("; ", ", "), "utf-8")
    _, output, _ = export("--format", "canvas", "--into", into)
    assert "Canvas has 100.00 points for ch01, the chapter has 7.5." in output
    assert table(term / "exports/ch01-canvas.csv", delimiter=";")[1][-1] == "100"


def test_a_column_of_another_name(export, tmp_path, term):
    into = tmp_path / "from_canvas.csv"
    into.write_text(CANVAS.replace("One (11)", "Homework 1 (11)"), "utf-8")
    _, output, _ = export("--format", "canvas", "--into", into)
    assert "has no column for ch01: Canvas will offer to create the assignment 'One'." in output
    assert table(term / "exports/ch01-canvas.csv")[0][-1] == "One"
    for name in ("homework 1", "Homework 1 (11)"):
        export("--format", "canvas", "--into", into, "--column", name)
        assert table(term / "exports/ch01-canvas.csv")[0][-1] == "Homework 1 (11)"
    status, _, error = export("--format", "canvas", "--into", into, "--column", "Homework 2")
    assert status == 1
    assert "has no column 'Homework 2'. It has: Notes, Homework 1 (11), Other (12), Current Score." in error


@pytest.mark.parametrize(
    ("header", "given", "found"),
    [
        (("One (11)",), None, 0),
        (("Other (1)", "  ONE  (12)"), None, 1),
        (("ch01 (3)",), None, 0),
        (("Homework: One (3)",), None, 0),
        (("Assignment: One (Feedback)", "Assignment: One (Real)"), None, 1),
        (("One more (11)",), None, None),
        (("Homework (1) (11)",), "homework (1)", 0),
        (("Quiz: One (3)", "Homework: One (4)"), "Homework: One", 1),
        (("Quiz: One (3)", "Homework: One (4)"), None, ExchangeError),
        (("One (3)", "One (4)"), None, ExchangeError),
        (("One (3)", "One (4)"), "One (4)", 1),
    ],
)
def test_the_column_of_a_chapter(course, header, given, found):
    sheet = Sheet(Path("x.csv"), header, (Line(2, ("",) * len(header)),))
    chapter = load_manifest(course / "course.toml").chapters[0]
    if found is ExchangeError:
        with pytest.raises(ExchangeError, match=r"several columns for ch01: .*Choose one with --column"):
            find_column(sheet, chapter, given, 0)
    else:
        assert find_column(sheet, chapter, given, 0) == found


def test_students_without_a_number_of_canvas(term, course, tmp_path, monkeypatch):
    """They are found by login or by the university's number, and only they."""
    with open_gradebook(gradebook_url(term)) as gradebook:
        for name in ("ann", "bo", "cy"):
            gradebook.find_student(name).lms_user_id = None
        gradebook.find_student("bo").email = "bo@login"
        gradebook.db.commit()
    into, target = tmp_path / "from_canvas.csv", tmp_path / "out.csv"
    text = CANVAS.replace(",bo,", ",BO@login,").replace("S3,cy", "cy,c17").replace("S5,eve", "ann,x")
    into.write_text(text, "utf-8")
    monkeypatch.chdir(course)
    options = ["--format", "canvas", "--into", str(into), "--out", str(target), "--ungraded", "zero"]
    CliRunner().invoke(cli.app, ["export", "ch01", "--term", str(term), *options])
    _, _, *rows = table(target)
    assert {row[1]: row[-1] for row in rows} == {"101": "6.083333", "102": "2.25", "103": "3", "105": "EX"}


# --- Moodle ---------------------------------------------------------------------------------------------------

MOODLE = """\
"First name","Last name","ID number",Institution,"Email address","Assignment: One (Real)","Assignment: One (Feedback)",\
"Assignment: Other (Real)","Last downloaded from this course"
Ann,Lee,101,Uni,ANN@example.edu,-,,3,1767225600
Bo,Ray,102,Uni,,1.00,"Old words",3,1767225600
Cy,Ng,,Uni,CY@example.edu,2.00,"Cy's words",3,1767225600
Uma,Unknown,,Uni,uma@example.edu,-,,3,1767225600
"""
FEEDBACK = "Double: =1+1, nearly.\nSee page 3.\n\nWhy: Good \ufffd[31mwork\n\nLate penalty: 0.5 points."


def test_into_an_export_of_moodle(export, term, tmp_path):
    into = tmp_path / "from_moodle.csv"
    into.write_text(MOODLE, "utf-8")
    status, output, error = export("--format", "moodle", "--into", into)
    assert status == 3
    assert table(term / "exports/ch01-moodle.csv") == [
        [
            *("First name", "Last name", "ID number", "Email address"),
            *("Assignment: One (Real)", "Assignment: One (Feedback)"),
        ],
        ["Ann", "Lee", "101", "ANN@example.edu", "6.083333", FEEDBACK],
        ["Bo", "Ray", "102", "", "2.25", "Old words"],  # no comment of ours deletes one of Moodle's
        ["Cy", "Ng", "", "CY@example.edu", "2.00", "Cy's words"],
    ]
    assert error.splitlines() == [
        f"Not in {into}, so not in the export: dee, eve, fay.",
        f"In {into} but not in the gradebook, so left out: Uma Unknown (line 5). Import the roster with  "
        f"grader roster {into}",
    ]
    assert "ch01: the maximum grade in Moodle must be 7.5, because grades are points." in output


def test_from_the_roster_for_moodle(export, term):
    status, _, error = export("--format", "moodle", "--missing", "zero")
    assert (status, error) == (
        3,
        "Without an e-mail address and an ID number, so not in the file: fay. Import the roster with  grader roster "
        "EXPORTED.csv\n",
    )
    header, *rows = table(term / "exports/ch01-moodle.csv")
    assert header[:4] == ["First name", "Last name", "ID number", "Email address"]
    assert header[4:] == ["Assignment: One (Real)", "Assignment: One (Feedback)"]
    assert {row[3]: row[4:] for row in rows} == {
        "ann@example.edu": ["6.083333", FEEDBACK],
        "bo@example.edu": ["2.25", ""],
        "eve@example.edu": ["0", ""],
    }


WORKSHEET = """\
Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed",\
"Last modified (submission)","Last modified (grade)","Feedback comments"
"Participant 11","Ann Lee",ann@example.edu,"Submitted for grading",,7.50,Yes,"Sunday, 1 March 2026",-,
"Participant 12","Bo Ray",bo@example.edu,"Submitted for grading",1.00,7.50,Yes,-,"Monday, 2 March 2026","Old words"
"Participant 13","Cy Ng",cy@example.edu,"No submission",,7.50,Yes,-,-,"Cy's words"
"""


def test_a_grading_worksheet_of_moodle(export, term, tmp_path):
    into = tmp_path / "worksheet.csv"
    into.write_text(WORKSHEET, "utf-8")
    _, output, _ = export("--format", "moodle", "--into", into)
    expected = list(csv.reader(io.StringIO(WORKSHEET)))
    expected[1][4], expected[1][9], expected[2][4] = "6.083333", FEEDBACK, "2.25"
    assert table(term / "exports/ch01-moodle.csv") == expected
    assert "maximum grade" not in output
    into.write_text(WORKSHEET.replace("7.50", "100"), "utf-8")
    assert "the maximum grade in Moodle must be 7.5" in export("--format", "moodle", "--into", into)[1]


# --- Gradescope -----------------------------------------------------------------------------------------------


def test_results_for_gradescope(export, term):
    assert export("--format", "gradescope", "--missing", "zero")[0] == 3
    folder = term / "exports/gradescope/ch01"
    assert sorted(path.parent.name for path in folder.glob("*/results.json")) == ["ann", "bo", "eve", "fay"]
    ann = json.loads((folder / "ann/results.json").read_bytes())
    assert ann["score"] == TOTALS["ann"]
    assert ann["output"].startswith("Late penalty: 0.5. The score is what remains.\n\nThe checks in your notebook use")
    assert "are not listed here" not in ann["output"]
    assert [(test["name"], test["score"], test["max_score"]) for test in ann["tests"]] == [
        ("Double (double)", 2.25, 2.0),
        ("Halve (halve)", 1.5, 1.5),
        ("Square (square)", 0.333333, 1.0),
        ("Why", 2.5, 3.0),
    ]
    assert [test["status"] for test in ann["tests"]] == ["passed", "passed", "failed", "failed"]
    assert ann["tests"][3]["output"] == "Your instructor's comment: Good \ufffd[31mwork"
    assert ann["extra_data"] == {"chapter": "ch01", "student": "ann", "late_penalty": 0.5, "status": "final"}
    eve = json.loads((folder / "eve/results.json").read_bytes())
    assert (eve["score"], eve["output"], eve["tests"]) == (0, "No submission.", [])
    for path in folder.glob("*/results.json"):
        assert_documented(json.loads(path.read_bytes()))
        assert path.stat().st_mode & 0o777 == 0o600


# --- what the command refuses ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "chapters", "message"),
    [
        ((), (), "Name the chapters to export, or use --all."),
        (("--all",), ("ch01",), "Name the chapters to export, or use --all."),
        (("--into", "x.csv"), ("ch01",), "--into and --column belong to --format canvas and --format moodle."),
        ((), ("ch02",), "There is no chapter 'ch02'"),
        (("--format", "canvas", "--into", "nowhere.csv"), ("ch01",), "nowhere.csv"),
        (("--format", "canvas", "--into", "course.toml"), ("ch01",), "is not a gradebook exported from Canvas"),
        (("--format", "moodle", "--into", "course.toml"), ("ch01",), "is not an export of Moodle"),
    ],
)
def test_what_is_refused(export, options, chapters, message, term):
    status, output, error = export(*options, chapters=chapters)
    assert (status, output) == (1, "")
    assert message in error
    assert not (term / "exports").exists()


def test_the_file_of_canvas_is_never_overwritten(export, tmp_path):
    into = tmp_path / "from_canvas.csv"
    into.write_text(CANVAS, "utf-8")
    status, _, error = export("--format", "canvas", "--into", into, "--out", into)
    assert status == 1
    assert "is the file given with --into. Choose another name with --out." in error
    assert into.read_text("utf-8") == CANVAS


def test_a_chapter_without_points(course, tmp_path, monkeypatch):
    monkeypatch.chdir(course)
    for options in (("ch01",), ("--all",)):
        result = CliRunner().invoke(cli.app, ["export", *options, "--term", str(tmp_path / "other")])
        assert result.exit_code == 1
        assert "Run  grader autograde" in result.stderr
    assert not (tmp_path / "other").exists()


def test_all_chapters(export, term):
    assert export("--all", chapters=())[0] == 3
    assert (term / "exports/ch01-points.csv").exists()


def test_a_roster_an_export_and_its_roster_again(export, term, course, monkeypatch):
    """The first columns of the plain table are a roster, also with the apostrophes in it."""
    export()
    arguments = ["roster", str(term / "exports/ch01-points.csv"), "--term", str(term)]
    result = CliRunner().invoke(cli.app, arguments)
    assert result.exit_code == 0
    assert "Unchanged: 6" in result.stdout
