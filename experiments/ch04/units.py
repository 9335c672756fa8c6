"""Do single units of a trained LSTM track bracket depth, quotes, or the position in a line?

    python -m experiments.ch04.units [--record]

Three artificial texts of 100,000 characters, in each of which one hidden quantity decides which characters are possible
next: the depth of open brackets (0 to 6), being inside quotes (0 or 1), the position in a line of 20 letters. An LSTM
of 32 units learns to predict the next character (one-hot input, 800 updates on 32 rows of 64 characters, Adam 0.01
falling linearly to 0, gradients clipped to a norm of 1). Five seeds for each text, each with its own training text.

All networks then read the same other text. On its first half the unit is chosen whose cell state has the largest
absolute correlation with the quantity; its |r| on the second half is recorded. The controls: the same network before
training, chosen in the same way among its 32 units, and the single input character with the largest |r|. How many units
exceed 0.7 and what a linear readout of all units reaches (least squares with a small ridge, fitted on the first half)
are recorded as well. The bits per character stand beside those of counts that know the last character (bigram), or the
last character and the quantity (oracle). Takes about two minutes on one core.
"""

from __future__ import annotations

import math
import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
import torch

from experiments.ch03.record import significant, to_json
from experiments.ch04.text_cells import chunks, cross_entropy

RESULTS_FILE = Path(__file__).with_name("units.json")
SETTINGS: dict[str, float] = {
    "hidden_size": 32,
    "batch": 32,
    "chunk": 64,
    "lr": 1e-2,
    "clip": 1.0,
    "updates": 800,
    "train": 100_000,
    "read": 4_000,
    "many_above": 0.7,
    "ridge": 1e-2,
}
SEEDS = tuple(range(10, 15))
READ_SEED = 7
EXAMPLE = 160  # characters of the example, the first of the second half

torch.set_num_threads(1)

Marked = tuple[str, np.ndarray]  # a text, and the quantity after each of its characters


def brackets(length: int, rng: random.Random) -> Marked:
    """Letters and brackets; the quantity is the number of open brackets, at most 6."""
    text, marks, depth = [], [], 0
    while len(text) < length:
        draw = rng.random()
        if draw < 0.6:
            text.append(rng.choice("abcd"))
        elif (draw < 0.8 and depth < 6) or depth == 0:
            text.append("(")
            depth += 1
        else:
            text.append(")")
            depth -= 1
        marks.append(depth)
    return "".join(text), np.array(marks, dtype=np.float64)


def quotes(length: int, rng: random.Random) -> Marked:
    """Words, separated by spaces outside quotes and by underscores inside; the quantity is 1 inside, else 0.

    A letter does not say where it is: the same letters occur inside and outside.
    """
    text: list[str] = []
    marks: list[int] = []
    inside = 0
    while len(text) < length:
        word = "".join(rng.choice("abcdef") for _ in range(rng.randint(1, 5)))
        text += word
        marks += [inside] * len(word)
        if rng.random() < (0.25 if inside else 0.15):
            inside = 1 - inside
            text.append('"')
        else:
            text.append("_" if inside else " ")
        marks.append(inside)
    return "".join(text[:length]), np.array(marks[:length], dtype=np.float64)


def lines(length: int, rng: random.Random) -> Marked:
    """Lines of 20 letters; the quantity is the number of letters since the line began."""
    text: list[str] = []
    while len(text) < length:
        text += [*(rng.choice("abcd") for _ in range(20)), "\n"]
    return "".join(text[:length]), (np.arange(1, length + 1) % 21).astype(np.float64)


TEXTS: dict[str, Callable[[int, random.Random], Marked]] = {"brackets": brackets, "quotes": quotes, "lines": lines}


