"""Work on the exercises of `deep` that no spec names: what is nearly right must fail and get no wrong name, what is
right in another way must pass; and the distribution of masks has room to both sides of its bounds.
"""

from pathlib import Path

import numpy as np
import pytest

import solutions.ch04_gated
from grader.author.record import load_module
from solutions.ch04_gated.deep import variational_dropout_mask
from tests.conftest import exercise
from tests.loops import for_each
from tests.nearly_right import fails, passes

judge = load_module(
    Path(solutions.ch04_gated.__file__).parent / "checks" / "variational_dropout_mask_judge.py", "_mask_judge"
)


# bidirectional --------------------------------------------------------------------------------------------------------


def each_row(rule):
    """A program that goes through the rows: rule(x_row (1, n, D), run_forward, run_backward) -> (n, 2H)."""

    def student(x, lengths, run_forward, run_backward):
        h = np.full((*x.shape[:2], 2 * run_forward(x).shape[2]), np.nan)
        for b, n in enumerate(lengths):
            h[b, :n] = rule(x[b : b + 1, :n], run_forward, run_backward)
        return h

    return student


def side_by_side(forward, backward):
    return np.concatenate([forward, backward], axis=-1)[0]


def masked_afterwards(x, lengths, run_forward, run_backward):
    h = np.concatenate([run_forward(x), run_backward(x[:, ::-1])[:, ::-1]], axis=2)
    return h * (np.arange(x.shape[1]) < lengths[:, None])[:, :, None]


def reversed_in_place(x, lengths, run_forward, run_backward):
    forward = run_forward(x)
    for row, n in zip(x, lengths, strict=True):
        row[:n] = row[:n][::-1].copy()
    backward = run_backward(x)
    for row, n in zip(backward, lengths, strict=True):
        row[:n] = row[:n][::-1].copy()
    return np.concatenate([forward, backward], axis=2)


def without_the_current_input(x, f, g):
    backward = g(x[:, ::-1])[:, ::-1]
    return side_by_side(f(x), np.concatenate([backward[:, 1:], 0 * backward[:, :1]], axis=1))


WRONG_DIRECTIONS = {
    "forward layer twice": (
        each_row(lambda x, f, g: side_by_side(f(x), f(x[:, ::-1])[:, ::-1])),
        "counterfactual: in_place_of run_forward, run_backward",
        0,
    ),
    "exchanged": (
        each_row(lambda x, f, g: side_by_side(g(x), f(x[:, ::-1])[:, ::-1])),
        "counterfactual: exchanged run_forward, run_backward",
        0,
    ),
    "row by row, not reversed back": (
        each_row(lambda x, f, g: side_by_side(f(x), g(x[:, ::-1]))),
        "not_reversed_back",
        0,
    ),
    "row by row, never reversed": (each_row(lambda x, f, g: side_by_side(f(x), g(x))), "never_reversed", 0),
    "row by row, backward first": (
        each_row(lambda x, f, g: side_by_side(g(x[:, ::-1])[:, ::-1], f(x))),
        "backward_states_first",
        0,
    ),
    "padding masked afterwards": (masked_afterwards, "padding_reversed_too", 1),
    "inputs reversed in place": (reversed_in_place, None, 0),
    "without the current input": (each_row(without_the_current_input), None, 0),
    "features reversed": (
        lambda x, lengths, run_forward, run_backward: np.concatenate(
            [run_forward(x), run_backward(x[..., ::-1])[..., ::-1]], axis=2
        ),
        None,
        0,
    ),
}


@for_each("name", WRONG_DIRECTIONS)
def test_a_nearly_right_bidirectional(name):
    fails("bidirectional", *WRONG_DIRECTIONS[name])


def whatever_is_in_memory(x, lengths, run_forward, run_backward):
    h = each_row(lambda x, f, g: side_by_side(f(x), g(x[:, ::-1])[:, ::-1]))(x, lengths, run_forward, run_backward)
    h[np.arange(x.shape[1]) >= lengths[:, None]] = 1e300
    return h


def gathered(x, lengths, run_forward, run_backward):
    t = np.arange(x.shape[1])
    index = np.where(t < lengths[:, None], lengths[:, None] - 1 - t, 0)[:, :, None]
    backward = np.take_along_axis(run_backward(np.take_along_axis(x, index, axis=1)), index, axis=1)
    return np.append(run_forward(x), backward, axis=2)


