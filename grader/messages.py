"""Hints and mistake messages of one exercise, read from `grader/data/ID.md`, which the release makes of
the exercise's own `hints.md` and `mistakes.md`.

The file has the headings `## Hint 1`, `## Hint 2`, `## Hint 3`, and for each mistake `## Mistake: NAME` and, why
students make it, `## Tempting: NAME`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from grader.errors import ExpectedError

LEVELS = (1, 2, 3)
_HEADING = re.compile(r"^## +(.+?) *$", re.MULTILINE)


class MessageError(ExpectedError, ValueError):
    """A file of messages has a wrong heading or lacks one; the text says which."""


@dataclass(frozen=True)
class Messages:
    """`hints[0]` is the first level; `mistakes` maps a mistake's id to its message, `tempting` to why students
    make it (Markdown).
    """

    hints: tuple[str, ...]
    mistakes: dict[str, str]
    tempting: dict[str, str] = field(default_factory=dict)


def parse_messages(text: str, where: str) -> Messages:
    """Split the file's text by its headings. Raises MessageError naming the file (`where`) and the heading."""
    parts = _HEADING.split(text)
    sections: dict[str, str] = {}
    for heading, body in zip(parts[1::2], parts[2::2], strict=True):
        if heading in sections:
            raise MessageError(f"{where}: the heading {heading!r} appears twice")
        if not body.strip():
            raise MessageError(f"{where}: there is no text below the heading {heading!r}")
        sections[heading] = body.strip()
    try:
        hints = tuple(sections.pop(f"Hint {level}") for level in LEVELS)
    except KeyError as missing:
        raise MessageError(f"{where}: the heading '## {missing.args[0]}' is missing") from missing
    found: dict[str, dict[str, str]] = {"Mistake": {}, "Tempting": {}}
    for heading, body in sections.items():
        kind, _, name = heading.partition(": ")
        if kind not in found or not name.isidentifier():
            raise MessageError(
                f"{where}: unknown heading {heading!r}. Use '## Hint 1' to '## Hint 3' and '## Mistake: NAME'"
            )
        found[kind][name] = " ".join(body.split())
    return Messages(hints, found["Mistake"], found["Tempting"])
