"""What is said of an exercise's mistakes, and why its solution works: `mistakes.md`, on which nothing computed depends
but the order in which mistakes are compared.

    # Why it works

    The sum over ... (for readers who have solved it)

    # Mistakes

    ## bias_forgotten

    The bias is missing: add `b` to every row.

    > The equation on the page leaves it out.

Below a mistake's name stands the message for the student, one paragraph of Markdown, and after `>` why it tempts; a
student who has made it reads this in the mistake diary.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from grader.messages import MessageError

WHY, LIST = "Why it works", "Mistakes"


@dataclass(frozen=True)
class MistakeWords:
    """Why the solution works, in Markdown; the message for each mistake, and why it tempts, by name and in order."""

    why: str = ""
    messages: dict[str, str] = field(default_factory=dict)
    tempts: dict[str, str] = field(default_factory=dict)


def read_mistake_words(path: Path) -> MistakeWords:
    """No words if there is no file. Raises MessageError, which names the file and what is wrong in it."""
    if not path.exists():
        return MistakeWords()
    _, *parts = re.split(r"^# +(.+?) *$", path.read_text("utf-8"), flags=re.MULTILINE)
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    if list(sections) != [WHY, LIST]:
        raise MessageError(f"{path}: its headings of the first level are to be '# {WHY}' and '# {LIST}'")
    before, *parts = re.split(r"^## +(.+?) *$", sections[LIST], flags=re.MULTILINE)
    if before.strip():
        raise MessageError(f"{path}: there is text above the first mistake: {before.strip()[:60]!r}")
    messages: dict[str, str] = {}
    tempts: dict[str, str] = {}
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        if not name.isidentifier() or name in messages:
            what = "stands twice" if name in messages else "is no name of a mistake"
            raise MessageError(f"{path}: the heading {name!r} {what}")
        quoted = [line[1:] for line in body.splitlines() if line.startswith(">")]
        messages[name] = " ".join(" ".join(line for line in body.splitlines() if not line.startswith(">")).split())
        tempts[name] = " ".join(" ".join(quoted).split())
        if not messages[name]:
            raise MessageError(f"{path}: {name} has no message; say what is wrong and what to do")
        if not tempts[name]:
            raise MessageError(f"{path}: {name} lacks a line '> …' that says why students make this mistake")
    return MistakeWords(sections[WHY].strip(), messages, tempts)
