"""Builders of the inputs that are not plain values: callables and random generators. A student's process may see
them.

A case holds a `codec.Fixture`, the name of a builder and its parameters; the driver builds the input afresh for
each call of the student's function, and records the calls of a callable one.

Builders for all chapters stand here. A chapter's own stand in `solutions/CHAPTER/checks/CHAPTER_fixtures.py`, a file
that imports nothing of the course and defines `BUILDERS` as this one does; its text goes where its cases go.
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
    """x (..., n) → x @ weight (n, m) + bias (m,)."""
    return lambda x: np.asarray(x) @ weight + bias


def rng(*, seed: int) -> np.random.Generator:
    """A random generator, started from this seed."""
    return np.random.default_rng(seed)


def quadratic(*, shape: Any, matrix: Any, linear: Any) -> Callable[[Any], Any]:
    """theta of this shape, its n entries as v → v @ matrix (n, n) @ v + linear (n,) @ v, a number."""

    def value(theta: Any) -> Any:
        v = _entries(theta, shape)
        return (v @ matrix @ v + linear @ v).item()

    return value


def tanh_sum(*, shape: Any, matrix: Any, bias: Any, weight: Any) -> Callable[[Any], Any]:
    """theta of this shape, its n entries as v → weight (m,) @ tanh(matrix (m, n) @ v + bias (m,)), a number."""
    return lambda theta: (weight @ np.tanh(matrix @ _entries(theta, shape) + bias)).item()


def _entries(theta: Any, shape: Any) -> Array:
    array = np.asarray(theta)
    if array.shape != tuple(shape):
        raise ValueError(f"this function takes an array of shape {tuple(shape)}, and got one of shape {array.shape}")
    return array.ravel()


def scripted(*, names: Any, results: Any) -> Callable[..., Any]:
    """A function of the arguments `names` that gives these results one after the other, in the end the last again.

    Asked the same as the time before, it answers the same, as a function would.
    """
    signature = Signature([Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in names])
    asked, turn = b"", -1

    def answer(*args: Any, **kwargs: Any) -> Any:
        nonlocal asked, turn
        question = encode(dict(signature.bind(*args, **kwargs).arguments))
        if question != asked:
            asked, turn = question, min(turn + 1, len(results) - 1)
        return freeze(results[turn])

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
    """The builders of this file and of a chapter's own, given as the text of its file. Raises ValueError where both
    have one of the same name, and whatever the text raises.
    """
    if not source:
        return BUILDERS
    namespace: dict[str, Any] = {"__name__": "fixtures"}
    exec(compile(source, str(Path(__file__).with_name("fixtures of a chapter")), "exec"), namespace)
    own = namespace["BUILDERS"]
    if taken := sorted(own.keys() & BUILDERS.keys()):
        raise ValueError(f"a chapter's own fixture is called {taken[0]!r}, as one for all chapters is; rename it")
    return {**BUILDERS, **own}
