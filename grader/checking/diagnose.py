"""Diagnosis: the likely cause of a wrong result, offered only where the evidence singles one out.

First the exercise's own misconceptions: a student's results, on all cases, against what each named wrong implementation
gives; all results together, then, unless they are right in another order, facet by facet. Only if exactly one fits is
it named. Where none fits, an exercise that this one builds on may be wrong; then patterns that any exercise knows are
tried, together and then by output.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np

from grader.checking.case import WHOLE, Case, Checks, Facet, Observation, Output
from grader.checking.judge import Array, agree, close, named_outputs
from grader.checking.verdict import CaseResult, Diagnosis, Problem


def diagnose(
    checks: Checks,
    observations: tuple[Observation, ...],
    results: tuple[CaseResult, ...],
    texts: Mapping[str, str],
    wrong_needs: Sequence[str] = (),
) -> Diagnosis | None:
    """The one cause that the evidence singles out, or None.

    `texts` holds the message of each misconception. `wrong_needs` names the exercises that this one builds on and
    that are wrong themselves: where no misconception of its own fits, that is the cause to mend first.
    """
    failing = [facet for facet in checks.facets if failed_cases(checks, results, facet)]
    if not failing:
        return None
    fits = partial(_fitting, checks, observations, results)
    whole = fits(WHOLE[0]) if len(checks.facets) > 1 else []  # a mistake that explains all that is wrong comes first
    if len(whole) == 1:
        return Diagnosis(whole[0], texts.get(whole[0], ""))
    if _in_another_order(checks, observations):
        due = ", ".join(output.name for output in checks.outputs)
        return Diagnosis("order", f"Every result is right, but they come in another order. Due is `return {due}`.")
    found = [(facet, fits(facet)) for facet in failing]
    fitting = [names for _, names in found]
    if all(fitting) or not _of_ids(checks):  # ids agree by chance: there, what else is wrong must have its cause too
        for names in fitting:
            if len(names) == 1:
                explained = [facet for facet, others in found if others == names]
                return Diagnosis(names[0], (_about(explained) if checks.own is None else "") + texts.get(names[0], ""))
    if wrong_needs and _may_come_from_below(observations, results, wrong_needs):
        return _mend_first(wrong_needs)
    if any(fitting):
        return None
    return _pattern(checks, observations, results, failing)


def _in_another_order(checks: Checks, observations: tuple[Observation, ...]) -> bool:
    """Whether on all cases the results are those that are due, after one and the same exchange of places."""
    names = tuple(output.name for output in checks.outputs)
    if (
        checks.own is not None
        or len(names) == 1
        or any(
            o.raised is not None or isinstance(named_outputs(checks.outputs, o.result), Problem) for o in observations
        )
    ):
        return False

    def right(order: tuple[int, ...]) -> bool:
        return all(
            agree(due, replace(ours, result=tuple(ours.result[place] for place in order)), names, checks)
            for due, ours in zip(checks.expected, observations, strict=True)
        )

    as_returned, *others = permutations(range(len(names)))
    return not right(as_returned) and any(map(right, others))


def _about(facets: Sequence[Facet]) -> str:
    """What a diagnosis that does not explain all at once begins with: the results that it does explain, if named."""
    *others, last = [facet.name for facet in facets if facet.outputs is not None] or [""]
    names = f"{', '.join(others)} and {last}" if others else last
    return f"For {names}: " if names else ""


def _of_ids(checks: Checks) -> bool:
    """Whether every number that is due is an integer, so that two results may well be equal for no reason."""
    numbers = [number for o in checks.expected for number in _numbers(o.result)]
    return bool(numbers) and all(np.asarray(number).dtype.kind in "iu" for number in numbers)


def _numbers(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [number for item in value for number in _numbers(item)]
    return [value] if _is_real(value) else []


def _may_come_from_below(
    observations: tuple[Observation, ...], results: tuple[CaseResult, ...], wrong_needs: Sequence[str]
) -> bool:
    """Whether all that is wrong is values, or an exception out of what this builds on: a wrong type is one's own."""
    kinds = {problem.kind for result in results for problem in result.problems}
    raised = [observation.raised for observation in observations if observation.raised is not None]
    from_below = all(any(line.function in wrong_needs for line in each.lines) for each in raised)
    return bool(kinds) and kinds <= {"values", "not_finite", "raised"} and from_below


