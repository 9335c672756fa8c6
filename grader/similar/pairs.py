"""Which pairs of submissions share code that few others have.

A fingerprint that more than `widespread` submissions have is the class's own: an idiom, or the obvious way. It is left
out, as are those of code that everyone was given. The rest is looked up in an index from fingerprints to submissions,
so that only pairs that share some of it are compared.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from grader.similar.fingerprints import Fingerprint, Flags, Ints, hashes_of

LEAST = 150  # characters of filtered code that a submission needs to be compared, and that a pair must share
SIMILAR = 0.7  # the part of either submission's code that must be shared for a pair to be reported


@dataclass(frozen=True)
class Side:
    """One submission of a pair: the part of its code that the other one has, and the passages by the index of the part
    that they are in, as (from, to) in its source.
    """

    student: str
    share: float
    passages: dict[int, list[tuple[int, int]]]


@dataclass(frozen=True)
class Pair:
    """Two submissions with similar code. `size` is how many characters of filtered code they share, and `weight` adds
    for each shared fingerprint how rare it is.
    """

    left: Side
    right: Side
    size: int
    weight: float

    @property
    def sides(self) -> tuple[Side, Side]:
        return self.left, self.right


@dataclass(frozen=True)
class Found:
    """The pairs, most rare code first; the students with too little code of their own to be compared; and how many
    submissions must have a piece of code for it to be left out.
    """

    pairs: tuple[Pair, ...]
    short: tuple[str, ...]
    widespread: int


def widespread(students: int) -> int:
    """Code in more submissions than this is not compared: a tenth of the class; in small classes ten submissions, or
    half of the class.
    """
    return max(2, min(students // 2, max(10, students // 10)))


def similar_pairs(
    prints: Mapping[str, Sequence[Fingerprint]], given: Sequence[Fingerprint], share: float = SIMILAR
) -> Found:
    """Compare the submissions, given as the fingerprints of each student's parts."""
    most = widespread(len(prints))
    known = hashes_of(given)
    held = {student: np.setdiff1d(hashes_of(parts), known, assume_unique=True) for student, parts in prints.items()}
    everything = np.concatenate([np.empty(0, np.int64), *held.values()])
    values, counts = np.unique(everything, return_counts=True)
    rare, times = values[counts <= most], counts[counts <= most]
    own = {s: [part.only(np.isin(part.hashes, rare)) for part in parts] for s, parts in prints.items()}
    covered = {student: sum(part.coverage for part in parts) for student, parts in own.items()}
    students = sorted(student for student in prints if covered[student] >= LEAST)
    holders = [np.intersect1d(held[student], rare, assume_unique=True) for student in students]
    weights = np.log(len(prints) / times)
    pairs = []
    for i, j in _candidates(holders, rare, share):
        left, right = students[i], students[j]
        shared = np.intersect1d(holders[i], holders[j], assume_unique=True)
        sizes, sides = [], []
        for student in (left, right):
            size, passages = _shared(own[student], shared)
            sizes.append(size)
            sides.append(Side(student, size / covered[student], passages))
        if min(sizes) >= LEAST and max(side.share for side in sides) >= share:
            weight = math.fsum(weights[np.searchsorted(rare, shared)])
            pairs.append(Pair(sides[0], sides[1], min(sizes), weight))
    pairs.sort(key=lambda pair: (-pair.weight, pair.left.student, pair.right.student))
    short = sorted(set(prints) - set(students))
    return Found(tuple(pairs), tuple(short), most)


def _candidates(holders: Sequence[Ints], rare: Ints, share: float) -> list[tuple[int, int]]:
    """The pairs that share enough rare fingerprints for a comparison, by an index from fingerprints to submissions."""
    owner = np.concatenate([np.full(len(each), i) for i, each in enumerate(holders)] or [np.empty(0, np.int64)])
    index = np.concatenate([np.searchsorted(rare, each) for each in holders] or [np.empty(0, np.int64)])
    order = np.argsort(index, kind="stable")
    groups = np.split(owner[order], np.flatnonzero(np.diff(index[order])) + 1)
    together = np.zeros((len(holders), len(holders)), np.int32)
    for group in groups:
        if len(group) > 1:
            together[np.ix_(group, group)] += 1
    sizes = np.array([len(each) for each in holders])
    # A pair that shares a part of its characters shares fewer of its fingerprints: every change takes several of them.
    smaller = np.minimum(sizes[:, None], sizes[None, :])
    enough = np.triu((together > 0) & (together >= share / 2 * smaller), 1)
    return [(int(i), int(j)) for i, j in np.argwhere(enough)]


def _shared(parts: Sequence[Fingerprint], shared: Ints) -> tuple[int, dict[int, list[tuple[int, int]]]]:
    """How many characters of the filtered code are shared, and the passages of each part."""
    size, passages = 0, {}
    for number, part in enumerate(parts):
        marked: Flags = np.isin(part.hashes, shared)
        if marked.any():
            size += part.only(marked).coverage
            passages[number] = part.passages(marked)
    return size, passages
