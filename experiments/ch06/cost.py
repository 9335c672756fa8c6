"""What self-attention costs compared with a recurrent network, as the sequence gets longer.

    OMP_NUM_THREADS=1 python -m experiments.ch06.cost [--record]

Counted are the multiplications of matrix products for a sequence of T positions with D numbers each, and the products
that must be done one after another (`multiplications`, `steps_in_a_row`). These numbers are exact.

Measured are four programs that read the same sequence (B = 1, D = H = 64, float64) in one thread, without gradients:

- NumPy loop: a vanilla recurrent network, one step after the other, in Python;
- nn.RNN and nn.GRU: PyTorch's, whose loop over the steps is compiled;
- self-attention: one head, with weights for queries, keys and values, in PyTorch.

All programs are timed in turn, for every length, in 80 rounds, each after a run that is not timed, and the shortest
processor time of each counts, because whatever else a machine does can only add to it. Times are recorded relative to
that of self-attention at the smallest length. A slope is that of the least-squares line through log time against log T.
Takes less than a minute of one core.
"""

from __future__ import annotations

import math
import platform
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from experiments.ch03.record import to_json

RESULTS_FILE = Path(__file__).with_name("cost.json")
SETTINGS = {"D": 64, "batch": 1, "rounds": 80, "seed": 0}
LENGTHS = (32, 64, 128, 256, 512, 1024, 2048)
SHORT, LONG = LENGTHS[:3], LENGTHS[-3:]
LOOP, RNN, GRU, ATTENTION = PROGRAMS = ("NumPy loop", "nn.RNN", "nn.GRU", "self-attention")
Times = dict[str, list[float]]


def multiplications(program: str, T: int, D: int) -> int:
    """The multiplications of the matrix products for one sequence: equation (attention-cost) of the book.

    A step of a vanilla network has two products of a row with a (D, D) matrix, one of a GRU has six. Self-attention
    has three for every position, and two of D multiplications for every pair of positions.
    """
    if program == ATTENTION:
        return 3 * T * D**2 + 2 * T**2 * D
    return (6 if program == GRU else 2) * T * D**2


def steps_in_a_row(program: str, T: int) -> int:
    """How many matrix products must wait for one another, however many processors there are.

    Of self-attention: queries and keys, the scores, the weighted sum. Of a recurrent network: one for each step, and
    one for all inputs, which do not wait for any state.
    """
    return 3 if program == ATTENTION else T + 1


def loop(x: np.ndarray, W_xh: np.ndarray, W_hh: np.ndarray, b: np.ndarray) -> np.ndarray:
    """x (T, D) -> the states (T, H) of a vanilla recurrent network that begins with zeros."""
    states, h = np.zeros((len(x), len(b))), np.zeros(len(b))
    for t, x_t in enumerate(x):
        h = np.tanh(x_t @ W_xh + h @ W_hh + b)
        states[t] = h
    return states


def attention(x: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor) -> Tensor:
    """x (B, T, D) and weights (D, K), (D, K), (D, M) -> outputs (B, T, M)."""
    scores = torch.bmm(x @ W_q, (x @ W_k).mT).div_(math.sqrt(W_k.shape[1]))
    return torch.bmm(scores.softmax(dim=2), x @ W_v)


def programs(T: int) -> dict[str, Callable[[], object]]:
    """PROGRAMS, each with random weights and the same sequence of T positions."""
    D = SETTINGS["D"]
    generator = torch.Generator().manual_seed(SETTINGS["seed"])
    x = torch.randn(1, T, D, generator=generator, dtype=torch.float64)
    W = torch.randn(3, D, D, generator=generator, dtype=torch.float64) / math.sqrt(D)
    rnn, gru = (layer(D, D, batch_first=True, dtype=torch.float64) for layer in (nn.RNN, nn.GRU))
    rows, (W_xh, W_hh, _) = x[0].numpy(), W.numpy()
    return {
        LOOP: lambda: loop(rows, W_xh, W_hh, np.zeros(D)),
        RNN: lambda: rnn(x),
        GRU: lambda: gru(x),
        ATTENTION: lambda: attention(x, *W),
    }


def machine() -> str:
    """This machine's processor, with the instructions that PyTorch uses. Recorded beside times."""
    info = Path("/proc/cpuinfo")
    named = re.search(r"^model name\s*: (.+)$", info.read_text("utf-8") if info.is_file() else "", re.M)
    name = re.sub(r"\((R|TM)\)", "", named[1]) if named else platform.processor() or platform.machine()
    return f"{name} with {torch.backends.cpu.get_cpu_capability()}"


@torch.no_grad()
def measured(lengths: tuple[int, ...] = LENGTHS, rounds: int = SETTINGS["rounds"]) -> Times:
    """The shortest processor time of each program at each length, in seconds. Everything is measured in turn."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    ready = {T: programs(T) for T in lengths}
    times = {program: [math.inf] * len(lengths) for program in PROGRAMS}
    for _ in range(rounds):
        for place, T in enumerate(lengths):
            for program, run in ready[T].items():
                run()  # not timed: it brings the program's numbers into the cache
                started = time.process_time()
                run()
                times[program][place] = min(times[program][place], time.process_time() - started)
    torch.set_num_threads(threads)
    return times


def slope(lengths: tuple[int, ...], times: list[float]) -> float:
    """The slope of the least-squares line through log time against log T."""
    return float(np.polyfit(np.log(lengths), np.log(times), 1)[0])


def crossover(lengths: tuple[int, ...], one: list[float], attending: list[float]) -> float | None:
    """The length from which self-attention takes longer than another program, on straight lines between the logs.

    None if it takes longer at the smallest length already, or never.
    """
    apart = np.log(attending) - np.log(one)
    for i in range(len(lengths) - 1):
        if apart[i] < 0 <= apart[i + 1]:
            share = -apart[i] / (apart[i + 1] - apart[i])
            return float(lengths[i] * (lengths[i + 1] / lengths[i]) ** share)
    return None


def summary(times: Times, lengths: tuple[int, ...] = LENGTHS) -> dict[str, dict[str, float | None]]:
    """Slopes for the short and the long sequences, and where self-attention becomes the slower one."""

    def of(program: str, some: tuple[int, ...]) -> float:
        return round(slope(some, [times[program][lengths.index(T)] for T in some]), 2)

    found: dict[str, dict[str, float | None]] = {}
    for program in PROGRAMS:
        found[program] = {"slope_short": of(program, SHORT), "slope_long": of(program, LONG)}
        if program != ATTENTION:
            at = crossover(lengths, times[program], times[ATTENTION])
            found[program]["crossover"] = at and round(at)
    return found


def main() -> None:
    times = measured()
    unit = times[ATTENTION][0]
    relative = {program: [round(one / unit, 2) for one in values] for program, values in times.items()}
    found = summary(relative)
    print({program: [f"{1000 * one:.3f} ms" for one in values] for program, values in times.items()})
    print(*found.items(), sep="\n")
    if "--record" in sys.argv[1:]:
        record = {
            "command": "OMP_NUM_THREADS=1 python -m experiments.ch06.cost --record",
            "settings": {"dtype": "float64", "threads": 1, "clock": "process_time", **SETTINGS},
            "machine": machine(),
            "versions": {"torch": torch.__version__.partition("+")[0], "numpy": np.__version__},
            "lengths": list(LENGTHS),
            "relative_times": relative,
            "summary": found,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
