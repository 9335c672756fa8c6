"""`grader lint`: the course is clean, and each rule sees the breach that it is there for."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import grader.author.course
from grader.author.course import Course
from grader.author.course_rules import COURSE_RULES
from grader.author.lint import (
    EXERCISE_RULES,
    Subject,
    lint_course,
    solution_is_not_shown,
    stub_is_not_implemented,
)
from grader.author.release import release
from grader.author.shown_solutions import shown_pieces, solution_pieces
from grader.author.words import breaches, load_words
from grader.manifest import UnknownIdError
from grader.spec.kept import KEPT
from tests.small_course import write_small_course

ROOT = Path(__file__).parents[1]
FOLDER = "solutions/ch01_vanilla_rnn/rnn_step"
REFERENCE = "solutions/ch01_vanilla_rnn/recurrence.py"
PAGE = "book/ch01_vanilla_rnn/one_step.md"


@pytest.fixture
def copy(tmp_path: Path, rule: str) -> Path:
    """The course without its history, to be broken; a small one for the rule that makes all of it anew."""
    if rule == "generated_files_are_current":
        root = write_small_course(tmp_path)
        release(root)
        return root
    for name in ("solutions", "exercises", "book", "tests/book"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "_build"))
    shutil.copytree(ROOT / "grader/data", tmp_path / "grader/data", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("course.toml", "words.toml", "released.txt"):
        shutil.copy(ROOT / name, tmp_path)
    for kept in (ROOT / KEPT).glob("*/rnn_step.msgpack"):  # else the sound course is computed again for each test
        target = tmp_path / kept.relative_to(ROOT)
        target.parent.mkdir(parents=True)
        shutil.copy(kept, target)
    return tmp_path


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def cut(path: Path, after: str, before: str) -> None:
    text = path.read_text("utf-8")
    path.write_text(f"{text.partition(after)[0]}{after}\n\n{before}{text.partition(before)[2]}", "utf-8")


def add(path: Path, text: str) -> None:
    path.write_text(path.read_text("utf-8") + text, "utf-8")


def problems_of(root: Path, rule: str, exercise: str = "rnn_step") -> list[str]:
    course = Course(root)
    for exercise_rule in EXERCISE_RULES:
        if exercise_rule.__name__ == rule:
            return exercise_rule(Subject(course, course.manifest.place(exercise)))
    (course_rule,) = (r for r in COURSE_RULES if r.__name__ == rule)
    return course_rule(course)


def test_an_unknown_exercise_is_told_with_near_ids() -> None:
    with pytest.raises(UnknownIdError, match="rnn_step"):
        list(lint_course(ROOT, "rnn_stp"))


@pytest.mark.parametrize("reads", ["shown_pieces", "instructor_notebook", "generate"])
def test_what_exercises_share_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reads: str) -> None:
    """A page, and the notebook of both exercises: lint's time would otherwise grow with their product."""
    root, read = write_small_course(tmp_path), getattr(grader.author.course, reads)
    given: list[str] = []

    def counted(*arguments: object) -> object:
        given.append(str(arguments))
        return read(*arguments)

    monkeypatch.setattr(grader.author.course, reads, counted)
    course = Course(root)
    assert len(course.manifest.places) == 2
    for place in course.manifest.places.values():
        for rule in (stub_is_not_implemented, solution_is_not_shown):
            assert rule(Subject(course, place)) == []
    assert given
    assert len(given) == len(set(given))


def test_slips_that_no_case_tells_apart_are_told_and_are_no_problem() -> None:
    told = [(what, found) for what, found in lint_course(ROOT, "rnn_step", again=True) if "For information" in what]
    assert [found for _, found in told] == [[]]
    assert "zeros x_t | zeros W_xh; " in told[0][0]


