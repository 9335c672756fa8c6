"""Train the network that spells `hello`, round its weights to two decimals, and record them.

    python -m experiments.ch01.hello_weights [--record]

One sequence, `hell` in and `ello` out, full-batch Adam, and a penalty on the squares of the weights, which keeps the
numbers small enough to follow by hand. It is also why the row of `o` in W_xh is zero: no input is ever `o`, so only
the penalty acts on that row. Prints what the rounded network does; with --record it also writes `hello_weights.json`.
The loss in the record is that of the *rounded* weights, in nats per character. There is no held-out text: the network
memorises four characters, and nothing more is claimed.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import torch

from experiments.ch01.hello import VOCABULARY, WEIGHTS_FILE

TEXT = "hello"
SETTINGS = {"seed": 0, "hidden_size": 3, "updates": 2000, "lr": 0.02, "penalty": 0.002, "decimals": 2}
SHAPES = {"W_xh": (4, 3), "W_hh": (3, 3), "b_h": (3,), "W_hy": (3, 4), "b_y": (4,)}


def logits_of(ids: torch.Tensor, weights: dict[str, torch.Tensor]) -> torch.Tensor:
    """The logits (T, V) after each character of one text, starting from a zero state."""
    rows = torch.nn.functional.one_hot(ids, len(VOCABULARY)).to(torch.float64)  # (T, V)
    state, logits = torch.zeros(1, 3, dtype=torch.float64), []
    for row in rows:
        a_t = row[None] @ weights["W_xh"] + state @ weights["W_hh"] + weights["b_h"]  # (1, H)
        state = torch.tanh(a_t)
        logits.append(state @ weights["W_hy"] + weights["b_y"])  # (1, V)
    return torch.cat(logits)


def train() -> dict[str, torch.Tensor]:
    """The weights, trained and rounded."""
    torch.manual_seed(SETTINGS["seed"])
    weights = {name: (0.5 * torch.randn(shape, dtype=torch.float64)).requires_grad_() for name, shape in SHAPES.items()}
    ids = torch.tensor([VOCABULARY.index(letter) for letter in TEXT])
    adam = torch.optim.Adam(weights.values(), lr=SETTINGS["lr"])
    for _ in range(int(SETTINGS["updates"])):
        adam.zero_grad()
        loss = torch.nn.functional.cross_entropy(logits_of(ids[:-1], weights), ids[1:])
        size = sum((weight**2).sum() for weight in weights.values())
        (loss + SETTINGS["penalty"] * size).backward()
        adam.step()
    return {name: weight.detach().round(decimals=int(SETTINGS["decimals"])) + 0.0 for name, weight in weights.items()}


def greedy(weights: dict[str, torch.Tensor], start: str, length: int) -> str:
    """`start`, continued greedily."""
    text = start
    while len(text) < length:
        ids = torch.tensor([VOCABULARY.index(letter) for letter in text])
        text += VOCABULARY[int(logits_of(ids, weights)[-1].argmax())]
    return text


def evaluate(weights: dict[str, torch.Tensor]) -> dict[str, Any]:
    """What the network predicts for the text, its loss, and what it writes greedily."""
    ids = torch.tensor([VOCABULARY.index(letter) for letter in TEXT])
    logits = logits_of(ids[:-1], weights)
    right = logits.softmax(dim=1)[torch.arange(len(TEXT) - 1), ids[1:]]
    return {
        "greedy": greedy(weights, TEXT[0], len(TEXT)),
        "loss": round(float(torch.nn.functional.cross_entropy(logits, ids[1:])), 4),
        "probability_of_the_right_one": [round(float(p), 4) for p in right],
    }


def main() -> None:
    weights = train()
    record = {
        "vocabulary": list(VOCABULARY),
        "text": TEXT,
        "weights": {name: weight.tolist() for name, weight in weights.items()},
        "trained": {**SETTINGS, "command": "python -m experiments.ch01.hello_weights --record"},
        "result": evaluate(weights),
    }
    rows = re.compile(r"\[\s+([^][{}]+?)\s+\]")  # one row of numbers, one line
    text = rows.sub(lambda row: "[" + re.sub(r"\s+", " ", row[1]) + "]", json.dumps(record, indent=1)) + "\n"
    print(text)
    if record["result"]["greedy"] != TEXT:
        sys.exit("The rounded network does not spell `hello`, so nothing is recorded.")
    if "--record" in sys.argv[1:]:
        WEIGHTS_FILE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
