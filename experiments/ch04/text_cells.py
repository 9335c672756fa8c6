"""A tanh RNN, a GRU and an LSTM with about 100,000 parameters each, on real text, beside a counted 5-gram.

    python -m experiments.ch04.text_cells [--record]

The text is Python's documentation (`experiments.text.python_docs`), of which whole topics are held out. All networks
read one-hot characters, carry their state from chunk to chunk, and get the same number of updates on the same chunks:
32 rows, 50 characters, Adam with a learning rate that falls linearly to 0, gradients clipped to a norm of 1. They keep
PyTorch's initial weights and biases. Five seeds each.

The learning rate of each network was chosen on the last tenth of the training text, with a seed that is not recorded
(`--choose`): its results are recorded too. One seed is a rough guide, because bits differ by several hundredths
between seeds. For the LSTM, 0.05 was better than 0.03 by only 0.003 bits, and the smaller rate was kept.

The recorded bits are those of the held-out text, read once from a zero state. The curve is measured on its first 10,000
characters, read in ten rows. n-gram models of the same text serve as baselines. Takes about twelve minutes on one core.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import torch
from torch import Tensor

from experiments.ch03.record import to_json
from experiments.ngrams import WittenBell
from experiments.text import python_docs

RESULTS_FILE = Path(__file__).with_name("text_cells.json")
SETTINGS: dict[str, float] = {"batch": 32, "chunk": 50, "clip": 1.0, "updates": 1500}
CELLS: dict[str, dict[str, Any]] = {
    "rnn": {"hidden_size": 270, "lr": 6e-3},
    "gru": {"hidden_size": 151, "lr": 5e-3},
    "lstm": {"hidden_size": 128, "lr": 3e-2},
}
RATES = {"rnn": (1e-3, 3e-3, 6e-3, 1e-2), "gru": (3e-3, 5e-3, 1e-2, 2e-2), "lstm": (1e-2, 2e-2, 3e-2, 5e-2)}
SEEDS = tuple(range(10, 15))
CHOICE_SEED = 1
LOOK_AT = (0, 10, 20, 50, *range(100, 1501, 100))  # updates
LOOKED = 10_000  # held-out characters for the curve

torch.set_num_threads(1)

State = Any  # a tensor, or a pair of tensors for the LSTM


class TextNetwork(torch.nn.Module):
    """One recurrent layer and a linear layer on its states: ids (B, T) -> logits (B, T, V), and the last state."""

    def __init__(self, kind: str, vocab_size: int, hidden_size: int) -> None:
        super().__init__()
        layer = {"rnn": torch.nn.RNN, "gru": torch.nn.GRU, "lstm": torch.nn.LSTM}[kind]
        self.vocab_size = vocab_size
        self.rnn = layer(vocab_size, hidden_size, batch_first=True)
        self.head = torch.nn.Linear(hidden_size, vocab_size)

    def forward(self, ids: Tensor, state: State = None) -> tuple[Tensor, State]:
        states, state = self.rnn(torch.nn.functional.one_hot(ids, self.vocab_size).float(), state)  # (B, T, H)
        detached = tuple(part.detach() for part in state) if isinstance(state, tuple) else state.detach()
        return self.head(states), detached


def chunks(ids: Tensor, batch: int, chunk: int) -> Iterator[tuple[Tensor, Tensor, bool]]:
    """Yield inputs and targets (B, T), endlessly, and whether the text starts again. A remainder is dropped."""
    width = (len(ids) - 1) // batch
    inputs, targets = (part[: batch * width].view(batch, width) for part in (ids[:-1], ids[1:]))
    while True:
        for start in range(0, width - chunk + 1, chunk):
            yield inputs[:, start : start + chunk], targets[:, start : start + chunk], start == 0


def cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy in nats per character: logits (B, T, V), targets (B, T)."""
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


@torch.no_grad()
def bits(model: TextNetwork, ids: Tensor, rows: int = 1) -> float:
    """Mean cross-entropy in bits per character over ids (N,), read in rows, each from a zero state."""
    mode = model.training
    model.eval()
    width = (len(ids) - 1) // rows
    inputs, targets = (part[: rows * width].view(rows, width) for part in (ids[:-1], ids[1:]))
    state, nats = None, 0.0
    for start in range(0, width, 2000):
        logits, state = model(inputs[:, start : start + 2000], state)
        nats += cross_entropy(logits, targets[:, start : start + 2000]).item() * logits.shape[0] * logits.shape[1]
    model.train(mode)
    return nats / (rows * width) / math.log(2)


