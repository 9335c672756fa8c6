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


BUILDERS: dict[str, Callable[..., Any]] = {"affine": affine, "rng": rng}
