"""Each labelled equation of chapter 4's first two pages, compared with torch, which does not use the pages."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from experiments.ch03 import adding
from experiments.ch04 import lag_gates
from solutions.ch04_gated.lstm import lstm_step

SIZES = [(2, 3, 4), (1, 1, 1), (3, 1, 2), (1, 4, 3)]  # B, D, H


def leaf(rng: np.random.Generator, *shape: int) -> torch.Tensor:
    return torch.from_numpy(rng.normal(size=shape)).requires_grad_()


def gates(
    x_t: torch.Tensor, h_prev: torch.Tensor, W_x: torch.Tensor, W_h: torch.Tensor, b: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    """The page's equations: the pre-activations, then i, f, g and o."""
    a = x_t @ W_x + h_prev @ W_h + b
    a_i, a_f, a_g, a_o = a.chunk(4, dim=1)
    return a, torch.sigmoid(a_i), torch.sigmoid(a_f), torch.tanh(a_g), torch.sigmoid(a_o)


def near(ours: torch.Tensor | np.ndarray, theirs: torch.Tensor | np.ndarray) -> None:
    np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=0, atol=1e-10)


def test_the_share_that_a_leaky_average_keeps() -> None:
    """Equation (leaky-average): unrolled, the content of n steps ago has the weight a ** n."""
    rng = np.random.default_rng(0)
    a, u, start = 0.99, torch.from_numpy(rng.normal(size=100)), torch.tensor(0.3, dtype=torch.float64)
    start.requires_grad_()
    c = start
    for u_t in u:
        c = a * c + (1 - a) * u_t
    (left,) = torch.autograd.grad(c, start)
    assert left.item() == pytest.approx(0.99**100, abs=1e-12)
    assert f"{left.item():.2f}" == "0.37"


