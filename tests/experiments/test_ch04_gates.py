"""The experiments of chapter 04 on gates: their parts against PyTorch and closed forms, and what they recorded."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
import pytest
import torch

from experiments.ch03 import adding, lag_norms
from experiments.ch04 import lag_gates, latching, layers, lengths, museum, paths, recovery, tagging
from experiments.text import python_docs

MODULES = {
    module.__name__: module for module in (lag_gates, latching, layers, lengths, museum, paths, recovery, tagging)
}


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
        assert strong["tanh"] < strong["lstm_0"]
        assert strong["lstm_3"] > 0.05
        assert strong["gru_3"] > 1e-3
        weak = {cell: at[kind, 0.1, 1.0, cell] for cell in lag_gates.CELLS}
        assert weak["tanh"] > 1e6 * weak["lstm_0"]  # an ungated network can keep more than a gated one
    assert record["kept_by_bias"]["0"][-1] == pytest.approx(0.5**100, rel=0.01)


# The direct path and the others ---------------------------------------------------------------------------------------


def cell_state_from(
    W_h: torch.Tensor, x: torch.Tensor, c: torch.Tensor, o: torch.Tensor, cut: bool = False
) -> torch.Tensor:
    """Read x (T, 4H) from the cell state c, whose hidden state is o * tanh(c): the last cell state.

    With `cut`, no gradient passes from one cell state to the next along the cell line.
    """
    h = o * torch.tanh(c)
    for x_t in x:
        i, f, g, o = (x_t + h @ W_h).chunk(4)
        c = torch.sigmoid(f) * (c.detach() if cut else c) + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
    return c


@pytest.mark.parametrize("lag", [1, 4])
@pytest.mark.parametrize("cut", [False, True])
def test_full_derivatives_by_autograd(lag: int, cut: bool) -> None:
    rng = np.random.default_rng(6)
    W_h, x = rng.normal(size=(3, 12)), rng.normal(size=(8, 12))
    states = lag_gates.lstm_states(W_h, x)
    k = 7 - lag
    c_k, o_k, read = (torch.from_numpy(value) for value in (states.c[k], states.o[k], x[k + 1 :]))
    weights = torch.from_numpy(W_h)
    expected = torch.autograd.functional.jacobian(lambda c: cell_state_from(weights, read, c, o_k, cut), c_k)
    np.testing.assert_allclose(paths.full_derivatives(W_h, states, lag, cut)[-1], expected, rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("cell", paths.CURVES)
def test_recorded_cut_is_what_autograd_finds_if_the_cell_line_is_detached(cell: str) -> None:
    lags, norms = (1, 2, 5, 20, 100), []
    for seed in paths.SEEDS:
        W_h, x, _ = lag_gates.draw(cell, 1.0, 1.0, "gaussian", seed, 100 + paths.SETTINGS["before"], 64)
        states, weights = lag_gates.lstm_states(W_h, x), torch.from_numpy(W_h)
        norms.append([])
        for lag in lags:
            k = len(x) - 1 - lag
            c_k, o_k, read = (torch.from_numpy(value) for value in (states.c[k], states.o[k], x[k + 1 :]))

            def last_cell(c: torch.Tensor, read: torch.Tensor = read, o_k: torch.Tensor = o_k) -> torch.Tensor:
                return cell_state_from(weights, read, c, o_k, cut=True)  # noqa: B023

            norms[-1].append(torch.autograd.functional.jacobian(last_cell, c_k).norm().item() / 8)  # 8 is lag 0's
    found = recorded(paths)["curves"][cell]["cut"]
    np.testing.assert_allclose([found[lag] for lag in lags], np.exp(np.mean(np.log(norms), axis=0)), rtol=0.01)


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
        for name in ("direct", "full", "rest", "cut"):
            np.testing.assert_allclose(again[name]["mean"], found[how][name]["mean"], rtol=0.02)
        np.testing.assert_allclose(again["cosine"]["mean"], found[how]["cosine"]["mean"], atol=0.005)
    for cell, of_cell in record["curves"].items():
        one = found[cell, 1.0, 1.0]
        for name, norms in of_cell.items():
            at_0 = record["settings"]["hidden_size"] ** 0.5
            np.testing.assert_allclose(np.array(norms)[one["lags"]] * at_0, one[name]["mean"], rtol=0.02)
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
        assert one["cut"]["mean"][-1] < 1e-10 * one["full"]["mean"][-1]  # and nearly none of it never uses the line
    curves = {cell: (of_cell["full"], of_cell["direct"]) for cell, of_cell in recorded(paths)["curves"].items()}
    for cell, lag, factor in (("lstm_1", 20, 3), ("lstm_1", 100, 1e3), ("lstm_3", 100, 10)):
        assert curves[cell][0][lag] > factor * curves[cell][1][lag]
    random = {(one["cell"], one["radius"], one["input_sd"]): one["full"]["mean"] for one in recorded(paths)["random"]}
    assert 5 < random["lstm_3", 1.0, 0.1][-1] / 64**0.5 < 20  # with weak inputs it grows
    trained = next(one for one in recorded(paths)["trained"] if (one["cell"], one["task"]) == ("lstm_3", "50"))
    assert trained["trained"]["full"]["mean"][-1] > 4 * trained["trained"]["direct"]["mean"][-1]


# How a GRU's gradient recovers ----------------------------------------------------------------------------------------


def test_update_gates_are_those_with_which_pytorch_mixes() -> None:
    model = adding.network(adding.CELLS["gru"], 3)
    x = adding.held_out("validation")[0][:4, :30]
    gates, earlier, last = recovery.read(model.rnn, x, 7)
    states = model.rnn(x)[0].double()
    torch.testing.assert_close(last, states[:, -1], rtol=0, atol=1e-5)
    torch.testing.assert_close(earlier, states[:, -8], rtol=0, atol=1e-5)
    assert gates.shape == (4, 30, 32)
    with torch.no_grad():  # gates at 1 keep the state, whatever the candidate is
        model.rnn.bias_ih_l0[32:64] = 100
    gates, _, last = recovery.read(model.rnn, x, 7)
    assert gates.min() == 1
    assert not last.any()


def test_the_norm_is_that_of_pytorch() -> None:
    model = adding.network(adding.CELLS["gru"], 4)
    x, y = (part[:32] for part in adding.held_out("validation"))
    for lag in (1, 5, 60):
        expected = adding.lag_norms(model)[lag]
        assert recovery.norms_by_path(model, x, y, lag)["norm"] == pytest.approx(expected, rel=1e-3)


def test_a_gru_without_recurrent_weights_has_no_other_path_than_the_direct_one() -> None:
    model = adding.network(adding.CELLS["gru"], 4)
    with torch.no_grad():
        model.rnn.weight_hh_l0.zero_()
    x, y = (part[:32] for part in adding.held_out("validation"))
    norms = recovery.norms_by_path(model, x, y, 5)
    assert norms["direct"] == pytest.approx(norms["norm"], rel=1e-9)
    assert norms["cut"] == 0


def test_gates_that_are_closed_leave_no_direct_path() -> None:
    model = adding.network(adding.CELLS["gru"], 4)
    with torch.no_grad():
        model.rnn.bias_ih_l0[32:64] = -1e4
    x, y = (part[:32] for part in adding.held_out("validation"))
    norms = recovery.norms_by_path(model, x, y, 5)
    assert norms["cut"] == pytest.approx(norms["norm"], rel=1e-9)
    assert norms["direct"] == 0


def test_the_gates_open_while_the_error_is_at_its_baseline() -> None:
    record = recorded(recovery)
    solved_at = {run["seed"]: run["solved_at"] for run in recorded(adding)["runs"] if run["cell"] == "gru"}
    for run in record["runs"]:
        assert run["solved_at"] == solved_at[run["seed"]]
        at = run["update"].index(100)
        assert min(run["error"][1 : at + 1]) > 0.16  # 1/6 is the baseline
        assert run["percentile_90"][0] < 0.6 < 0.87 < run["percentile_90"][at]
        assert run["median"][at] < 0.86
        norm, direct, cut = (np.array(run[name]) for name in ("norm", "direct", "cut"))
        assert norm[at] > 1e10 * norm[0]
        assert direct[0] < 1e-2 * norm[0]  # before training it comes along other paths,
        assert cut[0] < 1e-30 * norm[0]  # which use direct edges on their way, too
        ratio = direct[at : run["update"].index(200) + 1] / norm[at : run["update"].index(200) + 1]
        assert 0.6 < ratio.min() < ratio.max() < 1.3
        assert direct[-1] < 0.5 * norm[-1]
        kept = run["units_kept"][run["update"].index(200)]
        assert 3 <= kept <= 11


@pytest.mark.slow
def test_recovery_again() -> None:
    again, run = recovery.run(12, updates=40), recorded(recovery)["runs"][2]
    assert run["seed"] == 12
    np.testing.assert_allclose(again["median"], run["median"][:3], atol=0.02)
    np.testing.assert_allclose(np.log10(again["norm"]), np.log10(run["norm"][:3]), atol=0.5)
    np.testing.assert_allclose(np.log10(again["direct"]), np.log10(run["direct"][:3]), atol=0.5)


# Latching -------------------------------------------------------------------------------------------------------------


def test_sequences_to_latch() -> None:
    x, y = latching.sequences(300, 12, 0.2, torch.Generator().manual_seed(0))
    assert x.shape == (300, 13, 2)
    torch.testing.assert_close(x[:, 0, 0], 2 * y - 1)
    assert not x[:, 1:, 0].any()
    assert not x[:, 0, 1].any()
    assert x[:, 1:, 1].std().item() == pytest.approx(0.2, rel=0.05)
    silent = latching.held_out("test", "50, no noise")[0]
    assert silent.shape == (2000, 51, 2)
    assert not silent[:, 1:].any()
    lengths = {len(x[0]) - 1 for _, (x, _) in zip(range(200), latching.training_batches(0, "1 to 50"), strict=False)}
    assert lengths <= set(range(1, 51))
    assert {1, 50} & lengths


def test_biases_of_the_gates_that_keep() -> None:
    for cell, how in latching.CELLS.items():
        rnn = latching.network(cell, 0).rnn
        bias = (rnn.bias_ih_l0 + rnn.bias_hh_l0)[16:32]
        assert how["kind"] == "tanh" or set(bias.tolist()) == {how["bias"]}
    assert latching.kept(1.0, 50) == pytest.approx(1.6e-7, rel=0.02)
    assert latching.kept(3.0, 50) == pytest.approx(0.088, rel=0.01)


def test_a_gate_of_constant_weight_keeps_what_its_bias_says() -> None:
    """Without weights, an LSTM's cell is multiplied by sigmoid(bias) at every step."""
    model = latching.network("lstm_2", 0)
    with torch.no_grad():
        model.rnn.weight_hh_l0.zero_()
        model.rnn.weight_ih_l0[16:32] = 0
        x = torch.zeros(1, 21, 2)
        model.rnn.bias_ih_l0[32:48] = 0
        model.rnn.bias_hh_l0[32:48] = 0
        x[:, 0, 0] = 1
        _, (_, first) = model.rnn(x[:, :1])
        _, (_, last) = model.rnn(x)
    torch.testing.assert_close(last, first * latching.kept(2.0, 20), rtol=1e-4, atol=1e-7)


