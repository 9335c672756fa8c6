"""Train the translator of chapter 05's capstone: English numbers in words, translated into French.

    python -m experiments.ch05.capstone_weights [--record]

A GRU encoder–decoder without attention, two layers of 48 units and embeddings of 32, learns from 8,000 of the numbers
0 to 9999 (`model.fit`). Training ends after 600 updates, before the network is perfect: this number was chosen, among
600, 650 and 700, because the network then still makes search errors and model errors, on 300 of the held-out numbers.
The weights are rounded to three decimals, and all figures are those of the rounded weights, in float64.

Students get the network of the first seed, the vocabularies, a hundred held-out pairs (the first of the split, not the
ones above), and a probe: results of PyTorch for a few pairs, against which the notebook compares the student's
functions. The record says how often the network is right on held-out numbers, with greedy and with beam search, for
five seeds; they differ widely so early in training.

Prints the record; with --record it also writes `capstone_weights.json` here, and the file that students get,
`solutions/ch05_encoder_decoder/files/capstone_translator.json`. About four minutes on one core.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from experiments.ch05.model import EOS, PAD, SOS, Fitted, Settings, fit, padded
from experiments.ch05.numbers import Pair, pairs, split
from solutions.ch05_encoder_decoder.decoder import decode_step
from solutions.ch05_encoder_decoder.decoding import beam_search
from solutions.ch05_encoder_decoder.encoder import encode, pad_batch

RESULTS_FILE = Path(__file__).with_name("capstone_weights.json")
SHIPPED = Path(__file__).parents[2] / "solutions" / "ch05_encoder_decoder" / "files" / "capstone_translator.json"
SETTINGS: dict[str, Any] = {
    "train_numbers": 8000,
    "embed_size": 32,
    "hidden_size": 48,
    "layers": 2,
    "updates": 600,
    "batch": 64,
    "lr": 2e-3,
    "clip": 1.0,
    "decimals": 3,
    "given": 100,  # held-out pairs that students get
    "other": 500,  # held-out pairs that the record measures beside them
    "beam_width": 4,
    "max_length": 12,
}
SEEDS = tuple(range(5))

Arrays = dict[str, Any]  # arrays, and lists of dicts of arrays for the layers
Step = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def held_out() -> tuple[list[int], list[int]]:
    """The numbers whose pairs students get, and as many others as the record measures."""
    _, held = split(SETTINGS["train_numbers"])
    return held[: SETTINGS["given"]], held[-SETTINGS["other"] :]


def trained(seed: int, updates: int | None = None) -> Fitted:
    """The network after training, its weights rounded, in float64."""
    train, held = split(SETTINGS["train_numbers"])
    names = ("embed_size", "hidden_size", "layers", "batch", "lr", "clip")
    settings = Settings(
        **{name: SETTINGS[name] for name in names},
        updates=SETTINGS["updates"] if updates is None else updates,
        seed=seed,
    )
    fitted = fit(pairs(train, "fr"), settings, vocabulary_of=pairs(train + held, "fr"))
    fitted.model.double()
    with torch.no_grad():
        for parameter in fitted.model.parameters():
            parameter.copy_(parameter.round(decimals=SETTINGS["decimals"]) + 0.0)
    return fitted


def weights_of(fitted: Fitted) -> Arrays:
    """The weights as `encode` and `decode_step` take them: transposed from PyTorch's."""
    names = {"W_x": "weight_ih", "W_h": "weight_hh", "b_x": "bias_ih", "b_h": "bias_hh"}
    model = fitted.model

    def layers(rnn: torch.nn.GRU) -> list[Arrays]:
        return [
            {name: getattr(rnn, f"{of_torch}_l{i}").detach().numpy().T for name, of_torch in names.items()}
            for i in range(rnn.num_layers)
        ]

    return {
        "E_source": model.source_embedding.weight.detach().numpy(),
        "encoder": layers(model.encoder),
        "E_target": model.target_embedding.weight.detach().numpy(),
        "decoder": layers(model.decoder),
        "W_p": model.head.weight.detach().numpy().T,
        "b_p": model.head.bias.detach().numpy(),
    }


