"""Sentence pairs from a file of the reader's own, one pair a line: source, tab, target.

    python -m experiments.pairs FILE     say what is used, and what is skipped

Further columns are ignored. Text is normalised to Unicode NFC and keeps its case; a typographic apostrophe becomes a
straight one. A token is a word (a run of letters, digits and marks that belong to them) or a single other character:
*l'heure, s'il vous plaît !* has ten tokens. A language that is written without spaces has to be cut into words first.

A line is broken, and skipped, if it has no tab, an empty side, or a side with too many tokens. Pairs with the same
tokens on both sides are duplicates and count once. A tenth of the pairs is held out, in groups of all pairs whose
sources differ in nothing but case and punctuation, so that no held-out source is among the training sources.
"""

from __future__ import annotations

import hashlib
import random
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path

from experiments.text import TextError, read

Pair = tuple[list[str], list[str]]  # the tokens of a source and of its target

FEWEST = 20  # different pairs that a file must have
HELD_OUT = 1_000  # held-out pairs at most, unless a group of equal sources exceeds it
SPLIT_SEED = 0  # one split for all runs, so that their results can be compared


@dataclass(frozen=True)
class Pairs:
    """The pairs of a file, split. `broken` has a line's number and what is wrong with it.

    `spacing` says of the sources and of the targets which marks have no space before and after them; see `join`.
    """

    train: list[Pair]
    held_out: list[Pair]
    source: str
    duplicates: int
    broken: list[tuple[int, str]]
    spacing: list[dict[str, str]]

    @property
    def sha256(self) -> str:
        lines = ("\t".join(map(" ".join, pair)) for part in (self.train, self.held_out) for pair in (*part, ([], [])))
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    @property
    def label(self) -> str:
        return f"{self.source}, sha256 {self.sha256[:12]}"

    @property
    def references(self) -> dict[tuple[str, ...], list[list[str]]]:
        """Each held-out source with all its targets."""
        found: dict[tuple[str, ...], list[list[str]]] = {}
        for source, target in self.held_out:
            found.setdefault(tuple(source), []).append(target)
        return found


def from_file(path: str | Path, max_length: int = 40) -> Pairs:
    """Read a UTF-8 file of pairs. Raises TextError if it cannot be read or has too few pairs."""
    path = Path(path)
    lines = read(path).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    broken: list[tuple[int, str]] = []
    kept: dict[tuple[tuple[str, ...], tuple[str, ...]], None] = {}
    usable, gaps = 0, [_Gaps(), _Gaps()]
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        found = _pair(line, max_length)
        if isinstance(found, str):
            broken.append((number, found))
            continue
        usable += 1
        pair = tuple(t for t, _ in found[0]), tuple(t for t, _ in found[1])
        if pair not in kept:
            kept[pair] = None
            for side, sentence in zip(gaps, found, strict=True):
                side.count(sentence)
    if len(kept) < FEWEST:
        raise TextError(f"{path}: {_too_few(len(kept), usable, broken)}")
    train, held_out = _split([(list(source), list(target)) for source, target in kept])
    if not held_out:
        raise TextError(
            f"{path}: almost all pairs have the same source, so none can be held out. Add pairs with other sources."
        )
    return Pairs(train, held_out, path.name, usable - len(kept), broken, [side.spacing() for side in gaps])


def _pair(line: str, max_length: int) -> str | tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
    """The pieces of both sides, or what is wrong with the line."""
    columns = line.split("\t")
    if len(columns) < 2:
        return "no tab"
    sides = pieces(columns[0]), pieces(columns[1])
    for name, side in zip(("source", "target"), sides, strict=True):
        if not side:
            return f"the {name} is empty"
        if len(side) > max_length:
            return f"the {name} has {len(side)} tokens, more than {max_length}"
    return sides


def _too_few(different: int, usable: int, broken: list[tuple[int, str]]) -> str:
    number = f"{different} different usable {'pair' if different == 1 else 'pairs'}; at least {FEWEST} are needed."
    if usable > different:
        number += f" ({usable - different} duplicates were removed.)"
    if broken:
        number += f" {len(broken):,} {'line is' if len(broken) == 1 else 'lines are'} broken (line {broken[0][0]}: "
        number += f"{broken[0][1]})."
    return f"{number} Write one pair a line: the source, a tab, and the target."


# Tokens ---------------------------------------------------------------------------------------------------------------


