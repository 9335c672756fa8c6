"""`grader lint EXERCISE --watch`: what a run finds, what it keeps for the next one, and that it follows the files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grader.author.lint import EXERCISE_RULES, OTHER_SEEDS, Subject, nothing_is_left_to_write, says
from grader.author.memory import Memory, mistake_digests, variant_keys
from grader.author.record import PUBLIC_SEED, load_spec, make_checks, mistaken
from grader.author.watch import Before, answers, files_of
from grader.checking.case import Observation
from grader.cli.commands import app
from grader.manifest import load_manifest
from tests.small_course import CHAPTER, ROOT, write_small_course

SPEC = f"solutions/{CHAPTER}/checks/rnn_step.py"
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
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), "utf-8")


def run(root: Path, before: Before) -> dict[str, list[str]]:
    """What a run finds; as the watching process does, keep what it tells."""

    def tell(what: str, value: object) -> None:
        if what == "mistakes":
            before.mistakes = value  # type: ignore[assignment]

    found = dict(answers(root, "rnn_step", before, tell))
    before.memory = Memory(before.memory.known)
    return found


def keys(root: Path) -> dict[tuple[str, int], str]:
    """The key of each variant, by the mistake's name and number."""
    place = load_manifest(root / "course.toml").place("rnn_step")
    spec, source = load_spec(root, place), (root / SPEC).read_text("utf-8")
    found = variant_keys(spec, source, [root / NOTEBOOK])
    return {
        (name, number): found[id(function)]
        for name, entry in spec.misconceptions.items()
        for number, function in enumerate(entry.variants, 1)
    }


def test_a_run_follows_all_rules_of_lint(root: Path) -> None:
    found = run(root, Before())
    rules = {what.partition(" (")[0] for what in found}
    assert rules == {says(rule) for rule in (*EXERCISE_RULES, nothing_is_left_to_write)}
    assert [problem for problems in found.values() for problem in problems] == []


@pytest.mark.parametrize(
    ("file", "old", "new", "rule", "message"),
    [
        (SPEC, '"h_prev @ W_hh", "h_prev")', '"h_prev @ W_hh", "(h_prev @ W_hh)")', "Each variant", "W_hh_left_out"),
        (SPEC, '"bi,ij->bj"', '"bi,ji->bj"', "The reference", "with_einsum fails"),
        (
            NOTEBOOK,
            "    return np.tanh(",
            "    x_t = 2 * x_t\n    return np.tanh(",
            "The reference",
            "reference solution fails",
        ),
        (PAGE, "{exercise-link} rnn_step", "", "The book page", "has no {exercise-link} rnn_step"),
        (
            SPEC,
            "np.array([[1.00, -0.50]])",
            "np.array([[1.001, -0.50]])",
            "The cases",
            "x_t has more than two decimals",
        ),
        (SPEC, "yield case(rng, B=1, D=3, H=2)", "pass", "The cases", "no case has B = 1"),
    ],
)
def test_a_run_after_an_edit_sees_it(root: Path, file: str, old: str, new: str, rule: str, message: str) -> None:
    before = Before()
    if file == SPEC and rule == "Each variant":
        run(root, before)
    text = (root / file).read_text("utf-8")
    (root / file).write_text(text.replace(old, new, 1), "utf-8")
    assert (root / file).read_text("utf-8") != text
    found = {what: problems for what, problems in run(root, before).items() if problems}
    assert any(what.startswith(rule) and any(message in each for each in problems) for what, problems in found.items())


def test_only_changed_mistakes_are_run_again_and_come_first(root: Path) -> None:
    before = Before()
    run(root, before)
    kept = set(before.memory.known)
    edit(root / SPEC, 'change(" + b_h", "")', 'change(" + b_h", "+ 0 * b_h")')
    (what,) = [what for what in run(root, before) if what.startswith("The mistakes that you have changed")]
    assert what.endswith(": no_bias")
    assert len(set(before.memory.known) - kept) == 1 + len(OTHER_SEEDS)  # one variant, on the cases of each seed
    kept = set(before.memory.known)
    edit(root / SPEC, "You leave out the bias.", "You forget the bias.")
    assert any(what.endswith("(public cases): no_bias") for what in run(root, before))
    assert set(before.memory.known) == kept


def test_the_results_of_one_seed_are_not_taken_for_those_of_another(root: Path) -> None:
    """The cases of two seeds have the same names and sizes."""
    place = load_manifest(root / "course.toml").place("rnn_step")
    spec = load_spec(root, place)
    observed = Memory().remembering(mistaken, "recorded", variant_keys(spec, (root / SPEC).read_text("utf-8"), []))
    for seed in (PUBLIC_SEED, *OTHER_SEEDS):
        plain = make_checks(root, place, seed, example=False, spec=spec)
        kept = make_checks(root, place, seed, example=False, spec=spec, observed=observed)
        for name, variants in plain.misconceptions.items():
            for one, other in zip(variants, kept.misconceptions[name], strict=True):
                assert [results(each) for each in one] == [results(each) for each in other]


