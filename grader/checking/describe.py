"""Words for values and calls: what came back, how the function was called, two numbers told apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.checking.case import Case
from grader.codec import Fixture, Opaque

TINY = 20  # numbers in a case's arrays, up to which a report writes them out
LONG = 1_000  # characters of a call, beyond which a report does not write it out


def apart(got: Any, expected: Any) -> tuple[str, str]:
    """Two numbers in as many digits as it takes to tell them apart."""
    if np.asarray(got).dtype.kind in "iub":
        return str(got), str(expected)
    got, expected = got + 0, expected + 0  # −0 is 0
    for digits in (4, 6, 9, 12, 17):
        texts = f"{got:.{digits}g}", f"{expected:.{digits}g}"
        if texts[0] != texts[1]:
            break
    return texts


def describe(value: Any) -> str:
    """A value in a few words: 'float64 (2, 4)', 'a list of 3', 'None'."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}" if value.ndim else f"{value.dtype} {value}"
    if isinstance(value, Opaque) and value.type == "ndarray":
        return f"an array {value.text}"
    if isinstance(value, Opaque):
        return f"a value of type {value.type} {value.text}".rstrip()
    if isinstance(value, list | tuple | dict):
        return f"a {type(value).__name__} of {len(value)}"
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, int | float | str):
        text = repr(value)
        return f"{text[:60]}… ({type(value).__name__})" if len(text) > 60 else f"{text} ({type(value).__name__})"
    return f"a value of type {type(value).__name__}"


def call_text(name: str, case: Case) -> str:
    """How the function was called. A tiny case is written out in full, to be pasted and followed by hand."""
    values = case.inputs.values()
    size = sum(value.size for value in values if isinstance(value, np.ndarray))
    if size <= TINY:
        inner = ",\n".join(f"  {key}={_literal(value)}" for key, value in case.inputs.items())
        if len(inner) <= LONG:
            return f"{name}(\n{inner})"
    return f"{name}({', '.join(f'{key}{_shape(value)}' for key, value in case.inputs.items())})"


def _literal(value: Any) -> str:
    """Python for a value, but for a function that has no short one."""
    match value:
        case np.ndarray():
            return f"np.array({value.tolist()})"
        case Fixture("rng", {"seed": seed}):
            return f"np.random.default_rng({seed})"
        case Fixture("quadratic", {"matrix": matrix, "linear": linear}):
            v = "theta.ravel()"
            return f"lambda theta: {v} @ {_literal(matrix)} @ {v} + {_literal(linear)} @ {v}"
        case Fixture():
            return "(a function)"
    return repr(value)


def _shape(value: Any) -> str:
    match value:
        case np.ndarray():
            return f" {value.shape}"
        case Fixture("rng"):
            return " (a random generator)"
        case Fixture():
            return " (a function)"
    return f"={value!r}"[:60]
