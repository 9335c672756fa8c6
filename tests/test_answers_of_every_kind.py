"""Answers of every kind that the course's exercises ask for: right ones pass, nearly right ones fail and are told where
and how they differ, a mistake is named where its results come back and nowhere else, and nothing that anybody may
return stops the grader.
"""

import re
import sys
from collections import Counter, OrderedDict, defaultdict, namedtuple
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from grader.checking.case import DEFAULT_TOLERANCE, WHOLE, Case, Checks, Observation, Output
from grader.checking.evaluate import evaluate, observe
from grader.codec import freeze
from grader.manifest import Chapter, Exercise, Notebook, Place
from grader.render.html import verdict_html
from grader.render.text import verdict_text
from tests.loops import for_each

RNG = np.random.default_rng(7)
EXERCISE = Exercise("answer", "An answer", 2.0, "page")
NOTEBOOK = Notebook("first", "First", (EXERCISE,))
PLACE = Place(Chapter("ch01", "One", (NOTEBOOK,), {"page": "The page"}), NOTEBOOK, EXERCISE)
Hypothesis = namedtuple("Hypothesis", "ids score")


@dataclass(frozen=True)
class Kind:
    """What is due on three cases, what one mistake gives, the same answers otherwise written, and nearly right ones:
    each with the name of the slip, what it makes of a right answer, and what its report says of the first case.
    """

    outputs: tuple[Output, ...]
    due: list[Any]
    mistaken: Callable[[Any], Any]
    right_too: list[Callable[[Any], Any]] = field(default_factory=list)
    wrong: dict[str, tuple[Callable[[Any], Any], str]] = field(default_factory=dict)


def one(name, *axes):
    return (Output(name, axes),)


def arrays(*shapes):
    return [RNG.normal(size=shape) for shape in shapes]


def with_entry(value, place, entry):
    """A copy with one entry replaced; `place` is the way to it."""
    made = deepcopy(value)
    if not place:
        return entry
    inside = with_entry(made[place[0]], place[1:], entry)
    if isinstance(made, tuple):
        return (*made[: place[0]], inside, *made[place[0] + 1 :])
    made[place[0]] = inside
    return made


def put(*place, entry):
    return lambda value: with_entry(value, place, entry)


def doubled(*place):
    def change(value):
        inside = value
        for key in place:
            inside = inside[key]
        return with_entry(value, place, inside * 2)

    return change


def backward(value):
    return value[::-1]


TEXT = "the sequence is read from the left to the right, one token at a time, and the state carries it"
GRADS = [arrays((2, 3), (3,)), arrays((3, 2), (2,)), arrays((1, 1), (1,))]
WEIGHTS = [{"W_xh": w, "b_h": b} for w, b in GRADS]

