"""Extra operations: an operation applied to the result that should not be, or omitted although it should be applied.

Each check tries them on the expected and on the returned results, so nothing is recorded for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from grader.checking.case import Checks, Observation, Output
from grader.checking.compare import close, compare, named_outputs, same_kind
from grader.checking.diagnose.altered_input import is_evidence, leaves, softmax
from grader.checking.diagnose.evidence import results_prefix
from grader.checking.verdict import CaseResult, Diagnosis, Problem
from grader.codec import freeze

MAX_SIZE = 100_000  # numbers in a result; nothing is tried on larger ones


@dataclass(frozen=True)
class Operation:
    """An operation `change` and its messages, in which `{}` is an axis. `applied` is shown if `change` turns the
    expected result into the student's, and `missing` if it turns the student's into the expected one. An empty message
    means that this direction is not tried. `once_is_enough` says that a single wrong result shows that it was applied;
    of any other operation one result may be that by coincidence.
    """

    name: str
    change: Callable[..., Any]
    applied: str
    missing: str = ""
    once_is_enough: bool = False


def operation(noun: str, change: Callable[..., Any], question: str = "", inverse: str = "") -> Operation:
    """Create an operation with the usual messages. `inverse` is the noun of the opposite operation, if there is one;
    `question` replaces the question that is asked if the operation was applied.
    """
    name = noun.partition(" along ")[0].partition(" over ")[0]
    too_many, missing = f"Is there one {name} too many", f"Is the {name} missing"
    if inverse:
        too_many, missing = f"{too_many}, or is a {inverse} missing", f"{missing}, or is there one {inverse} too many"
    return Operation(
        noun,
        change,
        f"Your result is the {noun} of the expected one. {question or too_many + '?'}",
        f"The {noun} of your result is the expected one. {missing}?",
    )


OF_KIND: dict[str, tuple[Operation, ...]] = {
    "f": (
        operation("exponential", np.exp, inverse="logarithm"),
        operation("square", np.square, inverse="root"),
        operation("tanh", np.tanh),
        operation("sigmoid", lambda a: 1 / (1 + np.exp(-a))),
        operation("absolute value", np.abs, "Are the signs lost?"),
        Operation(
            "complement", lambda a: 1 - a, "Your result is 1 minus the expected one. Which of the two is asked for?"
        ),
    ),
    "i": (Operation("one more", lambda a: a + 1, "Every number is one too large.", "Every number is one too small."),),
    "b": (Operation("inverted", np.logical_not, "True and False are exchanged."),),
}
OF_SEQUENCES = (
    Operation("sign", lambda v: [-each for each in v], "Every number has the right size but the wrong sign."),
    Operation("reversed", lambda v: v[::-1], "The entries are right, but in reverse order."),
    Operation(
        "[0]", lambda v: v[0], "Only the first entry is there.", "Only the first entry of your result is expected."
    ),
    Operation(
        "[-1]", lambda v: v[-1], "Only the last entry is there.", "Only the last entry of your result is expected."
    ),
    Operation("[1:]", lambda v: v[1:], "The first entry is missing.", "The first entry is one too many."),
    Operation("[:-1]", lambda v: v[:-1], "The last entry is missing.", "The last entry is one too many."),
)
_RESHAPED = "The right numbers are there, but a `reshape` has put them in other places. Is a transpose expected?"
OF_ARRAYS = (
    Operation(
        "squeeze",
        np.squeeze,
        "Axes of length 1 are missing. Does `squeeze` remove too much?",
        "There are axes of length 1 too many.",
        once_is_enough=True,
    ),
    Operation("flat", np.ravel, "The numbers are right, but in an array of one axis."),
    Operation("reshape", lambda a: a.T.reshape(a.shape), *2 * (_RESHAPED,)),
    operation("sum", np.sum),
    operation("mean", np.mean),
)
ALONG = (
    Operation("squeeze of {}", np.squeeze, "", "There is an axis of length 1 too many: {}."),
    operation("softmax along {}", softmax),
    operation("argmax along {}", np.argmax, "Are the numbers themselves expected?"),
    *(operation("sum over {}", partial(np.sum, keepdims=keep)) for keep in (False, True)),
    *(operation("mean over {}", partial(np.mean, keepdims=keep)) for keep in (False, True)),
    operation("maximum over {}", np.max),
    operation("running sum along {}", np.cumsum),
    *(
        Operation(
            f"{which} entry along {{}}",
            partial(np.take, indices=index),
            f"Your result is the {which} entry of the expected one along {{}}. Is the rest lost?",
            f"Only the {which} entry of your result along {{}} is expected.",
        )
        for which, index in (("first", 0), ("last", -1))
    ),
    *(
        Operation(
            f"all but the {which} entry along {{}}",
            partial(np.delete, obj=index),
            f"The {which} entry along {{}} is missing; the others are right.",
            f"The {which} entry along {{}} is one too many; the others are right.",
        )
        for which, index in (("first", 0), ("last", -1))
    ),
    Operation("reversed along {}", np.flip, "The entries are right, but in reverse order along {}."),
    *(
        Operation("shifted along {}", partial(np.roll, shift=by), "The entries are right, but shifted by one along {}.")
        for by in (1, -1)
    ),
)


def _operations(value: Any, axes: Sequence[str]) -> Iterator[Operation]:
    """The operations that apply to a value. `axes` are the names of its axes, if they have names."""
    if isinstance(value, list | tuple | str):
        yield from OF_SEQUENCES
    if not isinstance(value, bool | int | float | np.ndarray) or np.size(value) > MAX_SIZE or np.ndim(value) > 4:
        return
    array = np.asarray(value)
    for of_kind in OF_KIND.get(array.dtype.kind, ()):
        yield replace(of_kind, change=lambda v, change=of_kind.change: change(np.asarray(v)))
    names = axes if len(axes) == array.ndim else [f"`axis={i - array.ndim}`" for i in range(array.ndim)]
    for i, name in enumerate(names):
        for along in ALONG:
            messages = along.applied.format(name), along.missing.format(name)
            yield Operation(along.name.format(name), partial(along.change, axis=i), *messages)
    for i, j in combinations(range(array.ndim), 2):
        swap = partial(np.swapaxes, axis1=i, axis2=j)
        yield Operation(
            f"axes {names[i]} and {names[j]} exchanged", swap, f"The axes {names[i]} and {names[j]} are exchanged."
        )
    yield from OF_ARRAYS if names else ()


@dataclass(frozen=True)
class _Cause:
    """What may have led to a result: `change` turns `source` into `target`. One of the two is the student's result.

    If the operation is `missing`, it turns the student's result into the expected one.
    """

    name: str
    text: str
    change: Callable[[Any], Any]
    source: Any
    target: Any
    missing: bool = False
    once_is_enough: bool = False


@dataclass(frozen=True)
class _Place:
    """An output on one case: the expected and the returned value, and whether the latter is wrong."""

    checks: Checks
    case: int
    output: Output
    expected: Any
    got: Any
    wrong: bool

    def causes(self) -> Iterator[_Cause]:
        """All that may have led to the returned value."""
        for each in _operations(self.expected, self.output.axes):
            if each.applied:
                once = each.once_is_enough
                yield _Cause(each.name, each.applied, each.change, self.expected, self.got, once_is_enough=once)
        for each in _operations(self.got, ()):
            if each.missing:
                yield _Cause(f"{each.name} missing", each.missing, each.change, self.got, self.expected, missing=True)
        for name, value in self.checks.cases[self.case].inputs.items():
            if isinstance(value, np.ndarray | int | float | list | str):
                yield _Cause(f"is {name}", f"Your result is `{name}` itself.", lambda v: v, value, self.got)

    def agrees_with(self, name: str) -> bool:
        """Whether the cause of this name leads to the returned value. If there is none of this name here, the value has
        to be right.
        """
        causes = [cause for cause in self.causes() if cause.name == name]
        return any(map(self.comes_from, causes)) if causes else not self.wrong

    def comes_from(self, cause: _Cause) -> bool:
        """Whether the cause leads to the returned value."""
        try:
            with np.errstate(all="ignore"):
                made = freeze(cause.change(cause.source))
        except Exception:  # the operation does not apply to this value
            return False
        due, tolerance = cause.target, self.checks.tolerance
        if _is_array(made) and _is_array(due):  # `compare` would make a text about the difference
            alike = made.shape == due.shape and same_kind(made.dtype, due.dtype)
            return alike and bool(close(due, made, tolerance).all())
        return compare(self.output, due, made, tolerance) is None

    def evidence(self, missing: bool) -> tuple[int, Any, Any]:
        """The case with its two values for `is_evidence`: that to which an operation leads comes last."""
        return (self.case, self.got, self.expected) if missing else (self.case, self.expected, self.got)


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim > 0


def extra_operation(
    checks: Checks, observations: Sequence[Observation], results: Sequence[CaseResult], by_output: bool = False
) -> Diagnosis | None:
    """The extra or missing operation that explains everything that is wrong, or None. With `by_output`, it needs to
    explain only what is wrong with one output.
    """
    problems = [problem for result in results for problem in result.problems]
    if checks.own is not None or any(o.raised for o in observations) or any(p.kind == "changed" for p in problems):
        return None
    wrong = [output for output in checks.outputs if any(p.output in (None, output.name) for p in problems)]
    for outputs in [[output] for output in wrong] if by_output else [wrong]:
        found = _explanation([place for output in outputs for place in _places(checks, observations, results, output)])
        if found is not None:
            prefix = results_prefix([output.name for output in outputs]) if len(outputs) < len(checks.outputs) else ""
            return replace(found, text=prefix + found.text)
    return None


def _places(
    checks: Checks, observations: Sequence[Observation], results: Sequence[CaseResult], output: Output
) -> Iterator[_Place]:
    for i, (expected, ours, result) in enumerate(zip(checks.expected, observations, results, strict=True)):
        right, got = (named_outputs(checks.outputs, o.result) for o in (expected, ours))
        wrong = any(p.output in (None, output.name) for p in result.problems)
        if not isinstance(right, Problem):
            value = None if isinstance(got, Problem) else got[output.name]
            yield _Place(checks, i, output, right[output.name], value, wrong)


def _explanation(places: Sequence[_Place]) -> Diagnosis | None:
    """The first cause of the largest wrong result that explains all of these results, or None."""
    wrong = [place for place in places if place.wrong]
    if not wrong:
        return None
    largest = max(wrong, key=lambda place: sum(leaf.size for leaf in leaves(place.expected)))
    for cause in largest.causes():
        if (
            (len(wrong) > 1 or cause.once_is_enough)
            and largest.comes_from(cause)
            and all(place.agrees_with(cause.name) for place in places)
            and is_evidence([place.evidence(cause.missing) for place in wrong])
        ):
            return Diagnosis(f"after: {cause.name.replace('`', '')}", cause.text)
    return None
