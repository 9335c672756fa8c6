"""Each labelled equation of chapter 6's pages on self-attention and on heads, compared with a direct computation."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from experiments.ch06 import cost, museum, positions
from experiments.ch06.cost import ATTENTION, GRU, LENGTHS, LOOP, RNN
from solutions.ch06_attention.building_blocks import hierarchical_attention
from solutions.ch06_attention.self_attention import causal_mask, multi_head_attention, self_attention


def attended(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Torch's attention of one sequence."""
    q, k, v = (torch.as_tensor(each) for each in (q, k, v))
    found: np.ndarray = torch.nn.functional.scaled_dot_product_attention(q, k, v).numpy()
    return found


@pytest.mark.parametrize(("T", "D", "K", "M"), [(4, 3, 5, 2), (1, 2, 1, 3), (6, 1, 2, 1)])
def test_self_attention_number_by_number(T: int, D: int, K: int, M: int) -> None:
    """Equation (self-attention): with loops over single numbers, and by torch."""
    rng = np.random.default_rng(T)
    x, W_q, W_k, W_v = (rng.normal(size=size) for size in ((T, D), (D, K), (D, K), (D, M)))
    expected = np.zeros((T, M))
    for t in range(T):
        q_t = [sum(x[t, a] * W_q[a, b] for a in range(D)) for b in range(K)]
        e = []
        for j in range(T):
            k_j = [sum(x[j, a] * W_k[a, b] for a in range(D)) for b in range(K)]
            e.append(sum(q_t[b] * k_j[b] for b in range(K)) / math.sqrt(K))
        alpha = [math.exp(e_j) / sum(map(math.exp, e)) for e_j in e]
        for j in range(T):
            expected[t] += alpha[j] * (x[j] @ W_v)
    y, weights = self_attention(x[None], W_q, W_k, W_v)
    np.testing.assert_allclose(y[0], expected, atol=1e-12)
    np.testing.assert_allclose(weights[0].sum(axis=1), 1)
    np.testing.assert_allclose(attended(x @ W_q, x @ W_k, x @ W_v), expected, atol=1e-12)


