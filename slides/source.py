"""The texts of a deck: slides with a title, a few words, references to pieces of the book, and notes.

    ## Before you look: will all four states be equal?

    We start from zero and feed the *same* $x_t$ four times.

    output: one_step state = np.zeros((1, 2))

    notes: Ask for a show of hands.

    ### They are not: each step starts from another state

A heading of the second level begins a slide, one of the third level a slide below it, for an answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

KINDS = ("figure", "equation", "explorable", "table", "code", "output", "written", "exercises")
_REFERENCE = re.compile(rf"({'|'.join(KINDS)}):\s*(\S+)(?:\s+(.*\S))?\s*$")
_HEADING = re.compile(r"(##|###)\s+(.+?)\s*$")
_GLUED = re.compile(r"\{glue:text\}`([^`:]+)::([^`]+)`")
_ONE_WORD = re.compile(r"\$[^$]+\$|`[^`]+`")
_BULLET = re.compile(r"^- ", re.MULTILINE)


class SlidesError(Exception):
    """What is wrong with a deck, and where: `slides/ch03_gradients.md:12: …`."""


@dataclass(frozen=True)
class Reference:
    """A piece of the book: its kind, page (`ch03_gradients/forgets`) and name, and where a deck asks for it."""

    kind: str
    page: str
    name: str
    where: str


@dataclass(frozen=True)
class Slide:
    """A slide: `below` another one if it is an answer; MyST texts; its pieces, and the line of its heading."""

    title: str
    below: bool
    where: str
    text: str = ""
    notes: str = ""
    pieces: tuple[Reference, ...] = ()

    @property
    def words(self) -> int:
        """Words that the audience reads beside title and pieces; a formula, a name or a glued number counts as one."""
        return len(_ONE_WORD.sub("x", _GLUED.sub("x", _BULLET.sub("", self.text))).split())


@dataclass
class _Draft:
    title: str
    below: bool
    line: int
    text: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    pieces: list[Reference] = field(default_factory=list)
    in_notes: bool = False


def read_deck(path: Path, chapter: str) -> tuple[Slide, ...]:
    """The slides of a file. Raises SlidesError if it does not begin with a slide, or begins with an answer."""
    drafts: list[_Draft] = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        where = f"slides/{path.name}:{number}"
        if heading := _HEADING.match(line):
            drafts.append(_Draft(heading[2], heading[1] == "###", number))
            if drafts[0].below:
                raise SlidesError(f"{where}: an answer (###) needs a slide (##) before it")
        elif not drafts:
            if line.strip():
                raise SlidesError(f"{where}: this stands before the first slide. Begin with a line such as: ## Title")
        else:
            _add(drafts[-1], line, where, chapter)
    if not drafts:
        raise SlidesError(f"slides/{path.name}: has no slide. Begin one with a line such as: ## Title")
    return tuple(_slide(draft, path) for draft in drafts)


def _add(draft: _Draft, line: str, where: str, chapter: str) -> None:
    reference = _REFERENCE.match(line)
    if line.startswith("notes:"):
        draft.in_notes = True
        draft.notes.append(line.removeprefix("notes:"))
    elif reference and not draft.in_notes:
        kind, page, name = reference[1], reference[2], reference[3] or ""
        if not name and kind != "exercises":
            raise SlidesError(f"{where}: says on which page, and not which {kind}. Write {kind}: PAGE NAME")
        draft.pieces.append(Reference(kind, page if "/" in page else f"{chapter}/{page}", name, where))
    else:
        (draft.notes if draft.in_notes else draft.text).append(line)


def _slide(draft: _Draft, path: Path) -> Slide:
    texts = ("\n".join(lines).strip() for lines in (draft.text, draft.notes))
    where = f"slides/{path.name}:{draft.line}"
    return Slide(draft.title, draft.below, where, *texts, pieces=tuple(draft.pieces))


def glued(text: str, chapter: str) -> list[tuple[str, str, str]]:
    """The glued numbers of a text: as they are written, and the page and the name that they are glued under."""
    found = ((match[0], match[1].removesuffix(".md"), match[2]) for match in _GLUED.finditer(text))
    return [(written, page if "/" in page else f"{chapter}/{page}", name) for written, page, name in found]
