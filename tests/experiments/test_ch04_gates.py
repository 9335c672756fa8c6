"""The experiments of chapter 04 on gates: their parts against PyTorch and closed forms, and what they recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from experiments.ch03 import lag_norms
from experiments.ch04 import lag_gates

MODULES = {module.__name__: module for module in (lag_gates,)}


def recorded(module: Any) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(Path(module.RESULTS_FILE).read_text("utf-8"))
    return record


# What all records contain ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODULES)
def test_a_record_has_settings_seeds_versions_and_its_command(name: str) -> None:
    module, record = MODULES[name], recorded(MODULES[name])
    assert record["command"] == f"python -m {name} --record"
    assert record["seeds"] == list(module.SEEDS)
    assert len(set(record["seeds"])) >= 5
    assert set(record["versions"]) <= {"numpy", "torch"}
    assert all(record["versions"].values())
    of_module = {key: value for key, value in record["settings"].items() if key in module.SETTINGS}
    assert of_module == module.SETTINGS
    assert Path(module.RESULTS_FILE).stat().st_size < 60_000


# The gradient against lag ---------------------------------------------------------------------------------------------


def copied(rnn: torch.nn.RNNBase, W_h: np.ndarray) -> torch.nn.RNNBase:
    """PyTorch's layer with these recurrent weights, an identity for the input weights, and biases of 0, in float64."""
    with torch.no_grad():
        rnn.weight_hh_l0.copy_(torch.from_numpy(W_h.T))
        rnn.weight_ih_l0.copy_(torch.eye(W_h.shape[1]))
        rnn.bias_ih_l0.zero_()
        rnn.bias_hh_l0.zero_()
    return rnn


def gradients_of_all_states(rnn: Any, x: np.ndarray, dh: np.ndarray) -> list[list[np.ndarray]]:
    """The gradient (H,) of every state, (h_t, c_t) or (h_t,), if that of the last h is dh: from t = T - 1 to 0."""
    state, kept = None, []
    for x_t in torch.from_numpy(x):
        _, state = rnn(x_t[None, None], state)
        kept.append(state if isinstance(state, tuple) else (state,))
    flat = [part for parts in kept for part in parts]
    grads = torch.autograd.grad((kept[-1][0][0, 0] * torch.from_numpy(dh)).sum(), flat, allow_unused=True)
    values = [np.zeros(len(dh)) if grad is None else grad[0, 0].numpy() for grad in grads]
    parts = len(kept[0])
    return [values[t * parts : (t + 1) * parts] for t in reversed(range(len(x)))]


def test_an_lstm_and_its_gradients_by_autograd() -> None:
    rng = np.random.default_rng(3)
    W_h, x, dh = rng.normal(size=(5, 20)), rng.normal(size=(9, 20)), rng.normal(size=5)
    rnn = copied(torch.nn.LSTM(20, 5).double(), W_h)
    states = lag_gates.lstm_states(W_h, x)
    outputs, (_, c) = rnn(torch.from_numpy(x)[:, None])
    np.testing.assert_allclose(states.h, outputs[:, 0].detach().numpy(), rtol=1e-12)
    np.testing.assert_allclose(states.c[-1], c[0, 0].detach().numpy(), rtol=1e-12)
    ours, passed = [dh, np.zeros(5)], gradients_of_all_states(rnn, x, dh)
    for t, expected in zip(range(8, -1, -1), passed, strict=True):
        # autograd's gradient of c_t leaves out the part through h_t, as dc does
        np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-12)
        if t:
            ours = list(lag_gates.lstm_back(W_h, states, t, *ours))


def test_a_gru_and_its_gradients_by_autograd() -> None:
    rng = np.random.default_rng(4)
    W_h, x, dh = rng.normal(size=(5, 15)), rng.normal(size=(9, 15)), rng.normal(size=5)
    rnn = copied(torch.nn.GRU(15, 5).double(), W_h)
    states = lag_gates.gru_states(W_h, x)
    np.testing.assert_allclose(states.h, rnn(torch.from_numpy(x)[:, None])[0][:, 0].detach().numpy(), rtol=1e-12)
    ours = dh
    for t, (expected,) in zip(range(8, -1, -1), gradients_of_all_states(rnn, x, dh), strict=True):
        np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-12)
        if t:
            ours = lag_gates.gru_back(W_h, states, t, ours)


def test_without_recurrent_weights_the_forget_gate_alone_decides() -> None:
    x = np.random.default_rng(5).normal(size=(30, 12))
    states = lag_gates.lstm_states(np.zeros((3, 12)), x)
    dc = dh = np.ones(3)
    for t in range(29, 0, -1):
        dh, dc = lag_gates.lstm_back(np.zeros((3, 12)), states, t, dh, dc)
    slope = states.o[-1] * (1 - np.tanh(states.c[-1]) ** 2)
    np.testing.assert_allclose(dc, (1 + slope) * np.prod(states.f[1:], axis=0), rtol=1e-12)


def test_the_tanh_network_beside_is_that_of_chapter_03() -> None:
    ours = lag_gates.over_seeds("tanh", 1.0, 0.1, "orthogonal")
    np.testing.assert_array_equal(ours, lag_norms.over_seeds(1.0, "tanh", 0.1, "orthogonal"))


def test_recorded_norms_of_gated_networks_are_those_of_today() -> None:
    record = recorded(lag_gates)
    assert record["cells"] == json.loads(json.dumps(lag_gates.CELLS))
    assert len(record["results"]) == 12 * len(lag_gates.CELLS)
    for found in record["results"][::7]:  # 7 and 6 cells have no common divisor: every cell is among them
        means, factors = lag_gates.over_seeds(found["cell"], found["radius"], found["input_sd"], found["kind"])
        np.testing.assert_allclose(found["mean"], means[record["lags"]], rtol=0.02)
        np.testing.assert_allclose(found["factor"], factors[record["lags"]], rtol=0.02)


def test_what_gates_do_to_the_gradient_of_an_untrained_network() -> None:
    record = recorded(lag_gates)
    at = {
        (found["kind"], found["input_sd"], found["radius"], found["cell"]): found["mean"][-1]
        for found in record["results"]
    }
    for kind in lag_gates.KINDS:
        strong = {cell: at[kind, 1.0, 1.0, cell] for cell in lag_gates.CELLS}
        assert strong["tanh"] < 1e-18
        assert strong["lstm_0"] < 1e-18  # gates alone cure nothing: the bias does
        assert strong["gru_0"] < 1e-16
        assert 1e-11 < strong["lstm_1"] < 1e-8
        assert strong["lstm_3"] > 0.01
        assert strong["gru_3"] > 1e-3
        weak = {cell: at[kind, 0.1, 1.0, cell] for cell in lag_gates.CELLS}
        assert weak["tanh"] > 1e6 * weak["lstm_0"]  # an ungated network can keep more than a gated one
    assert record["kept_by_bias"]["0"][-1] == pytest.approx(0.5**100, rel=0.01)
