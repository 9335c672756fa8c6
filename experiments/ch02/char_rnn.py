"""Train a character-level network with NumPy alone, on real text, for thirty seconds.

    python -m experiments.ch02.char_rnn [--record]

The network has one tanh layer and is trained by truncated backpropagation through time: the text is cut into rows that
are read in parallel, and the state is passed on from chunk to chunk. The learning rate was chosen on the last tenth of
the training text (`--choose`). The recorded bits are those of the held-out text, which shares no topic with the
training text. n-gram models of the same text serve as baselines.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported: waiting threads would use up CPU seconds

import numpy as np

from experiments.ngrams import WittenBell
from experiments.text import python_docs

RESULTS_FILE = Path(__file__).with_name("char_rnn.json")
SETTINGS = {"hidden_size": 100, "batch": 16, "chunk": 25, "lr": 0.05, "seconds": 30}
SEEDS = tuple(range(10, 15))
SAMPLES_AT = (0, 100, 1000)  # updates; the fourth stage is the end
BUGS = ("no accumulation", "pre-activation squared", "assigned rows")

Params = dict[str, np.ndarray]


def initial(vocab_size: int, hidden_size: int, rng: np.random.Generator, radius: float = 1.0) -> Params:
    """Draw W_xh (V, H), W_hh (H, H), b_h (H,), W_hy (H, V), b_y (V,): sd radius / sqrt(H), and 0.01 for W_hy.

    `radius` is about the spectral radius of W_hh. With the uniform distribution that PyTorch uses it is 0.58.
    """
    sd = radius / math.sqrt(hidden_size)
    return {
        "W_xh": sd * rng.normal(size=(vocab_size, hidden_size)),
        "W_hh": sd * rng.normal(size=(hidden_size, hidden_size)),
        "b_h": np.zeros(hidden_size),
        "W_hy": 0.01 * rng.normal(size=(hidden_size, vocab_size)),
        "b_y": np.zeros(vocab_size),
    }


def states(params: Params, ids: np.ndarray, h_0: np.ndarray) -> np.ndarray:
    """Read ids (B, T) from h_0 (B, H): all states (B, T, H). Equation (rnn-step), one-hot inputs as rows of W_xh."""
    h = np.empty((*ids.shape, h_0.shape[1]))
    h_t = h_0
    for t in range(ids.shape[1]):
        h_t = np.tanh(params["W_xh"][ids[:, t]] + h_t @ params["W_hh"] + params["b_h"])  # (B, H)
        h[:, t] = h_t
    return h


def nats_and_probs(params: Params, h: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Negative log-likelihood in nats of each target (B, T), and the probabilities (B, T, V)."""
    logits = h @ params["W_hy"] + params["b_y"]
    logits -= logits.max(axis=2, keepdims=True)
    probs = np.exp(logits)
    total = probs.sum(axis=2, keepdims=True)
    chosen = np.take_along_axis(logits, targets[:, :, None], axis=2)
    return (np.log(total) - chosen)[:, :, 0], probs / total


def loss_and_grads(
    params: Params, inputs: np.ndarray, targets: np.ndarray, h_0: np.ndarray, bug: str | None = None
) -> tuple[float, Params, np.ndarray]:
    """Mean cross-entropy in nats a character, its gradients, and the last state. inputs, targets (B, T), h_0 (B, H).

    A bug from BUGS makes the gradients wrong and leaves the loss as it is, for the bug museum.
    """
    B, T = inputs.shape
    h = states(params, inputs, h_0)
    nats, probs = nats_and_probs(params, h, targets)
    dlogits = probs  # (B, T, V)
    np.put_along_axis(dlogits, targets[:, :, None], np.take_along_axis(probs, targets[:, :, None], 2) - 1, 2)
    dlogits /= B * T
    dh = dlogits @ params["W_hy"].T  # (B, T, H)
    da = np.empty_like(h)
    dh_next = np.zeros_like(h_0)
    for t in reversed(range(T)):
        slope = 1 - h[:, t] ** 2
        if bug == "pre-activation squared":
            slope = 1 - np.arctanh(np.clip(h[:, t], -1 + 1e-15, 1 - 1e-15)) ** 2
        da[:, t] = (dh[:, t] + dh_next) * slope
        dh_next = da[:, t] @ params["W_hh"].T
    h_prev = np.concatenate([h_0[:, None], h[:, :-1]], axis=1)
    if bug == "no accumulation":
        h_prev, da_kept = h_prev[:, :1], da[:, :1]
    else:
        da_kept = da
    dW_xh = np.zeros_like(params["W_xh"])
    if bug == "assigned rows":
        dW_xh[inputs] = da
    elif bug == "no accumulation":
        np.add.at(dW_xh, inputs[:, :1], da_kept)
    else:
        one_hot = np.eye(len(dW_xh))[inputs.reshape(-1)]
        dW_xh = one_hot.T @ da.reshape(B * T, -1)
    grads = {
        "W_xh": dW_xh,
        "W_hh": np.tensordot(h_prev, da_kept, axes=([0, 1], [0, 1])),
        "b_h": da_kept.sum(axis=(0, 1)),
        "W_hy": np.tensordot(h, dlogits, axes=([0, 1], [0, 1])),
        "b_y": dlogits.sum(axis=(0, 1)),
    }
    return float(nats.mean()), grads, h[:, -1]


def chunks(ids: np.ndarray, batch: int, chunk: int) -> Iterator[tuple[np.ndarray, np.ndarray, bool]]:
    """Yield inputs and targets (B, T), endlessly, and whether the text starts again. A remainder is dropped."""
    width = (len(ids) - 1) // batch
    inputs, targets = (part[: batch * width].reshape(batch, width) for part in (ids[:-1], ids[1:]))
    while True:
        for start in range(0, width - chunk + 1, chunk):
            piece = slice(start, start + chunk)
            yield inputs[:, piece], targets[:, piece], start == 0


