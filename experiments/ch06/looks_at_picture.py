"""Attention over a feature map: does a caption network that looks at the picture before each word write better?

    python -m experiments.ch06.looks_at_picture [--record] [--resume]

The pictures, tests, settings, seeds and batches are those of `experiments.ch05.captions`; only the decoder is another
one. Its initial state is made from the mean of the map over all places, like that of the network *mean* there. To each
place of the map, a learned vector is added that says which place it is. Before each word, a bilinear score compares the
decoder's previous state with each of the 8 × 8 places, and their weighted sum is read by the GRU beside the word, and
by the head beside the new state. Four groups, five seeds:

- attention, trained on twelve of the sixteen colour–shape pairs;
- uniform: the same network, but all weights are 1/64, in training and afterwards. A context at every step without a
  choice: the control for the larger decoder;
- attention, all pairs: the control for the pairs that the others have not seen;
- attention, no positions: without the vectors of the places.

No setting was chosen for attention. Before these runs, one network of each of two kinds was tried with the first seed:
this one, and one with the current state as the query and without positions, whose relations were guesses.

Measured besides the judge's verdicts, for pictures of two different shapes while the decoder reads a right caption:
whether the place with the largest weight is at the shape that the word is about. A place is at a shape if the centre of
its receptive field is at most `near` pixels outside the circle around the shape. Beside it, the share of all places for
which this holds, which is what a random choice would reach, and the share with the largest weight at the *other* shape.
Takes about 25 minutes of one core; an interrupted recording goes on with `--record --resume`.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from experiments.ch03.record import to_json
from experiments.ch05 import captions
from experiments.ch05.captions import SETTINGS as POOLED
from experiments.ch05.captions import TOKENS, Captioner, graded, greedy, relations, to_ids, to_inputs
from experiments.ch05.model import PAD, shifted
from experiments.ch05.shapes import COLOURS, PAIRS, SEEN, SHAPES, Pictures, Thing, judge

RESULTS_FILE = Path(__file__).with_name("looks_at_picture.json")
SETTINGS: dict[str, float] = {**POOLED, "near": 2.0}
SEEDS = captions.SEEDS
NETWORKS: dict[str, dict[str, Any]] = {
    "attention": {"pairs": SEEN},
    "uniform": {"pairs": SEEN, "uniform": True},
    "attention, all pairs": {"pairs": PAIRS},
    "attention, no positions": {"pairs": SEEN, "positions": False},
}
PLACES = 8  # in each direction
CENTRES = 4 * np.arange(PLACES) + 0.5  # of the places' receptive fields, in pixels
SHOWN = {"seen": (5, 8, 10, 14, 16, 19), "unseen": (0, 1, 2, 3)}  # pictures whose weights are recorded, first seed
KINDS = ("article", "colour", "shape", "relation")


class Looking(NamedTuple):
    """What the decoder takes from step to step: its state, and the map, which stays the same."""

    s: Tensor  # (B, H)
    places: Tensor  # (B, P, C), the keys and values


class LookingCaptioner(nn.Module):
    """The convolutional encoder of chapter 05, and a GRU decoder with bilinear attention over the places of its map."""

    def __init__(self, C: int = 32, D: int = 32, H: int = 128, uniform: bool = False, positions: bool = True) -> None:
        super().__init__()
        self.cnn = Captioner("mean", C, D, H).cnn
        self.position = nn.Parameter(0.1 * torch.randn(PLACES**2, C) if positions else torch.zeros(1))
        self.position.requires_grad_(positions)
        self.initial = nn.Linear(C, H)  # W_f and b_f
        self.words = nn.Embedding(len(TOKENS), D, padding_idx=PAD)
        self.query = nn.Linear(H, C, bias=False)  # W
        self.cell = nn.GRUCell(D + C, H)
        self.logits = nn.Linear(H + C, len(TOKENS))
        self.uniform = uniform

    def start(self, x: Tensor) -> Looking:
        """Pictures (B, 3, 32, 32) -> the state before the first word."""
        places = self.cnn(x).flatten(2).transpose(1, 2)  # (B, C, 8, 8) -> (B, P, C)
        return Looking(torch.tanh(self.initial(places.mean(dim=1))), places + self.position)

    def attend(self, s: Tensor, places: Tensor) -> tuple[Tensor, Tensor]:
        """States (B, H) -> the contexts (B, C) and the weights of the places (B, P)."""
        e = self.query(s)[:, None] @ places.transpose(1, 2)  # bilinear scores (B, 1, P)
        alpha = torch.softmax(0 * e if self.uniform else e, dim=2)
        return (alpha @ places)[:, 0], alpha[:, 0]

    def decode_looking(self, target_in: Tensor, state: Looking) -> tuple[Tensor, Looking, Tensor]:
        """Ids (B, T) -> logits (B, T, V), the last state, and the weights (B, T, P)."""
        read, alphas, s = [], [], state.s
        for y in self.words(target_in).unbind(1):
            c, alpha = self.attend(s, state.places)
            s = self.cell(torch.cat([y, c], dim=1), s)
            read.append(torch.cat([s, c], dim=1))
            alphas.append(alpha)
        return self.logits(torch.stack(read, dim=1)), state._replace(s=s), torch.stack(alphas, dim=1)

    def decode(self, target_in: Tensor, state: Looking) -> tuple[Tensor, Looking]:
        """As `decode_looking`, without the weights: what `captions.greedy` calls."""
        logits, state, _ = self.decode_looking(target_in, state)
        return logits, state

    def forward(self, x: Tensor, target_in: Tensor) -> Tensor:
        """Teacher forcing: logits (B, T, V)."""
        return self.decode(target_in, self.start(x))[0]


def fit(
    data: Pictures, seed: int, settings: dict[str, float] = SETTINGS, **how: bool
) -> tuple[LookingCaptioner, list[float]]:
    """Train a network with chapter 05's loop: the network and its losses."""
    torch.manual_seed(seed)
    model = LookingCaptioner(*(int(settings[key]) for key in ("channels", "embed_size", "hidden_size")), **how)
    losses = captions.train(model, data, seed, settings)
    return model.eval(), losses


