"""What a character LSTM writes: during training, at several temperatures, and with top-k sampling.

    python -m experiments.ch04.samples [--record]

The model and its training are those of the command `python -m experiments.char_lm` with its default settings, on
Python's documentation (`experiments.text.python_docs`). One network, of seed 10, writes before its first update and
after 10, 50, 200, 500 and all updates; the same trained network then writes at temperatures 0.3, 0.7, 1 and 1.5, and
with the 5 and the 20 most probable characters at temperature 1. Every sample continues a line break, that is, it begins
a paragraph, and is drawn with the same seed.

Single samples are anecdotes, so 2,000 characters are measured for each of five sampling seeds and five networks:

known      share of the words (runs of letters) that occur in the training text
distinct   number of different words, as a share of all words
copied     share of the runs of 20 characters that occur in the training text
bits       mean of -log2 of the probability, at temperature 1, that the trained network itself gives to a character

The same is measured for the held-out text, in pieces of 2,000 characters. Takes about five minutes on one core.
"""

from __future__ import annotations

import math
import re
import sys
from dataclasses import asdict
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import torch
from torch import Tensor

from experiments import char_lm
from experiments.ch03.record import to_json
from experiments.char_lm import CharLM, Settings, Training, probabilities
from experiments.text import Text, python_docs

RESULTS_FILE = Path(__file__).with_name("samples.json")
SETTINGS: dict[str, Any] = {"shown": 300, "measured": 2000, "copied_run": 20, "samples": 5}
SEEDS = tuple(range(10, 15))
STAGES = (0, 10, 50, 200, 500)  # updates; the last stage is the end
SAMPLERS: dict[str, dict[str, Any]] = {
    "temperature 0.3": {"temperature": 0.3, "top_k": None},
    "temperature 0.7": {"temperature": 0.7, "top_k": None},
    "temperature 1": {"temperature": 1.0, "top_k": None},
    "temperature 1.5": {"temperature": 1.5, "top_k": None},
    "top-k 5": {"temperature": 1.0, "top_k": 5},
    "top-k 20": {"temperature": 1.0, "top_k": 20},
}
MEASURES = ("known", "distinct", "copied", "bits")

torch.set_num_threads(1)


@torch.no_grad()
def write_rows(model: CharLM, start: int, rows: int, length: int, seed: int, how: dict[str, Any]) -> Tensor:
    """Sample ids (rows, length), each row after `start`, with one generator for all rows."""
    model.eval()
    generator = torch.Generator().manual_seed(seed)
    ids, state, written = torch.full((rows, 1), start), None, []
    for _ in range(length):
        logits, state = model(ids, state)
        probs = torch.stack([probabilities(row, how["temperature"], how["top_k"]) for row in logits[:, -1]])
        ids = torch.multinomial(probs, 1, generator=generator)
        written.append(ids)
    model.train()
    return torch.cat(written, 1)


@torch.no_grad()
def own_bits(model: CharLM, start: int, ids: Tensor) -> list[float]:
    """Mean bits per character that the model gives to each row of ids (rows, N), read after `start`."""
    model.eval()
    inputs = torch.cat([torch.full((len(ids), 1), start), ids[:, :-1]], 1)
    logits, _ = model(inputs)
    nats = torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids.flatten(), reduction="none")
    model.train()
    return [float(row) / math.log(2) for row in nats.view(ids.shape).mean(1)]


class Measure:
    """Measure written texts against a training text."""

    def __init__(self, trained_on: str) -> None:
        self.run = int(SETTINGS["copied_run"])
        self.words = set(re.findall(r"[^\W\d_]+", trained_on))
        self.runs = {trained_on[i : i + self.run] for i in range(len(trained_on) - self.run + 1)}

    def __call__(self, written: str) -> dict[str, float]:
        words = re.findall(r"[^\W\d_]+", written)
        runs = [written[i : i + self.run] for i in range(len(written) - self.run + 1)]
        return {
            "known": sum(word in self.words for word in words) / max(len(words), 1),
            "distinct": len(set(words)) / max(len(words), 1),
            "copied": sum(run in self.runs for run in runs) / len(runs),
        }


