"""What the page elements share: a node that is one HTML element, a heading, and scripts only where they are used.

An element is written so that its HTML holds all its content: without script and in print nothing is lost. Its
script then puts the content into a shape that answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

_log = logging.getLogger(__name__)


class box(nodes.General, nodes.Element):  # noqa: N801, docutils names nodes so
    """One HTML element: `tag`, `classes`, `ids`, further `attributes`, and its children."""


class words(nodes.General, nodes.TextElement):  # noqa: N801
    """A box that holds words alone, so that links can stand in it."""


class heading(nodes.General, nodes.TextElement):  # noqa: N801
    """A heading inside an element, `depth` levels below the section that it stands in."""


def make(tag: str, *children: nodes.Node, classes: Sequence[str] = (), **attributes: str) -> box | words:
    """A box; of the attributes, `data_right` becomes `data-right`."""
    named = {name.replace("_", "-"): value for name, value in attributes.items()}
    if tag in ("p", "span"):
        return words("", "", *children, tag=tag, classes=list(classes), attributes=named)
    return box("", *children, tag=tag, classes=list(classes), attributes=named)


def folded(summary: str, *children: nodes.Node, classes: Sequence[str] = ()) -> box:
    """What is unfolded by a click; always open in print (book.css)."""
    return make("details", make("summary", nodes.Text(summary)), *children, classes=["folded", *classes])


class PageElement(SphinxDirective):
    """A directive with content. `refuse` says what is wrong with it and where: a warning, so the build fails."""

    has_content = True

    def refuse(self, what: str, line: int | None = None) -> nodes.system_message:
        return self.state.document.reporter.warning(f"{self.name}: {what}", line=line or self.lineno)

    def parse(self, node: nodes.Element, lines: Sequence[str] | None = None, first: int = 0) -> None:
        """Append MyST to a node: the content, or `lines`, the first of which is number `first` of the content."""
        block = self.content if lines is None else StringList(list(lines), source="")
        self.state.nested_parse(block, self.content_offset + first, node)

    def parse_inline(self, text: str, line: int | None = None) -> list[nodes.Node]:
        found, messages = self.state.inline_text(text, line or self.lineno)
        return [*found, *messages]


def attach(app: Sphinx, is_used: Callable[[nodes.Node], bool], *files: str) -> None:
    """Load scripts and style sheets on those pages alone that have such a node."""

    def on_page(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
        if doctree is None or not any(doctree.findall(is_used)):
            return
        for file in files:
            if file.endswith(".js"):
                app.add_js_file(file, defer="defer")
            else:
                app.add_css_file(file)

    app.connect("html-page-context", on_page)


def has_class(name: str) -> Callable[[nodes.Node], bool]:
    """For `attach` and `findall`: is it a box of this class?"""
    return lambda node: isinstance(node, box) and name in node["classes"]


def stands_in(app: Sphinx, inner: str, outer: str) -> None:
    """A box of class `inner` belongs directly into one of class `outer`; anywhere else it is a warning."""

    def look(app: Sphinx, doctree: nodes.document) -> None:
        for node in doctree.findall(has_class(inner)):
            if outer not in node.parent.get("classes", []):
                _log.warning(
                    "%s: stands outside a {%s}. Put it directly inside one, whose fence has one colon more.",
                    inner, outer, location=node,
                )  # fmt: skip

    app.connect("doctree-read", look)


def _visit_box(self: Any, node: box | words) -> None:
    self.body.append(self.starttag(node, node["tag"], "", **node["attributes"]))


def _depart_box(self: Any, node: box | words) -> None:
    self.body.append(f"</{node['tag']}>\n")


def _visit_heading(self: Any, node: heading) -> None:
    node["tag"] = f"h{min(self.section_level + node['depth'], 6)}"
    self.body.append(self.starttag(node, node["tag"], ""))


def _depart_heading(self: Any, node: heading) -> None:
    self.body.append(f"</{node['tag']}>\n")


def raw(html: str) -> nodes.raw:
    return nodes.raw("", html, format="html")


def script_data(json_text: str, name: str) -> nodes.raw:
    """Data for a script, inline, because a page opened as a file may not fetch it."""
    safe = json_text.replace("</", "<\\/")
    return raw(f'<script type="application/json" class="{escape(name)}">{safe}</script>')


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_node(box, html=(_visit_box, _depart_box))
    app.add_node(words, html=(_visit_box, _depart_box))
    app.add_node(heading, html=(_visit_heading, _depart_heading))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