KINDS = {
    "a text": Kind(
        one("text"),
        [TEXT, "ab", ""],
        lambda text: f"{text} ",
        [np.str_],
        {
            "one letter off": (
                lambda t: t.replace("carries", "carried"),
                "text: differs at character 90 (counted from 0): got …'state carried it', expected …'state carries it'",
            ),
            "one letter too few": (
                lambda t: t[:-1],
                "text: differs at character 93 (counted from 0): got …'te carries i', expected …'te carries it'; "
                "93 characters, expected 94",
            ),
            "in capitals": (str.upper, "text: differs at character 0 (counted from 0): got 'THE "),
            "as letters": (list, 'a string; got a list of 94; `"".join(…)` converts it to a string'),
            "as bytes": (str.encode, "a string; got a value of type bytes; `.decode()` converts it to a string"),
            "within a list": (lambda t: [t], "a string; got a list of 1"),
            "an array of letters": (lambda t: np.array(list(t)), "a string; got an array of text, shape (94,)"),
        },
    ),
    "words": Kind(
        one("pieces"),
        [["low", "er", "</w>"], ["ab"], []],
        lambda words: list("".join(words)),
        [tuple, lambda w: list(map(np.str_, w))],
        {
            "one letter off": (
                put(1, entry="es"),
                "pieces: got ['low', 'es', '</w>'], expected ['low', 'er', '</w>']",
            ),
            "one too few": (
                lambda w: w[:-1],
                "got ['low', 'er'], expected ['low', 'er', '</w>']",
            ),
            "in another order": (
                backward,
                "pieces: got ['</w>', 'er', 'low'], expected ['low', 'er', '</w>']",
            ),
            "joined": ("".join, "a list of 3; got 'lower</w>' (str)"),
            "None within": (put(2, entry=None), "pieces[2]: a string; got None"),
            "ids within": (put(0, entry=3), "pieces[0]: a string; got 3 (int)"),
            "nested": (lambda w: [w], "got 1 entry, expected 3; pieces[0]: a string; got a list of 3"),
            "a generator": (
                reversed,
                "a list of 3; got a value of type list_reverseiterator; `list(…)` converts it to a list",
            ),
            "a set": (set, "a list of 3; got a set of 3; `sorted(…)` converts it to a list"),
            "an array": (np.array, "a list of 3; got an array of text, shape (3,); `list(…)` converts it to a list"),
        },
    ),
    "pairs of words": Kind(
        one("merges"),
        [[("l", "o"), ("lo", "w"), ("e", "r")], [("a", "b")], []],
        lambda merges: [(b, a) for a, b in merges],
        [tuple],
        {
            "one letter off": (
                put(1, entry=("lo", "v")),
                "merges[1]: got ('lo', 'v'), expected ('lo', 'w')",
            ),
            "one too few": (lambda m: m[:-1], "got 2 entries, expected 3; the first 2 are right"),
            "one too many": (lambda m: [*m, ("x", "y")], "got 4 entries, expected 3; the first 3 are right"),
            "another first": (
                lambda m: m[1:],
                "got 2 entries, expected 3; merges[0]: got ('lo', 'w'), expected ('l', 'o')",
            ),
            "in another order": (backward, "merges[0]: got ('e', 'r'), expected ('l', 'o')"),
            "lists": (
                lambda m: [list(pair) for pair in m],
                "merges[0]: a tuple of 2; got a list of 2",
            ),
            "joined": (lambda m: [a + b for a, b in m], "merges[0]: a tuple of 2; got 'lo' (str)"),
            "with counts": (
                lambda m: [(*pair, 1) for pair in m],
                "merges[0]: got ('l', 'o', 1), expected ('l', 'o')",
            ),
            "None within": (put(2, 1, entry=None), "merges[2][1]: a string; got None"),
            "nested the other way": (
                lambda m: list(zip(*m, strict=True)),
                "got 2 entries, expected 3; merges[0]: got ('l', 'lo', 'e'), expected ('l', 'o')",
            ),
            "a set": (set, "a list of 3; got a set of 3"),
            "a dict": (dict, "a list of 3; got a dict of 3"),
            "a zip": (lambda m: zip(m, m, strict=True), "a value of type zip; `list(…)` converts it to a list"),
            "an array": (np.array, "a list of 3; got an array of text, shape (3, 2)"),
        },
    ),
    "ids with scores": Kind(
        one("hypotheses"),
        [[([4, 2], -1.2345), ([4], -1.5432), ([1, 3, 2], -2.25)], [([], -0.1234)], [([7, 8], -3.2109)]],
        lambda found: [(ids, score / max(1, len(ids))) for ids, score in found],
        [
            tuple,
            lambda found: [Hypothesis(ids, np.float64(score)) for ids, score in found],
            lambda found: [([np.int64(i) for i in ids], score * (1 + 1e-12)) for ids, score in found],
        ],
        {
            "one id off": (put(0, 0, 1, entry=3), "hypotheses[0][0]: got [4, 3], expected [4, 2]"),
            "one score off": (put(1, 1, entry=-1.5433), "hypotheses[1][1]: got -1.5433, expected -1.5432"),
            "one too few": (lambda f: f[:-1], "got 2 entries, expected 3; the first 2 are right"),
            "in another order": (
                backward,
                "hypotheses[0][0]: got [1, 3, 2], expected [4, 2]",
            ),
            "scores first": (
                lambda f: [(score, ids) for ids, score in f],
                "hypotheses[0][0]: a list of 2; got -1.2345 (float)",
            ),
            "lists for pairs": (lambda f: [list(pair) for pair in f], "hypotheses[0]: a tuple of 2; got a list of 2"),
            "tuples for ids": (
                lambda f: [(tuple(ids), score) for ids, score in f],
                "hypotheses[0][0]: a list of 2; got a tuple of 2",
            ),
            "arrays for ids": (
                lambda f: [(np.array(ids, int), score) for ids, score in f],
                "hypotheses[0][0]: a list of 2; got int64 (2,)",
            ),
            "floats for ids": (
                lambda f: [([float(i) for i in ids], score) for ids, score in f],
                "hypotheses[0][0][0]: got float64, expected int64",
            ),
            "float32 scores": (
                lambda f: [(ids, np.float32(score)) for ids, score in f],
                "hypotheses[0][1]: got float32, expected float64",
            ),
            "NaN": (put(2, 1, entry=float("nan")), "hypotheses[2][1] is nan, expected -2.25"),
            "None within": (put(0, 1, entry=None), "hypotheses[0][1]: a number; got None"),
            "the best alone": (lambda f: f[0], "got 2 entries, expected 3; hypotheses[0]: a tuple of 2; got a list"),
        },
    ),
    "a dict of arrays": Kind(
        one("params"),
        WEIGHTS,
        lambda params: {name: -value for name, value in params.items()},
        [
            lambda p: dict(reversed(p.items())),
            OrderedDict,
            lambda p: defaultdict(list, p),
            lambda p: {np.str_(name): value * (1 + 1e-12) for name, value in p.items()},
        ],
        {
            "one entry off": (
                lambda p: p | {"W_xh": p["W_xh"] + np.eye(*p["W_xh"].shape, k=1)},
                "params['W_xh'][0, 1]: got ",
            ),
            "a key too few": (lambda p: {"W_xh": p["W_xh"]}, "a dict with the key 'b_h', which is missing"),
            "a key too many": (lambda p: p | {"b_y": 0.0}, "a dict without the key 'b_y' (str)"),
            "a shape": (lambda p: p | {"b_h": p["b_h"][None]}, "params['b_h']: got (1, 3), expected (3,)"),
            "a dtype": (
                lambda p: p | {"b_h": p["b_h"].astype("f4")},
                "params['b_h']: got float32, expected float64",
            ),
            "lists for arrays": (
                lambda p: {name: value.tolist() for name, value in p.items()},
                "params['W_xh']: a NumPy array of shape (2, 3); got a list of 2",
            ),
            "NaN": (lambda p: p | {"b_h": p["b_h"] * np.nan}, "params['b_h'][0] is nan, expected "),
            "None within": (lambda p: p | {"b_h": None}, "params['b_h']: a NumPy array of shape (3,); got None"),
            "pairs": (lambda p: list(p.items()), "a dict; got a list of 2"),
            "values alone": (lambda p: p.values(), "a dict; got a value of type dict_values"),
            "nested": (lambda p: {"params": p}, "a dict with the key 'W_xh', which is missing"),
        },
    ),
    "a list of arrays": Kind(
        one("grads"),
        GRADS,
        lambda grads: [-grad for grad in grads],
        [tuple, lambda g: [np.asfortranarray(grad) for grad in g]],
        {
            "one entry off": (lambda g: [g[0], g[1] + np.eye(len(g[1]))[-1]], "grads[1][2]: got "),
            "one too few": (lambda g: g[:1], "got 1 entry, expected 2; the first is right"),
            "in another order": (backward, "grads[0]: got (3,), expected (2, 3)"),
            "one of them float32": (lambda g: [g[0].astype("f4"), g[1]], "grads[0]: got float32, expected float64"),
            "lists": (
                lambda g: [grad.tolist() for grad in g],
                "grads[0]: a NumPy array of shape (2, 3); got a list of 2",
            ),
            "NaN": (lambda g: [g[0], g[1] * np.nan], "grads[1][0] is nan, expected "),
            "None within": (lambda g: [g[0], None], "grads[1]: a NumPy array of shape (3,); got None"),
            "a flat array": (
                lambda g: np.concatenate([grad.ravel() for grad in g]),
                "a list of 2; got float64 (9,); `list(…)` converts it to a list",
            ),
            "a generator": (
                lambda g: (grad for grad in g),
                "a list of 2; got a value of type generator; `list(…)` converts it to a list",
            ),
            "object array": (
                lambda g: np.array([*g, None], dtype=object)[:2],
                "a list of 2; got an array of Python objects, shape (2,)",
            ),
        },
    ),
    "truth values": Kind(
        one("mask", "B", "S"),
        [np.tri(3, 4, dtype=bool), np.array([[True, False]]), np.zeros((2, 0), bool)],
        np.logical_not,
        [lambda m: m.copy("F")],
        {
            "one off": (
                lambda m: m ^ (np.arange(m.size) == 5).reshape(m.shape),
                "1 of 12 entries, first at [1, 1]: got False, expected True; "
                "mask[:, :1] is right, and s = 1 (counted from 0) is the first wrong source position",
            ),
            "one too few": (lambda m: m[:, :-1], "got (3, 3), expected (3, 4), that is (B, S)"),
            "transposed": (np.transpose, "got (4, 3), expected (3, 4), that is (B, S)"),
            "zeros and ones": (lambda m: m.astype(int), "got int64, expected bool"),
            "floats": (lambda m: m.astype(float), "got float64, expected bool"),
            "lists": (np.ndarray.tolist, "a NumPy array of shape (3, 4); got a list of 3"),
            "a masked array": (np.ma.array, "a NumPy array of shape (3, 4); got a masked NumPy array of shape (3, 4)"),
            "objects": (
                lambda m: m.astype(object),
                "a NumPy array of shape (3, 4); got an array of Python objects, shape (3, 4)",
            ),
        },
    ),
    "a number": Kind(
        one("loss"),
        [1.25, 0.75, 0.0],
        lambda loss: np.exp(loss),
        [np.float64, np.array, lambda x: x * (1 + 1e-12), lambda x: x or -0.0, lambda x: x or 0],
        {
            "off": (lambda x: x + 0.5, "loss: got 1.75, expected 1.25"),
            "NaN": (lambda x: float("nan"), "loss is nan, expected 1.25"),
            "float32": (np.float32, "got float32, expected float64"),
            "a vector": (lambda x: np.array([x]), "a number; got float64 (1,); `.item()` converts it to a number"),
            "a list": (lambda x: [x], "a number; got a list of 1"),
            "text": (str, "a number; got '1.25' (str)"),
            "a truth value": (bool, "a number; got True"),
            "complex": (complex, "a number; got a value of type complex"),
            "an integer": (int, "loss: got 1, expected 1.25"),
        },
    ),
    "a whole number": Kind(
        one("count"),
        [264, 1, 0],
        lambda n: n + 4,
        [np.int64, np.int32, np.array],
        {
            "off": (lambda n: n + 1, "count: got 265, expected 264"),
            "a float": (float, "got float64, expected int64"),
            "text": (str, "an integer; got '264' (str)"),
            "a truth value": (bool, "an integer; got True"),
            "a vector": (lambda n: np.array([n]), "an integer; got int64 (1,); `.item()` converts it to a number"),
            "huge": (lambda n: 10**300, "count: got 1000"),
        },
    ),
    "clipped gradients and their norm": Kind(
        (Output("clipped"), Output("norm")),
        [(grads, float(np.sqrt(sum((g**2).sum() for g in grads)))) for grads in GRADS],
        lambda both: ([g / (both[1] + 1e-6) for g in both[0]], both[1]),
        [list, lambda both: (tuple(both[0]), np.float64(both[1]))],
        {
            "one entry off": (
                lambda both: ([both[0][0], both[0][1] + 1], both[1]),
                "clipped[1][0]: got ",
            ),
            "the norm off": (doubled(1), "norm: got "),
            "both off": (lambda both: ([*both[0][:1], -both[0][1]], -both[1]), "norm: got -"),
            "one gradient too few": (
                lambda both: (both[0][:1], both[1]),
                "clipped: got 1 entry, expected 2; the first",
            ),
            "in another order": (backward, "clipped: a list of 2; got "),
            "the list alone": (lambda both: both[0], "clipped: a list of 2; got float64 (2, 3)"),
            "the norm alone": (lambda both: both[1], "2 results, `return clipped, norm`; got "),
            "flat": (lambda both: (*both[0], both[1]), "2 results, `return clipped, norm`; got a tuple of 3"),
            "a dict": (
                lambda both: {"clipped": both[0], "norm": both[1]},
                "2 results, `return clipped, norm`; got a dict of 2",
            ),
            "NaN": (lambda both: (both[0], np.nan), "norm is nan, expected "),
            "None within": (
                lambda both: ([None, both[0][1]], both[1]),
                "clipped[0]: a NumPy array of shape (2, 3); got",
            ),
        },
    ),
    "an array or None": Kind(
        one("state", "B", "H"),
        [*arrays((2, 3)), None, *arrays((1, 2))],
        lambda state: None if state is None else -state,
        [lambda s: s if s is None else s.astype(">f8")],
        {
            "zeros for None": (lambda s: np.zeros((2, 3)) if s is None else s, "None; got float64 (2, 3)"),
            "False for None": (lambda s: False if s is None else s, "None; got False"),
            "always None": (lambda s: None, "a result, but your function returned None. Does it end with `return`?"),
            "off": (lambda s: s if s is None else s + 1, "6 of 6 entries, first at [0, 0]: got "),
        },
    ),
    "lists of numbers in lists": Kind(
        one("rows"),
        [[[0.1234, 1.0], [2.2345]], [[], [0.5432]], []],
        lambda rows: [[-x for x in row] for row in rows],
        [lambda rows: [[np.float64(x * (1 + 1e-12)) for x in row] for row in rows]],
        {
            "one off": (put(1, 0, entry=2.2346), "rows[1][0]: got 2.2346, expected 2.2345"),
            "one too few": (
                lambda rows: [row[:-1] for row in rows],
                "rows[0]: got 1 entry, expected 2; the first is right",
            ),
            "flat": (
                lambda rows: [x for row in rows for x in row],
                "got 3 entries, expected 2; rows[0]: a list of 2; got 0.1234 (float)",
            ),
            "arrays": (
                lambda rows: [np.array(row) for row in rows],
                "rows[0]: a list of 2; got float64 (2,)",
            ),
            "NaN": (put(0, 1, entry=np.nan), "rows[0][1] is nan, expected 1"),
        },
    ),
    "counts of words": Kind(
        one("counts"),
        [{"low": 5, "lower": 2}, {"a": 3}, {}],
        lambda counts: dict.fromkeys(counts, 1),
        [Counter, lambda c: {word: np.int64(n) for word, n in c.items()}],
        {
            "one off": (lambda c: c | {"low": 4}, "counts['low']: got 4, expected 5"),
            "a word too few": (lambda c: {"low": 5}, "a dict with the key 'lower', which is missing"),
            "a zero count": (lambda c: Counter(c) | Counter({"x": 1}), "a dict without the key 'x' (str)"),
            "floats": (
                lambda c: {word: float(n) for word, n in c.items()},
                "counts['low']: got float64, expected int64",
            ),
            "items": (lambda c: c.items(), "a dict; got a value of type dict_items"),
        },
    ),
}


