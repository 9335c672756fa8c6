"""No solution of an exercise stands anywhere in the built site: pages, scripts, search index, notebooks."""

from __future__ import annotations

import ast
import json
import re
import textwrap
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path

import pytest

from grader.author.notebooks import BEGIN, END, instructor_notebook
from grader.author.shown_solutions import SMALLEST
from grader.cells import cell_source
from grader.manifest import load_manifest

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
SEARCHED = {".html", ".js", ".json", ".txt", ".md", ".py", ".ipynb"}
THEIRS = {"mathjax", "vendor", "scripts", "locales"}  # folders of the theme and of MathJax


def solution_statements() -> dict[str, str]:
    """The statements of all reference solutions, without white space, and whose they are."""
    manifest = load_manifest(ROOT / "course.toml")
    found = {}
    for exercise_id, place in manifest.places.items():
        cell = cell_source(instructor_notebook(ROOT, manifest, place.chapter, place.notebook), exercise_id)
        for rest in cell.split(BEGIN)[1:]:
            for statement in statements(textwrap.dedent(rest.partition(END)[0].partition("\n")[2])):
                found[squeezed(statement)] = exercise_id
    return found


def statements(region: str) -> Iterator[str]:
    """The simple statements that are long enough to give something away."""
    source = "def _():\n" + textwrap.indent(region, " ")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Return | ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr):
            if isinstance(node.value, ast.Constant) or sum(1 for _ in ast.walk(node)) < SMALLEST + 2:
                continue
            yield ast.get_source_segment(source, node) or ""
            yield ast.unparse(node)


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text).replace("'", '"')


def shown(path: Path) -> str:
    """What a file holds, without mark-up and white space."""
    text = path.read_text("utf-8", errors="replace")
    if path.suffix == ".ipynb":
        text = "\n".join("".join(cell["source"]) for cell in json.loads(text).get("cells", []))
    if path.suffix == ".html":
        text = text + unescape(re.sub(r"<[^>]*>", "", text))
    return squeezed(text)


def leaks(site: Path) -> list[str]:
    told = solution_statements()
    assert told
    files = [path for path in site.rglob("*") if path.suffix in SEARCHED and not THEIRS & set(path.parts)]
    assert any(path.name == "searchindex.js" for path in files)
    return [
        f"{path.relative_to(site)}: {exercise}: {statement}"
        for path in files
        for statement, exercise in told.items()
        if statement in shown(path)
    ]


def test_the_site_holds_no_solution(site: Path) -> None:
    assert leaks(site) == []


@pytest.mark.parametrize("name", ["page.html", "script.js", "searchindex.js", "book.ipynb"])
def test_a_solution_would_be_found(tmp_path: Path, name: str) -> None:
    (tmp_path / "searchindex.js").write_text("", "utf-8")
    line = "return np.tanh(x_t @ W_xh\n  + h_prev @ W_hh + b_h)"
    coloured = "".join(f"<span>{escape(word)}</span> " for word in line.split())
    text = {
        ".html": f"<pre>{coloured}</pre>",
        ".js": line,
        ".ipynb": json.dumps({"cells": [{"source": line.splitlines(keepends=True)}]}),
    }
    (tmp_path / name).write_text(text[Path(name).suffix], "utf-8")
    assert len(leaks(tmp_path)) == 1
