"""Words for values: what came back, two numbers told apart."""

from __future__ import annotations

import unicodedata
from typing import Any

import numpy as np

from grader.checking.case import DEFAULT_TOLERANCE, Tolerance
from grader.checking.numbers import shown
from grader.codec import Opaque

SHORT = 60  # characters of one value, beyond which a report does not show it whole


def short_apart(got: Any, expected: Any) -> str:
    """Two lists or tuples of exact values (words, ids), whole; empty where one is long, or holds anything else."""
    texts = _exact(got), _exact(expected)
    return _apart(*texts) if max(map(len, texts)) <= SHORT and all(texts) else ""


def _exact(value: Any) -> str:
    entries = [entry.item() if isinstance(entry, np.ndarray) and not entry.ndim else entry for entry in value[:SHORT]]
    if not all(entry is None or isinstance(entry, str | int) for entry in entries):
        return ""
    return repr(type(value)(entries))


def texts_apart(got: str, expected: str) -> str:
    """Two strings that differ: short ones whole, long ones from just before the place where they first do."""
    if max(len(got), len(expected)) <= SHORT:
        return _apart(repr(got), repr(expected))
    letters = enumerate(zip(got, expected, strict=False))
    place = next((i for i, (a, b) in letters if a != b), min(len(got), len(expected)))
    lengths = f"; {len(got)} characters, expected {len(expected)}" if len(got) != len(expected) else ""
    texts = _apart(_around(got, place), _around(expected, place))
    return f"differs at character {place} (counted from 0): {texts}{lengths}"


def _around(text: str, place: int) -> str:
    """The text around a place, as Python writes it, which leaves nothing in it that controls a terminal."""
    start, end = max(0, place - 12), place + 20
    return f"{'…' * (start > 0)}{text[start:end]!r}{'…' * (end < len(text))}"


def _apart(got: str, expected: str) -> str:
    """Python's words for two values; letters that look alike are written as their codes."""
    if unicodedata.normalize("NFKC", got) == unicodedata.normalize("NFKC", expected):
        got, expected = (text.encode("ascii", "backslashreplace").decode() for text in (got, expected))
    return f"got {got}, expected {expected}"


def cut(text: str) -> str:
    """The text, or its beginning where it is long."""
    return text if len(text) <= SHORT else f"{text[:SHORT]}…"


def describe(value: Any, due: Any = None, tolerance: Tolerance = DEFAULT_TOLERANCE) -> str:
    """A value in a few words: 'float64 (2, 4)', 'a list of 3', 'None'. A number is told from the one that is `due`."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape if value.ndim else shown(value[()], due, tolerance)}"
    if isinstance(value, Opaque):
        return f"{_OPAQUE.get(value.type, f'a value of type {value.type}')} {value.text}".rstrip()
    if isinstance(value, list | tuple | dict):
        return f"a {type(value).__name__} of {len(value)}"
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, float):
        return f"{shown(value, due, tolerance)} (float)"
    if isinstance(value, int | str):
        return f"{cut(repr(value))} ({type(value).__name__})"
    return f"a value of type {type(value).__name__}"


# What the driver of torch modules observes of a result in place of its value: as it is told that it came back, and
# where something else is expected.
MARKS = {
    "detached": ("a tensor, detached", "is detached; expected attached to the graph"),
    "attached": ("a tensor, attached to the graph", "is still attached to the graph; expected detached (`.detach()`)"),
    "empty": ("no tensor", "holds no tensor; expected one that is detached (`.detach()`)"),
    "random": ("random", "is another with another seed; expected the same"),
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


def remedy(value: Any, due: str = "") -> str:
    """How a value becomes what is `due` ("an array"), or what can be compared at all: '; `np.array(…)` makes an array
    of it'. Empty where no expression does, or where it would only hide a mistake.
    """
    kind = value.type if isinstance(value, Opaque) else type(value).__name__
    if kind == "ndarray" and due != "a list" and getattr(value, "size", 0) != 1:
        return ""  # which of its entries is the one?
    for (makes, of), expression in _REMEDIES.items():
        if of == kind and due in ("", makes):
            return f"; `{expression}` makes {makes} of it"
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
