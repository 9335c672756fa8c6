"""The judge: structure before values, no broadcasting, and the position of the first difference."""

import re
from collections import Counter, defaultdict, namedtuple

import numpy as np
import pytest

from grader.checking.case import DEFAULT_TOLERANCE, Case, Checks, Facet, Observation, Output, OwnJudge, Tolerance
from grader.checking.compare import WHY_NOT, agree, close, compare, same_value
from grader.checking.describe import describe
from grader.checking.judge import judge, returned_text
from grader.checking.verdict import Problem
from grader.codec import Line, Opaque, Raised, freeze
from grader.shown import harmless
from tests.loops import for_each

RNG = np.random.default_rng(11)
H = RNG.normal(size=(2, 5, 3))
EXACT = Tolerance()
Pair = namedtuple("Pair", "word count")


def problem(expected, got, axes=(), tolerance=EXACT):
    """Compare as the judge does: both come from a driver, in the codec's form."""
    return compare(Output("h", axes), freeze(expected), freeze(got), tolerance)


def kind(expected, got, axes=()):
    found = problem(expected, got, axes)
    return None if found is None else found.kind


VECTOR = np.array([1.0, 2.0, 3.0])


@for_each(
    ("expected", "got", "due"),
    [
        (VECTOR, [1.0, 2.0, 3.0], "type"),
        (VECTOR, (1.0, 2.0, 3.0), "type"),
        (VECTOR, None, "type"),
        (VECTOR, 1.0, "type"),
        (VECTOR, "text", "type"),
        (VECTOR, {}, "type"),
        (VECTOR, (n for n in VECTOR), "type"),
        (VECTOR, np.array([1, 2, 3], dtype=object), "type"),
        (VECTOR, np.ma.array(VECTOR), "type"),
        (VECTOR, VECTOR[:, None], "shape"),
        (VECTOR, VECTOR[None], "shape"),
        (VECTOR[:, None], VECTOR, "shape"),
        (VECTOR[None], VECTOR, "shape"),
        (np.ones(3), np.ones(()), "shape"),
        (np.ones(3), np.ones(1), "shape"),
        (np.ones((1, 3)), np.ones((4, 3)), "shape"),
        (np.ones((2, 3)), np.ones((3, 2)), "shape"),
        (np.ones(3), np.ones(0), "shape"),
        (VECTOR, np.full((1, 3), np.nan), "shape"),
        (VECTOR, VECTOR.astype(np.float32), "dtype"),
        (VECTOR, VECTOR.astype(np.float16), "dtype"),
        (VECTOR, VECTOR.astype(int), "dtype"),
        (VECTOR, np.array([True, True, False]), "dtype"),
        (VECTOR, VECTOR.astype(complex), "dtype"),
        (np.arange(3), np.arange(3.0), "dtype"),
        (np.arange(3), np.arange(3, dtype=np.uint8), "dtype"),
        (VECTOR > 1, (VECTOR > 1).astype(int), "dtype"),
        (VECTOR.astype(complex), VECTOR.astype(np.complex64), "dtype"),
        (VECTOR, np.array([1.0, np.nan, 3.0]), "not_finite"),
        (VECTOR, np.array([1.0, np.inf, 3.0]), "not_finite"),
        (VECTOR, np.array([1.0, 2.0, -3.0]), "values"),
        (np.arange(3), np.array([0, 1, 3]), "values"),
        (VECTOR > 1, VECTOR > 2, "values"),
        (np.zeros((0, 3)), np.zeros((0, 3)), None),
        (np.zeros((0, 3)), np.zeros((3, 0)), "shape"),
        (VECTOR, VECTOR.astype(">f8"), None),
        (np.arange(3), np.arange(3, dtype=np.int32), None),
        (VECTOR > 1, VECTOR > 1, None),
        (np.array([np.nan, np.inf, -np.inf]), np.array([np.nan, np.inf, -np.inf]), None),
        (np.array([np.inf]), np.array([-np.inf]), "values"),
        (np.array([0.0]), np.array([-0.0]), None),
    ],
)
def test_arrays_structure_first(expected, got, due):
    assert kind(expected, got) == due


