"""Compare the direction of the truncated gradient with that of the full one, for chunks of different lengths.

    python -m experiments.ch02.truncation [--record]

A tanh network of 100 units reads stretches of 100 characters of held-out text, each from a state of zeros. The gradient
of the mean loss with respect to W_xh, W_hh and b_h is computed in full and truncated to chunks of tau steps, and the
cosine between the two is averaged over batches. Networks are measured before training and after 2,000 updates of two
kinds: in chunks of 25 with the state passed on, or with the full gradient of stretches of 100 from a state of zeros.
Each update reads 400 characters either way. Five seeds for each of two scales of the initial weights.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

from experiments.ch02.char_rnn import Params, bits, initial, nats_and_probs, states, train
from experiments.text import python_docs
from solutions.ch02_bptt.truncated import truncated_bptt

RESULTS_FILE = Path(__file__).with_name("truncation.json")
SETTINGS = {"hidden_size": 100, "steps": 100, "batch": 16, "batches": 4, "updates": 2000, "lr": 0.05}
TRAININGS: dict[str, dict[str, int]] = {
    "truncated": {"batch": 16, "chunk": 25, "carry": 1},
    "full": {"batch": 4, "chunk": 100, "carry": 0},
}
TAUS = (1, 2, 3, 5, 10, 20, 25, 50, 100)
RADII = (0.58, 1.0)  # about the spectral radius of the first W_hh; PyTorch's is the smaller
SEEDS = tuple(range(10, 15))


def gradients(params: Params, ids: np.ndarray, taus: tuple[int, ...]) -> dict[int, np.ndarray]:
    """The gradient of the mean loss over ids (B, T + 1), truncated at each tau: one flat vector of W_xh, W_hh, b_h."""
    inputs, targets = ids[:, :-1], ids[:, 1:]
    h_0 = np.zeros((len(ids), len(params["b_h"])))
    h = states(params, inputs, h_0)
    probs = nats_and_probs(params, h, targets)[1]  # (B, T, V)
    one_hot = np.eye(probs.shape[2])
    dh = (probs - one_hot[targets]) / targets.size @ params["W_hy"].T  # (B, T, H)
    x = one_hot[inputs]
    found = {}
    for tau in taus:
        grads = truncated_bptt(dh, x, h_0, h, params["W_xh"], params["W_hh"], tau)
        found[tau] = np.concatenate([grad.ravel() for grad in grads])
    return found


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    """Cosine of the angle between two vectors: 1 for the same direction, 0 for a right angle."""
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
    """Cut stretches (batches, batch, steps + 1), evenly spaced, out of ids (N,)."""
    starts = np.linspace(0, len(ids) - steps - 1, batches * batch).astype(int)
    return ids[starts[:, None] + np.arange(steps + 1)].reshape(batches, batch, steps + 1)


def run(
    training: str, radius: float, seed: int, ids: np.ndarray, held_out: np.ndarray, vocab_size: int
) -> dict[str, Any]:
    """Measure the cosines before and after one training."""
    params = initial(vocab_size, int(SETTINGS["hidden_size"]), np.random.default_rng(seed), radius)
    stretches = stretches_of(held_out, int(SETTINGS["batches"]), int(SETTINGS["batch"]), int(SETTINGS["steps"]))
    untrained = cosines(params, stretches, TAUS)
    updates, how = int(SETTINGS["updates"]), TRAININGS[training]
    stop = lambda done: done >= updates  # noqa: E731
    losses = train(ids, params, SETTINGS["lr"], stop, how["batch"], how["chunk"], carry=bool(how["carry"]))
    return {
        "training": training,
        "radius": radius,
        "seed": seed,
        "untrained": [round(value, 5) for value in untrained],
        "trained": [round(value, 5) for value in cosines(params, stretches, TAUS)],
        "train_bits": round(float(np.mean(losses[-200:])) / float(np.log(2)), 4),
        "held_out_bits": round(bits(params, held_out), 4),
    }


def main() -> None:
    text = python_docs()
    ids, held_out = text.ids(text.train), text.ids(text.held_out)
    runs = []
    for training, radius, seed in itertools.product(TRAININGS, RADII, SEEDS):
        runs.append(run(training, radius, seed, ids, held_out, len(text.characters)))
        print(json.dumps(runs[-1]), flush=True)
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch02.truncation --record",
            "settings": SETTINGS,
            "trainings": TRAININGS,
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
