"""Do tanh networks learn the adding problem over 100 steps if they are given more time and other learning rates?

    python -m experiments.ch03.longer [--record]

The networks, sequences and seeds are those of `experiments.ch03.adding`: 64 units, Adam, gradients clipped at norm 1,
with PyTorch's initial weights or with an orthogonal initial W_hh. Each is trained with three learning rates and five
seeds. 6,000 updates are more than twice as many as any of them needed on sequences of 20. Nothing was chosen here.
Takes about 25 minutes on one core.
"""

from __future__ import annotations

import itertools
import sys
import time
from pathlib import Path
from typing import Any

import torch

from experiments.ch03 import adding
from experiments.ch03.cells import first_update, train
from experiments.ch03.record import significant, to_json

RESULTS_FILE = Path(__file__).with_name("longer.json")
CELLS = ("tanh", "orthogonal")
RATES = (1e-3, 3e-3, 1e-2)
UPDATES = 6000
LOOK_EVERY = 100
LAG = 75  # at which the gradient of the trained network is measured
Run = dict[str, Any]


def run(cell: str, lr: float, seed: int, updates: int = UPDATES) -> Run:
    """Train one network until it solves the problem well or the updates are used up."""
    model, data = adding.network(adding.CELLS[cell], seed), adding.held_out("validation")
    started = time.process_time()
    course = train(
        model,
        adding.training_batches(seed, adding.STEPS),
        adding.squared_error,
        lambda _: adding.error(model, data),
        updates=updates,
        lr=lr,
        clip=adding.SETTINGS["clip"],
        look_every=LOOK_EVERY,
        stop=lambda value: value < adding.SETTINGS["stop_below"],
    )
    norms = adding.lag_norms(model)
    return {
        "cell": cell,
        "lr": lr,
        "seed": seed,
        "updates": len(course.gradient_norms),
        "solved_at": first_update(course.curve, LOOK_EVERY, lambda value: value < adding.SETTINGS["solved_below"]),
        "test_mse": round(adding.error(model, adding.held_out("test")), 4),
        "lowest": round(min(course.curve), 4),
        "norm_at_lag": significant([norms[LAG]])[0],
        "cpu_seconds": round(time.process_time() - started, 1),
        "curve": [round(value, 4) for value in course.curve],
    }


def main() -> None:
    runs = []
    for cell, lr, seed in itertools.product(CELLS, RATES, adding.SEEDS):
        runs.append(run(cell, lr, seed))
        print({key: value for key, value in runs[-1].items() if key != "curve"}, flush=True)
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch03.longer --record",
            "settings": {
                "steps": adding.STEPS, "optimizer": "Adam", "batch": adding.SETTINGS["batch"],
                "clip": adding.SETTINGS["clip"], "hidden_size": adding.CELLS["tanh"]["hidden_size"],
                "updates": UPDATES, "rates": list(RATES), "look_every": LOOK_EVERY, "lag": LAG,
                "solved_below": adding.SETTINGS["solved_below"],
            },
            "seeds": list(adding.SEEDS),
            "versions": {"torch": torch.__version__.partition("+")[0]},
            "runs": runs,
        }  # fmt: skip
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
