"""Seq2Seq and the oracle of its check equal PyTorch's GRU on each row without its padding, to 1e-12.

Also the worked numbers of its notebook, and its training loop.
"""

import itertools

import numpy as np
import pytest
import torch

from grader.spec.load import load_module
from solutions.ch05_encoder_decoder import seq2seq
from solutions.ch05_encoder_decoder.seq2seq import Seq2Seq, caption_init
from tests.conftest import ROOT
from tests.loops import for_each

CHECK = load_module(ROOT / "solutions/ch05_encoder_decoder/Seq2Seq/spec.py", "_checks_Seq2Seq_parity")
STATE = load_module(ROOT / "solutions/ch05_encoder_decoder/caption_init/spec.py", "_checks_caption_init_parity")
RANDOM = [tuple(np.random.default_rng(seed).integers(1, 7, size=6).tolist()) for seed in range(20)]
ONES_AND_TWOS = list(itertools.product((1, 2), repeat=6))


def made(sizes):
    """A model in float64 with random weights, its weights as arrays, and the arguments of a call."""
    rng = np.random.default_rng(sizes)
    B, S, T, D, H, L = sizes
    U, V = S + 2, T + 3
    init = dict(zip(CHECK.SIZES, (U, V, D, H, L, 0), strict=True))
    weights = {name: rng.normal(size=shape) for name, shape in CHECK.shapes(U, V, D, H, L).items()}
    model = Seq2Seq(**init).double()
    model.load_state_dict({name: torch.from_numpy(w.copy()) for name, w in weights.items()})
    lengths = rng.integers(1, S + 1, size=B)
    source = np.where(np.arange(S) < lengths[:, None], rng.integers(1, U, size=(B, S)), 0)
    return model, init, weights, (source, lengths, rng.integers(V, size=(B, T)))


def row_by_row(model, source, lengths, target_in):
    """The submodules on one row at a time, without padding."""
    logits = []
    for ids, length, inputs in zip(source, lengths, target_in, strict=True):
        _, context = model.encoder(model.source_embedding(torch.from_numpy(ids[None, :length])))
        states, _ = model.decoder(model.target_embedding(torch.from_numpy(inputs[None])), context)
        logits.append(model.head(states)[0])
    return torch.stack(logits).detach().numpy()


@for_each("sizes", [*RANDOM, *ONES_AND_TWOS])
def test_reference_and_oracle_equal_each_row_without_its_padding(sizes):
    model, init, weights, call = made(sizes)
    due = row_by_row(model, *call)
    logits = model(*(torch.from_numpy(array) for array in call)).detach().numpy()
    np.testing.assert_allclose(logits, due, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(CHECK.oracle(init, weights, *call, run={}), due, rtol=1e-12, atol=1e-12)


def test_the_worked_example_of_the_notebook():
    call = CHECK.EXAMPLE.inputs
    weights, source = call["weights"], call["source"]

    def encoded(ids):
        states, _ = CHECK.run_gru(weights, "encoder", 1, weights["source_embedding.weight"][ids], np.zeros((1, 1)))
        return states.ravel()

    np.testing.assert_array_equal(encoded(source[0, :1]).round(2), [-0.36])
    np.testing.assert_array_equal(encoded(source[1]).round(2), [0.69, 0.11])
    np.testing.assert_array_equal(encoded(source[0]).round(2), [-0.36, -0.22])
    logits = CHECK.oracle(**call)
    np.testing.assert_array_equal(logits[0].round(2), [[0.10, -0.50, 0.05], [0.45, -1.20, -0.12]])
    np.testing.assert_array_equal(logits[1].round(2), [[-0.28, 0.25, 0.24], [-0.41, 0.51, 0.30]])
    padded = CHECK.oracle(**{**call, "source_lengths": np.array([2, 2])})
    np.testing.assert_array_equal(padded[0, 0].round(2), [-0.01, -0.27, 0.11])
    context = encoded(source[0, :1]), encoded(source[1])[-1:]
    states = [
        CHECK.run_gru(weights, "decoder", 1, weights["target_embedding.weight"][inputs], c[None])[0].ravel().round(2)
        for inputs, c in zip(call["target_in"], context, strict=True)
    ]
    np.testing.assert_array_equal(states, [[-0.10, -0.45], [0.28, 0.41]])


def test_the_worked_example_of_the_picture():
    h_0 = caption_init(**STATE.EXAMPLE.inputs)
    np.testing.assert_array_equal(h_0.round(3), [[0.197, -0.691]])
    np.testing.assert_allclose(np.arctanh(h_0), [[0.20, -0.85]], rtol=1e-12)


@pytest.mark.parametrize("sizes", [(1, 1, 1), (2, 1, 3), (1, 4, 2), (5, 3, 1), (4, 6, 5)])
def test_caption_init_equals_its_oracle(sizes):
    case = STATE.case(np.random.default_rng(sizes), *sizes)
    np.testing.assert_allclose(caption_init(**case.inputs), STATE.oracle(**case.inputs), rtol=1e-12, atol=1e-12)


def test_roman_numerals_and_their_batch():
    texts = [seq2seq.roman(number) for number in (7, 444, 1984, 3888)]
    assert texts == ["VII", "CDXLIV", "MCMLXXXIV", "MMMDCCCLXXXVIII"]
    assert max(len(seq2seq.roman(number)) for number in range(1, 4000)) == 15
    source, lengths, target_in, targets = seq2seq.make_batch([1984, 7])
    assert ["".join(seq2seq.SOURCE[i] for i in row) for row in source.tolist()] == [
        "1984<eos>",
        "7<eos><pad><pad><pad>",
    ]
    assert lengths.tolist() == [5, 2]
    written = ["".join(seq2seq.TARGET[i] for i in row) for row in targets.tolist()]
    assert written == ["MCMLXXXIV<eos>", "VII<eos>" + "<pad>" * 6]
    assert target_in[:, 0].tolist() == [seq2seq.SOS, seq2seq.SOS]
    assert torch.equal(target_in[:, 1:], targets[:, :-1])


def test_the_notebook_learns_and_padding_changes_nothing():
    """Its own settings, but fewer updates."""
    numbers = np.random.default_rng(0).permutation(np.arange(1, 4000)).tolist()
    torch.manual_seed(0)
    model = Seq2Seq(len(seq2seq.SOURCE), len(seq2seq.TARGET), 16, 64, 1, seq2seq.PAD)
    losses = seq2seq.train_on_numbers(model, torch.optim.Adam(model.parameters(), lr=0.005), numbers[:3000], 100)
    assert abs(losses[0] - np.log(10)) < 0.2
    assert np.mean(losses[-20:]) < 1.0
    source, lengths, target_in, _ = seq2seq.make_batch([444, 1984])
    beside = model(source, lengths, target_in)[:1]
    alone = model(source[:1, :4], lengths[:1], target_in[:1])
    torch.testing.assert_close(beside, alone)
    assert all(set(text) <= set("IVXLCDM") for text in seq2seq.translate(model, numbers[3000:3010]))
