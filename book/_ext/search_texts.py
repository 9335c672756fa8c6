"""Excerpts below the results of a search, also where the book is opened as a file.

Sphinx's search fetches every page that it found and cuts an excerpt from it, which browsers refuse for files. The build
writes the texts of all pages into one file instead, `_static/search_texts.js`, after the pages: a list of sections for
each page, as pairs of id and text. It takes 0.8 MB, and `search_excerpts.js` loads it when the reader has searched.
"""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

FILE = "search_texts.js"
_SCRIPT = "search_excerpts.js"
_PAGE_TEXT = {"bd-article", "body"}  # the classes of what holds it, in the book's theme and in the basic one
_NO_TEXT = re.compile(r"<(script|style|svg|button)\b.*?</\1>", re.S)
_INLINE = {"a", "abbr", "b", "cite", "code", "em", "i", "kbd", "q", "span", "strong", "sub", "sup", "var"}
_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
_MATHS = re.compile(r"\\[()\[\]]")  # what delimits it


class _Sections(HTMLParser):
    """The text of a page as (id of the innermost section, text), in the order of the page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, list[str]]] = []
        self._open: list[tuple[str, bool, str]] = []  # tag, whether its text counts, its section

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        classes = set((given.get("class") or "").split())
        _, counts, section = self._open[-1] if self._open else ("", False, "")
        counts = counts or bool(classes & _PAGE_TEXT and not self.found)
        counts = counts and "headerlink" not in classes
        if counts and (tag == "section" or not self.found):
            section = given.get("id") or section
            self.found.append((section, []))
        if tag not in _VOID:
            self._open.append((tag, counts, section))
        if tag not in _INLINE:
            self._add(" ")

    def handle_endtag(self, tag: str) -> None:
        if not any(tag == name for name, _, _ in self._open):
            return
        while self._open.pop()[0] != tag:
            pass
        if tag not in _INLINE:
            self._add(" ")

    def handle_data(self, data: str) -> None:
        self._add(_MATHS.sub("", data))

    def _add(self, text: str) -> None:
        if not self._open or not self._open[-1][1]:
            return
        section = self._open[-1][2]
        if self.found[-1][0] != section:  # what stands in a section behind those that it contains
            self.found.append((section, []))
        self.found[-1][1].append(text)


def sections(html: str) -> list[tuple[str, str]]:
    """The sections of a page that have text, each with its id; its heading is part of the text."""
    parser = _Sections()
    parser.feed(_NO_TEXT.sub(" ", html))
    texts = [(section, " ".join("".join(parts).split())) for section, parts in parser.found]
    return [(section, text) for section, text in texts if text]


def write(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    site = Path(app.outdir)
    pages = {page: site / f"{page}.html" for page in sorted(app.env.found_docs)}
    texts = {page: sections(file.read_text("utf-8")) for page, file in pages.items() if file.is_file()}
    listed = json.dumps(texts, ensure_ascii=False, separators=(",", ":"))
    (site / "_static" / FILE).write_text(f"window.searchTexts = {listed};\n", "utf-8")


def on_page(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    if page == "search":
        app.add_js_file(_SCRIPT, defer="defer")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("html-page-context", on_page)
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
