"""Patterns of mistakes that can occur in any exercise: a sign, a transpose, a delay of one step, a constant factor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from grader.checking.case import TIME_AXES, Case, Checks, Facet, Observation, Output
from grader.checking.compare import Array, close, named_outputs
from grader.checking.diagnose.evidence import facets_prefix, failed_cases, is_real
from grader.checking.numbers import rounded
from grader.checking.verdict import CaseResult, Diagnosis, Problem

MAX_DECIMALS = 6  # rounding to more decimals is not looked for

# A rule gets all wrong results, each as (case, output, got, expected), and must explain every one of them.
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
    """The pattern that explains everything that is wrong, or None. With `by_output`, the first pattern that explains
    everything that is wrong with one of the outputs.
    """
    if not by_output:
        whole = _pattern_of(checks, observations, results, failing, rule)
        prefix = facets_prefix(failing if len(failing) < len(checks.facets) else ())
        return whole and replace(whole, text=prefix + whole.text)
    outputs = [facet for facet in failing if facet.outputs is not None and len(failing) > 1]
    found = [(f, _pattern_of(checks, observations, results, [f], rule)) for f in outputs]
    first = next((diagnosis for _, diagnosis in found if diagnosis is not None), None)
    explained = [facet for facet, diagnosis in found if diagnosis == first]
    return first and replace(first, text=facets_prefix(explained) + first.text)


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
    """The pattern that explains exactly these results, or None."""
    for name, explains, text in _PATTERNS:
        if explains(wrong, checks):
            return Diagnosis(name, in_steps(wrong, text))
    return _rounded(wrong, checks) or _cut_off(wrong, checks) or _constant_factor(wrong, checks)


def in_steps(wrong: list[Wrong], text: str) -> str:
    """The text with the name and symbol of the first wrong result's time axis filled in."""
    time = wrong[0][1].time or "T"
    return text.format(step=TIME_AXES[time], t=time.lower())


def _wrong_arrays(checks: Checks, index: int, observation: Observation, result: CaseResult) -> list[Wrong] | None:
    """The wrong outputs of one case as arrays; None if there is a problem that no pattern can explain."""
    if checks.own is not None or observation.raised is not None:
        return None
    got = named_outputs(checks.outputs, observation.result)
    expected = named_outputs(checks.outputs, checks.expected[index].result)
    if isinstance(got, Problem) or isinstance(expected, Problem):
        return None
    names = {problem.output for problem in result.problems}
    if None in names:
        return None
    pairs = [(o, got[o.name], expected[o.name]) for o in checks.outputs if o.name in names]
    if not all(is_real(g) and is_real(e) for _, g, e in pairs):
        return None
    return [(checks.cases[index], output, np.asarray(g), np.asarray(e)) for output, g, e in pairs]


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
    """Turn a rule for a result with its time axis in front into a rule for all wrong results. At least one of them must
    have three steps or more.
    """

    def explains(wrong: list[Wrong], checks: Checks) -> bool:
        pairs = []
        for _, output, got, expected in wrong:
            if expected.dtype.kind != "f":
                return False  # shifted ids may agree by coincidence
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
    """The constant factor of all wrong results, or the size of the case by which each was multiplied or divided."""
    factors = []
    for _, _, got, expected in wrong:
        floats = expected.dtype.kind == got.dtype.kind == "f"
        if not floats or got.shape != expected.shape or not (expected != 0).any():
            return None  # a multiple of an id is just another id
        scale = float(np.sum(got * expected) / np.sum(expected * expected))
        if scale == 0 or not np.isfinite(scale) or not matches(got, scale * expected, checks):
            return None
        factors.append(scale)
    if len({case.name for case, *_ in wrong}) < 2:
        return None
    if np.allclose(factors, factors[0], rtol=max(checks.tolerance.of(e.dtype).relative for *_, e in wrong)):
        factor = f"{rounded(factors[0]):.6g}"
        if factor == "1":
            return None  # too near to 1 to be shown
        return Diagnosis(
            "constant_factor",
            f"Every number is off by the same factor: yours are {factor} times the expected ones.",
        )
    return _mean_for_sum(wrong, factors)


def _mean_for_sum(wrong: list[Wrong], factors: list[float]) -> Diagnosis | None:
    """The only size (B, T, …) by which every result was divided or multiplied."""
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
    """The smallest number of decimals to which every number of every wrong result is rounded."""
    floats = all(got.dtype == e.dtype == np.float64 for *_, got, e in wrong)  # an id is not a rounded number
    if not floats or not all(got.shape == e.shape and np.isfinite(got).all() for *_, got, e in wrong):
        return None
    for decimals in range(1, MAX_DECIMALS + 1):
        if all(
            np.array_equal(got, np.round(got, decimals)) and (np.abs(got - e) <= 0.501 * 10.0**-decimals).all()
            for *_, got, e in wrong
        ):
            text = f"The numbers are right, but rounded to {decimals} decimals. Return them unrounded."
            return Diagnosis("rounded", text.replace("1 decimals", "one decimal"))
    return None


def _cut_off(wrong: list[Wrong], checks: Checks) -> Diagnosis | None:
    """The limits to which all wrong results are clipped. Several numbers must lie outside them and several inside."""
    if not all(e.dtype.kind == got.dtype.kind == "f" and got.shape == e.shape for *_, got, e in wrong):
        return None
    pairs = zip(*(w[2:] for w in wrong), strict=True)
    ours, expected = (np.concatenate([each.ravel() for each in arrays]) for arrays in pairs)
    differs = ~close(expected, ours, checks.tolerance)
    low, high = ours[differs & (ours > expected)], ours[differs & (ours < expected)]
    if not all((cut == cut[:1]).all() for cut in (low, high)):
        return None
    lowest, highest = (float(cut[0]) if cut.size else end for cut, end in ((low, -np.inf), (high, np.inf)))
    clipped = np.minimum(np.maximum(expected, lowest), highest)
    several = all(len(np.unique(each)) > 1 for each in (expected[differs], expected[~differs]))
    if not several or not close(clipped, ours, checks.tolerance).all():
        return None
    ends = [f"below {lowest:.6g}"] * bool(low.size) + [f"above {highest:.6g}"] * bool(high.size)
    return Diagnosis("cut_off", f"The numbers are right, but clipped {' and '.join(ends)}.")
