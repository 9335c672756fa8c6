"""Build one page with some of the book's extensions, without the theme: fast."""

from __future__ import annotations

import io
import re
from html import unescape
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

ROOT = Path(__file__).parents[2]
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def build(
    folder: Path, page: str, *extensions: str, others: dict[str, str] | None = None, **settings: object
) -> tuple[str, str]:
    """The page's HTML and the warnings. `folder` also gets what they read of the course."""
    for name in ("course.toml", "exercises", "experiments", "solutions"):
        (folder / name).symlink_to(ROOT / name)
    for name, text in {"index": page, **(others or {})}.items():
        (folder / f"{name}.md").write_text(text, "utf-8")
    warnings = io.StringIO()
    overrides = {
        "extensions": ["myst_parser", *extensions],
        "myst_enable_extensions": ["dollarmath", "colon_fence"],
        "html_theme": "basic",
        "exclude_patterns": ["exercises", "experiments", "solutions"],
        **settings,
    }
    out = folder / "out"
    with docutils_namespace():
        places = folder, None, out, out / "doctrees"
        Sphinx(*places, "html", confoverrides=overrides, status=None, warning=warnings).build()
    return (out / "index.html").read_text("utf-8"), _COLOUR.sub("", warnings.getvalue())


def words(html: str) -> str:
    """The text of some HTML, on one line."""
    return " ".join(unescape(re.sub(r"<[^>]+>", "", html)).split())
