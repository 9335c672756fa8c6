"""Mistakes that any exercise knows: a sign, a transpose, one step late, a constant factor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from grader.checking.case import TIME_AXES, Case, Checks, Facet, Observation, Output
from grader.checking.compare import Array, close, named_outputs
from grader.checking.diagnose.evidence import about_facets, failed_cases, is_real
from grader.checking.numbers import rounded
from grader.checking.verdict import CaseResult, Diagnosis, Problem

MOST_DECIMALS = 6  # to which a student may round a result

# Patterns: each is asked about every wrong result, as (case, output, got, expected), and must explain all of them.
Wrong = tuple[Case, Output, Array, Array]
Rule = Callable[[list[Wrong], Checks], Diagnosis | None]


def pattern(
    checks: Checks,
    observations: tuple[Observation, ...],
    results: tuple[CaseResult, ...],
    failing: list[Facet],
    rule: Rule,
    by_output: bool = False,
) -> Diagnosis | None:
    """The one pattern behind all that is wrong; `by_output`: the first behind all that is wrong with an output."""
    if not by_output:
        whole = _pattern_of(checks, observations, results, failing, rule)
        told = about_facets(failing if len(failing) < len(checks.facets) else ())
        return whole and replace(whole, text=told + whole.text)
    outputs = [facet for facet in failing if facet.outputs is not None and len(failing) > 1]
    found = [(f, _pattern_of(checks, observations, results, [f], rule)) for f in outputs]
    first = next((diagnosis for _, diagnosis in found if diagnosis is not None), None)
    return first and replace(first, text=about_facets([f for f, diagnosis in found if diagnosis == first]) + first.text)


def _pattern_of(
    checks: Checks,
    observations: tuple[Observation, ...],
    results: tuple[CaseResult, ...],
    failing: list[Facet],
    rule: Rule,
) -> Diagnosis | None:
    wrong: list[Wrong] = []
    for index in sorted({index for facet in failing for index in failed_cases(checks, results, facet)}):
        found = _wrong_arrays(checks, index, observations[index], results[index])
        if found is None:
            return None
        wrong += [w for w in found if any(facet.covers(w[0], w[1].name) for facet in failing)]
    return rule(wrong, checks) if wrong else None


def exact_pattern(wrong: list[Wrong], checks: Checks) -> Diagnosis | None:
    """The pattern that gives exactly these results."""
    for name, explains, text in _PATTERNS:
        if explains(wrong, checks):
            return Diagnosis(name, in_steps(wrong, text))
    return _rounded(wrong, checks) or _cut_off(wrong, checks) or _constant_factor(wrong, checks)


def in_steps(wrong: list[Wrong], text: str) -> str:
    """A text in the words of the first wrong result's time axis."""
    time = wrong[0][1].time or "T"
    return text.format(step=TIME_AXES[time], t=time.lower())


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
    if not all(is_real(g) and is_real(d) for _, g, d in pairs):
        return None
    return [(checks.cases[index], output, np.asarray(g), np.asarray(d)) for output, g, d in pairs]


def matches(got: Array, expected: Array, checks: Checks) -> bool:
    return got.shape == expected.shape and got.size > 0 and bool(close(expected, got, checks.tolerance).all())


