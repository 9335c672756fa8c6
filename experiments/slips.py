"""The trainings behind the page "Where the sources slip".

    python -m experiments.slips [--record]

1. A network reads unseen text in chunks of ten characters: with the state passed on, with the state reset, in one run.
2. A network memorises 300 characters: bits a character on them and on unseen text, and how many of the unseen
   characters it gave a probability below 1 %. A unigram model counted on the same 300 characters is compared.
3. Networks of three units learn `hello`, with all parameters trained or with W_xh and W_hh alone.

Five seeds each, eight for 3. The text is Python's documentation (`experiments.text.python_docs`). Takes 40 seconds.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from experiments.ch02 import char_rnn
from experiments.ch02.char_rnn import Params
from experiments.ch03.record import mean_and_sd, significant, to_json
from experiments.ngrams import WittenBell
from experiments.text import Text, python_docs

RESULTS_FILE = Path(__file__).with_name("slips.json")
SETTINGS: dict[str, dict[str, Any]] = {
    "chunks": {"hidden_size": 64, "updates": 800, "lr": 0.1, "batch": 16, "chunk": 25, "unseen": 5000},
    "short": {"hidden_size": 64, "updates": 2000, "lr": 0.02, "batch": 1, "chunk": 25, "characters": 300},
    "hello": {"hidden_size": 3, "updates": 150, "lr": 0.05},
}
SEEDS = tuple(range(5))
HELLO_SEEDS = tuple(range(8))

torch.set_num_threads(1)


# Chunks and 300 characters --------------------------------------------------------------------------------------------


def in_chunks_of_ten(network: Params, unseen: np.ndarray, keep_state: bool) -> float:
    """Bits a character; the state is passed on, or reset after ten."""
    zeros = np.zeros((1, len(network["b_h"])))
    h, nats, length = zeros, 0.0, len(unseen) - 1
    for start in range(0, length, 10):
        piece = unseen[None, start : start + 11]
        read = char_rnn.states(network, piece[:, :-1], h)
        nats_of, _ = char_rnn.nats_and_probs(network, read, piece[:, 1:])
        nats += nats_of.sum()
        h = read[:, -1] if keep_state else zeros
    return float(nats / length / math.log(2))


def chunks_run(seed: int, text: Text) -> dict[str, Any]:
    """Train one network, and let it read unseen text in three ways."""
    how = SETTINGS["chunks"]
    network = char_rnn.initial(len(text.characters), how["hidden_size"], np.random.default_rng(seed))
    ids = text.ids(text.train)
    char_rnn.train(ids, network, how["lr"], lambda done: done == how["updates"], how["batch"], how["chunk"])
    unseen = text.ids(text.held_out)[: how["unseen"] + 1]
    return {
        "seed": seed,
        "passed on": round(in_chunks_of_ten(network, unseen, keep_state=True), 3),
        "reset": round(in_chunks_of_ten(network, unseen, keep_state=False), 3),
        "in one run": round(char_rnn.bits(network, unseen), 3),
    }


def trained_on(ids: np.ndarray, num_characters: int, rng: np.random.Generator) -> Params:
    """A network that has seen no other text than these ids."""
    how = SETTINGS["short"]
    network = char_rnn.initial(num_characters, how["hidden_size"], rng)
    char_rnn.train(ids, network, how["lr"], lambda done: done == how["updates"], how["batch"], how["chunk"])
    return network


def short_run(seed: int, text: Text) -> dict[str, Any]:
    """Train on the first 300 characters after the first one."""
    how = SETTINGS["short"]
    short = text.ids(text.train)[: how["characters"] + 1]
    unseen = text.ids(text.held_out)[: SETTINGS["chunks"]["unseen"] + 1]
    learner = trained_on(short, len(text.characters), np.random.default_rng(seed))
    read = char_rnn.states(learner, unseen[None, :-1], np.zeros((1, how["hidden_size"])))
    nats, _ = char_rnn.nats_and_probs(learner, read, unseen[None, 1:])
    return {
        "seed": seed,
        "short": round(char_rnn.bits(learner, short), 3),
        "unseen": round(char_rnn.bits(learner, unseen), 3),
        "improbable": round(float((nats > math.log(100)).mean()), 3),
    }


# hello ----------------------------------------------------------------------------------------------------------------


def hello_loss(seed: int, everything: bool) -> float:
    """The loss, in nats a letter, of a network that has learned `hello`, all of it or W_xh and W_hh alone."""
    how = SETTINGS["hello"]
    torch.manual_seed(seed)
    ids = torch.tensor([0, 1, 2, 2, 3])  # h e l l o
    rnn, head = torch.nn.RNN(4, how["hidden_size"], batch_first=True), torch.nn.Linear(how["hidden_size"], 4)
    weights = [rnn.weight_ih_l0, rnn.weight_hh_l0]
    if everything:
        weights = [*rnn.parameters(), *head.parameters()]
    adam = torch.optim.Adam(weights, lr=how["lr"])
    for _ in range(how["updates"]):
        states, _ = rnn(torch.eye(4)[ids[None, :4]])
        nats = torch.nn.functional.cross_entropy(head(states)[0], ids[1:])
        adam.zero_grad()
        nats.backward()
        adam.step()
    return float(nats.item())


def main() -> None:
    text = python_docs()
    short = text.ids(text.train)[: SETTINGS["short"]["characters"] + 1].tolist()
    unseen = text.ids(text.held_out)[: SETTINGS["chunks"]["unseen"] + 1].tolist()
    V = len(text.characters)
    chunks = [chunks_run(seed, text) for seed in SEEDS]
    learned = [short_run(seed, text) for seed in SEEDS]
    hello = {
        name: significant([hello_loss(seed, everything) for seed in HELLO_SEEDS])
        for name, everything in (("all", True), ("two", False))
    }
    found: dict[str, Any] = {
        "chunks": {name: mean_and_sd([one[name] for one in chunks], 3) for name in ("passed on", "reset")},
        "short": {name: mean_and_sd([one[name] for one in learned], 2) for name in ("short", "unseen", "improbable")},
        "unigram": round(WittenBell(short, 1, V).bits(unseen), 2),
        "uniform": round(math.log2(V), 2),
    }
    print(*map(json.dumps, [*chunks, *learned, hello, found]), sep="\n")
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.slips --record",
            "settings": SETTINGS,
            "seeds": list(SEEDS),
            "text": {"source": text.source, "sha256": text.sha256},
            "versions": {"numpy": np.__version__, "torch": torch.__version__.partition("+")[0]},
            "chunks": chunks,
            "short": learned,
            "hello": hello,
            "summary": found,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
