"""The judge: structure before values, no broadcasting, and the place where a result first differs."""

import numpy as np
import pytest

from grader.checking.case import DEFAULT_TOLERANCE, Case, Checks, Facet, Observation, Output, OwnJudge, Tolerance
from grader.checking.fixtures import BUILDERS
from grader.checking.judge import apart, call_text, close, compare, describe, judge, returned_text
from grader.checking.verdict import Problem
from grader.codec import Fixture, Line, Opaque, Raised, freeze

RNG = np.random.default_rng(11)
H = RNG.normal(size=(2, 5, 3))
EXACT = Tolerance()


def problem(expected, got, axes=(), tolerance=EXACT):
    """Compare as the judge does: both come from a driver, in the codec's form."""
    return compare(Output("h", axes), freeze(expected), freeze(got), tolerance)


def kind(expected, got, axes=()):
    found = problem(expected, got, axes)
    return None if found is None else found.kind


VECTOR = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
        (2.5, float("nan"), "not_finite"),
        (2.5, float("-inf"), "not_finite"),
        (2.5, 2**70, "values"),
        (2.5, 2.6, "values"),
        (3, 4, "values"),
        (True, False, "values"),
        ("abc", "abd", "values"),
        ("abc", None, "values"),
        (None, 0, "values"),
    ],
)
def test_scalars(expected, got, due):
    assert kind(expected, got) == due


@pytest.mark.parametrize(
    ("expected", "got", "due", "says"),
    [
        ([1, 2], [1, 2], None, ""),
        ([1, 2], (np.int64(1), 2), None, ""),
        ([VECTOR, 1.0], [VECTOR, 1.0], None, ""),
        ([1, 2], np.array([1, 2]), "type", "a list; got int64 (2,)"),
        ([1, 2], None, "type", "a list; got None"),
        ([1, 2], [1, 2, 3], "shape", "got 3 entries, expected 2"),
        ([1, 2], [1, 2.0], "dtype", "entry 1: got float64, expected int64"),
        ([VECTOR, VECTOR], [VECTOR, VECTOR[None]], "shape", "entry 1: got (1, 3), expected (3,)"),
        ([[1, 2], [3]], [[1, 2], [4]], "values", "entry 1: entry 0: its value: got 4, expected 3"),
        ({"W": VECTOR}, {"W": VECTOR}, None, ""),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, None, ""),
        ({"W": VECTOR}, [VECTOR], "type", "a dict; got a list of 1"),
        ({"W": VECTOR, "b": 0.0}, {"W": VECTOR}, "count", "a dict with the key 'b', which is missing"),
        ({"W": VECTOR}, {"W": VECTOR, "c": 1}, "count", "a dict without the key 'c' (str)"),
        ({"W": VECTOR}, {"W": VECTOR + 1}, "values", "key 'W': 3 of 3 entries, first at [0]"),
    ],
)
def test_lists_and_dicts(expected, got, due, says):
    found = problem(expected, got)
    assert (found and found.kind) == due
    assert says in (found.text if found else "")


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
    assert text.endswith("; dx[:, 3:] is right, and t = 2 (counted from 0) is the first wrong step of the walk back")
    text = compare(dx, expected, expected + 1, DEFAULT_TOLERANCE).text
    assert text.endswith("; the last time step, where the walk back begins, is already wrong")
    assert "step" not in compare(dx, expected[:, :1], expected[:, :1] + 1, DEFAULT_TOLERANCE).text


def test_what_is_not_finite_is_shown_where_it_stands():
    got = H.copy()
    got[1, 3, 2] = -np.inf
    assert problem(H, got).text == f"h[1, 3, 2] is -inf, expected {H[1, 3, 2]:.4g}"
    assert problem(2.5, np.nan).text == "h is nan, expected 2.5"


@pytest.mark.parametrize(
    ("got", "expected", "texts"),
    [
        (0.12345678, 0.43, ("0.1235", "0.43")),
        (0.12345678, 0.12349, ("0.123457", "0.12349")),
        (1.0000000001, 1.0, ("1.0000000001", "1")),
        (1.0, np.nextafter(1.0, 2), ("1", "1.0000000000000002")),
        (1e-30, 0.0, ("1e-30", "0")),
        (3, 5, ("3", "5")),
        (True, False, ("True", "False")),
        (1 + 2j, 1 + 3j, ("1+2j", "1+3j")),
        (np.nan, 1.0, ("nan", "1")),
    ],
)
def test_numbers_are_written_so_that_they_can_be_told_apart(got, expected, texts):
    assert apart(got, expected) == texts


