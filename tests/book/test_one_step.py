"""The page 'One step of a recurrent network' against PyTorch, which knows nothing of the page."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import jupytext
import numpy as np
import pytest
import torch

from solutions.ch01_vanilla_rnn.recurrence import rnn_forward, rnn_step

PAGE = Path(__file__).parents[2] / "book" / "ch01_vanilla_rnn" / "one_step.md"


@pytest.fixture
def by_hand() -> dict[str, Any]:
    """What the page's visible cells define, up to the step with arrays."""
    names: dict[str, Any] = {"np": np, "math": math, "rnn_step": rnn_step}
    for cell in jupytext.read(PAGE).cells:
        if cell.cell_type == "code" and "remove-cell" not in cell.metadata.get("tags", []):
            exec(cell.source, names)
            if "h_t" in names:
                return names
    pytest.fail("no cell of the page computes h_t")


def torch_step(x_t: Any, h_prev: Any, W_xh: Any, W_hh: Any, b_h: Any) -> np.ndarray:
    cell = torch.nn.RNNCell(*W_xh.shape, dtype=torch.float64)
    with torch.no_grad():
        cell.weight_ih.copy_(torch.from_numpy(W_xh.T))
        cell.weight_hh.copy_(torch.from_numpy(W_hh.T))
        cell.bias_ih.copy_(torch.from_numpy(b_h))
        cell.bias_hh.zero_()
        return cell(torch.from_numpy(x_t), torch.from_numpy(h_prev)).numpy()


def test_numbers_by_hand(by_hand: dict[str, Any]) -> None:
    expected = torch_step(*(by_hand[name] for name in ("x_t", "h_prev", "W_xh", "W_hh", "b_h")))
    worked_out = [[math.tanh(by_hand["a_first"]), math.tanh(by_hand["a_second"])]]
    np.testing.assert_allclose(worked_out, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(by_hand["h_t"], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("T", [1, 6])
def test_the_chain_of_steps(T: int) -> None:
    """Equation (rnn-unrolled): the states of a sequence are steps of PyTorch's, each from the previous state."""
    rng = np.random.default_rng(0)
    x, h_t = rng.normal(size=(3, T, 2)), rng.normal(size=(3, 4))
    weights = rng.normal(size=(2, 4)), rng.normal(size=(4, 4)), rng.normal(size=4)
    h = rnn_forward(x, h_t, *weights)
    assert h.shape == (3, T, 4)
    for t in range(T):
        h_t = torch_step(x[:, t], h_t, *weights)
        np.testing.assert_allclose(h[:, t], h_t, rtol=0, atol=1e-12)
