"""Do the lower layers of a stacked network learn local patterns, and the upper ones longer ones?

    python -m experiments.ch04.layers [--record]

Three layers of 48 GRU units are trained to predict the next character of real text. Two measures are taken of every
layer, before training (the control: depth alone could make a difference) and after it, five seeds each, on held-out
text:

- how long a character is remembered: one character is replaced, and the distance between the two runs' states is
  measured at that step and at later ones, divided by the distance between states of unrelated stretches;
- what can be read from the states: accuracy of a linear classifier (ridge regression, fitted on training text) for the
  next character, the present one, and those 1 to 8 steps back, against always naming the most frequent character.

Adam with a learning rate of 0.01, 1,500 updates of 16 stretches of 40 characters from a zero state, one-hot inputs.
Takes about three minutes of one core.
"""

from __future__ import annotations

import itertools
import math
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from experiments.ch03.record import to_json
from experiments.text import Text, python_docs

RESULTS_FILE = Path(__file__).with_name("layers.json")
SETTINGS: dict[str, float] = {
    "layers": 3,
    "hidden_size": 48,
    "steps": 40,
    "batch": 16,
    "updates": 1500,
    "lr": 0.01,
    "clip": 1.0,
    "stretches": 200,
    "replaced_at": 15,
    "ridge": 1.0,
    "first_probed": 10,
}
LAGS = (0, 1, 2, 3, 5, 8, 12, 16, 24)
BACK = (-1, 0, 1, 2, 3, 5, 8)  # the probed character: -1 is the next one
SEEDS = tuple(range(10, 15))


class Stacked(torch.nn.Module):
    """GRU layers on one-hot characters, and a linear layer on the states of the last."""

    def __init__(self, vocab_size: int) -> None:
        super().__init__()
        sizes = [vocab_size] + [int(SETTINGS["hidden_size"])] * int(SETTINGS["layers"])
        layers = [torch.nn.GRU(D, H, batch_first=True) for D, H in itertools.pairwise(sizes)]
        self.vocab_size, self.layers = vocab_size, torch.nn.ModuleList(layers)
        self.head = torch.nn.Linear(sizes[-1], vocab_size)

    def states(self, ids: Tensor) -> list[Tensor]:
        """The states of every layer (B, T, H), for ids (B, T)."""
        x, found = torch.nn.functional.one_hot(ids, self.vocab_size).float(), []
        for layer in self.layers:
            x = layer(x)[0]
            found.append(x)
        return found

    def forward(self, ids: Tensor) -> Tensor:
        logits: Tensor = self.head(self.states(ids)[-1])
        return logits


class Stretches:
    """The text as ids, and stretches of it (rows, steps + 1)."""

    def __init__(self, text: Text) -> None:
        self.size = len(text.characters)
        self.train = torch.from_numpy(text.ids(text.train))
        self.held_out = torch.from_numpy(text.ids(text.held_out))

    def spaced(self, part: str) -> Tensor:
        """`stretches` of them, evenly spaced: the same for all networks."""
        ids = self.train if part == "train" else self.held_out
        return cut(ids, torch.linspace(0, len(ids) - SETTINGS["steps"] - 1, int(SETTINGS["stretches"])).long())

    def batches(self, seed: int) -> Iterator[Tensor]:
        """Stretches from anywhere in the training part, without end."""
        generator = torch.Generator().manual_seed(1000 + seed)
        last = len(self.train) - int(SETTINGS["steps"])
        while True:
            yield cut(self.train, torch.randint(0, last, (int(SETTINGS["batch"]),), generator=generator))


def cut(ids: Tensor, starts: Tensor) -> Tensor:
    return ids[starts[:, None] + torch.arange(int(SETTINGS["steps"]) + 1)]


def loss(model: Stacked, rows: Tensor) -> Tensor:
    """Mean cross-entropy in nats of the next character, rows (B, T + 1)."""
    return torch.nn.functional.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())


def bits(model: Stacked, rows: Tensor) -> float:
    """Bits a character."""
    with torch.no_grad():
        return loss(model, rows).item() / math.log(2)


def trained(model: Stacked, stretches: Stretches, seed: int, updates: int | None = None) -> Stacked:
    """Train the model, in place."""
    weights = list(model.parameters())
    optim = torch.optim.Adam(weights, lr=SETTINGS["lr"])
    for _, rows in zip(range(updates or int(SETTINGS["updates"])), stretches.batches(seed), strict=False):
        optim.zero_grad()
        loss(model, rows).backward()
        torch.nn.utils.clip_grad_norm_(weights, SETTINGS["clip"])
        optim.step()
    return model


