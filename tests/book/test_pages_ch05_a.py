"""Each labelled equation of chapter 5's first two pages, compared with torch or a direct computation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from torch import Tensor

SIZES = [(2, 3, 4), (1, 1, 1), (3, 5, 2)]  # B, T, H; embeddings of 3 numbers, a vocabulary of 4
V, D = 4, 3


def drawn(rng: np.random.Generator, *shape: int) -> Tensor:
    return torch.from_numpy(rng.normal(size=shape))


def softmax(z: Tensor) -> Tensor:
    powers = torch.exp(z - z.max(dim=-1, keepdim=True).values)
    return powers / powers.sum(dim=-1, keepdim=True)


def randomised(module: torch.nn.Module, rng: np.random.Generator) -> torch.nn.Module:
    """The module in float64, with drawn weights."""
    module = module.double()
    with torch.no_grad():
        for weights in module.parameters():
            weights.copy_(torch.from_numpy(rng.normal(size=weights.shape)))
    return module


# From one sequence to another ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("longest", [1, 3, 5])
def test_the_probabilities_of_all_targets(longest: int) -> None:
    """Equation (translation-probability): over all targets that end, and those cut off, the products sum to 1."""
    eos, rng = 0, np.random.default_rng(0)
    E, W_ys, W_ss, W_p = drawn(rng, V, D), drawn(rng, D, 5), drawn(rng, 5, 5), drawn(rng, 5, V)
    R = drawn(rng, 5)

    def factors(target: tuple[int, ...]) -> list[float]:
        """P(y_t | y_<t, x) for each t, where x enters through the initial state and 1 stands for sos."""
        state, found = R, []
        for read, wanted in zip((1, *target), target, strict=False):
            state = torch.tanh(E[read] @ W_ys + state @ W_ss)
            found.append(softmax(state @ W_p)[wanted].item())
        return found

    total = 0.0
    for T in range(1, longest + 1):
        for words in itertools.product(range(1, V), repeat=T - 1):
            total += float(np.prod(factors((*words, eos))))
    cut_off = sum(float(np.prod(factors(words))) for words in itertools.product(range(1, V), repeat=longest))
    assert 0 < cut_off < 1
    assert total + cut_off == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(("B", "T", "H"), SIZES)
@torch.no_grad()
def test_the_three_parts_of_a_decoder(B: int, T: int, H: int) -> None:
    """Equation (general-decoder): step by step, with a GRU as self-encoding, against all steps at once in torch."""
    rng = np.random.default_rng(1)
    memory = randomised(torch.nn.GRU(D, H, batch_first=True), rng)
    E, W_self, W_cross, W_p = drawn(rng, V, D), drawn(rng, H, H), drawn(rng, H, H), drawn(rng, H, V)
    R, read = drawn(rng, B, H), torch.from_numpy(rng.integers(0, V, size=(B, T)))

    def self_encoding(state: Tensor, previous: Tensor) -> Tensor:
        return memory(E[previous][:, None], state[None])[1][0]

    def cross_encoding(state: Tensor, source: Tensor) -> Tensor:
        return torch.tanh(state @ W_self + source @ W_cross)

    state, found = torch.zeros(B, H, dtype=torch.float64), []
    for t in range(T):
        state = self_encoding(state, read[:, t])
        found.append(softmax(cross_encoding(state, R) @ W_p))
    states, _ = memory(E[read])
    expected = torch.softmax(
        torch.tanh(torch.cat([states, R[:, None].expand(B, T, H)], 2) @ torch.cat([W_self, W_cross])) @ W_p, 2
    )
    torch.testing.assert_close(torch.stack(found, 1), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("B", "T", "H"), SIZES)
@torch.no_grad()
def test_the_recurrent_decoder(B: int, T: int, H: int) -> None:
    """Equation (rnn-decoder): torch's RNN on embedding and R side by side, and a linear readout."""
    rng = np.random.default_rng(2)
    rnn = randomised(torch.nn.RNN(D + H, H, batch_first=True, bias=True), rng)
    E, W_p, b_p = drawn(rng, V, D), drawn(rng, H, V), drawn(rng, V)
    R, read = drawn(rng, B, H), torch.from_numpy(rng.integers(0, V, size=(B, T)))
    W_ys, W_cs = rnn.weight_ih_l0.T.split([D, H])
    W_ss, b_s = rnn.weight_hh_l0.T, rnn.bias_ih_l0 + rnn.bias_hh_l0
    s, z = R, []
    for t in range(T):
        a = E[read[:, t]] @ W_ys + s @ W_ss + R @ W_cs + b_s
        s = torch.tanh(a)
        z.append(s @ W_p + b_p)
    states, _ = rnn(torch.cat([E[read], R[:, None].expand(B, T, H)], 2), R[None])
    torch.testing.assert_close(torch.stack(z, 1), states @ W_p + b_p, rtol=0, atol=1e-12)
