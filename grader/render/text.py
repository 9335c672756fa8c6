"""Render a verdict as plain text for a terminal."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence

from grader.checking.verdict import Verdict
from grader.counts import number
from grader.render.rows import Row, headline, rows

_LABEL_WIDTH = 15
_FIRST_LINE = re.compile(r"^(\w+)   \S+ / \S+   (.*)$", re.MULTILINE)
_SENTENCES = ("likely cause", "note", "what to do", "next")


def verdict_text(verdict: Verdict, width: int | None = None) -> str:
    """The report as text: a headline, then the labelled rows. Sentences are wrapped at `width` columns, if given; code
    and values are not.
    """
    first = f"{verdict.id}   {number(verdict.earned)} / {number(verdict.points)}   {headline(verdict)}"
    return "\n".join([first, *rows_text(rows(verdict), width)])


def passes_in(text: str) -> Iterator[tuple[str, bool]]:
    """The exercises of all reports in a text, and whether each report says that everything is right."""
    for exercise, found in _FIRST_LINE.findall(text):
        yield exercise, found == "right" or found.startswith("right on all ")


def rows_text(rows: Sequence[Row], width: int | None = None) -> list[str]:
    """Labelled rows as lines, indented by two spaces."""
    lines = []
    for row in rows:
        text = row.text
        if width is not None and row.label in _SENTENCES:
            room = width - _LABEL_WIDTH - 2
            text = "\n".join("\n".join(wrapped(line, room)) for line in text.splitlines())
        first, *others = text.splitlines() or [""]
        lines.append(f"  {row.label:<{_LABEL_WIDTH}}{first}")
        lines += [" " * (_LABEL_WIDTH + 2) + other for other in others]
    return lines


def wrapped(text: str, width: int, first: str = "", others: str | None = None, *, cut: bool = False) -> list[str]:
    """Lines of at most `width` columns, which is at least 20. `first` indents the first, `others` the rest, as `first`
    does if it is None. A longer word is left whole unless `cut`.
    """
    return textwrap.wrap(
        text,
        max(width, 20),
        initial_indent=first,
        subsequent_indent=first if others is None else others,
        break_long_words=cut,
        break_on_hyphens=False,
    )
