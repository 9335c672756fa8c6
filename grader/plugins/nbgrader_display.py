"""How formgrader and `nbgrader generate_feedback` show what a student wrote: as text, pictures and formulas, without
anything that could run or be fetched.

`nbgrader_config.py` sets these functions as nbconvert's filters. Formgrader's pages have the origin of the
instructor's Jupyter server, so a script in an answer could do whatever the instructor can. Even a URL of that server
can do harm: `/formgrader/?path=…` loads the nbgrader_config.py of a folder. Therefore no URL is left that could be
fetched or followed, and links are shown as text. Only nbgrader imports this.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape, unescape
from typing import Any
from urllib.parse import unquote

from bleach.sanitizer import Cleaner
from jinja2 import pass_context
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments.token import STANDARD_TYPES

from grader.shown import harmless

MOST_CHARACTERS, MOST_TAGS = 20_000, 1_500  # per cell; cleaning more can take minutes
MOST_IN_ALL = 200_000  # characters of a notebook's text cells
_TAGS = re.findall(
    r"\w+",
    "a abbr b blockquote br code dd del div dl dt em h1 h2 h3 h4 h5 h6 hr i img kbd li ol p pre s small span strong "
    "sub sup table tbody td tfoot th thead tr u ul",
)
_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=\s]+")
_IN_LINE = re.compile(r"data:image/[a-z+]+;base64,[A-Za-z0-9+/=]+")
_ATTACHED = re.compile(r'(?<= src=")attachment:([^"]*)(?=")')
_COLOURS = {"highlight", *STANDARD_TYPES.values()}  # Pygments' classes; formgrader's scripts search for others


def _is_harmless(tag: str, name: str, value: str) -> bool:
    match tag, name:
        case "img", "src":
            return value.startswith("attachment:")
        case "img", "width" | "height":
            return re.fullmatch("[0-9]{1,4}%?", value) is not None
        case "img", "alt" | "title":
            return True
        case "ol", "start":
            return value.isdecimal()
        case "div" | "span", "class":
            return _COLOURS.issuperset(value.split())
    return False


def clean(html: str) -> str:
    """The HTML with a few simple tags; all other markup is shown as text, and what is invisible as U+FFFD."""
    html = harmless(str(html))
    if len(html) > 10 * MOST_CHARACTERS or html.count("<") > MOST_TAGS:
        return f"<pre>{escape(html)}</pre>"
    return str(Cleaner(tags=_TAGS, attributes=_is_harmless, protocols=["attachment"]).clean(html))


@pass_context
def clean_markdown(context: Mapping[str, Any], source: str) -> str:
    """A text cell or a comment as harmless HTML, with the pictures that are attached to the cell or embedded in its
    text.

    Text that is too long or too deeply nested is shown as plain text, so that no answer can break a page.
    """
    pictures = _pictures(context.get("cell", {}).get("attachments", {}))

    def attach(found: re.Match[str]) -> str:  # Colab embeds pictures like this
        pictures[name := f"in-line-{len(pictures)}"] = found[0]
        return f"attachment:{name}"

    text = _IN_LINE.sub(attach, harmless(source))
    resources = context.get("resources", {})
    seen = resources["unrolled_seen"] = (resources.get("unrolled_seen") or 0) + len(text)
    if len(text) > MOST_CHARACTERS or seen > MOST_IN_ALL:
        return f"<pre>{escape(text)}</pre>"
    try:
        renderer = _Renderer(escape=False, exclude_anchor_links=True)
        renderer.pictures = pictures
        html = MarkdownWithMath(renderer=renderer).render(text)
        if html.count("<") > MOST_TAGS:
            return f"<pre>{escape(text)}</pre>"
        return _ATTACHED.sub(lambda found: _data(pictures, unescape(found[1])), clean(html))
    except Exception:  # these libraries get arbitrary student text
        return f"<pre>{escape(text)}</pre>"


def _pictures(attachments: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The data URLs of a cell's pictures, by name; other attachments are left out."""
    kinds = {name: next(iter(picture.items()), ("", "")) for name, picture in attachments.items()}
    found = {name: f"data:{kind};base64,{data}" for name, (kind, data) in kinds.items()}
    return {name: data for name, data in found.items() if _PICTURE.fullmatch(data)}


def _data(pictures: Mapping[str, str], name: str) -> str:
    """The picture with this name, which Markdown may have percent-encoded."""
    return pictures.get(name) or pictures.get(unquote(name)) or ""


class _Renderer(IPythonRenderer):
    """Render a link as its text and URL, and a missing picture as a note."""

    pictures: Mapping[str, str]

    def link(self, text: str, url: str, title: str | None = None) -> str:
        shown = escape(url)
        return text if text == shown else f"{text} ({shown})"

    def image(self, text: str, url: str, title: str | None = None) -> str:
        if not url.startswith("attachment:"):
            return f"<em>[picture not shown: {escape(url)}. Only pictures pasted into a cell are shown.]</em>"
        name = url.removeprefix("attachment:")
        if not _data(self.pictures, name):
            return f"<em>[picture missing: {escape(name)}. It is not in the notebook.]</em>"
        return f'<img src="{escape(url)}" alt="{escape(text)}">'
