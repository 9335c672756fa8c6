"""Draw where a result differs: time across, units down, a dot for each right entry and a cross for each wrong one.

The picture is inline SVG of less than 10 kB with an equivalent text. It is made from the verdict alone and is legible
in light and dark themes.
"""

from __future__ import annotations

import html

from grader.checking.verdict import Grid

_CELL = 14
_LEFT, _TOP, _BOTTOM = 64, 32, 6
_ACROSS = 5 * _CELL  # width of the axis's name and its arrow


def everywhere(grid: Grid) -> bool:
    """Whether every column contains a wrong entry. Then the picture adds nothing to the number of wrong entries."""
    return all(_columns(grid)) and not grid.cropped


def _columns(grid: Grid) -> list[bool]:
    return [any(row[i] == "1" for row in grid.wrong) for i in range(len(grid.wrong[0]))]


def grid_text(grid: Grid) -> str:
    """The picture as a line of text, with the wrong columns in brackets: 'time: 0 1 [2] [3] 4'."""
    columns = _columns(grid)
    if everywhere(grid):
        return f"{_axis(grid.across)}: everywhere"
    marked = " ".join(f"[{i}]" if wrong else str(i) for i, wrong in enumerate(columns, grid.first_column))
    before, after = ("… " if grid.first_column else ""), (" …" if grid.cropped else "")
    return f"{_axis(grid.across)}: {before}{marked}{after}   (in brackets: something is wrong there)"


def grid_svg(grid: Grid) -> str:
    """The picture as inline SVG. Its label is the equivalent text."""
    rows, columns = len(grid.wrong), len(grid.wrong[0])
    width, height = _LEFT + max(columns * _CELL, _ACROSS) + 4, _TOP + rows * _CELL + _BOTTOM
    first = next(i for i in range(columns) if any(row[i] == "1" for row in grid.wrong))
    at, number = _LEFT + (first + 0.5) * _CELL, first + grid.first_column
    cells = [(_LEFT + j * _CELL, _TOP + i * _CELL, c) for i, row in enumerate(grid.wrong) for j, c in enumerate(row)]
    dots = "".join(f"M{x + 9} {y + 9}h0" for x, y, c in cells if c == "0")
    crosses = "".join(f"M{x + 4} {y + 4}l10 10m0-10l-10 10" for x, y, c in cells if c == "1")
    label = html.escape(f"Where the result differs. {grid_text(grid)}", quote=True)
    return (
        f'<svg role="img" aria-label="{label}" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'style="max-width:100%;height:auto;color:inherit" font-family="sans-serif" font-size="12" fill="currentColor">'
        f'<text x="{_LEFT}" y="12">{html.escape(_axis(grid.across))} →</text>'
        f'<text x="{at}" y="{_TOP - 3}" text-anchor="middle">{number}</text>'
        f'<text x="0" y="{_TOP + _CELL - 5}">{html.escape(_axis(grid.down))} ↓</text>'
        f'<path d="{dots}" stroke="currentColor" stroke-width="4" stroke-linecap="round" opacity=".55"/>'
        f'<path d="{crosses}" stroke="#d9480f" stroke-width="2.5" fill="none"/></svg>'
    )


def _axis(symbol: str) -> str:
    return "column" if symbol[:1].isdigit() else _AXES.get(symbol, symbol)  # 4H: several blocks of units


_AXES = {"T": "time", "B": "row", "H": "unit", "D": "input", "V": "id", "S": "source", "": "entry"}
