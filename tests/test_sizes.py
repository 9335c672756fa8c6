"""Whatever a student's function returns or records, a verdict on it takes less than two seconds of processor time.

The limit is the grader's own: each verdict is found in a process that may use as much and is stopped otherwise.
"""

import numpy as np
import pytest

from grader.checking import sizes
from grader.checking.case import Observation
from grader.checking.evaluate import evaluate, observe
from grader.checking.sizes import is_too_large, size
from grader.checking.verdict import Verdict
from grader.codec import MAX_NODES, Opaque, Raised, encode, shortened
from grader.grading import judging
from grader.grading.judging import VerdictCache, judged
from grader.manifest import load_manifest
from tests.conftest import ROOT, exercise
from tests.loops import for_each

FEW = ("one_hot", "learn_bpe", "rnn_step", "train_char_rnn", "orthogonal_init", "beam_search", "AttentionDecoder")
EDGE = sizes.ROOM // sizes.OBJECT - 10  # as many objects as are examined
LARGE = {
    "floats": [0.1] * 190_000,
    "integers": list(range(190_000)),
    "huge integers": [int("9" * 340)] * 40_000,
    "strings": ["ab"] * 190_000,
    "a string": "ab" * 7_000_000,
    "tuples": [(1, 2.5)] * 60_000,
    "one axis": np.full(1_900_000, 0.1),
    "two axes": np.full((1_000, 1_900), 0.1),
    "three axes": np.full((10, 100, 1_900), 0.1),
    "four axes": np.full((10, 10, 10, 1_900), 0.1),
    "integers of two axes": np.arange(1_900_000).reshape(1_000, 1_900),
    "truth values": np.ones((3_900, 3_900), bool),
    "complex numbers": np.full((900, 1_000), 0.1j),
    "not a number": np.full((1_000, 1_900), np.nan),
    "a square": np.random.default_rng(0).normal(size=(1_300, 1_300)),
    "a dict": dict.fromkeys(range(90000), 0.5),
    "a dict of arrays": {str(index): np.zeros(3) for index in range(60_000)},
    "a dict of long keys": {f"{index}" * 500: 1 for index in range(3_000)},
    "lists of lists": [[[0.1] * 100] * 100] * 18,
    "nothing, often": [[]] * 190_000,
    "deep": [[[[[[[[[[[[[[[[1.0]]]]]]]]]]]]]]]],
    "as many floats as are examined": [0.1] * EDGE,
    "as many arrays": [np.array([0.1, 0.2])] * (EDGE // 2),
    "as many entries": np.linspace(0, 1, sizes.ROOM - 20),
    "as many entries of two axes": np.linspace(0, 1, 19_600).reshape(140, 140),
    "as many words": ["ab"] * (EDGE // 2),
}


def several(value, outputs):
    """The value as every one of several results, each a part of what may be sent."""
    if isinstance(value, np.ndarray):
        value = value.ravel()[: value.size // outputs]
    elif isinstance(value, list | str):
        value = value[: len(value) // outputs]
    return (value,) * outputs


def in_time(name, values):
    """Judge these results of an exercise, each on all cases, and return those that take too long."""
    found = exercise(name)
    checks = found.checks(1)

    def verdict(value):
        observations = (Observation(value),) * len(checks.cases)
        return evaluate(found.place, checks, found.messages.mistakes, observations)

    def find_all(judge):
        return [judge((name, label), lambda value=value: verdict(value)) for label, value in values.items()]

    late = Verdict(name, "", "failed", 0.0, 0.0, "", note="late")
    verdicts, _ = judged(find_all, VerdictCache(), lambda _: late)
    assert not any(each for each in verdicts)
    return [label for label, each in zip(values, verdicts, strict=True) if each.note == "late"]


def values_for(name):
    outputs = len(exercise(name).spec.outputs)
    more = {f"several: {label}": several(value, outputs) for label, value in LARGE.items()} if outputs > 1 else {}
    return LARGE | more


@pytest.fixture(autouse=True)
def two_seconds(monkeypatch):
    monkeypatch.setattr(judging, "SECONDS", 2)


@for_each("name", FEW)
def test_a_verdict_on_something_large_takes_little(name):
    assert in_time(name, values_for(name)) == []


@pytest.mark.system
@pytest.mark.parametrize("name", [name for name in load_manifest(ROOT / "course.toml").places if name not in FEW])
def test_a_verdict_on_something_large_takes_little_in_every_exercise(name):
    assert in_time(name, values_for(name)) == []


def test_all_that_is_tried_may_be_sent():
    """What a process cannot send needs no judging."""
    for label, value in LARGE.items():
        assert len(encode(value)) > 0, label
    assert size(LARGE["nothing, often"]) > MAX_NODES


# --- what is counted, and how far --------------------------------------------------------------------------------


@for_each(
    ("value", "due"),
    [
        (1.5, sizes.OBJECT),
        (np.zeros((3, 4)), sizes.OBJECT + 12),
        ("abc", sizes.OBJECT + 3),
        ([], sizes.OBJECT),
        ([1, [2.0, "ab"]], 5 * sizes.OBJECT + 2),
        ({"ab": np.zeros(5)}, 3 * sizes.OBJECT + 7),
        (Opaque("set", "of 3"), sizes.OBJECT + 7),
    ],
)
def test_sizes(value, due):
    assert size(value) == due


def test_nothing_is_counted_beyond_the_bound():
    class Counted(list):
        seen = 0

        def __iter__(self):
            for entry in super().__iter__():
                Counted.seen += 1
                yield entry

    assert size(Counted([0.0] * 1_000_000), most=1_000) > 1_000
    assert Counted.seen < 100
    deep = []
    for _ in range(100_000):  # deeper than anything that is sent
        deep = [deep]
    assert size(deep) > 100_000 * sizes.OBJECT


def test_results_of_about_the_expected_size_are_examined():
    due = np.zeros((20, 30))
    assert not is_too_large(np.zeros((600, 30)), due)
    assert not is_too_large([0.0] * 1_000, due)
    assert is_too_large(np.zeros((3_000, 300)), due)
    assert is_too_large([0.0] * 100_000, due)


def test_texts_of_an_exception_are_cut():
    raised = Raised("E" * 10_000, "x" * 100_000, ())
    short = shortened(raised)
    assert (len(short.type), len(short.text)) == (2_000, 2_000)


# --- recorded calls ----------------------------------------------------------------------------------------------


def calls_of(loss_and_grads):
    """The list of recorded calls, wherever a student may find it."""
    cells = [cell.cell_contents for cell in loss_and_grads.__closure__ or ()]
    return next(each for each in cells if isinstance(each, list))


FORGED = {
    "a network of 40 units and a text of 200,000": (40, 200_000, 1),
    "a network of 250 units": (250, 3, 1),
    "many calls": (16, 4, 50_000),
}


@for_each("forgery", FORGED)
def test_forged_calls_are_refused_before_anything_is_computed(forgery):
    """They were run in the grader's own process, for minutes and in gigabytes."""
    H, T, times = FORGED[forgery]
    V = 4
    shapes = {"W_xh": (V, H), "W_hh": (H, H), "b_h": (H,), "W_hy": (H, V), "b_y": (V,)}
    forged = {
        "params": {name: np.zeros(shape) for name, shape in shapes.items()},
        "inputs": np.zeros(T, int),
        "targets": np.zeros(T, int),
        "h_0": np.zeros((1, H)),
    }
    found = exercise("train_char_rnn")
    right = next(iter(found.spec.alternatives.values()))
    checks = found.checks(1)

    def forging(**inputs):
        result = right(**inputs)
        calls_of(inputs["loss_and_grads"]).extend([forged] * times)
        return result

    observations = observe(checks, forging)

    def find_all(judge):
        return judge(
            ("train_char_rnn", forgery),
            lambda: evaluate(found.place, checks, found.messages.mistakes, observations),
        )

    verdict, late = judged(find_all, VerdictCache(), lambda _: None)
    assert late == []
    assert verdict.earned == 0
    kinds = ("at most", "arguments of the expected size")
    assert verdict.first_problem[1].text.startswith(kinds)
