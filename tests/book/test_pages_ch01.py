"""Each labelled equation of chapter 1's pages, against PyTorch or a slow loop that knows nothing of the page."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from experiments.ch01.hello import load_record, load_weights
from experiments.ch01.temporal_xor import stream
from solutions.ch01_vanilla_rnn.predictions import sequence_loss, softmax
from solutions.ch01_vanilla_rnn.recurrence import rnn_forward
from solutions.ch01_vanilla_rnn.unrolling import concatenated_weights
from solutions.ch01_vanilla_rnn.writing import sample_id

Weights = tuple[np.ndarray, np.ndarray, np.ndarray]


def drawn(rng: np.random.Generator, D: int, H: int) -> Weights:
    return rng.normal(size=(D, H)), rng.normal(size=(H, H)), rng.normal(size=H)


def torch_states(x: np.ndarray, h_0: np.ndarray, W_xh: np.ndarray, W_hh: np.ndarray, b_h: np.ndarray) -> np.ndarray:
    """(B, T, H), by PyTorch."""
    rnn = torch.nn.RNN(*W_xh.shape, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        rnn.weight_ih_l0.copy_(torch.from_numpy(W_xh.T))
        rnn.weight_hh_l0.copy_(torch.from_numpy(W_hh.T))
        rnn.bias_ih_l0.copy_(torch.from_numpy(b_h))
        rnn.bias_hh_l0.zero_()
        states, _ = rnn(torch.from_numpy(x), torch.from_numpy(h_0[None]))
    result: np.ndarray = states.numpy()
    return result


@pytest.mark.parametrize(("B", "D", "H"), [(2, 3, 4), (1, 1, 1), (5, 3, 3)])
def test_one_product_or_two(B: int, D: int, H: int) -> None:
    """Equation (concatenated-form), entry by entry."""
    rng = np.random.default_rng(0)
    x_t, h_prev = rng.normal(size=(B, D)), rng.normal(size=(B, H))
    W_xh, W_hh, _ = drawn(rng, D, H)
    joined = np.concatenate([x_t, h_prev], axis=1) @ concatenated_weights(W_xh, W_hh)
    for b in range(B):
        for unit in range(H):
            from_input = sum(x_t[b, d] * W_xh[d, unit] for d in range(D))
            from_state = sum(h_prev[b, k] * W_hh[k, unit] for k in range(H))
            assert joined[b, unit] == pytest.approx(from_input + from_state, abs=1e-12)


@pytest.mark.parametrize("t", [0, 3, 8])
def test_no_state_depends_on_a_later_input(t: int) -> None:
    """Equation (causal): equal to the last bit up to and including t, and not beyond."""
    rng = np.random.default_rng(1)
    x, h_0, weights = rng.normal(size=(2, 9, 3)), rng.normal(size=(2, 4)), drawn(rng, 3, 4)
    changed = x.copy()
    changed[:, t + 1 :] = rng.normal(size=(2, 8 - t, 3))
    before, after = rnn_forward(x, h_0, *weights), rnn_forward(changed, h_0, *weights)
    assert np.array_equal(before[:, : t + 1], after[:, : t + 1])
    assert (before[:, t + 1 :] != after[:, t + 1 :]).all()
    # Backwards from the end of the same computation: the gradient with respect to later inputs is exactly zero.
    inputs = torch.from_numpy(x).requires_grad_()
    state = torch.from_numpy(h_0)
    W_xh, W_hh, b_h = (torch.from_numpy(values) for values in weights)
    for k in range(t + 1):
        state = torch.tanh(inputs[:, k] @ W_xh + state @ W_hh + b_h)
    (gradient,) = torch.autograd.grad(state.sum(), inputs)
    assert (gradient[:, t + 1 :] == 0).all()
    assert (gradient[:, : t + 1] != 0).all()


def test_readout_of_the_network_that_spells() -> None:
    """Equation (readout): the page's logits are those of PyTorch, and give the recorded loss and probabilities."""
    network, record = load_weights(), load_record()
    ids = np.array([record["vocabulary"].index(letter) for letter in record["text"]])
    one_hot = np.eye(len(record["vocabulary"]))[ids[None, :-1]]
    states = torch_states(one_hot, np.zeros((1, 3)), network["W_xh"], network["W_hh"], network["b_h"])
    logits = np.einsum("bth,hv->btv", states, network["W_hy"]) + network["b_y"]
    right = torch.from_numpy(logits).softmax(2).numpy()[0, np.arange(len(ids) - 1), ids[1:]]
    np.testing.assert_allclose(right, record["result"]["probability_of_the_right_one"], rtol=0, atol=1e-4)
    assert sequence_loss(logits, ids[None, 1:]) == pytest.approx(record["result"]["loss"], abs=1e-4)


