"""Each labelled equation of chapter 6's first page, compared with torch or a direct computation, and its drawing."""

from __future__ import annotations

import re
from math import exp
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import bilinear, scaled_dot_product_attention

from solutions.ch06_attention.scores import additive_score, attend, bilinear_score, dot_score, masked_softmax

DRAWING = Path(__file__).parents[2] / "book" / "ch06_attention" / "drawings" / "soft_lookup.svg"
SIZES = [(2, 5, 3, 4), (1, 1, 1, 1), (3, 2, 4, 4)]  # B, S, H, K


def drawn(seed: int, *shapes: tuple[int, ...]) -> list[Tensor]:
    rng = np.random.default_rng(seed)
    return [torch.from_numpy(rng.normal(size=shape)) for shape in shapes]


@pytest.mark.parametrize(("B", "S", "H", "K"), SIZES)
def test_the_context(B: int, S: int, H: int, K: int) -> None:
    """Equation (attention-context): scores, softmax and weighted sum are torch's attention without a scale."""
    query, keys, values = drawn(0, (B, H), (B, S, H), (B, S, K))
    weights = masked_softmax(dot_score(query.numpy(), keys.numpy()), np.ones((B, S), dtype=bool))
    expected = scaled_dot_product_attention(query[:, None], keys, values, scale=1.0)[:, 0]
    np.testing.assert_allclose(attend(weights, values.numpy()), expected.numpy(), rtol=0, atol=1e-12)
    for b in range(B):
        e = [float(query[b] @ keys[b, j]) for j in range(S)]
        alpha = [exp(each) / sum(map(exp, e)) for each in e]
        c = sum(a * values[b, j] for j, a in enumerate(alpha))
        torch.testing.assert_close(c, expected[b], rtol=0, atol=1e-12)


@pytest.mark.parametrize(("B", "S", "H", "K"), SIZES)
def test_dot_products(B: int, S: int, H: int, K: int) -> None:
    """Equation (dot-score): one query and one key at a time, and a bilinear score with the identity."""
    query, keys = drawn(1, (B, H), (B, S, H))
    found = dot_score(query.numpy(), keys.numpy())
    for b, j in np.ndindex(B, S):
        assert found[b, j] == pytest.approx(torch.dot(query[b], keys[b, j]).item(), abs=1e-12)
    np.testing.assert_allclose(bilinear_score(query.numpy(), keys.numpy(), np.eye(H)), found, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("B", "S", "H", "K"), SIZES)
def test_bilinear_scores(B: int, S: int, H: int, K: int) -> None:
    """Equation (bilinear-score): one query and one key at a time, by torch's bilinear layer."""
    query, keys, W = drawn(2, (B, H), (B, S, K), (H, K))
    found = bilinear_score(query.numpy(), keys.numpy(), W.numpy())
    for b, j in np.ndindex(B, S):
        assert found[b, j] == pytest.approx(bilinear(query[b], keys[b, j], W[None]).item(), abs=1e-12)


@pytest.mark.parametrize(("B", "S", "H", "K"), SIZES)
def test_additive_scores(B: int, S: int, H: int, K: int) -> None:
    """Equation (additive-score): a layer that reads query and key side by side, and a readout."""
    query, keys, W_q, W_k, v = drawn(3, (B, H), (B, S, K), (H, 3), (K, 3), (3,))
    found = additive_score(query.numpy(), keys.numpy(), W_q.numpy(), W_k.numpy(), v.numpy())
    for b, j in np.ndindex(B, S):
        hidden = torch.tanh(torch.cat([query[b], keys[b, j]]) @ torch.cat([W_q, W_k]))
        assert found[b, j] == pytest.approx(torch.dot(hidden, v).item(), abs=1e-12)


@pytest.mark.parametrize("H", [1, 3, 10])
def test_the_variance_of_a_dot_product(H: int) -> None:
    """Equation (dot-variance): exactly, for entries that are −1 or 1 with equal probability, over all vectors."""
    signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * H)).reshape(H, -1).T
    products = signs @ signs.T
    assert products.mean() == 0
    assert products.var() == pytest.approx(H)


@pytest.mark.parametrize("S", [1, 2, 5])
def test_the_derivatives_of_a_softmax(S: int) -> None:
    """Equation (weights-jacobian): against autograd."""
    (e,) = drawn(3, (S,))
    jacobian = torch.autograd.functional.jacobian(lambda scores: torch.softmax(scores, 0), e)
    alpha = torch.softmax(e, 0)
    for i, j in np.ndindex(S, S):
        assert jacobian[i, j].item() == pytest.approx(float(alpha[i] * (int(i == j) - alpha[j])), abs=1e-12)


def test_masked_weights() -> None:
    """Equation (masked-weights): torch's softmax with −∞ at the masked scores, and zeros for a row without any word."""
    (scores,) = drawn(4, (6, 5))
    mask = torch.from_numpy(np.random.default_rng(5).random((6, 5)) < 0.6)
    mask[0], mask[1] = True, False
    mask[2] = torch.tensor([False, False, True, False, False])
    weights = masked_softmax(scores.numpy(), mask.numpy())
    expected = torch.softmax(scores.masked_fill(~mask, -torch.inf), -1)
    assert expected[1].isnan().all(), "the page says so"
    np.testing.assert_allclose(weights, expected.nan_to_num(0).numpy(), rtol=0, atol=1e-12)
    powers = np.exp(scores.numpy()) * mask.numpy()
    np.testing.assert_allclose(weights[2:], powers[2:] / powers[2:].sum(1, keepdims=True), rtol=0, atol=1e-12)
    renormalised = torch.softmax(scores, -1) * mask
    renormalised = renormalised[2:] / renormalised[2:].sum(1, keepdim=True)
    np.testing.assert_allclose(weights[2:], renormalised.numpy(), rtol=0, atol=1e-12, err_msg="the page says so")


def test_the_drawn_lookup_is_the_pages() -> None:
    """The weights and the answer of soft_lookup.svg, and the widths of its lines."""
    svg = DRAWING.read_text("utf-8")
    keys, legs, kitten = np.array([[2.0, 0.3], [0.4, 1.6], [-1.2, -0.9]]), np.array([4, 2, 0]), np.array([1.6, 0.5])
    page = (DRAWING.parents[1] / "weighted_sum.md").read_text("utf-8")
    assert "[[2.0, 0.3], [0.4, 1.6], [-1.2, -0.9]]" in page
    assert "kitten = np.array([1.6, 0.5])" in page
    weights = torch.softmax(torch.from_numpy(keys @ kitten), 0).numpy()
    assert re.findall(r'class="small">(\d\.\d\d)<', svg) == [f"{weight:.2f}" for weight in weights]
    assert f">{weights @ legs:.2f}</text>" in svg
    widths = [float(width) for width in re.findall(r"stroke-width: ([\d.]+)", svg)]
    assert widths == [max(1, round(7 * weight, 1)) for weight in weights for _ in range(2)]
