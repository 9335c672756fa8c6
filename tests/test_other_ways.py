"""What a reader sees after a pass: the solution of every exercise, why it works, and another way that stands alone."""

import builtins

import pytest

from grader.author.course import Course
from grader.author.notebooks import source_path
from grader.author.other_ways import alternative, global_names, region, solved, solved_chapter, without_docstring
from tests.conftest import ROOT

COURSE = Course(ROOT)


@pytest.mark.parametrize("chapter", [chapter.id for chapter in COURSE.manifest.chapters])
def test_every_exercise_has_a_commented_solution_and_another_way(chapter):
    found = solved_chapter(COURSE, COURSE.manifest.chapter(chapter))
    assert [each.id for each in COURSE.manifest.chapter(chapter).exercises] == list(found)
    for name, each in found.items():
        assert all((each.solution, each.why, each.way, each.differs)), name
        assert "SOLUTION" not in each.solution, name
        assert "SPEC" not in each.way, name
        assert each.differs not in each.way, name


@pytest.mark.parametrize("chapter", [chapter.id for chapter in COURSE.manifest.chapters])
def test_another_way_needs_nothing_that_a_reader_does_not_have(chapter):
    """Beside Python it uses only what the exercise's notebook defines or imports, and what is shown with it."""
    for name, each in solved_chapter(COURSE, COURSE.manifest.chapter(chapter)).items():
        place = COURSE.manifest.place(name)
        there: dict[str, object] = {}
        exec(compile(source_path(ROOT, place.chapter, place.notebook).read_text("utf-8"), name, "exec"), there)
        shown = {}
        exec(compile(each.way, name, "exec"), there | {"__name__": "shown"}, shown)
        assert set(global_names(each.way)) <= there.keys() | shown.keys() | set(dir(builtins)), name


def test_one_exercise():
    found = solved(COURSE, COURSE.manifest.place("rnn_step"))
    assert found.solution == (
        "def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):\n    return np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)  # (B, H)"
    )
    assert found.why.startswith("Inputs and states are rows")
    assert found.way.startswith("def one_matrix(x_t, h_prev, W_xh, W_hh, b_h):\n    return np.tanh(np.concatenate(")
    assert found.differs == "A single product with the joined weights."


def test_a_region_without_its_marks():
    cell = "def f():\n    '''Doc.'''\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION\n"
    assert without_docstring(region(cell)) == "def f():\n    return 1"


def test_a_docstring_that_is_all_there_is_stays():
    assert without_docstring("def f():\n    '''Doc.'''\n") == "def f():\n    '''Doc.'''"


def decorate(function: object) -> object:
    return function


@decorate
def words_of_two_lines():
    """Says two.

    And no more.
    """
    return 2


def helper(x):
    return deeper(x)


def deeper(x):
    """Kept."""
    return x * 2


@decorate
def with_helpers(x, text):
    """Uses others of its file."""
    text = [helper(each) for each in x]  # a name of its own, like the function below
    return text[:1]


def text():
    return "not used"


class Given:
    def __init__(self):
        self.base = 1


@decorate
class Way(Given):
    """Adds up."""

    def forward(self, x):
        """Stays."""
        return self.base + x


def test_an_alternative_without_its_decorator():
    assert alternative(words_of_two_lines) == ("Says two.", "def words_of_two_lines():\n    return 2")


def test_an_alternative_with_what_it_uses():
    differs, code = alternative(with_helpers)
    assert differs == "Uses others of its file."
    assert [line.partition("(")[0] for line in code.splitlines() if line.startswith("def ")] == [
        *("def helper", "def deeper"),
        "def with_helpers",
    ]
    assert '"""Kept."""' in code
    assert "decorate" not in code


def test_a_class_comes_with_the_one_it_is_made_from():
    differs, code = alternative(Way)
    assert differs == "Adds up."
    assert code == (
        "class Given:\n    def __init__(self):\n        self.base = 1\n\n\n"
        'class Way(Given):\n    def forward(self, x):\n        """Stays."""\n        return self.base + x'
    )
