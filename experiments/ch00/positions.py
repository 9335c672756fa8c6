"""Does a word begin, or end, with an s? A separate weight for each position cannot say it of longer words.

    python -m experiments.ch00.positions [--record]

Logistic regression on one input for each position and symbol, shorter words padded after or before. The words are those
of Python's documentation (`experiments.text.python_docs`), each once. It is trained on words of 3 to 7 letters and
tested on others of these lengths and on those of 8 to 12. As a control, for the two questions that fail on long words,
it is also trained on short and long words and tested on other long ones.

A result is the mean of two shares in %: of the yes-words that get a yes, and of the no-words that get a no. The seeds
are random splits of the words. All weights start at 0. Takes about a minute.
"""

from __future__ import annotations

import json
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from experiments.ch03.record import to_json
from experiments.text import python_docs

RESULTS_FILE = Path(__file__).with_name("positions.json")
SEEDS = tuple(range(5))
SHORTEST, SHORT, TEST = 3, 7, 200  # letters of a training word, at least and at most; words of a test set
SETTINGS = {"updates": 600, "lr": 3.0, "shortest": SHORTEST, "short": SHORT, "test": TEST}
QUESTIONS = {"begins": 0, "ends": -1}  # where the s must be
PADDINGS = ("after", "before")
HARD = {"begins": "before", "ends": "after"}  # the place of the letter depends on the length of the word

SYMBOLS = "abcdefghijklmnopqrstuvwxyz_"  # the last one is the padding
WIDTH = 12


def encode(words: list[str], pad: str) -> np.ndarray:
    """words, a list -> x (N, 12 · 27) with one 1 for each position."""
    padded = {"after": str.ljust, "before": str.rjust}[pad]
    ids = [[SYMBOLS.index(symbol) for symbol in padded(word, WIDTH, "_")] for word in words]
    return np.eye(27)[ids].reshape(len(words), -1)


def fit(x: np.ndarray, y: np.ndarray, updates: int = 600, lr: float = 3.0) -> tuple[np.ndarray, float]:
    """Logistic regression: x (N, D), y (N,) -> w (D,), b."""
    w, b = np.zeros(x.shape[1]), 0.0
    for _ in range(updates):
        probability = 1 / (1 + np.exp(-(x @ w + b)))  # of a yes
        error = probability - y  # (N,)
        w -= lr * (x.T @ error) / len(y)
        b -= lr * error.mean()
    return w, b


def answers(words: list[str], question: str) -> np.ndarray:
    """1 for a yes, 0 for a no: (N,)."""
    return np.array([float(word[QUESTIONS[question]] == "s") for word in words])


def right(model: tuple[np.ndarray, float], words: list[str], question: str, pad: str) -> float:
    """The mean share of right answers over the yes-words and the no-words, in %."""
    w, b = model
    yes, wanted = encode(words, pad) @ w + b > 0, answers(words, question) == 1
    return round(float(50 * (yes[wanted].mean() + (~yes[~wanted]).mean())), 2)


@cache
def all_words() -> tuple[list[str], list[str]]:
    """The words of 3 to 7 letters, and those of 8 to 12."""
    words = sorted({word for word in re.findall(r"[a-z]+", python_docs().train) if SHORTEST <= len(word) <= WIDTH})
    return [word for word in words if len(word) <= SHORT], [word for word in words if len(word) > SHORT]


def run(seed: int, question: str, pad: str) -> dict[str, Any]:
    """Train on one split of the words, and test; where it fails on long words, train on those too."""
    short, long = all_words()
    rng = np.random.default_rng(seed)
    some, others = rng.permutation(short).tolist(), rng.permutation(long).tolist()
    settings = SETTINGS["updates"], SETTINGS["lr"]
    model = fit(encode(some[TEST:], pad), answers(some[TEST:], question), *settings)
    found = {"question": question, "padding": pad, "seed": seed}
    found |= {"short": right(model, some[:TEST], question, pad), "long": right(model, long, question, pad)}
    if HARD[question] == pad:
        both = some[TEST:] + others[TEST:]
        model = fit(encode(both, pad), answers(both, question), *settings)
        found["control"] = right(model, others[:TEST], question, pad)
        found["fitted"] = right(model, both, question, pad)
    return found


def main() -> None:
    short, long = all_words()
    runs = []
    for question in QUESTIONS:
        for pad in PADDINGS:
            for seed in SEEDS:
                runs.append(run(seed, question, pad))
                print(json.dumps(runs[-1]), flush=True)
    if "--record" in sys.argv[1:]:
        text = python_docs()
        record = {
            "command": "python -m experiments.ch00.positions --record",
            "settings": SETTINGS,
            "seeds": list(SEEDS),
            "versions": {"numpy": np.__version__},
            "text": {"source": text.source, "sha256": text.sha256, "short": len(short), "long": len(long)},
            "runs": runs,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