def train(
    model: TextNetwork, ids: Tensor, lr: float, updates: int, look: Callable[[int], None] = lambda _: None
) -> list[float]:
    """Train for so many updates, with a learning rate that falls linearly to 0: bits per character of each update.

    `look` is called before each update and after the last one.
    """
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    losses: list[float] = []
    state: State = None
    stream = chunks(ids, int(SETTINGS["batch"]), int(SETTINGS["chunk"]))
    for update, (inputs, targets, restart) in zip(range(updates), stream, strict=False):
        look(update)
        logits, state = model(inputs, None if restart else state)
        loss = cross_entropy(logits, targets)
        optimizer.param_groups[0]["lr"] = lr * (1 - update / updates)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), SETTINGS["clip"])
        optimizer.step()
        losses.append(loss.item() / math.log(2))
    look(updates)
    return losses


def parameters(kind: str, vocab_size: int) -> int:
    model = TextNetwork(kind, vocab_size, CELLS[kind]["hidden_size"])
    return sum(weight.numel() for weight in model.parameters())


def run(
    kind: str,
    seed: int,
    ids: Tensor,
    held_out: Tensor,
    vocab_size: int,
    lr: float | None = None,
    updates: int | None = None,
) -> dict[str, Any]:
    """Train one network: its record."""
    torch.manual_seed(seed)
    model = TextNetwork(kind, vocab_size, CELLS[kind]["hidden_size"])
    updates = updates or int(SETTINGS["updates"])
    curve: list[float] = []
    aside = 0.0

    def look(update: int) -> None:
        nonlocal aside
        entered = time.process_time()
        if update in LOOK_AT:
            curve.append(round(bits(model, held_out[:LOOKED], rows=10), 4))
        aside += time.process_time() - entered

    started = time.process_time()
    losses = train(model, ids, CELLS[kind]["lr"] if lr is None else lr, updates, look)
    seconds = time.process_time() - started - aside
    return {
        "cell": kind,
        "seed": seed,
        "bits": round(bits(model, held_out), 4),
        "train_bits": round(mean(losses[-100:]), 4),
        "cpu_seconds": round(seconds, 1),
        "curve": curve,
    }


def text_ids() -> tuple[Tensor, Tensor, Any]:
    """Training ids, held-out ids, and the text."""
    text = python_docs()
    return torch.from_numpy(text.ids(text.train)), torch.from_numpy(text.ids(text.held_out)), text


def choose() -> list[dict[str, Any]]:
    """Compare learning rates on the last tenth of the training text."""
    ids, _, text = text_ids()
    cut = len(ids) * 9 // 10
    found = []
    for kind, rates in RATES.items():
        for lr in rates:
            one = run(kind, CHOICE_SEED, ids[:cut], ids[cut:], len(text.characters), lr=lr)
            found.append({"cell": kind, "lr": lr, "seed": CHOICE_SEED, "dev_bits": one["bits"]})
            print(found[-1], one["train_bits"], one["cpu_seconds"], flush=True)
    return found


def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Mean and standard deviation (with N - 1) of held-out bits, and the mean of the last 100 training losses."""
    found = [one["bits"] for one in runs]
    return {
        "runs": len(runs),
        "bits_mean": round(mean(found), 4),
        "bits_sd": round(stdev(found), 4),
        "train_bits_mean": round(mean(one["train_bits"] for one in runs), 4),
    }


def assembled(choice: list[dict[str, Any]], runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The record, with the summary of the runs and the n-gram baselines."""
    ids, held_out, text = text_ids()
    V = len(text.characters)
    orders = {n: WittenBell(ids.tolist(), n, V) for n in range(1, 7)}
    return {
        "command": "python -m experiments.ch04.text_cells --record",
        "settings": {"optimizer": "Adam, learning rate falling linearly to 0", **SETTINGS},
        "cells": {kind: {**how, "parameters": parameters(kind, V)} for kind, how in CELLS.items()},
        "seeds": list(SEEDS),
        "versions": {"torch": torch.__version__.partition("+")[0]},
        "text": {
            "source": text.source,
            "sha256": text.sha256,
            "train": len(ids),
            "held_out": len(held_out),
            "characters": V,
        },
        "choice": choice,
        "counted": {str(n): round(model.bits(held_out.tolist()), 4) for n, model in orders.items()},
        "counted_looked": round(orders[5].bits(held_out[:LOOKED].tolist()), 4),
        "looked": LOOKED,
        "look_at": list(LOOK_AT),
        "summary": [{"cell": kind, **summary([one for one in runs if one["cell"] == kind])} for kind in CELLS],
        "runs": runs,
    }


def main() -> None:
    choice = choose() if {"--choose", "--record"} & set(sys.argv[1:]) else []
    if "--choose" in sys.argv[1:]:
        return
    ids, held_out, text = text_ids()
    runs = []
    for kind in CELLS:
        for seed in SEEDS:
            runs.append(run(kind, seed, ids, held_out, len(text.characters)))
            print({key: value for key, value in runs[-1].items() if key != "curve"}, flush=True)
    record = assembled(choice, runs)
    print(record["counted"], *record["summary"], sep="\n")
    if "--record" in sys.argv[1:]:
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
