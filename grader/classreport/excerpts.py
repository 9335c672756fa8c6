"""Excerpts of the code in which a mistake was made, anonymised: without comments, docstrings and names.

The code is read from the submissions and never run. Comments and docstrings are removed altogether, because no list of
names contains everything by which a student can be recognised in them.
"""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from grader.classreport.figures import Mistake
from grader.classreport.names import Names
from grader.manifest import Chapter
from grader.shown import harmless
from grader.submission.choose import Chosen, choose
from grader.submission.plan import Plan

EACH = 2  # excerpts of a mistake
TRIED = 6  # submissions in which they are looked for
MOST_LINES, MOST_OF_A_LINE, MOST_OF_A_CELL = 30, 120, 20_000
CUT = "… (cut here)"


class Excerpts:
    """Finds excerpts in the submissions. `folders` are those of the students whose submission is the one graded."""

    def __init__(
        self, chapter: Chapter, released: Mapping[str, Any], folders: Mapping[str, Path], names: Names
    ) -> None:
        self._chapter, self._released, self._folders, self._names = chapter, released, folders, names
        self._notebook = {e.id: notebook.name for notebook in chapter.notebooks for e in notebook.exercises}
        self._read: dict[str, Mapping[str, Chosen]] = {}

    def of(self, mistake: Mistake) -> Mistake:
        """The mistake with up to `EACH` different excerpts."""
        found: list[str] = []
        candidates = [student for student in mistake.students if student in self._folders]
        for student in sorted(candidates, key=lambda student: self._order(mistake, student))[:TRIED]:
            code = self._code(student, mistake.exercise)
            if code and code not in found:
                found.append(code)
            if len(found) == EACH:
                break
        return replace(mistake, excerpts=tuple(found))

    def _order(self, mistake: Mistake, student: str) -> tuple[bool, bytes]:
        """Students whose notebooks are read already come first, as reading takes time; otherwise a fixed random order,
        so that it is not always the first in the alphabet whose code is shown.
        """
        marked = f"{mistake.exercise} {mistake.id} {student}".encode("utf-8", "surrogateescape")
        return student not in self._read, hashlib.sha256(marked).digest()

    def _code(self, student: str, exercise: str) -> str:
        if student not in self._read:
            try:
                self._read[student] = choose(self._folders[student], self._chapter, self._released)
            except OSError:  # the folder was moved meanwhile
                self._read[student] = {}
        chosen = self._read[student].get(self._notebook[exercise])
        if chosen is None or not isinstance(chosen.plan, Plan):
            return ""
        return excerpt(defining_cell(chosen.plan, exercise), exercise, self._names)


def defining_cell(plan: Plan, exercise: str) -> str:
    """The source of the cell that defines an exercise, as Python; empty if there is none."""
    index = plan.defining.get(exercise)
    return next((cell.source for cell in plan.cells if cell.index == index), "")


def excerpt(source: str, exercise: str, names: Names) -> str:
    """The code of a cell without comments, docstrings and names; empty if it is not Python. Of a long cell, only the
    definition of the exercise.
    """
    if len(source) > MOST_OF_A_CELL:
        return ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the student's strings and comparisons
            code = _uncommented(source)
            if code.count("\n") >= MOST_LINES:
                code = _definition(code, exercise) or code
            code = _nameless(code, names)
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError):
        return ""
    lines = [line if len(line) <= MOST_OF_A_LINE else f"{line[:MOST_OF_A_LINE]} {CUT}" for line in code.splitlines()]
    return harmless("\n".join(lines[:MOST_LINES] + [CUT] * (len(lines) > MOST_LINES)))


def _definition(code: str, exercise: str) -> str:
    """The last statement at the top level that defines a function or class of this name; empty if there is none."""
    own = [
        node
        for node in ast.parse(code).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == exercise
    ]
    return (ast.get_source_segment(code, own[-1]) or "") if own else ""


def _uncommented(source: str) -> str:
    """The code in the student's own layout, or in Python's if removing comments from that would change its meaning."""
    due = ast.parse(source)
    _drop_texts(due)
    kept = _edited(source, _remarks(source))
    lines = [line.replace(_GONE, "").rstrip() for line in kept.splitlines() if line.strip() != _GONE]
    code = "\n".join(line for line, before in zip(lines, ["", *lines], strict=False) if line or before).strip("\n")
    try:
        same = ast.dump(ast.parse(code)) == ast.dump(due)
    except SyntaxError:
        same = False
    return code if same else ast.unparse(ast.fix_missing_locations(due))


def _drop_texts(tree: ast.AST) -> None:
    """Remove statements that are only a string, such as docstrings."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list) and body:
                kept = [each for each in body if not _is_text(each)]
                setattr(node, name, kept or ([] if isinstance(node, ast.Module) else [ast.Pass()]))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


_Span = tuple[tuple[int, int], tuple[int, int], str]  # start and end as (line from 1, column), and the new text
_GONE = "\0"  # marks what was removed: no Python source contains it
_NO_CODE = (tokenize.NL, tokenize.NEWLINE, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)


def _tokens(source: str) -> list[tokenize.TokenInfo]:
    return list(tokenize.generate_tokens(io.StringIO(source).readline))


def _remarks(source: str) -> list[_Span]:
    """Comments, and lines of code that are only a string."""
    spans: list[_Span] = []
    line: list[tokenize.TokenInfo] = []
    for token in _tokens(source):
        if token.type == tokenize.COMMENT:
            spans.append((token.start, token.end, _GONE))
        elif token.type == tokenize.NEWLINE:
            if line and all(each.type == tokenize.STRING for each in line):
                spans.append((line[0].start, line[-1].end, _GONE))
            line = []
        elif token.type not in _NO_CODE:
            line.append(token)
    return spans


def _nameless(code: str, names: Names) -> str:
    """The code without names, and without addresses in its strings."""
    spans: list[_Span] = []
    for token in _tokens(code):
        text = token.string
        clean: Callable[[str], str] = names.without
        if token.type == tokenize.STRING or tokenize.tok_name[token.type] == "FSTRING_MIDDLE":
            clean = names.without_addresses
        if text.strip() and clean(text) != text:
            spans.append((token.start, token.end, clean(text)))
    return _edited(code, spans)


def _edited(source: str, spans: Iterable[_Span]) -> str:
    """The source with these spans replaced. They must not overlap."""
    lines = io.StringIO(source).readlines()
    for (row, column), (last_row, last_column), new in sorted(spans, reverse=True):
        head, tail = lines[row - 1][:column], lines[last_row - 1][last_column:]
        lines[row - 1 : last_row] = [head + new + tail]
    return "".join(lines)
