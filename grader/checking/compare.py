"""Compare a result with the expected one: structure first, then values, without broadcasting."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grader.checking.case import TIME_AXES, Checks, Observation, Output, Tolerance
from grader.checking.describe import cut, describe, remedy, sequence_difference, string_difference
from grader.checking.numbers import distinguish, rounded
from grader.checking.verdict import Grid, Problem, ProblemKind
from grader.codec import Opaque

Array = np.ndarray[Any, Any]

GRID_ROWS, GRID_COLUMNS = 16, 20  # the largest part of an array that a report's picture shows


def named_outputs(outputs: tuple[Output, ...], result: Any) -> dict[str, Any] | Problem:
    """Map the names of the outputs to their values: a single output is the result itself, several are a tuple in order.

    Returns a Problem if the number of results is wrong.
    """
    if len(outputs) == 1:
        return {outputs[0].name: result}
    names = ", ".join(output.name for output in outputs)
    if not isinstance(result, tuple | list) or len(result) != len(outputs):
        return Problem("count", f"{len(outputs)} results, `return {names}`; got {describe(result)}")
    return {output.name: value for output, value in zip(outputs, result, strict=True)}


@dataclass(frozen=True)
class _Location:
    """A location in a result: an output, and the keys that lead to the entry. Its problems begin with its name if
    `named`, which is always so inside a result.
    """

    output: Output
    tolerance: Tolerance
    named: bool
    path: tuple[Any, ...] = ()

    @property
    def name(self) -> str:
        """The location as a Python expression: 'merges[1][0]'."""
        return self.output.name + "".join(f"[{cut(repr(key))}]" for key in self.path)

    def entry(self, key: Any) -> _Location:
        return _Location(self.output, self.tolerance, True, (*self.path, key))

    def problem(self, kind: ProblemKind, text: str, grid: Grid | None = None) -> Problem:
        return Problem(kind, f"{self.name}: {text}" if self.named else text, self.output.name, grid=grid)

    def value_problem(self, text: str) -> Problem:
        """The problem that a single value differs. It begins with the name even if there is only one output."""
        return replace(self, named=True).problem("values", text)

    def type_problem(self, what: str, got: Any, kind: str = "") -> Problem:
        """The problem that `what` is expected, a value of another type; `kind` is `what` without its size. Inside a
        result, no conversion of a list, tuple or array is suggested, because it may be at the wrong level.
        """
        conversion = "" if self.path and not isinstance(got, Opaque) else remedy(got, kind or what)
        return self.problem("type", f"{what}; got {describe(got)}{conversion}")


def compare(output: Output, expected: Any, got: Any, tolerance: Tolerance, named: bool = False) -> Problem | None:
    """The first problem of one output, or None. Its kind is type, count, shape, dtype, not_finite or values.

    If a list is expected as the whole result, a tuple is accepted, and vice versa; inside a result the two are
    different. A value that the codec cannot represent (an Opaque) is never right. If `named`, the text begins with the
    output's name.
    """
    return _compare(_Location(output, tolerance, named), expected, got)


def _compare(at: _Location, expected: Any, got: Any) -> Problem | None:
    if isinstance(expected, np.ndarray) and expected.ndim > 0:
        return _compare_arrays(at, expected, got)
    if isinstance(expected, float | int | np.ndarray) and np.asarray(expected).dtype.kind in _SCALARS:
        return _compare_scalars(at, np.asarray(expected), got)
    if isinstance(expected, list | tuple):
        return _compare_sequences(at, expected, got)
    if isinstance(expected, dict):
        return _compare_dicts(at, expected, got)
    if isinstance(expected, str):
        return _compare_texts(at, expected, got)
    if type(expected) is not type(got) or isinstance(got, Opaque):
        return at.type_problem(describe(expected), got)
    return None if expected == got else at.value_problem(f"got {describe(got)}, expected {describe(expected)}")


def _compare_arrays(at: _Location, expected: Array, got: Any) -> Problem | None:
    if not isinstance(got, np.ndarray):
        return at.type_problem(f"a NumPy array of shape {expected.shape}", got, "an array")
    if got.shape != expected.shape:
        axes = at.output.axes
        names = f", that is ({', '.join(axes)})" if len(axes) == expected.ndim else ""
        return at.problem("shape", f"got {got.shape}, expected {expected.shape}{names}")
    if not same_kind(got.dtype, expected.dtype):
        return at.problem("dtype", f"got {got.dtype}, expected {expected.dtype}")
    return _compare_values(at, expected, got)


def same_kind(one: np.dtype[Any], other: np.dtype[Any]) -> bool:
    """Whether two arrays can be equal: integers of any size, because the default size depends on the machine, but only
    floats of the same one.
    """
    return one.kind == other.kind and (one.kind not in "fc" or one == other)


def _compare_scalars(at: _Location, expected: Array, got: Any) -> Problem | None:
    kinds, what = _SCALARS[expected.dtype.kind]
    is_array = isinstance(got, np.ndarray) and got.ndim == 0
    if not (isinstance(got, bool | int | float) or is_array):
        return at.type_problem(what, got, "a number")
    value = np.asarray(got)
    # integers are compared as Python's, because a cast to the expected dtype could change them
    if value.dtype.kind == "O" or (value.dtype.kind in "iu" and expected.dtype.kind in "iu"):
        right = int(value) == expected.item()
        return None if right else at.value_problem(f"got {cut(str(int(value)))}, expected {expected}")
    if (value.dtype.kind == "b") != (expected.dtype.kind == "b"):
        return at.type_problem(what, got)
    if value.dtype.kind not in kinds or (is_array and value.dtype.kind in "fc" and value.dtype != expected.dtype):
        return at.problem("dtype", f"got {value.dtype}, expected {expected.dtype}")
    return _compare_values(at, expected, value.astype(expected.dtype))


# For each kind of dtype of an expected scalar: the kinds that are accepted, and their description.
_SCALARS = {
    "b": ("b", "True or False"),
    "i": ("iu", "an integer"),
    "u": ("iu", "an integer"),
    "f": ("iuf", "a number"),
    "c": ("iufc", "a complex number"),
}


def _compare_texts(at: _Location, expected: str, got: Any) -> Problem | None:
    if not isinstance(got, str):
        return at.type_problem("a string", got)
    return None if got == expected else at.value_problem(string_difference(got, expected))


def _compare_sequences(at: _Location, expected: Any, got: Any) -> Problem | None:
    kind = f"a {type(expected).__name__}"
    if not isinstance(got, list | tuple) or (at.path and type(got) is not type(expected)):
        problem = at.type_problem(f"{kind} of {len(expected)}", got, kind)
        only_the_type = isinstance(got, list | tuple) and _compare(at, _in_tuples(expected), _in_tuples(got)) is None
        return replace(problem, text=f"{problem.text}. {WHY_NOT[type(expected)]}") if only_the_type else problem
    pairs = enumerate(zip(expected, got, strict=False))
    problems = (_compare(at.entry(index), entry, value) for index, (entry, value) in pairs)
    first = next((problem for problem in problems if problem is not None), None)
    uneven = len(got) != len(expected)
    if (uneven or (first and first.kind == "values")) and (both := sequence_difference(got, expected)):
        return at.value_problem(both)
    if uneven:
        count = f"got {len(got)} {'entry' if len(got) == 1 else 'entries'}, expected {len(expected)}"
        common = min(len(got), len(expected))
        right = ("", "the first is right", f"the first {common} are right")[min(common, 2)]
        return at.value_problem("; ".join(filter(None, (count, first.text if first else right))))
    return first


# Why a list is not as good as a tuple of the same entries inside a result, and vice versa.
WHY_NOT: dict[type, str] = {
    tuple: "Its entries are right: `tuple(…)` makes a tuple of it. To Python, a list never equals a tuple, and only a "
    "tuple can be a key of a dict",
    list: "Its entries are right: `list(…)` makes a list of it. To Python, a tuple never equals a list",
}


def _in_tuples(value: Any) -> Any:
    return tuple(map(_in_tuples, value)) if isinstance(value, list | tuple) else value


def _compare_dicts(at: _Location, expected: Any, got: Any) -> Problem | None:
    if not isinstance(got, dict):
        return at.type_problem("a dict", got)
    for key in expected:
        if key not in got:
            return at.problem("count", f"a dict with the key {cut(repr(key))}, which is missing")
    for key in got:
        if key not in expected:
            return at.problem("count", f"a dict without the key {describe(key)}")
    for key, entry in expected.items():
        problem = _compare(at.entry(key), entry, got[key])
        if problem is not None:
            return problem
    return None


def _compare_values(at: _Location, expected: Array, got: Array) -> Problem | None:
    right = close(expected, got, at.tolerance)
    if right.all():
        return None
    wrong = ~right
    output, first = at.output, tuple(int(i) for i in np.argwhere(wrong)[0]) if expected.ndim else ()
    axis = output.time_axis(expected.ndim)
    if axis is not None:  # the first wrong entry of the wrong step that is computed first
        steps = np.flatnonzero(wrong.any(axis=tuple(a for a in range(wrong.ndim) if a != axis)))
        step = int(steps[-1 if output.backward else 0])
        within = np.argwhere(np.take(wrong, step, axis))[0]
        first = (*(int(i) for i in within[:axis]), step, *(int(i) for i in within[axis:]))
    if not np.isfinite(got).all() and np.isfinite(expected).all():
        bad = np.argwhere(~np.isfinite(got))[0]
        where = f"[{', '.join(map(str, bad))}]" if expected.ndim else ""
        text = f"{at.name}{where} is {got[tuple(bad)]}, expected {rounded(expected[tuple(bad)], 4):.4g}"
        return Problem("not_finite", text, output.name)
    got_text, expected_text = distinguish(got[first], expected[first], at.tolerance)
    values, place = f"got {got_text}, expected {expected_text}", f"[{', '.join(map(str, first))}]"
    if not expected.ndim:
        return at.value_problem(values)
    count, where = int(wrong.sum()), _time_text(at, wrong, by_coincidence=expected.dtype.kind in "iub")
    text = f"{count} of {wrong.size} entries, first at {place}: {values}"
    if at.path:
        text = f"{place}: {values}; {count} of {wrong.size} entries differ"
        return Problem("values", f"{at.name}{text}{where}", output.name, grid=_grid(output, wrong))
    return at.problem("values", text + where, _grid(output, wrong))


def _grid(output: Output, wrong: Array) -> Grid | None:
    """Which entries are wrong, reduced to two axes. The axis across is time, or else ids, or else the last axis."""
    if wrong.size < 2 or len(output.axes) != wrong.ndim:
        return None
    ids = output.axes.index("V") if "V" in output.axes else wrong.ndim - 1
    time = output.time_axis(wrong.ndim)
    across = ids if time is None else time
    others = [axis for axis in range(wrong.ndim) if axis != across]
    down = others[-1] if others else None
    folded = np.asarray(wrong.any(axis=tuple(axis for axis in others if axis != down)))
    if down is None:
        folded = folded[None]
    elif down > across:
        folded = folded.T
    column = int(np.argmax(folded.any(axis=0)))  # the window shows the first wrong column and the one before it
    row = int(np.argmax(folded[:, column]))
    first_row = max(0, min(row - 1, folded.shape[0] - GRID_ROWS))
    first_column = max(0, min(column - 1, folded.shape[1] - GRID_COLUMNS))
    window = folded[first_row : first_row + GRID_ROWS, first_column : first_column + GRID_COLUMNS]
    return Grid(
        output.axes[across],
        output.axes[down] if down is not None else "",
        tuple("".join("1" if cell else "0" for cell in cells) for cells in window),
        first_row,
        first_column,
        cropped=window.shape != folded.shape,
    )


def _time_text(at: _Location, wrong: Array, by_coincidence: bool) -> str:
    """The part of a message that says at which step the output goes wrong; empty without a time axis of at least two
    steps. Right steps at the end are not mentioned if entries may be right `by_coincidence`.
    """
    axis = at.output.time_axis(wrong.ndim)
    if axis is None or wrong.shape[axis] < 2:
        return ""
    symbol = at.output.axes[axis]
    step, t = TIME_AXES[symbol], symbol.lower()
    steps = np.asarray(wrong.any(axis=tuple(a for a in range(wrong.ndim) if a != axis)))
    first = int(np.argmax(steps))
    last = len(steps) - 1 - int(np.argmax(steps[::-1]))
    before = ":, " * axis
    if at.output.backward:
        if last < len(steps) - 1:
            place = f"{at.name}[{before}{last + 1}:]"
            return f"; {place} is right. Going backward, {t} = {last} (counted from 0) is the first wrong {step}"
        return f"; the last {step}, where the backward pass starts, is already wrong"
    if first > 0:
        place = f"{at.name}[{before}:{first}]"
        return f"; {place} is right, and {t} = {first} (counted from 0) is the first wrong {step}"
    if last < len(steps) - 1 and not by_coincidence:
        return f"; {at.name}[{before}{last + 1}:] is right, and {t} = {last} is the last wrong {step}"
    return f"; the first {step} is already wrong"


def close(expected: Array, got: Array, tolerance: Tolerance, share: float = 1.0) -> Array:
    """Compare two arrays of the same shape entry by entry. NaN equals NaN, and an infinity equals itself. If the
    expected dtype is float32, its wider tolerance applies. `share` is the fraction of the tolerance that may be used.
    """
    if got.dtype.kind not in "fc":
        return np.asarray(got == expected)
    tolerance = tolerance.of(expected.dtype)
    with np.errstate(all="ignore"):
        bound = share * (tolerance.absolute + tolerance.relative * np.abs(expected))
        near = np.abs(got - expected) <= bound
        if near.all() and bound.max(initial=0.0) < np.inf:  # usually everything is finite
            return np.asarray(near)
    finite = np.isfinite(got) & np.isfinite(expected)
    return np.asarray((near & finite) | (got == expected) | (np.isnan(got) & np.isnan(expected)))


def agree(ours: Observation, theirs: Observation, outputs: tuple[str, ...], checks: Checks) -> bool:
    """Whether two observations show the same results in these outputs, or raise the same type of exception."""
    if ours.raised is not None or theirs.raised is not None:
        return ours.raised is not None and theirs.raised is not None and ours.raised.type == theirs.raised.type
    if len(checks.outputs) == 1:
        (output,) = checks.outputs
        return output.name not in outputs or same_value(output, ours.result, theirs.result, checks.tolerance)
    mine, other = (named_outputs(checks.outputs, o.result) for o in (ours, theirs))
    if isinstance(mine, Problem) or isinstance(other, Problem):
        return isinstance(mine, Problem) and isinstance(other, Problem) and mine.text == other.text
    return all(
        same_value(output, mine[output.name], other[output.name], checks.tolerance)
        for output in checks.outputs
        if output.name in outputs
    )


def same_value(output: Output, ours: Any, theirs: Any, tolerance: Tolerance) -> bool:
    """Whether `compare` finds no problem. For numbers and arrays of one kind, which are most results, no text about the
    difference is made.
    """
    if isinstance(ours, np.ndarray) and ours.ndim > 0:
        if not isinstance(theirs, np.ndarray) or ours.shape != theirs.shape:
            return False
        if ours.dtype == theirs.dtype:
            first = ours.size > 0 and ours.dtype.str == "<f8"  # most arrays that differ do so in the first entry
            return not (first and _differ(float(ours.flat[0]), float(theirs.flat[0]), tolerance)) and bool(
                close(ours, theirs, tolerance).all()
            )
    plain = _same_plain(ours, theirs, tolerance)
    if plain is not None:
        return plain
    if isinstance(ours, list | tuple) is not isinstance(theirs, list | tuple):
        return False
    return compare(output, ours, theirs, tolerance) is None


def _same_plain(ours: Any, theirs: Any, tolerance: Tolerance) -> bool | None:
    """Whether two values are the same, or None if only `compare` can say so: values of different types, arrays with
    axes, dicts, and numbers that are not finite.
    """
    ours, theirs = _python_number(ours), _python_number(theirs)
    kind = type(ours)
    if kind is not type(theirs):
        return None
    if kind is float:
        if _differ(ours, theirs, tolerance):
            return False
        return True if math.isfinite(ours) and math.isfinite(theirs) else None
    if kind in (int, bool, str):
        return bool(ours == theirs)
    if kind not in (list, tuple):
        return None
    if len(ours) != len(theirs):
        return False
    same: bool | None = True
    for mine, other in zip(ours, theirs, strict=True):
        plain = _same_plain(mine, other, tolerance)
        if plain is False:
            return False
        same = same and plain
    return same


def _python_number(value: Any) -> Any:
    """The number in an array without axes, of float64 or int64; everything else as it is."""
    is_number = type(value) is np.ndarray and value.ndim == 0 and value.dtype.str in ("<f8", "<i8")
    return value.item() if is_number else value


def _differ(expected: float, got: float, tolerance: Tolerance) -> bool:
    """Whether two float64 numbers certainly differ. NaN and infinite numbers may differ even if this is False."""
    return abs(got - expected) > tolerance.absolute + tolerance.relative * abs(expected)
