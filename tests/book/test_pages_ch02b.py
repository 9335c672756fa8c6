"""Each labelled equation of truncated and real_text, against PyTorch or a slow loop that knows nothing of the page."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from experiments.ch02 import char_rnn, truncation
from solutions.ch01_vanilla_rnn.recurrence import rnn_forward
from solutions.ch02_bptt.training import adagrad_step
from solutions.ch02_bptt.truncated import truncated_bptt


def drawn(
    rng: np.random.Generator, B: int, T: int, D: int, H: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """x, h_0, dh and weights."""
    weights = rng.normal(size=(D, H)), rng.normal(size=(H, H)), rng.normal(size=H)
    return rng.normal(size=(B, T, D)), rng.normal(size=(B, H)), rng.normal(size=(B, T, H)), weights


def by_detaching(
    dh: np.ndarray, x: np.ndarray, h_0: np.ndarray, weights: tuple[np.ndarray, ...], tau: int
) -> list[np.ndarray]:
    """The gradients of sum(dh * h) by autograd, the state detached before every tau-th step."""
    tensors = [torch.from_numpy(values).requires_grad_() for values in weights]
    state = torch.from_numpy(h_0)
    loss = torch.zeros((), dtype=torch.float64)
    for t in range(x.shape[1]):
        if t % tau == 0:
            state = state.detach()
        state = torch.tanh(torch.from_numpy(x[:, t]) @ tensors[0] + state @ tensors[1] + tensors[2])
        loss = loss + (torch.from_numpy(dh[:, t]) * state).sum()
    return [grad.numpy() for grad in torch.autograd.grad(loss, tensors)]


@pytest.mark.parametrize(("B", "T", "H"), [(8, 32, 64), (1, 1, 1)])
def test_states_kept(B: int, T: int, H: int) -> None:
    """Equation (memory-of-states)."""
    x, h_0, _, weights = drawn(np.random.default_rng(0), B, T, 3, H)
    assert rnn_forward(x, h_0, *weights).size == B * T * H


@pytest.mark.parametrize(
    ("B", "T", "D", "H", "tau"), [(2, 12, 3, 4, 5), (1, 1, 1, 1, 1), (3, 6, 2, 5, 1), (2, 9, 1, 2, 3)]
)
def test_nothing_comes_back_over_a_cut(B: int, T: int, D: int, H: int, tau: int) -> None:
    """Equation (truncated-back)."""
    x, h_0, dh, weights = drawn(np.random.default_rng(1), B, T, D, H)
    ours = truncated_bptt(dh, x, h_0, rnn_forward(x, h_0, *weights), *weights[:2], tau)
    for mine, theirs in zip(ours, by_detaching(dh, x, h_0, weights, tau), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-10)


@pytest.mark.parametrize("tau", [7, 8, 1000])
def test_one_chunk_is_the_full_gradient(tau: int) -> None:
    """Equation (truncated-is-full); and one step less is not full."""
    x, h_0, dh, weights = drawn(np.random.default_rng(2), 2, 7, 3, 4)
    h = rnn_forward(x, h_0, *weights)
    full = by_detaching(dh, x, h_0, weights, tau=7)
    for mine, theirs in zip(truncated_bptt(dh, x, h_0, h, *weights[:2], tau), full, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-10)
    assert np.abs(truncated_bptt(dh, x, h_0, h, *weights[:2], 6)[1] - full[1]).max() > 1e-3


@pytest.mark.parametrize("tau", [1, 5, 11])
def test_chunks_read_what_one_go_reads(tau: int) -> None:
    """Equation (chunked-forward): the states are those of torch.nn.RNN in one go, and our own to the last bit."""
    x, h_0, _, weights = drawn(np.random.default_rng(3), 2, 12, 3, 4)
    rnn = torch.nn.RNN(3, 4, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        for parameter, values in zip(
            rnn.parameters(), (weights[0].T, weights[1].T, weights[2], np.zeros(4)), strict=True
        ):
            parameter.copy_(torch.from_numpy(values))
        theirs = rnn(torch.from_numpy(x), torch.from_numpy(h_0[None]))[0].numpy()
    rest = rnn_forward(x[:, tau:], theirs[:, tau - 1], *weights)
    np.testing.assert_allclose(rest, theirs[:, tau:], rtol=0, atol=1e-12)
    whole = rnn_forward(x, h_0, *weights)
    assert np.array_equal(rnn_forward(x[:, tau:], whole[:, tau - 1], *weights), whole[:, tau:])


@pytest.mark.parametrize(("T", "tau"), [(100, 1), (100, 20), (12, 3), (7, 7)])
def test_pairs_in_one_chunk(T: int, tau: int) -> None:
    """Equation (pairs-kept), by counting."""
    pairs = [(k, t) for t in range(T) for k in range(t + 1)]
    assert len(pairs) == T * (T + 1) / 2
    assert sum(k // tau == t // tau for k, t in pairs) == T * (tau + 1) / 2


def test_adagrad() -> None:
    """Equation (adagrad), five steps, as PyTorch has it."""
    rng = np.random.default_rng(4)
    theta, cache = rng.normal(size=(3, 4)), np.zeros((3, 4))
    tensor = torch.from_numpy(theta.copy()).requires_grad_()
    theirs = torch.optim.Adagrad([tensor], lr=0.1, eps=1e-8)
    for _ in range(5):
        grad = rng.normal(size=(3, 4))
        tensor.grad = torch.from_numpy(grad)
        theirs.step()
        theta, cache = adagrad_step(theta, grad, cache, 0.1)
    np.testing.assert_allclose(theta, tensor.detach().numpy(), rtol=0, atol=1e-12)


def test_first_step_of_adagrad() -> None:
    """Equation (adagrad-first-step)."""
    theta, grad = np.array([1.0, -2.0, 0.5, 0.5]), np.array([300.0, -0.03, 1e-3, -7.0])
    moved, _ = adagrad_step(theta, grad, np.zeros(4), 0.1, eps=0.0)
    np.testing.assert_allclose(moved - theta, -0.1 * np.sign(grad), rtol=0, atol=1e-12)


def test_bits() -> None:
    """Equation (bits-per-character) of chapter 0, which real_text uses: a network that knows nothing pays log2 V."""
    params = {name: 0 * theta for name, theta in char_rnn.initial(8, 3, np.random.default_rng(5)).items()}
    assert char_rnn.bits(params, np.arange(40) % 8) == pytest.approx(3.0, abs=1e-12)
    nats = -math.log(0.2)
    assert nats / math.log(2) == pytest.approx(-math.log2(0.2))


def test_the_network_of_the_experiments_against_autograd() -> None:
    rng = np.random.default_rng(7)
    params = char_rnn.initial(6, 4, rng)
    inputs, targets, h_0 = rng.integers(0, 6, (2, 7)), rng.integers(0, 6, (2, 7)), rng.normal(size=(2, 4))
    loss, grads, h_T = char_rnn.loss_and_grads(params, inputs, targets, h_0)
    tensors = {name: torch.from_numpy(theta).requires_grad_() for name, theta in params.items()}
    state, logits = torch.from_numpy(h_0), []
    for t in range(7):
        state = torch.tanh(tensors["W_xh"][inputs[:, t]] + state @ tensors["W_hh"] + tensors["b_h"])
        logits.append(state @ tensors["W_hy"] + tensors["b_y"])
    right = torch.nn.functional.cross_entropy(
        torch.stack(logits, 1).reshape(-1, 6), torch.from_numpy(targets).reshape(-1)
    )
    right.backward()
    assert loss == pytest.approx(right.item(), abs=1e-12)
    np.testing.assert_allclose(h_T, state.detach().numpy(), rtol=0, atol=1e-12)
    for name, tensor in tensors.items():
        assert tensor.grad is not None
        np.testing.assert_allclose(grads[name], tensor.grad.numpy(), rtol=0, atol=1e-10)
    for bug in char_rnn.BUGS:
        same_loss, wrong, _ = char_rnn.loss_and_grads(params, inputs, targets, h_0, bug)
        assert same_loss == loss
        assert max(np.abs(wrong[name] - grads[name]).max() for name in grads) > 1e-3


@pytest.mark.parametrize("module", [truncation, char_rnn])
def test_the_recorded_runs_are_whole(module: object) -> None:
    """At least five seeds of each kind, with the settings that the script has now, and the text named."""
    record = json.loads(Path(module.RESULTS_FILE).read_text("utf-8"))  # type: ignore[attr-defined]
    assert record["settings"] == module.SETTINGS  # type: ignore[attr-defined]
    assert len(record["text"]["sha256"]) == 64
    seeds: dict[tuple[str | None, float | None], list[int]] = {}
    for run in record["runs"]:
        seeds.setdefault((run.get("training"), run.get("radius")), []).append(run["seed"])
    assert all(len(set(of_kind)) == len(of_kind) >= 5 for of_kind in seeds.values())


def test_networks_of_both_trainings_are_recorded() -> None:
    record = json.loads(truncation.RESULTS_FILE.read_text("utf-8"))
    assert record["trainings"] == truncation.TRAININGS
    kinds = {(run["training"], run["radius"]) for run in record["runs"]}
    assert kinds == set(itertools.product(truncation.TRAININGS, truncation.RADII))


def test_without_carry_every_chunk_starts_from_zeros() -> None:
    """Then the gradient of a chunk is the full gradient of its loss, which the control of the experiment needs."""
    ids = np.random.default_rng(8).integers(0, 6, 60)
    trained = {}
    for carry in (True, False):
        params = char_rnn.initial(6, 4, np.random.default_rng(9))
        char_rnn.train(ids, params, 0.1, lambda done: done == 3, 2, 5, carry=carry)
        trained[carry] = params
    params = char_rnn.initial(6, 4, np.random.default_rng(9))
    caches = {name: np.zeros_like(theta) for name, theta in params.items()}
    for inputs, targets, _ in itertools.islice(char_rnn.chunks(ids, 2, 5), 3):
        _, grads, _ = char_rnn.loss_and_grads(params, inputs, targets, np.zeros((2, 4)))
        for name in params:
            params[name], caches[name] = adagrad_step(params[name], grads[name], caches[name], 0.1)
    for name in params:
        np.testing.assert_allclose(trained[False][name], params[name], rtol=0, atol=1e-9)
    assert np.abs(trained[True]["W_hh"] - params["W_hh"]).max() > 1e-4