def step_of(weights: Arrays) -> Step:
    """The decoder's step, as `beam_search` calls it."""

    def step(y_prev: np.ndarray, s_prev: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        logits, s = decode_step(y_prev, s_prev, weights["E_target"], weights["decoder"], weights["W_p"], weights["b_p"])
        return logits, s

    return step


def outcomes(fitted: Fitted, chosen: list[Pair]) -> dict[str, Any]:
    """How many of the pairs are translated exactly, by greedy decoding and by beam search."""
    weights, counts = weights_of(fitted), {"both": 0, "only_beam": 0, "only_greedy": 0, "neither": 0}
    contexts = encode(
        *pad_batch([fitted.source.encode(words) for words, _ in chosen], PAD), weights["E_source"], weights["encoder"]
    )
    step = step_of(weights)
    for number, (_, wanted) in enumerate(chosen):
        right = [
            fitted.target.decode(
                beam_search(step, contexts[:, [number]], SOS, EOS, width, SETTINGS["max_length"])[0][0]
            )
            == wanted
            for width in (1, SETTINGS["beam_width"])
        ]
        name = {(True, True): "both", (False, True): "only_beam", (True, False): "only_greedy"}.get(
            (right[0], right[1]), "neither"
        )
        counts[name] += 1
    share = {"greedy": counts["both"] + counts["only_greedy"], "beam": counts["both"] + counts["only_beam"]}
    return counts | {f"exact_{name}": round(100 * n / len(chosen), 1) for name, n in share.items()}


@torch.no_grad()
def probe(fitted: Fitted, chosen: list[Pair]) -> dict[str, Any]:
    """Results of PyTorch for the first pairs, of different lengths, read in one padded batch."""
    ids, lengths = padded([fitted.source.encode(words) for words, _ in chosen])
    context = fitted.model.encode(ids, lengths)
    logits, state = fitted.model.decode(torch.full((len(chosen), 1), SOS), context, context)
    return {
        "ids": ids.tolist(),
        "lengths": lengths.tolist(),
        "context": context.numpy().round(6).tolist(),
        "logits": logits[:, 0].numpy().round(6).tolist(),
        "state": state.numpy().round(6).tolist(),
    }


def rows_on_lines(value: Any) -> str:
    """JSON with one row of numbers or words a line."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    return re.sub(r"\[\s+([^][{}]+?)\s+\]", lambda row: "[" + re.sub(r"\s+", " ", row[1]) + "]", text) + "\n"


def as_lists(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [as_lists(v) for v in value] if isinstance(value, list) else {k: as_lists(v) for k, v in value.items()}


def shipped(fitted: Fitted) -> dict[str, Any]:
    """What students get."""
    given, _ = held_out()
    chosen = pairs(given, "fr")
    lengths = sorted({len(words) for words, _ in chosen}, reverse=True)
    different = [next(pair for pair in chosen if len(pair[0]) == n) for n in lengths[1:4]]
    return {
        "source_words": fitted.source.tokens,
        "target_words": fitted.target.tokens,
        "held_out": [
            [number, " ".join(words), " ".join(wanted)] for number, (words, wanted) in zip(given, chosen, strict=True)
        ],
        "probe": probe(fitted, different),
        "weights": as_lists(weights_of(fitted)),
    }


def main() -> None:
    started, networks = time.monotonic(), []
    given, other = (pairs(numbers, "fr") for numbers in held_out())
    for seed in SEEDS:
        fitted = trained(seed)
        networks.append({"seed": seed, "given": outcomes(fitted, given), "other": outcomes(fitted, other)})
        print(json.dumps(networks[-1]), f"{time.monotonic() - started:.0f} s", flush=True)
        if seed == SEEDS[0]:
            of_students = shipped(fitted)
    record = {
        "command": "python -m experiments.ch05.capstone_weights --record",
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