class Network(torch.nn.Module):
    """An LSTM on one-hot characters, and a linear layer: ids (B, T) -> logits (B, T, V), and the last state."""

    def __init__(self, vocab_size: int, hidden_size: int) -> None:
        super().__init__()
        self.vocab_size = vocab_size
        self.rnn = torch.nn.LSTM(vocab_size, hidden_size, batch_first=True)
        self.head = torch.nn.Linear(hidden_size, vocab_size)

    def forward(
        self, ids: torch.Tensor, state: tuple[torch.Tensor, torch.Tensor] | None = None
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        states, (h, c) = self.rnn(torch.nn.functional.one_hot(ids, self.vocab_size).float(), state)
        return self.head(states), (h.detach(), c.detach())


def to_ids(text: str, characters: str) -> torch.Tensor:
    return torch.tensor([characters.index(character) for character in text])


@torch.no_grad()
def states(model: Network, ids: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Hidden states and cell states (N, H) after each of ids (N,), in float64, from a zero state."""
    h, c, state = [], [], None
    for token in ids:
        _, state = model(token.view(1, 1), state)
        h.append(state[0].view(-1))
        c.append(state[1].view(-1))
    return torch.stack(h).double().numpy(), torch.stack(c).double().numpy()


def correlations(columns: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """Pearson's r of each column of columns (N, M) with marks (N,); 0 for a constant column."""
    columns, marks = columns - columns.mean(axis=0), marks - marks.mean()
    norms = np.sqrt((columns**2).sum(axis=0) * (marks**2).sum())
    return (columns * marks[:, None]).sum(axis=0) / np.where(norms == 0, np.inf, norms)


def best(columns: np.ndarray, marks: np.ndarray) -> tuple[int, float]:
    """The column with the largest |r| on the first half, and its |r| on the second."""
    half = len(marks) // 2
    unit = int(np.abs(correlations(columns[:half], marks[:half])).argmax())
    return unit, float(abs(correlations(columns[half:], marks[half:])[unit]))


def readout(columns: np.ndarray, marks: np.ndarray) -> float:
    """r of a linear readout of all columns, fitted on the first half, on the second half."""
    half = len(marks) // 2
    inputs = np.c_[columns, np.ones(len(marks))]
    seen = inputs[:half]
    penalty = SETTINGS["ridge"] * np.eye(inputs.shape[1])
    weights = np.linalg.solve(seen.T @ seen + penalty, seen.T @ marks[:half])
    return float(np.corrcoef(inputs[half:] @ weights, marks[half:])[0, 1])


def measure(model: Network, ids: torch.Tensor, marks: np.ndarray) -> tuple[dict[str, Any], np.ndarray]:
    """What is recorded of one network, and its best unit's cell state (N,), with the sign of its correlation."""
    h, c = states(model, ids)
    half = len(marks) // 2
    seen = np.abs(correlations(c[:half], marks[:half]))
    unit, found = best(c, marks)
    sign = math.copysign(1.0, correlations(c[:half], marks[:half])[unit])
    return {
        "unit": unit,
        "best_c": round(found, 3),
        "second_c": round(float(np.sort(seen)[-2]), 3),
        "best_h": round(best(h, marks)[1], 3),
        "many": int((seen > SETTINGS["many_above"]).sum()),
        "readout": round(readout(c, marks), 3),
    }, sign * c[:, unit]


def train(model: Network, ids: torch.Tensor, updates: int) -> None:
    """Train for so many updates with a carried, detached state."""
    optimizer = torch.optim.Adam(model.parameters(), lr=SETTINGS["lr"])
    stream = chunks(ids, int(SETTINGS["batch"]), int(SETTINGS["chunk"]))
    state = None
    for update, (inputs, targets, restart) in zip(range(updates), stream, strict=False):
        logits, state = model(inputs, None if restart else state)
        optimizer.param_groups[0]["lr"] = SETTINGS["lr"] * (1 - update / updates)
        optimizer.zero_grad()
        cross_entropy(logits, targets).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), SETTINGS["clip"])
        optimizer.step()


@torch.no_grad()
def bits(model: Network, ids: torch.Tensor) -> float:
    return cross_entropy(model(ids[None, :-1])[0], ids[None, 1:]).item() / math.log(2)


