"""The decoders that exercises of chapter 5 receive: equal to PyTorch, pure, and clear about what they cannot take."""

from pathlib import Path

import numpy as np
import pytest
import torch

import solutions.ch05_encoder_decoder
from grader.checking.fixtures import builders
from tests.loops import for_each

SOURCE = Path(solutions.ch05_encoder_decoder.__file__).parent / "fixtures.py"
BUILD = builders(SOURCE.read_text("utf-8"))


def weights(rng, V, D, H, L):
    layers = [
        {
            "W_x": rng.normal(size=(H if number else D, 3 * H)),
            "W_h": rng.normal(size=(H, 3 * H)),
            "b_x": rng.normal(size=3 * H),
            "b_h": rng.normal(size=3 * H),
        }
        for number in range(L)
    ]
    return {"E": rng.normal(size=(V, D)), "layers": layers, "W_p": rng.normal(size=(H, V)), "b_p": rng.normal(size=V)}


@pytest.mark.parametrize(
    ("B", "V", "D", "H", "L"), [(3, 6, 4, 5, 2), (1, 4, 3, 2, 1), (2, 1, 1, 1, 3), (4, 5, 2, 1, 2)]
)
def test_a_gru_decoder_equals_pytorch(B, V, D, H, L):
    rng = np.random.default_rng([B, V, D, H, L])
    given = weights(rng, V, D, H, L)
    gru = torch.nn.GRU(D, H, num_layers=L, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        for number, layer in enumerate(given["layers"]):
            for name, key in (("weight_ih", "W_x"), ("weight_hh", "W_h"), ("bias_ih", "b_x"), ("bias_hh", "b_h")):
                getattr(gru, f"{name}_l{number}").copy_(torch.from_numpy(layer[key].T))
    y_prev, state = rng.integers(V, size=B), rng.normal(size=(L, B, H))
    logits, new = BUILD["gru_decoder"](**given)(y_prev, state)
    with torch.no_grad():
        top, expected = gru(torch.from_numpy(given["E"][y_prev])[:, None], torch.from_numpy(state))
    np.testing.assert_allclose(new, expected.numpy(), rtol=0, atol=1e-12)
    np.testing.assert_allclose(logits, top[:, 0].numpy() @ given["W_p"] + given["b_p"], rtol=0, atol=1e-12)


def test_a_table_decoder_follows_its_table():
    logits, children = np.arange(12.0).reshape(4, 3), np.array([[1, 2, 3], [0, 0, 2], [3, 1, 0], [1, 1, 1]])
    step = BUILD["table_decoder"](logits=logits, children=children)
    result, nodes = step(np.array([2, 0]), np.array([0, 2]))
    assert nodes.tolist() == [3, 3]
    assert result.tolist() == [[9, 10, 11], [9, 10, 11]]
    result[:] = 0  # a copy
    assert step(y_prev=np.array([2]), state=np.array([1]))[0].tolist() == [[6, 7, 8]]


def test_decoders_change_none_of_their_arguments_and_repeat_themselves():
    rng = np.random.default_rng(0)
    step = BUILD["gru_decoder"](**weights(rng, 5, 3, 4, 2))
    y_prev, state = np.array([4]), rng.normal(size=(2, 1, 4))
    before = state.copy()
    first, again = step(y_prev, state), step(y_prev, state)
    assert (state == before).all()
    assert (first[0] == again[0]).all()
    assert (first[1] == again[1]).all()


TABLE = BUILD["table_decoder"](logits=np.zeros((2, 3)), children=np.array([[1, 1, -1], [1, 1, 1]]))
GRU = BUILD["gru_decoder"](**weights(np.random.default_rng(1), 3, 2, 4, 2))
ROOT = np.array([0])


@for_each(
    ("step", "y_prev", "state", "said"),
    [
        (TABLE, 1, ROOT, "one id for each row; it has the shape ()"),
        (TABLE, np.array([[1]]), ROOT, "it has the shape (1, 1)"),
        (TABLE, np.array([1.0]), ROOT, "must be an array of integers; it has the dtype float64"),
        (TABLE, np.array([True]), ROOT, "must be an array of integers; it has the dtype bool"),
        (TABLE, np.array([3]), ROOT, "must contain ids from 0 to 2; it contains [3]"),
        (TABLE, np.array([-1]), ROOT, "must contain ids from 0 to 2; it contains [-1]"),
        (TABLE, np.array([1, 2]), ROOT, "of shape (2,) goes with a state of shape (2,); the state has the shape (1,)"),
        (TABLE, np.array([1]), np.array([0.0]), "the state must be an array of integers; it has the dtype float64"),
        (TABLE, np.array([1]), np.array([2]), "the entries [2], which are no states of this decoder"),
        (TABLE, np.array([2]), ROOT, "called too often, this decoder can make no further step"),
        (GRU, np.array([1]), np.zeros((2, 2, 4)), "a state of shape (2, 1, 4); the state has the shape (2, 2, 4)"),
        (GRU, np.array([1]), np.zeros((1, 4)), "a state of shape (2, 1, 4); the state has the shape (1, 4)"),
        (GRU, np.array([1]), None, "the state must be an array of numbers; it has the dtype object"),
        (GRU, 1, np.zeros((2, 1, 4)), "`y_prev` must be an array of shape (B,)"),
    ],
)
def test_what_a_decoder_cannot_take_is_said(step, y_prev, state, said):
    with pytest.raises(ValueError, match=r"^step: ") as caught:
        step(y_prev, state)
    assert said in str(caught.value)
