"""The values of the flow: names of cases, what a facet covers, observations as trees."""

import numpy as np
import pytest

from grader.checking.case import WHOLE, Case, Facet, Observation, Output, observation_from_tree, observation_tree
from grader.codec import CodecError, Line, Raised, decode, encode

CASE = Case({"B": 2, "T": 1}, {"x": np.zeros((2, 1))}, "T = 1")


def test_a_case_is_named_by_its_sizes():
    assert CASE.name == "B=2, T=1"


@pytest.mark.parametrize(
    ("facet", "output", "covered"),
    [
        (WHOLE[0], "h", True),
        (WHOLE[0], None, True),
        (Facet("f", outputs=("dW",)), "dW", True),
        (Facet("f", outputs=("dW",)), "db", False),
        (Facet("f", outputs=("dW",)), None, True),
        (Facet("f", kinds=("T = 1",)), "h", True),
        (Facet("f", kinds=("ordinary",)), "h", False),
        (Facet("f", kinds=("ordinary",)), None, False),
        (Facet("f", outputs=("dW",), kinds=("ordinary",)), "dW", False),
    ],
)
def test_what_a_facet_covers(facet, output, covered):
    assert facet.covers(CASE, output) is covered


OBSERVATIONS = [
    Observation(),
    Observation(result=(1.5, [None])),
    Observation(raised=Raised("ValueError", "no", (Line(1, "f", "x"),)), changed=("x", "h")),
    Observation(result=0, calls={"f": [{"x": 1}, {"x": 2}], "g": []}),
    Observation(result=0, unreached={"logits": ["head.weight", "head.bias"]}),
]


@pytest.mark.parametrize("observation", OBSERVATIONS)
def test_an_observation_comes_back_from_its_tree(observation):
    assert observation_from_tree(decode(encode(observation_tree(observation)))) == observation


GOOD = observation_tree(Observation())


@pytest.mark.parametrize(
    "tree",
    [
        None,
        [],
        {},
        {k: v for k, v in GOOD.items() if k != "calls"},
        {**GOOD, "points": 2},
        {**GOOD, "raised": "ValueError"},
        {**GOOD, "changed": ("x",)},
        {**GOOD, "changed": [1]},
        {**GOOD, "changed": [None]},
        {**GOOD, "calls": {1: []}},
        {**GOOD, "calls": {"f": ()}},
        {**GOOD, "calls": [[]]},
        {**GOOD, "unreached": ["y"]},
        {**GOOD, "unreached": {"y": "w"}},
        {**GOOD, "unreached": {"y": [1]}},
        {**GOOD, "unreached": {1: ["w"]}},
    ],
)
def test_a_tree_that_is_no_observation_is_a_codec_error(tree):
    with pytest.raises(CodecError, match="not an observation"):
        observation_from_tree(decode(encode(tree)))


def test_an_output_without_axes_is_a_scalar():
    assert Output("loss").axes == ()


def test_a_kind_that_the_sizes_do_not_tell_stands_in_the_name():
    assert Case({"V": 4}, {}, "u on a boundary").name == "V=4: u on a boundary"
