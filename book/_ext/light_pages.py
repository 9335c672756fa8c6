"""Lighter pages: what a page does not use it does not load, and what no page uses is not kept.

Thebe would start a remote kernel; `fontawesome.js` draws icons that the web font draws already; source maps
and macro pages are for the theme's developers. MathJax, half of a page's weight, loads only where the page
itself has a formula (Sphinx adds it to every page *above* one as well). sphinx-design's files load only on pages
that use one of its classes `sd-…`, myst-nb's style sheet on pages with code cells, and the buttons that copy or fold
where there is something to copy or fold. The index of the whole book loads on the search page alone, because no page
searches while the reader types.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

_UNUSED_FILES = (
    "_static/sphinx-thebe.*",
    "_static/scripts/fontawesome.js*",
    "_static/**/*.map",
    "_static/*webpack-macros.html",
)
_UNUSED_TAGS = [
    re.compile(r'<script type="text/x-thebe-config">.*?</script>', re.S),
    re.compile(r"<script>kernelName = .*?</script>", re.S),
    re.compile(r'<script[^>]* src="[^"]*scripts/fontawesome\.js[^"]*"></script>'),
]
_SEARCH_TAGS = re.compile(r'\s*<script src="[^"]*(?:searchtools|language_data|searchindex)\.js[^"]*"></script>')


def drop_scripts(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    unused = ["thebe"]
    if doctree is None or not any(doctree.findall(_is_formula)):
        unused.append("mathjax")
    if "sd-" not in context.get("body", ""):
        unused += ["sphinx-design", "design-tabs"]
    if 'class="cell' not in context.get("body", ""):
        unused.append("mystnb")
    if 'class="highlight' not in context.get("body", ""):
        unused += ["clipboard", "copybutton"]
    if not any(name in context.get("body", "") for name in ("toggle", "dropdown", 'class="cell')):
        unused.append("togglebutton")
    for kind in ("script_files", "css_files"):
        context[kind] = [file for file in context.get(kind, []) if not any(name in _text(file) for name in unused)]


def _is_formula(node: nodes.Node) -> bool:
    return isinstance(node, nodes.math | nodes.math_block)


def _text(file: Any) -> str:
    """What names a script: its file, or its first words where it stands in the page."""
    body = getattr(file, "attributes", {}).get("body") or ""
    return f"{getattr(file, 'filename', file)} {body}".lower()


def drop_unused(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    site = Path(app.outdir)
    for page in site.rglob("*.html"):
        before = after = page.read_text("utf-8")
        for tag in _UNUSED_TAGS:
            after = tag.sub("", after)
        if page.name != "search.html":
            after = _SEARCH_TAGS.sub("", after)
        if after != before:
            page.write_text(after, "utf-8")
    for pattern in _UNUSED_FILES:
        for file in site.glob(pattern):
            file.unlink()


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("html-page-context", drop_scripts, priority=900)
    app.connect("build-finished", drop_unused)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
