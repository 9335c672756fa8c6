"""What chapter 3's pages show of trained and random networks beside its experiments.

    python -m experiments.ch03.pages [--record]

- initial: the spectral radius and the singular values of four initial W_hh of `experiments.ch03.initial_w_hh`, and the
  share of the copy task's symbols that three of them get right after 100 updates.
- lags: the norm of the gradient against lag in untrained networks with four initial W_hh, on the adding problem
  (ten seeds).
- untrained_tanh: the spectral radius of PyTorch's initial W_hh there, and the mean derivative of the tanh.
- readout: how many symbols of the copy task a linear readout names from the last state of untrained tanh networks.
- angles: how far clipping by value turns the gradient of the bug museum's network after 30 updates.

Five seeds, where nothing else is said. Nothing was chosen here. Takes about 20 seconds on one core.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from experiments.ch03 import adding, copying, initial_w_hh, museum
from experiments.ch03.cells import Network, train
from experiments.ch03.lag_norms import spectral_radius
from experiments.ch03.record import geometric, significant, to_json

RESULTS_FILE = Path(__file__).with_name("pages.json")
COPY_UPDATES, COPY_LR = 100, 3e-3
RIDGE = 1e-6
SETTINGS: dict[str, Any] = {
    "initial": {"updates": COPY_UPDATES, "lr": COPY_LR},
    "readout": {"ridge": RIDGE},
    "angles": {"updates": 30, "seed": 10, "smallest": 1e-5, "thresholds": 51},
}
SEEDS = tuple(range(10, 15))
Initialise = Callable[[Tensor], Any]
INITIAL: dict[str, Initialise] = {
    "unchanged": lambda W_hh: W_hh,
    "eye_": torch.nn.init.eye_,
    "orthogonal_": torch.nn.init.orthogonal_,
}
KINDS = ("default", *initial_w_hh.KINDS)

# Initial weights ------------------------------------------------------------------------------------------------------


def share_right(initialise: Initialise, seed: int) -> float:
    """Train on the copy task: the share of the symbols that are right."""
    model = copying.network("tanh", seed)  # PyTorch's initial weights
    with torch.no_grad():
        initialise(model.rnn.weight_hh_l0)
    train(
        model,
        copying.training_batches(seed, delay=10),
        copying.answers_only,
        look=lambda _: 0.0,  # nothing to record
        updates=COPY_UPDATES,
        lr=COPY_LR,
    )
    return copying.measure(model, copying.held_out("validation"))[1]


def copy_network(kind: str, seed: int) -> Network:
    """The tanh network of the copy task with PyTorch's W_hh ("default"), or with another one."""
    return copying.network("tanh", seed) if kind == "default" else initial_w_hh.network(kind, seed)


def matrices(kind: str) -> dict[str, float]:
    """Means over the seeds: the spectral radius of an initial W_hh, its largest and its smallest singular value."""
    drawn = [copy_network(kind, seed).rnn.weight_hh_l0.detach().double().numpy() for seed in SEEDS]
    sigma = np.array([np.linalg.svd(W, compute_uv=False) for W in drawn])  # (seeds, H)
    found = np.mean([spectral_radius(W) for W in drawn]), sigma.max(axis=1).mean(), sigma.min(axis=1).mean()
    return dict(zip(("radius", "largest", "smallest"), (round(float(value), 4) for value in found), strict=True))


def adding_network(kind: str, seed: int) -> Network:
    """An untrained network of the adding problem: an IRNN, or PyTorch's tanh network with another W_hh."""
    model = adding.network(adding.CELLS["irnn" if kind == "irnn" else "tanh"], seed)
    W_hh = model.rnn.weight_hh_l0
    with torch.no_grad():
        if kind == "scaled":
            W_hh /= torch.linalg.eigvals(W_hh).abs().max()
        if kind == "orthogonal":
            torch.nn.init.orthogonal_(W_hh)
    return model


def against_lag(kind: str) -> list[float]:
    """Geometric means over untrained networks of the gradient's norm at `adding.LAGS`, relative to lag 0."""
    means, _ = geometric([adding.lag_norms(adding_network(kind, seed)) for seed in adding.LAG_SEEDS])
    return significant(means[list(adding.LAGS)])


