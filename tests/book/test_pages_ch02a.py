"""Each labelled equation of chapter 2's first five pages, compared with torch.autograd, which does not use the page."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from solutions.ch01_vanilla_rnn.predictions import softmax
from solutions.ch02_bptt.by_hand import rnn_step_backward
from solutions.ch02_bptt.checking import relative_error
from solutions.ch02_bptt.logits_and_embedding import cross_entropy_backward, embedding_backward
from solutions.ch02_bptt.through_time import rnn_backward

SIZES = [(2, 5, 3, 4), (1, 1, 1, 1), (3, 4, 2, 2), (1, 7, 3, 1)]  # B, T, D, H


def leaf(rng: np.random.Generator, *shape: int) -> torch.Tensor:
    return torch.from_numpy(rng.normal(size=shape)).requires_grad_()


def numpy(*tensors: torch.Tensor) -> list[np.ndarray]:
    return [tensor.detach().numpy() for tensor in tensors]


def check_all(ours: tuple[np.ndarray, ...], theirs: tuple[torch.Tensor, ...]) -> None:
    assert len(ours) == len(theirs)
    for mine, their in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, their.numpy(), rtol=0, atol=1e-10, strict=True)


def scalar_states(copies: torch.Tensor, x: torch.Tensor, h_0: float) -> list[torch.Tensor]:
    """Return h_0 to h_T of a network with one unit, in which each step uses its own copy of the weight."""
    h = [torch.tensor(h_0, dtype=torch.float64)]
    for x_t, w in zip(x, copies, strict=True):
        h.append(torch.tanh(x_t + w * h[-1]))
    return h


@pytest.mark.parametrize("T", [1, 3, 8])
def test_a_shared_weight_adds_up(T: int) -> None:
    """Equation (shared-weight): the sum over copies is the gradient of the one weight."""
    x = torch.from_numpy(np.random.default_rng(0).normal(size=T))
    w = torch.tensor(0.9, dtype=torch.float64, requires_grad=True)
    (together,) = torch.autograd.grad(sum(scalar_states(w.expand(T), x, 0.4)[1:]), w)
    copies = torch.full((T,), 0.9, dtype=torch.float64, requires_grad=True)
    (alone,) = torch.autograd.grad(sum(scalar_states(copies, x, 0.4)[1:]), copies)
    assert alone.sum().item() == pytest.approx(together.item(), abs=1e-12)


def product_of_steps(h: list[float], w: float, k: int, t: int) -> float:
    return math.prod((1 - h[j] ** 2) * w for j in range(k + 1, t + 1))


@pytest.mark.parametrize("T", [1, 3, 8])
def test_the_double_sum_needs_the_immediate_derivative(T: int) -> None:
    """Equation (double-sum), Equation (product-of-steps) and Equation (immediate-and-total), with L_t = h_t squared."""
    x = torch.from_numpy(np.random.default_rng(1).normal(size=T))
    w = torch.tensor(0.9, dtype=torch.float64, requires_grad=True)
    states = scalar_states(w.expand(T), x, 0.4)
    h = [state.item() for state in states]
    (gradient,) = torch.autograd.grad(sum(state**2 for state in states[1:]), w, retain_graph=True)

    immediate, total = [0.0], [0.0]
    for k in range(1, T + 1):
        previous = torch.tensor(h[k - 1], dtype=torch.float64)  # held fixed
        (by_torch,) = torch.autograd.grad(torch.tanh(x[k - 1] + w * previous), w)
        immediate.append((1 - h[k] ** 2) * h[k - 1])
        total.append((1 - h[k] ** 2) * (h[k - 1] + w.item() * total[-1]))
        (total_by_torch,) = torch.autograd.grad(states[k], w, retain_graph=True)
        assert immediate[k] == pytest.approx(by_torch.item(), abs=1e-12)
        assert total[k] == pytest.approx(total_by_torch.item(), abs=1e-12)

    def double_sum(last_factor: list[float]) -> float:
        result = 0.0
        for t in range(1, T + 1):
            for k in range(1, t + 1):
                result += 2 * h[t] * product_of_steps(h, w.item(), k, t) * last_factor[k]
        return result

    assert double_sum(immediate) == pytest.approx(gradient.item(), abs=1e-12)
    if T > 1:
        assert abs(double_sum(total) - gradient.item()) > 0.01


@pytest.mark.parametrize("T", [1, 3, 8])
def test_the_inner_sum_is_the_total_gradient_of_a_state(T: int) -> None:
    """Equation (columns-first), and dh_k as its bracket and by recursion, with L_t = h_t squared.

    Equation (bracket-recursion) and Equation (total-gradient).
    """
    x = torch.from_numpy(np.random.default_rng(9).normal(size=T))
    w = torch.tensor(0.9, dtype=torch.float64, requires_grad=True)
    states = scalar_states(w.expand(T), x, 0.4)
    h = [state.item() for state in states]
    loss = sum(state**2 for state in states[1:])
    dh = [each.item() for each in torch.autograd.grad(loss, states[1:], retain_graph=True)]
    (gradient,) = torch.autograd.grad(loss, w, retain_graph=True)

    by_columns, dh_next = 0.0, 0.0
    for k in range(T, 0, -1):
        for t in range(k, T + 1):
            (by_torch,) = torch.autograd.grad(states[t], states[k], retain_graph=True)
            assert product_of_steps(h, w.item(), k, t) == pytest.approx(by_torch.item(), abs=1e-12)
        bracket = sum(2 * h[t] * product_of_steps(h, w.item(), k, t) for t in range(k, T + 1))
        assert bracket == pytest.approx(dh[k - 1], abs=1e-12)
        assert 2 * h[k] + dh_next == pytest.approx(dh[k - 1], abs=1e-12)
        dh_next = dh[k - 1] * (1 - h[k] ** 2) * w.item()
        by_columns += bracket * (1 - h[k] ** 2) * h[k - 1]
    assert by_columns == pytest.approx(gradient.item(), abs=1e-12)


@pytest.mark.parametrize(("B", "T", "D", "H"), SIZES)
def test_backward_through_time(B: int, T: int, D: int, H: int) -> None:
    """Equation (rnn-backward): the page's lines, the solution, and autograd."""
    rng = np.random.default_rng(2)
    x, h_0, W_xh, W_hh, b_h = leaves = [leaf(rng, *s) for s in [(B, T, D), (B, H), (D, H), (H, H), (H,)]]
    states, state = [], h_0
    for t in range(T):
        state = torch.tanh(x[:, t] @ W_xh + state @ W_hh + b_h)
        states.append(state)
    h, dh = torch.stack(states, dim=1), torch.from_numpy(rng.normal(size=(B, T, H)))
    theirs = torch.autograd.grad((h * dh).sum(), leaves)
    check_all(rnn_backward(*numpy(dh, x, h_0, h, W_xh, W_hh)), theirs)

    dh_next, parts = np.zeros((B, H)), []
    previous = torch.cat([h_0[:, None], h[:, :-1]], dim=1)
    for t in reversed(range(T)):
        one_step = numpy(x[:, t], previous[:, t], h[:, t], W_xh, W_hh)
        dx_t, dh_next, *part = rnn_step_backward(dh[:, t].numpy() + dh_next, *one_step)
        np.testing.assert_allclose(dx_t, theirs[0][:, t].numpy(), rtol=0, atol=1e-10)
        parts.append(part)
    sums = [sum(part) for part in zip(*parts, strict=True)]
    check_all((dh_next, *sums), theirs[1:])


