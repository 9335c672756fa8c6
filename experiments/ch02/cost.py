"""What a forward and a backward pass cost: processor time and peak memory against the length of the sequence.

    OMP_NUM_THREADS=1 python -m experiments.ch02.cost [--record]

NumPy in float64, on one core: 8 sequences of T steps, 16 inputs, 64 units. The shortest of nine processor times counts,
because whatever else a machine does can only add to it. Memory is what Python and NumPy take (`tracemalloc`), with all
states kept, and in chunks of 32 whose states are given up one after the other. Takes ten seconds.
"""

from __future__ import annotations

import platform
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np

from experiments.ch03.record import significant, to_json
from solutions.ch01_vanilla_rnn.recurrence import rnn_forward
from solutions.ch02_bptt.truncated import truncated_bptt

RESULTS_FILE = Path(__file__).with_name("cost.json")
SETTINGS = {"B": 8, "D": 16, "H": 64, "rounds": 9, "chunk": 32, "seed": 0}
LENGTHS = (32, 64, 128, 256, 512, 1024)
Weights = tuple[np.ndarray, np.ndarray, np.ndarray]


def forward_and_backward(x: np.ndarray, h_0: np.ndarray, weights: Weights) -> list[np.ndarray]:
    """The gradients of sum(h ** 2) / 2 for all weights; nothing is cut."""
    h = rnn_forward(x, h_0, *weights)
    return list(truncated_bptt(h, x, h_0, h, *weights[:2], tau=x.shape[1]))


def in_chunks(x: np.ndarray, h_0: np.ndarray, weights: Weights, tau: int) -> list[np.ndarray]:
    """The truncated gradient, chunk by chunk: only the states of one chunk exist at a time."""
    total = [np.zeros_like(theta) for theta in weights]
    for first in range(0, x.shape[1], tau):
        piece = x[:, first : first + tau]
        h = rnn_forward(piece, h_0, *weights)
        grads = truncated_bptt(h, piece, h_0, h, *weights[:2], tau=tau)
        total = [a + b for a, b in zip(total, grads, strict=True)]
        h_0 = h[:, -1].copy()
        del h
    return total


def seconds(run: Callable[[], object]) -> float:
    """Processor time of one run."""
    before = time.process_time()
    run()
    return time.process_time() - before


def peak_megabytes(run: Callable[[], object]) -> float:
    """Peak memory of one run."""
    tracemalloc.start()
    run()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1e6


def drawn(length: int) -> tuple[np.ndarray, np.ndarray, Weights]:
    """x (B, T, D), h_0 (B, H) and the weights."""
    rng = np.random.default_rng(SETTINGS["seed"])
    B, D, H = SETTINGS["B"], SETTINGS["D"], SETTINGS["H"]
    weights = rng.normal(size=(D, H)) / 4, rng.normal(size=(H, H)) / 8, np.zeros(H)
    return rng.normal(size=(B, length, D)), np.zeros((B, H)), weights


def processor() -> str:
    """The name of this machine's processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        return next(line.partition(": ")[2] for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def main() -> None:
    given = [drawn(length) for length in LENGTHS]
    forward, both = [np.inf] * len(LENGTHS), [np.inf] * len(LENGTHS)
    for _ in range(SETTINGS["rounds"]):
        for place, (x, h_0, weights) in enumerate(given):
            forward[place] = min(forward[place], seconds(lambda: rnn_forward(x, h_0, *weights)))  # noqa: B023
            both[place] = min(both[place], seconds(lambda: forward_and_backward(x, h_0, weights)))  # noqa: B023
    whole = [peak_megabytes(lambda: forward_and_backward(*one)) for one in given]  # noqa: B023
    by_chunk = [peak_megabytes(lambda: in_chunks(*one, SETTINGS["chunk"])) for one in given]  # noqa: B023
    found = {
        "forward_ms": significant(np.multiply(forward, 1000)),
        "both_ms": significant(np.multiply(both, 1000)),
        "whole_megabytes": significant(whole),
        "chunked_megabytes": significant(by_chunk),
    }
    print(*found.items(), sep="\n")
    if "--record" in sys.argv[1:]:
        record = {
            "command": "OMP_NUM_THREADS=1 python -m experiments.ch02.cost --record",
            "settings": SETTINGS,
            "versions": {"numpy": np.__version__, "python": platform.python_version()},
            "processor": processor(),
            "lengths": list(LENGTHS),
            **found,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
