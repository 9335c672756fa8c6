"""Which summary of the encoder's states should the decoder get, and when?

    python -m experiments.ch05.contexts [--record]

A GRU encoder–decoder without attention translates the numbers from 0 to 9999 from English into French. Three summaries
of the encoder's states (each row's own final state; the mean and the maximum of its states over the real steps) are
given to the decoder in two ways: as its initial state, or as its initial state and also as an input at every step. The
second way needs more weights, so the control is a wider network with as many weights and the final state at the start.
What is measured is the share of held-out numbers that greedy decoding translates without an error, five seeds each:

- with 8,000 numbers to train on, after 100, 200, 300 and 400 updates: how fast the networks learn;
- with 300 numbers to train on, after 600 updates: how well they generalise.

The seed draws the weights and the batches; the numbers to train on are the same for all. Other settings are those of
`experiments.ch05.model.Settings`. Takes about eleven minutes of one core.
"""

from __future__ import annotations

import itertools
import sys
import time
from importlib.metadata import version
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import torch

from experiments.ch03.record import to_json
from experiments.ch05.model import Fitted, Settings, exact_match, fit, greedy
from experiments.ch05.numbers import LARGEST, pairs, split

RESULTS_FILE = Path(__file__).with_name("contexts.json")
CONTEXTS = ("final", "mean", "max")
WAYS = ("initial state", "every step")
WIDER = "initial state, wider"  # the control: as many weights as the networks that read the context at every step
VARIANTS = [*itertools.product(CONTEXTS, WAYS), ("final", WIDER)]
LOOK_AT = {8000: (100, 200, 300, 400), 300: (600,)}  # numbers to train on: tested after so many updates
SETTINGS: dict[str, float] = {
    "tested": 1000,
    "embed_size": 64,
    "hidden_size": 128,
    "wider_hidden_size": 151,
    "layers": 1,
    "batch": 64,
    "lr": 2e-3,
    "clip": 1.0,
}
SEEDS = tuple(range(5))


def settings_of(context: str, way: str, seed: int, updates: int) -> Settings:
    """The settings of one training run."""
    return Settings(
        embed_size=int(SETTINGS["embed_size"]),
        hidden_size=int(SETTINGS["wider_hidden_size" if way == WIDER else "hidden_size"]),
        layers=int(SETTINGS["layers"]),
        context=context,
        every_step=way == "every step",
        updates=updates,
        batch=int(SETTINGS["batch"]),
        lr=SETTINGS["lr"],
        clip=SETTINGS["clip"],
        seed=seed,
    )


def run(train: int, context: str, way: str, seed: int, look_at: tuple[int, ...] | None = None) -> dict[str, Any]:
    """Train one network on so many numbers, and test it after each number of updates in `look_at`."""
    look_at = look_at or LOOK_AT[train]
    shown, held_out = split(train)
    tested = pairs(held_out[-int(SETTINGS["tested"]) :], "fr")
    curve: list[float] = []

    def look(update: int, fitted: Fitted) -> None:
        if update in look_at:
            curve.append(round(exact_match(greedy(fitted, [source for source, _ in tested]), tested), 1))

    started = time.process_time()
    every_pair = pairs(list(range(LARGEST + 1)), "fr")
    fitted = fit(pairs(shown, "fr"), settings_of(context, way, seed, max(look_at)), every_pair, look)
    return {
        "train": train,
        "context": context,
        "way": way,
        "seed": seed,
        "weights": sum(weights.numel() for weights in fitted.model.parameters()),
        "exact": curve,
        "loss": round(mean(fitted.losses[-50:]), 4),
        "cpu_seconds": round(time.process_time() - started, 1),
    }


def summary(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mean, standard deviation and worst exact match over the seeds, after each number of updates."""
    found = []
    for train, (context, way) in itertools.product(LOOK_AT, VARIANTS):
        curves = [one["exact"] for one in runs if (one["train"], one["context"], one["way"]) == (train, context, way)]
        by_update = list(zip(*curves, strict=True))
        found.append(
            {
                "train": train,
                "context": context,
                "way": way,
                "mean": [round(mean(values), 1) for values in by_update],
                "sd": [round(stdev(values), 1) for values in by_update],
                "worst": [min(values) for values in by_update],
            }
        )
    return found


def main() -> None:
    runs = []
    for train, (context, way), seed in itertools.product(LOOK_AT, VARIANTS, SEEDS):
        runs.append(run(train, context, way, seed))
        print(runs[-1], flush=True)
    found = summary(runs)
    print(*found, sep="\n")
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch05.contexts --record",
            "settings": {"optimizer": "Adam", "cell": "GRU", "target": "fr", **SETTINGS},
            "seeds": list(SEEDS),
            "versions": {"torch": torch.__version__.partition("+")[0], "num2words": version("num2words")},
            "look_at": {str(train): list(updates) for train, updates in LOOK_AT.items()},
            "summary": found,
            "runs": runs,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
