"""The backward pass of the LSTM equals PyTorch's autograd to 1e-10, on sizes drawn at random and of size 1."""

import itertools

import numpy as np
import pytest
import torch

from solutions.ch04_gated.lstm_backward import (
    cell_gradient,
    lstm_backward,
    lstm_forward,
    lstm_gates,
    lstm_step,
    lstm_step_backward,
)
from tests.loops import for_each

RANDOM = [tuple(np.random.default_rng(seed).integers(1, 9, size=4).tolist()) for seed in range(20)]
SIZES = [*RANDOM, *itertools.product((1, 2), repeat=4)]  # (B, T, D, H)


def network(sizes):
    """An upstream gradient for every hidden state and the last cell state, inputs, initial states and weights."""
    B, T, D, H = sizes
    rng = np.random.default_rng(sizes)
    dh, dc_T, x = rng.normal(size=(B, T, H)), rng.normal(size=(B, H)), rng.normal(size=(B, T, D))
    h_0, c_0 = rng.uniform(-1, 1, size=(B, H)), rng.normal(size=(B, H))
    return dh, dc_T, x, h_0, c_0, rng.normal(size=(D, 4 * H)), rng.normal(size=(H, 4 * H)), rng.normal(size=4 * H)


def written_out(x, h, c, W_x, W_h, b):
    """The equations of the step with PyTorch's elementary operations; also the forget gate."""
    a_i, a_f, a_g, a_o = (x @ W_x + h @ W_h + b).chunk(4, dim=1)
    f = torch.sigmoid(a_f)
    c = f * c + torch.sigmoid(a_i) * torch.tanh(a_g)
    return torch.sigmoid(a_o) * torch.tanh(c), c, f


def leaves(*arrays):
    return [torch.from_numpy(array.copy()).requires_grad_() for array in arrays]


def close(ours, theirs):
    assert len(ours) == len(theirs)
    for mine, due in zip(ours, theirs, strict=True):
        assert mine.shape == tuple(due.shape)
        assert mine.dtype == np.float64
        np.testing.assert_allclose(mine, due.detach().numpy(), rtol=1e-10, atol=1e-10)


@for_each("sizes", SIZES)
def test_lstm_step_backward(sizes):
    dh, dc_T, x, h_0, c_0, W_x, W_h, b = network(sizes)
    inputs = leaves(x[:, 0], h_0, c_0, W_x, W_h, b)
    h_t, c_t, _ = written_out(*inputs)
    due = torch.autograd.grad([h_t, c_t], inputs, [torch.from_numpy(dh[:, 0].copy()), torch.from_numpy(dc_T)])
    close(lstm_step(x[:, 0], h_0, c_0, W_x, W_h, b), (h_t, c_t))
    close(lstm_step_backward(dh[:, 0], dc_T, x[:, 0], h_0, c_0, W_x, W_h, b), due)


@for_each("sizes", SIZES)
def test_lstm_backward(sizes):
    dh, dc_T, x, h_0, c_0, W_x, W_h, b = network(sizes)
    inputs = leaves(x, h_0, c_0, W_x, W_h, b)
    h, c, hs, cs = inputs[1], inputs[2], [], []
    for t in range(x.shape[1]):
        h, c, _ = written_out(inputs[0][:, t], h, c, *inputs[3:])
        hs.append(h)
        cs.append(c)
    states = torch.stack(hs, dim=1)
    due = torch.autograd.grad([states, c], inputs, [torch.from_numpy(dh), torch.from_numpy(dc_T)])
    close(lstm_forward(x, h_0, c_0, W_x, W_h, b), (states, torch.stack(cs, dim=1)))
    close(lstm_backward(dh, dc_T, x, h_0, c_0, W_x, W_h, b), due)


@for_each("sizes", RANDOM)
def test_cell_gradient_of_all_pairs(sizes):
    """With the gates detached, only the direct path is left. Equation (cell-gradient)."""
    _, _, x, h_0, c_0, W_x, W_h, b = network(sizes)
    arrays = [torch.from_numpy(array) for array in (x, h_0, c_0, W_x, W_h, b)]
    h, c, gates, cells = arrays[1], arrays[2], [], []
    for t in range(x.shape[1]):
        h, c, f = written_out(arrays[0][:, t], h, c, *arrays[3:])
        gates.append(f)
        cells.append(c)
    f = torch.stack(gates, dim=1)
    for k, t in itertools.combinations_with_replacement(range(x.shape[1]), 2):
        (start,) = leaves(cells[k].numpy())
        cell = start
        for s in range(k + 1, t + 1):
            cell = f[:, s] * cell + (cells[s] - f[:, s] * cells[s - 1])  # the rest of the step, held fixed
        if t > k:
            np.testing.assert_allclose(cell.detach().numpy(), cells[t].numpy(), atol=1e-12)
        close([cell_gradient(f.numpy(), k, t)], torch.autograd.grad(cell.sum(), start))


def test_the_direct_path_is_all_if_the_gates_do_not_see_the_hidden_state():
    """Without W_h, the cell state has no other way to the next one. Equation (cell-gradient)."""
    _, dc_T, x, h_0, c_0, W_x, W_h, b = network((3, 6, 2, 4))
    W_h = np.zeros(W_h.shape)
    f = np.stack([lstm_gates(x[:, t], h_0, W_x, W_h, b)[1] for t in range(6)], axis=1)
    _, _, dc_0, *_ = lstm_backward(np.zeros((3, 6, 4)), dc_T, x, h_0, c_0, W_x, W_h, b)
    np.testing.assert_allclose(dc_0, dc_T * cell_gradient(f, 0, 5) * f[:, 0], rtol=1e-12)


def test_the_step_by_finite_differences():
    """Central differences of the equations of the step. Equation (lstm-step-backward)."""
    dh, dc_T, x, h_0, c_0, W_x, W_h, b = network((2, 1, 3, 2))
    inputs = [x[:, 0], h_0, c_0, W_x, W_h, b]

    def loss():
        h_t, c_t = lstm_step(*inputs)
        return (dh[:, 0] * h_t + dc_T * c_t).sum()

    for array, gradient in zip(inputs, lstm_step_backward(dh[:, 0], dc_T, *inputs), strict=True):
        for i in np.ndindex(array.shape):
            kept, values = array[i], []
            for change in (1e-5, -1e-5):
                array[i] = kept + change
                values.append(loss())
            array[i] = kept
            assert (values[0] - values[1]) / 2e-5 == pytest.approx(gradient[i], abs=1e-8)


@pytest.mark.parametrize("sizes", RANDOM[:3])
def test_nothing_is_changed_in_place(sizes):
    inputs = network(sizes)
    for array in inputs:
        array.flags.writeable = False
    dh, dc_T, x, *rest = inputs
    lstm_backward(*inputs)
    lstm_step_backward(dh[:, 0], dc_T, x[:, 0], *rest)
    cell_gradient(dh, 0, sizes[1] - 1)
