"""`temperature_probs` and `top_k_probs`: nearly right programs fail and get no wrong name, right ones in other styles
pass, and the reference equals PyTorch on random sizes.
"""

import itertools

import numpy as np
import pytest
import torch

from solutions.ch04_gated.char_lm import softmax, temperature_probs, top_k_probs
from tests.conftest import SEEDS, exercise
from tests.loops import for_each

SHAPES = [*itertools.product((1, 3), (1, 2), (1, 5)), (4,), (1,), (2, 3, 2, 6)]


@for_each("shape", SHAPES)
@for_each("temperature", [1e-300, 1e-3, 0.3, 1.0, 40.0])
def test_temperature_equals_pytorch(shape, temperature):
    logits = np.random.default_rng(len(shape)).normal(size=shape)
    shifted = torch.from_numpy(logits - logits.max(axis=-1, keepdims=True))
    expected = torch.softmax(shifted / temperature, dim=-1).numpy()
    np.testing.assert_allclose(temperature_probs(logits, temperature), expected, rtol=1e-10, atol=1e-12)


@for_each("shape", SHAPES)
@for_each("k", [1, 2, 5, 9])
def test_top_k_equals_pytorch(shape, k):
    """All logits are different here, so PyTorch's order of equal ones does not matter."""
    logits = np.random.default_rng(k).normal(size=shape)
    values, index = torch.from_numpy(logits).topk(min(k, shape[-1]), dim=-1)
    expected = torch.zeros(shape, dtype=torch.float64).scatter_(-1, index, torch.softmax(values, dim=-1)).numpy()
    np.testing.assert_allclose(top_k_probs(logits, k), expected, rtol=1e-10, atol=1e-12)


def test_top_k_of_equal_logits():
    np.testing.assert_array_equal(top_k_probs(np.zeros((2, 4)), 3), [[1 / 3, 1 / 3, 1 / 3, 0]] * 2)


def at(index, values, fill, shape):
    kept = np.full(shape, fill)
    np.put_along_axis(kept, index, values, axis=-1)
    return kept


@pytest.mark.parametrize("kind", ["quicksort", "heapsort"])
def test_a_sort_that_is_not_stable_is_never_accepted(kind):
    """Which of the equal logits it keeps depends on the processor, but many of them are not those with lower ids."""

    def student(logits, k):
        index = np.argsort(-logits, axis=-1, kind=kind)[..., :k]
        return softmax(at(index, np.take_along_axis(logits, index, axis=-1), -np.inf, logits.shape))

    for seed in SEEDS:
        verdict = exercise("top_k_probs").verdict(student, seed)
        assert (verdict.status, verdict.earned) == ("failed", 1.25)
