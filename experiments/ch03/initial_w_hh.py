"""What the initial W_hh alone changes: the copy task of experiments.ch03.copying with different recurrent weights.

    python -m experiments.ch03.initial_w_hh [--record]

In that experiment the orthogonal network also has other input weights, other biases and another learning rate than the
tanh network with PyTorch's initial weights. Here only W_hh is replaced: the other weights, the learning rate (0.003),
the sequences and the five seeds are those of its tanh network, which is therefore the control and is not run again.
W_hh is scaled to a spectral radius of 1, or replaced by a random orthogonal matrix or by the identity. The loss is that
of the answers; the delays are 10 and 30. Takes about two minutes on one core.

Nothing was chosen here: the learning rate is the one chosen for the network with PyTorch's weights.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import torch

from experiments.ch03 import copying
from experiments.ch03.adding import summary
from experiments.ch03.cells import Network, first_update, train
from experiments.ch03.record import thinned, to_json

RESULTS_FILE = Path(__file__).with_name("initial_w_hh.json")
SETTINGS = copying.SETTINGS
KINDS = ("scaled", "orthogonal", "identity")
DELAYS = (10, 30)
SEEDS = copying.SEEDS


def network(kind: str, seed: int) -> Network:
    """The tanh network of the copy task with this seed, with its W_hh scaled or replaced."""
    model = copying.network("tanh", seed)
    W_hh = model.rnn.weight_hh_l0
    with torch.no_grad():
        if kind == "scaled":
            W_hh /= torch.linalg.eigvals(W_hh).abs().max()
        else:
            {"orthogonal": torch.nn.init.orthogonal_, "identity": torch.nn.init.eye_}[kind](W_hh)
    return model


def run(kind: str, delay: int, seed: int, updates: int | None = None) -> dict[str, Any]:
    """Train one network: its record. The curve is the validation cross-entropy of the answers every 20 updates."""
    model, data = network(kind, seed), copying.held_out("validation", delay)
    accuracies: list[float] = []
    started = time.process_time()

    def look(_: int) -> float:
        nats, accuracy = copying.measure(model, data)
        accuracies.append(accuracy)
        return nats

    every = int(SETTINGS["look_every"])
    course = train(
        model,
        copying.training_batches(seed, delay),
        copying.answers_only,
        look,
        updates=updates or int(SETTINGS["updates"]),
        lr=copying.CELLS["tanh"]["lr"],
        clip=SETTINGS["clip"],
        look_every=every,
        stop=lambda _: accuracies[-1] > SETTINGS["stop_above"],
    )
    seconds = time.process_time() - started
    nats, accuracy = copying.measure(model, copying.held_out("test", delay))
    return {
        "kind": kind,
        "delay": delay,
        "seed": seed,
        "updates": len(course.gradient_norms),
        "solved_at": first_update(accuracies, every, lambda value: value > SETTINGS["solved_above"]),
        "test_nats": round(nats, 4),
        "test_accuracy": round(accuracy, 4),
        "diverged_at": course.diverged_at,
        "cpu_seconds": round(seconds, 1),
        "curve": [round(value, 3) for value in course.curve],
    }


def main() -> None:
    runs, summaries = [], []
    for delay in DELAYS:
        for kind in KINDS:
            here = [run(kind, delay, seed) for seed in SEEDS]
            summaries.append({"kind": kind, "delay": delay, **summary(here)})
            print(summaries[-1], [(one["solved_at"], one["test_accuracy"]) for one in here], flush=True)
            for one in here:
                one["curve"] = thinned(one["curve"])
            runs += here
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch03.initial_w_hh --record",
            "settings": {"optimizer": "Adam", "lr": copying.CELLS["tanh"]["lr"], **SETTINGS},
            "seeds": list(SEEDS),
            "versions": {"torch": torch.__version__.partition("+")[0]},
            "baseline": {"nats": round(copying.BASELINE, 4), "accuracy": 1 / SETTINGS["alphabet"]},
            "summary": summaries,
            "runs": runs,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
