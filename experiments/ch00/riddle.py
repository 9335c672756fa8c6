"""Is what a fixed-window network learned at some positions known at the others?

    python -m experiments.ch00.riddle [--record]

A window of 8 contains random letters and one star, and the answer is the letter after the star. Networks (those of
`experiments.ch00.window`) are trained with the star at the first three positions, or at all, and tested at each one.
Takes about half a minute on one core.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from experiments.ch00.window import Window
from experiments.ch03.record import to_json

RESULTS_FILE = Path(__file__).with_name("riddle.json")
LETTERS, SIZE, TESTS = 10, 8, 1000
SETTINGS: dict[str, Any] = {"embed_size": 8, "units": 128, "updates": 500, "batch": 128, "lr": 0.01}
SETTINGS |= {"letters": LETTERS, "size": SIZE, "tests": TESTS}
TRAINED = {"some": (0, 1, 2), "all": tuple(range(SIZE - 1))}  # positions of the star in training
SEEDS = tuple(range(5))


def riddles(count: int, positions: Sequence[int], generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Windows (count, SIZE) with a star, id 0, at one of the positions, and the letter after it (count,)."""
    found = torch.randint(1, LETTERS + 1, (count, SIZE), generator=generator)
    star = torch.tensor(positions)[torch.randint(len(positions), (count,), generator=generator)]
    found[torch.arange(count), star] = 0
    return found, found[torch.arange(count), star + 1]


def solved(positions: Sequence[int], seed: int, updates: int) -> list[float]:
    """Train on stars at these positions: the share of right answers at each position."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    network = Window(SIZE, LETTERS + 1, SETTINGS["embed_size"], SETTINGS["units"])
    optimizer = torch.optim.Adam(network.parameters(), lr=SETTINGS["lr"])
    for _ in range(updates):
        asked, answer = riddles(SETTINGS["batch"], positions, generator)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(network(asked), answer).backward()
        optimizer.step()
    tests = [riddles(TESTS, [position], generator) for position in range(SIZE - 1)]
    with torch.no_grad():
        return [round((network(asked).argmax(1) == answer).double().mean().item(), 4) for asked, answer in tests]


def main() -> None:
    runs = []
    for name, positions in TRAINED.items():
        for seed in SEEDS:
            runs.append({"trained": name, "seed": seed, "right": solved(positions, seed, SETTINGS["updates"])})
            print(json.dumps(runs[-1]), flush=True)
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch00.riddle --record",
            "settings": {"optimizer": "Adam", **SETTINGS},
            "seeds": list(SEEDS),
            "versions": {"torch": torch.__version__.partition("+")[0]},
            "runs": runs,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
