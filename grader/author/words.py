"""Words that the course does not use: `words.toml` lists them, each with the one to write instead."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Word:
    """What the course does not write: a pattern, what every text with it contains in lower case, and what to write."""

    pattern: re.Pattern[str]
    contained: str
    instead: str


def load_words(root: Path) -> list[Word]:
    """Read `words.toml`: patterns, each with what to write. A course without the file has none.

    Raises ValueError if a pattern is no regular expression.
    """
    path = root / "words.toml"
    if not path.exists():
        return []
    tables = tomllib.loads(path.read_text("utf-8"))
    sources = [
        *((rf"\b{_spaced(word)}\b", word.split()[0].lower(), say) for word, say in tables.get("words", {}).items()),
        *((source, "", say) for source, say in tables.get("patterns", {}).items()),
    ]
    words = []
    for source, contained, instead in sources:
        try:
            words.append(Word(re.compile(source, re.IGNORECASE), contained, instead))
        except re.error as error:
            raise ValueError(f"{path}: {source!r} is no regular expression: {error}") from error
    return words


def _spaced(word: str) -> str:
    """The words with anything between them that a line break puts there: spaces, and a comment's `#`."""
    return r"[\s#]+".join(re.escape(part) for part in word.split())


def breaches(text: str, words: Sequence[Word]) -> Iterator[tuple[int, str]]:
    """(line, what to change), in the order of the lines."""
    lower = text.lower()  # to look for a string is a hundred times faster than to search for a pattern
    found = [(m, word.instead) for word in words if word.contained in lower for m in word.pattern.finditer(text)]
    for match, instead in sorted(found, key=lambda each: each[0].start()):
        yield text.count("\n", 0, match.start()) + 1, f"'{' '.join(match[0].split())}': write {instead}"
