"""Sampling with equal probabilities: what a report says does not depend on a sort's order."""

import numpy as np
import pytest

from tests.conftest import SEEDS, exercise


def last_possible(probs):
    return int(np.flatnonzero(probs)[-1])


@pytest.mark.parametrize("tie", [lambda i: i, lambda i: -i, lambda i: (i + 1) % 3, lambda i: -i % 3])
def test_sorting_by_probability_is_named_however_it_orders_equal_ones(tie):
    """In NumPy's default sort that order depends on the processor."""

    def likeliest_first(probs, u):
        order = np.lexsort((tie(np.arange(len(probs))), -probs))
        return next(
            (i for i, total in zip(order, np.cumsum(probs[order]), strict=True) if total > u), last_possible(probs)
        )

    for seed in SEEDS:
        verdict = exercise("sample_id").verdict(likeliest_first, seed)
        assert verdict.diagnosis, (seed, verdict)
        assert verdict.diagnosis.id == "sorted_first"
