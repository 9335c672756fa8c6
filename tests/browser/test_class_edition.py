"""No solution of an exercise stands anywhere in the built site: pages, scripts, search index, notebooks."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

import pytest

from grader.author.course import Course
from grader.author.leaks import Secrets, find_leaks, solution_statements

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
SEARCHED = {".html", ".js", ".json", ".txt", ".md", ".py", ".ipynb"}
THEIRS = {"mathjax", "vendor", "scripts", "locales"}  # folders of the theme and of MathJax


def leaks(site: Path) -> list[str]:
    told = solution_statements(Course(ROOT))
    assert told
    paths = [path for path in site.rglob("*") if path.suffix in SEARCHED and not THEIRS & set(path.parts)]
    assert any(path.name == "searchindex.js" for path in paths)
    files = [(path.relative_to(site).as_posix(), path.read_bytes()) for path in paths]
    return [str(leak) for leak in find_leaks(files, Secrets(told, {}))]


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
