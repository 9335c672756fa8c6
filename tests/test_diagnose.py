"""Diagnosis as such: a cause is named only where the evidence singles it out."""

from collections.abc import Callable

import numpy as np
import pytest

from grader.checking.case import DEFAULT_TOLERANCE, WHOLE, Case, Checks, Facet, Observation, Output, OwnJudge
from grader.checking.diagnose import diagnose, failed_cases
from grader.checking.judge import judge
from grader.checking.verdict import Problem
from grader.codec import Line, Raised, freeze

TEXTS = {name: f"text of {name}" for name in ("first", "second")}


def checks(cases, outputs, expected, misconceptions=None, facets=WHOLE, own=None):
    return Checks(
        "f",
        "call",
        tuple(outputs),
        cases=tuple(cases),
        tolerance=DEFAULT_TOLERANCE,
        facets=tuple(facets),
        expected=tuple(Observation(freeze(e)) for e in expected),
        misconceptions={
            name: tuple(tuple(map(observation, variant)) for variant in variants)
            for name, variants in (misconceptions or {}).items()
        },
        own=own,
    )


def observation(value):
    return value if isinstance(value, Observation) else Observation(freeze(value))


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
}


@pytest.mark.parametrize("name", PATTERNS)
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
    "absolute": (lambda e, s: abs(e), {}),
    "a square matrix, of other numbers": (lambda e, s: np.outer(e, e), {"axes": VECTOR}),
    "an outer sum": (lambda e, s: e + 1 + np.zeros((e.size, 1)), {"axes": VECTOR}),
    "two steps late": (lambda e, s: np.concatenate([np.zeros_like(e[:, :2]), e[:, :-2]], axis=1), {}),
    "rolled along another axis": (lambda e, s: np.roll(e, 1, axis=0), {}),
    "right at the last step": (lambda e, s: right_at_first(e[:, ::-1], s)[:, ::-1], {}),
    "right at the first two steps": (lambda e, s: np.concatenate([e[:, :2], e[:, 2:] + 1], axis=1), {}),
    "another factor for each case": (lambda e, s: e * (s["B"] + 1.5), {}),
    "another factor for each unit": (lambda e, s: e * (1 + np.arange(s["H"])), {}),
    "a factor and a little more": (lambda e, s: 0.25 * e + 1e-3, {}),
    "a sum over a part": (lambda e, s: e * (s["T"] - 1), {}),
    "zeros": (lambda e, s: 0 * e, {}),
    "not a number": (lambda e, s: e * np.nan, {}),
    "infinite": (lambda e, s: e / 0.0, {}),
    "too large to be squared": (lambda e, s: np.full(e.shape, 1e300), {}),
    "a list": (lambda e, s: e.tolist(), {}),
    "nothing": (lambda e, s: None, {}),
    "an empty array": (lambda e, s: np.zeros((0, 3)), {}),
    "bools": (lambda e, s: e > 0, {}),
    "text": (lambda e, s: "h", {}),
}


@pytest.mark.parametrize("name", NOT_QUITE)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_what_only_looks_like_a_pattern_is_not_named(name):
    change, more = NOT_QUITE[name]
    assert pattern(change, **more) is None


def test_time_patterns_need_an_axis_of_time_and_three_steps():
    assert pattern(late, axes=("B", "S", "H"), shape=("B", "T", "H")) is None
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


def test_two_sizes_that_explain_a_factor_name_neither():
    sizes = ({"B": 4, "T": 4, "H": 3}, {"B": 6, "T": 6, "H": 2}, {"B": 3, "T": 3, "H": 4})
    assert pattern(lambda e, s: e / s["B"], sizes=sizes) is None


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


def test_a_scalar_has_a_sign_too():
    made = checks([Case({}, {})] * 2, [Output("loss")], [2.5, 1.5])
    assert diagnosed(made, [-2.5, -1.5]) == "sign"
    assert diagnosed(made, [True, -1.5]) is None


# Misconceptions ------------------------------------------------------------------------------------------------------

