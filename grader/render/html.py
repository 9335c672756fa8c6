"""Render a verdict as HTML for a notebook, legible in light and dark themes. All texts are escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from grader.checking.verdict import Verdict
from grader.counts import number
from grader.render.picture import grid_svg
from grader.render.rows import Row, headline, rows

_EDGE = {
    "passed": "#2a7f62",
    "unimplemented": "#7a7a7a",
    "missing": "#7a7a7a",
    "failed": "#b36b00",
    "error": "#b36b00",
    "timeout": "#b36b00",
}
_MARK = {"passed": "✓", "unimplemented": "○", "missing": "○"}
_CODE = re.compile(r"`([^`\n]+)`")
_EMPHASIS = re.compile(r"(?<![\w*])\*(\w(?:[^*<>\n]*\w)?)\*(?![\w*])")


def verdict_html(verdict: Verdict, address: str = "") -> str:
    """The report as HTML; the page that it names is a link if its `address` is given. The colour of its edge adds
    nothing that the words do not say.
    """
    title = (
        f"<strong>{mark(verdict)} <code>{html.escape(verdict.id)}</code> "
        f"{number(verdict.earned)} / {number(verdict.points)}</strong> {html.escape(headline(verdict))}"
    )
    return (
        f'<div class="unrolled-verdict" style="border-left:4px solid {_EDGE[verdict.status]};padding:.2em 0 .2em .8em">'
        f"<div>{title}</div>{rows_html(rows(verdict), address)}</div>"
    )


def mark(verdict: Verdict) -> str:
    """The symbol before the exercise's id: ✓, ○ (not implemented, not submitted) or ✗."""
    return _MARK.get(verdict.status, "✗")


def rows_html(rows: Sequence[Row], address: str = "") -> str:
    """Labelled rows as a description list in HTML; empty without rows. `address` is that of the page to read."""
    body = "".join(
        f'<dt style="font-weight:600">{html.escape(row.label)}</dt>'
        f'<dd style="margin:0 0 .3em 1.2em">{_fact(row, address)}</dd>'
        for row in rows
    )
    return f'<dl style="margin:.4em 0 0 0">{body}</dl>' if body else ""


def _fact(row: Row, address: str) -> str:
    if row.grid is not None:
        return grid_svg(row.grid)
    if row.code:
        return f'<pre style="margin:0;overflow-x:auto" tabindex="0"><code>{html.escape(row.text)}</code></pre>'
    text = prose(row.text) if row.label == "likely cause" else inline(row.text)
    if row.page and address:
        text = text.replace(inline(row.page), f'<a href="{html.escape(address)}">{inline(row.page)}</a>')
    return f'<span style="white-space:pre-wrap;overflow-wrap:anywhere">{text}</span>'


def inline(text: str) -> str:
    """Escaped text in which `code` between backticks becomes a <code> element."""
    return _CODE.sub(r"<code>\1</code>", html.escape(text))


def prose(text: str) -> str:
    """The same for an author's text, in which an asterisk before and after words makes them an <em> element."""
    parts = re.split(r"(`[^`\n]+`)", text)
    return "".join(
        inline(part) if at % 2 else _EMPHASIS.sub(r"<em>\1</em>", inline(part)) for at, part in enumerate(parts)
    )
