"""Patterns that say where results are wrong, but not why: in which calls, sequences, steps or rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from grader.checking.case import Checks, Output
from grader.checking.compare import Array, close
from grader.checking.diagnose.patterns import Wrong, in_steps, in_time, matches
from grader.checking.verdict import Diagnosis

MAX_ROWS = 50  # results with more rows are not tested for their order


def vague_pattern(wrong: list[Wrong], checks: Checks) -> Diagnosis | None:
    """The pattern that says where these results are wrong, on two cases or more: one may fit by coincidence."""
    if len({id(case) for case, *_ in wrong}) < 2:
        return None
    if (name := _left_out(wrong, checks)) is not None:
        return Diagnosis("left_out", _LEFT_OUT.format(name))
    for rule, name, text in _RULES:
        if rule(wrong, checks):
            return Diagnosis(name, in_steps(wrong, text))
    return None


def _left_out(wrong: list[Wrong], checks: Checks) -> str | None:
    """The name of the only argument that is passed in some calls but in no wrong one, or None."""
    names = {name for case in checks.cases for name in case.inputs}
    found = [name for name in names if not any(name in case.inputs for case, *_ in wrong)]
    return found[0] if len(found) == 1 else None


def _along(got: Array, expected: Array) -> Iterator[tuple[Array, Array]]:
    """Yield both arrays with each axis in turn moved to the front; nothing unless both are floats of one shape."""
    if got.shape == expected.shape and expected.dtype.kind == got.dtype.kind == "f":
        for axis in range(expected.ndim):
            yield np.moveaxis(got, axis, 0), np.moveaxis(expected, axis, 0)


def _unfilled(wrong: list[Wrong], checks: Checks) -> bool:
    """Whether the wrong entries are whole rows of zeros along one axis of each result, and other entries are right."""

    def fits(got: Array, expected: Array) -> bool:
        right = close(expected, got, checks.tolerance).reshape(len(got), -1).all(axis=1)
        return bool((got[~right] == 0).all() and (expected[~right] != 0).all())

    some_right = any(
        got[close(expected, got, checks.tolerance)].any() for *_, got, expected in wrong if got.shape == expected.shape
    )
    return some_right and all(any(fits(*pair) for pair in _along(got, expected)) for *_, got, expected in wrong)


def _another_order(wrong: list[Wrong], checks: Checks) -> bool:
    """Whether the rows of each result, along the same axis in all of them, are right but in a different order."""

    def fits(got: Array, expected: Array) -> bool:
        if len(got) > MAX_ROWS:
            return False
        same = np.array([[close(e, g, checks.tolerance).all() for e in expected] for g in got])
        return bool((same.sum(axis=0) == 1).all() and (same.sum(axis=1) == 1).all())

    axes = [[fits(*pair) for pair in _along(got, expected)] for *_, got, expected in wrong]
    return len({len(each) for each in axes}) == 1 and any(map(all, zip(*axes, strict=True)))


def _first_sequence_only(wrong: list[Wrong], checks: Checks) -> bool:
    """Whether the first sequence of the batch is right and all others are wrong, in every wrong result."""

    def fits(output: Output, got: Array, expected: Array) -> bool:
        if "B" not in output.axes or len(output.axes) != expected.ndim or got.shape != expected.shape:
            return False
        batch = output.axes.index("B")
        right = close(expected, got, checks.tolerance)
        rows = [bool(row.all()) for row in np.moveaxis(right, batch, 0)]
        return expected.dtype.kind == "f" and len(rows) > 1 and rows[0] and not any(rows[1:])

    return all(fits(output, got, expected) for _, output, got, expected in wrong)


def _first_step_only(wrong: list[Wrong], checks: Checks) -> bool:
    """Whether every wrong result is computed forward in time, and its first step is right and its second wrong."""

    def fits(got: Array, expected: Array, checks: Checks) -> bool:
        return len(got) > 1 and matches(got[0], expected[0], checks) and not matches(got[1], expected[1], checks)

    return not any(output.backward for _, output, *_ in wrong) and in_time(fits)(wrong, checks)


_LEFT_OUT = (
    "Every call that passes `{0}` is right, and every wrong call leaves it out. Look at the default value of `{0}` in "
    "the first line of the function, and at what your code does with it."
)
_RULES = (
    (
        _unfilled,
        "never_filled",
        "Whole rows or columns are 0 and the rest is right. Are they ever filled in? Look at where the loop ends, and "
        "whether `return` is inside it.",
    ),
    (
        _another_order,
        "rows_in_another_order",
        "The rows or columns are right, but in the wrong order.",
    ),
    (
        _first_sequence_only,
        "first_sequence_only",
        "Only the first sequence of each batch is right. Does a loop end after it, or does something from one sequence "
        "leak into the next, such as a state that is not reset?",
    ),
    (
        _first_step_only,
        "first_step_only",
        "The first {step} is right and the second is not. Look at what changes from one step to the next: "
        "the value that comes from the previous step, and every index that has to advance with time.",
    ),
)
