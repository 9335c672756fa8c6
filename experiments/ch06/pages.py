"""Two small runs that chapter 06's pages show.

    python -m experiments.ch06.pages [--record]

- A decoder that looks back: the page shows the first part of this file. The query is the decoder's current
  state, the score the dot product, and the sentences have three to seven words. Recorded for each of five seeds: the
  mean loss of the last 20 updates, and for a sentence that is not in training, what the network writes, the largest
  weight at each French word, and the English word on which it lies.
- A network that reverses letters, that of `museum` with its first seed: the weights with which it looks at a held-out
  sequence while it writes, the mean of its heads.

Takes less than a minute of one core.
"""

from __future__ import annotations

import random
import sys
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any

import torch
from torch import Tensor, nn

from experiments.ch03.record import to_json
from experiments.ch05.grammar import by_length
from experiments.ch05.model import EOS, SOS, Vocabulary, batch_of
from experiments.ch05.numbers import Pair
from experiments.ch06 import museum

RESULTS_FILE = Path(__file__).with_name("pages.json")
SEEDS = tuple(range(5))
SENTENCE = ["my", "red", "car", "follows", "two", "small", "cats"]
LETTERS_SEED = 4  # of the sequence that is reversed

torch.set_num_threads(1)

# The program on the page ----------------------------------------------------------------------------------------------

SENTENCES = {"each": 600, "shortest": 3, "longest": 7}  # so many of each length


@cache
def data() -> tuple[list[list[Pair]], Vocabulary, Vocabulary]:
    """A list of training pairs for each length, and the words of both languages."""
    groups = [[(p.english, p.french) for p in group] for group in by_length(**SENTENCES).values()]
    pairs = [pair for group in groups for pair in group]
    english = Vocabulary(source for source, _ in pairs)
    french = Vocabulary(target for _, target in pairs)
    return groups, english, french


class LooksBack(nn.Module):
    def __init__(self, source_words: int, target_words: int, D: int = 48, H: int = 64) -> None:
        super().__init__()
        self.source = nn.Embedding(source_words, D)
        self.target = nn.Embedding(target_words, D)
        self.encoder = nn.GRU(D, H // 2, batch_first=True, bidirectional=True)
        self.decoder = nn.GRU(D, H, batch_first=True)
        self.head = nn.Linear(2 * H, target_words)

    def forward(self, ids: Tensor, target_in: Tensor) -> tuple[Tensor, Tensor]:
        keys, last = self.encoder(self.source(ids))  # (B, S, H)
        s_0 = torch.cat([last[0], last[1]], dim=1)[None]
        s, _ = self.decoder(self.target(target_in), s_0)  # (B, T, H)
        e = s @ keys.transpose(1, 2)  # dot scores (B, T, S)
        alpha = torch.softmax(e, dim=-1)
        c = alpha @ keys  # contexts (B, T, H)
        return self.head(torch.cat([s, c], dim=-1)), alpha


def train(seed: int, *, updates: int = 300, batch: int = 64, lr: float = 0.01) -> tuple[LooksBack, list[float]]:
    """The network and the loss of each update. The sentences of a batch have one length."""
    groups, english, french = data()
    torch.manual_seed(seed)
    model, losses = LooksBack(len(english), len(french)), []
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    draw = random.Random(seed)
    for _ in range(updates):
        pairs = draw.sample(draw.choice(groups), batch)
        ids, _, inputs, targets = batch_of(pairs, english, french, reverse=False)
        logits, _ = model(ids, inputs)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, losses


@torch.no_grad()
def translate(model: LooksBack, sentence: list[str]) -> list[tuple[str, float, str]]:
    """Each French word, its largest weight, and the English word there."""
    _, english, french = data()
    ids, words = torch.tensor([english.encode(sentence)]), [*sentence, "⟨eos⟩"]
    written, rows = [SOS], []
    while len(written) < 12:
        logits, alpha = model(ids, torch.tensor([written]))
        written.append(int(logits[0, -1].argmax()))
        if written[-1] == EOS:
            break
        at = int(alpha[0, -1].argmax())
        rows.append((french.tokens[written[-1]], float(alpha[0, -1, at]), words[at]))
    return rows


# The record -----------------------------------------------------------------------------------------------------------


def run(seed: int) -> dict[str, Any]:
    """Train one network, and let it translate the sentence."""
    model, losses = train(seed)
    rows = [[french, round(weight, 2), english] for french, weight, english in translate(model, SENTENCE)]
    first = [round(loss, 3) for loss in losses[:5]]
    return {"seed": seed, "first_losses": first, "loss": round(mean(losses[-20:]), 3), "rows": rows}


def looks(seed: int) -> dict[str, Any]:
    """Train a network that reverses letters -> a held-out sequence, and the weights (LENGTH, 2 LENGTH) on it."""
    model, _ = museum.train("right", seed)
    ids = museum.sequences(1, torch.Generator().manual_seed(LETTERS_SEED))
    _, weights = model.attention(model.symbol(ids[:, :-1]) + model.position(torch.arange(2 * museum.LENGTH)))
    rows = weights[0].mean(0)[museum.LENGTH :].detach().tolist()
    return {"seed": seed, "ids": ids[0].tolist(), "weights": [[round(value, 3) for value in row] for row in rows]}


def main() -> None:
    runs = []
    for seed in SEEDS:
        runs.append(run(seed))
        print(runs[-1], flush=True)
    reversing = looks(museum.SEEDS[0])
    print(*reversing["weights"], sep="\n")
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch06.pages --record",
            "settings": {"optimizer": "Adam", **SENTENCES, **train.__kwdefaults__},
            "versions": {"torch": torch.__version__.partition("+")[0]},
            "sentence": SENTENCE,
            "runs": runs,
            "reversing": reversing,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
