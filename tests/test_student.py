"""`check`, `hint` and `progress` as a student meets them, on the course's own data."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import grader
from grader import check, hint, progress
from grader.checking.verdict import CheckFailed
from grader.manifest import UnknownIdError
from grader.released import COURSE
from grader.render.html import verdict_html
from grader.render.text import verdict_text
from tests.conftest import exercise

pytestmark = pytest.mark.usefixtures("session")


def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):
    return np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)


def rnn_forward(x, h_0, W_xh, W_hh, b_h):
    states = [h_0]
    for t in range(x.shape[1]):
        states.append(rnn_step(x[:, t], states[-1], W_xh, W_hh, b_h))
    return np.stack(states[1:], axis=1)


def stub(x_t, h_prev, W_xh, W_hh, b_h):
    raise NotImplementedError("write rnn_step")


def no_bias(x_t, h_prev, W_xh, W_hh, b_h):
    return np.tanh(x_t @ W_xh + h_prev @ W_hh)


def forward_without_bias(x, h_0, W_xh, W_hh, b_h):
    return rnn_forward(x, h_0, W_xh, W_hh, 0 * b_h)


def test_that_is_all_a_student_imports():
    assert sorted(grader.__all__) == ["check", "diary", "hint", "progress", "take", "waits_for"]


def test_a_name_that_the_package_lacks():
    assert grader.check is check
    with pytest.raises(AttributeError, match="'grader' has no attribute 'chek'"):
        _ = grader.chek


def test_a_right_function_passes():
    report = check("rnn_step", rnn_step)
    assert report
    verdict = report.verdict
    assert (verdict.status, verdict.earned, verdict.points, verdict.diagnosis) == ("passed", 2, 2, None)
    assert repr(report) == "rnn_step   2 / 2   right on all 7 cases"


def test_a_wrong_function_raises_nothing_and_is_named():
    report = check("rnn_step", no_bias)
    assert not report
    assert report.verdict.diagnosis.id == "no_bias"
    assert "b_h" in report.verdict.diagnosis.text


def test_a_report_shows_its_verdict_wherever_it_is_shown():
    report = check("rnn_step", no_bias)
    assert repr(report) == str(report) == verdict_text(report.verdict)
    assert report._repr_html_() == verdict_html(report.verdict)
    assert report.to_json() == report.verdict.to_json()


@pytest.mark.parametrize("thing", [None, 3, "rnn_step", lambda: 0, lambda **_: 1 / 0, lambda **_: sys.exit(0), stub])
def test_nothing_that_is_passed_raises(thing):
    assert not check("rnn_step", thing)


def test_the_stub_is_not_implemented_yet():
    report = check("rnn_step", stub)
    assert (report.verdict.status, report.verdict.earned) == ("unimplemented", 0)
    assert "not implemented yet" in repr(report)
    assert "NotImplementedError:" not in repr(report)


def test_a_loop_over_the_stub_says_which_function_is_missing():
    def loop(step):
        def rnn_forward(x, h_0, W_xh, W_hh, b_h):
            return step(x[:, 0], h_0, W_xh, W_hh, b_h)

        return rnn_forward

    def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):
        raise NotImplementedError

    report = check("rnn_forward", loop(rnn_step))
    assert (report.verdict.status, report.verdict.unwritten) == ("unimplemented", "rnn_step")
    assert "note           rnn_forward calls rnn_step, which is not written yet." in repr(report)
    assert "what to do" not in repr(report)


def test_an_unknown_id_names_near_ones():
    with pytest.raises(UnknownIdError, match="Near it: rnn_step"):
        check("rnn_stp", rnn_step)
    with pytest.raises(UnknownIdError, match="Near it: rnn_forward"):
        hint("rnn_foward")
    with pytest.raises(UnknownIdError, match="in quotes"):
        check(rnn_step, "rnn_step")


def test_under_validate_a_wrong_answer_raises_its_report(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    assert check("rnn_step", rnn_step)
    for wrong in (no_bias, stub, None):
        with pytest.raises(CheckFailed) as caught:
            check("rnn_step", wrong)
        assert str(caught.value).startswith("rnn_step   0 / 2")


def forward_of_unknown_numbers(x, h_0, W_xh, W_hh, b_h):
    return np.sin(rnn_forward(x, h_0, W_xh, W_hh, b_h) ** 2 + 0.3)


def forward_by_itself(x, h_0, W_xh, W_hh, b_h):
    states = [h_0]
    for t in range(x.shape[1]):
        states.append(np.sin(x[:, t] @ W_xh + states[-1] @ W_hh + b_h + 0.3))
    return np.stack(states[1:], axis=1)


def test_what_an_exercise_builds_on_is_named_if_nothing_else_fits():
    assert check("rnn_forward", forward_of_unknown_numbers).verdict.diagnosis is None  # nothing is known of rnn_step
    check("rnn_step", no_bias)
    assert check("rnn_forward", forward_of_unknown_numbers).verdict.diagnosis.id == "needs"
    check("rnn_step", rnn_step)
    assert check("rnn_forward", forward_of_unknown_numbers).verdict.diagnosis is None


def test_what_an_exercise_builds_on_does_not_replace_a_cause_that_fits():
    words = "Your code uses `rnn_step`, which failed when last checked, so the mistake may be there."
    check("rnn_step", no_bias)
    diagnosis = check("rnn_forward", forward_without_bias).verdict.diagnosis
    assert diagnosis.id == "altered input: zeros b_h"
    assert diagnosis.text.endswith(words)


def test_what_the_code_does_not_use_is_not_named():
    check("rnn_step", no_bias)
    assert check("rnn_forward", forward_by_itself).verdict.diagnosis is None


def test_a_function_without_its_name_or_the_name_without_a_function():
    with pytest.raises(UnknownIdError, match='Give the id of an exercise in quotes, such as "rnn_step"'):
        check(rnn_step)
    with pytest.raises(UnknownIdError, match='Give the id of an exercise in quotes, such as "rnn_step"'):
        hint(rnn_step)
    with pytest.raises(TypeError, match=r'^Give the function too: check\("rnn_step", rnn_step\)$'):
        check("rnn_step")


def test_hints_grow_plainer_by_level():
    texts = [hint("rnn_step", level) for level in (1, 2, 3)]
    assert texts[0].text.endswith("?")
    assert hint("rnn_step") == texts[0]
    assert len({h.text for h in texts}) == 3
    assert repr(texts[0]).splitlines()[-1] == 'More: hint("rnn_step", 2)'
    assert "More" not in repr(texts[2])
    assert texts[0]._repr_markdown_().startswith("**Hint 1 for `rnn_step`**")
    assert '`hint("rnn_step", 2)`' in texts[0]._repr_markdown_()
    assert "hint(" not in texts[2]._repr_markdown_()


@pytest.mark.parametrize("level", [0, 4, -1, 1.0, True, "1", None])
def test_another_level_says_which_there_are(level):
    with pytest.raises(ValueError, match="levels 1, 2 and 3"):
        hint("rnn_step", level)


def test_progress_before_and_after():
    assert repr(progress()) == "You have not run a check yet. Run a check cell first."
    check("rnn_step", stub)
    lines = repr(progress()).splitlines()
    assert lines[0] == "The vanilla RNN"
    assert len(lines) == 1 + len(exercise("rnn_step").place.chapter.exercises)
    assert [line.split(maxsplit=4) for line in lines[1:3]] == [
        ["rnn_step", "0", "/", "2", "not implemented yet"],
        ["rnn_forward", "0", "/", "2", "not checked yet"],
    ]
    check("rnn_step", rnn_step)
    before = progress()
    check("rnn_forward", rnn_forward)
    assert [line.split(maxsplit=4) for line in repr(progress()).splitlines()[1:3]] == [
        ["rnn_step", "2", "/", "2", "right on all 7 cases"],
        ["rnn_forward", "2", "/", "2", "right on all 7 cases"],
    ]
    assert "not checked yet" in repr(before)  # what was shown stays as it was
    assert progress()._repr_html_() == f"<pre>{progress()!r}</pre>"


def test_progress_knows_earlier_sessions(tmp_path, monkeypatch):
    monkeypatch.setenv("UNROLLED_DIARY", str(tmp_path / "diary.jsonl"))
    check("rnn_step", rnn_step)
    check("rnn_forward", forward_by_itself)
    lines = (tmp_path / "diary.jsonl").read_text()
    (tmp_path / "diary.jsonl").write_text(re.sub(r'"at":"[^"]+"', '"at":"2026-01-02T03:04:05+00:00"', lines))
    monkeypatch.setattr(grader.student, "_latest", {})
    assert [line.split(maxsplit=4) for line in repr(progress()).splitlines()[1:4]] == [
        ["rnn_step", "2", "/", "2", "right on 2026-01-02"],
        ["rnn_forward", "0", "/", "2", "not right yet on 2026-01-02"],
        ["concatenated_weights", "0", "/", "1", "not checked yet"],
    ]
    check("rnn_step", no_bias)
    assert "rnn_step" in progress().verdicts
    assert repr(progress()).splitlines()[1].endswith("not right yet: 0 of 7 cases pass")


def test_the_page_of_a_report_is_a_link_where_there_is_a_book(tmp_path, monkeypatch):
    page = COURSE.manifest.place("rnn_step").page_path
    file = tmp_path / "book" / f"{page}.html"
    notebooks = tmp_path / "exercises" / "ch01_vanilla_rnn"
    file.parent.mkdir(parents=True)
    notebooks.mkdir(parents=True)
    monkeypatch.chdir(notebooks)
    assert "<a href" not in check("rnn_step", no_bias)._repr_html_()
    file.write_text("")
    link = f'<a href="../../book/{page}.html#exercise-rnn_step">The vanilla RNN › One step of a recurrent network</a>'
    assert link in check("rnn_step", no_bias)._repr_html_()
    monkeypatch.setattr(type(COURSE.manifest), "book_base", "https://course.example/")
    assert link.replace("../../book", "https://course.example") in check("rnn_step", no_bias)._repr_html_()


def test_import_brings_neither_torch_nor_matplotlib_nor_any_notebook_machinery():
    program = """
import sys, numpy
import grader
from grader import check, hint, progress
check("rnn_step", lambda **inputs: 0)
repr(check("rnn_forward", lambda x, **inputs: x)), check("rnn_step", None)._repr_html_()
repr(hint("rnn_step")), repr(progress())
heavy = {"torch", "matplotlib", "nbgrader", "IPython", "nbformat", "jupytext", "typer", "rich", "sqlalchemy"}
print(*sorted(heavy & set(sys.modules)))
"""
    env = {name: value for name, value in os.environ.items() if name != "NBGRADER_EXECUTION"}
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=env, check=True)
    assert run.stdout.strip() == ""
