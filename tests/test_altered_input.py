"""Mistreated inputs and extra operations on the result: what is recorded, what is reported, and what is not."""

import time
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import grader.spec.altered_inputs
from grader.checking.case import DEFAULT_TOLERANCE, WHOLE, Case, Checks, Facet, Observation, Output
from grader.checking.diagnose import diagnose
from grader.checking.diagnose.altered_input import WORDS, fingerprints, is_evidence, message, same
from grader.checking.diagnose.operations import ALONG, OF_ARRAYS, OF_KIND, OF_SEQUENCES
from grader.checking.drivers import drive
from grader.checking.judge import judge
from grader.codec import Fixture, Opaque, Raised, decode, encode, freeze
from grader.released import cases_tree, checks_from_trees, outputs_tree
from grader.spec.altered_inputs import altered_cases, altered_inputs
from grader.spec.compute import defaults_of
from grader.spec.gates import Gates, altered_gates
from tests.loops import for_each

RNG = np.random.default_rng(5)
SIZES = ({"B": 2, "T": 4, "H": 3}, {"B": 3, "T": 6, "H": 2}, {"B": 5, "T": 3, "H": 4})


def inputs(**axes):
    """Cases of random arrays: inputs(x='BTH')."""
    return [Case(s, {name: RNG.normal(size=[s[a] for a in of]) for name, of in axes.items()}) for s in SIZES]


Y = (Output("y"),)


def checks(oracle, cases, outputs=Y, facets=WHOLE, gates=()):
    """What a release records, and what a student's notebook reads again."""
    expected = tuple(drive("call", oracle, case) for case in cases)
    assert not any(o.raised for o in expected), expected
    made = Checks("f", "call", tuple(outputs), DEFAULT_TOLERANCE, tuple(facets), tuple(cases), expected)
    run = partial(drive, "call", oracle)
    more = []
    for each in gates:
        inside = [(name, order, partial(drive, "call", way)) for name, order, way in each.ways()]
        more += altered_gates(each, made.cases, made.outputs, run, inside)
    made = replace(made, altered_inputs=altered_inputs(made, defaults_of(oracle), run, more))
    return checks_from_trees("f", *(decode(encode(tree(made))) for tree in (cases_tree, outputs_tree)), None, "")


def said(made, student):
    """The id and the text of what a student is told; `student` is a function, or a result for each case."""
    results = [drive("call", student, case) for case in made.cases] if callable(student) else student
    observations = tuple(o if isinstance(o, Observation) else Observation(freeze(o)) for o in results)
    judged = tuple(judge(made, index, o) for index, o in enumerate(observations))
    found = diagnose(made, observations, judged, {}, ())
    return found and (found.id, found.text)


def named(made, student):
    found = said(made, student)
    return found and found[0].removeprefix("altered input: ")


# Slips on inputs ------------------------------------------------------------------------------------------------------


def affine(x, W, b, h):
    """x (B, H), W (H, H), b (H,), h (B, H) → (B, H); each input has a part that no other could play."""
    return np.tanh(x @ W + b) + 0.3 * h * h + 0.1 * h + np.sin(x)


def added_up(x, s):
    return np.einsum("btd,bte->de", np.exp(x), x)


def over_time(x, s):
    """x (B, T, H), s (B,) → (B, T, H): each step depends on all before it."""
    return np.cumsum(np.sin(x), axis=1) * (1 + s[:, None, None] ** 2) + np.cumsum(x, axis=1) ** 2


def scaled(x, factor=2.0, steps=3, flag=False):
    return np.tanh(x * factor) + steps + (x * x if flag else x)


def of_lengths(x, lengths):
    """x (B, T, H), lengths (B,) → (B, H), a weighted sum of the first steps of each row."""
    return np.stack([np.arange(1, len(row[:n]) + 1) @ row[:n] for row, n in zip(x, lengths, strict=True)])


def with_lengths():
    found = inputs(x="BTH")
    for case, lengths in zip(found, ([2, 4], [4, 2, 5], [2, 1, 2, 2, 1]), strict=True):
        case.inputs["lengths"] = np.array(lengths)
    return found


def masked(x, mask):
    return np.sin(np.where(mask, x, 0.0)).sum(axis=1) + mask[:, 0] * x[:, 0]


def with_masks():
    masks = (RNG.uniform(size=(n, n)) > 0.4 for n in (3, 4, 5))
    return [Case({"N": len(m)}, {"x": RNG.normal(size=m.shape), "mask": m}) for m in masks]


def summed(layers):
    """layers: a list of dicts of W (H, H) and b (H,) → (H,)."""
    state = np.ones(len(layers[0]["b"]))
    for layer in layers:
        state = np.tanh(state @ layer["W"] + layer["b"] ** 3)
    return state


