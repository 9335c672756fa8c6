"""Each labelled equation of chapter 5's first two pages, compared with torch or a direct computation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from experiments.ch05.model import Settings, Translator

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


# From one sequence to another -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("longest", [1, 3, 5])
def test_the_probabilities_of_all_targets(longest: int) -> None:
    """Equation (translation-probability): over all targets that end, and those cut off, the products sum to 1."""
    eos, rng = 0, np.random.default_rng(0)
    E, W_ys, W_ss, W_p = drawn(rng, V, D), drawn(rng, D, 5), drawn(rng, 5, 5), drawn(rng, 5, V)
    R = drawn(rng, 5)

    def factors(target: tuple[int, ...]) -> list[float]:
        """p(y_t | y_<t, x) for each t, where x enters through the initial state and 1 stands for sos."""
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
def test_the_recurrent_encoder(B: int, T: int, H: int) -> None:
    """Equation (rnn-encoder): the last state of torch's RNN."""
    rng = np.random.default_rng(9)
    rnn = randomised(torch.nn.RNN(D, H, batch_first=True), rng)
    E_x, ids = drawn(rng, V, D), torch.from_numpy(rng.integers(0, V, size=(B, T)))
    W_xh, W_hh, b_h = rnn.weight_ih_l0.T, rnn.weight_hh_l0.T, rnn.bias_ih_l0 + rnn.bias_hh_l0
    h = torch.zeros(B, H, dtype=torch.float64)
    for t in range(T):
        h = torch.tanh(E_x[ids[:, t]] @ W_xh + h @ W_hh + b_h)
    torch.testing.assert_close(rnn(E_x[ids])[1][0], h, rtol=0, atol=1e-12)


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


# Encoder and context --------------------------------------------------------------------------------------------------


