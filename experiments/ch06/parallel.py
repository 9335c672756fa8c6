"""What running in parallel buys: the time of self-attention against an LSTM, for a batch and with all cores.

    python -m experiments.ch06.parallel [--record] [--device cuda] [--longest 128] [--repeat 3]

`experiments.ch06.cost` counts, and times one sequence in one thread without gradients. Training is different: there is
a batch, there are several cores or a GPU, and there is a backward pass. So these two layers process the same batch
x (B, T, D), forward and, from the sum of the outputs times fixed random numbers, backward to all parameters and to x:

- LSTM: `nn.LSTM(D, D)`, whose steps are computed one after another;
- self-attention: queries, keys, values and outputs by four (D, D) matrices, several heads, and a causal mask, with
  `scaled_dot_product_attention`. No position waits for another.

They are not equally large: the LSTM has 8 D² parameters and its biases, attention 4 D².
In every repetition both layers are timed at all lengths in turn, forward and backward separately, each after a run that
is not timed. Reported are medians, as ratios to the forward pass of self-attention at the shortest length within the
same run, so that two machines can be compared by shape but not by speed. On a GPU, the clock is read when the device
has finished all work. The clock is that of the wall, because cores that work at the same time are the point; so
--record refuses to write if the machine was busy: if the processes that wanted a processor, on average over the last
minute before the run, were more than a tenth of the cores. The record of each device is a file of its own:
parallel.json and parallel_cuda.json.
"""

from __future__ import annotations

import os
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from experiments.ch03.record import to_json
from experiments.ch06.cost import crossover, machine, slope

SETTINGS = {"batch": 32, "D": 128, "heads": 4, "repeat": 15, "seed": 0}
LENGTHS = (16, 32, 64, 128, 256, 512, 1024)
LSTM, ATTENTION = LAYERS = ("LSTM", "self-attention")
PASSES = ("forward", "backward")
Times = dict[str, dict[str, list[float]]]  # of each layer and pass, a number for every length


def results_file(device: str) -> Path:
    """Where the record of a device is."""
    return Path(__file__).with_name("parallel.json" if device == "cpu" else f"parallel_{device}.json")


