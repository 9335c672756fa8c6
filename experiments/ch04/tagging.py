"""Tagging letters where words end: a network that reads in both directions beside networks that read in one.

    python -m experiments.ch04.tagging [--record]

Pieces of real text lose their spaces, and each letter is tagged: is it the last of its word? "isitthelast" could go on
in many ways, so the tag depends on the letters to the right. Networks read 10 to 30 letters, one-hot, and give a logit
at every letter: an LSTM that reads forward, one that reads backward, a bidirectional one, and a forward one that gives
its tag two letters late. All have about 10,000 weights. Adam, 1,000 updates of 32 pieces, five seeds each. Beside them
stands counting: the share of word ends, for the letter with its neighbours to the left, to the right, or on both sides.

Sequences differ in length, so a batch is padded, and the backward direction must begin at each sequence's own last
letter. A second bidirectional network is trained with the padding turned to the front, as a plain reversal does. Both
are tested in batches padded to 30 and to 130 letters, and the first also with the wrong reversal in the test alone.
Takes about two minutes of one core.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

import torch
from torch import Tensor

from experiments.ch03.record import to_json
from experiments.text import python_docs

RESULTS_FILE = Path(__file__).with_name("tagging.json")
SETTINGS: dict[str, float] = {
    "shortest": 10,
    "longest": 30,
    "batch": 32,
    "updates": 1000,
    "lr": 0.01,
    "clip": 1.0,
    "forget_bias": 1.0,
    "test_rows": 1000,
    "delay": 2,
    "far": 130,
}
LETTERS = "abcdefghijklmnopqrstuvwxyz"
CELLS: dict[str, dict[str, Any]] = {
    "forward": {"hidden_size": 38, "backward": False, "forward": True},
    "backward": {"hidden_size": 38, "backward": True, "forward": False},
    "forward, delayed": {"hidden_size": 38, "backward": False, "forward": True, "delayed": True},
    "bidirectional": {"hidden_size": 24, "backward": True, "forward": True},
    "bidirectional, padding first": {"hidden_size": 24, "backward": True, "forward": True, "plain_reversal": True},
}
WINDOWS: dict[str, tuple[int, int]] = {  # letters to the left, letters to the right
    "letter alone": (0, 0),
    "3 to the left": (3, 0),
    "3 to the right": (0, 3),
    "2 to the left, 2 to the right": (2, 2),
}
SEEDS = tuple(range(10, 15))


class Batch(NamedTuple):
    """B pieces, padded to T letters: padding has letter id 26, a tag of 0, and `real` False."""

    ids: Tensor  # (B, T)
    tags: Tensor  # (B, T), 1 at the last letter of a word
    lengths: Tensor  # (B,)

    @property
    def real(self) -> Tensor:
        return torch.arange(self.ids.shape[1]) < self.lengths[:, None]


class Letters(NamedTuple):
    """A text without its spaces: ids (N,) of its letters, and tags (N,), 1 at the last letter of a word."""

    ids: Tensor
    tags: Tensor


def letters_of(text: str) -> Letters:
    """Keep the letters a to z; every other character ends a word."""
    words = "".join(c if c in LETTERS else " " for c in text).split()
    tags = [int(i == len(word) - 1) for word in words for i in range(len(word))]
    return Letters(torch.tensor([LETTERS.index(c) for word in words for c in word]), torch.tensor(tags))


def pieces(letters: Letters, rows: int, generator: torch.Generator, padded_to: int | None = None) -> Batch:
    """Draw pieces of 10 to 30 letters from anywhere, and pad them to the longest, or to `padded_to`."""
    lengths = torch.randint(int(SETTINGS["shortest"]), int(SETTINGS["longest"]) + 1, (rows,), generator=generator)
    starts = torch.randint(0, len(letters.ids) - int(SETTINGS["longest"]), (rows,), generator=generator)
    T = padded_to or int(lengths.max())
    at = torch.arange(T)
    real = at < lengths[:, None]
    index = (starts[:, None] + at).clamp(max=len(letters.ids) - 1)
    return Batch(letters.ids[index].where(real, 26), letters.tags[index].where(real, 0), lengths)


def reverse(x: Tensor, lengths: Tensor) -> Tensor:
    """Reverse each row's first `length` steps and leave its padding where it is: x (B, T, …)."""
    at = torch.arange(x.shape[1])
    index = torch.where(at < lengths[:, None], lengths[:, None] - 1 - at, at)  # (B, T)
    return x[torch.arange(len(x))[:, None], index]