@pytest.mark.parametrize(("B", "T", "D"), [(2, 5, 3), (1, 1, 1), (3, 9, 2)])
def test_the_gradient_of_a_row_is_the_sum_over_its_copies(B: int, T: int, D: int) -> None:
    """Equation (embedding-backward)."""
    rng = np.random.default_rng(3)
    table, ids = leaf(rng, 4, D), rng.integers(0, 3, size=(B, T))  # id 3 never occurs
    de = rng.normal(size=(B, T, D))
    theirs = torch.autograd.grad((table[torch.from_numpy(ids)] * torch.from_numpy(de)).sum(), table)
    check_all((embedding_backward(de, ids, 4),), theirs)
    by_sum = np.array([de[ids == v].sum(axis=0) for v in range(4)])
    check_all((by_sum,), theirs)
    assert (by_sum[3] == 0).all()


def test_two_parts_of_the_negative_log_likelihood() -> None:
    """Equation (surprise-parts)."""
    z = np.random.default_rng(4).normal(size=6)
    for y in range(6):
        assert -z[y] + math.log(np.exp(z).sum()) == pytest.approx(-math.log(softmax(z)[y]), abs=1e-12)


@pytest.mark.parametrize(("B", "T", "V"), [(2, 5, 7), (1, 1, 2), (3, 1, 4)])
def test_probability_minus_target(B: int, T: int, V: int) -> None:
    """Equation (cross-entropy-backward), entry by entry."""
    rng = np.random.default_rng(5)
    logits, targets = leaf(rng, B, T, V), rng.integers(0, V, size=(B, T))
    loss = torch.nn.functional.cross_entropy(logits.reshape(-1, V), torch.from_numpy(targets).reshape(-1))
    theirs = torch.autograd.grad(loss, logits)
    check_all((cross_entropy_backward(logits.detach().numpy(), targets),), theirs)
    p = softmax(logits.detach().numpy())
    by_entry = np.empty((B, T, V))
    for b, t, i in np.ndindex(B, T, V):
        by_entry[b, t, i] = (p[b, t, i] - (i == targets[b, t])) / (B * T)
    check_all((by_entry,), theirs)
    np.testing.assert_allclose(by_entry.sum(axis=2), 0, atol=1e-12)


