"""Builders of inputs that are not plain values: callables and random generators. A student's process may read them.

A case contains a `codec.Fixture`: the name of a builder and its parameters. The driver builds a new input for each call
of the student's function, and records the calls of a callable input.

This file has the builders for all chapters. A chapter's own builders are in
`solutions/CHAPTER/fixtures.py`, a file that imports nothing from the course and defines `BUILDERS` as
this one does. Its source is sent along with its cases.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

import numpy as np

from grader.codec import encode, freeze

Array = np.ndarray[Any, Any]
Builders = Mapping[str, Callable[..., Any]]


def affine(*, weight: Any, bias: Any) -> Callable[[Any], Any]:
    """The function x (..., n) → x @ weight (n, m) + bias (m,)."""
    return lambda x: np.asarray(x) @ weight + bias


def rng(*, seed: int) -> np.random.Generator:
    """A random generator with this seed."""
    return np.random.default_rng(seed)


def quadratic(*, shape: Any, matrix: Any, linear: Any) -> Callable[[Any], Any]:
    """The function theta → v @ matrix (n, n) @ v + linear (n,) @ v, a number; v are theta's n entries."""

    def value(theta: Any) -> Any:
        v = _entries(theta, shape)
        return (v @ matrix @ v + linear @ v).item()

    return value


def tanh_sum(*, shape: Any, matrix: Any, bias: Any, weight: Any) -> Callable[[Any], Any]:
    """The function theta → weight (m,) @ tanh(matrix (m, n) @ v + bias (m,)), a number; v are theta's n entries."""
    return lambda theta: (weight @ np.tanh(matrix @ _entries(theta, shape) + bias)).item()


def _entries(theta: Any, shape: Any) -> Array:
    array = np.asarray(theta)
    if array.shape != tuple(shape):
        raise ValueError(f"this function takes an array of shape {tuple(shape)}, and got one of shape {array.shape}")
    return array.ravel()


def scripted(*, names: Any, results: Any) -> Callable[..., Any]:
    """A function of the arguments `names` that returns one of these results after the other, and then repeats the last.

    If the arguments equal those of the previous call, it returns the same result again, as a pure function would.
    """
    signature = Signature([Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names])
    previous, index = b"", -1

    def answer(*args: Any, **kwargs: Any) -> Any:
        nonlocal previous, index
        arguments = encode(dict(signature.bind(*args, **kwargs).arguments))
        if arguments != previous:
            previous, index = arguments, min(index + 1, len(results) - 1)
        return freeze(results[index])

    answer.__signature__ = signature  # type: ignore[attr-defined]
    return answer


BUILDERS: Builders = {
    "affine": affine,
    "quadratic": quadratic,
    "rng": rng,
    "scripted": scripted,
    "tanh_sum": tanh_sum,
}


@cache
def builders(source: str) -> Builders:
    """The builders of this file and those of a chapter, whose file has this source. Raises ValueError if both define
    one of the same name, and whatever exception the source raises.
    """
    if not source:
        return BUILDERS
    namespace: dict[str, Any] = {"__name__": "fixtures"}
    exec(compile(source, str(Path(__file__).with_name("fixtures of a chapter")), "exec"), namespace)
    own = namespace["BUILDERS"]
    if taken := sorted(own.keys() & BUILDERS.keys()):
        raise ValueError(f"a chapter's own fixture has the name {taken[0]!r} of one for all chapters; rename it")
    return {**BUILDERS, **own}
