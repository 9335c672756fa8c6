"""Train the network of chapter 02's capstone with the reference functions, for chapter 03's capstone.

    python -m experiments.ch03.capstone_network [--record]

The text, the loop and the settings are those of chapter 02's capstone with its largest number of updates. The weights
are rounded to three decimals, and the record describes the rounded networks: bits per character at the end of
training, spectral radius and largest singular value of W_hh, mean derivative of the tanh, and the lag from which on
the gradient's norm (geometric mean over places of the text) stays below 1 % of its norm at lag 0. It also contains the
capstone's short runs, with and without clipping and from three spectral radii, for five seeds instead of three.

Prints the record; with --record it also writes `capstone_network.json` here, and the file that students get, the
network of the first seed, `solutions/ch03_gradients/files/capstone_network.json`. Five minutes on one core.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported: waiting threads would use up CPU seconds

import numpy as np

from solutions.ch02_bptt.capstone import forward, mean_loss, python_manual
from solutions.ch02_bptt.logits_and_embedding import cross_entropy_backward
from solutions.ch02_bptt.through_time import rnn_backward
from solutions.ch02_bptt.training import train_char_rnn
from solutions.ch03_gradients import capstone
from solutions.ch03_gradients.clipping import clip_by_norm
from solutions.ch03_gradients.jacobians import gradient_norms_by_lag
from solutions.ch03_gradients.linear import spectral_radius

RESULTS_FILE = Path(__file__).with_name("capstone_network.json")
SHIPPED = Path(__file__).parents[2] / "solutions" / "ch03_gradients" / "files" / "capstone_network.json"
SETTINGS: dict[str, Any] = {"hidden_size": 100, "seq_length": 25, "num_updates": 20_000, "lr": 0.05, "decimals": 3}
SHORT: dict[str, Any] = {
    "hidden_size": 50,
    "num_updates": 600,
    "radius_and_limit": [[1.0, None], [1.0, 1.0], [0.5, None], [1.5, None]],
}
SEEDS = tuple(range(5))

Params = dict[str, np.ndarray]


def encoded(text: str) -> tuple[str, np.ndarray]:
    """The characters that occur at least 20 times, and the text as ids, without the others."""
    characters = "".join(c for c in sorted(set(text)) if text.count(c) >= 20)
    id_of = {c: i for i, c in enumerate(characters)}
    return characters, np.array([id_of[c] for c in text if c in id_of])


def loss_and_grads(
    params: Params, inputs: np.ndarray, targets: np.ndarray, h_0: np.ndarray
) -> tuple[float, Params, np.ndarray]:
    """The mean loss of one chunk, ids (T,), its gradients, and the last state (1, H)."""
    h, logits = forward(params, inputs, h_0)
    dlogits = cross_entropy_backward(logits, targets[None])  # (1, T, V)
    x = np.eye(len(params["W_xh"]))[inputs][None]  # (1, T, V)
    _, _, dW_xh, dW_hh, db_h = rnn_backward(dlogits @ params["W_hy"].T, x, h_0, h, params["W_xh"], params["W_hh"])
    grads = {"W_xh": dW_xh, "W_hh": dW_hh, "b_h": db_h, "W_hy": h[0].T @ dlogits[0], "b_y": dlogits[0].sum(axis=0)}
    return float(mean_loss(logits, targets)), grads, h[:, -1]


def trained(ids: np.ndarray, vocab_size: int, seed: int, num_updates: int) -> tuple[np.ndarray, Params]:
    """The losses (num_updates,) and the weights, rounded."""
    sizes = (vocab_size, SETTINGS["hidden_size"], SETTINGS["seq_length"])
    rng = np.random.default_rng(seed)
    losses, params = train_char_rnn(ids, *sizes, num_updates, SETTINGS["lr"], rng, loss_and_grads)
    return losses, {name: np.round(w, SETTINGS["decimals"]) + 0.0 for name, w in params.items()}


def shares(ids: np.ndarray, params: Params, places: int) -> tuple[np.ndarray, np.ndarray]:
    """The norms by lag relative to lag 0 (places, 80), and the states (places, 80, H)."""
    block, targets = capstone.pieces(ids, places, 80, np.random.default_rng(0))
    h = capstone.states(params, block)
    dh_T = capstone.gradient_at_last_state(params, h[:, -1], targets)
    return capstone.shares_by_lag(gradient_norms_by_lag, dh_T, h, params["W_hh"]), h


def described(seed: int, ids: np.ndarray, losses: np.ndarray, params: Params) -> dict[str, Any]:
    """What the record says about one network, measured at 200 places of the text."""
    by_lag, h = shares(ids, params, 200)
    return {
        "seed": seed,
        "bits_per_character": round(float(losses[-1000:].mean() / np.log(2)), 2),
        "spectral_radius": round(spectral_radius(params["W_hh"]), 2),
        "largest_singular_value": round(float(np.linalg.norm(params["W_hh"], 2)), 2),
        "mean_derivative": round(float((1 - h**2).mean()), 2),
        "lag_below_one_percent": capstone.horizon(by_lag),
    }


def short_run(ids: np.ndarray, vocab_size: int, radius: float, limit: float | None, seed: int) -> dict[str, Any]:
    """One of the capstone's short runs: the lags below 1 % before and after training, and the share clipped."""
    start = capstone.initial_weights(vocab_size, SHORT["hidden_size"], np.random.default_rng(seed))
    start["W_hh"] = radius / spectral_radius(start["W_hh"]) * start["W_hh"]
    end, losses, norms = capstone.train(start, ids, SHORT["num_updates"], clip_by_norm, limit or 1e9)
    return {
        "radius": radius,
        "limit": limit,
        "seed": seed,
        "before": capstone.horizon(shares(ids, start, 60)[0]),
        "after": capstone.horizon(shares(ids, end, 60)[0]),
        "bits_per_character": round(float(losses[-100:].mean() / np.log(2)), 2),
        "share_clipped": round(float((norms > (limit or 1e9)).mean()), 3),
        "largest_norm": round(float(norms.max()), 1),
    }


