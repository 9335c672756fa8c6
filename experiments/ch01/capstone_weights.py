"""Train the network of chapter 01's capstone: a small character RNN that has read Python's own documentation.

    python -m experiments.ch01.capstone_weights [--record]

The text is the course's copy of Python's documentation topics (`experiments.text`): prose paragraphs, unwrapped, in
lower case, of 35 characters and the line break that ends a paragraph. Every eighth topic is held out, and a training
paragraph that shares 50 characters in a row with them is dropped. One `torch.nn.RNN` layer (tanh) with one-hot inputs
and a linear head; Adam, gradient clipping, the state carried from chunk to chunk and detached. The weights are rounded
to three decimals, and all figures are those of the rounded weights. Nothing was chosen by the held-out text but the
number of updates, by trying two.

Prints the record; with --record it also writes `capstone_weights.json` here, and the file that students get,
`solutions/ch01_vanilla_rnn/files/capstone_weights.json`. About three minutes on one core.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch

from experiments.text import topics, topics_source

SETTINGS = {
    "seed": 0, "hidden_size": 64, "batch": 32, "chunk": 64, "updates": 14_000, "lr": 0.008, "clip": 1.0, "decimals": 3,
}  # fmt: skip
CHARACTERS = "\nabcdefghijklmnopqrstuvwxyz .,:;()'-"  # id 0 ends a paragraph
RECORD = Path(__file__).with_name("capstone_weights.json")
SHIPPED = Path(__file__).parents[2] / "solutions" / "ch01_vanilla_rnn" / "files" / "capstone_weights.json"


_NO_PROSE = ("*", "-", "=", "+", "|", ">>>", "...", "#", "@", "$", "::")


def paragraphs(topic: str) -> list[str]:
    """The prose paragraphs of one topic in the network's characters; tables, code and lists are left out."""
    found = []
    for block in re.split(r"\n\s*\n", topic):
        lines = block.strip("\n").split("\n")
        indents = {len(line) - len(line.lstrip()) for line in lines}
        if len(lines) < 2 or len(indents) > 1 or any(line.lstrip().startswith(_NO_PROSE) for line in lines):
            continue
        text = re.sub(r'["*`\\]', "", " ".join(lines)).lower()
        text = re.sub(r"\s+", " ", text).strip()
        kept = "".join(c for c in text if c in CHARACTERS)
        if len(kept) >= 80 and len(kept) > 0.97 * len(text):
            found.append(re.sub(r" +", " ", kept))
    return found


def split() -> tuple[str, str]:
    """Training and held-out text, paragraphs ended by a line break. No 50 characters in a row are in both."""
    seen: set[str] = set()
    parts: tuple[list[str], list[str]] = ([], [])
    for number, (_, topic) in enumerate(sorted(topics().items())):
        for paragraph in paragraphs(topic):
            if paragraph not in seen:
                seen.add(paragraph)
                parts[number % 8 == 0].append(paragraph)
    held = {p[i : i + 50] for p in parts[1] for i in range(len(p) - 49)}
    train = [p for p in parts[0] if not any(p[i : i + 50] in held for i in range(len(p) - 49))]
    random.Random(0).shuffle(train)
    return "".join(f"{p}\n" for p in train), "".join(f"{p}\n" for p in parts[1])


def ids_of(text: str) -> torch.Tensor:
    return torch.tensor([CHARACTERS.index(c) for c in text])


def train(text: str) -> dict[str, torch.Tensor]:
    """The weights in the course's convention, rounded."""
    torch.manual_seed(SETTINGS["seed"])
    torch.set_num_threads(1)
    V, H, B, T = len(CHARACTERS), SETTINGS["hidden_size"], SETTINGS["batch"], SETTINGS["chunk"]
    rnn, head = torch.nn.RNN(V, H, batch_first=True), torch.nn.Linear(H, V)
    torch.nn.init.orthogonal_(rnn.weight_hh_l0)
    parameters = [*rnn.parameters(), *head.parameters()]
    adam = torch.optim.Adam(parameters, lr=SETTINGS["lr"])
    decay = torch.optim.lr_scheduler.CosineAnnealingLR(adam, SETTINGS["updates"])
    ids = ids_of(text)
    rows = ids[: len(ids) // B * B].reshape(B, -1)
    state, position = torch.zeros(1, B, H), 0
    for _ in range(SETTINGS["updates"]):
        if position + T + 1 > rows.shape[1]:
            state, position = torch.zeros(1, B, H), int(torch.randint(T, ()))
        chunk = rows[:, position : position + T + 1]
        h, state = rnn(torch.nn.functional.one_hot(chunk[:, :-1], V).float(), state)
        state, position = state.detach(), position + T
        loss = torch.nn.functional.cross_entropy(head(h).reshape(-1, V), chunk[:, 1:].reshape(-1))
        adam.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, SETTINGS["clip"])
        adam.step()
        decay.step()
    weights = {
        "W_xh": rnn.weight_ih_l0.T,
        "W_hh": rnn.weight_hh_l0.T,
        "b_h": rnn.bias_ih_l0 + rnn.bias_hh_l0,
        "W_hy": head.weight.T,
        "b_y": head.bias,
    }
    return {name: w.detach().double().round(decimals=SETTINGS["decimals"]) + 0.0 for name, w in weights.items()}