def checks_of(kind: Kind, mistaken=True) -> Checks:
    def observed(values):
        return tuple(Observation(freeze(value)) for value in values)

    mistakes = {"mistake": (observed(map(kind.mistaken, kind.due)),)} if mistaken else {}
    cases = tuple(Case({"n": n}, {"n": n}) for n in range(len(kind.due)))
    return Checks(
        "answer", "call", kind.outputs, DEFAULT_TOLERANCE, WHOLE, cases, observed(kind.due), mistakes=mistakes
    )


def verdict(kind: Kind, answers):
    """What is said to a student whose function gives these answers; nothing may be raised on the way to the report."""
    checks = checks_of(kind)
    found = evaluate(PLACE, checks, {"mistake": "A mistake."}, observe(checks, lambda n: answers[n]))
    assert len(verdict_text(found).splitlines()) <= 20
    assert verdict_html(found)
    assert found.to_json()
    return found


@for_each("name", KINDS)
def test_the_right_answer_passes_however_it_is_written(name):
    kind = KINDS[name]
    for same in (lambda value: value, *kind.right_too):
        assert verdict(kind, [same(deepcopy(value)) for value in kind.due]).status == "passed"


def slipped(kind, slip):
    """A wrong answer wherever the slip makes one of the right answer, or can be made at all."""
    answers = []
    for value in kind.due:
        try:
            answers.append(slip(deepcopy(value)))
        except (IndexError, KeyError, TypeError, ValueError):
            answers.append(value)
    return answers


