"""The policy for late submissions that the course provides, and due dates and extensions from `term.toml`."""

import json
import shutil
from datetime import datetime, timedelta

import pytest
from traitlets.config import Config
from typer.testing import CliRunner

from grader.autograde.gradebook import gradebook_url, open_gradebook
from grader.autograde.grading.chapter import autograde
from grader.autograde.grading.pool import here
from grader.autograde.late_policies import PerDay
from grader.autograde.term_settings import TermSettings, TermSettingsError, read_term_settings
from grader.cli import commands as cli
from grader.manifest import UnknownIdError, load_manifest

CHAPTER = "ch01_vanilla_rnn"
HOUR = 3600
POLICY = """
c = get_config()
c.AssignLatePenalties.plugin_class = "grader.autograde.late_policies.PerDay"
c.PerDay.share = 0.25
c.PerDay.grace_minutes = 30
c.PerDay.at_most = 0.5
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
    root = shutil.copytree(small_course, tmp_path / "course")
    (root / "nbgrader_config.py").write_text(POLICY)
    return root


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


def write(term, **extensions):
    lines = ["[due]", f"{CHAPTER} = 2026-03-01 13:00:00+01:00", f"[extensions.{CHAPTER}]"]
    (term / "term.toml").write_text("\n".join([*lines, *(f"{name} = {when}" for name, when in extensions.items())]))


def penalties(course, term):
    assert [graded.fault for graded in autograde(course, term, CHAPTER, here, db_url=gradebook_url(term))] == [""] * 4
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


def test_without_the_file_the_gradebook_keeps_its_own(course, term):
    assert penalties(course, term) == {"ann": 0, "bo": 0, "cy": 0, "dan": 0}
    with open_gradebook(gradebook_url(term)) as gradebook:
        gradebook.find_assignment(CHAPTER).duedate = datetime(2026, 3, 1, 12)
        gradebook.grant_extension(CHAPTER, "cy", days=1)
        gradebook.db.commit()
    assert penalties(course, term) == {"ann": 0, "bo": 0, "cy": 0, "dan": 2}


def test_a_share_above_one_is_refused(course, term):
    (course / "nbgrader_config.py").write_text(POLICY.replace("0.25", "25"))
    write(term)
    results = autograde(course, term, CHAPTER, here, db_url=gradebook_url(term))
    faults = {graded.student: graded.fault for graded in results}
    assert faults["ann"] == ""
    assert f"{course / 'nbgrader_config.py'}: TraitError" in faults["cy"]


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
    assert "ch01_vanilla_rnn = 2026-03-01 12:00:00Z" in str(caught.value)


def test_an_unknown_chapter_is_reported(course, tmp_path):
    with pytest.raises(UnknownIdError, match="ch01_vanila"):
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
    assert words[1:4] == [
        [CHAPTER, "2026-03-01", "12:00"],
        ["2026-03-05", "12:00", "dan"],
        ["2026-03-06", "12:00", "zoe"],
    ]
    assert result.stderr == "zoe has an extension, but is not in the gradebook. Check the name.\n"
    with open_gradebook(gradebook_url(term)) as gradebook:
        assert gradebook.find_assignment(CHAPTER).duedate == datetime(2026, 3, 1, 12)
    (term / "term.toml").write_text("[due")
    result = CliRunner().invoke(cli.app, command)
    assert result.exit_code == 1
    assert "term.toml" in result.stderr
