"""Short trainings of small networks on real text, and what they cost: the loop of the page, and a museum of bugs.

    python -m experiments.ch02.short_runs [--record]

1. 800 updates of the page's loop (`experiments.ch02.loop`): bits a character on the held-out text, and how far the
   state that the loop passes on, computed with older weights, is from that of the final weights.
2. 300 updates without a bug and with each of three (`char_rnn.BUGS`): bits a character, means of ten updates.
3. `hello`, memorised with the functions of the exercises, without a bug and with two others: how many spell it.
4. The peak memory of the loop in chunks of 25 and with a single chunk.
5. n-gram models on the first 10,000 held-out characters, which the curves of `experiments.ch02.char_rnn` are about.

Five seeds each. Takes about a minute of one core.
"""

from __future__ import annotations

import math
import platform
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np

from experiments.ch02 import char_rnn
from experiments.ch02.char_rnn import Params, bits, initial, nats_and_probs, states, write
from experiments.ch02.loop import train
from experiments.ch03.record import mean_and_sd, to_json
from experiments.ngrams import WittenBell
from experiments.text import Text, python_docs
from solutions.ch01_vanilla_rnn.predictions import softmax
from solutions.ch02_bptt.training import train_char_rnn

RESULTS_FILE = Path(__file__).with_name("short_runs.json")
SETTINGS: dict[str, Any] = {
    "loop": {"hidden_size": 64, "updates": 800, "lr": 0.1, "batch": 16, "chunk": 25},
    "museum": {"hidden_size": 40, "updates": 300, "lr": 0.1, "batch": 16, "chunk": 25, "mean_of": 10, "end": 50},
    "hello": {"hidden_size": 16, "updates": 300, "lr": 0.1, "chunk": 4},
    "memory": {"hidden_size": 64, "batch": 16, "chunk": 25, "steps": 1000},
}
SEEDS = tuple(range(5))
MUSEUM: dict[str, str | None] = {"none": None, **{bug: bug for bug in char_rnn.BUGS}}
SPELLED = ("none", "no transpose", "set")
HELLO = np.array([0, 1, 2, 2, 3])  # h e l l o


def trained(seed: int, text: Text) -> tuple[Params, np.ndarray, np.ndarray]:
    """Weights, losses and the last state of 800 updates."""
    rng = np.random.default_rng(seed)
    network = initial(len(text.characters), 64, rng)
    ids = text.ids(text.train)
    losses, h_last = train(ids, network, lr=0.1, num_updates=800)
    return network, losses, h_last


