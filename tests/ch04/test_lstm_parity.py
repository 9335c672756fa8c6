"""The LSTM of chapter 04 equals PyTorch's operations to 1e-10, on sizes drawn at random and of size 1."""

import itertools

import numpy as np
import pytest
import torch

from solutions.ch04_gated.lstm import lstm_forward, lstm_step, sigmoid
from tests.loops import for_each

RANDOM = [tuple(np.random.default_rng(seed).integers(1, 9, size=4).tolist()) for seed in range(20)]
SIZES = [*RANDOM, *itertools.product((1, 2), repeat=4)]  # (B, T, D, H)


def network(sizes):
    B, T, D, H = sizes
    rng = np.random.default_rng(sizes)
    shapes = (B, T, D), (B, H), (B, H), (D, 4 * H), (H, 4 * H), (4 * H,)
    return [rng.normal(size=shape) for shape in shapes]


def by_pytorch(x, h_0, c_0, W_x, W_h, b):
    """All states, from matrix products and PyTorch's own functions."""
    x, h, c, *weights = (torch.from_numpy(array) for array in (x, h_0, c_0, W_x, W_h, b))
    states = []
    for x_t in x.unbind(1):
        i, f, g, o = torch.addmm(weights[2], torch.cat([x_t, h], 1), torch.cat(weights[:2])).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        states.append((h, c))
    return [torch.stack(some, 1).numpy() for some in zip(*states, strict=True)]


def close(ours, theirs):
    for one, other in zip(ours, theirs, strict=True):
        assert one.shape == other.shape
        assert one.dtype == np.float64
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)


@for_each("sizes", SIZES)
def test_forward(sizes):
    inputs = network(sizes)
    close(lstm_forward(*inputs), by_pytorch(*inputs))


@for_each("sizes", SIZES)
def test_step(sizes):
    """Equation (lstm-gates) and equation (lstm-states)."""
    x, *rest = network(sizes)
    close(lstm_step(x[:, 0], *rest), [states[:, 0] for states in by_pytorch(x[:, :1], *rest)])


@pytest.mark.parametrize("sizes", RANDOM[:5])
def test_weights_are_the_transposes_of_pytorchs(sizes):
    x, h_0, c_0, W_x, W_h, b = network(sizes)
    lstm = torch.nn.LSTM(sizes[2], sizes[3], batch_first=True, dtype=torch.float64)
    lstm.weight_ih_l0.data, lstm.weight_hh_l0.data = torch.from_numpy(W_x.T.copy()), torch.from_numpy(W_h.T.copy())
    lstm.bias_ih_l0.data, lstm.bias_hh_l0.data = torch.from_numpy(0.25 * b), torch.from_numpy(0.75 * b)
    with torch.no_grad():
        h, (_, c_T) = lstm(torch.from_numpy(x), (torch.from_numpy(h_0)[None], torch.from_numpy(c_0)[None]))
    ours = lstm_forward(x, h_0, c_0, W_x, W_h, b)
    close((ours[0], ours[1][:, -1]), (h.numpy(), c_T[0].numpy()))


def test_the_logistic_function_neither_overflows_nor_leaves_its_limits():
    a = np.array([-1e300, -800.0, -30.0, -1.5, 0.0, 0.5, 40.0, 800.0, 1e300])
    with np.errstate(all="raise"):
        ours = sigmoid(a)
    np.testing.assert_allclose(ours, torch.sigmoid(torch.from_numpy(a)).numpy(), rtol=0, atol=1e-15)
    assert ours[[0, 1, 4, -2, -1]].tolist() == [0, 0, 0.5, 1, 1]


@pytest.mark.parametrize("sizes", RANDOM[:3])
def test_inputs_stay_as_they_are(sizes):
    inputs = network(sizes)
    for array in inputs:
        array.flags.writeable = False
    lstm_forward(*inputs)


def test_a_sequence_may_be_continued():
    x, h_0, c_0, *weights = network((2, 7, 3, 4))
    h, c = lstm_forward(x, h_0, c_0, *weights)
    close(lstm_forward(x[:, 3:], h[:, 2], c[:, 2], *weights), (h[:, 3:], c[:, 3:]))
