"""Code that readers write, run as a page runs it: all exercises, all code cells of pages, and code that misbehaves."""

from __future__ import annotations

from itertools import islice

import pytest

from grader.author.in_page import about, scratch_cells
from grader.cells import cell_source
from grader.released import COURSE as RECORDED
from grader.render.notes import Report
from grader.spec.changes import Change
from grader.spec.folders import GIVEN, exercise_folder
from grader.spec.load import reference_code
from tests.conftest import ROOT, SEEDS, exercise
from tests.page.conftest import COURSE, EXERCISES, Page

STEP = "def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):\n    {}\n"
NUMPY = "import numpy as np"


@pytest.fixture(scope="module")
def notebooks():
    from grader.author.course import Course

    return Course(ROOT).notebooks


def told_of(name: str, notebooks) -> dict:
    return about(ROOT, COURSE, COURSE.place(name), notebooks[name].student)


@pytest.mark.parametrize("name", EXERCISES)
def test_stub_solution_and_mistakes_of_each_exercise(name: str, page: Page, notebooks):
    """What the page shows is enough to solve the exercise; what it builds on is given in another version."""
    page.ask(load=name)
    told = told_of(name, notebooks)
    before = [told["setup"], *told["before"].values(), *(code for of, code in told["given"].items() if of != name)]
    stub = page.run(told["stub"], name, *before)
    assert (stub["status"], stub["printed"]) == ("unimplemented", "")
    solved = page.run(cell_source(notebooks[name].instructor, name), name, *before)
    assert (solved["status"], solved["printed"], solved["problem"]) == ("passed", "", "")
    assert solved["earned"] == solved["points"] == COURSE.place(name).exercise.points
    mistakes = exercise(name).spec.named_mistakes.values()
    changes = ((entry.id, way) for entry in mistakes for way in entry.ways if isinstance(way, Change))
    texts = RECORDED.messages(name).mistakes
    before = [told["setup"], *(cell_source(notebooks[of].instructor, of) for of in told["before"])]
    tried = 0
    for mistake, way in islice(changes, 3):
        wrong = page.run(way.apply(reference_code(ROOT, COURSE.place(name))), name, *before)
        assert wrong["status"] in ("failed", "error"), mistake
        assert texts[mistake].replace("`", "")[:30] in wrong["text"].replace("`", ""), mistake
        tried += 1
    assert tried == 3 or name in ("bleu", "beam_search")


GIVEN_VERSIONS = sorted(path.parent.name for path in ROOT.glob(f"solutions/*/*/{GIVEN}"))


@pytest.mark.parametrize("name", GIVEN_VERSIONS)
def test_a_given_version_is_right(name: str):
    space: dict = {}
    exec((exercise_folder(ROOT, COURSE.place(name)) / GIVEN).read_text("utf-8"), space)
    for seed in SEEDS:
        assert exercise(name).verdict(space[name], seed), seed


def test_whatever_an_exercise_builds_on_has_a_given_version():
    needed = {name for place in COURSE.places.values() for name in place.exercise.needs}
    assert needed == set(GIVEN_VERSIONS)


PAGES = [f"book/{chapter.id}/{name}" for chapter in COURSE.chapters for name in chapter.pages]


@pytest.mark.parametrize("name", PAGES)
def test_code_cells_of_pages_run(name: str, page: Page, notebooks):
    for cell in scratch_cells((ROOT / f"{name}.md").read_text("utf-8")):
        before = [NUMPY]
        for used in cell.before.exercises:
            told = told_of(used, notebooks)
            solved = (*told["before"], used)
            before += [told["setup"], *(cell_source(notebooks[of].instructor, of) for of in solved)]
        answer = page.run(cell.code, None, *before, cell.before.code)
        assert (answer["problem"], answer["status"]) == ("", ""), cell.code


def test_most_chapters_have_such_cells():
    offered = {name: len(scratch_cells((ROOT / f"{name}.md").read_text("utf-8"))) for name in PAGES}
    assert sum(offered.values()) > 50
    assert sum(map(bool, offered.values())) > 20


@pytest.mark.parametrize(
    ("code", "status", "says"),
    [
        ("import sys\nsys.exit()", "raised", "Nothing has to end here"),
        ("exit()", "raised", "Nothing has to end here"),
        ("import os\nos._exit(1)", "raised", "Nothing has to end here"),
        ("import os\nos.abort()", "raised", "Nothing has to end here"),
        ("input('your name')", "raised", "input() cannot ask anything on a page"),
        ("def f():\n    return f()\nf()", "raised", "RecursionError"),
        ("x = bytearray(2**33)", "raised", "Error"),
        ("rows = []\nwhile True:\n    rows.append(bytearray(2**28))", "raised", "more memory than a page has"),
        ("def g(", "raised", "'(' was never closed"),
        ("1 / 0", "raised", "line 1"),
        ("raise KeyboardInterrupt", "raised", "KeyboardInterrupt"),
        ("import torch", "raised", "No module named 'torch'"),
        ("x = 1", "undefined", "defines no rnn_step"),
        (STEP.format("import sys; sys.exit(3)"), "error", ""),
        (STEP.format("import os; os._exit(3)"), "error", ""),
        (STEP.format("return input()"), "error", ""),
        (STEP.format("return rnn_step(x_t, h_prev, W_xh, W_hh, b_h)"), "error", ""),
        (STEP.format("raise KeyboardInterrupt"), "raised", "KeyboardInterrupt"),
        (STEP.format("return np.zeros((10**6, 10**6))"), "error", ""),
    ],
)
def test_code_that_misbehaves_ends_in_a_sentence(code: str, status: str, says: str, page: Page):
    page.ask(load="rnn_step")
    answer = page.run(code, "rnn_step", NUMPY)
    assert answer["status"] == status, answer
    assert says in answer["problem"]
    assert "in_page" not in answer["problem"]
    again = page.run(STEP.format("return np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)"), "rnn_step", NUMPY)
    assert again["status"] == "passed"


def test_what_is_printed_is_shown_up_to_a_limit(page: Page):
    answer = page.run("print('a' * 300_000)\n'never shown'", None)
    assert answer["printed"].startswith("aaa")
    assert answer["printed"].endswith("[what was printed beyond this is not shown]\n")
    assert len(answer["printed"]) < 101_000
    exactly = page.run("for _ in range(60_000):\n    print('x')")
    assert exactly["printed"].endswith("x\n\n[what was printed beyond this is not shown]\n")


def test_the_last_expression_is_shown_and_a_report_as_in_a_notebook(page: Page):
    assert page.run("np.arange(3)", None, NUMPY)["printed"] == "array([0, 1, 2])\n"
    page.ask(load="rnn_step")
    wrong = STEP.format("return h_prev.copy()")
    shown = page.run(f"{wrong}\nfrom grader import check\ncheck('rnn_step', rnn_step)", None, NUMPY)
    space: dict = {}
    exec(wrong, space)
    here = Report(exercise("rnn_step").verdict(space["rnn_step"]))
    assert shown["shown"][0].partition("</strong>")[0] == here._repr_html_().partition("</strong>")[0]


def test_the_diary_goes_on_from_visit_to_visit(page: Page):
    page.ask(load="rnn_step")
    answer = page.run(STEP.format("return np.tanh(x_t @ W_xh + h_prev @ W_hh.T + b_h)"), "rnn_step", NUMPY)
    assert '"cause":"W_hh_transposed"' in answer["diary"].splitlines()[-1]
    assert "Still open" in page.ask(python="program = __import__('in_page'); program.ask('diary')")
    assert "rnn_step" in page.ask(python="program.ask('progress')")