def stale(network: Params, h_last: np.ndarray, ids: np.ndarray, updates: int) -> dict[str, float]:
    """Compare the last state (B, H) with that of the final weights, which read the same characters of each row again.

    `state` is the norm of the difference over that of the state, `bits` the difference in the loss of the next chunk.
    """
    batch, chunk = SETTINGS["loop"]["batch"], SETTINGS["loop"]["chunk"]
    width = (len(ids) - 1) // batch
    done = updates % (width // chunk) * chunk  # characters of each row since the text started again
    rows = ids[: batch * width].reshape(batch, width)
    recomputed = states(network, rows[:, :done], np.zeros_like(h_last))[:, -1]
    following = rows[:, done : done + chunk + 1]

    def next_bits(h_0: np.ndarray) -> float:
        h = states(network, following[:, :-1], h_0)
        return float(nats_and_probs(network, h, following[:, 1:])[0].mean() / math.log(2))

    return {
        "read": done,
        "state": float(np.linalg.norm(h_last - recomputed) / np.linalg.norm(recomputed)),
        "bits": abs(next_bits(h_last) - next_bits(recomputed)),
    }


def loop_run(seed: int, text: Text) -> dict[str, Any]:
    """One training with the page's loop."""
    network, losses, h_last = trained(seed, text)
    sample = write(network, text.characters.index("t"), 70, np.random.default_rng(1))
    passed_on = stale(network, h_last, text.ids(text.train), len(losses))
    return {
        "seed": seed,
        "first_losses": [round(float(loss), 6) for loss in losses[:4]],
        "bits": round(bits(network, text.ids(text.held_out)), 3),
        "sample": "".join(text.characters[i] for i in sample),
        "stale": {name: round(value, 5) for name, value in passed_on.items()},
    }


def museum_run(bug: str, seed: int, ids: np.ndarray, vocab_size: int) -> dict[str, Any]:
    """One training with a bug, or with none: the loss in bits, as means of ten updates each."""
    how = SETTINGS["museum"]
    params = initial(vocab_size, how["hidden_size"], np.random.default_rng(seed))
    stop = lambda done: done == how["updates"]  # noqa: E731
    found = char_rnn.train(ids, params, how["lr"], stop, how["batch"], how["chunk"], MUSEUM[bug])
    losses = np.array(found) / math.log(2)
    return {
        "bug": bug,
        "seed": seed,
        "start": round(float(losses[0]), 3),
        "end": round(float(losses[-how["end"] :].mean()), 3),
        "curve": [round(float(mean), 3) for mean in losses.reshape(-1, how["mean_of"]).mean(axis=1)],
    }


def grads_with(
    bug: str, params: Params, inputs: np.ndarray, targets: np.ndarray, h_0: np.ndarray
) -> tuple[float, Params, np.ndarray]:
    """Loss, gradients and last state of one sequence (T,) from h_0 (1, H), with a bug of SPELLED."""
    h = states(params, inputs[None], h_0)[0]  # (T, H)
    z = h @ params["W_hy"] + params["b_y"]
    dz = (softmax(z) - np.eye(z.shape[1])[targets]) / len(targets)
    grads = {name: np.zeros_like(theta) for name, theta in params.items()}
    grads["W_hy"], grads["b_y"], dh_next = h.T @ dz, dz.sum(axis=0), np.zeros(h.shape[1])
    for t in reversed(range(len(inputs))):
        da = (dz[t] @ params["W_hy"].T + dh_next) * (1 - h[t] ** 2)
        dh_next = np.einsum("k,kj->j" if bug == "no transpose" else "k,jk->j", da, params["W_hh"])
        contribution = np.outer(h[t - 1] if t else h_0[0], da)
        grads["W_hh"] = contribution if bug == "set" else grads["W_hh"] + contribution
        grads["W_xh"][inputs[t]] += da
        grads["b_h"] += da
    return float(nats_and_probs(params, h[None], targets[None])[0].mean()), grads, h[None, -1]


def spells_hello(bug: str, seed: int) -> bool:
    """Whether a network that memorised `hello` with this bug prefers the right letter at each of its four steps."""
    how = SETTINGS["hello"]
    rng = np.random.default_rng(seed)
    answer = lambda *asked: grads_with(bug, *asked)  # noqa: E731
    sizes = 4, how["hidden_size"], how["chunk"], how["updates"]
    _, learned = train_char_rnn(HELLO, *sizes, how["lr"], rng, answer)
    h = states(learned, HELLO[None, :-1], np.zeros((1, how["hidden_size"])))[0]
    z = h @ learned["W_hy"] + learned["b_y"]
    return bool((z.argmax(axis=1) == HELLO[1:]).all())


def loop_megabytes(ids: np.ndarray, vocab_size: int, chunk: int, updates: int) -> float:
    """The peak memory that Python and NumPy took from one training, in megabytes."""
    params = initial(vocab_size, SETTINGS["memory"]["hidden_size"], np.random.default_rng(0))
    tracemalloc.start()
    train(ids, params, 0.1, updates, batch=SETTINGS["memory"]["batch"], chunk=chunk)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1e6


def main() -> None:
    text = python_docs()
    ids, V = text.ids(text.train), len(text.characters)
    loops = [loop_run(seed, text) for seed in SEEDS]
    print(*loops, sep="\n", flush=True)
    museum = [museum_run(bug, seed, ids, V) for bug in MUSEUM for seed in SEEDS]
    ends = {bug: mean_and_sd([one["end"] for one in museum if one["bug"] == bug], 2) for bug in MUSEUM}
    spelled = {bug: [spells_hello(bug, seed) for seed in SEEDS] for bug in SPELLED}
    chunk, steps = SETTINGS["memory"]["chunk"], SETTINGS["memory"]["steps"]
    memory = {
        "half in chunks": round(loop_megabytes(ids, V, chunk, steps // chunk // 2), 2),
        "in chunks": round(loop_megabytes(ids, V, chunk, steps // chunk), 2),
        "as one": round(loop_megabytes(ids, V, steps, 1), 1),
    }
    held_out = text.ids(text.held_out)[:10_000]
    counted = {order: round(WittenBell(ids, order, V).bits(held_out), 4) for order in (2, 3, 5)}
    print(ends, spelled, memory, counted, sep="\n")
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch02.short_runs --record",
            "settings": SETTINGS,
            "seeds": list(SEEDS),
            "text": {"source": text.source, "sha256": text.sha256},
            "versions": {"numpy": np.__version__, "python": platform.python_version()},
            "loop": loops,
            "museum": museum,
            "spelled": spelled,
            "megabytes": memory,
            "counted_first_10000": counted,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