def _mend_first(wrong_needs: Sequence[str]) -> Diagnosis:
    names = " and ".join(f"`{name}`" for name in wrong_needs)
    verb, it = ("were", "them") if len(wrong_needs) > 1 else ("was", "it")
    return Diagnosis(
        "needs",
        f"{names}, which this builds on, {verb} not right when last checked. Mend {it} first, then check again.",
    )


def failed_cases(checks: Checks, results: tuple[CaseResult, ...], facet: Facet) -> list[int]:
    """The indices of the cases on which this facet is wrong."""
    return [
        index
        for index, result in enumerate(results)
        if any(facet.covers(checks.cases[index], problem.output) for problem in result.problems)
    ]


def _fitting(
    checks: Checks, observations: tuple[Observation, ...], results: tuple[CaseResult, ...], facet: Facet
) -> list[str]:
    """The misconceptions that explain what is wrong with a facet. Of several, those that would also have spoilt an
    output which is right are dropped.
    """
    telling = [i for i in failed_cases(checks, results, facet) if observations[i].raised is None]
    if checks.own is not None:
        return [
            name
            for name, matches in checks.own.matches.items()
            if telling and all(matches(checks.cases[i], observations[i]) for i in telling)
        ]
    fitting = {
        name: [variant for variant in variants if _fits(checks, observations, telling, facet, variant)]
        for name, variants in checks.misconceptions.items()
    }
    names = [name for name, variants in fitting.items() if variants]
    if len(names) > 1:
        right = _right_outputs(checks, results)
        names = [name for name in names if any(_spares(checks, right, variant) for variant in fitting[name])] or names
    return names


def _fits(
    checks: Checks,
    observations: tuple[Observation, ...],
    telling: list[int],
    facet: Facet,
    variant: tuple[Observation, ...],
) -> bool:
    outputs = facet.outputs or tuple(output.name for output in checks.outputs)
    agrees = all(
        agree(observations[i], variant[i], outputs, checks)
        # on another facet's cases the mistake must show too, unless it gives what is due there
        or (not facet.covers(case, None) and agree(checks.expected[i], variant[i], outputs, checks))
        for i, case in reversed(list(enumerate(checks.cases)))  # the first cases are small, and much agrees there
    )
    if not agrees:  # as nearly all do not
        return False
    changes = all(set(theirs.changed) <= set(ours.changed) for ours, theirs in zip(observations, variant, strict=True))
    shown = any(variant[i].raised is None and _shows(checks, i, outputs, variant[i]) for i in telling) or (
        not telling and _raises_there_alone(checks, observations, variant, facet)
    )
    return changes and shown


def _shows(checks: Checks, index: int, outputs: tuple[str, ...], theirs: Observation) -> bool:
    """Whether a mistake does anything wrong to these outputs of a case; what gives the right ones explains nothing."""
    return bool(theirs.changed) or not agree(checks.expected[index], theirs, outputs, checks)


def _right_outputs(checks: Checks, results: tuple[CaseResult, ...]) -> tuple[str, ...]:
    """The outputs that are right on every case; none where a case is wrong as a whole."""
    wrong = {problem.output for result in results for problem in result.problems}
    return () if None in wrong else tuple(output.name for output in checks.outputs if output.name not in wrong)


def _spares(checks: Checks, right: tuple[str, ...], variant: tuple[Observation, ...]) -> bool:
    """Whether a mistake leaves these outputs right."""
    return not right or all(
        agree(due, theirs, right, checks) for due, theirs in zip(checks.expected, variant, strict=True)
    )


def _raises_there_alone(
    checks: Checks, observations: tuple[Observation, ...], variant: tuple[Observation, ...], facet: Facet
) -> bool:
    """Whether all cases of a facet raise what the mistake raises there, and all other cases, if any, give the same."""
    outputs = tuple(output.name for output in checks.outputs)
    covered = [facet.covers(case, None) for case in checks.cases]
    return not all(covered) and all(
        agree(ours, theirs, outputs, checks) and (ours.raised is not None) == inside
        for inside, ours, theirs in zip(covered, observations, variant, strict=True)
    )


# Patterns: each is asked about every wrong result, as (case, output, got, expected), and must explain all of them.
Wrong = tuple[Case, Output, Array, Array]