def test_latching_summaries_follow_from_the_runs() -> None:
    record = recorded(latching)
    assert [(one["task"], one["cell"]) for one in record["results"]] == [
        (task, cell) for task in latching.TASKS for cell in latching.CELLS
    ]
    for one in record["results"]:
        needed = [update for update in one["solved_at"] if update is not None]
        assert len(one["solved_at"]) == len(one["test_accuracy"]) == one["runs"] == len(record["seeds"])
        assert one["solved"] == len(needed)
        assert one["updates_mean"] == (round(mean(needed)) if needed else None)
        assert one["updates_sd"] == (round(stdev(needed)) if len(needed) > 1 else None)
        for update, accuracy in zip(one["solved_at"], one["test_accuracy"], strict=True):
            assert update is not None or accuracy < 0.98
    for one in record["courses"]:
        assert len(one["gradient_at_50"]) == len(one["curve"]) + 1
    assert [(one["task"], one["seed"]) for one in record["courses"]] == len(latching.CELLS) * list(latching.FULL)


def solved(record: dict[str, Any]) -> dict[tuple[str, str], int]:
    return {(one["task"], one["cell"]): one["solved"] for one in record["results"]}


def test_what_latching_shows() -> None:
    found = solved(recorded(latching))
    assert all(found["10", cell] == 20 for cell in latching.CELLS)
    assert found["20", "lstm_0"] <= 2
    assert found["20", "lstm_1"] == found["20", "tanh"] == 20
    assert found["50", "lstm_0"] == found["50", "lstm_1"] == 0
    assert found["50", "gru_0"] == 0
    assert found["50", "tanh"] >= 10  # an ungated network latches where an LSTM with forget bias 1 does not
    assert found["50", "gru_3"] == 20 > min(found["50", "lstm_2"], found["50", "lstm_3"]) > found["50", "tanh"]
    assert all(found["1 to 50", cell] == 20 for cell in latching.CELLS)


