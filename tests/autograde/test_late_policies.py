"""The policy for late submissions that the course provides, and due dates and extensions from `term.toml`."""

import json
import shutil
from datetime import datetime, timedelta

import pytest
from traitlets.config import Config
from typer.testing import CliRunner

from grader.cli import commands as cli
from grader.gradebook import GradebookError, gradebook_url, open_gradebook
from grader.gradebook.late_policies import PerDay
from grader.grading.chapter import autograde
from grader.grading.pool import here
from grader.grading.release import AutogradeError
from grader.manifest import load_manifest
from grader.term_settings import TermSettings, TermSettingsError, read_term_settings
from tests.loops import for_each

BERLIN = 'timezone = "Europe/Berlin"\n'
CHAPTER = "ch01_vanilla_rnn"
HOUR = 3600
POLICY = """
[late]
share = 0.25
grace_minutes = 30
at_most = 0.5
"""


def policy(**settings):
    return PerDay(config=Config({"PerDay": settings}))


@pytest.mark.parametrize(
    ("settings", "hours", "penalty"),
    [
        ({}, 0.001, 1),
        ({}, 24, 1),
        ({}, 24.001, 2),
        ({}, 24 * 30, 10),
        ({"share": 0.2}, 30, 4),
        ({"share": 0.2, "at_most": 0.5}, 24 * 9, 5),
        ({"share": 0.2, "at_most": 0.5, "closes_after_days": 3}, 72, 5),
        ({"share": 0.2, "at_most": 0.5, "closes_after_days": 3}, 72.001, 10),
        ({"closes_after_days": 0}, 0.001, 10),
        ({"grace_minutes": 15}, 0.25, None),
        ({"grace_minutes": 15}, 0.251, 1),
        ({"grace_minutes": 15}, 24.25, 1),
        ({"grace_minutes": 15}, 24.251, 2),
        ({"grace_minutes": 60, "closes_after_days": 1}, 25, 1),
        ({"grace_minutes": 60, "closes_after_days": 1}, 25.001, 10),
    ],
)
def test_ten_points_late(settings, hours, penalty):
    assert policy(**settings).late_submission_penalty("ann", 10.0, hours * HOUR) == penalty


@pytest.fixture
def course(small_course, tmp_path):
    return shutil.copytree(small_course, tmp_path / "course")


@pytest.fixture
def term(tmp_path, right, session):
    """Four points each: ann on time, bo within the grace period, cy two hours late, dan four days."""
    shutil.copytree(session.term / "hidden", tmp_path / "term" / "hidden")  # so that it need not be computed
    times = {"ann": "01 11:59:59", "bo": "01 12:30:00", "cy": "01 14:00:00", "dan": "05 12:00:00"}
    for student, when in times.items():
        folder = tmp_path / "term" / "submitted" / student / CHAPTER
        folder.mkdir(parents=True)
        (folder / "recurrence.ipynb").write_text(json.dumps(right))
        (folder / "timestamp.txt").write_text(f"2026-03-{when} UTC")
    return tmp_path / "term"


def write(term, policy=POLICY, **extensions):
    lines = [policy, "[due]", f"{CHAPTER} = 2026-03-01 13:00:00+01:00", f"[extensions.{CHAPTER}]"]
    (term / "term.toml").write_text("\n".join([*lines, *(f"{name} = {when}" for name, when in extensions.items())]))


def penalties(course, term, **more):
    results = autograde(course, term, CHAPTER, here, db_url=gradebook_url(term), **more)
    assert [graded.fault for graded in results] == [""] * 4
    with open_gradebook(gradebook_url(term)) as gradebook:
        submissions = gradebook.find_assignment(CHAPTER).submissions
        return {s.student.id: s.late_submission_penalty for s in sorted(submissions, key=lambda s: s.student.id)}


