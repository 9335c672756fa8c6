"""The norm of the gradient against lag in random recurrent networks, for different spectral radii.

    python -m experiments.ch03.lag_norms [--record]

A network h_t = phi(x_t + h_{t-1} W_hh) of 64 units reads 120 random inputs from a state of zeros. A gradient of norm 1
arrives at the last state and is passed back over 100 steps. W_hh is Gaussian or orthogonal, scaled to a spectral radius
of 0.5 to 1.5; phi is the identity or tanh; the inputs x_t are normal, with a standard deviation of 1 or 0.1, and enter
the pre-activation directly. Ten seeds each. Geometric means, because a single seed dominates an arithmetic mean.
Takes about a second.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from experiments.ch03.record import geometric, significant, to_json

RESULTS_FILE = Path(__file__).with_name("lag_norms.json")
SETTINGS = {"hidden_size": 64, "lags": 100, "before": 20}
RADII = (0.5, 0.9, 1.0, 1.1, 1.5)
KINDS = ("gaussian", "orthogonal")
NETWORKS: dict[str, tuple[str, float]] = {  # name: activation, standard deviation of the inputs
    "linear": ("linear", 0.0),  # the gradient of a linear network does not depend on its inputs
    "tanh, input sd 1": ("tanh", 1.0),
    "tanh, input sd 0.1": ("tanh", 0.1),
}
SEEDS = tuple(range(10))
RECORDED_LAGS = (0, 1, 2, 5, 10, 20, 50, 100)


def spectral_radius(W: np.ndarray) -> float:
    """The largest absolute value of the eigenvalues of W (H, H)."""
    return float(np.abs(np.linalg.eigvals(W)).max())


def recurrent_weights(kind: str, radius: float, hidden_size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw W_hh (H, H), "gaussian" or "orthogonal", and scale it to the spectral radius."""
    drawn = rng.normal(size=(hidden_size, hidden_size)) / np.sqrt(hidden_size)
    if kind == "gaussian":
        return drawn * (radius / spectral_radius(drawn))
    Q, R = np.linalg.qr(drawn)
    return radius * Q * np.sign(np.diag(R))  # these signs make the distribution uniform


def states(W_hh: np.ndarray, x: np.ndarray, activation: str) -> np.ndarray:
    """Read x (T, H), added to the pre-activation, from a state of zeros: h (T, H)."""
    h, h_t = np.empty_like(x), np.zeros(len(W_hh))
    for t in range(len(x)):
        a_t = x[t] + h_t @ W_hh  # (H,)
        h_t = np.tanh(a_t) if activation == "tanh" else a_t
        h[t] = h_t
    return h


def passed_back(W_hh: np.ndarray, h: np.ndarray, dh: np.ndarray, lags: int, activation: str) -> np.ndarray:
    """Norms (lags + 1,) of the gradient dh (H,) of the last state of h (T, H), passed back over 0 to `lags` steps."""
    norms = [np.linalg.norm(dh)]
    for lag in range(lags):
        slope = 1 - h[-1 - lag] ** 2 if activation == "tanh" else 1.0
        dh = (dh * slope) @ W_hh.T
        norms.append(np.linalg.norm(dh))
    return np.array(norms)


def norms(
    radius: float,
    activation: str = "tanh",
    input_sd: float = 1.0,
    kind: str = "gaussian",
    seed: int = 0,
    lags: int = 100,
    hidden_size: int = 64,
) -> np.ndarray:
    """Norms of the gradient at lags 0 to `lags` in one random network: (lags + 1,), of which norms[0] is 1.

    activation "linear" or "tanh", kind "gaussian" or "orthogonal". The network reads 20 inputs before the oldest state
    that the gradient reaches.
    """
    rng = np.random.default_rng(seed)
    W_hh = recurrent_weights(kind, radius, hidden_size, rng)
    steps = lags + SETTINGS["before"]
    if activation == "linear":
        h = np.zeros((steps, hidden_size))  # not used: the derivative is 1 everywhere
    else:
        h = states(W_hh, input_sd * rng.normal(size=(steps, hidden_size)), activation)
    dh = rng.normal(size=hidden_size)
    return passed_back(W_hh, h, dh / np.linalg.norm(dh), lags, activation)


def over_seeds(
    radius: float,
    activation: str = "tanh",
    input_sd: float = 1.0,
    kind: str = "gaussian",
    seeds: tuple[int, ...] = SEEDS,
    lags: int = 100,
) -> tuple[np.ndarray, np.ndarray]:
    """Geometric mean and geometric standard deviation (a factor) over seeds of the norms: (lags + 1,) each."""
    return geometric([norms(radius, activation, input_sd, kind, seed, lags) for seed in seeds])


def power_norms(W: np.ndarray, steps: int) -> np.ndarray:
    """The spectral norms of W**0 to W**steps, for W (H, H): (steps + 1,)."""
    power, found = np.eye(len(W)), []
    for _ in range(steps + 1):
        found.append(np.linalg.norm(power, 2))
        power = power @ W
    return np.array(found)


NON_NORMAL = np.array([[0.9, 10.0], [0.0, 0.9]])  # its spectral radius is 0.9, but its powers grow before they decay


def main() -> None:
    results: list[dict[str, Any]] = []
    for name, (activation, input_sd) in NETWORKS.items():
        for kind in KINDS:
            for radius in RADII:
                mean, factor = over_seeds(radius, activation, input_sd, kind)
                kept = list(RECORDED_LAGS)
                results.append(
                    {
                        "network": name,
                        "kind": kind,
                        "radius": radius,
                        "mean": significant(mean[kept]),
                        "factor": significant(factor[kept]),
                    }
                )
                print(f"{name:20s}{kind:12s}{radius:4.1f}  lag 100: {mean[-1]:9.2e}, times or over {factor[-1]:.3g}")
    powers = power_norms(NON_NORMAL, 100)
    peak = int(powers.argmax())
    print(f"non-normal: peak {powers[peak]:.3g} at {peak}, {powers[100]:.3g} at 100")
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch03.lag_norms --record",
            "settings": SETTINGS,
            "networks": NETWORKS,
            "seeds": list(SEEDS),
            "versions": {"numpy": np.__version__},
            "lags": list(RECORDED_LAGS),
            "results": results,
            "non_normal": {"peak_at": peak, "peak": round(powers[peak], 3), "at_100": round(powers[100], 5)},
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