BREACHES: list[tuple[str, Callable[[Path], None], str]] = [
    (
        "right_ones_pass",
        lambda root: edit(root / REFERENCE, "    return np.tanh(x_t", "    x_t = 2 * x_t\n    return np.tanh(x_t"),
        "the reference solution fails",
    ),
    (
        "right_ones_pass",
        lambda root: edit(root / FOLDER / "spec.py", 'np.einsum("bi,ij->bj"', 'np.einsum("bi,ji->bj"'),
        "alternative with_einsum fails",
    ),
    (
        "stub_is_not_implemented",
        lambda root: edit(
            root / REFERENCE,
            "    ### BEGIN SOLUTION\n    return np.tanh",
            "    return x_t\n    ### BEGIN SOLUTION\n    return np.tanh",
        ),
        "the stub's verdict is 'failed'",
    ),
    (
        "mistakes_are_named",
        lambda root: edit(root / FOLDER / "spec.py", '"W_hh_left_out": "h_prev"', '"W_hh_left_out": "(h_prev @ W_hh)"'),
        "W_hh_left_out, way 1, is right on every case, of which there are",
    ),
    (
        "mistakes_are_named",
        lambda root: edit(
            root / FOLDER / "spec.py",
            '"W_hh_left_out": "h_prev"',
            '"W_hh_left_out": "h_prev[99]"',
        ),
        "W_hh_left_out, way 1, is diagnosed as None",
    ),
    (
        "mistakes_are_named",
        lambda root: edit(root / FOLDER / "spec.py", "SPEC.mistakes(", 'SPEC.mistakes(keeps=["result"], ways='),
        "by its `keeps` it should earn 2",
    ),
    (
        "mistakes_are_named",
        lambda root: (
            add(root / FOLDER / "spec.py", '\nSPEC.mistakes({"twin": change("h_prev @ W_hh", "h_prev")})\n'),
            add(root / FOLDER / "mistakes.md", "\n## twin\n\nTwin.\n\n> It is there.\n"),
        ),
        "twin, way 1, gives the same as 'W_hh_left_out' on every case: merge them",
    ),
    (
        "why_is_told",
        lambda root: cut(root / FOLDER / "mistakes.md", "# Why it works", "# Mistakes"),
        "there is no text below '# Why it works'",
    ),
    (
        "messages_do_not_shout",
        lambda root: edit(root / FOLDER / "mistakes.md", "You leave out the bias.", "You leave out the bias!"),
        "no_bias: You leave out the bias!",
    ),
    (
        "cases_are_telling",
        lambda root: edit(root / FOLDER / "spec.py", "case(rng, B=3, D=2, H=1)", "case(rng, B=3, D=2, H=2)"),
        "no case has H = 1",
    ),
    (
        "cases_are_telling",
        lambda root: edit(
            root / FOLDER / "spec.py", "rng.normal(size=(B, D))", "np.linspace(0, 1, B * D).reshape(B, D)"
        ),
        "x_t is evenly spaced",
    ),
    (
        "cases_are_telling",
        lambda root: edit(root / FOLDER / "spec.py", '"W_hh": rng.normal(size=(H, H))', '"W_hh": np.ones((H, H))'),
        "W_hh is symmetric",
    ),
    (
        "cases_are_telling",
        lambda root: edit(root / FOLDER / "spec.py", "[[1.00, -0.50]]", "[[1.003, -0.50]]"),
        "the example's x_t has more than two decimals",
    ),
    (
        "page_links_to_it",
        lambda root: edit(root / PAGE, "# One step of a recurrent network\n", "# A step\n"),
        "its heading is not 'One step of a recurrent network'",
    ),
    (
        "page_links_to_it",
        lambda root: edit(root / PAGE, "{exercise-link} rnn_step", "{note} rnn_step"),
        "has no {exercise-link}",
    ),
    ("page_links_to_it", lambda root: (root / PAGE).unlink(), "one_step.md is missing"),
    (
        "solution_is_not_shown",
        lambda root: add(root / PAGE, "\n```python\nstate = np.tanh(x_t @ W_xh + h_prev @ W_hh  +  b_h)\n```\n"),
        "shows `state = np.tanh",
    ),
    (
        "solution_is_not_shown",
        lambda root: add(
            root / FOLDER.replace("rnn_step", "rnn_forward") / "hints.md",
            "\n```\ndef f(x_t, h_prev, W_xh, W_hh, b_h):\n    return np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)\n```\n",
        ),
        "rnn_forward/hints.md",
    ),
    (
        "nothing_is_stray",
        lambda root: add_file(root / FOLDER.replace("step", "stop") / "spec.py"),
        "no exercise 'rnn_stop'",
    ),
    ("nothing_is_stray", lambda root: add_file(root / "grader/data/old.cases.msgpack.zlib"), "old.cases.msgpack.zlib"),
    (
        "generated_files_are_current",
        lambda root: edit(root / "exercises/ch01_vanilla_rnn/recurrence.ipynb", "One step", "Two steps"),
        "exercises/ch01_vanilla_rnn/recurrence.ipynb and its files: not what the present sources give",
    ),
    (
        "generated_files_are_current",
        lambda root: edit(root / FOLDER / "hints.md", "## Hint 1\n", "## Hint 1\n\nReally:\n"),
        "grader/data/rnn_step.*: not what the present sources give",
    ),
    (
        "generated_files_are_current",
        lambda root: edit(
            root / FOLDER / "spec.py", 'change(" + h_prev @ W_hh", "")', 'change("+ h_prev", "- h_prev")'
        ),
        "grader/data/rnn_step.*: not what the present sources give",
    ),
    (
        "messages_hold_no_solution",
        lambda root: add(root / "grader/data/rnn_backward.md", "\nWrite `dh_prev = da_t @ W_hh.T` there.\n"),
        "rnn_backward.md: a line of the solution of rnn_step_backward",
    ),
    (
        "equations_are_grounded",
        lambda root: add(root / PAGE, "\n```{math}\n:label: nobody-tests-this\nh = 0\n```\n"),
        "(nobody-tests-this)",
    ),
    ("figures_have_alt_text", lambda root: add(root / PAGE, "\n![](picture.png)\n"), "without alt text"),
    (
        "figures_have_alt_text",
        lambda root: add(root / PAGE, "\n```{figure} a.png\n:name: a\nWords.\n```\n"),
        "without :alt:",
    ),
    (
        "figures_have_alt_text",
        lambda root: add(root / PAGE, "\n```{code-cell}\nplt.plot(h)\n```\n"),
        "a code cell that draws",
    ),
    ("words_are_current", lambda root: add(root / PAGE, "\nIt gets the\nblame.\n"), "'blame': write gradient"),
    ("words_are_current", lambda root: add(root / REFERENCE, "\n# by\n# chance\n"), "'by # chance': write at random"),
    ("words_are_current", lambda root: add(root / PAGE, "\nA share of .2 is left.\n"), "'.2': write a digit"),
]