def test_the_share_on_the_direct_path_predicts_which_lstms_learn() -> None:
    record = recorded(latching)
    shares: dict[tuple[str, str], float] = {}
    for cell, how in record["cells"].items():
        if how["kind"] != "tanh":
            shares |= {(task, cell): latching.kept(how["bias"], int(task)) for task in ("10", "20", "50")}
    found = solved(record)
    low = {key: found[key] for key, share in shares.items() if share < 2e-6}
    high = {key: found[key] for key, share in shares.items() if share > 5e-4}
    assert len(low) + len(high) == len(shares)
    assert min(high.values()) >= 14
    assert low.pop(("20", "gru_0")) == 20  # the exception
    assert max(low.values()) <= 1
    lags = record["untrained"]["lags"]
    left = {cell: dict(zip(lags, of["mean"], strict=True)) for cell, of in record["untrained"]["cells"].items()}
    assert left["gru_0"][20] > 50 * shares["20", "gru_0"]  # along all paths
    assert left["lstm_1"][50] == pytest.approx(left["gru_0"][20], rel=0.1)  # and still no LSTM learned
    assert left["tanh"][50] < 1e-6 * left["lstm_1"][50]


def test_untrained_gradients_are_those_recorded() -> None:
    norms = [latching.lag_norms(latching.network("lstm_1", seed))[50] for seed in latching.SEEDS]
    untrained = recorded(latching)["untrained"]
    assert np.exp(np.mean(np.log(norms))) == pytest.approx(untrained["cells"]["lstm_1"]["mean"][-1], rel=0.05)


