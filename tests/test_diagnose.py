"""Diagnosis in general: a cause is reported only if the evidence singles it out."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from grader.checking.case import DEFAULT_TOLERANCE, WHOLE, Case, Checks, Facet, Observation, Output, OwnJudge
from grader.checking.diagnose import diagnose
from grader.checking.diagnose.evidence import failed_cases
from grader.checking.diagnose.order import _has_perfect_matching
from grader.checking.judge import judge
from grader.checking.verdict import Problem
from grader.codec import Line, Raised, freeze
from tests.loops import for_each


def telling(value):
    """A value as the codec freezes it, with every float multiplied by π so that it is not equal by coincidence."""
    if isinstance(value, tuple | list):
        return type(value)(map(telling, value))
    return value * np.pi if isinstance(value, float) else freeze(value)


TEXTS = {name: f"text of {name}" for name in ("first", "second")}


def checks(cases, outputs, expected, mistakes=None, facets=WHOLE, own=None):
    return Checks(
        "f",
        "call",
        tuple(outputs),
        cases=tuple(cases),
        tolerance=DEFAULT_TOLERANCE,
        facets=tuple(facets),
        expected=tuple(Observation(telling(e)) for e in expected),
        mistakes={name: tuple(tuple(map(observation, way)) for way in ways) for name, ways in (mistakes or {}).items()},
        own=own,
    )


def observation(value):
    return value if isinstance(value, Observation) else Observation(telling(value))


def diagnosed(made: Checks, results, wrong_needs=()):
    observations = tuple(map(observation, results))
    judged = tuple(judge(made, index, o) for index, o in enumerate(observations))
    found = diagnose(made, observations, judged, TEXTS, wrong_needs)
    return found and found.id


# Patterns that any exercise knows ------------------------------------------------------------------------------------

RNG = np.random.default_rng(3)
SIZES = ({"B": 2, "T": 4, "H": 3}, {"B": 3, "T": 6, "H": 2}, {"B": 5, "T": 3, "H": 4})


def pattern(change: Callable, axes=("B", "T", "H"), shape=None, sizes=SIZES):
    """What is said where `change(expected, sizes)` comes back on every case."""
    cases = [Case(s, {}) for s in sizes]
    expected = [RNG.normal(size=tuple(s[a] for a in (shape or axes))) for s in sizes]
    made = checks(cases, [Output("h", tuple(axes))], expected)
    return diagnosed(made, [change(e, s) for e, s in zip(expected, sizes, strict=True)])


def late(e, s):
    return np.concatenate([np.zeros_like(e[:, :1]), e[:, :-1]], axis=1)


def early(e, s):
    return np.concatenate([e[:, 1:], np.zeros_like(e[:, :1])], axis=1)


def right_at_first(e, s):
    return np.concatenate([e[:, :1], e[:, 1:] ** 2], axis=1)


MATRIX, VECTOR = ("B", "H"), ("H",)

PATTERNS = {
    "float32": (lambda e, s: e.astype("f4"), {}),
    "lost_precision": (lambda e, s: e.astype("f4").astype(float), {}),
    "transposed": (lambda e, s: e.T, {"axes": MATRIX}),
    "sign": (lambda e, s: -e, {}),
    "broadcast": (lambda e, s: e + np.zeros((e.size, 1)), {"axes": VECTOR}),
    "one_step_late": (late, {}),
    "one_step_early": (early, {}),
    "first_step_only": (right_at_first, {}),
    "constant_factor": (lambda e, s: 0.25 * e, {}),
    "averaged": (lambda e, s: e / s["B"], {}),
    "summed": (lambda e, s: e * s["T"], {}),
    "rounded": (lambda e, s: e.round(2), {}),
    "cut_off": (lambda e, s: e.clip(-0.5, 0.6), {}),
    "never_filled": (lambda e, s: np.concatenate([e[:, :2], 0 * e[:, 2:]], axis=1), {}),
    "rows_in_another_order": (lambda e, s: np.concatenate([e[:, 1::-1], e[:, 2:]], axis=1), {}),
    "first_sequence_only": (lambda e, s: np.concatenate([e[:1], e[1:] + e[:-1]]), {}),
}


@for_each("name", PATTERNS)
def test_a_pattern_is_named(name):
    change, more = PATTERNS[name]
    assert pattern(change, **more) == name


NOT_QUITE = {
    "float32, but wrong": (lambda e, s: (e + 0.1).astype("f4"), {}),
    "float16": (lambda e, s: e.astype("f2"), {}),
    "rounded to seven digits": (lambda e, s: e.round(7), {}),
    "float16 and back": (lambda e, s: e.astype("f2").astype(float), {}),
    "transposed and changed": (lambda e, s: e.T + 0.1, {"axes": MATRIX}),
    "a sign flipped in one row": (lambda e, s: np.concatenate([-e[:1], e[1:]]), {}),
    "a square matrix, of other numbers": (lambda e, s: np.outer(e, e), {"axes": VECTOR}),
    "an outer sum": (lambda e, s: e + 1 + np.zeros((e.size, 1)), {"axes": VECTOR}),
    "two steps late": (lambda e, s: np.concatenate([np.zeros_like(e[:, :2]), e[:, :-2]], axis=1), {}),
    "right at the last step": (lambda e, s: right_at_first(e[:, ::-1], s)[:, ::-1], {}),
    "right at the first two steps": (lambda e, s: np.concatenate([e[:, :2], e[:, 2:] + 1], axis=1), {}),
    "another factor for each case": (lambda e, s: e * (s["B"] + 1.5), {}),
    "another factor for each unit": (lambda e, s: e * (1 + np.arange(s["H"])), {}),
    "a factor and a little more": (lambda e, s: 0.25 * e + 1e-3, {}),
    "a sum over a part": (lambda e, s: e * (s["T"] - 1), {}),
    "zeros": (lambda e, s: 0 * e, {}),
    "zeros here and there": (lambda e, s: e * (np.sin(100 * e) > 0), {}),
    "zeros among wrong rows": (lambda e, s: np.concatenate([0 * e[:, :1], e[:, 1:2], e[:, 2:] + 1], axis=1), {}),
    "a row for another": (lambda e, s: np.concatenate([e[:1], e[:1], e[2:]]), {}),
    "right in some sequences": (lambda e, s: np.concatenate([e[:1], e[1:-1], e[-1:] + 1]), {"sizes": SIZES[1:]}),
    "rounded to an even number": (lambda e, s: 2 * (e / 2).round(2), {}),
    "cut off at a limit for each case": (lambda e, s: e.clip(-1 / s["B"], np.inf), {}),
    "not a number": (lambda e, s: e * np.nan, {}),
    "infinite": (lambda e, s: e / 0.0, {}),
    "too large to be squared": (lambda e, s: np.full(e.shape, 1e300), {}),
    "a list": (lambda e, s: e.tolist(), {}),
    "nothing": (lambda e, s: None, {}),
    "an empty array": (lambda e, s: np.zeros((0, 3)), {}),
    "bools": (lambda e, s: e > 0, {}),
    "text": (lambda e, s: "h", {}),
}


@for_each("name", NOT_QUITE)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_what_only_looks_like_a_pattern_is_not_named(name):
    change, more = NOT_QUITE[name]
    assert pattern(change, **more) is None


def scaled(inputs, default):
    """`x` times a factor, with this default."""
    return inputs["x"] * inputs.get("factor", default)


def test_what_goes_wrong_only_where_an_argument_is_left_out_is_told():
    given = [{"x": RNG.normal(size=4), **more} for more in ({"factor": 2.0}, {}, {"factor": 0.5}, {}, {})]
    cases = [Case({"H": 4}, inputs) for inputs in given]
    made = checks(cases, [Output("y", ("H",))], [scaled(inputs, 3.0) for inputs in given])
    observed = tuple(Observation(telling(scaled(inputs, 3.0) + ("factor" not in inputs))) for inputs in given)
    assert diagnosed(made, observed) == "left_out"
    everywhere = tuple(Observation(telling(scaled(inputs, 3.0) ** 2 + 1)) for inputs in given)
    assert diagnosed(made, everywhere) is None


def test_time_patterns_need_an_axis_of_time_and_three_steps():
    assert pattern(late, axes=("B", "K", "H"), shape=("B", "T", "H")) is None
    assert pattern(late, sizes=[{"B": 2, "T": 2, "H": 3}, {"B": 3, "T": 2, "H": 2}]) is None


def test_a_sequence_of_one_step_does_not_speak_against_a_shift_but_against_a_right_first_step():
    sizes = (*SIZES, {"B": 2, "T": 1, "H": 3})
    assert pattern(late, sizes=sizes) == "one_step_late"
    assert pattern(early, sizes=sizes) == "one_step_early"
    assert pattern(lambda e, s: e + 1 if s["T"] == 1 else right_at_first(e, s), sizes=sizes) is None
    assert pattern(lambda e, s: e if s["T"] == 1 else right_at_first(e, s), sizes=sizes) == "first_step_only"


def test_time_is_found_wherever_its_axis_stands():
    def late_in_front(e, s):
        return np.concatenate([np.zeros_like(e[:1]), e[:-1]])

    assert pattern(late_in_front, axes=("T", "B", "H")) == "one_step_late"


def test_where_float32_is_due_a_small_error_is_not_blamed_on_it():
    cases = [Case(s, {}) for s in SIZES]
    expected = [RNG.normal(size=(s["T"], s["H"])).astype("f4") for s in SIZES]
    made = checks(cases, [Output("h", ("T", "H"))], expected)
    assert diagnosed(made, [e * np.float32(1 + 1e-6) for e in expected]) is None  # it is right
    assert diagnosed(made, [np.where(e > 0, e * np.float32(1 + 5e-5), e) for e in expected]) is None
    assert diagnosed(made, [e * np.float32(0.3) for e in expected]) == "constant_factor"


def test_two_sizes_that_explain_a_factor_name_neither():
    sizes = ({"B": 4, "T": 4, "H": 3}, {"B": 6, "T": 6, "H": 2}, {"B": 3, "T": 3, "H": 4})
    assert pattern(lambda e, s: e / s["B"], sizes=sizes) is None


def test_a_factor_that_would_be_shown_as_1_is_not_named():
    assert pattern(lambda e, s: 1.01 * e) == "constant_factor"
    assert pattern(lambda e, s: (1 - 1e-8) * e) is None


def test_ids_as_floats_are_not_rounded_numbers():
    ids = [np.array([[3, 1, 4], [1, 5, 9]]), np.array([[2, 6, 5], [3, 5, 8]])]
    made = checks([Case({"B": 2}, {"x": each}) for each in ids], [Output("ids", ("B", "T"))], ids)
    assert diagnosed(made, [each.astype(float) for each in ids]) != "rounded"


def test_one_case_alone_shows_no_constant_factor():
    assert pattern(lambda e, s: e / 2, sizes=SIZES[:1]) is None


def test_a_pattern_must_explain_every_wrong_case():
    def sign_but_once(e, s):
        return e + 1 if s["B"] == 5 else -e

    assert pattern(sign_but_once) is None


def test_cases_that_are_right_do_not_matter_to_a_pattern():
    assert pattern(lambda e, s: e if s["B"] == 5 else -e) == "sign"


def test_where_a_case_raises_no_pattern_is_named():
    made = checks([Case({"B": 1}, {})] * 2, [Output("h")], [np.ones(3)] * 2)
    assert diagnosed(made, [-np.ones(3), Observation(raised=Raised("E", ""))]) is None
    assert diagnosed(made, [-np.ones(3), -np.ones(3)]) == "sign"


def test_where_an_input_is_changed_no_pattern_is_named():
    made = checks([Case({"B": 1}, {"x": 1})], [Output("h")], [np.ones(3)])
    assert diagnosed(made, [Observation(-np.ones(3), changed=("x",))]) is None


@pytest.mark.parametrize("axes", [("B", "S", "H"), ("S", "B"), ("B", "T", "S")])
def test_what_goes_wrong_along_the_source_is_told_in_its_words(axes):
    sizes = [{"B": 2, "T": 4, "S": 5, "H": 3}, {"B": 3, "T": 6, "S": 4, "H": 2}]
    expected = [RNG.normal(size=tuple(s[a] for a in axes)) for s in sizes]
    axis = axes.index("T" if "T" in axes else "S")
    made = checks([Case(s, {}) for s in sizes], [Output("y", axes)], expected)
    name, text = told(made, [np.roll(e, 1, axis) for e in expected])
    step, t = ("time step", "t") if "T" in axes else ("source position", "s")
    assert (name, text) == (
        "one_step_late",
        f"Every result is one {step} too late: the one that belongs at {t} is at {t} + 1.",
    )
    changed = [np.concatenate([np.take(e, [0], axis), np.delete(e, 0, axis) + 1], axis) for e in expected]
    assert told(made, changed)[1].startswith(f"The first {step} is right and the second is not.")


def test_numbers_beyond_all_bounds_are_no_pattern():
    made = checks([Case({}, {}), Case({"n": 1}, {})], [Output("loss")], [2.5, 1.5])
    for huge in (10**350, -(2**70)):
        assert diagnosed(made, [huge, huge]) is None


def test_a_scalar_has_a_sign_too():
    made = checks([Case({}, {})] * 2, [Output("loss")], [2.5, 1.5])
    assert diagnosed(made, [-2.5, -1.5]) == "sign"
    assert diagnosed(made, [True, -1.5]) is None


# Misconceptions ------------------------------------------------------------------------------------------------------

ORDINARY, EDGE = Case({"T": 3}, {}), Case({"T": 1}, {}, "edge")
H = [Output("h")]


def test_exactly_one_must_fit():
    mistakes = {"first": [[2.0, 3.0]], "second": [[2.0, 4.0]]}
    made = checks([ORDINARY, ORDINARY], H, [1.0, 1.0], mistakes)
    assert diagnosed(made, [2.0, 3.0]) == "first"
    assert diagnosed(made, [2.0, 4.0]) == "second"
    assert diagnosed(made, [2.0, 5.0]) is None
    assert diagnosed(made, [1.0, 1.0]) is None


def test_two_that_fit_name_none_and_no_pattern_either():
    made = checks([ORDINARY] * 2, H, [1.0, 2.0], {"first": [[-1.0, -2.0]], "second": [[-1.0, -2.0]]})
    assert diagnosed(made, [-1.0, -2.0]) is None


def twice(*expected, inputs=({"u": 0.5}, {"u": 0.5})):
    cases = [Case({"T": 2}, given) for given in inputs]
    return checks(cases, [Output("ids", ("T",))], expected)


def test_two_results_of_the_same_call_are_told_before_anything_else():
    made = twice(np.array([1, 2]), np.array([1, 2]))
    assert diagnosed(made, [np.array([3, 1]), np.array([2, 2])]) == "two results of one call"
    assert diagnosed(made, [np.array([1, 2]), np.array([2, 2])]) == "two results of one call"


@pytest.mark.parametrize(
    ("made", "results"),
    [
        (twice(np.array([1, 2]), np.array([1, 2])), [np.array([3, 1]), np.array([3, 1])]),
        (twice(np.array([1.0, 2]), np.array([1.0, 2])), [np.array([np.nan, 1]), np.array([np.nan, 1])]),
        (twice(np.array([1, 2]), np.array([1, 2])), [np.array([3, 1]), Observation(raised=Raised("ValueError", ""))]),
        (
            twice(np.array([1, 2]), np.array([1, 2]), inputs=({"u": 0.5}, {"u": 0.6})),
            [np.array([3, 1]), np.array([2, 2])],
        ),
        (twice(np.array([1, 2]), np.array([2, 1])), [np.array([3, 1]), np.array([2, 2])]),
    ],
    ids=["equal", "nan", "one raises", "other inputs", "another result is due"],
)
def test_what_is_no_second_result_of_the_same_call(made, results):
    assert diagnosed(made, results) != "two results of one call"


def test_any_variant_may_fit():
    made = checks([ORDINARY], H, [1.0], {"first": [[2.0], [3.0]], "second": [[4.0]]})
    assert diagnosed(made, [3.0]) == "first"


def test_a_mistake_that_raises_needs_a_case_that_returns():
    raised, other = Observation(raised=Raised("ValueError", "")), Observation(raised=Raised("TypeError", ""))
    made = checks([ORDINARY, ORDINARY], H, [1.0, 1.0], {"first": [[raised, 2.0]]})
    assert diagnosed(made, [Observation(raised=Raised("ValueError", "text", (Line(1, "f", "line"),))), 2.0]) == "first"
    assert diagnosed(made, [other, 2.0]) is None
    assert diagnosed(made, [2.0, 2.0]) is None
    assert diagnosed(made, [raised, 3.0]) is None
    always = checks([ORDINARY, ORDINARY], H, [1.0, 1.0], {"first": [[raised, raised]]})
    assert diagnosed(always, [raised, raised]) is None


def test_several_exceptions_beside_several_right_cases_prove_a_mistake():
    raised, other = Observation(raised=Raised("IndexError", "")), Observation(raised=Raised("ValueError", ""))
    results = [raised, 1.0, raised, 1.0, raised, 1.0]
    made = checks([ORDINARY] * 6, H, [1.0] * 6, {"first": [results]})
    assert diagnosed(made, results) == "first"
    assert diagnosed(made, [other, *results[1:]]) is None
    assert diagnosed(made, [*results[:5], 2.0]) is None
    assert diagnosed(made, [*results[:5], raised]) is None
    few = checks([ORDINARY] * 5, H, [1.0] * 5, {"first": [results[:5]]})
    assert diagnosed(few, results[:5]) is None


def test_a_right_case_beside_an_exception_is_not_evidence():
    raised = Observation(raised=Raised("ValueError", ""))
    made = checks([ORDINARY, ORDINARY], H, [1.0, 1.0], {"first": [[raised, 1.0]]})
    assert diagnosed(made, [raised, 1.0]) is None


OUTPUTS = [Output("a"), Output("b")]
BY_OUTPUT = [Facet("a", outputs=("a",)), Facet("b", outputs=("b",))]


def test_matching_is_by_facet():
    made = checks([ORDINARY] * 2, OUTPUTS, [(1.0, 1.0)] * 2, {"first": [[(2.0, 1.0), (3.0, 1.0)]]}, BY_OUTPUT)
    assert diagnosed(made, [(2.0, 1.0), (3.0, 1.0)]) == "first"
    assert diagnosed(made, [(2.0, 7.0), (3.0, 8.0)]) == "first"
    assert diagnosed(made, [(1.0, 7.0), (1.0, 8.0)]) is None


def told(made: Checks, results):
    """The id and the text of what is said."""
    observations = tuple(map(observation, results))
    judged = tuple(judge(made, index, o) for index, o in enumerate(observations))
    found = diagnose(made, observations, judged, {name: f"{name}." for name in made.mistakes})
    return found and (found.id, found.text)


def test_a_mistake_that_explains_all_comes_before_one_that_explains_an_output():
    mistakes = {"both": [[(2.0, 2.0)] * 2], "a_alone": [[(2.0, 1.0)] * 2], "b_alone": [[(1.0, 2.0)] * 2]}
    made = checks([ORDINARY] * 2, OUTPUTS, [(1.0, 1.0)] * 2, mistakes, BY_OUTPUT)
    assert told(made, [(2.0, 2.0)] * 2) == ("both", "both.")
    assert told(made, [(2.0, 1.0)] * 2) == ("a_alone", "a_alone.")
    assert told(made, [(1.0, 2.0)] * 2) == ("b_alone", "b_alone.")


def test_a_cause_of_the_case_that_is_shown_comes_first_and_another_says_of_what():
    mistakes = {"at_the_edge": [[1.0, 5.0, 1.0, 5.5]], "elsewhere": [[6.0, 1.0, 6.5, 1.0]]}
    made = checks([ORDINARY, EDGE] * 2, H, [1.0] * 4, mistakes, BY_KIND[::-1])
    assert told(made, [6.0, 5.0, 6.5, 5.5]) == ("elsewhere", "elsewhere.")
    edge = f"On cases of the kind {BY_KIND[1].name!r}: at_the_edge."
    assert told(made, [7.7, 5.0, 6.1, 5.5]) == ("at_the_edge", edge)
    assert told(made, [1.0, 5.0, 1.0, 5.5]) == ("at_the_edge", "at_the_edge.")


def test_a_mistake_that_explains_a_part_says_which():
    mistakes = {"all": [[(2.0, 3.0, 4.0)] * 2], "other": [[(1.0, 1.0, 7.0)] * 2]}
    facets = [*BY_OUTPUT, Facet("c", outputs=("c",))]
    made = checks([ORDINARY] * 2, [*OUTPUTS, Output("c")], [(1.0, 1.0, 1.0)] * 2, mistakes, facets)
    assert told(made, [(2.0, 3.0, 4.0)] * 2) == ("all", "all.")
    assert told(made, [(2.0, 1.0, 1.0)] * 2) == ("all", "For a: all.")
    assert told(made, [(2.0, 3.0, 9.0)] * 2) == ("all", "For a and b: all.")
    assert told(made, [(5.0, 3.0, 7.0)] * 2) == ("all", "For b: all.")
    assert told(made, [(5.0, 1.0, 7.0)] * 2) == ("other", "For c: other.")


def test_of_several_mistakes_that_fit_one_output_those_that_spoil_a_right_one_are_dropped():
    mistakes = {"both": [[(2.0, 2.0)] * 2], "b_alone": [[(1.0, 2.0)] * 2], "b_too": [[(3.0, 2.0)] * 2]}
    outputs, facets = [*OUTPUTS, Output("c")], [*BY_OUTPUT, Facet("c", outputs=("c",))]
    three = {name: [[(*two, 1.0) for two in way] for way in v] for name, v in mistakes.items()}
    made = checks([ORDINARY] * 2, outputs, [(1.0, 1.0, 1.0)] * 2, three, facets)
    assert told(made, [(1.0, 2.0, 9.0)] * 2) == ("b_alone", "For b: b_alone.")
    assert told(made, [(9.0, 2.0, 1.0)] * 2) is None  # a is wrong in another way: each of the three may be behind b


def test_where_all_that_fit_spoil_a_right_output_none_is_named():
    mistakes = {"first": [[(2.0, 2.0)] * 2], "second": [[(3.0, 2.0)] * 2]}
    made = checks([ORDINARY] * 2, OUTPUTS, [(1.0, 1.0)] * 2, mistakes, BY_OUTPUT)
    assert told(made, [(1.0, 2.0)] * 2) is None


def test_a_mistake_in_one_output_is_no_evidence_where_a_case_raises():
    raised = Observation(raised=Raised("ValueError", ""))
    made = checks([ORDINARY] * 2, OUTPUTS, [(1.0, 1.0)] * 2, {"first": [[(2.0, 1.0), raised]]}, BY_OUTPUT)
    assert told(made, [(2.0, 1.0), raised]) == ("first", "first.")
    assert told(made, [(2.0, 5.0), raised]) == ("first", "For a: first.")
    assert told(made, [(2.0, 1.0), (2.0, 1.0)]) is None


def test_a_pattern_may_explain_one_output():
    made = checks([ORDINARY] * 2, OUTPUTS, [(1.0, 2.0), (3.0, 4.0)], facets=BY_OUTPUT)
    assert told(made, [(-1.0, -2.0), (-3.0, -4.0)])[1].startswith("Every number")
    assert told(made, [(-1.0, 7.0), (-3.0, 8.0)])[1].startswith("For a: Every number has the right size")
    assert told(made, [(7.0, -2.0), (1.0, -4.0)])[1].startswith("For b: Every number has the right size")
    assert told(made, [(-1.0, 2.0), (-3.0, 4.0)])[1].startswith("For a: Every number")
    assert told(made, [(7.0, 8.0), (1.0, 9.0)]) is None


def test_right_results_in_another_order_are_told():
    outputs = [*OUTPUTS, Output("c", ("H",))]
    facets = [*BY_OUTPUT, Facet("c", outputs=("c",))]
    due = [(1.0, 2.0, np.arange(2.0)), (3.0, 4.0, np.arange(3.0))]
    made = checks([ORDINARY] * 2, outputs, due, {"first": [[(2.0, 7.0, np.ones(2)), (4.0, 7.0, np.ones(3))]]}, facets)
    swapped, turned = ([tuple(one[place] for place in order) for one in due] for order in ((1, 0, 2), (2, 0, 1)))
    text = "Your results are right but in the wrong order. Use `return a, b, c`."
    assert told(made, swapped) == told(made, turned) == ("order", text)
    assert told(made, [swapped[0], due[1]]) is None
    assert told(made, [(2.0, 1.0, np.ones(2)), (4.0, 3.0, np.ones(3))]) == ("first", "For a and c: first.")
    swaps = [(2.0, 1.0), (4.0, 3.0)]
    made = checks([ORDINARY] * 2, OUTPUTS, [(1.0, 2.0), (3.0, 4.0)], {"swaps": [swaps]}, BY_OUTPUT)
    assert told(made, swaps) == ("swaps", "swaps.")  # an exercise's own words come first


def test_twelve_results_in_another_order_are_found_at_once():
    """They have 479 million orders."""
    outputs = [Output(f"d{gate}", ("H", "H")) for gate in range(12)]
    facets = [Facet(output.name, outputs=(output.name,)) for output in outputs]
    due = [tuple(RNG.normal(size=(12, 3, 3))) for _ in range(3)]
    made = checks([ORDINARY] * 3, outputs, due, facets=facets)
    order = RNG.permutation(12)
    turned = [tuple(one[place] for place in order) for one in due]
    assert diagnosed(made, turned) == "order"
    assert diagnosed(made, [*turned[:2], due[2]]) is None
    spoilt = [(*one[:-1], one[-1] + 1) for one in turned]
    assert diagnosed(made, spoilt) is None
    assert diagnosed(made, [(one[0], *one[:-1]) for one in due]) is None  # one twice, one left out


@pytest.mark.parametrize(
    ("returned", "named"),
    [
        ((1.0, 2.0, 1.0, 3.0), "order"),  # due is 1, 1, 2, 3
        ((3.0, 2.0, 1.0, 1.0), "order"),
        ((1.0, 1.0, 3.0, 2.0), "order"),
        ((2.0, 2.0, 1.0, 3.0), None),
        ((1.0, 2.0, 3.0, 3.0), None),
        ((1.0, 1.0, 1.0, 1.0), None),
    ],
)
def test_results_that_are_alike_may_stand_for_each_other(returned, named):
    outputs = [Output(name) for name in "abcd"]
    facets = [Facet(name, outputs=(name,)) for name in "abcd"]
    made = checks([ORDINARY] * 2, outputs, [(1.0, 1.0, 2.0, 3.0)] * 2, facets=facets)
    assert diagnosed(made, [returned] * 2) == named


@for_each(
    ("choices", "found"),
    [
        ([], True),
        ([[0]], True),
        ([[]], False),
        ([[0, 1], [0]], True),
        ([[0, 1], [0, 2], [0]], True),
        ([[0, 1], [0, 1], [0, 1, 2]], True),
        ([[0, 1], [0, 1], [0, 1]], False),
        ([[0, 1, 2], [1], [1]], False),
        ([list(range(12))] * 12, True),
        ([list(range(11))] * 12, False),
    ],
)
def test_each_place_finds_one_of_its_own(choices, found):
    assert _has_perfect_matching(choices) is found


def test_right_results_with_a_changed_input_are_not_in_another_order():
    made = checks([Case({}, {"x": 1.0})], OUTPUTS, [(1.0, 1.0)], facets=BY_OUTPUT)
    assert diagnosed(made, [changing((1.0, 1.0), "x")]) is None


def test_a_mistake_that_changes_an_input_is_told_from_one_that_does_not():
    in_place = changing(2.0, "x")
    made = checks([Case({}, {"x": 1})], H, [1.0], {"first": [[in_place]]})
    assert diagnosed(made, [in_place]) == "first"
    assert diagnosed(made, [2.0]) is None


BY_KIND = [Facet("several", kinds=("ordinary",)), Facet("one", kinds=("edge",))]


def test_an_edge_case_alone_does_not_prove_a_mistake_that_would_show_elsewhere():
    made = checks([ORDINARY, EDGE], H, [1.0, 1.0], {"first": [[2.0, 3.0]]}, BY_KIND)
    assert diagnosed(made, [2.0, 3.0]) == "first"
    assert diagnosed(made, [9.0, 3.0]) is None  # wrong elsewhere too, in another way
    assert diagnosed(made, [1.0, 3.0]) is None  # right elsewhere


def test_a_mistake_that_keeps_a_facet_is_named_beside_another_mistake_there():
    made = checks([ORDINARY, EDGE], H, [1.0, 1.0], {"first": [[2.0, 1.0]]}, BY_KIND)
    assert diagnosed(made, [2.0, 1.0]) == "first"
    assert diagnosed(made, [2.0, 9.0]) == "first"


def test_failed_cases_are_those_of_the_facet():
    made = checks([ORDINARY, EDGE], H, [1.0, 1.0], facets=BY_KIND)
    judged = tuple(judge(made, i, Observation(2.0)) for i in range(2))
    assert [failed_cases(made, judged, facet) for facet in BY_KIND] == [[0], [1]]


def test_what_an_exercise_builds_on_comes_after_a_cause_that_fits():
    made = checks([ORDINARY] * 2, H, [1.0, 2.0], {"first": [[3.0, 3.0]]})
    assert diagnosed(made, [3.0, 3.0], ["f"]) == "first"
    assert diagnosed(made, [-1.0, -2.0], ["f"]) == "sign"
    assert diagnosed(made, [-1.0, -2.0]) == "sign"
    assert diagnosed(made, [0.3, -5.0], ["f"]) == "needs"
    assert diagnosed(made, [0.3, -5.0]) is None
    assert diagnosed(made, [1.0, 2.0], ["f"]) is None


@pytest.mark.parametrize(
    ("needs", "text"),
    [
        (
            ["f"],
            "This exercise builds on `f`, which failed when last checked. Fix `f` first, then check again.",
        ),
        (
            ["f", "g"],
            "This exercise builds on `f` and `g`, which failed when last checked. Fix `f` and `g` first, "
            "then check again.",
        ),
    ],
)
def test_the_words_for_what_it_builds_on(needs, text):
    made = checks([ORDINARY], H, [1.0])
    judged = (judge(made, 0, Observation(2.0)),)
    assert diagnose(made, (Observation(2.0),), judged, {}, needs).text == text


def test_matches_of_an_own_judge_are_asked_about_the_cases_that_fail():
    asked = []

    def first(case, o):
        asked.append(o.result)
        return o.result < 0

    own = OwnJudge(
        lambda case, o: [Problem("judge", "no")] if o.result != 1 else [],
        {"first": first, "second": lambda c, o: False},
    )
    made = checks([ORDINARY] * 3, H, [], own=own)
    assert diagnosed(made, [1, -1, -2]) == "first"
    assert asked == [-1, -2]
    assert diagnosed(made, [1, -1, 2]) is None
    assert diagnosed(made, [Observation(raised=Raised("E", ""))] * 3) is None
    assert diagnosed(made, [Observation(raised=Raised("E", "")), -1, 1]) == "first"


def test_an_exception_on_every_case_of_a_facet_is_evidence_where_all_else_agrees():
    raised, other = Observation(raised=Raised("IndexError", "")), Observation(raised=Raised("TypeError", ""))
    made = checks([ORDINARY, EDGE, EDGE], H, [1.0, 2.0, 3.0], {"first": [[1.0, raised, raised]]}, BY_KIND)
    assert diagnosed(made, [1.0, raised, raised]) == "first"
    assert diagnosed(made, [1.0, raised, 3.0]) is None
    assert diagnosed(made, [1.0, other, other]) is None
    assert diagnosed(made, [9.0, raised, raised]) is None


def test_a_mistake_that_raises_on_all_cases_of_one_kind_of_a_facet_is_named():
    raised, other = Observation(raised=Raised("ValueError", "")), Observation(raised=Raised("TypeError", ""))
    cases = [ORDINARY, EDGE, replace(EDGE, kind="edge of all")]
    facets = [Facet("inside", kinds=("ordinary",)), Facet("edge", kinds=("edge", "edge of all"))]
    made = checks(cases, H, [1.0, 2.0, 3.0], {"first": [[1.0, 2.0, raised]]}, facets)
    assert diagnosed(made, [1.0, 2.0, raised]) == "first"
    assert diagnosed(made, [1.0, 2.0, other]) is None
    assert diagnosed(made, [1.0, raised, raised]) is None
    assert diagnosed(made, [9.0, 2.0, raised]) is None


def test_among_ids_all_that_is_wrong_must_have_its_cause():
    of_ids = checks([ORDINARY, EDGE], H, [1, 2], {"first": [[1, 5]]}, BY_KIND)
    assert diagnosed(of_ids, [1, 5]) == "first"
    assert diagnosed(of_ids, [9, 5]) is None  # 5 may have come about in any way
    two = checks([ORDINARY, EDGE], H, [1, 2], {"first": [[1, 5]], "second": [[9, 2]]}, BY_KIND)
    assert diagnosed(two, [9, 5]) == "second"
    of_numbers = checks([ORDINARY, EDGE], H, [1.0, 2.0], {"first": [[1.0, 5.0]]}, BY_KIND)
    assert diagnosed(of_numbers, [9.0, 5.0]) == "first"


SCORE = -np.pi
BY_CHANCE = {  # what is due, what a mistake gives, and another wrong result
    "words": ("low", "l", "lo"),
    "lists of words": (["lo", "w"], ["low"], ["l", "o", "w"]),
    "pairs of words": ([("l", "o"), ("lo", "w")], [("o", "w")], [("l", "o")]),
    "ids": ([1, 2, 3], [1, 2], [2, 2, 3]),
    "an array of ids": (np.array([1, 2]), np.array([2, 1]), np.array([1, 1])),
    "truth values": (np.array([True, False]), np.array([True, True]), np.array([False, False])),
    "ids with scores": ([([1, 2], SCORE)], [([1, 3], SCORE)], [([2, 2], SCORE)]),
    "ids with scores, one too few": ([([1], SCORE), ([2], -5.1234)], [([1], SCORE)], []),
    "counts": ({"a": 2, "b": 1}, {"a": 1, "b": 1}, {"a": 3, "b": 1}),
    "whole numbers": (np.array([1.0, 0.0]), np.array([0.0, 0.0]), np.array([2.0, 0.0])),
    "shares": (0.75, 2 / 3, 0.5),
    "a rounded number": (0.75, 0.33, 0.5),
    "nothing": (["a"], [None], [""]),
    "a list for a tuple": ([("a", 0.5)], [["a", 0.5]], [("a", 0.25)]),
}
NOT_BY_CHANCE = {
    "numbers": (np.array([1.2345, 0.0]), np.array([0.0, 0.0]), np.array([3.0, 0.0])),
    "numbers of another shape": (np.ones(2), np.array([1.2345]), np.ones(1)),
    "float32": (np.array([1.2345]), np.array([1.2345], np.float32), np.array([3.0])),
    "complex numbers": (np.array([1j]), np.array([1.2345j]), np.array([2j])),
    "scores": ([([1, 2], SCORE)], [([1, 2], SCORE / 2)], [([1, 2], 1.0)]),
    "ids with scores, one too many": ([([1], SCORE)], [([1], SCORE), ([2], -5.1234)], []),
    "weights": ({"W": np.full(2, 1.2345), "n": 1}, {"W": np.full(2, 1.5432), "n": 1}, {"W": np.zeros(2), "n": 1}),
    "one key too many": ({"n": 1}, {"n": 1, "W": np.full(2, 1.5432)}, {"n": 2}),
    "a tuple for an array": (np.full(2, 1.2345), (1.2345, 1.2345), np.ones(2)),
}


@for_each("facets", ["by kind", "by output"])
@for_each("kind", [*BY_CHANCE, *NOT_BY_CHANCE])
def test_what_may_agree_by_chance_is_named_only_where_all_that_is_wrong_has_its_cause(kind, facets):
    due, mistaken, wrong = (BY_CHANCE | NOT_BY_CHANCE)[kind]
    named = None if kind in BY_CHANCE else "first"
    if facets == "by kind":
        made = exactly([ORDINARY, EDGE], H, [due, due], [due, mistaken], BY_KIND)
        assert given(made, [wrong, mistaken]) == named
        assert given(made, [due, mistaken]) == "first"
    else:
        made = exactly([ORDINARY] * 2, OUTPUTS, [(due, due)] * 2, [(due, mistaken)] * 2, BY_OUTPUT)
        assert given(made, [(wrong, mistaken)] * 2) == named
        assert given(made, [(due, mistaken)] * 2) == "first"
        assert given(made, [(wrong, mistaken), (due, mistaken)]) == named
    assert given(made, [wrong if facets == "by kind" else (wrong, wrong)] * 2) != "first"


@for_each("kind", BY_CHANCE)
def test_a_wrong_answer_that_coincides_on_one_case_alone_gets_no_name(kind):
    due, mistaken, wrong = BY_CHANCE[kind]
    made = exactly([ORDINARY] * 3, H, [due] * 3, [mistaken] * 3, WHOLE)
    assert given(made, [mistaken] * 3) == "first"
    assert given(made, [mistaken, wrong, mistaken]) is None
    assert given(made, [mistaken, due, due]) is None


def test_a_changed_input_is_no_chance():
    made = checks([Case({}, {"x": 1}), replace(EDGE, inputs={"x": 1})], H, [1, 2], {"first": [[1, 5]]}, BY_KIND)
    assert diagnosed(made, [9, 5]) is None
    mistakes = {"first": [[1, changing(5, "x")]]}
    made = checks([Case({}, {"x": 1}), replace(EDGE, inputs={"x": 1})], H, [1, 2], mistakes, BY_KIND)
    assert diagnosed(made, [9, changing(5, "x")]) == "first"


def test_what_a_mistake_makes_of_another_result_says_nothing_of_this_one():
    made = checks([ORDINARY] * 2, OUTPUTS, [(1, 1.0)] * 2, {"first": [[(2, 3.0)] * 2]}, BY_OUTPUT)
    assert diagnosed(made, [(2, 3.0)] * 2) == "first"
    assert diagnosed(made, [(2, 7.0)] * 2) is None  # an id alone
    assert told(made, [(9, 3.0)] * 2) == ("first", "For b: first.")


def exactly(cases, outputs, expected, mistaken, facets):
    """Checks of these values as they are, with one mistake, "first"."""
    due, theirs = (tuple(Observation(freeze(value)) for value in values) for values in (expected, mistaken))
    return replace(checks(cases, outputs, [], facets=facets), expected=due, mistakes={"first": (theirs,)})


def given(made: Checks, results):
    return diagnosed(made, [Observation(freeze(result)) for result in results])


@pytest.mark.parametrize("change", [lambda e: 2 * e, lambda e: -e, lambda e: e.astype("f4")])
def test_patterns_of_numbers_are_not_looked_for_among_ids(change):
    cases = [Case({"T": 4}, {}), Case({"T": 5}, {})]
    expected = [np.array([3, 1, 2, 1]), np.array([2, 2, 1, 3, 1])]
    made = checks(cases, [Output("ids", ("T",))], expected)
    assert diagnosed(made, [change(e) for e in expected]) is None


# Changed inputs -------------------------------------------------------------------------------------------------------


def changing(value, *names):
    return Observation(telling(value), changed=names)


def test_a_mistake_that_changes_an_input_is_named_where_the_numbers_are_right():
    mistakes = {"first": [[changing(1.0, "x"), changing(2.0)]]}
    made = checks([Case({}, {"x": 0}), Case({}, {"x": 1})], [Output("y")], [1.0, 2.0], mistakes)
    assert diagnosed(made, [changing(1.0, "x"), 2.0]) == "first"
    assert diagnosed(made, [changing(1.0, "x"), changing(2.0, "x")]) == "first"


def test_it_is_not_named_where_the_input_is_as_it_was_or_another_is_changed():
    cases = [Case({}, {"x": 0, "z": 0}), Case({}, {"x": 1, "z": 0})]
    mistakes = {"first": [[changing(5.0, "x"), changing(6.0, "x")]]}
    made = checks(cases, [Output("y")], [1.0, 2.0], mistakes)
    assert diagnosed(made, [changing(5.0, "x"), changing(6.0, "x")]) == "first"
    assert diagnosed(made, [5.0, 6.0]) is None
    assert diagnosed(made, [changing(5.0, "z"), changing(6.0, "z")]) is None


def test_a_mistake_in_the_numbers_is_named_beside_a_changed_input():
    made = checks([Case({}, {"x": 0}), Case({}, {"x": 1})], [Output("y")], [1.0, 2.0], {"first": [[5.0, 6.0]]})
    assert diagnosed(made, [changing(5.0, "x"), changing(6.0, "x")]) == "first"


def test_a_mistake_that_leaves_an_output_right_does_not_explain_what_is_wrong_with_it():
    cases = [Case({"H": 2}, {"x": np.ones(2)}), Case({"H": 3}, {"x": np.ones(3)})]
    due = [(np.arange(2.0), np.ones(2)), (np.arange(3.0), np.ones(3))]
    first = [(a, 2 * b) for a, b in due]
    outputs = [Output("a", ("H",)), Output("b", ("H",))]
    made = checks(cases, outputs, due, {"first": [first]}, [Facet("a", outputs=("a",)), Facet("b", outputs=("b",))])
    assert diagnosed(made, [changing(d, "x") for d in due]) is None
    assert diagnosed(made, first) == "first"


def test_a_single_result_that_is_right_at_its_first_step_shows_nothing():
    """Of several cases where one alone is wrong, it may be so by chance."""
    cases = [Case(s, {}) for s in SIZES]
    expected = [RNG.normal(size=tuple(s.values())) for s in SIZES]
    made = checks(cases, [Output("h", ("B", "T", "H"))], expected)
    changed = [right_at_first(e, s) for e, s in zip(expected, SIZES, strict=True)]
    assert diagnosed(made, changed) == "first_step_only"
    assert diagnosed(made, [changed[0], *expected[1:]]) is None
