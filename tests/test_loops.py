"""Whether the loops that many tests share can fail."""

import re

import pytest

from tests.loops import for_each


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
