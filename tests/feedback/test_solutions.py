"""How exercises are solved, as HTML: on feedback pages, and on the page that `grader solutions` writes."""

import re
from html import unescape
from pathlib import Path
from xml.dom import minidom

import pytest
from typer.testing import CliRunner

from grader.author.other_ways import Solved
from grader.cli import commands as cli
from grader.feedback.solutions import solutions_page
from grader.manifest import load_manifest
from grader.render.formulas import formula
from grader.spec.folders import mistakes_path
from grader.spec.mistake_words import read_mistake_words
from tests.loops import for_each
from tests.small_course import CHAPTER, write_small_course

ROOT = Path(__file__).parents[2]
MANIFEST = load_manifest(ROOT / "course.toml")


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return write_small_course(tmp_path_factory.mktemp("course"))


@pytest.fixture
def solutions(course, monkeypatch):
    """Call the command as from the shell; return exit status, stdout and stderr."""

    def call(*arguments, at=course):
        monkeypatch.chdir(at)
        result = CliRunner().invoke(cli.app, ["solutions", *map(str, arguments)])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.stdout, result.stderr

    return call


def page_of(why="", solution="def f():\n    return 1 < 2", way="", differs=""):
    solved = Solved(solution, why, way, differs)
    chapter = MANIFEST.chapter("ch01_vanilla_rnn")
    return solutions_page(MANIFEST, chapter, dict.fromkeys((exercise.id for exercise in chapter.exercises), solved))


def test_the_page_has_the_whole_chapter(solutions, tmp_path):
    term = tmp_path / "a term"
    assert solutions(CHAPTER, "--term", term) == (0, f"Wrote {term}/reports/{CHAPTER}-solutions.html.\n", "")
    assert term.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in term.iterdir()] == ["reports"]  # no gradebook is made
    text = (term / "reports" / f"{CHAPTER}-solutions.html").read_text("utf-8")
    assert text.count("<details>") == text.count("<h3>The course's solution</h3>") == 2
    for piece in ("<summary>One step of the recurrence, <code>rnn_step</code></summary>", "<h3>Another way</h3>"):
        assert piece in text
    for piece in ("np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)", "Inputs and states are rows", "A preallocated array"):
        assert piece in unescape(text)
    assert not re.search(r"<script|<link|src=|https?:", text)


def test_where_the_page_is_written(solutions, course, tmp_path):
    assert solutions(CHAPTER, "--out", tmp_path / "x.html", "--term", tmp_path / "t")[0] == 0
    assert [path.name for path in tmp_path.iterdir()] == ["x.html"]
    assert solutions(CHAPTER)[1] == f"Wrote term/reports/{CHAPTER}-solutions.html.\n"
    assert (course / "term" / "reports" / f"{CHAPTER}-solutions.html").is_file()


def test_the_page_can_be_written_early_and_the_command_says_so(solutions, tmp_path):
    (tmp_path / "term.toml").write_text(f"[due]\n{CHAPTER} = 2999-03-01 12:00:00Z\n")
    status, output, error = solutions(CHAPTER, "--term", tmp_path)
    assert (status, output) == (0, f"Wrote {tmp_path}/reports/{CHAPTER}-solutions.html.\n")
    assert error == f"Students can submit {CHAPTER} until 2999-03-01 12:00 UTC. Show the page after that time.\n"
    (tmp_path / "term.toml").write_text(f"[due]\n{CHAPTER} = 2020-03-01 12:00:00Z\n")
    assert solutions(CHAPTER, "--term", tmp_path)[2] == ""


def test_an_unknown_chapter(solutions, tmp_path):
    status, _, error = solutions("ch01", "--term", tmp_path / "t")
    assert (status, error) == (1, f"There is no chapter 'ch01'. Near it: {CHAPTER}.\n")
    assert not (tmp_path / "t").exists()


def test_where_the_sources_are_not(solutions, tmp_path):
    """As beside an installed wheel, or in the students' zip."""
    (tmp_path / "course.toml").write_text("")
    status, _, error = solutions(CHAPTER, at=tmp_path)
    assert status == 1
    assert "neither this folder nor one above it contains course.toml and solutions/" in error


def test_an_exercise_whose_folder_is_missing(tmp_path, solutions):
    root = write_small_course(tmp_path / "course")
    (root / "solutions" / CHAPTER / "rnn_step" / "spec.py").unlink()
    status, _, error = solutions(CHAPTER, at=root)
    assert status == 1
    assert f"solutions/{CHAPTER}/rnn_step/spec.py" in error


def test_what_is_not_written_has_no_heading():
    page = page_of()
    assert "return 1 &lt; 2" in page
    assert "Why it works" not in page
    assert "Another way" not in page


def test_paragraphs_code_emphasis_and_formulas():
    page = page_of(
        "First `a_b` and *this?*, 2 * 3 * 4,\nwith $h_t$.\n\nThen `$x$` costs $5.", differs="By `np.dot`, <b>."
    )
    state = M.format("<msub><mi>h</mi><mi>t</mi></msub>")
    kept = f'<span class="kept">{state}.</span>'  # no line begins with the full stop
    assert f"<p>First <code>a_b</code> and <em>this?</em>, 2 * 3 * 4, with {kept}</p>" in page
    assert "<p>Then <code>$x$</code> costs $5.</p>" in page
    assert "<p>By <code>np.dot</code>, &lt;b&gt;.</p>" in page


@for_each("name", MANIFEST.places)
def test_everything_that_authors_wrote_is_rendered(name):
    why = read_mistake_words(mistakes_path(ROOT, MANIFEST.place(name))).why
    page = page_of(why).partition("Why it works</h3>")[2].partition("</details>")[0]
    text = re.sub(r"<code>.*?</code>|<math .*?</math>", "", page)
    assert page.count("<math ") >= len(re.findall(r"\$[^$]+\$", re.sub("`[^`]+`", "", why)))
    assert not re.search(r"[$`*\\]|^<p>[-#|>]", text, re.MULTILINE), text
    known = re.sub(r"&(?!lt|gt|amp|quot)\w+;", "", page)  # of MathML, which HTML knows too
    minidom.parseString(f"<x>{known}</x>")


M = '<span class="formula"><math xmlns="http://www.w3.org/1998/Math/MathML">{}</math></span>'
FORMULAS = {
    "letters": ("dh_t", M.format("<mi>d</mi><msub><mi>h</mi><mi>t</mi></msub>")),
    "words": ("\\text{two words} < x", M.format("<mtext>two words</mtext><mo>&lt;</mo><mi>x</mi>")),
    "an unknown command": ("\\unknown{x}", "<code>\\unknown{x}</code>"),
    "nothing below": ("x_", "<code>x_</code>"),
}


@for_each(("tex", "html"), FORMULAS.values())
def test_formulas(tex, html):
    assert formula(tex) == html
