"""What a link to a page shows elsewhere: its title, its first sentences and one picture, as Open Graph's tags.

Who sends a link to a page sees these in the message. A page needs none of them, and nothing is loaded for them. With
`book_url` in course.toml, the address of the published book, addresses are absolute, as some readers of the tags
demand; without, they are relative to the page.
"""

from __future__ import annotations

import re
from html import escape, unescape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

from grader.manifest import load_manifest

CARD = "_static/social_card.png"
SIZE = (1200, 630)
ALT = "Unrolled: a wrong line of a recurrent network's step, and the report that names the mistake."
LONGEST = 200  # characters of a description
_SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-Z])")


def description(doctree: nodes.document) -> str:
    """The first sentences of a page's own text, outside boxes, tables and lists, as many as fit; "" if it has none."""
    for paragraph in doctree.findall(nodes.paragraph):
        if isinstance(paragraph.parent, nodes.section) and not list(paragraph.findall(nodes.math)):
            text = " ".join(paragraph.astext().split())
            if text.endswith((".", "?", "!")):
                return shortened(text)
    return ""


def shortened(text: str) -> str:
    """Whole sentences of a text, or the beginning of the first one if that is too long."""
    kept = ""
    for sentence in _SENTENCE.split(text):
        longer = f"{kept} {sentence}".strip()
        if len(longer) > LONGEST:
            break
        kept = longer
    return kept or f"{text[: LONGEST - 2].rpartition(' ')[0]} …"


def tags(title: str, about: str, card: str, page: str) -> str:
    """The tags of a page. `card` is the picture's address, `page` the page's own, if the book is published."""
    found = {
        "og:type": "article",
        "og:site_name": "Unrolled",
        "og:title": title,
        "og:description": about,
        "og:url": page,
        "og:image": card,
        "og:image:type": "image/png",
        "og:image:width": str(SIZE[0]),
        "og:image:height": str(SIZE[1]),
        "og:image:alt": ALT,
    }
    lines = [f'<meta property="{name}" content="{escape(value)}" />' for name, value in found.items() if value]
    lines.append('<meta name="twitter:card" content="summary_large_image" />')
    if about:
        lines.append(f'<meta name="description" content="{escape(about)}" />')
    return "\n    ".join(lines)


def on_page(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    if doctree is None or app.builder.format != "html":
        return
    title = unescape(re.sub(r"<[^>]+>", "", context.get("title", "")))
    address = app.config.social_card_address
    card = f"{address}{CARD}" if address else context["pathto"](CARD, resource=True)
    own = f"{address}{app.builder.get_target_uri(page)}" if address else ""
    context["metatags"] = context.get("metatags", "") + "\n    " + tags(title, description(doctree), card, own)


def setup(app: Sphinx) -> ExtensionMetadata:
    manifest = Path(app.srcdir) / "course.toml"
    address = load_manifest(manifest).book_base if manifest.is_file() else ""
    app.add_config_value("social_card_address", address, "html", [str])
    app.connect("html-page-context", on_page)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
