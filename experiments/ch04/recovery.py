"""How a GRU's gradient recovers: its update gates, and the gradient's norm at lag 75, while it learns to add.

    python -m experiments.ch04.recovery [--record]

The networks, sequences and seeds are those of the GRU of experiments.ch03.adding: 32 units, Adam with a learning rate
of 0.01, five seeds. Before training, every 20 updates and after the last one, three things are measured on validation
sequences. First the update gates at all steps without a mark, in PyTorch's convention, in which 1 keeps the state:
their median and 90th percentile over units and steps, the share of them above 0.95, and the number of units whose mean
is above 0.95. Then the gradient's norm at lag 75, relative to lag 0. The same norm along the direct path
alone: the gradient of the last state times the product of the last 75 update gates. And the norm along all paths that
never take a direct edge, from a state to the next through the update gate alone: these edges are cut. Takes about
three minutes on one core.
"""

from __future__ import annotations

import copy
import sys
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from experiments.ch03 import adding
from experiments.ch03.cells import Network, train
from experiments.ch03.record import significant, to_json

RESULTS_FILE = Path(__file__).with_name("recovery.json")
CELL = "gru"  # of adding.CELLS
SETTINGS: dict[str, Any] = {**adding.SETTINGS, **adding.CELLS[CELL], "sequences": 200, "lag": 75, "keeps_above": 0.95}
SEEDS = adding.SEEDS
Look = dict[str, Any]


def read(rnn: torch.nn.RNNBase, x: Tensor, lag: int, cut: bool = False) -> tuple[Tensor, Tensor, Tensor]:
    """Read x (B, T, D) with a GRU in float64: its update gates (B, T, H), the state `lag` steps before the end, and the
    last one, both (B, H). If `cut`, no gradient takes a direct edge, from a state to the next through z alone."""
    rnn = copy.deepcopy(rnn).double()
    h, gates, steps = torch.zeros(len(x), rnn.hidden_size, dtype=torch.float64), [], x.shape[1]
    for step, x_t in enumerate(x.double().unbind(1)):
        if step == steps - lag:
            h = earlier = h.detach().requires_grad_()
        x_r, x_z, x_n = (x_t @ rnn.weight_ih_l0.T + rnn.bias_ih_l0).chunk(3, dim=1)
        h_r, h_z, h_n = (h @ rnn.weight_hh_l0.T + rnn.bias_hh_l0).chunk(3, dim=1)
        z = torch.sigmoid(x_z + h_z)
        h = (1 - z) * torch.tanh(x_n + torch.sigmoid(x_r + h_r) * h_n) + z * (h.detach() if cut else h)
        gates.append(z.detach())
    return torch.stack(gates, dim=1), earlier, h


def gradient(model: Network, last: Tensor, y: Tensor) -> Tensor:
    """The gradient of the loss with respect to the last state (B, H)."""
    state = last.detach().requires_grad_()
    outputs = copy.deepcopy(model.head).double()(state)[:, None]
    (dh,) = torch.autograd.grad(adding.squared_error(outputs, y.double()), state)
    return dh


def norms_by_path(model: Network, x: Tensor, y: Tensor, lag: int) -> dict[str, float]:
    """The gradient's norm at a lag, relative to lag 0: along all paths, along the direct one, and without its edges."""
    gates, earlier, last = read(model.rnn, x, lag)
    dh = gradient(model, last, y)
    (everywhere,) = torch.autograd.grad(last, earlier, dh)
    direct = dh * gates[:, gates.shape[1] - lag :].prod(dim=1)
    _, earlier, last = read(model.rnn, x, lag, cut=True)
    (without,) = torch.autograd.grad(last, earlier, dh)
    return {
        name: float(part.norm() / dh.norm())
        for name, part in (("norm", everywhere), ("direct", direct), ("cut", without))
    }


def look(model: Network, update: int) -> Look:
    """Measure a GRU: its gates at unmarked steps, and the gradient's norm along all paths and directly."""
    x, y = adding.held_out("validation")
    rows, lag = int(SETTINGS["lag_batch"]), int(SETTINGS["lag"])
    x, y = x[: int(SETTINGS["sequences"])], y[: int(SETTINGS["sequences"])]
    gates, _, _ = read(model.rnn, x, lag)
    unmarked = gates[x[:, :, 1] == 0]  # (steps of all sequences, H)
    keeps = SETTINGS["keeps_above"]
    along = norms_by_path(model, x[:rows], y[:rows], lag)
    return {
        "update": update,
        "error": round(adding.error(model, adding.held_out("validation")), 4),
        "median": round(unmarked.median().item(), 3),
        "percentile_90": round(unmarked.flatten().quantile(0.9).item(), 3),
        "share_kept": round((unmarked > keeps).double().mean().item(), 3),
        "units_kept": int((unmarked.mean(dim=0) > keeps).sum()),
        **{name: significant([norm])[0] for name, norm in along.items()},
    }


def run(seed: int, updates: int | None = None) -> dict[str, Any]:
    """Train one GRU as adding.run does, and look at it before, every so many updates, and at the end."""
    model = adding.network(adding.CELLS[CELL], seed)
    looks = [look(model, 0)]

    def seen(update: int) -> float:
        looks.append(look(model, update))
        return float(looks[-1]["error"])

    train(
        model,
        adding.training_batches(seed, adding.STEPS),
        adding.squared_error,
        seen,
        updates=updates or SETTINGS["updates"],
        lr=SETTINGS["lr"],
        clip=SETTINGS["clip"],
        look_every=SETTINGS["look_every"],
        stop=lambda value: value < SETTINGS["stop_below"],
    )
    below = [one["update"] for one in looks if one["error"] < SETTINGS["solved_below"]]
    return {
        "seed": seed,
        "solved_at": below[0] if below else None,
        **{name: [one[name] for one in looks] for name in looks[0]},
    }


def main() -> None:
    runs = []
    for seed in SEEDS:
        runs.append(run(seed))
        print(runs[-1], flush=True)
    if "--record" in sys.argv[1:]:
        record = {
            "command": "python -m experiments.ch04.recovery --record",
            "settings": {"steps": adding.STEPS, "optimizer": "Adam", **SETTINGS},
            "seeds": list(SEEDS),
            "versions": {"torch": torch.__version__.partition("+")[0]},
            "runs": runs,
        }
        RESULTS_FILE.write_text(to_json(record), "utf-8")


if __name__ == "__main__":
    main()