def test_what_the_adding_problem_showed_in_chapter_03() -> None:
    record = recorded(adding)
    sums = record["summary"]
    of_five = {name: sums[name]["solved"] for name in ("tanh", "irnn", "lstm_1", "lstm_3", "gru")}
    assert of_five == {"tanh": 0, "irnn": 5, "lstm_1": 5, "lstm_3": 4, "gru": 5}
    assert all(sums[name]["runs"] == 5 for name in of_five)
    for key in ("hidden_size", "lr"):
        assert record["cells"]["irnn"][key] == record["cells"]["tanh"][key]
    assert 4.5 < record["cells"]["tanh"]["updates"] / sums["gru"]["updates_mean"] < 5.5


def test_the_first_updates_of_latching_again() -> None:
    run = next(one for one in recorded(latching)["courses"] if (one["cell"], one["seed"]) == ("lstm_1", 10))
    again, _ = latching.run("lstm_1", "50", 10, updates=10)
    assert again["gradient_at_50"] == pytest.approx(run["gradient_at_50"][:2], rel=0.05)  # before, and after 10 updates


@pytest.mark.slow
def test_latching_again() -> None:
    again = [latching.run("lstm_3", "20", seed)[0]["solved_at"] for seed in (10, 11, 12)]
    assert all(update is not None and update <= 100 for update in again)
    again = [latching.run("tanh", "20", seed)[0]["solved_at"] for seed in (10, 11, 12)]
    assert all(update is not None and update <= 400 for update in again)
    assert latching.run("lstm_1", "50", 10)[0]["test_accuracy"] == pytest.approx(0.5, abs=0.05)


# After every number of steps ------------------------------------------------------------------------------------------


def test_the_accuracy_after_each_number_of_steps_is_that_of_shorter_sequences() -> None:
    model = latching.network("gru_0", 0)
    found = lengths.by_steps(model, 12)
    x, y = latching.sequences(200, 60, 0.2, torch.Generator().manual_seed(5))
    assert found.tolist() == [pytest.approx(latching.accuracy(model, (x[:, : 1 + T], y))) for T in range(1, 13)]


def test_trained_at_one_length_tanh_networks_flip_their_answer() -> None:
    record = recorded(lengths)
    runs = {cell: [one for one in record["fixed"] if one["cell"] == cell] for cell in lengths.FIXED_CELLS}
    for of_cell in runs.values():
        assert [one["seed"] for one in of_cell] == record["seeds"]
        assert all(one["solved"] for one in of_cell)
    assert min(one["opposite"] for one in runs["tanh"]) >= 10
    assert sum(one["opposite"] >= 20 for one in runs["tanh"]) >= 15
    assert max(one["right"] for one in runs["tanh"]) <= 32 < 50 <= min(one["right"] for one in runs["lstm_1"])
    assert not any(one["opposite"] for one in runs["lstm_1"])
    for one in runs["tanh"]:
        real, imaginary = one["eigenvalue"]
        assert np.hypot(real, imaginary) > 1.05
        assert real < 0 or imaginary > 0
    tanh, lstm = (record["shown"]["accuracies"][cell] for cell in lengths.FIXED_CELLS)
    assert tanh[19] > 0.98 > 0.02 > tanh[20]
    assert min(lstm[5:]) > 0.98