def rows_on_lines(shipped: dict[str, Any]) -> str:
    """JSON with one row of weights a line."""
    arrays = []
    for name, array in shipped["weights"].items():
        rows = array if isinstance(array[0], list) else [array]
        lines = ",\n".join("   " + json.dumps(row) for row in rows)
        arrays.append(f'  "{name}": [\n{lines}\n  ]' if rows is array else f'  "{name}":\n{lines}')
    head = json.dumps(shipped["characters"], ensure_ascii=False)
    return f'{{\n "characters": {head},\n "weights": {{\n' + ",\n".join(arrays) + "\n }\n}\n"


def main() -> None:
    text = python_manual()
    characters, ids = encoded(text)
    networks = []
    for seed in SEEDS:
        losses, params = trained(ids, len(characters), seed, SETTINGS["num_updates"])
        networks.append(described(seed, ids, losses, params))
        print(networks[-1], flush=True)
        if seed == SEEDS[0]:
            shipped = {"characters": characters, "weights": {name: w.tolist() for name, w in params.items()}}
    runs = [
        short_run(ids, len(characters), radius, limit, seed)
        for radius, limit in SHORT["radius_and_limit"]
        for seed in SEEDS
    ]
    record = {
        "command": "python -m experiments.ch03.capstone_network --record",
        "text": {
            "source": f"pydoc_data.topics of Python {platform.python_version()}",
            "characters": len(ids),
            "sha256": hashlib.sha256(text.encode()).hexdigest(),
        },
        "settings": {**SETTINGS, "short": SHORT},
        "seeds": list(SEEDS),
        "versions": {"numpy": np.__version__},
        "networks": networks,
        "short_runs": runs,
    }
    print(json.dumps(record, indent=1))
    if "--record" in sys.argv[1:]:
        RESULTS_FILE.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
        SHIPPED.parent.mkdir(exist_ok=True)
        SHIPPED.write_text(rows_on_lines(shipped), "utf-8")


if __name__ == "__main__":
    main()
