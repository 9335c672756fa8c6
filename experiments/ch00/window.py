"""A language model with a fixed window, on real text, beside counted n-grams.

    python -m experiments.ch00.window [--record | --choose]

The network of Bengio et al. (2003), on characters and without direct connections from the embeddings to the output:
the embeddings of the last n characters, concatenated, go through one tanh layer to the logits of the next character.
The windows have 2, 4, 8 and 16 characters, with five seeds each. Each update takes random positions of the training
text; Adam's learning rate falls linearly to 0. The text is Python's documentation (`experiments.text.python_docs`),
of which whole topics are held out.

The learning rate was chosen for the window of 4 and for that of 8 on the last tenth of the training text, with a seed
that is not recorded (`--choose`): its results are recorded too, and all windows use the same rate.

The recorded bits are those of the whole held-out text but its first character, as for the n-gram models that serve as
baselines; before the beginning of a text stand line breaks. Recorded too is what 600 updates reach with the window of
4, and for its networks which letter has the nearest embedding, before training and after. Takes about four minutes on
one core.
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from experiments.ch03.record import mean_and_sd, to_json
from experiments.ngrams import WittenBell
from experiments.text import python_docs

RESULTS_FILE = Path(__file__).with_name("window.json")
SETTINGS: dict[str, Any] = {"embed_size": 16, "hidden_size": 200, "batch": 512, "lr": 5e-3, "updates": 3000}
WINDOWS = (2, 4, 8, 16)
SEEDS = tuple(range(10, 15))
RATES = (2e-3, 5e-3, 1e-2)
CHOICE_WINDOWS = (4, 8)
CHOICE_SEED = 1
SHOWN_WINDOW = 4  # the window whose embeddings the page describes
SHORT_UPDATES = 600  # of the window that is shown
LETTERS = "abcdefghijklmnopqrstuvwxyz"
ORDERS = tuple(range(7))  # of the n-gram models

torch.set_num_threads(1)


class Window(torch.nn.Module):
    """Predict the next character from the last n: ids (B, n) -> logits (B, V)."""

    def __init__(self, n: int, vocab_size: int, embed_size: int, hidden_size: int) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(vocab_size, embed_size)  # E
        self.hidden = torch.nn.Linear(n * embed_size, hidden_size)  # W_1 and b_1
        self.output = torch.nn.Linear(hidden_size, vocab_size)  # W_2 and b_2

    def forward(self, ids: Tensor) -> Tensor:
        side_by_side = self.embedding(ids).flatten(start_dim=1)  # (B, n * D)
        logits: Tensor = self.output(torch.tanh(self.hidden(side_by_side)))
        return logits


def parameters(n: int, vocab_size: int) -> int:
    """How many numbers are learned: in the embedding, in the hidden layer and in the output layer."""
    D, H = SETTINGS["embed_size"], SETTINGS["hidden_size"]
    return int(vocab_size * D + (n * D + 1) * H + (H + 1) * vocab_size)


def windows(ids: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """All windows of n ids (N - 1, n), and the id that follows each (N - 1,). Before ids (N,) stand ids of 0."""
    padded = torch.cat([ids.new_zeros(n - 1), ids])
    return padded.unfold(0, n, 1)[:-1], ids[1:]


@torch.no_grad()
def bits(model: Window, ids: Tensor, n: int) -> float:
    """Mean cross-entropy in bits per character, over all characters of ids but the first."""
    inputs, targets = windows(ids, n)
    nats = 0.0
    for start in range(0, len(targets), 4096):
        piece = slice(start, start + 4096)
        nats += torch.nn.functional.cross_entropy(model(inputs[piece]), targets[piece], reduction="sum").item()
    return nats / len(targets) / math.log(2)


def train(ids: Tensor, n: int, vocab_size: int, seed: int, lr: float, updates: int) -> tuple[Window, list[float]]:
    """Train a network on ids (N,): the network, and the loss of each update in nats per character."""
    torch.manual_seed(seed)
    model = Window(n, vocab_size, SETTINGS["embed_size"], SETTINGS["hidden_size"])
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    inputs, targets = windows(ids, n)
    losses = []
    for update in range(updates):
        chosen = torch.randint(len(targets), (SETTINGS["batch"],))
        loss = torch.nn.functional.cross_entropy(model(inputs[chosen]), targets[chosen])
        optimizer.param_groups[0]["lr"] = lr * (1 - update / updates)
        optimizer.zero_grad()
        loss.backward()  # the derivatives
        optimizer.step()  # a small step of every parameter
        losses.append(loss.item())
    return model, losses


def text_ids() -> tuple[Tensor, Tensor, Any]:
    """The training ids, the held-out ids, and the text."""
    text = python_docs()
    return torch.from_numpy(text.ids(text.train)), torch.from_numpy(text.ids(text.held_out)), text


def run(n: int, seed: int, updates: int | None = None) -> dict[str, Any]:
    """Train one network on the training text, and measure it on both parts."""
    train_ids, held_out, text = text_ids()
    started = time.process_time()
    updates = SETTINGS["updates"] if updates is None else updates
    model, losses = train(train_ids, n, len(text.characters), seed, SETTINGS["lr"], updates)
    result: dict[str, Any] = {
        "window": n,
        "seed": seed,
        "train_bits": round(bits(model, train_ids, n), 4),
        "bits": round(bits(model, held_out, n), 4),
        "losses": [round(loss, 4) for loss in losses[:5]],
        "cpu_seconds": round(time.process_time() - started),
    }
    if n == SHOWN_WINDOW:
        letters = torch.from_numpy(text.ids(LETTERS))
        result["nearest_at_start"] = nearest(train(train_ids, n, len(text.characters), seed, 0.0, 0)[0], letters)
        result["nearest"] = nearest(model, letters)
    return result


def nearest(model: Window, ids: Tensor) -> str:
    """For each letter, the one of the other letters whose embedding has the largest cosine. ids: those of LETTERS."""
    rows = torch.nn.functional.normalize(model.embedding.weight.detach()[ids], dim=1)
    cosines = (rows @ rows.T).fill_diagonal_(-2)
    return "".join(LETTERS[int(index)] for index in cosines.argmax(dim=1))


def choose() -> list[dict[str, Any]]:
    """Bits on the last tenth of the training text, for each learning rate, trained on the rest."""
    ids, _, text = text_ids()
    edge = len(ids) - len(ids) // 10
    found = []
    for n in CHOICE_WINDOWS:
        for lr in RATES:
            model, _ = train(ids[:edge], n, len(text.characters), CHOICE_SEED, lr, SETTINGS["updates"])
            found.append({"window": n, "lr": lr, "dev_bits": round(bits(model, ids[edge:], n), 4)})
            print(found[-1], flush=True)
    return found


def counted() -> dict[str, float]:
    """Held-out bits per character of the Witten-Bell n-gram models. Order 0 is uniform."""
    text = python_docs()
    ids, held_out = text.ids(text.train), text.ids(text.held_out)
    return {str(order): round(WittenBell(ids, order, len(text.characters)).bits(held_out), 4) for order in ORDERS}


def summary(runs: list[dict[str, Any]], vocab_size: int) -> list[dict[str, Any]]:
    """For each window: parameters, and mean and standard deviation of the bits over the seeds."""
    found = []
    for n in dict.fromkeys(one["window"] for one in runs):
        own = [one for one in runs if one["window"] == n]
        found.append(
            {
                "window": n,
                "parameters": parameters(n, vocab_size),
                "runs": len(own),
                "train_bits": mean_and_sd([one["train_bits"] for one in own], 3),
                "bits": mean_and_sd([one["bits"] for one in own], 3),
            }
        )
    return found


def short_run(seed: int, updates: int = SHORT_UPDATES) -> dict[str, Any]:
    """Train a network with the window that is shown for a few updates: its bits on the held-out text."""
    train_ids, held_out, text = text_ids()
    model, _ = train(train_ids, SHOWN_WINDOW, len(text.characters), seed, SETTINGS["lr"], updates)
    return {"seed": seed, "updates": updates, "bits": round(bits(model, held_out, SHOWN_WINDOW), 4)}


def assembled(
    choice: list[dict[str, Any]], ngrams: dict[str, float], short: list[dict[str, Any]], runs: list[dict[str, Any]]
) -> dict[str, Any]:
    """The record."""
    text = python_docs()
    return {
        "command": "python -m experiments.ch00.window --record",
        "settings": {"optimizer": "Adam, learning rate falling linearly to 0", **SETTINGS},
        "seeds": list(SEEDS),
        "text": {
            "source": text.source,
            "sha256": text.sha256,
            "label": text.label,
            "train": len(text.train),
            "held_out": len(text.held_out),
            "characters": len(text.characters),
        },
        "versions": {"torch": torch.__version__.partition("+")[0]},
        "choice": choice,
        "counted": ngrams,
        "short": short,
        "summary": summary(runs, len(text.characters)),
        "runs": runs,
    }


def main() -> None:
    choice = choose()
    if "--choose" in sys.argv[1:]:
        return
    ngrams = counted()
    print(ngrams, flush=True)
    short = [short_run(seed) for seed in SEEDS]
    print(short, flush=True)
    runs = []
    for n in WINDOWS:
        for seed in SEEDS:
            runs.append(run(n, seed))
            print(runs[-1], flush=True)
    if "--record" in sys.argv[1:]:
        RESULTS_FILE.write_text(to_json(assembled(choice, ngrams, short, runs)), "utf-8")


if __name__ == "__main__":
    main()