def to_text(text: Text, ids: Tensor) -> str:
    return "".join(text.characters[i] for i in ids.tolist())


def measured(model: CharLM, text: Text, measure: Measure, how: dict[str, Any], length: int) -> dict[str, float]:
    """Means over several samples of one network."""
    start = text.characters.index("\n")
    ids = write_rows(model, start, int(SETTINGS["samples"]), length, 1, how)
    found = [measure(to_text(text, row)) for row in ids]
    for one, bits in zip(found, own_bits(model, start, ids), strict=True):
        one["bits"] = bits
    return {key: round(mean(one[key] for one in found), 4) for key in MEASURES}


def sample(model: CharLM, text: Text, how: dict[str, Any]) -> str:
    """The sample that is shown."""
    start = torch.tensor([text.characters.index("\n")])
    ids = char_lm.write(model, start, int(SETTINGS["shown"]), 1, how["temperature"], how["top_k"])
    return "".join(text.characters[i] for i in ids)


def trained(
    text: Text, settings: Settings, stages: tuple[int, ...]
) -> tuple[CharLM, list[dict[str, Any]], dict[str, float]]:
    """Train one network: the network, a sample at each stage, and its bits on the last chunks and held-out text."""
    held_out = torch.from_numpy(text.ids(text.held_out))
    training = Training(settings, len(text.characters), torch.from_numpy(text.ids(text.train)))
    found: list[dict[str, Any]] = []

    def look() -> None:
        if training.update in stages:
            bits = round(char_lm.bits(training.model, held_out), 4)
            how = SAMPLERS["temperature 1"]
            found.append({"updates": training.update, "bits": bits, "text": sample(training.model, text, how)})

    look()
    losses: list[float] = []
    while training.update < settings.updates:
        losses.append(training.step())
        look()
    bits = {"train_bits": round(mean(losses[-100:]), 4), "bits": round(char_lm.bits(training.model, held_out), 4)}
    return training.model, found, bits


def held_out_measures(text: Text, measure: Measure) -> dict[str, float]:
    """The measures of the held-out text, in pieces as long as the samples."""
    length = int(SETTINGS["measured"])
    pieces = [text.held_out[i : i + length] for i in range(0, len(text.held_out) - length + 1, length)]
    found = [measure(piece) for piece in pieces]
    return {key: round(mean(one[key] for one in found), 4) for key in MEASURES[:3]}


def main() -> None:
    text = python_docs()
    measure = Measure(text.train)
    runs, stages, shown = [], [], {}
    for seed in SEEDS:
        settings = Settings(seed=seed)
        first = seed == SEEDS[0]
        model, found, bits = trained(text, settings, (*STAGES, settings.updates) if first else ())
        if first:
            stages, shown = found, {name: sample(model, text, how) for name, how in SAMPLERS.items()}
        by_sampler = {
            name: measured(model, text, measure, how, int(SETTINGS["measured"])) for name, how in SAMPLERS.items()
        }
        runs.append({"seed": seed, **bits, "measures": by_sampler})
        print(runs[-1], flush=True)
    summary = {
        name: {
            key: [
                round(mean(one["measures"][name][key] for one in runs), 3),
                round(stdev(one["measures"][name][key] for one in runs), 3),
            ]
            for key in MEASURES
        }
        for name in SAMPLERS
    }
    held_out = held_out_measures(text, measure)
    print(summary, held_out)
    for stage in stages:
        print(stage["updates"], stage["bits"], repr(stage["text"]))
    for name, written in shown.items():
        print(name, repr(written))
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch04.samples --record",
            "settings": {**asdict(Settings(seed=SEEDS[0])), **SETTINGS},
            "samplers": SAMPLERS,
            "seeds": list(SEEDS),
            "versions": {"torch": torch.__version__.partition("+")[0]},
            "text": {"source": text.source, "sha256": text.sha256},
            "stages": stages,
            "shown": shown,
            "summary": summary,
            "held_out": held_out,
            "runs": runs,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
