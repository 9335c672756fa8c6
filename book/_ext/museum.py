"""The directives `museum` and `exhibit`: switch on one bug at a time and see what it does.

    ::::{museum} Four ways to get a step wrong
    Which of them still learns?
    :::{exhibit} No bug
    A glued figure, a sample of text, a sentence.
    :::
    :::{exhibit} The state is left out
    ...
    :::
    ::::

With script one exhibit shows at a time, chosen by radio buttons (museum.js). Without, and in print, all of them
stand one after another under their headings.
"""

from __future__ import annotations

from docutils import nodes
from page_element import PageElement, attach, has_class, heading, make, stands_in
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata


class Museum(PageElement):
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        title = heading("", "", *self.parse_inline(self.arguments[0]), depth=1, classes=["museum-title"])
        museum = make("div", title, classes=["museum"])
        self.set_source_info(museum)
        self.parse(museum)
        exhibits = [child for child in museum if has_class("exhibit")(child)]
        if len(exhibits) < 2:
            return [self.refuse("needs two exhibits at least. Write a :::{exhibit} for no bug, and one for each bug.")]
        if list(museum[-len(exhibits) :]) != exhibits:
            return [self.refuse("text stands between or after the exhibits. Put it into one, or before all.")]
        names = [exhibit[0].astext() for exhibit in exhibits]
        for name in names:
            if names.count(name) > 1:
                return [self.refuse(f"two exhibits are called {name!r}. Give one another name.")]
        return [museum]


class Exhibit(PageElement):
    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        name = heading("", "", *self.parse_inline(self.arguments[0]), depth=2, classes=["exhibit-name"])
        exhibit = make("div", name, classes=["exhibit"])
        self.set_source_info(exhibit)
        self.parse(exhibit)
        if len(exhibit) == 1:
            return [self.refuse(f"{self.arguments[0]!r} is empty. Write what the bug does.")]
        return [exhibit]


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("page_element")
    app.add_directive("museum", Museum)
    app.add_directive("exhibit", Exhibit)
    stands_in(app, "exhibit", "museum")
    attach(app, has_class("museum"), "museum.js")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
