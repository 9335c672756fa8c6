"""Train small networks to spell `hello`, correctly and with three mistakes.

    python -m experiments.ch01.spelling [--record]

Three units, one word, full-batch Adam, eight seeds for each mistake. Recorded are the loss of each update, in nats per
letter, and what the trained network writes greedily with the course's own functions. `reset`: every step starts from a
state of zeros, in training and in writing. `axis`: the softmax runs over the batch. `feed`: the training is right, but
the network that writes reads `h` at every step. There is no held-out text: a network memorises four letters. Takes a
few seconds.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from experiments.ch01.hello import VOCABULARY
from experiments.ch03.record import significant, to_json
from solutions.ch01_vanilla_rnn.recurrence import rnn_forward
from solutions.ch01_vanilla_rnn.writing import generate

RESULTS_FILE = Path(__file__).with_name("spelling.json")
SETTINGS = {"hidden_size": 3, "updates": 200, "lr": 0.05, "written": 6}
SEEDS = tuple(range(8))
MISTAKES = ("none", "reset", "axis", "feed")

ids = np.array([VOCABULARY.index(letter) for letter in "hello"])
one_hot = np.eye(len(VOCABULARY))


def train(seed: int, updates: int = 200) -> tuple[torch.nn.RNN, torch.nn.Linear, list[float]]:
    """Three units, trained on one word; the losses in nats per letter."""
    torch.manual_seed(seed)
    rnn, readout = torch.nn.RNN(4, 3, batch_first=True), torch.nn.Linear(3, 4)
    optimizer = torch.optim.Adam([*rnn.parameters(), *readout.parameters()], lr=0.05)
    inputs = torch.eye(4)[torch.tensor(ids[None, :4])]  # (1, 4, V): h, e, l, l
    targets = torch.tensor(ids[1:])  # (4,): e, l, l, o
    losses = []
    for _ in range(updates):
        states, _ = rnn(inputs)  # (1, 4, 3)
        logits = readout(states)[0]  # (4, V)
        loss = torch.nn.functional.cross_entropy(logits, targets)
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()  # all gradients, through all four steps
        optimizer.step()
    return rnn, readout, losses


def train_with(mistake: str, seed: int, updates: int = 200) -> tuple[torch.nn.RNN, torch.nn.Linear, list[float]]:
    """The same with a mistake in training, `reset` or `axis`; with another, or none, as it should be."""
    torch.manual_seed(seed)
    rnn, readout = torch.nn.RNN(4, 3, batch_first=True), torch.nn.Linear(3, 4)
    inputs, targets = torch.eye(4)[torch.tensor(ids[None, :4])], torch.tensor(ids[1:])
    if mistake == "reset":
        inputs = inputs.reshape(4, 1, 4)  # four sequences of one letter: each starts from zeros
    optimizer = torch.optim.Adam([*rnn.parameters(), *readout.parameters()], lr=0.05)
    losses = []
    for _ in range(updates):
        logits = readout(rnn(inputs)[0]).reshape(1, 4, 4)
        log_p = logits.log_softmax(dim=0 if mistake == "axis" else 2)
        loss = -log_p[0, torch.arange(4), targets].mean()
        losses.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return rnn, readout, losses


def weights_of(rnn: torch.nn.RNN, readout: torch.nn.Linear) -> dict[str, np.ndarray]:
    """The trained weights as the course writes them, float64."""
    ours = {
        "W_xh": rnn.weight_ih_l0.T,
        "W_hh": rnn.weight_hh_l0.T,
        "b_h": rnn.bias_ih_l0 + rnn.bias_hh_l0,
        "W_hy": readout.weight.T,
        "b_y": readout.bias,
    }
    return {name: value.detach().double().numpy() for name, value in ours.items()}


def states(weights: dict[str, np.ndarray], inputs: np.ndarray) -> np.ndarray:
    """The states (T, 3) after each of the inputs (T, V), from a state of zeros."""
    h: np.ndarray = rnn_forward(inputs[None], np.zeros((1, 3)), *(weights[name] for name in ("W_xh", "W_hh", "b_h")))
    return h[0]


def written(mistake: str, weights: dict[str, np.ndarray], steps: int) -> str:
    """`h`, continued greedily."""
    if mistake == "reset":
        weights = {**weights, "W_hh": 0 * weights["W_hh"]}
    if mistake == "feed":
        always_h = one_hot[np.zeros(steps, dtype=int)]
        chosen = (states(weights, always_h) @ weights["W_hy"] + weights["b_y"]).argmax(axis=1)
    else:
        chosen = generate(0, steps, np.zeros((1, 3)), **weights)
    return "h" + "".join(VOCABULARY[i] for i in chosen)


def run(mistake: str, seed: int) -> dict[str, Any]:
    """Train one network and let it write; how much the states after `hel` and `hell` differ in some unit."""
    updates = int(SETTINGS["updates"])
    trained = train_with(mistake, seed, updates) if mistake in ("reset", "axis") else train(seed, updates)
    weights = weights_of(*trained[:2])
    found: dict[str, Any] = {"mistake": mistake, "seed": seed, "text": written(mistake, weights, SETTINGS["written"])}
    if mistake != "feed":  # its training is that of `none`
        found["losses"] = significant(loss + 0.0 for loss in trained[2])
    if mistake == "none":
        h = states(weights, one_hot[ids[:4]])
        found["gap"] = round(float(np.abs(h[2] - h[3]).max()), 4)
    return found


def main() -> None:
    runs = []
    for mistake in MISTAKES:
        for seed in SEEDS:
            runs.append(run(mistake, seed))
            print(mistake, seed, runs[-1]["text"], runs[-1].get("losses", [])[-1:], runs[-1].get("gap"), flush=True)
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch01.spelling --record",
            "settings": {"optimizer": "Adam", **SETTINGS},
            "seeds": list(SEEDS),
            "versions": {"torch": torch.__version__.partition("+")[0]},
            "runs": runs,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