def train(
    ids: np.ndarray,
    params: Params,
    lr: float,
    stop: Callable[[int], bool],
    batch: int = 16,
    chunk: int = 25,
    bug: str | None = None,
    look: Callable[[int, Params], None] | None = None,
    carry: bool = True,
) -> list[float]:
    """Run Adagrad on `params`, in place, until `stop(updates done)`: the loss of each update, in nats a character.

    With `carry` a chunk starts from the last state of the previous one, without it from zeros.
    """
    caches = {name: np.zeros_like(theta) for name, theta in params.items()}
    losses: list[float] = []
    h = np.zeros((batch, len(params["b_h"])))
    for inputs, targets, restart in chunks(ids, batch, chunk):
        if stop(len(losses)):
            return losses
        if look:
            look(len(losses), params)
        if restart or not carry:
            h = np.zeros_like(h)
        loss, grads, h = loss_and_grads(params, inputs, targets, h, bug)
        losses.append(loss)
        for name, grad in grads.items():
            caches[name] += grad**2
            params[name] -= lr * grad / (np.sqrt(caches[name]) + 1e-8)
    raise AssertionError("the chunks never end")


def bits(params: Params, ids: np.ndarray) -> float:
    """Mean cross-entropy in bits a character over ids (N,), read once from the zero state."""
    h = np.zeros((1, len(params["b_h"])))
    total = 0.0
    for start in range(0, len(ids) - 1, 5000):
        piece = ids[start : start + 5001]
        read = states(params, piece[None, :-1], h)
        total += nats_and_probs(params, read, piece[None, 1:])[0].sum()
        h = read[:, -1]
    return float(total / (len(ids) - 1) / math.log(2))


def write(params: Params, first: int, length: int, rng: np.random.Generator) -> list[int]:
    """Sample ids one after the other, each from the network's probabilities given all previous ones."""
    h, written = np.zeros((1, len(params["b_h"]))), [first]
    for _ in range(length):
        h = states(params, np.array([written[-1:]]), h)[:, -1]
        probs = nats_and_probs(params, h[:, None], np.zeros((1, 1), dtype=int))[1][0, 0]
        written.append(int(np.searchsorted(probs.cumsum(), rng.random() * probs.sum(), side="right")))
    return written


def run(seed: int, ids: np.ndarray, held_out: np.ndarray, characters: str, lr: float) -> dict[str, Any]:
    """Train for the set number of CPU seconds, not counting those spent on samples and held-out bits."""
    rng = np.random.default_rng(seed)
    params = initial(len(characters), int(SETTINGS["hidden_size"]), rng)
    aside, stages, curve = 0.0, [], []
    started = time.process_time()

    def sample(update: int) -> None:
        text = "".join(characters[i] for i in write(params, characters.index("t"), 150, np.random.default_rng(1)))
        stages.append({"updates": update, "text": text})

    def look(update: int, _: Params) -> None:
        nonlocal aside
        entered = time.process_time()
        if update in SAMPLES_AT:
            sample(update)
        if update in SAMPLES_AT or update % 1000 == 0:
            curve.append([round(entered - started - aside, 2), update, round(bits(params, held_out[:10_000]), 4)])
        aside += time.process_time() - entered

    losses = train(
        ids,
        params,
        lr,
        stop=lambda _: time.process_time() - started - aside >= SETTINGS["seconds"],
        batch=int(SETTINGS["batch"]),
        chunk=int(SETTINGS["chunk"]),
        look=look,
    )
    sample(len(losses))
    return {
        "seed": seed,
        "updates": len(losses),
        "train_bits": round(float(np.mean(losses[-200:])) / math.log(2), 4),
        "bits": round(bits(params, held_out), 4),
        "curve": curve,
        "samples": stages,
    }


def choose() -> None:
    """Compare learning rates on the last tenth of the training text, with a seed that is not recorded."""
    text = python_docs()
    ids = text.ids(text.train)
    cut = len(ids) * 9 // 10
    for lr in (0.03, 0.05, 0.1, 0.2):
        result = run(1, ids[:cut], ids[cut:], text.characters, lr)
        print(lr, result["updates"], result["train_bits"], result["bits"], flush=True)


def main() -> None:
    if "--choose" in sys.argv[1:]:
        choose()
        return
    text = python_docs()
    ids, held_out = text.ids(text.train), text.ids(text.held_out)
    counted = {}
    for order in range(6):
        counted[str(order)] = round(WittenBell(ids.tolist(), order, len(text.characters)).bits(held_out.tolist()), 4)
        print(f"n-gram, n = {order}: {counted[str(order)]}", flush=True)
    runs = []
    for seed in SEEDS:
        runs.append(run(seed, ids, held_out, text.characters, SETTINGS["lr"]))
        print(json.dumps({key: value for key, value in runs[-1].items() if key != "curve"}), flush=True)
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch02.char_rnn --record",
            "settings": SETTINGS,
            "text": {"source": text.source, "sha256": text.sha256, "train": len(ids), "held_out": len(held_out)},
            "versions": {"numpy": np.__version__},
            "counted": counted,
            "runs": runs,
        }
        rows = re.compile(r"\[\s+([-0-9.,\s]+?)\s+\]")  # one list of numbers, one line
        lines = rows.sub(lambda row: "[" + re.sub(r"\s+", " ", row[1]) + "]", json.dumps(record, indent=1))
        RESULTS_FILE.write_text(lines + "\n", "utf-8")


if __name__ == "__main__":
    main()
