"""Exposure bias: how many tokens are predicted when the decoder reads the reference, and when it reads its own words.

    python -m experiments.ch05.exposure [--record]

A GRU encoder–decoder without attention learns sentences of the phrase grammar with 3 to 8 English words, and is tested
on held-out ones of these lengths and on longer ones, of 9 to 12 words. Token accuracy is measured teacher-forced and
free-running, over all positions, by position, and over the positions after the first error only: up to the first
error, the two ways read the same tokens. A free-running decoder that leaves out one word is one position ahead from
then on, so all its later tokens count as wrong; the edit distance to the reference counts such a word once.

The same is measured after scheduled sampling, where the share of inputs that are the model's own predictions rises
linearly from 0 to 0.5 during training. Five seeds each. Takes about five minutes of one core.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import torch
from torch import Tensor

from experiments.ch03.record import mean_and_sd, to_json
from experiments.ch05.grammar import by_length
from experiments.ch05.model import PAD, Fitted, Settings, batch_of, fit, free_logits, greedy
from experiments.ch05.numbers import Pair

RESULTS_FILE = Path(__file__).with_name("exposure.json")
SETTINGS: dict[str, float] = {
    "shortest": 3,
    "longest": 8,
    "beyond": 12,
    "train_each": 1500,
    "held_out_each": 100,
    "updates": 1000,
    "batch": 64,
    "lr": 2e-3,
    "positions": 12,
}
SHARES = (0.0, 0.5)
SEEDS = tuple(range(10, 15))


def flat(phrases: dict[int, list[Any]]) -> list[Pair]:
    return [(phrase.english, phrase.french) for of_length in phrases.values() for phrase in of_length]


def data() -> tuple[list[Pair], list[Pair], list[Pair]]:
    """Sentences to train on, held-out ones of the same lengths, and longer ones."""
    shortest, longest, each = (int(SETTINGS[name]) for name in ("shortest", "longest", "held_out_each"))
    beyond = flat(by_length(each, longest + 1, int(SETTINGS["beyond"]), seed=1))
    drawn = by_length(int(SETTINGS["train_each"]) + each, shortest, longest, seed=0)
    held_out = {length: phrases[:each] for length, phrases in drawn.items()}
    train = {length: phrases[each:] for length, phrases in drawn.items()}
    return flat(train), flat(held_out), beyond


@torch.no_grad()
def right(fitted: Fitted, pairs: Sequence[Pair], free: bool) -> tuple[Tensor, Tensor]:
    """Whether each token is predicted (N, T), and which ones are real (N, T)."""
    ids, lengths, read, wanted = batch_of(pairs, fitted.source, fitted.target, fitted.model.settings.reverse)
    logits = free_logits(fitted.model, ids, lengths, read, torch.full(read.shape, free))
    return logits.argmax(-1) == wanted, wanted != PAD


def percent(values: Tensor) -> float | None:
    return round(100 * values.double().mean().item(), 2) if len(values) else None


def edits(found: Sequence[str], wanted: Sequence[str]) -> int:
    """The edit distance: the smallest number of insertions, deletions and substitutions of words."""
    costs = list(range(len(wanted) + 1))
    for i, word in enumerate(found, start=1):
        before, costs[0] = costs[0], i
        for j, other in enumerate(wanted, start=1):
            before, costs[j] = costs[j], min(costs[j] + 1, costs[j - 1] + 1, before + (word != other))
    return costs[-1]


@torch.no_grad()
def written(fitted: Fitted, pairs: Sequence[Pair]) -> dict[str, list[list[str]]]:
    """What is predicted for each word of the reference when it is read, and what greedy decoding writes."""
    ids, lengths, read, _ = batch_of(pairs, fitted.source, fitted.target, fitted.model.settings.reverse)
    predicted = fitted.model(ids, lengths, read).argmax(-1).tolist()
    tokens = fitted.target.tokens
    forced = [[tokens[token] for token in row[: len(words)]] for row, (_, words) in zip(predicted, pairs, strict=True)]
    return {"forced": forced, "free": greedy(fitted, [source for source, _ in pairs])}


def measure(fitted: Fitted, pairs: Sequence[Pair]) -> dict[str, Any]:
    """Token accuracy in percent, teacher-forced and free-running, and the share of sentences without an error."""
    (forced, real), (free, _) = right(fitted, pairs, False), right(fitted, pairs, True)
    wrong = (~forced & real).long()
    later = (wrong.cumsum(1) - wrong > 0) & real  # after the first error
    positions = range(int(SETTINGS["positions"]))
    total = sum(len(words) for _, words in pairs)
    return {
        "edits": {
            name: round(100 * sum(edits(a, b) for a, (_, b) in zip(texts, pairs, strict=True)) / total, 2)
            for name, texts in written(fitted, pairs).items()
        },
        "forced": percent(forced[real]),
        "free": percent(free[real]),
        "exact": percent((forced | ~real).all(1)),
        "exact_free": percent((free | ~real).all(1)),
        "after_error": {"forced": percent(forced[later]), "free": percent(free[later])},
        "by_position": {
            name: [percent(hits[:, t][real[:, t]]) for t in positions if t < real.shape[1]]
            for name, hits in (("forced", forced), ("free", free))
        },
    }


def example(fitted: Fitted, pairs: Sequence[Pair]) -> dict[str, str]:
    """Of the sentences with a single error if the decoder reads the reference, the one that it writes worst."""
    texts = written(fitted, pairs)
    rows = [
        (edits(free, words), row)
        for row, (forced, free, (_, words)) in enumerate(zip(texts["forced"], texts["free"], pairs, strict=True))
        if sum(a != b for a, b in zip(forced, words, strict=True)) == 1
    ]
    _, row = max(rows)
    source, reference = pairs[row]
    shown = {"source": source, "reference": reference, **{name: found[row] for name, found in texts.items()}}
    return {name: " ".join(words) for name, words in shown.items()}


def settings_of(share: float, seed: int) -> Settings:
    return Settings(
        updates=int(SETTINGS["updates"]),
        batch=int(SETTINGS["batch"]),
        lr=SETTINGS["lr"],
        own_share=share,
        seed=seed,
    )


def trained(share: float, seed: int, parts: tuple[list[Pair], list[Pair], list[Pair]]) -> Fitted:
    train, held_out, beyond = parts
    return fit(train, settings_of(share, seed), vocabulary_of=[*train, *held_out, *beyond])


def run(
    share: float, seed: int, parts: tuple[list[Pair], list[Pair], list[Pair]], fitted: Fitted | None = None
) -> dict[str, Any]:
    """Train one model, if it is not given, and measure it."""
    _, held_out, beyond = parts
    fitted = fitted or trained(share, seed, parts)
    return {
        "share": share,
        "seed": seed,
        "loss": round(mean(fitted.losses[-50:]), 4),
        "in_range": measure(fitted, held_out),
        "beyond": measure(fitted, beyond),
    }


def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Mean and standard deviation of every measure over the seeds, for each share."""
    found: dict[str, Any] = {}
    for share in SHARES:
        here = [one for one in runs if one["share"] == share]
        found[f"{share:g}"] = {
            where: {
                **{name: mean_and_sd([one[where][name] for one in here], 3) for name in ("forced", "free", "exact")},
                **{
                    key: {name: mean_and_sd([one[where][key][name] for one in here], 3) for name in ("forced", "free")}
                    for key in ("after_error", "edits")
                },
            }
            for where in ("in_range", "beyond")
        }
    return found


def main() -> None:
    started, parts = time.process_time(), data()
    runs: list[dict[str, Any]] = []
    shown: dict[str, str] = {}
    for seed in SEEDS:
        for share in SHARES:
            fitted = trained(share, seed, parts)
            shown = shown or example(fitted, parts[1])
            runs.append(run(share, seed, parts, fitted))
            print(
                share, seed, runs[-1]["loss"],
                *(runs[-1][w][n] for w in ("in_range", "beyond") for n in ("forced", "free", "exact", "exact_free")),
                runs[-1]["in_range"]["after_error"], runs[-1]["beyond"]["after_error"],
                runs[-1]["in_range"]["edits"], runs[-1]["beyond"]["edits"], flush=True,
            )  # fmt: skip
    print(summary(runs), round(time.process_time() - started), flush=True)
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch05.exposure --record",
            "settings": {"optimizer": "Adam", "embed_size": 64, "hidden_size": 128, "clip": 1.0, **SETTINGS},
            "shares": list(SHARES),
            "seeds": list(SEEDS),
            "versions": {"torch": torch.__version__.partition("+")[0]},
            "summary": summary(runs),
            "example": shown,
            "runs": runs,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
