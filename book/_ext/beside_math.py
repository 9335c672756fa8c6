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
            parent = formula.parent
            at = parent.index(formula)
            before = _BEFORE.search(parent[at - 1].astext()) if at and type(parent[at - 1]) is nodes.Text else None
            rest = parent[at + 1] if at + 1 < len(parent) and type(parent[at + 1]) is nodes.Text else None
            after = _AFTER.match(rest.astext()) if rest is not None else None
            if not before and not after:
                continue
            kept = nodes.inline(classes=["beside-math"])
            parent.replace(formula, kept)
            if before:
                kept += nodes.Text(before[0])
                parent.replace(parent[at - 1], nodes.Text(before.string[: before.start()]))
            kept += formula
            if after:
                kept += nodes.Text(after[0])
                parent.replace(parent[at + 1], nodes.Text(after.string[after.end() :]))


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_post_transform(BesideMath)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
