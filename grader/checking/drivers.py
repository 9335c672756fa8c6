"""Drivers: how to run a student's object on one case, and what to observe.

A driver never raises for what a student's code does: every outcome is an Observation.
"""

from __future__ import annotations

import inspect
import linecache
import os
import sysconfig
import traceback
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from grader.checking.case import Case, Observation
from grader.checking.fixtures import BUILDERS
from grader.codec import CodecError, Fixture, Line, Opaque, Raised, encode, freeze, readable

Driver = Callable[[Any, Case], Observation]

_NOT_THE_STUDENTS = (
    "<frozen",
    str(Path(__file__).parents[1]) + os.sep,
    *{sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")},
)


def call(function: Any, case: Case) -> Observation:
    """Call `function` once with the case's inputs by keyword; callables among them record their calls, and random
    generators whether they were drawn from.
    """
    inputs, calls = prepare(case)
    generators = {name: value for name, value in inputs.items() if hasattr(value, "bit_generator")}
    fresh = {name: _position(generator) for name, generator in generators.items()}
    try:
        with warnings.catch_warnings(module=warnings):  # named: a notebook may empty sys.modules
            warnings.simplefilter("ignore")  # the result says it better, and under pytest a warning would be an error
            result = function(**inputs)
    except KeyboardInterrupt:  # the student stops a call that runs too long
        raise
    except BaseException as error:
        within = error.__traceback__ is not None and error.__traceback__.tb_next is not None
        if isinstance(error, TypeError) and not within and (problem := _cannot_be_called(function, inputs)):
            return Observation(raised=problem)
        return Observation(raised=caught(error), changed=_changed(case, inputs), calls=calls)
    calls |= {name: ["drawn"] * (_position(generator) != fresh[name]) for name, generator in generators.items()}
    return Observation(result=plain(result), changed=_changed(case, inputs), calls=calls)


def prepare(case: Case) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Fresh copies of the case's inputs, and the lists that record the calls of its callable ones."""
    calls: dict[str, list[Any]] = {}
    inputs: dict[str, Any] = {}
    for name, value in case.inputs.items():
        if isinstance(value, Fixture):
            built = BUILDERS[value.kind](**freeze(value.params))
            inputs[name] = _recorded(built, calls.setdefault(name, [])) if callable(built) else built
        else:
            inputs[name] = freeze(value)
    return inputs, calls


def _position(generator: Any) -> Any:
    """How far a generator has got; one that was asked for children has moved too."""
    seeds = generator.bit_generator.seed_seq
    return generator.bit_generator.state, getattr(seeds, "n_children_spawned", 0)


def plain(result: object) -> Any:
    """The result in the codec's form, or an Opaque that says why it cannot be."""
    try:
        return freeze(result)
    except CodecError as error:
        return Opaque(type(result).__name__, f"({error})")
    except Exception:  # a type of the student's own may raise anything when it is read
        return Opaque(type(result).__name__, "(it could not be read)")


def caught(error: BaseException) -> Raised:
    """An exception as its type, its text and the student's own lines of the traceback."""
    try:
        text = str(error)
    except Exception:
        text = "(its text could not be read)"
    frames = [
        (frame.f_code, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not frame.f_code.co_filename.startswith(_NOT_THE_STUDENTS)
    ]
    lines = tuple(
        Line(line, readable(code.co_name), readable(linecache.getline(code.co_filename, line).strip()))
        for code, line in frames[-3:]
    )
    return Raised(readable(type(error).__name__), readable(text[:500]), lines)


def _recorded(function: Callable[..., Any], calls: list[Any]) -> Callable[..., Any]:
    signature = inspect.signature(function)

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        arguments = signature.bind(*args, **kwargs).arguments
        calls.append(plain(arguments))
        return function(**arguments)

    return wrapped


def _cannot_be_called(function: Any, inputs: Mapping[str, Any]) -> Raised | None:
    """A wrong argument list, told in the exercise's words rather than in Python's."""
    names = ", ".join(inputs)
    if not callable(function):
        return Raised(
            "TypeError",
            f"a function is due here, taking ({names}); this is of type {type(function).__name__}",
        )
    try:
        signature = inspect.signature(function, follow_wrapped=False)  # a wrapper may take what it wraps does not
    except (TypeError, ValueError):
        return None
    try:
        signature.bind(**inputs)
    except TypeError:
        left_out = [name for name, p in signature.parameters.items() if name not in inputs and p.default is p.empty]
        hint = ""
        if left_out and signature.parameters.keys() > inputs.keys():  # its one fault: an argument without its default
            hint = f"; here `{left_out[0]}` is left out, so it needs a default"
        return Raised("TypeError", f"the function must take ({names}); yours takes {signature}{hint}")
    return None


def _changed(case: Case, inputs: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(
        name
        for name, before in case.inputs.items()
        if not isinstance(before, Fixture) and not _same_bytes(before, inputs[name])
    )


def _same_bytes(before: Any, after: Any) -> bool:
    if isinstance(before, np.ndarray) and isinstance(after, np.ndarray):
        return (before.dtype, before.shape) == (
            after.dtype,
            after.shape,
        ) and before.tobytes() == after.tobytes()
    try:
        return encode(before) == encode(after)
    except Exception:  # what the student put there cannot be read, so it is not what was there
        return False


DRIVERS: dict[str, Driver] = {"call": call}


def drive(driver: str, function: Any, case: Case) -> Observation:
    """Drive a student's object on a case by the named driver."""
    return DRIVERS[driver](function, case)
