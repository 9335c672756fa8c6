"""The return values of `check`, `hint` and `progress`, which display themselves in a notebook and in a terminal."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field

from grader.checking.verdict import Status, Verdict
from grader.counts import number
from grader.journal import Entry
from grader.manifest import Exercise, Manifest
from grader.messages import LEVELS
from grader.render.diary import day
from grader.render.html import verdict_html
from grader.render.rows import headline
from grader.render.text import verdict_text


@dataclass(frozen=True, repr=False)
class Report:
    """The result of `check`: true if the exercise passed. `verdict` has the details as objects, `to_json` as text.
    `address` is that of the page to read, if it is known.
    """

    verdict: Verdict
    address: str = ""

    def __bool__(self) -> bool:
        return bool(self.verdict)

    def to_json(self) -> str:
        """The verdict as JSON, including the version of the format."""
        return self.verdict.to_json()

    def __repr__(self) -> str:
        return verdict_text(self.verdict)

    def _repr_html_(self) -> str:
        return verdict_html(self.verdict, self.address)


@dataclass(frozen=True, repr=False)
class Hint:
    """One hint. `text` is Markdown."""

    exercise_id: str
    level: int
    text: str

    @property
    def _next(self) -> str:
        return f'More: hint("{self.exercise_id}", {self.level + 1})' if self.level < LEVELS[-1] else ""

    def __repr__(self) -> str:
        return "\n".join(
            filter(
                None,
                (f"Hint {self.level} for {self.exercise_id}", textwrap.indent(self.text, "  "), self._next),
            )
        )

    def _repr_markdown_(self) -> str:
        more = f"\n\n{self._next.replace('hint(', '`hint(', 1)}`" if self._next else ""
        return f"**Hint {self.level} for `{self.exercise_id}`**\n\n{self.text}{more}"


@dataclass(frozen=True, repr=False)
class Progress:
    """The results of checks in the course's order: those of this session, and the latest of earlier ones. Chapters
    without a checked exercise are left out.
    """

    manifest: Manifest
    verdicts: Mapping[str, Verdict]
    earlier: Mapping[str, Entry] = field(default_factory=dict)

    def _lines(self) -> list[tuple[str, str, str]]:
        """Lines as (title, '', '') for a chapter and ('', id, points and status) for an exercise."""
        lines: list[tuple[str, str, str]] = []
        for chapter in self.manifest.chapters:
            if not any(exercise.id in {*self.verdicts, *self.earlier} for exercise in chapter.exercises):
                continue
            lines.append((chapter.title, "", ""))
            for exercise in chapter.exercises:
                earned, status = self._standing(exercise)
                lines.append(("", exercise.id, f"{number(earned)} / {number(exercise.points)}   {status}"))
        return lines

    def _standing(self, exercise: Exercise) -> tuple[float, str]:
        if (verdict := self.verdicts.get(exercise.id)) is not None:
            return verdict.earned, headline(verdict)
        if (entry := self.earlier.get(exercise.id)) is None:
            return 0.0, "not checked yet"
        earned = exercise.points * entry.earned / entry.points if entry.points else 0.0
        return earned, f"{_EARLIER[entry.status]} on {day(entry.at)}"

    def __repr__(self) -> str:
        lines = self._lines()
        if not lines:
            return "You have not run a check yet. Run a check cell first."
        width = max(len(name) for _, name, _ in lines)
        return "\n".join(title or f"  {name:<{width}}   {text}" for title, name, text in lines)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


_EARLIER: dict[Status, str] = {
    "passed": "right",
    "failed": "not right yet",
    "error": "ended in an error",
    "unimplemented": "not implemented",
    "timeout": "stopped at its time limit",
    "missing": "not submitted",
}


class Interrupted(KeyboardInterrupt):
    """Raised by `check` when the student interrupts it. A notebook shows two lines instead of a traceback."""

    def __init__(self, exercise_id: str, where: str) -> None:
        self.lines = [f"The check of {exercise_id} was interrupted.", *filter(None, [where])]
        super().__init__(" ".join(self.lines))

    def _render_traceback_(self) -> list[str]:
        return self.lines