@pytest.mark.parametrize("function", [whatever_is_in_memory, gathered])
def test_bidirectional_in_other_ways(function):
    passes("bidirectional", function)


# stack_layers ---------------------------------------------------------------------------------------------------------


def stacked(rule):
    """A program that collects rule(states) of each layer."""

    def student(x, layers):
        collected = []
        for layer in layers:
            x = layer(x)
            collected.append(rule(x))
        return x, collected

    return student


WRONG_STACKS = {
    "axis of time kept": (stacked(lambda h: h[:, -1:]), None, 0.5),
    "last unit": (stacked(lambda h: h[..., -1]), None, 0.5),
    "mean over time": (stacked(lambda h: h.mean(axis=1)), None, 0.5),
    "an array": (lambda x, layers: (lambda top, final: (top, np.array(final)))(*RIGHT_STACK(x, layers)), None, 0.5),
    "returned the other way round": (lambda x, layers: RIGHT_STACK(x, layers)[::-1], "order", 0),
    "first layer left out": (
        lambda x, layers: RIGHT_STACK(x, layers[1:]),
        "counterfactual: without_first layers",
        0,
    ),
    "first layer again and again": (lambda x, layers: RIGHT_STACK(x, [layers[0]] * len(layers)), None, 0),
    "input among the final states": (
        lambda x, layers: (RIGHT_STACK(x, layers)[0], [x[:, -1], *RIGHT_STACK(x, layers)[1]]),
        "after: [1:] missing For final",
        0.5,
    ),
}
RIGHT_STACK = stacked(lambda h: h[:, -1])


@for_each("name", WRONG_STACKS)
def test_a_nearly_right_stack(name):
    fails("stack_layers", *WRONG_STACKS[name])


# variational_dropout_mask ---------------------------------------------------------------------------------------------


def kept(rng, batch_size, size, p):
    return rng.random((batch_size, 1, size)) >= p


def some_dropped(rng, batch_size, size, p):
    mask = np.ones((batch_size, 1, size)) / (1 - p)
    for row in mask:
        row[0, rng.choice(size, int(p * size), replace=False)] = 0
    return mask


WRONG_MASKS = {
    "normal numbers": (lambda rng, batch_size, size, p: rng.normal(1, p, size=(batch_size, 1, size)), None, 0),
    "uniform numbers": (lambda rng, batch_size, size, p: rng.random((batch_size, 1, size)), None, 0),
    "float32": (lambda p, **sizes: (kept(p=p, **sizes) / (1 - p)).astype(np.float32), None, 0),
    "integers": (lambda **inputs: kept(**inputs).astype(int), "not_scaled", 0),
    "a list": (lambda p, **sizes: (kept(p=p, **sizes) / (1 - p)).tolist(), None, 0),
    "square root": (lambda p, **sizes: kept(p=p, **sizes) / np.sqrt(1 - p), None, 1),
    "divided twice": (lambda p, **sizes: kept(p=p, **sizes) / (1 - p) ** 2, None, 1),
    "a number added": (lambda p, **sizes: kept(p=p, **sizes) / (1 - p + 1e-8), None, 1),
    "1 + p": (lambda p, **sizes: kept(p=p, **sizes) * (1 + p), None, 1),
    "what is dropped": (lambda **inputs: 1.0 - kept(**inputs), "p_taken_as_the_share_that_is_kept", 0),
    "one half": (
        lambda rng, batch_size, size, p: rng.integers(0, 2, size=(batch_size, 1, size)) / (1 - p),
        None,
        1,
    ),
    "normal threshold": (
        lambda rng, batch_size, size, p: (rng.normal(size=(batch_size, 1, size)) >= p) / (1 - p),
        None,
        1,
    ),
    "tenths": (
        lambda rng, batch_size, size, p: (rng.integers(0, 10, size=(batch_size, 1, size)) >= int(10 * p)) / (1 - p),
        None,
        1,
    ),
    "a fixed number dropped": (some_dropped, "number_of_zeros_fixed", 1),
    "two masks multiplied": (
        lambda rng, batch_size, size, p: kept(rng, batch_size, 1, p) * kept(rng, 1, size, p) / (1 - p),
        None,
        1,
    ),
    "a seed inside": (
        lambda rng, batch_size, size, p: kept(np.random.default_rng(42), batch_size, size, p) / (1 - p),
        "same_mask_every_time",
        0,
    ),
    "global numbers": (
        lambda rng, batch_size, size, p: (np.random.rand(batch_size, 1, size) >= p) / (1 - p),
        "numbers_not_from_rng",
        0,
    ),
    "both sources": (
        lambda rng, batch_size, size, p: (rng.random((batch_size, 1, size)) + np.random.rand() * 1e-1 >= p) / (1 - p),
        "numbers_not_from_rng",
        0,
    ),
    "nothing dropped": (lambda rng, batch_size, size, p: np.ones((batch_size, 1, size)), None, 0),
    "a mask for each step": (
        lambda rng, batch_size, size, p: (rng.random((batch_size, 7, size)) >= p) / (1 - p),
        None,
        0,
    ),
}


