"""Elman's temporal XOR (1990): which third of the bits can a small tanh network predict?

    python -m experiments.ch01.temporal_xor [--record]

A stream of bits comes in threes: two random ones, then their XOR. The network reads one bit at a time and predicts the
next. Prints one line a run; with --record it also writes `temporal_xor.json`. Ten seeds for each of three sizes take
about five minutes on one core. The settings were found on other seeds; the errors are on sequences never trained on.

Five networks of eight units with 600 updates are recorded too: their error on each bit, and how far apart two streams
that differ in their first triple leave the states, with training and without.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import torch

from experiments.ch03.record import significant, to_json

RESULTS_FILE = Path(__file__).with_name("temporal_xor.json")
SETTINGS = {"updates": 3000, "batch": 16, "bits": 30, "lr": 0.02, "clip": 1.0, "solved_below": 0.05, "look_every": 100}
SIZES = (8, 4, 2)
SEEDS = tuple(range(10, 20))
SHORT = {"hidden_size": 8, "updates": 600}
SHORT_SEEDS = tuple(range(5))
CONSTANT = 0.25  # squared error of always saying one half


def stream(rows: int, bits: int, generator: torch.Generator) -> torch.Tensor:
    """Bits (rows, bits) as 0.0 and 1.0; each third one is the XOR of the two before it."""
    triples = torch.randint(0, 2, (rows, -(-bits // 3), 3), generator=generator)
    triples[:, :, 2] = triples[:, :, 0] ^ triples[:, :, 1]
    return triples.reshape(rows, -1)[:, :bits].float()


class Predictor(torch.nn.Module):
    """A tanh network that reads bits and says, after each, what it expects next: bits (B, T) -> (B, T)."""

    def __init__(self, hidden_size: int) -> None:
        super().__init__()
        self.rnn = torch.nn.RNN(1, hidden_size, batch_first=True)
        self.head = torch.nn.Linear(hidden_size, 1)

    def forward(self, bits: torch.Tensor) -> torch.Tensor:
        states, _ = self.rnn(bits[:, :, None])  # (B, T, H)
        expected: torch.Tensor = self.head(states)[:, :, 0]
        return expected


@torch.no_grad()
def error_by_bit(model: torch.nn.Module, bits: torch.Tensor) -> torch.Tensor:
    """Mean squared error of predicting each bit but the first: bits (B, T) -> (T - 1,); entry t is about bit t + 1."""
    errors: torch.Tensor = ((model(bits[:, :-1]) - bits[:, 1:]) ** 2).mean(0)
    return errors


def error_by_place(model: torch.nn.Module, bits: torch.Tensor) -> list[float]:
    """Mean squared error of predicting a triple's first, second and third bit."""
    return [error_by_bit(model, bits)[place::3].mean().item() for place in (2, 0, 1)]


@torch.no_grad()
def distances(model: Predictor) -> list[float]:
    """The mean distance of the states at each step of two streams that differ in the first and the third bit."""
    streams = stream(500, 18, torch.Generator().manual_seed(3))
    altered = streams.clone()
    altered[:, [0, 2]] = 1 - altered[:, [0, 2]]
    states, others = model.rnn(streams[:, :, None])[0], model.rnn(altered[:, :, None])[0]
    mean: list[float] = (states - others).norm(dim=2).mean(0).tolist()
    return mean


def errors_after_a_stray_bit(model: torch.nn.Module) -> dict[str, Any]:
    """One random bit, then 25 triples: the error on each third bit, and on the bit that comes where one is expected."""
    generator = torch.Generator().manual_seed(3)
    triples = stream(1000, 75, generator)
    stray = torch.randint(0, 2, (1000, 1), generator=generator).float()
    bits = torch.cat([stray, triples], dim=1)
    squared = error_by_bit(model, bits)
    return {
        "third_bits": [round(error, 4) for error in squared[2::3].tolist()],
        "where_expected": round(squared[1].item(), 4),
    }


def train(hidden_size: int, seed: int, updates: int = 3000) -> tuple[Predictor, list[tuple[int, float]]]:
    """A trained network, and its error on the third bits every so many updates, on sequences not trained on."""
    torch.manual_seed(seed)
    model = Predictor(hidden_size)
    adam = torch.optim.Adam(model.parameters(), lr=SETTINGS["lr"])
    fresh = torch.Generator().manual_seed(1000 + seed)
    held_out = stream(500, 31, torch.Generator().manual_seed(1))
    curve = []
    for update in range(1, updates + 1):
        bits = stream(int(SETTINGS["batch"]), int(SETTINGS["bits"]) + 1, fresh)
        loss = torch.nn.functional.mse_loss(model(bits[:, :-1]), bits[:, 1:])
        adam.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), SETTINGS["clip"])
        adam.step()
        if update % int(SETTINGS["look_every"]) == 0:
            curve.append((update, error_by_place(model, held_out)[2]))
    return model, curve


def run(hidden_size: int, seed: int) -> dict[str, Any]:
    """Train once; errors by place on sequences as long as the trained ones, and on ten times longer ones."""
    started = time.process_time()
    model, curve = train(hidden_size, seed, int(SETTINGS["updates"]))
    seconds = time.process_time() - started
    generator = torch.Generator().manual_seed(2)
    errors = error_by_place(model, stream(1000, 31, generator))
    longer = error_by_place(model, stream(200, 301, generator))
    below = [update for update, error in curve if error < SETTINGS["solved_below"]]
    return {
        "hidden_size": hidden_size,
        "seed": seed,
        "errors": [round(error, 4) for error in errors],
        "errors_300_bits": [round(error, 4) for error in longer],
        "solved": errors[2] < SETTINGS["solved_below"],
        "first_below": below[0] if below else None,
        "after_a_stray_bit": errors_after_a_stray_bit(model),
        "cpu_seconds": round(seconds, 1),
    }


def short_run(seed: int) -> dict[str, Any]:
    """Train for a few updates: the errors by bit and by place on new streams, and the distances of states."""
    torch.manual_seed(seed)
    untrained = distances(Predictor(SHORT["hidden_size"]))
    model, _ = train(SHORT["hidden_size"], seed, SHORT["updates"])
    unseen = stream(1000, 31, torch.Generator().manual_seed(7))
    return {
        "seed": seed,
        "errors": [round(error, 4) for error in error_by_place(model, unseen)],
        "by_bit": [round(error, 4) for error in error_by_bit(model, unseen).tolist()],
        "distances": {"trained": significant(distances(model)), "untrained": significant(untrained)},
    }


def main() -> None:
    torch.set_num_threads(1)
    short = [short_run(seed) for seed in SHORT_SEEDS]
    print(json.dumps(short), flush=True)
    runs = []
    for hidden_size in SIZES:
        for seed in SEEDS:
            runs.append(run(hidden_size, seed))
            print(json.dumps(runs[-1]), flush=True)
    if "--record" in sys.argv[1:]:
        RESULTS_FILE.write_text(to_json(assembled(short, runs)), "utf-8")


def assembled(short: list[dict[str, Any]], runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The record."""
    return {
        "command": "python -m experiments.ch01.temporal_xor --record",
        "settings": SETTINGS,
        "versions": {"torch": torch.__version__.partition("+")[0]},
        "short": {"settings": SHORT, "runs": short},
        "runs": runs,
    }


if __name__ == "__main__":
    main()
