"""Run a cell statement by statement. If an import fails, only the statements that need its names fail, not the rest of
the cell, because fewer modules are installed for grading than on a student's machine.
"""

from __future__ import annotations

import ast
import inspect
from contextlib import suppress
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from grader.checking.observing import caught
from grader.codec import Raised
from grader.inside.frames import Missing


@dataclass
class Lost:
    """The names that a notebook's failed imports should have bound; `*` stands for any name."""

    names: set[str] = field(default_factory=set)

    def explains(self, error: NameError) -> bool:
        return "*" in self.names or (type(error.name) is str and error.name in self.names)


@dataclass
class Ran:
    """The result of a cell that ran to its end: the value of its last expression, the first exception that a failed
    import caused, and the modules that could not be imported.
    """

    value: Any = None
    raised: Raised | None = None
    missing: list[Missing] = field(default_factory=list)


_Statement = tuple[CodeType, ast.Import | ast.ImportFrom | None]  # with the import that it is

_prepared: dict[tuple[str, str], list[_Statement]] = {}


def prepare(source: str, filename: str) -> None:
    """Compile a cell of the release once for this process and all its copies: many notebooks contain it unchanged."""
    with suppress(SyntaxError, ValueError):
        _prepared[source, filename] = _compiled(source, filename)


def run_statements(
    source: str, filename: str, namespace: dict[str, Any], lost: Lost, ran: Ran, plain: bool = False
) -> None:
    """Run a cell and store its results in `ran`. Raises the exception that ends the cell. A `plain` cell imports
    nothing and has no last expression whose value is shown.
    """
    prepared = _prepared.get((source, filename))
    if prepared is None and plain and not lost.names:
        _run(compile(source, filename, "exec", _AWAIT), namespace)  # all statements at once, in a third of the time
        return
    for code, imports in prepared or _compiled(source, filename):
        ran.value = None
        try:
            ran.value = _run(code, namespace)
        except ImportError as error:
            if imports is None:
                raise
            missing = _missing(imports, error, namespace)
            ran.missing.append(missing)
            lost.names |= {*missing.names}
            ran.raised = ran.raised or caught(error)
        except NameError as error:
            if not lost.explains(error):
                raise
            ran.raised = ran.raised or caught(error)


_AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT  # as in IPython


def _run(code: CodeType, namespace: dict[str, Any]) -> Any:
    value = eval(code, namespace)
    if not code.co_flags & inspect.CO_COROUTINE:
        return value
    try:
        while value.send(None) is None:  # an event loop needs sockets, which the sandbox does not have
            pass
    except StopIteration as done:
        return done.value
    raise RuntimeError("await waits for something that does not happen while a notebook is graded")


def _compiled(source: str, filename: str) -> list[_Statement]:
    """The statements in order. An import of several modules is split; a last expression is compiled to give a value."""
    found: list[_Statement] = []
    body = ast.parse(source, filename).body
    for statement in body:
        if isinstance(statement, ast.Expr) and statement is body[-1]:
            found.append((compile(ast.Expression(statement.value), filename, "eval", _AWAIT), None))
            continue
        single = (
            [ast.copy_location(ast.Import([alias]), statement) for alias in statement.names]
            if isinstance(statement, ast.Import)
            else [statement]
        )
        for each in single:
            code = compile(ast.Module([each], []), filename, "exec", _AWAIT)
            found.append((code, each if isinstance(each, ast.Import | ast.ImportFrom) else None))
    return found


def _missing(statement: ast.Import | ast.ImportFrom, error: ImportError, namespace: dict[str, Any]) -> Missing:
    names = [alias.asname or alias.name.partition(".")[0] for alias in statement.names]
    module = statement.names[0].name if isinstance(statement, ast.Import) else statement.module or "."
    reason = caught(error).text.partition(" (")[0]  # without the path of the module
    return Missing(module, reason, tuple(name for name in names if name not in namespace))