@for_each("name", WRONG_MASKS)
def test_a_nearly_right_mask(name):
    fails("variational_dropout_mask", *WRONG_MASKS[name])


RIGHT_MASKS = {
    "above p": lambda p, rng, batch_size, size: (rng.uniform(size=(batch_size, 1, size)) > p) * (1 / (1 - p)),
    "the other side": lambda rng, batch_size, size, p: (rng.random((batch_size, 1, size)) < 1 - p) / (1 - p),
    "normal numbers at a quantile": lambda rng, batch_size, size, p: np.where(
        rng.exponential(size=(batch_size, 1, size)) < -np.log(1 - p), 0.0, 1 / (1 - p)
    ),
    "transposed and copied": lambda rng, batch_size, size, p: np.ascontiguousarray(
        (rng.random((size, batch_size)) >= p).T[:, None] / (1 - p)
    ),
    "unit by unit": lambda rng, batch_size, size, p: np.stack(
        [(rng.random((batch_size, 1)) >= p) / (1 - p) for _ in range(size)], axis=2
    ),
}


@pytest.mark.parametrize("name", RIGHT_MASKS)
def test_masks_drawn_in_other_ways(name):
    passes("variational_dropout_mask", RIGHT_MASKS[name])


@pytest.mark.parametrize(("B", "size", "p"), [(3, 4, 0.25), (1, 5, 0.4), (4, 1, 0.3), (5, 8, 0.8)])
def test_the_means_and_variances_of_the_tests(B, size, p):
    """Simulated masks have the assumed mean, and no larger variance, in each test of the judge."""
    rng = np.random.default_rng(0)
    groups = [(rng.random((100, B, size)) < p) for _ in range(150)]
    found = [judge.tests(p, zeros) for zeros in groups]
    for each in zip(*found, strict=True):
        means = np.array([np.asarray(mean) for _, mean, _ in each])
        samples, mean, variance, _, _ = each[0][2]
        if means.ndim == 5:  # an entry with itself is left out
            means = means.reshape(len(groups), -1)[:, 1 : B * size]
        assert abs(means.mean(axis=0) - mean).max(initial=0) < 6 * np.sqrt(variance / samples / len(groups))
        assert np.mean(means.var(axis=0)) < 1.5 * variance / samples if means.size else True


def test_a_right_mask_fails_with_a_probability_below_1e_9():
    number = 0
    for case in exercise("variational_dropout_mask").checks(0).cases:
        entries = case.inputs["batch_size"] * case.inputs["size"]
        number += entries * (entries - 1) // 2 + entries + 3
    assert number * judge.RISK < 1e-9


def test_right_masks_stay_far_from_the_bounds():
    for seed in range(3):
        for case in exercise("variational_dropout_mask").checks(seed).cases:
            inputs = {**case.inputs, "rng": np.random.default_rng(case.inputs["rng"].params["seed"])}
            draws = inputs.pop("draws")
            masks = np.array([variational_dropout_mask(**inputs) for _ in range(draws)])[:, :, 0]
            if not (p := inputs["p"]):
                continue
            for text, means, given in judge.tests(p, masks == 0):
                low, high = judge.bounds(*given)
                middle = given[1]
                assert (np.max(means) - middle) < 0.8 * (high - middle), text
                assert (middle - np.min(means)) < 0.8 * (middle - low), text