@for_each(("name", "slip"), [(name, slip) for name, kind in KINDS.items() for slip in kind.wrong])
def test_a_nearly_right_answer_fails_and_the_report_says_where_and_how(name, slip):
    kind = KINDS[name]
    change, says = kind.wrong[slip]
    found = verdict(kind, slipped(kind, change))
    assert found.status == "failed"
    assert found.earned == 0
    case, _ = found.first_problem
    text = " | ".join(problem.text for problem in case.problems)
    assert says in text
    for got, expected in re.findall(r"got ([^;|]+), expected ([^;|]+)", text):
        assert got != expected
    if found.diagnosis is not None:  # a pattern may be true of it, the mistake is not
        assert found.diagnosis.id != "mistake"


@for_each("name", KINDS)
def test_a_mistake_is_named_where_its_results_come_back_and_nowhere_else(name):
    kind = KINDS[name]
    wrong = [kind.mistaken(value) for value in kind.due]
    assert verdict(kind, deepcopy(wrong)).diagnosis.id == "mistake"
    others = [[wrong[0], *kind.due[1:]], [*wrong[:-1], object()], [None, *wrong[1:]]]
    for answers in others:
        found = verdict(kind, answers).diagnosis
        assert found is None or found.id != "mistake"


class Hostile:
    """Nothing can be done with it."""

    def _refuse(self, *args, **kwargs):
        raise RuntimeError("you shall not look")

    __eq__ = __ne__ = __len__ = __iter__ = __getitem__ = __repr__ = __str__ = __bool__ = __float__ = __array__ = _refuse
    __hash__ = object.__hash__


