"""The norm of the gradient against lag in random LSTMs and GRUs, for different biases of the gate that keeps.

    python -m experiments.ch04.lag_gates [--record]

The conditions are those of experiments.ch03.lag_norms, whose tanh network stands beside the gated ones: 64 units read
120 random inputs from a state of zeros, and a gradient of norm 1 arrives at the last hidden state and is passed back
over 100 steps. The inputs are normal, with a standard deviation of 1 or 0.1, and enter every pre-activation directly.
Each gate's and the candidate's block of the recurrent weights is drawn like W_hh there, Gaussian or orthogonal, with a
spectral radius of 0.5, 1 or 1.5. All biases are 0 except the forget gate's (LSTM) or the update gate's (GRU). The norm
of an LSTM's gradient is that of (dh, dc) together. Ten seeds each, geometric means. Takes about five
seconds.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.ch03 import lag_norms
from experiments.ch03.lag_norms import recurrent_weights
from experiments.ch03.record import geometric, significant, to_json

RESULTS_FILE = Path(__file__).with_name("lag_gates.json")
SETTINGS = lag_norms.SETTINGS
CELLS: dict[str, tuple[str, float]] = {  # name: kind, bias of the gate that keeps
    "tanh": ("tanh", 0.0),
    "lstm_0": ("lstm", 0.0),
    "lstm_1": ("lstm", 1.0),
    "lstm_3": ("lstm", 3.0),
    "gru_0": ("gru", 0.0),
    "gru_3": ("gru", 3.0),
}
BLOCKS = {"tanh": 1, "lstm": 4, "gru": 3}
KINDS = ("gaussian", "orthogonal")
RADII = (0.5, 1.0, 1.5)
INPUT_SDS = (1.0, 0.1)
SEEDS = lag_norms.SEEDS
RECORDED_LAGS = lag_norms.RECORDED_LAGS


class LSTMStates(NamedTuple):
    """What an LSTM computed at T steps: each (T, H). f is the forget gate, g the candidate."""

    i: np.ndarray
    f: np.ndarray
    g: np.ndarray
    o: np.ndarray
    c: np.ndarray
    h: np.ndarray


class GRUStates(NamedTuple):
    """What a GRU computed at T steps: each (T, H). z is the update gate, p = h_prev W_hn, which r multiplies."""

    r: np.ndarray
    z: np.ndarray
    n: np.ndarray
    p: np.ndarray
    h: np.ndarray


def sigmoid(a: np.ndarray) -> np.ndarray:
    """The logistic function."""
    return 0.5 * (1 + np.tanh(0.5 * a))


def lstm_states(W_h: np.ndarray, x: np.ndarray) -> LSTMStates:
    """Read x (T, 4H), added to the pre-activations in the order i, f, g, o, from zero states. W_h (H, 4H)."""
    H = len(W_h)
    h_t, c_t, kept = np.zeros(H), np.zeros(H), []
    for x_t in x:
        a_i, a_f, a_g, a_o = np.split(x_t + h_t @ W_h, 4)
        i, f, g, o = sigmoid(a_i), sigmoid(a_f), np.tanh(a_g), sigmoid(a_o)
        c_t = f * c_t + i * g
        h_t = o * np.tanh(c_t)
        kept.append((i, f, g, o, c_t, h_t))
    return LSTMStates(*(np.array(values) for values in zip(*kept, strict=True)))


def lstm_back(
    W_h: np.ndarray, states: LSTMStates, t: int, dh: np.ndarray, dc: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Pass the gradients of h_t and c_t (…, H) back one step, to h_{t-1} and c_{t-1}: (…, H) each. Needs t >= 1.

    dc is the part that reaches c_t from the next step; the part through h_t is added here.
    """
    i, f, g, o = states.i[t], states.f[t], states.g[t], states.o[t]
    tanh_c = np.tanh(states.c[t])
    dc = dc + dh * o * (1 - tanh_c**2)
    da = [dc * g * i * (1 - i), dc * states.c[t - 1] * f * (1 - f), dc * i * (1 - g**2), dh * tanh_c * o * (1 - o)]
    return np.concatenate(da, axis=-1) @ W_h.T, dc * f


def gru_states(W_h: np.ndarray, x: np.ndarray) -> GRUStates:
    """Read x (T, 3H), added to the pre-activations in the order r, z, n, from a zero state. W_h (H, 3H).

    PyTorch's convention: the reset gate multiplies after the matrix product, and z keeps the previous state.
    """
    H = len(W_h)
    h_t, kept = np.zeros(H), []
    for x_t in x:
        x_r, x_z, x_n = np.split(x_t, 3)
        h_r, h_z, p = np.split(h_t @ W_h, 3)
        r, z = sigmoid(x_r + h_r), sigmoid(x_z + h_z)
        n = np.tanh(x_n + r * p)
        h_t = (1 - z) * n + z * h_t
        kept.append((r, z, n, p, h_t))
    return GRUStates(*(np.array(values) for values in zip(*kept, strict=True)))


