"""Each labelled equation of chapter 4's pages on the GRU and on cures, compared with torch or with a proof's bound."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from experiments.ch04 import latching

SIZES = [(2, 3, 4), (1, 1, 1), (3, 1, 2), (1, 4, 3)]  # B, D, H


def leaf(rng: np.random.Generator, *shape: int) -> torch.Tensor:
    return torch.from_numpy(rng.normal(size=shape)).requires_grad_()


def near(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=0, atol=1e-12)


def drawn(seed: int, D: int, H: int) -> tuple[torch.nn.GRUCell, list[torch.Tensor]]:
    """A cell of torch, and its weights as the page writes them: W_x, W_h, b_x, b_h, in blocks of columns."""
    torch.manual_seed(seed)
    cell = torch.nn.GRUCell(D, H, dtype=torch.float64)
    return cell, [cell.weight_ih.T, cell.weight_hh.T, cell.bias_ih, cell.bias_hh]


def sides(x_t: torch.Tensor, h_prev: torch.Tensor, weights: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """The two sides of each block: x_r, x_z, x_n, h_r, h_z, h_n."""
    W_x, W_h, b_x, b_h = weights
    return *(x_t @ W_x + b_x).chunk(3, dim=1), *(h_prev @ W_h + b_h).chunk(3, dim=1)


@pytest.mark.parametrize(("B", "D", "H"), SIZES)
def test_one_step_of_the_gru(B: int, D: int, H: int) -> None:
    """Equation (gru-step), and its last line, Equation (coupled-gates): the new state is between the old one and n."""
    rng = np.random.default_rng(0)
    cell, weights = drawn(0, D, H)
    x_t, h_prev = leaf(rng, B, D), leaf(rng, B, H)
    x_r, x_z, x_n, h_r, h_z, h_n = sides(x_t, h_prev, weights)
    r, z = torch.sigmoid(x_r + h_r), torch.sigmoid(x_z + h_z)
    n = torch.tanh(x_n + r * h_n)
    h_t = (1 - z) * n + z * h_prev
    near(h_t, cell(x_t, h_prev))
    assert (h_t <= torch.maximum(n, h_prev) + 1e-12).all()
    assert (h_t >= torch.minimum(n, h_prev) - 1e-12).all()


def test_when_the_two_candidates_agree() -> None:
    """Equation (gru-step-cho): if the matrix connects units with one value of r, a diagonal one no others; else not."""
    rng = np.random.default_rng(1)
    h_prev, W = torch.from_numpy(rng.normal(size=(2, 4))), torch.from_numpy(rng.normal(size=(4, 4)))
    r = torch.from_numpy(rng.uniform(size=(2, 4)))
    diagonal = torch.diag(torch.diag(W))
    near((r * h_prev) @ diagonal, r * (h_prev @ diagonal))
    near((r[:, :1] * h_prev) @ W, r[:, :1] * (h_prev @ W))
    pairs, r_pairs = torch.block_diag(W[:2, :2], W[2:, 2:]), r[:, [0, 0, 2, 2]]
    near((r_pairs * h_prev) @ pairs, r_pairs * (h_prev @ pairs))
    assert ((r * h_prev) @ W - r * (h_prev @ W)).abs().max() > 0.1


def test_the_conventions_of_z_are_mirror_images() -> None:
    """h = (1 - z) h_prev + z n with the signs of z's weights reversed is torch's GRU."""
    rng = np.random.default_rng(2)
    H = 3
    cell, weights = drawn(2, 2, H)
    x_t, h_prev = leaf(rng, 5, 2), leaf(rng, 5, H)
    expected = cell(x_t, h_prev)
    mirrored = [values.detach().clone() for values in weights]
    for values in mirrored:
        values[..., H : 2 * H] *= -1
    x_r, x_z, x_n, h_r, h_z, h_n = sides(x_t, h_prev, mirrored)
    z, n = torch.sigmoid(x_z + h_z), torch.tanh(x_n + torch.sigmoid(x_r + h_r) * h_n)
    near((1 - z) * h_prev + z * n, expected)
    assert ((1 - z) * n + z * h_prev - expected).abs().max() > 0.1


@pytest.mark.parametrize(("kind", "k"), [("RNN", 1), ("GRU", 3), ("LSTM", 4)])
@pytest.mark.parametrize(("D", "H"), [(50, 128), (1, 1), (3, 2)])
def test_the_number_of_parameters(kind: str, k: int, D: int, H: int) -> None:
    """Equation (parameter-count)."""
    layer = getattr(torch.nn, kind)(D, H)
    assert sum(weights.numel() for weights in layer.parameters()) == k * (D * H + H**2 + 2 * H)


@pytest.mark.parametrize(("B", "D", "H"), SIZES)
def test_one_step_backward(B: int, D: int, H: int) -> None:
    """Equation (gru-step-backward): the direct path and z's block, and that four paths make the gradient."""
    rng = np.random.default_rng(3)
    _, weights = drawn(3, D, H)
    x_t, dh_t = leaf(rng, B, D), torch.from_numpy(rng.normal(size=(B, H)))
    copies = [leaf(rng, B, H)]
    copies += [copies[0].detach().clone().requires_grad_() for _ in range(3)]  # direct, for z, for n, for r
    W_x, W_h, b_x, b_h = weights
    x_r, x_z, x_n = (x_t @ W_x + b_x).chunk(3, dim=1)
    a_r, h_n = (
        x_r + copies[3] @ W_h[:, :H] + b_h[:H],
        copies[2] @ W_h[:, 2 * H :] + b_h[2 * H :],
    )
    a_z = x_z + copies[1] @ W_h[:, H : 2 * H] + b_h[H : 2 * H]
    z, n = torch.sigmoid(a_z), torch.tanh(x_n + torch.sigmoid(a_r) * h_n)
    loss = (((1 - z) * n + z * copies[0]) * dh_t).sum()
    da_z, *by_path = torch.autograd.grad(loss, [a_z, *copies])
    near(da_z, dh_t * (copies[0] - n) * z * (1 - z))
    near(by_path[0], dh_t * z)

    whole = copies[0].detach().clone().requires_grad_()
    x_r, x_z, x_n, h_r, h_z, h_n = sides(x_t, whole, weights)
    z = torch.sigmoid(x_z + h_z)
    h_t = (1 - z) * torch.tanh(x_n + torch.sigmoid(x_r + h_r) * h_n) + z * whole
    (dh_prev,) = torch.autograd.grad((h_t * dh_t).sum(), whole)
    near(sum(by_path, torch.zeros(B, H, dtype=torch.float64)), dh_prev)


@pytest.mark.parametrize("steps", [1, 2, 20, 50, 500, 10**5])
def test_the_bias_for_a_number_of_steps(steps: int) -> None:
    """Equation (bias-for-steps): with ln T, (T / (T + 1)) ** T is left, which is more than 1 / e and tends to it."""
    left = latching.kept(math.log(steps), steps)
    assert left == pytest.approx((steps / (steps + 1)) ** steps, rel=1e-9)
    assert left > math.exp(-1)
    if steps > 1000:
        assert left == pytest.approx(math.exp(-1), abs=1e-5)
