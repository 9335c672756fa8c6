"""One LSTM unit and one GRU unit that read the same 40 numbers, with gates that are set by hand.

    from experiments.ch04.gates import lstm, gru

The book's explorable `gates` reads the same file, `gates.json`, and computes the same numbers. Both units start from
zero and have the candidate tanh(w x_t + u h_{t-1}); in the GRU, the reset gate r multiplies u h_{t-1}. At the step of
the pulse, x = 2, the unit writes: i = 1 in the LSTM, and z = 0 in the GRU. At all other steps the gates have the given
values. The inputs after the pulse were drawn once: `numpy.random.default_rng(0).normal(size=40) / 2`, rounded.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypedDict

import numpy as np

NUMBERS_FILE = Path(__file__).with_name("gates.json")


class Numbers(TypedDict):
    """The numbers of `gates.json`: `pulse` is the step, counted from 0, at which both units write."""

    w: float
    u: float
    pulse: int
    x: dict[str, list[float]]


def load_numbers() -> Numbers:
    numbers: Numbers = json.loads(NUMBERS_FILE.read_text("utf-8"))
    return numbers


def lstm(f: float, i: float, o: float, inputs: str = "noise") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the candidates g (40,), the cell states c (40,) and the hidden states h (40,)."""
    numbers = load_numbers()
    g, c, h = np.zeros((3, len(numbers["x"][inputs])))
    for t, x_t in enumerate(numbers["x"][inputs]):
        c_prev, h_prev = (c[t - 1], h[t - 1]) if t else (0.0, 0.0)
        g[t] = np.tanh(numbers["w"] * x_t + numbers["u"] * h_prev)
        c[t] = f * c_prev + (1.0 if t == numbers["pulse"] else i) * g[t]
        h[t] = o * np.tanh(c[t])
    return g, c, h


def gru(r: float, z: float, inputs: str = "noise") -> tuple[np.ndarray, np.ndarray]:
    """Return the candidates n (40,) and the hidden states h (40,)."""
    numbers = load_numbers()
    n, h = np.zeros((2, len(numbers["x"][inputs])))
    for t, x_t in enumerate(numbers["x"][inputs]):
        h_prev = h[t - 1] if t else 0.0
        n[t] = np.tanh(numbers["w"] * x_t + r * numbers["u"] * h_prev)
        kept = 0.0 if t == numbers["pulse"] else z
        h[t] = (1 - kept) * n[t] + kept * h_prev
    return n, h
