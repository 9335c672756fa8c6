"""`bidirectional` and `stack_layers` equal PyTorch's own bidirectional and stacked networks, on sizes of 1 too."""

import itertools

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from grader.checking.case import Case
from grader.checking.drivers import drive
from solutions.ch04_gated.deep import bidirectional, stack_layers
from tests.loops import for_each

RANDOM = [tuple(np.random.default_rng(seed).integers(1, 8, size=4).tolist()) for seed in range(10)]
SIZES = [*RANDOM, *itertools.product((1, 2), repeat=4)]  # (B, T, D, H)


def torch_rnn(kind, D, H, **options):
    torch.manual_seed(D + 10 * H)
    return getattr(torch.nn, kind)(D, H, batch_first=True, dtype=torch.float64, **options)


def as_layer(rnn, kind, D, H, weights):
    """A function (B, T, D) -> (B, T, H) with these of the weights of `rnn`, which end in `weights`."""
    one = torch_rnn(kind, D, H)
    with torch.no_grad():
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            getattr(one, f"{name}_l0").copy_(getattr(rnn, f"{name}_{weights}"))

    def run(x):
        with torch.no_grad():
            return one(torch.from_numpy(np.ascontiguousarray(x)))[0].numpy()

    return run


@for_each("kind", ["RNN", "GRU", "LSTM"])
@for_each("sizes", SIZES)
def test_bidirectional(sizes, kind):
    B, T, D, H = sizes
    rng = np.random.default_rng(sizes)
    x, lengths = rng.normal(size=(B, T, D)), rng.integers(1, T + 1, size=B)
    rnn = torch_rnn(kind, D, H, bidirectional=True)
    packed = pack_padded_sequence(
        torch.from_numpy(x), torch.from_numpy(lengths), batch_first=True, enforce_sorted=False
    )
    with torch.no_grad():
        expected = pad_packed_sequence(rnn(packed)[0], batch_first=True, total_length=T)[0].numpy()
    layers = [as_layer(rnn, kind, D, H, weights) for weights in ("l0", "l0_reverse")]
    h = bidirectional(x, lengths, *layers)
    assert h.shape == (B, T, 2 * H)
    real = np.arange(T) < lengths[:, None]
    np.testing.assert_allclose(h[real], expected[real], rtol=1e-12, atol=1e-12)


@for_each("kind", ["RNN", "GRU", "LSTM"])
@for_each("sizes", SIZES)
def test_stack_layers(sizes, kind):
    B, T, D, H = sizes
    x = np.random.default_rng(sizes).normal(size=(B, T, D))
    rnn = torch_rnn(kind, D, H, num_layers=3)
    with torch.no_grad():
        expected, state = rnn(torch.from_numpy(x))
    h_n = state[0] if kind == "LSTM" else state  # (3, B, H)
    top, final = stack_layers(x, [as_layer(rnn, kind, H if n else D, H, f"l{n}") for n in range(3)])
    np.testing.assert_allclose(top, expected.numpy(), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(np.stack(final), h_n.numpy(), rtol=1e-12, atol=1e-12)


# The driver "padded" --------------------------------------------------------------------------------------------------

LENGTHS = np.array([2, 0, 3])
PADDED = Case({"B": 3, "T": 3}, {"lengths": LENGTHS})


@pytest.mark.parametrize("shape", [(3, 3), (3, 3, 2), (3, 5, 2, 2)])
def test_padding_becomes_0_and_all_else_stays(shape):
    values = np.random.default_rng(0).normal(size=shape)
    values[0, 2:] = np.nan
    result = drive("padded", lambda lengths: values, PADDED).result
    for row, length in enumerate(LENGTHS):
        np.testing.assert_array_equal(result[row, :length], values[row, :length])
        assert not result[row, length:].any()


@pytest.mark.parametrize("result", [None, 3.5, [1, 2], np.ones(3), np.ones((2, 3)), "text"])
def test_results_of_another_form_stay_as_they_are(result):
    observation = drive("padded", lambda lengths: result, PADDED)
    np.testing.assert_array_equal(observation.result, result)


def test_an_exception_is_observed():
    assert drive("padded", lambda lengths: 1 / 0, PADDED).raised.type == "ZeroDivisionError"


def test_truth_values_and_words_have_a_zero_too():
    assert drive("padded", lambda lengths: np.ones((3, 3), dtype=bool), PADDED).result.sum() == LENGTHS.sum()
