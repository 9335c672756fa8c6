"""Rosters of Canvas, Moodle and Gradescope, with the headers that these systems write, into nbgrader's gradebook."""

import shutil
from pathlib import Path

import pytest
from gradebook_course import write_course
from typer.testing import CliRunner

from grader.cli import commands as cli
from grader.gradebook import gradebook_url, open_gradebook, roster
from grader.gradebook.enrolment import enrol
from grader.gradebook.roster import Student, students
from grader.lms.options import System
from grader.lms.rosters import read_roster
from grader.plugins.download_names import read_name
from grader.sheets import ExchangeError

# lib/gradebook_exporter.rb of Canvas: the header, the row of posting policies, the points, the test student last
CANVAS = '''Student,ID,SIS User ID,SIS Login ID,Section,Sequences (4711),Current Score,Final Score
,,,,,Manual Posting,,
    Points Possible,,,,,20.00,(read only),(read only)
"Lee, Ann",12345,S-1,ann@example.edu,Rec 1,,80,80
"de la Cruz, Bo Ray",222,S-2,bo17,Rec 1,3.50,0,0
"=""=1+1""",333,S-3,cy@example.edu,"Rec 1 and Rec 2",,,
"Student, Test",999,,f00f,Rec 1,,,
'''
CANVAS_SPLIT = """LastName,FirstName,ID,SIS Login ID,Section,Sequences (4711)
    Points Possible,,,,,20
Lee,Ann,12345,ann@example.edu,Rec 1,
"""
# grade/export/txt of Moodle, and the header in its tests of the import
MOODLE = """\
"First name",Surname,"ID number",Institution,Department,"Email address","Assignment: Sequences (Real)"
Ann,Lee,7,"Moodle HQ","Rock on!",ann@example.edu,-
Sinéad,O'Neill,,,,sinead@example.edu,5.00
Mary_Ann,Smith/Jones,9,,,mary@example.edu,-
"""
MOODLE_WORKSHEET = (
    'Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed",'
    '"Last modified (submission)","Last modified (grade)","Feedback comments"\n'
    '"Participant 1234567","Ann Lee",ann@example.edu,"Submitted for grading",,20.00,Yes,-,-,\n'
)
GRADESCOPE = """First Name,Last Name,SID,Email,Role,Section
Ann,Lee,17,ann@example.edu,Student,A
Bo,Ray,18,bo@example.edu,student,B
Dr,Who,,who@example.edu,Instructor,
Tea,Aye,,ta@example.edu,TA,
"""
PLAIN = "id,first_name,last_name,email,lms_user_id\nann,Ann,Lee,ann@example.edu,12\n"


def read(tmp_path, text, system=None):
    path = tmp_path / "roster.csv"
    path.write_text(text, "utf-8")
    return read_roster(path, system)


def test_canvas(tmp_path):
    found = read(tmp_path, CANVAS)
    assert found.system is System.canvas
    assert found.students == (
        Student("12345", "Ann", "Lee", "ann@example.edu", "12345"),
        Student("222", "Bo Ray", "de la Cruz", "", "222"),
        Student("333", "=1+1", "", "cy@example.edu", "333"),
    )
    assert found.left_out == ("Canvas's test student",)
    assert found.refused == ()


def test_canvas_with_two_columns_of_names(tmp_path):
    found = read(tmp_path, CANVAS_SPLIT)
    assert found.system is System.canvas
    assert found.students == (Student("12345", "Ann", "Lee", "ann@example.edu", "12345"),)


def test_moodle(tmp_path):
    found = read(tmp_path, MOODLE)
    assert found.system is System.moodle
    assert found.students == (
        Student("Ann Lee", "Ann", "Lee", "ann@example.edu", "7"),
        Student("Sinéad ONeill", "Sinéad", "O'Neill", "sinead@example.edu"),
        Student("Mary Ann SmithJones", "Mary_Ann", "Smith/Jones", "mary@example.edu", "9"),
    )


