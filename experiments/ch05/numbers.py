"""The numbers from 0 to 9999 in English, French and German words: pairs of sentences to translate.

    from experiments.ch05.numbers import pairs, split

The words come from `num2words` (LGPL 2.1), which spells numbers in many languages; the spellings themselves are facts
of the languages. Hyphens are read as spaces: *quatre-vingt-dix-sept* has four tokens. A German number is a single long
word, so it is cut into its morphemes: *einundzwanzig* becomes *ein und zwan zig*. Joined again, the morphemes give the
word that `num2words` writes.
"""

from __future__ import annotations

import random
import re
from functools import cache

from num2words import num2words

Pair = tuple[list[str], list[str]]  # the tokens of a source and of its target

LANGUAGES = {"en": "English", "fr": "French", "de": "German"}
LARGEST = 9999
MORPHEMES = [
    "null", "eins", "ein", "zwei", "drei", "vier", "fünf", "sechs", "sech", "sieben", "sieb", "acht", "neun", "zehn",
    "elf", "zwölf", "zwan", "zig", "ßig", "und", "hundert", "tausend",
]  # fmt: skip
_MORPHEME = re.compile("|".join(sorted(MORPHEMES, key=len, reverse=True)))


@cache
def _words(number: int, language: str) -> tuple[str, ...]:
    thousands, rest = divmod(number, 1000)
    if thousands > 1 and rest:  # num2words is slow, and all it says after the thousands it has said after 1000
        return _words(1000 * thousands, language) + _words(1000 + rest, language)[len(_words(1000, language)) :]
    spelled = num2words(number, lang=language).replace(",", "")
    if language != "de":
        return tuple(re.split(r"[ -]+", spelled))
    found = tuple(_MORPHEME.findall(spelled))
    if "".join(found) != spelled:
        raise ValueError(f"{spelled!r} is not made of the morphemes listed in MORPHEMES. Add what is missing.")
    return found


def words(number: int, language: str) -> list[str]:
    """The tokens of a number from 0 to 9999 in "en", "fr" or "de"."""
    return list(_words(number, language))


def pairs(numbers: list[int], target: str, source: str = "en") -> list[Pair]:
    """The numbers in both languages."""
    return [(words(number, source), words(number, target)) for number in numbers]


def split(train: int = 8000, seed: int = 0) -> tuple[list[int], list[int]]:
    """All numbers from 0 to 9999 in random order, cut into those to train on and the held-out ones."""
    numbers = list(range(LARGEST + 1))
    random.Random(seed).shuffle(numbers)
    return numbers[:train], numbers[train:]
