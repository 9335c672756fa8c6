"""`grader feedback`: whose pages are written, where, and what the instructor reads."""

import os
import shutil
from datetime import datetime
from html import unescape
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grader.author.notebooks import student_notebooks
from grader.checking.evaluate import verdict
from grader.cli import commands as cli
from grader.feedback.write import page_path, write_feedback
from grader.gradebook import gradebook_url, open_gradebook, open_writer, register
from grader.grading import pool, store
from grader.grading.chapter import autograde
from grader.grading.grade import Graded
from grader.grading.hidden import hidden_seed
from grader.grading.session import state_of
from grader.manifest import load_manifest
from tests.nbgrader_command import nbgrader

ROOT = Path(__file__).parents[2]
MANIFEST = load_manifest(ROOT / "course.toml")
CHAPTER = MANIFEST.chapter("ch01_vanilla_rnn")
ODD = "Zoë [red]b & <i> 'é"


@pytest.fixture
def feedback(monkeypatch):
    """Call the command as from the shell; return exit status, stdout and stderr."""

    def call(*arguments):
        monkeypatch.chdir(ROOT)
        result = CliRunner().invoke(cli.app, ["feedback", *map(str, arguments)])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.stdout, result.stderr

    return call


@pytest.fixture
def term(tmp_path):
    """A term in which ann and one of an odd name are graded."""
    folder = tmp_path / "a term"
    for student in ("ann", ODD):
        hand_in(folder, student)
        grade(folder, student)
    return folder


def hand_in(term, student):
    shutil.copytree(ROOT / "exercises" / CHAPTER.id, term / "submitted" / student / CHAPTER.id)


def grade(term, student, sandboxed=True):
    """Store a result as grading does."""
    hidden_seed(term)
    verdicts = {n.name: {e.id: verdict(MANIFEST.place(e.id), "passed") for e in n.exercises} for n in CHAPTER.notebooks}
    state = state_of(ROOT, term, MANIFEST, CHAPTER)
    key = store.key(state, term / "submitted" / student / CHAPTER.id, sandboxed)
    store.write(term, CHAPTER.id, store.Stored(key, Graded(student, verdicts, sandboxed=sandboxed)))


def test_a_page_for_each_student(feedback, term):
    status, output, error = feedback(CHAPTER.id, "--term", term)
    assert (status, error) == (0, "")
    assert output == f"Wrote 2 pages: {term}/feedback/STUDENT/{CHAPTER.id}.html\n"
    assert page_path(term, "ann", CHAPTER.id).read_text("utf-8").count("15 of 15") == 2
    assert "For <bdi>Zoë [red]b &amp; &lt;i&gt; &#x27;é</bdi>" in page_path(term, ODD, CHAPTER.id).read_text("utf-8")
    files = [path for path in (term / "feedback").rglob("*") if path.is_file()]
    assert sorted(files) == sorted(page_path(term, student, CHAPTER.id) for student in ("ann", ODD))


def test_one_student(feedback, term):
    assert feedback(CHAPTER.id, "--term", term, "--student", ODD, "--student", ODD)[0] == 0
    assert not page_path(term, "ann", CHAPTER.id).exists()
    assert page_path(term, ODD, CHAPTER.id).is_file()


def test_nothing_is_graded_yet(feedback, tmp_path):
    status, output, error = feedback(CHAPTER.id, "--term", tmp_path)
    assert (status, output) == (1, "")
    assert error == (
        f"No submission for {CHAPTER.id} in {tmp_path} is graded yet. "
        f"Run  grader autograde {CHAPTER.id} --term {tmp_path}  first.\n"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["bob", "", "..", "../submitted/ann", "[bold]"])
def test_an_unknown_student(feedback, term, name):
    status, output, error = feedback(CHAPTER.id, "--term", term, "--student", "ann", "--student", name)
    assert (status, output) == (1, "")
    assert error == f"{name!r} has no submission for {CHAPTER.id} in {term}/submitted.\n"
    assert not (term / "feedback").exists()


def test_an_unknown_chapter(feedback, term):
    status, _, error = feedback("ch01_vanila_rnn", "--term", term)
    assert status == 1
    assert "There is no chapter 'ch01_vanila_rnn'. Near it: ch01_vanilla_rnn" in error


def test_a_name_that_breaks_lines_is_told_in_one(feedback, term):
    hand_in(term, "line\nbreak")
    status, output, error = feedback(CHAPTER.id, "--term", term)
    assert (status, output.count("\n")) == (3, 1)
    assert "1 submission not graded yet, so without a page: line\N{REPLACEMENT CHARACTER}break." in error


