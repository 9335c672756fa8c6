"""Compute the checks of an exercise: run the spec's oracle and mistakes on its cases."""

from __future__ import annotations

import inspect
import sys
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from grader.checking.case import Checks, Observation
from grader.checking.compare import agree, named_outputs
from grader.checking.describe import describe, remedy
from grader.checking.drivers import DRIVERS, drive
from grader.checking.settle import settled, with_outcomes
from grader.checking.verdict import Problem
from grader.codec import Raised, first_opaque, freeze
from grader.manifest import Place
from grader.released import load_own_judge, read_fixtures
from grader.spec.altered_inputs import Oracle, altered_inputs
from grader.spec.changes import Change, ChangeError, define
from grader.spec.folders import fixtures_path, judge_path, spec_path
from grader.spec.gates import Gates, Inside, altered_gates
from grader.spec.load import SpecError, load_spec, reference_code, reference_module
from grader.spec.slopes import slopes
from grader.spec.spec import Spec

PUBLIC_SEED = 0
RAISES = "raises "  # how the kind of a case begins whose expected outcome is an exception: "raises IndexError"


def public_checks(root: Path, place: Place) -> Checks:
    """The checks in a student's notebook: the example and the cases of the public seed."""
    return make_checks(root, place, PUBLIC_SEED, example=True)


def make_checks(root: Path, place: Place, seed: int, example: bool, spec: Spec | None = None) -> Checks:
    """The checks on the cases of this seed, preceded by the example if asked. Runs the oracle; it may import torch. The
    spec is loaded unless it is given.
    """
    spec = spec or load_spec(root, place)
    checks = expected_checks(root, place, spec, seed, example)
    if spec.oracle is None:
        return checks
    oracle, gates = _of_case(spec.oracle, "call", checks), _solutions_in_other_orders(root, place, spec, checks)
    return replace(
        checks,
        mistakes={
            name: tuple(mistaken(function, checks) for function in entry.functions)
            for name, entry in spec.named_mistakes.items()
        },
        altered_inputs=altered_inputs(
            checks,
            defaults_of(spec.oracle),
            oracle,
            (cases for of, ways in gates for cases in altered_gates(of, checks.cases, checks.outputs, oracle, ways)),
        ),
    )


def expected_checks(root: Path, place: Place, spec: Spec, seed: int, example: bool) -> Checks:
    """These checks without mistakes and altered inputs, so that nothing runs but the oracle, if there is one."""
    drawn = draw_checks(root, place, spec, seed, example)
    if spec.oracle is None:
        return drawn
    _use_one_thread()
    return replace(drawn, expected=_expected(spec.oracle, drawn))


def draw_checks(root: Path, place: Place, spec: Spec, seed: int, example: bool) -> Checks:
    """The cases of this seed, preceded by the example if asked, without expected values, so no function is run."""
    name = place.exercise.id
    own_path = judge_path(root, place)
    own = load_own_judge(own_path) if own_path.exists() else None
    if (own is None) == (spec.oracle is None):
        raise SpecError(f"{spec_path(root, place)}: needs either an oracle or a file {own_path.name}, not both")
    if own is not None:
        for mistake in sorted(set(own.matches) ^ set(spec.named_mistakes)):
            lacking = "the spec has no mistake" if mistake in own.matches else "`MATCHES` has no entry"
            raise SpecError(f"{own_path}: {lacking} {mistake!r}; the names of both must be the same")
    generated = spec.cases(np.random.default_rng([seed, zlib.crc32(name.encode())]))
    cases = tuple([spec.example, *generated] if example else generated)
    for case in cases:
        for key, value in case.inputs.items():
            _refuse_opaque(f"{name}: case {case.name!r}: its input", key, freeze(value))
    return Checks(
        id=name,
        driver=spec.driver,
        outputs=tuple(spec.outputs),
        tolerance=spec.tolerance,
        facets=tuple(spec.facets),
        cases=cases,
        own=own,
        fixtures=read_fixtures(fixtures_path(root, place.chapter)),
    )


def mistaken(function: Callable[..., Any], checks: Checks) -> tuple[Observation, ...]:
    """The observations of a mistake. Only the type of an exception is kept, because its text and lines would show
    the source.

    Gradients, which take long, are recorded only of a mistake that gives the right values. Any other is known by its
    values, so it is run on cases on which nothing but values is observed.
    """
    values_only, found = DRIVERS[checks.driver].values_only, None
    if values_only is not None:
        values = _observe(function, checks.driver, replace(checks, cases=tuple(map(values_only, checks.cases))))
        found = None if _are_as_expected(checks, values) else values
    if found is None:
        found = _observe(function, checks.driver, checks)
    return tuple(replace(o, raised=Raised(o.raised.type, "")) if o.raised else o for o in found)


