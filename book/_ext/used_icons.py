"""Only the icons that the site uses: of Font Awesome, which comes with the theme, its fonts and style rules.

The theme loads all of its two thousand icons on every page, although the book uses a dozen. Pages and scripts name
them as classes `fa-…`, and style sheets name some by their code points.
"""

from __future__ import annotations

import re
from pathlib import Path

from fontTools import subset
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

_NAME = re.compile(r"\bfa-[a-z0-9-]+")
_RULE = re.compile(r'(?:\.fa-[a-z0-9-]+:before,?)+\{content:"[^"]*"\}')
_CODE = re.compile(r'"\\([0-9a-f]{2,5}) ?"')
_SOURCES = re.compile(r'url\(([^()]*/fa-\w+-\d+)\.woff2\) format\("woff2"\),url\(\1\.ttf\) format\("truetype"\)')


def used_rules(css: str, names: set[str]) -> str:
    """The style sheet without the rules of unused icons, and with the fonts of this site."""
    kept = _RULE.sub(lambda rule: rule[0] if names & set(_NAME.findall(rule[0])) else "", css)
    return _SOURCES.sub(r'url(\1.woff) format("woff")', kept)


def code_points(css: str) -> set[int]:
    """The characters that a style sheet names by their code points, and those of the private use area."""
    return {int(code, 16) for code in _CODE.findall(css)} | {ord(c) for c in css if "\ue000" <= c <= "\uf8ff"}


def shrink(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    site = Path(app.outdir)
    texts = [*site.rglob("*.html"), *(site / "_static").rglob("*.js")]
    names = {name for text in texts for name in _NAME.findall(text.read_text("utf-8"))}
    used: set[int] = set()
    for sheet in (site / "_static").rglob("*.css"):
        before = sheet.read_text("utf-8")
        after = used_rules(before, names)
        used |= code_points(after)
        if after != before:
            sheet.write_text(after, "utf-8")
    for font in (site / "_static").rglob("fa-*.ttf"):
        write_font(font, used)
        font.unlink()
        font.with_suffix(".woff2").unlink()


def write_font(font: Path, code_points: set[int]) -> None:
    """Write these characters of a TrueType font, those that it has, to a WOFF font beside it."""
    options = subset.Options(flavor="woff")
    loaded = subset.load_font(str(font), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=code_points)
    subsetter.subset(loaded)
    subset.save_font(loaded, str(font.with_suffix(".woff")), options)


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("build-finished", shrink, priority=600)  # after `light_pages`, which removes a script of all icons
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
