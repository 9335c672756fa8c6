"""The bound on the gradient of a recurrent network, tested on thousands of random networks (Pascanu et al., 2013).

    python -m experiments.ch03.bounds [--record]

Each step multiplies the norm of the gradient by at most gamma * sigma_max, where sigma_max is the largest singular
value of W_hh and gamma the largest derivative of the activation: 1 for tanh, 1/4 for the logistic function. Therefore
sigma_max < 1 / gamma is sufficient for the gradient to vanish, and sigma_max > 1 / gamma necessary for it to explode.
4,000 random networks of each activation, of four sizes, with different scales, shapes and inputs, count how often the
bound is violated (never) and how often the gradient vanishes although sigma_max > 1 / gamma. Another 4,000 networks are
compared with linear ones of the same weights: how often does the tanh make a gradient longer? Takes about a second.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.ch03.record import significant, to_json

RESULTS_FILE = Path(__file__).with_name("bounds.json")
SETTINGS = {"networks": 1000, "lags": 50, "before": 10, "sizes": [2, 5, 10, 20]}
GAMMA = {"tanh": 1.0, "logistic": 0.25}  # the largest derivative
SEEDS = tuple(range(5))  # each draws a fifth of the networks
TOLERANCE = 1e-9  # relative: rounding of 50 products


class Networks(NamedTuple):
    """N random networks of one size, and the gradient of each passed back over `lags` steps."""

    sigma_max: np.ndarray  # (N,) the largest singular value of W_hh
    radius: np.ndarray  # (N,) the spectral radius of W_hh
    norms: np.ndarray  # (N, lags + 1); norms[:, 0] is 1


def derivative(activation: str, h: np.ndarray) -> np.ndarray:
    """The derivative of the activation, from its value h."""
    return 1 - h**2 if activation == "tanh" else h * (1 - h)


def draw_weights(count: int, size: int, gamma: float, rng: np.random.Generator) -> np.ndarray:
    """Recurrent weights (count, size, size): Gaussian, symmetric or with a heavy upper triangle, a third each.

    Each is scaled so that sigma_max is between 0.3 / gamma and 10 / gamma, uniform in its logarithm.
    """
    W = rng.normal(size=(count, size, size))
    W[1::3] = W[1::3] + W[1::3].transpose(0, 2, 1)
    W[2::3] = W[2::3] * np.where(np.triu(np.ones((size, size)), 1) > 0, 1.0, 0.1)
    wanted = np.exp(rng.uniform(np.log(0.3), np.log(10), size=count)) / gamma
    return W * (wanted / np.linalg.norm(W, 2, axis=(1, 2)))[:, None, None]


def sample(activation: str, size: int, count: int, seed: int, lags: int = 50) -> Networks:
    """Draw networks of one size, run them on random inputs, and pass a gradient of norm 1 back from the last state.

    The inputs are normal, with a standard deviation between 0.01 and 3 that differs between networks.
    """
    rng = np.random.default_rng([seed, size, sorted(GAMMA).index(activation)])
    W = draw_weights(count, size, GAMMA[activation], rng)
    input_sd = np.exp(rng.uniform(np.log(0.01), np.log(3), size=(count, 1)))
    h, kept = np.zeros((count, size)), []
    for _ in range(int(SETTINGS["before"]) + lags):  # type: ignore[call-overload]
        a = input_sd * rng.normal(size=(count, size)) + (h[:, None] @ W)[:, 0]
        h = np.tanh(a) if activation == "tanh" else 0.5 * (1 + np.tanh(0.5 * a))
        kept.append(h)
    dh = rng.normal(size=(count, size))
    dh /= np.linalg.norm(dh, axis=1, keepdims=True)
    norms = [np.linalg.norm(dh, axis=1)]
    for lag in range(lags):
        dh = ((dh * derivative(activation, kept[-1 - lag]))[:, None] @ W.transpose(0, 2, 1))[:, 0]
        norms.append(np.linalg.norm(dh, axis=1))
    radius = np.abs(np.linalg.eigvals(W)).max(axis=1)
    return Networks(np.linalg.norm(W, 2, axis=(1, 2)), radius, np.stack(norms, axis=1))


def networks(activation: str, seed: int) -> Networks:
    """The networks of all sizes that one seed draws: a fifth of `networks` of each size."""
    count = SETTINGS["networks"] // len(SEEDS)  # type: ignore[operator]
    parts = [sample(activation, size, count, seed) for size in SETTINGS["sizes"]]  # type: ignore[attr-defined]
    return Networks(*(np.concatenate(values) for values in zip(*parts, strict=True)))


def violations(found: Networks, gamma: float) -> int:
    """How many networks have, at any lag, a norm above (gamma * sigma_max) ** lag."""
    lags = np.arange(found.norms.shape[1])
    bound = (gamma * found.sigma_max)[:, None] ** lags
    return int((found.norms > bound * (1 + TOLERANCE)).any(axis=1).sum())


def count(found: Networks, gamma: float) -> dict[str, int]:
    """Count networks below and above sigma_max = 1 / gamma, and by the norm at the last lag: above 1, below 0.001."""
    below, last = found.sigma_max * gamma < 1, found.norms[:, -1]
    return {
        "violations": violations(found, gamma),
        "below": int(below.sum()),
        "below_grown": int((below & (found.norms.max(axis=1) > 1 + TOLERANCE)).sum()),
        "below_vanished": int((below & (last < 1e-3)).sum()),
        "above": int((~below).sum()),
        "above_exploded": int((~below & (last > 1)).sum()),
        "above_vanished": int((~below & (last < 1e-3)).sum()),
        "radius_above": int((found.radius * gamma > 1).sum()),
        "radius_above_exploded": int(((found.radius * gamma > 1) & (last > 1)).sum()),
        "radius_above_vanished": int(((found.radius * gamma > 1) & (last < 1e-3)).sum()),
        "radius_below_grown": int(((found.radius * gamma < 1) & (found.norms.max(axis=1) > 1 + TOLERANCE)).sum()),
    }


def late(parts: list[Networks], gamma: float) -> float:
    """The smallest gamma * sigma_max of a network whose gradient has not vanished at the last lag."""
    factors = [gamma * found.sigma_max[found.norms[:, -1] >= 1e-3] for found in parts]
    return float(np.concatenate(factors).min())


def longer_with_tanh() -> int:
    """How many of 4,000 networks have a longer gradient at lag 5 with the tanh than without it."""
    longer, N = 0, int(SETTINGS["networks"])  # type: ignore[call-overload]
    for size in SETTINGS["sizes"]:  # type: ignore[attr-defined]
        rng = np.random.default_rng(size)
        W = draw_weights(N, size, 1.0, rng)
        input_sd = np.exp(rng.uniform(np.log(0.01), np.log(3), size=(N, 1)))
        h, kept = np.zeros((N, size)), []
        for _ in range(15):
            h = np.tanh(input_sd * rng.normal(size=(N, size)) + (h[:, None] @ W)[:, 0])
            kept.append(h)
        with_tanh = without = rng.normal(size=(N, 1, size))
        for back in range(1, 6):
            with_tanh = (with_tanh * (1 - kept[-back][:, None] ** 2)) @ W.transpose(0, 2, 1)
            without = without @ W.transpose(0, 2, 1)
        norms, linear = (np.linalg.norm(dh, axis=(1, 2)) for dh in (with_tanh, without))
        longer += int((norms > linear * (1 + 1e-6)).sum())
    return longer


def main() -> None:
    results: list[dict[str, Any]] = []
    drawn = {activation: [networks(activation, seed) for seed in SEEDS] for activation in GAMMA}
    for activation, gamma in GAMMA.items():
        for seed, found in zip(SEEDS, drawn[activation], strict=True):
            results.append({"activation": activation, "seed": seed, **count(found, gamma)})
            print(results[-1])
    sigma, last = (
        np.concatenate(values)[::8]
        for values in zip(*((found.sigma_max, found.norms[:, -1]) for found in drawn["tanh"]), strict=True)
    )
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch03.bounds --record",
            "settings": SETTINGS,
            "gamma": GAMMA,
            "seeds": list(SEEDS),
            "versions": {"numpy": np.__version__},
            "results": results,
            "late": {activation: round(late(drawn[activation], gamma), 3) for activation, gamma in GAMMA.items()},
            "longer_with_tanh": longer_with_tanh(),
            "every_eighth_tanh": {"sigma_max": significant(sigma), "last": significant(last)},
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