@pytest.mark.parametrize("b", [0.0, 1.0, 3.0])
def test_what_a_forget_bias_keeps(b: float) -> None:
    """Equation (forget-bias-keeps): torch's LSTM without any weights but the bias, with closed input gates."""
    steps = 20
    lstm = torch.nn.LSTM(1, 1, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        for weights in lstm.parameters():
            weights.zero_()
        lstm.bias_ih_l0[0], lstm.bias_ih_l0[1] = -800, b
        nothing, one = torch.zeros(1, 1, 1, dtype=torch.float64), torch.ones(1, 1, 1, dtype=torch.float64)
        _, (_, c_T) = lstm(torch.zeros(1, steps, 1, dtype=torch.float64), (nothing, one))
    assert c_T.item() == pytest.approx((1 / (1 + math.exp(-b))) ** steps, abs=1e-12)


@pytest.mark.parametrize(("B", "D", "H"), SIZES)
def test_one_step_of_the_lstm(B: int, D: int, H: int) -> None:
    """Equation (lstm-gates) and Equation (lstm-states), with torch's matrices transposed and the order i, f, g, o."""
    rng = np.random.default_rng(1)
    cell = torch.nn.LSTMCell(D, H, dtype=torch.float64)
    assert cell.weight_ih.shape == (4 * H, D)
    assert cell.weight_hh.shape == (4 * H, H)
    x_t, h_prev, c_prev = (torch.from_numpy(rng.normal(size=shape)) for shape in [(B, D), (B, H), (B, H)])
    _, i, f, g, o = gates(x_t, h_prev, cell.weight_ih.T, cell.weight_hh.T, cell.bias_ih + cell.bias_hh)
    c_t = f * c_prev + i * g
    h_t = o * torch.tanh(c_t)
    theirs = cell(x_t, (h_prev, c_prev))
    arrays = [part.detach().numpy() for part in (cell.weight_ih.T, cell.weight_hh.T, cell.bias_ih + cell.bias_hh)]
    solution = lstm_step(x_t.numpy(), h_prev.numpy(), c_prev.numpy(), *arrays)
    for page, ours, their in zip((h_t, c_t), solution, theirs, strict=True):
        near(page.detach(), their.detach())
        near(ours, their.detach())


def test_one_unit_set_by_hand_adds() -> None:
    """The page's four columns i, f, g, o, as rows of torch's LSTM: an error far below the memoryless baseline."""
    lstm = torch.nn.LSTM(2, 1, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        lstm.weight_ih_l0.copy_(torch.tensor([[0, 20], [0, 0], [0.1, 0], [0, 0]]))
        lstm.weight_hh_l0.zero_()
        lstm.bias_ih_l0.copy_(torch.tensor([-10, 10, 0, 10.0]))
        lstm.bias_hh_l0.zero_()
        x, y = adding.held_out("test")
        states, _ = lstm(x.double())
    assert ((10 * states[:, -1, 0] - y) ** 2).mean().item() < 1e-3 < adding.BASELINE


def test_the_1997_core_keeps_its_content() -> None:
    """With f = 1 and closed input gates, a cell's content and its gradient stay exactly as they are in torch's LSTM."""
    lstm = torch.nn.LSTM(1, 2, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        lstm.weight_ih_l0[:4], lstm.weight_hh_l0[:4], lstm.bias_hh_l0[:4] = 0, 0, 0
        lstm.bias_ih_l0[:4] = torch.tensor([-800, -800, 800, 800])  # exactly 0 and 1 in float64
    c_0 = torch.tensor([[[1.5, -0.3]]], dtype=torch.float64, requires_grad=True)
    _, (_, c_T) = lstm(torch.randn(1, 300, 1, dtype=torch.float64), (torch.zeros_like(c_0), c_0))
    (gradient,) = torch.autograd.grad(c_T.sum(), c_0)
    assert c_T.flatten().tolist() == [1.5, -0.3]
    assert gradient.flatten().tolist() == [1.0, 1.0]


@pytest.mark.parametrize(("B", "D", "H"), SIZES)
def test_the_total_gradient_of_the_cell_and_one_step_backward(B: int, D: int, H: int) -> None:
    """Equation (lstm-total-dc) and Equation (lstm-step-backward); the other blocks by the table's local derivatives."""
    rng = np.random.default_rng(2)
    x_t, W_x, W_h, b = (leaf(rng, *shape) for shape in [(B, D), (D, 4 * H), (H, 4 * H), (4 * H,)])
    h_prev, c_prev = leaf(rng, B, H), leaf(rng, B, H)
    dh, dc_next = (torch.from_numpy(rng.normal(size=(B, H))) for _ in range(2))
    a, i, f, g, o = gates(x_t, h_prev, W_x, W_h, b)
    c = f * c_prev + i * g
    loss = (o * torch.tanh(c) * dh).sum() + (c * dc_next).sum()
    by_torch = torch.autograd.grad(loss, [c, a, c_prev, h_prev], retain_graph=True)

    with torch.no_grad():
        dc = dc_next + dh * o * (1 - torch.tanh(c) ** 2)
        da_f = dc * c_prev * f * (1 - f)
        da_i, da_g = dc * g * i * (1 - i), dc * i * (1 - g**2)
        da_o = dh * torch.tanh(c) * o * (1 - o)
        da = torch.cat([da_i, da_f, da_g, da_o], dim=1)
        ours = dc, da, dc * f, da @ W_h.T
    for mine, their in zip(ours, by_torch, strict=True):
        near(mine, their)


def test_derivative_of_the_logistic_function() -> None:
    """Equation (logistic-derivative), and that it is at most 1/4."""
    a = torch.linspace(-8, 8, 161, dtype=torch.float64, requires_grad=True)
    gate = torch.sigmoid(a)
    (slope,) = torch.autograd.grad(gate.sum(), a)
    gate = gate.detach()
    near(gate * (1 - gate), slope)
    assert slope.max().item() == pytest.approx(0.25, abs=1e-12)


@pytest.mark.parametrize("steps", [1, 2, 7])
def test_the_direct_path_is_the_product_of_the_forget_gates(steps: int) -> None:
    """Equation (cell-gradient): what autograd finds if gates and candidate are detached."""
    H, rng = 3, np.random.default_rng(3)
    W_h = torch.from_numpy(rng.normal(size=(H, 4 * H)))
    c_k = leaf(rng, 1, H)
    h, c, product = torch.tanh(c_k), c_k, np.ones(H)
    for x_t in torch.from_numpy(rng.normal(size=(steps, 1, H))):
        _, i, f, g, o = (part.detach() for part in gates(x_t, h, torch.eye(H, 4 * H).double(), W_h, torch.zeros(4 * H)))
        c = f * c + i * g
        h = o * torch.tanh(c)
        product *= f[0].numpy()
    jacobian = torch.stack([torch.autograd.grad(each, c_k, retain_graph=True)[0][0] for each in c[0]])
    near(jacobian, np.diag(product))


def test_the_full_derivative_of_a_cell_with_one_unit() -> None:
    """Equation (full-cell-derivative): four paths, the output gate of the previous step held fixed."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        x_t, o_prev, W_h = leaf(rng, 1, 4), torch.rand(1, 1, dtype=torch.float64), leaf(rng, 1, 4)
        c_prev = leaf(rng, 1, 1)
        h_prev = o_prev * torch.tanh(c_prev)
        _, i, f, g, _ = gates(x_t, h_prev, torch.eye(4).double(), W_h, torch.zeros(4))
        (by_torch,) = torch.autograd.grad(f * c_prev + i * g, c_prev)
        with torch.no_grad():
            w_i, w_f, w_g, _ = W_h[0]
            beside = c_prev * f * (1 - f) * w_f + g * i * (1 - i) * w_i + i * (1 - g**2) * w_g
            near(f + beside * o_prev * (1 - torch.tanh(c_prev) ** 2), by_torch)


@pytest.mark.parametrize("name", ["lstm_0", "lstm_3"])
def test_the_gradient_of_the_first_figure_is_autograds(name: str) -> None:
    """The instrument behind the page's curves: the norm of (dh, dc) at every lag, in a small network."""
    H, steps = 5, 9
    W_h, x, rng = lag_gates.draw(name, 1.0, 1.0, "gaussian", 6, steps, H)
    states, dh = lag_gates.lstm_states(W_h, x), rng.normal(size=H)
    h, c = (torch.zeros(1, H, dtype=torch.float64, requires_grad=True) for _ in range(2))
    kept = []
    for x_t in torch.from_numpy(x):
        _, i, f, g, o = gates(x_t[None], h, torch.eye(4 * H).double(), torch.from_numpy(W_h), torch.zeros(4 * H))
        c = f * c + i * g
        h = o * torch.tanh(c)
        h, c = h * 1, c * 1  # names of their own, so that dc is what comes from the next step only
        kept.append((h, c))
    near(h[0].detach(), states.h[-1])
    loss = (kept[-1][0][0] * torch.from_numpy(dh)).sum()
    ours_dh, ours_dc = dh, np.zeros(H)
    for t in range(steps - 1, 0, -1):
        ours_dh, ours_dc = lag_gates.lstm_back(W_h, states, t, ours_dh, ours_dc)
        theirs = torch.autograd.grad(loss, kept[t - 1], retain_graph=True)
        near(ours_dh, theirs[0][0])
        near(ours_dc, theirs[1][0])
