"""What self-attention costs, and what a network without positions learns: the parts, and what was recorded."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
import torch

from experiments.ch06 import cost, museum, positions
from experiments.ch06.cost import ATTENTION, GRU, LENGTHS, LOOP, PROGRAMS, RNN
from solutions.ch06_attention.self_attention import self_attention


def recorded(module: Any) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(module.RESULTS_FILE.read_text("utf-8"))
    return record


def test_the_records_have_settings_versions_and_commands() -> None:
    timed, placed = recorded(cost), recorded(positions)
    assert timed["command"] == "OMP_NUM_THREADS=1 python -m experiments.ch06.cost --record"
    assert placed["command"] == "python -m experiments.ch06.positions --record"
    assert {key: timed["settings"][key] for key in cost.SETTINGS} == cost.SETTINGS
    assert timed["machine"]
    assert timed["versions"].keys() == {"torch", "numpy"}
    assert timed["lengths"] == list(LENGTHS)
    assert {key: placed["settings"][key] for key in museum.SETTINGS} == museum.SETTINGS
    assert placed["seeds"] == list(museum.SEEDS)


def test_the_summaries_follow_from_the_runs() -> None:
    timed, placed = recorded(cost), recorded(positions)
    assert timed["summary"] == cost.summary(timed["relative_times"])
    assert placed["summary"] == positions.summary(placed["runs"])
    assert [(one["kind"], one["seed"]) for one in placed["runs"]] == [
        (kind, seed) for kind in positions.KINDS for seed in museum.SEEDS
    ]


def test_the_timed_programs_compute_what_they_should() -> None:
    x = torch.randn(1, 9, 4, dtype=torch.float64)
    W_q, W_k, W_v = W = torch.randn(3, 4, 4, dtype=torch.float64)
    expected, _ = self_attention(x.numpy(), W_q.numpy(), W_k.numpy(), W_v.numpy())
    np.testing.assert_allclose(cost.attention(x, *W).numpy(), expected, atol=1e-12)
    rnn = torch.nn.RNN(4, 4, batch_first=True, dtype=torch.float64)
    W_xh, W_hh = (each.detach().numpy().T for each in (rnn.weight_ih_l0, rnn.weight_hh_l0))
    b = (rnn.bias_ih_l0 + rnn.bias_hh_l0).detach().numpy()
    np.testing.assert_allclose(cost.loop(x[0].numpy(), W_xh, W_hh, b), rnn(x)[0][0].detach().numpy(), atol=1e-12)
    assert cost.programs(8).keys() == set(PROGRAMS)


def test_slopes_and_crossovers_of_known_lines() -> None:
    lengths = (2, 4, 8, 16)
    squares, lines = [T**2 / 5 for T in lengths], [float(T) for T in lengths]
    assert cost.slope(lengths, squares) == pytest.approx(2)
    assert cost.slope(lengths, lines) == pytest.approx(1)
    at = cost.crossover(lengths, lines, squares)
    assert at is not None
    assert at == pytest.approx(5)
    assert cost.crossover(lengths, squares, squares) is None
    assert cost.crossover(lengths, squares, lines) is None


def test_the_cost_as_recorded() -> None:
    """What the page says of the figure."""
    record = recorded(cost)
    summary, times = record["summary"], record["relative_times"]
    assert times[ATTENTION][0] == 1 < min(times[program][0] for program in (LOOP, RNN, GRU))
    at = [summary[program]["crossover"] for program in (LOOP, RNN, GRU)]
    assert at == sorted(at)
    for program in (LOOP, RNN, GRU):
        assert 0.9 < summary[program]["slope_long"] < 1.1
        assert 256 < summary[program]["crossover"] < 2048
        assert times[program][-1] < times[ATTENTION][-1]
    D = record["settings"]["D"]
    counted = cost.slope(cost.LONG, [cost.multiplications(ATTENTION, T, D) for T in cost.LONG])
    assert counted + 0.3 < summary[ATTENTION]["slope_long"] < 2.7


def test_every_program_is_timed_at_every_length() -> None:
    times = cost.measured((4, 8), rounds=1)
    assert {program: len(values) for program, values in times.items()} == dict.fromkeys(PROGRAMS, 2)
    assert all(0 <= one < math.inf for values in times.values() for one in values)
    assert cost.machine().endswith(torch.backends.cpu.get_cpu_capability())


def test_without_positions_only_the_order_is_lost() -> None:
    """The output at a position depends on which symbols were read before it, not on their order."""
    torch.manual_seed(0)
    model = positions.Placed("right", positions.NONE).double()
    ids = museum.sequences(3, torch.Generator().manual_seed(0))[:, :-1]
    mixed = ids.clone()
    mixed[:, :5] = ids[:, torch.tensor([3, 0, 4, 1, 2])]
    with torch.no_grad():
        torch.testing.assert_close(model(mixed)[:, 5:], model(ids)[:, 5:], atol=1e-10, rtol=0)
        assert (model(mixed)[:, :5] - model(ids)[:, :5]).abs().max() > 1e-3
    fixed = positions.Placed("right", positions.SINUSOIDAL).position.weight
    np.testing.assert_allclose(fixed.numpy(), positions.sinusoids(2 * museum.LENGTH, museum.D), atol=1e-6)
    assert not fixed.requires_grad


def test_the_positions_as_recorded() -> None:
    runs = recorded(positions)["runs"]
    for one in runs:
        if one["kind"] == positions.NONE:
            assert one["exact"] == 0
            assert one["written_accuracy"] > 100 / museum.LETTERS + 5
        else:
            assert one["exact"] > 99


@pytest.mark.slow
@pytest.mark.parametrize("kind", positions.KINDS)
def test_positions_are_learned_as_recorded(kind: str) -> None:
    """A bound that is far from both: 24 to 27 % of the letters without positions, and all with them."""
    found = positions.run(kind, 10, updates=200)
    assert (found["written_accuracy"] > 60) == (kind != positions.NONE)