def test_a_worksheet_of_moodle(tmp_path):
    found = read(tmp_path, MOODLE_WORKSHEET)
    assert found.system is System.moodle
    assert found.students == (Student("Ann Lee", "", "Ann Lee", "ann@example.edu"),)


def test_gradescope(tmp_path):
    found = read(tmp_path, GRADESCOPE)
    assert found.system is System.gradescope
    assert found.students == (
        Student("ann@example.edu", "Ann", "Lee", "ann@example.edu", "17"),
        Student("bo@example.edu", "Bo", "Ray", "bo@example.edu", "18"),
    )
    assert found.left_out == ("2 of the course's staff",)


@pytest.mark.parametrize(
    "text",
    [PLAIN, PLAIN.replace(",", ";"), PLAIN.replace(",", "\t"), PLAIN.replace("\n", "\r\n"), "\ufeff" + PLAIN],
    ids=["comma", "semicolon", "tab", "CRLF", "mark"],
)
def test_plain(tmp_path, text):
    found = read(tmp_path, text)
    assert (found.system, found.students) == (
        System.csv,
        (Student("ann", "Ann", "Lee", "ann@example.edu", "12"),),
    )


def test_a_plain_file_with_sections_is_not_one_of_canvas(tmp_path):
    found = read(tmp_path, "id,first_name,last_name,section\nann,Ann,Lee,A\n")
    assert (found.system, found.students) == (System.csv, (Student("ann", "Ann", "Lee"),))


def test_another_format_can_be_demanded(tmp_path):
    both = "id,First name,Last name,Email address\na1,Ann,Lee,ann@example.edu\n"
    assert read(tmp_path, both).students[0].id == "Ann Lee"
    assert read(tmp_path, both, System.csv).students == (Student("a1", "Ann", "Lee"),)
    with pytest.raises(ExchangeError, match=r"Canvas's exported gradebook needs Student"):
        read(tmp_path, both, System.canvas)
    header = "Name,Email\nAnn Lee,ann@example.edu\n"
    with pytest.raises(ExchangeError, match=r"the header \(Name, Email\) is not that of a roster"):
        read(tmp_path, header)
    assert read(tmp_path, header, System.gradescope).students == (
        Student("ann@example.edu", "", "Ann Lee", "ann@example.edu"),
    )


@pytest.mark.parametrize(
    "header",
    [
        "ID,Vollständiger Name,E-Mail-Adresse,Status,Bewertung",  # Moodle's worksheet in German
        "ID;Nom complet;Adresse de courriel;Statut",
        "ID\tNombre completo\tDirección de correo\tEstado",
        "Studierende,ID,SIS-Benutzer-ID,SIS-Anmelde-ID,Abschnitt",  # Canvas
        "Vorname,Nachname,ID-Nummer,E-Mail-Adresse",
        "id,email,section",
    ],
)
def test_a_header_in_another_language_is_no_plain_roster(tmp_path, header):
    with pytest.raises(ExchangeError, match=r"the header \(.*\) is not that of a roster.* needs .* set it to English"):
        read(tmp_path, f"{header}\nTeilnehmer 123,1,2,3,4\n")


@pytest.mark.parametrize(
    ("header", "system", "how"),
    [
        ("ID,Vollständiger Name,E-Mail-Adresse,Status", "Moodle's export", "lang=en"),
        ("Studierende,ID,SIS-Benutzer-ID,SIS-Anmelde-ID,Abschnitt", "Canvas's exported gradebook", "Edit Settings"),
    ],
)
def test_a_header_in_another_language_gets_the_advice_that_helps(tmp_path, header, system, how):
    with pytest.raises(ExchangeError) as caught:
        read(tmp_path, f"{header}\nx,1,2,3,4\n")
    assert f". {system}" in str(caught.value)
    assert how in str(caught.value)
    assert str(caught.value).count(" needs ") == 1


