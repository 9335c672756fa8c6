"""Silent errors in evaluating a language model, measured on real text (for the bug museum of "How good is it?").

    python -m experiments.ch00.museum [--record]

Leaks: the raw documentation topics repeat whole paragraphs. A 5-gram and other orders (Witten-Bell) are evaluated on
one held-out part after counting three training parts: all the rest of the text; the rest without the blocks that share
50 characters with the held-out part; and, as a control, the rest without as many characters of other blocks, drawn at
random. The held-out part is the last tenth of the text, or a tenth of its blocks after shuffling (five seeds).

No smoothing: relative frequencies give some held-out character the probability 0. Recorded are how many, the mean of
the other characters alone, and the mean if 0 is replaced by a small number. The cleaned text is used.

Tokenizations: characters, pieces of byte pair encoding, and words, where a word that occurs less often than a threshold
in the training text becomes <unk>. Recorded are the perplexity per token and the bits per character. For words, they
are recorded without the characters of the unknown words, as they are often reported, and with them: a Witten-Bell
5-gram of characters, counted on the rare words of the training text, spells each unknown word and its end.

A part's first token is never predicted, and its characters do not count. All numbers follow from the text.
Takes about a minute of one core.
"""

from __future__ import annotations

import hashlib
import math
import platform
import random
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from experiments.ch00 import bpe
from experiments.ch03.record import mean_and_sd, to_json
from experiments.ngrams import WittenBell
from experiments.text import OVERLAP, Text, python_docs, topics

RESULTS_FILE = Path(__file__).with_name("museum.json")
ORDERS = (3, 5, 8, 12)
SHUFFLED_ORDER = 5
SEEDS = tuple(range(10, 15))
FLOORS = (1e-4, 1e-8, 1e-12)
MERGES = (0, 100, 200, 500, 1000, 2000, 4000)
RARE = (2, 5, 10, 30, 100, 1000)
UNKNOWN, END = "<unk>", "<end>"
SETTINGS = {"overlap": OVERLAP, "orders": ORDERS, "shuffled_order": SHUFFLED_ORDER, "floors": FLOORS, "rare": RARE}
SETTINGS |= {"merges": MERGES, "piece_order": 3, "word_order": 3, "character_order": 5, "spelling_order": 5}

# Leaks ----------------------------------------------------------------------------------------------------------------


def raw() -> str:
    """All topics, one after the other, as they are."""
    return "\n\n".join(topics().values())


def last_tenth(text: str) -> tuple[list[str], str]:
    """The blocks (separated by blank lines) of the first nine tenths of the characters, and the last tenth."""
    cut = len(text) - len(text) // 10
    return text[:cut].split("\n\n"), text[cut:]


def shuffled(text: str, seed: int) -> tuple[list[str], str]:
    """The blocks in random order: those that remain for training, and the first tenth, held out."""
    blocks = text.split("\n\n")
    random.Random(seed).shuffle(blocks)
    taken = size = 0
    while size < len(text) / 10:
        size += len(blocks[taken]) + 2
        taken += 1
    return blocks[taken:], "\n\n".join(blocks[:taken])


def shared(held_out: str, train: str) -> float:
    """The share of held-out runs of OVERLAP characters that also occur in the training text."""
    seen, grams = _grams(train), [held_out[i : i + OVERLAP] for i in range(len(held_out) - OVERLAP + 1)]
    return mean(gram in seen for gram in grams)


def training_texts(blocks: Sequence[str], held_out: str, seed: int = 0) -> dict[str, str]:
    """All blocks; those that share no OVERLAP characters with the held-out text; the control, of about that length."""
    grams = _grams(held_out)
    leaking = [not grams.isdisjoint(_grams(block)) for block in blocks]
    others = [i for i, leaks in enumerate(leaking) if not leaks]
    random.Random(seed).shuffle(others)
    excess = sum(len(block) + 2 for block, leaks in zip(blocks, leaking, strict=True) if leaks)
    dropped = set()
    while excess > 0:
        dropped.add(others[len(dropped)])
        excess -= len(blocks[others[len(dropped) - 1]]) + 2
    return {
        "leaking": "\n\n".join(blocks),
        "clean": "\n\n".join(block for block, leaks in zip(blocks, leaking, strict=True) if not leaks),
        "control": "\n\n".join(block for i, block in enumerate(blocks) if i not in dropped),
    }