def with_layers():
    return [
        Case({"H": h}, {"layers": [{"W": RNG.normal(size=(h, h)), "b": RNG.normal(size=h)} for _ in range(n)]})
        for h, n in ((3, 2), (4, 3), (2, 4))
    ]


def joined(sequences):
    return [sum((10 ** (len(s) - i)) * n for i, n in enumerate(s)) for s in sequences]


def with_sequences():
    return [Case({}, {"sequences": s}) for s in ([[1, 2], [3, 4, 5]], [[7, 1, 3], [2, 9], [4, 8]], [[5, 3, 1], [6, 2]])]


def weighted(counts):
    return {key: float(np.log(n + len(key))) for key, n in counts.items()}


def with_counts():
    return [Case({}, {"counts": c}) for c in ({"a": 2, "bb": 5}, {"c": 7, "dd": 3, "e": 2}, {"fff": 4})]


def applied(x, f, g):
    return f(x) + g(f(x)) ** 2


def with_functions():
    def draw(h):
        return Fixture("affine", {"weight": RNG.normal(size=(h, h)), "bias": RNG.normal(size=h)})

    return [Case({"H": h}, {"x": RNG.normal(size=h), "f": draw(h), "g": draw(h)}) for h in (3, 4, 2)]


def flipped(a):
    return a.swapaxes(-1, -2)


def moved(a, by, fill=0.0):
    """Along time, by one step."""
    b = np.roll(a, by, axis=1)
    b[:, 0 if by > 0 else -1] = fill
    return b


AFFINE, TIMED = inputs(x="BH", W="HH", b="H", h="BH"), inputs(x="BTH", s="B")
SCALED = [
    Case(c.sizes, {**c.inputs, **more})
    for c, more in zip(inputs(x="BH"), ({}, {"factor": 3.0}, {"flag": True}), strict=True)
]
LENGTHS, MASKS, LAYERS = with_lengths(), with_masks(), with_layers()
SEQUENCES, COUNTS, FUNCTIONS = with_sequences(), with_counts(), with_functions()

# The oracle, its cases, what becomes of the inputs, and the alteration that this is.
SLIPS = [
    (affine, AFFINE, {"W": np.zeros_like}, "zeros W"),
    (affine, AFFINE, {"b": np.ones_like}, "ones b"),
    (affine, AFFINE, {"b": lambda b: 2 * b}, "doubled b"),
    (affine, AFFINE, {"h": np.negative}, "negated h"),
    (affine, AFFINE, {"W": flipped}, "transposed W"),
    (affine, AFFINE, {"h": lambda h: np.exp(h) / np.exp(h).sum(axis=1, keepdims=True)}, "softmax h"),
    (affine, AFFINE, {"h": lambda h: np.repeat(h[:1], len(h), 0)}, "first_row h"),
    (over_time, TIMED, {"x": lambda x: moved(x, 1)}, "late x"),
    (over_time, TIMED, {"x": lambda x: moved(x, 1, x[:, 0])}, "late x"),
    (over_time, TIMED, {"x": lambda x: np.roll(x, 1, 1)}, "late x"),
    (over_time, TIMED, {"x": lambda x: moved(x, -1)}, "early x"),
    (over_time, TIMED, {"x": lambda x: x[:, ::-1]}, "backward x"),
    (over_time, TIMED, {"x": lambda x: np.repeat(x[:, :1], x.shape[1], 1)}, "first_step x"),
    (over_time, TIMED, {"x": lambda x: np.repeat(x[:, -1:], x.shape[1], 1)}, "last_step x"),
    (over_time, TIMED, {"x": lambda x: x * (np.arange(x.shape[1]) > 0)[:, None]}, "first_step_zero x"),
    (over_time, TIMED, {"x": lambda x: x * (np.arange(x.shape[1])[::-1] > 0)[:, None]}, "last_step_zero x"),
    (over_time, TIMED, {"x": lambda x: x.swapaxes(0, 1).reshape(x.shape)}, "mixed x"),
    (over_time, TIMED, {"x": lambda x: x.reshape(*x.shape[1::-1], -1).swapaxes(0, 1)}, "mixed x"),
    (added_up, TIMED, {"x": lambda x: x[:1]}, "only_first row of the batch"),
    (added_up, TIMED, {"x": lambda x: x[-1:]}, "only_last row of the batch"),
    (added_up, TIMED, {"x": lambda x: x[:, :1]}, "only_first time step"),
    (added_up, TIMED, {"x": lambda x: x[:, -1:]}, "only_last time step"),
    (scaled, SCALED, {"factor": lambda f: 2.0}, "default factor"),
    (scaled, SCALED, {"factor": lambda f: 0.0}, "zero factor"),
    (scaled, SCALED, {"factor": lambda f: 1.0}, "one factor"),
    (scaled, SCALED, {"factor": lambda f: -f}, "negated factor"),
    (scaled, SCALED, {"factor": lambda f: 1 / f}, "inverse factor"),
    (scaled, SCALED, {"factor": lambda f: 1 - f}, "one_minus factor"),
    (scaled, SCALED, {"steps": lambda n: 0}, "zero steps"),
    (scaled, SCALED, {"steps": lambda n: 1}, "one steps"),
    (scaled, SCALED, {"steps": lambda n: n + 1}, "more steps"),
    (scaled, SCALED, {"steps": lambda n: n - 1}, "less steps"),
    (scaled, SCALED, {"flag": lambda f: not f}, "inverted flag"),
    (scaled, SCALED, {"flag": lambda f: True}, "true flag"),
    (scaled, SCALED, {"flag": lambda f: False}, "default flag"),
    (of_lengths, LENGTHS, {"lengths": lambda n: n + 1}, "more lengths"),
    (of_lengths, LENGTHS, {"lengths": lambda n: n - 1}, "less lengths"),
    (of_lengths, LENGTHS, {"lengths": lambda n: np.maximum(n - 1, 1)}, "less lengths"),
    (of_lengths, LENGTHS, {"lengths": lambda n: n + 100}, "all_T lengths"),
    (masked, MASKS, {"mask": np.ones_like}, "true mask"),
    (masked, MASKS, {"mask": np.logical_not}, "inverted mask"),
    (masked, MASKS, {"mask": np.transpose}, "transposed mask"),
    (summed, LAYERS, {"layers": lambda v: [{**a, "b": 0 * a["b"]} for a in v]}, "zeros b in layers"),
    (summed, LAYERS, {"layers": lambda v: [{**a, "W": a["W"].T} for a in v]}, "transposed W in layers"),
    (summed, LAYERS, {"layers": lambda v: v[::-1]}, "reversed layers"),
    (summed, LAYERS, {"layers": lambda v: v[:1]}, "first layers"),
    (summed, LAYERS, {"layers": lambda v: v[-1:]}, "last layers"),
    (summed, LAYERS, {"layers": lambda v: v[1:]}, "without_first layers"),
    (summed, LAYERS, {"layers": lambda v: v[:-1]}, "without_last layers"),
    (joined, SEQUENCES, {"sequences": lambda v: [s[::-1] for s in v]}, "reversed each entry of sequences"),
    (weighted, COUNTS, {"counts": lambda c: dict.fromkeys(c, 1)}, "counts counts"),
]


