"""What clipping cures and what it does not: tanh networks and IRNNs on the adding problem, with and without it.

    python -m experiments.ch03.clipping [--record]

The tanh network's gradient vanishes; the IRNN's is passed back undiminished, and can explode as soon as the weights
have changed. Both are trained on sequences of 100 with the norm of the gradient clipped to 1 and without clipping, at
several learning rates, with stochastic gradient descent and with Adam. Five seeds each, at most 1,000 updates. A run
has diverged if its gradient is no longer finite. Takes about eight minutes on one core.

The rates were picked after trials with one other seed, which had shown no tanh network that learns and IRNNs that
diverge without clipping. Other rates were not searched.
"""

from __future__ import annotations

import itertools
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import torch

from experiments.ch03 import adding
from experiments.ch03.cells import first_update, train
from experiments.ch03.record import significant, to_json

RESULTS_FILE = Path(__file__).with_name("clipping.json")
SETTINGS: dict[str, float] = {"steps": adding.STEPS, "updates": 1000, "look_every": 40}
CLIPS = (None, 1.0)
RATES: dict[str, tuple[tuple[str, float], ...]] = {
    "tanh": (("sgd", 0.1), ("sgd", 1.0), ("adam", 0.001), ("adam", 0.003), ("adam", 0.01)),
    "irnn": (("sgd", 0.01), ("adam", 0.001)),
}
SEEDS = tuple(range(10, 15))


def run(cell: str, optimizer: str, lr: float, clip: float | None, seed: int, updates: int) -> dict[str, Any]:
    """Train one network with a constant learning rate."""
    model, data = adding.network(adding.CELLS[cell], seed), adding.held_out("validation")
    started = time.process_time()
    course = train(
        model,
        adding.training_batches(seed, int(SETTINGS["steps"])),
        adding.squared_error,
        lambda _: adding.error(model, data),
        updates=updates,
        lr=lr,
        clip=clip,
        optimizer=optimizer,
        look_every=int(SETTINGS["look_every"]),
        stop=lambda value: value < adding.SETTINGS["stop_below"],
    )
    norms = course.gradient_norms
    return {
        "cell": cell,
        "optimizer": optimizer,
        "lr": lr,
        "clip": clip,
        "seed": seed,
        "updates": len(norms),
        "diverged_at": course.diverged_at,
        "solved_at": first_update(
            course.curve, SETTINGS["look_every"], lambda value: value < adding.SETTINGS["solved_below"]
        ),
        "lowest": significant([min(course.curve, default=float("inf"))])[0] if course.curve else None,
        "last": significant(course.curve[-1:])[0] if course.curve else None,
        "norm_median": significant([median(norms)])[0] if norms else None,
        "norm_largest": significant([max(norms)])[0] if norms else None,
        "share_above_1": round(sum(norm > 1 for norm in norms) / len(norms), 3) if norms else None,
        "cpu_seconds": round(time.process_time() - started, 1),
    }


def main() -> None:
    runs, summaries = [], []
    for cell, rates in RATES.items():
        for (optimizer, lr), clip in itertools.product(rates, CLIPS):
            here = [run(cell, optimizer, lr, clip, seed, int(SETTINGS["updates"])) for seed in SEEDS]
            runs += here
            how = {"cell": cell, "optimizer": optimizer, "lr": lr, "clip": clip}
            diverged = sum(one["diverged_at"] is not None for one in here)
            summaries.append({**how, **adding.summary(here), "diverged": diverged})
            seconds = round(sum(one["cpu_seconds"] for one in here))
            print(
                summaries[-1], [one["last"] for one in here], [one["norm_largest"] for one in here], seconds, flush=True
            )
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch03.clipping --record",
            "settings": {**SETTINGS, **{key: adding.SETTINGS[key] for key in ("batch", "validation", "solved_below")}},
            "cells": {cell: adding.CELLS[cell] for cell in RATES},
            "seeds": list(SEEDS),
            "versions": {"torch": torch.__version__.partition("+")[0]},
            "baseline": {"mse": round(adding.BASELINE, 4)},
            "summary": summaries,
            "runs": runs,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