# Where it looks -------------------------------------------------------------------------------------------------------


@torch.no_grad()
def weights_of(model: LookingCaptioner, pixels: np.ndarray, written: Sequence[str]) -> Tensor:
    """The weights (N, T, 8, 8) while the decoder reads these captions: row t before word t, ⟨eos⟩ included."""
    target_in = shifted(to_ids(written))
    alphas = model.decode_looking(target_in, model.start(to_inputs(pixels)))[2]
    return alphas.unflatten(2, (PLACES, PLACES))


def places_at(thing: Thing, near: float = SETTINGS["near"]) -> np.ndarray:
    """Which places are at a shape: (8, 8), rows from above."""
    away: np.ndarray = np.hypot(CENTRES[None, :] - thing.x, CENTRES[:, None] - thing.y)
    return away <= thing.radius + near


def kinds_of(caption: str) -> list[tuple[str, int]]:
    """For each word its kind, and whether it is in the first phrase (0) or the second (1); a relation, in the first."""
    found, phrase = [], 0
    for word in caption.split():
        if word in COLOURS:
            found.append(("colour", phrase))
        elif word in SHAPES:
            found.append(("shape", phrase))
        elif word in ("a", "an"):
            found.append(("article", phrase))
        else:
            found.append(("relation", phrase))
            phrase = int(word not in ("left", "right"))  # *of* comes next
    return found


def looked(model: LookingCaptioner, data: Pictures) -> dict[str, Any]:
    """For pictures of two different shapes: at which of them the largest weight is, by the kind of the word.

    For each kind the number of words, and in percent: at the shape named in the word's own phrase, at the other one,
    the weight at the own shape, and the share of places at it. For relations the own shape is the first.
    """
    chosen = [i for i, scene in enumerate(data.scenes) if len({thing.pair for thing in scene}) == 2]
    written = [data.captions[i] for i in chosen]
    weights = weights_of(model, data.pixels[chosen], written).numpy()
    counts: dict[str, Counter[str]] = {f"{kind} {phrase + 1}": Counter() for phrase in (0, 1) for kind in KINDS}
    for i, caption, rows in zip(chosen, written, weights, strict=True):
        scene = {thing.pair: thing for thing in data.scenes[i]}
        named = pairs_in(caption)
        things = [scene[pair] for pair in named]
        for (kind, phrase), alpha in zip(kinds_of(caption), rows, strict=False):
            own, other = places_at(things[phrase]), places_at(things[1 - phrase])
            best = np.unravel_index(alpha.argmax(), alpha.shape)
            counts[f"{kind} {phrase + 1}"].update(
                {
                    "words": 1,
                    "own": float(own[best]),
                    "other": float(other[best]),
                    "weight": float(alpha[own].sum()),
                    "chance": float(own.mean()),
                }  # type: ignore[dict-item]
            )
    return {
        name: {"words": one["words"]}
        | {key: round(100 * one[key] / one["words"], 2) for key in ("own", "other", "weight", "chance")}
        for name, one in counts.items()
        if one["words"]
    }


