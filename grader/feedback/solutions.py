"""How the exercises of a chapter are solved, as HTML: part of a feedback page, and a page of its own.

Each exercise is folded, because a reader wants to see one at a time. On paper all are open.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING

from grader.manifest import Chapter, Exercise, Manifest
from grader.render.formulas import paragraphs
from grader.render.page import html_page

if TYPE_CHECKING:
    from grader.author.other_ways import Solved


def solutions_section(chapter: Chapter, solved: Mapping[str, Solved]) -> str:
    """The part of a feedback page."""
    return f"""<section aria-labelledby="solutions">
<h2 id="solutions">Solutions</h2>
<p>The course's solution of each exercise, why it works, and another way to write it. Yours may differ from both.</p>
{_notebooks(chapter, solved, 3)}</section>
"""


def solutions_page(manifest: Manifest, chapter: Chapter, solved: Mapping[str, Solved]) -> str:
    """The page of a chapter, which names no student."""
    title = escape(chapter.title)
    header = f"<p>{escape(manifest.title)}</p>\n<h1>{title}: solutions</h1>\n"
    footer = "<p>These are the course's own solutions. Code that is written differently and passes is right, too.</p>\n"
    return html_page(f"{title}, solutions", header, _notebooks(chapter, solved, 2), footer)


def _notebooks(chapter: Chapter, solved: Mapping[str, Solved], level: int) -> str:
    """The exercises below the titles of their notebooks, which are headings of this level."""
    return "".join(
        f'<h{level} style="margin-top:1.2rem">{escape(notebook.title)}</h{level}>\n'
        + "".join(_exercise(exercise, solved[exercise.id], level + 1) for exercise in notebook.exercises)
        for notebook in chapter.notebooks
        if notebook.exercises
    )


def _exercise(exercise: Exercise, found: Solved, level: int) -> str:
    parts = (
        ("The course's solution", _code(found.solution)),
        ("Why it works", paragraphs(found.why)),
        ("Another way", f"{paragraphs(found.differs)}{_code(found.way)}"),
    )
    body = "".join(f"<h{level}>{title}</h{level}>\n{html}" for title, html in parts if html)
    name = f"{escape(exercise.title)}, <code>{escape(exercise.id)}</code>"
    return f"<details>\n<summary>{name}</summary>\n{body}</details>\n"


def _code(source: str) -> str:
    return f'<pre style="overflow-x:auto" tabindex="0"><code>{escape(source)}</code></pre>\n' if source else ""
