"""A cliff of the loss, and gradient descent over it with and without clipping (Pascanu, Mikolov and Bengio, 2013).

    python -m experiments.ch03.cliff [--record]

A single unit x_t = w * sigma(x_{t-1}) + b runs for 50 steps from x_0 = 0.5; its loss is (sigma(x_50) - 0.7)**2. It
has a cliff: on one side x_50 is near a low fixed point, on the other it is not. Gradient descent starts at w = 4.6 and
b = -2.03, with learning rate 0.3, once without clipping and once with the norm of the gradient clipped to 1. It takes
about a second.

This descent illustrates the effect and does not measure it. The start was picked from a grid of some 3,700, and the
learning rate and the threshold from four and three, among those with which clipping reaches the minimum, descent
without clipping does not, and rounding hardly matters: if the start is moved by 1e-6, both descents move by at most
0.03. What clipping changes in general is measured on 200 starts drawn with each of five seeds from the whole box of
that grid ("box") and, for comparison, from around the picked one ("near").
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.ch03.record import significant, to_json

RESULTS_FILE = Path(__file__).with_name("cliff.json")
SETTINGS: dict[str, float] = {
    "steps": 50,
    "x_0": 0.5,
    "target": 0.7,
    "lr": 0.3,
    "clip": 1.0,
    "updates": 60,
    "starts": 200,
    "start_sd": 0.1,
    "solved_below": 0.001,
}
START = (4.6, -2.03)
BOX = ((4.1, 5.8), (-3.0, -1.9))  # of w and of b
SEEDS = tuple(range(5))


class Descent(NamedTuple):
    """Gradient descent of N starts: parameters (updates + 1, N, 2) as (w, b), losses and gradient norms (…, N)."""

    path: np.ndarray
    losses: np.ndarray
    norms: np.ndarray


def sigma(z: Any) -> Any:
    """The logistic function, without overflow."""
    return 0.5 * (1 + np.tanh(0.5 * np.asarray(z)))


def loss(w: Any, b: Any) -> Any:
    """The loss at w and b, numbers or arrays of the same shape."""
    return loss_and_gradient(w, b)[0]


def loss_and_gradient(w: Any, b: Any) -> tuple[Any, Any, Any]:
    """The loss and its derivatives with respect to w and b, numbers or arrays of the same shape."""
    x, dx_dw, dx_db = SETTINGS["x_0"], 0.0, 0.0
    for _ in range(int(SETTINGS["steps"])):
        s = sigma(x)
        step = w * s * (1 - s)  # the derivative of x_t with respect to x_{t-1}
        x, dx_dw, dx_db = w * s + b, s + step * dx_dw, 1 + step * dx_db
    s = sigma(x)
    difference = s - SETTINGS["target"]
    dx = 2 * difference * s * (1 - s)
    return difference**2, dx * dx_dw, dx * dx_db


def descend(starts: Any, lr: float = 0.3, clip: float | None = None, updates: int = 60) -> Descent:
    """Gradient descent from starts (N, 2) of (w, b); with `clip`, gradients of a larger norm are scaled down to it."""
    theta = np.array(starts, dtype=np.float64).reshape(-1, 2)
    path, losses, norms = [], [], []
    for update in range(updates + 1):
        value, *gradient = loss_and_gradient(theta[:, 0], theta[:, 1])
        grad = np.stack(gradient, axis=1)  # (N, 2)
        norm = np.linalg.norm(grad, axis=1)
        path.append(theta)
        losses.append(value)
        norms.append(norm)
        if update < updates:
            scale = 1.0 if clip is None else np.minimum(1.0, clip / np.maximum(norm, 1e-300))[:, None]
            theta = theta - lr * scale * grad
    return Descent(np.array(path), np.array(losses), np.array(norms))


def random_starts(seed: int, region: str = "box") -> np.ndarray:
    """Starts (N, 2): uniform in BOX, or "near" START, normal with the standard deviation of the settings."""
    rng, count = np.random.default_rng(seed), int(SETTINGS["starts"])
    if region == "near":
        return np.array(START) + SETTINGS["start_sd"] * rng.normal(size=(count, 2))
    return np.stack([rng.uniform(*side, size=count) for side in BOX], axis=1)


def describe(descent: Descent) -> dict[str, Any]:
    """One descent in numbers: its end, its longest step, its largest gradient and the path."""
    longest = np.linalg.norm(np.diff(descent.path[:, 0], axis=0), axis=1)
    return {
        "end": significant(descent.path[-1, 0], 4),
        "loss": significant(descent.losses[-1], 3)[0],
        "lowest_loss": significant([descent.losses.min()], 3)[0],
        "largest_norm": significant([descent.norms.max()], 3)[0],
        "longest_step": significant([longest.max()], 3)[0],
        "longest_step_at": int(longest.argmax()),
        "w": [round(float(w), 3) for w in descent.path[:, 0, 0]],
        "b": [round(float(b), 3) for b in descent.path[:, 0, 1]],
        "norms": significant(descent.norms[:, 0], 3),
        "losses": significant(descent.losses[:, 0], 3),
    }


def main() -> None:
    results: dict[str, dict[str, Any]] = {}
    updates = int(SETTINGS["updates"])
    for name, clip in (("unclipped", None), ("clipped", SETTINGS["clip"])):
        results[name] = describe(descend([START], SETTINGS["lr"], clip, updates))
        for region in ("box", "near"):
            ends = [descend(random_starts(seed, region), SETTINGS["lr"], clip, updates).losses[-1] for seed in SEEDS]
            shares = [float((losses < SETTINGS["solved_below"]).mean()) for losses in ends]
            results[name][f"share_solved_{region}"] = [round(share, 3) for share in shares]
        shown = ("end", "loss", "largest_norm", "longest_step", "share_solved_box", "share_solved_near")
        print(name, {key: results[name][key] for key in shown})
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch03.cliff --record",
            "settings": SETTINGS,
            "start": START,
            "box": BOX,
            "seeds": list(SEEDS),
            "versions": {"numpy": np.__version__},
            "results": results,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
