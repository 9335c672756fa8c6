"""Real text without a download: Python's own documentation, or any text file.

    python -m experiments.text [FILE]     describe the text, and print the label to put beside a figure
    python -m experiments.text --record   replace the course's copy of the documentation by that of this Python

The module `pydoc_data.topics` of CPython differs between its versions, so the course keeps a copy of one, `topics.json`
(its licence is beside it): the text, and all that is measured on it, is the same on every machine. Every figure made
from it names version and hash: `Text.label`. Only prose is kept of the raw text: paragraphs, unwrapped, without markup,
each once, in lower case. Whole topics are assigned to the training or to the held-out part. A training paragraph that
shares 50 consecutive characters with the held-out part is dropped, so that no sentence occurs in both parts.
"""

from __future__ import annotations

import hashlib
import json
import platform
import random
import re
import sys
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

TOPICS_FILE = Path(__file__).with_name("topics.json")
OVERLAP = 50  # consecutive characters that the two parts may not share
RARE = 20  # a character that occurs less often in the training part is removed from both
SHORTEST = 2_000  # characters that a file must have after cleaning
_PLAIN = str.maketrans({"“": '"', "”": '"', "’": "'", "‘": "'", "–": "-", "—": "-", "…": "...", "•": "*", "\xa0": " "})
_MARKUP = str.maketrans("", "", '"*`\\')


class TextError(ValueError):
    """A text that cannot be used. The message says what is wrong, where, and what to do next."""


@dataclass(frozen=True)
class Text:
    """A training and a held-out part, and the characters that occur in them. An id is an index into `characters`."""

    train: str
    held_out: str
    characters: str
    source: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(f"{self.train}\0{self.held_out}".encode()).hexdigest()

    @property
    def label(self) -> str:
        """The label of a figure: 'pydoc_data.topics of Python 3.11.7, sha256 1a2b3c4d5e6f'."""
        return f"{self.source}, sha256 {self.sha256[:12]}"

    def ids(self, text: str) -> np.ndarray:
        """The text as ids, int64. Raises TextError for a character that is not among `characters`."""
        indices = {character: index for index, character in enumerate(self.characters)}
        try:
            return np.array([indices[character] for character in text], dtype=np.int64)
        except KeyError as error:
            known = "".join(self.characters).replace("\n", "⏎")
            raise TextError(f"{error.args[0]!r} is not a character of this text; it has {known}") from None


@cache
def _shipped() -> dict[str, Any]:
    shipped: dict[str, Any] = json.loads(TOPICS_FILE.read_text("utf-8"))
    return shipped


def topics() -> dict[str, str]:
    """The documentation topics as they are, by name: the course's copy."""
    return dict(_shipped()["topics"])


def topics_source() -> str:
    """Where the topics come from: 'pydoc_data.topics of Python 3.11.7'."""
    return str(_shipped()["source"])


def python_docs(held_out: float = 0.1, seed: int = 0) -> Text:
    """The prose of Python's documentation topics. `held_out` is the share of characters held out, in whole topics."""
    found = [(name, p) for name, topic in topics().items() for p in _prose(topic)]
    kept: dict[str, tuple[str, str]] = {}
    for name, paragraph in found:
        kept.setdefault(re.sub(r"[^a-z]", "", paragraph), (name, paragraph))
    groups: dict[str, list[str]] = {}
    for name, paragraph in kept.values():
        groups.setdefault(name, []).append(paragraph)
    return _split(groups, held_out, seed, topics_source())


def from_file(path: str | Path, held_out: float = 0.1, seed: int = 0) -> Text:
    """Read a UTF-8 text file, in lower case. Blank lines separate its paragraphs; without any, each line is one.

    Raises TextError if the file is missing, empty, binary, in another encoding, or too short.
    """
    path = Path(path)
    lines = read(path).translate(_PLAIN).lower()
    blocks = re.split(r"\n\s*\n", lines) if re.search(r"\n\s*\n", lines.strip()) else lines.splitlines()
    paragraphs = list(dict.fromkeys(p for p in (" ".join(block.split()) for block in blocks) if p))
    length = sum(map(len, paragraphs))
    if length < SHORTEST or len(paragraphs) < 2:
        raise TextError(
            f"{path}: {length:,} characters in {len(paragraphs)} different paragraphs; at least {SHORTEST:,} in 2 are "
            "needed to train on some and test on others. Add text, or use another file."
        )
    groups = {str(number): [paragraph] for number, paragraph in enumerate(paragraphs)}
    text = _split(groups, held_out, seed, path.name)
    if not text.train or not text.held_out:
        raise TextError(f"{path}: its paragraphs are too similar to be split into two parts. Use a more varied text.")
    return text


