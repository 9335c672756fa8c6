"""`self_attention` and `multi_head_attention` equal PyTorch's functions and slow loops, on sizes of 1 too."""

import itertools
import math

import numpy as np
import torch
from torch.nn.functional import scaled_dot_product_attention

from solutions.ch06_attention.self_attention import causal_mask, multi_head_attention, self_attention, softmax
from tests.loops import for_each

RANDOM = [tuple(np.random.default_rng(seed).integers(1, 8, size=5).tolist()) for seed in range(10)]
SIZES = [*RANDOM, *itertools.product((1, 2), repeat=5)]  # (B, T, D, K, M)
HEADS = [(B, T, d, num_heads) for B, T, d, num_heads, _ in SIZES]
CLOSE = {"rtol": 1e-10, "atol": 1e-10}


def masks(rng, B, T):
    """No mask, and masks of both shapes in which each row allows something."""
    yield None
    for shape in ((T, T), (B, T, T)):
        yield (rng.random(shape) < 0.5) | np.eye(T, dtype=bool)
    yield causal_mask(T)


def tensors(*arrays):
    return [torch.from_numpy(np.ascontiguousarray(array)) for array in arrays]


@for_each("sizes", SIZES)
def test_self_attention(sizes):
    B, T, D, K, M = sizes
    rng = np.random.default_rng(sizes)
    x, W_q, W_k, W_v = (rng.normal(size=shape) for shape in ((B, T, D), (D, K), (D, K), (D, M)))
    for mask in masks(rng, B, T):
        y, weights = self_attention(x, W_q, W_k, W_v, mask)
        q, k, v = tensors(x @ W_q, x @ W_k, x @ W_v)
        allowed = None if mask is None else torch.from_numpy(mask)
        np.testing.assert_allclose(y, scaled_dot_product_attention(q, k, v, attn_mask=allowed).numpy(), **CLOSE)
        one_hot = torch.eye(T, dtype=torch.float64).expand(B, T, T)
        expected = scaled_dot_product_attention(q, k, one_hot, attn_mask=allowed)
        np.testing.assert_allclose(weights, expected.numpy(), **CLOSE)
        np.testing.assert_allclose(weights.sum(axis=-1), 1, **CLOSE)
        if mask is not None:
            np.testing.assert_array_equal(weights[~np.broadcast_to(mask, weights.shape)], 0)


def module(W_q, W_k, W_v, W_o, num_heads):
    """PyTorch's module with these weights, which it stores transposed."""
    attention = torch.nn.MultiheadAttention(len(W_o), num_heads, bias=False, batch_first=True, dtype=torch.float64)
    in_proj, out_proj = tensors(np.concatenate([W_q.T, W_k.T, W_v.T]), W_o.T)
    with torch.no_grad():
        attention.in_proj_weight.copy_(in_proj)
        attention.out_proj.weight.copy_(out_proj)
    return attention.eval()


@for_each("sizes", HEADS)
def test_multi_head_attention(sizes):
    B, T, d, num_heads = sizes
    D, rng = d * num_heads, np.random.default_rng(sizes)
    x, *weights = rng.normal(size=(B, T, D)), *rng.normal(size=(4, D, D)) / math.sqrt(D)
    attention, (inputs,) = module(*weights, num_heads), tensors(x)
    for mask in masks(rng, B, T):
        forbidden = None  # PyTorch's masks are True where attention is forbidden, one for each head
        if mask is not None:
            forbidden = torch.from_numpy(~(mask if mask.ndim == 2 else np.repeat(mask, num_heads, axis=0)))
        with torch.no_grad():
            expected = attention(inputs, inputs, inputs, attn_mask=forbidden, need_weights=False)[0]
        y = multi_head_attention(x, *weights, num_heads, mask)
        assert y.shape == (B, T, D)
        np.testing.assert_allclose(y, expected.numpy(), **CLOSE)


