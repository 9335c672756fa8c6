"""Train the translator of chapter 06's capstone: English phrases of chapter 05's grammar, translated into French.

    python -m experiments.ch06.capstone_weights [--record]

A GRU encoder–decoder with additive attention learns from 1,000 sentences of each English length from 3 to 10 words. The
encoder reads both ways, with 24 units each; the decoder has 48, and its previous state is the query. The weights are
rounded to three decimals, and all figures are those of the rounded weights, in float64.

Students get the network of the first seed, the vocabularies, which French word translates which English one, a few
held-out sentences of each length with their alignments, also of the lengths 11 to 15, which are longer than any in
training, and a probe: results of PyTorch for three sentences, against which the notebook compares the student's
functions. The record says, for three seeds, how often a network translates exactly and how often its largest weight is
on the aligned word.

Prints the record; with --record it also writes `capstone_weights.json` here, and the file that students get,
`solutions/ch06_attention/files/capstone_attention.json`. Less than a minute on one core.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from experiments.ch05.capstone_weights import rows_on_lines
from experiments.ch05.grammar import Phrase, by_length
from experiments.ch05.model import SOS, Fitted, exact_match, fit, greedy, padded
from experiments.ch06.alignments import weights_of as attention
from experiments.ch06.model import Attending, AttentionSettings

RESULTS_FILE = Path(__file__).with_name("capstone_weights.json")
SHIPPED = Path(__file__).parents[2] / "solutions" / "ch06_attention" / "files" / "capstone_attention.json"
SETTINGS: dict[str, Any] = {
    "shortest": 3,
    "longest": 10,
    "longest_given": 15,
    "train_each": 1000,
    "embed_size": 32,
    "hidden_size": 48,
    "attention_size": 32,
    "updates": 500,
    "batch": 64,
    "lr": 4e-3,
    "clip": 1.0,
    "decimals": 3,
    "held_out_each": 100,  # of each length
    "given_each": 12,  # the first of these, which students get
    "given_longer": 6,  # of each length beyond the longest for training
}
SEEDS = tuple(range(3))


@cache
def data() -> tuple[list[Phrase], dict[int, list[Phrase]]]:
    """Sentences for training, and held-out ones by their English length."""
    groups = by_length(SETTINGS["train_each"], SETTINGS["shortest"], SETTINGS["longest"], seed=0)
    train = [phrase for group in groups.values() for phrase in group]
    known = {" ".join(phrase.english) for phrase in train}
    ends = SETTINGS["shortest"], SETTINGS["longest_given"]
    return train, by_length(SETTINGS["held_out_each"], *ends, seed=1, without=known)


def parts() -> dict[str, dict[int, list[Phrase]]]:
    """The held-out sentences: those that students get, others of the trained lengths, and longer ones."""
    _, held = data()
    trained_lengths = {n: group for n, group in held.items() if n <= SETTINGS["longest"]}
    return {
        "given": {n: group[: SETTINGS["given_each"]] for n, group in trained_lengths.items()},
        "other": {n: group[SETTINGS["given_each"] :] for n, group in trained_lengths.items()},
        "longer": {n: group for n, group in held.items() if n > SETTINGS["longest"]},
    }


def trained(seed: int, updates: int | None = None) -> Fitted:
    """The network after training, its weights rounded, in float64."""
    names = ("embed_size", "hidden_size", "attention_size", "batch", "lr", "clip")
    settings = AttentionSettings(
        **{name: SETTINGS[name] for name in names},
        updates=SETTINGS["updates"] if updates is None else updates,
        seed=seed,
    )
    train, _ = data()
    fitted = fit([(p.english, p.french) for p in train], settings, build=Attending)
    fitted.model.double()
    with torch.no_grad():
        for parameter in fitted.model.parameters():
            parameter.copy_(parameter.round(decimals=SETTINGS["decimals"]) + 0.0)
    return fitted


def weights_of(fitted: Fitted) -> dict[str, Any]:
    """The weights as `additive_score`, `gru_cell` and `attention_step` take them: transposed from PyTorch's."""
    names = {"W_x": "weight_ih", "W_h": "weight_hh", "b_x": "bias_ih", "b_h": "bias_hh"}
    model = fitted.model

    def layer(rnn: torch.nn.GRU, suffix: str = "") -> dict[str, np.ndarray]:
        return {name: getattr(rnn, f"{of_torch}_l0{suffix}").detach().numpy().T for name, of_torch in names.items()}

    return {
        "E_source": model.source_embedding.weight.detach().numpy(),
        "forward": layer(model.encoder),
        "backward": layer(model.encoder, "_reverse"),
        "score": {
            "W_q": model.query.weight.detach().numpy().T,
            "W_k": model.key.weight.detach().numpy().T,
            "v": model.v.weight.detach().numpy()[0],
        },
        "E_target": model.target_embedding.weight.detach().numpy(),
        "decoder": layer(model.decoder),
        "W_p": model.head.weight.detach().numpy().T,
        "b_p": model.head.bias.detach().numpy(),
    }