def counted(trained_on: Marked, read: Marked) -> dict[str, float]:
    """Bits per character of counts: of characters, after the last one, and after the last one and the quantity."""

    def contexts(marked: Marked, kind: str) -> list[Any]:
        text, marks = marked
        if kind == "unigram":
            return [()] * (len(text) - 1)
        return list(text[:-1]) if kind == "bigram" else list(zip(text[:-1], marks[:-1], strict=True))

    found = {}
    for kind in ("unigram", "bigram", "oracle"):
        before = contexts(trained_on, kind)
        pairs, alone = Counter(zip(before, trained_on[0][1:], strict=True)), Counter(before)
        asked = zip(contexts(read, kind), read[0][1:], strict=True)
        found[kind] = round(-mean(math.log2(max(pairs[pair], 0.1) / max(alone[pair[0]], 1)) for pair in asked), 4)
    return found


def run(name: str, seed: int, updates: int | None = None, read: int | None = None) -> tuple[dict[str, Any], Any]:
    """Train one network: its record, and its best unit before and after training at each character that was read."""
    text, marks = TEXTS[name](int(SETTINGS["train"]), random.Random(1000 + seed))
    other, quantity = TEXTS[name](read or int(SETTINGS["read"]), random.Random(READ_SEED))
    characters = "".join(sorted(set(text)))
    ids, other_ids = to_ids(text, characters), to_ids(other, characters)
    torch.manual_seed(seed)
    model = Network(len(characters), int(SETTINGS["hidden_size"]))
    untrained, idle = measure(model, other_ids, quantity)
    train(model, ids, updates or int(SETTINGS["updates"]))
    trained, active = measure(model, other_ids, quantity)
    one_hot = np.eye(len(characters))[other_ids.numpy()]
    record = {
        "text": name,
        "seed": seed,
        "bits": round(bits(model, other_ids), 4),
        "counted": counted((text, marks), (other, quantity)),
        "input_character": round(best(one_hot, quantity)[1], 3),
        "untrained": untrained,
        "trained": trained,
    }
    return record, (other, quantity, idle, active)


def example(read: Any) -> dict[str, Any]:
    """A stretch of the text with the quantity and the best unit's cell state, trained and untrained."""
    other, quantity, idle, active = read
    piece = slice(len(other) // 2, len(other) // 2 + EXAMPLE)
    return {
        "characters": other[piece],
        "quantity": [int(value) for value in quantity[piece]],
        "trained": significant(active[piece]),
        "untrained": significant(idle[piece]),
    }


def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Mean and standard deviation (with N - 1) over seeds, and for the number of units the smallest and the largest."""
    found: dict[str, Any] = {"runs": len(runs)}
    for when in ("untrained", "trained"):
        for key in ("best_c", "best_h", "readout"):
            values = [one[when][key] for one in runs]
            found[f"{when}_{key}"] = [round(mean(values), 3), round(stdev(values), 3)]
        many = [one[when]["many"] for one in runs]
        found[f"{when}_many"] = [min(many), max(many)]
    values = [one["bits"] for one in runs]
    found["bits"] = [round(mean(values), 4), round(stdev(values), 4)]
    found["counted"] = {kind: round(mean(one["counted"][kind] for one in runs), 4) for kind in runs[0]["counted"]}
    found["input_character"] = round(mean(one["input_character"] for one in runs), 3)
    return found


def main() -> None:
    runs, summaries, examples = [], {}, {}
    for name in TEXTS:
        here = []
        for seed in SEEDS:
            one, read = run(name, seed)
            here.append(one)
            if seed == SEEDS[0]:
                examples[name] = example(read)
        summaries[name] = summary(here)
        print(name, summaries[name], flush=True)
        runs += here
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch04.units --record",
            "settings": {"optimizer": "Adam, learning rate falling linearly to 0", **SETTINGS},
            "seeds": list(SEEDS),
            "versions": {"numpy": np.__version__, "torch": torch.__version__.partition("+")[0]},
            "summary": summaries,
            "examples": {"seed": SEEDS[0], "texts": examples},
            "runs": runs,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
