"""Late penalties in the gradebook, and time stamps that are none."""

import json
import os
import shutil
from datetime import UTC, datetime, timedelta

import pytest
from typer.testing import CliRunner

from grader.cli import commands as cli
from grader.gradebook import GradebookError, gradebook_url, open_gradebook
from grader.grading.chapter import autograde
from grader.grading.pool import here
from grader.grading.release import AutogradeError
from grader.grading.report import remark_line
from grader.submission.timestamp import TimestampError, submitted_at
from tests.nbgrader_command import real_nbgrader

CHAPTER = "ch01_vanilla_rnn"
ZERO = "[late]\nshare = 1\n"
OWN = '[late]\nplugin = "policy_of_a_test.PerDay"\n'
CONFIG = """
import os
os.environ["UNROLLED_TERM"] = "x"
c = get_config()
"""
POLICY = """
from nbgrader.plugins import BasePlugin

class PerDay(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        if student_id == "cy":
            raise KeyError("no cy")
        return total_seconds_late / 86400
"""


@pytest.fixture
def course(small_course, tmp_path):
    return shutil.copytree(small_course, tmp_path / "course")


@pytest.fixture
def term(tmp_path, right):
    """Due at noon of the 1st; ann was in time, bo an hour late, cy three days."""
    for student, when in (("ann", "01 11:59:59"), ("bo", "01 13:00:00"), ("cy", "04 12:00:00")):
        folder = tmp_path / "term" / "submitted" / student / CHAPTER
        folder.mkdir(parents=True)
        (folder / "recurrence.ipynb").write_text(json.dumps(right))
        (folder / "timestamp.txt").write_text(f"2026-03-{when} UTC")
    return tmp_path / "term"


def run(course, term):
    return {g.student: g for g in autograde(course, term, CHAPTER, here, db_url=gradebook_url(term))}


def set_due(term, when=datetime(2026, 3, 1, 12, tzinfo=UTC), **extensions):
    with open_gradebook(gradebook_url(term)) as gradebook:
        gradebook.find_assignment(CHAPTER).duedate = when and when.replace(tzinfo=None)
        for student, days in extensions.items():
            gradebook.find_submission(CHAPTER, student).extension = timedelta(days=days)
        gradebook.db.commit()


def penalties(term):
    with open_gradebook(gradebook_url(term)) as gradebook:
        found = {s.student.id: s.late_submission_penalty for s in gradebook.find_assignment(CHAPTER).submissions}
        return {name: found[name] for name in sorted(found)}


def test_zero_for_whoever_is_late(course, term):
    (course / "nbgrader_config.py").write_text(CONFIG)
    (term / "term.toml").write_text(ZERO)
    run(course, term)
    assert penalties(term) == {"ann": 0, "bo": 0, "cy": 0}  # nobody knows yet when it is due
    set_due(term)
    run(course, term)
    assert penalties(term) == {"ann": 0, "bo": 4, "cy": 4}
    assert os.environ.get("UNROLLED_TERM") != "x"
    set_due(term, bo=1)
    run(course, term)
    assert penalties(term) == {"ann": 0, "bo": 0, "cy": 4}
    set_due(term, when=None)
    run(course, term)
    assert penalties(term) == {"ann": 0, "bo": 0, "cy": 0}


@pytest.mark.parametrize("config", [None, "", "c = get_config()\n"])
def test_no_penalty_unless_one_is_configured(course, term, config):
    if config is not None:
        (course / "nbgrader_config.py").write_text(config)
    run(course, term)
    set_due(term)
    assert all(not graded.fault for graded in run(course, term).values())
    assert penalties(term) == {"ann": 0, "bo": 0, "cy": 0}


def test_a_plugin_of_the_terms_own(course, term):
    (term / "term.toml").write_text(OWN)
    (term / "policy_of_a_test.py").write_text(POLICY)
    run(course, term)
    set_due(term)
    results = run(course, term)
    assert penalties(term) == {"ann": 0, "bo": 1 / 24, "cy": 0}
    assert not results["bo"].fault
    assert results["cy"].fault == (
        "recorded in the gradebook, but with its earlier late penalty: PerDay raised KeyError: 'no cy'. "
        f"Fix it, or remove it from {term / 'term.toml'}."
    )
    (term / "policy_of_a_test.py").write_text(POLICY.replace("86400", "43200"))
    with pytest.raises(AutogradeError, match="the code of the late policy has changed"):
        run(course, term)


