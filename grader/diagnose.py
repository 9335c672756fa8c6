"""Diagnosis: the likely cause of a wrong result, offered only where the evidence singles one out.

First the exercise's own misconceptions: a student's results, facet by facet and over all of its cases, against what
each named wrong implementation gives. Only if exactly one fits is it named. Where none fits, an exercise that this
one builds on may be wrong; then patterns that any exercise knows are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from grader.cases import Case, Checks, Facet, Observation, Output
from grader.judge import Array, agree, close, named_outputs
from grader.verdict import CaseResult, Diagnosis, Problem


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
    names = checks.own.matches if checks.own else checks.misconceptions
    fitting = [[name for name in names if _fits(checks, observations, results, facet, name)] for facet in failing]
    if all(fitting) or not _of_ids(checks):  # ids agree by chance: there, what else is wrong must have its cause too
        for found in fitting:
            if len(found) == 1:
                return Diagnosis(found[0], texts.get(found[0], ""))
    if wrong_needs and _may_come_from_below(results, wrong_needs):
        return _mend_first(wrong_needs)
    if any(fitting) or not failing:
        return None
    return _pattern(checks, observations, results, failing)


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


def _may_come_from_below(results: tuple[CaseResult, ...], wrong_needs: Sequence[str]) -> bool:
    """Whether all that is wrong is values, or an exception out of what this builds on: a wrong type is one's own."""
    problems = [problem for result in results for problem in result.problems]
    return bool(problems) and all(
        problem.kind in ("values", "not_finite")
        or (problem.kind == "raised" and any(f", in {name}:" in line for line in problem.lines for name in wrong_needs))
        for problem in problems
    )


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


def _fits(
    checks: Checks,
    observations: tuple[Observation, ...],
    results: tuple[CaseResult, ...],
    facet: Facet,
    name: str,
) -> bool:
    outputs = facet.outputs or tuple(output.name for output in checks.outputs)
    indices = range(len(checks.cases))
    covered = [index for index in indices if facet.covers(checks.cases[index], None)]
    telling = [i for i in failed_cases(checks, results, facet) if observations[i].raised is None]
    if checks.own is not None:
        matches = checks.own.matches[name]
        return bool(telling) and all(matches(checks.cases[i], observations[i]) for i in telling)
    return any(
        all(
            agree(observations[i], variant[i], outputs, checks)
            # on another facet's cases the mistake must show too, unless it gives what is due there
            or (i not in covered and agree(checks.expected[i], variant[i], outputs, checks))
            for i in indices
        )
        and all(set(variant[i].changed) <= set(observations[i].changed) for i in indices)
        and (
            any(variant[i].raised is None for i in telling)
            or (not telling and _raises_there_alone(checks, observations, variant, covered))
        )
        for variant in checks.misconceptions[name]
    )


def _raises_there_alone(
    checks: Checks, observations: tuple[Observation, ...], variant: tuple[Observation, ...], covered: list[int]
) -> bool:
    """Whether all cases of a facet raise what the mistake raises there, and all other cases, if any, give the same."""
    outputs = tuple(output.name for output in checks.outputs)
    return len(covered) < len(observations) and all(
        agree(ours, theirs, outputs, checks) and (ours.raised is not None) == (index in covered)
        for index, (ours, theirs) in enumerate(zip(observations, variant, strict=True))
    )


# Patterns: each is asked about every wrong result, as (case, output, got, expected), and must explain all of them.
Wrong = tuple[Case, Output, Array, Array]


def _pattern(
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
        wrong += found
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
        _in_time(_first_step_only),
        "The first time step is right and the second is not. What differs between them is what comes in "
        "from the step before.",
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
