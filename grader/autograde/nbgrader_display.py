"""How formgrader and `nbgrader generate_feedback` show what a student wrote: as text, pictures and formulas, without
anything that could run or be fetched.

`nbgrader_config.py` sets these as nbconvert's filters. Formgrader's pages have the origin of the
instructor's Jupyter server, so a script in an answer could do whatever the instructor can. Even an address of that
server can do harm: `/formgrader/?path=…` loads the nbgrader_config.py of a folder. So no address is left to be fetched
or followed, and links are shown as text. Only nbgrader imports this.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from typing import Any

from bleach.sanitizer import Cleaner
from jinja2 import pass_context
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments.token import STANDARD_TYPES

_TAGS = re.findall(
    r"\w+",
    "a abbr b blockquote br code dd del div dl dt em h1 h2 h3 h4 h5 h6 hr i img kbd li ol p pre s small span strong "
    "sub sup table tbody td tfoot th thead tr u ul",
)
_PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp|svg\+xml);base64,[\w+/=\s]*", re.ASCII)
_COLOURS = {"highlight", *STANDARD_TYPES.values()}  # Pygments' classes; formgrader's scripts look for others


def _is_harmless(tag: str, name: str, value: str) -> bool:
    match tag, name:
        case "img", "src":
            return _PICTURE.fullmatch(value) is not None
        case "img", "alt" | "title":
            return True
        case "ol", "start":
            return value.isdecimal()
        case "div" | "span", "class":
            return _COLOURS.issuperset(value.split())
    return False


def clean(html: str) -> str:
    """The HTML with a few plain tags; other markup is shown as the text that it is."""
    return str(Cleaner(tags=_TAGS, attributes=_is_harmless, protocols=["data"]).clean(str(html)))


@pass_context
def clean_markdown(context: Mapping[str, Any], source: str) -> str:
    """A text cell or a comment as harmless HTML, with the pictures that are attached to the cell."""
    try:
        pictures = context.get("cell", {}).get("attachments", {})
        renderer = _Renderer(escape=False, attachments=pictures, exclude_anchor_links=True)
        return clean(MarkdownWithMath(renderer=renderer).render(source))
    except Exception:  # no text may keep a page from being shown: one can be nested too deeply, for example
        return f"<pre>{escape(source)}</pre>"


class _Renderer(IPythonRenderer):
    """Shows a link as its text and address, and says where a picture is missing."""

    def link(self, text: str, url: str, title: str | None = None) -> str:
        shown = escape(url)
        return text if text == shown else f"{text} ({shown})"

    def image(self, text: str, url: str, title: str | None = None) -> str:
        name = url.removeprefix("attachment:")
        if name == url and not _PICTURE.fullmatch(url):
            return f"<em>[picture not shown: {escape(url)}. Only pictures pasted into a cell are.]</em>"
        if name != url and not self.attachments.get(name):
            return f"<em>[picture missing: {escape(name)}. It is not in the notebook.]</em>"
        return str(super().image(text, url, title))
