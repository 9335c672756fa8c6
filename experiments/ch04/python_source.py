"""What an LSTM makes of Python source code: structure over distances at which counting is blind.

    python -m experiments.ch04.python_source [--record] [--seed N ...] [--large [N ...]] [--device cuda]

The text is the standard library of the Python that runs this, without comments and docstrings (`ch04.source_text`).
The networks are those of `experiments.char_lm` with other settings: five small ones, seeds 10 to 14, and five larger
ones that are trained for longer, with the same seeds; samples of the first of these are shown. There was no search for
settings, but the small ones were changed once, from 600 updates at a rate of 0.01, after the first network had been
measured on the held-out modules (2.18 bits); the larger ones were added after the small ones. Beside them stand the
counted models of `experiments.ngrams`, interpolated and Witten-Bell n-grams up to order 8, with weights chosen on the
last tenth of the training text.

All models read the held-out modules, each from its first character, and are asked there:

brackets     at each closing bracket: the probability of the right one, and its share of the three closing brackets'
             probability; by the distance to the opening bracket, and apart for round and other brackets
strings      at each closing quote of a string with one quote on each side: the same, with the two kinds of quotes
nothing_open the expected number of closing brackets per 1,000 characters where none is open, outside strings
indentation  at the first line of each statement that does not begin a block: the probability that the number of spaces
             is legal, that is, that of a block which is open; given that the line is not empty; by the distance to the
             line that opened the innermost block. After a colon: the probability of the number in the text.

Then each network and the 6-gram write: 20 texts of 2,000 characters at temperature 1. `scan` counts the brackets that
are closed in the right order, those that are not, and closing brackets that close nothing; on held-out text it finds no
error. A bracket is not closed if another kind closes it, or if a statement's keyword begins a line while it is open.

units        The unit whose cell state has the largest |r| with the number of open brackets on the first part of the
             held-out modules; its |r| on the rest. The controls: the same network before training, and the best single
             input character. A threshold on the unit, chosen on the first part, says "a bracket is open" on the rest:
             the share that is right, by what is true there. Moved at each closing bracket to its mean where nothing is
             open, the unit changes the probability of that bracket; the same is done to each other unit.

With --record, each network's row replaces that of the same size and seed in the record as soon as it is finished.
--seed and --large select which networks are trained. On one idle core, counting takes two minutes, a small network as
long, and a large one eight. With --device cuda the networks are trained on a GPU and measured on the CPU; nothing was
recorded with it.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
import torch
from torch import Tensor

from experiments import char_lm
from experiments.ch00.counts import best_weights
from experiments.ch00.counts import parts as in_two
from experiments.ch04.samples import write_rows
from experiments.ch04.source_text import CLOSING, OPENING, PAIRS, Structure, python_source, structure
from experiments.ch04.units import correlations
from experiments.char_lm import CharLM, Settings, Training, probabilities
from experiments.text import Text

RESULTS_FILE = Path(__file__).with_name("python_source.json")
SEEDS = tuple(range(10, 15))
SMALL = {"embed_size": 32, "hidden_size": 128, "batch": 32, "chunk": 128, "lr": 6e-3, "updates": 1200}
LARGE = {**SMALL, "hidden_size": 192, "lr": 5e-3, "updates": 3000}
LARGE_SEEDS = SEEDS
STAGES = (50, 300)  # updates after which the network whose samples are shown writes, besides the end
SETTINGS: dict[str, Any] = {
    "orders": [4, 6, 8],
    "edges": [5, 20, 50, 100],  # the last distances of all buckets but the last
    "most_spaces": 32,
    "start": "\n\ndef ",
    "shown": 1200,
    "shown_temperature": 0.7,
    "written": 2000,
    "samples": 20,
    "many_above": 0.5,
    "ridge": 1e-2,
}
STATEMENT = re.compile(r"\s*(def|class|return|import|from|raise|while|try|with|pass|del|elif|except|finally)\b")

torch.set_num_threads(1)


def bucket(distance: int) -> int:
    return sum(distance > edge for edge in SETTINGS["edges"])


def mean_of(values: Sequence[float]) -> float | None:
    return round(mean(values), 4) if values else None


def bucket_names() -> list[str]:
    edges = SETTINGS["edges"]
    return [*(f"{low + 1}-{high}" for low, high in zip([0, *edges], edges, strict=False)), f"over {edges[-1]}"]


# Reading --------------------------------------------------------------------------------------------------------------


@torch.no_grad()
def follow(model: CharLM, texts: Sequence[Tensor]) -> list[tuple[Tensor, Tensor]]:
    """Hidden and cell states (N, H) after each of the ids (N,) of each text, from a zero state, all texts at once."""
    rnn = model.rnn
    order = sorted(range(len(texts)), key=lambda number: -len(texts[number]))
    longest = torch.nn.utils.rnn.pad_sequence([texts[number] for number in order])  # (T, texts)
    lengths = np.array([len(texts[number]) for number in order])
    h = c = torch.zeros(len(texts), rnn.hidden_size)
    kept = [(torch.empty(n, rnn.hidden_size), torch.empty(n, rnn.hidden_size)) for n in lengths]
    given = model.embedding.weight @ rnn.weight_ih_l0.T + rnn.bias_ih_l0 + rnn.bias_hh_l0  # of each character
    for t, ids in enumerate(longest):
        running = int((lengths > t).sum())
        a = torch.addmm(given[ids[:running]], h[:running], rnn.weight_hh_l0.T)
        i, f, g, o = a.chunk(4, dim=1)
        c = torch.sigmoid(f) * c[:running] + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        for row in range(running):
            kept[row][0][t], kept[row][1][t] = h[row], c[row]
    found: list[Any] = [None] * len(texts)
    for row, number in enumerate(order):
        found[number] = kept[row]
    return found


class Reader:
    """What a model says in one module: the probabilities of characters at positions, and of numbers of spaces."""

    def at(self, positions: Sequence[int], characters: str) -> np.ndarray:
        """The probability of each of the characters at each position, given the module up to there: (N, characters)."""
        raise NotImplementedError

    def truth(self) -> np.ndarray:
        """The probability of each character of the module: (N,)."""
        raise NotImplementedError

    def spaces(self, positions: Sequence[int]) -> np.ndarray:
        """Of a space, and of a line break, after 0, 1, … spaces from these positions on: (N, most_spaces + 1, 2)."""
        raise NotImplementedError


class NetworkReader(Reader):
    def __init__(self, model: CharLM, text: Text, source: str, states: tuple[Tensor, Tensor]) -> None:
        """The states are those after each character of a line break and the source: row i is before character i."""
        self.model, self.source, self.characters = model, source, text.characters
        self.h, self.c = states
        with torch.no_grad():
            self.p = torch.softmax(model.head(self.h), dim=1).double().numpy()

    def at(self, positions: Sequence[int], characters: str) -> np.ndarray:
        return np.asarray(
            self.p[np.array(positions, dtype=np.int64)][:, [self.characters.index(c) for c in characters]]
        )

    def truth(self) -> np.ndarray:
        return np.asarray(self.p[np.arange(len(self.source)), [self.characters.index(c) for c in self.source]])

    @torch.no_grad()
    def spaces(self, positions: Sequence[int]) -> np.ndarray:
        space, line = self.characters.index(" "), self.characters.index("\n")
        h, c = self.h[list(positions)], self.c[list(positions)]
        found, state = [], (h[None].contiguous(), c[None].contiguous())
        read = torch.full((len(positions), 1), space)
        logits = self.model.head(h)
        for _ in range(SETTINGS["most_spaces"] + 1):
            found.append(torch.softmax(logits, dim=1)[:, [space, line]])
            later, state = self.model(read, state)
            logits = later[:, 0]
        return np.asarray(torch.stack(found, dim=1).double().numpy())


class Counted:
    """The models of `experiments.ngrams`, for many tokens at once: an n-gram is a number, and all are sorted.

    Without weights, the smoothing is that of Witten and Bell; with them, interpolation.
    """

    def __init__(self, ids: np.ndarray, order: int, vocab_size: int, weights: Sequence[float] | None = None) -> None:
        self.order, self.vocab_size, self.weights = order, vocab_size, weights
        self.codes: list[np.ndarray] = []  # of each length: the n-grams that occur, and how often the ones before did
        self.before: list[np.ndarray] = []
        code = np.zeros(len(ids), dtype=np.int64)
        for n in range(order):
            code = code[: len(ids) - n] * vocab_size + ids[n:]
            codes, counts = np.unique(code, return_counts=True)
            self.codes.append(codes)
            self.before.append(np.concatenate([[0], np.cumsum(counts)]))

    def counts(self, contexts: np.ndarray, tokens: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """After the last n of the contexts' tokens: the counts of these tokens, of all, and how many different ones."""
        code = np.zeros(len(tokens), dtype=np.int64)
        for column in range(contexts.shape[1] - n, contexts.shape[1]):
            code = code * self.vocab_size + contexts[:, column]
        low, at, high = (np.searchsorted(self.codes[n], code * self.vocab_size + last)
                         for last in (0, tokens, self.vocab_size))  # fmt: skip
        there = self.codes[n][np.minimum(at, len(self.codes[n]) - 1)] == code * self.vocab_size + tokens
        before = self.before[n]
        return (
            np.where(there, before[np.minimum(at + 1, len(before) - 1)] - before[at], 0),
            before[high] - before[low],
            high - low,
        )

    def probabilities(self, contexts: np.ndarray, tokens: np.ndarray) -> np.ndarray:
        """Of the tokens (N,) after the contexts (N, order - 1)."""
        p = np.full(len(tokens), 1 / self.vocab_size)
        for n in range(self.order):
            count, total, kinds = self.counts(contexts, tokens, n)
            if self.weights is None:
                mixed = (count + kinds * p) / np.maximum(total + kinds, 1)
            else:
                mixed = self.weights[n] * count / np.maximum(total, 1) + (1 - self.weights[n]) * p
            p = np.where(total > 0, mixed, p)
        return p

    def contexts(self, ids: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """The tokens before each position: (N, order - 1)."""
        return ids[positions[:, None] - np.arange(self.order - 1, 0, -1)]


def chosen_weights(ids: np.ndarray, order: int, vocab_size: int) -> list[float]:
    """The weights of the interpolation, chosen on the last tenth of ids as in `experiments.ch00.counts`."""
    seen, dev = (np.array(part) for part in in_two(ids.tolist()))
    model, positions = Counted(seen, order, vocab_size), np.arange(order, len(dev))
    counts = [model.counts(model.contexts(dev, positions), dev[positions], n)[:2] for n in range(order)]
    frequencies = np.array([count / np.maximum(total, 1) for count, total in counts])
    return best_weights(frequencies, np.array([total > 0 for _, total in counts]), vocab_size)[0]


class CountedReader(Reader):
    def __init__(self, model: Counted, text: Text, source: str) -> None:
        self.model, self.ids = model, text.ids("\n" * (model.order - 1) + source)
        self.index = {character: number for number, character in enumerate(text.characters)}

    def at(self, positions: Sequence[int], characters: str) -> np.ndarray:
        contexts = self.model.contexts(self.ids, np.array(positions, dtype=np.int64) + self.model.order - 1)
        return np.stack([self.model.probabilities(contexts, np.full(len(contexts), self.index[character]))
                         for character in characters], axis=1)  # fmt: skip

    def truth(self) -> np.ndarray:
        positions = np.arange(self.model.order - 1, len(self.ids))
        return self.model.probabilities(self.model.contexts(self.ids, positions), self.ids[positions])

    def spaces(self, positions: Sequence[int]) -> np.ndarray:
        contexts = self.model.contexts(self.ids, np.array(positions, dtype=np.int64) + self.model.order - 1)
        found = []
        for _ in range(SETTINGS["most_spaces"] + 1):
            found.append(np.stack([self.model.probabilities(contexts, np.full(len(contexts), self.index[character]))
                                   for character in " \n"], axis=1))  # fmt: skip
            contexts = np.c_[contexts[:, 1:], np.full(len(contexts), self.index[" "])]
        return np.stack(found, axis=1)


def numbers_of_spaces(found: np.ndarray) -> np.ndarray:
    """The probability of each number of spaces, given that a character follows: (N, most_spaces + 1), from `spaces`."""
    before = np.cumprod(np.concatenate([np.ones((len(found), 1)), found[:, :-1, 0]], axis=1), axis=1)
    some = before * (1 - found[:, :, 0] - found[:, :, 1])
    more = before[:, -1:] * found[:, -1:, 0]
    return np.asarray(some / (some.sum(axis=1, keepdims=True) + more))


def bits_of(readers: Sequence[Reader]) -> float:
    """Bits per character of the held-out modules."""
    return round(float(-np.log2(np.concatenate([reader.truth() for reader in readers])).mean()), 4)


def asked(readers: Sequence[Reader], sources: Sequence[str], parts: Sequence[Structure]) -> dict[str, Any]:
    """All that is measured of a model on the held-out modules."""
    right: dict[str, dict[int, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    legal: dict[int, list[float]] = defaultdict(list)
    after_colon: list[float] = []
    stray, quiet = 0.0, 0
    for reader, source, part in zip(readers, sources, parts, strict=True):
        for asked_at, alternatives in ((part.brackets, CLOSING), (part.strings, "'\"")):
            found = reader.at([closing for _, closing in asked_at], alternatives)
            for (opening, closing), p in zip(asked_at, found, strict=True):
                place = alternatives.index(source[closing])
                kind = "strings" if alternatives != CLOSING else ("round" if place == 0 else "other")
                right[kind][bucket(closing - opening)].append((float(p[place]), float(p[place] / p.sum())))
        idle = [i for i in range(1, len(source)) if part.depth[i - 1] == part.inside[i - 1] == 0]
        stray += float(reader.at(idle, CLOSING).sum())
        quiet += len(idle)
        spaces = numbers_of_spaces(reader.spaces([line for line, *_ in part.statements]))
        for (line, levels, colon, header), p in zip(part.statements, spaces, strict=True):
            mass = float(sum(p[level] for level in levels if level <= SETTINGS["most_spaces"]))
            if colon:
                after_colon.append(mass)
            elif len(levels) > 1:
                legal[bucket(line - header)].append(mass)
    for index in range(len(bucket_names())):
        right["brackets"][index] = right["round"][index] + right["other"][index]
    closed = {
        name: {
            "n": [len(by[index]) for index in range(len(bucket_names()))],
            "p": [mean_of([p for p, _ in by[index]]) for index in range(len(bucket_names()))],
            "share": [mean_of([share for _, share in by[index]]) for index in range(len(bucket_names()))],
            "all_p": mean_of([p for values in by.values() for p, _ in values]),
            "all_share": mean_of([share for values in by.values() for _, share in values]),
        }
        for name, by in right.items()
    }
    return {
        **closed,
        "nothing_open": round(1000 * stray / quiet, 3),
        "indentation": {
            "n": [len(legal[index]) for index in range(len(bucket_names()))],
            "legal": [mean_of(legal[index]) for index in range(len(bucket_names()))],
            "all_legal": mean_of([p for values in legal.values() for p in values]),
            "after_colon": mean_of(after_colon),
        },
    }


# Writing --------------------------------------------------------------------------------------------------------------


def scan(text: str) -> dict[str, Any]:
    """The brackets of a text that need not be Python: pairs, those that are not closed, and those that close nothing.

    All are positions. Brackets in strings do not count. A string with one quote on each side that is not closed ends
    with its line. Brackets that are open at the end of the text are `undecided`.
    """
    pairs: list[tuple[int, int]] = []
    lost: list[int] = []
    stray: list[int] = []
    unclosed_strings: list[int] = []
    stack: list[int] = []
    position = 0
    while position < len(text):
        character = text[position]
        if (position == 0 or text[position - 1] == "\n") and STATEMENT.match(text, position):
            lost += stack
            stack = []
        if character in "'\"":
            quotes = character * 3 if text.startswith(character * 3, position) else character
            end = position + len(quotes)
            while end < len(text) and not text.startswith(quotes, end) and not (len(quotes) == 1 and text[end] == "\n"):
                end += 2 if text[end] == "\\" else 1
            if end < len(text) and text[end] == "\n":
                unclosed_strings.append(position)
            position = end + (0 if end < len(text) and text[end] == "\n" else len(quotes))
            continue
        if character in OPENING:
            stack.append(position)
        elif character in CLOSING:
            if stack and text[stack[-1]] == PAIRS[character]:
                pairs.append((stack.pop(), position))
            elif stack:
                lost.append(stack.pop())
                stray.append(position)
            else:
                stray.append(position)
        position += 1
    return {"pairs": pairs, "lost": sorted(lost), "stray": stray, "strings": unclosed_strings, "undecided": stack}


def scanned(texts: Sequence[str]) -> dict[str, Any]:
    """Counts over several texts, and the characters written for each bracket that is lost or closes nothing."""
    found = [scan(text) for text in texts]
    pairs, lost, stray, strings = (sum(len(one[key]) for one in found) for key in ("pairs", "lost", "stray", "strings"))
    far = sum(b - a > SETTINGS["edges"][1] for one in found for a, b in one["pairs"])
    return {
        "closed": pairs,
        "closed_far": far,
        "lost": lost,
        "stray": stray,
        "strings_unclosed": strings,
        "closed_share": round(pairs / max(pairs + lost, 1), 4),
        "characters_per_error": round(sum(map(len, texts)) / max(lost + stray, 1), 1),
    }


def counted_sample(model: Counted, text: Text, length: int, seed: int, temperature: float = 1.0) -> str:
    """A text that a counted model writes after the start."""
    generator = torch.Generator().manual_seed(seed)
    tokens, reach = np.arange(len(text.characters)), model.order - 1
    ids = text.ids("\n" * reach + SETTINGS["start"]).tolist()
    for _ in range(length):
        p = model.probabilities(np.tile(ids[-reach:], (len(tokens), 1)), tokens)
        after = probabilities(torch.from_numpy(p).log(), temperature)
        ids.append(int(torch.multinomial(after, 1, generator=generator)))
    return "".join(text.characters[i] for i in ids[-length:])


def network_sample(model: CharLM, text: Text, length: int, seed: int, temperature: float) -> str:
    start = torch.from_numpy(text.ids(SETTINGS["start"]))
    return "".join(text.characters[i] for i in char_lm.write(model, start, length, seed, temperature))


def network_texts(model: CharLM, text: Text, seed: int) -> list[str]:
    """Many texts at temperature 1, each after a line break."""
    how = {"temperature": 1.0, "top_k": None}
    ids = write_rows(model, text.characters.index("\n"), SETTINGS["samples"], SETTINGS["written"], seed, how)
    return ["".join(text.characters[i] for i in row) for row in ids.tolist()]


# Units ----------------------------------------------------------------------------------------------------------------


def halves(parts: Sequence[Structure]) -> int:
    """The number of modules in the first part: those before half of the characters is reached."""
    sizes = np.cumsum([len(part.depth) for part in parts])
    return int(np.searchsorted(sizes, sizes[-1] / 2))


def best_of(columns: list[np.ndarray], marks: list[np.ndarray], cut: int) -> tuple[int, float, np.ndarray]:
    """The column with the largest |r| with the marks in the first modules, its |r| in the others, and all r there."""
    seen = correlations(np.concatenate(columns[:cut]), np.concatenate(marks[:cut]))
    later = correlations(np.concatenate(columns[cut:]), np.concatenate(marks[cut:]))
    unit = int(np.abs(seen).argmax())
    return unit, float(abs(later[unit])), seen


def threshold(values: np.ndarray, is_open: np.ndarray) -> float:
    """The threshold with the largest balanced accuracy of `values > threshold`."""
    tried = np.quantile(values, np.linspace(0.01, 0.99, 99))
    return float(max(tried, key=lambda t: (values > t)[is_open].mean() + (values <= t)[~is_open].mean()))


def unit_record(readers: Sequence[NetworkReader], parts: Sequence[Structure], model: CharLM) -> dict[str, Any]:
    """The unit that tracks the depth of brackets, how well it does, and where it fails."""
    cut = halves(parts)
    cells = [reader.c[1:].double().numpy() for reader in readers]
    depth = [np.array(part.depth, dtype=np.float64) for part in parts]
    unit, later, seen = best_of(cells, depth, cut)
    second = int(np.abs(seen).argsort()[-2])
    sign = math.copysign(1.0, seen[unit])
    first, rest = np.concatenate(cells[:cut]), np.concatenate(cells[cut:])
    first_depth, rest_depth = np.concatenate(depth[:cut]), np.concatenate(depth[cut:])
    rest_inside = np.concatenate([np.array(part.inside, dtype=bool) for part in parts[cut:]])
    at = threshold(sign * first[:, unit], first_depth > 0)
    says_open = sign * rest[:, unit] > at
    correct = says_open == (rest_depth > 0)
    inputs = np.c_[first, np.ones(len(first))]
    weights = np.linalg.solve(inputs.T @ inputs + SETTINGS["ridge"] * np.eye(inputs.shape[1]), inputs.T @ first_depth)
    readout = np.corrcoef(np.c_[rest, np.ones(len(rest))] @ weights, rest_depth)[0, 1]
    moved, all_moved = replaced(readers[cut:], parts[cut:], model, first[first_depth == 0].mean(axis=0), unit)
    return {
        "unit": unit,
        "sign": int(sign),
        "r_first": round(float(abs(seen[unit])), 3),
        "r": round(later, 3),
        "second_first": round(float(abs(seen[second])), 3),
        "many": int((np.abs(seen) > SETTINGS["many_above"]).sum()),
        "readout": round(float(readout), 3),
        "threshold": round(at, 4),
        "correct": {
            "all": round(float(correct.mean()), 4),
            **{f"depth {d}": round(float(correct[rest_depth == d].mean()), 4) for d in (0, 1, 2)},
            "depth 3 and more": round(float(correct[rest_depth >= 3].mean()), 4),
            "open, in a string": round(float(correct[(rest_depth > 0) & rest_inside].mean()), 4),
            "open, no string": round(float(correct[(rest_depth > 0) & ~rest_inside].mean()), 4),
        },
        "replaced": {"unit": moved, "rank": 1 + sum(other < moved for other in all_moved), "of": len(all_moved)},
    }


@torch.no_grad()
def replaced(
    readers: Sequence[NetworkReader], parts: Sequence[Structure], model: CharLM, idle: np.ndarray, unit: int
) -> tuple[float, list[float]]:
    """The mean change of log2 p of the right closing bracket if a unit's cell state is the one where nothing is open.

    That of the unit, and those of all. Only the readout of this step sees the change.
    """
    changes = []
    for reader, part in zip(readers, parts, strict=True):
        if not part.brackets:
            continue
        rows = torch.tensor([closing for _, closing in part.brackets])
        h, c, tokens = reader.h[rows], reader.c[rows], torch.from_numpy(np.array(reader_ids(reader, part)))
        gates = h / torch.tanh(c)
        logits = model.head(h)
        before = torch.log_softmax(logits, 1).gather(1, tokens[:, None])[:, 0]
        other = gates * torch.tanh(torch.from_numpy(idle).float()) - h  # (N, H)
        found = []
        for one in range(h.shape[1]):
            after = torch.log_softmax(logits + other[:, one, None] * model.head.weight[:, one], 1)
            found.append((after.gather(1, tokens[:, None])[:, 0] - before) / math.log(2))
        changes.append(torch.stack(found, 1))
    means = [round(float(value), 4) for value in torch.cat(changes).mean(0)]
    return means[unit], means


def reader_ids(reader: NetworkReader, part: Structure) -> list[int]:
    return [reader.characters.index(reader.source[closing]) for _, closing in part.brackets]


def best_character(text: Text, sources: Sequence[str], parts: Sequence[Structure]) -> tuple[str, float]:
    """The character that correlates most with the depth, read just now: the control for the units."""
    columns = [np.eye(len(text.characters))[text.ids(source)] for source in sources]
    character, later, _ = best_of(columns, [np.array(part.depth, float) for part in parts], halves(parts))
    return text.characters[character], round(later, 3)


def spaced(source: str) -> str:
    """The text as HTML for a page, with long runs of spaces as their number."""
    return re.sub(r" {20,}", lambda run: f"<i>⟨{len(run[0])} spaces⟩</i> ", escape(source))


def digits(values: np.ndarray) -> str:
    """Each value as a digit, 0 for the smallest, 9 for the largest; the extremes, 2 % on each side, count as these."""
    low, high = np.quantile(values, [0.02, 0.98])
    return "".join(str(int(digit)) for digit in np.clip(np.round(9 * (values - low) / (high - low)), 0, 9))


# Networks -------------------------------------------------------------------------------------------------------------


def settings_of(size: str, seed: int) -> Settings:
    how = LARGE if size == "large" else SMALL
    return Settings(**how, seed=seed)  # type: ignore[arg-type]


def readers_of(model: CharLM, text: Text, sources: Sequence[str]) -> list[NetworkReader]:
    states = follow(model, [torch.from_numpy(text.ids("\n" + source)) for source in sources])
    return [NetworkReader(model, text, *both) for both in zip(sources, states, strict=True)]


def run(
    size: str, seed: int, text: Text, sources: Sequence[str], parts: Sequence[Structure], device: str = "cpu",
    updates: int | None = None, say: Callable[[str], None] = print,
) -> dict[str, Any]:  # fmt: skip
    """Train one network, and measure it: its record. The first large one also writes at some stages."""
    settings, shown = settings_of(size, seed), (size, seed) == ("large", LARGE_SEEDS[0])
    ids = torch.from_numpy(text.ids(text.train)).to(device)
    training = Training(settings, len(text.characters), ids)
    cut = halves(parts)
    depth = [np.array(part.depth, dtype=np.float64) for part in parts]
    idle = [reader.c[1:].double().numpy() for reader in readers_of(training.model.eval(), text, sources)]
    untrained = round(best_of(idle, depth, cut)[1], 3)
    del idle
    training.model.to(device).train()
    stages, losses = [], []
    for _ in range(updates or settings.updates):
        losses.append(training.step())
        if training.update % 100 == 0:
            say(f"{size} {seed}: update {training.update}, {mean(losses[-100:]):.3f} bits")
        if shown and training.update in STAGES:
            model = training.model.cpu().eval()
            stages.append({"updates": training.update, "train_bits": round(mean(losses[-50:]), 3),
                           "text": network_sample(model, text, 300, 1, SETTINGS["shown_temperature"])})  # fmt: skip
            training.model.to(device).train()
    model = training.model.cpu().eval()
    readers = readers_of(model, text, sources)
    found = {
        "size": size,
        "seed": seed,
        "train_bits": round(mean(losses[-100:]), 4),
        "bits": bits_of(readers),
        **asked(readers, sources, parts),
        "written": scanned(network_texts(model, text, seed)),
        "units": {"untrained": untrained, **unit_record(readers, parts, model)},
    }
    if shown:
        written = network_sample(model, text, SETTINGS["shown"], 1, SETTINGS["shown_temperature"])
        stages.append({"updates": training.update, "train_bits": round(mean(losses[-50:]), 3), "text": written})
        [(_, cells)] = follow(model, [torch.from_numpy(text.ids(SETTINGS["start"] + written))])
        unit = found["units"]["sign"] * cells[len(SETTINGS["start"]) :, found["units"]["unit"]].double().numpy()
        found |= {"stages": stages, "unit_shown": digits(unit)}
    return found


def counted(text: Text, sources: Sequence[str], parts: Sequence[Structure]) -> dict[str, Any]:
    """The counted models, all that is measured of the interpolated 6-gram and of the best one, and what these write."""
    ids, V = text.ids(text.train), len(text.characters)
    found = []
    for order in SETTINGS["orders"]:
        weights = chosen_weights(ids, order, V)
        model, other = Counted(ids, order, V, weights), Counted(ids, order, V)
        readers = [CountedReader(model, text, source) for source in sources]
        texts = [counted_sample(model, text, SETTINGS["written"], seed) for seed in range(SETTINGS["samples"])]
        found.append({
            "model": f"{order}-gram, interpolated", "order": order, "weights": weights, "bits": bits_of(readers),
            **asked(readers, sources, parts), "written": scanned(texts),
            "shown": counted_sample(model, text, SETTINGS["shown"], 1, SETTINGS["shown_temperature"]),
        })  # fmt: skip
        bits = bits_of([CountedReader(other, text, source) for source in sources])
        found.append({"model": f"{order}-gram, Witten-Bell", "order": order, "bits": bits})
        print(*((one["model"], one["bits"]) for one in found[-2:]), flush=True)
    return {"models": found}


# The record -----------------------------------------------------------------------------------------------------------


def on_lines(record: dict[str, Any]) -> str:
    """JSON with one list of numbers a line. A list in a text, which is part of the record, is left alone."""
    rows = re.compile(r"\[\n\s+([^][{}\"]+?)\n\s+\]")
    return rows.sub(lambda row: "[" + re.sub(r"\s+", " ", row[1]) + "]", json.dumps(record, indent=1)) + "\n"


def summary(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Mean and standard deviation (with N - 1) over the small networks."""

    def spread(values: Sequence[float]) -> list[float]:
        return [round(mean(values), 4), round(stdev(values), 4) if len(values) > 1 else 0.0]

    small = [one for one in runs if one["size"] == "small"]
    if not small:
        return {}
    found: dict[str, Any] = {"runs": len(small)}
    for name in ("bits", "train_bits", "nothing_open"):
        found[name] = spread([one[name] for one in small])
    by_distance = (
        ("brackets", "share"),
        ("brackets", "p"),
        ("other", "share"),
        ("strings", "share"),
        ("indentation", "legal"),
    )
    for name, key in by_distance:
        columns = zip(*(one[name][key] for one in small), strict=True)
        found[f"{name}_{key}"] = [None if None in values else spread(values) for values in columns]
    for key in ("r", "untrained", "readout"):
        found[f"unit_{key}"] = spread([one["units"][key] for one in small])
    for key in ("characters_per_error", "closed_share"):
        found[f"written_{key}"] = spread([one["written"][key] for one in small])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.ch04.python_source")
    parser.add_argument("--record", action="store_true", help="write python_source.json")
    parser.add_argument("--seed", type=int, nargs="*", help="train only these small networks")
    parser.add_argument("--large", type=int, nargs="*", help="train only the large networks, or those with these seeds")
    parser.add_argument("--counts", action="store_true", help="count only")
    parser.add_argument("--device", default="cpu", help="train here: cpu or cuda")
    given = parser.parse_args()
    text, held_out = python_source()
    sources, parts = list(held_out.values()), [structure(source) for source in held_out.values()]
    everything = not (given.seed or given.large is not None or given.counts)
    runs: list[dict[str, Any]] = []
    counts: dict[str, Any] = {}

    def write() -> None:
        """Write what was found, with the other rows that the record has by now if only some were asked for."""
        if not given.record:
            return
        old = json.loads(RESULTS_FILE.read_text("utf-8")) if RESULTS_FILE.exists() and not everything else {}
        if old.get("text", {}).get("sha256") == text.sha256:
            known = {(one["size"], one["seed"]) for one in runs}
            runs.extend(one for one in old["runs"] if (one["size"], one["seed"]) not in known)
            counts.update(counts or old["counted"])
        character, r = best_character(text, sources, parts)
        record: dict[str, Any] = {
            "command": "python -m experiments.ch04.python_source --record",
            "settings": {"optimizer": "Adam, learning rate falling linearly to 0", "clip": 1.0, "small": SMALL,
                         "large": LARGE, "stages": list(STAGES), **SETTINGS},
            "seeds": list(SEEDS),
            "large_seeds": list(LARGE_SEEDS),
            "versions": {"numpy": np.__version__, "torch": torch.__version__.partition("+")[0]},
            "text": {
                "source": text.source, "sha256": text.sha256, "train": len(text.train),
                "held_out": len(text.held_out), "characters": len(text.characters), "modules": list(held_out),
                "first_part": halves(parts),
                "licence": "Python Software Foundation License Version 2; read where it is installed, not shipped",
            },
            "buckets": bucket_names(),
            "input_character": [character, r],
            "summary": summary(runs),
            "counted": counts,
            "runs": sorted(runs, key=lambda one: (one["size"], one["seed"])),
        }  # fmt: skip
        RESULTS_FILE.write_text(on_lines(record), "utf-8")

    if everything or given.counts:
        counts.update(counted(text, sources, parts))
        write()
    small = SEEDS if everything else given.seed or ()
    large = LARGE_SEEDS if everything or given.large == [] else given.large or ()
    for size, seed in [*(("small", one) for one in small), *(("large", one) for one in large)]:
        one = run(size, seed, text, sources, parts, given.device, say=lambda line: print(line, flush=True))
        print({key: value for key, value in one.items() if key not in ("stages", "unit_shown")}, flush=True)
        runs[:] = [*(other for other in runs if (other["size"], other["seed"]) != (size, seed)), one]
        write()


if __name__ == "__main__":
    main()
