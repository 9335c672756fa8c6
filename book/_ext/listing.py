"""Listings of Python that pages take from files: without type annotations and `# noqa`, at most 76 columns wide.

The code of this repository is annotated and has lines of up to 120 columns. A page has room for 76, and a reader
wants to see the computation. Only what is shown is changed, and it still does the same.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from functools import cache

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.directives.code import LiteralInclude
from sphinx.util.typing import ExtensionMetadata

COLUMNS = 76
_ONE_LINE = re.compile(r'(?P<indent> *)(?P<mark>"""|# )(?P<words>\S.*)')
_NOTE_TO_TOOLS = re.compile(r"[ \t]*# (noqa|type: ignore|fmt: skip)\b.*$", re.MULTILINE)


@cache
def shown(source: str) -> str:
    """The code as a page shows it. Code that is only a part of a statement is returned as it is."""
    source = textwrap.dedent(_NOTE_TO_TOOLS.sub("", source))
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--quiet", "--stdin-filename", "listing.py"]
    options = ["--config", f"line-length={COLUMNS}", "--config", "format.skip-magic-trailing-comma=true", "-"]
    plain = _without(source, list(_annotations(source, tree)))
    done = subprocess.run(
        [*command, *options], input=plain, capture_output=True, text=True, encoding="utf-8", check=True
    )
    return "\n".join(_narrow(line) for line in done.stdout.rstrip("\n").split("\n"))


def _narrow(line: str) -> str:
    """A long line as several ones, if it is a docstring or a comment, which the formatter leaves as it is."""
    said = _ONE_LINE.fullmatch(line)
    if len(line) <= COLUMNS or said is None:
        return line
    indent, mark = said["indent"], said["mark"]
    following = f"{indent}# " if mark == "# " else indent
    return textwrap.fill(
        said["words"], COLUMNS, initial_indent=indent + mark, subsequent_indent=following, break_on_hyphens=False
    )


def _annotations(source: str, tree: ast.AST) -> Iterator[tuple[int, int]]:
    """From where to where annotations stand in the source, in bytes of UTF-8, with the `:` or `->` before them."""
    lines = source.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def place(line: int, column: int) -> int:
        return starts[line - 1] + column

    whole = b"".join(lines)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.annotation is not None:
            first = place(node.lineno, node.col_offset) + len(node.arg.encode())
            yield first, place(node.annotation.end_lineno or 0, node.annotation.end_col_offset or 0)
        elif isinstance(node, ast.FunctionDef) and node.returns is not None:
            arrow = whole.rindex(b"->", 0, place(node.returns.lineno, node.returns.col_offset))
            first = len(whole[:arrow].rstrip())
            yield first, place(node.returns.end_lineno or 0, node.returns.end_col_offset or 0)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            first = place(node.target.end_lineno or 0, node.target.end_col_offset or 0)
            yield first, place(node.annotation.end_lineno or 0, node.annotation.end_col_offset or 0)


def _without(source: str, spans: list[tuple[int, int]]) -> str:
    whole = source.encode()
    for first, last in sorted(spans, reverse=True):
        whole = whole[:first] + whole[last:]
    return whole.decode()


class Listing(LiteralInclude):
    """`literalinclude`, which shows Python as `shown` returns it."""

    def run(self) -> list[nodes.Node]:
        found = super().run()
        if self.options.get("language") == "python":
            for block in [each for node in found for each in node.findall(nodes.literal_block)]:
                code = shown(block.astext())
                block.rawsource, block.children = code, [nodes.Text(code)]
        return found


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("literalinclude", Listing, override=True)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
