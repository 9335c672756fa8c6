"""Render a verdict as plain text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from grader.checking.verdict import Verdict
from grader.render.rows import Row, headline, number, rows

_LABEL_WIDTH = 15


def verdict_text(verdict: Verdict) -> str:
    """The report as text: a headline, then the labelled rows."""
    first = f"{verdict.id}   {number(verdict.earned)} / {number(verdict.points)}   {headline(verdict)}"
    return "\n".join([first, *rows_text(rows(verdict))])


def rows_text(rows: Sequence[Row]) -> list[str]:
    """Labelled rows as lines, indented by two spaces."""
    lines = []
    for row in rows:
        first, *others = row.text.splitlines() or [""]
        lines.append(f"  {row.label:<{_LABEL_WIDTH}}{first}")
        lines += [" " * (_LABEL_WIDTH + 2) + other for other in others]
    return lines