def test_a_configuration_that_fails_is_told(course, term):
    (course / "nbgrader_config.py").write_text("c = get_config(\n")
    with pytest.raises(GradebookError, match=rf"{course / 'nbgrader_config.py'}: SyntaxError"):
        run(course, term)


def test_the_table_shows_what_nbgrader_exports(course, term, monkeypatch):
    (term / "term.toml").write_text(ZERO)
    run(course, term)
    set_due(term)
    monkeypatch.chdir(course)
    output = CliRunner().invoke(cli.app, ["autograde", CHAPTER, "--term", str(term)]).stdout
    rows = {line.split()[0]: line.split() for line in output.splitlines() if line.startswith(("ann ", "bo ", "cy "))}
    assert [rows[name][-4:-2] for name in ("ann", "bo", "cy")] == [["4", "4"], ["−4", "0"], ["−4", "0"]]
    assert "late: the late penalty from nbgrader; total: all points minus this penalty" in output.splitlines()


@pytest.mark.system
def test_nbgrader_exports_the_penalty(course, term):
    (term / "term.toml").write_text(ZERO)
    run(course, term)
    set_due(term)
    run(course, term)
    real_nbgrader("export", "--to", term / "grades.csv", f"--db={gradebook_url(term)}", cwd=term).check_returncode()
    _, *rows = (term / "grades.csv").read_text().splitlines()
    assert sorted(row.split(",")[-4:] for row in rows) == [
        ["4.0", "0.0", "4.0", "4.0"],
        ["4.0", "4.0", "0.0", "4.0"],
        ["4.0", "4.0", "0.0", "4.0"],
    ]


# --- time stamps -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b" \n",
        b"yesterday",
        b"\xff\xfe",
        b"9" * 400,
        b"2026-13-01 12:00:00 UTC",
        b"2026-03-01 12:00:00 " + b"9" * 30,
        b"02/03/2026 11:00:00 UTC",
        b"02.03.2026 11:00",
        b"2026-03-02 11:00:00 CEST",
        b"2026-03-02 11:00:00 PDT",
        b"2026-03-02 11:00:00 CST",
        b"2026-03-02 11:00:00 Europe/Berlin",
        b"2026-03-02 11:00:00 UTC+01:00",
        b"2026-03-02 11:00:00 +2500",
        b"2026-03-02",
        b"20260302T110000Z",
        b"Mon Mar  2 09:00:00 UTC 2026",
        b"0001-01-01 00:00:00 +01:00",
    ],
)
def test_a_time_stamp_that_is_none_is_told(course, term, content):
    (term / "submitted" / "bo" / CHAPTER / "timestamp.txt").write_bytes(content)
    with pytest.raises(TimestampError):
        submitted_at(term / "submitted" / "bo" / CHAPTER)


def test_it_stands_among_what_a_human_looks_at(course, term):
    (term / "submitted" / "bo" / CHAPTER / "timestamp.txt").write_text("at noon")
    for _ in range(2):  # in the second run the result is a stored one
        results = run(course, term)
        (line,) = map(remark_line, results["bo"].remarks)
        assert line == (
            "timestamp.txt contains 'at noon', which is no time or may be several, so the submission counts as on time"
            "; write it such as 2026-03-01 23:59:00 +01:00, or with UTC at the end"
        )
        assert results["ann"].remarks == ()


@pytest.mark.parametrize(
    "text",
    [
        *("2026-03-01 12:30:00 UTC", "2026-03-01T12:30:00\n", "2026-03-01 12:30", "2026-03-01T12:30Z"),
        *("2026-03-01 07:30:00 -0500", "2026-03-01 13:30:00 +01:00", "2026-03-01T18:00:00.000+05:30"),
        *("2026-03-01 14:30 +02", "2026-03-02 02:30:00+1400", "2026-03-01 12:30:00.000000 GMT"),
    ],
)
def test_time_stamps(tmp_path, text):
    assert submitted_at(tmp_path) is None
    (tmp_path / "timestamp.txt").write_text(text)
    assert submitted_at(tmp_path) == datetime(2026, 3, 1, 12, 30)