def test_names_are_composed(tmp_path):
    (student,) = read(tmp_path, "id,first_name\nZoe\u0308,Zoe\u0308\n").students
    assert student == Student("Zo\xeb", "Zo\xeb")


def test_a_file_without_students(tmp_path):
    with pytest.raises(ExchangeError, match="lists no students"):
        read(tmp_path, PLAIN.splitlines()[0])


@pytest.mark.parametrize(
    ("text", "download"),
    [
        (CANVAS, "leeann_12345_678910_recurrence.ipynb"),
        (MOODLE, "Ann Lee_1234567_assignsubmission_file_/recurrence.ipynb"),
        (GRADESCOPE, "submission_5/recurrence.ipynb"),
    ],
)
def test_the_id_is_the_folder_that_is_collected(tmp_path, text, download):
    path = tmp_path / download
    path.parent.mkdir(exist_ok=True)
    metadata = "submission_5:\n  :submitters:\n  - :sid: '17'\n    :email: ann@example.edu\n"
    (path.parent.parent / "submission_metadata.yml").write_text(metadata)
    (tmp_path / "submission_metadata.yml").write_text(metadata)
    collected = read_name(path, Path(download).parts)
    assert read(tmp_path, text).students[0].id == collected.student


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        (
            'Student,ID,Section\n,,\n    Points Possible,,\n"Lee, Ann",1.2E+04,A\n',
            ["line 4 has no number in the column ID, but '1.2E+04'. Export the gradebook from Canvas again."],
        ),
        (
            "First name,Last name,Email address\nAnn,Lee,a@x.edu\nBo,Ray,b@x.edu\nAnn,Lee,c@x.edu\n",
            [
                "lines 2 and 4 are about different students with the id 'Ann Lee'. Moodle's downloads tell them apart "
                "only by a number that changes. Rename their folders after collecting, and add both with a plain CSV "
                "file (id, first_name, last_name, email) in which id is the folder's name."
            ],
        ),
        (
            "id,email\nann,a@x.edu\nann,a@x.edu\nbo,A@x.edu\ncy,\ndee,\n",
            [
                "lines 2 and 4 have the same e-mail address 'a@x.edu' but different ids ('ann', 'bo'). "
                "Keep the right one."
            ],
        ),
        ("id,email\n../ann,a@x.edu\n", ["line 2 has the id '../ann', which cannot be the name of a submission folder"]),
        ("id\n<b>\n", ["line 2 has the id '<b>', which cannot be the name of a submission folder"]),
        ("id\n.ann\n", ["line 2 has the id '.ann', which cannot be the name of a submission folder"]),
        ("id,email\n,a@x.edu\n", ["line 2 has no student id (id are needed)"]),
        ("id,email\nann,a@x.edu,more\n", ["line 2 has more cells than the header"]),
        (f"id\n{'a' * 129}\n", [f"line 2 has a text of more than 128 characters: '{'a' * 30}' …"]),
        ('id,email\nann,"a\nb"\nbo,x,y\n', ["line 4 has more cells than the header"]),
    ],
)
def test_rows_that_are_refused(tmp_path, text, refused):
    found = read(tmp_path, text)
    assert list(found.refused) == refused


def test_the_other_rows_are_imported(tmp_path):
    found = read(tmp_path, "id,email\nann,a@x.edu\nbo,b@x.edu,x\nann,a@x.edu\n")
    assert found.students == (Student("ann", email="a@x.edu"),)


def test_no_name_is_markup(tmp_path):
    """formgrader writes names into its pages as they are."""
    (found,) = read(tmp_path, 'id,first_name,last_name\nann,"<img src=""x"">",a\\b\x07\n').students
    assert (found.first_name, found.last_name) == ("‹img src=”x”›", "a∖b\ufffd")


# --- into the gradebook --------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def empty_term(tmp_path_factory):
    term = tmp_path_factory.mktemp("term")
    enrol(gradebook_url(term), [])
    return term