@for_each(
    ("expected", "got", "due"),
    [
        (2.5, 2.5, None),
        (2.5, np.float64(2.5), None),
        (2.5, np.array(2.5), None),
        (np.float64(2.5), 2.5, None),
        (3.0, 3, None),
        (0.1 + 0.2, 0.3, None),
        (3.0 + 1e-13, 3, None),
        (3, 3, None),
        (3, np.int64(3), None),
        (3, np.uint8(3), None),
        (np.int64(3), 3, None),
        (True, True, None),
        (True, np.bool_(True), None),
        (np.bool_(True), True, None),
        ("abc", "abc", None),
        (None, None, None),
        (2.5, np.float32(2.5), "dtype"),
        (2.5, np.complex128(2.5), "dtype"),
        (3, 3.0, "dtype"),
        (3, np.float64(3), "dtype"),
        (3, True, "type"),
        (1.0, True, "type"),
        (True, 1, "type"),
        (True, 1.0, "type"),
        (2.5, None, "type"),
        (2.5, "2.5", "type"),
        (2.5, [2.5], "type"),
        (2.5, np.array([2.5]), "type"),
        (3, np.array([3]), "type"),
        (3, 2**70, "values"),
        (-3, np.uint64(2**64 - 3), "values"),
        (-3, 2**64 - 3, "values"),
        (2**64 - 3, np.uint64(2**64 - 3), None),
        (2**64 - 3, 2**64 - 3, None),
        (2**64 - 3, -3, "values"),
        (2**70, 2**70, None),
        (2**70, 3, "values"),
        (True, np.uint8(1), "type"),
        (2.5, float("nan"), "not_finite"),
        (2.5, float("-inf"), "not_finite"),
        (2.5, 2**70, "values"),
        (2.5, 2.6, "values"),
        (3, 4, "values"),
        (True, False, "values"),
        ("abc", "abd", "values"),
        ("abc", None, "type"),
        (None, 0, "type"),
    ],
)
def test_scalars(expected, got, due):
    assert kind(expected, got) == due


@for_each(
    ("expected", "got", "due", "says"),
    [
        ([1, 2], [1, 2], None, ""),
        ([1, 2], (np.int64(1), 2), None, ""),
        ([VECTOR, 1.0], [VECTOR, 1.0], None, ""),
        ([1, 2], np.array([1, 2]), "type", "a list of 2; got int64 (2,); `list(…)` converts it to a list"),
        ([1, 2], np.float64(1.5), "type", "a list of 2; got float64 1.5"),
        ([1, 2], None, "type", "a list of 2; got None"),
        ([1, 2], [1, 2, 3], "values", "h: got [1, 2, 3], expected [1, 2]"),
        ([1.5, 2], [1.5], "values", "h: got 1 entry, expected 2; the first is right"),
        ([1.5, 2], [2.5, 2, 3], "values", "h: got 3 entries, expected 2; h[0]: got 2.5, expected 1.5"),
        ([1.5, 2], [], "values", "h: got 0 entries, expected 2"),
        ([1, 2], [1, 2.0], "dtype", "h[1]: got float64, expected int64"),
        ([VECTOR, VECTOR], [VECTOR, VECTOR[None]], "shape", "h[1]: got (1, 3), expected (3,)"),
        ([[1, 2], [3]], [[1, 2], [4]], "values", "h[1]: got [4], expected [3]"),
        ([[1.0, 2], [3.0]], [[1.0, 2], [4]], "values", "h[1][0]: got 4, expected 3"),
        ([("a", "b")], [("a", "c")], "values", "h[0]: got ('a', 'c'), expected ('a', 'b')"),
        ([[1, True]], [[1, None]], "type", "h[0][1]: True or False; got None"),
        ([("a", "b")], [["a", "b"]], "type", f"h[0]: a tuple of 2; got a list of 2. {WHY_NOT[tuple]}"),
        ([["a"]], [("a",)], "type", f"h[0]: a list of 1; got a tuple of 1. {WHY_NOT[list]}"),
        ([("a", "b")], [(("a", "b"), 2)], "type", "h[0][0]: a string; got a tuple of 2"),
        ({"a": [1]}, {"a": (1,)}, "type", f"h['a']: a list of 1; got a tuple of 1. {WHY_NOT[list]}"),
        (("a", "b"), ["a", "b"], None, ""),
        ([Pair("a", 1)], [("a", 1)], None, ""),
        ([("a", 1)], [Pair("a", 1)], None, ""),
        ({"a": 1}, Counter("a"), None, ""),
        ({"a": [1]}, defaultdict(list, a=[1]), None, ""),
        ({"W": VECTOR}, {"W": VECTOR}, None, ""),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, None, ""),
        ({"W": VECTOR}, [VECTOR], "type", "a dict; got a list of 1"),
        ({"W": VECTOR, "b": 0.0}, {"W": VECTOR}, "count", "a dict with the key 'b', which is missing"),
        ({"W": VECTOR}, {"W": VECTOR, "c": 1}, "count", "a dict without the key 'c' (str)"),
        ({"W": VECTOR}, {"W": VECTOR + 1}, "values", "h['W'][0]: got 2, expected 1; 3 of 3 entries differ"),
    ],
)
def test_lists_and_dicts(expected, got, due, says):
    found = problem(expected, got)
    assert (found and found.kind) == due
    assert says in (found.text if found else "")


