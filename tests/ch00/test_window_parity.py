"""The notebook `window` and its oracles equal PyTorch on random sizes, sizes of 1 and large logits."""

import itertools

import numpy as np
import pytest
import torch

from solutions.ch00_sequences.window import cross_entropy, fixed_window_logits
from tests.conftest import exercise
from tests.loops import for_each

RANDOM = [tuple(np.random.default_rng(seed).integers(1, 7, size=5).tolist()) for seed in range(10)]
SIZES = [*RANDOM, *itertools.product((1, 2), repeat=5)]  # (B, n, V, D, H)


def both(exercise_id, function):
    return [function, exercise(exercise_id).spec.oracle]


@for_each("sizes", SIZES)
def test_the_network_equals_layers_of_pytorch(sizes):
    B, n, V, D, H = sizes
    rng = np.random.default_rng(sizes)
    ids, E = rng.integers(V, size=(B, n)), rng.normal(size=(V, D))
    W_1, b_1 = rng.normal(size=(n * D, H)), rng.normal(size=H)
    W_2, b_2 = rng.normal(size=(H, V)), rng.normal(size=V)
    model = torch.nn.Sequential(
        torch.nn.Embedding(V, D),
        torch.nn.Flatten(),
        torch.nn.Linear(n * D, H),
        torch.nn.Tanh(),
        torch.nn.Linear(H, V),
    ).double()
    weights = [E, W_1.T, b_1, W_2.T, b_2]
    model.load_state_dict(dict(zip(model.state_dict(), map(torch.tensor, weights), strict=True)))
    with torch.no_grad():
        expected = model(torch.from_numpy(ids)).numpy()
    for function in both("fixed_window_logits", fixed_window_logits):
        np.testing.assert_allclose(function(ids, E, W_1, b_1, W_2, b_2), expected, rtol=1e-12, atol=1e-12)


@for_each("size", [0, 1, 30, 1000, 1e6])
@for_each(("N", "V"), [(1, 1), (1, 5), (4, 1), (3, 3), (6, 4), (2, 50)])
def test_the_loss_equals_pytorchs(N, V, size):
    rng = np.random.default_rng([N, V])
    logits, targets = size * rng.normal(size=(N, V)), rng.integers(V, size=N)
    logits += size * rng.choice([-1, 1], size=(N, 1))
    expected = torch.nn.CrossEntropyLoss()(torch.from_numpy(logits), torch.from_numpy(targets)).item()
    for function in both("cross_entropy", cross_entropy):
        assert function(logits, targets) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("V", [1, 2, 51, 1000])
def test_equal_logits_cost_ln_V(V):
    logits, targets = np.full((7, V), -1000.0), np.arange(7) % V
    assert cross_entropy(logits, targets) == pytest.approx(np.log(V), abs=1e-12)


def test_certain_and_wrong():
    """The example of the notebook: logits 0 and 1000, and the target is 0."""
    assert cross_entropy(np.array([[0.0, 1000.0]]), np.array([0])) == 1000.0
    assert cross_entropy(np.array([[0.0, 1000.0]]), np.array([1])) == 0.0
