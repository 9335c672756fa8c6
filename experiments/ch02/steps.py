"""The error of a numerical gradient against its step, in float64 and in float32.

    python -m experiments.ch02.steps [--record]

Central differences for W_hh of seven random tanh networks, compared with the exact gradient in float64: norm of the
error over norm of the gradient, for two steps in each power of ten. With short steps the error consists of rounding
errors, which have other digits on other processors. Takes a second.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from experiments.ch03.record import significant, to_json
from solutions.ch01_vanilla_rnn.recurrence import rnn_forward
from solutions.ch02_bptt.checking import numerical_gradient
from solutions.ch02_bptt.through_time import rnn_backward

RESULTS_FILE = Path(__file__).with_name("steps.json")
SETTINGS = {"B": 2, "T": 6, "D": 3, "H": 4, "sd": 0.6}
SEEDS = tuple(range(7))
STEPS = 10.0 ** np.arange(-12, -0.4, 0.5)  # two for each power of ten
DTYPES = ("float64", "float32")


def draw(seed: int, B: int = 2, T: int = 6, D: int = 3, H: int = 4) -> list[np.ndarray]:
    """A random network and a sequence: x (B, T, D), h_0, W_xh, W_hh, b_h, and upstream gradients (B, T, H)."""
    rng = np.random.default_rng(seed)
    arrays = [(B, T, D), (B, H), (D, H), (H, H), (H,), (B, T, H)]
    return [0.6 * rng.normal(size=shape) for shape in arrays]


def loss_of(
    W_hh: np.ndarray, x: np.ndarray, h_0: np.ndarray, W_xh: np.ndarray, b_h: np.ndarray, upstream: np.ndarray
) -> float:
    """A loss with its own weight for every entry of every state, in the precision of W_hh."""
    h = rnn_forward(x, h_0, W_xh, W_hh, b_h)
    assert h.dtype == W_hh.dtype
    return (h * upstream).sum()  # type: ignore[no-any-return]


def errors_by_step(seed: int, dtype: str) -> list[float]:
    """The relative error of the numerical gradient of W_hh at each step."""
    x, h_0, W_xh, W_hh, b_h, upstream = draw(seed)
    h = rnn_forward(x, h_0, W_xh, W_hh, b_h)
    exact = rnn_backward(upstream, x, h_0, h, W_xh, W_hh)[3]
    x, h_0, W_xh, W_hh, b_h, upstream = (a.astype(dtype) for a in draw(seed))

    def loss(W: np.ndarray) -> float:
        return loss_of(W, x, h_0, W_xh, b_h, upstream)

    errors = []
    for step in STEPS:
        found = numerical_gradient(loss, W_hh, step)
        errors.append(np.linalg.norm(found - exact) / np.linalg.norm(exact))
    return errors


def main() -> None:
    curves: dict[str, Any] = {}
    for dtype in DTYPES:
        found = np.array([errors_by_step(seed, dtype) for seed in SEEDS])
        of = {"least": found.min(axis=0), "median": np.median(found, axis=0), "most": found.max(axis=0)}
        curves[dtype] = {name: significant(values, 2) for name, values in of.items()}
        print(dtype, *curves[dtype].items(), sep="\n")
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch02.steps --record",
            "settings": SETTINGS,
            "seeds": list(SEEDS),
            "versions": {"numpy": np.__version__},
            "steps": significant(STEPS),
            "errors": curves,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
