"""The notebook `scores` equals PyTorch on random sizes and sizes of 1, and so do the oracles of its exercises."""

import itertools

import numpy as np
import pytest
import torch

from solutions.ch06_attention.scores import additive_score, attend, bilinear_score, dot_score, masked_softmax
from tests.conftest import exercise
from tests.loops import for_each

RANDOM = [tuple(np.random.default_rng(seed).integers(1, 8, size=5).tolist()) for seed in range(10)]
SIZES = [*RANDOM, *itertools.product((1, 2), repeat=5)]  # (B, S, H, K, A)
SHAPES = [(5,), (1,), (4, 3), (3, 1), (1, 4), (3, 3), (2, 4, 5), (4, 4, 4), (2, 3, 4, 5), (2, 1, 3, 2, 4)]


def both(exercise_id, function, expected, **inputs):
    """The reference solution and the oracle give the expected array."""
    for name, compute in (("solution", function), ("oracle", exercise(exercise_id).spec.oracle)):
        got = compute(**inputs)
        assert got.shape == expected.shape, name
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12, err_msg=name)


@for_each("sizes", SIZES)
def test_the_scores(sizes):
    B, S, H, K, A = sizes
    rng = np.random.default_rng(sizes)
    query, keys, alike = rng.normal(size=(B, H)), rng.normal(size=(B, S, K)), rng.normal(size=(B, S, H))
    q, k = torch.from_numpy(query), torch.from_numpy(keys)
    dots = torch.einsum("bh,bsh->bs", q, torch.from_numpy(alike)).numpy()
    both("dot_score", dot_score, dots, query=query, keys=alike)
    both("dot_score", dot_score, dots, query=query, keys=alike, scale=False)
    both("dot_score", dot_score, dots / H**0.5, query=query, keys=alike, scale=True)

    W = rng.normal(size=(H, K))
    expected = torch.einsum("bh,hk,bsk->bs", q, torch.from_numpy(W), k).numpy()
    both("bilinear_score", bilinear_score, expected, query=query, keys=keys, W=W)

    weights = {"W_q": rng.normal(size=(H, A)), "W_k": rng.normal(size=(K, A)), "v": rng.normal(size=A)}
    W_q, W_k, v = map(torch.from_numpy, weights.values())
    layer = torch.nn.functional.linear
    hidden = torch.tanh(layer(q, W_q.T)[:, None].expand(B, S, A) + layer(k, W_k.T))
    expected = layer(hidden, v[None])[..., 0].numpy()
    both("additive_score", additive_score, expected, query=query, keys=keys, **weights)


@for_each("size", [0, 1, 30, 800, 1e5, 1e10, 1e15])
@for_each("shape", SHAPES)
def test_the_masked_softmax(shape, size):
    rng = np.random.default_rng([len(shape), *shape])
    scores, mask = size * rng.normal(size=shape), rng.random(shape) < 0.5
    low = torch.from_numpy(scores).masked_fill(torch.from_numpy(~mask), -torch.inf)
    expected = torch.softmax(low, dim=-1).numpy()
    expected = np.where(mask.any(axis=-1, keepdims=True), expected, 0.0)
    both("masked_softmax", masked_softmax, expected, scores=scores, mask=mask)
    weights = masked_softmax(scores, mask)
    np.testing.assert_array_equal(weights[~mask], 0.0)
    np.testing.assert_allclose(weights.sum(axis=-1), mask.any(axis=-1), rtol=1e-14)
    np.testing.assert_array_equal(weights, masked_softmax(np.where(mask, scores, 1e300), mask))


@for_each("sizes", SIZES)
def test_the_weighted_sum(sizes):
    B, S, _, K, _ = sizes
    rng = np.random.default_rng(sizes)
    mask = rng.random((B, S)) < 0.6
    weights, values = masked_softmax(rng.normal(size=(B, S)), mask), rng.normal(size=(B, S, K))
    expected = torch.einsum("bs,bsk->bk", torch.from_numpy(weights), torch.from_numpy(values)).numpy()
    both("attend", attend, expected, weights=weights, values=values)
    np.testing.assert_array_equal(attend(weights, values)[~mask.any(axis=1)], 0.0)


@pytest.mark.parametrize("scale", [False, True])
def test_all_of_it_is_attention(scale):
    """`scaled_dot_product_attention` with one query a row, whose rows all masked are NaN or 0, as PyTorch's version."""
    rng = np.random.default_rng(6)
    B, S, H, K = 4, 6, 3, 5
    query, keys, values = rng.normal(size=(B, H)), rng.normal(size=(B, S, H)), rng.normal(size=(B, S, K))
    mask = np.arange(S) < np.array([6, 1, 3, 5])[:, None]
    context = attend(masked_softmax(dot_score(query, keys, scale), mask), values)
    q, k, v, m = map(torch.from_numpy, (query[:, None], keys, values, mask[:, None]))
    theirs = torch.nn.functional.scaled_dot_product_attention(q, k, v, m, scale=None if scale else 1.0)
    np.testing.assert_allclose(context, theirs[:, 0].numpy(), rtol=1e-12, atol=1e-12)
