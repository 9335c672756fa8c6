"""The copy task (Hochreiter and Schmidhuber, 1997): which recurrent networks keep three symbols over a delay?

    python -m experiments.ch03.copying [--record]

A network reads three random symbols out of eight, then blanks for a delay of 10 steps, the last of which is a signal to
start, and must then give the three symbols in order while it reads three more blanks. A network without memory can do
no better than a uniform guess, with a cross-entropy of ln 8. Five seeds for each network, trained with the loss of the
three answers alone ("answers") or with that of all 16 steps, in which a blank is expected before the answers ("all").
A network has solved the task when it gives more than 98 % of the symbols of validation sequences. Training stops above
99.9 % or after 3,000 updates, and the final weights are then measured on test sequences. Some networks also try delays
of 30 and 50. Takes about five minutes on one core.

How the settings were found, with one other seed: two or three learning rates were tried for each network, most of them
with the loss of all steps. The loss of the answers was tried after the orthogonal network had failed with that of all
steps, and both are recorded. The orthogonal network's rate is not its best one: 0.003 was faster (60 updates, not 100).

There are only 512 different sequences, so all of them occur in training: this tests memory, not generalisation.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from experiments.ch03.adding import summary
from experiments.ch03.cells import Network, first_update, train
from experiments.ch03.record import thinned, to_json

RESULTS_FILE = Path(__file__).with_name("copying.json")
SETTINGS: dict[str, float] = {
    "symbols": 3,
    "alphabet": 8,
    "batch": 32,
    "clip": 1.0,
    "hidden_size": 64,
    "updates": 3000,
    "validation": 500,
    "test": 2000,
    "look_every": 20,
    "solved_above": 0.98,
    "stop_above": 0.999,
}
DELAY = 10
CELLS: dict[str, dict[str, Any]] = {
    "tanh": {"kind": "tanh", "lr": 3e-3},
    "orthogonal": {"kind": "orthogonal", "lr": 1e-3, "input_sd": 0.1},
    "irnn": {"kind": "irnn", "lr": 1e-3, "input_sd": 0.1},
    "gru": {"kind": "gru", "lr": 2e-2},
    "lstm_1": {"kind": "lstm", "lr": 2e-2, "forget_bias": 1.0},
}
RUNS: tuple[tuple[str, str, int], ...] = (  # cell, loss, delay
    *((cell, loss, DELAY) for loss in ("answers", "all") for cell in CELLS),
    ("tanh", "answers", 30),
    ("orthogonal", "answers", 30),
    ("gru", "answers", 30),
    ("orthogonal", "answers", 50),
)
SEEDS = tuple(range(10, 15))
BASELINE = math.log(SETTINGS["alphabet"])  # cross-entropy in nats of an answer, without memory


def sequences(rows: int, delay: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """One-hot inputs (rows, T, 10) and targets (rows, T) for T = 3 + delay + 3.

    Entry 0 is the blank, 1 to 8 are the symbols, and input 9 is the signal, at the last step before the answers.
    """
    S, K = int(SETTINGS["symbols"]), int(SETTINGS["alphabet"])
    chosen = torch.randint(1, K + 1, (rows, S), generator=generator)
    ids = torch.zeros(rows, S + delay + S, dtype=torch.long)
    ids[:, :S] = chosen
    ids[:, S + delay - 1] = K + 1
    targets = torch.zeros_like(ids)
    targets[:, S + delay :] = chosen
    return torch.nn.functional.one_hot(ids, K + 2).float(), targets


def held_out(part: str, delay: int = DELAY) -> tuple[Tensor, Tensor]:
    """The sequences of the part "validation" or "test", the same for all networks."""
    generator = torch.Generator().manual_seed({"validation": 1, "test": 2}[part])
    return sequences(int(SETTINGS[part]), delay, generator)


def training_batches(seed: int, delay: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Fresh sequences for each update, without end."""
    generator = torch.Generator().manual_seed(1000 + seed)
    while True:
        yield sequences(int(SETTINGS["batch"]), delay, generator)


def cross_entropy(outputs: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy in nats over all steps: outputs (B, T, 9), targets (B, T)."""
    return torch.nn.functional.cross_entropy(outputs.flatten(0, 1), targets.flatten())


def answers_only(outputs: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy in nats over the last three steps."""
    S = int(SETTINGS["symbols"])
    return cross_entropy(outputs[:, -S:], targets[:, -S:])


LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {"answers": answers_only, "all": cross_entropy}


def measure(model: Network, data: tuple[Tensor, Tensor]) -> tuple[float, float]:
    """Cross-entropy in nats and accuracy of the answers."""
    S = int(SETTINGS["symbols"])
    with torch.no_grad():
        outputs = model(data[0])
        accuracy = (outputs[:, -S:].argmax(2) == data[1][:, -S:]).float().mean().item()
        return answers_only(outputs, data[1]).item(), accuracy


def network(cell: str, seed: int) -> Network:
    """An untrained network of one of CELLS."""
    how, K = CELLS[cell], int(SETTINGS["alphabet"])
    torch.manual_seed(seed)
    sizes = (K + 2, int(SETTINGS["hidden_size"]), K + 1)
    return Network(how["kind"], sizes, how.get("input_sd"), how.get("forget_bias"))


def run(cell: str, loss: str, delay: int, seed: int, updates: int | None = None) -> dict[str, Any]:
    """Train one network: its record. The curve is the validation cross-entropy of the answers every 20 updates."""
    model, data = network(cell, seed), held_out("validation", delay)
    accuracies: list[float] = []
    started = time.process_time()

    def look(_: int) -> float:
        nats, accuracy = measure(model, data)
        accuracies.append(accuracy)
        return nats

    course = train(
        model,
        training_batches(seed, delay),
        LOSSES[loss],
        look,
        updates=updates or int(SETTINGS["updates"]),
        lr=CELLS[cell]["lr"],
        clip=SETTINGS["clip"],
        look_every=int(SETTINGS["look_every"]),
        stop=lambda _: accuracies[-1] > SETTINGS["stop_above"],
    )
    seconds = time.process_time() - started
    nats, accuracy = measure(model, held_out("test", delay))
    return {
        "cell": cell,
        "loss": loss,
        "delay": delay,
        "seed": seed,
        "updates": len(course.gradient_norms),
        "solved_at": first_update(accuracies, SETTINGS["look_every"], lambda value: value > SETTINGS["solved_above"]),
        "test_nats": round(nats, 4),
        "test_accuracy": round(accuracy, 4),
        "diverged_at": course.diverged_at,
        "cpu_seconds": round(seconds, 1),
        "curve": [round(value, 3) for value in course.curve],
    }


def main() -> None:
    runs, summaries = [], []
    for cell, loss, delay in RUNS:
        here = [run(cell, loss, delay, seed) for seed in SEEDS]
        summaries.append({"cell": cell, "loss": loss, "delay": delay, **summary(here)})
        print(summaries[-1], [(one["test_nats"], one["test_accuracy"], one["cpu_seconds"]) for one in here], flush=True)
        for one in here:
            one["curve"] = thinned(one["curve"])
        runs += here
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch03.copying --record",
            "settings": {"delay": DELAY, "optimizer": "Adam", **SETTINGS},
            "cells": CELLS,
            "seeds": list(SEEDS),
            "versions": {"torch": torch.__version__.partition("+")[0]},
            "baseline": {"nats": round(BASELINE, 4), "accuracy": 1 / SETTINGS["alphabet"]},
            "summary": summaries,
            "runs": runs,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
