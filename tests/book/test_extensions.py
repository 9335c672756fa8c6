"""The book's local Sphinx extensions."""

from __future__ import annotations

import io
import re
import shutil
from html import unescape
from pathlib import Path

import pytest
from accessible_html import mend
from drawing import inline
from page_environment import imported
from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
SVG = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><!-- x --><path d="M 0 0"/></svg>'


def build(folder: Path, page: str) -> tuple[str, str]:
    """Build one page with the directive alone: its HTML and the warnings."""
    shutil.copy(ROOT / "course.toml", folder)
    notebook = folder / "exercises" / "ch01_vanilla_rnn" / "recurrence.ipynb"
    notebook.parent.mkdir(parents=True)
    notebook.write_text("{}", "utf-8")
    (folder / "index.md").write_text(page, "utf-8")
    warnings = io.StringIO()
    settings = {
        "extensions": ["myst_parser", "exercise_link"],
        "html_theme": "basic",
        "exclude_patterns": ["exercises"],
    }
    out = folder / "out"
    app = Sphinx(folder, None, out, out / "doctrees", "html", confoverrides=settings, status=None, warning=warnings)
    app.build()
    return (out / "index.html").read_text("utf-8"), warnings.getvalue()


def test_exercise_link_reads_the_manifest(tmp_path: Path) -> None:
    html, warnings = build(tmp_path, "# Page\n\n```{exercise-link} rnn_forward\n```\n")
    assert warnings == ""
    assert "Exercise: The whole sequence (2 points)" in html
    text = unescape(re.sub(r"<[^>]+>", "", html))
    assert 'check("rnn_forward", rnn_forward)' in text
    assert "It builds on rnn_step." in text
    assert list((tmp_path / "out" / "_downloads").rglob("recurrence.ipynb"))


def test_exercise_link_names_what_is_near(tmp_path: Path) -> None:
    _, warnings = build(tmp_path, "# Page\n\n```{exercise-link} rnn_stpe\n```\n")
    assert "index.md:3" in warnings
    assert "no exercise 'rnn_stpe'. Near it: rnn_step" in warnings


def test_drawing_has_a_role_and_a_name() -> None:
    assert inline(SVG, 'a "dot"') == (
        '<svg role="img" aria-label="a &quot;dot&quot;" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1">'
        '<path d="M 0 0"/></svg>'
    )


def test_drawing_without_words_is_refused() -> None:
    with pytest.raises(ValueError, match="what is to be seen"):
        inline(SVG, " ")


def test_mending_twice_changes_nothing_more() -> None:
    once = mend('<div id="pst-primary-sidebar"><button class="btn search-button" aria-label="Search">')
    assert (
        once
        == '<div role="region" aria-label="Book sidebar" id="pst-primary-sidebar"><button class="btn search-button">'
    )
    assert mend(once) == once


def test_a_page_depends_on_all_that_its_solutions_import(tmp_path: Path) -> None:
    for name, text in {"a": "from solutions.b import f\n", "b": "f = 1\n", "c": "g = 1\n"}.items():
        (tmp_path / "solutions").mkdir(exist_ok=True)
        (tmp_path / "solutions" / f"{name}.py").write_text(text, "utf-8")
    found = imported(tmp_path, "text\n\nfrom solutions.a import f\n")
    assert {path.name for path in found} == {"a.py", "b.py"}