def leaks(blocks: Sequence[str], held_out: str, orders: Sequence[int]) -> dict[str, Any]:
    """What the duplicates are worth: bits per character after each of the `training_texts`."""
    texts = training_texts(blocks, held_out)
    characters = sorted({*held_out, *texts["leaking"]})
    numbers = {character: number for number, character in enumerate(characters)}
    ids, target = (
        {name: [numbers[c] for c in text] for name, text in texts.items()},
        [numbers[c] for c in held_out],
    )
    return {
        "held_out": len(held_out),
        "train": {name: len(text) for name, text in texts.items()},
        "shared": {name: round(100 * shared(held_out, text), 2) for name, text in texts.items()},
        "bits": {
            str(order): {name: round(WittenBell(ids[name], order, len(characters)).bits(target), 4) for name in texts}
            for order in orders
        },
    }


def _grams(text: str) -> set[str]:
    return {text[i : i + OVERLAP] for i in range(len(text) - OVERLAP + 1)}


# No smoothing ---------------------------------------------------------------------------------------------------------


def frequencies(ids: Sequence[int], held_out: Sequence[int], order: int) -> list[float]:
    """The relative frequency of each held-out token after its order - 1 predecessors; the first ones are left out."""
    counts: dict[tuple[int, ...], Counter[int]] = {}
    for i in range(order - 1, len(ids)):
        counts.setdefault(tuple(ids[i - order + 1 : i]), Counter())[ids[i]] += 1
    found = []
    for i in range(order - 1, len(held_out)):
        followers = counts.get(tuple(held_out[i - order + 1 : i]), Counter())
        found.append(followers[held_out[i]] / followers.total() if followers else 0.0)
    return found


def unsmoothed(text: Text, order: int) -> dict[str, Any]:
    """Bits per character without smoothing: the characters of probability 0 skipped, or 0 replaced by a floor."""
    ids, held_out = text.ids(text.train).tolist(), text.ids(text.held_out).tolist()
    found = frequencies(ids, held_out, order)
    known = [p for p in found if p > 0]
    kinds = {tuple(held_out[i : i + order]) for i, p in enumerate(found) if p == 0}
    first = "".join(text.characters[i] for i in held_out[found.index(0) :][:order])
    return {
        "order": order,
        "predicted": len(found),
        "unseen": len(found) - len(known),
        "unseen_kinds": len(kinds),
        "first_unseen": first,
        "skipped": round(-mean(map(math.log2, known)), 4),
        "floors": {f"{p:g}": round(-mean(math.log2(max(p, q)) for q in found), 4) for p in FLOORS},
        "smoothed": round(WittenBell(ids, order, len(text.characters)).bits(held_out), 4),
    }


# Tokenizations --------------------------------------------------------------------------------------------------------


def costs(
    train: Sequence[str], held_out: Sequence[str], vocabulary: Sequence[str], order: int, spelling: float = 0.0
) -> dict[str, Any]:
    """Perplexity and bits of a Witten-Bell model of tokens; `spelling` is bits to be added for unknown words."""
    numbers = {token: number for number, token in enumerate(vocabulary)}
    read = [[numbers.get(token, 0) for token in part] for part in (train, held_out)]
    bits = WittenBell(read[0], order, len(vocabulary)).bits(read[1])
    predicted, characters = len(held_out) - 1, sum(map(len, held_out[1:]))
    return {
        "order": order,
        "vocabulary": len(vocabulary),
        "tokens": predicted,
        "characters": characters,
        "bits_per_token": round(bits, 4),
        "perplexity": round(2**bits, 4),
        "bits_per_character": round((bits * predicted + spelling) / characters, 4),
    }