@pytest.mark.parametrize("logit", [0, 1, 2])
def test_one_more_in_a_logit_multiplies_the_odds_by_e(logit: int) -> None:
    """What the page says beside the softmax: the odds, p / (1 - p), and not the probability."""
    z = 2 * np.random.default_rng(9).normal(size=3)
    raised = z.copy()
    raised[logit] += 1
    before, after = softmax(z)[logit], softmax(raised)[logit]
    assert after / (1 - after) == pytest.approx(math.e * before / (1 - before), rel=1e-12)
    assert before < after < math.e * before


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_softmax(axis: int) -> None:
    """Equation (softmax), along any axis, as PyTorch has it."""
    z = 5 * np.random.default_rng(2).normal(size=(3, 4, 5))
    np.testing.assert_allclose(softmax(z, axis), torch.from_numpy(z).softmax(axis).numpy(), rtol=1e-12, atol=0)


@pytest.mark.parametrize("c", [-1e4, -1.5, 0.25, 1e4])
def test_a_constant_changes_no_probability(c: float) -> None:
    """Equation (softmax-shift). The shift itself rounds the logits, hence the tolerance."""
    z = np.random.default_rng(3).normal(size=(6, 5))
    np.testing.assert_allclose(softmax(z + c), softmax(z), rtol=0, atol=1e-11)


@pytest.mark.parametrize(("B", "T", "V"), [(3, 4, 5), (1, 1, 2)])
def test_sequence_loss(B: int, T: int, V: int) -> None:
    """Equation (sequence-loss): a loop over rows and steps, and PyTorch."""
    rng = np.random.default_rng(4)
    logits, targets = 3 * rng.normal(size=(B, T, V)), rng.integers(0, V, size=(B, T))
    total = 0.0
    for b in range(B):
        for t in range(T):
            positive = [math.exp(z) for z in logits[b, t]]
            total -= math.log(positive[targets[b, t]] / sum(positive))
    loss = sequence_loss(logits, targets)
    assert loss == pytest.approx(total / (B * T), abs=1e-12)
    flat = torch.from_numpy(logits).reshape(-1, V), torch.from_numpy(targets).reshape(-1)
    assert loss == pytest.approx(torch.nn.functional.cross_entropy(*flat).item(), abs=1e-12)


@pytest.mark.parametrize("V", [2, 4, 51])
def test_knowing_nothing_costs_ln_v(V: int) -> None:
    """Equation (uniform-loss), whatever the targets and whatever the common logit."""
    targets = np.random.default_rng(5).integers(0, V, size=(3, 7))
    assert sequence_loss(np.full((3, 7, V), -2.5), targets) == pytest.approx(math.log(V), abs=1e-12)


def test_logarithm_of_the_softmax() -> None:
    """Equation (log-softmax): equal to the logarithm where that exists, and right where it does not."""
    z = np.random.default_rng(6).normal(size=8)
    m = z.max()
    by_formula = z - m - np.log(np.exp(z - m).sum())
    np.testing.assert_allclose(by_formula, np.log(softmax(z)), rtol=0, atol=1e-12)
    np.testing.assert_allclose(by_formula, torch.from_numpy(z).log_softmax(0).numpy(), rtol=0, atol=1e-12)
    extreme = np.array([[[0.0, 1000.0]]])
    assert softmax(extreme)[0, 0, 0] == 0
    assert sequence_loss(extreme, np.array([[0]])) == 1000


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_temperature(temperature: float) -> None:
    """Equation (temperature): the log of each ratio is divided; the page divides W_hy and b_y instead."""
    network, state = load_weights(), np.random.default_rng(10).uniform(-1, 1, size=(1, 3))
    z = state @ network["W_hy"] + network["b_y"]
    p, at_one = softmax(z / temperature)[0], softmax(z)[0]
    np.testing.assert_allclose(p / p[0], (at_one / at_one[0]) ** (1 / temperature), rtol=1e-12, atol=0)
    scaled = state @ (network["W_hy"] / temperature) + network["b_y"] / temperature
    np.testing.assert_allclose(softmax(scaled)[0], p, rtol=1e-12, atol=0)


