"""Which other functions the text of a notebook's cells uses."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from functools import lru_cache

from grader.submission.bindings import SHORT, bound_names, parsed


def used_in(cells: Iterable[str], function: str, names: Iterable[str]) -> list[str]:
    """Those of the names that the definitions of a function in these cells mention, or other definitions which they
    mention. All of them if a cell cannot be read or binds names that its syntax does not show.
    """
    mentioned_by: dict[str, set[str]] = {}
    for cell in cells:
        found = _mentions(cell)
        if found is None:
            return list(names)
        for name, mentioned in found.items():
            mentioned_by.setdefault(name, set()).update(mentioned)
    reached, waiting = {function}, [function]
    while waiting:
        more = mentioned_by.get(waiting.pop(), set()) - reached
        reached |= more
        waiting += more
    return [name for name in names if name in reached]


@lru_cache(maxsize=200)
def _mentions(source: str) -> Mapping[str, frozenset[str]] | None:
    """For each name that a cell binds, the names and attributes in the statements that bind it; None if unknown."""
    tree = parsed(source) if len(source) <= SHORT else None
    if tree is None:
        return None
    found: dict[str, frozenset[str]] = {}
    for statement in tree.body:
        bound = bound_names(ast.Module([statement], []))
        if "*" in bound:
            return None
        for name in bound:
            found[name] = found.get(name, frozenset()) | _named(statement)
    return found


def _named(statement: ast.stmt) -> frozenset[str]:
    nodes = list(ast.walk(statement))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return frozenset(names | {node.attr for node in nodes if isinstance(node, ast.Attribute)})
