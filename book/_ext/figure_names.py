"""Figures have ids that say what they are, so links to them survive a new figure above, and slides find them.

A glued figure is `figure-NAME` by the name it is glued under, a drawing `figure-FILE` by its file without the ending;
a name of its own, if it has one, comes first. Sphinx would number them in the order of the page.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from docutils import nodes
from drawing import Drawing
from myst_nb.ext.glue.directives import PasteFigureDirective
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata


def name_figure(document: nodes.document, found: list[nodes.Node], name: str) -> list[nodes.Node]:
    """Give the figure among these nodes its id, unless another one on the page has it already."""
    name = nodes.make_id(f"figure-{name}")
    for figure in found:
        if isinstance(figure, nodes.figure) and name not in document.ids:
            figure["ids"].append(name)
            document.ids[name] = figure
    return found


class NamedFigure(PasteFigureDirective):
    def run(self) -> list[nodes.Node]:
        return name_figure(self.document, super().run(), self.arguments[0])


class NamedDrawing(Drawing):
    def run(self) -> list[nodes.Node]:
        return name_figure(self.state.document, super().run(), PurePosixPath(self.arguments[0]).stem)


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("drawing")
    app.add_directive("drawing", NamedDrawing, override=True)
    app.connect("builder-inited", _replace_glued_figure)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _replace_glued_figure(app: Sphinx) -> None:
    """The domain `glue` is there, if the book executes pages, once all extensions are loaded, in whatever order."""
    if "glue" in app.env.domains:
        app.env.domains["glue"].directives["figure"] = NamedFigure
