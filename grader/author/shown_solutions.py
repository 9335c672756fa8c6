"""Find pieces of solutions in texts, by comparing code blocks with solution regions as syntax trees."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator

from grader.author.notebooks import BEGIN, END

SMALLEST = 6  # nodes of a syntax tree below which an expression, such as `x.shape[1]`, gives nothing away

_FENCE = re.compile(
    r"^(?P<fence>`{3,}|:{3,})(?P<info>[^\n]*)\n(?P<body>.*?)^(?P=fence)[ \t]*$", re.MULTILINE | re.DOTALL
)


def solution_pieces(cell: str) -> set[str]:
    """The statements and expressions of a cell's solution regions, in a form that can be compared."""
    regions = (rest.partition(END)[0].partition("\n")[2] for rest in cell.split(BEGIN)[1:])
    return {piece for region in regions for piece in source_pieces(textwrap.dedent(region))}


def shown_pieces(markdown: str) -> Iterator[tuple[int, str, str]]:
    """(line, source, comparable form) of every piece of code in the code blocks of a Markdown text."""
    for match in _FENCE.finditer(markdown):
        first_line = markdown.count("\n", 0, match.start("body")) + 1
        body = _without_options(match["body"])
        for node in _nodes(body):
            piece = _comparable(node)
            if piece is not None:
                yield first_line + getattr(node, "lineno", 1) - 1, ast.unparse(node), piece


def _without_options(body: str) -> str:
    """A directive's body with its options blanked: a YAML block between `---` lines, and lines such as `:tags: [x]`."""
    lines = body.split("\n")
    inside = False
    for index, line in enumerate(lines):
        if line.strip() == "---" and (index == 0 or inside):
            inside = not inside
            lines[index] = ""
        elif inside or re.match(r":[\w-]+:", line):
            lines[index] = ""
        elif line.lstrip().startswith(("%", "!")):
            lines[index] = line[: len(line) - len(line.lstrip())] + "pass"
        elif line.strip():
            break
    return "\n".join(lines)


def source_pieces(source: str) -> Iterator[str]:
    """The comparable form of every statement of a piece of Python."""
    for node in _nodes(source):
        piece = _comparable(node)
        if piece is not None:
            yield piece


def _nodes(source: str) -> Iterator[ast.AST]:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        try:
            tree = ast.parse(textwrap.indent(source, " ").join(("def _():\n", "")))
        except SyntaxError:
            return
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            yield node


def _comparable(node: ast.AST) -> str | None:
    """The value of a simple statement, or a whole compound one; None for code that reveals nothing."""
    if isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef | ast.Pass):
        return None
    if isinstance(node, ast.Return | ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr):
        if node.value is None or isinstance(node.value, ast.Constant):
            return None
        node = node.value
    size = sum(not isinstance(child, ast.expr_context | ast.operator) for child in ast.walk(node))
    return ast.dump(node) if size >= SMALLEST else None
