"""The judge: structure first, then values; it never broadcasts, and it locates the slip."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from grader.checking.case import Case, Checks, Observation, Output, Tolerance
from grader.checking.verdict import CaseResult, Grid, Problem
from grader.codec import MAX_TEXT, Fixture, Opaque

Array = np.ndarray[Any, Any]

TINY = 20  # numbers in a case's arrays, up to which a report writes them out
LONG = 1_000  # characters of a call, beyond which a report does not write it out
GRID_ROWS, GRID_COLUMNS = 16, 20  # what a report's picture shows at most


def judge(checks: Checks, index: int, observation: Observation) -> CaseResult:
    """Compare what was observed on case `index` with what is expected there."""
    case = checks.cases[index]
    problems = problems_of_call(observation)
    if not problems and checks.own is not None:
        problems = list(checks.own.judge(case, observation))
    elif not problems:
        problems = problems_of_result(checks, checks.expected[index], observation)
    if len(checks.outputs) > 1:
        problems = [replace(p, text=f"{p.output}: {p.text}") if p.output else p for p in problems]
    problems += _problems_of_inputs(case, observation)
    return CaseResult(
        case.name, call_text(checks.id, case), returned_text(checks.outputs, observation), tuple(problems)
    )


def problems_of_call(observation: Observation) -> list[Problem]:
    """What is wrong before any value is looked at: it raised, or it returned nothing."""
    if observation.raised is not None:
        raised = observation.raised
        text = f"{raised.type}: {raised.text}" if raised.text.strip() else raised.type
        return [Problem("raised", text[:MAX_TEXT], lines=tuple(line.text for line in raised.lines[-3:]))]
    if observation.result is None:
        return [Problem("none", "a result, and None came back: does the function end with `return`?")]
    return []


def problems_of_result(checks: Checks, expected: Observation, observation: Observation) -> list[Problem]:
    """What is wrong with each of the results, by name."""
    results = named_outputs(checks.outputs, observation.result)
    if isinstance(results, Problem):
        return [results]
    due = named_outputs(checks.outputs, expected.result)
    if isinstance(due, Problem):
        raise ValueError(f"{checks.id}: its oracle's result does not fit its outputs: {due.text}")
    problems = []
    for output in checks.outputs:
        problem = compare(output, due[output.name], results[output.name], checks.tolerance)
        if problem is not None:
            problems.append(problem)
    return problems


def _problems_of_inputs(case: Case, observation: Observation) -> list[Problem]:
    changed = [name for name in case.inputs if name in observation.changed]
    if not changed:
        return []
    names = " and ".join(f"`{name}`" for name in changed)
    verb = "are" if len(changed) > 1 else "is"
    return [
        Problem(
            "changed",
            f"{names} {verb} changed by the call; leave inputs as they were: "
            f"`{changed[0]} = {changed[0]} + …` makes a new array, `{changed[0]} += …` changes the old one",
        )
    ]


def named_outputs(outputs: tuple[Output, ...], result: Any) -> dict[str, Any] | Problem:
    """The result by name: one output is the result itself, several come as a tuple in the order given."""
    if len(outputs) == 1:
        return {outputs[0].name: result}
    names = ", ".join(output.name for output in outputs)
    if not isinstance(result, tuple | list) or len(result) != len(outputs):
        return Problem("count", f"{len(outputs)} results, `return {names}`; got {describe(result)}")
    return {output.name: value for output, value in zip(outputs, result, strict=True)}


def compare(output: Output, expected: Any, got: Any, tolerance: Tolerance) -> Problem | None:
    """The first thing wrong with one output, or None. Kinds: type, shape, dtype, not_finite, values."""
    if isinstance(expected, np.ndarray) and expected.ndim > 0:
        return _compare_arrays(output, expected, got, tolerance)
    if isinstance(expected, float | int | np.ndarray) and np.asarray(expected).dtype.kind in _SCALARS:
        return _compare_scalars(output, np.asarray(expected), got, tolerance)
    if isinstance(expected, list | tuple):
        return _compare_sequences(output, expected, got, tolerance)
    if isinstance(expected, dict):
        return _compare_dicts(output, expected, got, tolerance)
    if type(expected) is type(got) and expected == got:
        return None
    return Problem("values", f"its value: got {describe(got)}, expected {describe(expected)}", output.name)


def _compare_arrays(output: Output, expected: Array, got: Any, tolerance: Tolerance) -> Problem | None:
    if not isinstance(got, np.ndarray):
        remedy = "; `np.array(…)` makes an array of it" if isinstance(got, list | tuple) else ""
        return Problem("type", f"a NumPy array of shape {expected.shape}; got {describe(got)}{remedy}", output.name)
    if got.shape != expected.shape:
        axes = f", that is ({', '.join(output.axes)})" if len(output.axes) == expected.ndim else ""
        return Problem("shape", f"got {got.shape}, expected {expected.shape}{axes}", output.name)
    if got.dtype.kind != expected.dtype.kind or (got.dtype.kind in "fc" and got.dtype != expected.dtype):
        return Problem("dtype", f"got {got.dtype}, expected {expected.dtype}", output.name)
    return _compare_values(output, expected, got, tolerance)


def _compare_scalars(output: Output, expected: Array, got: Any, tolerance: Tolerance) -> Problem | None:
    kinds, what = _SCALARS[expected.dtype.kind]
    is_array = isinstance(got, np.ndarray) and got.ndim == 0
    if not (isinstance(got, bool | int | float) or is_array):
        return Problem("type", f"{what}; got {describe(got)}", output.name)
    value = np.asarray(got)
    if value.dtype.kind == "O":  # an integer beyond 64 bits
        return Problem("values", f"its value: got {describe(got)}, expected {expected}", output.name)
    if (value.dtype.kind == "b") != (expected.dtype.kind == "b"):
        return Problem("type", f"{what}; got {describe(got)}", output.name)
    if value.dtype.kind not in kinds or (is_array and value.dtype.kind in "fc" and value.dtype != expected.dtype):
        return Problem("dtype", f"got {value.dtype}, expected {expected.dtype}", output.name)
    return _compare_values(output, expected, value.astype(expected.dtype), tolerance)


# For the dtype kind of a scalar that is due: the kinds that may stand for it, and what to call it.
_SCALARS = {
    "b": ("b", "True or False"),
    "i": ("iu", "an integer"),
    "u": ("iu", "an integer"),
    "f": ("iuf", "a number"),
    "c": ("iufc", "a complex number"),
}


def _compare_sequences(output: Output, expected: Any, got: Any, tolerance: Tolerance) -> Problem | None:
    if not isinstance(got, list | tuple):
        return Problem("type", f"a {type(expected).__name__}; got {describe(got)}", output.name)
    if len(got) != len(expected):
        return Problem("shape", f"got {len(got)} entries, expected {len(expected)}", output.name)
    for index, (due, value) in enumerate(zip(expected, got, strict=True)):
        problem = compare(output, due, value, tolerance)
        if problem is not None:
            return Problem(problem.kind, f"entry {index}: {problem.text}", output.name)
    return None


def _compare_dicts(output: Output, expected: Any, got: Any, tolerance: Tolerance) -> Problem | None:
    if not isinstance(got, dict):
        return Problem("type", f"a dict; got {describe(got)}", output.name)
    for key in expected:
        if key not in got:
            return Problem("count", f"a dict with the key {key!r}, which is missing", output.name)
    for key in got:
        if key not in expected:
            return Problem("count", f"a dict without the key {describe(key)}", output.name)
    for key, due in expected.items():
        problem = compare(output, due, got[key], tolerance)
        if problem is not None:
            return Problem(problem.kind, f"key {key!r}: {problem.text}", output.name)
    return None


def _compare_values(output: Output, expected: Array, got: Array, tolerance: Tolerance) -> Problem | None:
    right = close(expected, got, tolerance)
    if right.all():
        return None
    wrong = ~right
    first = tuple(int(i) for i in np.argwhere(wrong)[0]) if expected.ndim else ()
    if "T" in output.axes[: expected.ndim] and expected.ndim == len(output.axes):
        axis = output.axes.index("T")  # the wrong step that is computed first, then the first place within it
        steps = np.flatnonzero(wrong.any(axis=tuple(a for a in range(wrong.ndim) if a != axis)))
        step = int(steps[-1 if output.backward else 0])
        within = np.argwhere(np.take(wrong, step, axis))[0]
        first = (*(int(i) for i in within[:axis]), step, *(int(i) for i in within[axis:]))
    if not np.isfinite(got).all() and np.isfinite(expected).all():
        bad = np.argwhere(~np.isfinite(got))[0]
        where = f"[{', '.join(map(str, bad))}]" if expected.ndim else ""
        text = f"{output.name}{where} is {got[tuple(bad)]}, expected {expected[tuple(bad)]:.4g}"
        return Problem("not_finite", text, output.name)
    got_text, expected_text = apart(got[first], expected[first])
    if not expected.ndim:
        return Problem("values", f"its value: got {got_text}, expected {expected_text}", output.name)
    text = (
        f"{int(wrong.sum())} of {wrong.size} entries, first at [{', '.join(map(str, first))}]: "
        f"got {got_text}, expected {expected_text}"
    )
    where = _right_in_time(output, wrong, by_chance=expected.dtype.kind in "iub")
    return Problem("values", text + where, output.name, grid=_grid(output, wrong))


def _grid(output: Output, wrong: Array) -> Grid | None:
    """Where it is wrong, folded to two axes: time across if there is one, or ids, else the last; the next one down."""
    if wrong.size < 2 or len(output.axes) != wrong.ndim:
        return None
    across = next((output.axes.index(axis) for axis in ("T", "V") if axis in output.axes), wrong.ndim - 1)
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


def _right_in_time(output: Output, wrong: Array, by_chance: bool) -> str:
    """Where in time it goes wrong, if the output has a time axis and is right at its beginning or at its end: of its
    end nothing is said where entries may be right `by_chance`.
    """
    if "T" not in output.axes or len(output.axes) != wrong.ndim:
        return ""
    axis = output.axes.index("T")
    steps = np.asarray(wrong.any(axis=tuple(a for a in range(wrong.ndim) if a != axis)))
    first = int(np.argmax(steps))
    last = len(steps) - 1 - int(np.argmax(steps[::-1]))
    before = ":, " * axis
    if output.backward:
        if last < len(steps) - 1:
            place = f"{output.name}[{before}{last + 1}:]"
            return f"; {place} is right, and t = {last} (counted from 0) is the first wrong step of the walk back"
        return "; the last time step, where the walk back begins, is already wrong" if len(steps) > 1 else ""
    if first > 0:
        place = f"{output.name}[{before}:{first}]"
        return f"; {place} is right, and t = {first} (counted from 0) is the first wrong time step"
    if last < len(steps) - 1 and not by_chance:
        return f"; {output.name}[{before}{last + 1}:] is right, and t = {last} is the last wrong time step"
    return "; the first time step is already wrong" if len(steps) > 1 else ""


def close(expected: Array, got: Array, tolerance: Tolerance) -> Array:
    """Entry by entry, for arrays of one shape; NaN equals NaN, infinities equal themselves."""
    if got.dtype.kind not in "fc":
        return np.asarray(got == expected)
    with np.errstate(all="ignore"):
        near = np.abs(got - expected) <= tolerance.absolute + tolerance.relative * np.abs(expected)
    finite = np.isfinite(got) & np.isfinite(expected)
    return np.asarray((near & finite) | (got == expected) | (np.isnan(got) & np.isnan(expected)))


def agree(ours: Observation, theirs: Observation, outputs: tuple[str, ...], checks: Checks) -> bool:
    """Whether two observations show the same results in these outputs, or raise the same type of exception."""
    if ours.raised is not None or theirs.raised is not None:
        return ours.raised is not None and theirs.raised is not None and ours.raised.type == theirs.raised.type
    mine, other = (named_outputs(checks.outputs, o.result) for o in (ours, theirs))
    if isinstance(mine, Problem) or isinstance(other, Problem):
        return isinstance(mine, Problem) and isinstance(other, Problem) and mine.text == other.text
    return all(
        _same(output, mine[output.name], other[output.name], checks.tolerance)
        for output in checks.outputs
        if output.name in outputs
    )


def _same(output: Output, ours: Any, theirs: Any, tolerance: Tolerance) -> bool:
    """Whether `compare` finds nothing; arrays of one kind, the usual ones, need no words on where they differ."""
    arrays = isinstance(ours, np.ndarray) and isinstance(theirs, np.ndarray) and ours.ndim > 0
    if arrays and ours.shape == theirs.shape and ours.dtype == theirs.dtype:
        return bool(close(ours, theirs, tolerance).all())
    return compare(output, ours, theirs, tolerance) is None


def apart(got: Any, expected: Any) -> tuple[str, str]:
    """Two numbers in as many digits as it takes to tell them apart."""
    if np.asarray(got).dtype.kind in "iub":
        return str(got), str(expected)
    got, expected = got + 0, expected + 0  # −0 is 0
    for digits in (4, 6, 9, 12, 17):
        texts = f"{got:.{digits}g}", f"{expected:.{digits}g}"
        if texts[0] != texts[1]:
            break
    return texts


def describe(value: Any) -> str:
    """A value in a few words: 'float64 (2, 4)', 'a list of 3', 'None'."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}" if value.ndim else f"{value.dtype} {value}"
    if isinstance(value, Opaque) and value.type == "ndarray":
        return f"an array {value.text}"
    if isinstance(value, Opaque):
        return f"a value of type {value.type} {value.text}".rstrip()
    if isinstance(value, list | tuple | dict):
        return f"a {type(value).__name__} of {len(value)}"
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, int | float | str):
        text = repr(value)
        return f"{text[:60]}… ({type(value).__name__})" if len(text) > 60 else f"{text} ({type(value).__name__})"
    return f"a value of type {type(value).__name__}"


