"""Documents of several sentences, where one word in one sentence decides the class: what two softmaxes are worth.

    python -m experiments.ch06.documents [--record]

A grammar makes documents of three to seven sentences, each about another thing: *the hotel was very good*. One of them
is about the film, and the class of the document is whether its adjective is a good or a bad one. The other sentences
have adjectives of the same kinds, drawn at random, so no word decides by itself: what counts is which adjective stands
in the same sentence as *film*. The state of a word is its embedding, or that of a bidirectional GRU that reads each
sentence by itself. The document's vector is one of three:

- mean: the mean of the states of all words;
- one softmax: a weighted sum of the states of all words, with an additive score that has a learned query;
- two softmaxes: the same over the words of each sentence, and then over the sentences.

All three are classified by one hidden layer. Recorded for each of five seeds: the loss of every update (the mean of
each twenty), and of held-out documents as long as those in training and of longer ones the accuracy in percent; with
two softmaxes also how often the film's sentence has the largest weight of all sentences, and its adjective the largest
of its words; the parameters; and the weights on one held-out document. A classifier that knows only which words there
are and how often, whatever it is, is right in no more than `best_bag` percent (`bag`). Takes about two minutes of one
core.
"""

from __future__ import annotations

import json
import sys
import time
from functools import cache
from math import comb
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from experiments.ch03.record import mean_and_sd, to_json

RESULTS_FILE = Path(__file__).with_name("documents.json")
SETTINGS: dict[str, float] = {"state_size": 16, "score_size": 16, "hidden_size": 32, "updates": 400, "batch": 64}
SETTINGS |= {"lr": 5e-3, "held_out": 1000}
ENCODERS = EMBEDDINGS, GRU = "embeddings", "bidirectional GRU"
POOLINGS = MEAN, ONE, TWO = "mean", "one softmax", "two softmaxes"
SEEDS = tuple(range(5))
SENTENCES, LONGER = (3, 7), (8, 12)  # in a document, from … to …
SHOWN = 11  # the seed of the document whose weights are recorded

FILM = "film"
OTHERS = ["hotel", "meal", "train", "walk", "concert", "museum", "garden", "room", "guide", "view", "beach", "city"]
GOOD = ["good", "great", "lovely", "charming", "splendid"]
BAD = ["bad", "awful", "dull", "dreadful", "poor"]
PATTERNS = (
    "the {} was {}",
    "the {} was very {}",
    "we found the {} rather {}",
    "the {} seemed {} to us",
    "what a {1} {0}",
)
VOCABULARY = sorted({word for p in PATTERNS for word in p.format("", "").replace("  ", " ").split()})
VOCABULARY = ["<pad>", *VOCABULARY, FILM, *OTHERS, *GOOD, *BAD]
IDS = {word: i for i, word in enumerate(VOCABULARY)}


class Documents(NamedTuple):
    """Ids (B, S, T), 0 where there is no word; the class of each (B,); the film's sentence (B,), and the place of the
    adjective in it (B,).
    """

    ids: Tensor
    classes: Tensor
    sentence: Tensor
    adjective: Tensor

    @property
    def words(self) -> Tensor:
        """Where there is a word: (B, S, T)."""
        return self.ids > 0


def document(rng: np.random.Generator, sentences: tuple[int, int]) -> tuple[list[list[str]], int, int, int]:
    """Sentences of words, whether the film is good, its sentence, and the place of the adjective in it."""
    count = int(rng.integers(sentences[0], sentences[1] + 1))
    others = [OTHERS[i] for i in rng.permutation(len(OTHERS))[: count - 1]]
    film, draws = int(rng.integers(count)), rng.integers((2, len(GOOD), len(PATTERNS)), size=(count, 3)).tolist()
    text, found = [], (0, 0)
    for i, (thing, (good, which, pattern)) in enumerate(
        zip([*others[:film], FILM, *others[film:]], draws, strict=True)
    ):
        adjective = (BAD, GOOD)[good][which]
        text.append(PATTERNS[pattern].format(thing, adjective).split())
        if i == film:
            found = good, text[-1].index(adjective)
    return text, found[0], film, found[1]


