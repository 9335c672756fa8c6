"""What counts write: samples of n-gram models, what is copied in them, and what held-out text has that was not counted.

    python -m experiments.ch00.writing [--record]

The counts are those of the exercise. For the samples, the text is counted as a circle, so that every context has a
follower, and a sample begins with the first characters of a paragraph. All numbers follow from the text
(`experiments.text.python_docs`) and the seeds. Takes about half a minute on one core.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from experiments.ch00.counts import longest_copied
from experiments.ch03.record import to_json
from experiments.text import Text, python_docs
from solutions.ch00_sequences.counting import ngram_counts

RESULTS_FILE = Path(__file__).with_name("writing.json")
ORDERS, LENGTH, SHOWN = (1, 2, 3, 4, 5, 6, 10), 1000, 110
UNSEEN_ORDERS = (2, 3, 4, 5, 6)
SEEDS = tuple(range(5))
EXCERPTS = 5  # of the held-out text

Counts = dict[tuple[int, ...], dict[int, int]]


def write(counts: Counts, start: list[int], length: int, rng: random.Random) -> list[int]:
    """Draw `length` ids, the first one after the n - 1 ids of `start`."""
    written = list(start)
    for _ in range(length):
        context = tuple(written[len(written) - len(start) :])
        followers = counts[context]
        written += rng.choices(list(followers), list(followers.values()))
    return written[len(start) :]


def unseen(text: Text, n: int) -> dict[str, Any]:
    """How many contexts the training text has, and the share in % of held-out characters that never followed theirs."""
    counts, held_out = ngram_counts(text.ids(text.train), n), text.ids(text.held_out).tolist()
    places = range(n - 1, len(held_out))
    zeros = sum(held_out[t] not in counts.get(tuple(held_out[t - n + 1 : t]), {}) for t in places)
    return {"order": n, "contexts": len(counts), "zeros": round(100 * zeros / len(places), 3)}


def samples(text: Text, n: int) -> dict[str, Any]:
    """For each seed, the longest run of characters that is copied; in % how often the model had no choice; a sample."""
    ids = text.ids(text.train)
    counts = ngram_counts(np.concatenate([ids, ids[: n - 1]]), n)
    starts = [0] + [i + 1 for i, character in enumerate(text.train[:-50]) if character == "\n"]
    copied, choices, shown = [], [], ""
    for seed in SEEDS:
        rng = random.Random(seed)
        begin = rng.choice(starts)
        start = ids[begin : begin + n - 1].tolist()
        new = write(counts, start, LENGTH, rng)
        copied.append(len(longest_copied(letters(text, new), text.train)))
        choices += [len(counts[tuple(new[t - n + 1 : t])]) for t in range(n - 1, LENGTH)]
        shown = shown or letters(text, start + new[:SHOWN])
    return {
        "order": n,
        "copied": copied,
        "forced": round(100 * choices.count(1) / len(choices), 2),
        "sample": " ".join(shown.split()),
    }


def letters(text: Text, ids: list[int]) -> str:
    return "".join(text.characters[i] for i in ids)


def people(text: Text) -> list[int]:
    """The longest run that is copied in each of some excerpts of the held-out text."""
    places = np.linspace(0, len(text.held_out) - LENGTH, EXCERPTS).astype(int)
    return [len(longest_copied(text.held_out[at : at + LENGTH], text.train)) for at in places]


def measured() -> dict[str, Any]:
    """Everything that the page tells of."""
    text = python_docs()
    return {
        "unseen": [unseen(text, n) for n in UNSEEN_ORDERS],
        "samples": [samples(text, n) for n in ORDERS],
        "people": people(text),
    }


def main() -> None:
    text, found = python_docs(), measured()
    for row in found["samples"]:
        print(row["order"], median(row["copied"]), row["forced"], row["sample"])
    print(json.dumps(found["unseen"]), median(found["people"]))
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch00.writing --record",
            "settings": {"length": LENGTH, "shown": SHOWN, "excerpts": EXCERPTS},
            "seeds": list(SEEDS),
            "text": {
                "source": text.source,
                "sha256": text.sha256,
                "train": len(text.train),
                "characters": len(text.characters),
            },
            **found,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
