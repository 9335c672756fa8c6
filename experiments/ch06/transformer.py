"""A tiny transformer that translates numbers, beside the recurrent decoder with attention.

    python -m experiments.ch06.transformer [--record] [--resume]

The task, vocabularies and held-out numbers are those of `gains`: English number words to French, from 8,000 and from
300 pairs. The recurrent network is its network with additive attention. The transformer has two blocks in the encoder
and two in the decoder, of 64 numbers a position with four heads, sinusoidal positions, and the normalization first: the
page's equations, with a hidden layer of 128 in the position-wise networks. Both have about as many weights. Training is
the same for both, with Adam, a constant learning rate and clipping to 1, and each network is tested after 100, 200, …,
3,200 updates of one run.

The learning rate of each network is the best of three on 1,000 of the 8,000 numbers that its trial was not trained on,
after 800 updates with a seed that is not used again: `trials` in the record. Neither has dropout or a schedule of the
learning rate, from which a transformer usually gains. Five seeds. Takes about 20 minutes of one core; an interrupted
recording goes on with `--record --resume`.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from experiments.ch03.record import mean_and_sd, to_json
from experiments.ch05.model import Fitted, Settings, Translator, exact_match, fit, greedy
from experiments.ch05.numbers import pairs, split
from experiments.ch06.gains import ADDITIVE, network
from experiments.ch06.positions import sinusoids

RESULTS_FILE = Path(__file__).with_name("transformer.json")
LONGEST = 64  # positions; no number has as many tokens
UPDATES = (100, 200, 400, 800, 1600, 3200)
SIZES = (8000, 300)
SEEDS = tuple(range(5))
TRIAL: dict[str, Any] = {"seed": 100, "updates": 800, "tested": 1000, "rates": (5e-4, 1e-3, 2e-3)}


@dataclass(frozen=True)
class TransformerSettings(Settings):
    """Settings of chapter 05 that a transformer has, and its own."""

    blocks: int = 2  # in the encoder, and in the decoder
    heads: int = 4
    network_size: int = 128  # the hidden layer of a position-wise network


class Source(NamedTuple):
    """What the decoder gets of a batch of sources."""

    R: Tensor  # (B, S, D), the encoder's outputs
    padding: Tensor  # (B, S), true where there is no token


class Transformer(Translator):
    """Encoder and decoder are stacks of blocks. What the decoder takes from step to step are the ids read so far."""

    settings: TransformerSettings

    def __init__(self, source_vocab: int, target_vocab: int, settings: TransformerSettings) -> None:
        nn.Module.__init__(self)
        self.settings = settings
        D = settings.embed_size
        how: dict[str, Any] = {"dropout": 0.0, "batch_first": True, "norm_first": True}
        size = (D, settings.heads, settings.network_size)
        self.source_embedding = nn.Embedding(source_vocab, D)
        self.target_embedding = nn.Embedding(target_vocab, D)
        for table in (self.source_embedding, self.target_embedding):
            nn.init.normal_(table.weight, std=D**-0.5)  # times the root of D below: as large as the positions
        encoder, decoder = nn.TransformerEncoderLayer(*size, **how), nn.TransformerDecoderLayer(*size, **how)
        self.encoder = nn.TransformerEncoder(  # type: ignore[assignment]
            encoder, settings.blocks, nn.LayerNorm(D), enable_nested_tensor=False
        )
        self.decoder = nn.TransformerDecoder(decoder, settings.blocks, nn.LayerNorm(D))  # type: ignore[assignment]
        for stack in (self.encoder, self.decoder):  # PyTorch copies one block, so all would begin alike
            for weights in stack.parameters():
                if weights.dim() > 1:
                    nn.init.xavier_uniform_(weights)
        self.head = nn.Linear(D, target_vocab)
        self.register_buffer("positions", torch.as_tensor(sinusoids(LONGEST, D)).float())

    def placed(self, vectors: Tensor) -> Tensor:
        """Embeddings (B, T, D), scaled, plus their positions."""
        positions: Tensor = self.positions  # type: ignore[assignment]
        return vectors * math.sqrt(vectors.shape[2]) + positions[: vectors.shape[1]]

    def encode(self, source: Tensor, lengths: Tensor) -> Source:
        """Source ids (B, S) and their lengths (B,) -> the encoder's outputs and the mask of padding."""
        padding = torch.arange(source.shape[1]) >= lengths[:, None]
        return Source(self.encoder(self.placed(self.source_embedding(source)), src_key_padding_mask=padding), padding)

    def start(self, context: Source) -> Tensor:
        """No ids (B, 0): nothing is read yet."""
        return torch.zeros(len(context.R), 0, dtype=torch.long)

    def decode(self, target_in: Tensor, state: Tensor, context: Source) -> tuple[Tensor, Tensor]:
        """Ids (B, T), after those in state (B, N) -> logits (B, T, V) and all ids (B, N + T).

        All blocks are computed again for the ids in the state, where a program for use would keep keys and values.
        """
        read = torch.cat([state, target_in], dim=1)
        future = torch.ones(read.shape[1], read.shape[1], dtype=torch.bool).triu(1)
        outputs = self.decoder(
            self.placed(self.target_embedding(read)),
            context.R,
            tgt_mask=future,
            memory_key_padding_mask=context.padding,
        )
        return self.head(outputs[:, state.shape[1] :]), read


