"""A student's small array and the expected one, side by side as lines of text."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.checking.case import Tolerance
from grader.checking.compare import close
from grader.checking.numbers import distinguish

MOST_LINES, MOST_COLUMNS = 4, 4
_WRONG, _RIGHT = "≠", " "


def side_by_side(expected: Any, got: Any, tolerance: Tolerance) -> tuple[str, ...]:
    """A header and a line for each row along the last axis; `≠` marks rows in which something differs. Empty if the
    arrays are large or are not two arrays of one shape.
    """
    if not isinstance(expected, np.ndarray) or not isinstance(got, np.ndarray) or expected.shape != got.shape:
        return ()
    if expected.dtype.kind not in "biuf" or expected.ndim == 0 or expected.size < 2:
        return ()
    columns = 1 if expected.ndim == 1 else expected.shape[-1]
    if expected.size > MOST_LINES * columns or columns > MOST_COLUMNS:
        return ()
    leading = expected.shape if expected.ndim == 1 else expected.shape[:-1]
    right = close(expected, got, tolerance).reshape(-1, columns)
    texts = [distinguish(a, b, tolerance) for a, b in zip(got.ravel(), expected.ravel(), strict=True)]
    width = [max(len(text[side]) for text in texts) for side in (0, 1)]
    lines = [("", "yours", "expected", _RIGHT)]
    for number, index in enumerate(np.ndindex(leading)):
        row = texts[number * columns : (number + 1) * columns]
        mine, other = ("  ".join(f"{text[side]:>{width[side]}}" for text in row) for side in (0, 1))
        lines.append((f"[{', '.join(map(str, index))}]", mine, other, _RIGHT if right[number].all() else _WRONG))
    first, second, third = (max(len(line[part]) for line in lines) for part in range(3))
    return tuple(f"{a:<{first}}  {b:>{second}}  {mark}  {c:>{third}}".rstrip() for a, b, c, mark in lines)