OPAQUE = [{1}, frozenset(), b"a", 1j, (n for n in ()), object(), np.array(["a"]), np.ma.ones(2), slice(0)]


@for_each("value", OPAQUE)
def test_what_the_codec_does_not_carry_is_never_right(value):
    for expected, got in ((value, value), ([value], [value]), ({"a": (1, value)}, {"a": (1, value)})):
        assert kind(expected, got) == "type"
        made = checks("y", expected=(freeze(expected),))
        assert judge(made, 0, Observation(freeze(got))).problems
        assert not agree(Observation(freeze(got)), Observation(freeze(got)), ("y",), made)


@for_each(
    ("expected", "got", "says"),
    [
        (VECTOR, [1.0, 2.0, 3.0], "array of shape (3,); got a list of 3; `np.array(…)` converts it to an array"),
        (VECTOR, {1, 2}, "a NumPy array of shape (3,); got a set of 2"),
        (VECTOR, map(abs, VECTOR), "; got a value of type map; `np.array(list(…))` converts it to an array"),
        (VECTOR, VECTOR.view(np.matrix), "got a NumPy matrix of shape (1, 3); `np.asarray(…)` converts it to an array"),
        (VECTOR, np.ma.array(VECTOR), "; got a masked NumPy array of shape (3,); `.filled(…)` converts it to an array"),
        (VECTOR, VECTOR.astype(object), "a NumPy array of shape (3,); got an array of Python objects, shape (3,)"),
        (VECTOR, VECTOR.astype(str), "a NumPy array of shape (3,); got an array of text, shape (3,)"),
        (VECTOR, np.zeros(3, [("a", "f8")]), "a NumPy array of shape (3,); got an array of records, shape (3,)"),
        (["a"], {"a"}, "a list of 1; got a set of 1; `sorted(…)` converts it to a list"),
        (["a"], dict.fromkeys("a").keys(), "got a value of type dict_keys; `list(…)` converts it to a list"),
        (["a"], np.array(["a"]), "a list of 1; got an array of text, shape (1,); `list(…)` converts it to a list"),
        ("ab", ["a", "b"], 'a string; got a list of 2; `"".join(…)` converts it to a string'),
        ("ab", b"ab", "a string; got a value of type bytes; `.decode()` converts it to a string"),
        ("7", 7, "a string; got 7 (int)"),
        (2.5, np.array([2.5]), "a number; got float64 (1,); `.item()` converts it to a number"),
        (2.5, VECTOR, "a number; got float64 (3,)"),
        (None, 0, "None; got 0 (int)"),
        ([None], [""], "h[0]: None; got '' (str)"),
    ],
)
def test_of_another_type_the_remedy_is_told_where_there_is_one(expected, got, says):
    text = problem(expected, got).text
    assert text.endswith(says)
    assert ("makes" in text) == ("makes" in says)