def returned_text(outputs: tuple[Output, ...], observation: Observation) -> str:
    """What came back, by name: 'h_t  float64 (2, 4)'."""
    if observation.raised is not None:
        return ""
    results = named_outputs(outputs, observation.result)
    if isinstance(results, Problem):
        return describe(observation.result)
    if len(results) == 1 and not isinstance(observation.result, np.ndarray):
        return describe(observation.result)
    return ", ".join(f"{name} {describe(value)}" for name, value in results.items())


def call_text(name: str, case: Case) -> str:
    """How the function was called. A tiny case is written out in full, to be pasted and followed by hand."""
    values = case.inputs.values()
    size = sum(value.size for value in values if isinstance(value, np.ndarray))
    if size <= TINY:
        inner = ",\n".join(f"  {key}={_literal(value)}" for key, value in case.inputs.items())
        if len(inner) <= LONG:
            return f"{name}(\n{inner})"
    return f"{name}({', '.join(f'{key}{_shape(value)}' for key, value in case.inputs.items())})"


def _literal(value: Any) -> str:
    """Python for a value, but for a function that has no short one."""
    match value:
        case np.ndarray():
            return f"np.array({value.tolist()})"
        case Fixture("rng", {"seed": seed}):
            return f"np.random.default_rng({seed})"
        case Fixture("quadratic", {"matrix": matrix, "linear": linear}):
            v = "theta.ravel()"
            return f"lambda theta: {v} @ {_literal(matrix)} @ {v} + {_literal(linear)} @ {v}"
        case Fixture():
            return "(a function)"
    return repr(value)


def _shape(value: Any) -> str:
    match value:
        case np.ndarray():
            return f" {value.shape}"
        case Fixture("rng"):
            return " (a random generator)"
        case Fixture():
            return " (a function)"
    return f"={value!r}"[:60]
