"""Stacked panels of a plot, side by side on a slide."""

from __future__ import annotations

from io import StringIO

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from bs4 import BeautifulSoup, Tag

from slides.panels import beside, side_by_side


def plot_of(rows: int, columns: int = 1, **settings: object) -> Tag:
    """A plot as the book draws it: curves in panels, no ids but those of marks."""
    fig, axes = plt.subplots(rows, columns, squeeze=False, figsize=(4, 1 + 2 * rows), **settings)
    for number, ax in enumerate(axes.flat):
        ax.plot([0, 1, 2], [number, 1, 0], color="C0")
        ax.set(title=f"panel {number}")
    axes[-1, 0].set_xlabel("updates")
    with mpl.rc_context({"svg.hashsalt": "one"}), StringIO() as file:
        fig.savefig(file, format="svg", metadata={"Date": None})
        plt.close(fig)
        plot = BeautifulSoup(file.getvalue().partition("<svg")[2].join(("<svg", "")), "html.parser").svg
    assert isinstance(plot, Tag)
    for group in plot.find_all("g", id=True):
        del group["id"]
    plot["aria-label"] = "Above: a curve, above 0.9. Below, another one."
    return plot


def curves(plot: Tag) -> list[str]:
    return [path["d"] for path in plot.select("path[style*='stroke: #1f77b4']")]


def places(plot: Tag) -> list[tuple[float, float]]:
    """How far each panel was moved, to the right and down."""
    moved = [str(group["transform"]) for group in plot.select("svg > g > g[transform]")]
    return [(float(x), float(y)) for x, y in (each[10:-1].split() for each in moved)]


def test_stacked_panels_stand_side_by_side():
    plot = plot_of(3, sharex=True)
    drawn = curves(plot)
    width, height = (float(number) for number in plot["viewbox"].split()[2:])
    assert side_by_side(plot)
    right, down = zip(*places(plot), strict=True)
    assert right == pytest.approx([0, width, 2 * width], abs=0.01)
    assert down[0] > down[1] > down[2]
    wide, tall = (float(number) for number in plot["viewBox"].split()[2:])
    assert wide == pytest.approx(3 * width)
    assert tall < height / 2
    assert curves(plot) == drawn
    assert len(drawn) == 3
    assert plot["aria-label"] == "Left: a curve, above 0.9. Right, another one."


def test_panels_that_share_an_axis_share_its_labels():
    plot, apart = plot_of(2, sharex=True), plot_of(2)
    letters = [len(apart.select(f"svg > g > g:nth-of-type({n}) > g:nth-of-type(2) g[transform]")) for n in (2, 3)]
    assert side_by_side(plot)
    axes = [panel.select(":scope > g > g")[1] for panel in plot.select("svg > g > g[transform]")]
    assert [len(axis.select("g[transform*=scale]")) for axis in axes] == [letters[1], letters[1]]
    ids = [each["id"] for each in plot.select("[id]")]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("rows", "columns", "settings"),
    [(1, 1, {}), (1, 2, {}), (2, 2, {}), (2, 1, {"height_ratios": (1, 3)})],
)
def test_other_plots_stay_as_they_are(rows: int, columns: int, settings: dict[str, object]):
    plot = plot_of(rows, columns, **settings)
    before = str(plot)
    assert not side_by_side(plot)
    assert str(plot) == before


def test_a_drawing_without_panels_stays_as_it_is():
    plot = BeautifulSoup('<svg viewBox="0 0 2 1"><circle r="1"/></svg>', "html.parser").svg
    assert not side_by_side(plot)


def test_a_caption_names_the_new_places():
    assert beside("Top: the loss. Bottom: its gradient, above 1 or below: never.") == (
        "Left: the loss. Right: its gradient, above 1 or below: never."
    )