def test_due_dates_and_extensions_of_the_file(course, term):
    write(term, dan="2026-03-04 11:00:00Z")  # before anything is graded
    assert penalties(course, term) == {"ann": 0, "bo": 0, "cy": 1, "dan": 2}
    write(term, dan="2026-03-05 12:00:00Z", cy="2026-03-01 13:45:00Z")
    assert penalties(course, term) == {"ann": 0, "bo": 0, "cy": 0, "dan": 0}
    write(term, dan="2026-03-04 13:00:00Z")
    assert penalties(course, term) == {"ann": 0, "bo": 0, "cy": 1, "dan": 1}
    with open_gradebook(gradebook_url(term)) as gradebook:
        assert gradebook.find_assignment(CHAPTER).duedate == datetime(2026, 3, 1, 12)
        assert gradebook.find_submission(CHAPTER, "dan").extension == timedelta(days=3, hours=1)
        assert gradebook.find_submission(CHAPTER, "cy").extension is None


def test_without_due_dates_in_the_file_the_gradebook_keeps_its_own(course, term):
    (term / "term.toml").write_text(POLICY)
    assert penalties(course, term) == {"ann": 0, "bo": 0, "cy": 0, "dan": 0}
    with open_gradebook(gradebook_url(term)) as gradebook:
        gradebook.find_assignment(CHAPTER).duedate = datetime(2026, 3, 1, 12)
        gradebook.grant_extension(CHAPTER, "cy", days=1)
        gradebook.db.commit()
    assert penalties(course, term) == {"ann": 0, "bo": 0, "cy": 0, "dan": 2}


@for_each(
    ("policy", "words"),
    [
        (POLICY.replace("0.25", "25"), "TraitError: The value of the 'share' trait"),
        (POLICY.replace("share", "shares"), "PerDay has no setting 'shares'"),
        ('[late]\nplugin = "no_such.Policy"', "no_such.py"),
        ('[late]\nplugin = "term.toml"', "term.py"),
    ],
)
def test_what_is_no_policy_is_refused_before_anything_is_graded(course, term, policy, words):
    write(term, policy)
    with pytest.raises(GradebookError) as caught:
        autograde(course, term, CHAPTER, here, db_url=gradebook_url(term))
    assert str(caught.value).startswith(f"{term / 'term.toml'}: [late]: ")
    assert words in str(caught.value)
    assert not (term / "gradebook.db").exists()


# --- the term keeps its rules ------------------------------------------------------------------------------------


@for_each(
    "line", ["c.PerDay.share = 0.5", 'c.LateSubmissionPlugin.penalty_method = "zero"', "c.AssignLatePenalties.a = 1"]
)
def test_a_policy_of_the_checkout_is_refused(course, term, line):
    """It stood there once, and changed totals without a word where the checkout was another one."""
    write(term)
    (course / "nbgrader_config.py").write_text(f"c = get_config()\n{line}\n")
    with pytest.raises(GradebookError, match=r"Write it there, for example  \[late\]"):
        autograde(course, term, CHAPTER, here, db_url=gradebook_url(term))
    assert not (term / "gradebook.db").exists()
    (course / "nbgrader_config.py").unlink()


@for_each(
    ("rules", "says"),
    [
        ("", "late.share: 0.25, now not set"),
        (POLICY.replace("0.25", "0.1"), "late.share: 0.25, now 0.1"),
        (POLICY.replace("0.25", "0.25\ncloses_after_days = 1"), "late.closes_after_days: not set, now 1"),
        (f'attempts = "best"\n{POLICY}', "attempts: last, now best"),
    ],
)
def test_other_rules_are_refused_and_not_followed(course, term, rules, says):
    write(term)
    due = {"ann": 0, "bo": 0, "cy": 1, "dan": 2}
    assert penalties(course, term) == due
    write(term, rules)
    with pytest.raises(AutogradeError, match="Nothing was changed") as caught:
        penalties(course, term)
    assert says in str(caught.value)
    assert "--new-rules" in str(caught.value)
    write(term)
    assert penalties(course, term) == due
    shutil.rmtree(term / "results")
    (term / "gradebook.db").unlink()


