"""A tree of translations small enough to draw, and beam search on it with everything that was pruned.

    from experiments.ch05.tree import search

The book's explorable `beam` reads the same file, `tree.json`, and finds the same beams. The probabilities of the next
word depend on the last word alone and are made up, after a trained model's mistake: for *one thousand six hundred*
(*mille six cents*), greedy decoding writes *mille six cent dix*, 1610.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import TypedDict

TREE_FILE = Path(__file__).with_name("tree.json")
SOS, EOS = "⟨sos⟩", "⟨eos⟩"


class Tree(TypedDict):
    """The content of `tree.json`: `next` has the probabilities of the next word after each word."""

    source: str
    max_length: int
    next: dict[str, dict[str, float]]


@dataclass(frozen=True)
class Beam:
    """A hypothesis: its words, ⟨eos⟩ included, and the sum of their log-probabilities. `kept` is None if it was pruned,
    otherwise its place among the beams, from 0 on.
    """

    words: tuple[str, ...]
    log_prob: float
    kept: int | None = None

    @property
    def finished(self) -> bool:
        return self.words[-1:] == (EOS,)

    def score(self, penalty: float) -> float:
        """The sum of log-probabilities, divided by the number of words, ⟨eos⟩ included, to the power of the penalty."""
        return self.log_prob / len(self.words) ** penalty


def load_tree() -> Tree:
    tree: Tree = json.loads(TREE_FILE.read_text("utf-8"))
    return tree


def search(width: int) -> list[list[Beam]]:
    """Return all hypotheses that compete at each step, best first, the pruned ones included.

    A finished hypothesis competes on, unchanged. The search ends when all kept ones are finished, or at max_length.
    """
    tree = load_tree()
    beams, steps = [Beam((), 0.0)], []
    while len(steps) < tree["max_length"] and not all(beam.finished for beam in beams):
        competing: list[Beam] = []
        for beam in beams:
            if beam.finished:
                competing.append(beam)
                continue
            after = tree["next"][beam.words[-1] if beam.words else SOS]
            competing += [Beam((*beam.words, word), beam.log_prob + log(p)) for word, p in after.items()]
        competing.sort(key=lambda beam: -beam.log_prob)
        placed = [Beam(b.words, b.log_prob, at if at < width else None) for at, b in enumerate(competing)]
        steps.append(placed)
        beams = placed[:width]
    return steps


def results(width: int, penalty: float) -> list[Beam]:
    """The hypotheses that are left at the end, by their score, best first."""
    left = [beam for beam in search(width)[-1] if beam.kept is not None]
    return sorted(left, key=lambda beam: -beam.score(penalty))
