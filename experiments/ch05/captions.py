"""Captions: a small convolutional network reads a picture, and the chapter's GRU decoder says what is in it.

    python -m experiments.ch05.captions [--record]

12,000 pictures of `experiments.ch05.shapes`, each with one of its right captions. Three convolutions with batch
normalisation turn a picture into a map of 8 × 8 places with 32 features each. Three networks differ in what the decoder
gets of this map: its mean over all places (32 numbers), the largest value of each feature in each quadrant (128), or
all of it (2,048). A linear map and tanh give the decoder's initial state. Adam with a learning rate of 0.002 that falls
linearly to 0, 2,000 updates of 32 pictures, five seeds each. The rate was chosen with quadrants, so quadrants and the
flattened map are also trained with half of it: how far they are apart depends on it.

Four of the sixteen colour–shape pairs occur in no training picture. The networks are tested on 1,000 new pictures of
the twelve other pairs, and on 1,000 pictures in each of which one of the four is the first shape drawn. A control, with
quadrants, is trained on all sixteen pairs and tested on the same pictures. Captions are greedy, and the judge of
`shapes` grades them. Baselines without training: the caption of the nearest training picture, and the one caption that
is right most often. A linear classifier (ridge regression), fitted to the decoder's initial states for pictures of one
shape with seen pairs, names the shape. For unseen pairs it mostly fails, but it also fails for the control, whose
decoder names most of these shapes: it does not tell whether the shape is lost in the initial state or in the decoder.
Takes fifteen minutes of one core.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from experiments.ch03.record import to_json
from experiments.ch05.model import EOS, PAD, SOS, SPECIAL, padded, shifted
from experiments.ch05.shapes import (
    PAIRS,
    SEEN,
    SHAPES,
    UNSEEN,
    VERDICTS,
    WORDS,
    Pictures,
    Scene,
    judge,
    pictures,
    right_captions,
)  # fmt: skip

RESULTS_FILE = Path(__file__).with_name("captions.json")
SETTINGS: dict[str, float] = {
    "pictures": 12000,
    "test": 1000,
    "probe": 600,
    "channels": 32,
    "embed_size": 32,
    "hidden_size": 128,
    "updates": 2000,
    "batch": 32,
    "lr": 2e-3,
    "clip": 1.0,
}
NETWORKS: dict[str, dict[str, Any]] = {
    "quadrants": {"read": "quadrants", "pairs": SEEN},
    "mean": {"read": "mean", "pairs": SEEN},
    "quadrants, all pairs": {"read": "quadrants", "pairs": PAIRS},
    "flattened": {"read": "flattened", "pairs": SEEN},
    "quadrants, lower rate": {"read": "quadrants", "pairs": SEEN, "lr": 1e-3},
    "flattened, lower rate": {"read": "flattened", "pairs": SEEN, "lr": 1e-3},
}
SEEDS = tuple(range(10, 15))
DATA_SEED, TEST_SEED, UNSEEN_SEED, PROBE_SEED = 1, 2, 3, 4  # of NumPy, for the pictures
EXAMPLES = 40  # of each test, the captions of the first pictures are recorded
TOKENS = (*SPECIAL, *WORDS)
IDS = {word: index for index, word in enumerate(TOKENS)}


class Captioner(nn.Module):
    """A convolutional encoder, the initial state tanh(features W_f + b_f), and a GRU decoder."""

    def __init__(
        self, read: str = "quadrants", channels: int = 32, embed_size: int = 32, hidden_size: int = 128
    ) -> None:
        super().__init__()
        C, H = channels, hidden_size
        self.read = read
        self.cnn = nn.Sequential(
            nn.Conv2d(3, C, 5, stride=2, padding=2, bias=False), nn.BatchNorm2d(C), nn.ReLU(),  # (B, C, 16, 16)
            nn.Conv2d(C, C, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(C), nn.ReLU(),  # (B, C, 8, 8)
            nn.Conv2d(C, C, 3, padding=1, bias=False), nn.BatchNorm2d(C), nn.ReLU(),
        )  # fmt: skip
        self.initial = nn.Linear({"mean": 1, "quadrants": 4, "flattened": 64}[read] * C, H)
        self.words = nn.Embedding(len(TOKENS), embed_size, padding_idx=PAD)
        self.gru = nn.GRU(embed_size, H, batch_first=True)
        self.logits = nn.Linear(H, len(TOKENS))

    def features(self, x: Tensor) -> Tensor:
        """Pictures (B, 3, 32, 32) -> what is read of their maps (B, F)."""
        places = self.cnn(x)  # (B, C, 8, 8)
        if self.read == "mean":
            return places.mean(dim=(2, 3))
        if self.read == "quadrants":
            places = nn.functional.max_pool2d(places, 4)  # (B, C, 2, 2)
        return places.flatten(1)

    def start(self, x: Tensor) -> Tensor:
        """Pictures (B, 3, 32, 32) -> the decoder's initial state (B, H)."""
        return torch.tanh(self.initial(self.features(x)))

    def decode(self, target_in: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Ids (B, T) and a state (B, H) -> logits (B, T, V) and the last state (B, H)."""
        states, last = self.gru(self.words(target_in), state[None])
        return self.logits(states), last[0]

    def forward(self, x: Tensor, target_in: Tensor) -> Tensor:
        """Teacher forcing: logits (B, T, V)."""
        return self.decode(target_in, self.start(x))[0]


def to_inputs(pixels: np.ndarray) -> Tensor:
    """Pixels (N, 32, 32, 3) of 0 to 255 -> (N, 3, 32, 32), about 0 where there is only background."""
    return torch.from_numpy(pixels).permute(0, 3, 1, 2).float() / 255 - 0.8


def to_ids(captions: Sequence[str]) -> Tensor:
    """Captions -> target ids (N, T), each ending with ⟨eos⟩, filled up with ⟨pad⟩."""
    return padded([[*(IDS[word] for word in caption.split()), EOS] for caption in captions])[0]


def train(model: nn.Module, data: Pictures, seed: int, settings: dict[str, float] = SETTINGS) -> list[float]:
    """Train with teacher forcing: the loss of each update in nats per word, ⟨eos⟩ included."""
    x, targets = to_inputs(data.pixels), to_ids(data.captions)
    target_in = shifted(targets)  # ⟨sos⟩ and all words but the last
    updates, drawn = int(settings["updates"]), torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=settings["lr"])
    falling = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda update: 1 - update / updates)
    losses = []
    for _ in range(updates):
        rows = torch.randint(len(x), (int(settings["batch"]),), generator=drawn)
        logits = model(x[rows], target_in[rows])
        loss = cross_entropy(logits.flatten(0, 1), targets[rows].flatten(), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), settings["clip"])
        optimizer.step()
        falling.step()
        losses.append(loss.item())
    return losses


def fit(data: Pictures, read: str, seed: int, settings: dict[str, float] = SETTINGS) -> tuple[Captioner, list[float]]:
    """A network with these initial weights, trained, and its losses."""
    torch.manual_seed(seed)
    model = Captioner(read, int(settings["channels"]), int(settings["embed_size"]), int(settings["hidden_size"]))
    losses = train(model, data, seed, settings)
    return model.eval(), losses


@torch.no_grad()
def greedy(model: Captioner, pixels: np.ndarray, max_length: int = 12) -> list[str]:
    """Caption each picture: the most probable word at every step, until ⟨eos⟩ or max_length."""
    state = model.start(to_inputs(pixels))
    word, written = torch.full((len(pixels), 1), SOS), []
    for _ in range(max_length):
        logits, state = model.decode(word, state)
        word = logits[:, -1:].argmax(dim=2)  # (B, 1)
        written.append(word)
    rows = torch.cat(written, dim=1).tolist()
    return [" ".join(TOKENS[i] for i in (row[: row.index(EOS)] if EOS in row else row)) for row in rows]


def graded(captions: Sequence[str], scenes: Sequence[Scene]) -> dict[str, float]:
    """The share of each verdict of the judge, in percent; those that do not occur are left out."""
    found = Counter(judge(caption, scene) for caption, scene in zip(captions, scenes, strict=True))
    return {verdict: round(100 * found[verdict] / len(scenes), 2) for verdict in VERDICTS if found[verdict]}


@cache
def data_of(pairs: tuple[tuple[str, str], ...]) -> Pictures:
    return pictures(int(SETTINGS["pictures"]), DATA_SEED, pairs)


@cache
def tests() -> dict[str, Pictures]:
    """What every network is tested on."""
    number = int(SETTINGS["test"])
    return {"seen": pictures(number, TEST_SEED), "unseen": pictures(number, UNSEEN_SEED, UNSEEN, SEEN)}


@cache
def probes() -> dict[str, Pictures]:
    """Pictures of one shape: to fit the linear classifier, and to test it with seen and unseen pairs."""
    number = int(SETTINGS["probe"])
    return {
        "fit": pictures(2 * number, PROBE_SEED, SEEN, kind="one"),
        "seen": pictures(number, PROBE_SEED + 1, SEEN, kind="one"),
        "unseen": pictures(number, PROBE_SEED + 2, UNSEEN, kind="one"),
    }


@torch.no_grad()
def probe(model: Captioner, ridge: float = 1.0) -> dict[str, dict[str, float]]:
    """For pictures of one shape: how often a linear classifier, and how often the decoder, names the shape, in percent.

    The decoder is given the right article and colour and has to name the shape.
    """

    def shapes_of(found: Pictures) -> np.ndarray:
        return np.array([SHAPES.index(scene[0].shape) for scene in found.scenes])

    def states_of(found: Pictures) -> np.ndarray:
        states = model.start(to_inputs(found.pixels)).double().numpy()
        return np.c_[states, np.ones(len(states))]

    given = probes()["fit"]
    states, wanted = states_of(given), np.eye(len(SHAPES))[shapes_of(given)]
    weights = np.linalg.solve(states.T @ states + ridge * np.eye(states.shape[1]), states.T @ wanted)
    names, result = [IDS[shape] for shape in SHAPES], {}
    for name in ("seen", "unseen"):
        found = probes()[name]
        logits = model(to_inputs(found.pixels), shifted(to_ids(found.captions)))[:, 2]  # after article and colour
        said = logits[:, names].argmax(dim=1).numpy()
        right = torch.softmax(logits, dim=1)[range(len(said)), [names[i] for i in shapes_of(found)]]
        result[name] = {
            "linear": round(100 * float(np.mean((states_of(found) @ weights).argmax(1) == shapes_of(found))), 2),
            "decoder": round(100 * float(np.mean(said == shapes_of(found))), 2),
            "probability": round(right.mean().item(), 4),
        }
    return result


def run(name: str, seed: int) -> dict[str, Any]:
    """Train one network and test it: its record."""
    started = time.process_time()
    data = data_of(NETWORKS[name]["pairs"])
    settings = {**SETTINGS, "lr": NETWORKS[name].get("lr", SETTINGS["lr"])}
    model, losses = fit(data, NETWORKS[name]["read"], seed, settings)
    written = {test: greedy(model, found.pixels) for test, found in tests().items()}
    first = int(SETTINGS["test"])
    same = mean(a == b for a, b in zip(written["seen"], tests()["seen"].captions, strict=True))
    return {
        "network": name,
        "seed": seed,
        "loss": round(mean(losses[-100:]), 3),
        "trained": graded(greedy(model, data.pixels[:first]), data.scenes[:first]),
        **{test: graded(written[test], found.scenes) for test, found in tests().items()},
        "relations": relations(written["seen"], tests()["seen"].scenes),
        "same_string": round(100 * same, 2),
        "probe": probe(model),
        "weights": sum(weight.numel() for weight in model.parameters()),
        "captions": {test: captions[:EXAMPLES] for test, captions in written.items()},
        "cpu_seconds": round(time.process_time() - started, 1),
    }


def relations(captions: Sequence[str], scenes: Sequence[Scene]) -> dict[str, float]:
    """Captions that name two different shapes rightly: how many there are, and the share with a true relation."""
    verdicts = [judge(c, scene) for c, scene in zip(captions, scenes, strict=True) if len({t.pair for t in scene}) == 2]
    named = [verdict == "right" for verdict in verdicts if verdict in ("right", "relation")]
    return {"named": len(named), "right": round(100 * mean(named), 2) if named else 0.0}


def nearest(data: Pictures, pixels: np.ndarray) -> list[str]:
    """The caption of the training picture with the smallest squared distance in pixels, for each picture."""
    known = torch.from_numpy(data.pixels).flatten(1).float()
    wanted = torch.from_numpy(pixels).flatten(1).float()
    found = [torch.cdist(rows, known).argmin(dim=1) for rows in wanted.split(100)]
    return [data.captions[i] for i in torch.cat(found).tolist()]


def baselines() -> dict[str, Any]:
    """Without training: the nearest picture's caption, and the one caption that is right for most test pictures."""
    data, found = data_of(SEEN), tests()
    result: dict[str, Any] = {"nearest": {}}
    for name, test in found.items():
        written = nearest(data, test.pixels)
        result["nearest"][name] = graded(written, test.scenes)
        result[f"captions_{name}"] = written[:EXAMPLES]
    counted = Counter(caption for scene in data.scenes for caption in right_captions(scene))
    best = counted.most_common(1)[0][0]
    result["constant"] = {"caption": best, **{n: graded([best] * len(t.scenes), t.scenes) for n, t in found.items()}}
    return result


def summary(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Mean and standard deviation over the seeds, in percent, for each network."""
    result: dict[str, Any] = {}
    for name in NETWORKS:
        here = [one for one in runs if one["network"] == name]
        columns: dict[str, list[float]] = {
            test: [one[test].get("right", 0.0) for one in here] for test in ("trained", "seen", "unseen")
        }
        columns["relations"] = [one["relations"]["right"] for one in here]
        columns["same_string"] = [one["same_string"] for one in here]
        columns["unseen_shape"] = [one["unseen"].get("shape", 0.0) for one in here]
        for test in ("seen", "unseen"):
            for who in ("linear", "decoder"):
                columns[f"{who}_{test}"] = [one["probe"][test][who] for one in here]
        result[name] = {
            "weights": here[0]["weights"],
            **{key: {"mean": round(mean(of), 2), "sd": round(stdev(of), 2)} for key, of in columns.items()},
        }
    return result


def record_of(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "command": "python -m experiments.ch05.captions --record",
        "settings": {"optimizer": "Adam", "schedule": "linear to 0", **SETTINGS},
        "networks": {name: {"read": how["read"], "pairs": len(how["pairs"])} for name, how in NETWORKS.items()},
        "unseen_pairs": [" ".join(pair) for pair in UNSEEN],
        "data_seeds": {"train": DATA_SEED, "seen": TEST_SEED, "unseen": UNSEEN_SEED, "probe": PROBE_SEED},
        "seeds": list(SEEDS),
        "versions": {"numpy": np.__version__, "torch": torch.__version__.partition("+")[0]},
        "baseline": baselines(),
        "summary": summary(runs),
        "runs": list(runs),
    }


def main() -> None:
    runs = []
    for name in NETWORKS:
        for seed in SEEDS:
            runs.append(run(name, seed))
            print({key: value for key, value in runs[-1].items() if key != "captions"}, flush=True)
    record = record_of(runs)
    print(record["baseline"], record["summary"], flush=True)
    if "--record" in sys.argv[1:]:
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
