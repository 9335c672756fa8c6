"""Tanh networks read a sign, then 50 steps of noise, and name the sign: how many learn it, and with which gradient?

    python -m experiments.ch03.sign [--record]

The task, its sequences and its settings are those of `experiments.ch04.latching` at 50 steps: 16 units, Adam with a
learning rate of 0.01, batches of 32, gradients clipped at norm 1, at most 600 updates. A network has learned the sign
when more than 98 % of the validation sequences are named rightly. Forty seeds for each of three settings; the pages
show the first twenty, with which `latching` compares the tanh network with gated ones.

- tanh: PyTorch's initial weights.
- smaller epsilon: the same with Adam's epsilon at 1e-20 in place of 1e-8, since gradients that are much smaller than
  epsilon hardly move a weight.
- orthogonal: a random orthogonal W_hh, zero biases, and input weights with a standard deviation of 0.5.

It records the gradient's norm at lag 50, relative to lag 0, before and after training, and the largest entry of the
first update's gradient with respect to the input weights of the sign. Takes about five minutes on one core.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch

from experiments.ch03.cells import Network, first_update, train
from experiments.ch03.record import significant, to_json
from experiments.ch04 import latching

RESULTS_FILE = Path(__file__).with_name("sign.json")
TASK = "50"
STEPS = latching.TASKS[TASK].steps
SEEDS = tuple(range(10, 50))
FIRST = len(latching.SEEDS)  # the seeds that pages show
NETWORKS: dict[str, dict[str, Any]] = {
    "tanh": {"kind": "tanh", "epsilon": 1e-8},
    "smaller epsilon": {"kind": "tanh", "epsilon": 1e-20},
    "orthogonal": {"kind": "orthogonal", "epsilon": 1e-8, "input_sd": 0.5},
}


def network(name: str, seed: int) -> Network:
    """An untrained network of one of NETWORKS."""
    how = NETWORKS[name]
    torch.manual_seed(seed)
    return Network(how["kind"], (2, int(latching.SETTINGS["hidden_size"]), 1), how.get("input_sd"))


def first_gradient(model: Network, seed: int) -> float:
    """The largest entry of the first batch's gradient with respect to the weights that read the sign."""
    x, bits = next(latching.training_batches(seed, TASK))
    (grad,) = torch.autograd.grad(latching.cross_entropy(model(x), bits), [model.rnn.weight_ih_l0])
    return grad[:, 0].abs().max().item()


def run(name: str, seed: int, updates: int | None = None) -> dict[str, Any]:
    """Train one network: when it had learned the sign, and its gradient at lag 50 before and after."""
    model, data = network(name, seed), latching.held_out("validation", TASK)
    before, first = latching.lag_norms(model)[STEPS], first_gradient(model, seed)
    every = int(latching.SETTINGS["look_every"])
    course = train(
        model,
        latching.training_batches(seed, TASK),
        latching.cross_entropy,
        lambda _: latching.accuracy(model, data),
        updates=updates or int(latching.SETTINGS["updates"]),
        lr=latching.SETTINGS["lr"],
        clip=latching.SETTINGS["clip"],
        look_every=every,
        stop=lambda value: value > latching.SETTINGS["stop_above"],
        epsilon=NETWORKS[name]["epsilon"],
    )
    return {
        "solved_at": first_update(course.curve, every, lambda value: value > latching.SETTINGS["solved_above"]),
        "updates": len(course.gradient_norms),
        "test_accuracy": round(latching.accuracy(model, latching.held_out("test", TASK)), 4),
        "untrained": significant([before], 1)[0],
        "trained": significant([latching.lag_norms(model)[STEPS]], 2)[0],
        "first_gradient": significant([first], 1)[0],
    }


def main() -> None:
    networks = {}
    for name in NETWORKS:
        runs = [run(name, seed) for seed in SEEDS]
        networks[name] = {key: [one[key] for one in runs] for key in runs[0]}
        solved = [at is not None for at in networks[name]["solved_at"]]
        print(name, sum(solved[:FIRST]), "of", FIRST, sum(solved), "of", len(SEEDS), flush=True)
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch03.sign --record",
            "settings": {
                "optimizer": "Adam", "steps": STEPS, "noise_sd": latching.TASKS[TASK].noise, **latching.SETTINGS,
            },
            "cells": NETWORKS,
            "seeds": list(SEEDS),
            "first": FIRST,
            "versions": {"torch": torch.__version__.partition("+")[0]},
            "networks": networks,
        }  # fmt: skip
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
