"""`grader exam` as from the shell."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grader.cli import commands as cli
from tests.small_course import CHAPTER, write_small_course

ROOT = Path(__file__).parents[2]
NAMES = ["ch01_vanilla_rnn-exam-12-solutions.html", "ch01_vanilla_rnn-exam-12.html"]
KIND = "def q(draw, oracles):\n    "


@pytest.fixture
def exam(monkeypatch):
    """Call the command; return exit status, stdout and stderr."""

    def call(*arguments, at=ROOT):
        monkeypatch.chdir(at)
        result = CliRunner().invoke(cli.app, ["exam", *map(str, arguments)])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, " ".join(result.stdout.split()), " ".join(result.stderr.split())

    return call


def test_it_writes_a_sheet_and_its_solutions_for_their_owner_alone(exam, tmp_path):
    out = tmp_path / "for the exam"
    status, stdout, stderr = exam("ch01_vanilla_rnn", "--seed", 12, "--out", out)
    assert (status, stderr) == (0, "")
    assert sorted(path.name for path in out.iterdir()) == NAMES
    assert out.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in out.iterdir()} == {0o600}
    code = re.search(r"Sheet (\w{6}): 3 questions, 21 points\.", stdout)[1]
    assert all(code in (out / name).read_text("utf-8") for name in NAMES)


def test_it_replaces_another_content_only_if_told_to(exam, tmp_path):
    exam("ch01_vanilla_rnn", "--seed", 12, "--out", tmp_path)
    solutions, sheet = (tmp_path / name for name in NAMES)
    before = sheet.read_bytes()
    status, stdout, _ = exam("ch01_vanilla_rnn", "--seed", 12, "--out", tmp_path)
    assert status == 0
    assert stdout.count("is up to date") == 2
    solutions.write_text("my own remarks")
    sheet.unlink()
    status, _, stderr = exam("ch01_vanilla_rnn", "--seed", 12, "--out", tmp_path)
    assert status == 1
    assert f"{solutions}: has another content" in stderr
    assert "--force" in stderr
    assert (solutions.read_text(), sheet.exists()) == ("my own remarks", False)
    status, stdout, _ = exam("ch01_vanilla_rnn", "--seed", 12, "--out", tmp_path, "--force")
    assert (status, stdout.count("wrote")) == (0, 2)
    assert sheet.read_bytes() == before
    assert "my own remarks" not in solutions.read_text("utf-8")


def test_wrong_input_is_explained(exam, tmp_path):
    assert exam("ch01_vanilla", "--seed", 1, "--out", tmp_path)[::2] == (
        1,
        "There is no chapter 'ch01_vanilla'. Near it: ch01_vanilla_rnn.",
    )
    for seed in ("-1", "x"):
        status, _, stderr = exam("ch01_vanilla_rnn", "--seed", seed)
        assert status == 2
        assert "--seed" in stderr
    assert "Missing option '--seed'" in exam("ch01_vanilla_rnn")[2]
    file = tmp_path / "a file"
    file.touch()
    assert exam("ch01_vanilla_rnn", "--seed", 1, "--out", file)[0] == 2
    assert list(tmp_path.iterdir()) == [file]


def test_a_chapter_without_questions_is_named(exam, tmp_path):
    course = write_small_course(tmp_path / "course")
    path = course / "solutions" / CHAPTER / "exam.py"
    status, _, stderr = exam(CHAPTER, "--seed", 1, at=course)
    assert (status, f"{path}: is missing" in stderr) == (1, True)
    for text, told in (
        ("QUESTIONS = []", "defines no QUESTIONS"),
        ("1 / 0", "cannot be imported: ZeroDivisionError"),
        (
            "from grader.exam.draw import Redraw\ndef q(draw, oracles):\n    raise Redraw\nQUESTIONS = [q]",
            "none of 20000 draws",
        ),
        (f"{KIND}return oracles['rnn_stop']\nQUESTIONS = [q]", "There is no exercise 'rnn_stop'"),
    ):
        path.write_text(text)
        status, _, stderr = exam(CHAPTER, "--seed", 1, at=course)
        assert (status, told in stderr) == (1, True), stderr
    assert not (course / "exams").exists()


class Structure(HTMLParser):
    """The headings of a page, and what of its tables has no heading."""

    def __init__(self):
        super().__init__()
        self.headings, self.unnamed = [], []

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if tag in ("h1", "h2", "h3"):
            self.headings.append(tag)
        if tag == "th" and "scope" not in found:
            self.unnamed.append(tag)
        if found.get("role") in ("img", "region") and "aria-label" not in found:
            self.unnamed.append(found)


def test_a_screen_reader_finds_its_way(exam, tmp_path):
    exam("ch05_encoder_decoder", "--seed", 3, "--out", tmp_path)
    for path in tmp_path.iterdir():
        structure = Structure()
        structure.feed(path.read_text("utf-8"))
        assert structure.headings[:1] == ["h1"]
        assert structure.headings.count("h1") == 1
        assert structure.headings.count("h2") >= 3
        assert structure.unnamed == []
        assert path.stat().st_size < 60_000
