"""Latching one bit: which recurrent networks learn to keep a sign for up to 50 steps (after Bengio et al., 1994)?

    python -m experiments.ch04.latching [--record]

At the first step a network of 16 units reads +1 or -1 on its first input. In the next T steps its second input is
noise with a standard deviation of 0.2, or always 0 as a control, and after the last of them it must name the sign.
T is 10, 20 or 50, or is drawn for each batch between 1 and 50, and the network is then tested at 50. Adam with a
learning rate of 0.01, at most 600 updates with fresh sequences, twenty seeds each. A network has solved the task when
its accuracy on validation sequences exceeds 0.98. Training stops above 0.999, and the accuracy of the final weights is
then measured on test sequences.

It records the norm of the gradient against lag as well: of the untrained networks, and at lag 50 during trainings with
T = 50 and noise, of which five of each kind are kept in full. Takes about six minutes of one core.

The settings were found with other seeds. PyTorch's networks start from weights within 1 / sqrt(H) of 0; the bias named
after a cell is the forget gate's (LSTM) or the update gate's (GRU), the only bias of that gate.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

from experiments.ch03.adding import summary
from experiments.ch03.cells import Network, first_update, gradient_by_lag, train
from experiments.ch03.record import geometric, significant, to_json

RESULTS_FILE = Path(__file__).with_name("latching.json")
SETTINGS: dict[str, float] = {
    "hidden_size": 16,
    "batch": 32,
    "lr": 0.01,
    "clip": 1.0,
    "updates": 600,
    "validation": 1000,
    "test": 2000,
    "look_every": 10,
    "solved_above": 0.98,
    "stop_above": 0.999,
    "lag_batch": 32,
}
CELLS: dict[str, dict[str, Any]] = {
    "tanh": {"kind": "tanh"},
    "lstm_0": {"kind": "lstm", "bias": 0.0},
    "lstm_1": {"kind": "lstm", "bias": 1.0},
    "lstm_2": {"kind": "lstm", "bias": 2.0},
    "lstm_3": {"kind": "lstm", "bias": 3.0},
    "gru_0": {"kind": "gru", "bias": 0.0},
    "gru_3": {"kind": "gru", "bias": 3.0},
}


class Task(NamedTuple):
    """The bit is kept for `steps` steps, or, in training, for a number drawn from 1 to `steps` if `vary`."""

    steps: int
    noise: float = 0.2
    vary: bool = False


TASKS: dict[str, Task] = {
    "10": Task(10),
    "20": Task(20),
    "50": Task(50),
    "1 to 50": Task(50, vary=True),
    "20, no noise": Task(20, noise=0.0),
    "50, no noise": Task(50, noise=0.0),
}
SEEDS = tuple(range(10, 30))
FULL = tuple(("50", seed) for seed in SEEDS[:5])  # the trainings whose curves are recorded
LAGS = (0, 1, 2, 5, 10, 20, 30, 40, 50)


def sequences(rows: int, steps: int, noise: float, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Inputs (rows, 1 + steps, 2) and targets (rows,): 1 if the sign at the first step is +1, else 0."""
    bits = torch.randint(0, 2, (rows,), generator=generator).float()
    x = torch.zeros(rows, 1 + steps, 2)
    x[:, 0, 0] = 2 * bits - 1
    x[:, 1:, 1] = noise * torch.randn(rows, steps, generator=generator)
    return x, bits


def held_out(part: str, task: str) -> tuple[Tensor, Tensor]:
    """The sequences of the part "validation" or "test", the same for all networks."""
    generator = torch.Generator().manual_seed({"validation": 1, "test": 2}[part])
    return sequences(int(SETTINGS[part]), TASKS[task].steps, TASKS[task].noise, generator)


def training_batches(seed: int, task: str) -> Iterator[tuple[Tensor, Tensor]]:
    """Fresh sequences for each update, without end."""
    steps, noise, vary = TASKS[task]
    generator = torch.Generator().manual_seed(1000 + seed)
    while True:
        here = int(torch.randint(1, steps + 1, (), generator=generator)) if vary else steps
        yield sequences(int(SETTINGS["batch"]), here, noise, generator)


