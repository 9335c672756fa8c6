"""What does sharing weights over time change in learning?

    python -m experiments.ch01.sharing [--record]

Has `ab` just been read? Strings of twelve letters contain `ab` in the first half only in training, anywhere in the
test. Networks with one set of weights for all steps are compared with networks that have separate weights for each
step. Five initialisations of each kind. Takes about ten seconds on one core.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from experiments.ch03.record import to_json

RESULTS_FILE = Path(__file__).with_name("sharing.json")
SETTINGS: dict[str, Any] = {"seeds": 5, "hidden": 8, "updates": 300, "batch": 64, "lr": 0.02}
SETS = {"shared": 1, "separate": 12}  # of weights


def strings(rows: int, rng: np.random.Generator, first_half_only: bool) -> tuple[np.ndarray, np.ndarray]:
    """Ids (rows, 12) of a, b, c; whether ab has just been read, (rows, 12)."""
    ids = rng.integers(0, 3, size=(rows, 12))
    just_read = np.zeros(ids.shape, dtype=bool)
    for t in range(1, 12):
        found = (ids[:, t - 1] == 0) & (ids[:, t] == 1)
        if first_half_only and t >= 6:
            ids[found, t] = 2  # ab becomes ac
            found[:] = False
        just_read[:, t] = found
    return ids, just_read


def detected(
    sets_of_weights: int, seeds: int, hidden: int, updates: int, batch: int, lr: float
) -> tuple[np.ndarray, np.ndarray]:
    """Train `seeds` networks side by side; each one's share of ab detected at t = 1 to 11, and of false alarms."""
    generator = torch.Generator().manual_seed(0)
    rng = np.random.default_rng(0)

    def weight(*shape: int) -> torch.Tensor:
        return (0.4 * torch.randn(seeds, sets_of_weights, *shape, generator=generator)).requires_grad_()

    into, across, bias = weight(3, hidden), weight(hidden, hidden), weight(1, hidden)
    out, shift = weight(hidden, 1), weight(1, 1)

    def logits(ids: np.ndarray) -> torch.Tensor:
        letters = torch.nn.functional.one_hot(torch.from_numpy(ids), 3).float()
        state, found = torch.zeros(seeds, len(ids), hidden), []
        for t in range(ids.shape[1]):
            own = t % sets_of_weights  # 0 where all steps share one set
            state = torch.tanh(letters[:, t] @ into[:, own] + state @ across[:, own] + bias[:, own])
            found.append((state @ out[:, own] + shift[:, own])[..., 0])
        return torch.stack(found, dim=2)  # (seeds, rows, 12)

    adam = torch.optim.Adam([into, across, bias, out, shift], lr=lr)
    for _ in range(updates):
        ids, just_read = strings(batch, rng, first_half_only=True)
        target = torch.from_numpy(just_read).float().expand(seeds, -1, -1)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits(ids), target)
        adam.zero_grad()
        (seeds * loss).backward()
        adam.step()

    ids, target = strings(2000, rng, first_half_only=False)
    with torch.no_grad():
        says_yes = (logits(ids) > 0).numpy()  # (seeds, rows, 12)
    rates = [says_yes[:, target[:, t], t].mean(axis=1) for t in range(1, 12)]
    return np.array(rates), says_yes[:, ~target].mean(axis=1)


def main() -> None:
    found = {}
    for name, sets_of_weights in SETS.items():
        rates, alarms = detected(sets_of_weights, **SETTINGS)
        found[name] = {"detected": rates.T.round(4).tolist(), "false_alarms": alarms.round(5).tolist()}
        print(name, found[name], flush=True)
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch01.sharing --record",
            "settings": {"optimizer": "Adam", **SETTINGS},
            "versions": {"torch": torch.__version__.partition("+")[0]},
            **found,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
