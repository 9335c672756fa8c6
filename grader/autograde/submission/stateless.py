"""Which cells leave nothing behind but names: then their functions may be examined in one process, one after another.

Told from a cell's syntax, and with caution: whatever might keep a state, in the notebook or in a library, says no.
An answer `yes` that is wrong can cost a notebook its own points alone, never gain it any.
"""

from __future__ import annotations

import ast

_MODULES = {"__future__", "grader", "math", "numpy", "typing"}
_WORDS = """
breakpoint compile delattr dir display eval exec exit get_ipython getattr globals help input locals open quit setattr
vars
DataSource core ctypeslib f2py fromfile genfromtxt lib load loadtxt memmap random save savetxt savez savez_compressed
set_printoptions seterr seterrcall setbufsize testing tofile
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


def leaves_only_names(tree: ast.Module) -> bool:
    """Whether a cell only imports from a few modules, names constants, and defines functions that keep nothing."""
    return all(map(_is_plain, tree.body))


def _is_plain(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Expr(ast.Constant()):
            return True
        case ast.Import(names):
            return all(name.name in _MODULES for name in names)
        case ast.ImportFrom(module, names, 0):
            return module in _MODULES and not any(name.name in _STATEFUL or name.name == "*" for name in names)
        case ast.Assign(targets, value):
            return all(_is_made_of(_NAMES, target) for target in targets) and _is_made_of(_CONSTANTS, value)
        case ast.FunctionDef(decorator_list=[], args=arguments):
            given = [*arguments.defaults, *arguments.kw_defaults]
            constant = all(each is None or _is_made_of(_CONSTANTS, each) for each in given)
            return constant and _keeps_nothing(statement)
    return False


def _is_made_of(kinds: tuple[type[ast.AST], ...], expression: ast.expr) -> bool:
    return all(isinstance(node, kinds) for node in ast.walk(expression))


def _keeps_nothing(function: ast.FunctionDef) -> bool:
    for node in ast.walk(function):
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