@cache
def _kind(character: str) -> str:
    """ "word", "space" (control characters too), or the character itself: a mark that is a token of its own."""
    category = unicodedata.category(character)
    if character.isalnum() or category[0] == "M" or character in "_\u200c\u200d":  # joiners stand inside of words
        return "word"
    return "space" if character.isspace() or category[0] == "C" else character


def pieces(text: str) -> list[tuple[str, bool]]:
    """The tokens of a text, each with whether a space stands before it."""
    found: list[tuple[str, bool]] = []
    spaced = True
    for kind, run in groupby(unicodedata.normalize("NFC", text).replace("’", "'"), _kind):
        if kind == "space":
            spaced = True
            continue
        for token in ["".join(run)] if kind == "word" else run:
            found.append((token, spaced))
            spaced = False
    return found


def tokens(text: str) -> list[str]:
    """The words and marks of a text."""
    return [token for token, _ in pieces(text)]


def join(sentence: Sequence[str], spacing: dict[str, str]) -> str:
    """Tokens as a sentence, with spaces around a mark as they usually stand on that side of the file."""
    text = ""
    for previous, token in zip(["", *sentence], sentence, strict=False):
        glued = token in spacing["none_before"] or previous in spacing["none_after"]
        text += token if not text or glued else f" {token}"
    return text


class _Gaps:
    """Counts, for each mark, whether a space separates it from the word before and from the word after it."""

    def __init__(self) -> None:
        self.before: Counter[str] = Counter()  # more than 0: usually no space
        self.after: Counter[str] = Counter()

    def count(self, sentence: Sequence[tuple[str, bool]]) -> None:
        for (previous, _), (token, spaced) in pairwise(sentence):
            marks = _kind(previous[0]) != "word", _kind(token[0]) != "word"
            if marks == (False, True):
                self.before[token] += -1 if spaced else 1
            elif marks == (True, False):
                self.after[previous] += -1 if spaced else 1

    def spacing(self) -> dict[str, str]:
        none = {"none_before": self.before, "none_after": self.after}
        return {name: "".join(sorted(m for m, n in counts.items() if n > 0)) for name, counts in none.items()}


# The split ------------------------------------------------------------------------------------------------------------


def _split(pairs: list[Pair]) -> tuple[list[Pair], list[Pair]]:
    """Those to train on, and a tenth that is held out, in whole groups of the same source."""
    groups: dict[tuple[str, ...], list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(_bare(pair[0]), []).append(pair)
    order = list(groups)
    random.Random(SPLIT_SEED).shuffle(order)
    wanted = min(len(pairs) // 10, HELD_OUT)
    aside: set[tuple[str, ...]] = set()
    taken = 0
    for group in order:
        if taken < wanted and len(groups[group]) <= wanted:
            aside.add(group)
            taken += len(groups[group])
    train = [pair for pair in pairs if _bare(pair[0]) not in aside]
    return train, [pair for pair in pairs if _bare(pair[0]) in aside]


def _bare(source: Iterable[str]) -> tuple[str, ...]:
    """A source without case and punctuation, unless it consists of punctuation."""
    source = tuple(source)
    return tuple(token.casefold() for token in source if _kind(token[0]) == "word") or source


def report(pairs: Pairs, shown: int = 3) -> list[str]:
    """What of the file is used, and what is not, in lines for the terminal."""
    total = len(pairs.train) + len(pairs.held_out)
    lines = [
        pairs.label,
        f"{total:,} pairs: {len(pairs.train):,} to train on, {len(pairs.held_out):,} held out with other sources",
    ]
    if pairs.duplicates:
        lines.append(f"{_count(pairs.duplicates, 'duplicate')} removed")
    if pairs.broken:
        lines.append(f"{_count(len(pairs.broken), 'broken line')} skipped:")
        lines += [f"  line {number:,}: {wrong}" for number, wrong in pairs.broken[:shown]]
        if len(pairs.broken) > shown:
            lines.append(f"  and {len(pairs.broken) - shown:,} more")
    return lines


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("Give one FILE of pairs: python -m experiments.pairs FILE")
    found = from_file(sys.argv[1])
    print("\n".join(report(found, 20)))
    for source, target in found.held_out[:5]:
        print(f"{' '.join(source)}  |  {' '.join(target)}")


if __name__ == "__main__":
    try:
        main()
    except TextError as error:
        sys.exit(str(error))
