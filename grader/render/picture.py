"""Where a result differs, as a small picture: time across, units down, right entries quiet, wrong ones marked.

Made from the verdict alone; inline SVG under 10 kB, legible in light and dark themes, with a text equivalent.
"""

from __future__ import annotations

import html

from grader.checking.verdict import Grid

_CELL = 14
_LEFT, _TOP, _BOTTOM = 64, 32, 6
_ACROSS = 5 * _CELL  # room for the axis's name, with its arrow


def everywhere(grid: Grid) -> bool:
    """Whether something is wrong in every column, so that the picture tells nothing that the count does not."""
    return all(_columns(grid)) and not grid.cropped


def _columns(grid: Grid) -> list[bool]:
    return [any(row[i] == "1" for row in grid.wrong) for i in range(len(grid.wrong[0]))]


def grid_text(grid: Grid) -> str:
    """The picture's message in one line: 'time: 0 1 [2] [3] 4', with the wrong columns in brackets."""
    columns = _columns(grid)
    if everywhere(grid):
        return f"{_axis(grid.across)}: everywhere"
    marked = " ".join(f"[{i}]" if wrong else str(i) for i, wrong in enumerate(columns, grid.first_column))
    before, after = ("… " if grid.first_column else ""), (" …" if grid.cropped else "")
    return f"{_axis(grid.across)}: {before}{marked}{after}   (in brackets: something is wrong there)"


def grid_svg(grid: Grid) -> str:
    """The picture as inline SVG; its label says what is to be seen."""
    rows, columns = len(grid.wrong), len(grid.wrong[0])
    width, height = _LEFT + max(columns * _CELL, _ACROSS) + 4, _TOP + rows * _CELL + _BOTTOM
    first = next(i for i in range(columns) if any(row[i] == "1" for row in grid.wrong))
    at, number = _LEFT + (first + 0.5) * _CELL, first + grid.first_column
    cells = [(_LEFT + j * _CELL, _TOP + i * _CELL, c) for i, row in enumerate(grid.wrong) for j, c in enumerate(row)]
    quiet = "".join(f"M{x + 9} {y + 9}h0" for x, y, c in cells if c == "0")
    crosses = "".join(f"M{x + 4} {y + 4}l10 10m0-10l-10 10" for x, y, c in cells if c == "1")
    label = html.escape(f"Where the result differs. {grid_text(grid)}", quote=True)
    return (
        f'<svg role="img" aria-label="{label}" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'style="max-width:100%;height:auto;color:inherit" font-family="sans-serif" font-size="12" fill="currentColor">'
        f'<text x="{_LEFT}" y="12">{html.escape(_axis(grid.across))} →</text>'
        f'<text x="{at}" y="{_TOP - 3}" text-anchor="middle">{number}</text>'
        f'<text x="0" y="{_TOP + _CELL - 5}">{html.escape(_axis(grid.down))} ↓</text>'
        f'<path d="{quiet}" stroke="currentColor" stroke-width="4" stroke-linecap="round" opacity=".55"/>'
        f'<path d="{crosses}" stroke="#d9480f" stroke-width="2.5" fill="none"/></svg>'
    )


def _axis(symbol: str) -> str:
    return _AXES.get(symbol, symbol)


_AXES = {"T": "time", "B": "row", "H": "unit", "D": "input", "V": "id", "C": "class", "S": "source", "": "entry"}
