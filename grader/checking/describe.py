"""Words for values: what came back, two numbers told apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.codec import Opaque


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
