"""`grader times`: when students submitted, as Moodle's worksheet, Canvas's API or a plain file tells it."""

import json
import shutil
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from typer.testing import CliRunner

from grader.cli import commands as cli
from grader.gradebook import gradebook_url, read_scores
from grader.gradebook.enrolment import enrol
from grader.gradebook.roster import Student
from grader.grading.chapter import autograde
from grader.grading.pool import here
from grader.lms.submission_times import read_time
from grader.times import TimeError

CHAPTER = "ch01_vanilla_rnn"
BERLIN = ZoneInfo("Europe/Berlin")
HEADER = (
    'Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed",'
    '"Last modified (submission)","Last modified (grade)","Feedback comments"\n'
)
SUBMITTED = "Submitted for grading"


def row(number, name, when, status=SUBMITTED):
    email = f"{name.split()[0].lower()}@example.edu"
    return f'"Participant {number}","{name}",{email},"{status}",,20.00,Yes,"{when}",-,\n'


# --- one time ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("Sunday, 1 March 2026, 11:59 PM", datetime(2026, 3, 1, 22, 59)),
        ("Sunday, 01 March 2026, 11:59 pm", datetime(2026, 3, 1, 22, 59)),
        ("Sunday, March 1, 2026, 11:59 PM", datetime(2026, 3, 1, 22, 59)),  # English (United States)
        ("Monday, 2 March 2026, 12:05\u202fAM", datetime(2026, 3, 1, 23, 5)),
        ("Monday, 2 March 2026, 12:05 PM", datetime(2026, 3, 2, 11, 5)),
        ("Wednesday, 1 July 2026, 9:00 AM", datetime(2026, 7, 1, 7, 0)),  # in summer, two hours before UTC
        ("2026-03-01T22:59:59Z", datetime(2026, 3, 1, 22, 59, 59)),
        ("2026-03-01 23:59:59 +01:00", datetime(2026, 3, 1, 22, 59, 59)),
        ("2026-03-01 23:59", datetime(2026, 3, 1, 22, 59)),
    ],
)
def test_times_that_are_certain(text, utc):
    assert read_time(text, BERLIN) == utc


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Sonntag, 1. März 2026, 23:59", "is not a time"),
        ("Sunday, 1 March 2026, 11:59", "is not a time"),  # in the morning or in the evening
        ("Sunday, 1 March 2026, 13:59 PM", "is not a time"),
        ("Monday, 1 March 2026, 11:59 PM", "is not a time"),  # it was a Sunday, so this is another calendar
        ("Sunday, 29 February 2026, 11:59 PM", "is not a time"),
        ("Sunday, 1 Mart 2026, 11:59 PM", "is not a time"),
        ("01/03/26, 23:59", "is not a time"),
        ("2026-02-30 12:00", "is not a time"),
        ("2026-03-01 12:00 CET", "is not a time"),
        ("Sunday, 25 October 2026, 2:30 AM", "twice"),
        ("Sunday, 29 March 2026, 2:30 AM", "never"),
        ("2026-10-25 02:30", "twice"),
    ],
)
def test_times_that_are_not(text, told):
    with pytest.raises(TimeError, match=told):
        read_time(text, BERLIN)


@pytest.mark.parametrize("text", ["Sunday, 1 March 2026, 11:59 PM", "2026-03-01 23:59"])
def test_a_time_without_a_zone(text):
    with pytest.raises(TimeError, match="has no time zone"):
        read_time(text, None)


# --- the command ------------------------------------------------------------------------------------------------


@pytest.fixture
def term(tmp_path):
    """Three students of Moodle, of whom all but cy have submitted."""
    term = tmp_path / "term"
    for student in ("Ann Lee", "Bo Ray"):
        (term / "submitted" / student / CHAPTER).mkdir(parents=True)
    people = (("Ann", "Lee", "7"), ("Bo", "Ray", "8"), ("Cy", "Roe", "9"))
    enrol(gradebook_url(term), [Student(f"{f} {n}", f, n, f"{f.lower()}@example.edu", k) for f, n, k in people])
    settings(term, 'timezone = "Europe/Berlin"\n')
    return term


def settings(term, text):
    (term / "term.toml").write_text(text)


