"""Four bugs of gated networks, and what the loss shows of them (for the bug museum).

    python -m experiments.ch04.museum [--record]

1. The forget gate and the input gate exchanged, c_t = i c_{t-1} + f g. Trained to latch one bit (the task of
   experiments.ch04.latching) over 10 and 20 steps, with the bias that is meant for the forget gate set to 0 or 1.
2. Chung's update gate in Cho's equation, h_t = z n + (1 - z) h_{t-1}. The weights of a GRU that was trained with the
   right equation are read with the wrong one, a GRU is trained with the wrong one, and both kinds latch a bit. The
   right weights are also read with the reset gate before the product, and with the candidate's two biases merged.
3. The cell's gradient through the output gate forgotten, dh o (1 - tanh(c)**2), so that nothing reaches c; or, the
   other way round, the gradient of the output gate itself. An LSTM is trained on characters.
4. The state not detached between chunks: the number of nodes of the graph that an update's backward pass visits, in
   five programs. A count does not depend on the computer.

Bugs 1 and 2 need no code of their own. Exchanging the gates is the same as exchanging their blocks of weights, and
1 - sigmoid(a) = sigmoid(-a), so that a wrong network is a right one with other initial weights. Five seeds each.
Characters: one-hot inputs, stretches of 25 from a zero state, 16 of them an update, Adam, 400 updates; bits a
character are measured on held-out text. Takes about 80 seconds of one core.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import torch
from torch import Tensor

from experiments.ch03.adding import summary
from experiments.ch03.cells import Network, train
from experiments.ch03.record import significant, to_json
from experiments.ch04 import latching
from experiments.text import Text, python_docs

RESULTS_FILE = Path(__file__).with_name("museum.json")
SETTINGS: dict[str, float] = {
    "hidden_size": 32,
    "steps": 25,
    "batch": 16,
    "updates": 400,
    "lr": 0.02,
    "clip": 1.0,
    "held_out_rows": 200,
    "look_every": 20,
    "graph_steps": 10,
    "graph_updates": 8,
}
LATCHES: tuple[tuple[str, str, float, bool], ...] = (  # kind, task, bias of the gate that should keep, wrong?
    *(("lstm", task, bias, wrong) for task, bias in (("10", 0.0), ("20", 1.0)) for wrong in (False, True)),
    *(("gru", "20", 3.0, wrong) for wrong in (False, True)),
)
BACKWARDS = ("right", "nothing reaches c", "nothing reaches o")
READINGS = ("chung", "cho", "merged")
PROGRAMS = ("detached", "not detached", "retain_graph", "retain_graph, .data", "no no_grad")
SEEDS = tuple(range(10, 15))


# Weights that make a right network compute what a wrong one does ------------------------------------------------------


@torch.no_grad()
def exchange_gates(rnn: torch.nn.RNNBase) -> None:
    """Exchange the input gate's and the forget gate's weights and biases of an LSTM, in place."""
    H = rnn.hidden_size
    for values in rnn.parameters():
        values.copy_(torch.cat([values[H : 2 * H], values[:H], values[2 * H :]]))


@torch.no_grad()
def turn_update_gate(rnn: torch.nn.RNNBase) -> None:
    """Replace a GRU's update gate z by 1 - z, in place: the sign of its weights and biases changes."""
    H = rnn.hidden_size
    for values in rnn.parameters():
        values[H : 2 * H] *= -1


WRONG: dict[str, Callable[[torch.nn.RNNBase], None]] = {"lstm": exchange_gates, "gru": turn_update_gate}


def latch(kind: str, task: str, bias: float, wrong: bool, seed: int) -> dict[str, Any]:
    """Train a network, right or wrong, to latch a bit: its record."""
    model, data = latching.network(f"{kind}_{bias:.0f}", seed), latching.held_out("validation", task)
    if wrong:
        WRONG[kind](model.rnn)
    how = latching.SETTINGS
    course = train(
        model,
        latching.training_batches(seed, task),
        latching.cross_entropy,
        lambda _: latching.accuracy(model, data),
        updates=int(how["updates"]),
        lr=how["lr"],
        clip=how["clip"],
        look_every=int(how["look_every"]),
        stop=lambda value: value > how["solved_above"],
    )
    solved = course.curve[-1] > how["solved_above"]
    return {
        "solved_at": len(course.gradient_norms) if solved else None,
        "test_accuracy": round(latching.accuracy(model, latching.held_out("test", task)), 4),
    }


# Characters -----------------------------------------------------------------------------------------------------------