def test_a_tensor_is_no_array_and_the_report_says_what_makes_one_of_it():
    torch = pytest.importorskip("torch")
    for tensor in (torch.ones(2, 3), torch.ones(2, 3, requires_grad=True), torch.ones(2, 3, dtype=torch.float64)):
        assert problem(np.ones((2, 3)), tensor).text == (
            "a NumPy array of shape (2, 3); got a torch tensor of shape (2, 3); "
            "`.detach().numpy()` converts it to an array"
        )
    assert problem(1.0, torch.ones(())).text.startswith("a number; got a torch tensor of shape (); `.item()`")
    assert problem([np.ones(2)], [torch.ones(2)]).text.startswith("h[0]: a NumPy array of shape (2,); got a torch")
    assert problem([1.0, 1.0], torch.ones(2)).text.endswith("; `.tolist()` converts it to a list")


def test_the_right_answers_of_a_list_in_which_a_tensor_stands_are_not_passed_by():
    torch = pytest.importorskip("torch")
    assert kind([torch.ones(2)], [torch.zeros(2)]) == kind([torch.ones(2)], [torch.ones(2)]) == "type"


NEW_LINE = r"\n"
LONG = "the quick brown fox jumps over the lazy dog, and the cat looks on while it does so"


@for_each(
    ("expected", "got", "says"),
    [
        ("abc", "abd", "h: got 'abd', expected 'abc'"),
        ("abc", "", "h: got '', expected 'abc'"),
        ("a\n\tb", "a\x1b[2J\u202e", r"h: got 'a\x1b[2J\u202e', expected 'a\n\tb'"),
        ("caf\u00e9", "cafe\u0301", r"h: got 'cafe\u0301', expected 'caf\xe9'"),
        ("a b", "a\xa0b", r"h: got 'a\xa0b', expected 'a b'"),
        (
            LONG,
            LONG.replace("looks", "books"),
            "h: differs at character 57 (counted from 0): got …'and the cat books on while it do'…, "
            "expected …'and the cat looks on while it do'…",
        ),
        (
            LONG,
            LONG[:-3],
            "h: differs at character 79 (counted from 0): got …'hile it does', expected …'hile it does so'; "
            "79 characters, expected 82",
        ),
        (
            "\n" * 100,
            "\r" + "\n" * 99,
            rf"h: differs at character 0 (counted from 0): got '\r{NEW_LINE * 19}'…, expected '{NEW_LINE * 20}'…",
        ),
    ],
)
def test_where_two_strings_differ_is_shown_harmlessly(expected, got, says):
    found = problem(expected, got)
    assert (found.kind, found.text) == ("values", says)
    assert harmless(found.text) == found.text


@for_each("n", [59, 60, 61, 5000])
@for_each("place", [0, 30, -1])
def test_the_two_texts_of_a_report_are_never_the_same(n, place):
    letters = ["x"] * n
    letters[place] = "y"
    _, got, expected = re.split("got |, expected ", problem("x" * n, "".join(letters)).text)
    assert got != expected


def test_a_list_that_is_long_or_holds_other_values_shows_its_first_difference():
    ids = list(range(40))
    assert problem(ids, [*ids[:-1], 0]).text == "h[39]: got 0, expected 39"
    assert problem(ids, ids[:-1]).text == "h: got 39 entries, expected 40; the first 39 are right"
    assert problem(ids[1:], ids[:-1]).text == "h[0]: got 0, expected 1"
    assert problem([("x" * 70, "b")], [("x" * 70, "c")]).text == "h[0][1]: got 'c', expected 'b'"
    assert problem([([1, 2], -1.5)], [([1, 2], -1.25)]).text == "h[0][1]: got -1.25, expected -1.5"
    assert problem([([1, 2], -1.5)], [([1, 3], -1.5)]).text == "h[0][0]: got [1, 3], expected [1, 2]"
    assert problem([np.arange(1)], [np.ones(1, int)]).text == "h[0][0]: got 1, expected 0; 1 of 1 entries differ"
    assert problem([np.ones(1)], [np.zeros(1)]).text == "h[0][0]: got 0, expected 1; 1 of 1 entries differ"
    assert problem({"x" * 99: 1}, {"x" * 99: 2}).text == f"h['{'x' * 59}…]: got 2, expected 1"