def cross_entropy(outputs: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy in nats of the last output, a logit: outputs (B, T, 1), targets (B,)."""
    return torch.nn.functional.binary_cross_entropy_with_logits(outputs[:, -1, 0], targets)


def accuracy(model: Network, data: tuple[Tensor, Tensor]) -> float:
    """The share of signs that are named rightly."""
    with torch.no_grad():
        return ((model(data[0])[:, -1, 0] > 0) == (data[1] > 0.5)).float().mean().item()


def network(cell: str, seed: int) -> Network:
    """An untrained network of one of CELLS."""
    how, H = CELLS[cell], int(SETTINGS["hidden_size"])
    torch.manual_seed(seed)
    model = Network(how["kind"], (2, H, 1), forget_bias=how["bias"] if how["kind"] == "lstm" else None)
    if how["kind"] == "gru":
        with torch.no_grad():
            model.rnn.bias_ih_l0[H : 2 * H] = how["bias"]  # the order is reset, update, candidate
            model.rnn.bias_hh_l0[H : 2 * H] = 0
    return model


def lag_norms(model: Network, task: str = "50") -> list[float]:
    """The gradient's norm at lags 0 to `steps`, divided by that at lag 0, on the first validation sequences."""
    x, y = held_out("validation", task)
    rows = int(SETTINGS["lag_batch"])
    return gradient_by_lag(model, x[:rows], y[:rows], cross_entropy)


def run(cell: str, task: str, seed: int, updates: int | None = None) -> tuple[dict[str, Any], Network]:
    """Train one network: its record and the network. The curve is the validation accuracy every 10 updates."""
    model, data = network(cell, seed), held_out("validation", task)
    gradient: list[float] = []

    def look(_: int) -> float:
        if (task, seed) in FULL:
            gradient.append(lag_norms(model)[TASKS[task].steps])
        return accuracy(model, data)

    look(0)
    started = time.process_time()
    course = train(
        model,
        training_batches(seed, task),
        cross_entropy,
        look,
        updates=updates or int(SETTINGS["updates"]),
        lr=SETTINGS["lr"],
        clip=SETTINGS["clip"],
        look_every=int(SETTINGS["look_every"]),
        stop=lambda value: value > SETTINGS["stop_above"],
    )
    record = {
        "cell": cell,
        "task": task,
        "seed": seed,
        "updates": len(course.gradient_norms),
        "solved_at": first_update(course.curve, SETTINGS["look_every"], lambda value: value > SETTINGS["solved_above"]),
        "test_accuracy": round(accuracy(model, held_out("test", task)), 4),
        "cpu_seconds": round(time.process_time() - started, 1),
        "curve": [round(value, 3) for value in course.curve],
    }
    if gradient:
        record["gradient_at_50"] = significant(gradient, 2)  # before training, then every 10 updates
    return record, model


def kept(bias: float, steps: int) -> float:
    """What a gate with this pre-activation keeps after so many steps: sigmoid(bias) ** steps."""
    return torch.sigmoid(torch.tensor(bias, dtype=torch.float64)).item() ** steps


def main() -> None:
    untrained = {}
    for cell in CELLS:
        rows = [lag_norms(network(cell, seed)) for seed in SEEDS]
        means, factors = geometric([[row[lag] for lag in LAGS] for row in rows])
        untrained[cell] = {"mean": significant(means), "factor": significant(factors)}
        print(cell, untrained[cell]["mean"], flush=True)
    results, courses = [], []
    for task in TASKS:
        for cell in CELLS:
            here = [run(cell, task, seed)[0] for seed in SEEDS]
            lists = {key: [one[key] for one in here] for key in ("solved_at", "updates", "test_accuracy")}
            results.append({"cell": cell, "task": task, **summary(here), **lists})
            print(results[-1], round(sum(one["cpu_seconds"] for one in here), 1), flush=True)
            courses += [one for one in here if (task, one["seed"]) in FULL]
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch04.latching --record",
            "settings": {"optimizer": "Adam", **SETTINGS},
            "cells": CELLS,
            "tasks": {name: task._asdict() for name, task in TASKS.items()},
            "seeds": list(SEEDS),
            "versions": {"torch": torch.__version__.partition("+")[0]},
            "baseline": {"accuracy": 0.5},
            "kept_by_bias": {
                str(bias): {str(steps): significant([kept(bias, steps)])[0] for steps in (10, 20, 50)}
                for bias in (0.0, 1.0, 2.0, 3.0)
            },
            "untrained": {"lags": list(LAGS), "task": "50", "cells": untrained},
            "results": results,
            "courses": courses,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