class HostileList(list):
    __len__ = __iter__ = __getitem__ = __eq__ = __repr__ = Hostile._refuse
    __hash__ = object.__hash__


def endless():
    tree: list[Any] = []
    tree.append(tree)
    return tree


LARGE = ("a wide list", "a long text")  # it takes time to read them
NEVER_RIGHT = {
    "an object": object,
    "a hostile object": Hostile,
    "a hostile list": lambda: HostileList([Hostile()]),
    "a list that holds itself": endless,
    "a generator": lambda: (n for n in [1.0]),
    "a function": lambda: len,
    "a class": lambda: dict,
    "a module": lambda: sys,
    "a set": lambda: {1, 2},
    "bytes": lambda: b"ab",
    "a complex number": lambda: 1j,
    "NaN": lambda: float("nan"),
    "an infinite number": lambda: -np.inf,
    "a huge integer": lambda: -(10**350),
    "more than can be kept": lambda: 10**5000,
    "NotImplemented": lambda: NotImplemented,
    "a long text": lambda: "\x1b[2J\u202e\n" * 10_000,
    "a time": lambda: np.datetime64("2020-01-01"),
    "an array of objects": lambda: np.frompyfunc(lambda _: Hostile(), 1, 1)(np.arange(2)),
    "records": lambda: np.zeros(3, [("a", "f8")]),
    "an empty array": lambda: np.zeros((0, 3)),
    "a wide array": lambda: np.broadcast_to(0.0, (10**6, 10**6)),
    "a dict of odd keys": lambda: {None: 1, (1, 2): 2, frozenset(): 3},
    "nested": lambda: [[[[[None]]]]],
    "a wide list": lambda: [None] * 300_000,
    "a number in a list": lambda: [[1.0]],
}


