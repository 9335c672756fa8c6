"""Two small runs that chapter 06's pages show.

    python -m experiments.ch06.pages [--record]

- A decoder that looks back, that of `looks_back`, which the page shows. The query is the decoder's current state, the
  score the dot product, and the sentences have three to seven words. Recorded for each of five seeds: the mean loss of
  the last 20 updates, and for a sentence that is not in training, what the network writes, the largest weight at each
  French word, and the English word on which it lies.
- A network that reverses letters, that of `museum` with its first seed: the weights with which it looks at a held-out
  sequence while it writes, the mean of its heads.

Takes less than a minute of one core.
"""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import mean
from typing import Any

import torch

from experiments.ch03.record import to_json
from experiments.ch06 import museum
from experiments.ch06.looks_back import SENTENCES, train, translate

RESULTS_FILE = Path(__file__).with_name("pages.json")
SEEDS = tuple(range(5))
SENTENCE = ["my", "red", "car", "follows", "two", "small", "cats"]
LETTERS_SEED = 4  # of the sequence that is reversed

torch.set_num_threads(1)

# The record -----------------------------------------------------------------------------------------------------------


def run(seed: int) -> dict[str, Any]:
    """Train one network, and let it translate the sentence."""
    model, losses = train(seed)
    rows = [[french, round(weight, 2), english] for french, weight, english in translate(model, SENTENCE)]
    first = [round(loss, 3) for loss in losses[:5]]
    return {"seed": seed, "first_losses": first, "loss": round(mean(losses[-20:]), 3), "rows": rows}


def looks(seed: int) -> dict[str, Any]:
    """Train a network that reverses letters -> a held-out sequence, and the weights (LENGTH, 2 LENGTH) on it."""
    model, _ = museum.train("right", seed)
    ids = museum.sequences(1, torch.Generator().manual_seed(LETTERS_SEED))
    _, weights = model.attention(model.symbol(ids[:, :-1]) + model.position(torch.arange(2 * museum.LENGTH)))
    rows = weights[0].mean(0)[museum.LENGTH :].detach().tolist()
    return {"seed": seed, "ids": ids[0].tolist(), "weights": [[round(value, 3) for value in row] for row in rows]}


def main() -> None:
    runs = []
    for seed in SEEDS:
        runs.append(run(seed))
        print(runs[-1], flush=True)
    reversing = looks(museum.SEEDS[0])
    print(*reversing["weights"], sep="\n")
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch06.pages --record",
            "settings": {"optimizer": "Adam", **SENTENCES, **train.__kwdefaults__},
            "versions": {"torch": torch.__version__.partition("+")[0]},
            "sentence": SENTENCE,
            "runs": runs,
            "reversing": reversing,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
