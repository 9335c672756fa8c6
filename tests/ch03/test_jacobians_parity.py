"""The Jacobians and norms of chapter 03 equal PyTorch's autograd to 1e-10, on sizes drawn at random and of size 1."""

import itertools

import numpy as np
import pytest
import torch

from solutions.ch02_bptt.through_time import rnn_backward
from solutions.ch03_gradients.jacobians import gradient_norms_by_lag, jacobian_product, step_jacobian
from tests.loops import for_each

RANDOM = [tuple(np.random.default_rng(seed).integers(1, 9, size=3).tolist()) for seed in range(20)]
SIZES = [*RANDOM, *itertools.product((1, 2), repeat=3)]  # (B, T, H)


def network(sizes):
    """Inputs with the bias added, an initial state, weights, and the states of an ordinary forward pass."""
    B, T, H = sizes
    rng = np.random.default_rng(sizes)
    a, h_0, W = rng.normal(size=(B, T, H)), rng.uniform(-1, 1, size=(B, H)), rng.normal(size=(H, H)) / np.sqrt(H)
    return rng, torch.from_numpy(a), torch.from_numpy(h_0), torch.from_numpy(W)


def run(a, state, W):
    """All states from this one on, by PyTorch's operations."""
    states = []
    for t in range(a.shape[-2]):
        state = torch.tanh(a[..., t, :] + state @ W)
        states.append(state)
    return states


def close(ours, theirs):
    assert ours.shape == tuple(theirs.shape)
    assert ours.dtype == np.float64
    np.testing.assert_allclose(ours, theirs.numpy(), rtol=1e-10, atol=1e-10)


@for_each("sizes", SIZES)
def test_step_jacobian(sizes):
    _, a, h_0, W = network(sizes)
    (h_t,) = run(a[0, :1], h_0[0], W)
    due = torch.autograd.functional.jacobian(lambda h: run(a[0, :1], h, W)[0], h_0[0])
    close(step_jacobian(h_t.numpy(), W.numpy()), due)


@for_each("sizes", SIZES)
def test_jacobian_product_of_all_pairs(sizes):
    _, a, h_0, W = network(sizes)
    states = run(a[0], h_0[0], W)
    h = torch.stack(states).numpy()
    for k, t in itertools.combinations_with_replacement(range(sizes[1]), 2):
        due = torch.autograd.functional.jacobian(
            lambda s, k=k, t=t: [s, *run(a[0, k + 1 : t + 1], s, W)][-1], states[k]
        )
        close(jacobian_product(h, W.numpy(), k, t), due)


@for_each("sizes", SIZES)
def test_gradient_norms_by_lag(sizes):
    rng, a, h_0, W = network(sizes)
    states = run(a, h_0.requires_grad_(), W)
    dh_T = rng.normal(size=(sizes[0], sizes[2]))
    gradients = torch.autograd.grad(states[-1], states[::-1], torch.from_numpy(dh_T))
    h = torch.stack([s.detach() for s in states], dim=1).numpy()
    due = torch.stack([torch.sqrt((g * g).sum()) for g in gradients])
    close(gradient_norms_by_lag(dh_T, h, W.numpy()), due)


@for_each("sizes", SIZES)
def test_a_gradient_is_a_row_and_is_multiplied_by_the_product_from_its_right(sizes):
    """The three functions and the backward pass of chapter 02 agree with one another. Equation (jacobian-product)."""
    B, T, H = sizes
    rng, a, h_0, W = network(sizes)
    h, W = torch.stack(run(a, h_0, W), dim=1).numpy(), W.numpy()
    dh = np.zeros((B, T, H))
    dh[:, -1] = rng.normal(size=(B, H))
    norms = gradient_norms_by_lag(dh[:, -1], h, W)
    for k in range(T):
        rows = np.stack([dh[b, -1] @ jacobian_product(h[b], W, k, T - 1) for b in range(B)])
        _, back, *_ = rnn_backward(dh[:, k + 1 :], a.numpy()[:, k + 1 :], h[:, k], h[:, k + 1 :], np.eye(H), W)
        np.testing.assert_allclose(rows, back if k < T - 1 else dh[:, -1], rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(norms[T - 1 - k], np.linalg.norm(rows), rtol=1e-10)


def test_the_product_predicts_what_a_small_change_becomes():
    _, a, h_0, W = network((1, 6, 4))
    h = torch.stack(run(a[0], h_0[0], W)).numpy()
    change = 1e-6 * np.random.default_rng(5).normal(size=4)
    later = run(a[0, 2:5], torch.from_numpy(h[1] + change), W)[-1].numpy()
    np.testing.assert_allclose(later - h[4], jacobian_product(h, W.numpy(), 1, 4) @ change, rtol=1e-4, atol=1e-11)


@pytest.mark.parametrize("sizes", RANDOM[:3])
def test_nothing_is_changed_in_place(sizes):
    rng, a, h_0, W = network(sizes)
    h, W, dh_T = torch.stack(run(a, h_0, W), dim=1).numpy(), W.numpy(), rng.normal(size=h_0.shape)
    for array in (h, W, dh_T):
        array.flags.writeable = False
    step_jacobian(h[0, 0], W)
    jacobian_product(h[0], W, 0, sizes[1] - 1)
    gradient_norms_by_lag(dh_T, h, W)