def _pattern(
    checks: Checks,
    observations: tuple[Observation, ...],
    results: tuple[CaseResult, ...],
    failing: list[Facet],
) -> Diagnosis | None:
    """The one pattern behind all that is wrong, or else the first that is behind all that is wrong with an output."""
    whole = _pattern_of(checks, observations, results, failing)
    if whole is not None and len(failing) < len(checks.facets):
        return replace(whole, text=_about(failing) + whole.text)
    if whole is not None or len(failing) == 1:
        return whole
    found = [(f, _pattern_of(checks, observations, results, [f])) for f in failing if f.outputs is not None]
    first = next((diagnosis for _, diagnosis in found if diagnosis is not None), None)
    return first and replace(first, text=_about([f for f, diagnosis in found if diagnosis == first]) + first.text)


def _pattern_of(
    checks: Checks,
    observations: tuple[Observation, ...],
    results: tuple[CaseResult, ...],
    failing: list[Facet],
) -> Diagnosis | None:
    wrong: list[Wrong] = []
    for index in sorted({index for facet in failing for index in failed_cases(checks, results, facet)}):
        found = _wrong_arrays(checks, index, observations[index], results[index])
        if found is None:
            return None
        wrong += [w for w in found if any(facet.covers(w[0], w[1].name) for facet in failing)]
    if not wrong:
        return None
    for name, explains, text in _PATTERNS:
        if explains(wrong, checks):
            return Diagnosis(name, text)
    return _constant_factor(wrong, checks)


def _wrong_arrays(checks: Checks, index: int, observation: Observation, result: CaseResult) -> list[Wrong] | None:
    """The wrong outputs of one case as arrays; None where something else is wrong, which no pattern can explain."""
    if checks.own is not None or observation.raised is not None:
        return None
    got = named_outputs(checks.outputs, observation.result)
    due = named_outputs(checks.outputs, checks.expected[index].result)
    if isinstance(got, Problem) or isinstance(due, Problem):
        return None
    names = {problem.output for problem in result.problems}
    if None in names:
        return None
    pairs = [(o, got[o.name], due[o.name]) for o in checks.outputs if o.name in names]
    if not all(_is_real(g) and _is_real(d) for _, g, d in pairs):
        return None
    return [(checks.cases[index], output, np.asarray(g), np.asarray(d)) for output, g, d in pairs]