def test_trained_at_many_lengths_gated_networks_are_right_at_all() -> None:
    found = recorded(lengths)["varied"]
    assert tuple(found) == lengths.VARIED_CELLS
    assert all(len(updates) == len(lengths.SEEDS) for updates in found.values())
    assert max(update or 600 for cell in ("lstm_0", "gru_0") for update in found[cell]) < 300
    assert 3 <= found["tanh"].count(None) <= 8


@pytest.mark.slow
def test_networks_after_every_number_of_steps_again() -> None:
    row, _ = lengths.run_fixed("tanh", 12)
    assert row["opposite"] >= 10
    assert row["right"] < 45
    row, _ = lengths.run_fixed("lstm_1", 12)
    assert row["right"] >= 45
    assert not row["opposite"]
    assert (lengths.run_varied("gru_0", 10) or 600) < 600


# The bug museum -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def characters() -> museum.Characters:
    return museum.Characters(python_docs())


def test_exchanged_weights_compute_what_exchanged_gates_compute() -> None:
    torch.manual_seed(0)
    rnn = torch.nn.LSTM(3, 4, batch_first=True)
    x = torch.randn(2, 6, 3)
    h, c = torch.zeros(2, 4), torch.zeros(2, 4)
    for t in range(6):
        a = x[:, t] @ rnn.weight_ih_l0.T + rnn.bias_ih_l0 + h @ rnn.weight_hh_l0.T + rnn.bias_hh_l0
        i, f, g, o = a.chunk(4, dim=1)
        c = torch.sigmoid(i) * c + torch.sigmoid(f) * torch.tanh(g)  # the slip
        h = torch.sigmoid(o) * torch.tanh(c)
    museum.exchange_gates(rnn)
    torch.testing.assert_close(rnn(x)[0][:, -1], h)


def test_turned_update_gate_computes_what_chungs_equation_computes() -> None:
    torch.manual_seed(0)
    rnn = torch.nn.GRU(3, 4, batch_first=True)
    x, h = torch.randn(2, 6, 3), torch.zeros(2, 4)
    for t in range(6):
        x_r, x_z, x_n = (x[:, t] @ rnn.weight_ih_l0.T + rnn.bias_ih_l0).chunk(3, dim=1)
        h_r, h_z, h_n = (h @ rnn.weight_hh_l0.T + rnn.bias_hh_l0).chunk(3, dim=1)
        z, n = torch.sigmoid(x_z + h_z), torch.tanh(x_n + torch.sigmoid(x_r + h_r) * h_n)
        h = z * n + (1 - z) * h  # the slip
    museum.turn_update_gate(rnn)
    torch.testing.assert_close(rnn(x)[0][:, -1], h)


@pytest.mark.parametrize("reading", ["right", *museum.READINGS])
def test_readings_of_a_gru_are_pytorchs_with_other_weights(reading: str) -> None:
    torch.manual_seed(0)
    right, misread = museum.Network("gru", (3, 4, 2)), museum.Misread("gru", (3, 4, 2))
    with torch.no_grad():
        right.rnn.weight_hh_l0[8:] = torch.eye(4)  # so that Cho's candidate differs in the bias only
    misread.load_state_dict(right.state_dict())
    misread.reading = reading
    if reading == "chung":
        museum.turn_update_gate(right.rnn)
    with torch.no_grad():
        if reading in ("cho", "merged"):
            right.rnn.bias_ih_l0[8:] += right.rnn.bias_hh_l0[8:]
            right.rnn.bias_hh_l0[8:] = 0
    x = torch.randn(2, 6, 3)
    torch.testing.assert_close(misread(x), right(x))
    with torch.no_grad():
        for model in (right, misread):
            model.rnn.weight_hh_l0[8:] = torch.randn(4, 4, generator=torch.Generator().manual_seed(1))
    assert torch.allclose(misread(x), right(x), atol=1e-5) == (reading != "cho")


def test_the_lstm_by_hand_is_pytorchs(characters: museum.Characters) -> None:
    ours, theirs = (museum.network("lstm", characters, 0, by_hand) for by_hand in (True, False))
    x, y = (part[:3] for part in characters.held_out)
    torch.testing.assert_close(ours(x), theirs(x), rtol=1e-4, atol=1e-5)
    grads = []
    for model in (ours, theirs):
        museum.cross_entropy(model(x), y).backward()
        grads.append(model.rnn.weight_hh_l0.grad)
    torch.testing.assert_close(*grads, rtol=1e-3, atol=1e-6)


