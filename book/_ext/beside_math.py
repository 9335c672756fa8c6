"""Punctuation stays on the line of the formula beside it: no line begins with a comma, none ends with a bracket.

A browser breaks a line between a formula of MathJax, which is a box, and the comma that follows it.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.typing import ExtensionMetadata

_AFTER = re.compile(r"[.,;:!?)\]…’”]+|-\w+")
_BEFORE = re.compile(r"[(\[‘“]+$")


class BesideMath(SphinxPostTransform):
    """Wraps a formula in a line, with the punctuation before and after it, in an element that does not wrap."""

    default_priority = 800
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        for formula in list(self.document.findall(nodes.math)):
            line = formula.parent
            at = line.index(formula)
            before = _BEFORE.search(_text(line, at - 1))
            after = _AFTER.match(_text(line, at + 1))
            if not before and not after:
                continue
            # By their places: docutils finds the texts that it replaces by what they say, and two may say the same.
            line[at] = kept = nodes.inline(classes=["beside-math"])
            if before:
                kept += nodes.Text(before[0])
                line[at - 1] = nodes.Text(before.string[: before.start()])
            kept += formula
            if after:
                kept += nodes.Text(after[0])
                line[at + 1] = nodes.Text(after.string[after.end() :])


def _text(line: nodes.Element, at: int) -> str:
    """The text at a place of a line, or nothing, if something else or nothing stands there."""
    return line[at].astext() if 0 <= at < len(line) and isinstance(line[at], nodes.Text) else ""


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_post_transform(BesideMath)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
