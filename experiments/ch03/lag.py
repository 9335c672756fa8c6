"""A network of two units that reads 60 numbers, and the norm of a gradient that is passed back from its last state.

    from experiments.ch03.lag import norms

The book's explorable `lag` reads the same file, `lag.json`, and computes the same numbers. h_0 is zero, and
h_t = phi(strength * x_t * w_xh + h_{t-1} W_hh). W_hh is `radius` times one of three matrices of spectral radius 1:

- rotation: a complex pair of eigenvalues, and all singular values are equal;
- symmetric: two real eigenvalues, and the largest singular value is the spectral radius;
- non-normal: two real eigenvalues, and a largest singular value of more than three times the spectral radius.

The inputs x were drawn once: `numpy.random.default_rng(0).normal(size=60)`, shifted and scaled to mean 0 and standard
deviation 1, and rounded.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypedDict

import numpy as np

NETWORK_FILE = Path(__file__).with_name("lag.json")
LAGS = 50


class Network(TypedDict):
    """The numbers of `lag.json`: dh is the gradient of the last state, of norm 1."""

    matrices: dict[str, list[list[float]]]
    w_xh: list[float]
    dh: list[float]
    x: list[float]


def load_network() -> Network:
    network: Network = json.loads(NETWORK_FILE.read_text("utf-8"))
    return network


def recurrent_weights(matrix: str, radius: float) -> np.ndarray:
    """Return W_hh (2, 2): the matrix of this name, scaled to the spectral radius."""
    return radius * np.array(load_network()["matrices"][matrix])


def trajectory(matrix: str, radius: float, activation: str = "tanh", strength: float = 1.0) -> np.ndarray:
    """Return the states h (60, 2), of which h[0] follows the first input. The activation is "tanh" or "linear"."""
    network = load_network()
    W_hh, w_xh = recurrent_weights(matrix, radius), np.array(network["w_xh"])
    h, h_t = np.zeros((len(network["x"]), 2)), np.zeros(2)
    for t, x_t in enumerate(network["x"]):
        a_t = strength * x_t * w_xh + h_t @ W_hh  # (2,)
        h_t = np.tanh(a_t) if activation == "tanh" else a_t
        h[t] = h_t
    return h


def derivatives(matrix: str, radius: float, activation: str = "tanh", strength: float = 1.0) -> np.ndarray:
    """Return the derivatives of the activation at each step and unit (60, 2)."""
    h = trajectory(matrix, radius, activation, strength)
    return 1 - h**2 if activation == "tanh" else np.ones_like(h)


def norms(matrix: str, radius: float, activation: str = "tanh", strength: float = 1.0) -> np.ndarray:
    """Return the norms (51,) of the last state's gradient, of norm 1, passed back over 0 to 50 steps."""
    W_hh = recurrent_weights(matrix, radius)
    slopes = derivatives(matrix, radius, activation, strength)
    dh = np.array(load_network()["dh"])  # (2,)
    found = [np.linalg.norm(dh)]
    for lag in range(LAGS):
        dh = (dh * slopes[-1 - lag]) @ W_hh.T
        found.append(np.linalg.norm(dh))
    return np.array(found)


def step_eigenvalues(matrix: str, radius: float, activation: str = "tanh", strength: float = 1.0) -> np.ndarray:
    """Return the eigenvalues (60, 2) of each step's Jacobian, diag(derivatives) W_hh^T."""
    slopes = derivatives(matrix, radius, activation, strength)
    return np.linalg.eigvals(slopes[:, :, None] * recurrent_weights(matrix, radius).T)


def mean_derivative(lag: int, matrix: str, radius: float, activation: str = "tanh", strength: float = 1.0) -> float:
    """Return the mean derivative of the activation in the last `lag` >= 1 steps: those that the gradient passed."""
    return float(derivatives(matrix, radius, activation, strength)[-lag:].mean())
