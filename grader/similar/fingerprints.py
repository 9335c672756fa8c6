"""Fingerprints of code, by the library copydetect: its tokenizer, its k-grams and its winnowing.

copydetect (https://github.com/blingenf/copydetect) replaces every name of a variable by V, of a function by F and every
string by S, drops comments and white space, and hashes each run of `NOISE` characters of what is left. Winnowing
(Schleimer, Wilkerson and Aiken, *Winnowing: local algorithms for document fingerprinting*, SIGMOD 2003) keeps the
smallest hash of every window. The window here is 1, which keeps all of them: Python's hashes of texts differ from run
to run, and a wider window would therefore select other fingerprints in each run.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from grader.errors import ExpectedError, how_to_install

NOISE = 25  # characters of a fingerprint, copydetect's default: shorter agreements are not seen
_WINDOW = 1

Ints = np.ndarray[Any, np.dtype[np.int64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]


class NoLibraryError(ExpectedError):
    """copydetect is not installed."""


@dataclass(frozen=True, eq=False)
class Fingerprint:
    """The fingerprints of one part: `hashes` with their `places` in the filtered code, which has `length` characters.
    `shifts` (N×2) say how many characters the filter had removed at some of these places. Hashes can be compared only
    within one run of Python.
    """

    hashes: Ints
    places: Ints
    length: int
    shifts: Ints

    def only(self, kept: Flags) -> Fingerprint:
        """Without the fingerprints that are not marked in `kept`."""
        return Fingerprint(self.hashes[kept], self.places[kept], self.length, self.shifts)

    @cached_property
    def coverage(self) -> int:
        """How many characters of the filtered code the fingerprints cover."""
        from copydetect.utils import get_token_coverage

        return int(get_token_coverage({0: self.places}, NOISE, self.length))

    def passages(self, shared: Flags) -> list[tuple[int, int]]:
        """Where the marked fingerprints are in the code as it was written: from, to."""
        from copydetect.utils import get_copied_slices

        if not shared.any():
            return []
        slices = get_copied_slices(self.places[shared], NOISE).astype(np.int64)
        if len(self.shifts):
            nearest = np.searchsorted(self.shifts[:, 0], slices).clip(0, len(self.shifts) - 1)
            slices = slices + self.shifts[nearest, 1]
        return [(int(start), int(end)) for start, end in slices.T]


def fingerprint(source: str) -> Fingerprint:
    """The fingerprints of a piece of Python, which may be anything. Raises NoLibraryError."""
    found = _library().CodeFingerprint("part.py", NOISE, _WINDOW, language="python", fp=io.StringIO(source))
    pairs = [(value, place) for value, places in found.hash_idx.items() for place in places]
    hashes, places = np.array(pairs, np.int64).reshape(-1, 2).T
    order = np.argsort(places)
    shifts = np.array(found.offsets, np.int64).reshape(-1, 2)
    # copydetect 0.5 writes a class's own shift where the sum belongs
    shifts[:, 1] = np.maximum.accumulate(shifts[:, 1])
    return Fingerprint(hashes[order], places[order], len(found.filtered_code), shifts)


def hashes_of(prints: Sequence[Fingerprint]) -> Ints:
    """The different hashes of some parts, sorted."""
    return np.unique(np.concatenate([np.empty(0, np.int64), *(each.hashes for each in prints)]))


def _library() -> Any:
    try:
        import copydetect
    except ImportError as error:
        raise NoLibraryError(f"The library copydetect is not installed. {how_to_install('similar')}") from error
    return copydetect
