"""Drivers: run a student's object on a case, observe the outcome, and write the call as text for a report.

A driver never raises an exception because of a student's code, except for KeyboardInterrupt: every other outcome is an
Observation.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grader.checking.calls import call_text, draws_text, module_text
from grader.checking.case import Case, Observation
from grader.checking.fixtures import BUILDERS, Builders, builders
from grader.checking.module_cases import values_only
from grader.checking.modules import run_module
from grader.checking.observing import FreshInputs, cannot_be_called, caught, plain
from grader.codec import Raised

AGAIN = 3  # calls in the second run of the driver "draws"


def call(function: Any, case: Case, builders: Builders = BUILDERS) -> Observation:
    """Call `function` once with the inputs of the case as keyword arguments. The observation includes the calls of
    callable inputs and whether numbers were drawn from random generators.
    """
    return _call(function, case, FreshInputs(case.inputs, builders))


def draws(function: Any, case: Case, builders: Builders = BUILDERS) -> Observation:
    """Call `function` several times with the same random generators, which continue from call to call.

    The input "draws" of the case is the number of calls; the other inputs are the arguments. The result is the list of
    all results. A second run starts with new generators of the same seeds, and its results are in `calls["again"]`: if
    they differ from the first ones, the function draws from something else. The first exception ends both runs.
    """
    inputs = dict(case.inputs)
    number = inputs.pop("draws")
    case = replace(case, inputs=inputs)
    fresh, found = FreshInputs(inputs, builders), [list[Any](), list[Any]()]
    for run, inputs_of_run, count in ((0, fresh, number), (1, FreshInputs(inputs, builders), min(number, AGAIN))):
        for _ in range(count):
            observation = _call(function, case, inputs_of_run)
            if observation.raised is not None:
                return observation
            found[run].append(observation.result)
    return Observation(result=found[0], changed=fresh.changed, calls={**fresh.calls, "again": found[1]})


def padded(function: Any, case: Case, builders: Builders = BUILDERS) -> Observation:
    """Call `function` as `call` does, and replace what the result contains at padded positions by 0.

    The input "lengths" (B,) of the case gives the number of real steps in each row. In a result (B, T, …), the entries
    of later steps are padding, where any value is right. The oracle has to leave 0 there.
    """
    observation = call(function, case, builders)
    lengths, result = case.inputs["lengths"], observation.result
    if not isinstance(result, np.ndarray) or result.ndim < 2 or len(result) != len(lengths):
        return observation
    padding = np.arange(result.shape[1]) >= lengths[:, None]  # (B, T)
    result = result.copy()
    result[padding] = np.zeros((), result.dtype)
    return replace(observation, result=result)


def _call(function: Any, case: Case, fresh: FreshInputs) -> Observation:
    try:
        with warnings.catch_warnings(module=warnings):  # passed explicitly, because a notebook may empty sys.modules
            warnings.simplefilter("ignore")  # the result is judged anyway, and under pytest a warning would be an error
            result = function(**fresh.inputs)
    except KeyboardInterrupt:  # the student interrupts a call that takes too long
        raise
    except BaseException as error:
        within = error.__traceback__ is not None and error.__traceback__.tb_next is not None
        if isinstance(error, TypeError) and not within and (problem := _wrong_call(function, case)):
            return Observation(raised=Raised("TypeError", problem))
        return Observation(raised=caught(error), changed=fresh.changed, calls=fresh.calls)
    return Observation(result=plain(result), changed=fresh.changed, calls=fresh.calls)


def _wrong_call(function: Any, case: Case) -> str:
    if not callable(function):
        kind = type(function).__name__
        return f"the check expects a function that takes ({', '.join(case.inputs)}); what you passed is of type {kind}"
    return cannot_be_called(function, case.inputs)


@dataclass(frozen=True)
class Driver:
    """A kind of exercise: how to run a student's object on a case, and how to write the call as text. If more than
    values is observed, `values_only` makes a cheaper case of a case, on which the same values are observed.
    """

    run: Callable[[Any, Case, Builders], Observation]
    call_text: Callable[[str, Case], str]
    values_only: Callable[[Case], Case] | None = None


DRIVERS = {
    "call": Driver(call, call_text),
    "draws": Driver(draws, draws_text),
    "module": Driver(run_module, module_text, values_only),
    "padded": Driver(padded, call_text),
}


def drive(driver: str, function: Any, case: Case, fixtures: str = "") -> Observation:
    """Run a student's object on a case with this driver. `fixtures` is the source of the chapter's own builders."""
    return DRIVERS[driver].run(function, case, builders(fixtures))
