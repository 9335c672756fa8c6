"""Cells as Python: IPython's syntax is translated if IPython is installed, and otherwise left out with a note."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.util import find_spec

from grader.submission.bindings import bindings_of
from grader.submission.ipython import ToPython, without_cell_magic

_TIME = re.compile(r"^(\s*)%time(?:it)?\s+(?=[^-\s])")
_RUN = re.compile(r"^(\s*)%run\s+(.*)")
_LINE = re.compile(r"^(\s*)(?:[%!?]|[\w.]+\?{1,2}\s*$)")
_ASSIGNED = re.compile(r"^(\s*[\w., ]+=\s*)[%!]")


def translator() -> tuple[Callable[[str], str], bool]:
    """A function from a cell's source to Python, and whether it uses IPython."""
    if find_spec("IPython") is None:
        return without_magics, False
    return ToPython(), True


def without_magics(source: str) -> str:
    """The cell without magics and shell commands; the other lines keep their numbers.

    Names that a line magic or a command would have bound are bound to None.
    """
    if bindings_of(source).is_python:
        return source
    source = without_cell_magic(source)
    if bindings_of(source).is_python:
        return source
    return "\n".join(map(_plain, source.split("\n")))


def _plain(line: str) -> str:
    if runs := _RUN.match(line):
        return f"{runs[1]}get_ipython().run_line_magic('run', {runs[2]!r})"
    if timed := _TIME.match(line):
        return timed[1] + line[timed.end() :]
    if assigned := _ASSIGNED.match(line):
        return assigned[1] + "None"
    magic = _LINE.match(line)
    return f"{magic[1]}pass" if magic else line
