"""Each labelled equation of chapter 3's first two pages, against torch.autograd or sampling, and what they promise."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from experiments.ch03 import adding
from solutions.ch03_gradients.jacobians import gradient_norms_by_lag, jacobian_product, step_jacobian

SIZES = [(5, 4), (1, 1), (1, 3), (7, 2)]  # T, H


def states_of(T: int, H: int) -> tuple[torch.Tensor, torch.Tensor, list[torch.Tensor]]:
    """Random weights, inputs and states h_0 to h_T (H,) of one sequence, in the graph of W_hh and the states."""
    rng = np.random.default_rng(3)
    W_hh = torch.from_numpy(rng.normal(size=(H, H)))
    x = torch.from_numpy(rng.normal(size=(T, H)))
    h = [torch.from_numpy(rng.normal(size=H)).requires_grad_()]
    for x_t in x:
        h.append(torch.tanh(x_t + h[-1] @ W_hh))
    return W_hh, x, h


def jacobian(output: torch.Tensor, of: torch.Tensor) -> np.ndarray:
    """Row i has the derivatives of output[i], by autograd."""
    rows = [torch.autograd.grad(each, of, retain_graph=True)[0] for each in output]
    return torch.stack(rows).numpy()


def test_the_baseline_of_the_adding_problem() -> None:
    """Equation (adding-baseline): by exact integration on a grid of midpoints, and on the experiment's sequences."""
    middle = (np.arange(2000) + 0.5) / 2000
    assert ((middle[:, None] + middle - 1) ** 2).mean() == pytest.approx(1 / 6, abs=1e-6)
    _, target = adding.sequences(20_000, 10, torch.Generator().manual_seed(0))
    assert ((target - 1) ** 2).mean().item() == pytest.approx(1 / 6, abs=0.005)
    assert pytest.approx(1 / 6) == adding.BASELINE


def test_what_the_last_input_adds_to_the_baseline() -> None:
    """Without memory, only the last input helps: its mark is 1 in 2 / steps of the sequences, and saves 1/12 there."""
    steps = 10
    x, target = adding.sequences(200_000, steps, torch.Generator().manual_seed(0))
    number, mark = x[:, -1].T
    answer = torch.where(mark > 0, number + 0.5, 1.0)
    gain = ((target - 1) ** 2 - (target - answer) ** 2).mean().item()
    assert gain == pytest.approx(2 / steps / 12, abs=0.001)


@pytest.mark.parametrize("H", [1, 2, 5])
def test_the_jacobian_of_one_step(H: int) -> None:
    """Equation (step-jacobian), entry by entry, and in the columns of the papers."""
    W_hh, x, h = states_of(1, H)
    by_torch = jacobian(h[1], h[0])
    after, W = h[1].detach().numpy(), W_hh.numpy()
    by_entry = np.array([[(1 - after[i] ** 2) * W[j, i] for j in range(H)] for i in range(H)])
    for ours in (by_entry, np.diag(1 - after**2) @ W.T, step_jacobian(after, W)):
        np.testing.assert_allclose(ours, by_torch, rtol=0, atol=1e-12)

    W_column = W_hh.T.clone()
    column = h[0].detach()[:, None].requires_grad_()  # (H, 1)
    (result,) = torch.tanh(x[0][:, None] + W_column @ column).T
    np.testing.assert_allclose(jacobian(result, column)[:, :, 0], by_torch, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.diag(1 - after**2) @ W_column.numpy(), by_torch, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("T", "H"), SIZES)
def test_the_product_of_jacobians(T: int, H: int) -> None:
    """Equation (jacobian-product): the latest factor on the left, and the identity for no step."""
    W_hh, _, h = states_of(T, H)
    all_states = torch.stack(h).detach().numpy()
    for k in range(T + 1):
        for t in range(k, T + 1):
            product = np.eye(H)
            for s in range(k + 1, t + 1):
                product = np.diag(1 - all_states[s] ** 2) @ W_hh.numpy().T @ product
            by_torch = jacobian(h[t], h[k]) if t > k else np.eye(H)
            np.testing.assert_allclose(product, by_torch, rtol=0, atol=1e-12)
            np.testing.assert_allclose(jacobian_product(all_states, W_hh.numpy(), k, t), by_torch, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("T", "H"), SIZES)
def test_a_gradient_is_a_row_times_the_product(T: int, H: int) -> None:
    """Equation (gradient-row), by autograd and as the backward step of chapter 2."""
    W_hh, _, h = states_of(T, H)
    dh_T = torch.from_numpy(np.random.default_rng(4).normal(size=H))
    (*by_torch,) = torch.autograd.grad((h[T] * dh_T).sum(), h)
    W, dh, row = W_hh.numpy(), dh_T.numpy(), dh_T.numpy()
    for k in range(T, -1, -1):
        np.testing.assert_allclose(dh, by_torch[k].numpy(), rtol=0, atol=1e-12)
        np.testing.assert_allclose(row, by_torch[k].numpy(), rtol=0, atol=1e-12)
        if k > 0:
            after = h[k].detach().numpy()
            dh = (dh * (1 - after**2)) @ W.T
            row = row @ step_jacobian(after, W)
    norms = gradient_norms_by_lag(dh_T.numpy()[None], torch.stack(h[1:]).detach().numpy()[None], W)
    np.testing.assert_allclose(norms, [by_torch[T - lag].norm().item() for lag in range(T)], rtol=0, atol=1e-12)


def test_the_number_of_multiplications() -> None:
    """What the page counts for 64 units and 99 steps: a row through T matrices, and T matrices into one product."""
    counted = 0

    def multiply(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        nonlocal counted
        counted += A.shape[0] * A.shape[1] * B.shape[1]
        return A @ B

    H, T = 64, 99
    factors = [np.eye(H)] * T
    row = np.ones((1, H))
    for J in factors:
        row = multiply(row, J)
    assert counted == T * H**2
    counted, product = 0, factors[0]
    for J in factors[1:]:
        product = multiply(J, product)
    multiply(np.ones((1, H)), product)
    assert counted == (T - 1) * H**3 + H**2
