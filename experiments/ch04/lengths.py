"""Networks that latch one bit, asked for it after every number of steps.

    python -m experiments.ch04.lengths [--record]

The task and the settings are those of experiments.ch04.latching, with noise. Tanh networks and LSTMs with forget bias 1
are trained with T = 20, and their accuracy is measured after each of 60 steps: how often it is above 0.98 and how often
below 0.02, and the largest eigenvalue in absolute value of a tanh network's W_hh. Then tanh networks, LSTMs and GRUs
with a bias of 0 are trained with a T that is drawn for each batch between 1 and 50, and count as solved when the
accuracy is above 0.98 after every number of steps from 1 to 50. Twenty seeds each, 200 sequences. Takes about a minute
of one core.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from experiments.ch03.cells import Network, train
from experiments.ch03.record import significant, to_json
from experiments.ch04 import latching

RESULTS_FILE = Path(__file__).with_name("lengths.json")
SETTINGS: dict[str, float] = {"sequences": 200, "steps": 60, "noise": 0.2, "right_above": 0.98, "look_every": 20}
FIXED, FIXED_CELLS = "20", ("tanh", "lstm_1")  # a task of latching
VARIED, VARIED_CELLS = "1 to 50", ("tanh", "lstm_0", "gru_0")
SEEDS = latching.SEEDS
SHOWN_SEED = SEEDS[0]


def by_steps(model: Network, steps: int) -> np.ndarray:
    """The accuracy after each number of steps from 1 to `steps`: (steps,)."""
    generator = torch.Generator().manual_seed(5)
    x, y = latching.sequences(int(SETTINGS["sequences"]), int(SETTINGS["steps"]), SETTINGS["noise"], generator)
    with torch.no_grad():
        named = model(x[:, : 1 + steps])[:, 1:, 0] > 0
    accuracies: np.ndarray = (named == (y > 0.5)[:, None]).double().mean(0).numpy()
    return accuracies


def run_fixed(cell: str, seed: int) -> tuple[dict[str, Any], np.ndarray]:
    """Train with one length: after how many numbers of steps it is right, or wrong, and the accuracies."""
    found, model = latching.run(cell, FIXED, seed)
    accuracies, limit = by_steps(model, int(SETTINGS["steps"])), SETTINGS["right_above"]
    row = {
        "cell": cell,
        "seed": seed,
        "solved": found["solved_at"] is not None,
        "right": int((accuracies > limit).sum()),
        "opposite": int((accuracies < 1 - limit).sum()),
    }
    if cell == "tanh":
        eigenvalues = np.linalg.eigvals(model.rnn.weight_hh_l0.detach().double().numpy())
        largest = eigenvalues[np.abs(eigenvalues).argmax()]
        row["eigenvalue"] = significant([largest.real, abs(largest.imag)])  # of a pair, the one above the real axis
    return row, accuracies


def run_varied(cell: str, seed: int) -> int | None:
    """Train with lengths from 1 to 50: the updates needed to be right at all of them, or None."""
    model = latching.network(cell, seed)
    course = train(
        model,
        latching.training_batches(seed, VARIED),
        latching.cross_entropy,
        lambda _: by_steps(model, latching.TASKS[VARIED].steps).min(),
        updates=int(latching.SETTINGS["updates"]),
        lr=latching.SETTINGS["lr"],
        look_every=int(SETTINGS["look_every"]),
        stop=lambda least: least > SETTINGS["right_above"],
    )
    solved = course.curve[-1] > SETTINGS["right_above"]
    return len(course.gradient_norms) if solved else None


def main() -> None:
    fixed, shown, varied = [], {}, {}
    for cell in FIXED_CELLS:
        for seed in SEEDS:
            row, accuracies = run_fixed(cell, seed)
            fixed.append(row)
            if seed == SHOWN_SEED:
                shown[cell] = [round(float(value), 3) for value in accuracies]
            print(row, flush=True)
    for cell in VARIED_CELLS:
        varied[cell] = [run_varied(cell, seed) for seed in SEEDS]
        print(cell, varied[cell], flush=True)
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch04.lengths --record",
            "settings": {"optimizer": "Adam", **SETTINGS},
            "latching": latching.SETTINGS,
            "seeds": list(SEEDS),
            "versions": {"torch": torch.__version__.partition("+")[0]},
            "trained_at": FIXED,
            "fixed": fixed,
            "shown": {"seed": SHOWN_SEED, "accuracies": shown},
            "trained_with": VARIED,
            "varied": varied,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