def test_tolerance_holds_at_any_depth():
    due = [[(0.1 + 0.2, {"a": [1.0, np.nan, 0.0]})]]
    assert problem(due, [[(0.3, {"a": [1 + 1e-12, np.nan, -0.0]})]]) is None
    assert problem(due, [[(0.3 + 1e-8, {"a": [1.0, np.nan, 0.0]})]]).kind == "values"
    assert problem(due, [[(0.3, {"a": [1.0, 0.0, 0.0]})]]).kind == "values"
    assert problem(due, [[(0.3, {"a": [np.nan, np.nan, 0.0]})]]).text == "h[0][0][1]['a'][0] is nan, expected 1"


def test_a_result_within_others_says_which_it_is():
    grid, W = ("T", "H"), {"W": np.zeros((3, 2))}
    text = problem(W, {"W": np.eye(3, 2)}, grid).text
    assert text == (
        "h['W'][0, 0]: got 1, expected 0; 2 of 6 entries differ; "
        "h['W'][2:] is right, and t = 1 is the last wrong time step"
    )


def test_a_shape_is_told_with_its_axes():
    assert problem(H, H[0], ("B", "T", "H")).text == "got (5, 3), expected (2, 5, 3), that is (B, T, H)"
    assert problem(H, H[0]).text == "got (5, 3), expected (2, 5, 3)"


def test_the_first_entry_that_differs_and_how_many():
    got = np.arange(6.0).reshape(2, 3)
    got[1, 1:] += 0.5
    text = problem(np.arange(6.0).reshape(2, 3), got).text
    assert text == "2 of 6 entries, first at [1, 1]: got 4.5, expected 4"


def test_the_first_wrong_step_comes_before_the_first_wrong_row():
    got = H.copy()
    got[0, 4] += 1  # row 0, but late
    got[1, 2, 1] += 1
    text = problem(H, got, ("B", "T", "H")).text
    assert "4 of 30 entries, first at [1, 2, 1]: " in text
    assert text.endswith("; h[:, :2] is right, and t = 2 (counted from 0) is the first wrong time step")


@pytest.mark.parametrize(("axes", "part"), [(("T", "B", "H"), "h[:1]"), (("B", "T", "H"), "h[:, :1]")])
def test_right_up_to_is_written_as_it_is_indexed(axes, part):
    got = H.copy()
    got[1, 1] = 0
    assert f"; {part} is right" in problem(H, got, axes).text


def test_nothing_is_said_of_time_where_there_is_none():
    assert "time" not in problem(H, H + 1, ("B", "D", "H")).text
    assert "time" not in problem(H, H + 1).text
    assert "time" not in problem(H[:, :1], H[:, :1] + 1, ("B", "T", "H")).text
    assert problem(H, H + 1, ("B", "T", "H")).text.endswith("; the first time step is already wrong")


def test_a_place_in_the_source_is_a_time_too_and_gives_way_to_one_of_the_target():
    got = H.copy()
    got[0, 4] += 1
    got[1, 2, 1] += 1
    text = problem(H, got, ("B", "S", "K")).text
    assert text.endswith("; h[:, :2] is right, and s = 2 (counted from 0) is the first wrong source position")
    assert problem(H, H + 1, ("B", "S", "K")).text.endswith("; the first source position is already wrong")
    found = problem(H, got, ("S", "T", "K"))
    assert "first at [1, 2, 1]" in found.text
    assert found.text.endswith("t = 2 (counted from 0) is the first wrong time step")
    assert (found.grid.across, found.grid.down) == ("T", "K")
    found = problem(H, got, ("B", "T", "S"))
    assert (found.grid.across, found.grid.down) == ("T", "S")
    found = problem(H, got, ("V", "S", "B"))
    assert (found.grid.across, found.grid.down) == ("S", "B")


@pytest.mark.parametrize(("axes", "part"), [(("B", "T", "H"), "h[:, 3:]"), (("T", "B", "H"), "h[3:]")])
def test_a_result_that_is_right_at_its_end_says_so(axes, part):
    expected = np.arange(24.0).reshape(2, 4, 3) if axes[1] == "T" else np.arange(24.0).reshape(4, 2, 3)
    got = expected.copy()
    got[:, 0:3:2] += 1  # wrong, right, wrong, right
    if axes[0] == "T":
        got = expected.copy()
        got[0:3:2] += 1
    assert problem(expected, got, axes).text.endswith(f"; {part} is right, and t = 2 is the last wrong time step")