def test_tolerance_is_relative_and_absolute():
    loose = Tolerance(relative=0.1, absolute=0.5)
    assert problem(10.0, 11.4, tolerance=loose) is None
    assert problem(10.0, 11.6, tolerance=loose) is not None
    assert problem(VECTOR, VECTOR * (1 + 5e-10)) is None
    assert problem(VECTOR, VECTOR * (1 + 5e-9)).kind == "values"
    assert problem(np.zeros(2), np.full(2, 1e-12)) is None


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
    assert found == Problem("none", "a result, and None came back: does the function end with `return`?")


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
    assert one.text.startswith("`w` is changed by the call; leave inputs as they were: `w = w + …` makes a new array")
    (both,) = judged(Observation(VECTOR, changed=("w", "x")))
    assert both.text.startswith("`x` and `w` are changed by the call")


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


# How calls and results are written -----------------------------------------------------------------------------------


def test_a_tiny_call_can_be_pasted():
    case = Case({}, {"x": np.array([[1.0, -0.5]]), "ids": np.array([1, 2]), "mask": np.array([True]), "n": 3, "s": "a"})
    call = call_text("f", case)
    got = eval(call, {"np": np, "f": lambda **inputs: inputs})
    assert got.keys() == case.inputs.keys()
    assert all(np.array_equal(got[name], case.inputs[name]) for name in got)
    assert got["ids"].dtype == np.int64


def test_a_larger_call_shows_shapes():
    case = Case({}, {"x": np.zeros((4, 6)), "n": 3, "f": Fixture("affine", {}), "u": None})
    assert call_text("g", case) == "g(x (4, 6), n=3, f (a function), u=None)"


def test_a_tiny_call_shows_how_its_generator_and_its_quadratic_are_made():
    matrix, linear, theta = np.array([[1.5, 0.5], [0.0, -1.0]]), np.array([0.3, 2.0]), np.array([[0.7, -0.2]])
    f = Fixture("quadratic", {"shape": [1, 2], "matrix": matrix, "linear": linear})
    text = call_text("dict", Case({}, {"f": f, "theta": theta, "rng": Fixture("rng", {"seed": 5})}))
    pasted = eval(text)
    assert pasted["f"](theta) == BUILDERS["quadratic"](**f.params)(theta)
    assert pasted["rng"].random() == np.random.default_rng(5).random()
    assert call_text("g", Case({}, {"f": Fixture("scripted", {})})) == "g(\n  f=(a function))"


def test_in_a_larger_call_functions_and_generators_go_by_their_names():
    inputs = {"x": np.ones(99), "rng": Fixture("rng", {"seed": 0}), "f": Fixture("scripted", {})}
    assert call_text("g", Case({}, inputs)) == "g(x (99,), rng (a random generator), f (a function))"


def test_a_call_with_a_long_text_is_not_written_out():
    assert len(call_text("f", Case({}, {"text": "x" * 10_000}))) < 200


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.zeros((2, 4)), "float64 (2, 4)"),
        (np.array(2.5), "float64 2.5"),
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


def test_of_ids_that_are_right_at_their_end_nothing_is_said():
    text = problem(np.array([1, 2, 3, 4]), np.array([0, 2, 0, 4]), ("T",)).text
    assert text.endswith("; the first time step is already wrong")


def test_one_wrong_result_of_several_is_named():
    outputs = (Output("a"), Output("b"))
    case = Case({}, {})
    made = Checks("f", "call", outputs, EXACT, (Facet("result"),), (case,), (Observation((1.0, 2.0)),))
    (wrong,) = judge(made, 0, Observation((1.0, 3.0))).problems
    assert (wrong.output, wrong.text) == ("b", "b: its value: got 3, expected 2")
    (count,) = judge(made, 0, Observation((1.0,))).problems
    assert count.text.startswith("2 results")


def test_minus_zero_is_shown_as_zero():
    assert apart(-0.0, 0.5) == ("0", "0.5")


def test_a_huge_integer_is_judged_too():
    assert compare(Output("n"), 3, 2**70, Tolerance()) is not None
    assert compare(Output("n"), 2**70, 2**70, Tolerance()) is None