def test_who_is_not_graded_yet(feedback, term):
    hand_in(term, "carl")
    status, _, error = feedback(CHAPTER.id, "--term", term, "--student", "carl")
    assert status == 1
    assert f"The submission of 'carl' is not graded yet. Run  grader autograde {CHAPTER.id}" in error
    status, output, error = feedback(CHAPTER.id, "--term", term)
    assert status == 3
    assert "Wrote 2 pages" in output
    assert "1 submission not graded yet, so without a page: carl." in error


@pytest.mark.parametrize("content", [b"", b"{", b'{"key": "", "graded": {"student": 3}}', b"\xff"])
def test_a_result_that_cannot_be_read(feedback, term, content):
    (term / "results" / CHAPTER.id / "ann" / "result.json").write_bytes(content)
    status, output, error = feedback(CHAPTER.id, "--term", term)
    assert status == 3
    assert "Wrote 1 page:" in output
    assert "not graded yet, so without a page: ann." in error
    status, _, error = feedback(CHAPTER.id, "--term", term, "--student", "ann")
    assert status == 1
    assert f"No result for {CHAPTER.id} in {term} can be read. Run  grader autograde" in error


@pytest.mark.parametrize("where", ["the term's own", "elsewhere"])
def test_what_a_person_gave_is_on_the_page(feedback, term, tmp_path, where):
    url = gradebook_url(term if where == "the term's own" else tmp_path / "elsewhere")
    register(url, CHAPTER, student_notebooks(ROOT, MANIFEST, CHAPTER))
    with open_writer(url, CHAPTER.id) as writer:
        writer.record("ann", {})
    with open_gradebook(url) as gradebook:
        gradebook.find_grade("rnn_step-check", "recurrence", CHAPTER.id, "ann").manual_score = 1.25
        gradebook.find_comment("rnn_step", "recurrence", CHAPTER.id, "ann").manual_comment = "See me."
        gradebook.db.commit()
    more = [] if where == "the term's own" else ["--db-url", url]
    assert feedback(CHAPTER.id, "--term", term, *more)[0] == 0
    text = page_path(term, "ann", CHAPTER.id).read_text("utf-8")
    assert text.count("14.25 of 15") == 2
    assert "See me." in text
    assert page_path(term, ODD, CHAPTER.id).read_text("utf-8").count("15 of 15") == 2


def test_a_submission_that_has_changed_since(feedback, term):
    (term / "submitted" / "ann" / CHAPTER.id / "recurrence.ipynb").write_text("{}")
    status, _, error = feedback(CHAPTER.id, "--term", term)
    assert status == 0
    assert "the submission or the course has changed since it was graded: ann." in error
    assert f"Run  grader autograde {CHAPTER.id} --term {term}  first, then repeat" in error
    shutil.rmtree(term / "submitted")
    assert feedback(CHAPTER.id, "--term", term)[::2] == (0, "")  # what was handed in may be put away


def test_without_sandbox(feedback, term):
    grade(term, "ann", sandboxed=False)
    status, _, error = feedback(CHAPTER.id, "--term", term)
    assert status == 0
    assert error == "1 submission graded without a sandbox, as the page says: ann.\n"
    assert "Not final." in page_path(term, "ann", CHAPTER.id).read_text("utf-8")
    assert "Not final." not in page_path(term, ODD, CHAPTER.id).read_text("utf-8")


def test_a_page_is_written_whole(term, monkeypatch):
    write_feedback(ROOT, term, CHAPTER.id)
    path = page_path(term, "ann", CHAPTER.id)
    before = path.read_bytes()

    def fail(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="the disk is full"):
        write_feedback(ROOT, term, CHAPTER.id)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def set_dates(term, text):
    (term / "term.toml").write_text(text, "utf-8")


WAYS = ("np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)", "Inputs and states are rows", "def one_matrix(x_t, h_prev")
OVER = f"[due]\n{CHAPTER.id} = 2020-03-01 12:00:00Z\n"


def shows_solutions(term, student="ann"):
    text = unescape(page_path(term, student, CHAPTER.id).read_text("utf-8"))
    shown = {way in text for way in WAYS}
    assert len(shown) == 1
    return shown.pop()


def test_solutions_are_shown_once_the_chapter_is_over(feedback, term):
    set_dates(term, f"{OVER}[extensions.{CHAPTER.id}]\nbo = 2020-03-08 12:00:00Z\n")
    assert feedback(CHAPTER.id, "--term", term)[::2] == (0, "")
    assert not shows_solutions(term)
    for _ in range(2):  # pages that are there are written again
        assert feedback(CHAPTER.id, "--term", term, "--solutions")[::2] == (0, "")
        text = page_path(term, ODD, CHAPTER.id).read_text("utf-8")
        assert text.count("<details>\n<summary>") == len(CHAPTER.exercises)
        assert shows_solutions(term)
        assert shows_solutions(term, ODD)
    assert feedback(CHAPTER.id, "--term", term)[0] == 0
    assert not shows_solutions(term)