def pairs_in(caption: str) -> list[tuple[str, str]]:
    """The colour–shape pairs that a caption of two phrases names, in order."""
    words = caption.split()
    return [(a, b) for a, b in pairwise(words) if a in COLOURS and b in SHAPES]


# The record -----------------------------------------------------------------------------------------------------------


def shown(model: LookingCaptioner, test: str) -> list[dict[str, Any]]:
    """What the network writes about some pictures of a test, and the weights (8, 8) before each word."""
    data = captions.tests()[test]
    found = []
    for i in SHOWN[test]:
        pixels = data.pixels[i : i + 1]
        (written,) = greedy(model, pixels)  # type: ignore[arg-type]
        alpha = weights_of(model, pixels, [written])[0]
        rows = [[[round(value, 3) for value in row] for row in one] for one in alpha.tolist()]
        verdict = judge(written, data.scenes[i])
        found.append({"index": i, "caption": written, "verdict": verdict, "weights": rows})
    return found


def run(name: str, seed: int) -> dict[str, Any]:
    """Train one network and test it: its record."""
    started, how = time.process_time(), NETWORKS[name]
    data = captions.data_of(how["pairs"])
    model, losses = fit(data, seed, **{key: value for key, value in how.items() if key != "pairs"})
    written = {test: greedy(model, found.pixels) for test, found in captions.tests().items()}  # type: ignore[arg-type]
    first = int(SETTINGS["test"])
    return {
        "network": name,
        "seed": seed,
        "loss": round(mean(losses[-100:]), 3),
        "trained": graded(greedy(model, data.pixels[:first]), data.scenes[:first]),  # type: ignore[arg-type]
        **{test: graded(written[test], found.scenes) for test, found in captions.tests().items()},
        "relations": relations(written["seen"], captions.tests()["seen"].scenes),
        "looked": {} if how.get("uniform") else looked(model, captions.tests()["seen"]),
        "weights": sum(weight.numel() for weight in model.parameters()),
        "shown": {test: shown(model, test) for test in SHOWN} if (name, seed) == ("attention", SEEDS[0]) else {},
        "cpu_seconds": round(time.process_time() - started, 1),
    }


def mean_and_sd(values: Sequence[float]) -> dict[str, float]:
    return {"mean": round(mean(values), 2), "sd": round(stdev(values), 2) if len(values) > 1 else 0.0}


def summary(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Mean and standard deviation over the seeds, in percent, for each network."""
    result: dict[str, Any] = {}
    for name in NETWORKS:
        here = [one for one in runs if one["network"] == name]
        if not here:
            continue
        result[name] = {
            "weights": here[0]["weights"],
            **{
                test: mean_and_sd([one[test].get("right", 0.0) for one in here])
                for test in ("trained", "seen", "unseen")
            },
            "unseen_shape": mean_and_sd([one["unseen"].get("shape", 0.0) for one in here]),
            "relations": mean_and_sd([one["relations"]["right"] for one in here]),
            "looked": {
                word: {
                    key: mean_and_sd([one["looked"][word][key] for one in here])
                    for key in ("own", "other", "weight", "chance")
                }
                for word in here[0]["looked"]
            },
        }
    return result


def record_of(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    order = list(NETWORKS)
    runs = sorted(runs, key=lambda one: (order.index(one["network"]), one["seed"]))
    return {
        "command": "python -m experiments.ch06.looks_at_picture --record",
        "settings": {"optimizer": "Adam", "schedule": "linear to 0", **SETTINGS},
        "networks": {
            name: {key: len(value) if key == "pairs" else value for key, value in how.items()}
            for name, how in NETWORKS.items()
        },
        "seeds": list(SEEDS),
        "versions": {"numpy": np.__version__, "torch": torch.__version__.partition("+")[0]},
        "summary": summary(runs),
        "runs": runs,
    }


def main() -> None:
    runs: list[dict[str, Any]] = []
    if "--resume" in sys.argv[1:]:
        runs = json.loads(RESULTS_FILE.read_text("utf-8"))["runs"]
    done = {(one["network"], one["seed"]) for one in runs}
    torch.set_num_threads(1)
    for name in NETWORKS:
        for seed in SEEDS:
            if (name, seed) in done:
                continue
            runs.append(run(name, seed))
            print({key: value for key, value in runs[-1].items() if key != "shown"}, flush=True)
            if "--record" in sys.argv[1:]:  # after every run, so that an interrupted recording keeps its runs
                RESULTS_FILE.write_text(to_json(record_of(runs)), "utf-8")


if __name__ == "__main__":
    main()