def test_temperature_in_the_limits() -> None:
    """Towards 0 the softmax is greedy, towards infinity uniform."""
    z = np.array([1.0, 2.5, -0.5, 2.0])
    np.testing.assert_allclose(softmax(z / 1e-3), [0, 1, 0, 0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(softmax(z / 1e6), np.full(4, 1 / 4), rtol=0, atol=1e-6)


def test_no_function_of_the_present_letter_beats_the_best_bigram() -> None:
    """On the text `hello` itself, tables drawn at random stay above half of ln 2, and the frequencies reach it."""
    record = load_record()
    ids = np.array([record["vocabulary"].index(letter) for letter in record["text"]])
    floor = math.log(2) / 2
    tables = np.random.default_rng(11).normal(scale=4, size=(2000, 4, 4))
    for logits in tables:
        assert sequence_loss(logits[ids[None, :-1]], ids[None, 1:]) > floor
    counts = np.zeros((4, 4))
    np.add.at(counts, (ids[:-1], ids[1:]), 1)
    with np.errstate(divide="ignore"):
        logits = np.maximum(np.log(counts), -1e3)
    assert sequence_loss(logits[ids[None, :-1]], ids[None, 1:]) == pytest.approx(floor, abs=1e-12)


@pytest.mark.parametrize("probs", [[0.1, 0.25, 0.5, 0.15], [0.0, 0.5, 0.5], [0.3, 0.0, 0.7], [1.0]])
def test_first_cumulative_sum_that_exceeds(probs: list[float]) -> None:
    """Equation (inverse-cdf): a slow search; and each id is drawn from a piece of u as long as its probability."""
    grid = np.arange(0, 1, 1 / 400)
    drawn_ids = []
    for u in grid:
        cumulative = [sum(probs[: k + 1]) for k in range(len(probs))]
        exceeding = [k for k in range(len(probs)) if cumulative[k] > u]
        drawn_ids.append(sample_id(np.array(probs), u))
        assert drawn_ids[-1] == exceeding[0]
    lengths = np.bincount(drawn_ids, minlength=len(probs)) / len(grid)
    np.testing.assert_allclose(lengths, probs, rtol=0, atol=1 / 400)


def test_a_prefix_works_through_its_last_state() -> None:
    """Equation (prefix), with PyTorch reading prefix and sequence in one go."""
    rng = np.random.default_rng(7)
    prefix, x, h_0, weights = (
        rng.normal(size=(2, 5, 3)),
        rng.normal(size=(2, 6, 3)),
        rng.normal(size=(2, 4)),
        drawn(rng, 3, 4),
    )
    in_one_go = torch_states(np.concatenate([prefix, x], axis=1), h_0, *weights)[:, 5:]
    handed_on = rnn_forward(x, rnn_forward(prefix, h_0, *weights)[:, -1], *weights)
    np.testing.assert_allclose(handed_on, in_one_go, rtol=0, atol=1e-12)
    assert np.abs(rnn_forward(x, h_0, *weights) - in_one_go).max() > 0.1


@pytest.mark.parametrize(("B", "T", "D", "H"), [(3, 5, 2, 4), (1, 1, 1, 1), (2, 30, 7, 16)])
def test_parity_with_torch(B: int, T: int, D: int, H: int) -> None:
    rng = np.random.default_rng(8)
    x, h_0, weights = rng.normal(size=(B, T, D)), rng.normal(size=(B, H)), drawn(rng, D, H)
    np.testing.assert_allclose(rnn_forward(x, h_0, *weights), torch_states(x, h_0, *weights), rtol=0, atol=1e-12)


def test_elmans_stream() -> None:
    bits = stream(200, 31, torch.Generator().manual_seed(0)).numpy()
    assert bits.shape == (200, 31)
    assert set(np.unique(bits)) == {0.0, 1.0}
    assert np.array_equal(bits[:, 2:30:3], (bits[:, 0:30:3] != bits[:, 1:30:3]).astype(float))
