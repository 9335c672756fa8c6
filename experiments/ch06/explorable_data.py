"""Three tiny translators with attention, and their queries and keys for one sentence: data of the explorable.

    python -m experiments.ch06.explorable_data [--record]

Phrases of 4 to 7 English words, 1,000 of each length for training. One network for each score function, with states of
16 numbers. The sentence is the first held-out one of seven words in which two pairs of words change places, no word
occurs twice, and which all three networks translate without a mistake. The query of each French word is the decoder's
previous state, when it reads the reference. Takes about 40 s on one core.

The book's explorable `attention` reads the same file, `attention.json`, and computes scores and weights from it. All
numbers are rounded to two decimals.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import torch
from torch import Tensor

from experiments.ch03.record import to_json
from experiments.ch05.grammar import Phrase, by_length
from experiments.ch05.model import Fitted, batch_of, exact_match, fit, greedy
from experiments.ch05.numbers import Pair
from experiments.ch06.model import Attending, AttentionSettings, attention_weights

DATA_FILE = Path(__file__).with_name("attention.json")
SCORES = ("dot", "bilinear", "additive")
BASE: dict[str, Any] = {
    "embed_size": 16,
    "hidden_size": 16,
    "attention_size": 8,
    "batch": 64,
    "lr": 0.01,
    "clip": 1.0,
    "updates": 1000,
    "seed": 0,
}
LENGTHS = {"shortest": 4, "longest": 7, "train_each": 1000, "held_out_each": 100}
PADS = 2


@cache
def data() -> tuple[list[Pair], list[Phrase]]:
    """The training pairs, and the held-out sentences of the greatest length."""
    ends = LENGTHS["shortest"], LENGTHS["longest"]
    train = [phrase for group in by_length(LENGTHS["train_each"], *ends, seed=0).values() for phrase in group]
    known = {" ".join(phrase.english) for phrase in train}
    held_out = by_length(LENGTHS["held_out_each"], ends[1], ends[1], seed=1, without=known)[ends[1]]
    return [(phrase.english, phrase.french) for phrase in train], held_out


def trained(score: str, updates: int = BASE["updates"]) -> Fitted:
    settings = AttentionSettings(**{**BASE, "updates": updates}, score=score, query="previous")
    return fit(data()[0], settings, build=Attending)


def right(fitted: Fitted, phrases: list[Phrase]) -> list[bool]:
    """Which sentences are translated without a mistake."""
    found = greedy(fitted, [phrase.english for phrase in phrases])
    return [words == phrase.french for words, phrase in zip(found, phrases, strict=True)]


def chosen(networks: Mapping[str, Fitted]) -> Phrase:
    """The first held-out sentence with a change of places and no word twice that all networks translate."""
    _, held_out = data()
    for phrase, *all_right in zip(held_out, *(right(fitted, held_out) for fitted in networks.values()), strict=True):
        once = all(len(set(words)) == len(words) for words in (phrase.english, phrase.french))
        swaps = sum(a > b for a, b in pairwise(phrase.alignment))
        if all(all_right) and once and swaps > 1:
            return phrase
    raise ValueError("No held-out sentence is translated by all networks. Train longer.")


def rounded(values: Tensor) -> list[Any]:
    found: list[Any] = (np.round(values.double().numpy(), 2) + 0.0).tolist()
    return found


@torch.no_grad()
def vectors(fitted: Fitted, phrase: Phrase) -> dict[str, Any]:
    """Queries (T, H), keys (S, H) and the weights of the score function, rounded."""
    model = fitted.model
    assert isinstance(model, Attending)
    ids, lengths, read, _ = batch_of([(phrase.english, phrase.french)], fitted.source, fitted.target, False)
    source = model.encode(ids, lengths)
    state, queries = model.start(source), []
    for t in range(read.shape[1]):
        queries.append(state[0, 0])
        _, state, _ = model.decode_attending(read[:, t : t + 1], state, source)
    found = {"queries": rounded(torch.stack(queries)), "keys": rounded(source.keys[0])}
    if model.settings.score == "bilinear":
        found["W"] = rounded(model.key.weight)  # q @ (W k): rows belong to the query
    elif model.settings.score == "additive":
        found |= {"W_q": rounded(model.query.weight.T), "W_k": rounded(model.key.weight.T)}
        found["v"] = rounded(model.v.weight[0])
    return found


def agreement(fitted: Fitted) -> dict[str, float]:
    """Of all held-out sentences: exact match, and the share of words whose largest weight is on the aligned word."""
    _, held_out = data()
    pairs = [(phrase.english, phrase.french) for phrase in held_out]
    weights = attention_weights(fitted, pairs)
    hits = [int(weights[i, t].argmax()) == j for i, p in enumerate(held_out) for t, j in enumerate(p.alignment)]
    return {
        "loss": round(mean(fitted.losses[-50:]), 3),
        "exact": round(exact_match(greedy(fitted, [source for source, _ in pairs]), pairs), 1),
        "alignment": round(100 * mean(hits), 1),
    }


def assembled() -> dict[str, Any]:
    networks = {score: trained(score) for score in SCORES}
    phrase = chosen(networks)
    return {
        "command": "python -m experiments.ch06.explorable_data --record",
        "settings": {"optimizer": "Adam", "query": "previous", **BASE, **LENGTHS},
        "versions": {"torch": version("torch").partition("+")[0]},
        "held_out": {score: agreement(fitted) for score, fitted in networks.items()},
        "source": [*phrase.english, "⟨eos⟩"],
        "target": [*phrase.french, "⟨eos⟩"],
        "alignment": [*phrase.alignment, len(phrase.english)],
        "pads": PADS,
        "networks": {score: vectors(fitted, phrase) for score, fitted in networks.items()},
    }


def main() -> None:
    found = assembled()
    print(json.dumps({key: found[key] for key in ("held_out", "source", "target")}, ensure_ascii=False, indent=1))
    if "--record" in sys.argv[1:]:
        DATA_FILE.write_text(to_json(found), "utf-8")


if __name__ == "__main__":
    main()
