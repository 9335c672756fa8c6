"""Silent bugs of multi-head attention, and what a small network with each of them learns (for the bug museum).

    python -m experiments.ch06.museum [--record]

The task is to reverse: a sequence has eight random letters, a separator, and the same letters from the last to the
first. A network with a single layer of causal attention predicts every next symbol. The first letters cannot be
predicted: no network that is blind to the future gets below ln 8 there. The reversed letters can be predicted without
an error, by attending to the right position. Six programs are wrong in one line each:

- masked after the softmax: the weights of the future are set to 0, but its scores are in the sum of the softmax;
- softmax over the queries: each column of weights sums to 1, not each row;
- softmax over the heads: the weights of one pair of positions sum to 1 over all heads;
- scaled by the root of D: of all columns, not of those of one head;
- split with a reshape: (B, T, D) to (B, heads, T, d) without exchanging axes, and back in the same way;
- split with a reshape, joined rightly: the same, but the heads are joined with exchanged axes.

Recorded are the loss of every update (the mean of each ten), and for held-out sequences the loss of the random letters,
loss and accuracy of the reversed letters with the whole sequence given, the same two losses if the network is given
only what comes before each symbol (`…_blind`), and, for a network that writes the reversed letters itself, their
accuracy and the share of sequences without an error; also the mean sum of a row of weights, and the mean of the largest
weight of a row where the reversed letters are predicted. `swapped` has the same for the weights of a right network that
are run by a wrong program. Five seeds each. Takes less than two minutes of one core.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from experiments.ch03.record import mean_and_sd, to_json

RESULTS_FILE = Path(__file__).with_name("museum.json")
SETTINGS: dict[str, float] = {"letters": 8, "length": 8, "embed_size": 32, "heads": 4, "updates": 500, "batch": 64}
SETTINGS |= {"lr": 5e-3, "held_out": 500}
LETTERS, LENGTH, D, HEADS = (int(SETTINGS[key]) for key in ("letters", "length", "embed_size", "heads"))
SEPARATOR = LETTERS
AFTER, QUERIES, ACROSS = "masked after the softmax", "softmax over the queries", "softmax over the heads"
ROOT, RESHAPED, HALF = "scaled by the root of D", "split with a reshape", "split with a reshape, joined rightly"
PROGRAMS = ("right", AFTER, QUERIES, ACROSS, ROOT, RESHAPED, HALF)
SEEDS = tuple(range(10, 15))


def split(a: Tensor, program: str) -> Tensor:
    """(B, T, D) -> (B, heads, T, d)."""
    B, T, size = a.shape
    if program in (RESHAPED, HALF):
        return a.reshape(B, HEADS, T, size // HEADS)
    return a.reshape(B, T, HEADS, size // HEADS).transpose(1, 2)


def joined(a: Tensor, program: str) -> Tensor:
    """(B, heads, T, d) -> (B, T, D)."""
    B, _, T, _ = a.shape
    return (a if program == RESHAPED else a.transpose(1, 2)).reshape(B, T, -1)


def head_weights(q: Tensor, k: Tensor, program: str) -> Tensor:
    """Queries and keys (B, heads, T, d) -> the causal weights (B, heads, T, T), as the program computes them."""
    T, d = q.shape[-2:]
    scores = q @ k.transpose(2, 3) / math.sqrt(HEADS * d if program == ROOT else d)
    allowed = torch.ones(T, T, dtype=torch.bool).tril()
    if program == AFTER:
        return scores.softmax(dim=-1) * allowed
    masked = scores.masked_fill(~allowed, -torch.inf)
    if program == ACROSS:
        return scores.softmax(dim=1) * allowed
    return masked.softmax(dim=2 if program == QUERIES else 3)


class Reverser(nn.Module):
    """One layer of causal attention, and one hidden layer; both are added to their input."""

    def __init__(self, program: str) -> None:
        super().__init__()
        self.program = program
        self.symbol, self.position = nn.Embedding(LETTERS + 1, D), nn.Embedding(2 * LENGTH, D)
        self.in_proj, self.out_proj = nn.Linear(D, 3 * D, bias=False), nn.Linear(D, D, bias=False)
        self.hidden = nn.Sequential(nn.Linear(D, 4 * D), nn.ReLU(), nn.Linear(4 * D, D))
        self.head = nn.Linear(D, LETTERS + 1)

    def attention(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """(B, T, D) -> outputs (B, T, D) and weights (B, heads, T, T)."""
        q, k, v = (split(a, self.program) for a in self.in_proj(x).chunk(3, dim=-1))
        weights = head_weights(q, k, self.program)
        return self.out_proj(joined(weights @ v, self.program)), weights

    def forward(self, ids: Tensor) -> Tensor:
        """Symbols (B, T) -> the logits of each next one (B, T, letters + 1)."""
        x = self.symbol(ids) + self.position(torch.arange(ids.shape[1]))
        x = x + self.attention(x)[0]
        return torch.as_tensor(self.head(x + self.hidden(x)))


def sequences(count: int, generator: torch.Generator) -> Tensor:
    """Random letters, the separator, and the letters reversed: (count, 2 LENGTH + 1)."""
    letters = torch.randint(LETTERS, (count, LENGTH), generator=generator)
    return torch.cat([letters, torch.full((count, 1), SEPARATOR), letters.flip(1)], dim=1)


def train(
    program: str, seed: int, updates: int | None = None, build: Callable[[str], Reverser] = Reverser
) -> tuple[Reverser, list[float]]:
    """Train one of PROGRAMS -> the network and the loss of every update."""
    torch.manual_seed(seed)
    model, losses = build(program), []
    optimizer = torch.optim.Adam(model.parameters(), lr=SETTINGS["lr"])
    generator = torch.Generator().manual_seed(seed)
    for _ in range(updates or int(SETTINGS["updates"])):
        ids = sequences(int(SETTINGS["batch"]), generator)
        loss = cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model.eval(), losses


@torch.no_grad()
def written(model: Reverser, ids: Tensor) -> Tensor:
    """What the network writes after the separator, one most probable symbol at a time: (B, LENGTH)."""
    text = ids[:, : LENGTH + 1]
    for _ in range(LENGTH):
        text = torch.cat([text, model(text)[:, -1:].argmax(dim=-1)], dim=1)
    return text[:, LENGTH + 1 :]


@torch.no_grad()
def without_the_future(model: Reverser, ids: Tensor) -> Tensor:
    """The logits of each next symbol (B, T, letters + 1) when the network is given nothing but the symbols before."""
    return torch.cat([model(ids[:, : t + 1])[:, -1:] for t in range(ids.shape[1])], dim=1)


@torch.no_grad()
def measured(model: Reverser, held_out: Tensor) -> dict[str, float]:
    """Losses, accuracies (in percent) and exact match of held-out sequences."""
    ids, wanted = held_out[:, :-1], held_out[:, 1:]
    logits, blind = model(ids), without_the_future(model, ids)
    early, late = slice(0, LENGTH - 1), slice(LENGTH, 2 * LENGTH)
    right = written(model, held_out) == held_out[:, LENGTH + 1 :]
    _, weights = model.attention(model.symbol(ids) + model.position(torch.arange(2 * LENGTH)))
    losses = {
        name: round(cross_entropy(each[:, part].flatten(0, 1), wanted[:, part].flatten()).item(), 4)
        for name, each, part in (
            ("random_loss", logits, early),
            ("random_loss_blind", blind, early),
            ("reversed_loss", logits, late),
            ("reversed_loss_blind", blind, late),
        )
    }
    return {
        **losses,
        "reversed_accuracy": percent(logits[:, late].argmax(-1) == wanted[:, late]),
        "written_accuracy": percent(right),
        "exact": percent(right.all(dim=1)),
        "row_sum": round(weights.sum(-1).mean().item(), 3),
        "largest_weight": round(weights[:, :, late].amax(dim=-1).mean().item(), 3),
    }


def percent(flags: Tensor) -> float:
    return round(100 * flags.double().mean().item(), 2)


def untrained(seed: int) -> dict[str, dict[str, float]]:
    """For each program, how much an untrained network's outputs differ from the right ones, and how much of the future
    they see: the relative change of the output at each position that comes from letters after it.
    """
    torch.manual_seed(seed)
    model = Reverser("right")
    ids = sequences(100, torch.Generator().manual_seed(seed))[:, :-1]
    other = ids.clone()
    other[:, LENGTH // 2 :] = sequences(100, torch.Generator().manual_seed(seed + 1000))[:, LENGTH // 2 : -1]
    found = {}
    with torch.no_grad():
        positions = model.position(torch.arange(2 * LENGTH))
        right, _ = model.attention(model.symbol(ids) + positions)
        for program in PROGRAMS:
            model.program = program
            (one, _), (changed, _) = (model.attention(model.symbol(each) + positions) for each in (ids, other))
            before = slice(0, LENGTH // 2)
            found[program] = {
                "differs": round(((one - right).norm() / right.norm()).item(), 4),
                "future": round(((changed - one)[:, before].norm() / one[:, before].norm()).item(), 4),
            }
    return found


def run(program: str, seed: int, updates: int | None = None) -> dict[str, Any]:
    """Train one of PROGRAMS, and measure it on held-out sequences. The weights of the right one are run by all."""
    model, losses = train(program, seed, updates)
    held_out = sequences(int(SETTINGS["held_out"]), torch.Generator().manual_seed(10_000 + seed))
    found: dict[str, Any] = {
        "program": program,
        "seed": seed,
        "curve": [round(mean(losses[at : at + 10]), 3) for at in range(0, len(losses), 10)],
        **measured(model, held_out),
    }
    if program == "right":
        found["swapped"] = {}
        for other in PROGRAMS[1:]:
            model.program = other
            found["swapped"][other] = measured(model, held_out)
    return found


def summary(runs: list[dict[str, Any]]) -> dict[str, dict[str, list[float]]]:
    """Mean and standard deviation over the seeds, for each program, and for each that runs a right one's weights."""
    keys = [key for key in runs[0] if key not in ("program", "seed", "curve", "swapped")]
    found = {
        program: {key: mean_and_sd([one[key] for one in runs if one["program"] == program], 3) for key in keys}
        for program in PROGRAMS
    }
    right = [one["swapped"] for one in runs if one["program"] == "right"]
    for program in PROGRAMS[1:]:
        found[f"right weights, {program}"] = {key: mean_and_sd([one[program][key] for one in right], 3) for key in keys}
    return found


def main() -> None:
    started, runs = time.process_time(), []
    for program in PROGRAMS:
        for seed in SEEDS:
            runs.append(run(program, seed))
            shown = {key: value for key, value in runs[-1].items() if key != "swapped"}
            print({**shown, "curve": runs[-1]["curve"][::10]}, flush=True)
    found = summary(runs)
    for program, numbers in found.items():
        print(program, numbers, flush=True)
    print(round(time.process_time() - started), flush=True)
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch06.museum --record",
            "settings": {"optimizer": "Adam", **SETTINGS},
            "seeds": list(SEEDS),
            "versions": {"torch": torch.__version__.partition("+")[0]},
            "summary": found,
            "untrained": {str(seed): untrained(seed) for seed in SEEDS},
            "runs": runs,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