NETWORKS: dict[str, Settings] = {
    "recurrent": replace(ADDITIVE, updates=max(UPDATES)),
    "transformer": TransformerSettings(embed_size=64, hidden_size=64, clip=1.0, updates=max(UPDATES)),
}


def builder(how: Settings) -> type[Translator]:
    """The class of the networks with these settings."""
    return Transformer if isinstance(how, TransformerSettings) else network(how)


def trial(name: str, rate: float) -> dict[str, Any]:
    """A run that helps to choose the learning rate: tested on numbers that are for training."""
    known = pairs(split(8000)[0], "fr")
    tested, used = known[-TRIAL["tested"] :], known[: -TRIAL["tested"]]
    how = replace(NETWORKS[name], lr=rate, seed=TRIAL["seed"], updates=TRIAL["updates"])
    fitted = fit(used, how, vocabulary_of=known, build=builder(how))
    found = greedy(fitted, [source for source, _ in tested])
    return {
        "network": name,
        "lr": rate,
        "loss": round(mean(fitted.losses[-20:]), 4),
        "exact": round(exact_match(found, tested), 2),
    }


def chosen(trials: Sequence[dict[str, Any]]) -> dict[str, float]:
    """For each network the learning rate with the most right translations; of equals, that with the lowest loss."""
    best = {}
    for name in NETWORKS:
        own = [one for one in trials if one["network"] == name]
        best[name] = max(own, key=lambda one: (one["exact"], -one["loss"]))["lr"]
    return best


def run(name: str, trained_on: int, rate: float, seed: int) -> dict[str, Any]:
    """Train one network, and test it now and then."""
    train, held_out = split(8000)
    known, tested = pairs(train, "fr"), pairs(held_out, "fr")
    how = replace(NETWORKS[name], lr=rate, seed=seed)
    exact: list[float] = []
    spent = 0.0  # seconds of tests

    def look(update: int, fitted: Fitted) -> None:
        nonlocal spent
        if update in UPDATES:
            started = time.process_time()
            fitted.model.eval()
            found = greedy(fitted, [source for source, _ in tested])
            exact.append(round(exact_match(found, tested), 2))
            fitted.model.train()
            spent += time.process_time() - started

    started = time.process_time()
    fitted = fit(known[:trained_on], how, vocabulary_of=known, look=look, build=builder(how))
    return {
        "network": name,
        "trained_on": trained_on,
        "seed": seed,
        "parameters": sum(weights.numel() for weights in fitted.model.parameters()),
        "exact": exact,
        "loss": [round(mean(fitted.losses[at - 20 : at]), 4) for at in UPDATES],
        "milliseconds": round(1000 * (time.process_time() - started - spent) / how.updates, 1),
    }


def summary(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """For each network and number of pairs: mean and standard deviation of the exact matches after each of UPDATES."""
    found: dict[str, Any] = {}
    for name in NETWORKS:
        for size in SIZES:
            own = [one for one in runs if (one["network"], one["trained_on"]) == (name, size)]
            if own:
                found[f"{name}, {size}"] = {
                    "runs": len(own),
                    "parameters": own[0]["parameters"],
                    "exact": [mean_and_sd(column, 2) for column in zip(*(one["exact"] for one in own), strict=True)],
                }
    return found


def assembled(trials: Sequence[dict[str, Any]], runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The record, its runs in the order of networks, sizes and seeds, in whatever order they were made."""
    runs = sorted(
        runs, key=lambda one: (list(NETWORKS).index(one["network"]), SIZES.index(one["trained_on"]), one["seed"])
    )
    shared = ("batch", "clip")
    own = ("embed_size", "blocks", "heads", "network_size")
    return {
        "command": "python -m experiments.ch06.transformer --record",
        "settings": {
            "optimizer": "Adam",
            "target": "fr",
            **{key: getattr(NETWORKS["transformer"], key) for key in (*shared, *own)},
            "updates": list(UPDATES),
            "trial": {**TRIAL, "rates": list(TRIAL["rates"])},
        },
        "seeds": list(SEEDS),
        "versions": {name: version(name).partition("+")[0] for name in ("torch", "num2words")},
        "trials": list(trials),
        "learning_rates": chosen(trials),
        "summary": summary(runs),
        "runs": runs,
    }


def main() -> None:
    trials: list[dict[str, Any]] = []
    runs: list[dict[str, Any]] = []
    if "--resume" in sys.argv[1:]:
        before = json.loads(RESULTS_FILE.read_text("utf-8"))
        trials, runs = before["trials"], before["runs"]
    for name, rate in [(name, rate) for name in NETWORKS for rate in TRIAL["rates"]]:
        if not any((one["network"], one["lr"]) == (name, rate) for one in trials):
            trials.append(trial(name, rate))
            print(trials[-1], flush=True)
    rates = chosen(trials)
    done = {(one["network"], one["trained_on"], one["seed"]) for one in runs}
    for name, size, seed in [(name, size, seed) for seed in SEEDS for size in SIZES for name in NETWORKS]:
        if (name, size, seed) in done:
            continue
        runs.append(run(name, size, rates[name], seed))
        print(runs[-1], flush=True)
        if "--record" in sys.argv[1:]:  # after every run, so that an interrupted recording keeps its runs
            RESULTS_FILE.write_text(to_json(assembled(trials, runs)), "utf-8")


if __name__ == "__main__":
    main()
