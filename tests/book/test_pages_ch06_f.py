"""Each labelled equation of chapter 6's page on learning where to look, compared with a direct computation."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from experiments.ch05.shapes import pictures
from experiments.ch06 import looks_at_picture
from experiments.ch06.looks_at_picture import LookingCaptioner


@pytest.mark.parametrize("S", [1, 2, 5])
def test_the_gradient_of_a_score(S: int) -> None:
    """Equation (score-gradient): against autograd, for a loss that is any function of the context."""
    torch.manual_seed(S)
    keys, scores = torch.randn(S, 3, dtype=torch.float64), torch.randn(S, dtype=torch.float64, requires_grad=True)
    alpha = torch.softmax(scores, 0)
    context = alpha @ keys
    context.retain_grad()
    loss = torch.tanh(context).prod() + (context**2).sum()
    loss.backward()
    assert scores.grad is not None
    for j in range(S):
        expected = alpha[j] * (context.grad @ (keys[j] - context))
        assert scores.grad[j].item() == pytest.approx(expected.item(), abs=1e-12)
    assert scores.grad.sum().item() == pytest.approx(0, abs=1e-12), "the page says so"


@pytest.mark.parametrize("positions", [True, False])
def test_attention_over_a_map(positions: bool) -> None:
    """Equation (map-attention): one step of the experiment's network, place by place."""
    torch.manual_seed(0)
    model = LookingCaptioner(5, 4, 6, positions=positions).double().eval()
    x = looks_at_picture.to_inputs(pictures(2, 0).pixels).double()
    with torch.no_grad():
        state, m = model.start(x), model.cnn(x)
        y = torch.tensor([[1], [1]])
        logits, after, weights = model.decode_looking(y, state)
    r = model.position.detach() if positions else torch.zeros(64, 5)
    W = model.query.weight.detach().T  # (H, C)
    for b in range(2):
        places = [m[b, :, p // 8, p % 8] + r[p] for p in range(64)]
        powers = [math.exp(float(state.s[b] @ W @ place)) for place in places]
        alpha = [power / sum(powers) for power in powers]
        np.testing.assert_allclose(weights[b, 0].numpy(), alpha, atol=1e-12)
        c = sum(share * place for share, place in zip(alpha, places, strict=True))
        with torch.no_grad():
            s = model.cell(torch.cat([model.words(y[b, 0]), c])[None], state.s[b : b + 1])
            expected = model.logits(torch.cat([s[0], c]))
        torch.testing.assert_close(after.s[b], s[0])
        torch.testing.assert_close(logits[b, 0], expected)
