"""Small changes to a reference solution, from which most mistakes are made.

A change applies to the *plain code* of an exercise's function: its source in `solutions/CHAPTER/NOTEBOOK.py` without
docstrings, comments and blank lines.
"""

from __future__ import annotations

import ast
import inspect
import io
import linecache
import re
import textwrap
import tokenize
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from grader.spec.folders import SPEC, WAYS


class ChangeError(ValueError):
    """A change does not fit the code that it is applied to; the message says which text was not found."""


@dataclass(frozen=True)
class Change:
    """Pairs of an old and a new text, to be replaced in this order."""

    pairs: tuple[tuple[str, str], ...]

    def apply(self, code: str) -> str:
        """The changed code. Raises ChangeError if a text does not occur exactly once, if nothing changes, or if the
        result is not valid Python.
        """
        changed = code
        for number, (was, becomes) in enumerate(self.pairs, 1):
            try:
                changed = _replaced(changed, _block(was), _block(becomes))
            except ChangeError as error:
                if number == 1:
                    raise
                left = f"After the pairs before it, the code is\n{changed}"
                raise ChangeError(f"pair {number}: {error}\n{left}") from error
        if changed == code:
            raise ChangeError("it changes nothing")
        try:
            compile(changed, "<changed>", "exec")
        except SyntaxError as error:
            raise ChangeError(
                f"the result is not valid Python ({error.msg}, line {error.lineno}):\n{changed}"
            ) from error
        return changed


def change(was: str, becomes: str, *more: tuple[str, str]) -> Change:
    """A small change to the reference solution's plain code: `was` becomes `becomes`, and so on for `more` pairs.

    Each old text must occur exactly once in the code. A text of several lines may have any indentation: it can begin
    anywhere in a line, and its further lines are found, and written, at that line's indentation.
    """
    return Change(((was, becomes), *more))


def _block(text: str) -> str:
    return textwrap.dedent(text).strip("\n") if "\n" in text else text


def _replaced(code: str, was: str, becomes: str) -> str:
    found, begin = [], 0
    for line in code.splitlines(keepends=True):
        inner = "\n" + line[: len(line) - len(line.lstrip())]
        sought = was.replace("\n", inner)
        found += [
            (begin + match.start(), sought, becomes.replace("\n", inner))
            for match in re.finditer(re.escape(was.partition("\n")[0]), line)
            if code.startswith(sought, begin + match.start())
        ]
        begin += len(line)
    if len(found) != 1:
        how_often = f"{len(found)} times" if found else "nowhere"
        raise ChangeError(f"this text must occur once in the code, but occurs {how_often}:\n{was}")
    ((at, sought, new),) = found
    return _without_blank_lines(code[:at] + new + code[at + len(sought) :])


def _without_blank_lines(code: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in code.splitlines() if line.strip())


def plain_code(source: str, name: str) -> str:
    """The code of a module's function or class NAME without docstrings, comments and blank lines. Raises KeyError."""
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    definitions = {n.name: n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    definition = definitions[name]
    for node in ast.walk(definition):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            first, last = node.body[0].lineno, node.body[0].end_lineno or 0
            lines[first - 1 : last] = [""] * (last - first + 1)
    return _without_blank_lines("\n".join(lines[definition.lineno - 1 : definition.end_lineno]))


def define(name: str, code: str, module: ModuleType, cell: str) -> Callable[..., Any]:
    """The function or class NAME that `code` defines, with access to the names of the module. Tracebacks and `inspect`
    show its lines under the name `cell`, with a digest of the code: a course and its copies may use the same names.
    """
    file = f"<{cell} {zlib.crc32(code.encode()):08x}>"
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    namespace = dict(vars(module))
    exec(compile(code, file, "exec"), namespace)
    return namespace[name]  # type: ignore[no-any-return]


def sources(thing: Any) -> tuple[str, str]:
    """The source of the module that a function or class belongs to, with the spec if that is a file of its mistakes,
    and the source that defines it: the same, or its own source if it is a changed copy.
    """
    function = next(filter(inspect.isfunction, vars(thing).values())) if isinstance(thing, type) else thing
    own = "".join(linecache.getlines(function.__code__.co_filename))
    module = Path(function.__globals__["__file__"])
    files = [module.with_name(SPEC), module] if module.name == WAYS else [module]
    return "\n".join(file.read_text("utf-8") for file in files), own
