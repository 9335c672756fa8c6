"""Each labelled equation of chapter 3's pages on the linear case and on the nonlinearity, tested on random networks."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from solutions.ch03_gradients.linear import linear_gradient, spectral_radius

SEEDS = range(5)


def matrix(seed: int, size: int = 4) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(size, size)) / np.sqrt(size)


def spectral_norm(W: np.ndarray) -> float:
    return float(np.linalg.norm(W, 2))


def power(W: np.ndarray, lag: int) -> np.ndarray:
    """Multiply one factor at a time."""
    found = np.eye(len(W))
    for _ in range(lag):
        found = found @ W
    return found


@pytest.mark.parametrize("lag", [0, 1, 5])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_gradient_of_a_linear_network(seed: int, lag: int) -> None:
    """Equation (linear-gradient), with inputs and a bias, which must not matter, against autograd."""
    rng = np.random.default_rng(seed)
    W_hh, W_xh, b_h = matrix(seed), rng.normal(size=(3, 4)), rng.normal(size=4)
    dh_T, x = rng.normal(size=4), rng.normal(size=(lag, 3))
    start = torch.from_numpy(rng.normal(size=4)).requires_grad_()
    h_t = start
    for x_t in x:
        h_t = torch.from_numpy(x_t @ W_xh + b_h) + h_t @ torch.from_numpy(W_hh)
    (by_torch,) = torch.autograd.grad((h_t * torch.from_numpy(dh_T)).sum(), start)
    np.testing.assert_allclose(dh_T @ power(W_hh.T, lag), by_torch.numpy(), rtol=0, atol=1e-10)
    np.testing.assert_allclose(linear_gradient(W_hh, dh_T, lag), by_torch.numpy(), rtol=0, atol=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_each_coordinate_is_scaled_by_its_eigenvalue(seed: int) -> None:
    """Equation (eigen-coordinates) and Equation (eigen-power): the rows r of the inverse of Q, and r W^T = lambda r."""
    W_hh, dh_T = matrix(seed), np.random.default_rng(seed).normal(size=4)
    eigenvalues, Q = np.linalg.eig(W_hh.T)
    rows = np.linalg.inv(Q)
    for value, r in zip(eigenvalues, rows, strict=True):
        np.testing.assert_allclose(r @ W_hh.T, value * r, atol=1e-10)
    coordinates = np.linalg.solve(rows.T, dh_T.astype(complex))
    for lag in (0, 1, 2, 7):
        by_sum = sum(c * value**lag * r for c, value, r in zip(coordinates, eigenvalues, rows, strict=True))
        np.testing.assert_allclose(by_sum, dh_T @ power(W_hh.T, lag), atol=1e-10)
        np.testing.assert_allclose(Q @ np.diag(eigenvalues**lag) @ rows, power(W_hh.T, lag), atol=1e-10)


def test_the_eigenvectors_of_the_worked_example() -> None:
    """Equation (eigen-coordinates) with the numbers of the page."""
    W_hh = np.array([[0.9, 0.4], [0.2, 0.7]])
    for value, r in ((1.1, [2, 1]), (0.5, [1, -1])):
        np.testing.assert_allclose(np.array(r) @ W_hh.T, value * np.array(r), atol=1e-12)
    np.testing.assert_allclose(0.1 * np.array([2, 1]) + 2 * np.array([1, -1]), [2.2, -1.9])


@pytest.mark.parametrize("seed", SEEDS)
def test_the_spectral_radius_decides_the_long_run(seed: int) -> None:
    """Equation (spectral-radius): a gradient vanishes just below 1 and explodes just above it."""
    W, dh = matrix(seed, 8), np.random.default_rng(seed).normal(size=8)
    radius = spectral_radius(W)
    assert np.linalg.norm(dh @ np.linalg.matrix_power(W.T * (0.95 / radius), 1000)) < 1e-12
    assert np.linalg.norm(dh @ np.linalg.matrix_power(W.T * (1.05 / radius), 1000)) > 1e12


@pytest.mark.parametrize(("a", "b"), [(0.9, 0.3), (0.9, 0.6), (-0.5, 0.8), (-1.1, 0.0)])
def test_a_complex_pair_scales_and_rotates(a: float, b: float) -> None:
    """Equation (complex-pair)."""
    value, matrix_of_pair = complex(a, b), np.array([[a, -b], [b, a]])
    modulus, angle = np.hypot(a, b), np.arctan2(b, a)
    assert spectral_radius(matrix_of_pair) == pytest.approx(modulus, abs=1e-12)
    for lag in (0, 1, 3, 10):
        expected = modulus**lag * complex(np.cos(lag * angle), np.sin(lag * angle))
        assert value**lag == pytest.approx(expected, abs=1e-9)
        passed = np.array([1.0, 0.0]) @ power(matrix_of_pair.T, lag)
        np.testing.assert_allclose(passed, [expected.real, expected.imag], atol=1e-9)


@pytest.mark.parametrize("lag", [0, 1, 2, 9, 10, 40])
def test_the_power_of_a_defective_matrix(lag: int) -> None:
    """Equation (defective-power)."""
    expected = [[0.9**lag, 10 * lag * 0.9 ** (lag - 1)], [0, 0.9**lag]]
    np.testing.assert_allclose(power(np.array([[0.9, 10.0], [0.0, 0.9]]), lag), expected, atol=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_largest_singular_value_bounds_a_step_and_is_reached(seed: int) -> None:
    """Equation (step-bound)."""
    W, dh = matrix(seed), np.random.default_rng(seed).normal(size=(100, 4))
    lengthened = np.linalg.norm(dh @ W.T, axis=1) / np.linalg.norm(dh, axis=1)
    assert lengthened.max() <= spectral_norm(W)
    _, singular_values, right = np.linalg.svd(W)
    assert np.linalg.norm(right[0] @ W.T) == pytest.approx(singular_values[0])


@pytest.mark.parametrize("seed", SEEDS)
def test_the_norm_of_a_power_lies_between_two_bounds(seed: int) -> None:
    """Equation (gelfand), for random and for defective matrices."""
    for W in (matrix(seed), np.array([[0.9, 10.0 + seed], [0.0, 0.9]])):
        radius = np.abs(np.linalg.eigvals(W)).max()
        for lag in (1, 2, 5, 20):
            norm = spectral_norm(power(W, lag))
            assert radius**lag * (1 - 1e-9) <= norm <= spectral_norm(W) ** lag * (1 + 1e-9)
        roots = [spectral_norm(np.linalg.matrix_power(W, lag)) ** (1 / lag) for lag in (10, 100, 1000)]
        assert abs(roots[2] - radius) < 0.02 * radius
        assert abs(roots[2] - radius) <= abs(roots[1] - radius) <= abs(roots[0] - radius)


@pytest.mark.parametrize("seed", SEEDS)
def test_normal_matrices_cannot_grow_first(seed: int) -> None:
    """The page's statement on normal matrices: symmetric, orthogonal and rotation-like ones have sigma_max = rho."""
    W = matrix(seed)
    orthogonal, _ = np.linalg.qr(W)
    for normal in (W + W.T, 0.7 * orthogonal, np.array([[0.9, -0.6], [0.6, 0.9]])):
        np.testing.assert_allclose(normal @ normal.T, normal.T @ normal, atol=1e-12)
        assert spectral_norm(normal) == pytest.approx(spectral_radius(normal))
    assert np.abs(W @ W.T - W.T @ W).max() > 0.01
    assert spectral_norm(W) > 1.01 * spectral_radius(W)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_estimated_factor_is_right_for_evenly_spread_gradients(seed: int) -> None:
    """Equation (rms-factor): exact for the mean square over gradients whose entries are independent."""
    rng = np.random.default_rng(seed)
    orthogonal, _ = np.linalg.qr(matrix(seed, 6))
    slopes, radius = 1 - np.tanh(rng.normal(size=6)) ** 2, 1.5
    squares = [np.linalg.norm((dh * slopes) @ (radius * orthogonal).T) ** 2 for dh in np.eye(6)]
    assert np.sqrt(np.mean(squares)) == pytest.approx(radius * np.sqrt((slopes**2).mean()))
    signs = rng.choice([-1.0, 1.0], size=6)  # a gradient with entries of equal size: exact without any mean
    lengthened = np.linalg.norm((signs * slopes) @ (radius * orthogonal).T) / np.linalg.norm(signs)
    assert lengthened == pytest.approx(radius * np.sqrt((slopes**2).mean()))


