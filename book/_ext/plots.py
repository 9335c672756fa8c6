"""Plots of executed pages, set into the page as SVG, so that they follow its colours by day and by night.

Kernels draw SVG (page_environment.py) in the colours of `unrolled.mplstyle`. Here each of those colours becomes a
variable of `book.css`, which has a light and a dark value; the contrast of both is tested. Colours from outside the
style, such as those of a colour map, stay as they are.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from drawing import inline
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.typing import ExtensionMetadata

# A colour of the style → what it is on the page. The cycle C0 to C4 comes first.
COLOURS = {
    "#0072b2": "var(--u-plot-0)",
    "#d55e00": "var(--u-plot-1)",
    "#007a5a": "var(--u-plot-2)",
    "#a6478a": "var(--u-plot-3)",
    "#555555": "var(--u-plot-4)",
    "#222222": "currentColor",  # words
    "#000000": "currentColor",
    "#444444": "var(--pst-color-text-muted)",  # numbers at the axes
    "#888888": "var(--u-plot-line)",  # axes
    "#e3e3e3": "var(--u-plot-grid)",
    "#ffffff": "var(--pst-color-background)",
}
SCALE = 1.45  # CSS pixels for one of Matplotlib's points: words of 11 points are as large as the text around

_NOT_SHOWN = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>", re.S)
_COLOUR = re.compile(r"(?<=[:\"' ])#[0-9a-f]{6}\b")
_ID = re.compile(r'\sid="([^"]+)"')
_REFERENCE = re.compile(r'(url\(|href=")#([^")]+)')
_LONG = re.compile(r"(?<![\d.])[1-9]\d*\.\d{3,}")  # numbers above 1, which are places and no scales
_SIZE = re.compile(r'(<svg\b[^>]*?) width="([\d.]+)pt" height="([\d.]+)pt"')
_log = logging.getLogger(__name__)


def page_svg(svg: str, prefix: str) -> str:
    """Matplotlib's SVG as a part of a page: no header, no style of its own, its ids after `prefix`."""
    svg = _NOT_SHOWN.sub("", svg).replace("xlink:href", "href")
    used = {name for _, name in _REFERENCE.findall(svg)}
    svg = _ID.sub(lambda found: f' id="{prefix}{found[1]}"' if found[1] in used else "", svg)
    svg = _REFERENCE.sub(rf"\g<1>#{prefix}\g<2>", svg)
    svg = _COLOUR.sub(lambda found: COLOURS.get(found[0], found[0]), svg)
    svg = _LONG.sub(lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), svg)
    svg = re.sub(r"\s*\n\s*", " ", svg).replace("<defs> </defs>", "").replace("> <", "><").strip()
    size = r'\1 class="plot" width="{:.0f}" height="{:.0f}"'
    return _SIZE.sub(lambda s: s.expand(size.format(*(SCALE * float(s[i]) for i in (2, 3)))), svg, count=1)


class InlinePlots(SphinxTransform):
    """Before Sphinx collects a page's images: its plots are no files of the site."""

    default_priority = 400

    def apply(self, **kwargs: Any) -> None:
        if self.app.builder.format != "html":
            return
        number = 0
        for image in list(self.document.findall(nodes.image)):
            _, file = self.env.relfn2path(image["uri"], self.env.docname)
            if not (file.endswith(".svg") and "jupyter_execute" in Path(file).parts and Path(file).is_file()):
                continue
            number += 1
            try:
                svg = inline(page_svg(Path(file).read_text("utf-8"), f"plot{number}-"), image.get("alt", ""))
            except ValueError as error:
                _log.warning(
                    "plot: %s: `mystnb: {image: {alt: …}}` at the cell's head, or `:alt:` of glue:figure", error,
                    location=image,
                )  # fmt: skip
                continue
            image.replace_self(nodes.raw("", svg, format="html"))


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_transform(InlinePlots)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