class Tagger(torch.nn.Module):
    """One LSTM for each direction, and a linear layer on their states together."""

    def __init__(
        self, hidden_size: int, forward: bool, backward: bool, plain_reversal: bool = False, delayed: bool = False
    ) -> None:
        super().__init__()
        H = hidden_size
        self.forwards = torch.nn.LSTM(len(LETTERS), H, batch_first=True) if forward else None
        self.backwards = torch.nn.LSTM(len(LETTERS), H, batch_first=True) if backward else None
        self.head = torch.nn.Linear(H * (forward + backward), 1)
        self.plain_reversal = plain_reversal
        self.delay = int(SETTINGS["delay"]) if delayed else 0
        with torch.no_grad():
            for rnn in (self.forwards, self.backwards):
                if rnn is not None:
                    rnn.bias_ih_l0[H : 2 * H] = SETTINGS["forget_bias"]
                    rnn.bias_hh_l0[H : 2 * H] = 0

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Logits (B, T) for ids (B, T)."""
        x = torch.nn.functional.one_hot(ids, len(LETTERS) + 1)[:, :, :-1].float()  # zeros at padding
        x = torch.nn.functional.pad(x, (0, 0, 0, self.delay))
        states = []
        if self.forwards is not None:
            states.append(self.forwards(x)[0][:, self.delay :])
        if self.backwards is not None:
            whole = torch.full_like(lengths, x.shape[1]) if self.plain_reversal else lengths
            states.append(reverse(self.backwards(reverse(x, whole))[0], whole))
        logits: Tensor = self.head(torch.cat(states, dim=2))[:, :, 0]
        return logits


def loss(model: Tagger, batch: Batch) -> Tensor:
    """Mean cross-entropy in nats over real letters."""
    logits, real = model(batch.ids, batch.lengths), batch.real
    return torch.nn.functional.binary_cross_entropy_with_logits(logits[real], batch.tags[real].float())


def scores(named: Tensor, tags: Tensor) -> dict[str, float]:
    """Accuracy, and F1 of the word ends, of predictions (N,) that are True or False."""
    right = (named & (tags == 1)).sum().item()
    predicted, actual = named.sum().item(), tags.sum().item()
    f1 = 2 * right / (predicted + actual) if predicted + actual else 0.0
    return {"accuracy": round((named == (tags == 1)).float().mean().item(), 4), "f1": round(f1, 4)}


def logits_of(model: Tagger, batch: Batch) -> Tensor:
    """The logits of the real letters (N,)."""
    with torch.no_grad():
        logits: Tensor = model(batch.ids, batch.lengths)[batch.real]
        return logits


def pieces_of_test(letters: Letters, padded_to: int | None = None) -> Batch:
    """The pieces on which all are tested: the same whatever they are padded to."""
    return pieces(letters, int(SETTINGS["test_rows"]), torch.Generator().manual_seed(2), padded_to)


def model_of(cell: str, seed: int) -> Tagger:
    """An untrained tagger of CELLS."""
    torch.manual_seed(seed)
    return Tagger(**CELLS[cell])


def batches(letters: Letters, seed: int) -> Iterator[Batch]:
    """Fresh pieces for each update, without end."""
    generator = torch.Generator().manual_seed(1000 + seed)
    while True:
        yield pieces(letters, int(SETTINGS["batch"]), generator)


def run(
    cell: str, seed: int, train: Letters, held_out: Letters, updates: int | None = None
) -> tuple[dict[str, Any], Tagger]:
    """Train one tagger: its record, and the tagger."""
    model, started = model_of(cell, seed), time.process_time()
    weights = list(model.parameters())
    optim = torch.optim.Adam(weights, lr=SETTINGS["lr"])
    for _, batch in zip(range(updates or int(SETTINGS["updates"])), batches(train, seed), strict=False):
        optim.zero_grad()
        loss(model, batch).backward()
        torch.nn.utils.clip_grad_norm_(weights, SETTINGS["clip"])
        optim.step()
    near, far = pieces_of_test(held_out), pieces_of_test(held_out, int(SETTINGS["far"]))
    tags, logits, padded = near.tags[near.real], logits_of(model, near), logits_of(model, far)
    record = {
        "cell": cell,
        "seed": seed,
        **scores(logits > 0, tags),
        "padded": scores(padded > 0, tags),
        "largest_change_by_padding": round((padded - logits).abs().max().item(), 3),
        "cpu_seconds": round(time.process_time() - started, 1),
    }
    if cell == "bidirectional":
        model.plain_reversal = True
        record["reversed_wrongly"] = {
            "padded_to_30": scores(logits_of(model, near) > 0, tags),
            "padded_to_130": scores(logits_of(model, far) > 0, tags),
        }
        model.plain_reversal = False
    return record, model


def counted(window: tuple[int, int], train: Letters, held_out: Letters) -> dict[str, float]:
    """Tag by counting: does this window of letters end a word in most cases? Unknown windows do not end a word.

    Beyond the end of a piece there is padding, which is counted like a letter.
    """
    left, right = window

    def keys(batch: Batch) -> list[tuple[int, ...]]:
        padded = torch.nn.functional.pad(batch.ids, (left, right), value=26)
        return [tuple(key) for key in padded.unfold(1, left + 1 + right, 1)[batch.real].tolist()]

    ends: Counter[tuple[int, ...]] = Counter()
    generator = torch.Generator().manual_seed(1)
    batch = pieces(train, 32_000, generator)  # as many pieces as a network reads
    for key, tag in zip(keys(batch), batch.tags[batch.real].tolist(), strict=True):
        ends[key] += 2 * tag - 1
    tested = pieces_of_test(held_out)
    return scores(torch.tensor([ends[key] > 0 for key in keys(tested)]), tested.tags[tested.real])


def example(model: Tagger, piece: str) -> str:
    """The piece of letters with a space after each letter that the model tags."""
    ids = torch.tensor([[LETTERS.index(c) for c in piece]])
    ends = logits_of(model, Batch(ids, torch.zeros_like(ids), torch.tensor([len(piece)]))) > 0
    return "".join(c + " " * bool(end) for c, end in zip(piece, ends.tolist(), strict=True)).strip()


def main() -> None:
    text = python_docs()
    train, held_out = letters_of(text.train), letters_of(text.held_out)
    tested = pieces_of_test(held_out)
    never = scores(torch.zeros(int(tested.lengths.sum()), dtype=torch.bool), tested.tags[tested.real])
    counts = {name: counted(window, train, held_out) for name, window in WINDOWS.items()}
    print(never, counts, flush=True)
    runs, summaries, examples = [], {}, {}
    piece = "theclassstatementisusedtodefine"
    for cell in CELLS:
        here = [run(cell, seed, train, held_out) for seed in SEEDS]
        values = [record for record, _ in here]
        runs += values
        examples[cell] = example(here[0][1], piece)
        columns = {
            "accuracy": [one["accuracy"] for one in values],
            "f1": [one["f1"] for one in values],
            "f1_padded": [one["padded"]["f1"] for one in values],
        }
        summaries[cell] = {
            "weights": sum(weight.numel() for weight in here[0][1].parameters()),
            **{name: {"mean": round(mean(of), 4), "sd": round(stdev(of), 4)} for name, of in columns.items()},
        }
        changes, seconds = ([one[key] for one in values] for key in ("largest_change_by_padding", "cpu_seconds"))
        print(cell, summaries[cell], changes, seconds, examples[cell], flush=True)
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch04.tagging --record",
            "settings": {"optimizer": "Adam", **SETTINGS},
            "cells": CELLS,
            "seeds": list(SEEDS),
            "versions": {"torch": torch.__version__.partition("+")[0]},
            "text": {"source": text.source, "sha256": text.sha256},
            "baseline": {"never": never, "counted": counts},
            "examples": {"piece": piece, "seed": SEEDS[0], "tagged": examples},
            "summary": summaries,
            "runs": runs,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
