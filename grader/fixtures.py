"""Builders of the inputs that are not plain values: callables and random generators. A student's process may see
them.

A case holds a `codec.Fixture`, the name of a builder here and its parameters; the driver builds the input anew for
each call of the student's function, and records the calls of a callable one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


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


def _entries(theta: Any, shape: Any) -> np.ndarray[Any, Any]:
    array = np.asarray(theta)
    if array.shape != tuple(shape):
        raise ValueError(f"this function takes an array of shape {tuple(shape)}, and got one of shape {array.shape}")
    return array.ravel()


BUILDERS: dict[str, Callable[..., Any]] = {
    "affine": affine,
    "quadratic": quadratic,
    "rng": rng,
    "tanh_sum": tanh_sum,
}
