"""Each labelled equation of chapter 4's last two pages, compared with torch or a direct computation."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from experiments import char_lm
from experiments.ch04 import tagging

SIZES = [(2, 3, 4, 2), (1, 1, 1, 1), (3, 5, 2, 3)]  # B, T, H, L; inputs of 3 numbers


def lstm(rng: np.random.Generator, D: int, H: int) -> torch.nn.LSTM:
    """An LSTM with one layer and drawn weights."""
    module = torch.nn.LSTM(D, H, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        for weights in module.parameters():
            weights.copy_(torch.from_numpy(rng.normal(size=weights.shape)))
    return module


@pytest.mark.parametrize(("B", "T", "H", "L"), SIZES)
@torch.no_grad()
def test_the_states_of_both_directions(B: int, T: int, H: int, L: int) -> None:
    """Equation (bidirectional-states): torch's bidirectional LSTM, from two LSTMs of one direction each."""
    rng = np.random.default_rng(0)
    both = torch.nn.LSTM(3, H, batch_first=True, bidirectional=True, dtype=torch.float64)
    forward, backward = lstm(rng, 3, H), lstm(rng, 3, H)
    for name, weights in forward.named_parameters():
        getattr(both, name).copy_(weights)
    for name, weights in backward.named_parameters():
        getattr(both, f"{name}_reverse").copy_(weights)
    x = torch.from_numpy(rng.normal(size=(B, T, 3)))
    joined = torch.cat([forward(x)[0], backward(x.flip(1))[0].flip(1)], dim=2)
    outputs, (final, _) = both(x)
    torch.testing.assert_close(joined, outputs, rtol=0, atol=1e-12)
    torch.testing.assert_close(torch.stack([outputs[:, -1, :H], outputs[:, 0, H:]]), final, rtol=0, atol=1e-12)


@torch.no_grad()
def test_padding_is_read_last() -> None:
    """Only the real steps are reversed, as in the second drawing: a row does not depend on its batch."""
    letters = tagging.Letters(torch.arange(60) % 26, torch.zeros(60, dtype=torch.long))
    batch = tagging.pieces(letters, 4, torch.Generator().manual_seed(0), padded_to=40)
    turned = tagging.reverse(batch.ids, batch.lengths)
    for row, reversed_row, length in zip(batch.ids, turned, batch.lengths.tolist(), strict=True):
        assert torch.equal(row[:length].flip(0), reversed_row[:length])
        assert torch.equal(row[length:], reversed_row[length:])


@pytest.mark.parametrize(("B", "T", "H", "L"), SIZES)
@torch.no_grad()
def test_stacked_layers(B: int, T: int, H: int, L: int) -> None:
    """Equation (stacked-layers): torch's LSTM of several layers, from LSTMs of one layer each."""
    rng = np.random.default_rng(1)
    stacked = torch.nn.LSTM(3, H, num_layers=L, batch_first=True, dtype=torch.float64)
    h = x = torch.from_numpy(rng.normal(size=(B, T, 3)))
    final = []
    for number in range(L):
        layer = lstm(rng, 3 if number == 0 else H, H)
        for name, weights in layer.named_parameters():
            getattr(stacked, name.replace("l0", f"l{number}")).copy_(weights)
        h, (h_n, _) = layer(h)
        final.append(h_n[0])
    outputs, (h_n, _) = stacked(x)
    torch.testing.assert_close(h, outputs, rtol=0, atol=1e-12)
    torch.testing.assert_close(torch.stack(final), h_n, rtol=0, atol=1e-12)


def test_what_dropout_leaves_of_a_state() -> None:
    """Equation (dropout-survives) and Equation (variational-dropout): shares of 200,000 entries after 20 steps."""
    rng, entries, T, p = np.random.default_rng(2), 200_000, 20, 0.1
    new_masks, one_mask = np.ones(entries), np.ones(entries)
    m = (rng.uniform(size=entries) >= p) / (1 - p)
    for _ in range(T):
        new_masks = new_masks * (rng.uniform(size=entries) >= p)
        one_mask = one_mask * m
    assert np.mean(new_masks > 0) == pytest.approx((1 - p) ** T, abs=0.005)
    assert np.mean(one_mask > 0) == pytest.approx(1 - p, abs=0.005)
    assert m.mean() == pytest.approx(1, abs=0.005)
    assert set(m) == {0.0, 1 / (1 - p)}


@torch.no_grad()
def test_a_language_model_gives_probabilities_to_texts() -> None:
    """Equation (language-model): the products of all texts sum to 1, and their logs are the bits."""
    torch.manual_seed(0)
    V = 3
    model = char_lm.CharLM(V, 2, 4).double()
    texts = torch.cartesian_prod(*[torch.arange(V)] * 4)  # the first character is given, the other three are predicted
    logits, _ = model(texts[:, :-1])
    factors = torch.softmax(logits, dim=2).gather(2, texts[:, 1:, None])[:, :, 0]
    by_first = factors.prod(dim=1).view(V, -1).sum(dim=1)
    torch.testing.assert_close(by_first, torch.ones(V, dtype=torch.float64), rtol=0, atol=1e-12)
    assert char_lm.bits(model, texts[17]) == pytest.approx(-factors[17].log2().mean().item(), abs=1e-5)


def test_top_k() -> None:
    """Equation (top-k): the sum over the kept logits only, and the ratios among them as before."""
    z = torch.tensor([0.5, 2.0, -1.0, 1.0], dtype=torch.float64)
    p, full = char_lm.probabilities(z, top_k=2), torch.softmax(z, dim=0)
    total = math.exp(2.0) + math.exp(1.0)
    assert p.tolist() == pytest.approx([0, math.exp(2.0) / total, 0, math.exp(1.0) / total], abs=1e-12)
    assert (p[1] / p[3]).item() == pytest.approx((full[1] / full[3]).item(), abs=1e-12)