ORDINARY, EDGE = Case({"T": 3}, {}), Case({"T": 1}, {}, "edge")
H = [Output("h")]


def test_exactly_one_must_fit():
    misconceptions = {"first": [[2.0, 3.0]], "second": [[2.0, 4.0]]}
    made = checks([ORDINARY, ORDINARY], H, [1.0, 1.0], misconceptions)
    assert diagnosed(made, [2.0, 3.0]) == "first"
    assert diagnosed(made, [2.0, 4.0]) == "second"
    assert diagnosed(made, [2.0, 5.0]) is None
    assert diagnosed(made, [1.0, 1.0]) is None


def test_two_that_fit_name_none_and_no_pattern_either():
    made = checks([ORDINARY] * 2, H, [1.0, 2.0], {"first": [[-1.0, -2.0]], "second": [[-1.0, -2.0]]})
    assert diagnosed(made, [-1.0, -2.0]) is None


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
    found = diagnose(made, observations, judged, {name: f"{name}." for name in made.misconceptions})
    return found and (found.id, found.text)


def test_a_mistake_that_explains_all_comes_before_one_that_explains_an_output():
    misconceptions = {"both": [[(2.0, 2.0)] * 2], "a_alone": [[(2.0, 1.0)] * 2], "b_alone": [[(1.0, 2.0)] * 2]}
    made = checks([ORDINARY] * 2, OUTPUTS, [(1.0, 1.0)] * 2, misconceptions, BY_OUTPUT)
    assert told(made, [(2.0, 2.0)] * 2) == ("both", "both.")
    assert told(made, [(2.0, 1.0)] * 2) == ("a_alone", "a_alone.")
    assert told(made, [(1.0, 2.0)] * 2) == ("b_alone", "b_alone.")


def test_a_mistake_that_explains_a_part_says_which():
    misconceptions = {"all": [[(2.0, 3.0, 4.0)] * 2], "other": [[(1.0, 1.0, 7.0)] * 2]}
    facets = [*BY_OUTPUT, Facet("c", outputs=("c",))]
    made = checks([ORDINARY] * 2, [*OUTPUTS, Output("c")], [(1.0, 1.0, 1.0)] * 2, misconceptions, facets)
    assert told(made, [(2.0, 3.0, 4.0)] * 2) == ("all", "all.")
    assert told(made, [(2.0, 1.0, 1.0)] * 2) == ("all", "For a: all.")
    assert told(made, [(2.0, 3.0, 9.0)] * 2) == ("all", "For a and b: all.")
    assert told(made, [(5.0, 3.0, 7.0)] * 2) == ("all", "For b: all.")
    assert told(made, [(5.0, 1.0, 7.0)] * 2) == ("other", "For c: other.")


def test_of_several_mistakes_that_fit_one_output_those_that_spoil_a_right_one_are_dropped():
    misconceptions = {"both": [[(2.0, 2.0)] * 2], "b_alone": [[(1.0, 2.0)] * 2], "b_too": [[(3.0, 2.0)] * 2]}
    outputs, facets = [*OUTPUTS, Output("c")], [*BY_OUTPUT, Facet("c", outputs=("c",))]
    three = {name: [[(*two, 1.0) for two in variant] for variant in v] for name, v in misconceptions.items()}
    made = checks([ORDINARY] * 2, outputs, [(1.0, 1.0, 1.0)] * 2, three, facets)
    assert told(made, [(1.0, 2.0, 9.0)] * 2) == ("b_alone", "For b: b_alone.")
    assert told(made, [(9.0, 2.0, 1.0)] * 2) is None  # a is wrong in another way: each of the three may be behind b


