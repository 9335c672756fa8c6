"""A translator of numbers from English to German, small enough for chapter 05's pages to show its model.

    python -m experiments.ch05.translator [--record]

It has embeddings of 32 and GRUs of 64 units, and is trained for 250 updates. Recorded are, for each of five seeds, how
many of the first 100 held-out numbers it translates without a mistake after every 50 updates, and its translation of
4024, another held-out number. Takes about a quarter of a minute on one core.

The page on training shows the class `Translator`, which is that of `experiments.ch05.model` without its variants, and
the page on translation shows the function `translate`.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from experiments.ch03.record import mean_and_sd, to_json
from experiments.ch05.model import EOS, PAD, SOS, Vocabulary, batch_of
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

train_numbers, held_out_numbers = split()
train = pairs(train_numbers, "de")  # (English words, German morphemes)
held_out = pairs(held_out_numbers, "de")
english = Vocabulary(source for source, _ in train)
german = Vocabulary(target for _, target in train)
loss_of = torch.nn.CrossEntropyLoss(ignore_index=PAD)


class Translator(nn.Module):
    def __init__(self, source_words: int, target_words: int, D: int = 64, H: int = 128) -> None:
        super().__init__()
        self.source_embedding = nn.Embedding(source_words, D, padding_idx=PAD)
        self.target_embedding = nn.Embedding(target_words, D, padding_idx=PAD)
        self.encoder = nn.GRU(D, H, batch_first=True)
        self.decoder = nn.GRU(D, H, batch_first=True)
        self.head = nn.Linear(H, target_words)

    def encode(self, ids: Tensor, lengths: Tensor) -> Any:
        """Source ids (B, S), lengths (B,) -> the context (1, B, H)."""
        words = self.source_embedding(ids)
        packed = pack_padded_sequence(words, lengths, batch_first=True, enforce_sorted=False)
        return self.encoder(packed)[1]

    def decode(self, read: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Target ids (B, T), a state -> logits (B, T, V), a state."""
        s, state = self.decoder(self.target_embedding(read), state)
        return self.head(s), state


@torch.no_grad()
def translate(network: Translator, sentence: list[str]) -> list[str]:
    ids = torch.tensor([english.encode(sentence)])
    state = network.encode(ids, torch.tensor([ids.numel()]))  # the context
    newest, written = SOS, []
    for _ in range(20):
        logits, state = network.decode(torch.tensor([[newest]]), state)
        newest = int(logits.argmax())
        if newest == EOS:
            break
        written.append(newest)
    return german.decode(written)


def learn(seed: int, updates: int = 250) -> tuple[Translator, list[int]]:
    torch.manual_seed(seed)
    network = Translator(len(english), len(german), D=32, H=64)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    draw, right = random.Random(seed), []
    for update in range(updates):
        chosen = draw.sample(train, 64)
        ids, lengths, inputs, targets = batch_of(chosen, english, german, reverse=False)
        logits, _ = network.decode(inputs, network.encode(ids, lengths))  # (B, T, V)
        loss = loss_of(logits.flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        if (update + 1) % 50 == 0:
            found = [translate(network, a) == b for a, b in held_out[:100]]
            right.append(sum(found))
    return network, right


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
