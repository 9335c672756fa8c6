"""Afters: something done to a result at the end that should not be, or left out that should. They are tried at the
check, on what is expected and on what came; nothing is recorded for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from grader.checking.case import Checks, Observation, Output
from grader.checking.compare import close, compare, named_outputs
from grader.checking.diagnose.counterfactual import is_evidence, leaves, softmax
from grader.checking.diagnose.evidence import about
from grader.checking.verdict import CaseResult, Diagnosis, Problem
from grader.codec import freeze

LARGE = 100_000  # numbers in a result, beyond which nothing is tried


@dataclass(frozen=True)
class After:
    """`applied` is said where `change` of the expected result is the student's, `missing` where `change` of the
    student's is the expected one; nothing where it is empty. `{}` is an axis.
    """

    name: str
    change: Callable[..., Any]
    applied: str
    missing: str = ""


def after(noun: str, change: Callable[..., Any], asked: str = "", inverse: str = "") -> After:
    """One whose change has a name of its own, perhaps an `inverse`; `asked` where it is one too many, if not that."""
    name = noun.partition(" along ")[0].partition(" over ")[0]
    too_many, missing = f"Is there one {name} too many", f"Is the {name} missing"
    if inverse:
        too_many, missing = f"{too_many}, or is a {inverse} missing", f"{missing}, or is there one {inverse} too many"
    return After(
        noun,
        change,
        f"Your result is the {noun} of the expected one. {asked or too_many + '?'}",
        f"The {noun} of your result is the expected one. {missing}?",
    )


OF_KIND: dict[str, tuple[After, ...]] = {
    "f": (
        after("exponential", np.exp, inverse="logarithm"),
        after("square", np.square, inverse="root"),
        after("tanh", np.tanh),
        after("sigmoid", lambda a: 1 / (1 + np.exp(-a))),
        after("absolute value", np.abs, "Are the signs lost?"),
        After("complement", lambda a: 1 - a, "Your result is 1 minus the expected one. Which of the two is asked for?"),
    ),
    "i": (After("one more", lambda a: a + 1, "Every number is one too large.", "Every number is one too small."),),
    "b": (After("inverted", np.logical_not, "True and False are exchanged."),),
}
OF_SEQUENCES = (
    After("reversed", lambda v: v[::-1], "The entries are right, but in reverse order."),
    After("[0]", lambda v: v[0], "Only the first entry is there.", "Only the first entry of your result is expected."),
    After("[-1]", lambda v: v[-1], "Only the last entry is there.", "Only the last entry of your result is expected."),
    After("[1:]", lambda v: v[1:], "The first entry is missing.", "The first entry is one too many."),
    After("[:-1]", lambda v: v[:-1], "The last entry is missing.", "The last entry is one too many."),
)
_RESHAPED = "The right numbers are there, but a `reshape` has put them in other places. Is a transpose expected?"
OF_ARRAYS = (
    After(
        "squeeze",
        np.squeeze,
        "Axes of length 1 are missing. Does `squeeze` remove too much?",
        "There are axes of length 1 too many.",
    ),
    After("flat", np.ravel, "The numbers are right, but in an array of one axis."),
    After("reshape", lambda a: a.T.reshape(a.shape), *2 * (_RESHAPED,)),
    after("sum", np.sum),
    after("mean", np.mean),
)
ALONG = (
    After("squeeze of {}", np.squeeze, "", "There is an axis of length 1 too many: {}."),
    after("softmax along {}", softmax),
    after("argmax along {}", np.argmax, "Are the numbers themselves expected?"),
    *(after("sum over {}", partial(np.sum, keepdims=keep)) for keep in (False, True)),
    *(after("mean over {}", partial(np.mean, keepdims=keep)) for keep in (False, True)),
    after("maximum over {}", np.max),
    after("running sum along {}", np.cumsum),
    *(
        After(
            f"{which} entry along {{}}",
            partial(np.take, indices=index),
            f"Your result is the {which} entry of the expected one along {{}}. Is the rest lost?",
            f"Only the {which} entry of your result along {{}} is expected.",
        )
        for which, index in (("first", 0), ("last", -1))
    ),
    *(
        After(
            f"all but the {which} entry along {{}}",
            partial(np.delete, obj=index),
            f"The {which} entry along {{}} is missing; the others are right.",
            f"The {which} entry along {{}} is one too many; the others are right.",
        )
        for which, index in (("first", 0), ("last", -1))
    ),
    After("reversed along {}", np.flip, "The entries are right, but in reverse order along {}."),
    *(
        After("shifted along {}", partial(np.roll, shift=by), "The entries are right, but shifted by one along {}.")
        for by in (1, -1)
    ),
)


def _afters(value: Any, axes: Sequence[str]) -> Iterator[After]:
    """What may be done to a value; `axes` are the names of its axes, if they have names."""
    if isinstance(value, list | tuple | str):
        yield from OF_SEQUENCES
    if not isinstance(value, bool | int | float | np.ndarray) or np.size(value) > LARGE or np.ndim(value) > 4:
        return
    array = np.asarray(value)
    yield from (replace(a, change=lambda v, a=a: a.change(np.asarray(v))) for a in OF_KIND.get(array.dtype.kind, ()))
    names = axes if len(axes) == array.ndim else [f"`axis={i - array.ndim}`" for i in range(array.ndim)]
    for i, name in enumerate(names):
        for a in ALONG:
            yield After(a.name.format(name), partial(a.change, axis=i), a.applied.format(name), a.missing.format(name))
    for i, j in combinations(range(array.ndim), 2):
        swap = partial(np.swapaxes, axis1=i, axis2=j)
        yield After(
            f"axes {names[i]} and {names[j]} exchanged", swap, f"The axes {names[i]} and {names[j]} are exchanged."
        )
    yield from OF_ARRAYS if names else ()


@dataclass(frozen=True)
class _Place:
    """An output of a case: what is expected, what came, and whether that is wrong."""

    checks: Checks
    case: int
    output: Output
    due: Any
    got: Any
    wrong: bool

    def offered(self) -> Iterator[tuple[str, str, Callable[[], bool]]]:
        """What may have been done: its name, what is said of it, and whether it gives this result."""
        for a in _afters(self.due, self.output.axes):
            if a.applied:
                yield a.name, a.applied, partial(self._gives, a.change, self.due, self.got)
        for a in _afters(self.got, ()):
            if a.missing:
                yield f"{a.name} missing", a.missing, partial(self._gives, a.change, self.got, self.due)
        for name, value in self.checks.cases[self.case].inputs.items():
            if isinstance(value, np.ndarray | int | float | list | str):
                yield (
                    f"is {name}",
                    f"Your result is `{name}` itself.",
                    partial(self._gives, lambda v: v, value, self.got),
                )

    def _gives(self, change: Callable[[Any], Any], of: Any, wanted: Any) -> bool:
        try:
            with np.errstate(all="ignore"):
                made = freeze(change(of))
        except Exception:  # it cannot be done to this value
            return False
        if _is_array(made) and _is_array(wanted):  # they need no words on where they differ
            alike = (made.shape, made.dtype) == (wanted.shape, wanted.dtype)
            return alike and bool(close(wanted, made, self.checks.tolerance).all())
        return compare(self.output, wanted, made, self.checks.tolerance) is None


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim > 0


def done_at_the_end(
    checks: Checks, observations: Sequence[Observation], results: Sequence[CaseResult], by_output: bool = False
) -> Diagnosis | None:
    """The one thing at the end that explains all that is wrong; `by_output`: all that is wrong with an output."""
    problems = [problem for result in results for problem in result.problems]
    if checks.own is not None or any(o.raised for o in observations) or any(p.kind == "changed" for p in problems):
        return None
    wrong = [output for output in checks.outputs if any(p.output in (None, output.name) for p in problems)]
    for outputs in [[output] for output in wrong] if by_output else [wrong]:
        found = _behind([place for output in outputs for place in _places(checks, observations, results, output)])
        if found is not None:
            before = about([output.name for output in outputs]) if len(outputs) < len(checks.outputs) else ""
            return replace(found, text=before + found.text)
    return None


def _places(
    checks: Checks, observations: Sequence[Observation], results: Sequence[CaseResult], output: Output
) -> Iterator[_Place]:
    for i, (expected, ours, result) in enumerate(zip(checks.expected, observations, results, strict=True)):
        due, got = (named_outputs(checks.outputs, o.result) for o in (expected, ours))
        wrong = any(p.output in (None, output.name) for p in result.problems)
        if not isinstance(due, Problem):
            value = None if isinstance(got, Problem) else got[output.name]
            yield _Place(checks, i, output, due[output.name], value, wrong)


def _behind(places: Sequence[_Place]) -> Diagnosis | None:
    """What gives all of these results."""
    wrong = [place for place in places if place.wrong]
    largest = max(wrong, key=lambda place: sum(leaf.size for leaf in leaves(place.due)), default=None)
    for what, text, gives in largest.offered() if largest else ():
        if not gives() or (len(wrong) == 1 and what != "squeeze"):  # one result may look so for another reason
            continue
        ways = [(place, [way for other, _, way in place.offered() if other == what]) for place in places]
        shown = [(p.case, p.got, p.due) if what.endswith("missing") else (p.case, p.due, p.got) for p in wrong]
        if all(any(way() for way in some) or not (some or p.wrong) for p, some in ways) and is_evidence(shown):
            return Diagnosis(f"after: {what.replace('`', '')}", text)
    return None