def test_local_derivatives_of_the_softmax() -> None:
    """Equation (softmax-jacobian), and that its product with the gradient of -ln p_y is p minus the target."""
    z = torch.from_numpy(np.random.default_rng(10).normal(size=5))
    p = softmax(z.numpy())
    by_entry = np.array([[p[i] * ((i == j) - p[j]) for j in range(5)] for i in range(5)])
    jacobian = torch.autograd.functional.jacobian(lambda z: torch.softmax(z, 0), z)
    check_all((by_entry,), (jacobian,))
    for y in range(5):
        upstream = -np.eye(5)[y] / p[y]
        np.testing.assert_allclose(upstream @ by_entry, p - np.eye(5)[y], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("B", "T", "H", "V"), SIZES)
def test_from_the_logits_to_the_states(B: int, T: int, H: int, V: int) -> None:
    """Equation (readout-backward)."""
    rng = np.random.default_rng(11)
    h, W_hy, b_y = leaves = [leaf(rng, *s) for s in [(B, T, H), (H, V), (V,)]]
    dz = rng.normal(size=(B, T, V))
    theirs = torch.autograd.grad(((h @ W_hy + b_y) * torch.from_numpy(dz)).sum(), leaves)
    h_, W_, _ = numpy(*leaves)
    dh_out = np.stack([dz[:, t] @ W_.T for t in range(T)], axis=1)
    check_all((dh_out, sum(h_[:, t].T @ dz[:, t] for t in range(T)), dz.sum(axis=(0, 1))), theirs)


