"""`hierarchical_attention` and `transformer_block` equal PyTorch's layers and slow loops, on sizes of 1 too."""

import itertools
import math

import numpy as np
import torch

from solutions.ch06_attention.building_blocks import heads, hierarchical_attention, layer_norm, transformer_block
from solutions.ch06_attention.self_attention import causal_mask, multi_head_attention
from tests.loops import for_each

RANDOM = [tuple(np.random.default_rng(seed).integers(1, 6, size=5).tolist()) for seed in range(8)]
SIZES = [*RANDOM, *itertools.product((1, 2), repeat=5)]
CLOSE = {"rtol": 1e-10, "atol": 1e-10}
NAMES = "W_q", "W_k", "W_v", "W_o"


def pooled(vectors, W, u):
    """The weighted sum of a list of vectors, and the weights, with Python's own numbers."""
    scores = [
        sum(math.tanh(float(vector @ column)) * u_n for column, u_n in zip(W.T, u, strict=True)) for vector in vectors
    ]
    powers = [math.exp(score - max(scores)) for score in scores]
    weights = [power / sum(powers) for power in powers]
    return sum(weight * vector for weight, vector in zip(weights, vectors, strict=True)), weights


@for_each("sizes", SIZES)
def test_hierarchical_attention_against_loops(sizes):
    B, S, T, H, A = sizes
    rng = np.random.default_rng(sizes)
    states, lengths = rng.normal(size=(B, S, T, H)), rng.integers(0, T + 1, size=(B, S))
    weights = rng.normal(size=(H, A)), rng.normal(size=A), rng.normal(size=(H, A + 1)), rng.normal(size=A + 1)
    word_mask = np.arange(T) < lengths[..., None]
    sentence_mask = (lengths > 0) & (rng.random((B, S)) < 0.8)
    document, alpha, beta = hierarchical_attention(states, word_mask, sentence_mask, *weights)
    assert document.shape == (B, H)
    np.testing.assert_array_equal(alpha[~word_mask], 0)
    np.testing.assert_array_equal(beta[~sentence_mask], 0)
    for b in range(B):
        vectors = np.zeros((S, H))
        for i, length in enumerate(lengths[b]):
            if length:
                vectors[i], expected = pooled(states[b, i, :length], *weights[:2])
                np.testing.assert_allclose(alpha[b, i, :length], expected, **CLOSE)
        real = sentence_mask[b]
        vector, expected = pooled(vectors[real], *weights[2:]) if real.any() else (np.zeros(H), [])
        np.testing.assert_allclose(beta[b, real], expected, **CLOSE)
        np.testing.assert_allclose(document[b], vector, **CLOSE)


def decoder_layer(own, cross, W_1, b_1, W_2, b_2, num_heads):
    """PyTorch's decoder layer, normalized first, with these weights, which it stores transposed."""
    D, F = W_1.shape
    layer = torch.nn.TransformerDecoderLayer(
        D, num_heads, F, dropout=0.0, batch_first=True, norm_first=True, dtype=torch.float64
    )
    with torch.no_grad():
        for part, weights in ((layer.self_attn, own), (layer.multihead_attn, cross)):
            part.in_proj_weight.copy_(torch.from_numpy(np.concatenate([weights[name].T for name in NAMES[:3]])))
            part.in_proj_bias.zero_()
            part.out_proj.weight.copy_(torch.from_numpy(weights["W_o"].T.copy()))
            part.out_proj.bias.zero_()
        for linear, W, b in ((layer.linear1, W_1, b_1), (layer.linear2, W_2, b_2)):
            linear.weight.copy_(torch.from_numpy(W.T.copy()))
            linear.bias.copy_(torch.from_numpy(b))
    return layer.eval()


@for_each("sizes", SIZES)
@torch.no_grad()
def test_the_block_is_a_decoder_layer_of_pytorch(sizes):
    B, T, S, d, num_heads = sizes
    D, F, rng = d * num_heads, d + 2, np.random.default_rng(sizes)
    x, R = rng.normal(size=(B, T, D)), rng.normal(size=(B, S, D))
    own, cross = ({name: rng.normal(size=(D, D)) / math.sqrt(D) for name in NAMES} for _ in range(2))
    network = rng.normal(size=(D, F)), rng.normal(size=F), rng.normal(size=(F, D)), rng.normal(size=D)
    real = np.arange(S) < rng.integers(1, S + 1, size=(B, 1))
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    expected = decoder_layer(own, cross, *network, num_heads)(
        torch.from_numpy(x), torch.from_numpy(R), tgt_mask=future, memory_key_padding_mask=torch.from_numpy(~real)
    )
    s_self, s_cross, y = transformer_block(x, R, real, own, cross, *network, num_heads)
    np.testing.assert_allclose(y, expected.numpy(), **CLOSE)
    alone = multi_head_attention(layer_norm(x), *(own[name] for name in NAMES), num_heads, causal_mask(T))
    np.testing.assert_allclose(s_self, x + alone, **CLOSE)
    np.testing.assert_allclose(
        y - s_cross, np.maximum(layer_norm(s_cross) @ network[0] + network[1], 0) @ network[2] + network[3], **CLOSE
    )


def test_without_a_source_the_cross_attention_adds_nothing():
    rng = np.random.default_rng(0)
    own, cross = ({name: rng.normal(size=(4, 4)) for name in NAMES} for _ in range(2))
    network = rng.normal(size=(4, 5)), rng.normal(size=5), rng.normal(size=(5, 4)), rng.normal(size=4)
    real = np.array([[False, False, False], [True, True, False]])
    s_self, s_cross, _ = transformer_block(
        rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 3, 4)), real, own, cross, *network, 2
    )
    np.testing.assert_array_equal(s_self[0], s_cross[0])
    assert (np.abs(s_self[1] - s_cross[1]) > 1e-3).any()


def test_what_is_given():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2, 3, 5))
    expected = torch.nn.functional.layer_norm(torch.from_numpy(x), (5,)).numpy()
    np.testing.assert_allclose(layer_norm(x), expected, **CLOSE)
    q, k, v = rng.normal(size=(2, 4, 6)), rng.normal(size=(2, 3, 6)), rng.normal(size=(2, 3, 6))
    mask = np.array([[True, False, True], [True, True, True]])
    split = (torch.from_numpy(a).reshape(2, -1, 3, 2).transpose(1, 2) for a in (q, k, v))
    expected = torch.nn.functional.scaled_dot_product_attention(
        *split, attn_mask=torch.from_numpy(mask)[:, None, None].expand(2, 1, 4, 3)
    )
    np.testing.assert_allclose(heads(q, k, v, 3, mask[:, None]), expected.transpose(1, 2).reshape(2, 4, 6), **CLOSE)