@for_each("strange", NEVER_RIGHT)
@for_each("name", KINDS)
def test_nothing_that_anybody_returns_passes_or_stops_the_grader(name, strange):
    kind = KINDS[name]
    value = NEVER_RIGHT[strange]
    found = verdict(kind, [value() for _ in kind.due])
    assert found.status == "failed"
    assert found.diagnosis is None
    if len(kind.outputs) > 1:
        assert verdict(kind, [tuple(value() for _ in kind.outputs) for _ in kind.due]).status == "failed"
    for place, inside in entries(kind.due[0]) if strange not in LARGE else ():
        assert verdict(kind, [with_entry(kind.due[0], place, value()), *kind.due[1:]]).status == "failed", inside


def entries(value, place=()):
    """Every place in a tree but its root."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list | tuple) else ()
    for key, inside in pairs:
        yield (*place, key), inside
        yield from entries(inside, (*place, key))


@pytest.mark.parametrize("name", KINDS)
def test_a_tensor_is_never_right_and_the_report_says_what_to_do(name):
    torch = pytest.importorskip("torch")
    kind = KINDS[name]

    def tensors(value):
        if isinstance(value, np.ndarray | float | int):
            return torch.tensor(value, requires_grad=np.asarray(value).dtype.kind == "f")
        if isinstance(value, dict):
            return {key: tensors(entry) for key, entry in value.items()}
        return type(value)(map(tensors, value)) if isinstance(value, list | tuple) else value

    answers = [tensors(value) for value in kind.due]
    if any(isinstance(leaf, torch.Tensor) for leaf in leaves(answers)):
        found = verdict(kind, answers)
        assert found.status == "failed"
        assert re.search(
            r"got a torch tensor of shape \([\d, ]*\); `(\.item\(\)|\.detach\(\)\.numpy\(\))` converts",
            verdict_text(found),
        )


def leaves(value):
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for inside in value for leaf in leaves(inside)] if isinstance(value, list | tuple) else [value]