def test_what_a_forgotten_gradient_leaves_at_zero(characters: museum.Characters) -> None:
    assert museum.run_backward("right", characters, 0, updates=2)["unmoved"] == []
    assert museum.run_backward("nothing reaches c", characters, 0, updates=2)["unmoved"] == ["i", "f", "g"]
    assert museum.run_backward("nothing reaches o", characters, 0, updates=2)["unmoved"] == ["o"]


def test_nodes_of_a_graph_by_hand() -> None:
    a = torch.ones(2, requires_grad=True)
    assert museum.nodes(a.sum()) == 2  # the sum, and the node that accumulates the gradient of a
    assert museum.nodes((a * a).sum()) == 3
    assert museum.nodes((a.detach() * a).sum()) == 3


def test_recorded_graphs_are_those_of_today() -> None:
    record = {one["program"]: one for one in recorded(museum)["graphs"]}
    assert list(record) == list(museum.PROGRAMS)
    for program, found in record.items():
        again = museum.graph(program)
        grown = np.diff(again["nodes"])
        assert (again["error"] is None) == (found["error"] is None)
        assert len(again["nodes"]) == len(found["nodes"])
        np.testing.assert_allclose(again["nodes"], found["nodes"], rtol=0.2)  # other versions may split operations
        assert not grown.any() if program == "detached" else len(set(grown)) == 1 and grown[0] > 0
    assert len(record["not detached"]["nodes"]) == len(record["retain_graph"]["nodes"]) == 2  # PyTorch refuses
    assert "a second time" in record["not detached"]["error"]
    assert record["retain_graph, .data"]["nodes"] == record["no no_grad"]["nodes"]


def test_what_the_museum_shows() -> None:
    record = recorded(museum)
    found = {(one["kind"], one["task"], one["wrong"]): one["solved"] for one in record["latches"]}
    assert found["lstm", "10", False] == found["lstm", "10", True] == 5  # silent with a bias of 0
    assert (found["lstm", "20", False], found["lstm", "20", True]) == (5, 0)
    assert found["gru", "20", False] == 5
    assert found["gru", "20", True] <= 1
    assert record["latching"]["hidden_size"] == 16
    gate = record["update_gate"]
    assert gate["trained wrongly"]["mean"] == pytest.approx(gate["trained"]["mean"], abs=0.05)  # silent, too
    assert gate["read: chung"]["mean"] > gate["read: cho"]["mean"] > gate["read: merged"]["mean"]
    for reading, more in (("chung", 1), ("cho", 1), ("merged", 0.2)):
        assert min(gate[f"read: {reading}"]["bits"]) > max(gate["trained"]["bits"]) + more
    last = record["backward"]["last"]
    assert last["nothing reaches c"]["mean"] > last["nothing reaches o"]["mean"] > last["right"]["mean"] + 0.2
    assert (
        last["nothing reaches c"]["mean"] < min(record["backward"]["untrained_bits"]) - 1
    )  # the loss falls all the same
    for one in record["backward"]["runs"]:
        assert (
            one["unmoved"]
            == {"right": [], "nothing reaches c": ["i", "f", "g"], "nothing reaches o": ["o"]}[one["backward"]]
        )


@pytest.mark.slow
def test_bugs_again(characters: museum.Characters) -> None:
    assert museum.latch("lstm", "20", 1.0, False, 10)["solved_at"] is not None
    assert museum.latch("lstm", "20", 1.0, True, 10)["solved_at"] is None
    gate = museum.run_update_gate(characters, 10)
    assert min(gate["read: chung"], gate["read: cho"]) > gate["trained"] + 0.7
    assert gate["read: merged"] > gate["trained"] + 0.1
    record = {(one["backward"], one["seed"]): one["curve"] for one in recorded(museum)["backward"]["runs"]}
    for name in museum.BACKWARDS:
        again = museum.run_backward(name, characters, 10, updates=40)["curve"]
        np.testing.assert_allclose(again, record[name, 10][:2], atol=0.05)


# Tagging --------------------------------------------------------------------------------------------------------------


def test_letters_and_tags_of_a_text() -> None:
    letters = tagging.letters_of("It is\nthe  end.")
    assert "".join(tagging.LETTERS[i] for i in letters.ids) == "tistheend"
    assert letters.tags.tolist() == [1, 0, 1, 0, 0, 1, 0, 0, 1]