def _are_as_expected(checks: Checks, found: tuple[Observation, ...]) -> bool:
    outputs = tuple(output.name for output in checks.outputs)
    return all(agree(due, given, outputs, checks) for due, given in zip(checks.expected, found, strict=True))


def _solutions_in_other_orders(
    root: Path, place: Place, spec: Spec, checks: Checks
) -> list[tuple[Gates, list[Inside]]]:
    """The gates of the exercise, each with the solutions that use another order inside. Raises SpecError."""
    found = []
    for gates in spec.gates:
        problem = gates.problem(checks.cases, checks.outputs)
        if problem is not None:
            raise SpecError(f"{spec_path(root, place)}: `gates`: {problem}")
        module, code = reference_module(root, place), reference_code(root, place)
        inside = []
        for name, order, way in gates.ways():
            what = f"`{name}` in the order {', '.join(order)}"
            try:
                function = define(place.exercise.id, way.apply(code), module, what) if isinstance(way, Change) else way
            except ChangeError as error:
                where = f"{spec_path(root, place)}: `gates`: {what}"
                raise SpecError(f"{where}: {error}\nThe code is\n{code}") from error
            inside.append((name, order, _of_case(function, checks.driver, checks)))
        found.append((gates, inside))
    return found


def _use_one_thread() -> None:
    """Let PyTorch use one thread, because the oracles' arrays are small and more threads would only cost time."""
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)


def defaults_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The optional arguments of a function, with their default values."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def _of_case(function: Callable[..., Any], driver: str, drawn: Checks) -> Oracle:
    """A function from a case to the observation on it."""
    return lambda case: _observe(function, driver, replace(drawn, cases=(case,)))[0]


def _observe(function: Callable[..., Any], driver: str, drawn: Checks) -> tuple[Observation, ...]:
    """The observation on each case, without the calls that the function makes to callable inputs."""
    found = [replace(drive(driver, function, case, drawn.fixtures), calls={}) for case in drawn.cases]
    if drawn.driver == "module" and driver == "call":  # an oracle
        found = [with_outcomes(case, drawn.outputs, each) for case, each in zip(drawn.cases, found, strict=True)]
    return settled(drawn, found) if driver == drawn.driver else tuple(found)


def _expected(oracle: Callable[..., Any], drawn: Checks) -> tuple[Observation, ...]:
    observations = _observe(oracle, "call", drawn)  # an oracle is called directly, whatever students have to write
    for case, observation in zip(drawn.cases, observations, strict=True):
        raised = observation.raised
        due = case.kind.removeprefix(RAISES) if case.kind.startswith(RAISES) else ""
        if raised is not None and raised.type != due:
            raise SpecError(f"{drawn.id}: its oracle raises {raised.type} on case {case.name!r}: {raised.text}")
        if raised is None and due:
            raise SpecError(f"{drawn.id}: its oracle does not raise {due} on case {case.name!r}")
        if raised is not None:
            continue
        outputs = named_outputs(drawn.outputs, observation.result)
        if isinstance(outputs, Problem):
            raise SpecError(f"{drawn.id}: its oracle does not return its outputs on case {case.name!r}: {outputs.text}")
        for key, value in observation.outcomes.items():
            if not isinstance(value, np.ndarray) or value.dtype != np.float64 or value.ndim < 2:
                raise SpecError(
                    f"{drawn.id}: case {case.name!r}: {key} is random, so its oracle has to return the results for "
                    f"every mask of dropout as one array, along a new first axis; it returns {describe(value)}"
                )
        for key, value in outputs.items():
            _refuse_opaque(f"{drawn.id}: case {case.name!r}: its oracle's", key, value)
    if drawn.driver == "module":
        of_case = _of_case(oracle, "call", drawn)
        pairs = zip(drawn.cases, observations, strict=True)
        observations = tuple(replace(o, gradients=slopes(case, drawn.outputs, of_case)) for case, o in pairs)
    return tuple(replace(o, raised=Raised(o.raised.type, o.raised.text)) if o.raised else o for o in observations)


def _refuse_opaque(whose: str, name: str, value: Any) -> None:
    """Refuse a value that the codec cannot store, because it would equal any other of its type. Raises SpecError."""
    found = first_opaque(value, name)
    if found is not None:
        place, opaque = found
        raise SpecError(
            f"{whose} `{place}` is {describe(opaque)}, which cannot be recorded{remedy(opaque)}. "
            "Use arrays, numbers, strings, None, and lists, tuples and dicts of these."
        )
