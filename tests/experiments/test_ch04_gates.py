"""The experiments of chapter 04 on gates: their parts against PyTorch and closed forms, and what they recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from experiments.ch03 import lag_norms
from experiments.ch04 import lag_gates, latching, paths

MODULES = {module.__name__: module for module in (lag_gates, paths)}


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


# The direct path and the others ---------------------------------------------------------------------------------------


def cell_state_from(W_h: torch.Tensor, x: torch.Tensor, c: torch.Tensor, o: torch.Tensor) -> torch.Tensor:
    """Read x (T, 4H) from the cell state c, whose hidden state is o * tanh(c): the last cell state."""
    h = o * torch.tanh(c)
    for x_t in x:
        i, f, g, o = (x_t + h @ W_h).chunk(4)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
    return c


@pytest.mark.parametrize("lag", [1, 4])
def test_full_derivatives_by_autograd(lag: int) -> None:
    rng = np.random.default_rng(6)
    W_h, x = rng.normal(size=(3, 12)), rng.normal(size=(8, 12))
    states = lag_gates.lstm_states(W_h, x)
    k = 7 - lag
    c_k, o_k, read = (torch.from_numpy(value) for value in (states.c[k], states.o[k], x[k + 1 :]))
    weights = torch.from_numpy(W_h)
    expected = torch.autograd.functional.jacobian(lambda c: cell_state_from(weights, read, c, o_k), c_k)
    np.testing.assert_allclose(paths.full_derivatives(W_h, states, lag)[-1], expected.numpy(), rtol=0, atol=1e-12)


def test_without_recurrent_weights_the_direct_path_is_all() -> None:
    x = np.random.default_rng(7).normal(size=(12, 20))
    found = paths.paths(np.zeros((5, 20)), x, 10)
    np.testing.assert_allclose(found.rest, 0, atol=1e-15)
    np.testing.assert_allclose(found.full, found.direct)
    np.testing.assert_allclose(found.cosine, 1)
    states = lag_gates.lstm_states(np.zeros((5, 20)), x)
    np.testing.assert_array_equal(paths.direct_path(states, 11, 11), np.ones(5))
    np.testing.assert_allclose(paths.direct_path(states, 8, 11), states.f[9] * states.f[10] * states.f[11])


def test_a_trained_network_is_read_as_pytorch_reads_it() -> None:
    model = latching.network("lstm_3", 0)
    x = latching.held_out("test", "10")[0][:1]
    states = lag_gates.lstm_states(*paths.of_network(model, x[0].double().numpy()))
    np.testing.assert_allclose(states.h, model.rnn(x)[0][0].detach().numpy(), rtol=0, atol=1e-6)


def test_recorded_paths_are_those_of_today() -> None:
    record = recorded(paths)
    found = {(one["cell"], one["radius"], one["input_sd"]): one for one in record["random"]}
    assert set(found) == set(paths.RANDOM)
    for how in paths.RANDOM[4:5]:
        again = paths.summary([paths.random_paths(*how, seed) for seed in paths.SEEDS])
        for name in ("direct", "full", "rest"):
            np.testing.assert_allclose(again[name]["mean"], found[how][name]["mean"], rtol=0.02)
        np.testing.assert_allclose(again["cosine"]["mean"], found[how]["cosine"]["mean"], atol=0.005)
    assert min(min(one["largest_rest_at_lag_1"]) for one in found.values()) > 0.03  # the full Jacobian is not diag(f)
    for one in record["trained"][:1]:
        before = paths.summary(
            [
                part
                for seed in paths.TRAINED_SEEDS
                for part in paths.network_paths(latching.network(one["cell"], seed), one["task"])
            ]
        )
        np.testing.assert_allclose(before["full"]["mean"], one["untrained"]["full"]["mean"], rtol=0.02)


def test_what_the_direct_path_leaves_out() -> None:
    for one in (*recorded(paths)["random"], *(found["trained"] for found in recorded(paths)["trained"])):
        assert one["cosine"]["mean"][0] > 0.9  # one step: nearly all of the derivative
        assert one["rest"]["mean"][-1] > 0.99 * one["direct"]["mean"][-1]  # many steps: most of it is beside
