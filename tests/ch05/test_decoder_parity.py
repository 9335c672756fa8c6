"""`decode_step` and `context_decode_step`, one step after the other, equal PyTorch's GRU and linear layer."""

import itertools

import numpy as np
import torch

from solutions.ch05_encoder_decoder.decoder import context_decode_step, decode_step
from tests.loops import for_each

RANDOM = [tuple(np.random.default_rng(seed).integers(1, 8, size=6).tolist()) for seed in range(10)]
SIZES = [*RANDOM, *itertools.product((1, 2), repeat=6)]  # (B, T, V, D, H, L)
NAMES = {"W_x": "weight_ih", "W_h": "weight_hh", "b_x": "bias_ih", "b_h": "bias_hh"}


def torch_decoder(read, H, L, V):
    torch.manual_seed(read + 10 * H + 100 * L)
    gru = torch.nn.GRU(read, H, num_layers=L, batch_first=True, dtype=torch.float64)
    return gru, torch.nn.Linear(H, V, dtype=torch.float64)


def in_rows(gru, number):
    """The weights of one layer in the row convention."""
    return {ours: getattr(gru, f"{theirs}_l{number}").detach().numpy().T for ours, theirs in NAMES.items()}


def equal(got, expected):
    np.testing.assert_allclose(got, expected.detach().numpy(), rtol=1e-12, atol=1e-12)


@for_each("sizes", SIZES)
def test_decode_step(sizes):
    B, T, V, D, H, L = sizes
    rng = np.random.default_rng(sizes)
    ids, E, s = rng.integers(V, size=(B, T)), rng.normal(size=(V, D)), rng.uniform(-1, 1, size=(L, B, H))
    gru, head = torch_decoder(D, H, L, V)
    outputs, final = gru(torch.from_numpy(E[ids]), torch.from_numpy(s))
    layers = [in_rows(gru, number) for number in range(L)]
    for t in range(T):
        logits, s = decode_step(ids[:, t], s, E, layers, head.weight.detach().numpy().T, head.bias.detach().numpy())
        assert logits.shape == (B, V)
        assert s.shape == (L, B, H)
        equal(logits, head(outputs[:, t]))
    equal(s, final)


@for_each("sizes", SIZES)
def test_context_decode_step(sizes):
    B, T, V, D, H, _ = sizes
    rng = np.random.default_rng(sizes)
    ids, E = rng.integers(V, size=(B, T)), rng.normal(size=(V, D))
    s, context = rng.uniform(-1, 1, size=(2, B, H))
    gru, head = torch_decoder(D + H, H, 1, V)
    both = np.concatenate([E[ids], np.repeat(context[:, None], T, axis=1)], axis=2)
    outputs, final = gru(torch.from_numpy(both), torch.from_numpy(s[None].copy()))
    W_p, b_p = head.weight.detach().numpy().T, head.bias.detach().numpy()
    for t in range(T):
        logits, s = context_decode_step(ids[:, t], s, context, E, **in_rows(gru, 0), W_p=W_p, b_p=b_p)
        equal(logits, head(outputs[:, t]))
    equal(s, final[0])