def test_a_walk_back_goes_wrong_first_at_a_late_step():
    dx, expected, got = Output("dx", ("B", "T", "D"), backward=True), np.zeros((2, 4, 3)), np.zeros((2, 4, 3))
    got[1, 2, 1] = got[0, 0, 0] = 1
    text = compare(dx, expected, got, DEFAULT_TOLERANCE).text
    assert text.startswith("2 of 24 entries, first at [1, 2, 1]: ")
    assert text.endswith("; dx[:, 3:] is right. Going backward, t = 2 (counted from 0) is the first wrong time step")
    text = compare(dx, expected, expected + 1, DEFAULT_TOLERANCE).text
    assert text.endswith("; the last time step, where the backward pass starts, is already wrong")
    assert "step" not in compare(dx, expected[:, :1], expected[:, :1] + 1, DEFAULT_TOLERANCE).text


def test_what_is_not_finite_is_shown_where_it_stands():
    got = H.copy()
    got[1, 3, 2] = -np.inf
    assert problem(H, got).text == f"h[1, 3, 2] is -inf, expected {H[1, 3, 2]:.4g}"
    assert problem(2.5, np.nan).text == "h is nan, expected 2.5"
    assert problem([2.5], [np.nan]).text == "h[0] is nan, expected 2.5"


def test_tolerance_is_relative_and_absolute():
    loose = Tolerance(relative=0.1, absolute=0.5)
    assert problem(10.0, 11.4, tolerance=loose) is None
    assert problem(10.0, 11.6, tolerance=loose) is not None
    assert problem(VECTOR, VECTOR * (1 + 5e-10)) is None
    assert problem(VECTOR, VECTOR * (1 + 5e-9)).kind == "values"
    assert problem(np.zeros(2), np.full(2, 1e-12)) is None


@pytest.mark.parametrize(
    ("dtype", "near", "far"),
    [(np.float32, 3e-6, 3e-5), (np.complex64, 3e-6, 3e-5), (np.float16, 3e-3, 3e-2), (np.float64, 3e-10, 3e-9)],
)
def test_what_is_due_in_narrow_numbers_is_compared_as_such(dtype, near, far):
    due = np.array([0.5, -2, 300]).astype(dtype)
    assert problem(due, (due * (1 + near)).astype(dtype)) is None
    assert problem(due, (due * (1 + far)).astype(dtype)).kind == "values"
    assert problem(due[0], (due[0] * (1 + near)).astype(dtype)) is None
    assert problem(due, (due * (1 + far)).astype(dtype), tolerance=Tolerance(relative=0.1)) is None


def test_float64_beside_float32_is_no_number_of_that_kind():
    assert kind(np.ones(3, np.float32), np.ones(3)) == "dtype"
    assert kind(np.ones(3), np.ones(3, np.float32)) == "dtype"


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float64, np.complex128])
def test_close_is_entry_by_entry_for_every_dtype(dtype):
    got = np.array([0, 1, 1]).astype(dtype)
    assert close(np.array([0, 0, 1]).astype(dtype), got, EXACT).tolist() == [True, False, True]


def test_close_knows_no_overflow():
    big = np.array([1.7e308, -1.7e308, np.inf])
    assert close(-big, big, EXACT).tolist() == [False, False, False]
    assert close(np.array([200], np.uint8), np.array([201], np.uint8), EXACT).tolist() == [False]


# The judge of a whole case -------------------------------------------------------------------------------------------

CASE = Case({"B": 2, "H": 3}, {"x": VECTOR, "w": np.ones((3, 3))})


def checks(*outputs, expected=(VECTOR,), own=None):
    names = tuple(Output(name) for name in outputs)
    due = Observation(expected[0] if len(names) == 1 else tuple(expected))
    return Checks("f", "call", names, EXACT, (Facet("result"),), (CASE,), (due,), own=own)


def judged(observation, *outputs, **more):
    return judge(checks(*(outputs or ("y",)), **more), 0, observation).problems


