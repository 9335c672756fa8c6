"""Describe values in words: a result, the difference between two strings, and how to convert a value."""

from __future__ import annotations

import unicodedata
from typing import Any

import numpy as np

from grader.checking.case import DEFAULT_TOLERANCE, Tolerance
from grader.checking.numbers import number_text
from grader.codec import Opaque

SHORT = 60  # characters of a value that a report shows


def sequence_difference(got: Any, expected: Any) -> str:
    """Two lists or tuples of words or ids, shown in full; empty if one is long or contains any other value."""
    texts = _exact(got), _exact(expected)
    return _difference(*texts) if max(map(len, texts)) <= SHORT and all(texts) else ""


def _exact(value: Any) -> str:
    entries = [entry.item() if isinstance(entry, np.ndarray) and not entry.ndim else entry for entry in value[:SHORT]]
    if not all(entry is None or isinstance(entry, str | int) for entry in entries):
        return ""
    return repr(type(value)(entries))


def string_difference(got: str, expected: str) -> str:
    """Two different strings: short ones in full, long ones around the first character that differs."""
    if max(len(got), len(expected)) <= SHORT:
        return _difference(repr(got), repr(expected))
    letters = enumerate(zip(got, expected, strict=False))
    place = next((i for i, (a, b) in letters if a != b), min(len(got), len(expected)))
    lengths = f"; {len(got)} characters, expected {len(expected)}" if len(got) != len(expected) else ""
    texts = _difference(_around(got, place), _around(expected, place))
    return f"differs at character {place} (counted from 0): {texts}{lengths}"


def _around(text: str, place: int) -> str:
    """The text around a position, as `repr` writes it, which escapes characters that control a terminal."""
    start, end = max(0, place - 12), place + 20
    return f"{'…' * (start > 0)}{text[start:end]!r}{'…' * (end < len(text))}"


def _difference(got: str, expected: str) -> str:
    """The `repr` of two values in a sentence. If they differ only in characters that look alike, these are escaped."""
    if unicodedata.normalize("NFKC", got) == unicodedata.normalize("NFKC", expected):
        got, expected = (text.encode("ascii", "backslashreplace").decode() for text in (got, expected))
    return f"got {got}, expected {expected}"


def cut(text: str) -> str:
    """The text, or the beginning of a long one."""
    return text if len(text) <= SHORT else f"{text[:SHORT]}…"


def describe(value: Any, expected: Any = None, tolerance: Tolerance = DEFAULT_TOLERANCE) -> str:
    """A value in a few words: 'float64 (2, 4)', 'a list of 3', 'None'. A number has enough digits to be told from the
    `expected` one.
    """
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape if value.ndim else number_text(value[()], expected, tolerance)}"
    if isinstance(value, Opaque):
        return f"{_OPAQUE.get(value.type, f'a value of type {value.type}')} {value.text}".rstrip()
    if isinstance(value, list | tuple | dict):
        return f"a {type(value).__name__} of {len(value)}"
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, float):
        return f"{number_text(value, expected, tolerance)} (float)"
    if isinstance(value, int | str):
        beginning = value[: SHORT + 1] if isinstance(value, str) else value  # the rest of a long text is not shown
        return f"{cut(repr(beginning))} ({type(value).__name__})"
    return f"a value of type {type(value).__name__}"


# The words that the driver of torch modules observes in place of some values: how the report describes such a result,
# and how it says that another word was expected.
OBSERVED_WORDS = {
    "detached": ("detached from the graph", "is detached; expected attached to the graph"),
    "attached": ("attached to the graph", "is still attached to the graph; expected detached (`.detach()`)"),
    "empty": ("no tensor", "contains no tensor; expected a detached one (`.detach()`)"),
    "random": ("random", "differs with another seed; expected the same values"),
    "unlike": ("random, but not as dropout makes it", "is not what dropout between the layers can give"),
    "fixed": ("the same with every seed", "is the same with every seed; expected random"),
}

_OPAQUE = {
    "ndarray": "an array",
    "torch.Tensor": "a torch tensor",
    "matrix": "a NumPy matrix",
    "MaskedArray": "a masked NumPy array",
    "set": "a set",
    "frozenset": "a frozenset",
}


def remedy(value: Any, expected: str = "") -> str:
    """The clause of a message that says how to convert a value into the `expected` kind ("an array"), or into any kind
    that can be compared. Empty if no expression does so, or if the conversion would only hide a mistake.
    """
    kind = value.type if isinstance(value, Opaque) else type(value).__name__
    if kind == "ndarray" and expected != "a list" and getattr(value, "size", 0) != 1:
        return ""  # no expression says which of its entries is meant
    if kind == "ndarray" and expected == "a list" and isinstance(value, np.ndarray) and not value.ndim:
        return ""  # `list(…)` of a number raises an exception
    for (makes, of), expression in _REMEDIES.items():
        if of == kind and expected in ("", makes):
            return f"; `{expression}` converts it to {makes}"
    return ""


_LAZY = (
    *("generator", "map", "filter", "zip", "range", "enumerate", "list_iterator", "list_reverseiterator"),
    *("dict_keys", "dict_values", "dict_items"),
)
_REMEDIES = {
    ("an array", "list"): "np.array(…)",
    ("an array", "tuple"): "np.array(…)",
    ("an array", "torch.Tensor"): ".detach().numpy()",
    ("an array", "matrix"): "np.asarray(…)",
    ("an array", "MaskedArray"): ".filled(…)",
    **{("a list", kind): "list(…)" for kind in (*_LAZY, "deque", "tuple", "ndarray")},
    **{("a list", kind): "sorted(…)" for kind in ("set", "frozenset")},
    **{("an array", kind): "np.array(list(…))" for kind in _LAZY},
    ("a list", "torch.Tensor"): ".tolist()",
    ("a tuple", "list"): "tuple(…)",
    ("a string", "list"): '"".join(…)',
    ("a string", "tuple"): '"".join(…)',
    ("a string", "bytes"): ".decode()",
    ("a number", "ndarray"): ".item()",
    ("a number", "torch.Tensor"): ".item()",
    ("a number", "complex"): "np.complex128(…)",
}