def test_the_same_pieces_are_tested_whatever_they_are_padded_to() -> None:
    letters = tagging.letters_of("one two three four five six seven eight nine ten " * 5)
    near, far = (tagging.pieces_of_test(letters, padded_to) for padded_to in (None, 50))
    assert near.ids.shape == (1000, 30)
    assert far.ids.shape == (1000, 50)
    assert torch.equal(near.ids[near.real], far.ids[far.real])
    assert torch.equal(near.tags[near.real], far.tags[far.real])
    assert (far.ids[~far.real] == 26).all()


def test_reversal_leaves_padding_where_it_is() -> None:
    x = torch.tensor([[1, 2, 3, 0], [4, 0, 0, 0], [5, 6, 7, 8]])
    lengths = torch.tensor([3, 1, 4])
    assert tagging.reverse(x, lengths).tolist() == [[3, 2, 1, 0], [4, 0, 0, 0], [8, 7, 6, 5]]
    assert torch.equal(tagging.reverse(tagging.reverse(x, lengths), lengths), x)


def test_a_bidirectional_tagger_is_pytorchs_with_packed_sequences() -> None:
    model = tagging.model_of("bidirectional", 0)
    letters = tagging.letters_of("one two three four five six seven eight nine ten " * 5)
    batch = tagging.pieces(letters, 6, torch.Generator().manual_seed(0))
    both = torch.nn.LSTM(26, 24, batch_first=True, bidirectional=True)
    with torch.no_grad():
        for name, values in model.forwards.named_parameters():
            getattr(both, name).copy_(values)
        for name, values in model.backwards.named_parameters():
            getattr(both, f"{name}_reverse").copy_(values)
    x = torch.nn.functional.one_hot(batch.ids, 27)[:, :, :-1].float()
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, batch.lengths, batch_first=True, enforce_sorted=False)
    states, _ = torch.nn.utils.rnn.pad_packed_sequence(both(packed)[0], batch_first=True)
    expected = model.head(states)[:, :, 0][batch.real]
    torch.testing.assert_close(model(batch.ids, batch.lengths)[batch.real], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("cell", tagging.CELLS)
def test_which_letters_a_tag_depends_on_and_whether_padding_leaks(cell: str) -> None:
    model, ids, lengths = tagging.model_of(cell, 0), torch.arange(12)[None], torch.tensor([12])
    changed = ids.clone()
    changed[0, 6] = 25
    differs = (model(ids, lengths) != model(changed, lengths))[0].nonzero()[:, 0].tolist()
    first, last = {"forward": (6, 11), "backward": (0, 6), "forward, delayed": (4, 11)}.get(cell, (0, 11))
    assert differs == list(range(first, last + 1))
    padded = torch.nn.functional.pad(ids, (0, 30), value=26)
    same = torch.allclose(model(ids, lengths), model(padded, lengths)[:, :12], atol=1e-6)
    assert same == (cell != "bidirectional, padding first")


def test_scores() -> None:
    tags = torch.tensor([1, 1, 0, 0, 0])
    assert tagging.scores(torch.tensor([True, False, True, False, False]), tags) == {"accuracy": 0.6, "f1": 0.5}
    assert tagging.scores(torch.zeros(5, dtype=torch.bool), tags) == {"accuracy": 0.6, "f1": 0.0}


def test_what_tagging_shows() -> None:
    record = recorded(tagging)
    f1 = {cell: [run["f1"] for run in record["runs"] if run["cell"] == cell] for cell in record["cells"]}
    assert {cell: round(mean(values), 4) for cell, values in f1.items()} == {
        cell: found["f1"]["mean"] for cell, found in record["summary"].items()
    }
    assert min(f1["bidirectional"]) > max(f1["forward"])
    assert min(f1["forward, delayed"]) > max(f1["forward"])  # two letters of right context, without a second direction
    assert {round(found["weights"], -3) for found in record["summary"].values()} == {10_000}
    for run in record["runs"]:
        if run["cell"] != "bidirectional, padding first":
            assert run["largest_change_by_padding"] == 0
            assert run["padded"]["f1"] == pytest.approx(run["f1"], abs=0.001)
        else:
            assert run["largest_change_by_padding"] > 1  # F1 hardly differs, but a logit depends on the batch
        if run["cell"] == "bidirectional":
            assert 0.002 < run["f1"] - run["reversed_wrongly"]["padded_to_30"]["f1"] < 0.01
    means = {cell: mean(values) for cell, values in f1.items()}
    both, first = means["bidirectional"], means["bidirectional, padding first"]
    assert abs(both - first) < min(stdev(f1[cell]) for cell in ("bidirectional", "bidirectional, padding first"))
    assert means["forward"] < means["backward"] < means["forward, delayed"] < both - 2 * stdev(f1["bidirectional"])
    assert means["forward, delayed"] - means["forward"] > 0.7 * (both - means["forward"])
    counted = {window: found["f1"] for window, found in record["baseline"]["counted"].items()}
    assert means["forward"] < counted["3 to the left"] < counted["3 to the right"]  # counting is a strong baseline
    assert abs(means["backward"] - counted["3 to the right"]) < 0.01
    assert both > max(counted.values()) + 0.03
    assert abs(record["baseline"]["never"]["accuracy"] - 0.8) < 0.02


@pytest.mark.slow
def test_tagging_again() -> None:
    text = python_docs()
    train, held_out = (tagging.letters_of(part) for part in (text.train, text.held_out))
    never = recorded(tagging)["baseline"]["never"]["accuracy"]
    for cell in ("forward", "bidirectional"):
        again, _ = tagging.run(cell, 10, train, held_out, updates=60)
        assert again["accuracy"] > never - 0.02


# Layers ---------------------------------------------------------------------------------------------------------------


def test_characters_before_each_probed_step() -> None:
    rows = torch.arange(41)[None]
    first = int(layers.SETTINGS["first_probed"])
    assert layers.shifted(rows, 0)[0].tolist() == list(range(first, 40))
    assert layers.shifted(rows, -1)[0].tolist() == list(range(first + 1, 41))
    assert layers.shifted(rows, 8)[0].tolist() == list(range(first - 8, 32))


def test_a_probe_reads_what_is_there_and_nothing_else() -> None:
    rng = np.random.default_rng(0)
    ids, tested_ids = rng.integers(5, size=400), rng.integers(5, size=200)
    rotation = np.linalg.qr(rng.normal(size=(8, 8)))[0][:5]
    states, tested = np.eye(5)[ids] @ rotation, np.eye(5)[tested_ids] @ rotation
    assert layers.probe(states, ids, tested, tested_ids, 5) == 1.0
    other = rng.integers(5, size=200)
    assert layers.probe(states, ids, tested, other, 5) < 0.4


def test_a_replaced_character_changes_no_earlier_state(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers, "LAGS", (-1, 0, 20))
    torch.manual_seed(0)
    model = layers.Stacked(20)
    rows = torch.randint(0, 20, (30, 41))
    found = np.array(layers.remembered(model, rows))
    assert found.shape == (3, 3)
    assert not found[:, 0].any()
    assert (found[:, 1] > 0.1).all()
    assert (found[:, 2] < 0.1).all()
    assert model.layers[0].weight_ih_l0.shape == (3 * 48, 20)
    torch.testing.assert_close(model(rows[:, :-1]), model.head(model.states(rows[:, :-1])[-1]))


def test_layer_summaries_follow_from_the_runs() -> None:
    record = recorded(layers)
    assert layers.summary(record["runs"]) == record["summary"]
    before, after = (record["summary"][when] for when in ("untrained", "trained"))
    assert after["bits"]["mean"] < before["bits"]["mean"] - 2
    assert after["bits"]["mean"] > 2.2
    at = record["lags"].index(3)
    assert before["remembered"]["mean"][2][at] > 2 * before["remembered"]["mean"][0][at]
    next_one, *seen = (record["back"].index(back) for back in (-1, 0, 1, 2))
    assert (np.diff(np.array(before["readable"]["mean"])[:, next_one]) < 0).all()
    for run in record["runs"]:
        apart = [run[when]["remembered"][2][at] - run[when]["remembered"][0][at] for when in ("untrained", "trained")]
        assert apart[0] > 0.3  # depth alone makes the upper layers slower
        assert 0.04 < apart[1] < 0.5 * apart[0]  # after training the difference is smaller
        readable = np.array(run["trained"]["readable"])
        assert (np.diff(readable[:, next_one]) > 0).all()
        assert (np.diff(readable[:, seen], axis=0) < 0).all()


@pytest.mark.slow
def test_layers_again() -> None:
    stretches = layers.Stretches(python_docs())
    again, run = layers.run(10, stretches, updates=20), recorded(layers)["runs"][0]
    np.testing.assert_allclose(again["untrained"]["remembered"], run["untrained"]["remembered"], atol=0.01)
    np.testing.assert_allclose(again["untrained"]["readable"], run["untrained"]["readable"], atol=0.02)
    assert again["trained"]["bits"] < again["untrained"]["bits"] - 0.5
