"""Words that the course does not use: `words.toml` lists them, each with the one to write instead."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

Words = Mapping[re.Pattern[str], str]


def load_words(root: Path) -> Words:
    """Read `words.toml`: patterns, each with what to write. A course without the file has none.

    Raises ValueError if a pattern is no regular expression.
    """
    path = root / "words.toml"
    if not path.exists():
        return {}
    tables = tomllib.loads(path.read_text("utf-8"))
    sources = {rf"\b{_spaced(word)}\b": instead for word, instead in tables.get("words", {}).items()}
    words = {}
    for source, instead in {**sources, **tables.get("patterns", {})}.items():
        try:
            words[re.compile(source, re.IGNORECASE)] = instead
        except re.error as error:
            raise ValueError(f"{path}: {source!r} is no regular expression: {error}") from error
    return words


def _spaced(word: str) -> str:
    """The words with anything between them that a line break puts there: spaces, and a comment's `#`."""
    return r"[\s#]+".join(re.escape(part) for part in word.split())


def breaches(text: str, words: Words) -> Iterator[tuple[int, str]]:
    """(line, what to change), in the order of the lines."""
    found = [(match, instead) for pattern, instead in words.items() for match in pattern.finditer(text)]
    for match, instead in sorted(found, key=lambda each: each[0].start()):
        yield text.count("\n", 0, match.start()) + 1, f"'{' '.join(match[0].split())}': write {instead}"