def of_characters(text: Text) -> dict[str, Any]:
    return costs(text.train, text.held_out, text.characters, int(str(SETTINGS["character_order"])))


def of_pieces(text: Text, merges: Sequence[bpe.Pair]) -> dict[str, Any]:
    """Pieces of byte pair encoding. No piece is unknown, because every character is one."""
    parts = [bpe.encode(bpe.words(part), merges) for part in (text.train, text.held_out)]
    vocabulary = list(dict.fromkeys([*text.characters, *(first + second for first, second in merges)]))
    assert {*parts[0], *parts[1]} <= set(vocabulary)
    return {"merges": len(merges), **costs(*parts, vocabulary, int(str(SETTINGS["piece_order"])))}


def of_words(text: Text, least: int) -> dict[str, Any]:
    """Words that occur at least so often in the training text; all others are <unk>, with and without their letters."""
    train, held_out = bpe.words(text.train), bpe.words(text.held_out)
    known = [word for word, times in Counter(train).items() if times >= least]
    vocabulary, order = [UNKNOWN, *known], int(str(SETTINGS["word_order"]))
    spelling = spelt([[w for w in part if w not in set(known)] for part in (train, held_out[1:])], text.characters)
    unknown = mean(word not in set(known) for word in held_out[1:])
    return {
        "least": least,
        "unknown": round(100 * unknown, 2),
        **costs(train, held_out, vocabulary, order),
        "bits_per_character_spelt": costs(train, held_out, vocabulary, order, spelling)["bits_per_character"],
    }


def spelt(parts: Sequence[Sequence[str]], characters: str) -> float:
    """The bits of spelling the words of the second part, each with its end, after counting those of the first."""
    numbers = {character: number for number, character in enumerate([END, *characters])}
    streams = [[0] + [numbers[c] for word in part for c in [*word, END]] for part in parts]
    model = WittenBell(streams[0], int(str(SETTINGS["spelling_order"])), len(numbers))
    return model.bits(streams[1]) * (len(streams[1]) - 1) if parts[1] else 0.0


# The record -----------------------------------------------------------------------------------------------------------


def measured() -> dict[str, Any]:
    """Everything that the page tells of."""
    whole, text = raw(), python_docs()
    merges = bpe.learn(bpe.word_counts(text.train), max(MERGES))
    runs = [leaks(*shuffled(whole, seed), [SHUFFLED_ORDER]) for seed in SEEDS]
    return {
        "last_tenth": leaks(*last_tenth(whole), ORDERS),
        "shuffled": runs,
        "shuffled_summary": summary(runs),
        "unsmoothed": [unsmoothed(text, order) for order in (2, 5)],
        "characters": of_characters(text),
        "pieces": [of_pieces(text, merges[:number]) for number in MERGES],
        "words": [of_words(text, least) for least in RARE],
    }


def summary(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Mean and standard deviation over the seeds, and the differences within each seed."""
    bits = [run["bits"][str(SHUFFLED_ORDER)] for run in runs]
    found = {name: mean_and_sd([one[name] for one in bits], 3) for name in ("leaking", "clean", "control")}
    found["clean_minus_leaking"] = mean_and_sd([one["clean"] - one["leaking"] for one in bits], 3)
    found["control_minus_leaking"] = mean_and_sd([one["control"] - one["leaking"] for one in bits], 3)
    found["shared"] = mean_and_sd([run["shared"]["leaking"] for run in runs], 1)
    return found


def main() -> None:
    text, found = python_docs(), measured()
    record = {
        "command": "python -m experiments.ch00.museum --record",
        "settings": SETTINGS,
        "seeds": list(SEEDS),
        "versions": {"python": platform.python_version()},
        "text": {"source": text.source, "sha256": text.sha256},
        "raw": {"characters": len(raw()), "sha256": hashlib.sha256(raw().encode()).hexdigest()},
        **found,
    }
    written = to_json(record)
    print(written)
    if "--record" in sys.argv[1:]:
        RESULTS_FILE.write_text(written, "utf-8")


if __name__ == "__main__":
    main()
