"""The page on similar submissions, in a single HTML file: which pairs a person should look at, and their code.

The page asks and does not judge. Everything that students wrote is escaped and bounded where it enters the page; no
script, picture, style or font is ever fetched. It is written to `TERM/reports/CHAPTER-similar.html`, or
`CHAPTER-similar-anonymous.html`.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import accumulate
from pathlib import Path

from grader.files import PRIVATE, write_whole
from grader.render.page import html_page
from grader.shown import harmless, named
from grader.similar.fingerprints import NOISE
from grader.similar.look import Compared
from grader.similar.own import Part
from grader.similar.pairs import LEAST, Pair, Side

MOST_PAIRS = 100
MOST_LINES, MOST_OF_A_LINE = 150, 300  # of a cell that are shown
MOST_NAMES = 200
HALF = 0.5  # of a line's characters without spaces: the line is marked from there on

_STYLE = """
body { max-width: 76rem; }
main > section > p, main > section > ul, main > section > ol, .stamp, footer { max-width: 48rem; }
.sides { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1rem; }
.sides > div { min-width: 0; }
@media (max-width: 45rem) { .sides { grid-template-columns: minmax(0, 1fr); gap: .2rem; } }
.sides h4 { font-size: .9rem; font-weight: 600; margin: .6rem 0 .2rem; }
.sides pre { margin: .2rem 0 .8rem; padding: .4rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.sides pre > * { display: block; padding: 0 .6rem 0 1.7rem; text-indent: -1.1rem; min-height: 1.6em; }
mark { background: var(--stamp); color: inherit; border-left: 4px solid var(--wrong); margin-left: -4px; }
details h3 { margin-top: 1.4rem; }
@media print { .sides mark { border-left-width: 2px; } }
"""


def page_path(term: Path, chapter_id: str, anonymous: bool) -> Path:
    return term / "reports" / f"{chapter_id}-similar{'-anonymous' * anonymous}.html"


def write_page(path: Path, compared: Compared) -> None:
    """Write the page, readable only by its owner. Raises OSError."""
    write_whole(path, similar_page(compared).encode(), PRIVATE)


def similar_page(compared: Compared) -> str:
    """The page for instructors."""
    chapter = escape(compared.chapter.title)
    title = f"{chapter}: similar submissions"
    header = f"""<p>{escape(compared.course)}</p>
<h1>{title}</h1>
<p>For instructors. This page contains students’ work, so keep it as confidential as the submissions.</p>
"""
    main = f"{_summary(compared)}{_REASONS}{_NEXT}{_limits(compared)}{_pairs(compared)}"
    return html_page(title, header, main, _FOOTER, _STYLE)


_FOOTER = """<p>No points were changed, and nothing on this page is sent to students or recorded in the gradebook.</p>
"""


def _summary(compared: Compared) -> str:
    found = compared.found
    count = len(found.pairs)
    students = len({side.student for pair in found.pairs for side in pair.sides})
    percent = _percent(compared.share)
    if not count:
        what = (
            f"<p class='total'><strong>No pair</strong> of the {len(compared.own)} submissions shares {percent} or "
            "more of the code that few others have.</p>"
        )
    else:
        is_one = "one pair" if count == 1 else f"{count:,} pairs"
        what = (
            f"<p class='total'>Please look at <strong>{is_one}</strong> ({students} of {len(compared.own)} "
            f"submissions), whose code is more alike than that of the others.</p>\n"
            f"<p>In each pair, at least one submission shares {percent} or more of its own code with the other one. "
            "The pairs that share most code that few others have come first. That code is alike is all that "
            "a program can see. It cannot see why, so this page does not say that anything is wrong.</p>"
        )
    more = (
        f"<p>The first {MOST_PAIRS} pairs are shown. For all of them, add <code>--json</code>.</p>\n"
        if count > MOST_PAIRS
        else ""
    )
    return f'<section aria-labelledby="summary">\n<h2 id="summary">What to look at</h2>\n{what}\n{more}</section>\n'


_REASONS = """<section aria-labelledby="reasons">
<h2 id="reasons">Good reasons for similar code</h2>
<ul>
<li>It is the obvious way to solve a short exercise, and the exercise’s text suggests it.</li>
<li>Both students started from the same code: a lecture, a tutorial, an earlier chapter or the documentation.</li>
<li>Both followed the book’s pages or the same hint step by step.</li>
<li>They worked as a pair, or in a study group, as your rules may allow.</li>
<li>The same person helped both, such as a tutor.</li>
<li>One student submitted twice under two ids, or a file was collected into two folders.</li>
</ul>
</section>
"""

_NEXT = """<section aria-labelledby="next">
<h2 id="next">What to do next</h2>
<ol>
<li>Read the marked passages of a pair. Would two students who worked alone write them? Names, comments, unusual steps
and shared mistakes say more than the percentage.</li>
<li>Read both notebooks as they were submitted, because answers in words, outputs and failed attempts are not compared
here.</li>
<li>Check what your rules allow for this assignment, and what was said in the lecture.</li>
<li>If you still have a question, ask both students, separately and openly, how their code came about. A student who
can explain and change the code has reached the aim of the exercise.</li>
<li>Leave any decision to your institution’s procedure. The percentage alone is not evidence.</li>
</ol>
</section>
"""


def _limits(compared: Compared) -> str:
    found = compared.found
    unread = [student for student, code in compared.own.items() if code.unreadable] + list(compared.closed)
    lists = "".join(
        f"<li>{what}: {_names(names)}.</li>\n"
        for what, names in (
            (f"Not compared, because less than {LEAST} characters are left after this", found.short),
            ("Not compared, or only in part, because a notebook could not be read", unread),
            ("Compared in part, because they are too long", [s for s, code in compared.own.items() if code.cut]),
        )
        if names
    )
    unsure = (
        "<li>In a class as small as this, code that everyone writes can hardly be recognised as such.</li>\n"
        if len(compared.own) < 10
        else ""
    )
    names = (
        "<li>Numbers stand for the students, but code and comments are shown as written and may contain names.</li>\n"
        if compared.anonymous
        else ""
    )
    return f"""<section aria-labelledby="limits">
<h2 id="limits">What was compared, and what this cannot show</h2>
<ul>
<li>The code of each student’s whole chapter was compared by the library copydetect, in runs of {NOISE} characters. It
ignores names of variables, comments and white space, and the order of the cells does not matter.</li>
<li>Left out was the code of the released notebooks and of this chapter’s pages in the book, and all code that more
than {found.widespread} submissions share. A large group with the same code is therefore not found.</li>
{lists}{unsure}{names}<li>It does not show who wrote the code first, or whether both have it from somewhere else.</li>
<li>It does not find code that was restructured, or written by other people or programs for one student. A pair that is
not listed has not been shown to be independent.</li>
<li>The percentages are not probabilities.</li>
</ul>
</section>
"""


def _pairs(compared: Compared) -> str:
    pairs = compared.found.pairs[:MOST_PAIRS]
    if not pairs:
        return ""
    lines = "".join(
        f'<tr><td><a href="#pair{n}">{n}</a></td>'
        + "".join(f"<td><bdi>{_name(side.student)}</bdi> ({_percent(side.share)})</td>" for side in pair.sides)
        + f'<td class="points">{pair.size:,}</td></tr>\n'
        for n, pair in enumerate(pairs, 1)
    )
    bodies = "".join(_pair(n, pair, compared) for n, pair in enumerate(pairs, 1))
    return f"""<section aria-labelledby="pairs">
<h2 id="pairs">The pairs</h2>
<p>The percentage after a submission is the part of its compared code that the other one shares. The size is counted in
characters, with each name as one.</p>
<table>
<thead><tr><th scope="col">Pair</th><th scope="col">One submission</th><th scope="col">The other one</th>\
<th scope="col" class="points">Size</th></tr></thead>
<tbody>
{lines}</tbody>
</table>
<p>In the code below, lines with a bar and the sign ≈ are similar to lines of the other submission. Code that was not
compared is shown without a mark.</p>
{bodies}</section>
"""


def _pair(number: int, pair: Pair, compared: Compared) -> str:
    """One pair: its cells with similar lines next to each other, those of the same exercise in one row."""
    parts = {side.student: compared.own[side.student].parts for side in pair.sides}
    titles = dict.fromkeys(parts[side.student][index].title for side in pair.sides for index in sorted(side.passages))
    exercises = [exercise.id for exercise in compared.chapter.exercises]
    rows = [[title] for title in exercises if title in titles]
    if others := [title for title in titles if title not in exercises]:
        rows.append(others)
    body = "".join(
        f"<h3>{f'<code>{escape(row[0])}</code>' if row[0] in exercises else 'Other code'}</h3>\n"
        '<div class="sides">\n'
        + "".join(_side(side, parts[side.student], row, row[0] not in exercises) for side in pair.sides)
        + "</div>\n"
        for row in rows
    )
    left, right = (_name(side.student) for side in pair.sides)
    return f"""<details id="pair{number}">
<summary>Pair {number}: <bdi>{left}</bdi> and <bdi>{right}</bdi></summary>
{body}</details>
"""


def _side(side: Side, parts: Sequence[Part], titles: Sequence[str], titled: bool) -> str:
    chosen = [(index, part) for index, part in enumerate(parts) if part.title in titles]
    cells = "".join(
        (f'<p class="quiet">{escape(part.title)}</p>\n' if titled else "")
        + f"<pre>{_marked(part.source, side.passages.get(index, []))}</pre>\n"
        for index, part in chosen
    )
    empty = '<p class="quiet">No code of its own here.</p>\n'
    return f"<div>\n<h4><bdi>{_name(side.student)}</bdi></h4>\n{cells or empty}</div>\n"


def _marked(source: str, passages: Sequence[tuple[int, int]]) -> str:
    """The source line by line, with a mark on those that are mostly inside a passage."""
    lines = source.split("\n")
    starts = accumulate((len(line) + 1 for line in lines), initial=0)
    shown = []
    for start, line in list(zip(starts, lines, strict=False))[:MOST_LINES]:
        text = escape(harmless(line[:MOST_OF_A_LINE])) + (" …" if len(line) > MOST_OF_A_LINE else "")
        shown.append(f"<mark>≈ {text}</mark>" if _is_similar(line, start, passages) else f"<span>  {text}</span>")
    if len(lines) > MOST_LINES:
        shown.append(f"<span>… ({len(lines) - MOST_LINES:,} more lines)</span>")
    return "".join(shown)


def _is_similar(line: str, start: int, passages: Sequence[tuple[int, int]]) -> bool:
    written = sum(not character.isspace() for character in line)
    inside = 0
    for first, end in passages:
        if first < start + len(line) and end > start:
            within = line[max(0, first - start) : max(0, end - start)]
            inside += sum(not character.isspace() for character in within)
    return written > 0 and inside >= HALF * written


def _percent(share: float) -> str:
    return f"{int(100 * share + 0.5)} %"


def _name(student: str) -> str:
    return escape(named(student))


def _names(students: Sequence[str]) -> str:
    more = f" and {len(students) - MOST_NAMES} more" if len(students) > MOST_NAMES else ""
    return ", ".join(f"<bdi>{_name(student)}</bdi>" for student in students[:MOST_NAMES]) + more