def test_a_right_result_has_no_problem():
    assert judged(Observation(VECTOR)) == ()
    assert judged(Observation((VECTOR, 1.0)), "y", "loss", expected=(VECTOR, 1.0)) == ()
    assert judged(Observation([VECTOR, 1.0]), "y", "loss", expected=(VECTOR, 1.0)) == ()


def test_none_is_told_as_a_missing_return():
    (found,) = judged(Observation(None))
    assert found == Problem("none", "a result, but your function returned None. Does it end with `return`?")


def test_none_may_be_due():
    assert judged(Observation(None), expected=(None,)) == ()
    assert judged(Observation(VECTOR), expected=(None,)) == (Problem("type", "None; got float64 (3,)", "y"),)
    assert judged(Observation((VECTOR, None)), "y", "rest", expected=(VECTOR, None)) == ()


def test_an_exception_is_told_with_its_lines():
    raised = Raised("E", "no", (Line(2, "f", "raise"),))
    assert judged(Observation(raised=raised)) == (Problem("raised", "E: no", lines=("line 2, in f: raise",)),)
    assert judged(Observation(raised=Raised("E", " \n"))) == (Problem("raised", "E"),)


def test_an_exception_out_of_a_hostile_process_is_cut():
    (found,) = judged(Observation(raised=Raised("E" * 10**5, "x" * 10**6, (Line(1, "f", "l"),) * 10**4)))
    assert len(found.text) <= 2000
    assert len(found.lines) <= 3


@pytest.mark.parametrize(
    ("result", "got"),
    [
        (VECTOR, "float64 (3,)"),
        ((VECTOR,), "a tuple of 1"),
        ((1, 2, 3), "a tuple of 3"),
        ({"y": 1, "loss": 2}, "a dict of 2"),
        (Opaque("generator"), "a value of type generator"),
    ],
)
def test_the_number_of_results_is_counted(result, got):
    (found,) = judged(Observation(result), "y", "loss", expected=(VECTOR, 1.0))
    assert found == Problem("count", f"2 results, `return y, loss`; got {got}")


def test_every_output_has_its_own_problem():
    found = judged(Observation((VECTOR + 1, VECTOR, [])), "a", "b", "c", expected=(VECTOR, VECTOR, VECTOR))
    assert [(p.output, p.kind) for p in found] == [("a", "values"), ("c", "type")]


def test_a_changed_input_fails_a_right_result():
    (one,) = judged(Observation(VECTOR, changed=("w",)))
    assert one.kind == "changed"
    assert one.text.startswith("your function changes `w`. Leave the inputs as they are: `w = w + …` makes a new array")
    (both,) = judged(Observation(VECTOR, changed=("w", "x")))
    assert both.text.startswith("your function changes `x` and `w`")


def test_a_name_that_is_no_input_is_not_repeated():
    assert judged(Observation(VECTOR, changed=("<script>",) * 1000)) == ()


def test_an_own_judge_sees_case_and_observation_and_nothing_that_raised():
    seen = []
    own = OwnJudge(lambda case, observation: seen.append((case, observation)) or [Problem("judge", "no")], {})
    observation = Observation(VECTOR, changed=("x",))
    assert [p.kind for p in judged(observation, own=own)] == ["judge", "changed"]
    assert seen == [(CASE, observation)]
    assert [p.kind for p in judged(Observation(raised=Raised("E", "")), own=own)] == ["raised"]
    assert [p.kind for p in judged(Observation(None), own=own)] == ["none"]
    assert len(seen) == 1


# How results are written -----------------------------------------------------------------------------------------


@for_each(
    ("value", "words"),
    [
        (np.zeros((2, 4)), "float64 (2, 4)"),
        (np.array(2.5), "float64 2.5"),
        (np.array(1 / 3), "float64 0.333333"),
        (np.array(0.1, np.float32), "float32 0.1"),
        (21.000000000000032, "21.0 (float)"),
        (float("nan"), "nan (float)"),
        (None, "None"),
        (True, "True"),
        (3, "3 (int)"),
        (0.5, "0.5 (float)"),
        ("abc", "'abc' (str)"),
        ("x" * 100, f"'{'x' * 59}… (str)"),
        ([1, 2], "a list of 2"),
        ((), "a tuple of 0"),
        ({"a": 1}, "a dict of 1"),
        (Opaque("Tensor"), "a value of type Tensor"),
        (Opaque("ndarray", "of dtype object"), "an array of dtype object"),
        (Raised("E", ""), "a value of type Raised"),
    ],
)
def test_a_value_in_a_few_words(value, words):
    assert describe(value) == words


