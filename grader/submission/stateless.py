"""Decide whether a cell leaves nothing behind but names, so that the functions of such cells can be tested one after
another in a single process; and whether it changes nothing outside its notebook, so that another notebook of the same
student can be run after it.

The decision is based on the cell's syntax and errs on the side of caution: anything that might keep state, in the
notebook or in a library, counts as stateful. A cell that is wrongly called stateless can only lose points for its own
student, never gain any.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

_MODULES = {"__future__", "math", "numpy", "typing"}
_OF_GRADER = {"check", "diary", "hint", "progress"}  # `take` runs another notebook
_WORDS = """
breakpoint compile delattr dir display eval exec exit get_ipython getattr globals help input locals open quit setattr
vars
DataSource core ctypeslib f2py fromfile genfromtxt lib load loadtxt memmap random save savetxt savez savez_compressed
add_docstring add_newdoc set_default_printstyle set_printoptions seterr seterrcall setbufsize testing tofile
"""
_STATEFUL = frozenset(_WORDS.split())
_NAMES = (ast.Name, ast.Tuple, ast.Store)
_CONSTANTS = (ast.Constant, ast.Tuple, ast.Load, ast.UnaryOp, ast.unaryop)
_REFUSED = (
    ast.AsyncFor,
    ast.AsyncFunctionDef,
    ast.AsyncWith,
    ast.Await,
    ast.ClassDef,
    ast.Global,
    ast.Import,
    ast.ImportFrom,
    ast.Nonlocal,
)


def stays_within(tree: ast.Module) -> bool:
    """Whether a cell can change only the names of its own notebook and the objects that they refer to."""
    return all(map(_changes_nothing_outside, tree.body))


def leaves_only_names(tree: ast.Module) -> bool:
    """Whether a cell for which `stays_within` is true only imports, assigns constants and defines functions."""
    return all(map(_is_plain, tree.body))


def _is_plain(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Expr(ast.Constant()) | ast.Import() | ast.ImportFrom():
            return True
        case ast.Assign(targets, value):
            return all(_is_made_of(_NAMES, target) for target in targets) and _is_made_of(_CONSTANTS, value)
        case ast.FunctionDef(decorator_list=[], args=arguments):
            given = [*arguments.defaults, *arguments.kw_defaults]
            return all(each is None or _is_made_of(_CONSTANTS, each) for each in given)
    return False


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes except `random` where it is not a module with shared state: in `random.default_rng`, which creates a
    new generator, and in `rng.random()`.
    """
    waiting: list[ast.AST] = [tree]
    while waiting:
        match node := waiting.pop():
            case ast.Attribute(ast.Attribute(module, "random"), "default_rng"):
                waiting.append(module)
            case ast.Call(ast.Attribute(generator, "random"), arguments, keywords):
                waiting += [generator, *arguments, *keywords]
            case _:
                yield node
                waiting += ast.iter_child_nodes(node)


def _is_made_of(kinds: tuple[type[ast.AST], ...], expression: ast.expr) -> bool:
    return all(isinstance(node, kinds) for node in ast.walk(expression))


def _changes_nothing_outside(statement: ast.stmt) -> bool:
    match statement:
        case ast.Import(names):
            return all(name.name in _MODULES for name in names)
        case ast.ImportFrom("grader", names, 0):
            return all(name.name in _OF_GRADER for name in names)
        case ast.ImportFrom(module, names, 0):
            return module in _MODULES and not any(name.name in _STATEFUL or name.name == "*" for name in names)
    for node in _nodes(statement):
        match node:
            case ast.Attribute(attr=name, ctx=context):
                if not isinstance(context, ast.Load) or name in _STATEFUL or name.startswith("_"):
                    return False
            case ast.Name(name):
                if name in _STATEFUL or name.startswith("__"):
                    return False
            case _ if isinstance(node, _REFUSED):
                return False
    return True
