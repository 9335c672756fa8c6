"""Each labelled equation of clipping and initialisation, and their two experiments, against slow or other ways."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from experiments.ch03 import cliff, copying, initial_w_hh, museum
from experiments.ch03.cells import Network
from experiments.ch03.lag_norms import recurrent_weights
from solutions.ch03_gradients.clipping import clip_by_norm, clip_by_value


def recorded(module: Any) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(Path(module.RESULTS_FILE).read_text("utf-8"))
    return record


# Cliffs and clipping --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("w", "b"), [(4.6, -2.03), (4.4159, -2.2505), (3.0, 0.5)])
def test_a_unit_without_input(w: float, b: float) -> None:
    """Equation (cliff-unit), and its gradient by autograd."""
    weights = [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in (w, b)]
    x = torch.tensor(0.5, dtype=torch.float64)
    for _ in range(50):
        x = weights[0] * torch.sigmoid(x) + weights[1]
    loss = (torch.sigmoid(x) - 0.7) ** 2
    wanted = [loss.item(), *(grad.item() for grad in torch.autograd.grad(loss, weights))]
    np.testing.assert_allclose(cliff.loss_and_gradient(w, b), wanted, rtol=1e-8, atol=1e-12)


def arrays(rng: np.random.Generator) -> list[np.ndarray]:
    return [rng.normal(size=shape) for shape in [(3, 4), (4, 4), (4,), (4, 2), (2,)]]


@pytest.mark.parametrize("max_norm", [0.1, 1.0, 5.0, 100.0])
def test_clipping_by_norm(max_norm: float) -> None:
    """Equation (clip-norm), against PyTorch's, whose norm is at most the epsilon's share smaller."""
    grads = arrays(np.random.default_rng(0))
    clipped, norm = clip_by_norm(grads, max_norm)
    whole = np.concatenate([grad.ravel() for grad in grads])
    assert norm == pytest.approx(math.sqrt(sum(value**2 for value in whole.tolist())))
    for grad, ours in zip(grads, clipped, strict=True):
        np.testing.assert_allclose(ours, min(1, max_norm / norm) * grad, rtol=1e-12)
    weights = [torch.nn.Parameter(torch.zeros(grad.shape, dtype=torch.float64)) for grad in grads]
    for weight, grad in zip(weights, grads, strict=True):
        weight.grad = torch.from_numpy(grad.copy())
    assert torch.nn.utils.clip_grad_norm_(weights, max_norm).item() == pytest.approx(norm)
    for weight, ours in zip(weights, clipped, strict=True):
        assert weight.grad is not None
        np.testing.assert_allclose(weight.grad.numpy(), ours, rtol=1e-6)


def test_pytorch_ends_below_the_limit() -> None:
    """Its factor is max_norm / (norm + 1e-6)."""
    weight = torch.nn.Parameter(torch.zeros(2, dtype=torch.float64))
    weight.grad = torch.tensor([3.0, 4.0], dtype=torch.float64)
    torch.nn.utils.clip_grad_norm_([weight], 1.0)
    assert weight.grad.norm().item() == pytest.approx(5 / (5 + 1e-6), rel=1e-12)


@pytest.mark.parametrize("limit", [0.01, 0.5, 10.0])
def test_clipping_by_value(limit: float) -> None:
    """Equation (clip-value) and Equation (clip-value-descends)."""
    grads = arrays(np.random.default_rng(1))
    clipped = clip_by_value(grads, limit)
    for grad, ours in zip(grads, clipped, strict=True):
        entries = [max(-limit, min(limit, value)) for value in grad.ravel().tolist()]
        assert ours.ravel().tolist() == entries
    product = sum(float((grad * ours).sum()) for grad, ours in zip(grads, clipped, strict=True))
    assert product > 0
    assert 0 <= museum.angle(grads, clipped) < 90


def test_the_angle_between_gradients() -> None:
    assert museum.angle([np.array([1.0]), np.array([0.0])], [np.array([1.0]), np.array([1.0])]) == pytest.approx(45)
    assert museum.angle([np.array([2.0, 0.0])], [np.array([0.0, -3.0])]) == pytest.approx(90)


def test_one_factor_for_the_contributions_of_all_steps() -> None:
    """Equation (clip-distributes): the contributions keep their ratios, also very small ones."""
    contributions = np.random.default_rng(2).normal(size=(5, 3, 3)) * (10.0 ** -np.arange(0, 25, 5))[:, None, None]
    total = contributions.sum(axis=0)
    (clipped,), norm = clip_by_norm([total], 0.5)
    s = 0.5 / norm
    np.testing.assert_allclose(clipped, sum(s * part for part in contributions), rtol=1e-12)
    norms = np.linalg.norm(contributions, axis=(1, 2))
    scaled = np.linalg.norm(s * contributions, axis=(1, 2))
    np.testing.assert_allclose(scaled / scaled[0], norms / norms[0], rtol=1e-12)


# The bug museum -------------------------------------------------------------------------------------------------------


def by_autograd(params: list[np.ndarray], x: np.ndarray, y: np.ndarray) -> tuple[float, list[np.ndarray]]:
    weights = [torch.from_numpy(theta).requires_grad_() for theta in params]
    W_xh, W_hh, b_h, W_hy, b_y = weights
    h, states = torch.zeros(len(x), len(b_h), dtype=torch.float64), []
    for t in range(x.shape[1]):
        h = torch.tanh(torch.from_numpy(x[:, t]) @ W_xh + h @ W_hh + b_h)
        states.append(h)
    logits = torch.stack(states[-y.shape[1] :], dim=1) @ W_hy + b_y
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), torch.from_numpy(y).flatten())
    return loss.item(), [grad.numpy() for grad in torch.autograd.grad(loss, weights)]


def museum_network() -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    params = [theta + 0.1 * rng.normal(size=theta.shape) for theta in museum.initial(rng)]
    return params, *museum.sequences(5, rng)


def test_gradients_of_the_museum() -> None:
    params, x, y = museum_network()
    loss, grads = museum.loss_and_grads(params, x, y)
    wanted, theirs = by_autograd(params, x, y)
    assert loss == pytest.approx(wanted)
    for ours, other in zip(grads, theirs, strict=True):
        np.testing.assert_allclose(ours, other, rtol=0, atol=1e-12)


def test_sequences_of_the_museum_are_those_of_the_copy_task() -> None:
    x, y = museum.sequences(4, np.random.default_rng(0))
    ids, T = x.argmax(2), x.shape[1]
    assert (x.sum(2) == 1).all()
    assert T == 16
    assert (ids[:, :3] == y).all()
    assert y.min() >= 1
    assert y.max() <= 8
    assert (ids[:, 12] == 9).all()
    assert not ids[:, 3:12].any()
    assert not ids[:, 13:].any()
    theirs, targets = copying.sequences(4, copying.DELAY, torch.Generator().manual_seed(0))
    assert theirs.shape == x.shape
    assert (targets[:, -3:] == theirs.argmax(2)[:, :3]).all()


def test_each_bug_changes_what_it_says() -> None:
    params, x, y = museum_network()
    loss, right = museum.loss_and_grads(params, x, y)
    wrong_loss, wrong = museum.loss_and_grads(params, x, y, "wrong order")
    assert wrong_loss == loss  # the forward pass is right
    for i in (3, 4):
        np.testing.assert_array_equal(wrong[i], right[i])
    assert np.linalg.norm(wrong[1] - right[1]) > 0.05 * np.linalg.norm(right[1])

    large = [100 * grad for grad in right]
    each = museum.before_update(large, "own norms")
    np.testing.assert_allclose([np.linalg.norm(grad) for grad in each], np.ones(5))
    assert museum.joint_norm(each) == pytest.approx(math.sqrt(5))
    ours = museum.before_update(large, "right")
    for mine, theirs in zip(ours, clip_by_norm(large, museum.SETTINGS["max_norm"])[0], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    for variant in ("no clipping", "each step"):
        assert museum.before_update(large, variant) is large


def test_clipping_each_step_does_not_limit_the_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    params, x, y = museum_network()
    right = museum.loss_and_grads(params, x, y)[1]
    monkeypatch.setitem(museum.SETTINGS, "max_norm", 1e6)
    for ours, other in zip(museum.loss_and_grads(params, x, y, "each step")[1], right, strict=True):
        np.testing.assert_array_equal(ours, other)
    monkeypatch.setitem(museum.SETTINGS, "max_norm", 0.01)
    norm = museum.joint_norm(museum.loss_and_grads(params, x, y, "each step")[1])
    assert 0.01 < norm <= 0.01 * x.shape[1]


def test_the_museum_on_record() -> None:
    record = recorded(museum)
    assert record["settings"] == museum.SETTINGS
    assert record["rates"] == museum.RATES
    assert record["seeds"] == list(museum.SEEDS)
    assert len(set(museum.SEEDS)) >= 5
    assert record["command"] == "python -m experiments.ch03.museum --record"
    assert len(record["runs"]) == len(museum.RATES) * len(museum.VARIANTS) * len(museum.SEEDS)
    for variant in ("right", "wrong order"):
        today = museum.run(variant, "sgd", 10, updates=50)
        then = next(run for run in record["runs"] if (run["variant"], run["optimizer"]) == (variant, "sgd"))
        assert then["seed"] == 10
        np.testing.assert_allclose(today["curve"], then["curve"][:5], rtol=0, atol=0.01)


# Initialising a network that remembers --------------------------------------------------------------------------------


def random_orthogonal(n: int, rng: np.random.Generator) -> np.ndarray:
    return recurrent_weights("orthogonal", 1.0, n, rng)


@pytest.mark.parametrize("n", [1, 2, 5, 64])
def test_an_orthogonal_matrix_keeps_the_norm(n: int) -> None:
    """Equation (orthogonal-norm)."""
    rng = np.random.default_rng(n)
    Q, dh = random_orthogonal(n, rng), rng.normal(size=(1, n))
    np.testing.assert_allclose(Q.T @ Q, np.eye(n), rtol=0, atol=1e-12)
    assert np.linalg.norm(dh @ Q.T) == pytest.approx(np.linalg.norm(dh), rel=1e-12)
    np.testing.assert_allclose(np.abs(np.linalg.eigvals(Q)), np.ones(n), rtol=1e-9)
    np.testing.assert_allclose(np.linalg.svd(Q, compute_uv=False), np.ones(n), rtol=1e-9)


def test_no_direction_is_preferred() -> None:
    """Equation (haar): U Q has the moments of Q, and without the signs' correction it does not."""
    rng = np.random.default_rng(0)
    U = random_orthogonal(3, rng)
    drawn = np.array([random_orthogonal(3, rng) for _ in range(4000)])
    moved = U @ drawn
    for values in (drawn, moved):
        np.testing.assert_allclose(values.mean(axis=0), np.zeros((3, 3)), rtol=0, atol=0.05)
        np.testing.assert_allclose((values**2).mean(axis=0), np.full((3, 3), 1 / 3), rtol=0, atol=0.03)
    uncorrected = np.array([np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(1000)])
    assert (uncorrected[:, 0, 0] < 0).mean() > 0.99
    torch.manual_seed(0)
    pytorch = torch.stack([torch.nn.init.orthogonal_(torch.empty(3, 3)) for _ in range(1000)])
    assert 0.4 < (pytorch[:, 0, 0] < 0).float().mean() < 0.6


