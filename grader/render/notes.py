"""The return values of `check`, `hint` and `progress`, which display themselves in a notebook and in a terminal."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass

from grader.checking.verdict import Verdict
from grader.manifest import Manifest
from grader.messages import LEVELS
from grader.render.html import verdict_html
from grader.render.rows import headline, number
from grader.render.text import verdict_text


@dataclass(frozen=True, repr=False)
class Report:
    """The result of `check`: true if the exercise passed. `verdict` has the details as objects, `to_json` as text."""

    verdict: Verdict

    def __bool__(self) -> bool:
        return bool(self.verdict)

    def to_json(self) -> str:
        """The verdict as JSON, including the version of the format."""
        return self.verdict.to_json()

    def __repr__(self) -> str:
        return verdict_text(self.verdict)

    def _repr_html_(self) -> str:
        return verdict_html(self.verdict)


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
    """The results of a session's checks in the course's order. Chapters without a checked exercise are left out."""

    manifest: Manifest
    verdicts: Mapping[str, Verdict]

    def _lines(self) -> list[tuple[str, str, str]]:
        """Lines as (title, '', '') for a chapter and ('', id, points and status) for an exercise."""
        lines: list[tuple[str, str, str]] = []
        for chapter in self.manifest.chapters:
            if not any(exercise.id in self.verdicts for exercise in chapter.exercises):
                continue
            lines.append((chapter.title, "", ""))
            for exercise in chapter.exercises:
                verdict = self.verdicts.get(exercise.id)
                earned = 0.0 if verdict is None else verdict.earned
                status = "not checked in this session" if verdict is None else headline(verdict)
                lines.append(("", exercise.id, f"{number(earned)} / {number(exercise.points)}   {status}"))
        return lines

    def __repr__(self) -> str:
        lines = self._lines()
        if not lines:
            return "You have not run a check in this session yet. Run a check cell first."
        width = max(len(name) for _, name, _ in lines)
        return "\n".join(title or f"  {name:<{width}}   {text}" for title, name, text in lines)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


class Interrupted(KeyboardInterrupt):
    """Raised by `check` when the student interrupts it. A notebook shows two lines instead of a traceback."""

    def __init__(self, exercise_id: str, where: str) -> None:
        self.lines = [f"The check of {exercise_id} was interrupted.", *filter(None, [where])]
        super().__init__(" ".join(self.lines))

    def _render_traceback_(self) -> list[str]:
        return self.lines
