"""The exercises of the notebook `training` equal PyTorch, on sizes of 1 too."""

import itertools

import numpy as np
import pytest
import torch

from solutions.ch05_encoder_decoder.training import (
    log_softmax,
    masked_cross_entropy,
    scheduled_inputs,
    teacher_forced_loss,
)
from tests.loops import for_each

RANDOM = [tuple(np.random.default_rng(seed).integers(1, 9, size=4).tolist()) for seed in range(10)]
SIZES = [*RANDOM, *itertools.product((1, 2), repeat=4)]  # (B, T, V, H)
IGNORED = -100


def batch(rng, B, T, V):
    targets, lengths = rng.integers(V, size=(B, T)), rng.integers(0, T + 1, size=B)
    return targets, np.arange(T) < lengths[:, None]


def torch_loss(logits, targets, mask):
    """PyTorch's own way to leave out padding: an id that is ignored. Its mean of nothing is nan."""
    ids = torch.from_numpy(np.where(mask, targets, IGNORED)).ravel()
    loss = torch.nn.functional.cross_entropy(logits.reshape(-1, logits.shape[2]), ids, ignore_index=IGNORED).item()
    return loss if mask.any() else 0.0


@for_each("sizes", SIZES)
def test_masked_cross_entropy(sizes):
    B, T, V, _ = sizes
    rng = np.random.default_rng(sizes)
    targets, mask = batch(rng, B, T, V)
    for scale in (1, 300):
        logits = scale * rng.normal(size=(B, T, V))
        loss = masked_cross_entropy(logits, targets, mask)
        assert loss == pytest.approx(torch_loss(torch.from_numpy(logits), targets, mask), rel=1e-12, abs=1e-12)
        np.testing.assert_allclose(
            log_softmax(logits), torch.log_softmax(torch.from_numpy(logits), -1), rtol=1e-12, atol=1e-12
        )


@for_each("sizes", SIZES)
def test_teacher_forced_loss(sizes):
    """A GRU that reads all inputs in one call, as a decoder is trained in PyTorch."""
    B, T, V, H = sizes
    rng = np.random.default_rng(sizes)
    torch.manual_seed(B + 10 * H)
    embedding, head = (torch.nn.Embedding(V, 3, dtype=torch.float64), torch.nn.Linear(H, V, dtype=torch.float64))
    gru = torch.nn.GRU(3, H, num_layers=2, batch_first=True, dtype=torch.float64)
    state = torch.from_numpy(rng.normal(size=(2, B, H)))
    (targets, mask), sos_id = batch(rng, B, T, V), int(rng.integers(V))

    def step(y_prev, state):
        assert y_prev.shape == (B,)
        with torch.no_grad():
            top, state = gru(embedding(torch.from_numpy(y_prev))[:, None], state)
            return head(top[:, 0]).numpy(), state

    inputs = torch.from_numpy(np.insert(targets, 0, sos_id, axis=1)[:, :-1])
    with torch.no_grad():
        expected = torch_loss(head(gru(embedding(inputs), state)[0]), targets, mask)
    assert teacher_forced_loss(step, state, targets, mask, sos_id) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("B", [1, 2, 9])
def test_scheduled_inputs(B):
    rng = np.random.default_rng(B)
    gold, predicted = rng.integers(50, size=(2, B))
    use_gold = rng.random(B) < 0.5
    expected = torch.where(*map(torch.from_numpy, (use_gold, gold, predicted)))
    assert scheduled_inputs(gold, predicted, use_gold).tolist() == expected.tolist()
