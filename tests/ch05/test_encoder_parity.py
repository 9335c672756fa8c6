"""`pad_batch`, `length_mask` and `encode` equal PyTorch's packed and stacked GRU, on sizes of 1 too."""

import itertools

import numpy as np
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

from solutions.ch05_encoder_decoder.encoder import encode, gru_cell, length_mask, pad_batch
from tests.loops import for_each

RANDOM = [tuple(np.random.default_rng(seed).integers(1, 8, size=6).tolist()) for seed in range(10)]
SIZES = [*RANDOM, *itertools.product((1, 2), repeat=6)]  # (B, S, V, D, H, L)


def torch_gru(D, H, L):
    torch.manual_seed(D + 10 * H + 100 * L)
    return torch.nn.GRU(D, H, num_layers=L, batch_first=True, dtype=torch.float64)


def as_layers(gru):
    """The weights of PyTorch's GRU in the row convention."""
    names = {"W_x": "weight_ih", "W_h": "weight_hh", "b_x": "bias_ih", "b_h": "bias_hh"}
    with torch.no_grad():
        return [
            {ours: getattr(gru, f"{theirs}_l{number}").numpy().T.copy() for ours, theirs in names.items()}
            for number in range(gru.num_layers)
        ]


@for_each("sizes", SIZES)
def test_encode(sizes):
    B, S, V, D, H, L = sizes
    rng = np.random.default_rng(sizes)
    ids, lengths, E = rng.integers(V, size=(B, S)), rng.integers(1, S + 1, size=B), rng.normal(size=(V, D))
    gru = torch_gru(D, H, L)
    packed = pack_padded_sequence(torch.from_numpy(E[ids]), torch.from_numpy(lengths), True, enforce_sorted=False)
    with torch.no_grad():
        expected = gru(packed)[1].numpy()
    context = encode(ids, lengths, E, as_layers(gru))
    assert context.shape == (L, B, H)
    np.testing.assert_allclose(context, expected, rtol=1e-12, atol=1e-12)

    lengths[rng.integers(B)] = 0
    again = encode(ids, lengths, E, as_layers(gru))
    np.testing.assert_array_equal(again[:, lengths == 0], 0)
    np.testing.assert_array_equal(again[:, lengths > 0], context[:, lengths > 0])


@for_each("sizes", SIZES)
def test_the_given_cell(sizes):
    B, _, _, D, H, _ = sizes
    rng = np.random.default_rng(sizes)
    x_t, h_prev, gru = rng.normal(size=(B, D)), rng.normal(size=(B, H)), torch_gru(D, H, 1)
    with torch.no_grad():
        expected = gru(torch.from_numpy(x_t[:, None]), torch.from_numpy(h_prev[None]))[1][0].numpy()
    np.testing.assert_allclose(gru_cell(x_t, h_prev, as_layers(gru)[0]), expected, rtol=1e-12, atol=1e-12)


@for_each("seed", range(20))
def test_a_padded_batch_and_its_mask(seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 8, size=rng.integers(1, 6))
    lengths[0] = max(lengths[0], 1)
    sequences = [rng.integers(1, 9, size=n).tolist() for n in lengths]
    tensors = [torch.tensor(sequence, dtype=torch.int64) for sequence in sequences]
    ids, found = pad_batch(sequences, 0)
    np.testing.assert_array_equal(ids, pad_sequence(tensors, batch_first=True, padding_value=0).numpy())
    np.testing.assert_array_equal(found, lengths)
    assert ids.dtype.kind == found.dtype.kind == "i"
    mask = length_mask(found, ids.shape[1])
    assert mask.dtype == bool
    np.testing.assert_array_equal(mask, ids != 0)
