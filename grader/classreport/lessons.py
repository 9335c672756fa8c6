"""The mistakes of a class as lessons: what to say, a question to ask, what to read again, and code from the class."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from grader.classreport.figures import Mistake
from grader.classreport.gather import ClassReport
from grader.classreport.html import named, percent, section, table
from grader.counts import counted
from grader.render.html import prose
from grader.shown import harmless

_COUNT = {1: "One", 2: "Two", 3: "Three"}


def to_teach(report: ClassReport) -> str:
    """The most frequent mistakes, with what to say about them."""
    found = report.to_teach
    if not found:
        body = "<p>The checks found no likely cause of a failure in this class.</p>\n"
        return section("monday", "To teach on Monday", body)
    ties = sum(mistake.count == found[-1].count for mistake in report.mistakes[len(found) :])
    tied = f" {ties} more {'is' if ties == 1 else 'are'} as frequent as the last of these." if ties else ""
    note = f"<p>The most frequent mistakes of this class, with what to say about them.{tied}</p>\n"
    articles = "".join(_first(mistake, rank, report.called) for rank, mistake in enumerate(found, 1))
    return section("monday", f"{_COUNT[len(found)]} to teach on Monday", note + articles)


def all_mistakes(report: ClassReport) -> str:
    """All mistakes by frequency, then those not treated above by exercise, each with its message and excerpts."""
    if not report.mistakes:
        return section("mistakes", "Mistakes of this class", "<p>None with a likely cause.</p>\n")
    rows = [
        [_link(m), f"<code>{escape(m.exercise)}</code>", f"{m.count} of {m.of}", percent(m.count / m.of)]
        for m in report.mistakes
    ]
    top = report.to_teach
    body = table("Mistakes by frequency", ["Mistake", "Exercise", "Students", "Share"], rows, numbers=2)
    for exercise in report.exercises:
        own = [m for m in report.mistakes if m.exercise == exercise.id]
        above = " ".join(_link(m) for m in own if m in top)
        body += f"<h3>{escape(exercise.title)}, <code>{escape(exercise.id)}</code></h3>\n" if own else ""
        body += f"<p>Treated above: {above}</p>\n" if above else ""
        body += "".join(_other(m, report.called) for m in own if m not in top)
    return section("mistakes", "Mistakes of this class", body)


def _first(mistake: Mistake, rank: int, called: Mapping[str, str]) -> str:
    """One of the most frequent mistakes."""
    name = _anchor(mistake)
    return f"""<article id="{name}" aria-labelledby="title-{name}">
<h3 id="title-{name}">{rank}. {escape(mistake.title)}: {_short(mistake)}</h3>
<p><strong>{_share(mistake)}</strong> in <code>{escape(mistake.exercise)}</code></p>
{_lesson(mistake, called)}</article>
"""


def _other(mistake: Mistake, called: Mapping[str, str]) -> str:
    """A less frequent mistake, collapsed."""
    head = f"{_short(mistake)} <strong>{_share(mistake)}</strong>"
    body = f"<summary>{head}</summary>\n{_lesson(mistake, called)}"
    return f'<details class="mistake" id="{_anchor(mistake)}">\n{body}</details>\n'


def _lesson(mistake: Mistake, called: Mapping[str, str]) -> str:
    """What to say about a mistake, a question to ask, what to read, two excerpts, and who makes it."""
    place = escape(mistake.page)
    if mistake.address:
        place = f'<a href="{escape(mistake.address)}" rel="noreferrer">{place}</a>'
    who = f"<p>Made by {named(mistake.students, called)}.</p>\n" if mistake.students else ""
    return f"""<p>What to say:</p>
<p class="say">{prose(harmless(mistake.message))}</p>
<p>A question to ask: {prose(harmless(mistake.hint))}</p>
<p>Read again: {place}</p>
{_excerpts(mistake)}{who}<p class="quiet">In other tables: <code>{escape(harmless(mistake.id))}</code></p>
"""


def _share(mistake: Mistake) -> str:
    return f"{mistake.count} of {counted(mistake.of, 'student')} ({percent(mistake.count / mistake.of)})"


def _short(mistake: Mistake) -> str:
    return prose(harmless(mistake.short))


def _link(mistake: Mistake) -> str:
    return f'<a href="#{_anchor(mistake)}">{_short(mistake)}</a>'


def _excerpts(mistake: Mistake) -> str:
    if not mistake.excerpts:
        why = "the submissions have changed since they were graded, or the cells are too long"
        return f'<p class="quiet">No code can be shown: {why}.</p>\n'
    codes = "".join(
        f'<pre tabindex="0" role="group" aria-label="Excerpt {n} for {escape(harmless(mistake.id))}">'
        f"<code>{escape(code)}</code></pre>"
        for n, code in enumerate(mistake.excerpts, 1)
    )
    alone = len(mistake.excerpts) == 1 < mistake.count
    same = " (the others that were read are the same or cannot be shown)" if alone else ""
    return f'<p>Code from this class{same}:</p>\n<div class="excerpts">{codes}</div>\n'


def _anchor(mistake: Mistake) -> str:
    """An id for the page, which no other mistake has."""
    plain = "".join(char if char.isascii() and char.isalnum() else f"-{ord(char):x}-" for char in mistake.id)
    return f"{escape(mistake.exercise)}--{plain}"
