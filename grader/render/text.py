"""Render a verdict as plain text for a terminal."""

from __future__ import annotations

from grader.checking.verdict import Verdict
from grader.render.rows import headline, number, rows

_LABEL_WIDTH = 15


def verdict_text(verdict: Verdict) -> str:
    """The report as text: a headline, then the labelled rows."""
    lines = [f"{verdict.id}   {number(verdict.earned)} / {number(verdict.points)}   {headline(verdict)}"]
    for row in rows(verdict):
        first, *others = row.text.splitlines() or [""]
        lines.append(f"  {row.label:<{_LABEL_WIDTH}}{first}")
        lines += [" " * (_LABEL_WIDTH + 2) + other for other in others]
    return "\n".join(lines)