@for_each(("oracle", "cases", "changes", "alteration"), SLIPS)
def test_a_mistaken_input_is_named(oracle, cases, changes, alteration):
    made = checks(oracle, cases)
    defaults = defaults_of(oracle)

    def student(**given):
        given = {**defaults, **given}
        return oracle(**{name: changes.get(name, lambda v: v)(value) for name, value in given.items()})

    assert named(made, student) == alteration
    assert named(made, oracle) is None


def test_inputs_that_could_stand_for_each_other():
    made = checks(affine, AFFINE)
    assert named(made, lambda x, W, b, h: affine(h, W, b, x)) == "exchanged x, h"
    assert named(made, lambda x, W, b, h: affine(x, W, b, x)) == "in_place_of x, h"
    assert named(made, lambda x, W, b, h: affine(h, W, b, h)) == "in_place_of h, x"
    made = checks(applied, FUNCTIONS)
    assert named(made, lambda x, f, g: applied(x, g, f)) == "exchanged f, g"
    assert named(made, lambda x, f, g: applied(x, f, f)) == "in_place_of f, g"


def test_a_function_is_exchanged_and_never_altered():
    given = {(id(case.inputs["f"]), id(case.inputs["g"])) for case in FUNCTIONS}
    for alteration in altered_cases(FUNCTIONS, {}):
        assert {id(f) for case in alteration.cases for f in (case.inputs["f"], case.inputs["g"])} <= set().union(*given)


def test_every_alteration_has_words_and_every_word_its_alteration():
    everything = [
        (AFFINE, {}),
        (TIMED, {}),
        (SCALED, {"factor": 2.0, "flag": False}),
        (LENGTHS, {}),
        (MASKS, {}),
        (LAYERS, {}),
        (COUNTS, {}),
        ([Case({"S": 3}, {"ids": np.array([1, 2, 0])})], {}),
    ]
    made = {a.alteration: a.words for cases, defaults in everything for a in altered_cases(cases, defaults)}
    of_gates = altered_gates(
        Gates("abc", ["b"], ["y"]), [Case({}, {"b": np.arange(6.0)})], Y, partial(drive, "call", np.tanh)
    )
    made |= {a.alteration: a.words for a in of_gates}
    assert made.keys() == WORDS.keys()
    for alteration, words in made.items():
        for text in WORDS[alteration]:
            assert "{" not in text.format(*words)


