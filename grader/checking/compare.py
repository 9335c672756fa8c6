"""Compare a result with the expected one: structure first, then values, without broadcasting."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grader.checking.case import TIME_AXES, Checks, Observation, Output, Tolerance
from grader.checking.describe import cut, describe, remedy, short_apart, texts_apart
from grader.checking.numbers import apart, rounded
from grader.checking.verdict import Grid, Problem, ProblemKind
from grader.codec import Opaque

Array = np.ndarray[Any, Any]

GRID_ROWS, GRID_COLUMNS = 16, 20  # what a report's picture shows at most


def named_outputs(outputs: tuple[Output, ...], result: Any) -> dict[str, Any] | Problem:
    """The result by name: one output is the result itself, several come as a tuple in the order given."""
    if len(outputs) == 1:
        return {outputs[0].name: result}
    names = ", ".join(output.name for output in outputs)
    if not isinstance(result, tuple | list) or len(result) != len(outputs):
        return Problem("count", f"{len(outputs)} results, `return {names}`; got {describe(result)}")
    return {output.name: value for output, value in zip(outputs, result, strict=True)}


@dataclass(frozen=True)
class _At:
    """A place in a result: an output, and the keys on the way from there. Its problems say where they are if they are
    `named`, as those within a result always are.
    """

    output: Output
    tolerance: Tolerance
    named: bool
    path: tuple[Any, ...] = ()

    @property
    def name(self) -> str:
        """As Python writes it: 'merges[1][0]'."""
        return self.output.name + "".join(f"[{cut(repr(key))}]" for key in self.path)

    def entry(self, key: Any) -> _At:
        return _At(self.output, self.tolerance, True, (*self.path, key))

    def problem(self, kind: ProblemKind, text: str, grid: Grid | None = None) -> Problem:
        return Problem(kind, f"{self.name}: {text}" if self.named else text, self.output.name, grid=grid)

    def differs(self, text: str) -> Problem:
        """A single value that differs; the report names it even where it is the only one."""
        return replace(self, named=True).problem("values", text)

    def due(self, what: str, got: Any, kind: str = "") -> Problem:
        """A value of another type is expected; `kind` is `what` without its size. Within a result a list, a tuple or an
        array is offered no remedy: it may stand at the wrong level.
        """
        helps = "" if self.path and not isinstance(got, Opaque) else remedy(got, kind or what)
        return self.problem("type", f"{what}; got {describe(got)}{helps}")


def compare(output: Output, expected: Any, got: Any, tolerance: Tolerance, named: bool = False) -> Problem | None:
    """The first thing wrong with one output, or None. Kinds: type, count, shape, dtype, not_finite, values.

    The outermost list or tuple may be either; within a result a tuple is a tuple and a list is a list. What the codec
    does not carry (an Opaque) is never right. `named`: the text says which output it is about.
    """
    return _compare(_At(output, tolerance, named), expected, got)


def _compare(at: _At, expected: Any, got: Any) -> Problem | None:
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
        return at.due(describe(expected), got)
    return None if expected == got else at.differs(f"got {describe(got)}, expected {describe(expected)}")


def _compare_arrays(at: _At, expected: Array, got: Any) -> Problem | None:
    if not isinstance(got, np.ndarray):
        return at.due(f"a NumPy array of shape {expected.shape}", got, "an array")
    if got.shape != expected.shape:
        axes = at.output.axes
        names = f", that is ({', '.join(axes)})" if len(axes) == expected.ndim else ""
        return at.problem("shape", f"got {got.shape}, expected {expected.shape}{names}")
    if got.dtype.kind != expected.dtype.kind or (got.dtype.kind in "fc" and got.dtype != expected.dtype):
        return at.problem("dtype", f"got {got.dtype}, expected {expected.dtype}")
    return _compare_values(at, expected, got)


def _compare_scalars(at: _At, expected: Array, got: Any) -> Problem | None:
    kinds, what = _SCALARS[expected.dtype.kind]
    is_array = isinstance(got, np.ndarray) and got.ndim == 0
    if not (isinstance(got, bool | int | float) or is_array):
        return at.due(what, got, "a number")
    value = np.asarray(got)
    if value.dtype.kind == "O" or (value.dtype.kind in "iu" and expected.dtype.kind in "iu"):  # no cast would keep all
        right = int(value) == expected.item()
        return None if right else at.differs(f"got {cut(str(int(value)))}, expected {expected}")
    if (value.dtype.kind == "b") != (expected.dtype.kind == "b"):
        return at.due(what, got)
    if value.dtype.kind not in kinds or (is_array and value.dtype.kind in "fc" and value.dtype != expected.dtype):
        return at.problem("dtype", f"got {value.dtype}, expected {expected.dtype}")
    return _compare_values(at, expected, value.astype(expected.dtype))


# For each dtype kind of an expected scalar: the kinds that are accepted, and what to call them.
_SCALARS = {
    "b": ("b", "True or False"),
    "i": ("iu", "an integer"),
    "u": ("iu", "an integer"),
    "f": ("iuf", "a number"),
    "c": ("iufc", "a complex number"),
}


def _compare_texts(at: _At, expected: str, got: Any) -> Problem | None:
    if not isinstance(got, str):
        return at.due("a string", got)
    return None if got == expected else at.differs(texts_apart(got, expected))


def _compare_sequences(at: _At, expected: Any, got: Any) -> Problem | None:
    kind = f"a {type(expected).__name__}"
    if not isinstance(got, list | tuple) or (at.path and type(got) is not type(expected)):
        return at.due(f"{kind} of {len(expected)}", got, kind)
    pairs = enumerate(zip(expected, got, strict=False))
    problems = (_compare(at.entry(index), due, value) for index, (due, value) in pairs)
    first = next((problem for problem in problems if problem is not None), None)
    uneven = len(got) != len(expected)
    if (uneven or (first and first.kind == "values")) and (whole := short_apart(got, expected)):
        return at.differs(whole)
    if uneven:
        count = f"got {len(got)} {'entry' if len(got) == 1 else 'entries'}, expected {len(expected)}"
        common = min(len(got), len(expected))
        right = ("", "the first is right", f"the first {common} are right")[min(common, 2)]
        return at.differs("; ".join(filter(None, (count, first.text if first else right))))
    return first


def _compare_dicts(at: _At, expected: Any, got: Any) -> Problem | None:
    if not isinstance(got, dict):
        return at.due("a dict", got)
    for key in expected:
        if key not in got:
            return at.problem("count", f"a dict with the key {cut(repr(key))}, which is missing")
    for key in got:
        if key not in expected:
            return at.problem("count", f"a dict without the key {describe(key)}")
    for key, due in expected.items():
        problem = _compare(at.entry(key), due, got[key])
        if problem is not None:
            return problem
    return None


def _compare_values(at: _At, expected: Array, got: Array) -> Problem | None:
    right = close(expected, got, at.tolerance)
    if right.all():
        return None
    wrong = ~right
    output, first = at.output, tuple(int(i) for i in np.argwhere(wrong)[0]) if expected.ndim else ()
    axis = output.time_axis(expected.ndim)
    if axis is not None:  # the wrong step that is computed first, then the first place within it
        steps = np.flatnonzero(wrong.any(axis=tuple(a for a in range(wrong.ndim) if a != axis)))
        step = int(steps[-1 if output.backward else 0])
        within = np.argwhere(np.take(wrong, step, axis))[0]
        first = (*(int(i) for i in within[:axis]), step, *(int(i) for i in within[axis:]))
    if not np.isfinite(got).all() and np.isfinite(expected).all():
        bad = np.argwhere(~np.isfinite(got))[0]
        where = f"[{', '.join(map(str, bad))}]" if expected.ndim else ""
        text = f"{at.name}{where} is {got[tuple(bad)]}, expected {rounded(expected[tuple(bad)], 4):.4g}"
        return Problem("not_finite", text, output.name)
    got_text, expected_text = apart(got[first], expected[first], at.tolerance)
    values, place = f"got {got_text}, expected {expected_text}", f"[{', '.join(map(str, first))}]"
    if not expected.ndim:
        return at.differs(values)
    count, where = int(wrong.sum()), _right_in_time(at, wrong, by_coincidence=expected.dtype.kind in "iub")
    text = f"{count} of {wrong.size} entries, first at {place}: {values}"
    if at.path:
        text = f"{place}: {values}; {count} of {wrong.size} entries differ"
        return Problem("values", f"{at.name}{text}{where}", output.name, grid=_grid(output, wrong))
    return at.problem("values", text + where, _grid(output, wrong))


def _grid(output: Output, wrong: Array) -> Grid | None:
    """Where it is wrong, folded to two axes: time across if there is one, or ids, else the last; the next one down."""
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
    column = int(np.argmax(folded.any(axis=0)))  # the window holds the first wrong column, and one before it
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


def _right_in_time(at: _At, wrong: Array, by_coincidence: bool) -> str:
    """Say at which step the output goes wrong, if it has a time axis and is right at its beginning or its end. Nothing
    is said of its end where entries may be right `by_coincidence`.
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
    """Entry by entry, for arrays of one shape; NaN equals NaN, infinities equal themselves. What is expected in float32
    is compared as such. `share` is how much of the tolerance may be used.
    """
    if got.dtype.kind not in "fc":
        return np.asarray(got == expected)
    tolerance = tolerance.of(expected.dtype)
    with np.errstate(all="ignore"):
        bound = share * (tolerance.absolute + tolerance.relative * np.abs(expected))
        near = np.abs(got - expected) <= bound
        if near.all() and bound.max(initial=0.0) < np.inf:  # all of it is finite, as it mostly is
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
    """Whether `compare` finds nothing. Of numbers and arrays of one kind, the usual results, no words are made on where
    they differ.
    """
    if isinstance(ours, np.ndarray) and ours.ndim > 0:
        if not isinstance(theirs, np.ndarray) or ours.shape != theirs.shape:
            return False
        if ours.dtype == theirs.dtype:
            some = ours.size > 0 and ours.dtype.str == "<f8"  # most that differ do so at once
            return not (some and _apart(float(ours.flat[0]), float(theirs.flat[0]), tolerance)) and bool(
                close(ours, theirs, tolerance).all()
            )
    if type(ours) is type(theirs) is float and math.isfinite(ours) and math.isfinite(theirs):
        return not _apart(ours, theirs, tolerance)
    if type(ours) is type(theirs) and type(ours) in (int, bool, str):
        return bool(ours == theirs)
    if isinstance(ours, list | tuple) is not isinstance(theirs, list | tuple):
        return False
    return compare(output, ours, theirs, tolerance) is None


def _apart(expected: float, got: float, tolerance: Tolerance) -> bool:
    """Whether two float64 differ; said of what is not finite only where that is sure."""
    return abs(got - expected) > tolerance.absolute + tolerance.relative * abs(expected)
