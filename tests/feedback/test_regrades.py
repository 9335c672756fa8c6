"""Requests for regrading: the instructor's file, the pages, and the list."""

import pytest
from typer.testing import CliRunner

from grader.cli import commands as cli
from grader.feedback.regrades import RegradeError, read_requests, requests_section
from grader.gradebook import gradebook_url
from grader.gradebook.enrolment import enrol
from grader.gradebook.roster import Student
from grader.manifest import load_manifest
from tests.feedback.test_page import CHAPTER, ROOT

MANIFEST = load_manifest(ROOT / "course.toml")
TEXT = f"""
[[request]]
student = "ann"
chapter = "{CHAPTER.id}"
exercise = "rnn_step"
date = 2026-03-10
request = "My <b>bias</b> is right."
answer = "It is: 2 points more."

[[request]]
student = "bo"
chapter = "{CHAPTER.id}"
request = "Please look again."
"""


def test_a_section_with_the_answer(tmp_path):
    (tmp_path / "regrades.toml").write_text(TEXT)
    ann, bo = read_requests(tmp_path, MANIFEST)
    section = requests_section(CHAPTER, [ann])
    title = MANIFEST.place("rnn_step").exercise.title
    assert f"<dt>{title}, 2026-03-10</dt>\n<dd>My &lt;b&gt;bias&lt;/b&gt; is right.</dd>" in section
    assert "<strong>Answer:</strong> It is: 2 points more." in section
    assert "<strong>Answer:</strong> not yet" in requests_section(CHAPTER, [bo])
    assert requests_section(CHAPTER, []) == ""
    assert [each.is_open for each in (ann, bo)] == [False, True]


def test_no_file(tmp_path):
    assert read_requests(tmp_path, MANIFEST) == ()


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ('student = "bo"\n', "", "request 2: .*missing required field `student`.*A request is written"),
        (CHAPTER.id, "ch01", "request 1, of ann: the course has no chapter 'ch01'. It has ch00"),
        ('"rnn_step"', '"rnn"', f"request 1, of ann: {CHAPTER.id} has no 'rnn'. It has rnn_step"),
        ("[[request]]", "[[requests]]", "has requests, but only"),
        ("answer =", "anwser =", "request 1: .*unknown field `anwser`"),
        ("2026-03-10", "10.3.2026", "regrades.toml: "),
    ],
)
def test_what_is_wrong_is_named(tmp_path, before, after, told):
    (tmp_path / "regrades.toml").write_text(TEXT.replace(before, after))
    with pytest.raises(RegradeError, match=told):
        read_requests(tmp_path, MANIFEST)


def test_the_list_has_open_ones_first_and_names(tmp_path, monkeypatch):
    (tmp_path / "regrades.toml").write_text(TEXT)
    enrol(gradebook_url(tmp_path), [Student("ann", "Ann", "Lee")])
    monkeypatch.chdir(ROOT)
    shown = CliRunner().invoke(cli.app, ["regrades", "--term", str(tmp_path)])
    assert shown.exit_code == 3
    assert "Not in the gradebook, so no page shows their requests: bo." in shown.stderr
    assert shown.stdout.splitlines() == [
        f"bo ({CHAPTER.id}): Please look again.",
        "  open",
        f"Ann Lee (ann) ({CHAPTER.id}, rnn_step, 2026-03-10): My <b>bias</b> is right.",
        "  answered: It is: 2 points more.",
    ]
    shown = CliRunner().invoke(cli.app, ["regrades", "ch02_bptt", "--term", str(tmp_path)])
    assert (shown.exit_code, "has no requests about ch02_bptt" in shown.stdout) == (0, True)
