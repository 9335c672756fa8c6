"""The reference gradients of chapter 02 equal PyTorch's autograd to 1e-10, on sizes drawn at random and of size 1."""

import itertools

import numpy as np
import torch

from solutions.ch02_bptt.by_hand import rnn_step_backward
from solutions.ch02_bptt.logits_and_embedding import cross_entropy_backward, embedding_backward
from solutions.ch02_bptt.through_time import rnn_backward
from tests.loops import for_each

RANDOM = [tuple(np.random.default_rng(seed).integers(1, 9, size=4).tolist()) for seed in range(20)]
ONES_AND_TWOS = list(itertools.product((1, 2), repeat=4))


def close(ours, theirs):
    ours, theirs = (pair if isinstance(pair, tuple) else (pair,) for pair in (ours, theirs))
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.shape == tuple(other.shape)
        np.testing.assert_allclose(mine, other.numpy(), rtol=1e-10, atol=1e-10)


def leaves(*arrays):
    return [torch.from_numpy(array.copy()).requires_grad_() for array in arrays]


def run(x, h_0, W_xh, W_hh, b_h):
    """All states, by PyTorch's operations: an ordinary forward pass, whose bias the backward pass is not told."""
    states = []
    for t in range(x.shape[1]):
        h_0 = torch.tanh(x[:, t] @ W_xh + h_0 @ W_hh + b_h)
        states.append(h_0)
    return torch.stack(states, dim=1)


def network(rng, B, T, D, H):
    return (
        rng.normal(size=(B, T, D)),
        rng.uniform(-1, 1, size=(B, H)),
        rng.normal(size=(D, H)) / np.sqrt(D),
        rng.normal(size=(H, H)) / np.sqrt(H),
        rng.normal(size=H),
    )


@for_each("sizes", [*RANDOM, *ONES_AND_TWOS])
def test_rnn_backward(sizes):
    rng = np.random.default_rng(sizes)
    arrays = network(rng, *sizes)
    parameters = leaves(*arrays)
    h = run(*parameters)
    for dh in (rng.normal(size=h.shape), np.eye(sizes[1])[-1][:, None] * rng.normal(size=h.shape)):  # and the last only
        due = torch.autograd.grad(h, parameters, torch.from_numpy(dh), retain_graph=True)
        close(rnn_backward(dh, *arrays[:2], h.detach().numpy(), *arrays[2:4]), due)


@for_each("sizes", [*RANDOM, *ONES_AND_TWOS])
def test_rnn_step_backward(sizes):
    B, _, D, H = sizes
    rng = np.random.default_rng(sizes)
    x, h_prev, W_xh, W_hh, b_h = network(rng, B, 1, D, H)
    parameters = leaves(x, h_prev, W_xh, W_hh, b_h)
    h = run(*parameters)
    dh = rng.normal(size=(B, H))
    dx, *rest = torch.autograd.grad(h, parameters, torch.from_numpy(dh[:, None]))
    close(rnn_step_backward(dh, x[:, 0], h_prev, h.detach().numpy()[:, 0], W_xh, W_hh), (dx[:, 0], *rest))


@for_each("sizes", [*RANDOM, *ONES_AND_TWOS])
@for_each("scale", [1, 1000])
def test_cross_entropy_backward(sizes, scale):
    B, T, V, _ = sizes
    rng = np.random.default_rng(sizes)
    logits, targets = scale * rng.normal(size=(B, T, V)), rng.integers(V, size=(B, T))
    (z,) = leaves(logits)
    torch.nn.functional.cross_entropy(z.reshape(-1, V), torch.from_numpy(targets).reshape(-1)).backward()
    close(cross_entropy_backward(logits, targets), z.grad)


@for_each("sizes", [*RANDOM, *ONES_AND_TWOS])
def test_embedding_backward(sizes):
    B, T, D, V = sizes
    rng = np.random.default_rng(sizes)
    de, ids = rng.normal(size=(B, T, D)), rng.integers(V, size=(B, T))
    (E,) = leaves(np.zeros((V, D)))
    E[torch.from_numpy(ids)].backward(torch.from_numpy(de))
    close(embedding_backward(de, ids, V), E.grad)


def test_the_four_together_train_as_autograd_would():
    """Ids through embedding, network, output layer and loss, and all the way back."""
    rng = np.random.default_rng(7)
    B, T, D, H, V = 3, 6, 4, 5, 7
    ids, targets = rng.integers(V, size=(2, B, T))
    E, W_hy = rng.normal(size=(V, D)), rng.normal(size=(H, V))
    _, h_0, W_xh, W_hh, b_h = network(rng, B, T, D, H)
    parameters = leaves(E, h_0, W_xh, W_hh, b_h, W_hy)
    table, first, *weights, out = parameters
    h = run(table[torch.from_numpy(ids)], first, *weights)
    logits = h @ out
    loss = torch.nn.functional.cross_entropy(logits.reshape(-1, V), torch.from_numpy(targets).reshape(-1))
    due = torch.autograd.grad(loss, parameters)

    h, logits = h.detach().numpy(), logits.detach().numpy()
    dlogits = cross_entropy_backward(logits, targets)
    dx, *ours = rnn_backward(dlogits @ W_hy.T, E[ids], h_0, h, W_xh, W_hh)
    close((embedding_backward(dx, ids, V), *ours, np.einsum("bth,btv->hv", h, dlogits)), due)