class Characters:
    """Stretches of the text as one-hot inputs (rows, T, V) and targets (rows, T)."""

    def __init__(self, text: Text) -> None:
        self.size = len(text.characters)
        self.train = torch.from_numpy(text.ids(text.train))
        held_out, T = torch.from_numpy(text.ids(text.held_out)), int(SETTINGS["steps"])
        starts = torch.linspace(0, len(held_out) - T - 1, int(SETTINGS["held_out_rows"])).long()
        self.held_out = self.stretches(held_out, starts)

    def stretches(self, ids: Tensor, starts: Tensor) -> tuple[Tensor, Tensor]:
        rows = ids[starts[:, None] + torch.arange(int(SETTINGS["steps"]) + 1)]
        return torch.nn.functional.one_hot(rows[:, :-1], self.size).float(), rows[:, 1:]

    def batches(self, seed: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Stretches from anywhere in the training part, without end."""
        generator = torch.Generator().manual_seed(1000 + seed)
        last = len(self.train) - int(SETTINGS["steps"])
        while True:
            starts = torch.randint(0, last, (int(SETTINGS["batch"]),), generator=generator)
            yield self.stretches(self.train, starts)


def cross_entropy(outputs: Tensor, targets: Tensor) -> Tensor:
    """Mean cross-entropy in nats: outputs (B, T, V), targets (B, T)."""
    return torch.nn.functional.cross_entropy(outputs.flatten(0, 1), targets.flatten())


def bits(model: Network, data: tuple[Tensor, Tensor]) -> float:
    """Bits a character."""
    with torch.no_grad():
        return cross_entropy(model(data[0]), data[1]).item() / math.log(2)


class ByHand(Network):
    """An LSTM written step by step, whose backward pass is right or forgets a part: one of BACKWARDS."""

    backward_pass = "right"

    def forward(self, x: Tensor) -> Tensor:
        rnn, H = self.rnn, self.rnn.hidden_size
        inputs = x @ rnn.weight_ih_l0.T + rnn.bias_ih_l0 + rnn.bias_hh_l0  # (B, T, 4H)
        h, c, states = x.new_zeros(len(x), H), x.new_zeros(len(x), H), []
        for t in range(x.shape[1]):
            i, f, g, o = (inputs[:, t] + h @ rnn.weight_hh_l0.T).chunk(4, dim=1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            o, tanh_c = torch.sigmoid(o), torch.tanh(c)
            if self.backward_pass == "nothing reaches c":
                tanh_c = tanh_c.detach()
            elif self.backward_pass == "nothing reaches o":
                o = o.detach()
            h = o * tanh_c
            states.append(h)
        outputs: Tensor = self.head(torch.stack(states, dim=1))
        return outputs


def train_on_characters(model: Network, characters: Characters, seed: int, updates: int | None = None) -> list[float]:
    """Train on characters: held-out bits every 20 updates."""
    return train(
        model,
        characters.batches(seed),
        cross_entropy,
        lambda _: bits(model, characters.held_out),
        updates=updates or int(SETTINGS["updates"]),
        lr=SETTINGS["lr"],
        clip=SETTINGS["clip"],
        look_every=int(SETTINGS["look_every"]),
    ).curve


def network(kind: str, characters: Characters, seed: int, by_hand: bool = False) -> Network:
    """An untrained network that reads and predicts characters; an LSTM's forget bias is 1."""
    torch.manual_seed(seed)
    sizes = (characters.size, int(SETTINGS["hidden_size"]), characters.size)
    return (ByHand if by_hand else Network)(kind, sizes, forget_bias=1.0 if kind == "lstm" else None)


def run_backward(name: str, characters: Characters, seed: int, updates: int | None = None) -> dict[str, Any]:
    """Train the LSTM with one of BACKWARDS: its curve, and which blocks of its weights have never had a gradient."""
    model = network("lstm", characters, seed, by_hand=True)
    assert isinstance(model, ByHand)
    model.backward_pass = name
    before = model.rnn.weight_hh_l0.detach().clone()
    curve = train_on_characters(model, characters, seed, updates)
    moved = (model.rnn.weight_hh_l0.detach() != before).view(4, -1).any(dim=1)
    unmoved = [gate for gate, any_moved in zip("ifgo", moved.tolist(), strict=True) if not any_moved]
    return {"backward": name, "seed": seed, "unmoved": unmoved, "curve": [round(value, 3) for value in curve]}


class Misread(Network):
    """A GRU written step by step, whose weights are read as PyTorch reads them, or wrongly: one of READINGS."""

    reading = "right"

    def forward(self, x: Tensor) -> Tensor:
        rnn, H = self.rnn, self.rnn.hidden_size
        W_h, b_h = rnn.weight_hh_l0.T, rnn.bias_hh_l0
        W_hn, b_hn = W_h[:, 2 * H :], b_h[2 * H :]
        inputs = x @ rnn.weight_ih_l0.T + rnn.bias_ih_l0  # (B, T, 3H)
        h, states = x.new_zeros(len(x), H), []
        for t in range(x.shape[1]):
            x_r, x_z, x_n = inputs[:, t].chunk(3, dim=1)
            h_r, h_z, h_n = (h @ W_h + b_h).chunk(3, dim=1)
            r, z = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
            side = r * h_n
            if self.reading == "chung":  # z and 1 - z exchanged
                z = 1 - z
            elif self.reading == "cho":  # the reset gate before the product
                side = (r * h) @ W_hn + b_hn
            elif self.reading == "merged":  # both biases outside the product
                side = r * (h @ W_hn) + b_hn
            h = (1 - z) * torch.tanh(x_n + side) + z * h
            states.append(h)
        outputs: Tensor = self.head(torch.stack(states, dim=1))
        return outputs


def run_update_gate(characters: Characters, seed: int) -> dict[str, float]:
    """Held-out bits of a GRU trained rightly, of its weights in each of READINGS, and of a GRU trained wrongly."""
    right = network("gru", characters, seed)
    train_on_characters(right, characters, seed)
    found = {"trained": bits(right, characters.held_out)}
    misread = Misread("gru", (characters.size, right.rnn.hidden_size, characters.size))
    misread.load_state_dict(right.state_dict())
    for misread.reading in READINGS:
        found[f"read: {misread.reading}"] = bits(misread, characters.held_out)
    wrong = network("gru", characters, seed)
    turn_update_gate(wrong.rnn)
    train_on_characters(wrong, characters, seed)
    found["trained wrongly"] = bits(wrong, characters.held_out)
    return {name: round(value, 3) for name, value in found.items()}


# The graph of a state that is not detached ----------------------------------------------------------------------------


def nodes(loss: Tensor) -> int:
    """How many nodes of the graph a backward pass from this loss visits."""
    seen: set[Any] = set()
    waiting = [loss.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            waiting += [following for following, _ in node.next_functions]
    return len(seen)


def graph(program: str, steps: int | None = None, updates: int | None = None) -> dict[str, Any]:
    """Run one of PROGRAMS on random numbers: the nodes of each update's graph, and PyTorch's error if there is one."""
    torch.manual_seed(0)
    cell, head = torch.nn.LSTMCell(3, 8), torch.nn.Linear(8, 1)
    weights = [*cell.parameters(), *head.parameters()]
    optimizer = torch.optim.SGD(weights, lr=0.01)
    h, c, counts = torch.zeros(4, 8), torch.zeros(4, 8), []
    for _ in range(updates or int(SETTINGS["graph_updates"])):
        if program == "detached":
            h, c = h.detach(), c.detach()
        loss = torch.zeros(())
        for _ in range(steps or int(SETTINGS["graph_steps"])):
            h, c = cell(torch.randn(4, 3), (h, c))
            loss = loss + (head(h) ** 2).mean()
        counts.append(nodes(loss))
        if program == "no no_grad":  # an evaluation: no backward pass and no update
            continue
        optimizer.zero_grad()
        try:
            loss.backward(retain_graph=program.startswith("retain_graph"))
        except RuntimeError as error:
            return {"program": program, "nodes": counts, "error": str(error).split(".")[0].split(":")[0]}
        if program == "retain_graph, .data":
            for weight in weights:
                if weight.grad is not None:
                    weight.data -= 0.01 * weight.grad
        else:
            optimizer.step()
    return {"program": program, "nodes": counts, "error": None}


def spread(values: list[float]) -> dict[str, float]:
    """Mean and standard deviation, that of a sample."""
    return {"mean": round(mean(values), 3), "sd": round(stdev(values), 3)}


def main() -> None:
    started = time.process_time()
    latches: list[dict[str, Any]] = []
    for kind, task, bias, wrong in LATCHES:
        here = [latch(kind, task, bias, wrong, seed) for seed in SEEDS]
        lists = {key: [one[key] for one in here] for key in here[0]}
        latches.append({"kind": kind, "task": task, "bias": bias, "wrong": wrong, **summary(here), **lists})
        print(latches[-1], flush=True)
    graphs = [graph(program) for program in PROGRAMS]
    print(*graphs, sep="\n", flush=True)
    text = python_docs()
    characters = Characters(text)
    gates = [run_update_gate(characters, seed) for seed in SEEDS]
    update_gate = {
        name: {**spread([one[name] for one in gates]), "bits": [one[name] for one in gates]} for name in gates[0]
    }
    print(update_gate, flush=True)
    untrained = [bits(network("lstm", characters, seed), characters.held_out) for seed in SEEDS]
    backwards = [run_backward(name, characters, seed) for name in BACKWARDS for seed in SEEDS]
    of_last = {name: spread([one["curve"][-1] for one in backwards if one["backward"] == name]) for name in BACKWARDS}
    print(of_last, [one["unmoved"] for one in backwards], round(time.process_time() - started), flush=True)
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch04.museum --record",
            "settings": {"optimizer": "Adam", **SETTINGS},
            "latching": latching.SETTINGS,
            "seeds": list(SEEDS),
            "versions": {"torch": torch.__version__.partition("+")[0]},
            "text": {"source": text.source, "sha256": text.sha256},
            "latches": latches,
            "update_gate": update_gate,
            "backward": {"untrained_bits": significant(untrained), "last": of_last, "runs": backwards},
            "graphs": graphs,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
