"""IPython's syntax in cells, as Python."""

from __future__ import annotations

import re

from grader.submission.bindings import bindings_of

MAX_TRANSFORMED = 300_000  # characters that IPython's transformer may read for one notebook, which takes seconds
_MAGIC = re.compile(r"[%!?]+|^\s*[,;/]", re.MULTILINE)
_CELL_MAGIC = re.compile(r"(?P<above>(?:[ \t]*\n)*)[ \t]*%%(?P<name>\w+)(?P<line>[^\n]*)\n?")
_RUN_THEIR_CELL = ("time", "capture", "prun")


def skips_its_cell(source: str) -> bool:
    """Whether a cell begins with a magic for which the lines below it are not run as Python in the notebook."""
    magic = _CELL_MAGIC.match(source)
    return magic is not None and magic["name"] not in _RUN_THEIR_CELL


def without_cell_magic(source: str) -> str:
    """A cell that begins with a magic as Python: its lines, with their numbers, if the magic runs them here, and
    otherwise one call of the magic.
    """
    magic = _CELL_MAGIC.match(source)
    if magic is None:
        return source
    name, line, below = magic["name"], magic["line"].strip(), source[magic.end() :]
    if name not in _RUN_THEIR_CELL:
        return f"{magic['above']}get_ipython().run_cell_magic({name!r}, {line!r}, {below!r})\n"
    words = [word for word in line.split() if not word.startswith("-")]
    captures = name == "capture" and words and words[0].isidentifier()
    first = f"{words[0]} = get_ipython().captured" if captures else ""
    return f"{magic['above']}{first}\n{below}"


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

        try:
            return str(TransformerManager().transform_cell(without_cell_magic(source)))
        except Exception:  # IPython has its own tokenizer, and students write anything
            return source