def results(observation: Observation) -> object:
    return repr(observation.result.tolist()) if observation.raised is None else observation.raised


@pytest.mark.parametrize(
    ("file", "old", "new", "which"),
    [
        (SPEC, "You leave out the bias.", "You forget it.", set()),
        (SPEC, "Many diagrams of the step", "Diagrams", set()),
        (SPEC, "Inputs and states are rows, so", "Rows, so", set()),
        (SPEC, "# ", "# a comment # ", set()),
        (SPEC, 'change(" + b_h", "")', 'change(" + b_h", " - b_h")', {("no_bias", 1)}),
        (SPEC, "h_t = np.array(h_prev)", "h_t = 1 * h_prev", {("units_updated_in_place", 1)}),
        (SPEC, "D=3, H=4", "D=4, H=4", None),
        (SPEC, "np.random", "np.random", set()),
        (NOTEBOOK, "import numpy as np", "import numpy as np  # here", None),
    ],
)
def test_what_the_result_of_a_mistake_depends_on(
    root: Path, file: str, old: str, new: str, which: set[tuple[str, int]] | None
) -> None:
    """`which` are the variants to be run again, None stands for all of them."""
    first = keys(root)
    text = (root / file).read_text("utf-8")
    (root / file).write_text(text.replace(old, new, 1), "utf-8")
    second = keys(root)
    assert first.keys() == second.keys()
    assert {each for each in first if first[each] != second[each]} == (first.keys() if which is None else which)


def test_a_mistake_on_which_another_builds_is_a_part_of_all(root: Path) -> None:
    """A function with a decorator is left out of what all results depend on, unless other code uses it."""
    spec = root / SPEC
    with spec.open("a") as file:
        file.write("\n\n@SPEC.mistake('twice', 'You do it twice.', tempts='It is.')\n")
        file.write("def twice(*inputs, **named):\n    return 2 * one_unit_after_another(*inputs, **named)\n")
    first = keys(root)
    edit(spec, "h_t = np.array(h_prev)", "h_t = 1 * h_prev")
    second = keys(root)
    assert first["twice", 1] != second["twice", 1]


def test_a_mistake_that_a_loop_makes_is_run_again_after_any_change(root: Path) -> None:
    with (root / SPEC).open("a") as file:
        file.write("\n\ndef times(k):\n    def way(x_t, h_prev, W_xh, W_hh, b_h):\n        return k * h_prev\n\n")
        file.write("    return way\n\n\nSPEC.mistake('times', 'You multiply.', times(3), times(4), tempts='It is.')\n")
    first = keys(root)
    assert first["times", 1] != first["times", 2]
    edit(root / SPEC, "times(3), times(4)", "times(3), times(5)")
    second = keys(root)
    assert all(first["times", number] != second["times", number] for number in (1, 2))


def test_the_digest_of_a_mistake_covers_its_message_and_its_ways(root: Path) -> None:
    place = load_manifest(root / "course.toml").place("rnn_step")

    def digests() -> dict[str, str]:
        return mistake_digests(load_spec(root, place), (root / SPEC).read_text("utf-8"))

    first = digests()
    edit(root / SPEC, "You leave out the bias.", "You forget the bias.")
    edit(root / SPEC, "h_t = np.array(h_prev)", "h_t = 1 * h_prev")
    second = digests()
    assert {name for name in first if first[name] != second[name]} == {"no_bias", "units_updated_in_place"}


def test_the_files_of_an_exercise(root: Path) -> None:
    files = files_of(ROOT, load_manifest(ROOT / "course.toml").place("orthogonal_init"))
    relative = {str(path.relative_to(ROOT)) for path in files if path.exists()}
    folder = "solutions/ch03_gradients"
    names = ("orthogonal_init.py", "orthogonal_init.md", "orthogonal_init_judge.py")
    assert {f"{folder}/checks/{name}" for name in names} < relative
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
        assert any("mistake 'no_bias', variant 1" in line for line in until("1 problem found", printed))
        edit(root / SPEC, 'change(" + b_h", " +")', 'change(" + b_h", " - b_h")')
        second = until("No problem found", printed)
        assert any("The mistakes that you have changed are named (public cases): no_bias" in line for line in second)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the run, too
        assert process.wait(60) == 0
        assert not any("Traceback" in line for line in printed)
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def test_a_subject_without_mistakes_has_the_same_cases(root: Path) -> None:
    from grader.author.course import Course

    course = Course(root)
    subject = Subject(course, course.manifest.place("rnn_step"), (PUBLIC_SEED,))
    (bare,), (whole,) = subject.without_mistakes().checks, subject.checks
    assert not bare.misconceptions
    assert whole.misconceptions
    assert [case.name for case in bare.cases] == [case.name for case in whole.cases]
