"""Phrases of a small grammar, English to French, with an encoder–decoder without attention: accuracy against length.

    python -m experiments.ch05.phrases [--record] [--resume]

1,500 sentences of each English length from 3 to 15 words for training, 100 others of each length held out. The source
is read forward or reversed, five seeds each, 3,000 updates. Then, with three seeds each, other sizes: both GRUs with 64
or 256 units, and a network of 128 units whose context passes through a bottleneck of 16 numbers, which changes what the
decoder is told but neither GRU. Three seeds, not five, because these runs take longest.

Exact match is the share of sentences without a mistake; token accuracy that of the words that are predicted when the
decoder reads the reference, ⟨eos⟩ included. The baseline translates word for word, each English word as the French word
that it is most often aligned with. Takes about half an hour on one core; an interrupted recording goes on with
`--record --resume`.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from statistics import mean
from typing import Any

import torch

from experiments.ch03.record import mean_and_sd, to_json
from experiments.ch05.grammar import Phrase, by_length
from experiments.ch05.model import PAD, Fitted, Settings, batch_of, exact_match, fit, greedy, token_accuracy
from experiments.ch05.numbers import Pair

RESULTS_FILE = Path(__file__).with_name("phrases.json")
BASE = Settings(embed_size=64, hidden_size=128, batch=64, lr=2e-3, clip=1.0, updates=3000)
SETTINGS: dict[str, Any] = {
    **{key: vars(BASE)[key] for key in ("embed_size", "hidden_size", "batch", "lr", "clip", "updates")},
    "shortest": 3,
    "longest": 15,
    "train_each": 1500,
    "held_out_each": 100,
}
SEEDS = tuple(range(5))
GROUPS: dict[str, tuple[Settings, tuple[int, ...]]] = {
    "forward": (BASE, SEEDS),
    "reversed": (replace(BASE, reverse=True), SEEDS),
    "64 units": (replace(BASE, hidden_size=64), SEEDS[:3]),
    "bottleneck of 16": (replace(BASE, context_size=16), SEEDS[:3]),
    "256 units": (replace(BASE, hidden_size=256), SEEDS[:3]),
}
BUCKETS = {"3–5": (3, 5), "6–10": (6, 10), "11–15": (11, 15)}
POSITIONS = 11  # the longest sentences have at least so many French words
SHOWN = 3


@cache
def data() -> tuple[dict[int, list[Phrase]], dict[int, list[Phrase]]]:
    """Sentences for training and held-out ones, by English length."""
    ends = SETTINGS["shortest"], SETTINGS["longest"]
    train = by_length(SETTINGS["train_each"], *ends, seed=0)
    known = {" ".join(phrase.english) for phrases in train.values() for phrase in phrases}
    return train, by_length(SETTINGS["held_out_each"], *ends, seed=1, without=known)


def as_pairs(phrases: Mapping[int, Sequence[Phrase]], bucket: tuple[int, int] = (0, 99)) -> list[Pair]:
    """The sentences whose lengths are in the bucket."""
    return [(p.english, p.french) for n, group in phrases.items() if bucket[0] <= n <= bucket[1] for p in group]


@torch.no_grad()
def by_position(fitted: Fitted, wanted: Sequence[Pair]) -> list[float]:
    """The share of sentences, in percent, in which the 1st, 2nd, … French word is predicted from the right words."""
    ids, lengths, read, targets = batch_of(wanted, fitted.source, fitted.target, fitted.model.settings.reverse)
    right = (fitted.model(ids, lengths, read).argmax(-1) == targets)[:, :POSITIONS]
    if targets.shape[1] < POSITIONS or (targets[:, :POSITIONS] == PAD).any():
        raise ValueError(f"Some targets have fewer than {POSITIONS} tokens. Use longer ones.")
    return [round(100 * float(share), 2) for share in right.double().mean(dim=0)]


def measured(fitted: Fitted, held_out: Mapping[int, Sequence[Phrase]]) -> dict[str, Any]:
    """Exact match by source length and by bucket, token accuracies, and a few translations of long sentences."""
    lengths = {}
    for length, phrases in held_out.items():
        wanted = as_pairs({length: phrases})
        lengths[str(length)] = round(exact_match(greedy(fitted, [source for source, _ in wanted]), wanted), 2)
    groups = {name: as_pairs(held_out, bucket) for name, bucket in BUCKETS.items()}
    longest = groups["11–15"]
    return {
        "by_length": lengths,
        "exact": in_buckets(lengths),
        "tokens": {name: round(token_accuracy(fitted, wanted, free=False), 2) for name, wanted in groups.items()},
        "by_position": by_position(fitted, longest),
        "shown": [
            {"source": " ".join(source), "found": " ".join(found), "reference": " ".join(target)}
            for wanted in (part[:SHOWN] for part in groups.values())
            for (source, target), found in zip(wanted, greedy(fitted, [s for s, _ in wanted]), strict=True)
        ],
    }


def run(how: Settings) -> dict[str, Any]:
    """Train one network and measure it on the held-out sentences."""
    train, held_out = data()
    started = time.process_time()
    fitted = fit(as_pairs(train), how)
    seconds = time.process_time() - started
    return {
        "seed": how.seed,
        "parameters": sum(weights.numel() for weights in fitted.model.parameters()),
        "loss": round(mean(fitted.losses[-50:]), 4),
        "cpu_seconds": round(seconds, 1),
        **measured(fitted, held_out),
    }


def dictionary(train: Mapping[int, Sequence[Phrase]], held_out: Mapping[int, Sequence[Phrase]]) -> dict[str, float]:
    """The baseline, word for word: exact match by source length, in percent."""
    counted: dict[str, Counter[str]] = {}
    for phrase in (phrase for group in train.values() for phrase in group):
        for french, at in zip(phrase.french, phrase.alignment, strict=True):
            counted.setdefault(phrase.english[at], Counter())[french] += 1
    likeliest = {english: found.most_common(1)[0][0] for english, found in counted.items()}
    result = {}
    for length, phrases in held_out.items():
        wanted = as_pairs({length: phrases})
        result[str(length)] = round(
            exact_match([[likeliest[word] for word in source] for source, _ in wanted], wanted), 2
        )
    return result


def in_buckets(lengths: Mapping[str, float]) -> dict[str, float]:
    """The mean over the lengths of each bucket. Every length has as many sentences."""
    return {
        name: round(mean(share for length, share in lengths.items() if low <= int(length) <= high), 2)
        for name, (low, high) in BUCKETS.items()
    }


def summary(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """For each group of runs: means, and standard deviations (with N - 1; 0 for one run) of what was measured."""

    found = {}
    for name in GROUPS:
        group = [one for one in runs if one["group"] == name]
        if group:
            found[name] = {
                "runs": len(group),
                "parameters": group[0]["parameters"],
                "by_length": {n: mean_and_sd([one["by_length"][n] for one in group], 2) for n in group[0]["by_length"]},
                "exact": {bucket: mean_and_sd([one["exact"][bucket] for one in group], 2) for bucket in BUCKETS},
                "tokens": {bucket: mean_and_sd([one["tokens"][bucket] for one in group], 2) for bucket in BUCKETS},
                "by_position": [
                    round(mean(values), 2) for values in zip(*(o["by_position"] for o in group), strict=True)
                ],
            }
    return found


def assembled(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The record."""
    train, held_out = data()
    baseline = dictionary(train, held_out)
    return {
        "command": "python -m experiments.ch05.phrases --record",
        "settings": {"optimizer": "Adam", **SETTINGS},
        "seeds": list(SEEDS),
        "versions": {"torch": version("torch").partition("+")[0]},
        "vocabulary": {
            "en": len({word for source, _ in as_pairs(train) for word in source}),
            "fr": len({word for _, target in as_pairs(train) for word in target}),
        },
        "dictionary": in_buckets(baseline),
        "dictionary_by_length": baseline,
        "summary": summary(runs),
        "runs": list(runs),
    }


def in_order(runs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The runs, group by group."""
    groups = list(GROUPS)
    return sorted(runs, key=lambda one: (groups.index(one["group"]), one["seed"]))


def main() -> None:
    runs: list[dict[str, Any]] = []
    if "--resume" in sys.argv[1:]:
        runs = json.loads(RESULTS_FILE.read_text("utf-8"))["runs"]
    done = {(one["group"], one["seed"]) for one in runs}
    wanted = [(name, seed) for name, (_, seeds) in GROUPS.items() for seed in seeds]
    for name, seed in wanted:
        if (name, seed) in done:
            continue
        runs.append({"group": name, **run(replace(GROUPS[name][0], seed=seed))})
        print(name, {key: runs[-1][key] for key in ("seed", "loss", "cpu_seconds", "exact", "tokens")}, flush=True)
        if "--record" in sys.argv[1:]:  # after every run, so that an interrupted recording keeps its runs
            RESULTS_FILE.write_text(to_json(assembled(in_order(runs))), "utf-8")


if __name__ == "__main__":
    main()