@pytest.fixture
def times(monkeypatch, small_course, term, tmp_path):
    """Write a file and call the command with it; return exit status, stdout and stderr."""

    def call(text, *more, name="worksheet.csv"):
        path = tmp_path / name
        path.write_text(text, "utf-8")
        monkeypatch.chdir(small_course)
        given = ["times", CHAPTER, str(path), "--term", str(term), *map(str, more)]
        result = CliRunner().invoke(cli.app, given)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.stdout, result.stderr

    return call


def stamp(term, student):
    path = term / "submitted" / student / CHAPTER / "timestamp.txt"
    return path.read_text() if path.exists() else None


ANN = row(1, "Ann Lee", "Sunday, 1 March 2026, 11:59 PM")
BO = row(2, "Bo Ray", "Wednesday, 1 July 2026, 9:00 AM")
CY = row(3, "Cy Roe", "-", "No submission")


def test_a_worksheet_of_moodle(times, term):
    status, out, error = times(HEADER + ANN + BO + CY)
    assert (status, error) == (0, "")
    assert out.splitlines() == [
        f"Times without an offset are those of clocks in Europe/Berlin (timezone in {term / 'term.toml'}).",
        "Entered 2 times; 0 were there already.",
        "  Ann Lee: 2026-03-01 23:59 CET",
        "  Bo Ray: 2026-07-01 09:00 CEST",
    ]
    assert stamp(term, "Ann Lee") == "2026-03-01 22:59:00 UTC\n"
    assert stamp(term, "Bo Ray") == "2026-07-01 07:00:00 UTC\n"
    status, out, error = times(HEADER + ANN + BO + CY)
    assert (status, error) == (0, "")
    assert "Entered 0 times; 2 were there already." in out


def test_the_zone_is_never_guessed(times, term):
    settings(term, "")
    status, _, error = times(HEADER + ANN + BO)
    assert status == 3
    assert error.startswith(
        "Times without a time zone: Ann Lee, 'Sunday, 1 March 2026, 11:59 PM' (worksheet.csv, line 2), Bo Ray, "
    )
    assert 'timezone = "Europe/Berlin"  in term.toml, or with  --timezone Europe/Berlin' in error
    assert stamp(term, "Ann Lee") is None
    status, out, _ = times(HEADER + ANN + BO, "--timezone", "America/New_York")
    assert status == 0
    assert "America/New_York (--timezone)" in out
    assert stamp(term, "Ann Lee") == "2026-03-02 04:59:00 UTC\n"
    status, _, error = times(HEADER + ANN, "--timezone", "CET")
    assert (status, error) == (
        1,
        "'CET' is no time zone. Write its IANA name, such as Europe/Berlin or America/New_York.\n",
    )


def test_a_time_that_is_there_stays_unless_it_is_to_be_replaced(times, term):
    (term / "submitted" / "Ann Lee" / CHAPTER / "timestamp.txt").write_text("2026-03-01 20:00:00 UTC")
    (term / "submitted" / "Bo Ray" / CHAPTER / "timestamp.txt").write_text("at noon")
    status, out, error = times(HEADER + ANN + BO)
    assert (status, error) == (
        3,
        "Another time is there already, and stays: Ann Lee (2026-03-01 20:00 UTC; in the file 2026-03-01 22:59 UTC), "
        "Bo Ray ('at noon'; in the file 2026-07-01 07:00 UTC). To take those of the file, repeat the command with "
        "--replace.\n",
    )
    assert "Entered 0 times" in out
    assert (stamp(term, "Ann Lee"), stamp(term, "Bo Ray")) == ("2026-03-01 20:00:00 UTC", "at noon")
    status, out, error = times(HEADER + ANN + BO, "--replace")
    assert (status, error) == (0, "")
    assert "  Ann Lee: 2026-03-01 23:59 CET (before: 2026-03-01 20:00 UTC)" in out.splitlines()
    assert stamp(term, "Bo Ray") == "2026-07-01 07:00:00 UTC\n"


