"""What the timing of self-attention against an LSTM computes, and what it recorded."""

from __future__ import annotations

import json
import sys

import pytest
import torch

from experiments.ch06 import parallel
from experiments.ch06.parallel import ATTENTION, LAYERS, LENGTHS, LSTM, PASSES


def test_self_attention_is_causal_and_equals_a_slow_loop() -> None:
    torch.manual_seed(0)
    layer, x = parallel.SelfAttention(6, 2).double(), torch.randn(2, 5, 6, dtype=torch.float64)
    q, k, v = layer.project(x).chunk(3, dim=2)
    expected = torch.zeros_like(x)
    for b in range(2):
        for t in range(5):
            for head in range(2):
                part = slice(3 * head, 3 * head + 3)
                alpha = torch.softmax(k[b, : t + 1, part] @ q[b, t, part] / 3**0.5, dim=0)
                expected[b, t, part] = alpha @ v[b, : t + 1, part]
    torch.testing.assert_close(layer(x), layer.out(expected))


def test_both_layers_take_and_return_the_same_shapes_and_all_parameters_get_gradients() -> None:
    x, upstream = torch.randn(3, 4, parallel.SETTINGS["D"]), torch.randn(3, 4, parallel.SETTINGS["D"])
    for name, layer in parallel.layers("cpu").items():
        assert layer(x).shape == x.shape, name
        assert all(seconds > 0 for seconds in parallel.timed(layer, x, upstream, "cpu"))
        assert all(weights.grad is not None for weights in layer.parameters())
    sizes = [sum(w.numel() for w in layer.parameters()) for layer in parallel.layers("cpu").values()]
    D = parallel.SETTINGS["D"]
    assert sizes == [8 * D**2 + 8 * D, 4 * D**2]


def test_medians_ratios_and_the_summary_of_known_times() -> None:
    """A clock that answers with T for the LSTM and T²/64 for attention, twice that backward, and once far too much."""
    calls = 0

    def clock(layer: torch.nn.Module, x: torch.Tensor, _: torch.Tensor, device: str) -> tuple[float, float]:
        nonlocal calls
        calls += 1
        assert device == "cpu"
        one = x.shape[1] if isinstance(layer, parallel.Reading) else x.shape[1] ** 2 / 64
        return (one, 2.0 * one) if calls > 8 else (1e6, 1e6)

    lengths = (16, 32, 64, 128)
    times = parallel.measured(lengths, 5, "cpu", clock)
    assert calls == 2 * 2 * 4 * 5
    assert times[LSTM]["forward"] == [16, 32, 64, 128]
    ratios = parallel.relative(times)
    assert ratios[ATTENTION] == {"forward": [1, 4, 16, 64], "backward": [2, 8, 32, 128]}
    found = parallel.summary(ratios, lengths)
    assert found["LSTM / self-attention"] == [4, 2, 1, 0.5]
    assert found["slopes"] == {LSTM: 1, ATTENTION: 2}
    assert found["crossover"] == 64


def test_a_trial_and_a_busy_machine_are_not_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["parallel", "--record", "--longest", "32"])
    with pytest.raises(SystemExit, match="A trial is not recorded"):
        parallel.main()
    monkeypatch.setattr(sys, "argv", ["parallel", "--record"])
    monkeypatch.setattr(parallel, "busy", lambda: 0.7)
    with pytest.raises(SystemExit, match="quiet machine"):
        parallel.main()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(sys, "argv", ["parallel", "--device", "cuda"])
    with pytest.raises(SystemExit, match="finds no GPU"):
        parallel.main()


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_a_record_has_settings_versions_and_its_command(device: str) -> None:
    path = parallel.results_file(device)
    if device != "cpu" and not path.exists():
        pytest.skip(f"no record of {device} yet")
    record = json.loads(path.read_text("utf-8"))
    assert record["command"].startswith("python -m experiments.ch06.parallel --record")
    assert {key: record["settings"][key] for key in parallel.SETTINGS} == parallel.SETTINGS
    assert record["lengths"] == list(LENGTHS)
    assert record["load"] <= 0.1
    assert record["summary"] == parallel.summary(record["relative_times"], LENGTHS)
    assert record["relative_times"].keys() == set(LAYERS)
    assert all(passes.keys() == set(PASSES) for passes in record["relative_times"].values())