def test_what_a_student_reads():
    made = checks(affine, AFFINE)
    assert said(made, lambda x, W, b, h: affine(x, 0 * W, b, h)) == (
        "altered input: zeros W",
        "This is the result you get if `W` is all zeros. Is the given `W` used?",
    )


# Slips that cannot be told apart --------------------------------------------------------------------------------------


def test_twins_are_named_together():
    made = checks(lambda x, h: np.tanh(x[:, :1] * h[:, :1] + x), inputs(x="BH", h="BH"))  # x alone stands too
    assert named(made, lambda x, h: np.tanh(x)) == "zeros h"
    made = checks(lambda x, W: np.tanh(x @ W + 1), inputs(x="BH", W="HH"))
    assert said(made, lambda x, W: np.tanh(1 - x @ W)) == (
        "altered input: negated x | negated W",
        "This is the result you get if `x` or `W` has the opposite sign. Check both.",
    )
    two = next(c for c in made.altered_inputs if len(c.alterations) == 2)
    unlike = replace(two, alterations=(("late", ("`x`",)), ("early", ("`y`",))))
    assert (
        message(unlike)
        == "This is the result you get if `x` comes one step late or if `y` comes one step early. Check both."
    )


def test_of_more_than_two_nothing_is_said_not_even_by_another_alteration():
    cases = inputs(x="BH", W="HH", h="BH")
    made = checks(lambda x, W, h: np.tanh((x @ W) * h + 1), cases)
    assert max(len(c.alterations) for c in made.altered_inputs) == 3
    assert named(made, lambda x, W, h: np.tanh(1 - (x @ W) * h)) is None


@pytest.mark.parametrize(
    "oracle",
    [
        lambda x, W: x @ W,  # twice x is twice the result, minus x is minus the result; x = 0 is 0 all over
        lambda x, W: (x @ W) ** 2,
    ],
)
def test_what_has_a_plainer_name_is_not_recorded(oracle):
    kinds = {
        alteration for c in checks(oracle, inputs(x="BH", W="HH")).altered_inputs for alteration, _ in c.alterations
    }
    assert kinds
    assert not kinds & {"zeros", "doubled", "negated"}


def test_what_is_the_right_result_or_its_transpose_or_no_number_is_not_recorded():
    cases = inputs(W="HH")
    assert checks(lambda W: np.tanh(W), cases).altered_inputs  # softmax, for one
    alterations = {
        alteration for c in checks(lambda W: np.tanh(W), cases).altered_inputs for alteration, _ in c.alterations
    }
    assert not alterations & {"transposed", "negated"}
    assert "negated" not in {s for c in checks(lambda W: W * W + 1, cases).altered_inputs for s, _ in c.alterations}
    assert not checks(lambda W: np.log(W * 0 + 1) + 1, cases).altered_inputs
    roots = checks(lambda W: np.sqrt(W + 100.0), cases)
    assert "negated" in {s for c in roots.altered_inputs for s, _ in c.alterations}
    with np.errstate(invalid="ignore"):
        spoilt = checks(lambda W: np.sqrt(W), [replace(c, inputs={"W": np.abs(c.inputs["W"])}) for c in cases])
    assert "negated" not in {s for c in spoilt.altered_inputs for s, _ in c.alterations}


def test_the_patterns_keep_their_names():
    """Where a alteration gives the same as a pattern, the pattern is named, as it always was."""
    each = checks(lambda x: np.tanh(x) + 2 * x, inputs(x="BTH"), [Output("y", ("B", "T", "H"))])
    assert "late" in {alteration for c in each.altered_inputs for alteration, _ in c.alterations}
    assert named(each, lambda x: np.tanh(moved(x, 1)) + 2 * moved(x, 1)) == "one_step_late"
    assert named(each, lambda x: (np.tanh(x) + 2 * x).astype("f4")) == "float32"
    assert named(each, lambda x: 3 * np.tanh(x) + 6 * x) == "constant_factor"


# Several results ------------------------------------------------------------------------------------------------------

THREE = [Output("p", ("B", "H")), Output("q", ("B", "H")), Output("r", ("B", "H"))]
FACETS = [Facet(o.name, outputs=(o.name,)) for o in THREE]


def three(x, h, k):
    return np.tanh(x) + h, np.cos(x) * np.exp(h) + x, np.sin(h) + k**2 + k


TRIPLES = inputs(x="BH", h="BH", k="BH")


def but(**changed):
    """The right results, some of them made from other inputs or exchanged: but(p=lambda x, h, k: …)."""

    def student(x, h, k):
        results = dict(zip("pqr", three(x, h, k), strict=True))
        return tuple(changed[n](x, h, k) if n in changed else v for n, v in results.items())

    return student