def gru_back(W_h: np.ndarray, states: GRUStates, t: int, dh: np.ndarray) -> np.ndarray:
    """Pass the gradient of h_t (…, H) back one step, to h_{t-1}. Needs t >= 1."""
    r, z, n, p = states.r[t], states.z[t], states.n[t], states.p[t]
    da_n = dh * (1 - z) * (1 - n**2)
    da_r, da_z = da_n * p * r * (1 - r), dh * (states.h[t - 1] - n) * z * (1 - z)
    return np.concatenate([da_r, da_z, da_n * r], axis=-1) @ W_h.T + dh * z


def draw(
    cell: str, radius: float, input_sd: float, kind: str, seed: int, steps: int, hidden_size: int
) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """Draw a gated network of CELLS and its inputs: W_h (H, 4H or 3H), x (steps, 4H or 3H) with the biases in it."""
    rng = np.random.default_rng(seed)
    of, bias = CELLS[cell]
    blocks = [recurrent_weights(kind, radius, hidden_size, rng) for _ in range(BLOCKS[of])]
    x = input_sd * rng.normal(size=(steps, BLOCKS[of] * hidden_size))
    x[:, hidden_size : 2 * hidden_size] += bias  # the forget gate of i, f, g, o; the update gate of r, z, n
    return np.concatenate(blocks, axis=1), x, rng


def norms(
    cell: str,
    radius: float = 1.0,
    input_sd: float = 1.0,
    kind: str = "gaussian",
    seed: int = 0,
    lags: int = 100,
    hidden_size: int = 64,
) -> np.ndarray:
    """Norms of the gradient at lags 0 to `lags` in one random network of CELLS: (lags + 1,), of which norms[0] is 1."""
    of, _ = CELLS[cell]
    if of == "tanh":
        return lag_norms.norms(radius, "tanh", input_sd, kind, seed, lags, hidden_size)
    W_h, x, rng = draw(cell, radius, input_sd, kind, seed, lags + SETTINGS["before"], hidden_size)
    dh = rng.normal(size=hidden_size)
    dh /= np.linalg.norm(dh)
    found, last = [1.0], len(x) - 1
    if of == "lstm":
        states, dc = lstm_states(W_h, x), np.zeros(hidden_size)
        for lag in range(lags):
            dh, dc = lstm_back(W_h, states, last - lag, dh, dc)
            found.append(float(np.hypot(np.linalg.norm(dh), np.linalg.norm(dc))))
    else:
        gru = gru_states(W_h, x)
        for lag in range(lags):
            dh = gru_back(W_h, gru, last - lag, dh)
            found.append(float(np.linalg.norm(dh)))
    return np.array(found)


def over_seeds(
    cell: str,
    radius: float = 1.0,
    input_sd: float = 1.0,
    kind: str = "gaussian",
    seeds: tuple[int, ...] = SEEDS,
    lags: int = 100,
) -> tuple[np.ndarray, np.ndarray]:
    """Geometric mean and geometric standard deviation (a factor) over seeds of the norms: (lags + 1,) each."""
    return geometric([norms(cell, radius, input_sd, kind, seed, lags) for seed in seeds])


def main() -> None:
    results: list[dict[str, Any]] = []
    kept = list(RECORDED_LAGS)
    for kind in KINDS:
        for input_sd in INPUT_SDS:
            for radius in RADII:
                for cell in CELLS:
                    mean, factor = over_seeds(cell, radius, input_sd, kind)
                    results.append(
                        {
                            "cell": cell,
                            "kind": kind,
                            "radius": radius,
                            "input_sd": input_sd,
                            "mean": significant(mean[kept]),
                            "factor": significant(factor[kept]),
                        }
                    )
                    shown = f"lag 20: {mean[20]:9.2e}  100: {mean[100]:9.2e}, times or over {factor[100]:.3g}"
                    print(f"{kind:11s} input {input_sd:3.1f} radius {radius:3.1f} {cell:7s} {shown}")
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch04.lag_gates --record",
            "settings": SETTINGS,
            "cells": CELLS,
            "seeds": list(SEEDS),
            "versions": {"numpy": np.__version__},
            "lags": list(RECORDED_LAGS),
            "kept_by_bias": {str(bias): significant(sigmoid(np.array(bias)) ** kept) for bias in (0, 1, 3)},
            "results": results,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
