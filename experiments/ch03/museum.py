"""Three bugs around gradient clipping, and what the training curve shows of them (for the bug museum).

    python -m experiments.ch03.museum [--record]

A tanh network of 64 units, in NumPy alone, learns the copy task of experiments.ch03.copying with a delay of 10: three
random symbols, blanks, then the three symbols in order. W_hh is a random orthogonal matrix, and gradients are clipped
at norm 1. Each bug, and training without clipping, is run with the same five seeds for 400 updates, with gradient
descent and with Adam. Every update draws new sequences, so its loss is measured on sequences before the network is
trained on them. Takes about 25 seconds on one core.

How the settings were found: on seeds 0 and 1, gradient descent with a rate of 0.1 and Adam with 0.001 were tried first,
and hardly clip at all, so that the two bugs of clipping left no trace. Gradient descent with a rate of 0.5, tried last,
is the setting in which clipping matters. Both it and Adam are recorded.
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from experiments.ch03.lag_norms import recurrent_weights
from experiments.ch03.record import significant, to_json

RESULTS_FILE = Path(__file__).with_name("museum.json")
SETTINGS: dict[str, float] = {
    "symbols": 3,
    "alphabet": 8,
    "delay": 10,
    "hidden_size": 64,
    "input_sd": 0.1,
    "batch": 32,
    "max_norm": 1.0,
    "updates": 400,
    "block": 10,
    "last": 50,
}
RATES: dict[str, float] = {"sgd": 0.5, "adam": 0.001}
VARIANTS = ("right", "no clipping", "own norms", "each step", "wrong order")
SEEDS = tuple(range(10, 15))
NAMES = ("W_xh", "W_hh", "b_h", "W_hy", "b_y")

Arrays = list[np.ndarray]


def sequences(rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """One-hot inputs (rows, T, 10) and the symbols (rows, 3), from 1 to 8: experiments.ch03.copying in NumPy."""
    S, K, delay = (int(SETTINGS[name]) for name in ("symbols", "alphabet", "delay"))
    chosen = rng.integers(1, K + 1, size=(rows, S))
    ids = np.zeros((rows, S + delay + S), dtype=int)
    ids[:, :S] = chosen
    ids[:, S + delay - 1] = K + 1
    return np.eye(K + 2)[ids], chosen


def initial(rng: np.random.Generator) -> Arrays:
    """W_xh (10, H), W_hh (H, H), b_h (H,), W_hy (H, 9), b_y (9,)."""
    H, K = int(SETTINGS["hidden_size"]), int(SETTINGS["alphabet"])
    return [
        SETTINGS["input_sd"] * rng.normal(size=(K + 2, H)),
        recurrent_weights("orthogonal", 1.0, H, rng),
        np.zeros(H),
        rng.normal(size=(H, K + 1)) / math.sqrt(3 * H),
        np.zeros(K + 1),
    ]


def joint_norm(grads: Arrays) -> float:
    """The norm of all arrays together."""
    return math.sqrt(sum(float((grad**2).sum()) for grad in grads))


def clipped(grads: Arrays, max_norm: float) -> Arrays:
    """The arrays, scaled down together if their joint norm exceeds max_norm."""
    norm = joint_norm(grads)
    return [grad * (max_norm / norm) for grad in grads] if norm > max_norm else grads


def loss_and_grads(params: Arrays, x: np.ndarray, y: np.ndarray, variant: str = "right") -> tuple[float, Arrays]:
    """Mean cross-entropy in nats of the last steps, x (B, T, D), y (B, S), and its gradients.

    With "wrong order" they are wrong; with "each step" every step's contribution is clipped before it is added.
    """
    W_xh, W_hh, b_h, W_hy, b_y = params
    (B, T, _), S = x.shape, y.shape[1]
    h = np.zeros((T + 1, B, len(b_h)))  # h[0] is the state before the first step
    for t in range(T):
        h[t + 1] = np.tanh(x[:, t] @ W_xh + h[t] @ W_hh + b_h)
    logits = h[-S:] @ W_hy + b_y  # (S, B, 9)
    logits -= logits.max(axis=2, keepdims=True)
    probs = np.exp(logits)
    probs /= probs.sum(axis=2, keepdims=True)
    of_target = np.take_along_axis(probs, y.T[:, :, None], 2)
    loss = -float(np.log(of_target).mean())
    dlogits = probs
    np.put_along_axis(dlogits, y.T[:, :, None], of_target - 1, 2)
    dlogits /= S * B

    grads = [np.zeros_like(theta) for theta in params]
    dh_next = np.zeros_like(h[0])
    for t in reversed(range(T)):
        dout = dlogits[t - T] if t >= T - S else np.zeros((B, len(b_y)))
        dh = dout @ W_hy.T + dh_next
        slope = 1 - h[t + 1] ** 2
        da = dh * slope
        dh_next = (dh @ W_hh.T) * slope if variant == "wrong order" else da @ W_hh.T
        step = [x[:, t].T @ da, h[t].T @ da, da.sum(0), h[t + 1].T @ dout, dout.sum(0)]
        if variant == "each step":
            step = clipped(step, SETTINGS["max_norm"])
        for grad, contribution in zip(grads, step, strict=True):
            grad += contribution
    return loss, grads


def before_update(grads: Arrays, variant: str) -> Arrays:
    """What is done to the gradients between the backward pass and the update."""
    if variant in ("no clipping", "each step"):
        return grads
    if variant == "own norms":
        return [clipped([grad], SETTINGS["max_norm"])[0] for grad in grads]
    return clipped(grads, SETTINGS["max_norm"])


def angle(a: Arrays, b: Arrays) -> float:
    """The angle in degrees between two gradients, each a list of arrays."""
    product = sum(float((one * other).sum()) for one, other in zip(a, b, strict=True))
    return math.degrees(math.acos(min(1.0, max(-1.0, product / (joint_norm(a) * joint_norm(b))))))


def run(variant: str, optimizer: str, seed: int, updates: int | None = None) -> dict[str, Any]:
    """Train one network: its record. The curve is the mean loss of every ten updates."""
    rng = np.random.default_rng(seed)
    params = initial(rng)
    means, squares = ([np.zeros_like(theta) for theta in params] for _ in range(2))  # Adam's
    losses, norms, turned = [], [], []
    started = time.process_time()
    lr = RATES[optimizer]
    for update in range(1, (updates or int(SETTINGS["updates"])) + 1):
        x, y = sequences(int(SETTINGS["batch"]), rng)
        loss, grads = loss_and_grads(params, x, y, variant)
        losses.append(loss)
        norms.append(joint_norm(grads))
        changed = before_update(grads, variant)
        turned.append(angle(grads, changed))
        for i, grad in enumerate(changed):
            step = grad
            if optimizer == "adam":
                means[i] = 0.9 * means[i] + 0.1 * grad
                squares[i] = 0.999 * squares[i] + 0.001 * grad**2
                root = np.sqrt(squares[i] / (1 - 0.999**update)) + 1e-8
                step = means[i] / (1 - 0.9**update) / root
            params[i] = params[i] - lr * step
    block, last = int(SETTINGS["block"]), int(SETTINGS["last"])
    return {
        "variant": variant,
        "optimizer": optimizer,
        "seed": seed,
        "last": significant([float(np.mean(losses[-last:]))])[0],
        "norm_median": significant([float(np.median(norms))])[0],
        "norm_largest": significant([max(norms)])[0],
        "share_above_limit": round(float(np.mean(np.array(norms) > SETTINGS["max_norm"])), 3),
        "angle_largest": round(max(turned), 1),
        "curve": [round(float(np.mean(losses[i : i + block])), 4) for i in range(0, len(losses), block)],
        "cpu_seconds": round(time.process_time() - started, 1),
    }


def main() -> None:
    runs = []
    for optimizer in RATES:
        for variant in VARIANTS:
            here = [run(variant, optimizer, seed) for seed in SEEDS]
            runs += here
            columns = ("last", "norm_largest", "share_above_limit", "angle_largest")
            print(optimizer, variant, *(f"{name} {[one[name] for one in here]}" for name in columns), flush=True)
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch03.museum --record",
            "settings": SETTINGS,
            "rates": RATES,
            "seeds": list(SEEDS),
            "versions": {"numpy": np.__version__},
            "baseline": {"nats": round(math.log(SETTINGS["alphabet"]), 4)},
            "runs": runs,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
