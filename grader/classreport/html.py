"""The parts of which the class report's page is made: sections, tables, numbers and lists of names, as HTML."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import escape

from grader import shown
from grader.counts import number

MOST_OF_A_NAME = 80


def section(name: str, title: str, body: str) -> str:
    """A section with its heading. `title` is HTML."""
    return f'<section aria-labelledby="{name}">\n<h2 id="{name}">{title}</h2>\n{body}</section>\n'


def table(
    caption: str,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    numbers: int = 1,
    texts: Collection[int] = (),
    hidden_caption: bool = False,
) -> str:
    """A table that scrolls in a box of its own if it is too wide. `rows` are HTML, and the first cell of each is its
    header. From column `numbers` on, cells are numbers, except in the columns `texts`.
    """

    def kind(column: int) -> str:
        return ' class="number"' if column >= numbers and column not in texts else ""

    head = "".join(f'<th scope="col"{kind(i)}>{escape(title)}</th>' for i, title in enumerate(heads))
    body = "".join(
        f'<tr><th scope="row">{first}</th>'
        + "".join(f"<td{kind(i)}>{cell}</td>" for i, cell in enumerate(others, 1))
        + "</tr>\n"
        for first, *others in rows
    )
    box = "wide narrow" if len(heads) <= 3 else "wide"
    words = "" if hidden_caption else f"<caption>{escape(caption)}</caption>\n"
    label = escape(caption)
    return f"""<div class="{box}" tabindex="0" role="region" aria-label="{label}">
<table>
{words}<thead><tr>{head}</tr></thead>
<tbody>
{body}</tbody>
</table>
</div>
"""


def named(names: Sequence[str], called: shown.Called = shown.NO_NAMES) -> str:
    """Students, as HTML: their ids, or what they are `called`, by id."""
    return ", ".join(f"<bdi>{escape(shown.named(called.get(name, name), MOST_OF_A_NAME))}</bdi>" for name in names)


def percent(share: float | None) -> str:
    """A share as '58 %'; '–' if there is none."""
    return "–" if share is None else f"{100 * share:.0f}&nbsp;%"


def decimals(value: float | None) -> str:
    """A number with two decimals and a minus sign; '–' if there is none."""
    return "–" if value is None else f"{value + 0.0:.2f}".replace("-0.00", "0.00").replace("-", "−")


def points_of(value: float | None) -> str:
    return "–" if value is None else number(value)