def test_new_rules_are_followed_where_an_instructor_says_so(course, term):
    write(term)
    assert penalties(course, term) == {"ann": 0, "bo": 0, "cy": 1, "dan": 2}
    write(term, POLICY.replace("at_most = 0.5", "at_most = 1"))
    assert penalties(course, term, new_rules=True) == {"ann": 0, "bo": 0, "cy": 1, "dan": 4}
    assert penalties(course, term) == {"ann": 0, "bo": 0, "cy": 1, "dan": 4}


def test_a_term_of_the_time_before_keeps_its_penalties(course, term):
    """Its policy stood in the checkout, and no rules were kept."""
    write(term)
    penalties(course, term)
    (term / "results" / CHAPTER / "rules.json").unlink()
    write(term, "")
    with pytest.raises(AutogradeError, match="does not say what lateness costs"):
        penalties(course, term)
    write(term)
    assert penalties(course, term) == {"ann": 0, "bo": 0, "cy": 1, "dan": 2}


# --- the file -------------------------------------------------------------------------------------------------


def read(course, folder, text):
    (folder / "term.toml").write_text(text)
    return read_term_settings(folder, load_manifest(course / "course.toml"))


def test_no_file_is_no_settings(course, tmp_path):
    assert read_term_settings(tmp_path, load_manifest(course / "course.toml")) == TermSettings()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("attempts = 'most'", "'most'"),
        ("atempts = 'best'", "atempts"),
        ("[due", "Expected ']'"),
        (f"[due]\n{CHAPTER} = 2026-03-01", "datetime"),
        (f"[due]\n{CHAPTER} = '1 March'", "datetime"),
        (f"[due]\n{CHAPTER} = 9999-12-31 23:59:59-12:00", f"due.{CHAPTER} is a date that UTC cannot express"),
        (f"[due]\n{CHAPTER} = 0001-01-01 00:00:00+12:00", f"due.{CHAPTER} is a date that UTC cannot express"),
        (f"[due]\n{CHAPTER} = 2026-03-01 23:59:00", f"due.{CHAPTER} has no offset, so it is not certain when that is"),
        (
            f"[due]\n{CHAPTER} = 2026-03-01 12:00:00Z\n[extensions.{CHAPTER}]\nann = 2026-03-09 12:00:00",
            f"extensions.{CHAPTER}.ann has no offset",
        ),
        ("timezone = 'CET'", "'CET' is no time zone. Write its IANA name, such as Europe/Berlin"),
        ("timezone = 'Europe/Berlln'", "'Europe/Berlln' is no time zone"),
        ("timezone = '../../etc/passwd'", "no time zone"),
        (f"{BERLIN}[due]\n{CHAPTER} = 2026-03-29 02:30:00", "clocks in Europe/Berlin show 2026-03-29 02:30:00 never"),
        (f"{BERLIN}[due]\n{CHAPTER} = 2026-10-25 02:30:00", "clocks in Europe/Berlin show 2026-10-25 02:30:00 twice"),
        ("late = 0.5", "late"),
        ("[late]\nshare = [1]", "late"),
        (f"[extensions.{CHAPTER}]\nann = 2026-03-01 12:00:00Z", "no due date"),
        (
            f"[due]\n{CHAPTER} = 2026-03-01 12:00:00Z\n[extensions.{CHAPTER}]\nann = 2026-03-01 12:59:59+01:00",
            "'ann' for ch01_vanilla_rnn ends before",
        ),
    ],
)
def test_a_mistake_in_the_file_is_reported(course, tmp_path, text, words):
    with pytest.raises(TermSettingsError) as caught:
        read(course, tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'term.toml'}: ")
    assert words in str(caught.value)
    advice = ("ch01_vanilla_rnn = 2026-03-01 12:00:00Z", 'attempts = "best"', "share = 0.1", "There are attempts, ")
    assert any(each in str(caught.value) for each in advice)


