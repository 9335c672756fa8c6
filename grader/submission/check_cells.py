"""What the check cell of a student's notebook checks."""

from __future__ import annotations

import ast
from functools import lru_cache

from grader.cells import check_source
from grader.submission.bindings import SHORT, bindings_of, parsed
from grader.submission.ipython import without_cell_magic


def checked_function(source: str, exercise: str) -> str:
    """What the last `check("EXERCISE", NAME)` among a cell's statements names: a function, or an attribute with dots,
    such as `Model.step`; '' if there is no such statement.
    """
    named = (_named(statement, exercise) for statement in reversed(_statements(source)))
    return next(filter(None, named), "")


def is_only_a_check(source: str, exercise: str) -> bool:
    """Whether a cell is nothing but `check("EXERCISE", NAME)`."""
    statements = _statements(source)
    return len(statements) == 1 and _named(statements[0], exercise) != ""


def binds(source: str) -> bool:
    """Whether a check cell binds names, so that others may need it. The rest of an edited one is not run."""
    return bool(bindings_of(without_cell_magic(source)).names)


def calls_check(source: str, exercise: str) -> bool:
    """Whether a cell contains a call of `check` for this exercise, of whatever and wherever."""
    found = (node for statement in _statements(source) for node in ast.walk(statement))
    return any(_is_check(node, exercise) for node in found)


def _is_check(node: ast.AST, exercise: str) -> bool:
    match node:
        case ast.Call(ast.Name("check"), [ast.Constant(value), *_]) if value == exercise:
            return True
    return False


def check_of(exercise: str, function: str) -> str:
    """The source of the cell that checks this function, or the exercise's own if it is ''."""
    return f'check("{exercise}", {function})' if function else check_source(exercise)


@lru_cache(maxsize=200)
def _statements(source: str) -> list[ast.stmt]:
    tree = parsed(without_cell_magic(source)) if len(source) <= SHORT else None
    return [] if tree is None else tree.body


def _named(statement: ast.stmt, exercise: str) -> str:
    match statement:
        case ast.Expr(ast.Call(ast.Name("check"), [ast.Constant(value), function], [])) if value == exercise:
            return _dotted(function)
    return ""


def _dotted(node: ast.expr) -> str:
    names: list[str] = []
    while isinstance(node, ast.Attribute):  # students nest deeper than Python calls
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else ""