@pytest.mark.parametrize(("D", "n"), [(6, 2), (6, 3), (4, 1), (4, 4)])
def test_heads_own_blocks_of_columns(D: int, n: int) -> None:
    """Equation (multi-head): torch's attention for each block, side by side, times W_o."""
    rng = np.random.default_rng(D + n)
    x, (W_q, W_k, W_v, W_o) = rng.normal(size=(5, D)), rng.normal(size=(4, D, D))
    heads = []
    for i in range(n):
        own = slice(i * D // n, (i + 1) * D // n)
        heads.append(attended(x @ W_q[:, own], x @ W_k[:, own], x @ W_v[:, own]))
    expected = np.concatenate(heads, axis=1) @ W_o
    np.testing.assert_allclose(multi_head_attention(x[None], W_q, W_k, W_v, W_o, n)[0], expected, atol=1e-12)


def test_words_then_sentences_number_by_number() -> None:
    """Equation (hierarchical-attention): two documents with loops over single numbers, one sentence of padding."""
    rng = np.random.default_rng(0)
    H, lengths = 3, ((4, 2), (3, 0))
    states, W_w, u_w = rng.normal(size=(2, 2, 4, H)), rng.normal(size=(H, 2)), rng.normal(size=2)
    W_s, u_s = rng.normal(size=(H, 4)), rng.normal(size=4)

    def level(vectors: list[np.ndarray], W: np.ndarray, u: np.ndarray) -> np.ndarray:
        e = [sum(math.tanh(sum(h[a] * W[a, n] for a in range(H))) * u[n] for n in range(len(u))) for h in vectors]
        weights = [math.exp(e_k) / sum(map(math.exp, e)) for e_k in e]
        return np.array([sum(w * h[a] for w, h in zip(weights, vectors, strict=True)) for a in range(H)])

    word_mask = np.arange(4) < np.array(lengths)[..., None]
    d, _, beta = hierarchical_attention(states, word_mask, word_mask.any(axis=2), W_w, u_w, W_s, u_s)
    for b, of in enumerate(lengths):
        sentences = [level(list(states[b, i, :length]), W_w, u_w) for i, length in enumerate(of) if length]
        np.testing.assert_allclose(d[b], level(sentences, W_s, u_s), atol=1e-12)
    assert beta[1].tolist() == [1, 0]


def test_shuffled_inputs_give_shuffled_outputs() -> None:
    """Equation (permuted-attention), for ten permutations; with the causal mask it does not hold."""
    rng = np.random.default_rng(0)
    T, D = 6, 4
    x, W = rng.normal(size=(1, T, D)), rng.normal(size=(3, D, D))
    y, _ = self_attention(x, *W)
    masked, _ = self_attention(x, *W, causal_mask(T))
    for _ in range(10):
        P = np.eye(T)[rng.permutation(T)]
        np.testing.assert_allclose(self_attention(P @ x, *W)[0], P @ y, atol=1e-12)
    P = np.eye(T)[::-1]
    assert np.abs(self_attention(P @ x, *W, causal_mask(T))[0] - P @ masked).max() > 0.1


def test_the_best_loss_of_the_museum() -> None:
    """Seven random letters out of sixteen symbols that are predicted: 7/16 ln 8, as the dashed lines say."""
    predicted = museum.sequences(4000, torch.Generator().manual_seed(0))[:, 1:]
    counts = torch.stack([(predicted[:, : museum.LENGTH - 1] == letter).sum() for letter in range(museum.LETTERS)])
    p = counts / counts.sum()
    entropy = -(p * p.log()).sum().item() * (museum.LENGTH - 1) / predicted.shape[1]
    assert entropy == pytest.approx(7 / 16 * math.log(8), abs=1e-3)


def test_sinusoids_know_distances() -> None:
    """Equation (sinusoids), entry by entry; the dot product of two of them depends on their distance."""
    T, D = 7, 6
    p = positions.sinusoids(T, D)
    for t in range(T):
        for i in range(D // 2):
            omega = 10000 ** (-2 * i / D)
            assert p[t, 2 * i] == pytest.approx(math.sin(omega * t), abs=1e-12)
            assert p[t, 2 * i + 1] == pytest.approx(math.cos(omega * t), abs=1e-12)
        for j in range(T):
            distance = sum(math.cos(10000 ** (-2 * i / D) * (t - j)) for i in range(D // 2))
            assert p[t] @ p[j] == pytest.approx(distance, abs=1e-12)


@pytest.mark.parametrize(("T", "D"), [(1, 1), (5, 3), (16, 8)])
def test_multiplications_are_those_that_torch_counts(T: int, D: int) -> None:
    """Equation (attention-cost); a multiplication and an addition are two operations of torch's counter."""
    x = torch.randn(1, T, D, dtype=torch.float64)
    with FlopCounterMode(display=False) as counter:
        cost.attention(x, *torch.randn(3, D, D, dtype=torch.float64))
    assert counter.get_total_flops() == 2 * cost.multiplications(ATTENTION, T, D)
    for program, cell in ((RNN, torch.nn.RNNCell(D, D)), (GRU, torch.nn.GRUCell(D, D))):
        with FlopCounterMode(display=False) as counter, torch.no_grad():
            h = torch.zeros(1, D)
            for t in range(T):
                h = cell(x[:, t].float(), h)
        assert counter.get_total_flops() == 2 * cost.multiplications(program, T, D)
    assert cost.multiplications(LOOP, T, D) == cost.multiplications(RNN, T, D)


def test_products_in_a_row() -> None:
    """Equation (attention-cost): the depth of the graph of matrix products."""

    def depth(T: int) -> int:
        h = 0
        inputs = 1  # all inputs at once
        for _ in range(T):
            h = max(h + 1, inputs)
            inputs = h  # the state of this step is the sum of both, and the next product needs it
        return h + 1

    assert [cost.steps_in_a_row(RNN, T) for T in (1, 2, 7)] == [depth(T) for T in (1, 2, 7)]
    assert {cost.steps_in_a_row(ATTENTION, T) for T in LENGTHS} == {3}