def bits(weights: dict[str, torch.Tensor], text: str) -> float:
    """Bits a character on a text that is read from its first character to its last, from a state of zeros."""
    ids = ids_of(text)
    state, total = torch.zeros(1, SETTINGS["hidden_size"], dtype=torch.float64), 0.0
    for now, following in pairwise(ids):
        state = torch.tanh(weights["W_xh"][now] + state @ weights["W_hh"] + weights["b_h"])
        total -= float(torch.log_softmax(state @ weights["W_hy"] + weights["b_y"], dim=1)[0, following])
    return total / (len(ids) - 1) / float(np.log(2))


def counted_bits(train_text: str, text: str, order: int, alpha: float = 0.1) -> float:
    """Bits a character of an n-gram model with add-alpha smoothing: order 1 is the unigram, 2 the bigram."""
    V, counts, totals = len(CHARACTERS), {}, {}
    for end in range(order - 1, len(train_text)):
        context = train_text[end - order + 1 : end]
        counts[context + train_text[end]] = counts.get(context + train_text[end], 0) + 1
        totals[context] = totals.get(context, 0) + 1
    nats = 0.0
    for end in range(order, len(text)):
        context = text[end - order + 1 : end]
        p = (counts.get(context + text[end], 0) + alpha) / (totals.get(context, 0) + alpha * V)
        nats -= np.log(p)
    return float(nats / (len(text) - order) / np.log(2))


def sample(weights: dict[str, torch.Tensor], length: int, seed: int) -> str:
    """A text that the network writes, beginning after a line break."""
    rng, last, text = np.random.default_rng(seed), 0, ""
    state = torch.zeros(1, SETTINGS["hidden_size"], dtype=torch.float64)
    for _ in range(length):
        state = torch.tanh(weights["W_xh"][last] + state @ weights["W_hh"] + weights["b_h"])
        p = torch.softmax(state @ weights["W_hy"] + weights["b_y"], dim=1)[0].numpy()
        last = min(int(np.searchsorted(np.cumsum(p), rng.random(), side="right")), len(CHARACTERS) - 1)
        text += CHARACTERS[last]
    return text


def rows_on_lines(value: Any) -> str:
    """JSON with one row of numbers a line."""
    text = json.dumps(value, indent=1)
    return re.sub(r"\[\s+([^][{}]+?)\s+\]", lambda row: "[" + re.sub(r"\s+", " ", row[1]) + "]", text) + "\n"


def main() -> None:
    started = time.monotonic()
    train_text, held_out = split()
    weights = train(train_text)
    scores = {
        "network": bits(weights, held_out),
        "network_on_training_text": bits(weights, train_text[: len(held_out)]),
        **{name: counted_bits(train_text, held_out, n) for n, name in ((1, "unigram"), (2, "bigram"), (3, "trigram"))},
    }
    record = {
        "text": {
            "source": topics_source(),
            "train_characters": len(train_text),
            "held_out_characters": len(held_out),
            "sha256": hashlib.sha256((train_text + held_out).encode()).hexdigest(),
        },
        "settings": SETTINGS,
        "torch": torch.__version__.partition("+")[0],
        "command": "python -m experiments.ch01.capstone_weights --record",
        "parameters": sum(w.numel() for w in weights.values()),
        "bits_a_character": {name: round(score, 3) for name, score in scores.items()},
        "sample": sample(weights, 300, seed=0),
    }
    print(json.dumps(record, indent=1), f"\n{time.monotonic() - started:.0f} s")
    if "--record" in sys.argv[1:]:
        RECORD.write_text(rows_on_lines(record), "utf-8")
        shipped = {"characters": CHARACTERS, "weights": {name: w.tolist() for name, w in weights.items()}}
        SHIPPED.parent.mkdir(exist_ok=True)
        SHIPPED.write_text(rows_on_lines(shipped), "utf-8")


if __name__ == "__main__":
    main()
