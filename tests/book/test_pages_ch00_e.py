"""Each labelled equation of chapter 0's page on the fixed window, compared with a direct computation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from experiments.ch00 import window
from solutions.ch00_sequences.window import cross_entropy, fixed_window_logits


def test_the_window_network_unit_by_unit() -> None:
    """Equation (window-network), for a window of 3 with sums in place of matrix products."""
    rng = np.random.default_rng(0)
    n, V, D, H = 3, 5, 2, 4
    E, W_1, b_1 = rng.normal(size=(V, D)), rng.normal(size=(n * D, H)), rng.normal(size=H)
    W_2, b_2 = rng.normal(size=(H, V)), rng.normal(size=V)
    w = [4, 0, 4]
    h = [math.tanh(b_1[j] + sum(E[w[k], d] * W_1[k * D + d, j] for k in range(n) for d in range(D))) for j in range(H)]
    z = [b_2[i] + sum(h[j] * W_2[j, i] for j in range(H)) for i in range(V)]
    found = fixed_window_logits(np.array([w]), E, W_1, b_1, W_2, b_2)
    np.testing.assert_allclose(found, [z], atol=1e-12)
    assert not np.allclose(fixed_window_logits(np.array([[0, 4, 4]]), E, W_1, b_1, W_2, b_2), found)


def test_the_softmax_of_the_worked_example() -> None:
    """Equation (window-softmax): the numbers that the page prints, and a constant that changes nothing."""
    z = [1.2, 0.3, -0.5]
    powers = [math.exp(one) for one in z]
    p = [one / sum(powers) for one in powers]
    assert [round(one, 3) for one in p] == [0.629, 0.256, 0.115]
    shifted = [math.exp(one + 7) for one in z]
    assert [one / sum(shifted) for one in shifted] == pytest.approx(p)


def test_the_cross_entropy_from_logits() -> None:
    """Equation (log-sum-exp): the logarithm of the softmax where that can be computed, and 2000 where it cannot."""
    rng = np.random.default_rng(1)
    z = rng.normal(size=(6, 4))
    targets = rng.integers(0, 4, size=6)
    direct = [
        -math.log(math.exp(row[i]) / sum(math.exp(one) for one in row)) for row, i in zip(z, targets, strict=True)
    ]
    m = z.max(axis=1)
    rows = [
        m[r] - z[r, i] + math.log(sum(math.exp(one - m[r]) for one in z[r])) for r, i in enumerate(targets.tolist())
    ]
    np.testing.assert_allclose(rows, direct, atol=1e-12)
    assert cross_entropy(z, targets) == pytest.approx(np.mean(rows), abs=1e-12)
    assert cross_entropy(np.array([[1000.0, -1000.0]]), np.array([1])) == 2000


def test_the_parameters_of_the_window_network() -> None:
    """Equation (window-parameters): the entries of all arrays, one after the other."""
    D, H = window.SETTINGS["embed_size"], window.SETTINGS["hidden_size"]
    for n in (1, 4, 9):
        sizes = [(51, D), (n * D, H), (H,), (H, 51), (51,)]
        assert window.parameters(n, 51) == sum(math.prod(size) for size in sizes)
    assert window.parameters(5, 51) - window.parameters(4, 51) == D * H