def read(path: Path) -> str:
    """The content of a UTF-8 text file. Raises TextError if it is missing, empty, binary, or in another encoding."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise TextError(f"{path}: there is no such file, relative to {Path.cwd()}. Give the full path.") from None
    except IsADirectoryError:
        raise TextError(f"{path}: is a folder. Name a text file in it.") from None
    except OSError as error:
        raise TextError(f"{path}: cannot be read ({error.strerror}). Fix this, or use another file.") from None
    if not content.strip():
        raise TextError(f"{path}: is empty. Save your text in it, or use another file.")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise TextError(f"{path}: is encoded in UTF-16. Save it as UTF-8: most editors offer that under 'Save as'.")
    if b"\0" in content:
        raise TextError(f"{path}: is a binary file (byte 0 at position {content.index(0):,}). Export it as plain text.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise TextError(
            f"{path}: line {line} is not UTF-8 (byte {content[error.start]:#04x}). "
            "Save it as UTF-8: most editors offer that under 'Save as'."
        ) from None


def _prose(topic: str) -> list[str]:
    """The prose paragraphs of one topic, unwrapped, stripped of markup, in lower case."""
    found = []
    for block in re.split(r"\n\s*\n", topic.translate(_PLAIN)):
        lines = [line.strip() for line in block.strip("\n").split("\n")]
        joined = " ".join(lines)
        ruled = any(set(line) <= set('*=-~^+|"# ') for line in lines)
        if ruled or any(mark in joined for mark in ("::=", ">>>", "...  ")) or len(joined) < 60:
            continue
        letters = sum(character.isalpha() or character == " " for character in joined) / len(joined)
        if letters > 0.85 and joined[-1] in ".:;)!?":
            text = re.sub(r"^(\*|\d+\.)\s+", "", joined)
            found.append(re.sub(r"\s+", " ", text).translate(_MARKUP).lower())
    return found


def _split(groups: dict[str, list[str]], held_out: float, seed: int, source: str) -> Text:
    """Hold out whole groups at random until their share is reached, except groups larger than most of that share."""
    sizes = {name: sum(map(len, group)) for name, group in groups.items()}
    total, aside, taken = sum(sizes.values()), set(), 0
    order = list(groups)
    random.Random(seed).shuffle(order)
    for name in order:
        if taken < held_out * total and sizes[name] < max(0.8 * held_out * total, min(sizes.values()) + 1):
            aside.add(name)
            taken += sizes[name]
    test = [p for name, group in groups.items() if name in aside for p in group]
    seen = {gram for p in test for gram in _grams(p)}
    train = [p for name, group in groups.items() if name not in aside for p in group if seen.isdisjoint(_grams(p))]
    parts = ["".join(f"{p}\n" for p in part) for part in (train, test)]
    counts = Counter(parts[0])
    characters = "".join(sorted(c for c, n in counts.items() if n >= min(RARE, len(parts[0]) // 1000)))
    kept = ["".join(c for c in part if c in set(characters)) for part in parts]
    return Text(*kept, characters, source)


def _grams(paragraph: str) -> set[str]:
    return {paragraph[i : i + OVERLAP] for i in range(len(paragraph) - OVERLAP + 1)}


def record() -> None:
    """Copy the documentation of the Python that runs this. All experiments on the text must then be recorded again."""
    from pydoc_data.topics import topics as of_this_python

    source = f"pydoc_data.topics of Python {platform.python_version()}"
    content = {"source": source, "command": "python -m experiments.text --record", "topics": of_this_python}
    TOPICS_FILE.write_text(json.dumps(content, indent=0, ensure_ascii=False) + "\n", "utf-8")


def main() -> None:
    if sys.argv[1:] == ["--record"]:
        record()
        return
    text = from_file(sys.argv[1]) if len(sys.argv) > 1 else python_docs()
    print(text.label)
    print(f"train {len(text.train):,}, held out {len(text.held_out):,} characters, of {len(text.characters)} kinds:")
    print(text.characters.replace("\n", "⏎"))
    print(text.train[:300])


if __name__ == "__main__":
    try:
        main()
    except TextError as error:
        sys.exit(str(error))