def documents(count: int, rng: np.random.Generator, sentences: tuple[int, int] = SENTENCES) -> Documents:
    made = [document(rng, sentences) for _ in range(count)]
    S = max(len(text) for text, *_ in made)
    T = max(len(sentence) for text, *_ in made for sentence in text)
    ids = np.zeros((count, S, T), dtype=np.int64)
    for b, (text, *_) in enumerate(made):
        for i, sentence in enumerate(text):
            ids[b, i, : len(sentence)] = [IDS[word] for word in sentence]
    return Documents(torch.from_numpy(ids), *(torch.tensor([one[i] for one in made]) for i in (1, 2, 3)))


def best_bag(sentences: tuple[int, int] = SENTENCES) -> float:
    """The largest possible accuracy, in percent, of a classifier that knows only the words of a document: if P of its K
    adjectives are good, so is the film's with probability P / K.
    """
    numbers = range(sentences[0], sentences[1] + 1)
    return 100 * mean(sum(comb(K, P) / 2**K * max(P, K - P) / K for P in range(K + 1)) for K in numbers)


class Attention(nn.Module):
    """An additive score with a learned query, a softmax, and the weighted sum: the last axis but one is summed."""

    def __init__(self, size: int, score_size: int) -> None:
        super().__init__()
        self.project, self.query = nn.Linear(size, score_size, bias=False), nn.Linear(score_size, 1, bias=False)

    def forward(self, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        scores = self.query(torch.tanh(self.project(states)))[..., 0].masked_fill(~mask, -torch.inf)
        weights = scores.softmax(dim=-1).nan_to_num(0)  # 0 where there is nothing to attend to
        return (weights[..., None] * states).sum(dim=-2), weights


class Reader(nn.Module):
    """A classifier of documents, with one of ENCODERS and one of POOLINGS."""

    def __init__(self, encoder: str, pooling: str) -> None:
        super().__init__()
        size, score_size, hidden = (int(SETTINGS[key]) for key in ("state_size", "score_size", "hidden_size"))
        self.pooling = pooling
        self.embedding = nn.Embedding(len(VOCABULARY), size)
        self.gru = nn.GRU(size, size // 2, batch_first=True, bidirectional=True) if encoder == GRU else None
        self.of_words = Attention(size, score_size) if pooling != MEAN else None
        self.of_sentences = Attention(size, score_size) if pooling == TWO else None
        self.head = nn.Sequential(nn.Linear(size, hidden), nn.ReLU(), nn.Linear(hidden, 2))

    def states(self, ids: Tensor) -> Tensor:
        """The state of each word (B, S, T, H)."""
        embedded: Tensor = self.embedding(ids)
        if self.gru is None:
            return embedded
        lengths = (ids > 0).sum(dim=2)
        real = lengths > 0
        packed = pack_padded_sequence(embedded[real], lengths[real], batch_first=True, enforce_sorted=False)
        states = torch.zeros_like(embedded)
        states[real] = pad_packed_sequence(self.gru(packed)[0], batch_first=True, total_length=ids.shape[2])[0]
        return states

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor | None, Tensor | None]:
        """The logits (B, 2), the weights of the words (B, S, T), and those of the sentences (B, S)."""
        states, words = self.states(ids), ids > 0
        if self.of_words is None:
            vector = (states * words[..., None]).sum(dim=(1, 2)) / words.sum(dim=(1, 2))[:, None]
            return self.head(vector), None, None
        if self.of_sentences is None:
            vector, weights = self.of_words(states.flatten(1, 2), words.flatten(1))
            return self.head(vector), weights.reshape(words.shape), None
        sentences, of_words = self.of_words(states, words)
        vector, of_sentences = self.of_sentences(sentences, words.any(dim=2))
        return self.head(vector), of_words, of_sentences


@cache
def held_out(seed: int, sentences: tuple[int, int]) -> Documents:
    return documents(int(SETTINGS["held_out"]), np.random.default_rng(10_000 + seed), sentences)


@cache
def batches(seed: int, count: int) -> list[Documents]:
    """The batches of one seed, the same for every network."""
    rng = np.random.default_rng(seed)
    return [documents(int(SETTINGS["batch"]), rng) for _ in range(count)]


def train(encoder: str, pooling: str, seed: int, updates: int | None = None) -> tuple[Reader, list[float]]:
    """Train one classifier -> the network and the loss of every update."""
    torch.manual_seed(seed)
    model, losses = Reader(encoder, pooling), []
    optimizer = torch.optim.Adam(model.parameters(), lr=SETTINGS["lr"])
    for batch in batches(seed, updates or int(SETTINGS["updates"])):
        loss = cross_entropy(model(batch.ids)[0], batch.classes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model.eval(), losses


def percent(flags: Tensor) -> float:
    return round(100 * flags.double().mean().item(), 2)


@torch.no_grad()
def measured(model: Reader, unseen: Documents) -> dict[str, float]:
    """The accuracy, and with two softmaxes how often the weights are largest at the words that decide."""
    logits, of_words, of_sentences = model(unseen.ids)
    found = {"accuracy": percent(logits.argmax(dim=1) == unseen.classes)}
    if of_words is not None and of_sentences is not None:
        at = torch.arange(len(unseen.ids))
        in_film = of_words[at, unseen.sentence]
        found["film_first"] = percent(of_sentences.argmax(dim=1) == unseen.sentence)
        found["adjective_first"] = percent(in_film.argmax(dim=1) == unseen.adjective)
        found["film_weight"] = round(of_sentences[at, unseen.sentence].mean().item(), 3)
        found["adjective_weight"] = round(in_film[at, unseen.adjective].mean().item(), 3)
    return found


@torch.no_grad()
def looks(model: Reader) -> dict[str, Any]:
    """One document, and the weights on its words and sentences."""
    shown = documents(1, np.random.default_rng(SHOWN), (6, 6))
    logits, of_words, of_sentences = model(shown.ids)
    if of_words is None or of_sentences is None:
        raise ValueError("only two softmaxes have weights for words and for sentences")
    rows = []
    for ids, words, sentence in zip(shown.ids[0].tolist(), of_words[0].tolist(), of_sentences[0].tolist(), strict=True):
        text = [VOCABULARY[i] for i in ids if i > 0]
        rows.append({"weight": round(sentence, 3), "words": text, "weights": [round(w, 3) for w in words[: len(text)]]})
    return {"good": int(shown.classes[0]), "says_good": round(logits.softmax(dim=1)[0, 1].item(), 3), "sentences": rows}


def run(encoder: str, pooling: str, seed: int, updates: int | None = None) -> dict[str, Any]:
    """Train one network, and measure it on held-out documents."""
    model, losses = train(encoder, pooling, seed, updates)
    found: dict[str, Any] = {"encoder": encoder, "pooling": pooling, "seed": seed}
    found["parameters"] = sum(p.numel() for p in model.parameters())
    found["curve"] = [round(mean(losses[at : at + 20]), 3) for at in range(0, len(losses), 20)]
    for name, sentences in (("as_long", SENTENCES), ("longer", LONGER)):
        found[name] = measured(model, held_out(seed, sentences))
    if pooling == TWO:
        found["looks"] = looks(model)
    return found


def summary(runs: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Mean and standard deviation over the seeds, for each encoder and pooling."""
    found: dict[str, dict[str, Any]] = {}
    for encoder in ENCODERS:
        for pooling in POOLINGS:
            of = [one for one in runs if (one["encoder"], one["pooling"]) == (encoder, pooling)]
            found[f"{encoder}, {pooling}"] = {
                name: {key: mean_and_sd([one[name][key] for one in of], 2) for key in of[0][name]}
                for name in ("as_long", "longer")
            }
    return found


def main() -> None:
    started, runs = time.process_time(), []
    for encoder in ENCODERS:
        for pooling in POOLINGS:
            for seed in SEEDS:
                runs.append(run(encoder, pooling, seed))
                shown = {key: value for key, value in runs[-1].items() if key != "looks"}
                print({**shown, "curve": runs[-1]["curve"][::10]}, flush=True)
    found = summary(runs)
    print(json.dumps(found, indent=1), round(time.process_time() - started), "s", flush=True)
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch06.documents --record",
            "settings": {"optimizer": "Adam", **SETTINGS, "sentences": list(SENTENCES), "longer": list(LONGER)},
            "seeds": list(SEEDS),
            "versions": {"torch": torch.__version__.partition("+")[0], "numpy": np.__version__},
            "bag": {"as_long": round(best_bag(), 2), "longer": round(best_bag(LONGER), 2)},
            "summary": found,
            "runs": runs,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


torch.set_num_threads(1)

if __name__ == "__main__":
    main()
