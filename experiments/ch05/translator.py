"""A translator of numbers from English to German, small enough for the page on translation to show in full.

    python -m experiments.ch05.translator [--record]

It has embeddings of 32 and GRUs of 64 units, and is trained for 250 updates. Recorded are, for each of five seeds, how
many of the first 100 held-out numbers it translates without a mistake after every 50 updates, and its translation of
4024, another held-out number. Takes about a quarter of a minute on one core.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import torch

from experiments.ch03.record import mean_and_sd, to_json
from experiments.ch05.model import EOS, PAD, SOS, Settings, Translator, Vocabulary, batch_of
from experiments.ch05.numbers import pairs, split, words

RESULTS_FILE = Path(__file__).with_name("translator.json")
SETTINGS: dict[str, Any] = {
    "embed_size": 32,
    "hidden_size": 64,
    "batch": 64,
    "lr": 0.01,
    "clip": 1.0,
    "updates": 250,
    "tested": 100,
    "shown": 4024,
}
SEEDS = tuple(range(5))

# The page shows what follows, in short lines.
# fmt: off
train_numbers, held_out_numbers = split()
train = pairs(train_numbers, "de")  # (English words, German morphemes)
held_out = pairs(held_out_numbers, "de")
english = Vocabulary(source for source, _ in train)
german = Vocabulary(target for _, target in train)
loss_of = torch.nn.CrossEntropyLoss(ignore_index=PAD)


@torch.no_grad()
def translate(network: Translator, sentence: list[str]) -> list[str]:
    ids = torch.tensor([english.encode(sentence)])
    context = network.encode(ids, torch.tensor([ids.numel()]))
    newest, now, written = SOS, context, []
    for _ in range(20):
        read = torch.tensor([[newest]])
        scores, now = network.decode(read, now, context)
        newest = int(scores.argmax())
        if newest == EOS:
            break
        written.append(newest)
    return german.decode(written)


def learn(seed: int, updates: int = 250) -> tuple[Translator, list[int]]:
    torch.manual_seed(seed)
    sizes = Settings(embed_size=32, hidden_size=64)
    network = Translator(len(english), len(german), sizes)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    draw, right = random.Random(seed), []
    for update in range(updates):
        chosen = draw.sample(train, 64)
        ids, lengths, inputs, targets = batch_of(
            chosen, english, german, reverse=False
        )
        logits = network(ids, lengths, inputs)  # (B, T, V)
        loss = loss_of(logits.flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        if (update + 1) % 50 == 0:
            found = [translate(network, a) == b for a, b in held_out[:100]]
            right.append(sum(found))
    return network, right
# fmt: on


def run(seed: int) -> dict[str, Any]:
    """Train one network: what it gets right, and its translation of the number to be shown."""
    network, right = learn(seed)
    return {"seed": seed, "right": right, "shown": " ".join(translate(network, words(SETTINGS["shown"], "en")))}


def summary(runs: list[dict[str, Any]]) -> list[list[float]]:
    """Mean and standard deviation of the right translations, after every 50 updates."""
    return [mean_and_sd(column, 1) for column in zip(*(one["right"] for one in runs), strict=True)]


def main() -> None:
    runs = []
    for seed in SEEDS:
        runs.append(run(seed))
        print(runs[-1], flush=True)
    record = {
        "command": "python -m experiments.ch05.translator --record",
        "settings": {"optimizer": "Adam", **SETTINGS},
        "seeds": list(SEEDS),
        "versions": {"torch": torch.__version__.partition("+")[0]},
        "summary": summary(runs),
        "runs": runs,
    }
    if "--record" in sys.argv[1:]:
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