def test_what_came_back_by_name():
    outputs = (Output("h"), Output("loss"))
    assert returned_text(outputs, Observation((VECTOR, 0.5))) == "h float64 (3,), loss 0.5 (float)"
    assert returned_text(outputs, Observation(VECTOR)) == "float64 (3,)"
    assert returned_text(outputs[:1], Observation([1])) == "a list of 1"
    assert returned_text(outputs, Observation(raised=Raised("E", ""))) == ""


@pytest.mark.parametrize(
    ("result", "due", "text"),
    [
        (np.array(0.599999994), 0.6, "loss float64 0.59999999"),
        (0.599999994, np.array(0.6), "0.59999999 (float)"),
        (0.6 + 1e-13, 0.6, "0.6 (float)"),
        (1e-17, 0.6, "1e-17 (float)"),
        (0.25, "a text", "0.25 (float)"),
    ],
)
def test_a_number_that_came_back_is_told_from_the_one_that_is_due(result, due, text):
    made = Checks("f", "call", (Output("loss"),), EXACT, (Facet("result"),), (Case({}, {}),), (Observation(due),))
    assert judge(made, 0, Observation(result)).returned == text


def test_of_ids_that_are_right_at_their_end_nothing_is_said():
    text = problem(np.array([1, 2, 3, 4]), np.array([0, 2, 0, 4]), ("T",)).text
    assert text.endswith("; the first time step is already wrong")


def test_one_wrong_result_of_several_is_named():
    outputs = (Output("a"), Output("b"))
    case = Case({}, {})
    made = Checks("f", "call", outputs, EXACT, (Facet("result"),), (case,), (Observation((1.0, 2.0)),))
    (wrong,) = judge(made, 0, Observation((1.0, 3.0))).problems
    assert (wrong.output, wrong.text) == ("b", "b: got 3, expected 2")
    (bad,) = judge(made, 0, Observation((1.0, np.nan))).problems
    assert bad.text == "b is nan, expected 2"
    (other,) = judge(made, 0, Observation((1.0, "2"))).problems
    assert other.text == "b: a number; got '2' (str)"
    (count,) = judge(made, 0, Observation((1.0,))).problems
    assert count.text.startswith("2 results")


def test_a_huge_integer_is_judged_too():
    assert compare(Output("n"), 3, 2**70, Tolerance()) is not None
    assert compare(Output("n"), 2**70, 2**70, Tolerance()) is None


def test_mistakes_are_compared_as_results_are_judged():
    """By a shorter way, with the same answer for every pair of odd values."""
    one, inf, nan = 1.0, np.inf, np.nan
    numbers = [0.0, one, one + 1e-10, one + 1e-8, 1e-12, inf, -inf, nan]
    values = [*numbers, 1, True, None, "one", [one], (one,), {"one": one}, Opaque("set")]
    values += [np.array(value) for value in (one, inf, nan, 1, [], [one], [[one]], [1], [True], [one, inf], [nan, one])]
    values += [np.array([value, 2.0]) for value in numbers]
    values += [np.array([value, 2.0], np.float32) for value in (one, one + 3e-6, one + 1e-4, inf, nan)]
    values += [[([1, 2], score)] for score in (*numbers, np.array(one), np.array(nan), np.array(1), "one")]
    values += [
        [([1, 2], one), ([], one)],
        [[[1, 2], one]],
        [([1, 3], one)],
        [([1], one)],
        [([1, 2.0], one)],
        [([1, True], one)],
    ]
    output = Output("y")
    for expected in values:
        for got in values:
            with np.errstate(all="ignore"):
                same = compare(output, expected, got, DEFAULT_TOLERANCE) is None
                assert same_value(output, expected, got, DEFAULT_TOLERANCE) == same, (expected, got)