@pytest.mark.parametrize("facets", [FACETS, WHOLE], ids=["a facet for each", "one facet"])
def test_a_slip_that_explains_a_part_says_which(facets):
    made = checks(three, TRIPLES, THREE, facets)
    both = said(made, but(p=lambda x, h, k: three(0 * x, h, k)[0], q=lambda x, h, k: three(0 * x, h, k)[1]))
    assert both == ("altered input: zeros x", "This is the result you get if `x` is all zeros. Is the given `x` used?")
    part = said(made, but(q=lambda x, h, k: three(0 * x, h, k)[1]))
    assert part[1] == "For q: This is the result you get if `x` is all zeros. Is the given `x` used?"
    half = but(q=lambda x, h, k: three(0 * x, h, k)[1], r=lambda x, h, k: np.exp(h) * x)
    assert said(made, half)[1].startswith("For q: This is the result you get if `x` is all zeros")


def test_a_slip_that_explains_less_than_half_is_not_named():
    made = checks(three, TRIPLES, THREE, FACETS)
    less = but(p=lambda x, h, k: h * h, q=lambda x, h, k: three(0 * x, h, k)[1], r=lambda x, h, k: np.exp(h) * x)
    assert said(made, less) is None


def test_an_exchange_must_explain_everything():
    made = checks(three, TRIPLES, THREE, FACETS)
    assert named(made, lambda x, h, k: three(h, x, k)) == "exchanged x, h"
    assert named(made, but(p=lambda x, h, k: three(h, x, k)[0])) is None


def test_of_several_alterations_those_that_would_have_spoilt_a_right_output_are_dropped():
    def oracle(x, h):
        return np.tanh(x) + np.cos(h), np.sin(x) + x, np.tanh(h)

    def partly(x, h):
        return np.tanh(0 * x) + np.cos(h), np.sin(x) + x, np.tanh(h)

    cases = inputs(x="BH", h="BH")
    assert named(checks(oracle, cases, THREE, FACETS), partly) == "zeros x"  # alone it is named all the same
    made = checks(oracle, cases, THREE, FACETS)
    (zeros,) = [c for c in made.altered_inputs if c.alterations == (("zeros", ("`x`",)),)]
    only_p = replace(
        zeros, alterations=(("ones", ("`z`",)),), fingerprints=np.where([True, False, False], zeros.fingerprints, 0)
    )
    two = replace(made, altered_inputs=(*made.altered_inputs, only_p))
    assert named(two, partly) == "ones z"
    spoils = replace(
        zeros, alterations=(("ones", ("`z`",)),), fingerprints=np.where([True, False, True], zeros.fingerprints, 1.0)
    )
    assert named(replace(made, altered_inputs=(*made.altered_inputs, spoils)), partly) is None


# Guards ---------------------------------------------------------------------------------------------------------------


def picked(x, k):
    return (10 * np.abs(x[:, 0])).astype(np.int64) % 5 + k


def test_ids_that_agree_in_too_few_places_name_nothing():
    def ids(*lengths):
        return [Case({"B": n}, {"x": RNG.normal(size=(n, 3)), "k": 1 + i}) for i, n in enumerate(lengths)]

    def student(x, k):
        return picked(x, 0)

    assert named(checks(picked, ids(2, 3)), student) is None
    assert named(checks(picked, ids(2, 4)), student) == "zero k"
    assert named(checks(picked, ids(1, 1, 1)), student) == "zero k"


def test_what_is_evidence():
    right, wrong = np.array([1.0, 2.0]), np.array([1.0, 3.0])
    assert is_evidence([(0, right, wrong)])
    assert not is_evidence([(0, right, 0 * right)])
    assert not is_evidence([(0, right, np.nan * right)])
    assert not is_evidence([(0, ["a", "b"], ["a", "c"])])
    assert is_evidence([(i, ["a", "b"], ["a", "c"]) for i in range(3)])
    assert not is_evidence([(0, [([1], 0.5)], [([2], 0.5)])])  # the score is right: an id agrees, perhaps by chance
    assert is_evidence([(0, [([1], 0.5)], [([2], 0.6)])])
    assert not is_evidence([(0, [1, 2], [])])


def test_a_changed_input_is_another_mistake():
    made = checks(affine, AFFINE)

    def student(x, W, b, h):
        return Observation(freeze(affine(x, 0 * W, b, h)), changed=("x",))

    assert said(made, [student(**case.inputs) for case in AFFINE]) is None


def test_a_student_may_stop_where_an_input_runs_past_the_end():
    made = checks(of_lengths, LENGTHS)

    def student(x, lengths):
        return np.stack([sum((t + 1) * row[t] for t in range(n + 1)) for row, n in zip(x, lengths, strict=True)])

    stops = [drive("call", student, case).raised is not None for case in LENGTHS]
    assert any(stops)
    assert not all(stops)
    assert named(made, student) == "more lengths"

    def stops_too(x, lengths):
        if len(x) == 3:
            raise ValueError
        return of_lengths(x, np.full_like(lengths, x.shape[1]))

    assert named(made, stops_too) is None


