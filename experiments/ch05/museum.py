"""Three silent bugs in the training of an encoder–decoder, and what the loss shows of them (for the bug museum).

    python -m experiments.ch05.museum [--record]

English numbers are translated into French: 8,000 numbers to train on, the 2,000 others held out. Four programs:

- right: the one of experiments.ch05.model;
- not shifted: the decoder reads the target that it is to predict, y_t instead of y_{t-1};
- padding counted: the loss is the mean over all positions, those of the padding included;
- read to the padded end: the encoder's state is taken after the padding of each batch.

Recorded are the loss of every update (the mean of each ten), token accuracy and loss of held-out numbers, measured by
the same program, and exact match of greedy decoding, with sentences translated in batches of 500 and one by one. Five
seeds each. Takes about six minutes of one core.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from experiments.ch03.record import mean_and_sd, to_json
from experiments.ch05.model import PAD, Fitted, Settings, Translator, Vocabulary, batch_of, exact_match, greedy
from experiments.ch05.numbers import Pair, pairs, split

RESULTS_FILE = Path(__file__).with_name("museum.json")
SETTINGS: dict[str, float] = {"updates": 400, "batch": 64, "lr": 2e-3, "clip": 1.0, "one_by_one": 300}
PROGRAMS = ("right", "not shifted", "padding counted", "read to the padded end")
EXAMPLES = (1600, 97, 2385)
SEEDS = tuple(range(10, 15))


class ToThePaddedEnd(Translator):
    """A translator whose context is the state after the last position of the batch, padding or not."""

    def encode(self, source: Tensor, lengths: Tensor) -> Tensor:
        _, final = self.encoder(self.source_embedding(source))
        return torch.as_tensor(final)


def loss_of(program: str, model: Translator, batch: tuple[Tensor, ...]) -> tuple[Tensor, Tensor]:
    """The program's loss, and its token accuracy over the real tokens."""
    ids, lengths, read, wanted = batch
    logits = model(ids, lengths, wanted if program == "not shifted" else read)
    ignored = -100 if program == "padding counted" else PAD
    loss = cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=ignored)
    return loss, (logits.argmax(-1) == wanted)[wanted != PAD].double().mean()


def train(program: str, data: Sequence[Pair], known: Sequence[Pair], seed: int, updates: int | None = None) -> Fitted:
    """Train one of PROGRAMS, as `experiments.ch05.model.fit` does."""
    updates = updates or int(SETTINGS["updates"])
    source, target = Vocabulary(words for words, _ in known), Vocabulary(words for _, words in known)
    torch.manual_seed(seed)
    kind = ToThePaddedEnd if program == "read to the padded end" else Translator
    model = kind(len(source), len(target), Settings(seed=seed))
    optimizer = torch.optim.Adam(model.parameters(), lr=SETTINGS["lr"])
    order, fitted = random.Random(seed), Fitted(model, source, target, [])
    for _ in range(updates):
        batch = batch_of(order.sample(data, int(SETTINGS["batch"])), source, target, reverse=False)
        loss, _ = loss_of(program, model, batch)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), SETTINGS["clip"])
        optimizer.step()
        fitted.losses.append(loss.item())
    model.eval()
    return fitted


@torch.no_grad()
def run(program: str, seed: int, parts: tuple[list[Pair], list[Pair]], updates: int | None = None) -> dict[str, Any]:
    """Train one of PROGRAMS, and measure it on held-out numbers."""
    train_pairs, held_out = parts
    with torch.enable_grad():
        fitted = train(program, train_pairs, [*train_pairs, *held_out], seed, updates)
    loss, accuracy = loss_of(program, fitted.model, batch_of(held_out, fitted.source, fitted.target, reverse=False))
    some = held_out[: int(SETTINGS["one_by_one"])]
    alone, together = (greedy(fitted, [s for s, _ in some], at_once=at_once) for at_once in (1, len(some)))
    examples = pairs(list(EXAMPLES), "fr")
    return {
        "program": program,
        "seed": seed,
        "curve": [round(mean(fitted.losses[at : at + 10]), 3) for at in range(0, len(fitted.losses), 10)],
        "held_out_loss": round(loss.item(), 4),
        "token_accuracy": round(100 * accuracy.item(), 2),
        "exact": round(exact_match(greedy(fitted, [s for s, _ in held_out]), held_out), 2),
        "exact_some": round(exact_match(together, some), 2),
        "exact_alone": round(exact_match(alone, some), 2),
        "changed_alone": round(100 * mean(a != b for a, b in zip(alone, together, strict=True)), 2),
        "examples": [" ".join(words[:12]) for words in greedy(fitted, [s for s, _ in examples], at_once=1)],
    }


def main() -> None:
    started, runs = time.process_time(), []
    numbers = split()
    parts = pairs(numbers[0], "fr"), pairs(numbers[1], "fr")
    for program in PROGRAMS:
        for seed in SEEDS:
            runs.append(run(program, seed, parts))
            print({**runs[-1], "curve": runs[-1]["curve"][::8]}, flush=True)
    keys = ("held_out_loss", "token_accuracy", "exact", "exact_some", "exact_alone", "changed_alone")
    summary = {
        program: {key: mean_and_sd([one[key] for one in runs if one["program"] == program], 3) for key in keys}
        for program in PROGRAMS
    }
    print(summary, round(time.process_time() - started), flush=True)
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch05.museum --record",
            "settings": {"optimizer": "Adam", "embed_size": 64, "hidden_size": 128, **SETTINGS},
            "seeds": list(SEEDS),
            "versions": {"torch": torch.__version__.partition("+")[0]},
            "summary": summary,
            "runs": runs,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
