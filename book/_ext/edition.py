"""Two editions of the book from the same sources.

*class* is the default, and holds no solution. *self-study* has, folded under each exercise, the reference solution,
another one, and why it works. The switch is the environment variable UNROLLED_EDITION (`make book-self-study`).
"""

from __future__ import annotations

import ast
import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from docutils import nodes
from page_element import PageElement, folded
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError
from sphinx.util.typing import ExtensionMetadata

from grader.author.changes import sources
from grader.author.folders import mistakes_path, spec_path
from grader.author.mistake_words import read_mistake_words
from grader.author.notebooks import BEGIN, END, instructor_notebook, source_path
from grader.author.record import load_spec
from grader.cells import cell_source
from grader.manifest import Manifest, Place

CLASS, SELF_STUDY = "class", "self-study"


def check(app: Sphinx, config: Config) -> None:
    if config.unrolled_edition not in (CLASS, SELF_STUDY):
        raise ConfigError(
            f"UNROLLED_EDITION is {config.unrolled_edition!r}. There are two editions: {CLASS!r}, the default, "
            f"and {SELF_STUDY!r}."
        )
    if config.unrolled_edition == SELF_STUDY:
        config.html_title = f"{config.html_title}, self-study edition"


def solution(directive: PageElement, manifest: Manifest, place: Place) -> list[nodes.Node]:
    """What stands under an exercise's box in this edition."""
    env = directive.env
    if env.config.unrolled_edition != SELF_STUDY:
        return []
    root = Path(env.srcdir)
    words = mistakes_path(root, place)
    for file in (source_path(root, place.chapter, place.notebook), spec_path(root, place), words):
        env.note_dependency(os.path.relpath(file, root))
    spec = load_spec(root, place)
    notebook = instructor_notebook(root, manifest, place.chapter, place.notebook)
    shown = folded(f"Solution of {place.exercise.id}", classes=["solution"])
    shown += _code(without_docstring(region(cell_source(notebook, place.exercise.id))))
    if why := read_mistake_words(words).why:
        directive.parse(shown, why.splitlines())
    for function in list(spec.alternatives.values())[:1]:
        told, source = alternative(function)
        shown += nodes.paragraph("", "", nodes.strong("", "Another way. "), *directive.parse_inline(told))
        shown += _code(source)
    return [shown]


def region(cell: str) -> str:
    """An exercise's cell without the two lines that mark its solution."""
    return "\n".join(line for line in cell.splitlines() if line.strip() not in (BEGIN, END))


def alternative(function: Callable[..., Any]) -> tuple[str, str]:
    """(the first line of its docstring, its source without decorator and docstring)."""
    _, source = sources(function)
    found = next(node for node in ast.parse(source).body if getattr(node, "name", None) == function.__name__)
    lines = source.splitlines()[found.lineno - 1 : found.end_lineno]
    return inspect.cleandoc(function.__doc__ or "").partition("\n")[0], without_docstring("\n".join(lines))


def without_docstring(source: str) -> str:
    """Source without the docstrings of its functions: the page above has said it already."""
    lines: list[str | None] = list(source.rstrip().splitlines())
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None and len(node.body) > 1:
            docstring = node.body[0]
            lines[docstring.lineno - 1 : docstring.end_lineno] = [None] * (docstring.end_lineno - docstring.lineno + 1)
    return "\n".join(line for line in lines if line is not None)


def _code(source: str) -> nodes.literal_block:
    return nodes.literal_block(source, source, language="python")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("page_element")
    app.add_config_value("unrolled_edition", os.environ.get("UNROLLED_EDITION") or CLASS, "env", [str])
    app.connect("config-inited", check)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
