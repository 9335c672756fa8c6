"""IPython's syntax in cells, as Python."""

from __future__ import annotations

import re

from grader.autograde.submission.bindings import bindings_of

MAX_TRANSFORMED = 300_000  # characters that IPython's transformer may read for one notebook, which takes seconds
_MAGIC = re.compile(r"[%!?]+|^\s*[,;/]", re.MULTILINE)
_RUNS_ITS_CELL = re.compile(r"\s*%%(time|capture)\b.*")


class ToPython:
    """Translate IPython's syntax (magics, `!`, `?`) into Python, for one notebook. Other cells are run unchanged.

    IPython reads a cell once for each magic in it, so a cell with thousands of magics would take hours. Therefore the
    total number of characters is limited.
    """

    def __init__(self) -> None:
        self._room = MAX_TRANSFORMED

    def __call__(self, source: str) -> str:
        if bindings_of(source).is_python:
            return source
        self._room -= len(source) * (1 + len(_MAGIC.findall(source)))
        if self._room < 0:
            return source
        from IPython.core.inputtransformer2 import TransformerManager

        first, *others = source.splitlines(keepends=True) or [""]
        if _RUNS_ITS_CELL.match(first):
            source = "\n" + "".join(others)  # the lines keep their numbers
        try:
            return str(TransformerManager().transform_cell(source))
        except Exception:  # IPython has its own tokenizer, and students write anything
            return source