@for_each("sizes", HEADS)
def test_the_heads_are_self_attention_with_blocks_of_columns(sizes):
    B, T, d, num_heads = sizes
    D, rng = d * num_heads, np.random.default_rng(sizes)
    x, *weights = rng.normal(size=(B, T, D)), *rng.normal(size=(4, D, D)) / math.sqrt(D)
    W_q, W_k, W_v, W_o = weights
    for mask in masks(rng, B, T):
        one, _ = self_attention(x, W_q, W_k, W_v, mask)
        np.testing.assert_allclose(multi_head_attention(x, *weights, 1, mask), one @ W_o, **CLOSE)
        total = np.zeros((B, T, D))
        for i in range(num_heads):
            own = slice(i * d, (i + 1) * d)
            total += self_attention(x, W_q[:, own], W_k[:, own], W_v[:, own], mask)[0] @ W_o[own]
        np.testing.assert_allclose(multi_head_attention(x, *weights, num_heads, mask), total, **CLOSE)


def test_against_plain_loops():
    rng = np.random.default_rng(0)
    B, T, D, K, M = 2, 4, 3, 5, 2
    x, W_q, W_k, W_v = (rng.normal(size=shape) for shape in ((B, T, D), (D, K), (D, K), (D, M)))
    y, weights = self_attention(x, W_q, W_k, W_v, causal_mask(T))
    for b, t in itertools.product(range(B), range(T)):
        query = [sum(x[b, t, i] * W_q[i, j] for i in range(D)) for j in range(K)]
        keys = [[sum(x[b, s, i] * W_k[i, j] for i in range(D)) for j in range(K)] for s in range(t + 1)]
        values = [[sum(x[b, s, i] * W_v[i, j] for i in range(D)) for j in range(M)] for s in range(t + 1)]
        powers = [math.exp(sum(a * c for a, c in zip(query, key, strict=True)) / math.sqrt(K)) for key in keys]
        alphas = [power / sum(powers) for power in powers]
        np.testing.assert_allclose(weights[b, t], [*alphas, *[0] * (T - t - 1)], **CLOSE)
        expected = [sum(a * value[j] for a, value in zip(alphas, values, strict=True)) for j in range(M)]
        np.testing.assert_allclose(y[b, t], expected, **CLOSE)


def test_a_row_that_is_masked_as_a_whole_attends_to_nothing():
    rng = np.random.default_rng(1)
    x, *weights = rng.normal(size=(2, 3, 4)), *rng.normal(size=(4, 4, 4))
    for shape in ((3, 3), (2, 3, 3)):
        mask = np.ones(shape, dtype=bool)
        mask[..., 1, :] = False
        y, alphas = self_attention(x, *weights[:3], mask)
        together = multi_head_attention(x, *weights, 2, mask)
        for result in (y, alphas, together):
            np.testing.assert_array_equal(result[:, 1], 0)
            assert np.isfinite(result).all()
        np.testing.assert_allclose(y[:, [0, 2]], self_attention(x, *weights[:3])[0][:, [0, 2]], **CLOSE)


def test_the_given_softmax():
    rng = np.random.default_rng(2)
    for shape in ((5,), (3, 1), (2, 3, 4), (2, 3, 2, 6)):
        scores = rng.normal(size=shape) * 50
        np.testing.assert_allclose(softmax(scores), torch.softmax(torch.from_numpy(scores), -1).numpy(), **CLOSE)
    found = softmax(np.array([[-np.inf, 1000.0, -np.inf], [-np.inf] * 3, [-2000.0, -np.inf, -2000.0]]))
    np.testing.assert_array_equal(found, [[0, 1, 0], [0, 0, 0], [0.5, 0, 0.5]])


@for_each("T", range(1, 9))
def test_the_causal_mask(T):
    mask = causal_mask(T)
    assert mask.dtype == bool
    additive = torch.nn.Transformer.generate_square_subsequent_mask(T).numpy()
    np.testing.assert_array_equal(mask, additive == 0)


def test_without_a_mask_the_order_of_the_positions_does_not_matter():
    rng = np.random.default_rng(3)
    x, *weights = rng.normal(size=(2, 5, 6)), *rng.normal(size=(4, 6, 6))
    order = rng.permutation(5)
    y = multi_head_attention(x, *weights, 3)
    np.testing.assert_allclose(multi_head_attention(x[:, order], *weights, 3), y[:, order], **CLOSE)