def untrained_tanh() -> dict[str, float]:
    """Geometric mean of the spectral radius, and mean derivative of the tanh, of untrained networks."""
    models = [adding_network("default", seed) for seed in adding.LAG_SEEDS]
    radii = [[spectral_radius(model.rnn.weight_hh_l0.detach().double().numpy())] for model in models]
    x = adding.held_out("validation")[0][: int(adding.SETTINGS["lag_batch"])]
    with torch.no_grad():
        slopes = [(1 - model.rnn(x)[0] ** 2).mean().item() for model in models]
    return {"radius": round(float(geometric(radii)[0][0]), 4), "derivative": round(float(np.mean(slopes)), 4)}


# What the state of an untrained network contains ----------------------------------------------------------------------


def readout(kind: str, seed: int) -> float:
    """The share of the symbols that ridge regression names from the state after the delay, over all sequences."""
    symbols = np.array(list(itertools.product(range(1, 9), repeat=3)))  # (512, 3)
    ids = np.zeros((len(symbols), 3 + copying.DELAY), dtype=int)
    ids[:, :3], ids[:, -1] = symbols, 9
    with torch.no_grad():
        x = torch.nn.functional.one_hot(torch.from_numpy(ids), 10).float()
        h = initial_w_hh.network(kind, seed).rnn(x)[0][:, -1].double().numpy()
    h = np.c_[h, np.ones(len(h))]
    penalty = RIDGE * np.eye(h.shape[1])
    named = []
    for symbol in symbols.T - 1:
        weights = np.linalg.solve(h.T @ h + penalty, h.T @ np.eye(8)[symbol])
        named.append((h @ weights).argmax(axis=1) == symbol)
    return float(np.mean(named))


# Clipping -------------------------------------------------------------------------------------------------------------


def trained_gradient() -> museum.Arrays:
    """The gradient of the bug museum's network after some updates."""
    how = SETTINGS["angles"]
    rng = np.random.default_rng(how["seed"])
    params, lr = museum.initial(rng), museum.RATES["sgd"]
    for _ in range(how["updates"]):
        _, grads = museum.loss_and_grads(params, *museum.sequences(32, rng))
        params = [theta - lr * grad for theta, grad in zip(params, museum.clipped(grads, 1.0), strict=True)]
    return museum.loss_and_grads(params, *museum.sequences(32, rng))[1]


def angles(grads: museum.Arrays) -> dict[str, Any]:
    """Degrees by which clipping by value turns a gradient, for thresholds that are fractions of its largest entry."""
    how = SETTINGS["angles"]
    largest = max(float(np.abs(grad).max()) for grad in grads)
    fractions = np.geomspace(1, how["smallest"], how["thresholds"])
    by_value = [[np.clip(grad, -part * largest, part * largest) for grad in grads] for part in fractions]
    return {
        "entries": sum(grad.size for grad in grads),
        "fractions": significant(fractions),
        "by_value": [round(museum.angle(grads, turned), 2) for turned in by_value],
        "signs": round(museum.angle(grads, [np.sign(grad) for grad in grads]), 2),
    }


def main() -> None:
    found = {
        "initial": {name: [round(share_right(how, seed), 3) for seed in SEEDS] for name, how in INITIAL.items()},
        "matrices": {kind: matrices(kind) for kind in KINDS},
        "lags": {
            "lags": list(adding.LAGS),
            "norms": {kind: against_lag(kind) for kind in ("default", "scaled", "orthogonal", "irnn")},
        },
        "untrained_tanh": untrained_tanh(),
        "readout": {kind: [round(readout(kind, seed), 3) for seed in SEEDS] for kind in ("orthogonal", "identity")},
        "angles": angles(trained_gradient()),
    }
    print(to_json(found))
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch03.pages --record",
            "settings": SETTINGS,
            "seeds": list(SEEDS),
            "lag_seeds": list(adding.LAG_SEEDS),
            "versions": {"numpy": np.__version__, "torch": torch.__version__.partition("+")[0]},
            **found,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