def test_where_all_that_fit_spoil_a_right_output_none_is_named():
    misconceptions = {"first": [[(2.0, 2.0)] * 2], "second": [[(3.0, 2.0)] * 2]}
    made = checks([ORDINARY] * 2, OUTPUTS, [(1.0, 1.0)] * 2, misconceptions, BY_OUTPUT)
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
    text = "Every result is right, but they come in another order. Due is `return a, b, c`."
    assert told(made, swapped) == told(made, turned) == ("order", text)
    assert told(made, [swapped[0], due[1]]) is None
    assert told(made, [(2.0, 1.0, np.ones(2)), (4.0, 3.0, np.ones(3))]) == ("first", "For a and c: first.")
    swaps = [(2.0, 1.0), (4.0, 3.0)]
    made = checks([ORDINARY] * 2, OUTPUTS, [(1.0, 2.0), (3.0, 4.0)], {"swaps": [swaps]}, BY_OUTPUT)
    assert told(made, swaps) == ("swaps", "swaps.")  # an exercise's own words come first


def test_right_results_with_a_changed_input_are_not_in_another_order():
    made = checks([Case({}, {"x": 1.0})], OUTPUTS, [(1.0, 1.0)], facets=BY_OUTPUT)
    assert diagnosed(made, [Observation((1.0, 1.0), changed=("x",))]) is None


def test_a_mistake_that_changes_an_input_is_told_from_one_that_does_not():
    in_place = Observation(2.0, changed=("x",))
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


def test_what_an_exercise_builds_on_comes_after_its_own_mistakes_and_before_patterns():
    made = checks([ORDINARY] * 2, H, [1.0, 2.0], {"first": [[3.0, 3.0]]})
    assert diagnosed(made, [3.0, 3.0], ["f"]) == "first"
    assert diagnosed(made, [-1.0, -2.0], ["f"]) == "needs"
    assert diagnosed(made, [-1.0, -2.0]) == "sign"
    assert diagnosed(made, [1.0, 2.0], ["f"]) is None


@pytest.mark.parametrize(
    ("needs", "text"),
    [
        (["f"], "`f`, which this builds on, was not right when last checked. Mend it first, then check again."),
        (
            ["f", "g"],
            "`f` and `g`, which this builds on, were not right when last checked. Mend them first, then check again.",
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


def test_among_ids_all_that_is_wrong_must_have_its_cause():
    of_ids = checks([ORDINARY, EDGE], H, [1, 2], {"first": [[1, 5]]}, BY_KIND)
    assert diagnosed(of_ids, [1, 5]) == "first"
    assert diagnosed(of_ids, [9, 5]) is None  # 5 may have come about in any way
    two = checks([ORDINARY, EDGE], H, [1, 2], {"first": [[1, 5]], "second": [[9, 2]]}, BY_KIND)
    assert diagnosed(two, [9, 5]) == "second"
    of_numbers = checks([ORDINARY, EDGE], H, [1.0, 2.0], {"first": [[1.0, 5.0]]}, BY_KIND)
    assert diagnosed(of_numbers, [9.0, 5.0]) == "first"


@pytest.mark.parametrize("change", [lambda e: 2 * e, lambda e: -e, lambda e: e.astype("f4"), lambda e: np.roll(e, 1)])
def test_patterns_of_numbers_are_not_looked_for_among_ids(change):
    cases = [Case({"T": 4}, {}), Case({"T": 5}, {})]
    expected = [np.array([3, 1, 2, 1]), np.array([2, 2, 1, 3, 1])]
    made = checks(cases, [Output("ids", ("T",))], expected)
    assert diagnosed(made, [change(e) for e in expected]) is None


# Changed inputs -------------------------------------------------------------------------------------------------------


def changing(value, *names):
    return Observation(freeze(value), changed=names)


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
    assert diagnosed(made, [Observation(freeze(d), changed=("x",)) for d in due]) is None
    assert diagnosed(made, first) == "first"


def test_a_single_result_that_is_right_at_its_first_step_shows_nothing():
    """Of several cases where one alone is wrong, it may be so by chance."""
    cases = [Case(s, {}) for s in SIZES]
    expected = [RNG.normal(size=tuple(s.values())) for s in SIZES]
    made = checks(cases, [Output("h", ("B", "T", "H"))], expected)
    changed = [right_at_first(e, s) for e, s in zip(expected, SIZES, strict=True)]
    assert diagnosed(made, changed) == "first_step_only"
    assert diagnosed(made, [changed[0], *expected[1:]]) is None
