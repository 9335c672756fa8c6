"""No solution of an exercise stands anywhere in the built site: pages, scripts, search index, notebooks."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path

import pytest

from grader.author.course import Course
from grader.author.leaks import Secrets, find_leaks, solution_statements
from grader.author.packs import make_pack, searched
from tests.kept_back import kept_back, planted

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
SEARCHED = {".html", ".js", ".json", ".txt", ".md", ".py", ".ipynb"}
THEIRS = {"mathjax", "vendor", "scripts", "locales"}  # folders of the theme and of MathJax


def leaks(site: Path, secrets: Secrets | None = None) -> list[str]:
    secrets = secrets or Secrets(solution_statements(Course(ROOT)), {})
    assert secrets.solutions
    paths = [path for path in site.rglob("*") if path.suffix in SEARCHED and not THEIRS & set(path.parts)]
    assert any(path.name == "searchindex.js" for path in paths)
    files = [(path.relative_to(site).as_posix(), path.read_bytes()) for path in paths]
    return [str(leak) for leak in find_leaks(searched(files), secrets)]


def test_the_site_holds_no_solution(site: Path) -> None:
    assert leaks(site) == []


def test_the_site_holds_no_other_way_and_does_not_say_why_one_works(site: Path, tmp_path: Path) -> None:
    course = Course(ROOT)
    secrets = kept_back(course)
    assert len(secrets.specs) > 70
    assert leaks(site, secrets) == []
    (tmp_path / "searchindex.js").write_text("", "utf-8")
    for says, page in planted(course, "rnn_backward").values():
        (tmp_path / "page.html").write_bytes(page)
        found = leaks(tmp_path, secrets)
        assert found
        assert all(says in leak for leak in found)


def test_a_solution_in_a_pack_would_be_found(tmp_path: Path) -> None:
    (tmp_path / "searchindex.js").write_text("", "utf-8")
    (tmp_path / "_static" / "try").mkdir(parents=True)
    line = "    return np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)\n"
    pack = make_pack("rnn_forward", [("exercise.json", json.dumps({"given": {"rnn_step": line}}).encode())])
    (tmp_path / "_static" / "try" / "rnn_forward.js").write_text(pack.scripts[0], "utf-8")
    assert {leak.partition(":")[0] for leak in leaks(tmp_path)} == {
        "_static/try/rnn_forward.js/exercise.json",
        "_static/try/rnn_forward.js/0.py",
    }


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
