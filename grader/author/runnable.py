"""Which code runs in a page's Python, and what of a page or a notebook has to run before it.

A statement runs there if everything that it uses is there: NumPy, the standard library, `grader`, and what earlier
statements that run there have bound. So one import of Matplotlib leaves out only what draws.
"""

from __future__ import annotations

import ast
import builtins
import symtable
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from grader.sources import bound_names

_HERE = {"numpy", "grader"} | sys.stdlib_module_names
_SOLUTIONS = "solutions"


@dataclass(frozen=True)
class Statement:
    """A statement of a module: its source, the global names that it needs, those that it binds, and those whose values
    it may change. It may use what a loop binds, too, from before the loop. `exercises` are what it imports from
    solutions; `imports` are the modules of any other import.
    """

    source: str
    needs: frozenset[str]
    binds: frozenset[str]
    may_use: frozenset[str] = frozenset()
    changes: frozenset[str] = frozenset()
    imports: tuple[str, ...] = ()
    exercises: tuple[str, ...] = ()

    def runs(self, bound: Collection[str]) -> bool:
        """Whether it runs where these names are bound."""
        return self.needs <= set(bound) and all(is_here(module) for module in self.imports)


@dataclass
class Before:
    """What has to run before a piece of code: statements, and functions that readers write in exercises."""

    statements: list[str] = field(default_factory=list)
    exercises: list[str] = field(default_factory=list)

    @property
    def code(self) -> str:
        return "\n".join(self.statements)


def is_here(module: str) -> bool:
    """Whether a page's Python has a module."""
    return module.partition(".")[0] in _HERE


def statements(source: str) -> list[Statement]:
    """The statements of a cell. Raises SyntaxError."""
    return [_statement(source, node) for node in ast.parse(source).body]


def _statement(source: str, node: ast.stmt) -> Statement:
    text = ast.get_source_segment(source, node) or ""
    if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.decorator_list:
        text = "\n".join(source.splitlines()[node.decorator_list[0].lineno - 1 : node.end_lineno])
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = frozenset(bound_names(node))
        modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        if modules[0].partition(".")[0] == _SOLUTIONS and all(alias.asname is None for alias in node.names):
            return Statement(text, frozenset(), names, exercises=tuple(alias.name for alias in node.names))
        return Statement(text, frozenset(), names, imports=tuple(modules))
    top = symtable.symtable(text, "cell", "exec")
    symbols = top.get_symbols()
    defined = node.name if isinstance(node, ast.FunctionDef | ast.ClassDef) else None
    binds = {each.get_name() for each in symbols if each.is_assigned() or each.is_imported()}
    binds = {defined} if defined else binds
    added = (each.target for each in ast.walk(node) if isinstance(each, ast.AugAssign) and not defined)
    uses = {each.get_name() for each in symbols if each.is_referenced()} | set(_inner(top))
    uses |= {target.id for target in added if isinstance(target, ast.Name)}  # `x += 1` uses x, too
    first = {*binds} if not isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) else _only_bound(node)
    changes = frozenset(() if defined else _changed(node)) - binds
    modules = [name for inner in ast.walk(node) for name in _imported(inner)]
    needs = frozenset(uses - first) | changes
    return Statement(text, needs, frozenset(binds), frozenset(uses & first), changes, tuple(modules))


def _inner(table: symtable.SymbolTable) -> Iterator[str]:
    """The global names that functions and classes inside a statement use."""
    for child in table.get_children():
        yield from (each.get_name() for each in child.get_symbols() if each.is_global() and each.is_referenced())
        yield from _inner(child)


def _only_bound(node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> set[str]:
    """The names that an assignment binds without using them first."""
    if isinstance(node, ast.AugAssign) or node.value is None:
        return set()
    loaded = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
    stored = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    return stored - loaded


def _changed(node: ast.stmt) -> Iterator[str]:
    """The names whose values a statement may change: by a method, an item or an attribute."""
    for each in ast.walk(node):
        if isinstance(each, ast.Subscript | ast.Attribute) and isinstance(each.ctx, ast.Store):
            yield from _root(each)
        elif isinstance(each, ast.AugAssign):
            yield from _root(each.target)
        elif isinstance(node, ast.Expr | ast.For) and isinstance(each, ast.Call):
            yield from _root(each.func) if isinstance(each.func, ast.Attribute) else ()


def _root(node: ast.expr) -> Iterator[str]:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield node.module or ""


def set_up(cells: Sequence[str]) -> str:
    """Everything in these cells that runs in a page and binds something."""
    kept, _ = _kept(cells)
    return _as_before([each for each in kept if each.binds and not each.exercises]).code


def before(cells: Sequence[str], code: str) -> Before | None:
    """What of these cells has to run before `code`; None if it cannot run in a page."""
    kept, bound = _kept(cells)
    wanted: set[str] = set()
    for each in statements(code):
        if not each.runs(bound):
            return None
        wanted |= each.needs | each.may_use
        bound |= each.binds
    modules = {name for each in kept if each.imports for name in each.binds}  # which calls of their functions keep
    needed = []
    for each in reversed(kept):
        if (each.binds | each.changes - modules) & wanted:
            needed.append(each)
            wanted |= each.needs | each.may_use
    return _as_before(needed[::-1])


def _kept(cells: Sequence[str]) -> tuple[list[Statement], set[str]]:
    """The statements that run in a page, and the names that are bound after them."""
    bound = set(dir(builtins))
    kept: list[Statement] = []
    for each in [statement for cell in cells for statement in statements(cell)]:
        if each.runs(bound):
            kept.append(each)
            bound |= each.binds
    return kept, bound


def _as_before(kept: Sequence[Statement]) -> Before:
    found = Before()
    for each in kept:
        found.exercises += [name for name in each.exercises if name not in found.exercises]
        if not each.exercises:
            found.statements.append(each.source)
    return found
