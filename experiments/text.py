"""Real text without a download: the prose of Python's own help topics, or any text file of yours.

    from experiments.text import load

    corpus = load()                # pydoc_data.topics, in every Python
    corpus = load("my_book.txt")   # at least 2,000 characters, UTF-8

The help topics hold code, tables and repetitions. Kept are paragraphs of prose, unwrapped, each once, in lower case;
the validation text is whole topics of its own, and training paragraphs that share fifty characters with it are left
out. The topics differ from one Python version to the next: show `version` and `sha256` beside every figure.
"""

from __future__ import annotations

import hashlib
import platform
import random
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

SHORTEST = 2_000  # characters
SHARED = 50  # characters in a row that training and validation text must not share
RAREST = 20  # times that a character must occur in the training text to be kept

_PLAIN = str.maketrans({"“": '"', "”": '"', "’": "'", "‘": "'", "–": "-", "—": "-", "…": "...", "•": "*", "\u00a0": " "})
_RULE = re.compile(r"[*=\-~^+|\"# ]*")


class TextError(ValueError):
    """A file that cannot be used, and why."""


@dataclass(frozen=True)
class Corpus:
    """Two texts over one vocabulary, and what they were made from."""

    train: str
    validation: str
    vocabulary: tuple[str, ...]  # in order; an id is a place in it
    version: str  # "pydoc_data.topics of Python 3.12.3", or the file's name
    sha256: str  # of both texts, training first


def load(path: str | Path | None = None) -> Corpus:
    """The help topics, or a file of your own, whose last tenth is then the validation text."""
    if path is None:
        train, validation = _topics()
        version = f"pydoc_data.topics of Python {platform.python_version()}"
    else:
        text = read_file(Path(path))
        cut = len(text) * 9 // 10
        train, validation = text[:cut], text[cut:]
        version = Path(path).name
    counts = Counter(train)
    least = RAREST if path is None else 1
    vocabulary = tuple(sorted(character for character, count in counts.items() if count >= least))
    kept = set(vocabulary)
    train, validation = ("".join(filter(kept.__contains__, text)) for text in (train, validation))
    digest = hashlib.sha256((train + validation).encode()).hexdigest()
    return Corpus(train, validation, vocabulary, version, digest)


def read_file(path: Path) -> str:
    """The text of a file. Raises TextError saying what is wrong with it and what to do."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise TextError(f"{path}: cannot be read ({error.strerror}); give the path of a text file") from None
    if not data:
        raise TextError(f"{path}: the file is empty")
    if b"\0" in data:
        raise TextError(f"{path}: this is not a text file; save it as plain text, in UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TextError(f"{path}: byte {error.start} is not UTF-8; save the file in that encoding") from None
    text = text.replace("\r\n", "\n")
    if len(text) < SHORTEST:
        raise TextError(f"{path}: {len(text):,} characters are too few to learn from; {SHORTEST:,} are needed")
    return text


def _topics() -> tuple[str, str]:
    """Training and validation text of the help topics, in lower case."""
    from pydoc_data.topics import topics

    paragraphs, seen = [], set()
    for topic, text in topics.items():
        for block in re.split(r"\n\s*\n", text.translate(_PLAIN)):
            lines = [line.strip() for line in block.strip("\n").split("\n")]
            key = re.sub(r"[^a-z]", "", _unwrapped(lines).lower())
            if _is_prose(lines) and key not in seen:
                seen.add(key)
                paragraphs.append((topic, _unwrapped(lines).lower()))
    sizes: Counter[str] = Counter()
    for topic, text in paragraphs:
        sizes[topic] += len(text)
    order = list(sizes)
    random.Random(0).shuffle(order)
    held_out: set[str] = set()
    for topic in order:
        if sum(sizes[name] for name in held_out) < 0.1 * sizes.total() and sizes[topic] < 0.08 * sizes.total():
            held_out.add(topic)
    validation = [text for topic, text in paragraphs if topic in held_out]
    theirs = set().union(*map(_windows, validation))
    train = [text for topic, text in paragraphs if topic not in held_out and not _windows(text) & theirs]
    return "\n".join(train) + "\n", "\n".join(validation) + "\n"


def _is_prose(lines: list[str]) -> bool:
    text = " ".join(lines)
    if any(_RULE.fullmatch(line) for line in lines) or "::=" in text or ">>>" in text or len(text) < 60:
        return False
    letters = sum(character.isalpha() or character == " " for character in text)
    return letters > 0.85 * len(text) and text.rstrip()[-1] in ".:;)!?"


def _unwrapped(lines: list[str]) -> str:
    text = re.sub(r"^\*\s+|^\d+\.\s+", "", " ".join(lines))
    return re.sub(r"\s+", " ", text).replace('"', "").replace("*", "").replace("\\", "")


def _windows(text: str) -> set[str]:
    return {text[start : start + SHARED] for start in range(len(text) - SHARED + 1)}
