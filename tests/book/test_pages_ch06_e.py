"""Each labelled equation of chapter 6's page on where recurrence went, compared with a direct computation."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from experiments.ch06.scan import compose, loop, scan


def maps(seed: int, T: int, H: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, size=(1, T, H)), rng.normal(size=(1, T, H))


def normalized(x: np.ndarray, norm: nn.LayerNorm) -> np.ndarray:
    centred = x - x.mean(-1, keepdims=True)
    scaled: np.ndarray = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + norm.eps)
    return scaled * norm.weight.detach().numpy() + norm.bias.detach().numpy()


def test_a_transformer_block() -> None:
    """Equation (transformer-block): as PyTorch's layer with the normalization first."""
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 12, dropout=0.0, batch_first=True, norm_first=True).double()
    x = torch.randn(2, 5, 8).double()
    future = torch.ones(5, 5, dtype=torch.bool).triu(1)
    with torch.no_grad():
        wanted = layer(x, src_mask=future).numpy()
        normal = torch.from_numpy(normalized(x.numpy(), layer.norm1))
        u = x.numpy() + layer.self_attn(normal, normal, normal, attn_mask=future)[0].numpy()
        W_1, b_1, W_2, b_2 = (
            one.numpy()
            for one in (layer.linear1.weight.T, layer.linear1.bias, layer.linear2.weight.T, layer.linear2.bias)
        )
    y = u + np.maximum(normalized(u, layer.norm2) @ W_1 + b_1, 0) @ W_2 + b_2
    np.testing.assert_allclose(y, wanted, atol=1e-10)


@torch.no_grad()
def test_a_block_of_a_decoder() -> None:
    """Equation (decoder-block): as PyTorch's layer with the normalization first, biases and all."""
    torch.manual_seed(0)
    layer = nn.TransformerDecoderLayer(8, 2, 12, dropout=0.0, batch_first=True, norm_first=True).double()
    x, R = torch.randn(2, 5, 8).double(), torch.randn(2, 3, 8).double()
    future = torch.ones(5, 5, dtype=torch.bool).triu(1)
    n = torch.from_numpy(normalized(x.numpy(), layer.norm1))
    s_self = x + layer.self_attn(n, n, n, attn_mask=future)[0]
    m = torch.from_numpy(normalized(s_self.numpy(), layer.norm2))
    s_cross = s_self + layer.multihead_attn(m, R, R)[0]
    last = torch.from_numpy(normalized(s_cross.numpy(), layer.norm3))
    y = s_cross + layer.linear2(torch.relu(layer.linear1(last)))
    torch.testing.assert_close(y, layer(x, R, tgt_mask=future), rtol=0, atol=1e-10)


def test_a_linear_recurrence_and_two_steps_as_one() -> None:
    """Equation (linear-recurrence) and Equation (compose-steps), entry by entry."""
    a, b = maps(0, 4, 3)
    h, states = [0.4, -1.1, 0.7], loop(a, b, np.array([[0.4, -1.1, 0.7]]))
    for t in range(4):
        h = [float(a[0, t, i]) * h[i] + float(b[0, t, i]) for i in range(3)]
        np.testing.assert_allclose(states[0, t], h, atol=1e-12)
    keeps, adds = compose((a[0, 2], b[0, 2]), (a[0, 3], b[0, 3]))
    np.testing.assert_allclose(keeps * states[0, 1] + adds, h, atol=1e-12)


def test_the_backward_pass_is_a_scan_in_the_opposite_direction() -> None:
    """Equation (scan-backward): the gradients of all states as autograd finds them, by a scan of the reversed steps."""
    a, b = maps(1, 9, 3)
    upstream = np.random.default_rng(2).normal(size=(1, 9, 3))
    states = [torch.zeros(3, dtype=torch.float64)]
    for t in range(9):
        states.append(torch.from_numpy(a[0, t]) * states[-1] + torch.from_numpy(b[0, t]).requires_grad_())
        states[-1].retain_grad()
    (torch.stack(states[1:]) * torch.from_numpy(upstream[0])).sum().backward()
    wanted = np.stack([one.grad.numpy() for one in states[1:] if one.grad is not None])
    keeps = np.concatenate([np.zeros((1, 1, 3)), a[:, :0:-1]], axis=1)  # a_{t+1}, from the last step to the first
    np.testing.assert_allclose(scan(keeps, upstream[:, ::-1]).h[0, ::-1], wanted, atol=1e-12)


def test_a_linear_network_is_diagonal_in_other_coordinates() -> None:
    """Equation (diagonal-coordinates): a random matrix, with complex eigenvalues among its own."""
    rng = np.random.default_rng(3)
    W_hh, b = rng.normal(size=(5, 5)) / 3, rng.normal(size=(12, 5))
    eigenvalues, P = np.linalg.eig(W_hh)
    assert np.iscomplex(eigenvalues).any()
    h, found = np.zeros(5), scan(eigenvalues, (b @ P)[None]).h[0]
    for t in range(12):
        h = h @ W_hh + b[t]
        np.testing.assert_allclose(found[t], h @ P, atol=1e-12)
        np.testing.assert_allclose(found[t] @ np.linalg.inv(P), h, atol=1e-12)


def test_what_a_unit_keeps() -> None:
    """Equation (linear-memory): the Jacobian over four steps is diagonal, a product of the shares kept."""
    a, b = (torch.from_numpy(one[0]) for one in maps(4, 6, 3))

    def later(h: torch.Tensor) -> torch.Tensor:
        for t in range(2, 6):
            h = a[t] * h + b[t]
        return h

    jacobian = torch.autograd.functional.jacobian(later, torch.ones(3, dtype=torch.float64)).numpy()
    np.testing.assert_allclose(jacobian, np.diag(a[2:].numpy().prod(axis=0)), atol=1e-14)
    eigenvalue = 0.95 * np.exp(0.7j)
    kept = loop(np.array([eigenvalue]), np.eye(1, 8)[..., None])[0, :, 0]
    np.testing.assert_allclose(np.abs(kept), 0.95 ** np.arange(8), atol=1e-14)


def test_a_min_gru_is_a_gru_whose_gates_do_not_read_the_state() -> None:
    """Equation (min-gru): by a scan, as a loop over the steps finds it."""
    rng = np.random.default_rng(5)
    x, W_z, W_n = rng.normal(size=(2, 11, 4)), rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    z = 1 / (1 + np.exp(-(x @ W_z)))
    found = scan(z, (1 - z) * (x @ W_n)).h
    for row in range(2):
        for i in range(3):
            h = 0.0
            for t in range(11):
                gate = 1 / (1 + np.exp(-sum(x[row, t, d] * W_z[d, i] for d in range(4))))
                h = gate * h + (1 - gate) * sum(x[row, t, d] * W_n[d, i] for d in range(4))
                assert abs(found[row, t, i] - h) < 1e-12
