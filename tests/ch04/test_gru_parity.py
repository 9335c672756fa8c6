"""The GRU of chapter 04 equals PyTorch's, and its gradients equal autograd, on sizes drawn at random and of size 1."""

import itertools

import numpy as np
import pytest
import torch

from solutions.ch04_gated.gru import count_parameters, gru_forward, gru_step, gru_step_cho
from solutions.ch04_gated.gru_backward import gru_step as given_step
from solutions.ch04_gated.gru_backward import gru_step_backward
from tests.loops import for_each

RANDOM = [tuple(np.random.default_rng(seed).integers(1, 9, size=4).tolist()) for seed in range(20)]
SIZES = [*RANDOM, *itertools.product((1, 2), repeat=4)]  # (B, T, D, H)


def network(sizes):
    """Inputs, an initial state and weights."""
    B, T, D, H = sizes
    rng = np.random.default_rng(sizes)
    arrays = (
        rng.normal(size=(B, T, D)),
        rng.uniform(-1, 1, size=(B, H)),
        rng.normal(size=(D, 3 * H)) / np.sqrt(D),
        rng.normal(size=(H, 3 * H)) / np.sqrt(H),
        rng.normal(size=3 * H),
        rng.normal(size=3 * H),
    )
    for array in arrays:
        array.flags.writeable = False  # nothing is changed in place
    return rng, *arrays


def pytorch(W_x, W_h, b_x, b_h, **more):
    gru = torch.nn.GRU(len(W_x), len(W_h), batch_first=True, dtype=torch.float64, **more)
    names = "weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"
    arrays = W_x.T, W_h.T, b_x, b_h
    gru.load_state_dict({name: torch.tensor(array) for name, array in zip(names, arrays, strict=True)})
    return gru


def close(ours, theirs, tolerance=1e-12):
    assert ours.shape == tuple(theirs.shape)
    assert ours.dtype == np.float64
    np.testing.assert_allclose(ours, theirs.detach().numpy(), rtol=tolerance, atol=tolerance)


@for_each("sizes", SIZES)
def test_the_gru_over_time(sizes):
    """Equation (gru-step)."""
    _, x, h_0, *weights = network(sizes)
    due, _ = pytorch(*weights)(torch.tensor(x), torch.tensor(h_0)[None])
    close(gru_forward(x, h_0, *weights), due)
    for step in (gru_step, given_step):
        close(step(x[:, 0], h_0, *weights), due[:, 0])


@for_each("sizes", SIZES)
def test_cho_s_step_is_another_one_unless_the_reset_gate_commutes_with_the_weights(sizes):
    """Equation (gru-step-cho)."""
    _, x, h_0, W_x, W_h, b_x, b_h = network(sizes)
    H = h_0.shape[1]
    W_h, b_h = W_h.copy(), b_h.copy()
    other = gru_step_cho(x[:, 0], h_0, W_x, W_h, b_x, b_h)
    assert np.abs(other - gru_step(x[:, 0], h_0, W_x, W_h, b_x, b_h)).max() > 1e-5

    h, W, U, b = (torch.tensor(a) for a in (h_0, W_x, W_h, b_x + b_h))
    a = torch.tensor(x[:, 0]) @ W + b
    r, z = torch.sigmoid(a + h @ U)[:, : 2 * H].chunk(2, dim=1)
    close(other, z * h + (1 - z) * torch.tanh(a[:, 2 * H :] + (r * h) @ U[:, 2 * H :]))

    W_h[:, 2 * H :] = np.diag(np.diag(W_h[:, 2 * H :]))
    b_h[2 * H :] = 0
    args = x[:, 0], h_0, W_x, W_h, b_x, b_h
    np.testing.assert_allclose(gru_step_cho(*args), gru_step(*args), rtol=1e-12, atol=1e-12)


@for_each("sizes", SIZES)
def test_one_step_backward(sizes):
    """Equation (gru-step-backward)."""
    rng, x, h_0, *weights = network(sizes)
    gru, start = pytorch(*weights), torch.tensor(h_0, requires_grad=True)
    x_t, dh_t = torch.tensor(x[:, :1], requires_grad=True), rng.normal(size=h_0.shape)
    h, _ = gru(x_t, start[None])
    leaves = x_t, start, gru.weight_ih_l0, gru.weight_hh_l0, gru.bias_ih_l0, gru.bias_hh_l0
    dx, dh, dW_x, dW_h, db_x, db_h = torch.autograd.grad(h[:, 0], leaves, torch.tensor(dh_t))
    due = dx[:, 0], dh, dW_x.T, dW_h.T, db_x, db_h
    for ours, theirs in zip(gru_step_backward(dh_t, x[:, 0], h_0, *weights), due, strict=True):
        close(ours, theirs, 1e-10)


@for_each("sizes", RANDOM)
def test_steps_backward_in_a_loop_are_backpropagation_through_time(sizes):
    rng, x, h_0, *weights = network(sizes)
    gru, h_start, inputs = pytorch(*weights), torch.tensor(h_0, requires_grad=True), torch.tensor(x, requires_grad=True)
    h, _ = gru(inputs, h_start[None])
    dh = rng.normal(size=tuple(h.shape))
    due = torch.autograd.grad(h, (h_start, gru.weight_hh_l0, gru.bias_hh_l0), torch.tensor(dh))
    states, dh_next, dW_h, db_h = h.detach().numpy(), np.zeros(h_0.shape), 0, 0
    for t in reversed(range(x.shape[1])):
        h_prev = states[:, t - 1] if t else h_0
        _, dh_next, _, dW, _, db = gru_step_backward(dh[:, t] + dh_next, x[:, t], h_prev, *weights)
        dW_h, db_h = dW_h + dW, db_h + db
    for ours, theirs in zip((dh_next, dW_h.T, db_h), due, strict=True):
        close(ours, theirs, 1e-10)


@pytest.mark.parametrize("kind", ["rnn", "lstm", "gru"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_parameters_are_counted_as_pytorch_does(kind, bidirectional):
    """Equation (parameter-count)."""
    for D, H, L in itertools.product((1, 2, 7), (1, 3, 5), (1, 2, 4)):
        module = getattr(torch.nn, kind.upper())(D, H, num_layers=L, bidirectional=bidirectional)
        count = count_parameters(kind, D, H, num_layers=L, bidirectional=bidirectional)
        assert count == sum(p.numel() for p in module.parameters())
        assert type(count) is int
    ratios = [count_parameters(k, D, H, L, bidirectional) for k in ("rnn", "gru", "lstm")]
    assert ratios == [n * ratios[0] for n in (1, 3, 4)]
