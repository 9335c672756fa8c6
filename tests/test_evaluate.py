"""From observations to a verdict: the status, the points, and the note on a function that is not written yet."""

from dataclasses import replace

import numpy as np
import pytest

from grader.checking.case import DEFAULT_TOLERANCE, WHOLE, Case, Checks, Facet, Observation, Output
from grader.checking.evaluate import evaluate, observe
from grader.codec import Line, Raised
from grader.manifest import Chapter, Exercise, Notebook, Place
from grader.render.rows import note_text
from grader.render.text import verdict_text

EXERCISE = Exercise("double", "Double", 3.0, "start")
NOTEBOOK = Notebook("first", "First", (EXERCISE,))
PLACE = Place(Chapter("ch01", "One", (NOTEBOOK,), {"start": "The start"}), NOTEBOOK, EXERCISE)

CASES = (
    Case({"N": 3}, {"x": np.array([1.0, 2.0, 3.0])}),
    Case({"N": 2}, {"x": np.array([-1.0, 0.5])}),
    Case({"N": 1}, {"x": np.array([4.0])}, "one"),
)
FACETS = (Facet("several", share=2, kinds=("ordinary",)), Facet("one", share=1, kinds=("one",)))


def verdict(function, facets=WHOLE):
    expected = tuple(Observation(2 * case.inputs["x"]) for case in CASES)
    checks = Checks("double", "call", (Output("y", ("N",)),), DEFAULT_TOLERANCE, facets, CASES, expected)
    return evaluate(PLACE, checks, {}, observe(checks, function))


def stub(x):
    raise NotImplementedError("write double")


def wrong_for_one(x):
    return 2 * x if len(x) > 1 else x


def raises_for_one(x):
    return 2 * x if len(x) > 1 else 1 / 0


def unwritten_for_one(x):
    if len(x) == 1:
        raise NotImplementedError
    return 2 * x


@pytest.mark.parametrize(
    ("function", "status", "earned"),
    [
        (lambda x: 2 * x, "passed", 3),
        (lambda x: x + x, "passed", 3),
        (lambda x: x, "failed", 0),
        (lambda x: None, "failed", 0),
        (wrong_for_one, "failed", 0),
        (raises_for_one, "error", 0),
        (unwritten_for_one, "error", 0),
        (lambda x: 1 / 0, "error", 0),
        (lambda: 0, "error", 0),
        (None, "error", 0),
        (stub, "unimplemented", 0),
    ],
)
def test_status_and_points(function, status, earned):
    found = verdict(function)
    assert (found.status, found.earned, found.points) == (status, earned, 3)
    assert (found.id, found.title, found.page) == ("double", "Double", "One › The start")


def test_the_first_case_that_goes_wrong_decides_between_error_and_failure():
    assert verdict(lambda x: x if len(x) == 3 else 1 / 0).status == "failed"
    assert verdict(lambda x: x if len(x) < 3 else 1 / 0).status == "error"


@pytest.mark.parametrize(
    ("function", "earned"),
    [(wrong_for_one, 2), (lambda x: x if len(x) > 1 else 2 * x, 1), (lambda x: x if len(x) == 3 else 2 * x, 1)],
)
def test_a_facet_is_all_or_nothing(function, earned):
    found = verdict(function, FACETS)
    assert not found
    assert found.earned == sum(facet.earned for facet in found.facets) == earned
    assert [(facet.name, facet.points) for facet in found.facets] == [("several", 2), ("one", 1)]


def test_a_changed_input_costs_the_facets_of_its_cases():
    def function(x):
        y = 2 * x
        if len(x) == 1:
            x[0] = 0
        return y

    assert verdict(function, FACETS).earned == 2


def test_every_case_is_in_the_verdict():
    found = verdict(wrong_for_one)
    assert [case.name for case in found.cases] == ["N=3", "N=2", "N=1: one"]
    assert [bool(case.problems) for case in found.cases] == [False, False, True]


def raised(*names):
    lines = tuple(Line(n, name, "something") for n, name in enumerate(names))
    return tuple(Observation(raised=Raised("NotImplementedError", "", lines)) for _ in CASES)


@pytest.mark.parametrize(
    ("names", "note"),
    [
        (("double",), ""),
        (("double", "inner"), "double calls inner, which is not written yet."),
        (("<module>", "double", "inner"), "double calls inner, which is not written yet."),
        (("my_double",), ""),
        (("<lambda>", "double"), ""),
        (("my_double", "inner"), ""),
        ((), ""),
    ],
)
def test_what_is_not_written_yet_is_named_where_it_is_another_function(names, note):
    checks = Checks("double", "call", (Output("y"),), DEFAULT_TOLERANCE, WHOLE, CASES, raised())
    found = evaluate(PLACE, checks, {}, raised(*names))
    assert (found.status, note_text(found), found.cases, found.earned) == ("unimplemented", note, (), 0)


@pytest.mark.parametrize("strange", [np.inf, -np.inf, np.nan, 1e308, -1e-320])
def test_strange_numbers_raise_nothing_in_the_grader_whatever_numpy_is_set_to(strange):
    with np.errstate(all="raise"):
        assert verdict(lambda x: np.full(x.shape, strange)).status == "failed"
        assert verdict(lambda x: np.full(x.shape, strange, np.complex128)).status == "failed"


def test_a_case_without_sizes_has_a_report_all_the_same():
    case = Case({}, {"text": ""})
    checks = Checks("double", "call", (Output("y"),), DEFAULT_TOLERANCE, WHOLE, (case,), (Observation("a"),))
    found = verdict_text(evaluate(PLACE, checks, {}, (Observation("b"),)))
    assert "differs in     y: got 'b', expected 'a'" in found


def test_without_words_a_case_tells_only_what_is_wrong():
    """For hidden cases, the call and the returned values must not be shown."""
    checks = Checks("double", "call", (Output("y"),), DEFAULT_TOLERANCE, WHOLE, CASES, (Observation(1.0),) * 3)
    wrong = tuple(Observation(result=0.0) for _ in CASES)
    told, silent = (evaluate(PLACE, checks, {}, wrong, words=words) for words in (True, False))
    assert all(case.call and case.returned for case in told.cases)
    assert silent == replace(told, cases=tuple(replace(case, call="", returned="") for case in told.cases))