def outcomes(fitted: Fitted, groups: dict[int, list[Phrase]]) -> dict[str, Any]:
    """Exact match of greedy decoding, and the share of largest weights on the aligned word, fed the reference."""
    found, right, words = [], 0, 0
    chosen = [phrase for group in groups.values() for phrase in group]
    for group in groups.values():
        for phrase, rows in zip(group, attention(fitted, group), strict=True):
            right += sum(int(row.argmax()) == j for row, j in zip(rows, phrase.alignment, strict=False))
            words += len(phrase.alignment)
    found = greedy(fitted, [phrase.english for phrase in chosen])
    return {
        "sentences": len(chosen),
        "exact": round(exact_match(found, [(p.english, p.french) for p in chosen]), 1),
        "words": words,
        "alignment": round(100 * right / words, 1),
    }


@torch.no_grad()
def probe(fitted: Fitted, chosen: Sequence[Phrase]) -> dict[str, Any]:
    """Results of PyTorch for a few sentences of different lengths, in one padded batch: the first decoder step."""
    model = fitted.model
    assert isinstance(model, Attending)
    ids, lengths = padded([fitted.source.encode(phrase.english) for phrase in chosen])
    source = model.encode(ids, lengths)
    query = source.final.transpose(0, 1)
    context, _ = model.attend(query, source)
    scores = model.v(torch.tanh(model.query(query) + source.projected))[..., 0]
    logits, state, weights = model.decode_attending(torch.full((len(chosen), 1), SOS), source.final, source)
    arrays = {
        "keys": source.keys,
        "query": query[:, 0],
        "scores": scores,
        "weights": weights[:, 0],
        "context": context[:, 0],
        "logits": logits[:, 0],
        "state": state[0],
    }
    return {
        "ids": ids.tolist(),
        "mask": source.mask.tolist(),
        **{name: (array.numpy().round(6) + 0.0).tolist() for name, array in arrays.items()},
    }


def in_thousandths(value: Any) -> Any:
    """The weights as whole numbers of thousandths, so that the file is small."""
    if isinstance(value, np.ndarray):
        return np.rint(value * 10 ** SETTINGS["decimals"]).astype(int).tolist()
    return {name: in_thousandths(part) for name, part in value.items()}


def dictionary() -> dict[str, list[str]]:
    """For each French word the English words that it translates in the sentences for training."""
    found: dict[str, set[str]] = {}
    for phrase in data()[0]:
        for french, j in zip(phrase.french, phrase.alignment, strict=True):
            found.setdefault(french, set()).add(phrase.english[j])
    return {french: sorted(english) for french, english in sorted(found.items())}


def shipped(fitted: Fitted) -> dict[str, Any]:
    """What students get."""
    groups = parts()
    longer = [phrase for group in groups["longer"].values() for phrase in group[: SETTINGS["given_longer"]]]
    given = [phrase for group in groups["given"].values() for phrase in group]

    def rows(phrases: list[Phrase]) -> list[Any]:
        return [[" ".join(p.english), " ".join(p.french), " ".join(map(str, p.alignment))] for p in phrases]

    return {
        "source_words": fitted.source.tokens,
        "target_words": fitted.target.tokens,
        "translates": dictionary(),
        "held_out": rows(given),
        "longer": rows(longer),
        "probe": probe(fitted, [groups["given"][n][0] for n in (9, 6, 4)]),
        "thousandths": in_thousandths(weights_of(fitted)),
    }


def main() -> None:
    started, networks, groups = time.process_time(), [], parts()
    for seed in SEEDS:
        fitted = trained(seed)
        networks.append({"seed": seed} | {name: outcomes(fitted, group) for name, group in groups.items()})
        print(json.dumps(networks[-1]), f"{time.process_time() - started:.0f} s", flush=True)
        if seed == SEEDS[0]:
            of_students = shipped(fitted)
    record = {
        "command": "python -m experiments.ch06.capstone_weights --record",
        "settings": SETTINGS,
        "seeds": list(SEEDS),
        "versions": {"numpy": np.__version__, "torch": torch.__version__.partition("+")[0]},
        "parameters": sum(p.numel() for p in fitted.model.parameters()),
        "networks": networks,
    }
    if "--record" in sys.argv[1:]:
        RESULTS_FILE.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
        SHIPPED.parent.mkdir(exist_ok=True)
        SHIPPED.write_text(rows_on_lines(of_students), "utf-8")


if __name__ == "__main__":
    main()
