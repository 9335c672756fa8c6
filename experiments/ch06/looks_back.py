"""A decoder that looks back, as its page shows it: data, network, training, and greedy decoding.

    from experiments.ch06.looks_back import train, translate
    model, losses = train(seed=0)
    print(translate(model, ["my", "red", "car", "follows", "two", "small", "cats"]))

The query is the decoder's current state, and the score the dot product. What it learns is recorded by
`experiments.ch06.pages`.
"""

from __future__ import annotations

import random
from functools import cache

import torch
from torch import Tensor, nn

from experiments.ch05.grammar import by_length
from experiments.ch05.model import EOS, SOS, Vocabulary, batch_of
from experiments.ch05.numbers import Pair

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
