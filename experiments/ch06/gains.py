"""What attention buys: French numbers from many and from few pairs, phrases by length, and the cost of an update.

    python -m experiments.ch06.gains [--record] [--resume]

All networks are GRU encoder–decoders with 128 units and embeddings of 64, as in chapter 05, with its vocabularies and
held-out numbers and phrases. With attention, the encoder is bidirectional (64 units each way) and the score additive,
with the decoder's previous state as the query, unless a group says otherwise.

- Numbers, English to French: from 8,000 and from 300 pairs, 200 updates. Three controls learn from the same 300: an
  encoder that reads forward only; the dot product with the current state; and a bidirectional encoder without
  attention, whose final state the decoder reads at every step, with 600 updates.
- Phrases: trained on 3 to 15 or on 3 to 30 words, 500 updates, and tested on every length from 3 to 40. The control
  without attention has the context at every step and 3,000 updates. Five seeds each.

Besides exact match, three other measurements by length say what goes wrong in long sentences. `tokens` and `aligned`
feed the decoder the reference: the share of French words that it predicts, and of those for which the largest weight is
on the English word that the French one translates. `written` is the number of words that it writes, in percent of the
reference's. `by_position` has `tokens` and `aligned` of the 1st, 2nd, … French word, over sentences of 26 to 30 words.

`cost` is measured in CPU seconds of single updates, the networks in turn on the same sentences, so only the ratios
mean anything elsewhere. Takes about a quarter of an hour on one core; an interrupted recording goes on with
`--record --resume`, and `--record --resume --cost` measures the cost again.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from statistics import mean
from typing import Any

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from experiments.ch03.record import mean_and_sd, to_json
from experiments.ch05 import phrases
from experiments.ch05.grammar import Phrase, by_length
from experiments.ch05.model import PAD, Fitted, Settings, Translator, Vocabulary, batch_of, exact_match, fit, greedy
from experiments.ch05.numbers import Pair, pairs, split
from experiments.ch06.cost import machine
from experiments.ch06.model import Attending, AttentionSettings, attention_weights

RESULTS_FILE = Path(__file__).with_name("gains.json")
SHARED: dict[str, Any] = {"embed_size": 64, "hidden_size": 128, "batch": 64, "lr": 2e-3, "clip": 1.0}
SETTINGS: dict[str, Any] = {**SHARED, "attention_size": 128, "train_each": 1500, "held_out_each": 100}
LONGEST = 40  # English words of the longest sentences that are tested
LONG = (26, 30)  # the sentences for `by_position`
SEEDS = tuple(range(5))
ADDITIVE = AttentionSettings(**SHARED, attention_size=128, updates=200)
DOT = replace(ADDITIVE, score="dot", query="current")
EVERY_STEP = Settings(**SHARED, bidirectional=True, every_step=True, updates=600)


@dataclass(frozen=True)
class Group:
    """Runs that differ by their seeds alone. `trained_on` is the number of pairs, or the longest sentence."""

    task: str  # "numbers" or "phrases"
    trained_on: int
    how: Settings
    seeds: tuple[int, ...] = SEEDS


GROUPS = {
    "numbers, 8,000, additive": Group("numbers", 8000, ADDITIVE),
    "numbers, 300, additive": Group("numbers", 300, ADDITIVE),
    "numbers, 300, every step": Group("numbers", 300, EVERY_STEP),
    "numbers, 300, forward": Group("numbers", 300, replace(ADDITIVE, bidirectional=False)),
    "numbers, 300, dot": Group("numbers", 300, DOT),
    "phrases to 15, every step": Group("phrases", 15, replace(EVERY_STEP, updates=3000)),
    "phrases to 15, additive": Group("phrases", 15, replace(ADDITIVE, updates=500)),
    "phrases to 30, additive": Group("phrases", 30, replace(ADDITIVE, updates=500)),
}


def network(how: Settings) -> type[Translator]:
    """The class of the networks with these settings."""
    return Attending if isinstance(how, AttentionSettings) else Translator


@cache
def data() -> tuple[dict[int, list[Phrase]], dict[int, list[Phrase]]]:
    """Phrases for training, to 30 words, and held-out ones, to 40. Those to 15 words are chapter 05's."""
    train, held_out = phrases.data()
    longer = by_length(SETTINGS["train_each"], 16, 30, seed=2)
    known = {" ".join(phrase.english) for group in longer.values() for phrase in group}
    return {**train, **longer}, {**held_out, **by_length(SETTINGS["held_out_each"], 16, LONGEST, seed=3, without=known)}


