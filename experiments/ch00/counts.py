"""What counting can do: n-gram models of real text, in bits per character of text that was held out.

    python -m experiments.ch00.counts [FILE] [--record]

The text is Python's documentation (`experiments.text.python_docs`), of which whole topics are held out, or a text file
of your own. Compared are the uniform distribution and n-gram models with three kinds of smoothing, which are in
`experiments.ngrams`: add-alpha, interpolation, and Witten-Bell, which has nothing to choose. Alpha and the weights of
the interpolation are those with the fewest bits on the last tenth of the training text, when the rest of it is counted;
then the whole training text is counted. The held-out text influences nothing.

The last model counts subwords: 500 merges of byte pair encoding, learned from the training text, and a Witten-Bell
trigram of the pieces. Its bits are divided by the number of characters, not of pieces. A text can be cut into these
pieces in several ways, and only one is counted, so its bits are an upper bound.

All numbers follow from the text. Takes about a quarter of a minute on one core.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.ch00 import bpe
from experiments.ch03.record import to_json
from experiments.ngrams import AddAlpha, Interpolated, WittenBell
from experiments.text import Text, TextError, from_file, python_docs

RESULTS_FILE = Path(__file__).with_name("counts.json")
ADD_ALPHA, INTERPOLATED, WITTEN_BELL = (1, 2, 3, 4, 5, 6), (4, 5, 6), (2, 3, 4, 5, 6)
ALPHAS = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
WEIGHTS = tuple(percent / 100 for percent in range(5, 100, 5))
DEV = 10  # the last 1 / DEV of the training text is for choosing
MERGES, PIECE_ORDER = 500, 3
NAMES = ("uniform", "unigram", "bigram", "trigram", "4-gram", "5-gram", "6-gram")

Row = dict[str, Any]


def parts(ids: Sequence[int]) -> tuple[list[int], list[int]]:
    """The training ids, cut into those to count and those to choose on."""
    ids = [int(token) for token in ids]
    cut = len(ids) - len(ids) // DEV
    return ids[:cut], ids[cut:]


def choose_alpha(ids: Sequence[int], order: int, vocab_size: int) -> tuple[float, list[float]]:
    """The alpha of ALPHAS with the fewest bits on the last tenth of ids, and the bits of each."""
    counted, dev = parts(ids)
    model = AddAlpha(counted, order, vocab_size, 1.0)
    tried = []
    for alpha in ALPHAS:
        model.alpha = alpha
        tried.append(model.bits(dev))
    return ALPHAS[int(np.argmin(tried))], tried


def relative_frequencies(counted: Sequence[int], dev: Sequence[int], order: int) -> tuple[np.ndarray, np.ndarray]:
    """Of each token of dev but the first: its relative frequency after each length of context, and whether one exists.

    Both (order, N - 1): row n - 1 is that of the n-gram. Where the context never occurred, the frequency is 0.
    """
    model = AddAlpha(counted, order, 1, 0.0)
    found, exists = np.zeros((order, len(dev) - 1)), np.zeros((order, len(dev) - 1), dtype=bool)
    for position in range(1, len(dev)):
        for length in range(min(order, position + 1)):
            context = tuple(dev[position - length : position])
            if context not in model._totals:
                break
            exists[length, position - 1] = True
            found[length, position - 1] = model._counts[context].get(dev[position], 0) / model._totals[context]
    return found, exists


def mixed(frequencies: np.ndarray, exists: np.ndarray, weights: Sequence[float], vocab_size: int) -> np.ndarray:
    """Equation (interpolation) for all tokens at once: their probabilities (N,), from frequencies (order, N)."""
    p = np.full(frequencies.shape[1], 1 / vocab_size)
    for frequency, there, weight in zip(frequencies, exists, weights, strict=True):
        p = np.where(there, weight * frequency + (1 - weight) * p, p)
    return p


def choose_weights(ids: Sequence[int], order: int, vocab_size: int) -> tuple[list[float], float]:
    """The weights with the fewest bits on the last tenth of ids, one after the other until none changes; the bits.

    Each weight is taken from WEIGHTS, with the others as they are. Log-likelihood is concave in each weight.
    """
    return best_weights(*relative_frequencies(*parts(ids), order), vocab_size)


def best_weights(frequencies: np.ndarray, exists: np.ndarray, vocab_size: int) -> tuple[list[float], float]:
    """The weights that `choose_weights` finds, from what `relative_frequencies` returns."""
    order = len(frequencies)

    def bits(weights: Sequence[float]) -> float:
        return float(-np.log2(mixed(frequencies, exists, weights, vocab_size)).mean())

    weights, before = [0.5] * order, [0.0] * order
    while weights != before:
        before = list(weights)
        for n in range(order):
            weights[n] = min(WEIGHTS, key=lambda weight: bits([*weights[:n], weight, *weights[n + 1 :]]))
    return weights, bits(weights)


# Subwords -------------------------------------------------------------------------------------------------------------


def subword_row(text: Text, num_merges: int = MERGES, order: int = PIECE_ORDER) -> Row:
    """Bits per character of a Witten-Bell model of subwords."""
    merges = bpe.learn(bpe.word_counts(text.train), num_merges)
    vocabulary = dict.fromkeys([*text.characters, *(first + second for first, second in merges)])
    numbers = {piece: number for number, piece in enumerate(vocabulary)}
    train, held_out = (
        [numbers[piece] for piece in bpe.encode(bpe.words(part), merges)] for part in (text.train, text.held_out)
    )
    first = len(list(vocabulary)[held_out[0]])  # the first piece is not predicted, and its characters do not count
    total = WittenBell(train, order, len(numbers)).total_bits(held_out)
    return {
        "model": "subwords",
        "smoothing": "Witten-Bell",
        "order": order,
        "merges": len(merges),
        "vocabulary": len(numbers),
        "characters_per_piece": round(len(text.held_out) / len(held_out), 4),
        "bits": round(total / (len(text.held_out) - first), 4),
    }


# The table ------------------------------------------------------------------------------------------------------------


def rows(text: Text) -> list[Row]:
    """All models of single characters, each with its bits per character on the held-out text."""
    ids, held_out, V = text.ids(text.train).tolist(), text.ids(text.held_out).tolist(), len(text.characters)

    def row(smoothing: str, n: int, model: AddAlpha | Interpolated | WittenBell, **chosen: object) -> Row:
        bits = round(model.bits(held_out), 4)
        return {"model": NAMES[n], "smoothing": smoothing, "order": n, **chosen, "bits": bits}

    found = [row("none", 0, AddAlpha([], 0, V, 1.0))]
    chosen: Row
    for n in ADD_ALPHA:
        alpha, tried = choose_alpha(ids, n, V)
        chosen = {"alpha": alpha, "dev_bits": [round(value, 4) for value in tried]}
        found.append(row("add-alpha", n, AddAlpha(ids, n, V, alpha), **chosen))
    for n in INTERPOLATED:
        weights, dev_bits = choose_weights(ids, n, V)
        chosen = {"weights": weights, "dev_bits": round(dev_bits, 4)}
        found.append(row("interpolated", n, Interpolated(ids, n, V, weights), **chosen))
    found.extend(row("Witten-Bell", n, WittenBell(ids, n, V)) for n in WITTEN_BELL)
    return found


def described(text: Text) -> dict[str, Any]:
    return {
        "source": text.source,
        "sha256": text.sha256,
        "train": len(text.train),
        "held_out": len(text.held_out),
        "characters": len(text.characters),
    }


def assembled(text: Text) -> dict[str, Any]:
    """The record."""
    return {
        "command": "python -m experiments.ch00.counts --record",
        "python": platform.python_version(),
        "text": described(text),
        "settings": {
            "alphas": list(ALPHAS),
            "weights": list(WEIGHTS),
            "dev": f"the last 1/{DEV} of the training text",
            "merges": MERGES,
        },
        "models": [*rows(text), subword_row(text)],
    }


# Writing from counts --------------------------------------------------------------------------------------------------


def longest_copied(sample: str, text: str) -> str:
    """The longest run of characters that occurs both in the sample and in the text; of several, the first."""
    best = ""
    for end in range(1, len(sample) + 1):
        while len(best) < end and sample[end - len(best) - 1 : end] in text:
            best = sample[end - len(best) - 1 : end]
    return best


def main(arguments: Sequence[str]) -> None:
    files = [argument for argument in arguments if argument != "--record"]
    if len(files) > 1 or (files and len(arguments) > 1) or any(name.startswith("-") for name in files):
        raise TextError("Give one text file, or --record, or nothing.")
    text = from_file(files[0]) if files else python_docs()
    print(text.label)
    print(f"train {len(text.train):,}, held out {len(text.held_out):,} characters, of {len(text.characters)} kinds")
    record = assembled(text)
    for row in record["models"]:
        print(f"{row['model']:9}{row['smoothing']:13}{row['bits']:.3f} bits per character")
    if "--record" in arguments:
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except TextError as error:
        sys.exit(str(error))
