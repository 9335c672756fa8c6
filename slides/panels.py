"""Plots whose panels stand one above the other, as a page needs them on a phone: on a slide they stand side by side."""

from __future__ import annotations

import re
from copy import copy
from dataclasses import dataclass
from itertools import pairwise

from bs4 import BeautifulSoup, Tag

_NUMBER = r"(-?[\d.]+)"
_FRAME = re.compile(rf"M {_NUMBER} {_NUMBER} L {_NUMBER} \2 L \3 {_NUMBER} L \1 \4( L \1 \2)? z$")
_LIKE = 1.2  # panels whose heights differ by more than this factor are parts of one drawing
_PLACES = {"Above": "Left", "Top": "Left", "Below": "Right", "Bottom": "Right"}
_PLACE = re.compile(rf"\b({'|'.join(_PLACES)})(?=[:,])")


@dataclass(frozen=True)
class _Panel:
    """A panel of a plot that matplotlib drew, and the edges of its frame in units of the drawing."""

    group: Tag
    left: float
    right: float
    top: float
    bottom: float

    @property
    def height(self) -> float:
        return self.bottom - self.top


def side_by_side(plot: Tag) -> bool:
    """Set the panels of a plot beside one another, if they are stacked and alike; whether it was done.

    A panel that shares the horizontal axis of the last one gets a copy of its labels.
    """
    panels = _panels(plot)
    if not _stacked(panels):
        return False
    _, _, width, height = (float(number) for number in str(plot.get("viewBox") or plot["viewbox"]).split())
    last = panels[-1]
    gaps = [below.top - above.bottom for above, below in pairwise(panels)]
    over = max(panels[0].top, min(gaps) if _labelled(last) and not _labelled(panels[0]) else 0)
    floor = over + max(panel.height for panel in panels)
    for number, panel in enumerate(panels):
        if _labelled(last) and not _labelled(panel):
            _take_labels(panel, last)
        _move(panel.group, number * width, floor - panel.bottom)
    for name in ("width", "height", "viewbox"):
        plot.attrs.pop(name, None)
    plot["viewBox"] = f"0 0 {len(panels) * width:.2f} {floor + height - last.bottom:.2f}"
    plot["aria-label"] = beside(str(plot.get("aria-label", "")))
    return True


def beside(text: str) -> str:
    """What a caption says of panels one above the other, said of panels side by side: *Left:* instead of *Above:*."""
    return _PLACE.sub(lambda found: _PLACES[found[1]], text)


def _panels(plot: Tag) -> list[_Panel]:
    """The panels from the top to the bottom; none if there is something beside them that is not empty."""
    whole = plot.find("g", recursive=False)
    if not isinstance(whole, Tag):
        return []
    panels = []
    for group in whole.find_all("g", recursive=False)[1:]:  # the first one is the paper
        path = group.select_one(":scope > g:first-child > path:first-child")
        frame = _FRAME.match(" ".join(str(path.get("d")).split())) if path else None
        if frame is None:
            return []
        left, y, right, other = (float(number) for number in frame.groups()[:4])
        panels.append(_Panel(group, left, right, min(y, other), max(y, other)))
    return sorted(panels, key=lambda panel: panel.top)


def _stacked(panels: list[_Panel]) -> bool:
    if len(panels) < 2:
        return False
    pairs = list(pairwise(panels))
    aligned = all(abs(a.left - b.left) < 1 and abs(a.right - b.right) < 1 for a, b in pairs)
    apart = all(a.bottom < b.top for a, b in pairs)
    heights = [panel.height for panel in panels]
    return aligned and apart and max(heights) < _LIKE * min(heights)


def _labelled(panel: _Panel) -> bool:
    """Whether the horizontal axis has labels; its marks alone are no text."""
    return _axis(panel).select_one("g[transform]") is not None


def _axis(panel: _Panel) -> Tag:
    axis = panel.group.find_all("g", recursive=False)[1]
    assert isinstance(axis, Tag)
    return axis


def _take_labels(panel: _Panel, last: _Panel) -> None:
    labels = copy(_axis(last))
    for each in labels.find_all(id=True):
        del each["id"]  # the marks of the last panel serve all
    _axis(panel).replace_with(labels)
    _move(labels, 0, panel.bottom - last.bottom)


def _move(group: Tag, right: float, down: float) -> None:
    moved = BeautifulSoup("", "html.parser").new_tag("g", attrs={"transform": f"translate({right:.2f} {down:.2f})"})
    group.wrap(moved)