def test_a_time_without_an_offset_is_local(course, tmp_path):
    settings = read(course, tmp_path, f"{BERLIN}[due]\n{CHAPTER} = 2026-03-28 23:59:00")
    assert settings.due == {CHAPTER: datetime(2026, 3, 28, 22, 59)}
    settings = read(course, tmp_path, f"{BERLIN}[due]\n{CHAPTER} = 2026-03-29 23:59:00")
    assert settings.due == {CHAPTER: datetime(2026, 3, 29, 21, 59)}
    settings = read(course, tmp_path, f"{BERLIN}[due]\n{CHAPTER} = 2026-03-29 23:59:00-05:00")
    assert settings.due == {CHAPTER: datetime(2026, 3, 30, 4, 59)}


def test_names_in_the_file_have_one_form(course, tmp_path):
    text = f"[due]\n{CHAPTER} = 2026-03-01 12:00:00Z\n[extensions.{CHAPTER}]\n'Zoe\u0308' = 2026-03-02 12:00:00Z"
    assert read(course, tmp_path, text).extension(CHAPTER, "Zo\xeb") == timedelta(days=1)


@pytest.mark.parametrize(
    ("due", "in_time", "late"),
    [
        ("2026-03-29 01:50:00", "2026-03-29 03:05:00 +0200", "2026-03-29 03:05:01 +0200"),  # ten minutes to the jump
        (
            "2026-10-25 01:50:00",
            "2026-10-25 02:05:00 +0200",
            "2026-10-25 02:05:00 +0100",
        ),  # the same again, an hour later
    ],
)
def test_clocks_that_change_within_the_grace_minutes(course, term, due, in_time, late):
    (term / "term.toml").write_text(f"{BERLIN}[late]\nshare = 0.5\ngrace_minutes = 15\n[due]\n{CHAPTER} = {due}\n")
    for student, when in (("ann", in_time), ("bo", late)):
        (term / "submitted" / student / CHAPTER / "timestamp.txt").write_text(f"{when}\n")
    found = penalties(course, term)
    assert (found["ann"], found["bo"]) == (0, 2)


def test_an_unknown_chapter_is_reported(course, tmp_path):
    with pytest.raises(TermSettingsError, match=f"due.ch01_vanila: .* Do you mean {CHAPTER}"):
        read(course, tmp_path, "[due]\nch01_vanila = 2026-03-01 12:00:00Z")


def test_the_command_due(course, term, monkeypatch):
    monkeypatch.chdir(course)
    command = ["due", "--term", str(term)]
    result = CliRunner().invoke(cli.app, command)
    assert result.exit_code == 0
    assert "There is no" in result.stderr
    write(term, dan="2026-03-05 12:00:00Z", zoe="2026-03-06 12:00:00Z")
    assert f"dated when they are graded: {CHAPTER}" in CliRunner().invoke(cli.app, command).stderr
    CliRunner().invoke(cli.app, ["release", "--term", str(term)], catch_exceptions=False)
    with open_gradebook(gradebook_url(term)) as gradebook:
        gradebook.add_student("dan", first_name="Dan")
    result = CliRunner().invoke(cli.app, command)
    words = [line.split() for line in result.stdout.splitlines()]
    assert words[:4] == [
        ["chapter", "student", "UTC"],
        [CHAPTER, "2026-03-01", "12:00", "UTC"],
        ["Dan", "(dan)", "2026-03-05", "12:00", "UTC"],
        ["zoe", "2026-03-06", "12:00", "UTC"],
    ]
    assert result.stderr == "zoe has an extension, but is not in the gradebook. Check the name.\n"
    with open_gradebook(gradebook_url(term)) as gradebook:
        assert gradebook.find_assignment(CHAPTER).duedate == datetime(2026, 3, 1, 12)
    (term / "term.toml").write_text(f'timezone = "America/New_York"\n[due]\n{CHAPTER} = 2026-03-07 23:59:00\n')
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    lines = CliRunner().invoke(cli.app, command).stdout.splitlines()
    assert lines[0].split() == ["chapter", "student", "America/New_York", "UTC"]
    assert lines[1].split() == [CHAPTER, "2026-03-07", "23:59", "EST", "2026-03-08", "04:59", "UTC"]
    (term / "term.toml").write_text("[due")
    result = CliRunner().invoke(cli.app, command)
    assert result.exit_code == 1
    assert "term.toml" in result.stderr