def _is_real(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fiu"
    return isinstance(value, float | int) and not isinstance(value, bool)


def _matches(got: Array, expected: Array, checks: Checks) -> bool:
    return got.shape == expected.shape and got.size > 0 and bool(close(expected, got, checks.tolerance).all())


def _is_float32(wrong: list[Wrong], checks: Checks) -> bool:
    return all(
        got.dtype == np.float32
        and expected.dtype.kind == "f"
        and got.shape == expected.shape
        and np.allclose(got, expected, rtol=1e-4, atol=1e-5)
        for _, _, got, expected in wrong
    )


def _lost_precision(wrong: list[Wrong], checks: Checks) -> bool:
    return all(
        got.dtype == expected.dtype == np.float64
        and got.shape == expected.shape
        and np.allclose(got, expected, rtol=1e-5, atol=1e-6)
        and np.array_equal(got, got.astype(np.float32).astype(np.float64))
        for _, _, got, expected in wrong
    )


def _is_transposed(wrong: list[Wrong], checks: Checks) -> bool:
    return all(e.ndim == 2 and _matches(got.T, e, checks) for _, _, got, e in wrong)


def _is_negated(wrong: list[Wrong], checks: Checks) -> bool:
    return all(expected.dtype.kind == "f" and _matches(-got, expected, checks) for _, _, got, expected in wrong)


def _is_broadcast(wrong: list[Wrong], checks: Checks) -> bool:
    return all(
        e.ndim == 1 and e.size > 1 and got.shape == (e.size, e.size) and _matches(np.diag(got), e, checks)
        for _, _, got, e in wrong
    )


def _in_time(
    rule: Callable[[Array, Array, Checks], bool],
) -> Callable[[list[Wrong], Checks], bool]:
    """Ask a rule about results with their time axis in front, of which at least one has three steps or more."""

    def explains(wrong: list[Wrong], checks: Checks) -> bool:
        pairs = []
        for _, output, got, expected in wrong:
            if expected.dtype.kind != "f":
                return False  # a shifted row of ids may look right by chance
            if "T" not in output.axes or expected.ndim != len(output.axes) or got.shape != expected.shape:
                return False
            axis = output.axes.index("T")
            pairs.append((np.moveaxis(got, axis, 0), np.moveaxis(expected, axis, 0)))
        return max(len(got) for got, _ in pairs) > 2 and all(rule(got, e, checks) for got, e in pairs)

    return explains


def _first_step_only(got: Array, expected: Array, checks: Checks) -> bool:
    return len(got) > 1 and _matches(got[0], expected[0], checks) and not _matches(got[1], expected[1], checks)


def _walking_forward(
    rule: Callable[[list[Wrong], Checks], bool],
) -> Callable[[list[Wrong], Checks], bool]:
    """Ask a rule only of results whose steps are computed from the first to the last."""
    return lambda wrong, checks: not any(output.backward for _, output, *_ in wrong) and rule(wrong, checks)


def _on_two_cases(
    rule: Callable[[list[Wrong], Checks], bool],
) -> Callable[[list[Wrong], Checks], bool]:
    """Ask a rule that a single wrong result may fit by chance only where it is to explain several cases."""
    return lambda wrong, checks: len({id(case) for case, *_ in wrong}) > 1 and rule(wrong, checks)


def _one_step_late(got: Array, expected: Array, checks: Checks) -> bool:
    return len(got) == 1 or _matches(got[1:], expected[:-1], checks)


def _one_step_early(got: Array, expected: Array, checks: Checks) -> bool:
    return len(got) == 1 or _matches(got[:-1], expected[1:], checks)


_PATTERNS: tuple[tuple[str, Callable[[list[Wrong], Checks], bool], str], ...] = (
    (
        "float32",
        _is_float32,
        "The numbers are right, but in float32. The course's checks work in float64: look for `np.float32`, "
        "or for an array made with `dtype=`.",
    ),
    (
        "lost_precision",
        _lost_precision,
        "The numbers agree to about seven digits only: somewhere on the way they were rounded to float32.",
    ),
    (
        "transposed",
        _is_transposed,
        "The result is the transpose of what is due: rows and columns are swapped.",
    ),
    ("sign", _is_negated, "Every number has the right size and the wrong sign."),
    (
        "broadcast",
        _is_broadcast,
        "A vector is due and a square matrix came back. NumPy broadcast (N,) against (N, 1): "
        "bring both to one shape first.",
    ),
    (
        "one_step_late",
        _in_time(_one_step_late),
        "Every result stands one time step too late: what belongs at t stands at t + 1.",
    ),
    (
        "one_step_early",
        _in_time(_one_step_early),
        "Every result stands one time step too early: what belongs at t stands at t − 1.",
    ),
    (
        "first_step_only",
        _on_two_cases(_walking_forward(_in_time(_first_step_only))),
        "The first time step is right and the second is not. Look at what changes from one step to the next: "
        "what comes in from the step before, and every index that has to move along with the time.",
    ),
)


def _constant_factor(wrong: list[Wrong], checks: Checks) -> Diagnosis | None:
    """One number by which every entry of every wrong result is off, or one size of the case by which it was divided."""
    factors = []
    for _, _, got, expected in wrong:
        if expected.dtype.kind != "f" or got.shape != expected.shape or not (expected != 0).any():
            return None  # an id has no size: twice the id is another id
        scale = float(np.sum(got * expected) / np.sum(expected * expected))
        if scale == 0 or not np.isfinite(scale) or not _matches(got, scale * expected, checks):
            return None
        factors.append(scale)
    if len({case.name for case, *_ in wrong}) < 2:
        return None
    if np.allclose(factors, factors[0], rtol=1e-9):
        return Diagnosis(
            "constant_factor",
            f"Every number is off by the same factor: yours are {factors[0]:.6g} times what is due.",
        )
    return _mean_for_sum(wrong, factors)


def _mean_for_sum(wrong: list[Wrong], factors: list[float]) -> Diagnosis | None:
    """The one size of the cases by which every result is divided or multiplied."""
    found = []
    for symbol in wrong[0][0].sizes:
        sizes = [case.sizes.get(symbol, 0) for case, *_ in wrong]
        if len(set(sizes)) > 1 and np.allclose([f * s for f, s in zip(factors, sizes, strict=True)], 1):
            text = f"Every number is too small by the factor {symbol}: a mean over {symbol} in place of the sum?"
            found.append(Diagnosis("averaged", text))
        if len(set(sizes)) > 1 and np.allclose(factors, sizes):
            text = f"Every number is too large by the factor {symbol}: a sum over {symbol} in place of the mean?"
            found.append(Diagnosis("summed", text))
    return found[0] if len(found) == 1 else None