def cells_of(gru: torch.nn.GRU) -> list[torch.nn.GRUCell]:
    """The layers of a GRU as single cells with the same weights."""
    cells = []
    for layer in range(gru.num_layers):
        weights = [getattr(gru, f"{name}_l{layer}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
        cell = torch.nn.GRUCell(weights[0].shape[1], gru.hidden_size).double()
        for own, given in zip((cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh), weights, strict=True):
            own.data = given.detach().clone()
        cells.append(cell)
    return cells


def stacked(cells: list[torch.nn.GRUCell], x: Tensor, start: Tensor) -> list[list[Tensor]]:
    """The states of all steps and layers, `found[t][l]` (B, H), of x (B, T, D) from start (L, B, H)."""
    previous, found = list(start), []
    for t in range(x.shape[1]):
        below, states = x[:, t], []
        for cell, old in zip(cells, previous, strict=True):
            below = cell(below, old)
            states.append(below)
        found.append(states)
        previous = states
    return found


@pytest.mark.parametrize(("B", "S", "H", "L"), [(2, 3, 4, 2), (1, 1, 1, 1), (3, 5, 2, 3)])
@torch.no_grad()
def test_the_states_of_the_encoder(B: int, S: int, H: int, L: int) -> None:
    """Equation (encoder-states): torch's GRU on packed sequences gives output states, and each row's own final ones."""
    rng = np.random.default_rng(3)
    gru = randomised(torch.nn.GRU(D, H, num_layers=L, batch_first=True), rng)
    E, ids = drawn(rng, V, D), torch.from_numpy(rng.integers(0, V, size=(B, S)))
    lengths = torch.from_numpy(np.r_[S, rng.integers(1, S + 1, size=B - 1)])
    states = stacked(cells_of(gru), E[ids], torch.zeros(L, B, H, dtype=torch.float64))
    outputs, final = gru(pack_padded_sequence(E[ids], lengths, batch_first=True, enforce_sorted=False))
    outputs, _ = pad_packed_sequence(outputs, batch_first=True)
    for row, length in enumerate(lengths.tolist()):
        own_end = torch.stack([state[row] for state in states[length - 1]])
        torch.testing.assert_close(final[:, row], own_end, rtol=0, atol=1e-12)
        top = torch.stack([state[-1][row] for state in states[:length]])
        torch.testing.assert_close(outputs[row, :length], top, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("B", "T", "H", "L"), [(2, 3, 4, 2), (1, 1, 1, 1), (3, 5, 2, 3)])
@torch.no_grad()
def test_the_states_of_the_decoder(B: int, T: int, H: int, L: int) -> None:
    """Equation (decoder-states): the translator of the experiments, step by step, with a readout of the top layer."""
    rng = np.random.default_rng(4)
    model = randomised(Translator(V, V, Settings(embed_size=D, hidden_size=H, layers=L)), rng)
    read, c = torch.from_numpy(rng.integers(0, V, size=(B, T))), drawn(rng, L, B, H)
    states = stacked(cells_of(model.decoder), model.target_embedding.weight[read], c)
    z = torch.stack([state[-1] @ model.head.weight.T + model.head.bias for state in states], 1)
    torch.testing.assert_close(model.decode(read, c, c)[0], z, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("B", "T", "H", "L"), [(2, 3, 4, 2), (1, 1, 1, 1), (3, 5, 2, 3)])
@torch.no_grad()
def test_the_two_parts_of_an_lstm_s_context(B: int, T: int, H: int, L: int) -> None:
    """Equation (lstm-context): LSTM cells, one for each layer, start from the pair that torch's encoder returns."""
    rng = np.random.default_rng(10)
    encoder, decoder = (randomised(torch.nn.LSTM(D, H, num_layers=L, batch_first=True), rng) for _ in range(2))
    x, y = drawn(rng, B, 4, D), drawn(rng, B, T, D)
    h_S, c_S = encoder(x)[1]
    assert h_S.numel() + c_S.numel() == B * 2 * L * H
    cells = []
    for layer in range(L):
        cell = torch.nn.LSTMCell(D if layer == 0 else H, H).double()
        own = {name: decoder.get_parameter(f"{name}_l{layer}") for name, _ in cell.named_parameters()}
        cell.load_state_dict(own)
        cells.append(cell)
    states, found = [(h_S[layer], c_S[layer]) for layer in range(L)], []
    for t in range(T):
        below = y[:, t]
        for layer, cell in enumerate(cells):
            states[layer] = cell(below, states[layer])
            below = states[layer][0]
        found.append(below)
    torch.testing.assert_close(decoder(y, (h_S, c_S))[0], torch.stack(found, 1), rtol=0, atol=1e-12)
    assert (decoder(y, (h_S, torch.zeros_like(c_S)))[0] - torch.stack(found, 1)).abs().max() > 1e-4


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_what_the_decoder_depends_on(layers: int) -> None:
    """Equation (decoder-depends-on): with the final states held fixed, no other state of the encoder has a gradient."""
    rng = np.random.default_rng(5)
    S, H = 4, 3
    encoder, decoder = (randomised(torch.nn.GRU(D, H, num_layers=layers), rng) for _ in range(2))
    states = stacked(cells_of(encoder), drawn(rng, 1, S, D), torch.zeros(layers, 1, H, dtype=torch.float64))
    held = [[state.detach().requires_grad_() for state in step] for step in states]
    top, _ = decoder(drawn(rng, 5, 1, D), torch.stack(held[-1]))
    (top * drawn(rng, 5, 1, H)).sum().backward()
    for t, step in enumerate(held):
        for state in step:
            assert (state.grad is not None and bool(state.grad.abs().max() > 0)) == (t == S - 1)


@pytest.mark.parametrize("context", ["mean", "max"])
@torch.no_grad()
def test_the_pooled_contexts(context: str) -> None:
    """Equation (pooled-context): the translator of the experiments, against a loop over each row's real states."""
    rng = np.random.default_rng(6)
    model = randomised(Translator(V, V, Settings(embed_size=D, hidden_size=5, layers=2, context=context)), rng)
    ids, lengths = torch.from_numpy(rng.integers(0, V, size=(3, 4))), torch.tensor([2, 4, 1])
    found = model.encode(ids, lengths)
    for row, length in enumerate(lengths.tolist()):
        top, _ = model.encoder(model.source_embedding(ids[row : row + 1, :length]))
        expected = [sum(column) / length if context == "mean" else max(column) for column in top[0].T.tolist()]
        for layer in (0, 1):
            np.testing.assert_allclose(found[layer, row], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("B", "T", "H"), SIZES)
@torch.no_grad()
def test_the_context_at_every_step(B: int, T: int, H: int) -> None:
    """Equation (context-every-step): the translator of the experiments, against a GRU cell on D + H inputs."""
    rng = np.random.default_rng(7)
    model = randomised(Translator(V, V, Settings(embed_size=D, hidden_size=H, every_step=True)), rng)
    read, c = torch.from_numpy(rng.integers(0, V, size=(B, T))), drawn(rng, 1, B, H)
    (cell,), s, z = cells_of(model.decoder), c[0], []
    assert cell.weight_ih.shape == (3 * H, D + H)
    for t in range(T):
        s = cell(torch.cat([model.target_embedding.weight[read[:, t]], c[0]], 1), s)
        z.append(s @ model.head.weight.T + model.head.bias)
    torch.testing.assert_close(model.decode(read, c, c)[0], torch.stack(z, 1), rtol=0, atol=1e-12)