def test_an_oracle_that_stops_where_the_student_does():
    def oracle(x, n):
        return np.tanh(x.reshape(n, -1).sum(axis=0)) + n

    cases = [Case({"H": h}, {"x": RNG.normal(size=h), "n": n}) for h, n in ((6, 3), (8, 4), (5, 5), (12, 4))]
    made = checks(oracle, cases)
    assert [np.isnan(c.fingerprints).any() for c in made.altered_inputs if ("less", ("`n`",)) in c.alterations] == [
        True
    ]
    assert named(made, lambda x, n: oracle(x, n - 1)) == "less n"


def test_an_oracle_that_does_not_end_is_stopped(monkeypatch):
    monkeypatch.setattr(grader.spec.altered_inputs, "SECONDS", 0.05)

    def oracle(x, n):
        total = np.tanh(x)
        while n != 0:  # for a negative n, without end
            total, n = total + np.sin(total) / n, n - 1
        return total

    cases = [Case(c.sizes, {**c.inputs, "n": 1 + i}) for i, c in enumerate(inputs(x="BH"))]
    cases[0].inputs["n"] = 0
    start = time.perf_counter()
    made = checks(oracle, cases)
    assert time.perf_counter() - start < 5
    alterations = {alteration for c in made.altered_inputs for alteration, words in c.alterations if words == ("`n`",)}
    assert alterations == {"zero", "one", "more"}
    time.sleep(0.06)  # no alarm is left


def test_who_swallows_the_alarm_is_not_believed(monkeypatch):
    """The driver catches what an oracle raises; that it ran too long shows all the same."""
    monkeypatch.setattr(grader.spec.altered_inputs, "SECONDS", 0.05)
    alteration = grader.spec.altered_inputs.AlteredCases("zeros", ("`x`",), (AFFINE[0], AFFINE[0]))
    answers = grader.spec.altered_inputs._answers(
        alteration, lambda case: drive("call", lambda **k: time.sleep(1), case), [({}, Observation())] * 2
    )
    assert answers == []


# Marks ----------------------------------------------------------------------------------------------------------------

ONE = Checks("f", "call", (Output("y"),), DEFAULT_TOLERANCE, WHOLE, ())


def alike(a, b):
    (ours, _), (theirs, spread) = (fingerprints(ONE, [Observation(value)]) for value in (a, b))
    return bool(same(ours, theirs, spread).all())


VALUES = [
    np.arange(6.0),
    np.arange(6.0).reshape(2, 3),
    np.arange(6.0).reshape(3, 2),
    np.arange(6.0).astype("f4"),
    np.arange(6.0)[::-1],
    np.arange(6.0) + 1e-6,
    np.arange(6),
    np.arange(6) > 2,
    np.array([0, 1, 2, 3, np.nan, 5]),
    np.array([0, 1, 2, 3, np.inf, 5]),
    np.array([0, 1, 2, 3, -np.inf, 5]),
    np.array([0, 1, 2, 3, 1e300, 5]),
    np.zeros(0),
    0.0,
    1.5,
    True,
    None,
    "",
    "text",
    ["text"],
    [1, 2],
    [[1], 2],
    [np.arange(3.0), np.arange(3.0, 6.0)],
    {"a": 1.0},
    {"b": 1.0},
    {"a": 1.0, "b": 2.0},
    {"a": 2.0, "b": 1.0},
]


def test_only_equal_results_have_one_mark():
    for i, a in enumerate(VALUES):
        for j, b in enumerate(VALUES):
            assert alike(a, b) == (i == j), (a, b)


def test_fingerprints_see_what_the_judge_sees():
    assert alike(2, 2.0)
    assert alike(np.float64(2.0), 2.0)
    assert alike(np.array([1, 2]), np.array([1, 2], dtype=np.int32))
    assert alike((1.0, 2.0), [1.0, 2.0])
    assert alike(np.arange(6.0), np.arange(6.0) * (1 + 1e-12))
    assert alike({"a": 1.0, "b": 2.0}, {"b": 2.0, "a": 1.0})


def test_what_is_no_plain_value_is_like_nothing_that_was_returned():
    assert not alike(Opaque("Tensor"), 1.0)
    opaque, raised = Observation(Opaque("Tensor")), Observation(raised=Raised("E", ""))
    assert np.isnan(fingerprints(ONE, [opaque, raised])[0]).all()