@pytest.mark.parametrize("text", ["f'{x:.2f} %.3f'", "chapter 1.2", "p { margin: 0 .5rem }", '".7z"', "the_blame_of"])
def test_formats_names_and_style_sheets_are_no_numbers_of_prose(text: str) -> None:
    assert list(breaches(text, load_words(ROOT))) == []


def test_a_pattern_that_is_none_is_told_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "words.toml").write_text("[patterns]\n'(' = 'a bracket'\n", "utf-8")
    with pytest.raises(ValueError, match=r"words\.toml: '\(' is no regular expression"):
        load_words(tmp_path)


@pytest.mark.parametrize("rule", ["cases_are_telling"])
def test_a_case_of_nothing_but_zeros_is_allowed(copy: Path, rule: str) -> None:
    spec = copy / FOLDER / "spec.py"
    edit(spec, '"W_hh": rng.normal(size=(H, H))', '"W_hh": np.zeros((H, H))')
    edit(spec, "rng.normal(size=(B, D))", "np.zeros((B, D))")
    assert problems_of(copy, rule) == []


def add_file(path: Path) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("", "utf-8")


@pytest.mark.parametrize(
    ("rule", "breach", "told"), BREACHES, ids=[f"{rule}-{n}" for n, (rule, *_) in enumerate(BREACHES)]
)
def test_each_rule_sees_its_breach(copy: Path, rule: str, breach: Callable[[Path], object], told: str) -> None:
    exercise = "rnn_step"
    before = problems_of(copy, rule, exercise)
    assert before == []
    breach(copy)
    after = problems_of(copy, rule, exercise)
    assert any(told in problem for problem in after), after


def test_small_pieces_give_nothing_away() -> None:
    cell = (
        "def f(x):\n    ### BEGIN SOLUTION\n    T = x.shape[1]\n    return np.stack(h, axis=1)\n    ### END SOLUTION\n"
    )
    pieces = solution_pieces(cell)
    assert len(pieces) == 1
    cells = "```{code-cell} ipython3\n:tags: [hide-input]\n\n%matplotlib inline\ny = np.stack(h, axis=1)\n```\n"
    shown = f"```python\nT = x.shape[1]\n```\n\n{cells}"
    assert [(line, source) for line, source, piece in shown_pieces(shown) if piece in pieces] == [
        (9, "y = np.stack(h, axis=1)")
    ]


def test_every_region_of_a_cell_is_a_solution() -> None:
    cell = (
        "class F:\n    def f(self, x):\n        ### BEGIN SOLUTION\n        return np.stack(x, axis=1)\n"
        "        ### END SOLUTION\n\n    def given(self, x):\n        return np.concatenate(x, axis=1)\n\n"
        "    def g(self, x):\n        ### BEGIN SOLUTION\n        return np.stack(x, axis=2)\n"
        "        ### END SOLUTION\n"
    )
    pieces = solution_pieces(cell)
    shown = "```python\na = np.stack(x, axis=1)\nb = np.stack(x, axis=2)\nc = np.concatenate(x, axis=1)\n```\n"
    assert [line for line, _, piece in shown_pieces(shown) if piece in pieces] == [2, 3]
