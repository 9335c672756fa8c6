"""A case whose expected outcome is an exception: what the judge says, and what an oracle may do."""

from dataclasses import replace

import numpy as np
import pytest

from grader.checking.case import DEFAULT_TOLERANCE, WHOLE, Case, Checks, Output
from grader.checking.compare import agree
from grader.checking.evaluate import observe
from grader.checking.judge import judge
from grader.codec import Raised, decode, encode
from grader.released import cases_tree, checks_from_trees, outputs_tree
from grader.spec.compute import _expected
from grader.spec.load import SpecError

CASES = (Case({"T": 1}, {"key": "a"}), Case({"T": 1}, {"key": "ß"}, "raises KeyError"))


def look_up(key):
    return {"a": 7}[key]


def made(oracle=look_up, cases=CASES):
    """The checks with what the oracle returns or raises, released and read again."""
    drawn = Checks("look_up", "call", (Output("index"),), DEFAULT_TOLERANCE, WHOLE, cases)
    checks = replace(drawn, expected=_expected(oracle, drawn))
    trees = (decode(encode(tree(checks))) for tree in (cases_tree, outputs_tree))
    return checks_from_trees("look_up", *trees, None, "")


def problems(function, checks):
    """What is told of the second case, after the first has been found right."""
    first, second = (judge(checks, i, seen) for i, seen in enumerate(observe(checks, function)))
    assert first.problems == ()
    return [(problem.kind, problem.text) for problem in second.problems]


def otherwise(make):
    """A function that is right on the first case and does this on the second."""
    return lambda key: 7 if key == "a" else make(key)


def raising(error):
    def stop(key):
        raise error

    return stop


def test_only_the_type_and_the_text_of_the_oracles_exception_are_recorded():
    assert [o.raised for o in made().expected] == [None, Raised("KeyError", "'ß'")]


@pytest.mark.parametrize("error", [KeyError("ß"), KeyError("unknown character: ß"), KeyError("é", "ß")])
def test_the_exception_may_say_more_than_the_name(error):
    assert problems(otherwise(raising(error)), made()) == []


def test_an_exception_that_names_nothing_is_told_what_to_name():
    due = "a KeyError that names 'ß'; yours says 'unknown'"
    assert problems(otherwise(raising(KeyError("unknown"))), made()) == [("judge", due)]


@pytest.mark.parametrize(
    ("result", "text"), [(0, "0 (int)"), (None, "None"), ("KeyError", "'KeyError' (str)"), (np.ones(2), "float64 (2,)")]
)
def test_a_result_in_place_of_the_exception(result, text):
    due = f"a KeyError that names 'ß'; your function raised no exception and returned {text}"
    assert problems(otherwise(lambda key: result), made()) == [("judge", due)]


def test_an_exception_of_another_type():
    due = "ValueError: no ß (expected: a KeyError that names 'ß')"
    assert problems(otherwise(raising(ValueError("no ß"))), made()) == [("raised", due)]


def test_an_exception_without_a_name_is_judged_by_its_type_alone():
    checks = made(otherwise(raising(IndexError())), (CASES[0], replace(CASES[1], kind="raises IndexError")))
    assert problems(otherwise(raising(IndexError("whatever"))), checks) == []
    due = "an IndexError; your function raised no exception and returned 1 (int)"
    assert problems(otherwise(lambda key: 1), checks) == [("judge", due)]


def test_an_exception_where_none_is_expected_is_a_problem_as_ever():
    checks = made()
    (seen, _) = observe(checks, raising(KeyError("a")))
    assert [problem.kind for problem in judge(checks, 0, seen).problems] == ["raised"]
    assert not agree(checks.expected[0], seen, ("index",), checks)


@pytest.mark.parametrize(
    ("oracle", "message"),
    [
        (raising(KeyError("a")), "its oracle raises KeyError on case 'T=1'"),
        (otherwise(raising(ValueError("b"))), "its oracle raises ValueError on case 'T=1: raises KeyError'"),
        (lambda key: 7, "its oracle does not raise KeyError on case 'T=1: raises KeyError'"),
    ],
)
def test_an_oracle_raises_what_the_kind_of_the_case_says(oracle, message):
    with pytest.raises(SpecError, match=message):
        made(oracle)
