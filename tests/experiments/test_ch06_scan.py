"""The parallel scan computes what the loop does, in the number of rounds that it says."""

from __future__ import annotations

import math

import numpy as np
import pytest

from experiments.ch06.scan import compose, half_life, loop, recalled, scan
from tests.loops import for_each


def maps(seed: int, B: int, T: int, H: int, *, is_complex: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(-1, 1, size=(B, T, H)), rng.normal(size=(B, T, H))
    return (a * np.exp(1j * rng.uniform(-3, 3, size=(B, T, H))), b + 0.5j) if is_complex else (a, b)


@for_each("is_complex", [False, True])
@for_each("T", [1, 2, 3, 7, 8, 9, 100])
def test_the_scan_equals_the_loop(T: int, is_complex: bool) -> None:
    a, b = maps(T, 2, T, 3, is_complex=is_complex)
    h_0 = np.array([[0.3, -1.2, 0.7], [1.1, 0.0, -0.4]])
    for start in (0.0, h_0):
        scanned = scan(a, b, start)
        np.testing.assert_allclose(scanned.h, loop(a, b, start), rtol=0, atol=1e-12)
        assert scanned.rounds == math.ceil(math.log2(T))


def test_inputs_are_not_changed_and_a_constant_is_enough() -> None:
    a, b = maps(0, 2, 9, 3)
    before = a.copy(), b.copy()
    scan(a, b)
    np.testing.assert_array_equal((a, b), before)
    np.testing.assert_allclose(scan(a[0, 0], b).h, loop(a[0, 0], b), atol=1e-12)


def test_the_scan_composes_more_maps_than_there_are_steps() -> None:
    a, b = maps(1, 1, 8, 1)
    assert scan(a, b).compositions == 7 + 6 + 4


def test_the_order_of_two_steps_matters_and_their_grouping_does_not() -> None:
    (a, b), (c, d), (e, f) = (maps(seed, 1, 1, 4) for seed in range(3))
    first = compose(compose((a, b), (c, d)), (e, f))
    np.testing.assert_allclose(first, compose((a, b), compose((c, d), (e, f))), atol=1e-14)
    assert not np.allclose(first[1], compose(compose((c, d), (a, b)), (e, f))[1])


def test_half_life() -> None:
    assert half_life(0.5) == pytest.approx(1)
    assert abs(0.9j) ** half_life(0.9j) == pytest.approx(0.5)


def test_few_pairs_are_recalled_by_both_and_many_by_attention_only() -> None:
    few, many = (recalled(pairs, size=16, values=16, repeats=5, seed=0) for pairs in (1, 200))
    assert few == {"state": 100, "attention": 100}
    assert many["attention"] == 100
    assert many["state"] < 60
