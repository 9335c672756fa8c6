"""The direct path through an LSTM's cell against the full derivative of a cell state by an earlier one.

    python -m experiments.ch04.paths [--record]

Along the direct path, the derivative of c_t by c_k is the diagonal matrix of the product of the forget gates of steps
k + 1 to t. The full derivative contains all other paths as well: c_k also determines h_k, which every gate of the next
step reads. A third matrix is that of the paths which never use the edge from one cell state to the next: at each step
they leave the cell through the hidden state and enter it again by a gate or the candidate. It is what the backward pass
gives if that edge is cut. The three are computed for the last cell state and lags up to 100, in random LSTMs (the draws
of experiments.ch04.lag_gates, Gaussian, 64 units, ten seeds) and in LSTMs of 16 units before and after training to
latch one bit (experiments.ch04.latching, ten seeds, four test sequences each). Recorded are geometric means of the
Frobenius norms of the direct path, of the full derivative, of the rest, their difference, and of the cut one, and the
mean cosine between direct path and full derivative as vectors of all entries; for two kinds of random LSTM, the norms
of the three matrices at every lag, relative to lag 0. Takes about 20 seconds.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from experiments.ch03.cells import Network
from experiments.ch03.lag_norms import SETTINGS as CONDITIONS
from experiments.ch03.record import geometric, significant, to_json
from experiments.ch04 import latching
from experiments.ch04.lag_gates import LSTMStates, draw, lstm_back, lstm_states

RESULTS_FILE = Path(__file__).with_name("paths.json")
SETTINGS: dict[str, Any] = {**CONDITIONS, "kind": "gaussian", "sequences": 4}
RANDOM: tuple[tuple[str, float, float], ...] = tuple(  # cell, spectral radius, standard deviation of the inputs
    (cell, radius, input_sd)
    for input_sd in (1.0, 0.1)
    for radius in (0.5, 1.0)
    for cell in ("lstm_0", "lstm_1", "lstm_3")
)
TRAINED: tuple[tuple[str, str], ...] = (("lstm_1", "20"), ("lstm_3", "20"), ("lstm_3", "50"))  # cell, task of latching
CURVES = ("lstm_1", "lstm_3")  # with a spectral radius of 1 and inputs of standard deviation 1
CURVED = ("full", "direct", "cut")
SEEDS = tuple(range(10))
TRAINED_SEEDS = latching.SEEDS[:10]
LAGS = (1, 2, 5, 10, 20, 50, 100)


class Paths(NamedTuple):
    """What is measured in one network, at lags 1 to N: each (N,)."""

    direct: np.ndarray  # Frobenius norm of the direct path's diagonal matrix
    full: np.ndarray  # of the full derivative of c_t by c_k
    rest: np.ndarray  # of their difference
    cosine: np.ndarray  # between direct path and full derivative
    largest_rest: np.ndarray  # the largest absolute entry of the difference
    cut: np.ndarray  # Frobenius norm of the derivative without the edge from one cell state to the next


def direct_path(states: LSTMStates, k: int, t: int) -> np.ndarray:
    """The diagonal (H,) of the derivative of c_t by c_k along the direct path: ones if k = t."""
    product: np.ndarray = np.prod(states.f[k + 1 : t + 1], axis=0)
    return product


def full_derivatives(W_h: np.ndarray, states: LSTMStates, lags: int, cut: bool = False) -> list[np.ndarray]:
    """The full derivative of the last cell state by that of each lag from 1 to `lags`: (H, H) each.

    Row j is the gradient of c_t[j] with respect to c_k, along all paths, that through h_k included; with `cut`, along
    those paths only that use the edge from one cell state to the next at no step.
    """
    t, H = len(states.c) - 1, len(W_h)
    dh, dc, found = np.zeros((H, H)), np.eye(H), []
    for lag in range(1, lags + 1):
        dh, dc = lstm_back(W_h, states, t - lag + 1, dh, dc)
        if cut:
            dc = np.zeros((H, H))
        k = t - lag
        found.append(dc + dh * states.o[k] * (1 - np.tanh(states.c[k]) ** 2))
    return found


def paths(W_h: np.ndarray, x: np.ndarray, lags: int) -> Paths:
    """Measure one LSTM, W_h (H, 4H), that reads x (T, 4H), added to the pre-activations: lags 1 to `lags` < T."""
    states = lstm_states(W_h, x)
    t, rows = len(x) - 1, []
    both = (full_derivatives(W_h, states, lags, cut) for cut in (False, True))
    for lag, (full, cut) in enumerate(zip(*both, strict=True), start=1):
        direct = np.diag(direct_path(states, t - lag, t))
        rest = full - direct
        norms = np.linalg.norm(direct), np.linalg.norm(full), np.linalg.norm(rest)
        cosine = (direct * full).sum() / (norms[0] * norms[1])
        rows.append((*norms, cosine, np.abs(rest).max(), np.linalg.norm(cut)))
    return Paths(*np.array(rows).T)


def random_paths(cell: str, radius: float, input_sd: float, seed: int, lags: int = 100, hidden_size: int = 64) -> Paths:
    """Measure one random LSTM of lag_gates.CELLS."""
    steps = lags + int(SETTINGS["before"])
    W_h, x, _ = draw(cell, radius, input_sd, str(SETTINGS["kind"]), seed, steps, hidden_size)
    return paths(W_h, x, lags)


def of_network(model: Network, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """W_h (H, 4H), and what the inputs x (T, D) and the biases add to the pre-activations (T, 4H), in float64."""
    W_x, W_h, b_x, b_h = (
        getattr(model.rnn, name).detach().double().numpy()
        for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    )
    return W_h.T, x @ W_x.T + b_x + b_h


def network_paths(model: Network, task: str) -> list[Paths]:
    """Measure an LSTM of latching on test sequences, at all lags down to the step that reads the bit."""
    x = latching.held_out("test", task)[0][: int(SETTINGS["sequences"])].double().numpy()
    return [paths(*of_network(model, one), latching.TASKS[task].steps) for one in x]


def summary(found: list[Paths]) -> dict[str, Any]:
    """Geometric means of the norms, with their factor, and mean and standard deviation of the cosine, at LAGS."""
    lags = [lag for lag in LAGS if lag <= len(found[0].direct)]
    at = np.array(lags) - 1
    result: dict[str, Any] = {"lags": lags}
    for name in ("direct", "full", "rest", "cut"):
        means, factors = geometric([getattr(one, name)[at] for one in found])
        result[name] = {"mean": significant(means), "factor": significant(factors)}
    cosines = np.array([one.cosine[at] for one in found])
    result["cosine"] = {
        "mean": [round(float(value), 3) for value in cosines.mean(axis=0)],
        "sd": [round(float(value), 3) for value in cosines.std(axis=0, ddof=1)],
    }
    result["largest_rest_at_lag_1"] = significant([one.largest_rest[0] for one in found])
    return result


def curves(cell: str) -> dict[str, list[float]]:
    """Norms of the full derivative, the direct path and the cut derivative in random LSTMs, relative to lag 0.

    At lags 0 to 100 each.
    """
    found = [random_paths(cell, 1.0, 1.0, seed) for seed in SEEDS]
    at_0 = math.sqrt(SETTINGS["hidden_size"])  # the norm of the identity matrix
    means = {name: geometric([getattr(one, name) for one in found])[0] / at_0 for name in CURVED}
    return {name: significant([1.0, *values]) for name, values in means.items()}


def main() -> None:
    random: list[dict[str, Any]] = []
    for cell, radius, input_sd in RANDOM:
        found = summary([random_paths(cell, radius, input_sd, seed) for seed in SEEDS])
        random.append({"cell": cell, "radius": radius, "input_sd": input_sd, **found})
        print(
            cell, radius, input_sd, *((key, found[key]["mean"]) for key in ("direct", "full", "rest", "cut", "cosine"))
        )
    trained: list[dict[str, Any]] = []
    for cell, task in TRAINED:
        before = [one for seed in TRAINED_SEEDS for one in network_paths(latching.network(cell, seed), task)]
        runs = [latching.run(cell, task, seed) for seed in TRAINED_SEEDS]
        after = [one for _, model in runs for one in network_paths(model, task)]
        solved = sum(record["solved_at"] is not None for record, _ in runs)
        trained.append(
            {"cell": cell, "task": task, "solved": solved, "untrained": summary(before), "trained": summary(after)}
        )
        for name in ("untrained", "trained"):
            found = trained[-1][name]
            print(
                cell,
                task,
                solved,
                name,
                *((key, found[key]["mean"]) for key in ("direct", "full", "rest", "cut", "cosine")),
            )
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch04.paths --record",
            "settings": SETTINGS,
            "latching": latching.SETTINGS,
            "seeds": list(SEEDS),
            "trained_seeds": list(TRAINED_SEEDS),
            "versions": {"numpy": np.__version__, "torch": torch.__version__.partition("+")[0]},
            "curves": {cell: curves(cell) for cell in CURVES},
            "random": random,
            "trained": trained,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
