"""The small network that `train_char_rnn` is checked with."""

from pathlib import Path

import numpy as np
import pytest
import torch

from grader.checking.fixtures import builders
from grader.manifest import load_manifest
from grader.spec.folders import fixtures_path

ROOT = Path(__file__).parents[2]
OWN = fixtures_path(ROOT, load_manifest(ROOT / "course.toml").chapter("ch02_bptt"))
NETWORK = builders(OWN.read_text("utf-8"))["next_token_network"]


def test_a_next_token_network_agrees_with_autograd():
    rng = np.random.default_rng(0)
    shapes = {"W_xh": (5, 3), "W_hh": (3, 3), "b_h": (3,), "W_hy": (3, 5), "b_y": (5,)}
    params = {name: rng.normal(size=shape) for name, shape in shapes.items()}
    inputs, targets, h_0 = rng.integers(5, size=6), rng.integers(5, size=6), rng.normal(size=(1, 3))
    loss, grads, h_T = NETWORK(eps=1e-5)(params, inputs, targets, h_0)

    theta = {name: torch.tensor(value, requires_grad=True) for name, value in params.items()}
    h, logits = torch.tensor(h_0), []
    for x_t in inputs:
        h = torch.tanh(theta["W_xh"][x_t] + h @ theta["W_hh"] + theta["b_h"])
        logits.append(h @ theta["W_hy"] + theta["b_y"])
    due = torch.nn.functional.cross_entropy(torch.cat(logits), torch.tensor(targets))
    due.backward()
    assert loss == pytest.approx(due.item(), abs=1e-12)
    np.testing.assert_allclose(h_T, h.detach().numpy())
    for name in params:
        np.testing.assert_allclose(grads[name], theta[name].grad.numpy(), atol=1e-9)