def _is_float32(wrong: list[Wrong], checks: Checks) -> bool:
    return all(
        got.dtype == np.float32
        and expected.dtype == np.float64
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
    return all(e.ndim == 2 and matches(got.T, e, checks) for _, _, got, e in wrong)


def _is_negated(wrong: list[Wrong], checks: Checks) -> bool:
    return all(expected.dtype.kind == "f" and matches(-got, expected, checks) for _, _, got, expected in wrong)


def _is_broadcast(wrong: list[Wrong], checks: Checks) -> bool:
    return all(
        e.ndim == 1 and e.size > 1 and got.shape == (e.size, e.size) and matches(np.diag(got), e, checks)
        for _, _, got, e in wrong
    )


def in_time(
    rule: Callable[[Array, Array, Checks], bool],
) -> Callable[[list[Wrong], Checks], bool]:
    """Ask a rule about results with their time axis in front, of which at least one has three steps or more."""

    def explains(wrong: list[Wrong], checks: Checks) -> bool:
        pairs = []
        for _, output, got, expected in wrong:
            if expected.dtype.kind != "f":
                return False  # a shifted row of ids may look right by coincidence
            axis = output.time_axis(expected.ndim)
            if axis is None or got.shape != expected.shape:
                return False
            pairs.append((np.moveaxis(got, axis, 0), np.moveaxis(expected, axis, 0)))
        return max(len(got) for got, _ in pairs) > 2 and all(rule(got, e, checks) for got, e in pairs)

    return explains


def _one_step_late(got: Array, expected: Array, checks: Checks) -> bool:
    return len(got) == 1 or matches(got[1:], expected[:-1], checks)


def _one_step_early(got: Array, expected: Array, checks: Checks) -> bool:
    return len(got) == 1 or matches(got[:-1], expected[1:], checks)


_PATTERNS: tuple[tuple[str, Callable[[list[Wrong], Checks], bool], str], ...] = (
    (
        "float32",
        _is_float32,
        "The numbers are right, but in float32. The checks of this course use float64: look for `np.float32`, "
        "or for an array created with `dtype=`.",
    ),
    (
        "lost_precision",
        _lost_precision,
        "The numbers agree to only about seven digits: somewhere in your computation they were rounded to float32.",
    ),
    (
        "transposed",
        _is_transposed,
        "Your result is the transpose of the expected one: rows and columns are swapped.",
    ),
    ("sign", _is_negated, "Every number has the right size but the wrong sign."),
    (
        "broadcast",
        _is_broadcast,
        "You returned a square matrix instead of a vector. Give both operands the same shape first, because NumPy "
        "broadcasts (N,) against (N, 1) to (N, N).",
    ),
    (
        "one_step_late",
        in_time(_one_step_late),
        "Every result is one {step} too late: the one that belongs at {t} is at {t} + 1.",
    ),
    (
        "one_step_early",
        in_time(_one_step_early),
        "Every result is one {step} too early: the one that belongs at {t} is at {t} − 1.",
    ),
)


def _constant_factor(wrong: list[Wrong], checks: Checks) -> Diagnosis | None:
    """One number by which every entry of every wrong result is off, or one size of the case by which it was divided."""
    factors = []
    for _, _, got, expected in wrong:
        if expected.dtype.kind != "f" or got.shape != expected.shape or not (expected != 0).any():
            return None  # an id has no size: twice the id is another id
        scale = float(np.sum(got * expected) / np.sum(expected * expected))
        if scale == 0 or not np.isfinite(scale) or not matches(got, scale * expected, checks):
            return None
        factors.append(scale)
    if len({case.name for case, *_ in wrong}) < 2:
        return None
    if np.allclose(factors, factors[0], rtol=max(checks.tolerance.of(e.dtype).relative for *_, e in wrong)):
        return Diagnosis(
            "constant_factor",
            f"Every number is off by the same factor: yours are {rounded(factors[0]):.6g} times the expected ones.",
        )
    return _mean_for_sum(wrong, factors)


def _mean_for_sum(wrong: list[Wrong], factors: list[float]) -> Diagnosis | None:
    """The one size of the cases by which every result is divided or multiplied."""
    found = []
    for symbol in wrong[0][0].sizes:
        sizes = [case.sizes.get(symbol, 0) for case, *_ in wrong]
        if len(set(sizes)) > 1 and np.allclose([f * s for f, s in zip(factors, sizes, strict=True)], 1):
            text = f"Every number is too small by a factor of {symbol}: is it a mean over {symbol} instead of a sum?"
            found.append(Diagnosis("averaged", text))
        if len(set(sizes)) > 1 and np.allclose(factors, sizes):
            text = f"Every number is too large by a factor of {symbol}: is it a sum over {symbol} instead of a mean?"
            found.append(Diagnosis("summed", text))
    return found[0] if len(found) == 1 else None


def _rounded(wrong: list[Wrong], checks: Checks) -> Diagnosis | None:
    """The fewest decimals to which every number of every wrong result is rounded."""
    if not all(got.dtype == np.float64 and got.shape == e.shape and np.isfinite(got).all() for *_, got, e in wrong):
        return None
    for decimals in range(1, MOST_DECIMALS + 1):
        if all(
            np.array_equal(got, np.round(got, decimals)) and (np.abs(got - e) <= 0.501 * 10.0**-decimals).all()
            for *_, got, e in wrong
        ):
            text = f"The numbers are right, but rounded to {decimals} decimals. Return them unrounded."
            return Diagnosis("rounded", text.replace("1 decimals", "one decimal"))
    return None


def _cut_off(wrong: list[Wrong], checks: Checks) -> Diagnosis | None:
    """The limits beyond which every number of every wrong result is cut off: several are, and several lie within."""
    if not all(e.dtype.kind == got.dtype.kind == "f" and got.shape == e.shape for *_, got, e in wrong):
        return None
    ours, due = (np.concatenate([each.ravel() for each in some]) for some in zip(*(w[2:] for w in wrong), strict=True))
    apart = ~close(due, ours, checks.tolerance)
    low, high = ours[apart & (ours > due)], ours[apart & (ours < due)]
    if not all((cut == cut[:1]).all() for cut in (low, high)):
        return None
    lowest, highest = (float(cut[0]) if cut.size else end for cut, end in ((low, -np.inf), (high, np.inf)))
    kept = np.minimum(np.maximum(due, lowest), highest)
    several = all(len(np.unique(some)) > 1 for some in (due[apart], due[~apart]))
    if not several or not close(kept, ours, checks.tolerance).all():
        return None
    ends = [f"below {lowest:.6g}"] * bool(low.size) + [f"above {highest:.6g}"] * bool(high.size)
    return Diagnosis("cut_off", f"The numbers are right, but clipped {' and '.join(ends)}.")
