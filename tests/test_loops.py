"""Whether the loops and judgements that many tests share can fail."""

import re

import pytest

from grader.author.record import reference
from tests.conftest import ROOT, exercise
from tests.loops import for_each
from tests.nearly_right import fails, fails_keeping, passes


def test_all_cases_run_and_each_that_fails_is_named(request):
    seen = []

    @for_each("scale", [1, 2])
    @for_each(("size", "what"), [(0, "none"), (1, "one"), (2, "two")])
    def doubled(request, size, what, scale):
        seen.append((scale, size))
        if size == 2:
            pytest.fail("no result")
        assert scale * size != 1, "one left"

    with pytest.raises(AssertionError) as told:
        doubled(request=request)
    assert seen == [(scale, size) for scale in (1, 2) for size in (0, 1, 2)]
    lines = str(told.value).splitlines()
    assert lines[:3] == [
        "2 of 2 cases fail",
        "scale 1: AssertionError: 2 of 3 cases fail",
        "  size 1, what one: " + lines[2][20:],
    ]
    assert "one left" in lines[2]
    assert "  size 2, what two: Failed: no result" in lines


def test_each_exercise_has_a_test_of_its_own():
    @for_each(("exercise_id", "n"), [("f", 0), ("g", 1), ("f", 2)])
    def test(exercise_id, n):
        assert exercise_id == "g"

    (mark,) = test.pytestmark
    assert mark.args == ("exercise_id", ["f", "g"])
    test(exercise_id="g")
    with pytest.raises(AssertionError, match=re.escape("2 of 2 cases fail\nexercise_id f, n 0: ")):
        test(exercise_id="f")


def test_no_cases_are_no_success():
    with pytest.raises(AssertionError, match="no cases"):
        for_each("seed", [])


def test_what_passes_and_what_has_another_name_is_told():
    subject = exercise("rnn_step")
    right = reference(ROOT, subject.place)
    (no_bias,) = subject.spec.misconceptions["no_bias"].variants
    passes("rnn_step", right)
    fails("rnn_step", no_bias, "no_bias")
    for judged, message in (
        (lambda: passes("rnn_step", no_bias), "failed"),
        (lambda: fails("rnn_step", right, None), "passes with seed 0"),
        (lambda: fails("rnn_step", no_bias, None), "is named 'no_bias' with seed 0"),
        (lambda: fails("rnn_step", no_bias, {"no_tanh", None}), "is named 'no_bias' with seed 0"),
        (lambda: fails("rnn_step", no_bias, "no_bias", 0.25), "earns 0"),
        (lambda: fails_keeping("rnn_step", no_bias, "no_bias", {"h_t"}), "keeps set"),
    ):
        with pytest.raises(AssertionError, match=message):
            judged()


def test_a_seed_on_which_it_passes_is_told():
    subject = exercise("rnn_step")
    right = reference(ROOT, subject.place)
    (no_bias,) = subject.spec.misconceptions["no_bias"].variants
    public = {case.inputs["W_xh"].tobytes() for case in subject.checks(0).cases}

    def on_public_cases_wrong(**inputs):
        return (no_bias if inputs["W_xh"].tobytes() in public else right)(**inputs)

    with pytest.raises(AssertionError, match="passes with seed 1"):
        fails("rnn_step", on_public_cases_wrong, "no_bias")