def test_derivative_of_tanh() -> None:
    """Equation (tanh-slope)."""
    a = torch.linspace(-5, 5, 101, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(torch.tanh(a).sum(), a)
    check_all((1 - np.tanh(a.detach().numpy()) ** 2,), (slope,))


@pytest.mark.parametrize(("B", "D", "K"), [(4, 2, 3), (1, 1, 1), (2, 3, 3)])
def test_through_a_linear_layer(B: int, D: int, K: int) -> None:
    """Equation (linear-backward) and, for a single row, Equation (linear-entries)."""
    rng = np.random.default_rng(6)
    X, W, dY = leaf(rng, B, D), leaf(rng, D, K), rng.normal(size=(B, K))
    theirs = torch.autograd.grad((X @ W * torch.from_numpy(dY)).sum(), [X, W])
    x, w = numpy(X, W)
    check_all((dY @ w.T, x.T @ dY), theirs)
    for b in range(B):
        (dx, dw) = torch.autograd.grad((X[b] @ W * torch.from_numpy(dY[b])).sum(), [X, W])
        for i in range(D):
            assert sum(dY[b, k] * w[i, k] for k in range(K)) == pytest.approx(dx[b, i].item(), abs=1e-12)
            for k in range(K):
                assert x[b, i] * dY[b, k] == pytest.approx(dw[i, k].item(), abs=1e-12)


@pytest.mark.parametrize(("B", "D", "H"), [(2, 3, 4), (1, 1, 1), (5, 2, 2)])
def test_one_step_backward(B: int, D: int, H: int) -> None:
    """Equation (rnn-step-backward), sum by sum."""
    rng = np.random.default_rng(7)
    x, h_prev, W_xh, W_hh, b_h = leaves = [leaf(rng, *s) for s in [(B, D), (B, H), (D, H), (H, H), (H,)]]
    h = torch.tanh(x @ W_xh + h_prev @ W_hh + b_h)
    dh = torch.from_numpy(rng.normal(size=(B, H)))
    theirs = torch.autograd.grad((h * dh).sum(), leaves)
    arrays = numpy(dh, x, h_prev, h, W_xh, W_hh)
    check_all(rnn_step_backward(*arrays), theirs)
    dh_, x_, prev_, h_, U, W = arrays
    da = dh_ * (1 - h_**2)
    sums = (
        np.einsum("bk,ik->bi", da, U),
        np.einsum("bk,jk->bj", da, W),
        np.einsum("bi,bk->ik", x_, da),
        np.einsum("bj,bk->jk", prev_, da),
        np.einsum("bk->k", da),
    )
    check_all(sums, theirs)


def test_errors_of_one_and_two_sided_differences() -> None:
    """Equation (central-difference): both leading terms, for sin at 1, with derivatives from autograd."""
    theta = torch.tensor(1.0, dtype=torch.float64, requires_grad=True)
    derivatives, value = [], torch.sin(theta)
    for _ in range(3):
        (value,) = torch.autograd.grad(value, theta, create_graph=True)
        derivatives.append(value.item())
    first, second, third = derivatives
    for eps in (1e-2, 1e-3):
        one_sided = (math.sin(1 + eps) - math.sin(1)) / eps - first
        central = (math.sin(1 + eps) - math.sin(1 - eps)) / (2 * eps) - first
        assert one_sided == pytest.approx(eps / 2 * second, rel=0.01)
        assert central == pytest.approx(eps**2 / 6 * third, rel=0.01)


@pytest.mark.parametrize(("u", "f", "third"), [(1e-16, 1.0, 1.0), (6e-8, 3.0, -0.5)])
def test_best_step(u: float, f: float, third: float) -> None:
    """Equation (error-balance): the step it names is the least of the sum of both errors, by autograd and a search."""
    eps = torch.tensor((3 * u * abs(f) / abs(third)) ** (1 / 3), dtype=torch.float64, requires_grad=True)

    def error(step: torch.Tensor) -> torch.Tensor:
        return step**2 / 6 * abs(third) + u * abs(f) / step

    (slope,) = torch.autograd.grad(error(eps), eps)
    assert abs(slope.item()) * eps.item() < 1e-9 * error(eps).item()
    around = eps.detach() * torch.logspace(-2, 2, 401, dtype=torch.float64)
    assert error(around).argmin().item() == 200


def test_relative_error() -> None:
    """Equation (relative-error): symmetric, blind to a common factor, between 0 and 1, and 0 where both are 0."""
    rng = np.random.default_rng(8)
    a, b = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    by_loop = max(abs(x - y) / (abs(x) + abs(y)) for x, y in zip(a.flat, b.flat, strict=True))
    assert relative_error(a, b) == pytest.approx(by_loop, abs=1e-15)
    assert relative_error(b, a) == relative_error(a, b) == pytest.approx(relative_error(-7 * a, -7 * b), abs=1e-15)
    assert relative_error(a, a) == 0
    assert relative_error(a, -a) == 1
    assert relative_error(np.array([0.0, 2.0]), np.array([0.0, 1.0])) == pytest.approx(1 / 3, abs=1e-15)
