"""The directive `more`: what not every reader wants, folded, under the words that say what it is.

    :::{more} All pages, with a sentence for each
    - [Sequences are everywhere](…): …
    :::

It is a `<details>`, as an answer to a `predict` is.
"""

from __future__ import annotations

from docutils import nodes
from page_element import PageElement, folded
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata


class More(PageElement):
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        more = folded(self.arguments[0], classes=["more"])
        self.set_source_info(more)
        self.parse(more)
        if len(more) == 1:
            return [self.refuse(f"{self.arguments[0]!r} is empty. Write what is folded.")]
        return [more]


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("page_element")
    app.add_directive("more", More)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