def as_pairs(group: Sequence[Phrase]) -> list[Pair]:
    return [(phrase.english, phrase.french) for phrase in group]


@torch.no_grad()
def fed_reference(fitted: Fitted, group: Sequence[Phrase]) -> tuple[list[list[bool]], list[list[bool]]]:
    """For every French word of every phrase, ⟨eos⟩ not included: is it predicted, and is it aligned?

    The decoder reads the reference. A word is aligned if the largest weight is on the English word that it translates.
    Without attention there are no weights, and the second list is empty.
    """
    wanted = as_pairs(group)
    ids, lengths, read, targets = batch_of(wanted, fitted.source, fitted.target, fitted.model.settings.reverse)
    right = (fitted.model(ids, lengths, read).argmax(-1) == targets).tolist()
    predicted = [row[: len(phrase.french)] for row, phrase in zip(right, group, strict=True)]
    if not isinstance(fitted.model, Attending):
        return predicted, []
    most = attention_weights(fitted, wanted).argmax(-1).tolist()
    aligned = [
        [at == word for at, word in zip(row, phrase.alignment, strict=False)]
        for row, phrase in zip(most, group, strict=True)
    ]
    return predicted, aligned


def share(rows: Sequence[Sequence[bool]]) -> float:
    """The share of true entries, in percent."""
    return round(100 * mean(value for row in rows for value in row), 2)


def columns(rows: Sequence[Sequence[bool]]) -> list[float]:
    """The share of true entries, in percent, at the 1st, 2nd, … place, as far as every row goes."""
    return [round(100 * mean(place), 2) for place in zip(*rows, strict=False)]


def measured(fitted: Fitted, held_out: dict[int, list[Phrase]]) -> dict[str, Any]:
    """What is recorded of a network that translates phrases."""
    found: dict[str, dict[str, float]] = {"exact": {}, "tokens": {}, "aligned": {}, "written": {}}
    long: tuple[list[list[bool]], list[list[bool]]] = ([], [])
    for length, group in held_out.items():
        wanted = as_pairs(group)
        written = greedy(fitted, [source for source, _ in wanted], max_length=60)
        found["exact"][str(length)] = round(exact_match(written, wanted), 2)
        found["written"][str(length)] = round(100 * sum(map(len, written)) / sum(len(b) for _, b in wanted), 2)
        predicted, aligned = fed_reference(fitted, group)
        found["tokens"][str(length)] = share(predicted)
        if aligned:
            found["aligned"][str(length)] = share(aligned)
        if LONG[0] <= length <= LONG[1]:
            long[0].extend(predicted)
            long[1].extend(aligned)
    by_position = {"tokens": columns(long[0]), "aligned": columns(long[1])}
    return {**{name: values for name, values in found.items() if values}, "by_position": by_position}


def run(group: Group, seed: int) -> dict[str, Any]:
    """Train one network and measure it."""
    how = replace(group.how, seed=seed)
    if group.task == "numbers":
        train, held_out = split(8000)
        known, tested = pairs(train, "fr"), pairs(held_out, "fr")
        used = known[: group.trained_on]
    else:
        known = used = phrases.as_pairs(data()[0], (0, group.trained_on))
    started = time.process_time()
    fitted = fit(used, how, vocabulary_of=known, build=network(how))
    result: dict[str, Any] = {
        "seed": seed,
        "parameters": sum(weights.numel() for weights in fitted.model.parameters()),
        "loss": round(mean(fitted.losses[-20:]), 4),
        "cpu_seconds": round(time.process_time() - started, 1),
    }
    if group.task == "phrases":
        return {**result, **measured(fitted, data()[1])}
    found = greedy(fitted, [source for source, _ in tested])
    return {
        **result,
        "exact": round(exact_match(found, tested), 2),
        "exact_last_1000": round(exact_match(found[-1000:], tested[-1000:]), 2),  # those of experiments.ch05.contexts
    }


# Cost -----------------------------------------------------------------------------------------------------------------

COSTED: dict[str, Settings] = {
    "none": replace(EVERY_STEP, every_step=False),
    "every step": EVERY_STEP,
    "dot, s_t": DOT,
    "dot, s_{t-1}": replace(DOT, query="previous"),
    "additive, s_t": replace(ADDITIVE, query="current"),
    "additive, s_{t-1}": ADDITIVE,
}