def test_an_irnn_adds_up_its_inputs() -> None:
    """Equation (irnn), against torch.nn.RNN as the experiments set it up."""
    torch.manual_seed(0)
    model = Network("irnn", (3, 6, 1), input_sd=0.1)
    x = torch.randn(2, 7, 3)
    with torch.no_grad():
        theirs = model.rnn(x)[0].numpy()
        W_xh = model.rnn.weight_ih_l0.numpy().T
    h = np.zeros((2, 6))
    for t in range(7):
        h = np.maximum(0, x[:, t].numpy() @ W_xh + h)
        np.testing.assert_allclose(theirs[:, t], h, rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", initial_w_hh.KINDS)
def test_only_w_hh_is_replaced(kind: str) -> None:
    ours = dict(initial_w_hh.network(kind, 10).named_parameters())
    control = dict(copying.network("tanh", 10).named_parameters())
    for name, weight in ours.items():
        assert torch.equal(weight, control[name]) == (name != "rnn.weight_hh_l0")
    W_hh = ours["rnn.weight_hh_l0"].detach().double()
    assert torch.linalg.eigvals(W_hh).abs().max().item() == pytest.approx(1, abs=1e-5)
    if kind != "scaled":
        torch.testing.assert_close(W_hh @ W_hh.T, torch.eye(64, dtype=torch.float64), rtol=0, atol=1e-5)


def test_the_initial_matrices_on_record() -> None:
    record, copied = recorded(initial_w_hh), recorded(copying)
    assert record["command"] == "python -m experiments.ch03.initial_w_hh --record"
    assert record["seeds"] == copied["seeds"]
    assert record["settings"]["lr"] == copied["cells"]["tanh"]["lr"]
    assert {key: record["settings"][key] for key in initial_w_hh.SETTINGS} == initial_w_hh.SETTINGS
    for row in record["summary"]:
        runs = [run for run in record["runs"] if (run["kind"], run["delay"]) == (row["kind"], row["delay"])]
        assert [run["seed"] for run in runs] == record["seeds"]
        assert sum(run["solved_at"] is not None for run in runs) == row["solved"]
    today = initial_w_hh.run("orthogonal", 10, 10, updates=100)
    then = record["runs"][len(record["seeds"])]
    assert (then["kind"], then["delay"], then["seed"]) == ("orthogonal", 10, 10)
    np.testing.assert_allclose(today["curve"], then["curve"][:5], rtol=0, atol=0.02)
