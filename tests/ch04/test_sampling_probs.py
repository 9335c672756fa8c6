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
from tests.nearly_right import fails, passes

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


# temperature_probs ----------------------------------------------------------------------------------------------------


def greedy(logits):
    return (logits == logits.max(axis=-1, keepdims=True)).astype(float)


def unless_zero(rule, at_zero=greedy):
    """A program with this rule for other temperatures than 0."""
    return lambda logits, temperature: at_zero(logits) if temperature == 0 else rule(logits, temperature)


def divided(logits, temperature):
    return softmax(logits / temperature)


WRONG_TEMPERATURES = {
    "square": (unless_zero(lambda z, t: softmax(z / t**2)), None, 0.25),
    "subtracted": (unless_zero(lambda z, t: softmax(z - t)), "temperature_has_no_effect", 0.25),
    "exponentials divided": (
        unless_zero(
            lambda z, t: (lambda e: e / e.sum(axis=-1, keepdims=True))(np.exp(z - z.max(-1, keepdims=True)) / t)
        ),
        "temperature_has_no_effect",
        0.25,
    ),
    "logarithms": (unless_zero(lambda z, t: np.log(divided(z, t) + 1e-300)), None, 0.25),
    "negated": (unless_zero(lambda z, t: divided(-z, t)), "counterfactual: negated temperature", 0.25),
    "softmax twice": (unless_zero(lambda z, t: divided(softmax(z), t)), "counterfactual: softmax logits", 0.25),
    "shifted by the logits": (
        unless_zero(lambda z, t: (lambda e: e / e.sum(-1, keepdims=True))(np.exp(z / t - z.max(-1, keepdims=True)))),
        None,
        0.75,
    ),
    "never below 0.1": (lambda logits, temperature: divided(logits, max(temperature, 0.1)), None, 0.5),
    "greedy below 0.01": (
        lambda logits, temperature: greedy(logits) if temperature < 0.01 else divided(logits, temperature),
        None,
        0.75,
    ),
    "multiplied, no branch": (
        lambda logits, temperature: softmax(logits * temperature),
        "multiplied_by_the_temperature",
        0,
    ),
    "smallest at 0": (unless_zero(divided, lambda z: greedy(-z)), None, 0.75),
    "largest of each column at 0": (unless_zero(divided, lambda z: (z == z.max(axis=0)).astype(float)), None, 0.75),
    "logits at 0": (unless_zero(divided, lambda z: z), None, 0.75),
    "integers at 0": (
        unless_zero(divided, lambda z: np.eye(z.shape[-1], dtype=int)[z.argmax(-1)]),
        "zero_gives_integers_or_truth_values",
        0.75,
    ),
    "float32": (unless_zero(lambda z, t: divided(z.astype(np.float32), t).astype(float)), None, 0.25),
}


@for_each("name", WRONG_TEMPERATURES)
def test_a_nearly_right_temperature(name):
    fails("temperature_probs", *WRONG_TEMPERATURES[name])


RIGHT_TEMPERATURES = {
    "tiny in place of 0": lambda logits, temperature: divided(logits, max(temperature, 1e-300)),
    "of logarithms": lambda logits, temperature: divided(
        logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True), temperature or 1e-305
    ),
    "with torch": lambda logits, temperature: torch.softmax(
        torch.from_numpy(np.array(logits)) / max(temperature, 1e-300), dim=-1
    ).numpy(),
}


@pytest.mark.parametrize("name", RIGHT_TEMPERATURES)
def test_temperature_in_other_ways(name):
    passes("temperature_probs", RIGHT_TEMPERATURES[name])


# top_k_probs ----------------------------------------------------------------------------------------------------------


def best(logits, k):
    return np.argsort(-logits, axis=-1, kind="stable")[..., :k]


def at(index, values, fill, shape):
    kept = np.full(shape, fill)
    np.put_along_axis(kept, index, values, axis=-1)
    return kept


def of_kept(rule, fill=-np.inf):
    """A program that makes its result of the kept logits: rule(kept logits, all logits)."""

    def student(logits, k):
        index = best(logits, k)
        return rule(at(index, np.take_along_axis(logits, index, axis=-1), fill, logits.shape), logits)

    return student


def thresholded(logits, k):
    probs = softmax(logits)
    probs = np.where(probs >= np.sort(probs, axis=-1)[..., -min(k, logits.shape[-1]), None], probs, 0)
    return probs / probs.sum(axis=-1, keepdims=True)


def first_row_decides(logits, k):
    index = best(logits.reshape(-1, logits.shape[-1])[0], k)
    kept = np.full(logits.shape, -np.inf)
    kept[..., index] = logits[..., index]
    return softmax(kept)


WRONG_TOP_K = {
    "all equal ones, from probabilities": (thresholded, "all_equal_ones_kept", 1.25),
    "one too many": (lambda logits, k: top_k_probs(logits, k + 1), "counterfactual: more k", 0.25),
    "sorted and short": (lambda logits, k: softmax(-np.sort(-logits)[..., :k]), "in_the_order_of_size", 0),
    "ids": (best, None, 0),
    "zeros and ones": (of_kept(lambda kept, z: np.isfinite(kept).astype(float)), None, 0),
    "logits divided by their sum": (
        of_kept(lambda kept, z: kept / kept.sum(axis=-1, keepdims=True), fill=0.0),
        None,
        0,
    ),
    "divided by the sum of all rows": (of_kept(lambda kept, z: softmax(kept) / len(kept)), None, 0),
    "-100 for the others": (of_kept(lambda kept, z: softmax(kept), fill=-100.0), None, 1.75),
    "-1000 for the others": (of_kept(lambda kept, z: softmax(kept), fill=-1000.0), None, 1.75),
    "the first k": (
        lambda logits, k: softmax(np.where(np.arange(logits.shape[-1]) < k, logits, -np.inf)),
        None,
        0.25,
    ),
    "the first row decides": (first_row_decides, None, 0.25),
}


@for_each("name", WRONG_TOP_K)
def test_a_nearly_right_top_k(name):
    fails("top_k_probs", *WRONG_TOP_K[name])


@pytest.mark.parametrize("kind", ["quicksort", "heapsort"])
def test_a_sort_that_is_not_stable_is_never_accepted(kind):
    """Which of the equal logits it keeps depends on the processor, but many of them are not those with lower ids."""

    def student(logits, k):
        index = np.argsort(-logits, axis=-1, kind=kind)[..., :k]
        return softmax(at(index, np.take_along_axis(logits, index, axis=-1), -np.inf, logits.shape))

    for seed in SEEDS:
        verdict = exercise("top_k_probs").verdict(student, seed)
        assert (verdict.status, verdict.earned) == ("failed", 1.25)


def first(row, k):
    """Where the k first of the pairs (largest logit, lowest id) are."""
    return np.isin(np.arange(len(row)), sorted(range(len(row)), key=lambda i: (-row[i], i))[:k])


RIGHT_TOP_K = {
    "zeroed and divided by the sum": lambda logits, k: (lambda p: p / p.sum(axis=-1, keepdims=True))(
        softmax(logits) * np.isfinite(at(best(logits, k), 0.0, np.inf, logits.shape))
    ),
    "by pairs": lambda logits, k: np.apply_along_axis(
        lambda row: softmax(
            np.where(
                np.isin(np.arange(len(row)), sorted(range(len(row)), key=lambda i: (-row[i], i))[:k]), row, -np.inf
            )
        ),
        -1,
        logits,
    ),
}


@pytest.mark.parametrize("name", RIGHT_TOP_K)
def test_top_k_in_other_ways(name):
    passes("top_k_probs", RIGHT_TOP_K[name])