@pytest.mark.parametrize(
    ("dates", "says"),
    [
        (
            f"[due]\n{CHAPTER.id} = 2999-03-01 12:00:00Z\n",
            f"Students can submit {CHAPTER.id} until 2999-03-01 12:00 UTC. Repeat this command after that time.",
        ),
        (
            f'timezone = "Europe/Berlin"\n[due]\n{CHAPTER.id} = 2030-07-01 23:59:00\n'
            f"[extensions.{CHAPTER.id}]\nann = 2030-07-01 23:59:00\n",
            f"Students can submit {CHAPTER.id} until 2030-07-01 23:59 CEST.",
        ),
        (
            f"{OVER}[extensions.{CHAPTER.id}]\nann = 2020-03-02 12:00:00Z\nbo = 2999-03-08 12:00:00Z\n",
            f"bo has an extension for {CHAPTER.id} until 2999-03-08 12:00 UTC. Repeat",
        ),
        (
            "[due]\nch02_bptt = 2020-03-01 12:00:00Z\n",
            f"{CHAPTER.id} has no due date, so it is not certain that all students have finished. Write it into "
            f"{{term}}/term.toml, below a line  [due]  and with your offset from UTC, such as  "
            f"{CHAPTER.id} = 2026-03-01 23:59:00+01:00\n",
        ),
    ],
    ids=["due date", "time zone", "extension of another student", "no due date"],
)
def test_solutions_are_refused_before(feedback, term, dates, says):
    set_dates(term, dates)
    status, output, error = feedback(CHAPTER.id, "--term", term, "--solutions", "--student", "ann")
    assert (status, output) == (1, "")
    assert error.startswith(says.format(term=term))
    assert not (term / "feedback").exists()
    assert feedback(CHAPTER.id, "--term", term)[0] == 0
    assert not shows_solutions(term)


def test_the_example_in_the_refusal_is_understood(feedback, term):
    _, _, error = feedback(CHAPTER.id, "--term", term, "--solutions")
    set_dates(term, f"[due]\n{error.rpartition('such as')[2].strip()}\n")
    assert feedback(CHAPTER.id, "--term", term, "--solutions")[::2] == (0, "")


def test_dates_in_the_gradebook_count_if_the_file_has_none(feedback, term):
    url = gradebook_url(term)
    register(url, CHAPTER, student_notebooks(ROOT, MANIFEST, CHAPTER))
    with open_writer(url, CHAPTER.id) as writer:
        writer.record("ann", {})
    assert "has no due date" in feedback(CHAPTER.id, "--term", term, "--solutions")[2]
    with open_gradebook(url) as gradebook:
        gradebook.update_or_create_assignment(CHAPTER.id, duedate=datetime(2020, 3, 1, 12))
        gradebook.grant_extension(CHAPTER.id, "ann", weeks=52_000)
    status, _, error = feedback(CHAPTER.id, "--term", term, "--solutions")
    assert status == 1
    assert error.startswith(f"ann has an extension for {CHAPTER.id} until 3016-")
    set_dates(term, OVER)
    assert feedback(CHAPTER.id, "--term", term, "--solutions")[0] == 0
    assert shows_solutions(term)


@pytest.mark.system
def test_nbgraders_own_feedback_stands_beside_it(tmp_path):
    """Whichever comes first, and again with --force, which deletes nbgrader's folder."""
    term = tmp_path / "term"
    hand_in(term, "ann")
    hand_in(term, "line\nbreak")  # nbgrader ends where it finds such a folder among the autograded ones
    ann, other = autograde(ROOT, term, CHAPTER.id, pool.here, db_url=gradebook_url(term))
    assert (ann.fault, bool(other.fault)) == ("", True)
    assert write_feedback(ROOT, term, CHAPTER.id).ungraded == ["line\nbreak"]
    ours = page_path(term, "ann", CHAPTER.id)
    content = ours.read_bytes()
    theirs = {term / "feedback" / "ann" / CHAPTER.id / f"{n.name}.html" for n in CHAPTER.notebooks}
    for more in ([], ["--force"]):
        done = nbgrader("generate_feedback", CHAPTER.id, *more, term=term)
        assert done.returncode == 0, done.stderr
        assert set((term / "feedback" / "ann" / CHAPTER.id).glob("*.html")) == theirs
        assert ours.read_bytes() == content
        for path in theirs:
            path.unlink()