def test_the_last_bits_of_another_machine_name_the_same():
    made = checks(affine, AFFINE)
    noise = 1 + 1e-13 * RNG.uniform(-1, 1, size=100)
    elsewhere = replace(
        made,
        expected=tuple(replace(o, result=o.result * noise[: o.result.shape[1]]) for o in made.expected),
        altered_inputs=tuple(
            replace(c, fingerprints=np.nextafter(c.fingerprints, np.float32(np.inf)) * (c.fingerprints != 0))
            for c in made.altered_inputs
        ),
    )
    for c in (made, elsewhere):
        assert named(c, lambda x, W, b, h: affine(x, 0 * W, b, h)) == "zeros W"


# Things done at the end -----------------------------------------------------------------------------------------------

ARRAYS = [RNG.normal(size=shape) for shape in ((2, 4, 3), (3, 1, 2), (5, 3, 4))]
TOKENS = [["a", "b", "c"], ["d", "e"], ["f", "g", "h"]]


def at_end(due, change, axes=()):
    """What is said where `change` of what is due comes back."""
    made = Checks("f", "call", (Output("y", axes),), DEFAULT_TOLERANCE, WHOLE, tuple(Case({}, {}) for _ in due))
    return said(replace(made, expected=tuple(Observation(freeze(d)) for d in due)), [change(d) for d in due])


def expand(softmax_of):
    return np.exp(softmax_of) / np.exp(softmax_of).sum(axis=2, keepdims=True)


AFTERS = {
    "exponential": (ARRAYS, np.exp),
    "exponential missing": ([np.exp(a) for a in ARRAYS], np.log),
    "square": (ARRAYS, np.square),
    "square missing": ([np.abs(a) for a in ARRAYS], np.sqrt),
    "tanh": (ARRAYS, np.tanh),
    "tanh missing": ([np.tanh(a) for a in ARRAYS], np.arctanh),
    "sigmoid": (ARRAYS, lambda a: 1 / (1 + np.exp(-a))),
    "absolute value": (ARRAYS, np.abs),
    "complement": (ARRAYS, lambda a: 1 - a),
    "one more": ([np.arange(4), np.arange(5)], lambda a: a + 1),
    "one more missing": ([np.arange(4), np.arange(5)], lambda a: a - 1),
    "inverted": ([a > 0 for a in ARRAYS], np.logical_not),
    "reversed": (TOKENS, lambda v: v[::-1]),
    "[0]": ([[[1.5], [2.5]], [[3.5], [4.5]]], lambda v: v[0]),
    "[0] missing": (ARRAYS, lambda a: (a, 3)),
    "[-1] missing": (ARRAYS, lambda a: (3, a)),
    "[1:]": (TOKENS, lambda v: v[1:]),
    "[:-1] missing": (TOKENS, lambda v: [*v, "eos"]),
    "squeeze": (ARRAYS, np.squeeze),
    "flat": (ARRAYS, np.ravel),
    "reshape": ([a[0] for a in ARRAYS], lambda a: a.T.reshape(a.shape)),
    "sum": (ARRAYS, np.sum),
    "mean": (ARRAYS, np.mean),
    "mean missing": ([a.mean() for a in ARRAYS], lambda m: np.array([[m + 1, m - 1]])),
    "squeeze of axis=-1 missing": (ARRAYS, lambda a: a[..., None]),
    "softmax along H": (ARRAYS, expand),
    "softmax along axis=-1 missing": ([expand(a) for a in ARRAYS], lambda p: np.log(p) + 1),
    "argmax along H": (ARRAYS, lambda a: a.argmax(axis=2)),
    "argmax along axis=-1 missing": ([np.arange(4), np.arange(3)], lambda ids: np.eye(5)[ids]),
    "sum over T": (ARRAYS, lambda a: a.sum(axis=1)),
    "sum over B": (ARRAYS, lambda a: a.sum(axis=0, keepdims=True)),
    "mean over H": (ARRAYS, lambda a: a.mean(axis=2)),
    "maximum over H": (ARRAYS, lambda a: a.max(axis=2)),
    "running sum along T": (ARRAYS, lambda a: a.cumsum(axis=1)),
    "first entry along T": (ARRAYS, lambda a: a[:, 0]),
    "last entry along T": (ARRAYS, lambda a: a[:, -1]),
    "last entry along axis=-2 missing": ([a[:, -1] for a in ARRAYS], lambda a: np.stack([a + 1, a], axis=1)),
    "all but the first entry along T": (ARRAYS, lambda a: a[:, 1:]),
    "all but the first entry along axis=-2 missing": (ARRAYS, lambda a: np.concatenate([a[:, :1] + 1, a], axis=1)),
    "reversed along T": (ARRAYS, lambda a: a[:, ::-1]),
    "shifted along H": (ARRAYS, lambda a: np.roll(a, -1, axis=2)),
    "axes B and T exchanged": (ARRAYS, lambda a: a.swapaxes(0, 1)),
}


