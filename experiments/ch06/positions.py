"""What a network without recurrence learns if it is not told where its inputs are.

    python -m experiments.ch06.positions [--record]

The task, the network and its training are those of `museum`: eight random letters, a separator, and the letters
reversed, predicted by one layer of causal attention with four heads. Three networks differ in the vector that is added
to the embedding of the symbol at each position:

- learned: a row of a table that is trained;
- sinusoidal: sines and cosines of the position, which are not trained;
- none: nothing.

The last one can tell the letters apart, but of their order it knows only what the causal mask lets through: which
symbols are there so far. Without any mask, its outputs would not depend on the order at all. Recorded is what `museum`
measures of held-out sequences. Five seeds each. Takes less than a minute of one core.
"""

from __future__ import annotations

import json
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from experiments.ch03.record import mean_and_sd, to_json
from experiments.ch06.museum import LENGTH, SEEDS, SETTINGS, D, Reverser, measured, sequences, train

RESULTS_FILE = Path(__file__).with_name("positions.json")
LEARNED, SINUSOIDAL, NONE = KINDS = ("learned", "sinusoidal", "none")
MEASURES = ("random_loss", "reversed_loss", "reversed_accuracy", "written_accuracy", "exact")


def sinusoids(T: int, D: int) -> np.ndarray:
    """The positions 0 to T - 1 as vectors (T, D): equation (sinusoids) of the book. D is even."""
    rates = 10_000.0 ** (-np.arange(0, D, 2) / D)  # (D / 2,)
    angles = np.arange(T)[:, None] * rates
    return np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(T, D)


class Placed(Reverser):
    """The network of the museum, whose positions are one of KINDS."""

    def __init__(self, program: str, kind: str) -> None:
        super().__init__(program)
        if kind != LEARNED:
            fixed = torch.zeros(2 * LENGTH, D) if kind == NONE else torch.as_tensor(sinusoids(2 * LENGTH, D)).float()
            self.position = torch.nn.Embedding.from_pretrained(fixed, freeze=True)


def run(kind: str, seed: int, updates: int | None = None) -> dict[str, Any]:
    """Train one network, and measure it on held-out sequences."""
    model, losses = train("right", seed, updates, partial(Placed, kind=kind))
    held_out = sequences(int(SETTINGS["held_out"]), torch.Generator().manual_seed(10_000 + seed))
    found = measured(model, held_out)
    return {"kind": kind, "seed": seed, "last_loss": round(losses[-1], 3)} | {key: found[key] for key in MEASURES}


def summary(runs: list[dict[str, Any]]) -> dict[str, dict[str, list[float]]]:
    """Mean and standard deviation over the seeds."""
    return {
        kind: {key: mean_and_sd([one[key] for one in runs if one["kind"] == kind], 3) for key in MEASURES}
        for kind in KINDS
    }


def main() -> None:
    started = time.process_time()
    runs = [run(kind, seed) for kind in KINDS for seed in SEEDS]
    found = summary(runs)
    print(json.dumps(found, indent=1), round(time.process_time() - started), "s", flush=True)
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch06.positions --record",
            "settings": {"optimizer": "Adam", **SETTINGS},
            "seeds": list(SEEDS),
            "versions": {"torch": torch.__version__.partition("+")[0]},
            "summary": found,
            "runs": runs,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
