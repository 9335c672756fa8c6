"""What the outputs that are saved in a notebook show: what its author saw. They earn nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from grader.render.text import passes_in

MAX_OUTPUT = 20_000  # characters of an output that are read; a report is shorter


def passes_seen(cells: Sequence[Any]) -> frozenset[str]:
    """The names in the reports among the outputs of a notebook's raw cells whose last report shows a pass."""
    shown: dict[str, bool] = {}
    for cell in cells:
        outputs = cell.get("outputs") if isinstance(cell, dict) else None
        for output in outputs if isinstance(outputs, list) else ():
            for text in _texts(output):
                shown.update(passes_in(text))
    return frozenset(name for name, passed in shown.items() if passed)


def _texts(output: Any) -> Iterator[str]:
    """What a cell printed, and the text of what it displayed."""
    if not isinstance(output, dict):
        return
    data = output.get("data")
    for text in (output.get("text"), data.get("text/plain") if isinstance(data, dict) else None):
        if isinstance(text, list) and all(isinstance(line, str) for line in text):
            text = "".join(text)
        if isinstance(text, str):
            yield text[:MAX_OUTPUT]