@pytest.fixture
def db_url(tmp_path, empty_term):
    shutil.copy(empty_term / "gradebook.db", tmp_path / "gradebook.db")
    return gradebook_url(tmp_path)


def test_nbgrader_reads_what_was_imported(db_url):
    enrol(db_url, [Student("ann", "Ann", "Lee", "ann@example.edu", "12"), Student("bo")])
    with open_gradebook(db_url) as gradebook:
        ann, bo = (gradebook.find_student(name) for name in ("ann", "bo"))
        assert (ann.first_name, ann.last_name, ann.email, ann.lms_user_id) == ("Ann", "Lee", "ann@example.edu", "12")
        assert (bo.first_name, bo.last_name, bo.email, bo.lms_user_id) == (None,) * 4
    assert roster(db_url) == {"ann"}


def test_a_second_import_changes_only_what_differs(db_url):
    with open_gradebook(db_url) as gradebook:
        gradebook.add_student("cy", first_name="Cy")
    first = [Student("ann", "Ann", "Lee", "ann@example.edu"), Student("bo", "Bo")]
    done = enrol(db_url, first)
    assert (done.added, done.changed, done.unchanged, done.others) == (first, [], [], [Student("cy", "Cy")])
    done = enrol(db_url, first)
    assert (done.added, done.changed, done.unchanged) == ([], [], first)
    changed = Student("ann", "Anne", "", "")
    done = enrol(db_url, [changed, Student("dee")])
    after = Student("ann", "Anne", "Lee", "ann@example.edu")
    assert (done.added, done.changed, done.others) == (
        [Student("dee")],
        [(first[0], after)],
        [Student("bo", "Bo"), Student("cy", "Cy")],
    )
    assert students(db_url) == [after, Student("bo", "Bo"), Student("cy", "Cy"), Student("dee")]


# --- the command ---------------------------------------------------------------------------------------------------


@pytest.fixture
def command(tmp_path, monkeypatch):
    root = write_course(tmp_path / "course")
    monkeypatch.chdir(root)

    def call(text, *options):
        (root / "roster.csv").write_text(text, "utf-8")
        result = CliRunner().invoke(cli.app, ["roster", "roster.csv", "--term", str(tmp_path / "term"), *options])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.stdout, result.stderr

    return call


def test_the_command_reports_what_it_did(command, tmp_path):
    status, output, error = command(CANVAS)
    assert (status, error) == (0, "")
    assert output.splitlines() == [
        "roster.csv: Canvas's exported gradebook, 3 students",
        "Added 3:",
        "  12345 (Ann Lee, ann@example.edu)",
        "  222 (Bo Ray de la Cruz)",
        "  333 (=1+1, cy@example.edu)",
        "Unchanged: 0",
        "Left out: Canvas's test student",
    ]
    assert len(students(gradebook_url(tmp_path / "term"))) == 3
    again = CANVAS.replace("Lee, Ann", "Lee, Anne").replace('"de la Cruz, Bo Ray",222', '"Ray, Bo",x')
    status, output, error = command(again)
    assert status == 3
    assert "  12345: first_name 'Ann' → 'Anne'" in output.splitlines()
    assert "In the gradebook but not in this file, and left as they are: 222" in output
    assert (
        error
        == "Not imported: line 5 has no number in the column ID, but 'x'. Export the gradebook from Canvas again.\n"
    )
    assert len(students(gradebook_url(tmp_path / "term"))) == 3


def test_the_command_refuses_what_is_no_roster(command, tmp_path):
    status, output, error = command("a,b\n1,2\n")
    assert (status, output) == (1, "")
    assert error.startswith("roster.csv: the header (a, b) is not that of a roster. Canvas's exported gradebook needs")
    assert not (tmp_path / "term").exists()
    assert command(PLAIN, "--from", "moodle")[0] == 1