def cost(lengths: Sequence[int] = (15, 30), rounds: int = 20) -> list[dict[str, Any]]:
    """CPU milliseconds of an update, the shortest of the rounds, and in proportion to the network without attention.

    A batch has sentences of one length, and all networks are trained on the same batches, in turn.
    """
    found = []
    for length in lengths:
        known = as_pairs(data()[0][length])
        source, target = Vocabulary(words for words, _ in known), Vocabulary(words for _, words in known)
        models, spent = {}, {name: [] for name in COSTED}  # type: dict[str, Translator], dict[str, list[float]]
        for name, how in COSTED.items():
            torch.manual_seed(0)
            models[name] = network(how)(len(source), len(target), how)
        optimizers = {name: torch.optim.Adam(model.parameters(), lr=SHARED["lr"]) for name, model in models.items()}
        for number in range(rounds):
            size = SHARED["batch"]
            ids, ends, read, wanted = batch_of(known[number * size : (number + 1) * size], source, target, False)
            for name, model in models.items():
                started = time.process_time()
                loss = cross_entropy(model(ids, ends, read).flatten(0, 1), wanted.flatten(), ignore_index=PAD)
                optimizers[name].zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), SHARED["clip"])
                optimizers[name].step()
                spent[name].append(1000 * (time.process_time() - started))
        shortest = {name: min(times) for name, times in spent.items()}
        found.append(
            {
                "length": length,
                "rounds": rounds,
                "machine": machine(),
                "milliseconds": {name: round(value, 1) for name, value in shortest.items()},
                "ratio": {name: round(value / shortest["none"], 2) for name, value in shortest.items()},
            }
        )
    return found


# The record -----------------------------------------------------------------------------------------------------------


def summary(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """For each group of runs: mean and standard deviation of what was measured."""
    found: dict[str, Any] = {}
    for name, group in GROUPS.items():
        own = [one for one in runs if one["group"] == name]
        if not own:
            continue
        rows: dict[str, Any] = {
            "runs": len(own),
            "trained_on": group.trained_on,
            "updates": group.how.updates,
            "parameters": own[0]["parameters"],
        }
        if group.task == "numbers":
            rows |= {key: mean_and_sd([one[key] for one in own], 2) for key in ("exact", "exact_last_1000")}
            rows["lowest"] = min(one["exact"] for one in own)
        else:
            for key in ("exact", "tokens", "aligned", "written"):
                if key in own[0]:
                    rows[key] = {length: mean_and_sd([one[key][length] for one in own], 2) for length in own[0][key]}
            rows["by_position"] = {
                key: [round(mean(values), 2) for values in zip(*(one["by_position"][key] for one in own), strict=True)]
                for key in own[0]["by_position"]
            }
        found[name] = rows
    return found


def assembled(runs: Sequence[dict[str, Any]], costs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The record, its runs in the order of the groups and seeds, in whatever order they were made."""
    order = list(GROUPS)
    runs = sorted(runs, key=lambda one: (order.index(one["group"]), one["seed"]))
    return {
        "command": "python -m experiments.ch06.gains --record",
        "settings": {"optimizer": "Adam", "cell": "GRU", "target": "fr", "longest": LONGEST, **SETTINGS},
        "seeds": {name: list(group.seeds) for name, group in GROUPS.items()},
        "versions": {name: version(name).partition("+")[0] for name in ("torch", "num2words")},
        "cost": list(costs),
        "summary": summary(runs),
        "runs": runs,
    }


def main() -> None:
    runs: list[dict[str, Any]] = []
    costs: list[dict[str, Any]] = []
    if "--resume" in sys.argv[1:]:
        before = json.loads(RESULTS_FILE.read_text("utf-8"))
        runs, costs = before["runs"], before["cost"]

    def keep() -> None:  # after every run, so that an interrupted recording keeps its runs
        if "--record" in sys.argv[1:]:
            RESULTS_FILE.write_text(to_json(assembled(runs, costs)), "utf-8")

    if not costs or "--cost" in sys.argv[1:]:
        costs = cost()
        print(*costs, sep="\n", flush=True)
        keep()
    done = {(one["group"], one["seed"]) for one in runs}
    for name, seed in [(name, seed) for name, group in GROUPS.items() for seed in group.seeds]:
        if (name, seed) in done:
            continue
        runs.append({"group": name, **run(GROUPS[name], seed)})
        print({key: runs[-1][key] for key in ("group", "seed", "loss", "cpu_seconds", "exact")}, flush=True)
        keep()


if __name__ == "__main__":
    main()