GAMMA = {"tanh": 1.0, "sigmoid": 0.25}


@pytest.mark.parametrize("activation", GAMMA)
def test_gamma_is_the_largest_derivative(activation: str) -> None:
    """Equation (jacobian-bound): gamma, at a pre-activation of 0."""
    a = torch.linspace(-6, 6, 1201, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(getattr(torch, activation)(a).sum(), a)
    assert slope.max().item() == pytest.approx(GAMMA[activation])
    assert slope.argmax().item() == 600


@pytest.mark.parametrize("activation", GAMMA)
@pytest.mark.parametrize("seed", SEEDS)
def test_no_gradient_exceeds_the_bound(seed: int, activation: str) -> None:
    """Equation (jacobian-bound) and Equation (gradient-bound), with Jacobians and gradients from autograd."""
    rng = np.random.default_rng(seed)
    phi = getattr(torch, activation)
    for scale in (0.5, 1.0, 4.0):
        W_hh = scale * matrix(seed)
        largest = GAMMA[activation] * spectral_norm(W_hh)
        states = [torch.from_numpy(rng.normal(size=4)).requires_grad_()]
        for x_t in rng.normal(size=(12, 4)):
            states.append(phi(torch.from_numpy(x_t) + states[-1] @ torch.from_numpy(W_hh)))

        def step(h: torch.Tensor, W_hh: np.ndarray = W_hh) -> torch.Tensor:
            return phi(h @ torch.from_numpy(W_hh))

        for h_t in states:
            jacobian = torch.autograd.functional.jacobian(step, h_t.detach()).numpy()
            assert spectral_norm(jacobian) <= largest * (1 + 1e-9)
        dh_T = rng.normal(size=4)
        dh = torch.autograd.grad((states[-1] * torch.from_numpy(dh_T)).sum(), states)
        for lag, gradient in enumerate(reversed(dh)):
            assert np.linalg.norm(gradient.numpy()) <= largest**lag * np.linalg.norm(dh_T) * (1 + 1e-9)


def test_the_bound_needs_the_singular_value() -> None:
    """Equation (gradient-bound) is false with the spectral radius: a matrix of radius 0 and a saturated unit."""
    W_hh = np.array([[1.5, -1.5], [1.5, -1.5]])
    assert not (W_hh @ W_hh).any()
    states = [torch.tensor([0.0, 1.0], dtype=torch.float64).requires_grad_()]
    for _ in range(10):
        x_t = torch.tensor([-1.5 * states[-1][1].item(), 50.0], dtype=torch.float64)  # keeps the first unit at 0
        states.append(torch.tanh(x_t + states[-1] @ torch.from_numpy(W_hh)))
    assert states[-1].tolist() == pytest.approx([0, 1])
    (first,) = torch.autograd.grad(states[-1][0], states[0])
    np.testing.assert_allclose(first.numpy(), [1.5**10, 1.5**10])
    assert spectral_norm(W_hh) ** 10 > 1.5**10


@pytest.mark.parametrize("w", [1.01, 1.5, 2.0, 5.0])
def test_a_unit_that_keeps_its_bit_shrinks_gradients(w: float) -> None:
    """Equation (latch-factor), and that the same factor shrinks disturbances."""
    fixed = 1.0
    for _ in range(20_000):
        fixed = float(np.tanh(w * fixed))
    assert fixed > 0.1
    assert np.tanh(w * fixed) == pytest.approx(fixed, abs=1e-12)
    factor = w * (1 - fixed**2)
    assert 0 < factor < 1
    disturbed = (np.tanh(w * (fixed + 1e-6)) - np.tanh(w * (fixed - 1e-6))) / 2e-6
    assert disturbed == pytest.approx(factor, abs=1e-6)


@pytest.mark.parametrize("w", [0.3, 0.9, 1.0])
def test_below_the_bifurcation_every_state_decays(w: float) -> None:
    """The page's statement beside Equation (latch-factor)."""
    state, before = 0.9, 1.0
    for _ in range(50_000):
        state, before = float(np.tanh(w * state)), state
        assert 0 <= state <= before
    assert state < 0.01
