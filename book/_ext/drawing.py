"""The directive `drawing`: an SVG file set into the page itself, so that it follows the page's colours.

    ```{drawing} drawings/one_step.svg
    :name: fig-one-step
    :alt: what is to be seen, for those who do not see it
    The caption.
    ```

As an `<img>` it could not know whether the page is light or dark. Lines and text use `currentColor` and the
classes of `book.css`. Shapes in an `<a>` are links, which are reached with the keyboard too; their addresses are
relative to the page.
"""

from __future__ import annotations

import html
import re
from pathlib import Path
from xml.etree import ElementTree

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

_COMMENT = re.compile(r"<!--.*?-->", re.S)


class Drawing(SphinxDirective):
    required_arguments = 1
    has_content = True
    option_spec = {"name": directives.unchanged_required, "alt": directives.unchanged_required}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        relative, file = self.env.relfn2path(self.arguments[0])
        self.env.note_dependency(relative)
        try:
            svg = inline(Path(file).read_text("utf-8"), self.options.get("alt", ""))
        except (OSError, ElementTree.ParseError, ValueError) as error:
            return [self.state.document.reporter.warning(f"drawing: {relative}: {error}", line=self.lineno)]
        figure = nodes.figure("", nodes.raw("", svg, format="html"), classes=["drawing"])
        if self.content:
            text, messages = self.state.inline_text(" ".join(self.content), self.lineno)
            figure += nodes.caption("", "", *text)
            figure += messages
        self.add_name(figure)
        return [figure]


def inline(svg: str, alt: str) -> str:
    """The drawing as one element with a role and a name; one with links is a group, because what is in an image cannot
    be reached. Raises ValueError or ParseError saying what is wrong.
    """
    if not alt.strip():
        raise ValueError("say in :alt: what is to be seen")
    root = ElementTree.fromstring(svg)
    if "viewBox" not in root.attrib:
        raise ValueError("the svg element has no viewBox, so it cannot shrink to a phone")
    start = svg.index("<svg")
    text = _COMMENT.sub("", svg[start:]).strip()
    role = "img" if root.find(".//{*}a") is None else "group"
    return f'<svg role="{role}" aria-label="{html.escape(alt.strip())}"{text[len("<svg") :]}'


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("drawing", Drawing)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
