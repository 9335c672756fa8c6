"""The mistake diary as text, as HTML in a notebook, and as a page of its own."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.counts import counted
from grader.manifest import Chapter, Exercise
from grader.mistakes import Met, general_title, short_title
from grader.released import Released
from grader.render.html import prose
from grader.render.page import html_page
from grader.render.text import wrapped

_WIDTH = 100
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[.,]?")
_FOOTER = "Read from a file on this computer, to which only your own checks write. Nothing was sent anywhere."
_OWN_STYLE = """
article.overcome { border-left-color: var(--right); }
.state { font-weight: 600; }
"""


@dataclass(frozen=True)
class Line:
    """One mistake as it is displayed. `advice` is what its message says after the title; `advice` and `tempting` are
    empty for a cause that every exercise can have.
    """

    met: Met
    title: str
    advice: str
    tempting: str

    @property
    def mark(self) -> str:
        return "✓" if self.met.overcome else "○"

    @property
    def state(self) -> str:
        """Whether it is overcome, and when."""
        since = day(self.met.since)
        if self.met.overcome == "passed":
            return f"Overcome: the exercise passed on {since}."
        if self.met.overcome == "gone":
            return f"Overcome: a later check, on {since}, no longer showed it."
        return "Still open: no later check has shown that it is gone."

    @property
    def when(self) -> str:
        first, last = day(self.met.first), day(self.met.last)
        dates = f"on {first}" if first == last else f"between {first} and {last}"
        return f"Met in {self.met.times} of {counted(self.met.checks, 'check')}, {dates}."


@dataclass(frozen=True)
class Section:
    """The mistakes met in one exercise. `page` names the page of the book to read."""

    chapter: Chapter
    exercise: Exercise
    page: str
    address: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, repr=False)
class Diary:
    """What `diary` returns: the mistakes met, by exercise in the course's order, of one chapter or of all."""

    sections: tuple[Section, ...]
    chapter: Chapter | None = None

    @property
    def lines(self) -> tuple[Line, ...]:
        return tuple(line for section in self.sections for line in section.lines)

    def _summary(self) -> str:
        where = f"in {self.chapter.title}" if self.chapter else "in this course"
        if not self.lines:
            return f"Your checks have met no known mistake {where} yet."
        overcome = sum(line.met.overcome is not None for line in self.lines)
        known = f"Your checks have met {counted(len(self.lines), 'mistake')} {where}"
        if overcome == len(self.lines):
            return f"{known}, and you have overcome {'it' if overcome == 1 else 'all of them'}."
        return f"{known}. You have overcome {overcome} of them."

    def __repr__(self) -> str:
        return self.text()

    def text(self, width: int = _WIDTH) -> str:
        """The diary in lines of at most `width` columns, as far as words allow."""
        return "\n".join([*wrapped(self._summary(), width), *self._lines(width)])

    def _lines(self, width: int) -> Iterator[str]:
        for section in self.sections:
            yield ""
            yield from wrapped(
                f"{section.exercise.id}   {section.exercise.title}   page: {section.page}", width, "", "  "
            )
            for line in section.lines:
                yield from wrapped(f"{line.mark} {line.title}", width, "  ", "    ")
                for text in (f"{line.state} {line.when}", line.advice):
                    yield from wrapped(text, width, "    ")
                if line.tempting:
                    yield from wrapped(f"Why it is tempting: {line.tempting}", width, "    ")

    def _repr_html_(self) -> str:
        return f'<div class="unrolled-diary">{self._body("h3", "h4")}</div>'

    def page(self) -> str:
        """A self-contained HTML page."""
        title = f"{self.chapter.title}: your mistake diary" if self.chapter else "Your mistake diary"
        header = f"<h1>{html.escape(title)}</h1>\n"
        return html_page(html.escape(title), header, self._body("h2", "h3"), f"<p>{_FOOTER}</p>\n", _OWN_STYLE)

    def _body(self, upper: str, lower: str) -> str:
        parts = [f"<p>{html.escape(self._summary())}</p>\n"]
        for section in self.sections:
            exercise = section.exercise
            title = f"<code>{html.escape(exercise.id)}</code> {html.escape(exercise.title)}"
            page = html.escape(section.page)
            link = f'<a href="{html.escape(section.address)}">{page}</a>' if section.address else page
            parts.append(f"<section>\n<{upper}>{title}</{upper}>\n<p>Page: {link}</p>\n")
            parts += [_article(line, lower) for line in section.lines]
            parts.append("</section>\n")
        return "".join(parts)


def _article(line: Line, tag: str) -> str:
    edge = "#2a7f62" if line.met.overcome else "#b36b00"
    more = f"<p>{prose(line.advice)}</p>\n" if line.advice else ""
    more += f"<p>Why it is tempting: {prose(line.tempting)}</p>\n" if line.tempting else ""
    return (
        f'<article class="{"overcome" if line.met.overcome else "open"}" '
        f'style="border-left:4px solid {edge};padding-left:.8em;margin:.8em 0">\n'
        f"<{tag}>{line.mark} {prose(line.title)}</{tag}>\n"
        f'<p><span class="state">{_dated(line.state)}</span> {_dated(line.when)}</p>\n{more}</article>\n'
    )


def _dated(text: str) -> str:
    """Escaped text whose dates are not broken across lines."""
    return _DATE.sub(r'<span style="white-space:nowrap">\g<0></span>', html.escape(text))


def diary_of(course: Released, found: Sequence[Met], chapter_id: str | None = None) -> Diary:
    """The diary of one chapter or of the whole course. Mistakes of which the course does not know the exercise or the
    cause are left out. Raises UnknownIdError.
    """
    manifest = course.manifest
    chapter = None if chapter_id is None else manifest.chapter(chapter_id)
    sections = []
    for place in manifest.places.values():
        of_this = [one for one in found if one.exercise == place.exercise.id]
        if not of_this or (chapter is not None and place.chapter.id != chapter.id):
            continue
        lines = tuple(line for line in (_line(course, one) for one in of_this) if line is not None)
        if lines:
            address = f"{manifest.book_base}{place.page_address}" if manifest.book_base else ""
            sections.append(Section(place.chapter, place.exercise, place.page_title, address, lines))
    return Diary(tuple(sections), chapter)


def _line(course: Released, one: Met) -> Line | None:
    messages = course.messages(one.exercise)
    message = messages.mistakes.get(one.cause)
    if message is not None:
        title = short_title(message)
        return Line(one, title, _after(title, message), messages.tempting.get(one.cause, ""))
    general = general_title(one.cause)
    return None if general is None else Line(one, general, "", "")


def _after(title: str, message: str) -> str:
    """What a message says after its short title, which ends with a full stop even where the message has a colon."""
    if message.startswith(title):
        return message.removeprefix(title).strip()
    rest = message.removeprefix(f"{title[:-1]}: ")
    return rest if rest == message else rest[:1].upper() + rest[1:]


def day(time: str | None) -> str:
    """The date of an ISO 8601 time. The file may have been edited, so nothing else is shown."""
    found = re.match(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", time or "")
    return found[0] if found else "an unknown day"
