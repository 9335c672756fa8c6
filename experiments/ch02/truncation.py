"""How much of the gradient is lost by truncating? Its direction against the full one, over the length of the chunks.

    python -m experiments.ch02.truncation [--record]

A tanh network of 100 units reads stretches of real text, 100 characters each; the gradient of the mean loss with
respect to W_xh, W_hh and b_h is taken in full and in chunks of tau steps, and the cosine between the two is averaged
over batches of text that was not trained on. Five seeds from each of two spreads of the first weights, before training
and after 2,000 updates with chunks of 25 steps. After Williams and Peng (1990).
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

from experiments.ch02.char_rnn import Params, initial, states, surprises, train
from experiments.text import python_docs
from solutions.ch02_bptt.truncated import truncated_bptt

RESULTS_FILE = Path(__file__).with_name("truncation.json")
SETTINGS = {"hidden_size": 100, "steps": 100, "batch": 16, "batches": 4, "updates": 2000, "lr": 0.05}
TAUS = (1, 2, 3, 5, 10, 20, 25, 50, 100)
RADII = (0.58, 1.0)  # about the spectral radius of the first W_hh; PyTorch's is the smaller
SEEDS = tuple(range(10, 15))


def gradients(params: Params, ids: np.ndarray, taus: tuple[int, ...]) -> dict[int, np.ndarray]:
    """The gradient of the mean loss over ids (B, T + 1), truncated at each tau: one flat vector of W_xh, W_hh, b_h."""
    inputs, targets = ids[:, :-1], ids[:, 1:]
    h_0 = np.zeros((len(ids), len(params["b_h"])))
    h = states(params, inputs, h_0)
    _, dlogits = surprises(params, h, targets)  # the probabilities, (B, T, V)
    dlogits = (dlogits - np.eye(dlogits.shape[2])[targets]) / targets.size
    dh = dlogits @ params["W_hy"].T  # (B, T, H)
    x = np.eye(dlogits.shape[2])[inputs]
    found = {}
    for tau in taus:
        grads = truncated_bptt(dh, x, h_0, h, params["W_xh"], params["W_hh"], tau)
        found[tau] = np.concatenate([grad.ravel() for grad in grads])
    return found


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    """Of the angle between two vectors: 1 for the same direction, 0 for a right angle."""
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def cosines(params: Params, stretches: np.ndarray, taus: tuple[int, ...]) -> list[float]:
    """Mean cosine between truncated and full gradient at each tau, over stretches (batches, B, T + 1)."""
    T = stretches.shape[2] - 1
    each = []
    for ids in stretches:
        found = gradients(params, ids, (*taus, T))
        each.append([cosine(found[tau], found[T]) for tau in taus])
    return [float(mean) for mean in np.mean(each, axis=0)]


def stretches_of(ids: np.ndarray, batches: int, batch: int, steps: int) -> np.ndarray:
    """Stretches (batches, batch, steps + 1), evenly spread over ids (N,)."""
    starts = np.linspace(0, len(ids) - steps - 1, batches * batch).astype(int)
    return ids[starts[:, None] + np.arange(steps + 1)].reshape(batches, batch, steps + 1)


def run(radius: float, seed: int, ids: np.ndarray, held_out: np.ndarray, vocab_size: int) -> dict[str, Any]:
    """Cosines before and after training."""
    params = initial(vocab_size, int(SETTINGS["hidden_size"]), np.random.default_rng(seed), radius)
    stretches = stretches_of(held_out, int(SETTINGS["batches"]), int(SETTINGS["batch"]), int(SETTINGS["steps"]))
    untrained = cosines(params, stretches, TAUS)
    updates = int(SETTINGS["updates"])
    losses = train(ids, params, SETTINGS["lr"], stop=lambda done: done >= updates)
    return {
        "radius": radius,
        "seed": seed,
        "untrained": [round(value, 5) for value in untrained],
        "trained": [round(value, 5) for value in cosines(params, stretches, TAUS)],
        "train_bits": round(float(np.mean(losses[-200:])) / float(np.log(2)), 4),
    }


def main() -> None:
    text = python_docs()
    ids, held_out = text.ids(text.train), text.ids(text.held_out)
    runs = []
    for radius in RADII:
        for seed in SEEDS:
            runs.append(run(radius, seed, ids, held_out, len(text.characters)))
            print(json.dumps(runs[-1]), flush=True)
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch02.truncation --record",
            "settings": SETTINGS,
            "taus": TAUS,
            "text": {"source": text.source, "sha256": text.sha256},
            "versions": {"numpy": np.__version__},
            "runs": runs,
        }
        rows = re.compile(r"\[\s+([^][{}]+?)\s+\]")  # one list of numbers, one line
        lines = rows.sub(lambda row: "[" + re.sub(r"\s+", " ", row[1]) + "]", json.dumps(record, indent=1))
        RESULTS_FILE.write_text(lines + "\n", "utf-8")


if __name__ == "__main__":
    main()
