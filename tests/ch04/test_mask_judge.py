"""The judge of `variational_dropout_mask`: right masks pass, whatever the generator draws."""

from pathlib import Path

import numpy as np
import pytest

import solutions.ch04_gated
from grader.spec.load import load_module
from solutions.ch04_gated.deep import variational_dropout_mask
from tests.conftest import exercise

judge = load_module(Path(solutions.ch04_gated.__file__).parent / "variational_dropout_mask" / "judge.py", "_mask_judge")


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