@for_each("name", AFTERS)
def test_what_was_done_at_the_end_is_named(name):
    due, change = AFTERS[name]
    axes = ("B", "T", "H") if due and np.ndim(due[0]) == 3 and isinstance(due[0], np.ndarray) else ()
    found = at_end(due, change, axes)
    assert found is not None
    assert found[0] == f"after: {name}"
    assert "{" not in found[1]


def test_it_is_named_whatever_the_size_of_integers_is():
    found = at_end([np.arange(4), np.arange(5)], lambda ids: (ids + 1).astype(np.int32))
    assert found is not None
    assert found[0] == "after: one more"


def test_every_after_is_a_name_of_its_own():
    names = [a.name for some in (*OF_KIND.values(), OF_ARRAYS, ALONG) for a in some]
    assert {name for name in names if names.count(name) > 1} == {"sum over {}", "mean over {}", "shifted along {}"}
    assert len({a.name for a in OF_SEQUENCES}) == len(OF_SEQUENCES)


def test_an_input_given_back_is_told():
    cases = inputs(x="BH")
    made = checks(lambda x: np.tanh(x) * 2 + 1, cases)
    assert said(made, lambda x: x) == ("after: is x", "Your result is `x` itself.")


NOTHING = {
    "once is no evidence": (ARRAYS[:1], np.exp),
    "in all cases but one": (ARRAYS, lambda a: np.exp(a) if len(a) < 5 else a + 1),
    "where one case is right": (ARRAYS, lambda a: np.exp(a) if len(a) < 5 else a),
    "one number all over": (ARRAYS, lambda a: 0 * a),
    "no number": (ARRAYS, lambda a: np.nan * a),
    "ids, in five places": ([np.arange(2), np.arange(3)], lambda a: a + 1),
    "two things": (ARRAYS, lambda a: np.tanh(np.exp(a))),
    "nothing": (ARRAYS, lambda a: None),
    "text": (ARRAYS, lambda a: "text"),
    "too many axes": (ARRAYS, lambda a: a[:, :, :, None, None]),
    "too large": ([np.zeros((400, 300)) + i for i in range(2)], np.exp),
}


@for_each("name", NOTHING)
def test_nothing_is_said_without_evidence(name):
    assert at_end(*NOTHING[name]) is None


def test_one_squeezed_result_is_told():
    """Mostly one case alone has a size of 1."""
    assert at_end(ARRAYS[1:], lambda a: a.squeeze())[0] == "after: squeeze"


def test_in_one_output_of_several():
    made = checks(three, TRIPLES, THREE, FACETS)
    assert said(made, but(q=lambda x, h, k: np.exp(three(x, h, k)[1]))) == (
        "after: exponential",
        "For q: Your result is the exponential of the expected one. "
        "Is there one exponential too many, or is a logarithm missing?",
    )
    assert said(made, lambda x, h, k: tuple(np.exp(v) for v in three(x, h, k)))[1].startswith("Your result is the exp")


def test_results_of_wrong_number_or_that_raise_say_nothing_of_the_end():
    made = checks(three, TRIPLES, THREE, FACETS)
    assert said(made, lambda x, h, k: three(x, h, k)[:2]) is None
    observations = [Observation(freeze(tuple(np.exp(v) for v in three(**case.inputs)))) for case in TRIPLES]
    assert said(made, [*observations[:2], Observation(raised=Raised("E", ""))]) is None


# The order in which causes are looked for ----------------------------------------------------------------------------


def test_an_exercise_s_own_mistakes_and_what_it_builds_on_come_first():
    made = checks(affine, AFFINE)

    def student(x, W, b, h):
        return affine(x, 0 * W, b, h)

    observations = tuple(drive("call", student, case) for case in AFFINE)
    judged = tuple(judge(made, i, o) for i, o in enumerate(observations))
    own = replace(made, mistakes={"mine": (observations,)})
    assert diagnose(own, observations, judged, {"mine": "text"}).id == "mine"
    alone = diagnose(made, observations, judged, {})
    assert alone.id == "altered input: zeros W"
    with_g = diagnose(made, observations, judged, {}, ["g"])
    assert with_g.id == alone.id
    warning = " Your code uses `g`, which failed when last checked, so the mistake may be there."
    assert with_g.text == alone.text + warning
    doubtful = replace(made, mistakes={"mine": (observations,), "other": (observations,)})
    assert diagnose(doubtful, observations, judged, {}).id == "altered input: zeros W"


def test_what_is_vague_comes_last():
    made = checks(over_time, TIMED, [Output("y", ("B", "T", "H"))])

    def once_right(x, s):
        y = over_time(x, s)
        y[:, 1:] = np.cos(y[:, 1:])
        return y

    assert named(made, once_right) == "first_step_only"
    assert named(made, lambda x, s: over_time(x, s).cumsum(axis=1)) == "after: running sum along T"
