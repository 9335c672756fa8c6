"""What the syntax of a cell shows: the names that it binds, and whether it leaves anything else behind."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from grader.submission.stateless import leaves_only_names, stays_within

SHORT = 10_000  # characters of a cell: many parsed cells up to this length are cached, but only a few longer ones
_SUBMISSION = "<submission>"
# Invalid escapes in a student's strings do not matter. (`catch_warnings` would change the filters of all threads.)
warnings.filterwarnings("ignore", module=_SUBMISSION)
_BINDS_ANYTHING = {"exec", "globals"}
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


@dataclass(frozen=True)
class Bindings:
    """What the syntax of a cell shows: the names that it binds for the whole notebook, whether it leaves nothing else
    behind (`stateless`), whether it `stays_within` its notebook, whether it is Python, whether it is `plain` (see
    `frames.Cell`), and whether it `asks`, that is, calls `input`. The names of a cell that is not Python are found with
    a regular expression. `*` among the names says that there may be others, as in `from helper import *`.
    """

    names: frozenset[str]
    stateless: bool = False
    stays_within: bool = False
    is_python: bool = True
    plain: bool = False
    asks: bool = False


def bindings_of(source: str) -> Bindings:
    """What the syntax of a cell shows; cached, because most submissions contain the released cells."""
    return _of_short(source) if len(source) <= SHORT else _of_long(source)


def parsed(source: str) -> ast.Module | None:
    """A cell's syntax tree; None if it is not Python."""
    try:
        return ast.parse(source, _SUBMISSION)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _bindings(source: str) -> Bindings:
    tree = parsed(source)
    if tree is None:
        return Bindings(frozenset(_names_by_pattern(source)), is_python=False)
    within = stays_within(tree)
    plain = not any(isinstance(statement, ast.Import | ast.ImportFrom) for statement in tree.body)
    plain = plain and not (tree.body and isinstance(tree.body[-1], ast.Expr))
    asks = "input" in source and any(map(_is_input, ast.walk(tree)))
    names = bound_names(tree, "global" in source)
    return Bindings(names, within and leaves_only_names(tree), within, plain=plain, asks=asks)


def _is_input(node: ast.AST) -> bool:
    match node:
        case ast.Call(ast.Name("input")):
            return True
    return False


def lacks_code(source: str, name: str, stub: str = "") -> bool:
    """Whether a cell defines a function or a class without writing it: nothing but `pass`, `...`, `return None` or
    `raise NotImplementedError` is in a function, or nothing else besides what the released `stub` has there. A class
    lacks code if one of the methods that are to be written does.
    """
    if len(source) > SHORT:
        return False
    found, released = _definition(source, name), _definition(stub, name)
    try:
        if isinstance(found, ast.ClassDef):
            given = _methods(released) if isinstance(released, ast.ClassDef) else {}
            return any(_is_unwritten(body, given.get(method, [])) for method, body in _methods(found).items())
        given_body = released.body if isinstance(released, ast.FunctionDef | ast.AsyncFunctionDef) else []
        return found is not None and (_is_unwritten(found.body, given_body) or all(map(_is_nothing, found.body)))
    except RecursionError:  # very deeply nested
        return False


_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@lru_cache(maxsize=200)
def _definition(source: str, name: str) -> _Definition | None:
    """The last definition of this name in a cell; None if there is none, or if the cell is not Python."""
    tree = parsed(source)
    body = [] if tree is None else tree.body
    return next((each for each in reversed(body) if isinstance(each, _Definition) and each.name == name), None)


def _methods(found: ast.ClassDef) -> dict[str, list[ast.stmt]]:
    return {each.name: each.body for each in found.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}


def _is_unwritten(body: list[ast.stmt], released: list[ast.stmt]) -> bool:
    if any(map(_not_implemented, body)):
        return True
    own = [ast.dump(each) for each in body if not _is_nothing(each)]
    given = [ast.dump(each) for each in released if not _is_nothing(each)]
    return any(map(_not_implemented, released)) and own in ([], given)


def _is_nothing(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Expr(value=ast.Constant()) | ast.Return(value=None | ast.Constant(value=None)):
            return True
    return _not_implemented(statement)


def _not_implemented(statement: ast.stmt) -> bool:
    match statement:
        case ast.Raise(exc=ast.Name(id="NotImplementedError") | ast.Call(func=ast.Name(id="NotImplementedError"))):
            return True
    return False


_of_short = lru_cache(maxsize=200)(_bindings)  # enough for all released cells
_of_long = lru_cache(maxsize=8)(_bindings)  # parsing one can take seconds, and is needed several times

_BINDING = re.compile(
    r"""^[ \t]*(?:
        (?:async[ \t]+)?(?:def|class)[ \t]+(\w+)
        | (\w[\w, \t]{0,200}?)=(?!=)
        | (?:from[ \t]+[\w.]+[ \t]+)?import\b(.*)
    )""",
    re.MULTILINE | re.VERBOSE,
)

_RUN = re.compile(r"^[ \t]*%run\b", re.MULTILINE)


def _names_by_pattern(source: str) -> Iterator[str]:
    for match in _BINDING.finditer(source):
        yield from re.findall(r"\w+|\*", "".join(found or "" for found in match.groups()))
    if _RUN.search(source):
        yield "*"


def bound_names(tree: ast.Module, within: bool = True) -> frozenset[str]:
    """The names that a module binds in its own namespace, anywhere in its code; `*` stands for names that the syntax
    does not show. Statements `global` are looked for `within` functions, which takes a while.
    """
    return frozenset(name for node in _outside_functions(tree, within) for name in _bound_by(node))


def _outside_functions(tree: ast.Module, within: bool) -> Iterator[ast.AST]:
    """The nodes of the module's own scope: functions and classes, but of their contents only `global` statements."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        match node:
            case ast.comprehension(iter=values, ifs=conditions):  # its target is not bound outside
                waiting += [values, *conditions]
            case ast.AnnAssign(value=None):
                pass
            case _ if isinstance(node, _SCOPES):
                if within:
                    yield from (inner for inner in ast.walk(node) if isinstance(inner, ast.Global))
            case _:
                waiting += ast.iter_child_nodes(node)


def _bound_by(node: ast.AST) -> list[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Name(id=name, ctx=ast.Store()) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return [name]
        case ast.MatchMapping(rest=str(name)):
            return [name]
        case ast.alias(name=name, asname=other):
            return [other or name.partition(".")[0]]
        case ast.Global(names=names):
            return names
        case ast.Name(id=name) if name in _BINDS_ANYTHING:
            return ["*"]
    return []
