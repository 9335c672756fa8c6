"""`grader lint EXERCISE --watch`: that it follows the rules of lint and the files of an exercise."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grader.author.lint import EXERCISE_RULES, lint_course, says
from grader.author.watch import Begun, Ended, Followed, files_of, watch
from grader.cli.commands import app
from grader.manifest import load_manifest
from tests.small_course import CHAPTER, ROOT, write_small_course

SPEC = f"solutions/{CHAPTER}/rnn_step/spec.py"
WORDS = f"solutions/{CHAPTER}/rnn_step/mistakes.md"
NOTEBOOK = f"solutions/{CHAPTER}/recurrence.py"
PAGE = f"book/{CHAPTER}/one_step.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = write_small_course(tmp_path)
    (root / PAGE).parent.mkdir(parents=True)
    (root / PAGE).write_text("# One step of a recurrent network\n\n```{exercise-link} rnn_step\n```\n", "utf-8")
    return root


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


def first_run(root: Path) -> list[Followed]:
    """What the first run tells about each rule; the watch ends with it."""
    found: list[Followed] = []
    with closing(watch(root, "rnn_step")) as events:
        assert next(events) == Begun([])
        for event in events:
            if isinstance(event, Ended):
                return found
            assert isinstance(event, Followed)
            found.append(event)
    raise AssertionError("the run has not ended")


def test_a_run_follows_all_rules_of_lint(root: Path) -> None:
    found = first_run(root)
    rules = [each.rule.removeprefix("rnn_step: ") for each in found]
    assert rules == [what.removeprefix("rnn_step: ") for what, _ in lint_course(root, "rnn_step", again=True)]
    assert {says(rule) for rule in EXERCISE_RULES} <= {*rules}
    assert [problem for each in found for problem in each.problems] == []


@pytest.mark.parametrize(
    ("file", "old", "new", "rule", "message"),
    [
        (SPEC, '"W_hh_left_out": "h_prev"', '"W_hh_left_out": "(h_prev @ W_hh)"', "Each way", "W_hh_left_out"),
        (SPEC, '"bi,ij->bj"', '"bi,ji->bj"', "The reference", "with_einsum fails"),
        (NOTEBOOK, "    return np.tanh(", "    x_t = 2 * x_t\n    return np.tanh(", "The reference", "solution fails"),
        (PAGE, "{exercise-link} rnn_step", "", "The book page", "has no {exercise-link} rnn_step"),
        (SPEC, "np.array([[1.00, -0.50]])", "np.array([[1.001, -0.50]])", "The cases", "more than two decimals"),
        (SPEC, "yield case(rng, B=1, D=3, H=2)", "pass", "The cases", "no case has B = 1"),
        (WORDS, "You leave out the bias.", "You leave out the bias!", "No message", "no_bias: You leave out the bias!"),
        (WORDS, "## no_bias", "## bias", "The files can be read", "mistakes.md: bias is not a mistake of the spec"),
    ],
)
def test_a_run_after_an_edit_sees_it(root: Path, file: str, old: str, new: str, rule: str, message: str) -> None:
    for edited in (False, True):
        if edited:
            edit(root / file, old, new)
        told = [(each.rule, problem) for each in first_run(root) for problem in each.problems]
        assert any(rule in what and message in problem for what, problem in told) == edited


def test_the_files_of_an_exercise() -> None:
    files = files_of(ROOT, load_manifest(ROOT / "course.toml").place("orthogonal_init"))
    relative = {str(path.relative_to(ROOT)) for path in files if path.exists()}
    folder = "solutions/ch03_gradients"
    assert {
        f"{folder}/orthogonal_init/{name}" for name in ("spec.py", "mistakes.md", "hints.md", "judge.py")
    } < relative
    assert {"course.toml", "book/ch03_gradients/initialisation.md"} < relative


def test_without_an_exercise_it_says_what_to_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    done = CliRunner().invoke(app, ["lint", "--watch"])
    assert (done.exit_code, "Name the exercise to watch" in done.output) == (1, True)
    done = CliRunner().invoke(app, ["lint", "rnn_stp", "--watch"])
    assert (done.exit_code, "Near it: rnn_step" in done.output) == (1, True)


def lines(process: subprocess.Popen[str]) -> Iterator[str]:
    assert process.stdout is not None
    yield from process.stdout


def until(text: str, found: Iterator[str]) -> list[str]:
    """The lines up to the first that contains a text."""
    seen = []
    for line in found:
        seen.append(line.rstrip("\n"))
        if text in line:
            return seen
    raise AssertionError(f"{text!r} was not printed: {seen}")


@pytest.mark.system
def test_the_command_follows_the_files_until_ctrl_c(root: Path) -> None:
    """In a process of its own, because it forks."""
    process = subprocess.Popen(
        [sys.executable, "-m", "grader", "lint", "rnn_step", "--watch"],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        printed = lines(process)
        assert until("Watching rnn_step", printed)
        assert not any("✗" in line for line in until("No problem found", printed))
        edit(root / SPEC, 'change(" + b_h", "")', 'change(" + b_h", " +")')
        until(f"{SPEC} saved", printed)
        assert any("mistake 'no_bias', way 1" in line for line in until("1 problem found", printed))
        edit(root / SPEC, 'change(" + b_h", " +")', 'change(" + b_h", " - b_h")')
        until("No problem found", printed)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the run, too
        assert process.wait(60) == 0
        assert not any("Traceback" in line for line in printed)
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()