@torch.no_grad()
def remembered(model: Stacked, rows: Tensor) -> list[list[float]]:
    """For each layer and each of LAGS: the distance that one replaced character makes, divided by the usual one.

    The usual distance is that between the states of each stretch and of the next one at the same step.
    """
    at, ids = int(SETTINGS["replaced_at"]), rows[:, :-1]
    other = ids.clone()
    replacement = ids.roll(1, 0)[:, at]  # the character of another stretch, so that it is a usual one
    other[:, at] = torch.where(replacement == ids[:, at], (ids[:, at] + 1) % model.vocab_size, replacement)
    found = []
    for states, changed in zip(model.states(ids), model.states(other), strict=True):
        steps = [at + lag for lag in LAGS]
        change = (states - changed).norm(dim=2).mean(0)[steps]
        usual = (states - states.roll(1, 0)).norm(dim=2).mean(0)[steps]
        found.append([round(value, 4) for value in (change / usual).tolist()])
    return found


def probe(states: np.ndarray, ids: np.ndarray, tested: np.ndarray, tested_ids: np.ndarray, classes: int) -> float:
    """Accuracy on `tested` (M, H) of a linear classifier fitted on states (N, H) to name ids (N,)."""
    mean = states.mean(axis=0)
    X, targets = states - mean, np.eye(classes)[ids]
    offset = targets.mean(axis=0)
    W = np.linalg.solve(X.T @ X + SETTINGS["ridge"] * np.eye(X.shape[1]), X.T @ (targets - offset))
    named = ((tested - mean) @ W + offset).argmax(axis=1)
    return float((named == tested_ids).mean())


@torch.no_grad()
def readable(model: Stacked, fitted: Tensor, tested: Tensor) -> list[list[float]]:
    """For each layer and each of BACK: the accuracy with which the character so many steps back can be read."""
    first, found = int(SETTINGS["first_probed"]), []
    for states, of_tested in zip(model.states(fitted[:, :-1]), model.states(tested[:, :-1]), strict=True):
        row = []
        for back in BACK:
            X, Y = (values[:, first:].flatten(0, 1).double().numpy() for values in (states, of_tested))
            x, y = (shifted(rows, back).flatten().numpy() for rows in (fitted, tested))
            row.append(round(probe(X, x, Y, y, model.vocab_size), 4))
        found.append(row)
    return found


def shifted(rows: Tensor, back: int) -> Tensor:
    """The characters `back` steps before each probed step: rows (B, T + 1) -> (B, T - first_probed)."""
    first, T = int(SETTINGS["first_probed"]), rows.shape[1] - 1
    return rows[:, first - back : T - back]


def always(stretches: Stretches) -> float:
    """Accuracy of always naming the most frequent character of the training text."""
    most = stretches.train.bincount().argmax()
    return round((shifted(stretches.spaced("held_out"), 0) == most).double().mean().item(), 4)


def measure(model: Stacked, stretches: Stretches) -> dict[str, Any]:
    """Bits, and both measures, on held-out text."""
    tested = stretches.spaced("held_out")
    return {
        "bits": round(bits(model, tested), 3),
        "remembered": remembered(model, tested),
        "readable": readable(model, stretches.spaced("train"), tested),
    }


def run(seed: int, stretches: Stretches, updates: int | None = None) -> dict[str, Any]:
    """Measure one network before and after training."""
    torch.manual_seed(seed)
    model, started = Stacked(stretches.size), time.process_time()
    before = measure(model, stretches)
    after = measure(trained(model, stretches, seed, updates), stretches)
    return {
        "seed": seed,
        "untrained": before,
        "trained": after,
        "cpu_seconds": round(time.process_time() - started, 1),
    }


def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Mean and standard deviation over seeds of everything that was measured: `remembered` and `readable` by layer."""
    found: dict[str, Any] = {}
    for when in ("untrained", "trained"):
        found[when] = {}
        for name in ("bits", "remembered", "readable"):
            values = np.array([one[when][name] for one in runs])
            found[when][name] = {
                "mean": np.round(values.mean(axis=0), 3).tolist(),
                "sd": np.round(values.std(axis=0, ddof=1), 3).tolist(),
            }
    return found


def main() -> None:
    text = python_docs()
    stretches = Stretches(text)
    runs = []
    for seed in SEEDS:
        runs.append(run(seed, stretches))
        print(runs[-1], flush=True)
    found = summary(runs)
    print(found)
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch04.layers --record",
            "settings": {"optimizer": "Adam", "cell": "GRU", **SETTINGS},
            "seeds": list(SEEDS),
            "versions": {"numpy": np.__version__, "torch": torch.__version__.partition("+")[0]},
            "text": {"source": text.source, "sha256": text.sha256},
            "lags": list(LAGS),
            "back": list(BACK),
            "baseline": {"accuracy": always(stretches)},
            "summary": found,
            "runs": runs,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
