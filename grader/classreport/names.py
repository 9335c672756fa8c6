"""Remove the names of a class from text and code.

What is known to name a student is removed: ids, and the names and e-mail addresses in the gradebook, as whole words in
any case and with or without accents, and longer ids also within words. A name that is in neither cannot be recognised.
"""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any

from grader.shown import harmless

REMOVED = "‹name›"
ADDRESS = "‹address›"
_MARKS = "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"  # accents that are characters of their own
_WORD = re.compile(f"[^\\W_](?:[^\\W_]|[{_MARKS}])*")
_HIDDEN = re.compile(r"(?<=\w)\N{REPLACEMENT CHARACTER}+(?=\w)")  # what was invisible within a word
_PARTS = re.compile(f"[^\\W\\d_](?:[^\\W\\d_]|[{_MARKS}])*|\\d+")
_HUMP = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])")  # within annLee
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
# the fewest characters of a part of an id that counts as a name, of a number, and of a name that is found within words
_SHORTEST, _SHORTEST_NUMBER, _SHORTEST_WITHIN = 3, 4, 6


class Names:
    """The names of a class. `ids` are the students', `given` their other names and addresses. `allowed` are words that
    stay if they are written exactly so, such as the names in the course's code: `max` stays, `Max` does not.
    """

    def __init__(self, ids: Iterable[str], given: Iterable[str] = (), allowed: Collection[str] = ()) -> None:
        self._allowed = {*allowed, *keyword.kwlist, *dir(builtins)}
        whole, parts = {*ids}, Counter[str]()
        for name in whole:
            words = _WORD.findall(name)
            parts.update({_plain(part) for word in words for part in (word, *_PARTS.findall(word))})
        most = max(
            3, len(whole) // 20
        )  # a part that more ids share, such as "student" in student07, names none of them
        found = {part for part, count in parts.items() if count <= most and len(part) >= _SHORTEST}
        found |= {_plain(name) for name in whole}
        found |= {_plain(word) for name in given for word in _WORD.findall(name.partition("@")[0])}
        self._words = {word for word in found if len(word) >= (_SHORTEST_NUMBER if word.isdigit() else 2)}
        self._within = {word for word in self._words if len(word) >= _SHORTEST_WITHIN}
        self._lengths = sorted({len(word) for word in self._within})
        self._cache: dict[str, bool] = {}

    def without(self, text: str) -> str:
        """The text without names, whatever form their accents have, and whatever invisible stands in them."""
        text = unicodedata.normalize("NFC", _HIDDEN.sub("", harmless(text)))
        return _WORD.sub(lambda found: REMOVED if self._names(found[0]) else found[0], text)

    def without_addresses(self, text: str) -> str:
        """The text without names and e-mail addresses; not for code, where `x@W.T` is a product."""
        return self.without(_ADDRESS.sub(ADDRESS, text))

    def _names(self, word: str) -> bool:
        if word not in self._cache:
            self._cache[word] = word not in self._allowed and self._is_name(word)
        return self._cache[word]

    def _is_name(self, word: str) -> bool:
        parts = _PARTS.findall(_HUMP.sub(" ", word))
        if any(_plain(part) in self._words for part in (word, *_PARTS.findall(word), *parts)):
            return True
        plain = _plain(word)
        return any(
            plain[start : start + length] in self._within
            for length in self._lengths
            for start in range(len(plain) - length + 1)
        )


def _plain(word: str) -> str:
    """In lower case and without accents."""
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", word).casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def words_in_code(notebooks: Iterable[Any]) -> set[str]:
    """The words in the code of the course's notebooks and in NumPy's names, which name no student there. Those with a
    capital are left out, because few of them are needed and most names have one.
    """
    import numpy as np

    words = {word for name in (*dir(np), *dir(np.ndarray)) for word in _WORD.findall(name)}
    codes = [cell["source"] for notebook in notebooks for cell in notebook.cells if cell["cell_type"] == "code"]
    words |= {word for code in codes for word in _WORD.findall(code)}
    return {word for word in words if not word[0].isupper()}
