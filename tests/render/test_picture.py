"""The picture in a report: it shows exactly the wrong entries, has an equivalent text, and is small."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from grader.checking.case import Output, Tolerance
from grader.checking.compare import GRID_COLUMNS, GRID_ROWS, compare
from grader.checking.verdict import Grid
from grader.render.picture import grid_svg, grid_text

TOLERANCE = Tolerance()


def grid_of(axes: tuple[str, ...], shape: tuple[int, ...], *wrong: tuple[int, ...]) -> Grid:
    expected = np.arange(float(np.prod(shape))).reshape(shape)
    got = expected.copy()
    for index in wrong:
        got[index] += 1
    problem = compare(Output("h", axes), expected, got, TOLERANCE)
    assert problem is not None
    assert problem.grid is not None
    return problem.grid


def test_time_goes_across_and_units_down_whatever_the_batch() -> None:
    grid = grid_of(("B", "T", "H"), (2, 4, 3), (0, 2, 1), (1, 3, 0))
    assert (grid.across, grid.down, grid.cropped) == ("T", "H", False)
    assert grid.wrong == ("0001", "0010", "0000")


def test_time_first_in_the_array_still_goes_across() -> None:
    assert grid_of(("T", "H"), (4, 2), (3, 1)).wrong == ("0000", "0001")


def test_rows_go_down_and_units_across_where_there_is_no_time() -> None:
    grid = grid_of(("B", "H"), (2, 3), (1, 2))
    assert (grid.across, grid.down, grid.wrong) == ("H", "B", ("000", "001"))


def test_ids_go_across_where_there_is_no_time() -> None:
    grid = grid_of(("V", "D"), (4, 2), (1, 0), (1, 1))
    assert (grid.across, grid.down, grid.wrong) == ("V", "D", ("0100", "0100"))
    assert grid_text(grid).startswith("id: 0 [1] 2 3 ")


def test_few_columns_leave_room_for_the_name_of_the_axis() -> None:
    svg = ElementTree.fromstring(grid_svg(grid_of(("B", "S"), (3, 2), (1, 1))))
    name = next(text for text in svg if (text.text or "").startswith("source"))
    assert name.text == "source →"
    assert float(svg.attrib["width"]) >= float(name.attrib["x"]) + 0.7 * 12 * len(name.text)


def test_a_vector_is_one_row() -> None:
    grid = grid_of(("V",), (4,), (1,))
    assert (grid.across, grid.down, grid.wrong) == ("V", "", ("0100",))


@pytest.mark.parametrize(("axes", "shape"), [((), (2, 2)), (("B", "H"), (1, 1))])
def test_no_picture_without_named_axes_or_of_one_entry(axes: tuple[str, ...], shape: tuple[int, ...]) -> None:
    problem = compare(Output("h", axes), np.ones(shape), np.zeros(shape), TOLERANCE)
    assert problem is not None
    assert problem.grid is None


def test_the_words_mark_the_same_columns_as_the_drawing() -> None:
    grid = grid_of(("B", "T", "H"), (2, 5, 3), (0, 2, 1), (1, 4, 0))
    assert grid_text(grid).startswith("time: 0 1 [2] 3 [4] ")
    drawing = ElementTree.fromstring(grid_svg(grid))
    assert drawing.attrib["role"] == "img"
    assert grid_text(grid) in drawing.attrib["aria-label"]
    kinds = [re.sub(r"\{.*\}", "", element.tag) for element in drawing.iter()]
    assert kinds.count("path") == 2
    dots, crosses = (element.attrib["d"] for element in drawing.iter() if element.tag.endswith("path"))
    assert (dots.count("h0"), crosses.count("l10 10")) == (13, 2)


def test_a_long_sequence_is_cropped_said_so_and_small() -> None:
    grid = grid_of(("B", "T", "H"), (1, 500, 90), *((0, t, 0) for t in range(500)))
    assert (len(grid.wrong), len(grid.wrong[0])) == (GRID_ROWS, GRID_COLUMNS)
    assert grid.cropped
    assert "…" in grid_text(grid)


def test_the_first_wrong_step_beyond_the_picture_is_still_in_it() -> None:
    grid = grid_of(("T", "H"), (200, 2), (150, 1))
    assert any("1" in row for row in grid.wrong)
    assert "[150]" in grid_text(grid)


def test_it_weighs_under_10_kb() -> None:
    everything = ("1" * GRID_COLUMNS,) * GRID_ROWS
    checkered = ("01" * (GRID_COLUMNS // 2),) * GRID_ROWS
    assert max(len(grid_svg(Grid("T", "H", wrong))) for wrong in (everything, checkered)) < 10_000
