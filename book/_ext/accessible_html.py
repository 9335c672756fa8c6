"""Repair the theme's HTML where axe-core, or reading without JavaScript, finds a fault. Each repair names its rule."""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

_REPAIRS: list[tuple[str, re.Pattern[str], str]] = [
    # The label of a button must contain the words that it shows.
    ("label-content-name-mismatch", re.compile(r'(<button class="btn search-button[^>]*?) aria-label="Search"'), r"\1"),
    ("label-content-name-mismatch", re.compile(r'<summary aria-label="Toggle hidden content">'), "<summary>"),
    ("label-content-name-mismatch", re.compile(r'(<i class="theme-switch [^>]*?) title="[^"]*"'), r"\1"),
    # Without script the theme would be neither light nor dark, and half of its colours missing.
    ("no script", re.compile(r'(<html [^>]*?data-theme)="auto"'), r'\1="light"'),
    # Its own script chooses after the page is drawn: a reader of the dark theme would see the light one fade away.
    (
        "theme flash",
        re.compile(r'(dataset\.theme = localStorage\.getItem\("theme"\) \|\|) "auto"'),
        r'\1 (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")',
    ),
    # All content must lie in a landmark.
    (
        "region",
        re.compile(r'<div id="pst-primary-sidebar"'),
        '<div role="region" aria-label="Book sidebar" id="pst-primary-sidebar"',
    ),
    # An entry outside a list of its own kind is an orphan; Sphinx wraps entries in role="list".
    ("aria-required-children", re.compile(r'role="doc-biblioentry"'), 'role="listitem"'),
]


def repair(html: str) -> str:
    """Apply every repair. Applying them twice changes nothing more."""
    for _, fault, repaired in _REPAIRS:
        html = fault.sub(repaired, html)
    return html


def repair_site(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    for page in Path(app.outdir).rglob("*.html"):
        before = page.read_text("utf-8")
        after = repair(before)
        if after != before:
            page.write_text(after, "utf-8")


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("build-finished", repair_site)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
