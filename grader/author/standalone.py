"""The source of a function or class that needs nothing else of its module, for a notebook's cell."""

from __future__ import annotations

import ast
import sys
from functools import cache
from typing import Any

from grader.sources import bound_names
from grader.spec.changes import sources


def standalone(thing: Any, name: str) -> str:
    """The source of a function or class under another name, without its decorators, preceded by what it uses from its
    module. These helpers get names of their own, because the notebook's cell for the same exercise may be wrong.
    """
    own, (module, code) = thing.__name__, sources(thing)
    defined = _definitions(module) | _definitions(code)  # a changed one is not what its module holds
    needed, wanted = {own}, [own]
    while wanted:
        new = (_free_names(defined[wanted.pop()]) & defined.keys()) - needed
        needed |= new
        wanted += new
    order = [d for n, d in defined.items() if n in needed and n != own] + [defined[own]]
    helpers = [helper for helper in needed - {own} if isinstance(defined[helper], ast.FunctionDef)]
    names = {helper: f"_{helper.lstrip('_')}" for helper in helpers} | {own: name}
    return renamed("\n\n\n".join(map(ast.unparse, dict.fromkeys(order))), names)


def _free_names(statement: ast.stmt) -> set[str]:
    """The names that a statement reads but does not bind itself."""
    names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in ast.walk(statement) if isinstance(node, ast.arg)}
    return {node.id for node in names} - bound


@cache
def _definitions(source: str) -> dict[str, ast.stmt]:
    """A module's functions and classes without their decorators, its constants, and what it imports from Python's own
    library, by name. A notebook imports the other libraries itself.
    """
    found: dict[str, ast.stmt] = {}
    for statement in ast.parse(source).body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            statement.decorator_list = []
            found[statement.name] = statement
        elif isinstance(statement, ast.Assign):
            names = [node.id for target in statement.targets for node in ast.walk(target) if isinstance(node, ast.Name)]
            found |= dict.fromkeys(names, statement)
        elif isinstance(statement, ast.Import | ast.ImportFrom):
            library = statement.module if isinstance(statement, ast.ImportFrom) else statement.names[0].name
            if library and library.partition(".")[0] in sys.stdlib_module_names:
                found |= dict.fromkeys(bound_names(statement), statement)
    return found


def renamed(source: str, names: dict[str, str]) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            node.name = names.get(node.name, node.name)
        elif isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
    return ast.unparse(tree)