class SelfAttention(nn.Module):
    """Causal self-attention with several heads: x (B, T, D) -> (B, T, D)."""

    def __init__(self, D: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(D, 3 * D, bias=False)  # queries, keys and values
        self.out = nn.Linear(D, D, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        parts = self.project(x).unflatten(2, (3, self.heads, -1))  # (B, T, 3, heads, D / heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4)  # each (B, heads, T, D / heads)
        found = scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(found.transpose(1, 2).flatten(2))


class Reading(nn.Module):
    """An LSTM that returns its states only: x (B, T, D) -> (B, T, D)."""

    def __init__(self, D: int) -> None:
        super().__init__()
        self.lstm = nn.LSTM(D, D, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        states: Tensor = self.lstm(x)[0]
        return states


def layers(device: str) -> dict[str, nn.Module]:
    torch.manual_seed(SETTINGS["seed"])
    D, heads = SETTINGS["D"], SETTINGS["heads"]
    return {LSTM: Reading(D).to(device), ATTENTION: SelfAttention(D, heads).to(device)}


def finished(device: str) -> float:
    """The time at which the device has done everything that it was asked for."""
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def timed(layer: nn.Module, x: Tensor, upstream: Tensor, device: str) -> tuple[float, float]:
    """Seconds of one forward and of one backward pass."""
    x = x.detach().requires_grad_()
    layer.zero_grad()
    began = finished(device)
    y = layer(x)
    between = finished(device)
    y.backward(upstream)
    return between - began, finished(device) - between


def measured(lengths: Sequence[int], repeat: int, device: str, clock: Callable[..., Any] = timed) -> Times:
    """Medians in seconds."""
    both = layers(device)
    generator = torch.Generator().manual_seed(SETTINGS["seed"])
    B, D = SETTINGS["batch"], SETTINGS["D"]
    batches = {T: [torch.randn(B, T, D, generator=generator).to(device) for _ in range(2)] for T in lengths}
    seen: dict[tuple[str, int], list[tuple[float, float]]] = {(name, T): [] for name in LAYERS for T in lengths}
    for _ in range(repeat):
        for T in lengths:
            for name, layer in both.items():
                clock(layer, *batches[T], device)  # not timed: memory is taken, kernels are chosen
                seen[name, T].append(clock(layer, *batches[T], device))
    return {
        name: {part: [median(one[at] for one in seen[name, T]) for T in lengths] for at, part in enumerate(PASSES)}
        for name in LAYERS
    }


def relative(times: Times) -> Times:
    """Times as ratios to the forward pass of self-attention at the shortest length."""
    unit = times[ATTENTION]["forward"][0]
    return {name: {p: [round(t / unit, 2) for t in of] for p, of in passes.items()} for name, passes in times.items()}


def summary(ratios: Times, lengths: Sequence[int]) -> dict[str, Any]:
    """Forward and backward together: how many times as long the LSTM takes, slopes, and where attention gets slower."""
    whole = {name: [sum(pair) for pair in zip(*passes.values(), strict=True)] for name, passes in ratios.items()}
    at = crossover(tuple(lengths), whole[LSTM], whole[ATTENTION])
    return {
        "LSTM / self-attention": [round(a / b, 2) for a, b in zip(whole[LSTM], whole[ATTENTION], strict=True)],
        "slopes": {name: round(slope(tuple(lengths), of), 2) for name, of in whole.items()},
        "crossover": at and round(at),
    }


def busy() -> float:
    """How many processes wanted a processor, on average over the last minute, for each core."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)


def main() -> None:
    parser = ArgumentParser(description="Time self-attention and an LSTM, forward and backward.")
    parser.add_argument("--record", action="store_true", help="write the record of this device")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--longest", type=int, default=LENGTHS[-1], help="the longest sequences; for a trial")
    parser.add_argument("--repeat", type=int, default=SETTINGS["repeat"], help="repetitions; for a trial")
    given = parser.parse_args()
    if given.device == "cuda" and not torch.cuda.is_available():
        sys.exit("This PyTorch finds no GPU. Leave out --device, or run it where torch.cuda.is_available() is True.")
    whole = given.longest == LENGTHS[-1] and given.repeat >= SETTINGS["repeat"]
    if given.record and not whole:
        sys.exit("A trial is not recorded. Leave out --longest and --repeat, or --record.")
    load = busy()
    if given.record and load > 0.1:
        sys.exit(f"{load:.1f} processes for each core wanted to run in the last minute. Record on a quiet machine.")
    torch.set_num_threads(os.cpu_count() or 1)
    lengths = [T for T in LENGTHS if given.longest >= T]
    times = measured(lengths, given.repeat, given.device)
    ratios = relative(times)
    for name in LAYERS:
        for part in PASSES:
            print(f"{name:15}{part:9}", *(f"{1000 * one:9.2f} ms" for one in times[name][part]))
    print("lengths", lengths, summary(ratios, lengths), sep="\n")
    if given.record:
        device = "" if given.device == "cpu" else f" --device {given.device}"
        record = {
            "command": f"python -m experiments.ch06.parallel --record{device}",
            "settings": {**SETTINGS, "repeat": given.repeat, "dtype": "float32", "clock": "perf_counter, median"},
            "machine": machine() if given.device == "cpu" else torch.cuda.get_device_name(),
            "cores": os.cpu_count(),
            "threads": torch.get_num_threads(),
            "load": round(load, 3),
            "versions": {"torch": torch.__version__.partition("+")[0]},
            "lengths": lengths,
            "relative_times": ratios,
            "summary": summary(ratios, lengths),
        }
        results_file(given.device).write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