def test_what_has_to_be_looked_at(times, term):
    """Each of these is said, and nothing is written for it; the rest is entered."""
    for student in ("Di Poe", "Ed Fay", "Flo Kay"):
        (term / "submitted" / student / CHAPTER).mkdir(parents=True)
    status, out, error = times(
        HEADER
        + row(1, "Ann Lee", "Sonntag, 1. März 2026, 23:59")
        + BO
        + row(3, "Cy Roe", "Sunday, 1 March 2026, 1:00 PM")
        + row(4, "Di Poe", "Sunday, 25 October 2026, 2:30 AM")
        + row(5, "Ed Fay", "Sunday, 1 March 2026, 1:00 PM", "Reopened - Graded")
        + row(6, "Flo Kay", "Sunday, 1 March 2026, 1:00 PM", "Draft (not submitted) - 1 hour late")
        + row(7, "Gus Ode", "Sunday, 1 March 2026, 1:00 PM")
    )
    assert status == 3
    assert error.splitlines() == [
        "Not understood with certainty, so not entered: Ann Lee, 'Sonntag, 1. März 2026, 23:59' (worksheet.csv, line "
        "2). A time from Moodle is understood in English only, such as Sunday, 1 March 2026, 11:59 PM: choose English "
        "in the user menu, and download the worksheet again. Elsewhere, write it such as 2026-03-01 23:59:00 +01:00.",
        "A time, but no submission: Cy Roe (worksheet.csv, line 4). Was it made after your download? Download and "
        "collect again.",
        "Clocks in that zone show these times twice or never, because they are put back or forward: Di Poe, 'Sunday, "
        "25 October 2026, 2:30 AM' (worksheet.csv, line 5). Write each with its offset, in a CSV file with the columns "
        "student and submitted.",
        "Reopened in Moodle, so the time is that of the reopening: Ed Fay (worksheet.csv, line 6). Write the time of "
        "the submission in a CSV file with the columns student and submitted.",
        "Neither in the roster nor with a submission: Gus Ode (worksheet.csv, line 8). If it is Canvas's test "
        "student, there is nothing to do. Otherwise import the roster with  grader roster  or correct the name.",
        "Without a time, so they count as on time: Ann Lee, Di Poe, Ed Fay.",
    ]
    assert out.splitlines()[1:] == [
        "Entered 2 times; 0 were there already.",
        "  Bo Ray: 2026-07-01 09:00 CEST",
        "  Flo Kay: 2026-03-01 13:00 CET",
        "Drafts in Moodle, never submitted for grading: Flo Kay. Their time is that of the last change.",
    ]


def test_students_of_one_name_are_told_apart_by_the_number(times, term):
    """As `nbgrader zip_collect` names their folders, with the number that the worksheet has too."""
    for number in (21, 22):
        (term / "submitted" / f"Di Poe_{number}" / CHAPTER).mkdir(parents=True)
    rows = row(21, "Di Poe", "Sunday, 1 March 2026, 1:00 PM") + row(22, "Di Poe", "Sunday, 1 March 2026, 2:00 PM")
    status, _, error = times(HEADER + ANN + BO + rows)
    assert (status, error) == (0, "")
    assert stamp(term, "Di Poe_21") == "2026-03-01 12:00:00 UTC\n"
    assert stamp(term, "Di Poe_22") == "2026-03-01 13:00:00 UTC\n"


def test_hidden_names(times, term):
    shutil.rmtree(term / "submitted")
    (term / "submitted" / "Participant_5" / CHAPTER).mkdir(parents=True)
    header = "Identifier,Status,Grade,Last modified (submission),Last modified (grade)\n"
    status, _, error = times(header + '"Participant 5",Submitted for grading,,"Sunday, 1 March 2026, 1:00 PM",-\n')
    assert (status, error) == (0, "")
    assert stamp(term, "Participant_5") == "2026-03-01 12:00:00 UTC\n"


# --- Canvas -----------------------------------------------------------------------------------------------------


def submission(student, when):
    """A part of what Canvas shows of one."""
    return {"id": 1, "user_id": student, "submitted_at": when, "late": False, "workflow_state": "submitted"}


@pytest.mark.parametrize("before", ["", "while(1);", "\ufeffwhile(1);"])
def test_a_page_of_canvas(times, term, before):
    for student in ("12345", "222"):
        (term / "submitted" / student / CHAPTER).mkdir(parents=True)
    shutil.rmtree(term / "submitted" / "Ann Lee")
    shutil.rmtree(term / "submitted" / "Bo Ray")
    settings(term, "")  # its times are in UTC and say so
    page = [submission(12345, "2026-03-01T22:59:59Z"), submission(222, "2026-03-02T08:00:00Z"), submission(333, None)]
    status, out, error = times(before + json.dumps(page), name="submissions.json")
    assert (status, error) == (0, "")
    assert out.splitlines() == [
        "Entered 2 times; 0 were there already.",
        "  12345: 2026-03-01 22:59:59 UTC",
        "  222: 2026-03-02 08:00 UTC",
    ]
    assert stamp(term, "12345") == "2026-03-01 22:59:59 UTC\n"


