"""How far back does the gradient of a tanh network and of a GRU reach after a hundred updates of the adding problem?

    python -m experiments.ch03.reach [--record]

The networks, sequences, seeds and settings are those of `experiments.ch03.adding`, which records the gradient during
training at a few lags only. Here it is recorded at all lags, relative to lag 0, before training and after 100 updates,
on the first validation sequences. Nothing was chosen here.

It also records the numbers and marks of one validation sequence, as a picture of the task: the first one whose first
mark stands at step 7 and whose marked numbers are both above one half, so that they can be seen. Takes half a
minute on one core.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch

from experiments.ch03 import adding
from experiments.ch03.cells import train
from experiments.ch03.record import significant, to_json

RESULTS_FILE = Path(__file__).with_name("reach.json")
CELLS = ("tanh", "gru")  # of adding.CELLS
UPDATES = 100
MARK = 7  # the step at which the first mark of the recorded sequence stands, counted from 1
SETTINGS: dict[str, Any] = {**adding.SETTINGS, "updates": UPDATES, "mark": MARK}
SEEDS = adding.SEEDS


def run(cell: str, seed: int, updates: int = UPDATES) -> dict[str, Any]:
    """Train one network as `adding` does: its gradient by lag before training and after some updates."""
    model, data = adding.network(adding.CELLS[cell], seed), adding.held_out("validation")
    before = adding.lag_norms(model)
    course = train(
        model,
        adding.training_batches(seed, adding.STEPS),
        adding.squared_error,
        lambda _: adding.error(model, data),
        updates=updates,
        lr=adding.CELLS[cell]["lr"],
        clip=adding.SETTINGS["clip"],
        look_every=updates,
    )
    return {
        "cell": cell,
        "seed": seed,
        "error": round(course.curve[-1], 4),
        "before": significant(before),
        "after": significant(adding.lag_norms(model)),
    }


def sequence() -> dict[str, list[float]]:
    """Numbers and marks of the first validation sequence marked at step MARK, with both marked numbers above 0.5."""
    x, _ = adding.held_out("validation")
    fits = (x[:, MARK - 1, 1] == 1) & ((x[:, :, 0] * x[:, :, 1] > 0.5).sum(1) == 2)
    row = int(fits.nonzero()[0])
    return {"numbers": [round(value, 2) for value in x[row, :, 0].tolist()], "marks": x[row, :, 1].int().tolist()}


def main() -> None:
    runs = []
    for cell in CELLS:
        for seed in SEEDS:
            runs.append(run(cell, seed))
            at = {when: runs[-1][when][75] for when in ("before", "after")}
            print({key: runs[-1][key] for key in ("cell", "seed", "error")}, at, flush=True)
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch03.reach --record",
            "settings": {"steps": adding.STEPS, "optimizer": "Adam", **SETTINGS},
            "cells": {cell: adding.CELLS[cell] for cell in CELLS},
            "seeds": list(SEEDS),
            "versions": {"torch": torch.__version__.partition("+")[0]},
            "sequence": sequence(),
            "normalised": "Frobenius norm over (B, H), divided by that at lag 0; one value for each lag from 0",
            "runs": runs,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
