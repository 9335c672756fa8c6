"""Plots of the class report as inline SVG. The tables beside them have the same numbers.

Colours come from the style sheet's variables, and neighbouring bars are separated by gaps, so that colour is not the
only difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from grader.checking.verdict import Status
from grader.classreport.figures import STATUSES, Distribution, ExerciseFigures
from grader.counts import number

WIDTH = 360  # of all plots, in the units of their view box: about as many pixels on a phone
_LEFT, _BASE, _TALL = 26, 132, 116  # of the histogram: where its bars begin, its base line, and its tallest bar
_ROW, _BAR, _GAP = 27, 10, 1.5  # of the stacked bars

WORDS: dict[Status, str] = {
    "passed": "passed",
    "failed": "wrong",
    "error": "error",
    "timeout": "time-out",
    "unimplemented": "not implemented",
    "missing": "missing",
}


def histogram(points: Distribution) -> str:
    """The distribution of the points: one bar per bin, with the number of students above it."""
    most = max(each.students for each in points.bins)
    step = (WIDTH - _LEFT) / len(points.bins)
    parts = [f'<path class="axis" d="M{_LEFT} {_BASE + 0.5}H{WIDTH}"/>']
    for index, each in enumerate(points.bins):
        left, height = _LEFT + index * step, _TALL * each.students / most
        middle = left + step / 2
        if each.students:
            parts.append(
                f'<rect class="passed" x="{left + 2:.1f}" y="{_BASE - height:.1f}" width="{step - 4:.1f}" '
                f'height="{height:.1f}"/>'
                f'<text x="{middle:.1f}" y="{_BASE - height - 3:.1f}" text-anchor="middle">{each.students}</text>'
            )
        parts.append(f'<text x="{left:.1f}" y="{_BASE + 12}" text-anchor="middle">{edge(each.low)}</text>')
        if each.high is None:
            parts.append(f'<text x="{middle:.1f}" y="{_BASE + 24}" text-anchor="middle">more</text>')
    if points.bins[-1].high is not None:
        parts.append(f'<text x="{WIDTH}" y="{_BASE + 12}" text-anchor="end">{edge(points.due)}</text>')
    words = f"Histogram of the points of {len(points.points)} students, out of {number(points.due)}. "
    return _svg(words + "The table below has its numbers.", _BASE + 28, "".join(parts))


def stacked(exercises: Sequence[ExerciseFigures]) -> str:
    """One bar per exercise: the shares of its students by status, and how many passed of those who submitted."""
    parts = []
    for index, each in enumerate(exercises):
        top = index * _ROW
        passed = f"{each.passed} of {each.submitted} passed"
        parts.append(
            f'<text x="0" y="{top + 10}">{escape(each.title)}</text>'
            f'<text x="{WIDTH}" y="{top + 10}" text-anchor="end">{passed}</text>'
        )
        left = 0.0
        for status in STATUSES:
            width = WIDTH * each.statuses[status] / each.students if each.students else 0.0
            if width:
                parts.append(
                    f'<rect class="{status}" x="{left:.1f}" y="{top + 14}" width="{max(width - _GAP, 0.5):.1f}" '
                    f'height="{_BAR}"/>'
                )
            left += width
    words = "Bars of the shares of students by the result of each exercise. The table below has the numbers."
    return _svg(words, _ROW * len(exercises) + 2, "".join(parts))


def key() -> str:
    """The colours of `stacked`, in the order of its bars."""
    items = "".join(
        f'<li><svg viewBox="0 0 10 10" aria-hidden="true"><rect class="{status}" width="10" height="10"/></svg>'
        f"{WORDS[status]}</li>"
        for status in STATUSES
    )
    return f'<ul class="key">{items}</ul>\n'


def edge(value: float) -> str:
    """The edge of a bin, with at most two decimals."""
    return number(round(value, 2))


def _svg(words: str, height: float, body: str) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(words)}">{body}</svg>\n'