def test_a_full_page_of_canvas_has_another_one(times, term):
    ids = {"Ann Lee": 7, "Bo Ray": 8}
    full = [submission(ids["Ann Lee"], "2026-03-01T22:59:59Z"), *[submission(n, None) for n in range(1000, 1099)]]
    status, _, error = times(json.dumps(full), name="page.json")
    assert (status, error) == (
        3,
        "Without a time, so they count as on time: Bo Ray. Canvas shows at most 100 on a page: save the address with "
        "&page=2 at the end too.\n",
    )
    assert times(json.dumps(full[:-1]), name="page.json")[2].endswith("on time: Bo Ray.\n")
    second = term.parent / "second.json"
    second.write_text(json.dumps([submission(ids["Bo Ray"], "2026-03-01T20:00:00Z")]))
    assert times(json.dumps(full), second, name="page.json")[0] == 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[{"user_id": 1,', "is not the JSON of Canvas's API"),
        ('{"errors": [{"message": "Invalid access token."}]}', "is not a list of submissions with submitted_at"),
        ('[{"id": 4, "name": "Ann"}]', "is not a list of submissions with submitted_at"),
        (
            "Student,ID,SIS User ID,Section\nLee,12345,,A\n",
            "the header (Student, ID, SIS User ID, Section) is not that",
        ),
        ("ID,Vollständiger Name,Zuletzt geändert (Abgabe)\n", "Moodle: the user menu, Language, English"),
    ],
)
def test_files_without_times(times, term, text, told):
    status, out, error = times(text)
    assert (status, out) == (1, "")
    assert told in error


# --- any other file ---------------------------------------------------------------------------------------------


def test_a_plain_file(times, term):
    text = "student,submitted\nann@example.edu,2026-03-01 23:59:30 +01:00\n8,2026-03-01 13:00\nCy Roe,\n"
    status, _, error = times(text)
    assert (status, error) == (0, "")
    assert stamp(term, "Ann Lee") == "2026-03-01 22:59:30 UTC\n"
    assert stamp(term, "Bo Ray") == "2026-03-01 12:00:00 UTC\n"


def test_two_times_for_one_student(times, term):
    text = (
        "id,submitted\nAnn Lee,2026-03-01 23:00Z\n7,2026-03-02 01:00Z\nBo Ray,2026-03-01 23:00Z\n8,2026-03-01 23:00Z\n"
    )
    status, _, error = times(text)
    assert status == 3
    assert error.splitlines()[0] == (
        "Several times for one student: Ann Lee (2026-03-01 23:00 UTC in worksheet.csv, line 2; 2026-03-02 01:00 UTC "
        "in worksheet.csv, line 3). Keep the one that counts."
    )
    assert (stamp(term, "Ann Lee"), stamp(term, "Bo Ray")) == (None, "2026-03-01 23:00:00 UTC\n")


# --- what it is for ---------------------------------------------------------------------------------------------


def test_late_days_and_slip_days_follow(times, term, right, small_course):
    """ann is a minute late, which her slip day takes; bo 24 hours and a minute, of which a day costs a quarter of 4."""
    for student in ("Ann Lee", "Bo Ray"):
        (term / "submitted" / student / CHAPTER / "recurrence.ipynb").write_text(json.dumps(right))
    settings(
        term,
        f'slip_days = 1\ntimezone = "Europe/Berlin"\n[late]\nshare = 0.25\n[due]\n{CHAPTER} = 2026-03-01 23:58:00\n',
    )
    penalties = []
    for _ in range(2):  # before and after the times are known
        list(autograde(small_course, term, CHAPTER, here, db_url=gradebook_url(term)))
        scores = read_scores(gradebook_url(term), CHAPTER)
        penalties.append([scores[student].late_penalty for student in ("Ann Lee", "Bo Ray")])
        times(HEADER + ANN + row(2, "Bo Ray", "Monday, 2 March 2026, 11:59 PM"))
    assert penalties == [[0, 0], [0, 1]]
