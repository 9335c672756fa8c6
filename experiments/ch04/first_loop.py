"""The training loop that the page on text shows, run for a few updates.

    python -m experiments.ch04.first_loop [--record]

An LSTM with 64 units reads Python's documentation (`experiments.text.python_docs`) in 32 rows and chunks of 64
characters, with Adam, a clipped gradient and a state that is carried and detached. Its bits per character on the first
10,000 held-out characters are recorded every 40 updates, and after the last one also for chunks of ten characters, with
a carried state and with one that is reset to zero at each cut. A second network is trained on the first 300 characters
alone. Five seeds each. Takes about a minute of one core.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import torch

from experiments.ch03.record import to_json
from experiments.char_lm import CharLM
from experiments.text import Text, python_docs

RESULTS_FILE = Path(__file__).with_name("first_loop.json")
SETTINGS: dict[str, int] = {"updates": 120, "look_every": 40, "short_chunk": 10, "memorised": 300}
SIZES = {"embed_size": 16, "hidden_size": 64, "num_layers": 1, "dropout": 0}
SEEDS = tuple(range(10, 15))

torch.set_num_threads(1)


# What the page shows --------------------------------------------------------------------------------------------------


def bits(logits, targets):
    logits, targets = logits.flatten(0, 1), targets.flatten()
    return torch.nn.functional.cross_entropy(logits, targets) / math.log(2)


def train(model, ids, updates, B=32, T=64):
    width = (len(ids) - 1) // B
    inputs = ids[: B * width].view(B, width)
    targets = ids[1 : B * width + 1].view(B, width)  # one character later
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for update in range(updates):
        chunk = update % (width // T)
        if chunk == 0:
            state = None  # the text begins
        now = slice(chunk * T, (chunk + 1) * T)
        logits, state = model(inputs[:, now], state)  # carried, detached
        loss = bits(logits, targets[:, now])
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        yield loss.item()


def validation_bits(model, held_out, T=500, carry=True):
    rows = held_out[:10_000].view(10, 1000)
    following = held_out[1:10_001].view(10, 1000)
    model.eval()  # no dropout
    total, state = 0.0, None
    with torch.no_grad():  # no graph
        for start in range(0, 1000, T):
            now = slice(start, start + T)
            logits, state = model(rows[:, now], state if carry else None)
            total += bits(logits, following[:, now]).item() * T / 1000
    model.train()
    return total


# What is recorded -----------------------------------------------------------------------------------------------------


def untrained(seed: int, text: Text) -> CharLM:
    """The network of the page, before training."""
    torch.manual_seed(seed)
    return CharLM(len(text.characters), **SIZES)


def run(seed: int, text: Text, updates: int = SETTINGS["updates"]) -> dict[str, Any]:
    """Train on the text, and on its first characters alone: what is recorded."""
    ids, held_out = (torch.from_numpy(text.ids(part)) for part in (text.train, text.held_out))
    model, losses, curve = untrained(seed, text), [], []
    for loss in train(model, ids, updates):
        losses.append(loss)
        if len(losses) % SETTINGS["look_every"] == 0:
            curve.append(validation_bits(model, held_out))
    short, first = SETTINGS["short_chunk"], SETTINGS["memorised"]
    tiny = untrained(seed, text)
    *_, last = train(tiny, ids[: first + 1], updates, B=1, T=first)
    return {
        "seed": seed,
        "losses": [round(loss, 3) for loss in losses[:5]],
        "curve": [round(value, 3) for value in curve],
        "carried": round(validation_bits(model, held_out, short), 3),
        "reset": round(validation_bits(model, held_out, short, carry=False), 3),
        "tiny_train": round(last, 3),
        "tiny_held_out": round(validation_bits(tiny, held_out), 3),
    }


def main() -> None:
    text, runs = python_docs(), []
    for seed in SEEDS:
        runs.append(run(seed, text))
        print(runs[-1], flush=True)
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch04.first_loop --record",
            "settings": {**SETTINGS, "sizes": SIZES},
            "seeds": list(SEEDS),
            "versions": {"torch": torch.__version__.partition("+")[0]},
            "text": {"source": text.source, "sha256": text.sha256},
            "runs": runs,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
